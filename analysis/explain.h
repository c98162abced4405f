/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every number behind a verdict, so that it can be worked out again by hand. */
#ifndef MIGRC_ANALYSIS_EXPLAIN_H
#define MIGRC_ANALYSIS_EXPLAIN_H

#include "analysis/doc.h"
#include "analysis/model.h"

/* One metric of a workload: its runs, then each arm against the baseline. */
void explain__metric(struct doc *d, const struct an_compare *c, const struct an_metric *m);

/* The same in every workload that has the metric; -ENOENT and *msg (to be freed) if none has. */
int explain__model(struct doc *d, const struct an_model *model, const char *key, char **msg);

#endif /* MIGRC_ANALYSIS_EXPLAIN_H */
