/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Subcommands. Each takes its own argc and argv, with argv[0] set to "migrc NAME" (what argp prints
 * in usage and errors), and returns the exit code of the program (enum migrc_exit).
 */
#ifndef MIGRC_CMD_H
#define MIGRC_CMD_H

int cmd_record(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_runs(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_gate(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_sql(int argc, char **argv);
int cmd_lab(int argc, char **argv);

#endif /* MIGRC_CMD_H */
