// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Actions on the whole machine. Whatever one switches off it switches on again itself, after a
 * moment, so that actions can follow each other in any order; what would stop all deferral is never
 * left behind. A signal ends one that takes too long: hotplug retries until then.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <numaif.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/lib/storm.h"
#include "workloads/lib/team.h"
#include "workloads/lib/vmstat.h"

#define ACT_SECONDS	40		/* after that an action is interrupted */
#define OOM_SECONDS	250		/* less than a storm waits for a step */
#define OOM_LOOK_US	20000
#define UNDO_SECONDS	60		/* for what must be undone */
#define ACTOR_NICE	(-10)
#define HOG_STEP	(2UL << 20)
#define PAUSE_US	60000		/* at most, between two actions of an actor */

#define VM		"/proc/sys/vm/"
#define CPU		"/sys/devices/system/cpu"
#define KSM		"/sys/kernel/mm/ksm/"
#define THP		"/sys/kernel/mm/transparent_hugepage/"
#define FAULTS		"/sys/kernel/debug/fail_page_alloc/"
#define POISON		"/sys/kernel/debug/hwpoison/"
#define TRACING		"/sys/kernel/tracing/"

struct actor {
	struct storm *st;
	struct wl_rng rng;
	size_t begun;			/* actions so far */
	size_t order[STORM_TALLIES];	/* of the first of each */
};

struct storm_act {
	const char *name;
	unsigned int weight;
	int (*fn)(struct actor *a);
};

static uint32_t below(struct actor *a, uint32_t n)
{
	return (uint32_t)wl_rng__below(&a->rng, n);
}

static void moment(struct actor *a, uint32_t ms)
{
	usleep(1000 * below(a, ms + 1));
}

/* The file's most often: it is what can be deferred under every rule. */
static enum storm_kind any_family(struct actor *a)
{
	return below(a, 3) ? (enum storm_kind)below(a, STORM_FAMILIES) : STORM_FILE;
}

static uint64_t vmstat_sum(const char *prefix)
{
	struct wl_vmstat v = { 0 };
	uint64_t sum = 0;

	if (!wl_vmstat__read(&v, "/proc/vmstat"))
		wl_vmstat__sum(&v, prefix, &sum);
	wl_vmstat__free(&v);
	return sum;
}

/* --- migration --------------------------------------------------------------------------------*/

/* Advice on a family's memory, from outside. */
static int advise(struct actor *a, enum storm_kind kind, int advice)
{
	struct storm_family_shared *fam = &a->st->sh->family[kind];
	struct iovec iov = { (void *)(uintptr_t)atomic_load(&fam->base),
			     (size_t)a->st->arena[kind].pages * ARENA_PAGE };
	int fd, err;

	if (!iov.iov_base)
		return -EAGAIN;
	fd = (int)syscall(SYS_pidfd_open, atomic_load(&fam->pid[0]), 0);
	if (fd < 0)
		return -errno;
	err = syscall(SYS_process_madvise, fd, &iov, 1UL, advice, 0) < 0 ? -errno : 0;
	close(fd);
	return err;
}

static int act_demote(struct actor *a)
{
	enum storm_kind kind = any_family(a);
	uint64_t before = vmstat_sum("pgdemote_"), bytes = a->st->bytes;
	char path[STORM_PATH + 32];
	int err;

	/* Not found again since: without it reclaim would leave most where it is. */
	advise(a, kind, MADV_COLD);
	snprintf(path, sizeof(path), "%s/%s/memory.reclaim", a->st->group, storm_kind_names[kind]);
	err = storm_file__put(path, "%llu swappiness=200",
			      (unsigned long long)(bytes / 4 + wl_rng__below(&a->rng, bytes)));
	return err == -EAGAIN && vmstat_sum("pgdemote_") > before ? 0 : err;
}

static int move_family(struct actor *a, int from, int to)
{
	struct storm_family_shared *fam = &a->st->sh->family[any_family(a)];
	unsigned long f = 1UL << from, t = 1UL << to;
	pid_t pid = atomic_load(&fam->pid[0]);

	if (!pid)
		return -ESRCH;
	return migrate_pages(pid, 65, &f, &t) < 0 ? -errno : 0;
}

static int act_bring_back(struct actor *a)
{
	return move_family(a, a->st->slow, a->st->fast);
}

static int act_push_down(struct actor *a)
{
	return move_family(a, a->st->fast, a->st->slow);
}

