// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * litmus: may a CPU still read the source of a migration after its destination was written?
 *
 * Every test repeats one round:
 *
 *	reader, on a CPU of its own		driver, on another CPU
 *	---------------------------		----------------------
 *						put the old value, wait until the reader has
 *						read it, so that its TLB has the translation
 *	load flag, load data, again and		demote the page (memory.reclaim), see that it moved
 *	again					write the new value, in the test's own way
 *						flag = round (release)
 *	flag == round (acquire)
 *	data must be new			wait for so many more loads
 *						clean up
 *
 * Between demotion and flag the driver does nothing but that write: a munmap(2) or fork(2) would
 * flush the reader's TLB by itself and hide what is looked for.
 *
 * "flag seen, old data read" is a violation: the write happened before the flag, and the load after
 * it. On a stock kernel there is none. A test whose page is never moved proves nothing and fails.
 * The tests themselves are in lib/litmus_*.c.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/lib/err.h"
#include "workloads/lib/litmus.h"
#include "workloads/lib/node.h"
#include "workloads/lib/opt.h"
#include "workloads/lib/proto.h"

#define SKIP_FILE	"/proc/sys/vm/migrc_debug_skip"
#define COMPARE_FILE	"/proc/sys/vm/migrc_debug_compare"
#define DIFFER_FILE	"/proc/sys/vm/migrc_debug_differ"
#define DRAIN_FILE	"/proc/sys/vm/migrc_drain"

const char *argp_program_version = "litmus (migrc) " MIGRC_VERSION;

static struct {
	unsigned int rounds;
	const char *only, *cgroup_root;
	bool broken, compare;
} conf = { .rounds = 60, .cgroup_root = "/sys/fs/cgroup" };

/* Runs of tests: with their guards, or without one of them. */
struct tally {
	unsigned int passed, failed, skipped;
};

static void print_result(const struct litmus_test *t, const char *without,
			 const struct litmus_result *r, enum litmus_verdict verdict)
{
	static const char *const words[] = {
		[LITMUS_OK] = "ok", [LITMUS_SKIPPED] = "skipped",
		[LITMUS_NOT_DEFERRED] = "skipped: nothing was deferred",
		[LITMUS_NO_RACE] = "skipped: the race did not come about",
		[LITMUS_NOT_MOVED] = "NOT MOVED", [LITMUS_FAILED] = "FAILED",
	};
	char deferred[32] = "-";

	printf("%-20s %-13s ", t->name, without);
	if (r->err) {
		printf("could not be run: %s\n", strerror(-r->err));
		return;
	}
	if (r->lacks) {
		printf("skipped: %s\n", r->lacks);
		return;
	}
	if (r->deferred >= 0)
		snprintf(deferred, sizeof(deferred), "%" PRId64, r->deferred);
	printf("rounds %3u of %3u  deferred %5s  violations %6" PRIu64 "  %s\n", r->rounds,
	       r->wanted, deferred, r->violations, words[verdict]);
}

static void run_one(struct litmus *l, const struct litmus_test *t, const char *without,
		    struct tally *tally)
{
	enum litmus_verdict verdict;
	struct litmus_result r;

	litmus__run(l, t, conf.rounds, without[0], &r);
	verdict = litmus__judge(&r);
	print_result(t, without, &r, verdict);
	switch (verdict) {
	case LITMUS_OK:
		tally->passed++;
		break;
	case LITMUS_SKIPPED:
	case LITMUS_NOT_DEFERRED:
	case LITMUS_NO_RACE:
		tally->skipped++;
		break;
	default:
		tally->failed++;
	}
}

static int skip_hooks(unsigned int mask)
{
	char text[16];

	snprintf(text, sizeof(text), "%u\n", mask);
	return litmus__write_file(SKIP_FILE, text);
}

static int run_without(struct litmus *l, const struct litmus_test *t, unsigned int mask,
		       struct tally *tally)
{
	char names[64];
	int err = skip_hooks(mask), back;

	litmus__hook_names(mask, names, sizeof(names));
	if (!err)
		run_one(l, t, names, tally);
	back = skip_hooks(0);
	return err ? err : back;
}

/* The same test without each of its guards in turn: it must see violations. */
static int run_broken(struct litmus *l, const struct litmus_test *t, struct tally *tally)
{
	int err = 0;

	if (t->why)
		printf("%-20s %-13s no hook: %s\n", t->name, "", t->why);
	for (unsigned int hook = 0; hook < LITMUS_HOOKS && !err; hook++)
		if (t->hooks & LITMUS_BIT(hook))
			err = run_without(l, t, LITMUS_BIT(hook), tally);
	if (!err && t->together)
		err = run_without(l, t, t->together, tally);
	if (err)
		wl_err("%s: %s; run it as root", SKIP_FILE, strerror(-err));
	return err ? WL_EXIT_USAGE : 0;
}

static bool wanted(const struct litmus_test *t)
{
	return !conf.only || !strcmp(conf.only, t->name);
}

static int run_all(struct litmus *l, struct tally *tally)
{
	int ret = 0;

	for (unsigned int i = 0; litmus__test(i) && !ret; i++) {
		if (!wanted(litmus__test(i)))
			continue;
		if (conf.broken)
			ret = run_broken(l, litmus__test(i), tally);
		else
			run_one(l, litmus__test(i), "", tally);
	}
	return ret;
}

/*
 * The kernel compares the source with the destination when it is about to let writers go. What
 * differs was written too early, whether or not a reader looked. For that it holds a reference to
 * the destination, which makes some tests copy what they would write in place: so not always.
 */
