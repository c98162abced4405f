// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "collector/cmdline.h"
#include "collector/err.h"
#include "collector/record.h"
#include "collector/text.h"

enum {
	OPT_ARM = 256, OPT_BLOCK, OPT_POSITION, OPT_WORKLOAD, OPT_LABEL, OPT_FACT, OPT_EVENTS,
	OPT_INTERVAL, OPT_TIMEOUT, OPT_MISSING, OPT_EMULATED, OPT_RING, OPT_MAX_LOST, OPT_ADAPTER,
	OPT_METRIC, OPT_PERF, OPT_PERF_EVENT, OPT_PROBES, OPT_RUNG, OPT_BY, OPT_EVENT_FORMAT, OPT_CALIBRATE,
	OPT_STATS, OPT_PER_PAGE,
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Database to add the run to (runs.db)", 0 },
	{ "arm", OPT_ARM, "NAME", 0, "Arm of the comparison (default)", 0 },
	{ "block", OPT_BLOCK, "N", 0, "Block of the plan", 0 },
	{ "position", OPT_POSITION, "N", 0, "Place in the plan's order of boots", 0 },
	{ "workload", OPT_WORKLOAD, "NAME", 0, "Runs are compared within one (the command's name)", 0 },
	{ "label", OPT_LABEL, "KEY=VALUE", 0, "Store a label with the run; may be repeated", 0 },
	{ "fact", OPT_FACT, "CLASS:KEY=VALUE", 0,
	  "Store a machine fact of class match, drift or arm, instead of what was found; may be repeated", 0 },
	{ "adapter", OPT_ADAPTER, "auto|xsbench|pmbench|none", 0,
	  "Whose output the command's is; auto: what it looks like", 0 },
	{ "metric-regex", OPT_METRIC, "NAME=REGEX[:UNIT:BETTER]", 0,
	  "Store as a metric what the last matching line of the command's output has in the first "
	  "group of the extended REGEX; BETTER is higher, lower or none. A NAME that migrc measures too, "
	  "as wall_time, takes its place. May be repeated", 0 },
	{ "perf", OPT_PERF, "task|system", OPTION_ARG_OPTIONAL,
	  "Count TLB and software events with perf stat: of the command (task), or of all CPUs", 0 },
	{ "perf-event", OPT_PERF_EVENT, "NAME[=EVENT]", 0,
	  "Count EVENT (a raw one: r01ae) as NAME, instead of perf's event of that name or besides; "
	  "may be repeated", 0 },
	{ "events", OPT_EVENTS, "agg|all|sample:N", 0,
	  "Aggregate in the kernel (agg), or store raw events too: all, or one of N of each probe and CPU", 0 },
	{ "event-format", OPT_EVENT_FORMAT, "packed|rows", 0,
	  "How raw events are stored (packed): in chunks that `migrc sql` and migrc_events.so read, or in "
	  "plain rows, ten times as large", 0 },
	{ "by", OPT_BY, "comm|tgid", 0, "Split the probes' histograms by command name or process too", 0 },
	{ "probes", OPT_PROBES, "all|none|empty", 0,
	  "What to attach (all); none: only counters are read; empty: programs that do nothing", 0 },
	{ "per-page", OPT_PER_PAGE, NULL, 0,
	  "Time the unmapping of each page too (try_to_migrate): the one probe that runs for each page and "
	  "not for each batch or flush", 0 },
	{ "rung", OPT_RUNG, "RUNG", 0,
	  "Best rung to try: fentry, kprobe-multi, kprobe or tracepoint (fentry)", 0 },
	{ "bpf-stats", OPT_STATS, "on|off", 0,
	  "The kernel's statistics of BPF run times, which tell what the probes' programs took (on); off: "
	  "not known, and recording costs less", 0 },
	{ "calibrate", OPT_CALIBRATE, "PAIRS", OPTION_ARG_OPTIONAL,
	  "First find out what recording costs the command, by so many pairs of runs as recorded and bare "
	  "(5); then record one run and store the cost with it", 0 },
	{ "interval", OPT_INTERVAL, "MS", 0, "Time between samples (100), 0: none", 0 },
	{ "timeout", OPT_TIMEOUT, "S", 0, "End the command after so many seconds", 0 },
	{ "missing-probes", OPT_MISSING, "error|warn", 0, "What a missing core probe means (error)", 0 },
	{ "emulated", OPT_EMULATED, NULL, 0, "Times here are not to be judged (as accelerator=tcg)", 0 },
	{ "ring-kb", OPT_RING, "KB", 0, "Size of the ring of raw events, a power of two (8192)", 0 },
	{ "max-lost", OPT_MAX_LOST, "PERCENT", 0, "Lost events that a run may have (0.1)", 0 },
	{ 0 },
};

