// SPDX-License-Identifier: GPL-2.0-or-later
/* xs: cross-section lookups in a unionized grid, history mode; see lib/xs_core.h. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/lib/backing.h"
#include "workloads/lib/err.h"
#include "workloads/lib/opt.h"
#include "workloads/lib/proto.h"
#include "workloads/lib/team.h"
#include "workloads/lib/xs_core.h"

const char *argp_program_version = "xs (migrc) " MIGRC_VERSION;

static struct xs_conf conf = {
	.size = XS_LARGE,
	.gridpoints = 11303,
	.particles = 500000,
	.lookups = 34,
	.backing = { .kind = WL_BACKING_ANON, .dir = "/tmp" },
};

enum { OPT_SECONDS = 255, OPT_BACKING, OPT_PROTECT, OPT_DIR, OPT_THP };

static const struct argp_option options[] = {
	{ "threads", 't', "N", 0, "Threads (default: one per CPU)", 0 },
	{ "size", 's', "small|large", 0, "68 or 355 nuclides (default: large)", 0 },
	{ "gridpoints", 'g', "N", 0, "Grid points per nuclide (default: 11303)", 0 },
	{ "particles", 'p', "N", 0, "Particle histories (default: 500000)", 0 },
	{ "lookups", 'l', "N", 0, "Lookups per particle (default: 34)", 0 },
	{ "seconds", OPT_SECONDS, "S", 0,
	  "Begin passes over all particles for so long; each must give the same checksum", 0 },
	{ "backing", OPT_BACKING, "anon|file|memfd", 0,
	  "What the grids lie in (default: anon)", 0 },
	{ "protect", OPT_PROTECT, NULL, 0,
	  "Grids are read-only after writing: anon by mprotect(2); file and memfd are filled by "
	  "write(2) and mapped for reading only", 0 },
	{ "dir", OPT_DIR, "DIR", 0, "Folder of the file (default: /tmp)", 0 },
	{ "thp", OPT_THP, NULL, 0, "Allow transparent huge pages (default: forbidden)", 0 },
	{ 0 }
};

static const char doc[] =
	"Look up macroscopic cross sections in a unionized energy grid, as XSBench does in history "
	"mode."
	"\vMemory: nuclides * gridpoints * (56 + 4 * nuclides) bytes, written once by one thread, "
	"then only read. The checksum depends on -s, -g, -p and -l alone.\n\n"
	"EXAMPLES:\n"
	"  xs -s small -p 100000                       240 MiB, all CPUs\n"
	"  xs -t 4 -s large -g 800 -p 20000            400 MiB in four threads\n"
	"  xs -s small -p 1000 --seconds 60            as many passes as go into a minute\n"
	"  xs -s large -g 500 --backing file --protect --dir /dev/shm\n"
	"                                read-only and clean: flushes can be deferred";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 't':
		conf.threads = (unsigned int)wl_opt__u64("--threads", arg, 1, WL_TEAM_MAX);
		break;
	case 's':
		conf.size = (enum xs_size)wl_opt__name("--size", arg, xs_size_names);
		break;
	case 'g':
		conf.gridpoints = wl_opt__u64("--gridpoints", arg, 2, XS_GRID_MAX);
		break;
	case 'p':
		conf.particles = wl_opt__u64("--particles", arg, 1, UINT64_MAX / 2);
		break;
	case 'l':
		conf.lookups = wl_opt__u64("--lookups", arg, 1, UINT64_MAX / 2);
		break;
	case OPT_SECONDS:
		conf.seconds = wl_opt__double("--seconds", arg, 0.001, 1e9);
		break;
	case OPT_BACKING:
		conf.backing.kind = (enum wl_backing_kind)wl_opt__name("--backing", arg,
								      wl_backing_names);
		break;
	case OPT_PROTECT:
		conf.backing.protect = true;
		break;
	case OPT_DIR:
		conf.backing.dir = arg;
		break;
	case OPT_THP:
		conf.backing.thp = true;
		break;
	case ARGP_KEY_ARG:
		wl_opt__stray(arg);
	default:
		(void)state;
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void print_setup(const struct xs *x, double init_s)
{
	char buf[32];

	printf("Size:                         %s, %u nuclides\n",
	       xs_size_names[conf.size], x->nuclides);
	printf("Gridpoints (per Nuclide):     %s\n", wl_proto__commas(conf.gridpoints, buf));
	printf("Unionized Energy Gridpoints:  %s\n", wl_proto__commas(x->points, buf));
	printf("Particle Histories:           %s\n", wl_proto__commas(conf.particles, buf));
	printf("XS Lookups per Particle:      %s\n", wl_proto__commas(conf.lookups, buf));
	printf("Backing:                      %s%s\n", wl_backing_names[conf.backing.kind],
	       conf.backing.protect ? ", read-only" : "");
	printf("Memory:                       %s MiB, filled in %.3f s\n",
	       wl_proto__commas(x->mem.bytes >> 20, buf), init_s);
	fflush(stdout);
}

/* 0, or the exit code after an error was printed. */
static int run(const struct xs *x, struct xs_result *res)
{
	int err = xs__run(x, res);

	if (!err)
		return 0;
	if (err == -EBADMSG) {
		wl_err("content: %" PRIu64 " passes did not give the same checksum; "
		       "do not trust this kernel with data", res->passes);
		return WL_EXIT_FAILED;
	}
	wl_err("threads: cannot start %u: %s; lower -t", conf.threads, strerror(-err));
	return WL_EXIT_USAGE;
}