static int act_pageout(struct actor *a)
{
	uint64_t before = vmstat_sum("pswpout");
	int err = advise(a, any_family(a), MADV_PAGEOUT);

	return err ? err : vmstat_sum("pswpout") > before ? 0 : -ENODATA;
}

/* Half of what it has, for a while: its own allocations reclaim. */
static int act_squeeze(struct actor *a)
{
	const char *name = storm_kind_names[any_family(a)];
	char path[STORM_PATH + 32], current[STORM_PATH + 32];
	uint64_t now;
	int err, back;

	snprintf(current, sizeof(current), "%s/%s/memory.current", a->st->group, name);
	snprintf(path, sizeof(path), "%s/%s/memory.high", a->st->group, name);
	err = storm_file__u64(current, &now);
	if (!err)
		err = storm_file__put(path, "%llu", (unsigned long long)(now / 2));
	moment(a, 1000);
	back = storm_file__put_surely(UNDO_SECONDS, path, "max");
	return err ? err : back;
}

static int act_numa_balancing(struct actor *a)
{
	int err = storm_file__put("/proc/sys/kernel/numa_balancing", "%u", below(a, 2));

	moment(a, 300);
	return err ? err : storm_file__put_surely(UNDO_SECONDS, "/proc/sys/kernel/numa_balancing", "2");
}

/* --- hotplug ----------------------------------------------------------------------------------*/

/* The n-th (modulo) path that the pattern matches. -ENOENT if there is none. */
static int pick(const char *pattern, uint32_t n, char out[STORM_PATH])
{
	glob_t g;
	int err = glob(pattern, 0, NULL, &g);

	if (!err)
		snprintf(out, STORM_PATH, "%s", g.gl_pathv[n % g.gl_pathc]);
	globfree(&g);
	return !err ? 0 : err == GLOB_NOMATCH ? -ENOENT : -ENOMEM;
}

/* As movable memory, so that it can go again. */
static int act_memory_offline(struct actor *a)
{
	char pattern[STORM_PATH], path[STORM_PATH];
	int err, back;

	snprintf(pattern, sizeof(pattern), "/sys/devices/system/node/node%d/memory[0-9]*/state",
		 a->st->slow);
	err = pick(pattern, below(a, 1024), path);
	if (err)
		return err;
	err = storm_file__put(path, "offline");
	if (err)
		return err;
	moment(a, 300);
	back = storm_file__put_surely(UNDO_SECONDS, path, "online_movable");
	/* The other actor may have been faster. */
	return back == -EINVAL && storm_file__is(path, "online") ? 0 : back;
}

static int act_cpu_offline(struct actor *a)
{
	char path[STORM_PATH];
	int err = pick(CPU "/cpu[1-9]*/online", below(a, 1024), path);

	if (!err)
		err = storm_file__put(path, "0");
	if (err)
		return err;
	moment(a, 300);
	return storm_file__put_surely(UNDO_SECONDS, path, "1");
}

/* --- memory management ------------------------------------------------------------------------*/

static int act_ksm(struct actor *a)
{
	static const unsigned int run[] = { 1, 1, 1, 0, 2 };
	int err;

	storm_file__put(KSM "sleep_millisecs", "10");
	storm_file__put(KSM "pages_to_scan", "500");
	err = storm_file__put(KSM "run", "%u", run[below(a, 5)]);
	moment(a, 300);
	return err;
}

static int act_thp(struct actor *a)
{
	static const char *const mode[] = { "always", "madvise", "never" };

	storm_file__put(THP "defrag", "%s", below(a, 4) ? "never" : "madvise");
	storm_file__put(THP "khugepaged/scan_sleep_millisecs", "200");
	return storm_file__put(THP "enabled", "%s", mode[below(a, 3)]);
}

static int act_compact(struct actor *a)
{
	(void)a;
	return storm_file__put(VM "compact_memory", "1");
}

static int act_drop_caches(struct actor *a)
{
	return storm_file__put(VM "drop_caches", "%u", 1 + below(a, 3));
}

static int act_contiguous(struct actor *a)
{
	unsigned int pages = 64U << below(a, 5);
	char path[STORM_PATH], *slash;
	int err = pick("/sys/kernel/debug/cma/*/alloc", 0, path);

	if (!err)
		err = storm_file__put(path, "%u", pages);
	if (err)
		return err;
	slash = strrchr(path, '/');
	strcpy(slash, "/free");
	moment(a, 100);
	return storm_file__put(path, "%u", pages);
}

