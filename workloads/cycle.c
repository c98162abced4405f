// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cycle: demotes its own read-only memory through memory.reclaim and brings it back, round by
 * round, while a reader on every other CPU keeps translations to it in the TLB and checks what it
 * reads.
 *
 * Reclaim leaves alone what was referenced since it last looked, so readers that go through all of
 * the memory all the time would keep nearly all of it where it is. So a round is:
 *
 *	age		madvise(MADV_COLD): all folios are inactive, whatever the last round left
 *			them; reclaim ages an active list by 32 folios at a time, if at all
 *	sweep		each reader reads every page once: a translation on every CPU
 *	demote		readers read a few pages of their own; all others have gone idle, but are
 *			still in the TLBs of CPUs that run this process: the flush to be deferred
 *	(write)		in some rounds every page is changed by pwrite(2)
 *	sweep		each reader reads every page once: a stale translation would show here
 *	bring back	migrate_pages(2)
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "workloads/lib/backing.h"
#include "workloads/lib/cgroup.h"
#include "workloads/lib/content.h"
#include "workloads/lib/err.h"
#include "workloads/lib/node.h"
#include "workloads/lib/opt.h"
#include "workloads/lib/proto.h"
#include "workloads/lib/relax.h"
#include "workloads/lib/team.h"
#include "workloads/lib/vmstat.h"

#define SIZE_MAX_BYTES	(1ULL << 46)
#define DEMOTION_FILE	"/sys/kernel/mm/numa/demotion_enabled"
#define VMSTAT_FILE	"/proc/vmstat"
/* With the space, so that nr_tlb_remote_flush_received is not counted as well. */
#define FLUSH_COUNTER	"nr_tlb_remote_flush "
/* Sweeps go in steps of about this many pages, so that each page's translation is its own. */
#define STRIDE		521
/* What a reader reads between two sweeps. */
#define HOT_PAGES	4
/* Readers give way to the thread that drives the rounds if it has no CPU of its own. */
#define READER_NICE	10
#define POLL_US		500

const char *argp_program_version = "cycle (migrc) " MIGRC_VERSION;

static struct {
	uint64_t bytes, reclaim, rounds;
	unsigned int readers, write_share;
	struct wl_backing_opts backing;
	const char *cgroup_root;
	int fast, slow;
} conf = {
	.bytes = 64 << 20,
	.rounds = 4,
	.backing = { .kind = WL_BACKING_FILE, .protect = true, .dir = "/tmp" },
	.cgroup_root = "/sys/fs/cgroup",
	.fast = -1,
	.slow = -1,
};

static volatile sig_atomic_t caught;

struct reader {
	uint64_t reads;
	_Atomic uint64_t swept;	/* the last sweep that it has ended */
	uint32_t *seen;		/* last version of each page, if versions change */
	uint64_t bad_page, bad_word, got, want;
	bool failed;
} __attribute__((aligned(64)));

struct cycle {
	struct wl_backing mem;
	struct wl_cgroup cg;
	uint32_t page, words;
	uint64_t pages, stride;
	struct reader *reader;
	uint64_t begun_version;		/* only the main thread writes */
	_Atomic uint64_t sweep;		/* the sweep that is asked for */
	_Atomic uint64_t issued;	/* newest version that a page may have */
	_Atomic uint64_t published;	/* oldest version that a page may have */
	atomic_bool stop, failed;
};

struct total {
	uint64_t rounds, reclaim_short, writes, left;
	uint64_t demoted, brought_back;
	bool demoted_known, brought_back_known;
	uint64_t demote_flushes, back_flushes;	/* of other CPUs, meanwhile */
	bool flushes_known;
	double demote_s, back_s, round_s, read_s;
};

enum { OPT_ROUNDS = 256, OPT_RECLAIM, OPT_BACKING, OPT_DIR, OPT_CGROUP, OPT_FAST, OPT_SLOW,
       OPT_WRITE };

