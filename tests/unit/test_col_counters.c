// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "collector/counters.h"

static void assert_value(const struct snapshot *s, const char *source, const char *name,
			 int64_t expected)
{
	const struct snapshot_entry *e = snapshot__find(s, source, name);

	assert_non_null(e);
	assert_int_equal(e->value, expected);
}

static void test_vmstat(void **state)
{
	char text[] = "nr_free_pages 1234\npgmigrate_success 42\nnr_tlb_remote_flush 0\n";
	struct snapshot s = { 0 };

	(void)state;
	assert_int_equal(vmstat__parse(text, "vmstat", &s), 0);
	assert_int_equal(s.nr, 3);
	assert_value(&s, "vmstat", "pgmigrate_success", 42);
	assert_value(&s, "vmstat", "nr_tlb_remote_flush", 0);
	/* What a kernel lacks is absent, not 0. */
	assert_null(snapshot__find(&s, "vmstat", "migrc_deferred"));
	snapshot__free(&s);
}

/* As it comes out of a mail: lines that end in CR LF, and the last one in nothing. */
static void test_vmstat_crlf(void **state)
{
	char text[] = "pgmigrate_success 42\r\nnr_tlb_remote_flush 7";
	struct snapshot s = { 0 };

	(void)state;
	assert_int_equal(vmstat__parse(text, "vmstat", &s), 0);
	assert_value(&s, "vmstat", "pgmigrate_success", 42);
	assert_value(&s, "vmstat", "nr_tlb_remote_flush", 7);
	snapshot__free(&s);
}

static void test_vmstat_malformed(void **state)
{
	char no_number[] = "pgfault\n", not_number[] = "pgfault many\n";
	struct snapshot s = { 0 };

	(void)state;
	assert_int_equal(vmstat__parse(no_number, "vmstat", &s), -EINVAL);
	assert_int_equal(vmstat__parse(not_number, "vmstat", &s), -EINVAL);
	snapshot__free(&s);
}

static void test_zoneinfo(void **state)
{
	char text[] =
		"Node 0, zone      DMA\n"
		"  per-node stats\n"
		"      nr_inactive_anon 7\n"
		"      nr_migrc_pending 9\n"
		"  pages free     3840\n"
		"        boost    0\n"
		"        min      67\n"
		"        present  3998\n"
		"        managed  3840\n"
		"        cma      0\n"
		"        protection: (0, 1, 2, 3, 4)\n"
		"      nr_free_pages 3840\n"
		"Node 1, zone   Normal\n"
		"  pages free     500\n"
		"        present  262144\n"
		"        migrc_pending 12\n"
		"  pagesets\n"
		"    cpu: 0\n"
		"              count:    3\n";
	struct snapshot s = { 0 };

	(void)state;
	assert_int_equal(zoneinfo__parse(text, &s), 0);
	assert_value(&s, "zone", "node0/DMA/free", 3840);
	assert_value(&s, "zone", "node0/DMA/present", 3998);
	assert_value(&s, "zone", "node1/Normal/free", 500);
	assert_value(&s, "zone", "node1/Normal/migrc_pending", 12);
	snapshot__free(&s);
}

static void test_zoneinfo_of_something_else(void **state)
{
	char text[] = "pages free 12\n";
	struct snapshot s = { 0 };

	(void)state;
	assert_int_equal(zoneinfo__parse(text, &s), -EINVAL);
	snapshot__free(&s);
}

/* arm64 and riscv number their IPIs; what each is for stands behind the counts. */
static void test_interrupts_ipi(void **state)
{
	struct snapshot s = { 0 };
	char text[] =
		"            CPU0       CPU1\n"
		"IPI0:         5          6       Rescheduling interrupts\n"
		"IPI1:       100        200       Function call interrupts\n"
		"IPI2:         0          0       CPU stop interrupts\n"
		"IPI4:         2          3       IRQ work interrupts\n"
		"Err:          0\n";

	(void)state;
	assert_int_equal(interrupts__parse(text, &s), 0);
	assert_value(&s, "interrupts", "RES", 11);
	assert_value(&s, "interrupts", "CAL", 300);
	assert_value(&s, "interrupts", "CAL/cpu1", 200);
	assert_value(&s, "interrupts", "IWI", 5);
	assert_int_equal(s.nr, 9);
	snapshot__free(&s);
}

static void test_interrupts(void **state)
{
	char text[] =
		"           CPU0       CPU1       \n"
		"  4:        512          0   IO-APIC   4-edge      ttyS0\n"
		"NMI:          0          0   Non-maskable interrupts\n"
		"RES:         11         22   Rescheduling interrupts\n"
		"IWI:          1          2   IRQ work interrupts\n"
		"CAL:        100        200   Function call interrupts\n"
		"TLB:          3          4   TLB shootdowns\n"
		"ERR:          0\n";
	struct snapshot s = { 0 };

	(void)state;
	assert_int_equal(interrupts__parse(text, &s), 0);
	assert_value(&s, "interrupts", "TLB", 7);
	assert_value(&s, "interrupts", "TLB/cpu0", 3);
	assert_value(&s, "interrupts", "TLB/cpu1", 4);
	assert_value(&s, "interrupts", "CAL", 300);
	assert_value(&s, "interrupts", "RES", 33);
	assert_value(&s, "interrupts", "IWI", 3);
	assert_int_equal(s.nr, 12);
	snapshot__free(&s);
}

static void test_interrupts_overflow(void **state)
{
	char text[] = "TLB: 6679214017356322133 4444444444444444444 TLB shootdowns\n";
	struct snapshot s = { 0 };

	(void)state;
	assert_int_equal(interrupts__parse(text, &s), -ERANGE);
	snapshot__free(&s);
}

static void test_psi(void **state)
{
	char text[] = "some avg10=0.00 avg60=0.12 avg300=0.00 total=123456\n"
		      "full avg10=0.00 avg60=0.00 avg300=0.00 total=78\n";
	char bad[] = "some avg10=0.00\n";
	struct snapshot s = { 0 };

	(void)state;
	assert_int_equal(psi__parse(text, "memory", &s), 0);
	assert_value(&s, "psi", "memory.some", 123456);
	assert_value(&s, "psi", "memory.full", 78);
	assert_int_equal(psi__parse(bad, "io", &s), -EINVAL);
	snapshot__free(&s);
}

static void test_name_too_long(void **state)
{
	char name[200];
	struct snapshot s = { 0 };

	(void)state;
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(snapshot__add(&s, "vmstat", name, 1), -ENAMETOOLONG);
	assert_int_equal(s.nr, 0);
	snapshot__free(&s);
}

/* This machine's own files go through the parsers whole. */
static void test_this_machine(void **state)
{
	struct snapshot s = { 0 };
	int64_t faults;

	(void)state;
	assert_int_equal(counters__read(&s), 0);
	assert_non_null(snapshot__find(&s, "vmstat", "pgfault"));
	assert_int_equal(vmstat__read_one("pgfault", &faults), 0);
	assert_true(faults >= snapshot__find(&s, "vmstat", "pgfault")->value);
	assert_int_equal(vmstat__read_one("no_such_counter", &faults), -ENOENT);
	snapshot__free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vmstat),
		cmocka_unit_test(test_vmstat_crlf),
		cmocka_unit_test(test_vmstat_malformed),
		cmocka_unit_test(test_zoneinfo),
		cmocka_unit_test(test_zoneinfo_of_something_else),
		cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_interrupts_ipi),
		cmocka_unit_test(test_interrupts_overflow),
		cmocka_unit_test(test_psi),
		cmocka_unit_test(test_name_too_long),
		cmocka_unit_test(test_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