static int act_swapoff(struct actor *a)
{
	double end;
	int err;

	if (!a->st->swap)
		return -ENODEV;
	err = swapoff(a->st->swap) ? -errno : 0;
	moment(a, 200);
	for (end = wl_now() + UNDO_SECONDS; swapon(a->st->swap, 0) && errno != EBUSY;) {
		if (wl_now() > end)
			return -errno;
		usleep(20000);
	}
	return err;
}

/* --- pages that fail --------------------------------------------------------------------------*/

static int unpoison(uint64_t pfn)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)pfn);
	return storm_file__put_surely(2, POISON "unpoison-pfn", text);
}

/* A page of a family moves elsewhere, and its place is given back afterwards. */
static int act_soft_offline(struct actor *a)
{
	enum storm_kind kind = any_family(a);
	struct storm_family_shared *fam = &a->st->sh->family[kind];
	uint64_t pfn, base = atomic_load(&fam->base);
	int err = -EAGAIN;

	/* Not every page is there. */
	for (int i = 0; i < 50 && base && err; i++)
		err = storm_file__pfn(atomic_load(&fam->pid[0]),
				      base + (uint64_t)below(a, a->st->arena[kind].pages) * ARENA_PAGE,
				      &pfn);
	if (!err)
		err = storm_file__put("/sys/devices/system/memory/soft_offline_page", "%#llx",
				      (unsigned long long)pfn * ARENA_PAGE);
	return err ? err : unpoison(pfn);
}

static void victim(int to, bool shared)
{
	volatile char *page = mmap(NULL, ARENA_PAGE, PROT_READ | PROT_WRITE,
				   MAP_ANONYMOUS | (shared ? MAP_SHARED : MAP_PRIVATE), -1, 0);
	uint64_t pfn = 0;

	if (page == MAP_FAILED)
		_exit(1);
	*page = 1;
	if (storm_file__pfn(getpid(), (uintptr_t)page, &pfn) ||
	    write(to, &pfn, sizeof(pfn)) != sizeof(pfn))
		_exit(1);
	for (int i = 0; i < 2000; i++) {
		(void)*page;
		usleep(2000);
	}
	_exit(0);
}

/* The kernel must kill who reads a page that has gone bad. */
static int act_hwpoison(struct actor *a)
{
	uint64_t pfn = 0;
	int p[2], err, status;
	pid_t pid;

	if (pipe(p))
		return -errno;
	pid = fork();
	if (!pid)
		victim(p[1], below(a, 2));
	close(p[1]);
	err = pid < 0 ? -errno : read(p[0], &pfn, sizeof(pfn)) == sizeof(pfn) ? 0 : -EIO;
	close(p[0]);
	if (pid < 0)
		return err;
	if (!err)
		err = storm_file__put(POISON "corrupt-pfn", "%llu", (unsigned long long)pfn);
	if (err)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) != pid && errno == EINTR)
		kill(pid, SIGKILL);
	if (!err && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS))
		err = -ENODATA;
	if (pfn)
		unpoison(pfn);
	return err;
}

/* Allocations fail for a moment: those of the families only, or everybody's. */
static int act_alloc_faults(struct actor *a)
{
	struct storm_shared *sh = a->st->sh;
	unsigned int times = 50 + below(a, 500);
	uint64_t left = times;
	int err;

	if (atomic_load(&sh->faults) & 1)
		return -EBUSY;
	/* A report of each would fill the log, and look like a splat. */
	err = storm_file__put(FAULTS "verbose", "0");
	if (err)
		return err;
	storm_file__put(FAULTS "task-filter", below(a, 3) ? "Y" : "N");
	storm_file__put(FAULTS "ignore-gfp-wait", below(a, 3) ? "N" : "Y");
	storm_file__put(FAULTS "ignore-gfp-highmem", below(a, 2) ? "N" : "Y");
	storm_file__put(FAULTS "min-order", "0");
	storm_file__put(FAULTS "times", "%u", times);
	atomic_fetch_add(&sh->faults, 1);
	err = storm_file__put(FAULTS "probability", "%u", 2 + below(a, 15));
	moment(a, 3000);
	storm_file__u64(FAULTS "times", &left);
	storm_file__put_surely(UNDO_SECONDS, FAULTS "probability", "0");
	atomic_fetch_add(&sh->faults, 1);
	return err ? err : left < times ? 0 : -ENODATA;
}

/* --- out of memory ----------------------------------------------------------------------------*/