static const struct argp_option options[] = {
	{ "threads", 't', "N", 0,
	  "Readers, each pinned to a CPU (default: one for each CPU but one, which drives)", 0 },
	{ "size", 's', "SIZE", 0, "Memory, MiB or with K, M, G (default: 64)", 0 },
	{ "rounds", OPT_ROUNDS, "N", 0, "Rounds: demote, bring back (default: 4)", 0 },
	{ "reclaim", OPT_RECLAIM, "SIZE", 0,
	  "What is written to memory.reclaim each round (default: 15/16 of the size)", 0 },
	{ "backing", OPT_BACKING, "file|memfd|anon", 0,
	  "file or memfd: written by write(2), mapped for reading; anon: made read-only by "
	  "mprotect(2) (default: file)", 0 },
	{ "dir", OPT_DIR, "DIR", 0, "Folder of the file, a tmpfs (default: /tmp)", 0 },
	{ "cgroup-root", OPT_CGROUP, "DIR", 0, "cgroup v2 to make a group in "
	  "(default: /sys/fs/cgroup)", 0 },
	{ "fast", OPT_FAST, "NODE", 0, "Node to bring back to (default: first with CPUs)", 0 },
	{ "slow", OPT_SLOW, "NODE", 0, "Node of the lower tier (default: first without CPUs)", 0 },
	{ "write-share", OPT_WRITE, "PERCENT", 0,
	  "Rounds in which every page is changed by pwrite(2) while demoted (default: 0)", 0 },
	{ 0 }
};

static const char doc[] =
	"Demote a group's memory through memory.reclaim and bring it back with migrate_pages(2), "
	"while readers on the other CPUs verify every word they read."
	"\vNeeds root, two memory tiers with demotion enabled, and cgroup v2. Exit code 1 if a "
	"reader found a wrong word: then the kernel broke the data.\n\n"
	"EXAMPLES:\n"
	"  cycle                                       64 MiB file in /tmp, 4 rounds\n"
	"  cycle -s 128 --rounds 9 --backing memfd     needs no tmpfs\n"
	"  cycle --write-share 50                      half of the rounds also write";

static error_t parse_more(int key, char *arg)
{
	switch (key) {
	case OPT_BACKING:
		conf.backing.kind = (enum wl_backing_kind)wl_opt__name("--backing", arg,
								      wl_backing_names);
		break;
	case OPT_DIR:
		conf.backing.dir = arg;
		break;
	case OPT_CGROUP:
		conf.cgroup_root = arg;
		break;
	case OPT_FAST:
		conf.fast = (int)wl_opt__u64("--fast", arg, 0, 63);
		break;
	case OPT_SLOW:
		conf.slow = (int)wl_opt__u64("--slow", arg, 0, 63);
		break;
	case OPT_WRITE:
		conf.write_share = (unsigned int)wl_opt__u64("--write-share", arg, 0, 100);
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
	case 't':
		conf.readers = (unsigned int)wl_opt__u64("--threads", arg, 1, WL_TEAM_MAX);
		break;
	case 's':
		conf.bytes = wl_opt__size("--size", arg, 1 << 20, SIZE_MAX_BYTES);
		break;
	case OPT_ROUNDS:
		conf.rounds = wl_opt__u64("--rounds", arg, 1, UINT32_MAX - 1);
		break;
	case OPT_RECLAIM:
		conf.reclaim = wl_opt__size("--reclaim", arg, 4096, SIZE_MAX_BYTES);
		break;
	default:
		return parse_more(key, arg);
	}
	return 0;
}

static void on_signal(int sig)
{
	caught = sig;
}

/* Only this thread is to take them: the readers start with them blocked. */
static void signals_install(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	/* No SA_RESTART: a reclaim that is under way shall end. */
	struct sigaction sa = { .sa_handler = on_signal };

	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &sa, NULL);
}

/* --- readers ----------------------------------------------------------------------------------*/

static void reader_fail(struct cycle *c, struct reader *r, uint64_t page, uint64_t word,
			uint64_t got, uint64_t want)
{
	r->bad_page = page;
	r->bad_word = word;
	r->got = got;
	r->want = want;
	r->failed = true;
	atomic_store(&c->failed, true);
}

