// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bodies of the BPF programs, run by the kernel on request and not by the events they wait for:
 * what is noted, binned, counted and lost. Skipped where BPF is not permitted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bpf/events.h"
#include "bpf/bodies.skel.h"
#include "collector/probe_specs.h"

/* A context: the arguments, and in the last place where the call is on the stack. */
#define NR_ARGS 12
#define DEEP	1000	/* a frame inside of one at HIGH */
#define HIGH	9000
#define OWNER	1	/* of a slot: whose stack is at 0 */

struct world {
	struct bodies_bpf *b;
	struct task_slot *slots;
	struct of_cpu *cpus;		/* one for each possible CPU */
	struct counters c;		/* their sum */
	int nr_cpus;
};

static int quiet(enum libbpf_print_level level, const char *format, va_list ap)
{
	(void)level;
	(void)format;
	(void)ap;
	return 0;
}

static void configure(struct world *w, const struct config *config)
{
	int cpu;

	for (cpu = 0; cpu < w->nr_cpus; cpu++)
		w->cpus[cpu].config = *config;
}

static void *map(const struct bpf_map *map, size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	return at;
}

static void map_values(struct world *w)
{
	int cpu, i;

	w->slots = map(w->b->maps.slots, NR_SLOTS * sizeof(*w->slots));
	w->cpus = map(w->b->maps.cpus, (size_t)w->nr_cpus * sizeof(*w->cpus));
	for (cpu = 0; cpu < w->nr_cpus; cpu++)
		for (i = 0; i < SMALL_VALUES; i++)
			w->cpus[cpu].bin[i] = (unsigned char)loglin_bin((unsigned int)i, HIST_SUB_BITS);
}

static int set_up(void **state)
{
	static const struct config config = { .recording = 1, .mask_words = 1, .stack_mask = ~0U };
	struct world *w = calloc(1, sizeof(*w));
	struct bpf_program *prog;

	libbpf_set_print(quiet);
	*state = w;
	w->nr_cpus = libbpf_num_possible_cpus();
	w->b = bodies_bpf__open();
	assert_non_null(w->b);
	bpf_object__for_each_program(prog, w->b->obj)
		bpf_program__set_autoload(prog, bpf_program__type(prog) ==
					  BPF_PROG_TYPE_RAW_TRACEPOINT);
	bpf_map__set_max_entries(w->b->maps.split, 2);
	bpf_map__set_max_entries(w->b->maps.cpus, (__u32)w->nr_cpus);
	if (bodies_bpf__load(w->b)) {
		bodies_bpf__destroy(w->b);
		w->b = NULL;
		return 0;
	}
	map_values(w);
	configure(w, &config);
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	if (w->b) {
		munmap(w->slots, NR_SLOTS * sizeof(*w->slots));
		munmap(w->cpus, (size_t)w->nr_cpus * sizeof(*w->cpus));
	}
	bodies_bpf__destroy(w->b);
	free(w);
	return 0;
}

static void need_bpf(const struct world *w)
{
	if (!w->b && (errno == EPERM || geteuid()))
		skip();
	assert_non_null(w->b);
}

/* Run a program with its arguments; run() is for tracepoints', which ask only whose stack it is. */
static void run_args(const struct bpf_program *prog, uint64_t frame, const uint64_t *args, size_t nr)
{
	uint64_t ctx[NR_ARGS] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = ctx, .ctx_size_in = sizeof(ctx));

	memcpy(ctx, args, nr * sizeof(*args));
	ctx[NR_ARGS - 1] = frame;
	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(prog), &opts), 0);
}

#define run_at(prog, frame, ...) \
	run_args(prog, frame, (uint64_t[]){ __VA_ARGS__ }, \
		 sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))
#define run(prog, ...) run_at(prog, HIGH, __VA_ARGS__)

static const struct probe_count *count(struct world *w, enum probe_id id)
{
	size_t i;
	int cpu;

	memset(&w->c, 0, sizeof(w->c));
	for (cpu = 0; cpu < w->nr_cpus; cpu++)
		for (i = 0; i < sizeof(w->c) / 8; i++)
			((uint64_t *)&w->c)[i] += ((const uint64_t *)&w->cpus[cpu].n)[i];
	if (probe_specs[id].rungs[0].entry_prog)
		w->c.probe[id].exits += w->c.probe[id].seen;
	return &w->c.probe[id];
}