static const char doc[] =
	"Run a command with the probes attached and store one run. Processes of its group that it "
	"leaves behind are killed when it has ended.\v"
	"Examples:\n"
	"  migrc record --arm stock -- xs -g 800 -p 20000\n"
	"  migrc record --arm migrc --block 1 --timeout 120 -- XSBench -s large -g 800\n"
	"  migrc record --timeout 120 -- stdbuf -oL pmbench -m 512 -s 512 60\n"
	"  migrc record --metric-regex 'rate=([0-9.,]+) req/s:1/s:higher' -- ./server-test\n\n"
	"XSBench's exit status 1 for a checksum that it does not know is no failure. pmbench may hang "
	"after its result: --timeout ends it, and stdbuf -oL has it print the result before.\n\n"
	"Exit status: 0 stored and good; 1 stored, but the command failed, timed out or was "
	"interrupted; 2 an error of usage or of the tool; 4 stored, but invalid; "
	"5 not permitted or not supported here.";

/* One of two words; *second tells which. */
static int choice__parse(const char *option, const char *arg, const char *first,
			 const char *other, bool *second)
{
	*second = !strcmp(arg, other);
	if (*second || !strcmp(arg, first))
		return 0;
	err__print("--%s: '%s' is neither %s nor %s", option, arg, first, other);
	return EINVAL;
}

static int events__parse(const char *arg, uint32_t *every)
{
	long long n;

	if (!strcmp(arg, "agg") || !strcmp(arg, "all")) {
		*every = arg[1] == 'l';
		return 0;
	}
	if (!strncmp(arg, "sample:", 7) && !text__to_ll(arg + 7, &n) && n >= 1 && n <= INT_MAX) {
		*every = (uint32_t)n;
		return 0;
	}
	err__print("--events: '%s' is neither agg nor all nor sample:N with N from 1", arg);
	return EINVAL;
}

/* The number of a word among several. */
static int word__parse(const char *option, const char *arg, const char *const *words, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		if (!strcmp(arg, words[i]))
			return i;
	err__print("--%s: '%s' is none of its words; see `migrc record --help`", option, arg);
	return -EINVAL;
}

/* Options that say what to attach. */
static int parse_probes(int key, const char *arg, struct probes_options *o)
{
	static const char *const modes[] = { "all", "none", "empty" };
	static const char *const bys[] = { "comm", "tgid" };
	static const char *const rungs[] = { "fentry", "kprobe-multi", "kprobe", "tracepoint" };
	int n;

	switch (key) {
	case OPT_EVENTS:
		return events__parse(arg, &o->event_every);
	case OPT_PROBES:
		n = word__parse("probes", arg, modes, 3);
		o->mode = n < 0 ? PROBES_ALL : (enum probes_mode)n;
		return n < 0 ? EINVAL : 0;
	case OPT_BY:
		n = word__parse("by", arg, bys, 2);
		o->by = n < 0 ? BY_NONE : (enum by)(BY_COMM + n);
		return n < 0 ? EINVAL : 0;
	default:
		n = word__parse("rung", arg, rungs, 4);
		o->best = n < 0 ? RUNG_FENTRY : (enum rung)rung__parse(arg);
		return n < 0 ? EINVAL : 0;
	}
}

static int share__parse(const char *arg, double *share)
{
	char *end;

	*share = strtod(arg, &end) / 100;
	if (end != arg && !*end && *share >= 0 && *share <= 1)
		return 0;
	err__print("--max-lost: '%s' is not a percentage from 0 to 100", arg);
	return EINVAL;
}

static int adapter__set(struct record_options *o, const char *arg)
{
	if (adapter_kind__find(arg, &o->adapter))
		return 0;
	err__print("--adapter: '%s' is none of auto, xsbench, pmbench, none", arg);
	return EINVAL;
}

static int rule__add(struct record_options *o, const char *arg)
{
	char why[128] = "out of memory";

	if (!metric_rules__add(&o->rules, arg, why, sizeof(why)))
		return 0;
	err__print("--metric-regex: '%s': %s; see `migrc record --help`", arg, why);
	return EINVAL;
}

static int perf__set_scope(struct record_options *o, const char *arg)
{
	bool system = false;
	int err = arg ? choice__parse("perf", arg, "task", "system", &system) : 0;

	o->perf.scope = system ? PERF_SYSTEM : PERF_TASK;
	return err;
}

static int perf__add_event(struct record_options *o, const char *arg)
{
	int err = perf_list__set(&o->perf, arg);

	if (o->perf.scope == PERF_OFF)
		o->perf.scope = PERF_TASK;
	if (err == -EINVAL)
		err__print("--perf-event: '%s' is not NAME[=EVENT]; see `perf list`", arg);
	return -err;
}

