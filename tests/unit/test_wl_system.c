// SPDX-License-Identifier: GPL-2.0-or-later
/* What the workloads read from the system, and the content they check. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "workloads/lib/backing.h"
#include "workloads/lib/cgroup.h"
#include "workloads/lib/content.h"
#include "workloads/lib/node.h"
#include "workloads/lib/team.h"
#include "workloads/lib/vmstat.h"

static void vmstat_absent_is_not_zero(void **state)
{
	char text[] = "pgdemote_kswapd 5\npgdemote_direct 7\nnr_tlb_remote_flush 9\n"
		      "nr_tlb_remote_flush_received 1\nzero 0\n";
	struct wl_vmstat v = { text };
	uint64_t n;

	(void)state;
	assert_int_equal(wl_vmstat__sum(&v, "pgdemote_", &n), 0);
	assert_int_equal(n, 12);
	/* A key that another one begins with. */
	assert_int_equal(wl_vmstat__get(&v, "nr_tlb_remote_flush", &n), 0);
	assert_int_equal(n, 9);
	assert_int_equal(wl_vmstat__get(&v, "zero", &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(wl_vmstat__get(&v, "pgdemote", &n), -ENOENT);
	assert_int_equal(wl_vmstat__get(&v, "flush", &n), -ENOENT);
	assert_int_equal(wl_vmstat__sum(&v, "migrc_", &n), -ENOENT);
}

static void vmstat_of_this_machine(void **state)
{
	struct wl_vmstat v;
	uint64_t n;

	(void)state;
	assert_int_equal(wl_vmstat__read(&v, "/proc/vmstat"), 0);
	assert_int_equal(wl_vmstat__get(&v, "pgfault", &n), 0);
	assert_true(n > 0);
	wl_vmstat__free(&v);
	assert_int_equal(wl_vmstat__read(&v, "/proc/no-such-file"), -ENOENT);
	wl_vmstat__free(&v);
}

static void node_lists(void **state)
{
	static const char *const garbage[] = { "x", "1-", "-1", "1,,2", "2-1", "1,", "1 2", "0x1" };
	uint64_t m;

	(void)state;
	assert_int_equal(wl_node__parse_list("0-1,3\n", &m), 0);
	assert_int_equal(m, 0xb);
	assert_int_equal(wl_node__parse_list("\n", &m), 0);
	assert_int_equal(m, 0);
	assert_int_equal(wl_node__parse_list("63", &m), 0);
	assert_true(m == 1ULL << 63);
	assert_int_equal(wl_node__parse_list("0-64", &m), -ERANGE);
	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++)
		assert_int_equal(wl_node__parse_list(garbage[i], &m), -EINVAL);
}

static void node_pick(void **state)
{
	int fast, slow;

	(void)state;
	assert_int_equal(wl_node__pick(0x1, 0x1, &fast, &slow), -ENODEV);
	assert_int_equal(wl_node__pick(0x0, 0x1, &fast, &slow), -ENODEV);
	/* A node without CPUs is the slow one, also when it comes last. */
	assert_int_equal(wl_node__pick(0x7, 0x3, &fast, &slow), 0);
	assert_int_equal(fast, 0);
	assert_int_equal(slow, 2);
	assert_int_equal(wl_node__pick(0x3, 0x2, &fast, &slow), 0);
	assert_int_equal(fast, 1);
	assert_int_equal(slow, 0);
	assert_int_equal(wl_node__pick(0x3, 0x3, &fast, &slow), 0);
	assert_int_equal(fast, 0);
	assert_int_equal(slow, 1);
}

static void cgroup_home(void **state)
{
	char out[32];

	(void)state;
	assert_int_equal(wl_cgroup__parse_home("0::/a/b\n", out, sizeof(out)), 0);
	assert_string_equal(out, "/a/b");
	assert_int_equal(wl_cgroup__parse_home("3:cpu:/x\n0::/\n", out, sizeof(out)), 0);
	assert_string_equal(out, "/");
	assert_int_equal(wl_cgroup__parse_home("3:cpu:/x\n10::/y\n", out, sizeof(out)), -ENOENT);
	assert_int_equal(wl_cgroup__parse_home("", out, sizeof(out)), -ENOENT);
	assert_int_equal(wl_cgroup__parse_home("0::/longer/than/the/buffer/that/is/given\n", out,
					       sizeof(out)), -ENOENT);
}

static void cgroup_needs_cgroup2(void **state)
{
	struct wl_cgroup cg;

	(void)state;
	assert_int_equal(wl_cgroup__create(&cg, "/proc"), -ENOTSUP);
	assert_int_equal(wl_cgroup__create(&cg, "/no/such/folder"), -ENOTSUP);
}

