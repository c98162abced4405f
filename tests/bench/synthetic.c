// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <string.h>

#include "tests/bench/synthetic.h"

#define ANY_CPUS UINT64_MAX

static uint64_t draw(struct synthetic *s, uint64_t below)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return (s->random >> 11) % below;
}

/* Log-normal, nearly: the sum of uniform numbers stands for the normal one. */
static uint64_t duration(struct synthetic *s, double median_ns, double sigma)
{
	double sum = 0;
	int i;

	for (i = 0; i < 12; i++)
		sum += (double)draw(s, 1 << 20) / (1 << 20);
	return (uint64_t)(median_ns * exp(sigma * (sum - 6)));
}

static void begin_call(struct synthetic *s)
{
	s->call_ns = s->next_ns[0];
	s->call_pages = draw(s, 3) ? 512 : 1 + (unsigned int)draw(s, 511);
	s->page = 0;
	s->step = 0;
	s->frame = 1 << 18 | draw(s, 1 << 18);
	s->generation++;
}

void synthetic__begin(struct synthetic *s, uint64_t seed)
{
	int cpu;

	memset(s, 0, sizeof(*s));
	s->random = seed * 2654435761U + 88172645463325252ULL;
	for (cpu = 0; cpu < SYNTHETIC_CPUS; cpu++) {
		s->next_ns[cpu] = 20167947008ULL + draw(s, 100000);
		s->tid[cpu] = (uint32_t)(100 + draw(s, 30000));
	}
	begin_call(s);
}

/* What one CPU of a program does. */
static void program__next(struct synthetic *s, struct event *e, int cpu)
{
	uint64_t ns = duration(s, 1800, 0.5);

	s->next_ns[cpu] += duration(s, 14000, 0.9);
	if (!draw(s, 3000))
		s->tid[cpu] = (uint32_t)(100 + draw(s, 30000));
	switch (draw(s, 8)) {
	case 0:
	case 1:
	case 2:
		e->kind = PROBE_TLB_FLUSH;
		e->a = draw(s, 5);
		e->b = draw(s, 3) ? 1 + draw(s, 33) : UINT64_MAX;
		break;
	case 3:
	case 4:
	case 5:
		e->kind = PROBE_WP_FAULT;
		e->a = draw(s, 50) ? ns : ns * 40;
		break;
	case 6:
		e->kind = PROBE_MM_FLUSH;
		e->a = 2 * ns;
		e->b = 1 + draw(s, SYNTHETIC_CPUS);
		e->c = draw(s, 2) ? CLASS_MUNMAP : CLASS_OTHER;
		e->d = e->b - 1;
		break;
	default:
		e->kind = PROBE_MUNMAP;
		e->a = 6 * ns;
		break;
	}
}

/* A page of the call: it is unmapped, then its flush is put off or not. */
static void page__next(struct synthetic *s, struct event *e)
{
	uint64_t ns = duration(s, 3900, 0.15);

	if (s->step++ == 0) {
		e->kind = PROBE_TRY_TO_MIGRATE;
		e->a = draw(s, 200) ? ns : ns * 100;
		e->b = 64;
		s->next_ns[0] += 700 + draw(s, 300);
		return;
	}
	s->frame = draw(s, 6) ? s->frame + 1 : 1 << 18 | draw(s, 1 << 18);
	e->a = s->frame;
	e->b = draw(s, 40) ? 0 : 1;
	e->kind = draw(s, 3) ? PROBE_MIGRC_DEFER : PROBE_MIGRC_REFUSE;
	e->c = e->kind == PROBE_MIGRC_DEFER ? s->generation : draw(s, 4);
	s->next_ns[0] += 4000 + ns;
	s->step = 0;
	s->page++;
}

/* Its end: the flush, then the events of the call. */
static void call__next(struct synthetic *s, struct event *e)
{
	static const enum probe_id kinds[] = { PROBE_TLBBATCH_FLUSH, PROBE_MIGRATE, PROBE_MIGRATE_PAGES };

	e->kind = kinds[s->step++];
	if (e->kind == PROBE_TLBBATCH_FLUSH) {
		e->a = duration(s, 70000, 0.6);
		e->b = draw(s, 9) ? 1 + draw(s, SYNTHETIC_CPUS) : ANY_CPUS;
		e->c = CLASS_MIGRATION;
		e->d = e->b == ANY_CPUS ? e->b : e->b - 1;
	} else if (e->kind == PROBE_MIGRATE) {
		e->a = 8;
		e->b = 2;
		e->c = s->call_pages - draw(s, 2);
		e->d = s->call_pages - e->c;
	} else {
		e->a = s->next_ns[0] - s->call_ns;
		e->b = 8 + 256 * 2;
		e->c = s->call_pages;
		e->d = (uint64_t)1 << 32 | draw(s, SYNTHETIC_CPUS);
	}
	s->next_ns[0] += e->kind == PROBE_TLBBATCH_FLUSH ? e->a : 900 + draw(s, 200);
	if (e->kind != PROBE_MIGRATE_PAGES)
		return;
	s->next_ns[0] += duration(s, 200000, 1);
	begin_call(s);
}

void synthetic__next(struct synthetic *s, struct event *e)
{
	int cpu, i;

	for (cpu = 0, i = 1; i < SYNTHETIC_CPUS; i++)
		cpu = s->next_ns[i] < s->next_ns[cpu] ? i : cpu;
	*e = (struct event){ .t_ns = s->next_ns[cpu], .cpu = (uint32_t)cpu, .tid = s->tid[cpu] };
	/* The ring's order is that of reservation; the time was taken a moment before. */
	e->t_ns -= draw(s, 150);
	if (cpu)
		program__next(s, e, cpu);
	else if (s->page < s->call_pages)
		page__next(s, e);
	else
		call__next(s, e);
}
