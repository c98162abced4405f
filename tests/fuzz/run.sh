#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh seconds N|runs N TARGET...: every fuzz target for N seconds or N inputs, from the seeds in
# corpus/ and from what earlier runs found (build/fuzz/corpus/), FUZZ_JOBS of them at once (1). All are
# run, also after one has failed; the input that broke one is kept and named.
set -u
HERE=$(cd "$(dirname "$0")" && pwd)
JOBS=${FUZZ_JOBS:-1}
case ${1:-} in
seconds) limit=-max_total_time=$2 ;;
runs) limit=-runs=$2 ;;
*)
	echo "run.sh: usage: run.sh seconds N|runs N TARGET..." >&2
	exit 2
	;;
esac
shift 2
[ $# -gt 0 ] || { echo "run.sh: no target given" >&2; exit 2; }
[ "$JOBS" -ge 1 ] 2> /dev/null || { echo "run.sh: FUZZ_JOBS: '$JOBS' is not a number from 1" >&2; exit 2; }
# Undefined behaviour ends the target; a leak is a fault as well.
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 ASAN_OPTIONS=detect_leaks=1

# fuzz TARGET: its line; fails if the target did
fuzz() {
	local target=$1 name=${1##*/} work log
	work=${target%/*}/corpus/$name
	log=${target%/*}/$name.log
	mkdir -p "$work" "${target%/*}/artifacts"
	if "$target" "$limit" -timeout=20 -rss_limit_mb=1024 -print_final_stats=1 -seed="${FUZZ_SEED:-0}" \
		-artifact_prefix="${target%/*}/artifacts/$name-" "$work" "$HERE/corpus/$name" > "$log" 2>&1; then
		awk -v name="$name" '
			/stat::number_of_executed_units/ { runs = $2 }
			/ cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") cov = $(i + 1) }
			END { printf "%-14s %9d inputs, %5d edges: good\n", name, runs, cov }' "$log"
		return
	fi
	echo "FAILED: $name:"
	grep -E "ERROR|SUMMARY|runtime error|Test unit written" "$log" | sed 's/^/    /'
	echo "    see $log"
	return 1
}

bad=0
running=0
for target in "$@"; do
	if [ "$running" -ge "$JOBS" ]; then
		wait -n || bad=$((bad + 1))
		running=$((running - 1))
	fi
	fuzz "$target" &
	running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
	wait -n || bad=$((bad + 1))
	running=$((running - 1))
done
[ "$bad" -eq 0 ]
