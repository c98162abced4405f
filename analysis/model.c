// SPDX-License-Identifier: GPL-2.0-or-later
/* From runs to a comparison: arms, order, pairing, what must match. The numbers: effect.c. */
#include "analysis/model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/effect.h"
#include "analysis/metrics.h"
#include "analysis/sbuf.h"

#define PAIRED_MIN_BLOCKS	3

const struct an_policy an_default_policy = {
	.conf = 0.95, .level = 0.05, .bh_level = 0.10, .min_effect = 0.02, .margin = 0.05,
	.power = 0.80,
};

/* Arms of the design in the order in which they are told; others follow as they come. */
static const char *const known_arms[] = { "unbatched", "stock", "migrc-off", "migrc" };

#define NR_KNOWN_ARMS	(sizeof(known_arms) / sizeof(known_arms[0]))

static void warn(struct an_compare *c, char *text)
{
	c->warnings = mem__grow(c->warnings, c->nr_warnings);
	c->warnings[c->nr_warnings++] = text;
}

/* --- arms and runs ---------------------------------------------------------------------------- */

static size_t arm_index(const struct an_compare *c, const char *name)
{
	for (size_t i = 0; i < c->nr_arms; i++)
		if (!strcmp(c->arms[i].name, name))
			return i;
	return SIZE_MAX;
}

static void add_arm(struct an_compare *c, const char *name)
{
	if (arm_index(c, name) != SIZE_MAX)
		return;
	c->arms = mem__grow(c->arms, c->nr_arms);
	c->arms[c->nr_arms++] = (struct an_arm){ .name = name };
}

static bool selected(const struct an_options *opt, const char *arm)
{
	if (!opt->nr_arms || (opt->baseline && !strcmp(opt->baseline, arm)))
		return true;
	for (size_t i = 0; i < opt->nr_arms; i++)
		if (!strcmp(opt->arms[i], arm))
			return true;
	return false;
}

static const char *stored_arm(const struct an_compare *c, const char *name)
{
	for (size_t i = 0; i < c->nr_runs; i++)
		if (!strcmp(c->runs[i].rd->arm, name))
			return c->runs[i].rd->arm;
	return NULL;
}

/*
 * The baseline first: the one asked for, else stock where this workload has it, else the arm of the
 * first run. Stock is the baseline of a selection that does not name it too.
 */
static void find_arms(struct an_compare *c, const struct an_options *opt)
{
	const char *base = stored_arm(c, opt->baseline ? opt->baseline : "stock");

	for (size_t i = 0; i < c->nr_runs && !base; i++)
		if (selected(opt, c->runs[i].rd->arm))
			base = c->runs[i].rd->arm;
	if (!base)
		return;
	add_arm(c, base);
	for (size_t k = 0; k < NR_KNOWN_ARMS; k++) {
		const char *known = stored_arm(c, known_arms[k]);

		if (known && selected(opt, known))
			add_arm(c, known);
	}
	for (size_t i = 0; i < c->nr_runs; i++)
		if (selected(opt, c->runs[i].rd->arm))
			add_arm(c, c->runs[i].rd->arm);
}

/* Whether the run's boot ran another arm too. */
static bool boot_shared(const struct an_compare *c, size_t run)
{
	for (size_t i = 0; i < c->nr_runs; i++)
		if (c->runs[i].arm != c->runs[run].arm && c->runs[i].arm != SIZE_MAX &&
		    !strcmp(c->runs[i].rd->boot_id, c->runs[run].rd->boot_id))
			return true;
	return false;
}

/* Units of replication of one arm; runs of one unit have the same number. */
static void number_units(struct an_compare *c, size_t arm)
{
	struct an_arm *a = &c->arms[arm];
	size_t units = 0, shared = 0;

	for (size_t i = 0; i < c->nr_runs; i++) {
		bool alone;

		if (c->runs[i].arm != arm || !c->runs[i].valid)
			continue;
		alone = boot_shared(c, i);
		shared += alone;
		c->runs[i].unit = units;
		for (size_t k = 0; k < i && !alone; k++) {
			if (c->runs[k].arm == arm && c->runs[k].valid &&
			    !strcmp(c->runs[k].rd->boot_id, c->runs[i].rd->boot_id)) {
				c->runs[i].unit = c->runs[k].unit;
				break;
			}
		}
		units += c->runs[i].unit == units;
	}
	a->nr_boots = units;
	if (shared)
		warn(c, sbuf__format("arm %s: %zu of its runs share a boot with another arm; what differs from boot to boot is not in the spread, so intervals are too narrow",
				     a->name, shared));
	if (units < a->nr_valid)
		warn(c, sbuf__format("arm %s: %zu runs in %zu boots; runs of one boot are averaged, n counts boots",
				     a->name, a->nr_valid, units));
}

