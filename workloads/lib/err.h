/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exit codes and the one error channel of the workload programs. */
#ifndef WL_ERR_H
#define WL_ERR_H

enum wl_exit {
	WL_EXIT_GOOD = 0,
	WL_EXIT_FAILED = 1,		/* the workload ran and found something wrong */
	WL_EXIT_USAGE = 2,		/* bad options, or a resource it could not get */
	WL_EXIT_UNSUPPORTED = 5,	/* this machine or user cannot run it */
};

/* One line on stderr: "migrc: PROGRAM: TEXT". TEXT ends with "; REMEDY". */
void wl_err(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* WL_ERR_H */
