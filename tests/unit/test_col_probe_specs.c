// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/probe_specs.h"
#include "bpf/migrc.skel.h"

#define ALL	((1U << NR_PROBES) - 1)

static struct hist hists[NR_HISTS];

/* The stored histogram of that name, or NULL. */
static const struct hist *find(const char *name, uint32_t attached)
{
	static struct stored_hist h;
	size_t i;
	int err;

	for (i = 0; (err = stored_hist__make(&h, i, hists, attached)) != -ERANGE; i++)
		if (!err && !strcmp(h.name, name))
			return &h.hist;
	return NULL;
}

static void add(unsigned int id, uint64_t value)
{
	hists[id].total++;
	hists[id].sum += value;
	hists[id].max = value > hists[id].max ? value : hists[id].max;
	hists[id].bin[loglin_bin(value, HIST_SUB_BITS)]++;
}

/* Every program that a probe names is in the object. */
static void test_programs(void **state)
{
	struct migrc_bpf *b = migrc_bpf__open();
	size_t id, rung;

	(void)state;
	assert_non_null(b);
	for (id = 0; id < NR_PROBES; id++) {
		const struct probe_spec *spec = &probe_specs[id];

		assert_non_null(spec->name);
		assert_non_null(spec->targets[0]);
		assert_non_null(spec->rungs[0].exit_prog);
		for (rung = 0; rung < MAX_RUNGS && spec->rungs[rung].exit_prog; rung++) {
			const struct rung_spec *r = &spec->rungs[rung];

			assert_non_null(bpf_object__find_program_by_name(b->obj, r->exit_prog));
			if (r->entry_prog)
				assert_non_null(bpf_object__find_program_by_name(b->obj,
										 r->entry_prog));
			/* Best first. */
			assert_true(!rung || spec->rungs[rung - 1].rung < r->rung);
		}
	}
	migrc_bpf__destroy(b);
}

/* Names are unique, units there, and all of the programs' histograms go into one at least. */
static void test_names(void **state)
{
	struct stored_hist a, b;
	uint64_t stored = 0, own = 0;
	size_t i, j;
	unsigned int id;

	(void)state;
	memset(hists, 0, sizeof(hists));
	for (id = 0; id < NR_HISTS; id++)
		add(id, 1);
	for (i = 0; stored_hist__make(&a, i, hists, ALL) != -ERANGE; i++) {
		assert_true(a.name[0] && a.unit[0]);
		stored += a.hist.total;
		for (j = 0; j < i; j++) {
			stored_hist__make(&b, j, hists, ALL);
			assert_string_not_equal(a.name, b.name);
		}
	}
	for (id = 0; id < NR_HISTS; id++)
		own += hists[id].total * (id < HIST_TLBBATCH_FLUSH_NS ? 1 : 2);
	assert_int_equal(stored, own);
}

static void test_sums(void **state)
{
	const struct hist *h;

	(void)state;
	memset(hists, 0, sizeof(hists));
	add(HIST_TLBBATCH_FLUSH_NS + CLASS_MIGRATION, 100);
	add(HIST_TLBBATCH_FLUSH_NS + CLASS_RECLAIM, 900);
	add(HIST_MM_FLUSH_NS + CLASS_MIGRATION, 50);
	add(HIST_TLBBATCH_FLUSH_CPUS + CLASS_MIGRATION, 3);
	h = find("tlbbatch_flush_ns", ALL);
	assert_int_equal(h->total, 2);
	assert_int_equal(h->sum, 1000);
	assert_int_equal(h->max, 900);
	h = find("flush_ns.migration", ALL);
	assert_int_equal(h->total, 2);
	assert_int_equal(h->sum, 150);
	assert_int_equal(h->bin[loglin_bin(50, HIST_SUB_BITS)], 1);
	assert_int_equal(find("flush_cpus.migration", ALL)->sum, 3);
	assert_int_equal(find("mm_flush_ns", ALL)->sum, 50);
	assert_int_equal(find("flush_ns.other", ALL)->total, 0);
}

