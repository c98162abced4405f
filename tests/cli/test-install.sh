#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make install into a folder that is then moved: the program, its pages, its completion and its lab work
# from there, without this tree; make uninstall leaves nothing.

# shellcheck source=../lab/lib.sh
. "$(dirname "$0")/../lab/lib.sh"
cd "$WORK" || exit 2

# The caller may be make: its job server does not reach through a script.
mk() {
	env -u MAKEFLAGS -u MFLAGS -u MIGRC_BIN make --no-print-directory -C "$TOP" "$@" > make.log 2>&1
}

mk install DESTDIR="$WORK/stage" PREFIX=/opt/m
is "make install" 0 $?
[ "$FAILED" -eq 0 ] || cat make.log
is "nothing but below the prefix" opt/m "$(cd stage && find . -mindepth 2 -maxdepth 2 | sed 's|^\./||')"
is "no file is for its owner alone" "" "$(find stage ! -perm -444 -o -type d ! -perm -555)"
mv stage/opt/m moved
M=$WORK/moved
unset MIGRC_LAB MIGRC_BIN
export PATH=$M/bin:$PATH MIGRC_CACHE=$WORK/cache

is "--version" "migrc $(sed -n 's/^VERSION	*:= //p' "$TOP/Makefile")" "$(migrc --version)"
rc=0
migrc doctor --json > doctor.json || rc=$?
is "doctor: status" 1 $((rc == 0 || rc == 5))
is "doctor: JSON" 1 "$(sqlite3 :memory: "SELECT json_valid(CAST(readfile('doctor.json') AS TEXT))")"
rc=0
migrc record --missing-probes=warn -- "$M/libexec/migrc/workloads/xs" -s small -g 20 -p 10 > record.out 2>&1 || rc=$?
is "record of an installed workload, or not permitted" 1 $((rc == 0 || rc == 5))
migrc import --arm a --vmstat "$TOP/tests/fixtures/import/published-after.vmstat" > import.out
is "import" 0 $?
migrc report -o report.html
is "report" 0 $?
is "report: whole" 1 "$(grep -c '</html>' report.html)"

for page in "$M"/share/man/man?/*; do
	MANPAGER='cat' man -l "$page" > page 2> page.err
	is "man ${page##*/}" "" "$(cat page.err)"
	is "man ${page##*/}: has its name" 1 "$(($(grep -ci "${page##*/}" <(sed 's/(\([15]\))/.\1/g' page)) > 0))"
done
for c in $(migrc --help | awk '/^  [a-z]/ { print $1 }'); do
	is "a page for $c" 1 "$(find "$M/share/man/man1" -name "migrc-$c.1" | wc -l)"
done
offered=$(bash -c '. "$0/share/bash-completion/completions/migrc"; COMP_WORDS=(migrc lab run de) COMP_CWORD=3; _migrc 2> /dev/null; echo "${COMPREPLY[@]}"' "$M")
is "completion finds the installed plans" demo "$offered"

# --- the lab: its scripts are the installed ones ------------------------------------------------------
message=$(migrc lab run nowhere 2>&1)
is "lab run without such a plan: status" 2 $?
has "lab run: names the installed plans" "$M/bin/../libexec/migrc/lab/plans" "${message//$WORK\/moved\/libexec/$M/bin/../libexec}"
"$M/libexec/migrc/lab/make-initramfs.sh" initramfs > initramfs.log 2>&1
is "the guest's initramfs is made" 0 $?
zcat "$(cat initramfs)" 2> /dev/null | cpio -it --quiet > inside 2> /dev/null
for f in init usr/local/bin/migrc usr/local/bin/xs lib/migrc/steps.sh; do
	is "and has $f" 1 "$(grep -cx "$f" inside)"
done
for plan in "$TOP"/lab/plans/*.plan; do
	is "$(basename "$plan") is there" 1 "$([ -r "$M/libexec/migrc/lab/plans/$(basename "$plan")" ] && echo 1)"
done
is "so are the patches" "$(find "$TOP/kernel-patch" -type f | wc -l)" "$(find "$M/libexec/migrc/kernel-patch" -type f | wc -l)"
is "no script names this tree" "" "$(grep -rlF "$TOP" "$M" --include='*.sh' --include='*.1' --include=migrc -I)"

mv moved stage/opt/m
mk uninstall DESTDIR="$WORK/stage" PREFIX=/opt/m
is "make uninstall" 0 $?
is "nothing is left" "" "$(find stage -type f)"
finish
