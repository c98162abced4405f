// SPDX-License-Identifier: GPL-2.0-or-later
/* Who flushes, and which CPUs are interrupted for it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/detail.h"
#include "analysis/sections.h"
#include "analysis/words.h"

#define CALLS		"bpf.flush.calls."
#define MAX_DOTS	6000	/* of a plot; beyond, the means of the arms stand for the runs */
#define MAX_CPU_ROWS	64	/* of the table; the plot and the JSON format have all */

/* Where the dots of an arm stand beside those of the others, around the number of a category. */
static double beside(const struct an_compare *c, size_t arm)
{
	return ((double)arm + 0.5) / (double)c->nr_arms * 0.7 - 0.35;
}

/* --- flushes by class of the caller ----------------------------------------------------------- */

/* Name of the class that the metric counts the flushes of; NULL for every other metric. */
static const char *class_of(const struct an_metric *m)
{
	return m->per_1000 || strncmp(m->key, CALLS, strlen(CALLS)) ? NULL :
	       m->key + strlen(CALLS);
}

static const char *class_label(const char *class)
{
	static const char *const labels[][2] = {
		{ "migration", "page migration" }, { "reclaim", "reclaim (kswapd, a cgroup's limit)" },
		{ "allocation", "allocation (direct reclaim, release for one)" },
		{ "write_fault", "write fault" }, { "munmap", "munmap, mremap, brk" },
		{ "deferral", "the patch's own (timer, cap, drain, write(2))" },
		{ "other", "other (mprotect, madvise, exit, fork)" },
	};

	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		if (!strcmp(labels[i][0], class))
			return labels[i][1];
	return class;
}

/* Mean of bpf.flush.WHAT.CLASS, or of its rate per 1000 migrated pages. */
static double class_mean(const struct an_compare *c, size_t arm, const char *what,
			 const char *class, const char *rate)
{
	char *key = sbuf__format("bpf.flush.%s.%s%s", what, class, rate);
	double v = compare__mean(c, arm, key);

	free(key);
	return v;
}

static void class_row(struct grid *g, const struct an_compare *c, size_t arm, const char *class)
{
	double calls = class_mean(c, arm, "calls", class, "");
	double targets = class_mean(c, arm, "targets", class, "");
	double ns = class_mean(c, arm, "ns", class, "");
	char buf[FMT_LEN];

	if (isnan(calls))
		return;
	grid__row(g, DOC_PLAIN);
	grid__cell(g, "%s", class_label(class));
	grid__cell(g, "%s", c->arms[arm].name);
	grid__cell(g, "%s", fmt__num(buf, calls));
	grid__cell(g, "%s", fmt__num(buf, class_mean(c, arm, "calls", class, "/1000")));
	grid__cell(g, "%s", fmt__num(buf, targets));
	grid__cell(g, "%s", calls > 0 ? fmt__unit(buf, ns / calls, "ns") : "-");
}

static void plot_classes(struct doc *d, const struct an_compare *c)
{
	struct plot *p;

	if (d->format != DOC_HTML)
		return;
	p = plot__new("Flushes by class of the caller", "class of the caller", "by name",
		      "flushes", "per run");
	for (size_t i = 0; i < c->nr_metrics; i++)
		if (class_of(&c->metrics[i]))
			plot__tick(p, class_of(&c->metrics[i]));
	for (size_t a = 0; a < c->nr_arms; a++) {
		struct plot_series *s = plot__series(p, c->arms[a].name, PLOT_DOTS,
						     (unsigned int)a);
		double x = 0;

		for (size_t i = 0; i < c->nr_metrics; i++) {
			const struct an_metric *m = &c->metrics[i];

			if (!class_of(m))
				continue;
			for (size_t r = 0; r < c->nr_runs; r++)
				if (detail__counts(c, r) && c->runs[r].arm == a &&
				    !isnan(m->value[r]))
					plot__point(s, x + beside(c, a), m->value[r]);
			x++;
		}
	}
	doc__figure(d, p, "A dot is a run. Flushes of a batch and of one address space together.");
}

