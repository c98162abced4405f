/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The workload as a process group of its own, made ready but stopped until it may start. */
#ifndef MIGRC_WORKLOAD_H
#define MIGRC_WORKLOAD_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct workload {
	pid_t pid;		/* also its process group; 0: none */
	int go_fd;		/* a byte here lets it exec */
	int exec_fd;		/* its errno if exec fails, end of file if it worked */
	int out_fd;		/* its stdout, not blocking */
	int status;		/* of wait4(), once ended */
	struct rusage usage;	/* of it and of the children it waited for */
};

/* Where execvp() would find the program: 0, -ENOENT, or -EACCES (found but not executable). */
int workload__find(const char *program);

/* Fork it, stopped. stdin is /dev/null if ours is a terminal. 0 or a negative errno. */
int workload__fork(struct workload *w, char *const *argv);
/* Let it exec. 0, or the negative errno of its exec. */
int workload__start(struct workload *w);
/* To the whole process group; a group that is gone is no error. */
void workload__signal(struct workload *w, int sig);
/* Has it ended? 1 (status and usage are set), 0, or a negative errno. */
int workload__reap(struct workload *w);
/* Kill and reap what is left, close all. */
void workload__free(struct workload *w);

#endif /* MIGRC_WORKLOAD_H */
