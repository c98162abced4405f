#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# probes-in-guest.sh DB: runs in a guest that counts instructions. First the programs one by one, then
# each workload without probes, with programs that do nothing, and with the probes, forth and back, so
# that a drift falls on all alike.
DB=$1

for mode in none empty all; do
	/files/bodies "$mode" || echo "bench: bodies $mode failed"
done

# one ARM WORKLOAD COMMAND...
one() {
	local arm=$1 workload=$2
	shift 2
	migrc record -o "$DB" --arm "$arm" --workload "$workload" --probes "$arm" --interval 0 --timeout 2000 -- "$@" > /dev/null ||
		echo "bench: $arm $workload failed"
}

# xs and pm are larger than what the fast node has left.
for order in "none empty all" "all empty none"; do
	for arm in $order; do
		one "$arm" xs xs -s small -g 3500 -p 3000 -t 4
		one "$arm" pm pm -m 72 -i -j 2 -r 80 -p normal -d 1
		one "$arm" pingpong pingpong -t 2 -s 4 --rounds 2
	done
done
