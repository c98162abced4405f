/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the machine is. Facts of class match must be equal between the arms of a comparison, drift
 * ones may differ, arm ones make the arm. What cannot be told is absent, or "unknown" where the
 * report asks for it by name.
 */
#ifndef MIGRC_FACTS_H
#define MIGRC_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/counters.h"
#include "collector/sha256.h"

enum fact_class { FACT_MATCH, FACT_DRIFT, FACT_ARM };

struct fact {
	enum fact_class class;
	char key[64];
	char *value;
};

struct facts {
	struct fact *fact;
	size_t nr;
};

const char *fact_class__name(enum fact_class class);

/* Set key, replacing an earlier value. 0, -ENOMEM, or -EINVAL (key not of [a-z0-9_./-]). */
int facts__set(struct facts *f, enum fact_class class, const char *key, const char *value);
/* Set from "CLASS:KEY=VALUE". */
int facts__set_option(struct facts *f, const char *option);
/* NULL if absent. */
const char *facts__get(const struct facts *f, const char *key);
/* All that this machine tells of itself; 0 or -ENOMEM. */
int facts__collect(struct facts *f);
void facts__free(struct facts *f);

/* --- pure parts ------------------------------------------------------------------------------- */

/* Value of the first "key : value" line of /proc/cpuinfo; false where there is none. */
bool cpuinfo__get(const char *text, const char *key, char *value, size_t size);
/* Is word among the words of a "key : words" line? */
bool cpuinfo__has_word(const char *text, const char *key, const char *word);

/*
 * Digest of a kernel configuration without what makes an arm: the CONFIG_MIGRC* and
 * CONFIG_LOCALVERSION lines, set or not, and comments. The text is cut up on the way.
 */
void kconfig__digest(char *text, char out[SHA256__HEX_SIZE]);
/* 1: set to y. 0: not set. -1: the text does not tell. */
int kconfig__is_set(const char *text, const char *option);

/* The command line without words that make an arm or name files; out has strlen(in) + 1 bytes. */
void cmdline__strip(const char *in, char *out);

/* "[always] madvise never" -> "always". False where nothing is in brackets. */
bool bracketed__get(const char *text, char *value, size_t size);

/* What decides whether the kernel keeps accessed and dirty bits in migration entries. */
struct ad_bits_input {
	const char *machine;	/* uname -m */
	const char *release;	/* uname -r */
	bool has_swap;		/* /proc/swaps exists: CONFIG_SWAP */
	const char *l1tf;	/* line of vulnerabilities/l1tf; NULL: no such file */
	const char *cpuinfo;
	const char *cmdline;
	int mitigations_built;	/* CONFIG_CPU_MITIGATIONS: 1, 0, or -1 unknown */
};

/* "yes", "no" or "unknown". */
const char *ad_bits__derive(const struct ad_bits_input *in);

#endif /* MIGRC_FACTS_H */
