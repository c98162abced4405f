/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `perf stat` beside a run: events that only it can count. perf is started stopped, so that what
 * cannot be counted is known before the workload begins, switched on and off by its control
 * descriptors, and read through its machine-readable output.
 */
#ifndef MIGRC_PERFRUN_H
#define MIGRC_PERFRUN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "collector/perfstat.h"

/* Whom it counts: the workload and its children, or all CPUs, as the posted evaluation did. */
enum perf_scope { PERF_OFF, PERF_TASK, PERF_SYSTEM };

struct perf_want {
	char name[PERFSTAT__NAME_MAX];
	char event[PERFSTAT__NAME_MAX];
	bool unknown;			/* perf does not know it on this machine */
};

struct perf_list {
	enum perf_scope scope;
	struct perf_want *want;
	size_t nr;
};

/* The six events of the posted table and software events, under their own names. 0 or -ENOMEM. */
int perf_list__default(struct perf_list *l);
/* "NAME" or "NAME=EVENT": another event for a name, or one more. 0, -EINVAL, -ENOMEM. */
int perf_list__set(struct perf_list *l, const char *arg);
void perf_list__free(struct perf_list *l);

struct perfrun {
	pid_t pid;
	int control_fd, ack_fd, log_fd, err_fd;
	struct perfstat stat;		/* once it has ended */
};

void perfrun__init(struct perfrun *p);
/*
 * Start perf for the process (any with PERF_SYSTEM), not counting yet. Events that perf does not
 * know are marked in l and left out. 0 or a negative errno after an error was printed; -ENOSYS: no
 * perf here, or none of the events.
 */
int perfrun__start(struct perfrun *p, struct perf_list *l, pid_t pid);
/* Begin to count. 0 or a negative errno after an error was printed. */
int perfrun__enable(struct perfrun *p);
/*
 * Count no longer, end perf, read what it counted into p->stat under the names of l. 0 or a negative
 * errno after an error was printed.
 */
int perfrun__finish(struct perfrun *p, const struct perf_list *l);
void perfrun__free(struct perfrun *p);

#endif /* MIGRC_PERFRUN_H */
