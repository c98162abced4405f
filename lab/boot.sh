#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# boot.sh --kernel BZIMAGE --initrd CPIO --plan FILE --out DIR [--preset current|l1tf] [--limit S]
#         [--icount on|off|N] [--fast MB] [--file FILE...]: a file for the guest, of the plan's `script` lines
#
# Boots the guest once with a plan and brings its results to DIR: console.log, results/ (the files
# the guest sent), outcome (name and detail). The exit status is the outcome's (lib/outcome.sh), 2
# for an error of the tool, 130 if interrupted.

# shellcheck source=lib/common.sh
. "$(dirname "$0")/lib/common.sh"
# shellcheck source=lib/outcome.sh
. "$LAB/lib/outcome.sh"
# shellcheck source=lib/unframe.sh
. "$LAB/lib/unframe.sh"
# shellcheck source=lib/qemu.sh
. "$LAB/lib/qemu.sh"
# shellcheck source=lib/accel.sh
. "$LAB/lib/accel.sh"

# Emulation does not keep a probe's patching coherent: such a boot is tried again this often.
readonly INT3_RETRIES=2

options() {
	local file
	KERNEL='' INITRD='' PLAN='' OUT='' PRESET=current LIMIT=300 ICOUNT=off FILES=()
	while [ $# -gt 1 ]; do
		case $1 in
		--kernel) KERNEL=$2 ;;
		--initrd) INITRD=$2 ;;
		--plan) PLAN=$2 ;;
		--out) OUT=$2 ;;
		--preset) PRESET=$2 ;;
		--limit) LIMIT=$2 ;;
		--icount) ICOUNT=$2 ;;
		--fast) FAST_MB=$2 ;;
		--file) FILES+=("$2") ;;
		*) die "boot.sh" "unknown option $1" "see the top of the script" ;;
		esac
		shift 2
	done
	if [ $# -ne 0 ] || [ -z "$OUT" ]; then
		die "boot.sh" "wrong usage" "see the top of the script"
	fi
	[[ $ICOUNT =~ ^(on|off|[1-8])$ ]] ||
		die "boot.sh" "--icount '$ICOUNT' is neither on, off, nor a number from 1 to 8" "see the top of the script"
	for file in "$KERNEL" "$INITRD" "$PLAN" "${FILES[@]}"; do
		[ -r "$file" ] || die "boot.sh" "'$file' cannot be read" "see the top of the script"
	done
}

# The host's view of the accelerator is a fact of every run: it decides whether times are judged.
plan_with_facts() {
	cat "$PLAN"
	echo "fact match:accelerator $ACCEL"
	echo "fact match:preset $PRESET"
	[ "$ICOUNT" = off ] || echo "fact match:icount $ICOUNT"
	echo "fact match:guest_cpus $GUEST_CPUS"
	echo "fact match:guest_nodes_mb $FAST_MB,$SLOW_MB"
}

# What the guest does now, for a terminal.
watch_guest() {
	local start line
	[ -t 2 ] || return 0
	start=$(now)
	while sleep 1; do
		line=$(grep -a 'migrc-guest: ' "$OUT/console.log" 2>/dev/null | tail -n 1 | tr -d '\r' || true)
		progress "${MIGRC_PROGRESS:-guest}: $(($(now) - start)) s, ${line:-kernel starts}"
	done
}

# shellcheck disable=SC2317 # called by the trap
interrupted() {
	kill "$EMULATOR" 2>/dev/null || true
	wait "$EMULATOR" 2>/dev/null || true
	kill "$WATCHER" 2>/dev/null || true
	progress_end
	exit 130
}

# emulate: one boot; EMULATOR_RC is timeout(1)'s. In the background, so that an interrupt is acted
# on at once.
emulate() {
	EMULATOR_RC=0
	rm -rf "$OUT/results" "$OUT/console.log" "$OUT/results.bin"
	printf '%q ' "${QEMU[@]}" > "$OUT/qemu.cmd"
	watch_guest &
	WATCHER=$!
	timeout -k 5 "$LIMIT" "${QEMU[@]}" -serial "file:$OUT/console.log" -serial "file:$OUT/results.bin" \
		> "$OUT/qemu.log" 2>&1 < /dev/null &
	EMULATOR=$!
	trap interrupted INT TERM
	wait "$EMULATOR" || EMULATOR_RC=$?
	trap - INT TERM
	kill "$WATCHER" 2>/dev/null || true
	wait "$WATCHER" 2>/dev/null || true
	progress_end
	touch "$OUT/console.log" "$OUT/results.bin"
}

# last_result: the file without which results are not whole: the database, or, if the plan records
# nothing, the status of its last step.
last_result() {
	if grep -qE '^(step|script) ' "$OUT/plan"; then
		echo runs.db
	else
		awk '$1 == "bare" { name = ++n "-" $2 ".rc" } END { print name }' "$OUT/plan"
	fi
}

# collect: the results into OUT/results; the log that the guest sent may hold more than the console.
collect() {
	local whole=0 detail
	mkdir -p "$OUT/results"
	unframe "$OUT/results.bin" "$OUT/results" > "$OUT/frames" || true
	[ "$(find "$OUT/results" -name "$(last_result)" -size +0)" = '' ] || whole=1
	cat "$OUT/console.log" > "$OUT/evidence"
	[ ! -f "$OUT/results/dmesg" ] || cat "$OUT/results/dmesg" >> "$OUT/evidence"
	outcome__expected "$(sed -n 's/^expect //p' "$OUT/plan" | tr '\n' ' ')" < "$OUT/evidence" > "$OUT/evidence.new"
	mv "$OUT/evidence.new" "$OUT/evidence"
	OUTCOME=$(outcome__classify "$OUT/evidence" "$EMULATOR_RC" "$whole")
	detail=$(outcome__detail "$OUT/evidence" "$OUTCOME")
	[ "$OUTCOME" != emulator-failed ] || detail=$(grep -v '^ *$' "$OUT/qemu.log" | tail -n 1)
	[ "$OUTCOME" != hang ] || detail="no end within $LIMIT s${detail:+, last: $detail}"
	rm -f "$OUT/evidence"
	printf '%s\t%s\n' "$OUTCOME" "$detail" > "$OUT/outcome"
}

main() {
	local try
	options "$@"
	need_command qemu-system-x86_64 qemu-system-x86
	need_command cpio cpio
	mkdir -p "$OUT"
	accel__choose "$PRESET" "$KERNEL" "$INITRD" "$ICOUNT"
	[ -z "$WHY" ] || [ -n "${MIGRC_ACCEL_SAID:-}" ] || say ACCEL "$ACCEL: $WHY"
	plan_with_facts > "$OUT/plan"
	qemu__initrd "$INITRD" "$OUT/plan" "$OUT/initrd" "${FILES[@]}"
	qemu__args "$PRESET" "$ACCEL" "$KERNEL" "$OUT/initrd" "$ICOUNT"
	for ((try = 0; try <= INT3_RETRIES; try++)); do
		emulate
		collect
		[ "$OUTCOME" = int3-race ] || break
		cp "$OUT/console.log" "$OUT/console.int3-race-$((try + 1)).log"
	done
	rm -f "$OUT/initrd"
	exit "$(outcome__code "$OUTCOME")"
}

main "$@"
