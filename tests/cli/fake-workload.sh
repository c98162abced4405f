#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A workload that does nothing and says how long it took: 50 s with a noise of about 3 %, times
# $FAKE_FACTOR, by a generator that $FAKE_SEED starts. The command line is the same in every run.
awk -v seed="$FAKE_SEED" -v factor="${FAKE_FACTOR:-1}" 'BEGIN {
	srand(seed); rand()
	noise = 0.03 * sqrt(3) * (rand() + rand() + rand() + rand() - 2)
	printf "migrc: metric runtime %.6f s lower time\n", 50 * factor * exp(noise)
	print "migrc: text checksum 61814"
}'
