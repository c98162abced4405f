# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Where the built programs are: in the source tree's build/, or beside an installed lab
# (PREFIX/libexec/migrc/{lab,workloads}, PREFIX/bin/migrc).

# programs__find: sets MIGRC_BIN and the array WORKLOADS.
programs__find() {
	local dir=$ROOT/build/workloads file
	MIGRC_BIN=${MIGRC_BIN:-$ROOT/build/migrc}
	if [ ! -x "$MIGRC_BIN" ]; then
		MIGRC_BIN=$ROOT/../../bin/migrc
		dir=$ROOT/workloads
	fi
	[ -x "$MIGRC_BIN" ] || die "migrc" "not built" "run 'make'"
	WORKLOADS=()
	for file in "$dir"/*; do
		[ ! -f "$file" ] || [ ! -x "$file" ] || WORKLOADS+=("$file")
	done
}
