#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make-page.sh MIGRC PAGE: the manual page PAGE on standard output, with its lines
#	@COMMANDS@		the subcommands
#	@OPTIONS COMMAND@	the options of `migrc COMMAND`
#	@AFTER COMMAND@		examples, remarks and exit status of `migrc COMMAND`
# replaced by what the program MIGRC itself says, so that pages and --help cannot differ.
set -eu
migrc=$1 page=$2
here=$(dirname "$0")

# Without line breaks of its own: mdoc has others.
help_of() {
	if [ "$1" = lab ]; then
		"$migrc" lab --help
	else
		ARGP_HELP_FMT=rmargin=9000,opt-doc-col=100,no-dup-args-note "$migrc" "$1" --help
	fi
}

while IFS= read -r line; do
	case $line in
	@COMMANDS@) "$migrc" --help | awk -v part=commands -f "$here/mdoc.awk" ;;
	"@OPTIONS "*@)
		command=${line#@OPTIONS }
		help_of "${command%@}" | awk -v part=options -f "$here/mdoc.awk"
		;;
	"@AFTER "*@)
		command=${line#@AFTER }
		help_of "${command%@}" | awk -v part=after -f "$here/mdoc.awk"
		;;
	*) printf '%s\n' "$line" ;;
	esac
done < "$page"
