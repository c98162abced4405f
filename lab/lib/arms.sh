# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The lab's kernels as data: arms.conf says what each is made of, bases.conf where its source is.

# arms__names FILE: the first column, in one line.
arms__names() {
	awk '!/^#/ && NF { print $1 }' "$1" | paste -sd' '
}

# arms__base ARM: the base of a kernel of arms.conf.
arms__base() {
	awk -v arm="$1" '$1 == arm { print $2 }' "$LAB/arms.conf"
}

# arms__read ARM: BASE, SERIES (a folder or empty) and FRAGMENTS (paths) from arms.conf.
# shellcheck disable=SC2034 # they are for the caller; name: known already
arms__read() {
	local line name series fragments
	line=$(awk -v arm="$1" '$1 == arm' "$LAB/arms.conf")
	[ -n "$line" ] || die "kernel $1" "not in arms.conf" "choose one of: $(arms__names "$LAB/arms.conf")"
	read -r name BASE series fragments <<< "$line"
	SERIES=
	[ "$series" = - ] || SERIES=$ROOT/kernel-patch/$series
	# shellcheck disable=SC2086 # a list
	mapfile -t FRAGMENTS < <(arms__fragments "$BASE" $fragments)
}

# arms__fragments BASE NAME...: the paths of fragments of lab/config/, each followed by that for BASE.
arms__fragments() {
	local base=$1 name
	shift
	for name in "$@"; do
		echo "$LAB/config/$name"
		name=${name%.config}-$base.config
		[ ! -r "$LAB/config/$name" ] || echo "$LAB/config/$name"
	done
}

# arms__suites BASE: the suites of bases.conf to look for it in, one a line.
arms__suites() {
	local base=$1 line
	line=$(awk -v base="$base" '$1 == base' "$LAB/bases.conf")
	[ -n "$line" ] || die "kernel base $base" "not in bases.conf" "choose one of: $(arms__names "$LAB/bases.conf")"
	awk -v line="$line" 'BEGIN { n = split(line, f); for (i = 2; i <= n; i++) if (f[i] != "-") print f[i] }'
}
