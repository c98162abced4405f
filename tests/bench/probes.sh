#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# probes.sh: what the probes cost, in instructions: QEMU counts them, and the guest's clock is that
# count, so a run's wall time is the number of instructions that all its CPUs executed. The table is
# written to build/bench-probes/table.md. Exit status 1 if the probes add 2 % or more to a workload.

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

sql() {
	sqlite3 -readonly -separator ' ' "$OUT/results/runs.db" "$1"
}

# workloads: cost of empty programs and of the probes over none, by medians of the three runs of each arm.
# What is compared is the time of the same work: pm works for a fixed time, so the time of an access.
workloads() {
	sql "SELECT workload, arm, CASE workload WHEN 'pm' THEN (SELECT 1e12 / value FROM metric WHERE run_id = id AND
			name = 'accesses_per_s') WHEN 'xs' THEN (SELECT value * 1e9 FROM metric WHERE run_id = id AND name = 'runtime')
			ELSE wall_ns END AS work, (SELECT value FROM instrument WHERE run_id = id AND name = 'body_runs')
		FROM run WHERE state = 'complete' ORDER BY workload, arm, work" |
	awk 'function median(k) { return v[k, int((n[k] + 1) / 2)] }
		{ k = $1 " " $2; v[k, ++n[k]] = $3; runs[k] += $4; if (!w[$1]++) name[++nr] = $1 }
		END {
			print "| workload | empty programs | the probes | runs of a program | instructions a run, empty | of the probes |"
			print "|---|---|---|---|---|---|"
			for (i = 1; i <= nr; i++) {
				x = name[i]
				none = median(x " none"); empty = median(x " empty"); all = median(x " all")
				if (!none || !empty || !all) { print "| " x " | - | - | - | - | - |"; bad = 1; continue }
				ran = runs[x " all"] / n[x " all"]; eran = runs[x " empty"] / n[x " empty"]
				fixed = x != "pm"
				printf "| %s | %+.2f %% | %+.2f %% | %d | %s | %s |\n", x, (empty / none - 1) * 100,
					(all / none - 1) * 100, ran, fixed && eran ? int((empty - none) / eran) : "-",
					fixed && ran ? int((all - none) / ran) : "-"
				if (all / none - 1 >= 0.02) bad = 1
			}
			exit bad
		}'
}

# bodies: by the kernel's own statistics, instructions of a run of each probe's programs, entry and exit
# together, over all workloads; the reading of the clock that measures them included.
bodies() {
	sql "SELECT p.name, arm, sum(body_ns) / max(sum(value), 1), sum(value) FROM probe p JOIN run ON run.id = p.run_id
		JOIN instrument i ON i.run_id = run.id AND i.name = 'body_runs.' || p.name WHERE body_ns IS NOT NULL
		GROUP BY p.name, arm ORDER BY p.name" |
	awk '{ v[$1, $2] = $3; if ($2 == "all") { runs[$1] = $4; name[++nr] = $1 } }
		END {
			print "| probe | runs | instructions a run | empty program |"
			print "|---|---|---|---|"
			for (i = 1; i <= nr; i++)
				printf "| %s | %d | %d | %s |\n", name[i], runs[name[i]], v[name[i], "all"],
					(name[i], "empty") in v ? v[name[i], "empty"] : "-"
		}'
}

main() {
	local rc=0
	[ "${1:-}" = --table ] || boot
	{
		workloads || rc=1
		echo
		bodies
	} > "$OUT/table.md"
	cat "$OUT/table.md"
	return "$rc"
}

main "$@"
