// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * litmus: may a CPU still read the source of a migration after its destination was written?
 *
 * Every test repeats one round:
 *
 *	reader, on a CPU of its own		driver, on another CPU
 *	---------------------------		----------------------
 *						put the old value, wait until the reader has read it,
 *						so that its TLB has the translation
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
 * it. On a stock kernel there is none. A test whose page is never demoted proves nothing and fails.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/lib/cgroup.h"
#include "workloads/lib/err.h"
#include "workloads/lib/node.h"
#include "workloads/lib/opt.h"
#include "workloads/lib/proto.h"
#include "workloads/lib/team.h"

#define LOADS_AFTER	2000	/* loads of the reader after it has seen the flag */
#define WORD		256	/* the word of the page that is tested: not at its start */

const char *argp_program_version = "litmus (migrc) " MIGRC_VERSION;

static struct {
	unsigned int rounds;
	const char *only, *cgroup_root;
	bool broken;
	int fast, slow;
} conf = { .rounds = 60, .cgroup_root = "/sys/fs/cgroup", .fast = -1, .slow = -1 };

/* Shared with nobody but the reader; locked, as all but the memory under test. */
struct shared {
	_Atomic uint64_t flag;		/* the round whose write is done */
	_Atomic uint64_t loads;		/* of the reader since flag was set */
	_Atomic uint64_t violations;
	_Atomic uint64_t watch;		/* what the reader must see once flag is `round` */
	atomic_bool stop;
	const volatile uint64_t *_Atomic data;
};

/* Bits of vm.migrc_debug_skip, the order of enum migrc_hook in the patch. */
enum hook { HOOK_WP, HOOK_FAULT, HOOK_NUMA, HOOK_SWAPIN, HOOK_MPROTECT, HOOK_UFFD, HOOK_REMAP,
	    HOOK_FORCE, HOOK_PIN, HOOK_SHMEM, HOOK_TRUNCATE, HOOKS };

static const char *const hook_names[HOOKS] = {
	"wp", "fault", "numa", "swapin", "mprotect", "uffd", "remap", "force", "pin", "shmem", "truncate",
};

#define SKIP_FILE	"/proc/sys/vm/migrc_debug_skip"
#define BIT(n)		(1U << (n))

struct litmus {
	struct shared *sh;
	struct wl_cgroup cg;
	size_t page;
	int fd;				/* of the file under test; -1: anonymous memory */
	char *map;			/* the reader's mapping */
	char *other;			/* a second mapping, by tests that have one */
	pid_t child;			/* writes instead of the driver, by tests that have one */
	int to_child, from_child;
	unsigned int demoted;		/* rounds in which the page did move */
	unsigned int passed, failed;	/* tests */
};

struct test {
	const char *name;
	bool anon;
	int (*prepare)(struct litmus *l);	/* before the page is demoted; may be NULL */
	int (*write)(struct litmus *l, uint64_t value);
	int (*cleanup)(struct litmus *l);	/* after the reader has looked; may be NULL */
	bool zeroes;			/* the write can only write zeroes */
	unsigned int hooks;		/* without any one of these the test must fail */
};

/* ---- the ways to write -------------------------------------------------------------------- */

static int write_pwrite(struct litmus *l, uint64_t value)
{
	return pwrite(l->fd, &value, sizeof(value), WORD * 8) == sizeof(value) ? 0 : -errno;
}

static int write_splice(struct litmus *l, uint64_t value)
{
	int p[2], err = 0;
	off_t at = WORD * 8;

	if (pipe(p))
		return -errno;
	if (write(p[1], &value, sizeof(value)) != sizeof(value) ||
	    splice(p[0], NULL, l->fd, &at, sizeof(value), 0) != sizeof(value))
		err = errno ? -errno : -EIO;
	close(p[0]);
	close(p[1]);
	return err;
}

static int map_other(struct litmus *l, int prot)
{
	l->other = mmap(NULL, l->page, prot, MAP_SHARED, l->fd, 0);
	return l->other == MAP_FAILED ? -errno : 0;
}

static int unmap_other(struct litmus *l)
{
	int err = munmap(l->other, l->page) ? -errno : 0;

	l->other = NULL;
	return err;
}

static volatile uint64_t *other_word(struct litmus *l)
{
	return (volatile uint64_t *)l->other + WORD;
}