/*
 * A page that was written before `published` was raised must be seen with that version or a newer
 * one, and never with an older one than this reader saw before: a stale translation to the old
 * folio would show exactly that.
 */
static bool version_good(struct cycle *c, struct reader *r, uint64_t page,
			 const volatile uint64_t *at)
{
	uint64_t least = atomic_load_explicit(&c->published, memory_order_acquire);
	uint64_t version = *at;
	uint64_t most = atomic_load_explicit(&c->issued, memory_order_acquire);

	if (r->seen && r->seen[page] > least)
		least = r->seen[page];
	if (version < least || version > most) {
		reader_fail(c, r, page, 0, version, least);
		return false;
	}
	if (r->seen)
		r->seen[page] = (uint32_t)version;
	return true;
}

static bool read_page(struct cycle *c, struct reader *r, uint64_t page, uint32_t word)
{
	const volatile uint64_t *at =
		(const volatile uint64_t *)(c->mem.base + page * c->page);
	uint64_t got = at[word], want = wl_content__word(page, word);

	if (got != want) {
		reader_fail(c, r, page, word, got, want);
		return false;
	}
	r->reads += 2;
	return version_good(c, r, page, at);
}

/* Every page once, from a place of its own. False if a word was wrong. */
static bool sweep_all(struct cycle *c, struct reader *r, uint64_t page, uint32_t word)
{
	for (uint64_t i = 0; i < c->pages; i++) {
		if (!read_page(c, r, page, word))
			return false;
		page += c->stride;
		page -= page >= c->pages ? c->pages : 0;
	}
	return true;
}

static void reader_main(void *arg, unsigned int index)
{
	struct cycle *c = arg;
	struct reader *r = &c->reader[index];
	uint64_t start = c->pages * index / conf.readers, n = 0;

	/* On Linux the nice value is the thread's. Without it the rounds are slower, no more. */
	setpriority(PRIO_PROCESS, 0, READER_NICE);
	while (!atomic_load_explicit(&c->stop, memory_order_relaxed)) {
		uint64_t sweep = atomic_load_explicit(&c->sweep, memory_order_acquire);
		uint32_t word = 1 + (uint32_t)((index + n++) % (c->words - 1));

		if (sweep != atomic_load_explicit(&r->swept, memory_order_relaxed)) {
			if (!sweep_all(c, r, start, word))
				return;
			atomic_store_explicit(&r->swept, sweep, memory_order_release);
		}
		for (uint64_t i = 0; i < HOT_PAGES; i++)
			if (!read_page(c, r, (start + i) % c->pages, word))
				return;
		wl_relax();
	}
}

/* Has each reader read every page once. 0, or -EINTR if there is something else to do. */
static int readers_sweep(struct cycle *c)
{
	uint64_t sweep = atomic_fetch_add(&c->sweep, 1) + 1;

	for (unsigned int i = 0; i < conf.readers; i++) {
		while (atomic_load_explicit(&c->reader[i].swept, memory_order_acquire) != sweep) {
			if (caught || atomic_load(&c->failed))
				return -EINTR;
			usleep(POLL_US);
		}
	}
	return 0;
}

/* 0, or the exit code with every failed reader's finding printed. */
static int readers_check(const struct cycle *c, uint64_t *reads)
{
	int ret = 0;

	*reads = 0;
	for (unsigned int i = 0; i < conf.readers; i++) {
		const struct reader *r = &c->reader[i];

		*reads += r->reads;
		if (!r->failed)
			continue;
		wl_err("content: reader %u found %#" PRIx64 " in page %" PRIu64 " word %" PRIu64
		       ", not %s%#" PRIx64 "; do not trust this kernel with data", i, r->got,
		       r->bad_page, r->bad_word, r->bad_word ? "" : "version ", r->want);
		ret = WL_EXIT_FAILED;
	}
	return ret;
}