static int run_comparing(struct litmus *l, struct tally *tally)
{
	uint64_t before = 0, after = 0;
	int err, ret;

	err = litmus__read_u64(DIFFER_FILE, &before);
	if (!err)
		err = litmus__write_file(COMPARE_FILE, "1\n");
	if (err) {
		wl_err("%s: %s; run it as root", COMPARE_FILE, strerror(-err));
		return WL_EXIT_USAGE;
	}
	ret = run_all(l, tally);
	err = litmus__write_file(COMPARE_FILE, "0\n");
	if (!err)
		err = litmus__write_file(DRAIN_FILE, "1\n");
	if (!err)
		err = litmus__read_u64(DIFFER_FILE, &after);
	if (err) {
		wl_err("%s: %s; run it as root", DIFFER_FILE, strerror(-err));
		return WL_EXIT_USAGE;
	}
	wl_proto__metric(stdout, "differ", (double)(after - before), "folios", WL_LOWER, WL_COUNT);
	printf("%-20s %-13s sources that differed when they were let go: %" PRIu64 "  %s\n",
	       "compare", "", after - before, after == before ? "ok" : "FAILED");
	*(after == before ? &tally->passed : &tally->failed) += 1;
	return ret;
}

/* ---- main --------------------------------------------------------------------------------- */

static const struct argp_option options[] = {
	{ "rounds", 'r', "N", 0, "Rounds of each test that count (default: 60; slow tests: "
	  "fewer)", 0 },
	{ "test", 'T', "NAME", 0, "Only this test", 0 },
	{ "break", 'b', NULL, 0, "Run each test without each of its guards: it must fail then "
	  "(CONFIG_MIGRC_DEBUG; corrupts what it writes)", 0 },
	{ "compare", 'm', NULL, 0, "Also let the kernel compare what it releases with where it "
	  "was moved to (CONFIG_MIGRC_DEBUG)", 0 },
	{ "list", 'l', NULL, 0, "Names of the tests", 0 },
	{ "cgroup-root", 'c', "DIR", 0, "cgroup v2 to make a group in (default: "
	  "/sys/fs/cgroup)", 0 },
	{ 0 }
};

static const char doc[] =
	"Tests whether a CPU can read the source of a migration after its destination was written."
	"\vNeeds root, two CPUs, two memory tiers with demotion enabled, and cgroup v2. Exit code "
	"1 if a test saw what it must not, or could not get its page moved. Tests for which the "
	"kernel or the machine lacks something say so, and count as skipped. It changes and "
	"restores sysctls, uses /dev/ram0 as swap, and takes memory blocks offline and back: for a "
	"guest.\n\n"
	"EXAMPLES:\n"
	"  litmus                       all tests\n"
	"  litmus -T pwrite -r 500      one of them, longer\n"
	"  litmus --break               see the tests fail where they must";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)state;
	switch (key) {
	case 'r':
		conf.rounds = (unsigned int)wl_opt__u64("--rounds", arg, 1, 1000000);
		break;
	case 'T':
		conf.only = arg;
		break;
	case 'b':
		conf.broken = true;
		break;
	case 'm':
		conf.compare = true;
		break;
	case 'c':
		conf.cgroup_root = arg;
		break;
	case 'l':
		for (unsigned int i = 0; litmus__test(i); i++)
			puts(litmus__test(i)->name);
		exit(WL_EXIT_GOOD);
	case ARGP_KEY_ARG:
		wl_opt__stray(arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int setup(struct litmus *l)
{
	int err;

	l->fast = l->slow = -1;
	err = wl_node__choose(&l->fast, &l->slow);
	if (err)
		return err;
	if ((conf.broken && access(SKIP_FILE, W_OK)) ||
	    (conf.compare && access(COMPARE_FILE, W_OK))) {
		wl_err("%s: %s; it needs a kernel with CONFIG_MIGRC_DEBUG",
		       conf.broken ? "--break" : "--compare", strerror(errno));
		return WL_EXIT_UNSUPPORTED;
	}
	return litmus__setup(l, conf.cgroup_root);
}

/* Before the machine is looked at: a wrong word is wrong everywhere. */
static int check_name(void)
{
	for (unsigned int i = 0; litmus__test(i); i++)
		if (wanted(litmus__test(i)))
			return 0;
	wl_err("%s: no such test; see --list", conf.only);
	return WL_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, NULL, doc, NULL, NULL, NULL };
	static struct litmus l;
	struct tally tally = { 0 };
	int ret;

	argp_err_exit_status = WL_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	ret = check_name();
	if (!ret && conf.compare && conf.broken) {
		wl_err("--compare: not with --break, which makes them differ; choose one");
		ret = WL_EXIT_USAGE;
	}
	if (!ret)
		ret = setup(&l);
	if (!ret)
		ret = (conf.compare ? run_comparing : run_all)(&l, &tally);
	litmus__teardown(&l);
	if (ret)
		return ret;
	wl_proto__metric(stdout, "passed", tally.passed, "tests", WL_HIGHER, WL_COUNT);
	wl_proto__metric(stdout, "failed", tally.failed, "tests", WL_LOWER, WL_COUNT);
	wl_proto__metric(stdout, "skipped", tally.skipped, "tests", WL_NEITHER, WL_COUNT);
	printf("%u passed, %u failed, %u skipped\n", tally.passed, tally.failed, tally.skipped);
	return tally.failed ? WL_EXIT_FAILED : WL_EXIT_GOOD;
}
