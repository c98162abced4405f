#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check-stats.sh [--update]: print the tables of the simulations; say if docs/method.md shows others,
# or write them there. Exit status: that of the simulations.
set -u
cd "$(dirname "$0")/../.." || exit 2
doc=docs/method.md tables=build/tests/check-stats.md rc=0
build/tests/check_stats > "$tables" || rc=$?
cat "$tables"
shown() {
	sed -n '/^<!-- begin: make check-stats -->$/,/^<!-- end: make check-stats -->$/p' "$doc" | sed '1d;$d'
}
if [ "${1:-}" = --update ]; then
	sed -i -e '/^<!-- begin: make check-stats -->$/,/^<!-- end: make check-stats -->$/{/^<!--/!d}' \
		-e "/^<!-- begin: make check-stats -->\$/r $tables" "$doc" || exit 2
elif ! cmp -s "$tables" <(shown); then
	echo "check-stats: $doc shows other figures; see if they still agree, and repeat with --update" >&2
fi
exit "$rc"
