#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What recording costs: `record --calibrate`, on whatever this machine lets be traced.

# shellcheck source=../lab/lib.sh
. "$(dirname "$0")/../lab/lib.sh"
MIGRC=$TOP/build/migrc
cd "$WORK" || exit 2

calibrate() {
	"$MIGRC" record -o cal.db --arm a --missing-probes=warn "$@" 2> err
}
# sql TEXT
sql() {
	sqlite3 -readonly cal.db "$1"
}

# The command says that it was run.
calibrate --calibrate=3 -- sh -c 'echo run; i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done' > out
rc=$?
[ $rc -ne 5 ] || { echo "skipped: record is not permitted here"; is skipped 1 1; finish; exit; }
is "calibrate: exit" 0 $rc
is "calibrate: three pairs and one run" 7 "$(grep -c '^run$' out)"
is "calibrate: says both costs" 2 "$(grep -cE '^calibrate: .*: [+-][0-9.]+ % \(95 % interval [+-][0-9.]+ to [+-][0-9.]+ %, 3 pairs\)$' out)"
is "calibrate: one run is stored, a complete one" "complete" "$(sql "SELECT state FROM run")"
is "calibrate: with its cost" "3" "$(sql "SELECT value FROM instrument WHERE name = 'calibrated_pairs'")"
for what in wall cpu; do
	is "calibrate: $what: low <= cost <= high" 1 "$(sql "SELECT l.value <= e.value AND e.value <= h.value AND l.value < h.value
		FROM instrument l, instrument e, instrument h WHERE l.name = 'calibrated_${what}_low_ppm' AND
		e.name = 'calibrated_${what}_ppm' AND h.name = 'calibrated_${what}_high_ppm'")"
done
cost=$(sed -n 's/^calibrate: wall time: \([^ ]* %\).*/\1/p' out)
for text in "show 1" "compare" "report --format text -o -"; do
	# shellcheck disable=SC2086 # words
	is "calibrate: ${text%% *} says what it cost" 1 "$("$MIGRC" $text -d cal.db 2>&1 | tr '\n' ' ' |
		grep -cF "Recording cost, by 3 pairs of runs with and without it: wall time $cost (95 %")"
done
is "calibrate: leaves nothing behind" "" "$(ls "${TMPDIR:-/tmp}"/migrc-calibrate-* 2> /dev/null)"

calibrate -- true > out
is "not calibrated: nothing is said" 0 "$("$MIGRC" show 2 -d cal.db | grep -c 'Recording cost')"

calibrate --calibrate=2 -- sh -c 'echo run; exit 3' > out
is "calibrate: a command that fails: exit" 1 $?
is "calibrate: is run once" 1 "$(grep -c '^run$' out)"
is "calibrate: and not stored" 2 "$(sql "SELECT count(*) FROM run")"
calibrate --calibrate=1 -- true > out
is "calibrate: one pair has no interval" 2 $?
is "calibrate: says so" 1 "$(grep -c '^migrc: --calibrate' err)"

# What runs for each page is attached on request, and is then core.
for option in --interval=0 --per-page; do
	"$MIGRC" record -o pages.db --missing-probes=warn --workload x$option $option -- true 2> err
	is "$option: exit" 0 $?
done
is "not asked for: is neither attached nor core" "none|0|not asked for (--per-page)" "$(sqlite3 -readonly pages.db \
	"SELECT rung, core, why FROM probe JOIN run ON run.id = run_id WHERE name = 'try_to_migrate' AND workload = 'x--interval=0'")"
is "--per-page: is tried, and core" 1 "$(sqlite3 -readonly pages.db "SELECT core AND coalesce(why, '') NOT LIKE '%--per-page%'
	FROM probe JOIN run ON run.id = run_id WHERE name = 'try_to_migrate' AND workload = 'x--per-page'")"

# Closed by the caller, so that the next file opened has its number.
timeout 60 "$MIGRC" record -o closed.db --missing-probes=warn -- echo hi >&- 2> err
is "standard output closed: it ends" 0 $?
is "standard output closed: says so" 1 "$(grep -c '^migrc: stdout: Bad file descriptor; ' err)"
is "standard output closed: the run is complete" complete "$(sqlite3 -readonly closed.db "SELECT state FROM run")"
finish
