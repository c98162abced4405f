// SPDX-License-Identifier: GPL-2.0-or-later
/* pm: single page accesses in a pattern, each one timed; the access pattern of pmbench. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "workloads/lib/backing.h"
#include "workloads/lib/err.h"
#include "workloads/lib/hist.h"
#include "workloads/lib/opt.h"
#include "workloads/lib/pattern.h"
#include "workloads/lib/proto.h"
#include "workloads/lib/team.h"

#define SIZE_MAX_BYTES	(1ULL << 46)
#define WORD		sizeof(uint64_t)
/* Enough pairs of clock readings that the least one is the clock's own cost. */
#define CLOCK_TRIES	10000

const char *argp_program_version = "pm (migrc) " MIGRC_VERSION;

static struct {
	uint64_t map, set;
	enum wl_pattern_kind pattern;
	double shape, seconds;
	unsigned int reads, threads;
	int fill, thp;
} conf = {
	.map = 64 << 20,
	.pattern = WL_PATTERN_UNIFORM,
	.shape = 0.125,
	.seconds = 10,
	.reads = 50,
	.threads = 1,
};

struct thread {
	struct wl_hist read, write;
	uint64_t start_ns, end_ns;
	uint64_t sink;
} __attribute__((aligned(64)));

struct pm {
	unsigned char *base;
	size_t page;
	uint64_t pages;
	struct thread *thread;
};

enum { OPT_THP = 256 };

static const struct argp_option options[] = {
	{ "map", 'm', "SIZE", 0, "Mapped memory, MiB or with K, M, G (default: 64)", 0 },
	{ "set", 's', "SIZE", 0, "Working set in it (default: all that is mapped)", 0 },
	{ "pattern", 'p', "uniform|normal", 0, "How pages are drawn (default: uniform)", 0 },
	{ "shape", 'e', "X", 0,
	  "Normal: standard deviation as a part of the set, 0.001 to 1 (default: 0.125)", 0 },
	{ "reads", 'r', "PERCENT", 0,
	  "Share of reads (default: 50); 100 maps the memory for reading only", 0 },
	{ "jobs", 'j', "N", 0, "Threads on the same memory (default: 1)", 0 },
	{ "init", 'i', NULL, 0, "Write every page of the map first", 0 },
	{ "duration", 'd', "SECONDS", 0, "How long (default: 10)", 0 },
	{ "thp", OPT_THP, NULL, 0, "Allow transparent huge pages (default: forbidden)", 0 },
	{ 0 }
};

static const char doc[] =
	"Access one word of a random page again and again and time every access, as pmbench does."
	"\vWith -r 100 and without -i nothing is ever written: every page is the kernel's zero "
	"page.\n\n"
	"Latencies include one reading of the clock; its least cost is printed.\n\n"
	"EXAMPLES:\n"
	"  pm -m 512 -s 256 -j 4 -i -d 30              uniform, half reads\n"
	"  pm -m 512 -p normal -e 0.1 -r 80 -i         a hot middle, mostly reads\n"
	"  pm -m 256 -r 100 -i -j 4                    read-only mapping";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'm':
		conf.map = wl_opt__size("--map", arg, 4096, SIZE_MAX_BYTES);
		break;
	case 's':
		conf.set = wl_opt__size("--set", arg, 4096, SIZE_MAX_BYTES);
		break;
	case 'p':
		conf.pattern = (enum wl_pattern_kind)wl_opt__name("--pattern", arg,
								  wl_pattern_names);
		break;
	case 'e':
		conf.shape = wl_opt__double("--shape", arg, 0.001, 1.0);
		break;
	case 'r':
		conf.reads = (unsigned int)wl_opt__u64("--reads", arg, 0, 100);
		break;
	case 'j':
		conf.threads = (unsigned int)wl_opt__u64("--jobs", arg, 1, WL_TEAM_MAX);
		break;
	case 'i':
		conf.fill = 1;
		break;
	case 'd':
		conf.seconds = wl_opt__double("--duration", arg, 0.001, 1e9);
		break;
	case OPT_THP:
		conf.thp = 1;
		break;
	case ARGP_KEY_ARG:
		wl_opt__stray(arg);
	default:
		(void)state;
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void access_one(struct pm *pm, struct thread *t, struct wl_rng *r, uint64_t *now)
{
	uint64_t page = wl_pattern__page(r, conf.pattern, conf.shape, pm->pages);
	uint64_t word = wl_rng__below(r, pm->page / WORD);
	int is_read = wl_rng__below(r, 100) < conf.reads;
	volatile uint64_t *at = (volatile uint64_t *)(pm->base + page * pm->page) + word;
	uint64_t begin = wl_now_ns();

	if (is_read)
		t->sink += *at;
	else
		*at = begin;
	*now = wl_now_ns();
	wl_hist__add(is_read ? &t->read : &t->write, *now - begin);
}

static void run_thread(void *arg, unsigned int index)
{
	struct pm *pm = arg;
	struct thread *t = &pm->thread[index];
	uint64_t now = wl_now_ns(), end = now + (uint64_t)(conf.seconds * 1e9);
	struct wl_rng r;

	wl_rng__seed(&r, index + 1);
	t->start_ns = now;
	while (now < end)
		access_one(pm, t, &r, &now);
	t->end_ns = now;
}

