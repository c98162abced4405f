#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# in-guest.sh DB: on a packaged kernel, in the guest (busybox): what doctor finds, and a short run on each
# rung that functions have. A line "core RUNG STATUS" each on the console.
DB=$1
migrc doctor > /dev/null
echo "core doctor $?"
for rung in fentry kprobe-multi kprobe; do
	migrc record -o "$DB" --rung "$rung" --per-page --workload "rung-$rung" --timeout 300 -- \
		pingpong -t 2 -s 1 --rounds 1 > /dev/null
	echo "core $rung $?"
done
