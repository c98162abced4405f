// SPDX-License-Identifier: GPL-2.0-or-later
/* The pure parts of the machine facts: text in, text out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/facts.h"
#include "collector/text.h"

bool cpuinfo__get(const char *text, const char *key, char *value, size_t size)
{
	size_t len = strlen(key);
	const char *line;

	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, len) || !strchr(" \t:", line[len]))
			continue;
		line += len + strspn(line + len, " \t");
		if (*line != ':')
			continue;
		line++;
		line += strspn(line, " ");
		snprintf(value, size, "%.*s", (int)strcspn(line, "\n"), line);
		return true;
	}
	return false;
}

bool cpuinfo__has_word(const char *text, const char *key, const char *word)
{
	char words[8192];
	char *w, *save = NULL;

	if (!cpuinfo__get(text, key, words, sizeof(words)))
		return false;
	for (w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
		if (!strcmp(w, word))
			return true;
	return false;
}

/* The option that a line sets or says is not set; NULL for other comments. */
static const char *kconfig__option(const char *line)
{
	if (!strncmp(line, "# CONFIG_", 9))
		return line + 2;
	return strncmp(line, "CONFIG_", 7) ? NULL : line;
}

/* What the patch adds to a configuration, and the name of the build. */
static bool kconfig__of_patch(const char *option)
{
	static const char *const prefix[] = {
		"CONFIG_MIGRC", "CONFIG_ARCH_HAS_TLBBATCH_FOLD", "CONFIG_LOCALVERSION=",
	};

	for (size_t i = 0; i < sizeof(prefix) / sizeof(prefix[0]); i++)
		if (!strncmp(option, prefix[i], strlen(prefix[i])))
			return true;
	return false;
}

void kconfig__digest(char *text, char out[SHA256__HEX_SIZE])
{
	struct sha256 sha;
	const char *option;
	char *line;

	sha256__init(&sha);
	while ((line = text__next_line(&text))) {
		option = kconfig__option(line);
		if (!option || kconfig__of_patch(option))
			continue;
		sha256__add(&sha, line, strlen(line));
		sha256__add(&sha, "\n", 1);
	}
	sha256__hex(&sha, out);
}

int kconfig__is_set(const char *text, const char *option)
{
	size_t len = strlen(option);
	const char *at = text;

	while ((at = strstr(at, option))) {
		if (at == text || at[-1] == '\n') {
			if (!strncmp(at + len, "=y", 2))
				return 1;
		} else if (at - text >= 2 && !strncmp(at - 2, "# ", 2) &&
			   !strncmp(at + len, " is not set", 11)) {
			return 0;
		}
		at += len;
	}
	return -1;
}

void cmdline__strip(const char *in, char *out)
{
	static const char * const drop[] = {
		"BOOT_IMAGE=", "initrd=", "sysctl.vm.migrc=", "migrc=", "migrc.", "migrc_",
	};
	const char *word;
	char *to = out;
	size_t len, i;

	for (word = in + strspn(in, " \n"); *word; word += len, word += strspn(word, " \n")) {
		len = strcspn(word, " \n");
		for (i = 0; i < sizeof(drop) / sizeof(drop[0]); i++)
			if (!strncmp(word, drop[i], strlen(drop[i])))
				break;
		if (i < sizeof(drop) / sizeof(drop[0]))
			continue;
		if (to != out)
			*to++ = ' ';
		memcpy(to, word, len);
		to += len;
	}
	*to = '\0';
}

bool bracketed__get(const char *text, char *value, size_t size)
{
	const char *open = strchr(text, '[');
	const char *end = open ? strchr(open, ']') : NULL;

	if (!end)
		return false;
	snprintf(value, size, "%.*s", (int)(end - open - 1), open + 1);
	return true;
}

/* The value of the last "key=value" word of a command line, as the kernel takes it. */
static bool cmdline__last(const char *cmdline, const char *key, char *value, size_t size)
{
	size_t len = strlen(key), n;
	bool found = false;
	const char *word;

	for (word = cmdline; *word; word += n) {
		word += strspn(word, " \n");
		n = strcspn(word, " \n");
		if (n <= len || strncmp(word, key, len) || word[len] != '=')
			continue;
		snprintf(value, size, "%.*s", (int)(n - len - 1), word + len + 1);
		found = true;
	}
	return found;
}

/*
 * Does the kernel limit swap offsets because of L1TF? 1, 0, or -1. The file in sysfs cannot tell:
 * PTE inversion is on whenever the CPU is affected, also with l1tf=off. What limits is the variable
 * l1tf_mitigation: `flush` if the kernel was built with mitigations, else `off`; l1tf= sets it, and
 * mitigations=off makes it `off` (whether l1tf= wins over that has changed between releases).
 */
static int l1tf__limits_swap(const struct ad_bits_input *in)
{
	char l1tf[32], mitigations[32];
	bool has_l1tf = cmdline__last(in->cmdline, "l1tf", l1tf, sizeof(l1tf));
	bool all_off = cmdline__last(in->cmdline, "mitigations", mitigations,
				     sizeof(mitigations)) &&
		       !strncmp(mitigations, "off", 3);

	if (has_l1tf && !strcmp(l1tf, "off"))
		return 0;
	if (all_off)
		return has_l1tf ? -1 : 0;
	if (has_l1tf)
		return 1;
	return in->mitigations_built;
}

/*
 * mm/swapfile.c, swapfile_init(): bits are kept if a swap offset has room for a frame number and
 * two bits more,
 *	log2(max swap pages) >= MAX_PHYSMEM_BITS - PAGE_SHIFT + 2 = 36 (42 with five-level paging).
 * arch/x86/mm/init.c: log2(max swap pages) is 50, and at most
 *	(cache_bits - 1 - PAGE_SHIFT) + (PAGE_SHIFT - SWP_OFFSET_FIRST_BIT) = cache_bits - 10
 * where L1TF limits it. cache_bits is the physical address width that /proc/cpuinfo tells, raised
 * to 44 on some models, which decides nothing: 34 is below both limits. All this since Linux 6.1, and
 * only with CONFIG_SWAP (include/linux/swapops.h, migration_entry_supports_ad()).
 */
const char *ad_bits__derive(const struct ad_bits_input *in)
{
	unsigned int major, minor, phys_bits, needed = 36;
	char sizes[128];
	int limits;

	if (!in->has_swap)
		return "no";
	if (strcmp(in->machine, "x86_64") || sscanf(in->release, "%u.%u", &major, &minor) != 2)
		return "unknown";
	if (major < 6 || (major == 6 && minor < 1))
		return "no";
	if (!in->l1tf)
		return "unknown";
	if (!strncmp(in->l1tf, "Not affected", 12))
		return "yes";
	limits = l1tf__limits_swap(in);
	if (limits <= 0)
		return limits ? "unknown" : "yes";
	if (!cpuinfo__get(in->cpuinfo, "address sizes", sizes, sizeof(sizes)) ||
	    sscanf(sizes, "%u bits physical", &phys_bits) != 1)
		return "unknown";
	if (cpuinfo__has_word(in->cpuinfo, "flags", "la57"))
		needed = 42;
	return phys_bits >= needed + 10 ? "yes" : "no";
}
