// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/err.h"
#include "collector/run_args.h"
#include "collector/text.h"

int labels__add(struct label **labels, size_t *nr, const char *arg)
{
	const char *equals = strchr(arg, '=');
	struct label *bigger;
	char *key;
	size_t i;

	if (!equals || equals == arg) {
		err__print("--label: '%s' is not KEY=VALUE; see --help", arg);
		return EINVAL;
	}
	key = strndup(arg, (size_t)(equals - arg));
	if (!key)
		return ENOMEM;
	for (i = 0; i < *nr; i++) {
		if (strcmp((*labels)[i].key, key))
			continue;
		free(key);
		(*labels)[i].value = equals + 1;
		return 0;
	}
	bigger = realloc(*labels, (*nr + 1) * sizeof(*bigger));
	if (!bigger) {
		free(key);
		return ENOMEM;
	}
	*labels = bigger;
	bigger[(*nr)++] = (struct label){ key, equals + 1 };
	return 0;
}

void labels__free(struct label *labels, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		free(labels[i].key);
	free(labels);
}

int run_args__fact(struct facts *facts, const char *arg)
{
	switch (facts__set_option(facts, arg)) {
	case 0:
		return 0;
	case -ENOMEM:
		return ENOMEM;
	default:
		err__print("--fact: '%s' is not CLASS:KEY=VALUE with CLASS one of match, drift, arm "
			   "and a KEY of [a-z0-9_./-]", arg);
		return EINVAL;
	}
}

int run_args__number(const char *option, const char *arg, long long min, long long max,
		     long long *out)
{
	if (!text__to_ll(arg, out) && *out >= min && *out <= max)
		return 0;
	err__print("--%s: '%s' is not a whole number from %lld to %lld; see --help", option, arg,
		   min, max);
	return EINVAL;
}