static struct hist hist(struct world *w, __u32 id)
{
	struct hist sum = { 0 };
	size_t i;
	int cpu;

	for (cpu = 0; cpu < w->nr_cpus; cpu++)
		for (i = 0; i < sizeof(sum) / 8; i++)
			((uint64_t *)&sum)[i] += ((const uint64_t *)&w->cpus[cpu].hist[id])[i];
	for (i = 0; i < HIST_BINS; i++)
		sum.total += sum.bin[i];
	return sum;
}

static struct task_slot *my_slot(const struct world *w)
{
	uint32_t owner = OWNER;
	uint32_t i;

	for (i = 0; i < SLOT_TRIES; i++)
		if (w->slots[(owner + i) % NR_SLOTS].owner == owner)
			return &w->slots[(owner + i) % NR_SLOTS];
	return NULL;
}

static void test_call(void **state)
{
	struct world *w = *state;
	const struct probe_count *n;

	need_bpf(w);
	run(w->b->progs.tp_migrate_pages_start, 2, 8);
	assert_non_null(my_slot(w));
	assert_int_equal(my_slot(w)->class, CLASS_MIGRATION);
	run(w->b->progs.tp_migrate, 30, 1, 0, 0, 0, 0, 2, 8);
	run(w->b->progs.tp_migrate_pages_end, 0);
	assert_null(my_slot(w));
	n = count(w, PROBE_MIGRATE_PAGES);
	assert_int_equal(n->entries, 1);
	assert_int_equal(n->exits, 1);
	assert_int_equal(n->seen, 1);
	assert_int_equal(hist(w, HIST_MIGRATE_PAGES_NS).total, 1);
	assert_true(hist(w, HIST_MIGRATE_PAGES_NS).sum > 0);
	assert_int_equal(w->c.call_modes[2], 1);
	assert_int_equal(w->c.migrate_succeeded[8], 30);
	assert_int_equal(w->c.migrate_failed[8], 1);
	assert_int_equal(hist(w, HIST_MIGRATE_PAGES_PER_CALL).sum, 30);
}

static void test_not_recording(void **state)
{
	static const struct config off = { .mask_words = 1 };
	struct world *w = *state;

	need_bpf(w);
	configure(w, &off);
	run(w->b->progs.tp_migrate_pages_start, 2, 8);
	run(w->b->progs.tp_migrate_pages_end, 0);
	run(w->b->progs.tp_tlb_flush, 1, 1);
	assert_int_equal(count(w, PROBE_MIGRATE_PAGES)->entries, 0);
	assert_int_equal(count(w, PROBE_MIGRATE_PAGES)->unmatched, 0);
	assert_int_equal(count(w, PROBE_TLB_FLUSH)->seen, 0);
}

/* A value past what the kernel's enum had when this was written goes to the last place. */
static void test_unknown_values(void **state)
{
	struct world *w = *state;

	need_bpf(w);
	run(w->b->progs.tp_migrate, 7, 0, 0, 0, 0, 0, 99, 99);
	run(w->b->progs.tp_tlb_flush, 99, 1);
	count(w, PROBE_MIGRATE);
	assert_int_equal(w->c.migrate_succeeded[NR_MIGRATE_REASONS - 1], 7);
	assert_int_equal(w->c.tlb_flush[NR_TLB_REASONS - 1], 1);
}

static void test_unmatched(void **state)
{
	struct world *w = *state;

	need_bpf(w);
	run(w->b->progs.tp_migrate_pages_end, 0);
	assert_int_equal(count(w, PROBE_MIGRATE_PAGES)->unmatched, 1);
	assert_int_equal(count(w, PROBE_MIGRATE_PAGES)->exits, 0);
	assert_int_equal(hist(w, HIST_MIGRATE_PAGES_NS).total, 0);
}

