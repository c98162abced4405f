#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# probes.sh [--table]: what the probes cost, in instructions: QEMU counts them, and the guest's clock is
# that count, so a run's wall time is the number of instructions that all its CPUs executed. The tables
# are written to build/bench-probes/table.md; --table makes them of the last boot. Exit status: 1 if the
# probes add 2 % or more to a workload, or if a run of one of their programs costs more than twice what
# one of an empty program does; 3 if none does, but an interval reaches 2 %, so that it is not decided; 2
# if something was not measured.

# shellcheck source=../../lab/lib/common.sh
. "$(dirname "$0")/../../lab/lib/common.sh"

readonly HERE=$ROOT/tests/bench OUT=${MIGRC_BENCH_OUT:-$ROOT/build/bench-probes} LIMIT=${MIGRC_BENCH_LIMIT:-5400}

boot() {
	mkdir -p "$OUT"
	"$LAB/build-kernel.sh" stock
	"$LAB/make-initramfs.sh" "$OUT/initramfs"
	cp "$(cat "$OUT/initramfs")" "$OUT/common.initrd"
	printf '%s\n' 'mode run' 'arm bench' 'kernel stock' 'scan fast' 'block 1' 'position 1' \
		"script bench 100000 probes-in-guest.sh" > "$OUT/guest-plan"
	say BOOT "counting instructions (at most $(duration "$LIMIT"))"
	MIGRC_ACCEL_SAID=1 MIGRC_PROGRESS=bench "$LAB/boot.sh" --kernel "$CACHE/kernels/stock/bzImage" \
		--initrd "$OUT/common.initrd" --plan "$OUT/guest-plan" --out "$OUT" --limit "$LIMIT" --icount on --fast 128 \
		--file "$HERE/probes-in-guest.sh" --file "$ROOT/build/tests/bodies" ||
		die "bench" "the guest ended as: $(cat "$OUT/outcome")" "see $OUT/console.log"
}

# console KIND: the lines of that kind that tests/bench/bodies.c printed.
console() {
	tr -d '\r' < "$OUT/console.log" | grep -a "^$1 "
}

# workloads: what is added to a workload: the mean over the rounds of the logarithm of its time, relative
# to that without probes in the same round, with its 95 % interval by Student's t.
workloads() {
	console workload | awk '
		BEGIN {
			split("12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262 2.228 2.201 2.179 2.160 2.145 2.131", t)
			nr_arms = split("empty probes probes+stats probes+pages", arms)
			say["empty"] = "empty programs"; say["probes"] = "the probes"; say["probes+stats"] = "the probes and the statistics"; say["probes+pages"] = "the probes and `--per-page`"
		}
		!($3 in rounds) { name[++nr] = $3 }
		$4 + 1 > rounds[$3] { rounds[$3] = $4 + 1 }
		{ took[$3, $2, $4] = $6; runs[$3, $2] += $5 }
		END {
			print "| workload | with | rounds | adds | 95 % interval | runs of programs |"
			print "|---|---|---|---|---|---|"
			for (i = 1; i <= nr; i++) for (k = 1; k <= nr_arms; k++) {
				x = name[i]; arm = arms[k]; n = rounds[x]; sum = square = 0
				if (n < 2 || n > 16) { print x ": " n " rounds"; exit 2 }
				for (r = 0; r < n; r++) {
					if (!took[x, "none", r] || !took[x, arm, r]) { print x ": round " r " lacks " arm; exit 2 }
					d = log(took[x, arm, r] / took[x, "none", r])
					sum += d; square += d * d
				}
				mean = sum / n
				half = (square - n * mean * mean) / (n - 1)
				half = t[n - 1] * sqrt((half > 0 ? half : 0) / n)
				low = (exp(mean - half) - 1) * 100; high = (exp(mean + half) - 1) * 100
				printf "| %s | %s | %d | %+.2f %% | %+.2f to %+.2f %% | %s |\n", x, say[arm], n, (exp(mean) - 1) * 100,
					low, high, arm == "probes+stats" ? int(runs[x, arm] / n) : "not counted"
				if (arm == "probes" && low >= 2) failed = 1
				if (arm == "probes" && high >= 2) undecided = 1
			}
			exit !nr ? 2 : failed ? 1 : undecided ? 3 : 0
		}'
}