static void sort_runs_in(struct an_compare *c)
{
	for (size_t i = 0; i < c->nr_runs; i++) {
		struct an_run *r = &c->runs[i];

		r->arm = arm_index(c, r->rd->arm);
		r->valid = run__valid(r->rd);
		if (r->arm == SIZE_MAX)
			continue;
		c->arms[r->arm].nr_runs++;
		c->arms[r->arm].nr_valid += r->valid;
		c->emulated |= r->valid && r->rd->emulated;
	}
}

/* --- order and pairing ------------------------------------------------------------------------ */

struct block_count {
	size_t base, arm;
	double base_place, arm_place;	/* sums of places in the order */
};

static struct block_count count_block(const struct an_compare *c, size_t arm, int64_t block)
{
	struct block_count n = { 0 };

	for (size_t i = 0; i < c->nr_runs; i++) {
		if (!c->runs[i].valid || c->runs[i].rd->block != block)
			continue;
		if (c->runs[i].arm == 0) {
			n.base++;
			n.base_place += i;
		} else if (c->runs[i].arm == arm) {
			n.arm++;
			n.arm_place += i;
		}
	}
	return n;
}

/* Whether the run is the first of its block, so that each block is visited once. */
static bool first_of_block(const struct an_compare *c, size_t run)
{
	for (size_t i = 0; i < run; i++)
		if (c->runs[i].rd->block == c->runs[run].rd->block)
			return false;
	return true;
}

bool compare__block_complete(const struct an_compare *c, size_t arm, int64_t block)
{
	struct block_count n = count_block(c, arm, block);

	return block != RD_NULL && n.base && n.base == n.arm;
}

/* How often the baseline ran first in a block minus how often the arm did. */
static int order_balance(const struct an_compare *c, size_t arm)
{
	int balance = 0;

	for (size_t i = 0; i < c->nr_runs; i++) {
		int64_t block = c->runs[i].rd->block;
		struct block_count n;

		if (!first_of_block(c, i) || !compare__block_complete(c, arm, block))
			continue;
		n = count_block(c, arm, block);
		balance += n.base_place < n.arm_place ? 1 : n.base_place > n.arm_place ? -1 : 0;
	}
	return balance;
}

/*
 * All valid runs of one arm before all of the other, with more than one each: drift is an effect.
 */
static bool not_interleaved(const struct an_compare *c, size_t arm)
{
	size_t changes = 0, seen[2] = { 0 }, last = SIZE_MAX;

	for (size_t i = 0; i < c->nr_runs; i++) {
		size_t a = c->runs[i].arm;

		if (!c->runs[i].valid || (a != 0 && a != arm))
			continue;
		changes += last != SIZE_MAX && a != last;
		last = a;
		seen[a != 0]++;
	}
	return seen[0] > 1 && seen[1] > 1 && changes < 2;
}

/* Whether any run of the two arms has a block, be it valid or not. */
static bool has_blocks(const struct an_compare *c, size_t arm)
{
	for (size_t i = 0; i < c->nr_runs; i++)
		if ((c->runs[i].arm == 0 || c->runs[i].arm == arm) &&
		    c->runs[i].rd->block != RD_NULL)
			return true;
	return false;
}