static void test_clock_backwards(void **state)
{
	struct world *w = *state;

	need_bpf(w);
	run(w->b->progs.tp_migrate_pages_start, 2, 8);
	my_slot(w)->call[PROBE_MIGRATE_PAGES].t_ns += 3600000000000ULL;
	run(w->b->progs.tp_migrate_pages_end, 0);
	assert_int_equal(count(w, PROBE_MIGRATE_PAGES)->clock_backwards, 1);
	assert_int_equal(count(w, PROBE_MIGRATE_PAGES)->exits, 1);
	assert_int_equal(hist(w, HIST_MIGRATE_PAGES_NS).total, 0);
	assert_null(my_slot(w));
}

/* All slots that this task may have belong to others. */
static void test_no_slot(void **state)
{
	struct world *w = *state;
	uint32_t owner = OWNER, i;

	need_bpf(w);
	for (i = 0; i < SLOT_TRIES; i++)
		w->slots[(owner + i) % NR_SLOTS].owner = owner + NR_SLOTS;
	run(w->b->progs.tp_migrate_pages_start, 2, 8);
	run(w->b->progs.tp_migrate_pages_end, 0);
	assert_int_equal(count(w, PROBE_MIGRATE_PAGES)->maps_full, 1);
	assert_int_equal(count(w, PROBE_MIGRATE_PAGES)->entries, 0);
	assert_int_equal(hist(w, HIST_MIGRATE_PAGES_NS).total, 0);
	/* The last of them becomes free. */
	w->slots[(owner + SLOT_TRIES - 1) % NR_SLOTS].owner = 0;
	run(w->b->progs.tp_migrate_pages_start, 2, 8);
	run(w->b->progs.tp_migrate_pages_end, 0);
	assert_int_equal(hist(w, HIST_MIGRATE_PAGES_NS).total, 1);
}

/* Whose first place is another's goes on, is found there though that one has left, and comes back. */
static void test_other_place(void **state)
{
	struct world *w = *state;
	uint32_t owner = OWNER;
	struct task_slot *home = &w->slots[owner % NR_SLOTS];

	need_bpf(w);
	home->owner = owner + NR_SLOTS;
	run(w->b->progs.tp_migrate_pages_start, 2, 8);
	assert_ptr_equal(my_slot(w), &w->slots[(owner + 1) % NR_SLOTS]);
	assert_int_equal(my_slot(w)->place, 1);
	assert_int_equal(home->gone_on, 1);
	home->owner = 0;
	run(w->b->progs.tp_migrate, 30, 1, 0, 0, 0, 0, 2, 8);
	run(w->b->progs.tp_migrate_pages_end, 0);
	assert_int_equal(count(w, PROBE_MIGRATE_PAGES)->exits, 1);
	assert_null(my_slot(w));
	assert_int_equal(home->gone_on, 0);
	run(w->b->progs.tp_migrate_pages_start, 2, 8);
	assert_ptr_equal(my_slot(w), home);
	run(w->b->progs.tp_migrate_pages_end, 0);
	assert_int_equal(count(w, PROBE_MIGRATE_PAGES)->unmatched, 0);
	assert_int_equal(count(w, PROBE_MIGRATE_PAGES)->exits, 2);
}

/* A call inside a call is counted, and its time is part of the outer one's. */
static void test_nested(void **state)
{
	struct world *w = *state;
	const struct probe_count *n;

	need_bpf(w);
	run_at(w->b->progs.fentry_migrate_pages, HIGH, 0, 0, 0, 0, 2, 8);
	run_at(w->b->progs.fentry_migrate_pages, DEEP, 0, 0, 0, 0, 2, 8);
	/* What it flushed is the outer one's. */
	run(w->b->progs.tp_migrate, 30, 0, 0, 0, 0, 0, 2, 8);
	assert_int_equal(hist(w, HIST_MIGRATE_FLUSHES_PER_CALL).total, 0);
	run_at(w->b->progs.fexit_migrate_pages, DEEP, 0);
	assert_int_equal(hist(w, HIST_MIGRATE_PAGES_NS).total, 0);
	run_at(w->b->progs.fexit_migrate_pages, HIGH, 0);
	n = count(w, PROBE_MIGRATE_PAGES);
	assert_int_equal(n->entries, 2);
	assert_int_equal(n->nested, 1);
	assert_int_equal(n->exits, 2);
	assert_int_equal(n->no_exit + n->no_exit_late, 0);
	assert_int_equal(hist(w, HIST_MIGRATE_PAGES_NS).total, 1);
}