/* Writable, but without a PTE while the page is demoted: its first touch is the write. */
static int prepare_untouched(struct litmus *l)
{
	return map_other(l, PROT_READ | PROT_WRITE);
}

static int write_other(struct litmus *l, uint64_t value)
{
	*other_word(l) = value;
	return 0;
}

static int write_fresh(struct litmus *l, uint64_t value)
{
	int err = map_other(l, PROT_READ | PROT_WRITE);

	return err ? err : write_other(l, value);
}

static int write_read_first(struct litmus *l, uint64_t value)
{
	int err = map_other(l, PROT_READ | PROT_WRITE);

	if (err)
		return err;
	(void)*other_word(l);
	return write_other(l, value);
}

/* Read-only with a PTE, made writable in place. */
static int prepare_readonly(struct litmus *l)
{
	int err = map_other(l, PROT_READ);

	if (!err)
		(void)*other_word(l);
	return err;
}

static int write_mprotect(struct litmus *l, uint64_t value)
{
	if (mprotect(l->other, l->page, PROT_READ | PROT_WRITE))
		return -errno;
	return write_other(l, value);
}

/* ---- the same from another process, whose flushes do not concern the reader's -------------- */

static int child_main(struct litmus *l, int (*prepare)(struct litmus *),
		      int (*fn)(struct litmus *, uint64_t), int from, int to)
{
	uint64_t value;
	int err;

	/* Locked here, the page under test would stay where it is. */
	err = munmap(l->map, l->page) || mlockall(MCL_CURRENT) ? -errno : 0;
	if (!err && prepare)
		err = prepare(l);
	if (write(to, &err, sizeof(err)) != sizeof(err))
		return 1;
	while (read(from, &value, sizeof(value)) == sizeof(value)) {
		err = fn(l, value);
		if (write(to, &err, sizeof(err)) != sizeof(err))
			return 1;
	}
	return 0;	/* the other end was closed: the round is over */
}

/* It must exist before the page is demoted. */
static int child_start(struct litmus *l, int (*prepare)(struct litmus *),
		       int (*fn)(struct litmus *, uint64_t))
{
	int down[2], up[2], err;

	if (pipe(down) || pipe(up))
		return -errno;
	l->child = fork();
	if (l->child < 0)
		return -errno;
	if (!l->child) {
		close(down[1]);
		_exit(child_main(l, prepare, fn, down[0], up[1]));
	}
	close(down[0]);
	close(up[1]);
	l->to_child = down[1];
	l->from_child = up[0];
	return read(l->from_child, &err, sizeof(err)) == sizeof(err) ? err : -EIO;
}

static int write_by_child(struct litmus *l, uint64_t value)
{
	int err;

	if (write(l->to_child, &value, sizeof(value)) != sizeof(value))
		return -errno;
	return read(l->from_child, &err, sizeof(err)) == sizeof(err) ? err : -EIO;
}

static int end_child(struct litmus *l)
{
	int status;

	close(l->to_child);
	close(l->from_child);
	if (waitpid(l->child, &status, 0) != l->child)
		return -errno;
	return status ? -EIO : 0;
}

static int child_fresh(struct litmus *l)
{
	return child_start(l, NULL, write_fresh);
}

static int child_read_first(struct litmus *l)
{
	return child_start(l, NULL, write_read_first);
}

static int child_mprotect(struct litmus *l)
{
	return child_start(l, prepare_readonly, write_mprotect);
}

/* ---- in place, and anonymous memory -------------------------------------------------------- */

/* Zeroes a part of the page, with the word in it, in place. */
static int write_punch(struct litmus *l, uint64_t value)
{
	(void)value;
	return fallocate(l->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 64,
			 (off_t)l->page - 128) ? -errno : 0;
}

static int write_truncate(struct litmus *l, uint64_t value)
{
	(void)value;
	if (ftruncate(l->fd, 64) || ftruncate(l->fd, (off_t)l->page))
		return -errno;
	return 0;
}

static volatile uint64_t *own_word(struct litmus *l)
{
	return (volatile uint64_t *)l->map + WORD;
}

static int protect_own(struct litmus *l)
{
	return mprotect(l->map, l->page, PROT_READ) ? -errno : 0;
}

