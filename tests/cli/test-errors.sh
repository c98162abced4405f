#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An option that is not there is refused in one line, in every subcommand, with exit status 2.

# shellcheck source=../lab/lib.sh
. "$(dirname "$0")/../lab/lib.sh"
MIGRC=$TOP/build/migrc
cd "$WORK" || exit 2

# refused NAME ARG...: exit status 2, nothing on stdout, one line on stderr that begins with migrc.
refused() {
	local name=$1 rc=0
	shift
	"$MIGRC" "$@" > out 2> err || rc=$?
	is "$name: status" 2 "$rc"
	is "$name: stdout" 0 "$(wc -c < out)"
	is "$name: lines on stderr" 1 "$(wc -l < err)"
	is "$name: begins with" migrc "$(head -c 5 err)"
}

commands=$("$MIGRC" --help | awk '/^  [a-z]/ { print $1 }')
has "there are subcommands" gate "$commands"
for c in $commands; do
	refused "$c --no-such-option" "$c" --no-such-option
	"$MIGRC" "$c" --help > help 2>&1
	is "$c --help: status" 0 $?
	has "$c --help: says how it is used" sage "$(cat help)"
done
for c in runs compare report gate; do
	refused "$c -d without a file" "$c" -d
	refused "$c with an argument too many" "$c" one two
done
refused "gate without a policy" gate
refused "gate with a policy that is not there" gate --policy nowhere
refused "no such command" gaet
finish