/* The return of a call was never seen: known at the next call, which is not inside it. */
static void test_no_exit_at_entry(void **state)
{
	struct world *w = *state;
	const struct probe_count *n;

	need_bpf(w);
	run_at(w->b->progs.fentry_try_to_migrate, HIGH, 0, 0);
	run_at(w->b->progs.fentry_try_to_migrate, HIGH, 0, 0);
	run_at(w->b->progs.fexit_try_to_migrate, HIGH, 0);
	n = count(w, PROBE_TRY_TO_MIGRATE);
	assert_int_equal(n->entries, 2);
	assert_int_equal(n->exits, 1);
	assert_int_equal(n->no_exit, 1);
	assert_int_equal(n->nested, 0);
	assert_int_equal(hist(w, HIST_TRY_TO_MIGRATE_NS).total, 1);
	assert_null(my_slot(w));
}

/* As before, known at the return of a call further out, whose own start was missed. */
static void test_no_exit_at_exit(void **state)
{
	struct world *w = *state;
	const struct probe_count *n;

	need_bpf(w);
	run_at(w->b->progs.fentry_try_to_migrate, DEEP, 0, 0);
	run_at(w->b->progs.fexit_try_to_migrate, HIGH, 0);
	n = count(w, PROBE_TRY_TO_MIGRATE);
	assert_int_equal(n->exits, 0);
	assert_int_equal(n->no_exit_late, 1);
	assert_int_equal(n->unmatched, 1);
	assert_int_equal(hist(w, HIST_TRY_TO_MIGRATE_NS).total, 0);
	assert_null(my_slot(w));
}

/* The start of an inner call was missed: its return must not end the outer one. */
static void test_inner_start_missed(void **state)
{
	struct world *w = *state;

	need_bpf(w);
	run_at(w->b->progs.fentry_try_to_migrate, HIGH, 0, 0);
	run_at(w->b->progs.fexit_try_to_migrate, DEEP, 0);
	assert_int_equal(count(w, PROBE_TRY_TO_MIGRATE)->unmatched, 1);
	assert_non_null(my_slot(w));
	run_at(w->b->progs.fexit_try_to_migrate, HIGH, 0);
	assert_int_equal(hist(w, HIST_TRY_TO_MIGRATE_NS).total, 1);
}

static void flush(struct world *w, bool of_mm)
{
	if (of_mm) {
		run_at(w->b->progs.fentry_mm_flush, DEEP, 0);
		run_at(w->b->progs.fexit_mm_flush, DEEP, 0);
	} else {
		run_at(w->b->progs.fentry_tlbbatch_flush, DEEP, 0);
		run_at(w->b->progs.fexit_tlbbatch_flush, DEEP, 0);
	}
}

static uint64_t flushes(struct world *w, enum flush_class class)
{
	return hist(w, HIST_TLBBATCH_FLUSH_NS + class).total + hist(w, HIST_MM_FLUSH_NS + class).total;
}