static int write_own_mprotect(struct litmus *l, uint64_t value)
{
	if (mprotect(l->map, l->page, PROT_READ | PROT_WRITE))
		return -errno;
	*own_word(l) = value;
	return 0;
}

/* Through /proc/self/mem a read-only private mapping is written as a debugger would. */
static int write_force(struct litmus *l, uint64_t value)
{
	int err = 0, fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (pwrite(fd, &value, sizeof(value), (off_t)(uintptr_t)own_word(l)) != sizeof(value))
		err = -errno;
	close(fd);
	return err;
}

static int unprotect_own(struct litmus *l)
{
	return mprotect(l->map, l->page, PROT_READ | PROT_WRITE) ? -errno : 0;
}

static const struct test tests[] = {
	{ .name = "pwrite", .write = write_pwrite, .hooks = BIT(HOOK_SHMEM) },
	{ .name = "splice", .write = write_splice, .hooks = BIT(HOOK_SHMEM) },
	{ .name = "second-mapping", .prepare = prepare_untouched, .write = write_other,
	  .cleanup = unmap_other, .hooks = BIT(HOOK_WP) | BIT(HOOK_FAULT) },
	{ .name = "fresh-mapping", .write = write_fresh, .cleanup = unmap_other,
	  .hooks = BIT(HOOK_WP) | BIT(HOOK_FAULT) },
	{ .name = "fresh-read-first", .write = write_read_first, .cleanup = unmap_other,
	  .hooks = BIT(HOOK_WP) | BIT(HOOK_FAULT) },
	{ .name = "mprotect-other", .prepare = prepare_readonly, .write = write_mprotect,
	  .cleanup = unmap_other },
	{ .name = "child-fresh", .prepare = child_fresh, .write = write_by_child,
	  .cleanup = end_child, .hooks = BIT(HOOK_WP) | BIT(HOOK_FAULT) },
	{ .name = "child-read-first", .prepare = child_read_first, .write = write_by_child,
	  .cleanup = end_child, .hooks = BIT(HOOK_WP) | BIT(HOOK_FAULT) },
	{ .name = "child-mprotect", .prepare = child_mprotect, .write = write_by_child,
	  .cleanup = end_child, .hooks = BIT(HOOK_WP) | BIT(HOOK_MPROTECT) },
	{ .name = "punch-hole", .write = write_punch, .zeroes = true,
	  .hooks = BIT(HOOK_TRUNCATE) },
	{ .name = "truncate", .write = write_truncate, .zeroes = true,
	  .hooks = BIT(HOOK_TRUNCATE) },
	{ .name = "anon-mprotect", .anon = true, .prepare = protect_own, .write = write_own_mprotect },
	{ .name = "anon-proc-mem", .anon = true, .prepare = protect_own, .write = write_force,
	  .cleanup = unprotect_own, .hooks = BIT(HOOK_FORCE) },
};

/* ---- the round ---------------------------------------------------------------------------- */

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		wl_err("CPU %d: %s; run it where there are two CPUs", cpu, strerror(errno));
		exit(WL_EXIT_UNSUPPORTED);
	}
}

static void *reader(void *arg)
{
	struct shared *sh = arg;
	uint64_t round, value;

	pin(1);
	while (!atomic_load_explicit(&sh->stop, memory_order_relaxed)) {
		const volatile uint64_t *data = atomic_load(&sh->data);

		if (!data)
			continue;
		round = atomic_load_explicit(&sh->flag, memory_order_acquire);
		value = *data;
		if (round && value != atomic_load_explicit(&sh->watch, memory_order_relaxed) &&
		    round == atomic_load(&sh->flag))
			atomic_fetch_add(&sh->violations, 1);
		atomic_fetch_add_explicit(&sh->loads, 1, memory_order_relaxed);
	}
	return NULL;
}

/* Node that the page is on now, or -errno. */
static int page_node(struct litmus *l)
{
	void *addr = l->map;
	int status = -ENOENT;

	if (syscall(SYS_move_pages, 0, 1UL, &addr, NULL, &status, 0) < 0)
		return -errno;
	return status;
}

static int wait_loads(struct shared *sh, uint64_t n)
{
	uint64_t from = atomic_load(&sh->loads);
	double end = wl_now() + 20;

	while (atomic_load(&sh->loads) - from < n)
		if (wl_now() > end)
			return -ETIMEDOUT;
	return 0;
}

