#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# demo.sh [OUT]: the main job from nothing to out/report.html. Every step does only what is not done
# yet; what each took is shown at the end and is the next run's estimate.

# shellcheck source=lib/common.sh
. "$(dirname "$0")/lib/common.sh"
# shellcheck source=lib/arms.sh
. "$LAB/lib/arms.sh"
# shellcheck source=lib/timing.sh
. "$LAB/lib/timing.sh"

# shellcheck disable=SC2317
# The report of what there is comes also after a boot that went wrong; the worst status is kept.
boots() {
	local rc=0
	"$LAB/run-plan.sh" "$LAB/plans/demo.plan" "$OUT" || rc=$?
	case $rc in
	0) ;;
	"$EX_WORKLOAD" | "$EX_INVALID") STATUS=$rc ;;
	*) exit "$rc" ;;
	esac
}

# judged COMMAND...: inconclusive or invalid runs are findings, shown and kept as the status.
judged() {
	local rc=0
	"$@" || rc=$?
	case $rc in
	0 | 3) ;;
	"$EX_INVALID") STATUS=$rc ;;
	*) exit "$rc" ;;
	esac
}

# shellcheck disable=SC2317
report() {
	[ -f "$OUT/runs.db" ] || die "report" "no boot brought a run back" "see $OUT/boots.tsv and the logs that it names" "$EX_INVALID"
	# An old report must not stand for these runs.
	rm -f "$OUT/report.html"
	judged "$ROOT/build/migrc" report -d "$OUT/runs.db" -o "$OUT/report.html"
}

# The steps below are called through timing__step.
# shellcheck disable=SC2317
build() {
	# The caller may be make: its job server does not reach through a script.
	env -u MAKEFLAGS -u MFLAGS make --no-print-directory -C "$ROOT" build
}

main() {
	OUT=$(realpath -m "${1:-out}")
	STATUS=0
	timing__begin demo
	timing__step packages 150 "$LAB/install-packages.sh"
	timing__step build 60 build
	timing__step source 90 "$LAB/fetch-kernel-source.sh" "$(arms__base stock)"
	timing__step kernels 1200 "$LAB/build-kernel.sh" stock migrc
	timing__step boots 540 boots
	timing__step report 5 report
	judged "$ROOT/build/migrc" compare -d "$OUT/runs.db"
	timing__table
	[ -f "$OUT/report.html" ] || die "report" "not written" "see the message above; the runs are in $OUT/runs.db" "$STATUS"
	echo "$OUT/report.html"
	exit "$STATUS"
}

main "$@"
