#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Run every unit-test program given, all of them even when one fails; fail if any did.
set -u
bad=0
for t in "$@"; do
	echo "== ${t##*/}"
	"$t" || { bad=$((bad + 1)); echo "FAILED: $t"; }
done
[ $# -gt 0 ] || { echo "run-unit: no test program given" >&2; exit 2; }
[ "$bad" -eq 0 ]