/* The innermost of what the task is in. */
static void test_classes(void **state)
{
	struct world *w = *state;

	need_bpf(w);
	flush(w, true);
	assert_int_equal(flushes(w, CLASS_OTHER), 1);
	run_at(w->b->progs.fentry_wp_fault, HIGH, 0);
	flush(w, true);
	assert_int_equal(flushes(w, CLASS_WRITE_FAULT), 1);
	run(w->b->progs.tp_direct_reclaim_begin, 0);
	flush(w, false);
	assert_int_equal(flushes(w, CLASS_ALLOCATION), 1);
	run_at(w->b->progs.fentry_migrate_pages, HIGH, 0, 0, 0, 0, 0, 8);
	flush(w, false);
	flush(w, false);
	assert_int_equal(flushes(w, CLASS_MIGRATION), 2);
	run(w->b->progs.tp_migrate, 30, 0, 0, 0, 0, 0, 0, 8);
	run_at(w->b->progs.fexit_migrate_pages, HIGH, 0);
	flush(w, false);
	assert_int_equal(flushes(w, CLASS_ALLOCATION), 2);
	run(w->b->progs.tp_direct_reclaim_end, 0);
	flush(w, true);
	assert_int_equal(flushes(w, CLASS_WRITE_FAULT), 2);
	run_at(w->b->progs.fexit_wp_fault, HIGH, 0);
	run_at(w->b->progs.fentry_munmap, HIGH, 0);
	flush(w, true);
	run_at(w->b->progs.fexit_munmap, HIGH, 0);
	assert_int_equal(flushes(w, CLASS_MUNMAP), 1);
	run(w->b->progs.tp_memcg_reclaim_begin, 0);
	flush(w, false);
	run(w->b->progs.tp_memcg_reclaim_end, 0);
	assert_int_equal(flushes(w, CLASS_RECLAIM), 1);
	assert_null(my_slot(w));
	count(w, PROBE_MIGRATE_PAGES);
	assert_int_equal(w->c.call_flushes[8], 2);
	assert_int_equal(hist(w, HIST_MIGRATE_FLUSHES_PER_CALL).sum, 2);
	assert_int_equal(hist(w, HIST_DIRECT_RECLAIM_NS).total, 1);
	assert_int_equal(hist(w, HIST_MEMCG_RECLAIM_NS).total, 1);
	/* Address 0 has no mask of CPUs. */
	assert_int_equal(count(w, PROBE_TLBBATCH_FLUSH)->mask_error, 5);
	assert_int_equal(hist(w, HIST_TLBBATCH_FLUSH_CPUS + CLASS_MIGRATION).total, 0);
}

/* 0 where addresses are hidden. */
static uint64_t kernel_symbol(const char *name)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	unsigned long long at = 0, found = 0;
	char line[512], symbol[256];

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %*c %255s", &at, symbol) == 2 && !strcmp(symbol, name))
			found = at;
	if (f)
		fclose(f);
	return found;
}

/* How many flushes were counted by what they named, and what the last of those found named. */
static uint64_t count_named(const struct world *w, unsigned int *named)
{
	uint64_t sum = 0;
	unsigned int i;
	int cpu;

	for (cpu = 0; cpu < w->nr_cpus; cpu++)
		for (i = 0; i < NR_NAMED; i++)
			if (w->cpus[cpu].named[FLUSHER_TLBBATCH][CLASS_MIGRATION][i]) {
				sum += w->cpus[cpu].named[FLUSHER_TLBBATCH][CLASS_MIGRATION][i];
				*named = i;
			}
	return sum;
}

static void flush_of(struct world *w, uint64_t mask)
{
	run_at(w->b->progs.fentry_tlbbatch_flush, DEEP, mask);
	run_at(w->b->progs.fexit_tlbbatch_flush, DEEP, mask);
}

/* A mask that can be read; which bits it has does not matter: it is the beginning of a function. */
static void test_mask(void **state)
{
	struct config config = { .recording = 1, .mask_words = 1, .stack_mask = ~0U };
	struct by_key key = { .who = "flusher", .hist = HIST_TLBBATCH_FLUSH_CPUS + CLASS_MIGRATION };
	uint64_t mask = kernel_symbol("arch_tlbbatch_flush");
	struct world *w = *state;
	unsigned int n = 0;
	struct hist h;
	char comm[16];

	need_bpf(w);
	if (!mask)
		skip();
	run_at(w->b->progs.fentry_migrate_pages, HIGH, 0, 0, 0, 0, 0, 8);
	flush_of(w, mask);
	flush_of(w, mask);
	run(w->b->progs.tp_migrate, 30, 0, 0, 0, 0, 0, 0, 8);
	run_at(w->b->progs.fexit_migrate_pages, HIGH, 0);
	assert_int_equal(count_named(w, &n), 2);
	assert_in_range(named__cpus(n), 1, 64);
	assert_int_equal(count(w, PROBE_TLBBATCH_FLUSH)->mask_error, 0);
	assert_int_equal(hist(w, HIST_MIGRATE_TARGETS_PER_CALL).sum, 2 * named__others(n));
	assert_int_equal(w->c.call_targets[8], 2 * named__others(n));

	config.by = BY_COMM;
	configure(w, &config);
	prctl(PR_GET_NAME, comm);
	prctl(PR_SET_NAME, "flusher");
	run_at(w->b->progs.fentry_migrate_pages, HIGH, 0, 0, 0, 0, 0, 8);
	flush_of(w, mask);
	prctl(PR_SET_NAME, comm);
	assert_int_equal(count_named(w, &n), 3);
	assert_int_equal(bpf_map__lookup_elem(w->b->maps.split, &key, sizeof(key), &h, sizeof(h), 0),
			 0);
	assert_int_equal(h.total, 1);
	assert_int_equal(h.sum, named__cpus(n));
}

