/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capabilities: which ones a feature needs, and giving them up when it has what it needs. */
#ifndef MIGRC_PRIVILEGES_H
#define MIGRC_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>

struct privilege {
	const char *name;
	unsigned int nr;	/* CAP_... */
	bool needed;		/* no probe can be attached without it (or without CAP_SYS_ADMIN) */
	const char *why;	/* what it is for */
};

/* What attaching and reading may need, in the order of docs/privileges.md. */
extern const struct privilege privileges[];
extern const size_t nr_privileges;

/* Does this process have it in effect? CAP_SYS_ADMIN stands for CAP_BPF and CAP_PERFMON. */
bool privileges__has(unsigned int nr);

/*
 * Give up all capabilities but those on files and signals: what is attached stays attached, and the
 * workload, which was forked before, keeps what the caller had. 0 or a negative errno.
 */
int privileges__drop(void);

#endif /* MIGRC_PRIVILEGES_H */