/* --- rounds -----------------------------------------------------------------------------------*/

/* Adds what a counter rose by; one that this kernel does not have stays unknown. */
static void count(uint64_t *sum, bool *known, const struct wl_vmstat *from,
		  const struct wl_vmstat *to, const char *prefix)
{
	uint64_t a, b;

	*known = !wl_vmstat__sum(from, prefix, &a) && !wl_vmstat__sum(to, prefix, &b);
	if (*known)
		*sum += b - a;
}

static int vmstat_error(int err)
{
	wl_err("%s: %s; mount proc on /proc", VMSTAT_FILE, strerror(-err));
	return WL_EXIT_USAGE;
}

static int age(const struct cycle *c)
{
	if (!madvise(c->mem.base, c->mem.bytes, MADV_COLD))
		return 0;
	wl_err("madvise(MADV_COLD): %s; use a kernel 5.4 or later", strerror(errno));
	return WL_EXIT_UNSUPPORTED;
}

/* 0, the exit code, or -EINTR. */
static int demote(struct cycle *c, struct total *t)
{
	struct wl_vmstat from = { 0 }, to = { 0 };
	double begin;
	int err, ret = 0;

	err = wl_vmstat__read(&from, VMSTAT_FILE);
	if (err) {
		ret = vmstat_error(err);
		goto cleanup;
	}
	begin = wl_now();
	err = wl_cgroup__reclaim(&c->cg, conf.reclaim);
	t->demote_s += wl_now() - begin;
	if (err == -EAGAIN) {
		t->reclaim_short++;
	} else if (err == -EINTR) {
		ret = err;
		goto cleanup;
	} else if (err) {
		wl_err("memory.reclaim: %s; see that %s is still there", strerror(-err),
		       c->cg.path);
		ret = WL_EXIT_USAGE;
		goto cleanup;
	}
	err = wl_vmstat__read(&to, VMSTAT_FILE);
	if (err) {
		ret = vmstat_error(err);
	} else {
		count(&t->demoted, &t->demoted_known, &from, &to, "pgdemote_");
		count(&t->demote_flushes, &t->flushes_known, &from, &to, FLUSH_COUNTER);
	}
cleanup:
	wl_vmstat__free(&from);
	wl_vmstat__free(&to);
	return ret;
}

static int bring_back(struct total *t)
{
	struct wl_vmstat from = { 0 }, to = { 0 };
	double begin;
	int err, ret = 0;
	long left;

	err = wl_vmstat__read(&from, VMSTAT_FILE);
	begin = wl_now();
	left = err ? 0 : wl_node__move(conf.slow, conf.fast);
	t->back_s += wl_now() - begin;
	if (!err)
		err = wl_vmstat__read(&to, VMSTAT_FILE);
	if (err) {
		ret = vmstat_error(err);
	} else if (left < 0) {
		wl_err("migrate_pages from node %d to %d: %s; %s", conf.slow, conf.fast,
		       strerror((int)-left), "run it as root, with both nodes in its cpuset");
		ret = left == -EPERM || left == -ENOSYS ? WL_EXIT_UNSUPPORTED : WL_EXIT_USAGE;
	} else {
		t->left += (uint64_t)left;
		count(&t->brought_back, &t->brought_back_known, &from, &to, "pgmigrate_success");
		count(&t->back_flushes, &t->flushes_known, &from, &to, FLUSH_COUNTER);
	}
	wl_vmstat__free(&from);
	wl_vmstat__free(&to);
	return ret;
}

/* Gives every page the next version. Readers may see the old or the new one until it returns. */
static int write_versions(struct cycle *c, struct total *t)
{
	uint64_t version = ++c->begun_version;

	atomic_store_explicit(&c->issued, version, memory_order_release);
	for (uint64_t p = 0; p < c->pages && !caught; p++) {
		ssize_t n = pwrite(c->mem.fd, &version, sizeof(version), (off_t)(p * c->page));

		if (n != (ssize_t)sizeof(version)) {
			wl_err("pwrite to page %" PRIu64 ": %s; see that %s has room", p,
			       n < 0 ? strerror(errno) : "short write", conf.backing.dir);
			return WL_EXIT_USAGE;
		}
	}
	if (caught)
		return -EINTR;
	atomic_store_explicit(&c->published, version, memory_order_release);
	t->writes++;
	return 0;
}

