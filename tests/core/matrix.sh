#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# matrix.sh [SERIES...]: does the one BPF object load and count on kernels as distributions ship them?
# Debian's cloud kernels of each series, by default of every one that its suites offer, are downloaded
# and booted; doctor and a short run on each rung must do well there. The table is written to
# build/core-matrix/table.md. Not part of `make test`: the network, and the time that such large kernels
# take to boot under emulation.

# shellcheck source=../../lab/lib/common.sh
. "$(dirname "$0")/../../lab/lib/common.sh"

readonly HERE=$ROOT/tests/core OUT=$ROOT/build/core-matrix LIMIT=${MIGRC_CORE_LIMIT:-1200}
PASSED=0 FAILED=0

query() {
	sqlite3 -readonly "$1" "$2" 2> /dev/null
}

# check WHAT WANT GOT
check() {
	if [ "$2" = "$3" ]; then
		PASSED=$((PASSED + 1))
	else
		FAILED=$((FAILED + 1))
		echo "FAILED $1: want '$2', got '$3'"
	fi
}

# boot DIR IMAGE INITRD
boot() {
	local dir=$1
	rm -rf "$dir"
	mkdir -p "$dir"
	printf '%s\n' 'mode run' 'arm core' 'kernel cloud-amd64' 'block 1' 'position 1' 'tiers any' \
		"script core $((LIMIT - 60)) in-guest.sh" > "$dir/guest-plan"
	MIGRC_ACCEL_SAID=1 MIGRC_PROGRESS=$(basename "$dir") "$LAB/boot.sh" --kernel "$2" --initrd "$3" \
		--plan "$dir/guest-plan" --out "$dir" --limit "$LIMIT" --file "$HERE/in-guest.sh" || true
}

# rungs DB WORKLOAD: on which rungs the core functions were.
rungs() {
	query "$1" "SELECT group_concat(n || ' ' || rung, ', ') FROM (SELECT rung, count(*) AS n FROM probe
		JOIN run ON run.id = run_id WHERE workload = '$2' AND name IN ('migrate_pages', 'try_to_migrate',
		'tlbbatch_flush', 'mm_flush', 'wp_fault') GROUP BY rung ORDER BY rung)"
}

# tiers DB: how many memory tiers the guest had, and what could not happen with one.
tiers() {
	query "$1" "SELECT CASE n WHEN 1 THEN '1: no demotion' ELSE n END FROM (SELECT length(value) - length(replace(value, '=', '')) AS n
		FROM fact WHERE key = 'memory_tiers' LIMIT 1)"
}

# judge SERIES RELEASE DIR: checks, and the kernel's row of the table.
judge() {
	local series=$1 release=$2 dir=$3 db=$3/results/runs.db rung
	check "$series: outcome" ok "$(cut -f1 "$dir/outcome")"
	check "$series: doctor" 0 "$(tr -d '\r' < "$dir/console.log" | sed -n 's/^core doctor //p')"
	for rung in fentry kprobe-multi kprobe; do
		check "$series: a good run on $rung" 1 "$(query "$db" "SELECT count(*) FROM run JOIN run_validity v
			ON v.run_id = run.id WHERE valid AND workload = 'rung-$rung'")"
		check "$series: $rung: pages migrated are vmstat's" 1 "$(query "$db" "SELECT count(*) FROM run WHERE workload = 'rung-$rung'
			AND (SELECT after_value FROM counter WHERE run_id = run.id AND source = 'bpf' AND name = 'migrate.succeeded') > 0
			AND abs((SELECT after_value FROM counter WHERE run_id = run.id AND source = 'bpf' AND name = 'migrate.succeeded') -
			(SELECT after_value - before_value FROM counter WHERE run_id = run.id AND source = 'vmstat' AND name = 'pgmigrate_success'))
			<= (SELECT value FROM instrument WHERE run_id = run.id AND name = 'edge_pgmigrate_success')")"
		# Of batches or, where migration does not batch (before 6.3), of the mm.
		check "$series: $rung: migration's flushes have CPUs" 1 "$(query "$db" "SELECT count(*) FROM histogram JOIN run ON run.id = run_id
			WHERE workload = 'rung-$rung' AND name = 'flush_cpus.migration' AND total > 0 AND max BETWEEN 1 AND 4")"
	done
	printf '| %s | %s | %s | %s | %s | %s | %s |\n' "$series" "$release" "$(rungs "$db" rung-fentry)" \
		"$(rungs "$db" rung-kprobe-multi)" "$(rungs "$db" rung-kprobe)" \
		"$(query "$db" "SELECT target FROM probe WHERE name = 'munmap' AND rung <> 'none' LIMIT 1")" \
		"$(tiers "$db")" >> "$OUT/table.md"
}

main() {
	local series release image
	mkdir -p "$OUT"
	"$LAB/fetch-packaged-kernel.sh" "$OUT/kernels" "$@"
	"$LAB/make-initramfs.sh" "$OUT/initramfs"
	cp "$(cat "$OUT/initramfs")" "$OUT/initrd"
	printf '%s\n' '| series | release | best rung | from kprobe-multi on | from kprobe on | munmap is | memory tiers |' \
		'|---|---|---|---|---|---|---|' > "$OUT/table.md"
	while read -r series release image <&7; do
		say BOOT "$series: $release (at most $(duration "$LIMIT"))"
		boot "$OUT/$series" "$image" "$OUT/initrd"
		if ! grep -qa migrc-guest: "$OUT/$series/console.log"; then
			# Nothing of ours had run. Emulation does not keep the text coherent that a kernel patches as it starts.
			say BOOT "$series again, as it ended before its init: $(tr '\t' ' ' < "$OUT/$series/outcome")"
			boot "$OUT/$series" "$image" "$OUT/initrd"
		fi
		judge "$series" "$release" "$OUT/$series"
	done 7< "$OUT/kernels"
	cat "$OUT/table.md"
	echo "core matrix: $PASSED passed, $FAILED failed"
	[ "$FAILED" -eq 0 ]
}

main "$@"
