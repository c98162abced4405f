#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh: the Debian packages, built from a clean clone of what is committed, unpacked into a folder and
# run from there. Needs check-packages.list.

# shellcheck source=../lab/lib.sh
. "$(dirname "$0")/../lab/lib.sh"
cd "$WORK" || exit 2

git clone -q "$TOP" migrc
is "a clean clone" 0 $?
VERSION=$(sed -n 's/^VERSION	*:= //p' migrc/Makefile)
is "the package has the project's version" "$VERSION" "$(dpkg-parsechangelog -l migrc/debian/changelog -S Version)"
(cd migrc && env -u MAKEFLAGS -u MFLAGS dpkg-buildpackage -us -uc -b) > build.log 2>&1
is "dpkg-buildpackage" 0 $?
[ "$FAILED" -eq 0 ] || { tail -20 build.log; finish; exit; }
is "two packages, and symbols" 3 "$(find . -maxdepth 1 -name '*.deb' | wc -l)"
# What is not clean has its reason in debian/*.lintian-overrides.
is "lintian" "" "$(lintian --allow-root --fail-on none --tag-display-limit 0 migrc_*.deb migrc-lab_*.deb 2>&1 | grep -v '^N: ')"
is "the lab is in a package of its own" 0 "$(dpkg-deb -c migrc_*.deb | grep -c libexec/migrc/lab)"
has "libraries are depended on" libbpf "$(dpkg-deb -f migrc_*.deb Depends)"
has "plots are recommended" gnuplot-nox "$(dpkg-deb -f migrc_*.deb Recommends)"

for package in migrc_*.deb migrc-lab_*.deb; do
	dpkg-deb -x "$package" root
done
unset MIGRC_LAB MIGRC_BIN
export PATH=$WORK/root/usr/bin:$PATH MIGRC_CACHE=$WORK/cache
is "it runs" "migrc $VERSION" "$(migrc --version)"
migrc import --arm a --vmstat "$TOP/tests/fixtures/import/published-after.vmstat" > import.out
is "import" 0 $?
migrc report -o report.html
is "report" 1 "$(grep -c '</html>' report.html)"
is "a page for each subcommand" "$(migrc --help | grep -c '^  [a-z]')" "$(find root/usr/share/man/man1 -name 'migrc-*.1.gz' | wc -l)"
MANPAGER='cat' man -l root/usr/share/man/man1/migrc.1.gz > page 2> page.err
is "a page renders" "" "$(cat page.err)"
message=$(migrc lab run nowhere 2>&1)
has "the lab is found" "libexec/migrc/lab/plans" "$message"
root/usr/libexec/migrc/lab/make-initramfs.sh initramfs > initramfs.log 2>&1
is "and makes its initramfs" 0 $?
finish
