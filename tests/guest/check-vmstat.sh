#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check-vmstat.sh DB STEPS: do the counters of DB's runs agree with the guest's own /proc/vmstat? STEPS
# has what the guest's init read just before and just after each step. A counter only grows, so
#     init before <= record before <= record after <= init after
# must hold for each of them; gauges are left out.
set -euo pipefail
DB=$1 STEPS=$2
# What only grows: events. nr_tlb_* are events in spite of their name.
EVENTS='^(pg(migrate|promote|demote|scan|steal|fault|alloc|free)|numa_(hint|pages|pte)|compact_|nr_tlb_|migrc_)'

compared=0 moved=0 bad=0
for before in "$STEPS"/*.vmstat-before; do
	step=$(basename "$before" .vmstat-before)
	while read -r name first last; do
		low=$(awk -v name="$name" '$1 == name { print $2 }' "$before")
		high=$(awk -v name="$name" '$1 == name { print $2 }' "${before%before}after")
		compared=$((compared + 1))
		[ "$last" -le "$first" ] || moved=$((moved + 1))
		if [ -z "$low" ] || [ "$low" -gt "$first" ] || [ "$first" -gt "$last" ] || [ "$last" -gt "$high" ]; then
			echo "$step: $name: $low <= $first <= $last <= $high does not hold"
			bad=$((bad + 1))
		fi
	done < <(sqlite3 -separator ' ' "$DB" "SELECT name, before_value, after_value FROM counter JOIN run ON run.id = run_id
		WHERE source = 'vmstat' AND workload = '${step#*-}'" | grep -E "$EVENTS")
done
echo "$compared counters compared, $moved of them moved, $bad disagree"
# Not vacuous: there are dozens of them in a run, and a workload moves some.
[ "$bad" -eq 0 ] && [ "$compared" -ge 30 ] && [ "$moved" -ge 5 ]
