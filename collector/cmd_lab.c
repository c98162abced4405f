// SPDX-License-Identifier: GPL-2.0-or-later
/* `migrc lab`: find the lab's scripts and become the one that was asked for. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/cmd.h"
#include "collector/err.h"

struct lab_command {
	const char *name;
	const char *script;
	const char *args;
	const char *doc;
};

static const struct lab_command lab_commands[] = {
	{ "build", "build-kernel.sh", "KERNEL...", "build kernels (stock, migrc) into the cache" },
	{ "run", "run-plan.sh", "PLAN [DIR]", "boot a plan's guests, gather runs in DIR/runs.db" },
	{ "shell", "shell.sh", "[KERNEL] [PRESET]", "boot a guest with a shell on this terminal" },
};

#define NR_LAB_COMMANDS (sizeof(lab_commands) / sizeof(lab_commands[0]))

static void lab__usage(FILE *f)
{
	size_t i;

	fprintf(f, "Usage: migrc lab COMMAND\n\n");
	for (i = 0; i < NR_LAB_COMMANDS; i++)
		fprintf(f, "  %-6s%-20s%s\n", lab_commands[i].name, lab_commands[i].args,
			lab_commands[i].doc);
	fprintf(f, "\nPLAN is a file, or the name of a plan that comes with migrc.\n\n"
		   "Examples:\n"
		   "  migrc lab build stock migrc\n"
		   "  migrc lab run demo            lab/plans/demo.plan, runs in out/demo/runs.db\n"
		   "  migrc lab run my.plan results\n"
		   "  migrc lab shell migrc l1tf\n\n"
		   "MIGRC_LAB names the folder of the lab's scripts, MIGRC_CACHE that of its\n"
		   "kernels, KERNEL_SRC a kernel tree of your own; MIGRC_ACCEL=tcg|kvm fixes the\n"
		   "accelerator.\n\n"
		   "Exit status: 0 all boots ended well; 1 a workload failed; 2 usage or tool\n"
		   "error; 4 a boot panicked, hung or splat, or checksums differ; 130 interrupted.\n");
}

static const struct lab_command *lab__find(const char *word)
{
	const struct lab_command *found = NULL;
	size_t len = strlen(word);
	size_t i;

	/* No two names begin alike: the first match is the only one. */
	for (i = 0; len && i < NR_LAB_COMMANDS && !found; i++)
		if (!strncmp(lab_commands[i].name, word, len))
			found = &lab_commands[i];
	return found;
}

/* Whether dir/script can be run; path receives it. */
static int lab__has(char *path, size_t size, const char *dir, const char *script)
{
	int n = snprintf(path, size, "%s/%s", dir, script);

	return n > 0 && (size_t)n < size && !access(path, X_OK);
}

/*
 * The script's path: in the folder that MIGRC_LAB names; else beside build/ in the source tree; else
 * where `make install` puts it, relative to the program, so that an installed tree can be moved.
 */
static int lab__path(char *path, size_t size, const char *script)
{
	static const char *const places[] = { "../lab", "../libexec/migrc/lab" };
	const char *lab = getenv("MIGRC_LAB");
	char self[PATH_MAX], dir[PATH_MAX + sizeof("/../libexec/migrc/lab")];
	ssize_t n;
	size_t i;

	if (lab)
		return lab__has(path, size, lab, script) ? 0 : -ENOENT;
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		return -errno;
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(dir, sizeof(dir), "%s/%s", self, places[i]);
		if (lab__has(path, size, dir, script))
			return 0;
	}
	return -ENOENT;
}

int cmd_lab(int argc, char **argv)
{
	const struct lab_command *cmd;
	char path[2 * PATH_MAX];
	int err;

	if (argc < 2) {
		lab__usage(stderr);
		return EXIT_TOOL;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "-?")) {
		lab__usage(stdout);
		return EXIT_GOOD;
	}
	cmd = lab__find(argv[1]);
	if (!cmd) {
		err__print("lab %s: no such command; `migrc lab --help` lists them", argv[1]);
		return EXIT_TOOL;
	}
	err = lab__path(path, sizeof(path), cmd->script);
	if (err) {
		err__print("lab: %s not found (%s); set MIGRC_LAB to the folder of the lab's scripts",
			   cmd->script, strerror(-err));
		return EXIT_TOOL;
	}
	argv[1] = path;
	execv(path, argv + 1);
	err__print("%s: cannot be run: %s; see whether bash is installed", path, strerror(errno));
	return EXIT_TOOL;
}
