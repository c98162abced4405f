#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# probes-in-guest.sh DB: in a guest that counts instructions: single operations, then workloads, each
# without probes, with programs that do nothing, with the probes. What is found is printed; nothing is
# recorded, but the boot expects a database.
#
# Addresses are not random, so that a workload does the same each time. pingpong moves itself: the
# kernel's own migrations are off then. xs and pm are larger than what the fast node has left, and are
# there for what the kernel migrates: when it does is left to it, which is the spread of pm; the more
# rounds and the longer each, the less of it is left in the mean.
bodies() {
	/files/bodies "$@" || echo "bench: bodies $* failed"
}

echo 0 > /proc/sys/kernel/randomize_va_space
bodies operations
echo 0 > /proc/sys/kernel/numa_balancing
echo 0 > /sys/kernel/mm/numa/demotion_enabled
bodies 12 "pingpong -t 2 -s 16 --rounds 4"
echo 1 > /sys/kernel/mm/numa/demotion_enabled
echo 2 > /proc/sys/kernel/numa_balancing
bodies 8 "xs -s small -g 2500 -p 300 -t 4"
bodies 16 "pm -m 104 -i -j 2 -r 80 -p normal -d 2"
echo none > "$1"
