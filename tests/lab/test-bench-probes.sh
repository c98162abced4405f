#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What tests/bench/probes.sh makes of the lines that the guest printed.
. "$(dirname "$0")/lib.sh"

# guest ROUNDS PROBES WORST: a workload of which a round without probes takes 1000 and one with them one
# more of PROBES by turns; the program that takes most is WORST by the statistics.
guest() {
	local round arm took op
	local -a with
	read -ra with <<< "$2"
	for ((round = 0; round < $1; round++)); do
		for arm in none empty probes probes+stats probes+pages; do
			took=1000
			[ "$arm" != probes ] || took=${with[round % ${#with[@]}]}
			echo "workload $arm pingpong $round 10 $took.000"
		done
	done
	for op in write_fault migration; do
		echo "operation none $op 0 1000"
		echo "operation empty $op 0 1400"
		echo "operation empty+stats $op 4 1800"
		echo "operation probes $op 0 1900"
		echo "operation probes+stats $op 4 2300"
	done
	echo "body clock+stats - exit 51 113"
	echo "body empty+stats wp_fault exit 51 60"
	echo "body probes+stats wp_fault exit 51 $3"
	echo "body probes+stats wp_fault entry 51 150"
}

# judged WHAT STATUS SAYS: of what is in the console.
judged() {
	local out rc=0
	out=$(MIGRC_BENCH_OUT=$WORK "$TOP/tests/bench/probes.sh" --table 2>&1) || rc=$?
	is "$1: status" "$2" "$rc"
	has "$1: says so" "$3" "$out"
}

# An empty program's run adds 200 to an operation; one by the statistics of 260 adds 400, which is twice.
guest 6 "1005 1006" 260 > "$WORK/console.log"
judged "small and certain" 0 "met: less than 2 %"
has "the addition" "| pingpong | the probes | 6 | +0.55 % | +0.49 to +0.61 % |" "$(cat "$WORK/table.md")"
has "the longest program" "| wp_fault | exit | 260 | 4.33 | 400 | 2.00 |" "$(cat "$WORK/table.md")"
sed -i 's/$/\r/' "$WORK/console.log"
judged "on a serial console" 0 "met: less than 2 %"
guest 6 "1005 1006" 261 > "$WORK/console.log"
judged "a program too long" 1 "not met"
guest 6 "1030 1031" 200 > "$WORK/console.log"
judged "too much" 1 "not met"
guest 6 "980 1030" 200 > "$WORK/console.log"
judged "too wide" 3 "not decided"
guest 6 "980 1030" 261 > "$WORK/console.log"
judged "too wide, and a program too long" 1 "not met"
guest 1 1000 200 > "$WORK/console.log"
judged "one round" 2 "not measured"
guest 6 "1005 1006" 200 | grep -v "^workload" > "$WORK/console.log"
judged "no workload" 2 "not measured"
guest 6 "1005 1006" 200 | grep -v "^body" > "$WORK/console.log"
judged "no program" 2 "not measured"
guest 6 "1005 1006" 200 | grep -v "^workload probes pingpong 3" > "$WORK/console.log"
judged "a round without the probes" 2 "lacks probes"
guest 6 "1030 1031" 261 | grep -v "^operation" > "$WORK/console.log"
judged "no operation, and too much" 2 "not measured"
: > "$WORK/console.log"
judged "nothing" 2 "not measured"
finish