static void describe_design(struct an_compare *c, size_t arm, size_t without)
{
	struct an_arm *a = &c->arms[arm];
	int balance = order_balance(c, arm);

	if (a->paired)
		a->design = sbuf__format("paired by block: %zu complete of %zu%s",
					 a->blocks_complete,
					 a->blocks, a->blocks_complete < a->blocks || without ?
					 "; runs of the others are not in the comparison" : "");
	else if (!a->blocks)
		a->design = mem__strdup(has_blocks(c, arm) ? "unpaired: no run of a block is valid" :
					"unpaired: the runs have no blocks");
	else
		a->design = sbuf__format("unpaired: %zu of %zu blocks are complete, pairing needs %d and more than half",
					 a->blocks_complete, a->blocks, PAIRED_MIN_BLOCKS);
	/* One block more is what an odd number gives, two what a lost one leaves. */
	if (a->paired && (abs(balance) > 2 || (size_t)abs(balance) == a->blocks_complete))
		warn(c, sbuf__format("%s ran first in %d more blocks than %s: a drift within blocks would look like an effect; alternate the order (ABBA)",
				     c->arms[balance > 0 ? 0 : arm].name, abs(balance),
				     c->arms[balance > 0 ? arm : 0].name));
	if (not_interleaved(c, arm))
		warn(c, sbuf__format("%s and %s were run one after the other, not interleaved: a drift would look like an effect; run them in ABBA blocks",
				     c->arms[0].name, a->name));
}

static void find_pairing(struct an_compare *c, size_t arm)
{
	struct an_arm *a = &c->arms[arm];
	size_t without = 0;

	for (size_t i = 0; i < c->nr_runs; i++) {
		int64_t block = c->runs[i].rd->block;
		struct block_count n;

		if (block == RD_NULL) {
			without += c->runs[i].valid &&
				   (c->runs[i].arm == 0 || c->runs[i].arm == arm);
			continue;
		}
		if (!first_of_block(c, i))
			continue;
		n = count_block(c, arm, block);
		a->blocks += n.base || n.arm;
		a->blocks_complete += compare__block_complete(c, arm, block);
	}
	a->paired = a->blocks_complete >= PAIRED_MIN_BLOCKS && 2 * a->blocks_complete > a->blocks &&
		    without <= a->blocks_complete;
	describe_design(c, arm, without);
}

/* --- what must match -------------------------------------------------------------------------- */

static void mismatch(struct an_compare *c, char *what, char *detail, bool checksum)
{
	c->mismatches = mem__grow(c->mismatches, c->nr_mismatches);
	c->mismatches[c->nr_mismatches++] = (struct an_mismatch){ what, detail, checksum };
}

/* What a run says under a key; NULL is a value too ("absent"). */
typedef const char *(*run_value)(const struct rd_run *run, const char *key);

static const char *match_fact(const struct rd_run *run, const char *key)
{
	for (size_t i = 0; i < run->nr_facts; i++)
		if (!strcmp(run->facts[i].key, key))
			return strcmp(run->facts[i].class, "match") ? NULL : run->facts[i].value;
	return NULL;
}

static const char *result_value(const struct rd_run *run, const char *key)
{
	for (size_t i = 0; i < run->nr_results; i++)
		if (!strcmp(run->results[i].key, key))
			return run->results[i].value;
	return NULL;
}

static const char *command_value(const struct rd_run *run, const char *key)
{
	(void)key;
	return run->command;
}

static const char *emulated_value(const struct rd_run *run, const char *key)
{
	(void)key;
	return run->emulated ? "yes" : "no";
}

static const char *rung_value(const struct rd_run *run, const char *key)
{
	for (size_t i = 0; i < run->nr_probes; i++)
		if (!strcmp(run->probes[i].name, key))
			return run->probes[i].rung;
	return NULL;
}

static bool counts(const struct an_compare *c, size_t run)
{
	return c->runs[run].valid && c->runs[run].arm != SIZE_MAX;
}

static bool same(const char *x, const char *y)
{
	return x == y || (x && y && !strcmp(x, y));
}

/* Which values there are and who has each: "VALUE (stock #1, #4; migrc #2); ..." */
static char *spell_values(const struct an_compare *c, const char *key, run_value get)
{
	struct sbuf b = { 0 };

	for (size_t i = 0; i < c->nr_runs; i++) {
		const char *v = get(c->runs[i].rd, key);
		size_t k;

		for (k = 0; k < i; k++)
			if (counts(c, k) && same(v, get(c->runs[k].rd, key)))
				break;
		if (!counts(c, i) || k < i)
			continue;
		sbuf__addf(&b, "%s\"%s\" (", b.len ? "; " : "", v ? v : "absent");
		for (size_t arm = 0, said = 0; arm < c->nr_arms; arm++) {
			size_t of = 0;

			for (k = i; k < c->nr_runs; k++)
				of += counts(c, k) && c->runs[k].arm == arm &&
				      same(v, get(c->runs[k].rd, key));
			if (of)
				sbuf__addf(&b, "%s%s: %zu run%s", said++ ? ", " : "",
					   c->arms[arm].name, of, of == 1 ? "" : "s");
		}
		sbuf__add(&b, ")");
	}
	return b.s;
}