static int demote(struct litmus *l)
{
	int err, node = -1;

	for (int i = 0; i < 50; i++) {
		/* The reader has just used it: without this, reclaim would keep it. */
		if (madvise(l->map, l->page, MADV_COLD))
			return -errno;
		err = wl_cgroup__reclaim(&l->cg, l->page);
		if (err && err != -EAGAIN)
			return err;
		node = page_node(l);
		if (node == conf.slow)
			break;
	}
	l->demoted += node == conf.slow;
	return 0;
}

static int put_old(struct litmus *l, const struct test *t, uint64_t value)
{
	if (!t->anon)
		return write_pwrite(l, value);
	*own_word(l) = value;
	return 0;
}

static int run_round(struct litmus *l, const struct test *t, uint64_t round)
{
	uint64_t old = 2 * round + 2, new = t->zeroes ? 0 : old + 1;
	struct shared *sh = l->sh;
	int err;

	atomic_store(&sh->flag, 0);
	err = put_old(l, t, old);
	if (!err && t->prepare)
		err = t->prepare(l);
	atomic_store(&sh->watch, new);
	atomic_store(&sh->data, own_word(l));
	if (!err)
		err = wait_loads(sh, 50);
	if (!err)
		err = demote(l);
	if (!err)
		err = t->write(l, new);
	atomic_store_explicit(&sh->flag, round + 1, memory_order_release);
	if (!err)
		err = wait_loads(sh, LOADS_AFTER);
	atomic_store(&sh->flag, 0);
	if (t->cleanup) {
		int late = t->cleanup(l);

		err = err ? err : late;
	}
	if (wl_node__move(conf.slow, conf.fast) < 0 && !err)
		err = -errno;
	return err;
}

static int open_memory(struct litmus *l, const struct test *t)
{
	int prot = t->anon ? PROT_READ | PROT_WRITE : PROT_READ;

	l->fd = -1;
	if (!t->anon) {
		l->fd = memfd_create("litmus", MFD_CLOEXEC);
		if (l->fd < 0 || ftruncate(l->fd, (off_t)l->page))
			return -errno;
	}
	l->map = mmap(NULL, l->page, prot, t->anon ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED,
		      l->fd, 0);
	return l->map == MAP_FAILED ? -errno : 0;
}

static void close_memory(struct litmus *l)
{
	munmap(l->map, l->page);
	if (l->fd >= 0)
		close(l->fd);
}

/* 0 with the number of stale reads, or -errno if it could not be run. */
static int run_test(struct litmus *l, const struct test *t, uint64_t *violations)
{
	pthread_t thread;
	int err;

	err = open_memory(l, t);
	if (err)
		return err;
	l->demoted = 0;
	memset(l->sh, 0, sizeof(*l->sh));
	if (pthread_create(&thread, NULL, reader, l->sh))
		return -EAGAIN;
	/* Rounds whose page stayed where it was prove nothing: more of them, up to a limit. */
	for (unsigned int i = 0; l->demoted < conf.rounds && i < 10 * conf.rounds && !err; i++)
		err = run_round(l, t, i);
	atomic_store(&l->sh->stop, true);
	pthread_join(thread, NULL);
	*violations = atomic_load(&l->sh->violations);
	close_memory(l);
	return err;
}

static void count(struct litmus *l, const struct test *t, const char *without, int err,
		  uint64_t violations, bool good)
{
	if (err)
		printf("%-18s %-9s could not be run: %s\n", t->name, without, strerror(-err));
	else
		printf("%-18s %-9s demoted %3u of %3u  stale reads %6" PRIu64 "  %s\n", t->name,
		       without, l->demoted, conf.rounds, violations,
		       good ? "ok" : l->demoted ? "FAILED" : "NOT DEMOTED");
	*(good && !err ? &l->passed : &l->failed) += 1;
}

static void run_guarded(struct litmus *l, const struct test *t)
{
	uint64_t violations = 0;
	int err = run_test(l, t, &violations);

	count(l, t, "", err, violations, !violations && l->demoted);
}

static int skip_hooks(unsigned int mask)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u\n", mask), err = 0;
	int fd = open(SKIP_FILE, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (write(fd, text, (size_t)len) != len)
		err = -errno;
	close(fd);
	return err;
}