/* A mask of several words: as many CPUs are named as by the first, and those of the others. */
static void test_long_mask(void **state)
{
	struct config config = { .recording = 1, .stack_mask = ~0U };
	uint64_t mask = kernel_symbol("arch_tlbbatch_flush");
	uint64_t targets[3], before = 0;
	struct world *w = *state;
	unsigned int i;

	need_bpf(w);
	if (!mask)
		skip();
	for (i = 0; i < 3; i++) {
		config.mask_words = i + 1;
		configure(w, &config);
		run_at(w->b->progs.fentry_migrate_pages, HIGH, 0, 0, 0, 0, 0, 8);
		flush_of(w, mask);
		run(w->b->progs.tp_migrate, 30, 0, 0, 0, 0, 0, 0, 8);
		run_at(w->b->progs.fexit_migrate_pages, HIGH, 0);
		targets[i] = hist(w, HIST_MIGRATE_TARGETS_PER_CALL).sum - before;
		before += targets[i];
	}
	assert_int_equal(count(w, PROBE_TLBBATCH_FLUSH)->mask_error, 0);
	assert_in_range(targets[1], targets[0] + 1, targets[0] + 64);
	assert_in_range(targets[2], targets[1] + 1, targets[1] + 64);
}

static void test_kswapd(void **state)
{
	struct world *w = *state;
	char comm[16];

	need_bpf(w);
	prctl(PR_GET_NAME, comm);
	prctl(PR_SET_NAME, "kswapd1");
	flush(w, false);
	prctl(PR_SET_NAME, "kswapping");
	flush(w, false);
	prctl(PR_SET_NAME, comm);
	assert_int_equal(flushes(w, CLASS_RECLAIM), 1);
	assert_int_equal(flushes(w, CLASS_OTHER), 1);
}

/* The programs' short way to a value's bin is the same as loglin_bin(), whose way is longer. */
static void test_bins(void **state)
{
	struct world *w = *state;
	uint64_t value, sum = 0;
	unsigned int bit, i;
	struct hist h;

	need_bpf(w);
	for (bit = 0; bit < 64; bit++) {
		for (i = 0; i < 16; i++) {
			value = (1ULL << bit) + ((1ULL << bit) * i >> 4) - (i == 15);
			h = hist(w, HIST_MIGRATE_PAGES_PER_CALL);
			run(w->b->progs.tp_migrate, value, 0, 0, 0, 0, 0, 2, 8);
			sum += value;
			assert_int_equal(hist(w, HIST_MIGRATE_PAGES_PER_CALL)
					 .bin[loglin_bin(value, HIST_SUB_BITS)],
					 h.bin[loglin_bin(value, HIST_SUB_BITS)] + 1);
		}
	}
	h = hist(w, HIST_MIGRATE_PAGES_PER_CALL);
	assert_int_equal(h.total, 64 * 16);
	assert_int_equal(h.sum, sum);
}

