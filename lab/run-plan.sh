#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run-plan.sh PLAN [OUT]: boots a plan's guests in order and gathers their runs in OUT/runs.db. PLAN is a
# file, or the name of one in lab/plans/. OUT is out/PLANNAME by default. A boot whose results are there,
# from the same kernel, programs and plan, is not repeated; stopped at any time, it goes on where it was.
# Exit status: 0 all boots ok, 1 a workload failed, 4 a boot ended otherwise (panic, hang, splat, ...) or
# a step's checksum is not the same in all boots, 2 error of the tool, 130 interrupted.

# shellcheck source=lib/common.sh
. "$(dirname "$0")/lib/common.sh"
# shellcheck source=lib/plan.sh
. "$LAB/lib/plan.sh"
# shellcheck source=lib/merge.sh
. "$LAB/lib/merge.sh"
# shellcheck source=lib/boots.sh
. "$LAB/lib/boots.sh"

prepare() {
	local error kernels
	[ -r "$PLAN" ] || die "$PLAN" "cannot be read" "name a plan file, for example one of $LAB/plans"
	error=$(plan__error "$PLAN")
	[ -z "$error" ] || die "$PLAN" "$error" "see lab/plans/demo.plan for the format"
	need_command sqlite3 sqlite3
	need_command qemu-system-x86_64 qemu-system-x86
	mkdir -p "$OUT/boots" 2>/dev/null || die "$OUT" "cannot be created" "name a folder that you may write"
	need_space "$OUT" 200 "results"
	exec 8>"$OUT/.lock"
	flock -n 8 || die "$OUT" "another run writes there" "wait for it, or name another folder"
	"$LAB/make-initramfs.sh" "$OUT/.initramfs" 8>&-
	INITRD=$(cat "$OUT/.initramfs")
	# A copy of one's own: a build beside this run replaces the one in the cache.
	rm -f "$OUT"/.initramfs-*
	cp "$INITRD" "$OUT/.initramfs-$(basename "$INITRD")" ||
		die "initramfs" "could not be copied to $OUT" "see whether the disk is full, and repeat"
	INITRD=$OUT/.initramfs-$(basename "$INITRD")
	mapfile -t kernels < <(plan__lines "$PLAN" arm | awk '!seen[$2]++ { print $2 }')
	"$LAB/build-kernel.sh" "${kernels[@]}" 8>&-
}

stop() {
	kill -TERM "$BOOT" 2>/dev/null || true
	wait "$BOOT" 2>/dev/null || true
	printf '\n' >&2
	warn "plan" "stopped; what was measured is in $OUT; repeat the command to go on"
	exit 130
}

# boot_one POSITION BLOCK ARM DIR KEY KERNEL
boot_one() {
	local position=$1 arm=$3 dir=$4 key=$5 kernel=$6 start rc=0
	boots__set_aside "$OUT" "$dir"
	mkdir -p "$dir"
	plan__for_guest "$PLAN" "$NAME" "$position" "$2" "$arm" > "$dir/guest-plan"
	start=$(now)
	# In the background, so that an interrupt is acted on at once; it does not get Ctrl-C itself.
	MIGRC_PROGRESS="boot $position/$BOOTS $arm, $(remaining "$position")" "$LAB/boot.sh" --kernel "$kernel/bzImage" \
		--initrd "$INITRD" --plan "$dir/guest-plan" --out "$dir" --preset "$PRESET" --icount "$ICOUNT" --fast "$FAST_MB" \
		--limit "$(plan__limit "$PLAN")" 8>&- &
	BOOT=$!
	export MIGRC_ACCEL_SAID=1
	trap stop INT TERM
	wait "$BOOT" || rc=$?
	trap - INT TERM
	[ -f "$dir/outcome" ] || die "boot $position" "the emulator could not be run" "see the message above and $dir/qemu.log" "$rc"
	echo $(($(now) - start)) > "$dir/seconds"
	# Last: a boot without its key is one that did not end.
	echo "$key" > "$dir/key"
	boots__gather "$OUT/runs.db" "$dir"
}

# remaining POSITION: "about 5 min left", from the boots of this plan so far.
remaining() {
	local mean
	mean=$(boots__mean_seconds "$OUT" "$CACHE/boot-seconds-$NAME")
	[ -n "$mean" ] || { echo "each at most $(duration "$(plan__limit "$PLAN")")"; return; }
	echo "about $(duration $((mean * (BOOTS - $1 + 1)))) left"
}

run_boots() {
	local position block arm dir key kernel
	while read -r position block arm <&7; do
		dir=$OUT/boots/$(printf '%02d' "$position")-$arm
		kernel=$(readlink -f "$CACHE/kernels/$(plan__kernel "$PLAN" "$arm")")
		key=$(boots__key "$PLAN" "$NAME" "$position" "$block" "$arm" "$kernel" "$INITRD")
		if boots__done "$dir" "$key"; then
			say BOOT "$position/$BOOTS $arm: already here"
		else
			say BOOT "$position/$BOOTS $arm (block $block), $(remaining "$position")"
			boot_one "$position" "$block" "$arm" "$dir" "$key" "$kernel"
			say BOOT "$position/$BOOTS $arm: $(boots__line "$dir")"
		fi
	done 7< <(plan__boots "$PLAN")
}

# rebuild: runs.db out of the boots that still count, before more are added.
rebuild() {
	local position block arm dir kernel new=$OUT/.runs.db
	rm -f "$new"
	while read -r position block arm; do
		dir=$OUT/boots/$(printf '%02d' "$position")-$arm
		kernel=$(readlink -f "$CACHE/kernels/$(plan__kernel "$PLAN" "$arm")")
		if boots__done "$dir" "$(boots__key "$PLAN" "$NAME" "$position" "$block" "$arm" "$kernel" "$INITRD")"; then
			boots__gather "$new" "$dir"
		fi
	done < <(plan__boots "$PLAN")
	boots__replace_db "$OUT" "$new"
}

# finish: the plan's exit status.
finish() {
	local rc=0 order
	order=$(plan__boots "$PLAN")
	boots__summary "$OUT" "$order" || rc=$?
	boots__same_checksums "$OUT" "$order" || rc=$EX_INVALID
	return $rc
}

main() {
	if [ $# -lt 1 ] || [ $# -gt 2 ]; then
		die "run-plan.sh" "wrong usage" "give PLAN [OUT]"
	fi
	PLAN=$1
	# One of ours may be called by its name, wherever the lab is installed.
	[ -e "$PLAN" ] || [ "$PLAN" != "${PLAN#*/}" ] || [ ! -r "$LAB/plans/$PLAN.plan" ] || PLAN=$LAB/plans/$PLAN.plan
	NAME=$(basename "$PLAN" .plan)
	OUT=$(realpath -m "${2:-out/$NAME}")
	prepare
	PRESET=$(plan__value "$PLAN" preset current)
	ICOUNT=$(plan__value "$PLAN" icount off)
	FAST_MB=$(plan__value "$PLAN" fast_mb 320)
	BOOTS=$(plan__boots "$PLAN" | wc -l)
	rebuild
	run_boots
	boots__mean_seconds "$OUT" /dev/null > "$CACHE/boot-seconds-$NAME"
	finish
}

main "$@"
