#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The parser of the build matrix: what it takes, what it refuses, which objects a cell gets.
. "$(dirname "$0")/lib.sh"
PARTS=(arms tree matrix)

# refused WHAT MESSAGE LINE...: a matrix of these lines stops with exit code 2 and that message.
refused() {
	local what=$1 want=$2 message status
	shift 2
	printf '%s\n' "$@" > "$WORK/bad.matrix"
	message=$(lab matrix__cells "$WORK/bad.matrix" 2>&1 >/dev/null)
	status=$?
	is "$what: status" 2 "$status"
	has "$what: message" "$want" "$message"
}

GOOD='one x86_64 gcc guest.config+migrc.config SMP=n,NR_CPUS=8?,CMA=m 6.12 W=1'
printf '%s\n' '# comment' '' "  ${GOOD// /   }  # why" 'two   riscv gcc - - 6.12 -' > "$WORK/good.matrix"
is "cells" "$GOOD"$'\n'"two riscv gcc - - 6.12 -" "$(lab matrix__cells "$WORK/good.matrix")"
printf '%s\n' 'a x86_64 gcc - - 6.12,7.3 -' 'b x86_64 gcc - - 6.12 W=1' 'c arm64 gcc - X=y 7.3 -' > "$WORK/bases"
is "cells of a base" "a x86_64 gcc - - 7.3 -"$'\n'"c arm64 gcc - X=y 7.3 -" "$(lab matrix__on 7.3 < "$WORK/bases")"
is "cells of another" "a b" "$(lab matrix__on 6.12 < "$WORK/bases" | awk '{ print $1 }' | paste -sd' ')"
is "cells of none" "" "$(lab matrix__on 6.1 < "$WORK/bases")"
is "fragments" "guest.config guest-7.3.config migrc.config" \
	"$(lab matrix__fragments guest.config+migrc.config 7.3 | sed 's|.*/||' | paste -sd' ')"
is "no fragments" "" "$(lab matrix__fragments - 7.3)"
is "toggles" "SMP=n NR_CPUS=8?" "$(lab matrix__toggles 'SMP=n,NR_CPUS=8?' | paste -sd' ')"
is "no toggles" "" "$(lab matrix__toggles -)"

refused "column missing" "bad.matrix:2: 7 columns" "$GOOD" "two x86_64 gcc - - 6.12"
refused "column too many" "7 columns" "$GOOD x"
refused "name twice" "second cell one" "$GOOD" "$GOOD"
refused "architecture" "unknown architecture vax" "one vax gcc - - 6.12 -"
refused "compiler" "unknown compiler tcc" "one x86_64 tcc - - 6.12 -"
refused "fragment" "no file lab/config/none.config" "one x86_64 gcc none.config - 6.12 -"
refused "toggle without value" "SMP is not" "one x86_64 gcc - CMA=y,SMP 6.12 -"
refused "toggle with prefix in lower case" "smp=y is not" "one x86_64 gcc - smp=y 6.12 -"
refused "series" "no series kernel-patch/5.0" "one x86_64 gcc - - 6.12,5.0 -"
refused "no base" "- names no bases" "one x86_64 gcc - - - -"
refused "argument" "is no argument of make" "one x86_64 gcc - - 6.12 clean"
refused "empty" "names no cell" "# nothing"

printf '%s\n' 'mm/a.o * -' 'mm/b.o * KSM' 'mm/c.o * SMP' 'mm/d.o x86_64,i386 -' 'mm/e.o riscv MOD' > "$WORK/objects"
printf '%s\n' '# CONFIG_KSM is not set' 'CONFIG_SMP=y' 'CONFIG_KSM_X=y' 'CONFIG_MOD=m' > "$WORK/config"
is "objects of i386" "mm/a.o mm/c.o mm/d.o" "$(lab matrix__objects "$WORK/objects" i386 "$WORK/config" | paste -sd' ')"
is "objects of riscv" "mm/a.o mm/c.o mm/e.o" "$(lab matrix__objects "$WORK/objects" riscv "$WORK/config" | paste -sd' ')"

mkdir "$WORK/series"
echo one.patch > "$WORK/series/series"
printf '%s\n' '--- a/mm/a.c' '+++ b/mm/a.c' '--- a/mm/new.c' '+++ b/mm/new.c' '+++ b/mm/a.h' > "$WORK/series/one.patch"
is "unlisted" "mm/new.o" "$(lab matrix__unlisted "$WORK/objects" "$WORK/series")"

# Nothing is wanted of a function that one object calls and another defines, or that is not ours.
cc() { printf '%s\n' "$2" | gcc -x c -c -o "$WORK/$1.o" -; }
cc a 'void migrc_x(void); void tlb_ubc_y(void); void other(void); void f(void) { migrc_x(); tlb_ubc_y(); other(); }'
cc b 'void migrc_x(void) { }'
is "unresolved" "tlb_ubc_y(a.o)" "$(lab matrix__unresolved nm '^(migrc_|tlb_ubc_)' a.o b.o)"
cc c 'void tlb_ubc_y(void) { }'
is "all resolved" "" "$(lab matrix__unresolved nm '^(migrc_|tlb_ubc_)' a.o b.o c.o)"
cc d 'static void __attribute__((used)) tlb_ubc_y(void) { }'
is "a static one is not found" "tlb_ubc_y(a.o)" "$(lab matrix__unresolved nm '^(migrc_|tlb_ubc_)' a.o b.o d.o)"

log() { printf '%s\n' "  CC mm/a.o" "/t/$1/mm/a.c:$2:7: warning: unused 'x'" "mm/b.o: warning: objtool: f+0x1: no"; }
is "warnings of two trees are the same" "$(log old 10 | lab matrix__warnings /t/old /o/old)" \
	"$(log new 12 | lab matrix__warnings /t/new /o/new)"
has "warnings" "mm/a.c: warning: unused 'x'" "$(log old 10 | lab matrix__warnings /t/old /o/old)"

# The repository's own files.
is "check.matrix is sound" 0 "$(lab matrix__cells "$TOP/lab/config/check.matrix" > /dev/null; echo $?)"
for series in $(lab matrix__cells "$TOP/lab/config/check.matrix" | awk '{ print $6 }' | tr ',' '\n' | sort -u); do
	is "check.objects names all of $series" "" \
		"$(lab matrix__unlisted "$TOP/lab/config/check.objects" "$TOP/kernel-patch/$series" | paste -sd' ')"
done
finish

# What checkpatch says and the list accepts is dropped, by file and type.
printf '%s\n' 'mm/a.c LONG_LINE # why' '# comment' '' > "$WORK/accepted"
printf '%s\n' 'mm/a.c:3: WARNING:LONG_LINE: too: long' 'mm/b.c:3: WARNING:LONG_LINE: long' \
	'mm/a.c:4: CHECK:SPACING: LONG_LINE' > "$WORK/said"
is "style" "mm/b.c:3: mm/a.c:4:" "$(lab matrix__style "$WORK/accepted" < "$WORK/said" | awk '{ print $1 }' | paste -sd' ')"
is "style, nothing said" "" "$(lab matrix__style "$WORK/accepted" < /dev/null)"
echo 'mm/a.c' >> "$WORK/accepted"
lab matrix__style "$WORK/accepted" < "$WORK/said" > /dev/null 2>&1
is "style, line without a type" 2 $?
lab matrix__style "$WORK/none" < "$WORK/said" > /dev/null 2>&1
is "style, no list" 2 $?