/* A write fault that waited: told by the patch's tracepoint, or else by the release it made. */
static void test_waits(void **state)
{
	static const struct config traced = { .recording = 1, .mask_words = 1, .wait_traced = 1 };
	struct world *w = *state;
	uint64_t waited;

	need_bpf(w);
	run_at(w->b->progs.fentry_wp_fault, HIGH, 0);
	run_at(w->b->progs.fentry_migrc_release, DEEP, 1);
	flush(w, false);
	run_at(w->b->progs.fexit_migrc_release, DEEP, 0);
	run_at(w->b->progs.fexit_wp_fault, HIGH, 0);
	count(w, PROBE_WP_FAULT);
	assert_int_equal(w->c.wp_waited, 1);
	assert_int_equal(w->c.release_calls[1], 1);
	assert_int_equal(flushes(w, CLASS_WRITE_FAULT), 1);
	waited = hist(w, HIST_WP_FAULT_WAITED_NS).sum;
	assert_true(waited > 0);

	configure(w, &traced);
	run_at(w->b->progs.fentry_wp_fault, HIGH, 0);
	run_at(w->b->progs.fentry_migrc_release, DEEP, 1);
	run_at(w->b->progs.fexit_migrc_release, DEEP, 0);
	run(w->b->progs.tp_migrc_wait, 1, 5, 4242);
	run_at(w->b->progs.fexit_wp_fault, HIGH, 0);
	run_at(w->b->progs.fentry_wp_fault, HIGH, 0);
	run_at(w->b->progs.fexit_wp_fault, HIGH, 0);
	count(w, PROBE_WP_FAULT);
	assert_int_equal(w->c.wp_waited, 2);
	assert_int_equal(w->c.waits[1], 1);
	assert_int_equal(hist(w, HIST_MIGRC_WAIT_NS).sum, 4242);
	assert_int_equal(hist(w, HIST_WP_FAULT_NS).total, 3);
	assert_int_equal(hist(w, HIST_WP_FAULT_WAITED_NS).total, 2);
	/* Not the release's time as well. */
	assert_int_equal(hist(w, HIST_WP_FAULT_WAITED_NS).sum, waited + 4242);
}

/* By timer, cap and drain nobody waits: not the class of whoever happens to run. */
static void test_deferral(void **state)
{
	struct world *w = *state;

	need_bpf(w);
	run_at(w->b->progs.fentry_migrc_release, HIGH, 5);
	flush(w, false);
	run_at(w->b->progs.fexit_migrc_release, HIGH, 0);
	assert_int_equal(flushes(w, CLASS_DEFERRAL), 1);
	run_at(w->b->progs.fentry_migrc_release, HIGH, 3);
	flush(w, false);
	run_at(w->b->progs.fexit_migrc_release, HIGH, 0);
	assert_int_equal(flushes(w, CLASS_ALLOCATION), 1);
}

static void test_patch_tracepoints(void **state)
{
	struct world *w = *state;

	need_bpf(w);
	run(w->b->progs.tp_migrc_defer, 77, 0, 1);
	run(w->b->progs.tp_migrc_refuse, 77, 0, 1);
	run(w->b->progs.tp_migrc_freed, 5, 3, 2, 40);
	assert_int_equal(count(w, PROBE_MIGRC_DEFER)->seen, 1);
	assert_int_equal(w->c.refused[1], 1);
	assert_int_equal(w->c.freed[5], 3);
	/* One value for each folio. */
	assert_int_equal(hist(w, HIST_MIGRC_HELD_AGE_MS).total, 3);
	assert_int_equal(hist(w, HIST_MIGRC_HELD_AGE_MS).sum, 120);
	assert_int_equal(hist(w, HIST_MIGRC_HELD_AGE_MS).bin[loglin_bin(40, HIST_SUB_BITS)], 3);
	assert_int_equal(hist(w, HIST_MIGRC_RELEASE_FOLIOS).sum, 3);
}

static int take(void *ctx, void *data, size_t size)
{
	const struct event *e = data;

	assert_int_equal(size, sizeof(*e));
	assert_int_equal(e->kind, PROBE_TLB_FLUSH);
	assert_int_equal(e->a, 4);
	++*(uint64_t *)ctx;
	return 0;
}

