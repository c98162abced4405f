#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# arms.conf and bases.conf: what a kernel of the lab is made of, and that its parts are there.
. "$(dirname "$0")/lib.sh"
PARTS=(arms tree)
CONF=$TOP/lab/arms.conf

show() {
	arms__read "$1"
	echo "$BASE ${SERIES#"$ROOT/"} ${FRAGMENTS[*]#"$LAB/config/"}"
}
is "an arm without a series" "6.12  guest.config" "$(lab show stock)"
is "an arm with one" "7.3 kernel-patch/7.3 guest.config guest-7.3.config migrc.config migrc-debug.config migrc-debug-7.3.config" \
	"$(lab show migrc-debug-7.3)"
message=$(lab show mirgc 2>&1)
is "an unknown arm: status" 2 $?
has "an unknown arm: message" "kernel mirgc: not in arms.conf; choose one of: stock migrc " "$message"
is "suites of a base" "trixie-backports" "$(lab arms__suites 7.3)"
is "no suites" "" "$(lab arms__suites 6.12)"
message=$(lab arms__suites 7 2>&1)
is "an unknown base: status" 2 $?

# What an arm names is there. Two arms of a base must not differ in more than their names say.
for arm in $(lab arms__names "$CONF"); do
	read -r _ base series fragments < <(awk -v arm="$arm" '$1 == arm' "$CONF")
	is "$arm: base" 0 "$(lab arms__suites "$base" > /dev/null; echo $?)"
	[ "$series" = - ] || is "$arm: series" 0 "$(lab series__patches "$TOP/kernel-patch/$series" > /dev/null; echo $?)"
	for fragment in $(lab arms__fragments "$base" $fragments); do
		is "$arm: $fragment" yes "$([ -r "$fragment" ] && echo yes)"
	done
	is "$arm: series of its base" "$([ "$series" = - ] && echo - || echo "$base")" "${series##*/}"
done
for arm in stock migrc unbatched migrc-debug; do
	strip() { awk -v arm="$1" -v base="$2" '$1 == arm { sub(arm, ""); gsub(base, "BASE"); print }' "$CONF"; }
	is "$arm of both bases is the same kernel" "$(strip "$arm" 6.12)" "$(strip "$arm-7.3" 7.3)"
done
finish
