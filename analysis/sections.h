/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a report and of the terminal table; each writes itself into a document. */
#ifndef MIGRC_ANALYSIS_SECTIONS_H
#define MIGRC_ANALYSIS_SECTIONS_H

#include "analysis/doc.h"
#include "analysis/model.h"

/* What a compare is: its number makes the ids of a page unique. */
struct section {
	const struct an_compare *c;
	unsigned int number;
};

/* sections_verdict.c */
void section__verdict(struct doc *d, const struct section *s);
void section__mismatches(struct doc *d, const struct an_compare *c);
/* Eligible, deferred, remote flushes per 1000 migrated pages by arm, and the verdict: short. */
void section__summary(struct doc *d, const struct an_compare *c);

/* sections_mechanism.c */
void section__why(struct doc *d, const struct section *s);
void section__mechanism(struct doc *d, const struct section *s);
void section__outcome(struct doc *d, const struct section *s);
/* Metrics as a table for a terminal; all: those of the probes and of histograms too. */
void section__table(struct doc *d, const struct an_compare *c, bool all);

/* sections_latency.c */
void section__held(struct doc *d, const struct section *s);
void section__latency(struct doc *d, const struct section *s);

/* sections_counts.c */
void section__classes(struct doc *d, const struct section *s);
void section__cpus(struct doc *d, const struct section *s);

/* sections_dots.c */
void section__drift(struct doc *d, const struct an_compare *c);
void section__dots(struct doc *d, const struct section *s);

/* sections_runs.c */
void section__runs(struct doc *d, const struct section *s);
void section__instrument(struct doc *d, const struct section *s);
/* What recording cost, of each run that was calibrated: a paragraph each; compare has it too. */
void section__recording_costs(struct doc *d, const struct an_compare *c);
void section__facts(struct doc *d, const struct section *s);
void section__records(struct doc *d, const struct section *s);
void section__reproduce(struct doc *d, const struct section *s);
/* Everything stored about one run. */
void section__record(struct doc *d, const struct rd_run *run);

/* sections_method.c */
void section__method(struct doc *d, const struct an_policy *policy);

/* The heading of a part, which the page can be sent to by NAME-NUMBER. */
void section__heading(struct doc *d, const struct section *s, const char *name, const char *text);
/* Tone of a row with this verdict. */
enum doc_tone section__tone(enum an_verdict v);

#endif /* MIGRC_ANALYSIS_SECTIONS_H */
