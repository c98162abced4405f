# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# KVM where it really works. A /dev/kvm that opens is no proof (nested virtualisation may lack what
# the guest needs): the guest's own kernel is booted once, and the result kept for this kernel on this
# machine.

readonly ACCEL_TRIAL_S=15

# accel__machine KERNEL: what a trial's result depends on.
accel__machine() {
	{
		qemu-system-x86_64 --version
		uname -r
		grep -m 1 'model name' /proc/cpuinfo
		digest < "$1"
	} | digest | cut -c1-16
}

# accel__trial PRESET KERNEL INITRD: 0 if the guest came up under KVM; else WHY says how it failed.
accel__trial() {
	local dir rc=0
	dir=$(mktemp -d)
	echo "mode trial" > "$dir/plan"
	qemu__initrd "$3" "$dir/plan" "$dir/initrd"
	qemu__args "$1" kvm "$2" "$dir/initrd"
	# The group: an abort of the emulator is told by the shell, on the group's stderr.
	{
		timeout -k 2 "$ACCEL_TRIAL_S" "${QEMU[@]}" -serial "file:$dir/console" -serial null < /dev/null
	} > "$dir/err" 2>&1 || rc=$?
	if grep -q 'migrc-guest: alive' "$dir/console" 2>/dev/null; then
		WHY=
	elif [ "$rc" -eq 124 ] || [ "$rc" -eq 137 ]; then
		WHY="the trial guest did not come up in $ACCEL_TRIAL_S s"
	else
		WHY="the trial guest failed: $(grep -vE '^ *$|warning:' "$dir/err" | sed -n 1p | cut -c1-120)"
	fi
	rm -rf "$dir"
	[ -z "$WHY" ]
}

# accel__choose PRESET KERNEL INITRD [ICOUNT]: sets ACCEL to kvm or tcg and WHY (empty under KVM).
accel__choose() {
	local memo
	ACCEL=${MIGRC_ACCEL:-}
	WHY="MIGRC_ACCEL=$ACCEL"
	if [ "${4:-off}" != off ]; then
		[ "$ACCEL" != kvm ] ||
			die "icount" "only emulation counts instructions" "unset MIGRC_ACCEL, or leave icount off"
		ACCEL=tcg
		WHY="instructions are counted"
		return
	fi
	case $ACCEL in
	kvm | tcg) return 0 ;;
	'') ;;
	*) die "MIGRC_ACCEL" "'$ACCEL' is neither kvm nor tcg" "unset it to have the lab find out" ;;
	esac
	if [ ! -w /dev/kvm ]; then
		ACCEL=tcg
		WHY="/dev/kvm is not there or not writable"
		return
	fi
	memo=$CACHE/accel/$1-$(accel__machine "$2")
	if [ ! -f "$memo" ]; then
		mkdir -p "$CACHE/accel"
		if accel__trial "$1" "$2" "$3"; then
			echo kvm > "$memo"
		else
			echo "tcg $WHY" > "$memo"
		fi
	fi
	read -r ACCEL WHY < "$memo" || true
}
