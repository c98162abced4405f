// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "collector/facts.h"

static const char cpuinfo[] =
	"processor\t: 0\nmodel\t\t: 94\nmodel name\t: Some CPU @ 3.40GHz\n"
	"flags\t\t: fpu vme la57x sse\nbugs\t\t: l1tf mds\n"
	"address sizes\t: 40 bits physical, 48 bits virtual\n\n"
	"processor\t: 1\nmodel name\t: Another\n";

static void test_cpuinfo(void **state)
{
	char value[64];

	(void)state;
	assert_true(cpuinfo__get(cpuinfo, "model name", value, sizeof(value)));
	assert_string_equal(value, "Some CPU @ 3.40GHz");
	assert_true(cpuinfo__get(cpuinfo, "model", value, sizeof(value)));
	assert_string_equal(value, "94");
	assert_false(cpuinfo__get(cpuinfo, "microcode", value, sizeof(value)));
	assert_true(cpuinfo__has_word(cpuinfo, "bugs", "l1tf"));
	assert_false(cpuinfo__has_word(cpuinfo, "flags", "la57"));
}

static void digest(const char *config, char hex[SHA256__HEX_SIZE])
{
	char text[1024];

	strcpy(text, config);
	kconfig__digest(text, hex);
}

/* Arms that differ in the patch alone have the same configuration. */
static void test_kconfig_digest(void **state)
{
	char stock[SHA256__HEX_SIZE], patched[SHA256__HEX_SIZE], other[SHA256__HEX_SIZE];

	(void)state;
	digest("# Linux/x86 6.12.1 Kernel Configuration\nCONFIG_NUMA=y\n# CONFIG_KSM is not set\n"
	       "CONFIG_LOCALVERSION=\"-stock\"\n", stock);
	digest("# Linux/x86 6.12.1-migrc Kernel Configuration\nCONFIG_NUMA=y\nCONFIG_MIGRC=y\n"
	       "CONFIG_ARCH_HAS_TLBBATCH_FOLD=y\n# CONFIG_MIGRC_DEBUG is not set\n# CONFIG_KSM is not set\n"
	       "CONFIG_LOCALVERSION=\"-migrc\"\n", patched);
	digest("CONFIG_NUMA=y\nCONFIG_KSM=y\n", other);
	assert_string_equal(stock, patched);
	assert_string_not_equal(stock, other);
}

static void test_kconfig_is_set(void **state)
{
	static const char config[] = "CONFIG_A_B=y\nCONFIG_A=y\n# CONFIG_C is not set\nCONFIG_D=m\n";

	(void)state;
	assert_int_equal(kconfig__is_set(config, "CONFIG_A"), 1);
	assert_int_equal(kconfig__is_set(config, "CONFIG_C"), 0);
	assert_int_equal(kconfig__is_set(config, "CONFIG_B"), -1);
	assert_int_equal(kconfig__is_set(config, "CONFIG_E"), -1);
}

static void test_cmdline(void **state)
{
	char out[256];

	(void)state;
	cmdline__strip("BOOT_IMAGE=/vmlinuz-6.12 root=/dev/vda  quiet sysctl.vm.migrc=1 migrc.x=2 "
		       "l1tf=flush initrd=/i\n", out);
	assert_string_equal(out, "root=/dev/vda quiet l1tf=flush");
	cmdline__strip("", out);
	assert_string_equal(out, "");
}

static void test_bracketed(void **state)
{
	char value[16];

	(void)state;
	assert_true(bracketed__get("always [madvise] never", value, sizeof(value)));
	assert_string_equal(value, "madvise");
	assert_false(bracketed__get("never", value, sizeof(value)));
}

