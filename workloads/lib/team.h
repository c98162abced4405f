/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A team of threads that begin together, each pinned to a CPU if asked. */
#ifndef WL_TEAM_H
#define WL_TEAM_H

#include <pthread.h>
#include <stdbool.h>

#define WL_TEAM_MAX	1024

struct wl_team {
	pthread_t *thread;
	struct wl_member *member;
	unsigned int n;			/* threads that exist */
	int gate;			/* 0 wait, 1 go, -1 give up */
	pthread_mutex_t lock;
	pthread_cond_t turn;
	void (*fn)(void *arg, unsigned int index);
	void *arg;
};

/*
 * Creates n threads that wait at the gate. With pin, thread i may run on the i-th (modulo) CPU
 * that this process may run on. 0, or -errno with no thread left behind.
 */
int wl_team__start(struct wl_team *t, unsigned int n, bool pin,
		   void (*fn)(void *arg, unsigned int index), void *arg);
void wl_team__go(struct wl_team *t);
/* Waits for all threads; opens the gate with "give up" if it was never opened. */
void wl_team__join(struct wl_team *t);
/* Number of CPUs this process may run on, at least 1. */
unsigned int wl_team__cpus(void);
/*
 * Threads to use beside a thread that drives them, when the user does not say: one for each CPU
 * but the driver's, at least 1, at most max. The driver's CPU needs no reader to keep translations
 * there: a flush of its own TLB is no IPI.
 */
unsigned int wl_team__beside_driver(unsigned int max);
/*
 * Puts the calling thread on the CPU after those of a pinned team of n, if there is one. Call it
 * after wl_team__start(), which hands out the CPUs that the caller may use. 0 or -errno.
 */
int wl_team__pin_driver(unsigned int n);
/* CLOCK_MONOTONIC in seconds and in nanoseconds. */
double wl_now(void);
unsigned long long wl_now_ns(void);

#endif /* WL_TEAM_H */