static void hog(struct actor *a, const char *oom_score)
{
	char path[STORM_PATH + 32];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(path, sizeof(path), "%s/hog/cgroup.procs", a->st->group);
	if (storm_file__put_surely(5, path, "0") ||
	    storm_file__put_surely(5, "/proc/self/oom_score_adj", oom_score))
		_exit(1);
	for (;;) {
		uintptr_t p = (uintptr_t)mmap(NULL, 2 * HOG_STEP, PROT_READ | PROT_WRITE,
					      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == (uintptr_t)MAP_FAILED)
			continue;
		/* Huge pages where there are some: the sooner it is over. */
		p = (p + HOG_STEP - 1) & ~(HOG_STEP - 1);
		madvise((void *)p, HOG_STEP, MADV_HUGEPAGE);
		for (size_t i = 0; i < HOG_STEP; i += ARENA_PAGE)
			*(volatile char *)(p + i) = 1;
	}
}

static int out_of_memory(struct actor *a, const char *max, const char *swap_max, double seconds)
{
	char path[STORM_PATH + 32];
	int err, status;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/hog/memory.max", a->st->group);
	err = storm_file__put(path, "%s", max);
	snprintf(path, sizeof(path), "%s/hog/memory.swap.max", a->st->group);
	storm_file__put(path, "%s", swap_max);
	if (err)
		return err;
	pid = fork();
	if (!pid)
		hog(a, "1000");
	if (pid < 0)
		return -errno;
	/* A machine that swaps may take longer to be full than the storm lasts: that is no failure to end. */
	for (double end = wl_now() + seconds; waitpid(pid, &status, WNOHANG) != pid; usleep(OOM_LOOK_US)) {
		if (atomic_load(&a->st->sh->stop))
			err = -ECANCELED;
		else if (wl_now() > end)
			err = -ETIME;
		if (err)
			kill(pid, SIGKILL);
	}
	return err ? err : WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : -ECHILD;
}

static int act_group_oom(struct actor *a)
{
	return out_of_memory(a, "16M", "4M", ACT_SECONDS);
}

static int act_global_oom(struct actor *a)
{
	storm_file__put(THP "defrag", "never");
	return out_of_memory(a, "max", "max", OOM_SECONDS);
}

/* --- migrc's own switches ---------------------------------------------------------------------*/

static int act_migrc_off_on(struct actor *a)
{
	int err = storm_file__put(VM "migrc", "0");

	moment(a, 50);
	return err ? err : storm_file__put_surely(UNDO_SECONDS, VM "migrc", "1");
}

static int act_migrc_rule(struct actor *a)
{
	return storm_file__put(VM "migrc_rule", "%u", below(a, 2));
}

/* Bits of enum migrate_reason: syscall 3, mempolicy 4, NUMA misplaced 5, demotion 8. */
static int act_migrc_reasons(struct actor *a)
{
	static const unsigned int masks[] = { 1 << 8, 1 << 5 | 1 << 8, 1 << 3 | 1 << 8,
					      1 << 3 | 1 << 4 | 1 << 5 | 1 << 8, 0 };
	unsigned int i = below(a, 5);
	int err = storm_file__put(VM "migrc_reasons", "%u", masks[i]);

	if (err || masks[i])
		return err;
	moment(a, 50);
	return storm_file__put_surely(UNDO_SECONDS, VM "migrc_reasons", "312");
}

static int act_migrc_cap(struct actor *a)
{
	static const unsigned int cap[] = { 1, 4, 16, 50, 100, 0 };
	unsigned int i = below(a, 6);
	int err = storm_file__put(VM "migrc_cap_permille", "%u", cap[i]);

	if (err || cap[i])
		return err;
	moment(a, 50);
	return storm_file__put_surely(UNDO_SECONDS, VM "migrc_cap_permille", "16");
}

static int act_migrc_age(struct actor *a)
{
	static const unsigned int age[] = { 1, 50, 1000, 20000 };

	return storm_file__put(VM "migrc_age_ms", "%u", age[below(a, 4)]);
}

static int act_migrc_drain(struct actor *a)
{
	(void)a;
	return storm_file__put(VM "migrc_drain", "1");
}

/* While it is on, destinations are held, which keeps writers from taking some of their ways. */
static int act_migrc_compare(struct actor *a)
{
	return storm_file__put(VM "migrc_debug_compare", "%u", below(a, 2));
}

