// SPDX-License-Identifier: GPL-2.0-or-later
/* One program, subcommands: the table, prefix matching, and nothing else. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collector/cmd.h"
#include "collector/err.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *doc;
};

static const struct command commands[] = {
	{ "doctor", cmd_doctor, "what can be traced here, why not, and the remedy" },
	{ "record", cmd_record, "run a command instrumented, store one run" },
	{ "import", cmd_import, "make a run from files: perf stat, /proc/vmstat, XSBench, pmbench" },
	{ "runs", cmd_runs, "list the runs of a database" },
	{ "show", cmd_show, "one run in full" },
	{ "compare", cmd_compare, "compare arms, on a terminal" },
	{ "report", cmd_report, "write the report" },
	{ "gate", cmd_gate, "decide by a policy, for CI" },
	{ "merge", cmd_merge, "databases together" },
	{ "export", cmd_export, "the runs as CSV, JSON, Prometheus' text" },
	{ "sql", cmd_sql, "query a database, raw events in the table `events` included" },
	{ "lab", cmd_lab, "build kernels, boot guests, run a plan" },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *f)
{
	size_t i;

	fprintf(f, "Usage: migrc COMMAND [OPTION...]\n\n");
	for (i = 0; i < NR_COMMANDS; i++)
		fprintf(f, "  %-10s%s\n", commands[i].name, commands[i].doc);
	fprintf(f, "\nCOMMAND may be cut short as long as it is unique. `migrc COMMAND --help` says more.\n");
}

/* The command that word names, whole or by a prefix that no other has; NULL after an error. */
static const struct command *command__find(const char *word)
{
	const struct command *found = NULL;
	size_t len = strlen(word);
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++) {
		if (!strcmp(commands[i].name, word))
			return &commands[i];
		if (!len || strncmp(commands[i].name, word, len))
			continue;
		if (found) {
			err__print("%s: may be %s or %s; give more letters", word, found->name,
				   commands[i].name);
			return NULL;
		}
		found = &commands[i];
	}
	if (!found)
		err__print("%s: no such command; `migrc --help` lists them", word);
	return found;
}

/*
 * Closed by the caller, their numbers would be those of the next files opened, a database or a BPF map
 * among them, and `record` waited without end for the workload's output. The wrong way round, so that
 * reading or writing them still fails.
 */
static void keep_standard_files(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return;
}

int main(int argc, char **argv)
{
	const struct command *cmd;
	char name[64];

	keep_standard_files();
	if (argc < 2) {
		usage(stderr);
		return EXIT_TOOL;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return EXIT_GOOD;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("migrc %s\n", MIGRC_VERSION);
		return EXIT_GOOD;
	}
	cmd = command__find(argv[1]);
	if (!cmd)
		return EXIT_TOOL;
	snprintf(name, sizeof(name), "migrc %s", cmd->name);
	argv[1] = name;
	return cmd->run(argc - 1, argv + 1);
}
