#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run-scripts.sh NAME FOLDER [TEST...]: every test-*.sh of a folder, all of them even when one fails; NAME is for
# the total. Those of the command line need build/migrc.
set -u
name=$1
cd "$2" || exit 2
shift 2
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
echo "$name: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