/* Options whose argument is a number. */
static int parse_number(int key, char *arg, struct record_options *o)
{
	long long n;
	int err;

	switch (key) {
	case OPT_BLOCK:
		o->has_block = true;
		return run_args__number("block", arg, 0, INT_MAX, &o->block);
	case OPT_POSITION:
		o->has_position = true;
		return run_args__number("position", arg, 0, INT_MAX, &o->position);
	case OPT_INTERVAL:
		err = run_args__number("interval", arg, 0, 3600000, &n);
		o->interval_ms = (unsigned int)n;
		return err;
	case OPT_TIMEOUT:
		err = run_args__number("timeout", arg, 0, INT_MAX / 1000, &n);
		o->timeout_s = (unsigned int)n;
		return err;
	case OPT_CALIBRATE:
		n = 5;
		err = arg ? run_args__number("calibrate", arg, 2, 1000, &n) : 0;
		o->calibrate = (unsigned int)n;
		return err;
	case OPT_RING:
		err = run_args__number("ring-kb", arg, 4, 1 << 20, &n);
		if (!err && n & (n - 1)) {
			err__print("--ring-kb: %lld is not a power of two; try 8192", n);
			return EINVAL;
		}
		o->probes.ring_bytes = (uint32_t)n * 1024;
		return err;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct record_options *o = state->input;
	bool second;
	int err;

	switch (key) {
	case 'o':
		o->db = arg;
		return 0;
	case OPT_ARM:
		o->arm = arg;
		return 0;
	case OPT_WORKLOAD:
		o->workload = arg;
		return 0;
	case OPT_LABEL:
		return labels__add(&o->labels, &o->nr_labels, arg);
	case OPT_FACT:
		return run_args__fact(&o->facts, arg);
	case OPT_EVENTS:
	case OPT_PROBES:
	case OPT_BY:
	case OPT_RUNG:
		return parse_probes(key, arg, &o->probes);
	case OPT_EVENT_FORMAT:
		err = choice__parse("event-format", arg, "packed", "rows", &second);
		o->event_format = second ? EVENTS_ROWS : EVENTS_PACKED;
		return err;
	case OPT_STATS:
		err = choice__parse("bpf-stats", arg, "on", "off", &second);
		o->probes.no_stats = second;
		return err;
	case OPT_PER_PAGE:
		o->probes.per_page = true;
		return 0;
	case OPT_MISSING:
		err = choice__parse("missing-probes", arg, "error", "warn", &second);
		o->missing_is_error = !second;
		return err;
	case OPT_ADAPTER:
		return adapter__set(o, arg);
	case OPT_METRIC:
		return rule__add(o, arg);
	case OPT_PERF:
		return perf__set_scope(o, arg);
	case OPT_PERF_EVENT:
		return perf__add_event(o, arg);
	case OPT_EMULATED:
		o->emulated = true;
		return 0;
	case OPT_MAX_LOST:
		return share__parse(arg, &o->max_lost_share);
	case ARGP_KEY_ARGS:
		o->argc = state->argc - state->next;
		o->argv = state->argv + state->next;
		state->next = state->argc;
		return 0;
	default:
		return parse_number(key, arg, o);
	}
}

int record_options__parse(struct record_options *o, int argc, char **argv)
{
	static const struct argp argp = { options, parse_option, "-- COMMAND [ARG...]", doc,
					  NULL, NULL, NULL };
	const char *accelerator, *slash;

	*o = (struct record_options){
		.db = "runs.db", .arm = "default", .interval_ms = 100, .missing_is_error = true,
		.probes.ring_bytes = 8 << 20, .max_lost_share = 0.001,
	};
	if (cmdline__parse(&argp, argc, argv, ARGP_IN_ORDER, o))
		return EXIT_TOOL;
	if (!o->argc) {
		err__print("record: no command; give one after --, e.g. `migrc record -- sleep 1`");
		return EXIT_TOOL;
	}
	if (!*o->arm || (o->workload && !*o->workload)) {
		err__print("record: an empty name; give --arm and --workload a name or leave them out");
		return EXIT_TOOL;
	}
	if (o->perf.scope != PERF_OFF && perf_list__default(&o->perf)) {
		err__print("record: out of memory; free some");
		return EXIT_TOOL;
	}
	if (!o->workload) {
		slash = strrchr(o->argv[0], '/');
		o->workload = slash ? slash + 1 : o->argv[0];
	}
	accelerator = facts__get(&o->facts, "accelerator");
	if (accelerator && !strcmp(accelerator, "tcg"))
		o->emulated = true;
	return EXIT_GOOD;
}

void record_options__free(struct record_options *o)
{
	labels__free(o->labels, o->nr_labels);
	facts__free(&o->facts);
	metric_rules__free(&o->rules);
	perf_list__free(&o->perf);
}