static void content_is_what_was_written(void **state)
{
	static const enum wl_backing_kind kinds[] = { WL_BACKING_ANON, WL_BACKING_FILE,
						      WL_BACKING_MEMFD };
	uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);

	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		struct wl_backing_opts opts = { .kind = kinds[i / 2], .protect = i % 2,
						.dir = "/tmp" };
		struct wl_backing b;

		assert_int_equal(wl_backing__open(&b, &opts, 64 * page), 0);
		assert_int_equal(wl_content__fill(&b, page), 0);
		assert_int_equal(wl_backing__put(&b, 64 * page - 1, "xx", 2), -ERANGE);
		assert_int_equal(wl_backing__seal(&b), 0);
		for (uint64_t p = 0; p < 64; p++)
			assert_true(((uint64_t *)(b.base + p * page))[7] == wl_content__word(p, 7));
		assert_true(wl_content__checksum(b.base, b.bytes) ==
			    wl_content__expected(64, page, 0));
		wl_backing__close(&b);
	}
}

static void content_checksum_sees_any_change(void **state)
{
	uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);
	struct wl_backing_opts opts = { .kind = WL_BACKING_ANON };
	struct wl_backing b;
	uint64_t good;

	(void)state;
	assert_int_equal(wl_backing__open(&b, &opts, 4 * page), 0);
	assert_int_equal(wl_content__fill(&b, page), 0);
	good = wl_content__checksum(b.base, b.bytes);
	for (uint64_t bit = 0; bit < 4ULL * page * 8; bit += 997) {
		b.base[bit / 8] ^= (unsigned char)(1 << bit % 8);
		assert_true(wl_content__checksum(b.base, b.bytes) != good);
		b.base[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	assert_true(wl_content__checksum(b.base, b.bytes) == good);
	assert_true(wl_content__expected(4, page, 1) != good);
	wl_backing__close(&b);
}

static void backing_says_what_is_missing(void **state)
{
	struct wl_backing_opts opts = { .kind = WL_BACKING_ANON };
	struct wl_backing b;

	(void)state;
	assert_int_equal(wl_backing__open(&b, &opts, 1ULL << 50), -ENOMEM);
	assert_int_equal(wl_backing__open(&b, &opts, UINT64_MAX), -ENOMEM);
	opts.kind = WL_BACKING_FILE;
	opts.dir = "/no/such/folder";
	assert_int_equal(wl_backing__open(&b, &opts, 4096), -ENOENT);
	opts.dir = "/tmp";
	assert_true(wl_backing__open(&b, &opts, 1ULL << 50) < 0);
}

/* The property that the experiments rest on: no writable mapping of what was write(2)-filled. */
static void protected_file_is_mapped_read_only(void **state)
{
	struct wl_backing_opts opts = { .kind = WL_BACKING_MEMFD, .protect = true };
	char line[512], want[32], mode[8] = "";
	struct wl_backing b;
	FILE *f;

	(void)state;
	assert_int_equal(wl_backing__open(&b, &opts, 4096), 0);
	assert_null(b.base);
	assert_int_equal(wl_backing__put(&b, 0, "x", 1), 0);
	assert_int_equal(wl_backing__seal(&b), 0);
	snprintf(want, sizeof(want), "%lx-", (unsigned long)b.base);
	f = fopen("/proc/self/maps", "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, want, strlen(want)))
			sscanf(line, "%*s %7s", mode);
	fclose(f);
	assert_string_equal(mode, "r--s");
	wl_backing__close(&b);
}

static void count_member(void *arg, unsigned int index)
{
	__atomic_fetch_add((unsigned int *)arg, 1U << index, __ATOMIC_SEQ_CST);
}

static void team_runs_each_member_once(void **state)
{
	unsigned int ran = 0;
	struct wl_team t;

	(void)state;
	assert_int_equal(wl_team__start(&t, 8, true, count_member, &ran), 0);
	wl_team__go(&t);
	wl_team__join(&t);
	assert_int_equal(ran, 0xff);
	ran = 0;
	assert_int_equal(wl_team__start(&t, 4, false, count_member, &ran), 0);
	wl_team__join(&t);
	assert_int_equal(ran, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vmstat_absent_is_not_zero),
		cmocka_unit_test(vmstat_of_this_machine),
		cmocka_unit_test(node_lists), cmocka_unit_test(node_pick),
		cmocka_unit_test(cgroup_home), cmocka_unit_test(cgroup_needs_cgroup2),
		cmocka_unit_test(content_is_what_was_written),
		cmocka_unit_test(content_checksum_sees_any_change),
		cmocka_unit_test(backing_says_what_is_missing),
		cmocka_unit_test(protected_file_is_mapped_read_only),
		cmocka_unit_test(team_runs_each_member_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
