#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check-record.sh DB: runs inside a guest (busybox), as root, with migrc in the PATH. Records runs
# whose outcome is known into DB and checks their exit status; what the runs must contain is checked
# on the host, by check-db.sh. Prints "N passed, N failed".
set -u
DB=${1:?usage: check-record.sh DB}
passed=0
failed=0

# check TEXT EXPECTED ACTUAL
check() {
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $1: expected '$2', got '$3'"
	fi
}

# record WORKLOAD [OPTION...] -- COMMAND...
record() {
	local workload=$1
	shift
	migrc record -o "$DB" --arm check --workload "$workload" "$@"
}

record compact -- sh -c 'for i in 1 2 3; do echo 1 > /proc/sys/vm/compact_memory; done'
check "compact_memory" 0 $?

# Moves pages both ways and flushes in batches: the counts that check-db.sh compares.
record pingpong --per-page --timeout 300 -- pingpong -t 2 -s 16 --rounds 2
check "pingpong" 0 $?

# The same work without events, with few and with all: a wake-up for an event would be an interrupt of
# the CPU to itself, and check-db.sh compares the rows of /proc/interrupts.
record pingpong-agg --timeout 300 -- pingpong -t 2 -s 4 --rounds 1
check "pingpong without raw events" 0 $?
record pingpong-events --per-page --events=all --timeout 300 -- pingpong -t 2 -s 4 --rounds 1
check "pingpong with raw events" 0 $?

record pingpong-sampled --per-page --events=sample:16 --event-format=rows --by=comm --bpf-stats=off --timeout 300 -- pingpong -t 2 -s 4 --rounds 1
check "pingpong with sampled events, split by comm" 0 $?

# The same on a lower rung: nothing that is counted may depend on it.
record rung-kprobe --per-page --rung kprobe --timeout 300 -- pingpong -t 2 -s 4 --rounds 1
check "on kprobes" 0 $?
record rung-tracepoint --per-page --rung tracepoint --missing-probes=warn --timeout 300 -- pingpong -t 2 -s 4 --rounds 1 2> /dev/null
check "on tracepoints alone" 0 $?
record rung-refused --rung tracepoint -- true 2> /dev/null
check "core probes missing are an error" 5 $?

# The smallest ring: what does not fit is lost, counted, and makes the run invalid, not wrong.
record lossy --per-page --events=all --ring-kb 4 --timeout 300 -- pingpong -t 2 -s 16 --rounds 1
check "a ring that is too small" 4 $?

# What recording costs: pairs of runs without and with it, and one more that is stored with what they said.
record calibrated --calibrate=2 --timeout 300 -- pingpong -t 2 -s 1 --rounds 1 > /tmp/calibrated
check "calibration" 0 $?
check "calibration: both times, with an interval" 2 "$(grep -cE \
	'^calibrate: .*: [+-][0-9.]+ % \(95 % interval [+-][0-9.]+ to [+-][0-9.]+ %, 2 pairs\)$' /tmp/calibrated)"
cost=$(sed -n 's/^calibrate: wall time: \([^ ]* %\).*/\1/p' /tmp/calibrated)
id=$(migrc sql -d "$DB" "SELECT max(id) FROM run")
for text in "show $id" compare "report --format text -o -"; do
	# shellcheck disable=SC2086 # words
	check "calibration: ${text%% *} says what it cost" 1 "$(migrc $text -d "$DB" 2>&1 | tr '\n' ' ' |
		grep -cF "Recording cost, by 2 pairs of runs with and without it: wall time $cost (95 %")"
done

# Writes to a page of zeroes that were read first: write faults on read-only entries.
record wp-fault -- sh -c 'for i in 1 2 3 4 5 6 7 8; do (x=$i; :); done'
check "write faults" 0 $?

record fails -- sh -c 'exit 3' 2> /dev/null
check "a workload that fails" 1 $?

record hangs --timeout 1 -- sleep 100 2> /dev/null
check "a workload that hangs" 1 $?

record missing -- /no/such/program 2> /dev/null
check "a workload that is not there" 2 $?

# TERM: a shell without job control has its background jobs ignore INT.
migrc record -o "$DB" --arm check --workload interrupted -- sleep 100 2> /dev/null &
pid=$!
sleep 10
kill -TERM $pid
wait $pid
check "an interrupted run" 1 $?

migrc doctor > /dev/null
check "doctor" 0 $?

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
