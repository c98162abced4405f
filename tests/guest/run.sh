#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh: boots the lab's guests for real and checks what comes back: a plan with each kernel, then a
# boot whose workload fails and a boot that hangs, neither of which may lose what was measured.
# Until kernel-patch/6.12 has its series, the plan runs on the stock kernel only, and this says so.

# shellcheck source=../../lab/lib/common.sh
. "$(dirname "$0")/../../lab/lib/common.sh"
# shellcheck source=../../lab/lib/outcome.sh
. "$LAB/lib/outcome.sh"

readonly HERE=$ROOT/tests/guest OUT=$ROOT/build/guest-test
PASSED=0 FAILED=0

# check WHAT COMMAND...
check() {
	local what=$1 output
	shift
	if output=$("$@" 2>&1); then
		PASSED=$((PASSED + 1))
		echo "ok $what"
	else
		FAILED=$((FAILED + 1))
		printf 'FAILED %s\n%s\n' "$what" "$output"
	fi
}

equal() {
	[ "$1" = "$2" ] || { echo "want $1, got $2"; return 1; }
}

query() {
	sqlite3 "$1" "$2"
}

# The plan without the arms whose kernel cannot be built yet.
plan() {
	if [ -s "$ROOT/kernel-patch/6.12/series" ]; then
		cp "$HERE/test.plan" "$OUT/test.plan"
	else
		say SKIP "kernel-patch/6.12 has no series yet: stock kernel only"
		grep -v '^arm migrc' "$HERE/test.plan" > "$OUT/test.plan"
	fi
}

# check_boot DIR
check_boot() {
	local dir=$1 step name
	name=$(basename "$dir")
	check "$name: outcome" equal ok "$(cut -f1 "$dir/outcome")"
	check "$name: a run for each step" equal "$(grep -c '^step ' "$OUT/test.plan")" \
		"$(query "$dir/results/runs.db" "SELECT count(*) FROM run WHERE state = 'complete'")"
	for step in "$dir"/results/steps/*.rc; do
		check "$name: $(basename "$step" .rc) vmstat before and after" \
			test -s "${step%.rc}.vmstat-before" -a -s "${step%.rc}.vmstat-after"
	done
	check "$name: database, against the guest's own vmstat" \
		"$HERE/check-db.sh" "$dir/results/runs.db"
	check "$name: counters lie between the guest's own vmstat readings" \
		"$HERE/check-vmstat.sh" "$dir/results/runs.db" "$dir/results/steps"
}

plan_test() {
	local rc=0 dir
	"$LAB/run-plan.sh" "$OUT/test.plan" "$OUT/plan" || rc=$?
	case $rc in
	0 | "$EX_WORKLOAD" | "$EX_INVALID") ;;
	*) exit "$rc" ;;
	esac
	check "plan: all boots ok" equal 0 "$rc"
	for dir in "$OUT"/plan/boots/*; do
		check_boot "$dir"
	done
	check "plan: the gathered database has every run" equal \
		"$(cat "$OUT"/plan/boots/*/results/steps/*.rc | wc -l)" \
		"$(query "$OUT/plan/runs.db" "SELECT count(*) FROM run")"
}

# boot NAME LIMIT [OPTION...]: boots the stock guest with the steps on stdin; its outcome's name into
# OUTCOME.
boot() {
	local dir=$OUT/$1
	mkdir -p "$dir"
	{
		printf '%s\n' 'mode run' 'arm stock' 'kernel stock' 'block 1' 'position 1'
		cat
	} > "$dir/guest-plan"
	say BOOT "$1 (at most $2 s)"
	MIGRC_ACCEL_SAID=1 MIGRC_PROGRESS=$1 "$LAB/boot.sh" --kernel "$CACHE/kernels/stock/bzImage" --initrd "$(echo "$OUT"/plan/.initramfs-*)" \
		--plan "$dir/guest-plan" --out "$dir" --limit "$2" "${@:3}" || true
	OUTCOME=$(cut -f1 "$dir/outcome")
}

# Runs whose numbers are known, made in the guest by check-record.sh.
known_runs() {
	boot known-runs 500 --file "$HERE/check-record.sh" <<-'END'
	script known 470 check-record.sh
	END
	check "known runs: outcome" equal ok "$OUTCOME"
	check "known runs: what they must contain" "$HERE/check-db.sh" "$OUT/known-runs/results/runs.db"
}

bad_boots() {
	local states="SELECT group_concat(workload || ' ' || state, ', ') FROM (SELECT * FROM run ORDER BY id)"
	boot workload-failed 120 <<-'END'
	step good 20 sleep 1
	step bad 20 false
	step slow 2 sleep 60
	END
	check "failing workload: outcome" equal workload-failed "$OUTCOME"
	check "failing workload: all runs are back" equal "good complete, bad failed, slow failed" \
		"$(query "$OUT/workload-failed/results/runs.db" "$states")"
	boot hang 60 <<-'END'
	step good 20 sleep 1
	step stuck 1000 sleep 1000
	END
	check "hang: outcome" equal hang "$OUTCOME"
	check "hang: the run before it is back" equal "good complete" \
		"$(query "$OUT/hang/results/runs.db" "$states")"
	boot wrong-kernel 60 <<-'END'
	sysctl vm.no_such_switch 1
	step good 20 sleep 1
	END
	check "wrong kernel: outcome" equal wrong-kernel "$OUTCOME"
	check "wrong kernel: own exit code" equal 15 "$(outcome__code "$OUTCOME")"
}

main() {
	rm -rf "$OUT"
	mkdir -p "$OUT"
	plan
	plan_test
	known_runs
	bad_boots
	echo "guest: $PASSED passed, $FAILED failed"
	[ "$FAILED" -eq 0 ]
}

main "$@"
