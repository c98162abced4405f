#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# probes-in-guest.sh DB: in a guest that counts instructions: without probes, with programs that do
# nothing, with the probes: single operations, then workloads. xs and pm are larger than what the fast
# node has left. What is found is printed; nothing is recorded, but the boot expects a database.
for mode in none empty all; do
	/files/bodies "$mode" "pingpong -t 2 -s 4 --rounds 2" "xs -s small -g 3500 -p 3000 -t 4" \
		"pm -m 72 -i -j 2 -r 80 -p normal -d 0.5" || echo "bench: bodies $mode failed"
done
echo none > "$1"