/* The smallest ring and a burst: what is lost is counted, and all adds up. */
static void test_burst(void **state)
{
	static const struct config all = { .recording = 1, .mask_words = 1, .event_every = 1 };
	struct world *w = *state;
	const struct probe_count *n;
	struct ring_buffer *ring;
	uint64_t received = 0;
	int i;

	need_bpf(w);
	configure(w, &all);
	ring = ring_buffer__new(bpf_map__fd(w->b->maps.ring), take, &received, NULL);
	assert_non_null(ring);
	for (i = 0; i < 1000; i++)
		run(w->b->progs.tp_tlb_flush, 4, 1);
	assert_true(ring_buffer__consume(ring) > 0);
	ring_buffer__free(ring);
	n = count(w, PROBE_TLB_FLUSH);
	assert_int_equal(n->seen, 1000);
	assert_int_equal(n->submitted, received);
	assert_int_equal(n->lost, 1000 - received);
	/* 4096 bytes hold 64 events of 56 bytes and a header of 8, less what keeps head from tail. */
	assert_in_range(received, 32, 64);
}

static void test_sample(void **state)
{
	static const struct config sample = { .recording = 1, .mask_words = 1, .event_every = 50 };
	struct world *w = *state;
	const struct probe_count *n;
	int i;

	need_bpf(w);
	configure(w, &sample);
	for (i = 0; i < 1000; i++)
		run(w->b->progs.tp_tlb_flush, 4, 1);
	n = count(w, PROBE_TLB_FLUSH);
	assert_int_equal(n->seen, 1000);
	assert_int_equal(n->lost, 0);
	assert_int_equal(n->submitted + n->skipped, 1000);
	/* One of 50 on each of the CPUs that this ran on. */
	assert_in_range(n->submitted, 20 - (uint64_t)w->nr_cpus, 20);
}

static void call_as(struct world *w, const char *comm)
{
	prctl(PR_SET_NAME, comm);
	run_at(w->b->progs.fentry_try_to_migrate, HIGH, 0, 0);
	run_at(w->b->progs.fexit_try_to_migrate, HIGH, 0);
}

/* Histograms by comm; one that finds no room is counted and not mixed into another. */
static void test_split(void **state)
{
	static const struct config by = { .recording = 1, .mask_words = 1, .by = BY_COMM };
	struct by_key key = { .who = "first", .hist = HIST_TRY_TO_MIGRATE_NS };
	struct world *w = *state;
	struct hist h, whole;
	char comm[16];
	uint64_t sum = 0;
	size_t i;

	need_bpf(w);
	configure(w, &by);
	prctl(PR_GET_NAME, comm);
	call_as(w, "first");
	call_as(w, "first");
	call_as(w, "second");
	call_as(w, "third");
	prctl(PR_SET_NAME, comm);
	assert_int_equal(bpf_map__lookup_elem(w->b->maps.split, &key, sizeof(key), &h, sizeof(h), 0),
			 0);
	assert_int_equal(h.total, 2);
	for (i = 0; i < HIST_BINS; i++)
		sum += h.bin[i];
	assert_int_equal(sum, 2);
	assert_true(h.max <= h.sum && h.max * 2 >= h.sum);
	whole = hist(w, HIST_TRY_TO_MIGRATE_NS);
	assert_int_equal(whole.total, 4);
	assert_int_equal(count(w, PROBE_TRY_TO_MIGRATE)->by_full, 1);
	key = (struct by_key){ .who = "third", .hist = HIST_TRY_TO_MIGRATE_NS };
	assert_int_not_equal(bpf_map__lookup_elem(w->b->maps.split, &key, sizeof(key), &h, sizeof(h),
						  0), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(call), TEST(not_recording), TEST(unknown_values), TEST(unmatched),
		TEST(clock_backwards), TEST(no_slot), TEST(other_place), TEST(nested),
		TEST(no_exit_at_entry), TEST(no_exit_at_exit), TEST(inner_start_missed), TEST(classes),
		TEST(mask), TEST(long_mask), TEST(kswapd), TEST(bins), TEST(waits), TEST(deferral),
		TEST(patch_tracepoints), TEST(burst), TEST(sample), TEST(split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
