/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments that `record` and `import` share. Errors are printed; for argp: 0, EINVAL or ENOMEM. */
#ifndef MIGRC_RUN_ARGS_H
#define MIGRC_RUN_ARGS_H

#include <stddef.h>

#include "collector/facts.h"

struct label {
	char *key;
	const char *value;
};

/* KEY=VALUE; a later value of a key replaces the earlier one. */
int labels__add(struct label **labels, size_t *nr, const char *arg);
void labels__free(struct label *labels, size_t nr);

/* CLASS:KEY=VALUE. */
int run_args__fact(struct facts *facts, const char *arg);

/* A whole number from min to max. option: its name, for the error. */
int run_args__number(const char *option, const char *arg, long long min, long long max,
		     long long *out);

#endif /* MIGRC_RUN_ARGS_H */