/* Note a mismatch if the runs that count do not agree on key; skip leaves a value out of it. */
static void check_key(struct an_compare *c, const char *what, const char *key, run_value get,
		      const char *skip, bool checksum)
{
	const struct rd_run *first = NULL;

	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_run *rd = c->runs[i].rd;

		if (!counts(c, i) || (skip && same(get(rd, key), skip)))
			continue;
		if (!first)
			first = rd;
		if (same(get(first, key), get(rd, key)))
			continue;
		mismatch(c, mem__strdup(what), spell_values(c, key, get), checksum);
		return;
	}
}

/* Whether an earlier run that counts had the key among its own; then it was checked already. */
static bool seen_before(const struct an_compare *c, size_t run, const char *key, run_value get)
{
	for (size_t i = 0; i < run; i++)
		if (counts(c, i) && get(c->runs[i].rd, key))
			return true;
	return false;
}

static void check_results(struct an_compare *c, const struct rd_run *rd, size_t run)
{
	for (size_t k = 0; k < rd->nr_results; k++) {
		const char *key = rd->results[k].key;
		char *what;

		if (seen_before(c, run, key, result_value))
			continue;
		what = sbuf__format("result %s", key);
		check_key(c, what, key, result_value, NULL, true);
		free(what);
	}
}

static void check_matches(struct an_compare *c)
{
	check_key(c, "command", "", command_value, NULL, false);
	check_key(c, "emulated", "", emulated_value, NULL, false);
	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_run *rd = c->runs[i].rd;

		if (!counts(c, i))
			continue;
		for (size_t k = 0; k < rd->nr_facts; k++)
			if (!strcmp(rd->facts[k].class, "match") &&
			    !seen_before(c, i, rd->facts[k].key, match_fact))
				check_key(c, rd->facts[k].key, rd->facts[k].key, match_fact, NULL,
					  false);
		for (size_t k = 0; k < rd->nr_probes; k++) {
			char *what;

			/* What only the patch has is attached in its arms alone; all else costs. */
			if (seen_before(c, i, rd->probes[k].name, rung_value))
				continue;
			what = sbuf__format("rung of probe %s", rd->probes[k].name);
			check_key(c, what, rd->probes[k].name, rung_value,
				  strncmp(rd->probes[k].name, "migrc_", 6) ? NULL : "none",
				  false);
			free(what);
		}
		check_results(c, rd, i);
	}
}

/* --- building --------------------------------------------------------------------------------- */

static void build_compare(struct an_compare *c, const struct an_options *opt)
{
	find_arms(c, opt);
	sort_runs_in(c);
	for (size_t a = 0; a < c->nr_arms; a++)
		number_units(c, a);
	for (size_t a = 1; a < c->nr_arms; a++)
		find_pairing(c, a);
	check_matches(c);
	metrics__collect(c);
}

void compare__warn(struct an_compare *c, char *text)
{
	warn(c, text);
}

static bool have_arm(const struct rundb *db, const char *name)
{
	for (size_t i = 0; i < db->nr; i++)
		if (!strcmp(db->runs[i].arm, name))
			return true;
	return false;
}

static bool have_workload(const struct rundb *db, const char *name)
{
	for (size_t i = 0; i < db->nr; i++)
		if (!strcmp(db->runs[i].workload, name))
			return true;
	return false;
}

static bool wanted(const struct an_options *opt, const char *workload)
{
	for (size_t i = 0; i < opt->nr_workloads; i++)
		if (!strcmp(opt->workloads[i], workload))
			return true;
	return !opt->nr_workloads;
}

