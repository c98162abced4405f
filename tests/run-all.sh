#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run-all.sh: what `make test` does: packages, build, every test. All tests run, also after one has
# failed; the last line counts.

# shellcheck source=../lab/lib/common.sh
. "$(dirname "$0")/../lab/lib/common.sh"
# shellcheck source=../lab/lib/timing.sh
. "$LAB/lib/timing.sh"

PASSED=0 FAILED=()

# shellcheck disable=SC2317 # these two are called through timing__step
# The caller is make: its job server does not reach through a script.
target() {
	env -u MAKEFLAGS -u MFLAGS make --no-print-directory -C "$ROOT" "$1"
}

# suite NAME FIRST COMMAND...: a step that may fail and is counted.
suite() {
	timing__step "$1" "$2" attempt "${@:3}"
}

# shellcheck disable=SC2317
attempt() {
	local rc=0
	"$@" || rc=$?
	case $rc in
	0) PASSED=$((PASSED + 1)) ;;
	130) exit 130 ;;
	*) FAILED+=("$*") ;;
	esac
}

main() {
	timing__begin test
	timing__step packages 150 "$LAB/install-packages.sh"
	timing__step build 60 target build
	suite unit 60 target unit
	suite asan 180 target unit-asan
	suite stats 60 target check-stats
	suite fuzz 60 target fuzz-check
	suite cli 70 target cli-test
	suite lab 15 target lab-test
	suite report 60 "$ROOT/tests/report/run.sh" -i
	# Of the build matrix what fits into the time: warnings, sparse, without the option, other architectures.
	suite patch 300 "$LAB/kernel-check.sh" lab-w1 no-migrc sparse x86_64-allno um-allno arm64 riscv
	# After what installs check-packages.list.
	suite package 240 "$ROOT/tests/package/run.sh"
	suite guest 1300 "$ROOT/tests/guest/run.sh"
	timing__table
	[ "${#FAILED[@]}" -eq 0 ] || printf 'FAILED: %s\n' "${FAILED[@]#"$ROOT"/}"
	echo "$PASSED passed, ${#FAILED[@]} failed"
	[ "${#FAILED[@]}" -eq 0 ]
}

main "$@"
