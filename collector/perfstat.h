/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `perf stat` printed: its text for people, or its lines with a separator (-x), of whichever
 * kind the text at hand is. Totals only: what was printed by interval (-I) or by CPU (-A) is refused.
 */
#ifndef MIGRC_PERFSTAT_H
#define MIGRC_PERFSTAT_H

#include <stdbool.h>
#include <stddef.h>

#define PERFSTAT__NAME_MAX 128

struct perf_event {
	char name[PERFSTAT__NAME_MAX];	/* as compared */
	char event[PERFSTAT__NAME_MAX];	/* as perf knows it */
	char unit[16];			/* "" of a count */
	bool counted;			/* false: <not counted>, <not supported> */
	double value;
	double share;			/* part of the time that it was counted; NaN: not told */
};

struct perfstat {
	struct perf_event *event;
	size_t nr;
	double elapsed_s, user_s, system_s;	/* NaN: not told */
	unsigned int runs;			/* of -r, whose means the values are; 1 otherwise */
	char command[512];			/* "" if not told */
};

/*
 * The text is cut up on the way. 0; -EINVAL: no event in it; -EEXIST: an event is there twice, by
 * interval or by CPU; -ENOMEM. What p holds is to be freed in any case.
 */
int perfstat__parse(char *text, struct perfstat *p);
const struct perf_event *perfstat__find(const struct perfstat *p, const char *name);
void perfstat__free(struct perfstat *p);

#endif /* MIGRC_PERFSTAT_H */