void section__classes(struct doc *d, const struct section *s)
{
	static const char *const head[] = { "on whose behalf", "arm", "flushes", "per 1000 migrated",
					    "CPUs targeted", "mean time" };
	const struct an_compare *c = s->c;
	struct grid g;

	section__heading(d, s, "classes", "Flushes by caller");
	grid__init(&g, "Flushes by class of the caller, means per run", "lnrrrr", head);
	for (size_t i = 0; i < c->nr_metrics; i++)
		for (size_t a = 0; class_of(&c->metrics[i]) && a < c->nr_arms; a++)
			class_row(&g, c, a, class_of(&c->metrics[i]));
	if (!g.rows) {
		doc__para(d, DOC_MUTED, "No run counted flushes by class (the probes tlbbatch_flush and mm_flush do).");
		return;
	}
	doc__grid(d, &g);
	doc__figures_begin(d, false);
	plot_classes(d, c);
	doc__figures_end(d);
}

/* --- interrupts by CPU ------------------------------------------------------------------------ */

static void cpu_series(struct plot_series *s, const struct an_compare *c,
		       const struct detail_cpus *cpus, size_t arm, bool means)
{
	for (size_t cpu = 0; cpu < cpus->nr; cpu++) {
		double x = (double)cpu + beside(c, arm);
		double mean = detail__cpu_mean(c, cpus, arm, cpu);

		if (means && !isnan(mean))
			plot__point(s, x, mean);
		for (size_t r = 0; r < c->nr_runs && !means; r++)
			if (detail__counts(c, r) && c->runs[r].arm == arm &&
			    !isnan(cpus->value[r * cpus->nr + cpu]))
				plot__point(s, x, cpus->value[r * cpus->nr + cpu]);
	}
}

static void plot_cpus(struct doc *d, const struct an_compare *c, const struct detail_cpus *cpus)
{
	bool means = c->nr_runs * cpus->nr > MAX_DOTS;
	struct plot *p;

	if (d->format != DOC_HTML)
		return;
	p = plot__new("Interrupts by CPU", "CPU", "number", "interrupts received", "per run");
	p->x.whole = true;
	for (size_t a = 0; a < c->nr_arms; a++)
		cpu_series(plot__series(p, c->arms[a].name, PLOT_DOTS, (unsigned int)a), c, cpus, a,
			   means);
	doc__figure(d, p, "Row %s of /proc/interrupts. A dot is %s.", cpus->row,
		    means ? "the mean over the runs of an arm" : "a run");
}

static void cpu_table(struct doc *d, const struct an_compare *c, const struct detail_cpus *cpus)
{
	const char **head = mem__calloc(c->nr_arms + 1, sizeof(*head));
	char *align = mem__calloc(c->nr_arms + 2, 1), buf[FMT_LEN];
	struct grid g;

	head[0] = "CPU";
	memset(align, 'r', c->nr_arms + 1);
	for (size_t a = 0; a < c->nr_arms; a++)
		head[a + 1] = c->arms[a].name;
	grid__init(&g, "Interrupts that each CPU received, means per run", align, head);
	for (size_t cpu = 0; cpu < cpus->nr && cpu < MAX_CPU_ROWS; cpu++) {
		grid__row(&g, DOC_PLAIN);
		grid__cell(&g, "%zu", cpu);
		for (size_t a = 0; a < c->nr_arms; a++)
			grid__cell(&g, "%s", fmt__num(buf, detail__cpu_mean(c, cpus, a, cpu)));
	}
	doc__grid(d, &g);
	free(align);
	free(head);
}

void section__cpus(struct doc *d, const struct section *s)
{
	const struct an_compare *c = s->c;
	struct detail_cpus cpus;

	section__heading(d, s, "cpus", "IPIs by CPU");
	detail__cpus(c, &cpus);
	if (!cpus.nr) {
		doc__para(d, DOC_MUTED, "No run has interrupts by CPU.");
	} else {
		doc__para(d, DOC_PLAIN, "%s", strcmp(cpus.row, "TLB") ?
			  "This machine does not tell TLB shootdowns apart: these are all function call interrupts (row CAL of /proc/interrupts)." :
			  "TLB shootdown interrupts (row TLB of /proc/interrupts).");
		cpu_table(d, c, &cpus);
		if (cpus.nr > MAX_CPU_ROWS)
			doc__para(d, DOC_MUTED, "The first %d of %zu CPUs; the JSON format has all.",
				  MAX_CPU_ROWS, cpus.nr);
		doc__figures_begin(d, false);
		plot_cpus(d, c, &cpus);
		doc__figures_end(d);
	}
	detail__cpus_free(&cpus);
}
