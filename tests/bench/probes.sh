#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# probes.sh: what the probes cost, in instructions: QEMU counts them, and the guest's clock is that
# count, so a run's wall time is the number of instructions that all its CPUs executed. The table is
# written to build/bench-probes/table.md. Exit status 1 if the probes add 2 % or more to a workload, or a
# run of a program costs more than twice what one of an empty program does.

# shellcheck source=../../lab/lib/common.sh
. "$(dirname "$0")/../../lab/lib/common.sh"

readonly HERE=$ROOT/tests/bench OUT=$ROOT/build/bench-probes LIMIT=${MIGRC_BENCH_LIMIT:-5400}

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

# workloads: what empty programs and the probes add to a workload, by the least time of its repetitions.
workloads() {
	console workload | awk '
		!($3 in seen) { seen[$3] = 1; name[++nr] = $3 }
		!(($3, $2) in took) || $5 < took[$3, $2] { took[$3, $2] = $5; runs[$3, $2] = $4 }
		END {
			print "| workload | empty programs add | runs of them | the probes add | runs of their programs |"
			print "|---|---|---|---|---|"
			for (i = 1; i <= nr; i++) {
				x = name[i]
				if (!took[x, "none"] || !took[x, "empty"] || !took[x, "all"]) { print "| " x " | - | - | - | - |"; bad = 1; continue }
				printf "| %s | %+.2f %% | %d | %+.2f %% | %d |\n", x, (took[x, "empty"] / took[x, "none"] - 1) * 100,
					runs[x, "empty"], (took[x, "all"] / took[x, "none"] - 1) * 100, runs[x, "all"]
				if (took[x, "all"] / took[x, "none"] >= 1.02) bad = 1
			}
			exit bad || !nr
		}'
}

# bodies: medians of the run time of each probe's programs, entry and exit together, by the kernel's own
# statistics: from one reading of the clock to the other, which is all that an empty program's is.
bodies() {
	console body | awk '
		!($3 in seen) && $2 == "all" { seen[$3] = 1; name[++nr] = $3 }
		{ median[$3, $2] = $5; empty = $2 == "empty" ? $5 : empty }
		END {
			print "| probe | median of a run | of an empty program | times |"
			print "|---|---|---|---|"
			for (i = 1; i <= nr; i++) {
				e = (name[i], "empty") in median ? median[name[i], "empty"] : empty
				printf "| %s | %d | %d | %.1f |\n", name[i], median[name[i], "all"], e, median[name[i], "all"] / e
			}
			exit !nr
		}'
}

# operations: what the programs add to an operation, and so what a run of a program costs as a whole:
# getting there, the kernel's statistics, and the body. Fails where that is more than twice an empty one's.
operations() {
	console operation | awk '
		$2 == "none" { name[++nr] = $3 }
		{ runs[$3, $2] = $4; took[$3, $2] = $5 }
		END {
			print "| operation | without probes | a run of an empty program adds | of the probes | times |"
			print "|---|---|---|---|---|"
			for (i = 1; i <= nr; i++) {
				x = name[i]
				if (!runs[x, "empty"] || !runs[x, "all"]) { print "| " x " | - | - | - | - |"; bad = 1; continue }
				e = (took[x, "empty"] - took[x, "none"]) / runs[x, "empty"]
				a = (took[x, "all"] - took[x, "none"]) / runs[x, "all"]
				printf "| %s | %d | %d of %d | %d of %d | %.1f |\n", x, took[x, "none"], e, runs[x, "empty"], a, runs[x, "all"], a / e
				if (a > 2 * e) bad = 1
			}
			exit bad || !nr
		}'
}

main() {
	local rc=0
	[ "${1:-}" = --table ] || boot
	{
		workloads || rc=1
		echo
		operations || rc=1
		echo
		bodies || rc=1
	} > "$OUT/table.md"
	cat "$OUT/table.md"
	return "$rc"
}

main "$@"
