#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How a boot ended, from logs: logs/NAME.log must classify as NAME (what follows a + is a variant).
. "$(dirname "$0")/lib.sh"
PARTS=(outcome)

# status of the emulator and whether results came, where they are not 0 and 1
declare -A RC=([hang]=124) RESULTS=([no-results]=0 [wrong-kernel]=0 [setup-failed]=0)

for log in "$TOP"/tests/lab/logs/*.log; do
	name=$(basename "$log" .log)
	want=${name%%+*}
	is "$name" "$want" "$(lab outcome__classify "$log" "${RC[$want]:-0}" "${RESULTS[$want]:-1}")"
	[ "$want" = ok ] || has "$name has a detail" "?" "$(lab outcome__detail "$log" "$want")"
done
ok=$TOP/tests/lab/logs/ok.log
is "killed hard by the limit" hang "$(lab outcome__classify "$ok" 137 1)"
is "emulator's own failure" emulator-failed "$(lab outcome__classify "$ok" 1 0)"
is "done, but no database" no-results "$(lab outcome__classify "$ok" 0 0)"
is "every name its own code" "" "$(lab outcome__names | awk '{ print $2 }' | sort | uniq -d)"
for log in "$TOP"/tests/lab/logs/*.log; do
	name=$(basename "$log" .log)
	is "code of ${name%%+*}" 1 "$(lab outcome__code "${name%%+*}" | grep -c '^[0-9]')"
done
has "splat's first line" "WARNING: CPU: 1 PID: 77 at mm/migrate.c:1" "$(lab outcome__detail "$TOP/tests/lab/logs/splat.log" splat)"

# What a plan expects is no splat; the same report elsewhere is, and so is any other beside it.
expected() {
	lab outcome__expected "$1" < "$2" > "$WORK/evidence"
	lab outcome__classify "$WORK/evidence" 0 1
}
oom=$TOP/tests/lab/logs/splat+oom.log nomem=$TOP/tests/lab/logs/splat+allocation-failure.log
is "expected OOM" ok "$(expected oom "$oom")"
is "expected failure of an allocation" ok "$(expected "oom nomem" "$nomem")"
is "another kind expected" splat "$(expected nomem "$oom")"
is "nothing expected" splat "$(expected "" "$nomem")"
race=$TOP/tests/lab/logs/splat+race-elsewhere.log
is "expected race" ok "$(expected race "$race")"
is "expected race, on a serial console" ok "$(sed 's/$/\r/' "$race" > "$WORK/two" && expected race "$WORK/two")"
is "a race of migrc" splat "$(expected race "$TOP/tests/lab/logs/splat+kcsan.log")"
is "a race with migrc further up" splat "$(sed 's/^\(.*\] \) free_pages_prepare.*/&\n\1 migrc_free+0x10\/0x20/' "$race" > "$WORK/two" && expected race "$WORK/two")"
is "a race whose report does not end" splat "$(sed '/=====$/d' "$race" > "$WORK/two" && expected race "$WORK/two")"
is "a splat inside an expected race" splat "$(sed '/write to/i [   12.300075] WARNING: CPU: 0 PID: 1 at mm/rmap.c:1' "$race" > "$WORK/two" && expected race "$WORK/two")"
is "one report answers for one trace" splat "$({ cat "$oom"; grep 'Call Trace' "$oom"; } > "$WORK/two" && expected oom "$WORK/two")"
for log in "$TOP"/tests/lab/logs/splat*.log "$TOP"/tests/lab/logs/panic*.log; do
	name=$(basename "$log" .log)
	case $name in *+oom | *+allocation-failure) continue ;; esac
	is "$name behind an expected race" "${name%%+*}" "$({ sed /migrc-guest/d "$race"; sed 's/race in free/race in migrc_free/' "$log"; } > "$WORK/two" && expected race "$WORK/two")"
	is "$name where OOM is expected" "${name%%+*}" "$({ sed -n '/invoked/,/Mem-Info/p' "$oom"; cat "$log"; } > "$WORK/two" && expected "oom nomem" "$WORK/two")"
done
sed '/Call Trace/i [   12.300070] BUG: sleeping function called from invalid context at mm/migrc.c:1' "$oom" > "$WORK/two"
is "a splat inside an expected report" splat "$(expected oom "$WORK/two")"
finish
