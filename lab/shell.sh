#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# shell.sh [ARM] [PRESET]: the guest with a shell on this terminal. Ctrl-A X ends the emulator.

# shellcheck source=lib/common.sh
. "$(dirname "$0")/lib/common.sh"
# shellcheck source=lib/qemu.sh
. "$LAB/lib/qemu.sh"
# shellcheck source=lib/accel.sh
. "$LAB/lib/accel.sh"

main() {
	local arm=${1:-stock} preset=${2:-current} kernel dir
	[ -t 0 ] || die "lab shell" "needs a terminal" "use 'migrc lab run PLAN' in a script"
	need_command qemu-system-x86_64 qemu-system-x86
	dir=$(mktemp -d)
	# shellcheck disable=SC2064 # the folder is known now
	trap "rm -rf '$dir'" EXIT
	"$LAB/make-initramfs.sh" "$dir/initramfs"
	"$LAB/build-kernel.sh" "$arm"
	kernel=$CACHE/kernels/$arm/bzImage
	printf 'mode shell\narm %s\nkernel %s\nscan fast\n' "$arm" "$arm" > "$dir/plan"
	accel__choose "$preset" "$kernel" "$(cat "$dir/initramfs")"
	[ -z "$WHY" ] || say ACCEL "$ACCEL: $WHY"
	qemu__initrd "$(cat "$dir/initramfs")" "$dir/plan" "$dir/initrd"
	qemu__args "$preset" "$ACCEL" "$kernel" "$dir/initrd"
	"${QEMU[@]}" -serial mon:stdio -serial null
}

main "$@"