static void test_options(void **state)
{
	struct facts f = { 0 };

	(void)state;
	assert_int_equal(facts__set_option(&f, "match:accelerator=tcg"), 0);
	assert_int_equal(facts__set_option(&f, "arm:note=a=b:c"), 0);
	assert_string_equal(facts__get(&f, "accelerator"), "tcg");
	assert_string_equal(facts__get(&f, "note"), "a=b:c");
	assert_int_equal(f.fact[1].class, FACT_ARM);
	assert_int_equal(facts__set_option(&f, "drift:accelerator=kvm"), 0);
	assert_int_equal(f.nr, 2);
	assert_string_equal(facts__get(&f, "accelerator"), "kvm");
	assert_int_equal(facts__set_option(&f, "nothing"), -EINVAL);
	assert_int_equal(facts__set_option(&f, "other:k=v"), -EINVAL);
	assert_int_equal(facts__set_option(&f, "mat:k=v"), -EINVAL);
	assert_int_equal(facts__set_option(&f, "match:=v"), -EINVAL);
	assert_int_equal(facts__set_option(&f, "match:k"), -EINVAL);
	facts__free(&f);
}

static const char affected[] = "Mitigation: PTE Inversion; VMX: flush not necessary, SMT disabled";

static const char *derive(const char *l1tf, const char *cmdline, int built, const char *cpu)
{
	const struct ad_bits_input in = {
		.machine = "x86_64", .release = "6.12.117", .has_swap = true, .l1tf = l1tf,
		.cpuinfo = cpu, .cmdline = cmdline, .mitigations_built = built,
	};

	return ad_bits__derive(&in);
}

/* The two last rows of the measured table: one boot parameter decides. */
static void test_ad_bits_measured(void **state)
{
	(void)state;
	assert_string_equal(derive(affected, "quiet l1tf=flush", 1, cpuinfo), "no");
	assert_string_equal(derive(affected, "quiet l1tf=off", 1, cpuinfo), "yes");
	assert_string_equal(derive("Not affected", "", 1, cpuinfo), "yes");
}

static void test_ad_bits_details(void **state)
{
	static const char server[] = "address sizes\t: 46 bits physical, 48 bits virtual\n";

	(void)state;
	assert_string_equal(derive(affected, "", 1, server), "yes");	/* room enough */
	assert_string_equal(derive(affected, "", 1, cpuinfo), "no");	/* the default is on */
	assert_string_equal(derive(affected, "", 0, cpuinfo), "yes");	/* built without */
	assert_string_equal(derive(affected, "", -1, cpuinfo), "unknown");
	assert_string_equal(derive(affected, "mitigations=off", 1, cpuinfo), "yes");
	assert_string_equal(derive(affected, "mitigations=off l1tf=full", 1, cpuinfo), "unknown");
	assert_string_equal(derive(affected, "l1tf=off l1tf=full", 1, cpuinfo), "no");
	assert_string_equal(derive(affected, "", 1, ""), "unknown");
	assert_string_equal(derive(NULL, "", 1, cpuinfo), "unknown");
}

static void test_ad_bits_elsewhere(void **state)
{
	struct ad_bits_input in = {
		.machine = "x86_64", .release = "6.0.9", .has_swap = true, .l1tf = "Not affected",
		.cpuinfo = cpuinfo, .cmdline = "", .mitigations_built = 1,
	};

	(void)state;
	assert_string_equal(ad_bits__derive(&in), "no");	/* too old */
	in.release = "6.1.0";
	assert_string_equal(ad_bits__derive(&in), "yes");
	in.has_swap = false;
	assert_string_equal(ad_bits__derive(&in), "no");
	in.has_swap = true;
	in.machine = "aarch64";
	assert_string_equal(ad_bits__derive(&in), "unknown");
}

static void test_this_machine(void **state)
{
	static const char * const must[] = {
		"kernel_release", "cpus_online", "page_size", "cmdline", "migrc_patched",
		"ad_bits_in_migration_entries", "uptime_s", "mem_free_kb",
	};
	struct facts f = { 0 };
	size_t i;

	(void)state;
	assert_int_equal(facts__collect(&f), 0);
	for (i = 0; i < sizeof(must) / sizeof(must[0]); i++)
		assert_non_null(facts__get(&f, must[i]));
	facts__free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpuinfo),
		cmocka_unit_test(test_kconfig_digest),
		cmocka_unit_test(test_kconfig_is_set),
		cmocka_unit_test(test_cmdline),
		cmocka_unit_test(test_bracketed),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_ad_bits_measured),
		cmocka_unit_test(test_ad_bits_details),
		cmocka_unit_test(test_ad_bits_elsewhere),
		cmocka_unit_test(test_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