# operations: what programs add to an operation; for a run of a program, with the statistics and without.
operations() {
	console operation | awk '
		$2 == "none" { name[++nr] = $3 }
		{ took[$3, $2] = $5 }
		$2 ~ /stats/ { runs[$3, $2] = $4 }
		function added(x, arm, n) { return int((took[x, arm] - took[x, "none"]) / n + 0.5) }
		END {
			print "| operation | without probes | a run of an empty program adds | of the probes | times | both with statistics | times |"
			print "|---|---|---|---|---|---|---|"
			for (i = 1; i <= nr; i++) {
				x = name[i]; e = runs[x, "empty+stats"]; a = runs[x, "probes+stats"]
				if (!e || !a) { print x ": no program ran"; exit 2 }
				printf "| %s | %d | %d of %d | %d of %d | %.2f | %d, %d | %.2f |\n", x, took[x, "none"], added(x, "empty", e), e,
					added(x, "probes", a), a, added(x, "probes", a) / added(x, "empty", e), added(x, "empty+stats", e),
					added(x, "probes+stats", a), added(x, "probes+stats", a) / added(x, "empty+stats", e)
			}
			exit nr ? 0 : 2
		}'
}

# bodies: each program. By the statistics alone: the time between two readings of their clock, which is
# most of an empty one's. As a whole, with the way to the program and back: what a run of an empty
# program adds to an operation, and by how much the program's time by the statistics is more. It fails
# where that is more than twice as much as an empty program's.
bodies() {
	{ console operation; console body; } | awk '
		$1 == "operation" { took[$3, $2] = $5; runs[$3, $2] = $4; next }
		$2 == "clock+stats" { clock = $6 > clock ? $6 : clock; next }
		$2 == "empty+stats" { sum += $6; n++; next }
		$2 == "probes+stats" { row[++nr] = $3 " | " $4; value[nr] = $6 }
		END {
			r = runs["write_fault", "empty+stats"] + runs["migration", "empty+stats"]
			if (!nr || !n || !r || !clock) { print "incomplete"; exit 2 }
			way = took["write_fault", "empty+stats"] - took["write_fault", "none"]
			way = (way + took["migration", "empty+stats"] - took["migration", "none"]) / r
			empty = sum / n
			print "| probe | program | by the statistics | times | as a whole | times |"
			print "|---|---|---|---|---|---|"
			printf "| an empty program | | %d | 1.00 | %d | 1.00 |\n", empty, way
			printf "| one that reads the clock | | %d | %.2f | %d | %.2f |\n", clock, clock / empty, way + clock - empty, (way + clock - empty) / way
			for (i = 1; i <= nr; i++) {
				whole = way + value[i] - empty
				printf "| %s | %d | %.2f | %d | %.2f |\n", row[i], value[i], value[i] / empty, whole, whole / way
				if (whole > 2 * way) bad = 1
			}
			exit bad
		}'
}

# table NAME: of that function; what it ends with is one of STATUSES.
table() {
	local rc=0
	"$1" || rc=$?
	STATUSES+=" $rc"
	echo
}

main() {
	local STATUSES=
	[ "${1:-}" = --table ] || boot
	{
		table workloads
		table operations
		table bodies
	} > "$OUT/table.md"
	cat "$OUT/table.md"
	case $STATUSES in
	*[!013\ ]*)
		echo "not measured"
		return "$EX_TOOL"
		;;
	*1*)
		echo "not met"
		return 1
		;;
	*3*)
		echo "not decided: an interval reaches 2 %"
		return 3
		;;
	*) echo "met: less than 2 % for every workload, less than twice an empty program for every program" ;;
	esac
}

main "$@"
