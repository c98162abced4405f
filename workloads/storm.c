// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * storm: everything at once that may go wrong between page migration and the rest of the machine, on
 * memory whose content is known at every moment.
 *
 * This file is the process that starts families and actors (workloads/lib/storm.h), starts families
 * again that the OOM killer took, notices who does not get on, and judges the whole at the end: every
 * wrong byte, every unexpected death, every operation or action that never once succeeded, every phase
 * in which nothing was deferred is a failure.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/lib/err.h"
#include "workloads/lib/node.h"
#include "workloads/lib/opt.h"
#include "workloads/lib/proto.h"
#include "workloads/lib/storm.h"
#include "workloads/lib/team.h"
#include "workloads/lib/vmstat.h"

#define VM		"/proc/sys/vm/"
#define TICK_US		250000
#define STUCK_S		300.0		/* a family or all actors without a step: stuck */
#define END_S		300.0		/* for all to end when asked */
#define DRAIN_S		10.0		/* for what is released to be freed */
#define ACTORS_MAX	8
#define NAMES_MAX	32
#define SIZE_MAX_BYTES	(1ULL << 32)

const char *argp_program_version = "storm (migrc) " MIGRC_VERSION;

static struct {
	double seconds, phase;
	uint64_t bytes, seed;
	unsigned int actors, oom_every;
	const char *cgroup_root, *swap, *verify;
	const char *skip[NAMES_MAX], *allow[NAMES_MAX];
	size_t skips, allows;
	bool no_migrc;
	int fast, slow;
} conf = {
	.seconds = 60,
	.phase = 60,
	.bytes = 8 << 20,
	.seed = 1,
	.actors = 2,
	.cgroup_root = "/sys/fs/cgroup",
	.fast = -1,
	.slow = -1,
};

/* What the coordinator knows; everything else is in storm_shared. */
struct watch {
	struct storm st;
	pid_t actor[ACTORS_MAX];
	unsigned int generation[STORM_FAMILIES];
	uint64_t beat[STORM_FAMILIES], acted;
	double beat_at[STORM_FAMILIES], acted_at;
	unsigned int phases, failures;
	bool fatal;			/* one after which there is no use in going on */
	bool compares;			/* the kernel compares source and destination */
};

enum { OPT_SEED = 256, OPT_PHASE, OPT_ACTORS, OPT_SWAP, OPT_OOM, OPT_SKIP, OPT_ALLOW, OPT_NO_MIGRC,
       OPT_CGROUP, OPT_FAST, OPT_SLOW, OPT_VERIFY, OPT_LIST };

static const struct argp_option options[] = {
	{ "seconds", 'd', "S", 0, "How long (default: 60)", 0 },
	{ "size", 's', "SIZE", 0, "Memory of each of the four families, MiB or with K, M, G (default: 8)", 0 },
	{ "seed", OPT_SEED, "N", 0, "Of the random order (default: 1)", 0 },
	{ "phase", OPT_PHASE, "S", 0, "Seconds between two lines of counters; in each something must have "
	  "been deferred (default: 60)", 0 },
	{ "actors", OPT_ACTORS, "N", 0, "Processes that act on the machine (default: 2)", 0 },
	{ "swap", OPT_SWAP, "DEVICE", 0, "Swap there; what is on it is lost (default: none)", 0 },
	{ "oom-every", OPT_OOM, "S", 0, "Seconds between two times that the whole machine is out of memory "
	  "(default: never)", 0 },
	{ "skip", OPT_SKIP, "NAME", 0, "Leave this operation or action out; may be repeated", 0 },
	{ "allow", OPT_ALLOW, "NAME", 0, "This operation or action need not succeed; may be repeated", 0 },
	{ "no-migrc", OPT_NO_MIGRC, NULL, 0, "The kernel has no vm.migrc, or it is to stay off", 0 },
	{ "list", OPT_LIST, NULL, 0, "Names of the operations and actions", 0 },
	{ "cgroup-root", OPT_CGROUP, "DIR", 0, "cgroup v2 to make groups in (default: /sys/fs/cgroup)", 0 },
	{ "fast", OPT_FAST, "NODE", 0, "Upper node (default: first with CPUs)", 0 },
	{ "slow", OPT_SLOW, "NODE", 0, "Lower node (default: first without CPUs)", 0 },
	{ "verify", OPT_VERIFY, "SPEC", OPTION_HIDDEN, NULL, 0 },
	{ 0 }
};

