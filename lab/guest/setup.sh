# SPDX-License-Identifier: GPL-2.0-or-later
# The guest's file systems, memory tiering and switches, as the plan tells.

setup__mount() {
	mount -t proc proc /proc
	mount -t sysfs sys /sys
	mount -t devtmpfs dev /dev
	mkdir -p /dev/shm
	mount -t tmpfs tmp /tmp
	mount -t tmpfs shm /dev/shm
	mount -t debugfs debug /sys/kernel/debug
	mount -t tracefs tracing /sys/kernel/tracing
	mount -t bpf bpf /sys/fs/bpf
	mount -t cgroup2 cgroup /sys/fs/cgroup
	echo +memory > /sys/fs/cgroup/cgroup.subtree_control
}

setup__error() {
	say "error: $*"
	return 1
}

# The kernel that booted is the one that the plan means: its release ends in the arm's kernel.
setup__kernel() {
	local want
	want=$(plan__value kernel)
	case $(uname -r) in
	*-"$want") ;;
	*) setup__error "wrong kernel: the plan wants one built as '$want', this is $(uname -r)" ;;
	esac
}

# Kernels before 6.11 take no tier of RAM from HMAT: both nodes are in one. What does without promotion and
# demotion says `tiers any`.
setup__tiering() {
	local tiers
	tiers=$(find /sys/devices/virtual/memory_tiering -maxdepth 1 -name 'memory_tier[0-9]*' | wc -l)
	if [ "$tiers" -lt 2 ]; then
		[ "$(plan__value tiers)" = any ] || { setup__error "only $tiers memory tier; the guest needs two nodes with HMAT"; return 1; }
		say "only $tiers memory tier: promotion and demotion are not exercised"
		return 0
	fi
	echo 1 > /sys/kernel/mm/numa/demotion_enabled || return 1
	echo 2 > /proc/sys/kernel/numa_balancing
}

# The scan of hint faults: the default pace needs minutes to promote anything, a boot has seconds.
# A fast scan of a process with threads ends after a pass or two: its period grows with their number,
# up to several seconds, and a mapping without a hint fault in the last four to eight scan_delays is
# left out. A steady one goes on.
setup__scan() {
	local pair max_ms=1000 delay_ms=100
	case $(plan__value scan) in
	default | '') return 0 ;;
	fast) ;;
	steady) max_ms=200 delay_ms=1000 ;;
	*) setup__error "scan '$(plan__value scan)' is neither fast, steady, nor default"; return 1 ;;
	esac
	for pair in scan_period_min_ms:100 scan_period_max_ms:$max_ms scan_delay_ms:$delay_ms \
		scan_size_mb:1024 hot_threshold_ms:10000; do
		echo "${pair#*:}" > "/sys/kernel/debug/sched/numa_balancing/${pair%:*}" || return 1
	done
}

setup__sysctls() {
	local word key value file
	while read -r word key value; do
		[ "$word" = sysctl ] || continue
		file=/proc/sys/$(echo "$key" | tr . /)
		[ -e "$file" ] || { setup__error "wrong kernel: $(uname -r) has no sysctl $key"; return 1; }
		echo "$value" > "$file"
		# Several numbers come back with tabs between them.
		[ "$(tr '\t' ' ' < "$file")" = "$value" ] || { setup__error "sysctl $key did not become $value"; return 1; }
	done < /plan
}

setup__all() {
	setup__kernel && setup__tiering && setup__scan && setup__sysctls
}
