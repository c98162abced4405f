#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh [TEST...]: every test of the program as a user calls it, all of them even when one fails.
# Needs build/migrc.
set -u
cd "$(dirname "$0")" || exit 2
[ $# -gt 0 ] || set -- test-*.sh
passed=0 failed=0
for t in "$@"; do
	if output=$(bash "$t" 2>&1); then
		passed=$((passed + 1))
		echo "== $t: ${output##*$'\n'}"
	else
		failed=$((failed + 1))
		echo "== $t FAILED"
		echo "$output"
	fi
done
echo "command line: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