static int check_names(const struct rundb *db, const struct an_options *opt, char **msg)
{
	for (size_t i = 0; i < opt->nr_workloads; i++) {
		if (have_workload(db, opt->workloads[i]))
			continue;
		*msg = sbuf__format("workload %s: no run of it; `migrc runs` lists what there is",
				    opt->workloads[i]);
		return -ENOENT;
	}
	for (size_t i = 0; i <= opt->nr_arms; i++) {
		const char *arm = i < opt->nr_arms ? opt->arms[i] : opt->baseline;

		if (!arm || have_arm(db, arm))
			continue;
		*msg = sbuf__format("arm %s: no run of it; `migrc runs` lists what there is", arm);
		return -ENOENT;
	}
	return 0;
}

int model__build(const struct rundb *db, const struct an_options *opt, struct an_model **out,
		 char **msg)
{
	struct an_model *model;
	int err = check_names(db, opt, msg);

	*out = NULL;
	if (err)
		return err;
	model = mem__calloc(1, sizeof(*model));
	model->db = db;
	for (size_t i = 0, end; i < db->nr; i = end) {
		struct an_compare *c;

		for (end = i + 1; end < db->nr; end++)
			if (strcmp(db->runs[end].workload, db->runs[i].workload))
				break;
		if (!wanted(opt, db->runs[i].workload))
			continue;
		model->compares = mem__grow(model->compares, model->nr);
		c = &model->compares[model->nr++];
		*c = (struct an_compare){ .workload = db->runs[i].workload, .nr_runs = end - i };
		c->policy = opt->policy ? opt->policy : &an_default_policy;
		c->runs = mem__calloc(c->nr_runs, sizeof(*c->runs));
		for (size_t k = i; k < end; k++)
			c->runs[k - i].rd = &db->runs[k];
		build_compare(c, opt);
	}
	effect__fill(model->compares, model->nr);
	for (size_t i = 0; i < model->nr; i++)
		effect__warn(&model->compares[i]);
	*out = model;
	return 0;
}

static void free_compare(struct an_compare *c)
{
	for (size_t i = 0; i < c->nr_metrics; i++) {
		free(c->metrics[i].key);
		free(c->metrics[i].label);
		free(c->metrics[i].unit);
		free(c->metrics[i].value);
		free(c->metrics[i].outlier);
		free(c->metrics[i].arm);
		free(c->metrics[i].effect);
	}
	for (size_t i = 0; i < c->nr_arms; i++)
		free(c->arms[i].design);
	for (size_t i = 0; i < c->nr_mismatches; i++) {
		free(c->mismatches[i].what);
		free(c->mismatches[i].detail);
	}
	for (size_t i = 0; i < c->nr_warnings; i++)
		free(c->warnings[i]);
	free(c->mde);
	free(c->metrics);
	free(c->arms);
	free(c->runs);
	free(c->mismatches);
	free(c->warnings);
}

void model__free(struct an_model *model)
{
	if (!model)
		return;
	for (size_t i = 0; i < model->nr; i++)
		free_compare(&model->compares[i]);
	free(model->compares);
	free(model);
}

/* --- asking ----------------------------------------------------------------------------------- */

const struct an_metric *compare__metric(const struct an_compare *c, const char *key)
{
	for (size_t i = 0; i < c->nr_metrics; i++)
		if (!strcmp(c->metrics[i].key, key))
			return &c->metrics[i];
	return NULL;
}

bool compare__invalid(const struct an_compare *c)
{
	for (size_t i = 0; i < c->nr_mismatches; i++)
		if (c->mismatches[i].checksum)
			return true;
	for (size_t a = 0; a < c->nr_arms; a++)
		if (!c->arms[a].nr_valid)
			return true;
	return false;
}

bool compare__mismatched(const struct an_compare *c)
{
	for (size_t i = 0; i < c->nr_mismatches; i++)
		if (!c->mismatches[i].checksum)
			return true;
	return false;
}

double compare__mean(const struct an_compare *c, size_t arm, const char *key)
{
	const struct an_metric *m = compare__metric(c, key);

	return m && arm < c->nr_arms ? m->arm[arm].mean : NAN;
}

const char *verdict__name(enum an_verdict v)
{
	static const char *const names[] = {
		[AN_IMPROVED] = "improved", [AN_REGRESSED] = "regressed", [AN_UP] = "higher",
		[AN_DOWN] = "lower", [AN_EQUIVALENT] = "equivalent",
		[AN_INCONCLUSIVE] = "inconclusive", [AN_NOT_JUDGED] = "not judged",
		[AN_ABSENT] = "absent",
	};

	return names[v];
}
