# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The one guest machine: two nodes and two memory tiers, four CPUs all on the small, fast node.

readonly GUEST_CPUS=4 SLOW_MB=1024
# Of which the kernel and the initramfs take some 80.
FAST_MB=320

# qemu__cpu PRESET ACCEL: "MODEL KERNEL_PARAMETERS". The presets differ in whether the kernel keeps
# accessed and dirty bits in migration entries, which decides what may be deferred.
qemu__cpu() {
	case $1/$2 in
	current/kvm) echo "host" ;;
	current/tcg) echo "max,la57=off" ;;
	l1tf/*) echo "Skylake-Client-v1 l1tf=flush" ;;
	*) die "preset $1" "unknown" "choose current or l1tf" ;;
	esac
}

# qemu__clock ACCEL ICOUNT: kernel parameters for the guest's clock. Under ICOUNT the TSC is
# nanoseconds, and an instruction of any CPU takes one, or 2^ICOUNT. Emulation else gives the guest the host's
# TSC, whose rate a guest cannot measure while the host is busy (seen: wrong by a factor of 18, and
# every timeout with it); the host's kernel has measured it, bogomips is twice the rate in MHz. And a
# busy host delays timer interrupts by more than the check of the timer's wiring allows: a panic.
qemu__clock() {
	local khz
	[ "$1" = tcg ] || return 0
	printf ' no_timer_check'
	if [ "$2" != off ]; then
		printf ' tsc_early_khz=1000000 tsc=reliable'
		return
	fi
	khz=$(awk '$1 == "bogomips" { printf "%d\n", $3 * 500; exit }' /proc/cpuinfo)
	[ -z "$khz" ] || printf ' tsc_early_khz=%s tsc=reliable' "$khz"
}

# qemu__args PRESET ACCEL KERNEL INITRD [ICOUNT]: the command line into the array QEMU, without ports.
# With ICOUNT "on" the CPUs take turns in one thread, and time passes by an instruction of theirs; when
# all are idle, it goes to the next timer at once. With a number the machine is slower by so many powers
# of two: what goes by the clock (scans, ages) happens after fewer instructions, as on an emulator with
# a thread for each CPU, but the same in every boot.
qemu__args() {
	local preset=$1 accel=$2 kernel=$3 initrd=$4 icount=${5:-off} cpu params target hmat=() count=()
	cpu=$(qemu__cpu "$preset" "$accel")
	params="${cpu#"${cpu%% *}"}$(qemu__clock "$accel" "$icount")"
	for target in "0 10 100G" "1 40 20G"; do
		# shellcheck disable=SC2086 # three words
		set -- $target
		hmat+=(-numa "hmat-lb,initiator=0,target=$1,hierarchy=memory,data-type=access-latency,latency=$2"
			-numa "hmat-lb,initiator=0,target=$1,hierarchy=memory,data-type=access-bandwidth,bandwidth=$3")
	done
	[ "$accel" = kvm ] || accel=tcg,thread=multi
	if [ "$icount" != off ]; then
		accel=tcg,thread=single
		count=(-icount "shift=${icount/on/0},sleep=off")
	fi
	# shellcheck disable=SC2034,SC2054 # for the sourcing script; commas are QEMU's
	QEMU=(qemu-system-x86_64 -nodefaults -no-user-config -no-reboot -display none
		-machine q35,hmat=on -accel "$accel" "${count[@]}" -cpu "${cpu%% *}" -smp "$GUEST_CPUS"
		-m "$((FAST_MB + SLOW_MB))M"
		-object "memory-backend-ram,size=${FAST_MB}M,id=fast"
		-object "memory-backend-ram,size=${SLOW_MB}M,id=slow"
		-numa "node,nodeid=0,memdev=fast,cpus=0-$((GUEST_CPUS - 1)),initiator=0"
		-numa "node,nodeid=1,memdev=slow,initiator=0" "${hmat[@]}"
		-kernel "$kernel" -initrd "$initrd"
		# Warnings must reach the log (loglevel), marked as the kernel's own (printk.time).
		-append "console=ttyS0 loglevel=5 printk.time=1 panic=-1 rcupdate.rcu_cpu_stall_timeout=120$params")
}

# qemu__initrd COMMON PLAN OUT [FILE...]: the common initramfs with one boot's plan behind it, and
# FILEs in /files.
qemu__initrd() {
	local common=$1 plan=$2 out=$3 dir
	shift 3
	dir=$(mktemp -d)
	cp "$plan" "$dir/plan"
	mkdir "$dir/files"
	[ $# -eq 0 ] || cp "$@" "$dir/files/"
	{
		cat "$common"
		(cd "$dir" && find plan files | cpio --create --format=newc --owner=0:0 --quiet) | gzip -n
	} > "$out"
	rm -rf "$dir"
}