static uint64_t clock_cost_ns(void)
{
	uint64_t best = UINT64_MAX;

	for (unsigned int i = 0; i < CLOCK_TRIES; i++) {
		uint64_t begin = wl_now_ns(), cost = wl_now_ns() - begin;

		if (cost < best)
			best = cost;
	}
	return best;
}

/* 0, or the exit code. */
static int prepare(struct pm *pm, struct wl_backing *mem)
{
	struct wl_backing_opts opts = { .kind = WL_BACKING_ANON, .protect = conf.reads == 100,
					.thp = conf.thp };
	int err;

	pm->page = (size_t)sysconf(_SC_PAGESIZE);
	pm->pages = conf.set / pm->page;
	err = wl_backing__open(mem, &opts, conf.map);
	if (err)
		goto fail;
	pm->base = mem->base;
	/* Not zeros: the fill is to leave pages that are not the same. */
	for (uint64_t off = 0; conf.fill && off < conf.map; off += pm->page)
		*(volatile uint64_t *)(pm->base + off) = off + 1;
	err = wl_backing__seal(mem);
	if (!err) {
		pm->thread = aligned_alloc(64, conf.threads * sizeof(*pm->thread));
		err = pm->thread ? 0 : -ENOMEM;
	}
	if (!err) {
		memset(pm->thread, 0, conf.threads * sizeof(*pm->thread));
		return 0;
	}
fail:
	wl_backing__error(&opts, conf.map, err, "lower -m");
	return WL_EXIT_USAGE;
}

static void print_kind(const char *name, const struct wl_hist *h)
{
	char metric[32], buf[32];

	if (!h->total)
		return;
	printf("%-7s %15s accesses, mean %.1f ns, p50 %" PRIu64 ", p99 %" PRIu64 ", p99.9 %" PRIu64
	       ", max %" PRIu64 " ns\n", name, wl_proto__commas(h->total, buf), wl_hist__mean(h),
	       wl_hist__quantile(h, 0.5), wl_hist__quantile(h, 0.99), wl_hist__quantile(h, 0.999),
	       h->max);
	snprintf(metric, sizeof(metric), "%s_mean", name);
	wl_proto__metric(stdout, metric, wl_hist__mean(h), "ns", WL_LOWER, WL_TIME);
	snprintf(metric, sizeof(metric), "%s_ns", name);
	wl_proto__hist(stdout, metric, "ns", h);
}

static void print_result(const struct pm *pm, uint64_t clock_ns)
{
	static struct wl_hist read, write;
	uint64_t first = UINT64_MAX, last = 0;
	double seconds, rate;
	char buf[32];

	for (unsigned int i = 0; i < conf.threads; i++) {
		const struct thread *t = &pm->thread[i];

		wl_hist__merge(&read, &t->read);
		wl_hist__merge(&write, &t->write);
		first = t->start_ns < first ? t->start_ns : first;
		last = t->end_ns > last ? t->end_ns : last;
	}
	seconds = (double)(last - first) / 1e9;
	rate = (double)(read.total + write.total) / seconds;
	printf("Pattern: %s, %u %% reads, %u threads, %" PRIu64 " of %" PRIu64 " MiB%s\n",
	       wl_pattern_names[conf.pattern], conf.reads, conf.threads, conf.set >> 20,
	       conf.map >> 20, conf.fill ? ", filled first" : "");
	printf("Runtime: %.3f seconds, %s accesses/s, clock costs %" PRIu64 " ns\n", seconds,
	       wl_proto__commas((uint64_t)rate, buf), clock_ns);
	wl_proto__metric(stdout, "runtime", seconds, "s", WL_NEITHER, WL_TIME);
	wl_proto__metric(stdout, "accesses_per_s", rate, "1/s", WL_HIGHER, WL_TIME);
	wl_proto__metric(stdout, "clock", (double)clock_ns, "ns", WL_NEITHER, WL_TIME);
	print_kind("read", &read);
	print_kind("write", &write);
}

int main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, NULL, doc, NULL, NULL, NULL };
	struct wl_backing mem = { .fd = -1 };
	struct pm pm = { 0 };
	struct wl_team team;
	int ret, err;

	argp_err_exit_status = WL_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (!conf.set)
		conf.set = conf.map;
	if (conf.set > conf.map) {
		wl_err("--set: larger than the map; raise -m or lower -s");
		return WL_EXIT_USAGE;
	}
	ret = prepare(&pm, &mem);
	if (ret)
		goto cleanup;
	err = wl_team__start(&team, conf.threads, false, run_thread, &pm);
	if (err) {
		wl_err("threads: cannot start %u: %s; lower -j", conf.threads, strerror(-err));
		ret = WL_EXIT_USAGE;
		goto cleanup;
	}
	wl_team__go(&team);
	wl_team__join(&team);
	print_result(&pm, clock_cost_ns());
cleanup:
	free(pm.thread);
	wl_backing__close(&mem);
	return ret;
}