static int act_migrc_trace(struct actor *a)
{
	char buf[4096];
	int fd, err = storm_file__put(TRACING "events/migrc/enable", "1");

	moment(a, 200);
	fd = open(TRACING "trace", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && read(fd, buf, sizeof(buf)) > 0)
		;
	if (fd >= 0)
		close(fd);
	storm_file__put_surely(UNDO_SECONDS, TRACING "events/migrc/enable", "0");
	return err;
}

/* --- choosing ---------------------------------------------------------------------------------*/

static const struct storm_act acts[] = {
	{ "demote", 40, act_demote },
	{ "bring-back", 25, act_bring_back },
	{ "push-down", 6, act_push_down },
	{ "swap-out", 5, act_pageout },
	{ "squeeze", 4, act_squeeze },
	{ "numa-balancing", 2, act_numa_balancing },
	{ "memory-offline", 4, act_memory_offline },
	{ "cpu-offline", 3, act_cpu_offline },
	{ "ksm", 4, act_ksm },
	{ "thp", 2, act_thp },
	{ "compact", 3, act_compact },
	{ "drop-caches", 2, act_drop_caches },
	{ "contiguous", 4, act_contiguous },
	{ "swapoff", 1, act_swapoff },
	{ "soft-offline", 4, act_soft_offline },
	{ "hwpoison", 2, act_hwpoison },
	{ "alloc-faults", 4, act_alloc_faults },
	{ "group-oom", 2, act_group_oom },
	/* Not by chance: see storm_actor__start(). */
	{ "global-oom", 0, act_global_oom },
	{ "migrc-off-on", 4, act_migrc_off_on },
	{ "migrc-rule", 4, act_migrc_rule },
	{ "migrc-reasons", 4, act_migrc_reasons },
	{ "migrc-cap", 2, act_migrc_cap },
	{ "migrc-age", 2, act_migrc_age },
	{ "migrc-drain", 4, act_migrc_drain },
	{ "migrc-trace", 2, act_migrc_trace },
	{ "migrc-compare", 4, act_migrc_compare },
};
_Static_assert(sizeof(acts) / sizeof(acts[0]) <= STORM_TALLIES, "a tally for each action");

size_t storm_acts__count(void)
{
	return sizeof(acts) / sizeof(acts[0]);
}

const char *storm_acts__name(size_t i)
{
	return acts[i].name;
}

bool storm_acts__is_migrc(size_t i)
{
	return !strncmp(acts[i].name, "migrc-", 6);
}

static bool by_chance(const struct actor *a, size_t i)
{
	return acts[i].weight && !a->st->skip_act[i];
}

/* All actions that happen by chance, shuffled. */
static void shuffle(struct actor *a)
{
	for (size_t i = 0; i < storm_acts__count(); i++) {
		size_t j = below(a, (uint32_t)i + 1);

		a->order[i] = a->order[j];
		a->order[j] = i;
	}
}

/* Each once first, so that a short storm has every one of them; then by weight. */
static size_t choose(struct actor *a)
{
	uint64_t sum = 0, at;
	size_t i;

	while (a->begun < storm_acts__count()) {
		i = a->order[a->begun++];
		if (by_chance(a, i))
			return i;
	}
	for (i = 0; i < storm_acts__count(); i++)
		sum += a->st->skip_act[i] ? 0 : acts[i].weight;
	if (!sum)
		return storm_acts__count();
	at = wl_rng__below(&a->rng, sum);
	for (i = 0;; i++) {
		uint64_t weight = a->st->skip_act[i] ? 0 : acts[i].weight;

		if (at < weight)
			return i;
		at -= weight;
	}
}

static void one(struct actor *a, size_t i)
{
	int err;

	if (i == storm_acts__count() || a->st->skip_act[i])
		return;
	alarm(ACT_SECONDS);
	err = acts[i].fn(a);
	alarm(0);
	storm__count(&a->st->sh->act[i], err);
}

/* Only to interrupt a system call. */
static void on_alarm(int sig)
{
	(void)sig;
}

static size_t find(const char *name)
{
	size_t i = 0;

	while (strcmp(acts[i].name, name))
		i++;
	return i;
}