/* Spreads the share evenly over the rounds, the same ones in every run. */
static bool round_writes(uint64_t round)
{
	return (round + 1) * conf.write_share / 100 > round * conf.write_share / 100;
}

static int one_round(struct cycle *c, struct total *t)
{
	double begin = wl_now();
	int ret = age(c);

	if (!ret)
		ret = readers_sweep(c);
	if (!ret)
		ret = demote(c, t);
	if (!ret && t->rounds == 0 && t->demoted_known && !t->demoted) {
		wl_err("demotion: nothing was demoted; see that node %d is in a lower tier "
		       "(/sys/devices/virtual/memory_tiering) and has free memory", conf.slow);
		ret = WL_EXIT_UNSUPPORTED;
	}
	if (!ret && round_writes(t->rounds))
		ret = write_versions(c, t);
	if (!ret)
		ret = readers_sweep(c);
	if (!ret)
		ret = bring_back(t);
	if (!ret && caught)
		ret = -EINTR;
	if (!ret) {
		t->rounds++;
		t->round_s += wl_now() - begin;
	}
	return ret;
}

/* --- result -----------------------------------------------------------------------------------*/

static void print_count(const char *label, const char *name, uint64_t n, bool known,
			uint64_t rounds)
{
	char buf[32];

	if (!known) {
		printf("%-13sabsent: this kernel does not count it\n", label);
		wl_proto__text(stdout, name, "absent");
		return;
	}
	printf("%-13s%s pages, %.0f a round\n", label, wl_proto__commas(n, buf),
	       (double)n / (double)rounds);
	wl_proto__metric(stdout, name, (double)n, "pages", WL_NEITHER, WL_COUNT);
}

/* Flushes of other CPUs in a phase, for the pages that moved in it. */
static void print_flushes(const char *label, const char *name, uint64_t flushes, uint64_t pages,
			  bool known)
{
	double rate = 1e3 * (double)flushes / (double)pages;

	if (!known || !pages) {
		wl_proto__text(stdout, name, "absent");
		return;
	}
	printf("%-13s%" PRIu64 " flushes of other CPUs, %.2f for 1000 pages\n", label, flushes,
	       rate);
	wl_proto__metric(stdout, name, rate, "1/1000pages", WL_LOWER, WL_COUNT);
}

static void print_result(const struct cycle *c, const struct total *t, uint64_t reads, uint64_t sum)
{
	double n = (double)t->rounds, rate = (double)reads / t->read_s;
	char buf[32];

	printf("Memory:      %" PRIu64 " MiB (%s), %" PRIu64
	       " pages, %u readers, nodes %d and %d\n", conf.bytes >> 20,
	       wl_backing_names[conf.backing.kind], c->pages, conf.readers, conf.fast, conf.slow);
	printf("Rounds:      %" PRIu64 ", %.1f ms each: %.1f demoting, %.1f bringing back\n",
	       t->rounds, 1e3 * t->round_s / n, 1e3 * t->demote_s / n, 1e3 * t->back_s / n);
	printf("Reads/s:     %s\n", wl_proto__commas((uint64_t)rate, buf));
	printf("Short:       %" PRIu64 " reclaims got less than asked\n", t->reclaim_short);
	print_count("Demoted:", "demoted", t->demoted, t->demoted_known, t->rounds);
	print_count("Back:", "brought_back", t->brought_back, t->brought_back_known, t->rounds);
	print_flushes("  demoting:", "demote_flushes", t->demote_flushes, t->demoted,
		      t->flushes_known && t->demoted_known);
	print_flushes("  back:", "bring_back_flushes", t->back_flushes, t->brought_back,
		      t->flushes_known && t->brought_back_known);
	wl_proto__metric(stdout, "rounds", n, "rounds", WL_NEITHER, WL_COUNT);
	wl_proto__metric(stdout, "reclaim_short", (double)t->reclaim_short, "reclaims", WL_NEITHER,
			 WL_COUNT);
	wl_proto__metric(stdout, "not_brought_back", (double)t->left, "pages", WL_NEITHER,
			 WL_COUNT);
	wl_proto__metric(stdout, "write_rounds", (double)t->writes, "rounds", WL_NEITHER, WL_COUNT);
	wl_proto__metric(stdout, "round_ms", 1e3 * t->round_s / n, "ms", WL_LOWER, WL_TIME);
	wl_proto__metric(stdout, "demote_ms", 1e3 * t->demote_s / n, "ms", WL_LOWER, WL_TIME);
	wl_proto__metric(stdout, "bring_back_ms", 1e3 * t->back_s / n, "ms", WL_LOWER, WL_TIME);
	wl_proto__metric(stdout, "reads_per_s", rate, "1/s", WL_HIGHER, WL_TIME);
	snprintf(buf, sizeof(buf), "%" PRIu64, sum);
	printf("Checksum:    %s\n", buf);
	wl_proto__text(stdout, "checksum", buf);
}

