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
finish