static void print_result(const struct xs_result *res, double init_s, uint64_t bytes)
{
	double rate = (double)res->lookups / res->seconds;
	char buf[32];

	printf("\nSimulation complete.\n");
	printf("Threads:     %u\n", conf.threads);
	printf("Runtime:     %.3f seconds\n", res->seconds);
	printf("Lookups:     %s\n", wl_proto__commas(res->lookups, buf));
	printf("Lookups/s:   %s\n", wl_proto__commas((uint64_t)rate, buf));
	printf("Verification checksum: %" PRIu64 "\n", res->checksum);
	wl_proto__metric(stdout, "runtime", res->seconds, "s", WL_LOWER, WL_TIME);
	wl_proto__metric(stdout, "lookups_per_s", rate, "1/s", WL_HIGHER, WL_TIME);
	wl_proto__metric(stdout, "lookups", (double)res->lookups, "lookups", WL_NEITHER, WL_COUNT);
	wl_proto__metric(stdout, "init", init_s, "s", WL_LOWER, WL_TIME);
	wl_proto__metric(stdout, "memory", (double)bytes, "bytes", WL_NEITHER, WL_COUNT);
	snprintf(buf, sizeof(buf), "%" PRIu64, res->checksum);
	wl_proto__text(stdout, "checksum", buf);
}

int main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, NULL, doc, NULL, NULL, NULL };
	struct xs_result res;
	uint64_t bytes, all;
	double init_s;
	struct xs x;
	int err, ret;

	argp_err_exit_status = WL_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (!conf.threads)
		conf.threads = wl_team__cpus() < WL_TEAM_MAX ? wl_team__cpus() : WL_TEAM_MAX;
	if (xs__bytes(&conf, &bytes) || xs__lookups(&conf, &all)) {
		wl_err("options: more than this machine can address or count; lower -g, -p or -l");
		return WL_EXIT_USAGE;
	}
	init_s = wl_now();
	err = xs__build(&x, &conf);
	init_s = wl_now() - init_s;
	if (err) {
		wl_backing__error(&conf.backing, bytes, err, "lower -g or use -s small");
		return WL_EXIT_USAGE;
	}
	print_setup(&x, init_s);
	ret = run(&x, &res);
	if (!ret)
		print_result(&res, init_s, bytes);
	xs__free(&x);
	return ret;
}