static int actor_main(struct storm *st, unsigned int index, unsigned int oom_every)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	struct actor a = { .st = st };
	double next_oom = wl_now() + oom_every / 2;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGALRM, &sa, NULL);
	/* Neither is inherited by what it forks to be killed; without the second it is only slower. */
	mlockall(MCL_CURRENT);
	setpriority(PRIO_PROCESS, 0, ACTOR_NICE);
	wl_rng__seed(&a.rng, wl_rng__mix(st->seed + 77 + index));
	shuffle(&a);
	/* Only one of them: the other begins with what is likely, which is to migrate. */
	if (index)
		a.begun = storm_acts__count();
	while (!atomic_load(&st->sh->stop)) {
		if (oom_every && !index && wl_now() > next_oom) {
			one(&a, find("global-oom"));
			next_oom = wl_now() + oom_every;
		}
		one(&a, choose(&a));
		usleep(below(&a, PAUSE_US));
	}
	return 0;
}

pid_t storm_actor__start(struct storm *st, unsigned int index, unsigned int oom_every)
{
	pid_t pid = fork();

	if (!pid)
		_exit(actor_main(st, index, oom_every));
	return pid < 0 ? -errno : pid;
}

/* --- before and after -------------------------------------------------------------------------*/

int storm_swap__on(const char *device)
{
	struct {
		char boot[1024];
		uint32_t version, last_page, bad_pages;
		char rest[ARENA_PAGE - 1024 - 3 * sizeof(uint32_t) - 10];
		char magic[10];
	} __attribute__((packed)) head;
	int err = 0, fd = open(device, O_RDWR | O_CLOEXEC);
	off_t bytes;

	_Static_assert(sizeof(head) == ARENA_PAGE, "a swap header is one page");
	/* Left on by what ran before. */
	if (fd < 0 && errno == ETXTBSY && !swapoff(device))
		fd = open(device, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	bytes = lseek(fd, 0, SEEK_END);
	memset(&head, 0, sizeof(head));
	head.version = 1;
	head.last_page = (uint32_t)(bytes / ARENA_PAGE) - 1;
	memcpy(head.magic, "SWAPSPACE2", sizeof(head.magic));
	if (bytes < 16 * (off_t)ARENA_PAGE)
		err = -ENOSPC;
	else if (pwrite(fd, &head, sizeof(head), 0) != sizeof(head) || fsync(fd))
		err = -errno;
	close(fd);
	if (!err && swapon(device, 0))
		err = -errno;
	return err;
}

static void all_online(const char *pattern, const char *text, int *err)
{
	glob_t g;

	if (!glob(pattern, 0, NULL, &g)) {
		for (size_t i = 0; i < g.gl_pathc; i++) {
			int one_err = 0;

			if (!storm_file__is(g.gl_pathv[i], text))
				one_err = storm_file__put_surely(5, g.gl_pathv[i], text);
			if (one_err)
				*err = one_err;
		}
	}
	globfree(&g);
}

/* What actions leave changed behind. */
static const char *const switches[] = {
	KSM "run",
	"/proc/sys/kernel/numa_balancing",
	TRACING "events/migrc/enable",
	VM "migrc_rule",
	VM "migrc_reasons",
	VM "migrc_cap_permille",
	VM "migrc_age_ms",
	VM "migrc_debug_compare",
	THP "enabled",
	THP "defrag",
};
_Static_assert(sizeof(switches) / sizeof(switches[0]) == STORM_SWITCHES, "a place for each");

/* Of "always [madvise] never", the choice. */
static void unbracket(char *text)
{
	char *open = strchr(text, '['), *close = strchr(text, ']');

	if (open && close > open) {
		*close = '\0';
		memmove(text, open + 1, strlen(open));
	}
}

void storm_acts__save(struct storm *st)
{
	for (size_t i = 0; i < STORM_SWITCHES; i++) {
		/* One that is not there has nothing to be restored. */
		if (storm_file__line(switches[i], st->saved[i]))
			st->saved[i][0] = '\0';
		unbracket(st->saved[i]);
	}
}

int storm_acts__restore(struct storm *st)
{
	char pattern[STORM_PATH];
	int err = 0;

	/* First, or the rest may fail. */
	storm_file__put_surely(UNDO_SECONDS, FAULTS "probability", "0");
	for (size_t i = 0; i < STORM_SWITCHES; i++) {
		int one_err = st->saved[i][0] ?
			storm_file__put_surely(UNDO_SECONDS, switches[i], st->saved[i]) : 0;

		if (one_err)
			err = one_err;
	}
	all_online(CPU "/cpu[1-9]*/online", "1", &err);
	snprintf(pattern, sizeof(pattern), "/sys/devices/system/node/node%d/memory[0-9]*/state", st->slow);
	all_online(pattern, "online", &err);
	/* Whether it is on or not: a swapoff may have been interrupted. */
	if (st->swap)
		swapoff(st->swap);
	return err;
}
