// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "workloads/lib/team.h"

struct wl_member {
	struct wl_team *team;
	unsigned int index;
};

unsigned long long wl_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (unsigned long long)ts.tv_sec * 1000000000ULL + (unsigned long long)ts.tv_nsec;
}

double wl_now(void)
{
	return (double)wl_now_ns() / 1e9;
}

unsigned int wl_team__cpus(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) ? 0 : CPU_COUNT(&set);

	return n > 0 ? (unsigned int)n : 1;
}

/* The index-th (modulo) CPU of a set. */
static cpu_set_t one_of(const cpu_set_t *allowed, unsigned int index)
{
	unsigned int skip = index % (unsigned int)CPU_COUNT(allowed);
	cpu_set_t one;

	CPU_ZERO(&one);
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, allowed) && !skip--) {
			CPU_SET(cpu, &one);
			break;
		}
	}
	return one;
}

static int pin_attr(pthread_attr_t *attr, const cpu_set_t *allowed, unsigned int index)
{
	cpu_set_t one = one_of(allowed, index);

	return -pthread_attr_setaffinity_np(attr, sizeof(one), &one);
}

unsigned int wl_team__beside_driver(unsigned int max)
{
	unsigned int cpus = wl_team__cpus(), n = cpus > 1 ? cpus - 1 : 1;

	return n < max ? n : max;
}

int wl_team__pin_driver(unsigned int n)
{
	cpu_set_t allowed, one;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return -errno;
	if (n >= (unsigned int)CPU_COUNT(&allowed))
		return 0;
	one = one_of(&allowed, n);
	return sched_setaffinity(0, sizeof(one), &one) ? -errno : 0;
}

static void *member_main(void *p)
{
	struct wl_member *m = p;
	struct wl_team *t = m->team;
	int gate;

	pthread_mutex_lock(&t->lock);
	while (!t->gate)
		pthread_cond_wait(&t->turn, &t->lock);
	gate = t->gate;
	pthread_mutex_unlock(&t->lock);
	if (gate > 0)
		t->fn(t->arg, m->index);
	return NULL;
}

static void gate_open(struct wl_team *t, int how)
{
	pthread_mutex_lock(&t->lock);
	if (!t->gate)
		t->gate = how;
	pthread_cond_broadcast(&t->turn);
	pthread_mutex_unlock(&t->lock);
}

static int create_one(struct wl_team *t, unsigned int i, const cpu_set_t *allowed)
{
	pthread_attr_t attr;
	int err;

	t->member[i] = (struct wl_member){ .team = t, .index = i };
	err = -pthread_attr_init(&attr);
	if (err)
		return err;
	if (allowed)
		err = pin_attr(&attr, allowed, i);
	if (!err)
		err = -pthread_create(&t->thread[i], &attr, member_main, &t->member[i]);
	pthread_attr_destroy(&attr);
	return err;
}

int wl_team__start(struct wl_team *t, unsigned int n, bool pin,
		   void (*fn)(void *arg, unsigned int index), void *arg)
{
	cpu_set_t allowed;
	int err = 0;

	memset(t, 0, sizeof(*t));
	if (pin && sched_getaffinity(0, sizeof(allowed), &allowed))
		return -errno;
	t->fn = fn;
	t->arg = arg;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->turn, NULL);
	t->thread = calloc(n, sizeof(*t->thread));
	t->member = calloc(n, sizeof(*t->member));
	if (!t->thread || !t->member)
		err = -ENOMEM;
	while (!err && t->n < n) {
		err = create_one(t, t->n, pin ? &allowed : NULL);
		if (!err)
			t->n++;
	}
	if (err)
		wl_team__join(t);
	return err;
}

void wl_team__go(struct wl_team *t)
{
	gate_open(t, 1);
}

void wl_team__join(struct wl_team *t)
{
	gate_open(t, -1);
	while (t->n)
		pthread_join(t->thread[--t->n], NULL);
	free(t->thread);
	free(t->member);
	t->thread = NULL;
	t->member = NULL;
	pthread_cond_destroy(&t->turn);
	pthread_mutex_destroy(&t->lock);
}
