# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For the tests of the lab's scripts: each check prints ok or FAILED with what was got, and counts.
# Source it first; end with `finish`.

set -uo pipefail
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
PASSED=0
FAILED=0

# is WHAT WANT GOT
is() {
	if [ "$2" = "$3" ]; then
		PASSED=$((PASSED + 1))
		printf 'ok %s\n' "$1"
	else
		FAILED=$((FAILED + 1))
		printf 'FAILED %s\n  want: %s\n  got:  %s\n' "$1" "$2" "$3"
	fi
}

# has WHAT PATTERN TEXT: TEXT matches the glob *PATTERN*.
has() {
	# shellcheck disable=SC2053 # a pattern
	if [[ $3 == *$2* ]]; then
		is "$1" 1 1
	else
		is "$1" "*$2*" "$3"
	fi
}

# lab COMMAND...: in a shell of its own with the lab's library, so that die() ends only it.
lab() {
	(
		cd "$WORK" || exit
		# shellcheck disable=SC1090,SC1091 # checked by themselves
		. "$TOP/lab/lib/common.sh"
		for part in "${PARTS[@]}"; do
			# shellcheck disable=SC1090
			. "$TOP/lab/lib/$part.sh"
		done
		"$@"
	)
}

finish() {
	echo "$PASSED passed, $FAILED failed"
	[ "$FAILED" -eq 0 ] && [ "$PASSED" -gt 0 ]
}