/* What two CPUs counted by number, beside what one of them has binned already. */
static void test_named(void **state)
{
	struct of_cpu *cpu = calloc(2, sizeof(*cpu));
	struct counters sum = { 0 };
	const struct hist *h = &hists[HIST_MM_FLUSH_CPUS + CLASS_MUNMAP];

	(void)state;
	assert_non_null(cpu);
	memset(hists, 0, sizeof(hists));
	add(HIST_MM_FLUSH_CPUS + CLASS_MUNMAP, 200);
	sum.flush_targets[FLUSHER_MM][CLASS_MUNMAP] = 199;
	cpu[0].named[FLUSHER_MM][CLASS_MUNMAP][2 * 3 + 1] = 5;	/* three others and itself */
	cpu[1].named[FLUSHER_MM][CLASS_MUNMAP][2 * 3] = 7;	/* three others */
	cpu[1].named[FLUSHER_MM][CLASS_MUNMAP][1] = 2;		/* itself */
	cpu[1].named[FLUSHER_MM][CLASS_MUNMAP][0] = 1;		/* nobody */
	cpu[1].named[FLUSHER_TLBBATCH][CLASS_OTHER][NR_NAMED - 1] = 1;
	of_cpu__add_named(&cpu[0], hists, &sum);
	of_cpu__add_named(&cpu[1], hists, &sum);
	assert_int_equal(h->sum, 200 + 5 * 4 + 7 * 3 + 2);
	assert_int_equal(h->max, 200);
	assert_int_equal(h->bin[4], 5);
	assert_int_equal(h->bin[3], 7);
	assert_int_equal(h->bin[1], 2);
	assert_int_equal(h->bin[0], 1);
	assert_int_equal(sum.flush_targets[FLUSHER_MM][CLASS_MUNMAP], 199 + 5 * 3 + 7 * 3);
	assert_int_equal(hists[HIST_TLBBATCH_FLUSH_CPUS + CLASS_OTHER].max, 64);
	assert_int_equal(sum.flush_targets[FLUSHER_TLBBATCH][CLASS_OTHER], 63);
	assert_int_equal(sum.flush_targets[FLUSHER_MM][CLASS_OTHER], 0);
	free(cpu);
}

/* What nobody looked for is absent, not 0. */
static void test_absent(void **state)
{
	const uint32_t stock = ALL & ~(1U << PROBE_MIGRC_RELEASE | 1U << PROBE_MIGRC_DEFER |
				       1U << PROBE_MIGRC_REFUSE | 1U << PROBE_MIGRC_FREED |
				       1U << PROBE_MIGRC_WAIT);

	(void)state;
	memset(hists, 0, sizeof(hists));
	assert_non_null(find("wp_fault_waited_ns", ALL));
	assert_null(find("wp_fault_waited_ns", stock));
	assert_non_null(find("wp_fault_ns", stock));
	assert_null(find("migrc_held_age_ms", stock));
	assert_null(find("migrc_wait_ns", stock));
	assert_null(find("flush_ns.deferral", stock));
	assert_non_null(find("flush_ns.munmap", stock));
	assert_null(find("flush_ns.munmap", stock & ~(1U << PROBE_MUNMAP)));
	assert_null(find("migrate_flushes_per_call", stock & ~(1U << PROBE_TLBBATCH_FLUSH)));
	assert_null(find("mm_flush_ns", stock & ~(1U << PROBE_MM_FLUSH)));
	assert_null(find("flush_ns.other", 1U << PROBE_MIGRATE));
}

static void test_words(void **state)
{
	char buf[48];
	int i;

	(void)state;
	for (i = RUNG_FENTRY; i <= RUNG_NONE; i++)
		assert_int_equal(rung__parse(rung__name((enum rung)i)), i);
	assert_int_equal(rung__parse("uprobe"), -EINVAL);
	assert_string_equal(hist__name(HIST_MIGRATE_PAGES_NS, buf, sizeof(buf)),
			    "migrate_pages_ns");
	assert_string_equal(hist__name(HIST_MM_FLUSH_CPUS + CLASS_MUNMAP, buf, sizeof(buf)),
			    "mm_flush_cpus.munmap");
	assert_string_equal(hist__unit(HIST_MM_FLUSH_CPUS + CLASS_MUNMAP), "CPUs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs), cmocka_unit_test(test_names),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_named), cmocka_unit_test(test_absent),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