/* --- run --------------------------------------------------------------------------------------*/

/* The whole content, once more, when nothing moves any more. */
static int final_check(const struct cycle *c, uint64_t *sum)
{
	uint64_t want = wl_content__expected(c->pages, c->page, c->begun_version);

	*sum = wl_content__checksum(c->mem.base, c->pages * c->page);
	if (*sum == want)
		return 0;
	wl_err("content: checksum %" PRIu64 " at the end, not %" PRIu64
	       "; do not trust this kernel with data", *sum, want);
	return WL_EXIT_FAILED;
}

static int readers_start(struct cycle *c, struct wl_team *team)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = wl_team__start(team, conf.readers, true, reader_main, c);
	if (!err) {
		err = wl_team__pin_driver(conf.readers);
		if (err)
			wl_team__join(team);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		return 0;
	wl_err("threads: cannot start %u: %s; lower -t", conf.readers, strerror(-err));
	return WL_EXIT_USAGE;
}

static int run(struct cycle *c)
{
	struct total ignored = { 0 }, t = { 0 };
	uint64_t reads, sum;
	struct wl_team team;
	int ret, bad;

	/* Whatever spilled to the slow node while the memory was filled. */
	ret = bring_back(&ignored);
	if (!ret)
		ret = readers_start(c, &team);
	if (ret)
		return ret;
	t.read_s = -wl_now();
	wl_team__go(&team);
	/* MADV_COLD ages what is mapped only: map it, or reclaim activates it all in round one. */
	ret = readers_sweep(c);
	while (!ret && t.rounds < conf.rounds && !atomic_load(&c->failed))
		ret = one_round(c, &t);
	atomic_store(&c->stop, true);
	wl_team__join(&team);
	t.read_s += wl_now();
	bad = readers_check(c, &reads);
	if (bad)
		return bad;
	if (!ret)
		ret = final_check(c, &sum);
	if (!ret)
		print_result(c, &t, reads, sum);
	if (ret == -EINTR)
		wl_err("signal %d: stopped after %" PRIu64 " of %" PRIu64 " rounds; run it again",
		       (int)caught, t.rounds, conf.rounds);
	return ret;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/* Everything the readers need. 0 or -errno. */
static int memory_prepare(struct cycle *c)
{
	int err = wl_backing__open(&c->mem, &conf.backing, conf.bytes);

	if (err)
		return err;
	c->page = (uint32_t)sysconf(_SC_PAGESIZE);
	c->words = c->page / (uint32_t)sizeof(uint64_t);
	c->pages = conf.bytes / c->page;
	/* Coprime with the number of pages, so that each pass visits every page. */
	for (c->stride = STRIDE % c->pages + 1; gcd(c->stride, c->pages) != 1; c->stride++)
		;
	err = wl_content__fill(&c->mem, c->page);
	if (!err)
		err = wl_backing__seal(&c->mem);
	c->reader = aligned_alloc(64, conf.readers * sizeof(*c->reader));
	if (!c->reader)
		return -ENOMEM;
	memset(c->reader, 0, conf.readers * sizeof(*c->reader));
	for (unsigned int i = 0; !err && conf.write_share && i < conf.readers; i++) {
		c->reader[i].seen = calloc(c->pages, sizeof(*c->reader[i].seen));
		if (!c->reader[i].seen)
			err = -ENOMEM;
	}
	return err;
}

static int demotion_check(void)
{
	FILE *f = fopen(DEMOTION_FILE, "re");
	char state[16] = "";
	bool got;

	if (!f) {
		wl_err("%s: %s; use a kernel 5.18 or later with CONFIG_NUMA, with sysfs on /sys",
		       DEMOTION_FILE, strerror(errno));
		return WL_EXIT_UNSUPPORTED;
	}
	got = fgets(state, sizeof(state), f) && !strncmp(state, "true", 4);
	fclose(f);
	if (got)
		return 0;
	wl_err("demotion: switched off; echo 1 > %s", DEMOTION_FILE);
	return WL_EXIT_UNSUPPORTED;
}

static int cgroup_error(const struct wl_cgroup *cg, int err)
{
	const char *root = conf.cgroup_root;

	if (err == -ENOTSUP)
		wl_err("%s: not a cgroup v2; mount -t cgroup2 none %s, or give --cgroup-root", root,
		       root);
	else if (err == -ENOSYS)
		wl_err("%s: no memory controller with memory.reclaim there; use a kernel 5.19 or "
		       "later with CONFIG_MEMCG, and a group that has it in cgroup.controllers",
		       root);
	else if (err == -EBUSY)
		wl_err("%s: %s: it has processes of its own; give --cgroup-root a group without",
		       root, cg->failed);
	else
		wl_err("%s: %s: %s; run it as root", root, cg->failed, strerror(-err));
	return WL_EXIT_UNSUPPORTED;
}

static int setup_and_run(struct cycle *c)
{
	int err, ret = demotion_check();

	if (ret)
		return ret;
	err = wl_cgroup__create(&c->cg, conf.cgroup_root);
	if (!err)
		err = wl_cgroup__join(&c->cg);
	if (err)
		return cgroup_error(&c->cg, err);
	err = memory_prepare(c);
	if (err) {
		wl_backing__error(&conf.backing, conf.bytes, err, "lower -s");
		return WL_EXIT_USAGE;
	}
	return run(c);
}

static int cleanup(struct cycle *c)
{
	int err;

	for (unsigned int i = 0; c->reader && i < conf.readers; i++)
		free(c->reader[i].seen);
	free(c->reader);
	wl_backing__close(&c->mem);
	err = wl_cgroup__remove(&c->cg);
	if (!err)
		return 0;
	wl_err("%s: cannot remove the group: %s; move its processes out and rmdir it", c->cg.path,
	       strerror(-err));
	return WL_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, NULL, doc, NULL, NULL, NULL };
	struct cycle c = { .mem.fd = -1 };
	int ret, bad;

	argp_err_exit_status = WL_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (!conf.readers)
		conf.readers = wl_team__beside_driver(WL_TEAM_MAX);
	if (!conf.reclaim)
		conf.reclaim = conf.bytes / 16 * 15;
	if (conf.write_share && conf.backing.kind == WL_BACKING_ANON) {
		wl_err("--write-share: anon memory is not written by pwrite; use --backing file");
		return WL_EXIT_USAGE;
	}
	ret = wl_node__choose(&conf.fast, &conf.slow);
	if (ret)
		return ret;
	signals_install();
	ret = setup_and_run(&c);
	bad = cleanup(&c);
	if (ret == -EINTR) {
		signal(caught, SIG_DFL);
		raise(caught);
	}
	return ret ? ret : bad;
}
