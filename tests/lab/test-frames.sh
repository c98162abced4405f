#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Files sent by the guest's script arrive equal, or not at all.
. "$(dirname "$0")/lib.sh"
PARTS=(unframe)

send() {
	busybox sh -c '. "$1"; exec 3>> "$2"; shift 2; while [ $# -gt 0 ]; do frame__send "$1" "$2"; shift 2; done' \
		sh "$TOP/lab/guest/frame.sh" "$@"
}

head -c 100000 /dev/urandom > "$WORK/random"
head -c 3000 /dev/zero > "$WORK/zero"
printf '\nmigrc-frame evil 3 %064d\nabc\nmigrc-end evil\n' 0 > "$WORK/nested"
echo first > "$WORK/first"
echo second > "$WORK/second"

S=$WORK/stream
send "$S" runs.db "$WORK/random" steps/1-xs.rc "$WORK/zero" nested "$WORK/nested"
is "names in order" "runs.db steps/1-xs.rc nested" "$(lab unframe "$S" "$WORK/a" | tr '\n' ' ' | sed 's/ $//')"
is "random bytes equal" "" "$(cmp "$WORK/random" "$WORK/a/runs.db" 2>&1)"
is "zeroes equal" "" "$(cmp "$WORK/zero" "$WORK/a/steps/1-xs.rc" 2>&1)"
is "a frame's look inside of a file" "" "$(cmp "$WORK/nested" "$WORK/a/nested" 2>&1)"

rm -f "$S"
send "$S" runs.db "$WORK/first" runs.db "$WORK/second"
lab unframe "$S" "$WORK/b" > /dev/null
is "the later one counts" "second" "$(cat "$WORK/b/runs.db")"

rm -f "$S"
send "$S" runs.db "$WORK/first" runs.db "$WORK/random"
head -c $(($(stat -c %s "$S") - 5000)) "$S" > "$S.cut"
message=$(lab unframe "$S.cut" "$WORK/c" 2>&1)
has "a torn frame is named" "runs.db arrived torn" "$message"
is "the whole one before it stays" "first" "$(cat "$WORK/c/runs.db")"

rm -f "$S"
send "$S" runs.db "$WORK/random" after "$WORK/first"
printf 'X' | dd of="$S" bs=1 seek=5000 conv=notrunc status=none
message=$(lab unframe "$S" "$WORK/d" 2>&1)
has "a flipped byte is noticed" "runs.db arrived torn" "$message"
is "and its file is not there" "no" "$([ -e "$WORK/d/runs.db" ] && echo yes || echo no)"
is "what follows arrives" "first" "$(cat "$WORK/d/after")"

rm -f "$S"
send "$S" ../../escape "$WORK/first"
lab unframe "$S" "$WORK/e/f" > /dev/null 2>&1
is "only bad frames: failure" 1 $?
is "no way out of the folder" "no" "$([ -e "$WORK/escape" ] && echo yes || echo no)"
: > "$S"
lab unframe "$S" "$WORK/g" > /dev/null
is "nothing at all: failure" 1 $?
finish