static const char doc[] =
	"Demotion, hotplug, compaction, swap, KSM, OOM, failing allocations and pages, and the switches of "
	"migrc, all at once in random order, while memory is read, written, mapped, forked and punched and "
	"every byte of it is checked."
	"\vFor a guest that may be lost: it takes memory and CPUs offline and has the OOM killer kill. "
	"Exit code 1 if a byte was wrong, something died or got stuck, or an action never succeeded.\n\n"
	"EXAMPLES:\n"
	"  storm -d 300 --swap /dev/ram0 --oom-every 120\n"
	"  storm -d 60 --no-migrc                         the same on another kernel\n"
	"  storm --skip cpu-offline --allow contiguous";

static bool named(const char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

static void add_name(const char *opt, const char *arg, const char **list, size_t *n)
{
	bool known = false;

	for (size_t i = 0; i < storm_ops__count(); i++)
		known |= !strcmp(arg, storm_ops__name(i));
	for (size_t i = 0; i < storm_acts__count(); i++)
		known |= !strcmp(arg, storm_acts__name(i));
	if (known && *n < NAMES_MAX) {
		list[(*n)++] = arg;
		return;
	}
	wl_err("%s '%s': %s; see --list", opt, arg, known ? "too many" : "no such operation or action");
	exit(WL_EXIT_USAGE);
}

static void list_names(void)
{
	for (size_t i = 0; i < storm_ops__count(); i++)
		printf("operation %s\n", storm_ops__name(i));
	for (size_t i = 0; i < storm_acts__count(); i++)
		printf("action    %s\n", storm_acts__name(i));
}

static error_t parse_more(int key, char *arg)
{
	switch (key) {
	case OPT_SKIP:
		add_name("--skip", arg, conf.skip, &conf.skips);
		break;
	case OPT_ALLOW:
		add_name("--allow", arg, conf.allow, &conf.allows);
		break;
	case OPT_NO_MIGRC:
		conf.no_migrc = true;
		break;
	case OPT_LIST:
		list_names();
		exit(WL_EXIT_GOOD);
	case OPT_CGROUP:
		conf.cgroup_root = arg;
		break;
	case OPT_FAST:
		conf.fast = (int)wl_opt__u64("--fast", arg, 0, 63);
		break;
	case OPT_SLOW:
		conf.slow = (int)wl_opt__u64("--slow", arg, 0, 63);
		break;
	case OPT_VERIFY:
		conf.verify = arg;
		break;
	case ARGP_KEY_ARG:
		wl_opt__stray(arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)state;
	switch (key) {
	case 'd':
		conf.seconds = wl_opt__double("--seconds", arg, 1, 1e6);
		break;
	case 's':
		conf.bytes = wl_opt__size("--size", arg, 1 << 20, SIZE_MAX_BYTES);
		break;
	case OPT_SEED:
		conf.seed = wl_opt__u64("--seed", arg, 0, UINT64_MAX);
		break;
	case OPT_PHASE:
		conf.phase = wl_opt__double("--phase", arg, 1, 1e6);
		break;
	case OPT_ACTORS:
		conf.actors = (unsigned int)wl_opt__u64("--actors", arg, 1, ACTORS_MAX);
		break;
	case OPT_SWAP:
		conf.swap = arg;
		break;
	case OPT_OOM:
		conf.oom_every = (unsigned int)wl_opt__u64("--oom-every", arg, 1, 1000000);
		break;
	default:
		return parse_more(key, arg);
	}
	return 0;
}

static void failure(struct watch *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void failure(struct watch *w, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	wl_err("%s; do not trust this kernel before it is explained", text);
	w->failures++;
}

/* --- before -----------------------------------------------------------------------------------*/

static int make_group(const char *path, const char *controllers)
{
	char file[STORM_PATH + 64];
	int err;

	if (mkdir(path, 0755) && errno != EEXIST)
		return -errno;
	if (!controllers)
		return 0;
	snprintf(file, sizeof(file), "%s/cgroup.subtree_control", path);
	err = storm_file__put(file, "%s", controllers);
	return err;
}

/* The OOM killer takes a family as a whole: half of one would leave locks that nobody gives back. */
static int make_groups(struct storm *st)
{
	char path[STORM_PATH + 32], file[STORM_PATH + 64];
	int err = make_group(conf.cgroup_root, "+memory");

	snprintf(st->group, sizeof(st->group), "%.200s/storm-%d", conf.cgroup_root, (int)getpid());
	if (!err)
		err = make_group(st->group, "+memory");
	for (int kind = 0; !err && kind < STORM_FAMILIES; kind++) {
		snprintf(path, sizeof(path), "%s/%s", st->group, storm_kind_names[kind]);
		snprintf(file, sizeof(file), "%s/memory.oom.group", path);
		err = make_group(path, NULL);
		if (!err)
			err = storm_file__put(file, "1");
	}
	snprintf(path, sizeof(path), "%s/hog", st->group);
	return err ? err : make_group(path, NULL);
}

static void *shared(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int make_memory(struct storm *st)
{
	st->sh = shared(sizeof(*st->sh));
	for (int kind = 0; kind < STORM_FAMILIES; kind++) {
		struct arena *a = &st->arena[kind];

		st->fd[kind] = -1;
		a->pages = (uint32_t)(conf.bytes / ARENA_PAGE);
		a->key = wl_rng__mix(conf.seed + 31 * (uint64_t)kind);
		a->kinds = kind == STORM_KSM ? 4 : 0;
		a->page = shared(a->pages * sizeof(*a->page));
		if (!a->page)
			return -ENOMEM;
	}
	return st->sh ? 0 : -ENOMEM;
}

static void choose_names(struct storm *st)
{
	for (size_t i = 0; i < storm_ops__count(); i++)
		st->skip_op[i] = named(conf.skip, conf.skips, storm_ops__name(i));
	for (size_t i = 0; i < storm_acts__count(); i++)
		st->skip_act[i] = named(conf.skip, conf.skips, storm_acts__name(i)) ||
				  (conf.no_migrc && storm_acts__is_migrc(i)) ||
				  (!conf.oom_every && !strcmp(storm_acts__name(i), "global-oom")) ||
				  (!conf.swap && (!strcmp(storm_acts__name(i), "swapoff") ||
						  !strcmp(storm_acts__name(i), "swap-out")));
}

static int setup(struct watch *w)
{
	struct storm *st = &w->st;
	int err = wl_node__choose(&conf.fast, &conf.slow);
	const char *what;

	if (err)
		return err;
	*st = (struct storm){ .seed = conf.seed, .bytes = conf.bytes, .fast = conf.fast,
			      .slow = conf.slow, .swap = conf.swap };
	choose_names(st);
	storm_acts__save(st);
	what = "shared memory";
	err = make_memory(st);
	if (!err) {
		what = "cgroups";
		err = make_groups(st);
	}
	/* Neither this process nor the actors are to be reclaimed, or killed for memory. */
	if (!err) {
		what = "oom_score_adj";
		err = storm_file__put("/proc/self/oom_score_adj", "-1000");
	}
	if (!err && mlockall(MCL_CURRENT)) {
		what = "locked memory";
		err = -errno;
	}
	if (!err && conf.swap) {
		what = conf.swap;
		err = storm_swap__on(conf.swap);
	}
	if (!err && !conf.no_migrc) {
		what = VM "migrc (or give --no-migrc)";
		err = storm_file__put(VM "migrc", "1");
	}
	if (!err) {
		w->compares = !conf.no_migrc && !storm_file__put(VM "migrc_debug_compare", "1");
		for (size_t i = 0; !w->compares && i < storm_acts__count(); i++)
			st->skip_act[i] |= !strcmp(storm_acts__name(i), "migrc-compare");
		return 0;
	}
	wl_err("%s: %s; run it as root in a guest of the lab", what, strerror(-err));
	return WL_EXIT_UNSUPPORTED;
}

/* --- while it storms --------------------------------------------------------------------------*/

static void family_kill(struct watch *w, enum storm_kind kind)
{
	char path[STORM_PATH + 64];

	snprintf(path, sizeof(path), "%s/%s/cgroup.kill", w->st.group, storm_kind_names[kind]);
	storm_file__put_surely(10, path, "1");
}

static void family_start(struct watch *w, enum storm_kind kind)
{
	int err;

	while ((err = storm_family__start(&w->st, kind, w->generation[kind]++)) == -ENOMEM ||
	       err == -EAGAIN) {
		family_kill(w, kind);
		usleep(TICK_US);
	}
	if (err)
		failure(w, "%s: cannot be started: %s", storm_kind_names[kind], strerror(-err));
	w->beat_at[kind] = wl_now();
}

/* The family of that process, or -1. Its pid is forgotten. */
static int family_of(struct watch *w, pid_t pid)
{
	for (int kind = 0; kind < STORM_FAMILIES; kind++)
		for (int i = 0; i < 2; i++)
			if (atomic_load(&w->st.sh->family[kind].pid[i]) == pid) {
				atomic_store(&w->st.sh->family[kind].pid[i], 0);
				return kind;
			}
	return -1;
}

static bool family_alive(const struct watch *w, int kind)
{
	return atomic_load(&w->st.sh->family[kind].pid[0]) || atomic_load(&w->st.sh->family[kind].pid[1]);
}

static bool actor_gone(struct watch *w, pid_t pid)
{
	for (unsigned int i = 0; i < conf.actors; i++)
		if (w->actor[i] == pid) {
			w->actor[i] = 0;
			return true;
		}
	return false;
}

static void family_died(struct watch *w, enum storm_kind kind, int sig)
{
	w->fatal = true;
	failure(w, "%s: signal %d (%s)", storm_kind_names[kind], sig, strsignal(sig));
}

/* A process that ended before it was asked to: by the OOM killer, or it is a failure. */
static void judge_end(struct watch *w, pid_t pid, int status, bool stopping)
{
	int kind = family_of(w, pid);

	if (kind >= 0) {
		if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
			family_died(w, (enum storm_kind)kind, WTERMSIG(status));
	} else if (actor_gone(w, pid) && (WIFSIGNALED(status) || !stopping)) {
		w->fatal = true;
		failure(w, "an actor ended early, status %#x", (unsigned int)status);
	}
}

static void reap(struct watch *w, bool stopping)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		judge_end(w, pid, status, stopping);
}

/* All of a family goes before any of it comes back. */
static void restart_families(struct watch *w)
{
	for (int kind = 0; kind < STORM_FAMILIES; kind++) {
		bool whole = true;

		for (unsigned int i = 0; i < storm_family__processes((enum storm_kind)kind); i++)
			whole &= atomic_load(&w->st.sh->family[kind].pid[i]) != 0;
		if (whole)
			continue;
		family_kill(w, (enum storm_kind)kind);
		for (double end = wl_now() + END_S; family_alive(w, kind) && wl_now() < end;) {
			reap(w, false);
			usleep(TICK_US / 10);
		}
		if (!family_alive(w, kind)) {
			family_start(w, (enum storm_kind)kind);
			continue;
		}
		w->fatal = true;
		failure(w, "%s: cannot be killed", storm_kind_names[kind]);
	}
}

/* Where the threads of a process that does not get on are, in the kernel. */
static void print_stacks(pid_t pid)
{
	char command[160];

	if (!pid)
		return;
	snprintf(command, sizeof(command),
		 "for t in /proc/%d/task/*; do echo \"storm: $t\"; cat $t/stack; done", (int)pid);
	if (system(command))
		wl_err("stacks of process %d: not to be had; see the kernel's log", (int)pid);
}

static void stuck(struct watch *w, const char *who)
{
	w->fatal = true;
	failure(w, "%s: no step in %.0f s", who, STUCK_S);
	for (int kind = 0; kind < STORM_FAMILIES; kind++)
		for (int i = 0; i < 2; i++)
			print_stacks(atomic_load(&w->st.sh->family[kind].pid[i]));
	for (unsigned int i = 0; i < conf.actors; i++)
		print_stacks(w->actor[i]);
}

static void look_for_stuck(struct watch *w)
{
	double now = wl_now();
	uint64_t acted = 0;

	for (int kind = 0; kind < STORM_FAMILIES; kind++) {
		uint64_t beat = atomic_load(&w->st.sh->family[kind].beat);

		if (beat != w->beat[kind])
			w->beat_at[kind] = now;
		w->beat[kind] = beat;
		if (now - w->beat_at[kind] > STUCK_S)
			stuck(w, storm_kind_names[kind]);
	}
	for (size_t i = 0; i < storm_acts__count(); i++)
		acted += atomic_load(&w->st.sh->act[i].tried);
	if (acted != w->acted)
		w->acted_at = now;
	w->acted = acted;
	if (now - w->acted_at > STUCK_S)
		stuck(w, "all actors");
}

/* --- counters ---------------------------------------------------------------------------------*/

static const struct { const char *label, *prefix; } shown[] = {
	{ "demoted", "pgdemote_" },
	{ "migrated", "pgmigrate_success" },
	{ "deferred", "migrc_deferred" },
	{ "refused", "migrc_refused_" },
	{ "released", "migrc_released_" },
	{ "flushes", "migrc_flushes" },
	{ "waits", "migrc_waits" },
	{ "swapped", "pswpout" },
	{ "killed", "oom_kill" },
};
#define SHOWN	(sizeof(shown) / sizeof(shown[0]))
#define DEFERRED 2

static void counters(uint64_t out[SHOWN])
{
	struct wl_vmstat v = { 0 };

	/* Memory for reading may be short by design. */
	while (wl_vmstat__read(&v, "/proc/vmstat")) {
		wl_vmstat__free(&v);
		usleep(TICK_US);
	}
	for (size_t i = 0; i < SHOWN; i++)
		if (wl_vmstat__sum(&v, shown[i].prefix, &out[i]))
			out[i] = 0;
	wl_vmstat__free(&v);
}

/* Which refusals and releases there were, for a summary of the whole. */
static void print_migrc(const char *before)
{
	struct wl_vmstat from = { (char *)(uintptr_t)before }, to = { 0 };
	char *line, *save = NULL;

	if (wl_vmstat__read(&to, "/proc/vmstat")) {
		wl_vmstat__free(&to);
		return;
	}
	for (line = strtok_r(to.text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char key[64];
		uint64_t was, is;

		if (sscanf(line, "migrc_%40s %" SCNu64, key + 6, &is) != 2)
			continue;
		memcpy(key, "migrc_", 6);
		if (!wl_vmstat__get(&from, key, &was))
			printf("%-24s %" PRIu64 "\n", key, is - was);
	}
	wl_vmstat__free(&to);
}

static uint64_t writes_done(const struct watch *w)
{
	uint64_t n = 0;

	for (size_t i = 0; i < storm_ops__count(); i++)
		n += atomic_load(&w->st.sh->op[i].done);
	return n;
}

static void phase_end(struct watch *w, double began, const uint64_t from[SHOWN], const uint64_t to[SHOWN])
{
	printf("Phase %2u at %5.0f s:", ++w->phases, wl_now() - began);
	for (size_t i = 0; i < SHOWN; i++)
		printf(" %s %" PRIu64, shown[i].label, to[i] - from[i]);
	printf("; so far: operations %" PRIu64 ", reads %" PRIu64 "\n", writes_done(w),
	       (uint64_t)atomic_load(&w->st.sh->reads));
	if (!conf.no_migrc && to[DEFERRED] == from[DEFERRED])
		failure(w, "phase %u: nothing was deferred", w->phases);
}

static bool wrong_already(const struct watch *w)
{
	return w->fatal || atomic_load(&w->st.sh->findings) || atomic_load(&w->st.sh->died);
}

static void storm(struct watch *w, double began, uint64_t totals[SHOWN])
{
	uint64_t from[SHOWN], to[SHOWN], first[SHOWN];
	double phase = began;

	counters(from);
	memcpy(first, from, sizeof(first));
	while (wl_now() - began < conf.seconds && !wrong_already(w)) {
		usleep(TICK_US);
		reap(w, false);
		restart_families(w);
		look_for_stuck(w);
		if (wl_now() - phase < conf.phase)
			continue;
		phase = wl_now();
		counters(to);
		phase_end(w, began, from, to);
		memcpy(from, to, sizeof(from));
	}
	counters(to);
	/* The last one, unless it is too short to mean anything. */
	if (wl_now() - phase > conf.phase / 2)
		phase_end(w, began, from, to);
	for (size_t i = 0; i < SHOWN; i++)
		totals[i] = to[i] - first[i];
}

/* --- after ------------------------------------------------------------------------------------*/

static bool anyone_left(const struct watch *w)
{
	for (unsigned int i = 0; i < conf.actors; i++)
		if (w->actor[i])
			return true;
	for (int kind = 0; kind < STORM_FAMILIES; kind++)
		if (family_alive(w, kind))
			return true;
	return false;
}

static void stop_all(struct watch *w)
{
	atomic_store(&w->st.sh->stop, true);
	for (double end = wl_now() + END_S; anyone_left(w) && wl_now() < end;) {
		reap(w, true);
		usleep(TICK_US / 10);
	}
	if (anyone_left(w)) {
		stuck(w, "the end");
		for (int kind = 0; kind < STORM_FAMILIES; kind++)
			family_kill(w, (enum storm_kind)kind);
		for (unsigned int i = 0; i < conf.actors; i++)
			if (w->actor[i])
				kill(w->actor[i], SIGKILL);
		sleep(1);
		reap(w, true);
	}
}

/* Switched off, nothing may be held; and what the kernel compared was equal. */
static void check_migrc(struct watch *w)
{
	struct wl_vmstat v = { 0 };
	uint64_t held = UINT64_MAX, differ = 0;
	int err = storm_file__put_surely(DRAIN_S, VM "migrc", "0");

	if (err)
		failure(w, "vm.migrc: cannot be switched off: %s", strerror(-err));
	for (double end = wl_now() + DRAIN_S; held && wl_now() < end; usleep(TICK_US)) {
		if (wl_vmstat__read(&v, "/proc/vmstat") || wl_vmstat__get(&v, "nr_migrc_pending", &held))
			held = UINT64_MAX;
		wl_vmstat__free(&v);
	}
	if (held)
		failure(w, "vm.migrc: %" PRIu64 " folios are held after it was switched off", held);
	storm_file__put_surely(DRAIN_S, VM "migrc", "1");
	if (!w->compares)
		return;
	if (storm_file__u64(VM "migrc_debug_differ", &differ))
		failure(w, "vm.migrc_debug_differ: cannot be read");
	else if (differ)
		failure(w, "vm.migrc_debug_differ: %" PRIu64 " sources were not what their destinations were",
			differ);
}

static void print_tally(struct watch *w, const char *kind, const char *name, const struct storm_tally *t,
			bool skipped)
{
	uint64_t tried = atomic_load(&t->tried), done = atomic_load(&t->done);
	int err = atomic_load(&t->err);
	char metric[64];

	if (skipped) {
		printf("  %-9s %-18s left out\n", kind, name);
		return;
	}
	printf("  %-9s %-18s tried %8" PRIu64 "  done %8" PRIu64 "%s%s\n", kind, name, tried, done,
	       err ? "  last failure: " : "", err ? strerror(err) : "");
	snprintf(metric, sizeof(metric), "%s.%s", kind, name);
	wl_proto__metric(stdout, metric, (double)done, "times", WL_NEITHER, WL_COUNT);
	if (!done && !named(conf.allow, conf.allows, name))
		failure(w, "%s %s: tried %" PRIu64 " times, never done", kind, name, tried);
}

static void print_findings(struct watch *w)
{
	const struct storm_shared *sh = w->st.sh;
	const struct storm_finding *f = &sh->first;
	char stale[64] = "";

	if (atomic_load(&sh->died))
		failure(w, "%u forked children were ended by a signal, one by %d",
			atomic_load(&sh->died), atomic_load(&sh->died_signal));
	if (!atomic_load(&sh->first_done))
		return;
	if (f->stale_version != UINT64_MAX)
		snprintf(stale, sizeof(stale), " (that is version %" PRIu64 ")", f->stale_version);
	failure(w, "%s, by %s: page %u word %u is %#" PRIx64 "%s, must be %#" PRIx64 " of version %" PRIu64
		" (zeroed %u); %u wrong in all", storm_kind_names[f->kind], f->how, f->at.page, f->at.word,
		f->at.got, stale, f->at.want, f->at.state >> 2, (unsigned int)(f->at.state & 3),
		atomic_load(&sh->findings));
}

static void report(struct watch *w, const uint64_t totals[SHOWN], double seconds)
{
	struct storm_shared *sh = w->st.sh;
	unsigned int restarts = 0;

	printf("Storm:       %.0f s, seed %" PRIu64 ", %u actors, %u phases\n", seconds, conf.seed,
	       conf.actors, w->phases);
	for (size_t i = 0; i < storm_ops__count(); i++)
		print_tally(w, "operation", storm_ops__name(i), &sh->op[i], w->st.skip_op[i]);
	for (size_t i = 0; i < storm_acts__count(); i++)
		print_tally(w, "action", storm_acts__name(i), &sh->act[i], w->st.skip_act[i]);
	for (int kind = 0; kind < STORM_FAMILIES; kind++)
		restarts += w->generation[kind] - 1;
	printf("Restarts:    %u families, by the OOM killer\n", restarts);
	wl_proto__metric(stdout, "restarts", restarts, "families", WL_NEITHER, WL_COUNT);
	for (size_t i = 0; i < SHOWN; i++) {
		printf("%-12s %" PRIu64 "\n", shown[i].label, totals[i]);
		wl_proto__metric(stdout, shown[i].label, (double)totals[i], "pages", WL_NEITHER, WL_COUNT);
	}
	printf("reads        %" PRIu64 "\n", (uint64_t)atomic_load(&sh->reads));
	wl_proto__metric(stdout, "reads", (double)atomic_load(&sh->reads), "reads", WL_NEITHER, WL_COUNT);
	printf("Compared:    %s\n", w->compares ? "by the kernel, at releases" : "not by this kernel");
}

static void remove_groups(const struct storm *st)
{
	char path[STORM_PATH + 32];

	for (int kind = 0; kind < STORM_FAMILIES; kind++) {
		snprintf(path, sizeof(path), "%s/%s", st->group, storm_kind_names[kind]);
		rmdir(path);
	}
	snprintf(path, sizeof(path), "%s/hog", st->group);
	rmdir(path);
	if (rmdir(st->group))
		wl_err("%s: %s; remove it by hand", st->group, strerror(errno));
}

static int run(struct watch *w)
{
	struct wl_vmstat before = { 0 };
	uint64_t totals[SHOWN];
	double began;
	int err;

	if (wl_vmstat__read(&before, "/proc/vmstat"))
		return WL_EXIT_USAGE;
	for (int kind = 0; kind < STORM_FAMILIES; kind++)
		family_start(w, (enum storm_kind)kind);
	for (unsigned int i = 0; i < conf.actors; i++) {
		w->actor[i] = storm_actor__start(&w->st, i, conf.oom_every);
		if (w->actor[i] < 0) {
			failure(w, "an actor cannot be started: %s", strerror(-w->actor[i]));
			w->actor[i] = 0;
		}
	}
	began = wl_now();
	w->acted_at = began;
	storm(w, began, totals);
	began = wl_now() - began;
	stop_all(w);
	err = storm_acts__restore(&w->st);
	if (err)
		failure(w, "not everything is as it was: %s", strerror(-err));
	if (!conf.no_migrc)
		check_migrc(w);
	report(w, totals, began);
	print_migrc(before.text);
	wl_vmstat__free(&before);
	print_findings(w);
	remove_groups(&w->st);
	wl_proto__metric(stdout, "failures", w->failures, "failures", WL_LOWER, WL_COUNT);
	printf("%u failures\n", w->failures);
	return w->failures ? WL_EXIT_FAILED : WL_EXIT_GOOD;
}

/*
 * The C library registers restartable sequences: memory of each thread that the kernel writes when it
 * comes back to it, and a thread for which that fails gets a SIGSEGV. Allocations fail here.
 */
static void without_rseq(char **argv)
{
	if (getenv("GLIBC_TUNABLES"))
		return;
	setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
	execv("/proc/self/exe", argv);
	wl_err("/proc/self/exe: %s; mount proc on /proc", strerror(errno));
	exit(WL_EXIT_UNSUPPORTED);
}

int main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, NULL, doc, NULL, NULL, NULL };
	static struct watch w;
	int ret;

	argp_err_exit_status = WL_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (conf.verify)
		return storm_ops__verify(conf.verify);
	without_rseq(argv);
	/* It was started by way of /proc/self/exe. */
	prctl(PR_SET_NAME, "storm");
	setvbuf(stdout, NULL, _IOLBF, 0);
	ret = setup(&w);
	if (ret)
		return ret;
	printf("Seed:        %" PRIu64 "\n", conf.seed);
	return run(&w);
}