/* The same test without each of its guards in turn: it must see stale reads. */
static void run_broken(struct litmus *l, const struct test *t)
{
	for (unsigned int hook = 0; hook < HOOKS; hook++) {
		uint64_t violations = 0;
		int err, back;

		if (!(t->hooks & BIT(hook)))
			continue;
		err = skip_hooks(BIT(hook));
		if (!err)
			err = run_test(l, t, &violations);
		back = skip_hooks(0);
		count(l, t, hook_names[hook], err ? err : back, violations, violations > 0);
	}
}

/* ---- main --------------------------------------------------------------------------------- */

static const struct argp_option options[] = {
	{ "rounds", 'r', "N", 0, "Rounds of each test in which its page is demoted (default: 60)", 0 },
	{ "test", 'T', "NAME", 0, "Only this test", 0 },
	{ "break", 'b', NULL, 0, "Run each test without each of its guards: it must fail then "
	  "(CONFIG_MIGRC_DEBUG; corrupts what it writes)", 0 },
	{ "list", 'l', NULL, 0, "Names of the tests", 0 },
	{ "cgroup-root", 'c', "DIR", 0, "cgroup v2 to make a group in (default: /sys/fs/cgroup)", 0 },
	{ 0 }
};

static const char doc[] =
	"Tests whether a CPU can read the source of a migration after its destination was written."
	"\vNeeds root, two CPUs, two memory tiers with demotion enabled, and cgroup v2. Exit code 1 if "
	"a test saw a stale read, or could not get its page demoted.\n\n"
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
	case 'c':
		conf.cgroup_root = arg;
		break;
	case 'l':
		for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
			puts(tests[i].name);
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
	int err = wl_node__choose(&conf.fast, &conf.slow);

	if (!err && conf.broken && access(SKIP_FILE, W_OK)) {
		wl_err("%s: %s; --break needs a kernel with CONFIG_MIGRC_DEBUG", SKIP_FILE,
		       strerror(errno));
		return WL_EXIT_UNSUPPORTED;
	}

	if (err)
		return err;
	l->page = (size_t)sysconf(_SC_PAGESIZE);
	l->sh = mmap(NULL, l->page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (l->sh == MAP_FAILED) {
		wl_err("one page: %s; free some memory", strerror(errno));
		return WL_EXIT_USAGE;
	}
	err = wl_cgroup__create(&l->cg, conf.cgroup_root);
	if (!err)
		err = wl_cgroup__join(&l->cg);
	if (err) {
		wl_err("%s: %s; mount cgroup v2 there and run it as root", conf.cgroup_root,
		       strerror(-err));
		return WL_EXIT_UNSUPPORTED;
	}
	/*
	 * Only what a test maps from now on can be demoted. With the rest of the program in the same
	 * batch there would be folios that are refused, and their flush would hide a missing one.
	 */
	if (mlockall(MCL_CURRENT)) {
		wl_err("locked memory: %s; run it as root", strerror(errno));
		return WL_EXIT_UNSUPPORTED;
	}
	pin(0);
	return 0;
}

/* Before the machine is looked at: a wrong word is wrong everywhere. */
static int check_name(void)
{
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		if (!conf.only || !strcmp(conf.only, tests[i].name))
			return 0;
	wl_err("%s: no such test; see --list", conf.only);
	return WL_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, NULL, doc, NULL, NULL, NULL };
	static struct litmus l;
	int ret;

	argp_err_exit_status = WL_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	ret = check_name();
	if (!ret)
		ret = setup(&l);
	for (size_t i = 0; !ret && i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (conf.only && strcmp(conf.only, tests[i].name))
			continue;
		(conf.broken ? run_broken : run_guarded)(&l, &tests[i]);
	}
	if (l.cg.path[0] && wl_cgroup__remove(&l.cg))
		wl_err("%s: not removed; remove it by hand", l.cg.path);
	if (ret)
		return ret;
	wl_proto__metric(stdout, "passed", l.passed, "tests", WL_HIGHER, WL_COUNT);
	wl_proto__metric(stdout, "failed", l.failed, "tests", WL_LOWER, WL_COUNT);
	printf("%u passed, %u failed\n", l.passed, l.failed);
	return l.failed ? WL_EXIT_FAILED : WL_EXIT_GOOD;
}
