#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# KERNEL_SRC: a copy of the user's tree that follows it, without what a build or git left there. And
# which tree of the cache a base is.
. "$(dirname "$0")/lib.sh"
export MIGRC_CACHE=$WORK/cache

tree=$WORK/linux
mkdir -p "$tree/mm" "$tree/include/config"
echo one > "$tree/mm/migrate.c"
echo two > "$tree/mm/rmap.c"
echo obj > "$tree/mm/migrate.o"
printf 'mrproper:\n\trm -rf .config include/config mm/*.o\n' > "$tree/Makefile"
touch "$tree/.config" "$tree/include/config/auto.conf"

fetch() {
	OUTPUT=$(KERNEL_SRC=$1 "$TOP/lab/fetch-kernel-source.sh" 6.12 "$WORK/path" 2>&1)
	STATUS=$?
	COPY=$(cat "$WORK/path" 2>/dev/null)
}
files() {
	(cd "$1" && find . -path ./.git -prune -o -type f -print | sort | tr '\n' ' ')
}

before=$(files "$tree")
fetch "$tree"
is "status" 0 "$STATUS"
is "a tree that was built in: sources only" "./Makefile ./mm/migrate.c ./mm/rmap.c " "$(files "$COPY")"
is "the user's tree as it was" "$before" "$(files "$tree")"

rm "$tree/.config"
rm -r "$tree/include" "$tree/mm/migrate.o" "$tree/mm/rmap.c"
echo new > "$tree/mm/new.c"
touch -d 2021-01-01 "$tree/mm/migrate.c"
fetch "$tree"
is "follows the tree" "./Makefile ./mm/migrate.c ./mm/new.c " "$(files "$COPY")"
is "keeps times, so that only changes are rebuilt" "$(stat -c %Y "$tree/mm/migrate.c")" "$(stat -c %Y "$COPY/mm/migrate.c")"

git -C "$tree" init -q
printf '*.o\n.config\n' > "$tree/.gitignore"
echo obj > "$tree/mm/new.o"
touch "$tree/.config"
fetch "$tree"
is "a git tree: what git ignores stays out" "./.gitignore ./Makefile ./mm/migrate.c ./mm/new.c " "$(files "$COPY")"

fetch "$WORK/nowhere"
is "no folder: status" 2 "$STATUS"
has "no folder: message" "KERNEL_SRC: no folder $WORK/nowhere" "$OUTPUT"
fetch "$WORK"
has "not a kernel tree" "is not a kernel tree" "$OUTPUT"

# base BASE: what is in the cache already is fetched for it, without a download.
base() {
	OUTPUT=$("$TOP/lab/fetch-kernel-source.sh" "$1" "$WORK/path" 2>&1)
	STATUS=$?
	COPY=$(cat "$WORK/path")
}
mkdir -p "$MIGRC_CACHE/source/debian-6.12.9" "$MIGRC_CACHE/source/debian-6.12.10" "$MIGRC_CACHE/source/debian-7.3.4" \
	"$MIGRC_CACHE/source/debian-7.31.4"
for pair in 6.12:6.12.10 7.3:7.3.4; do
	base "${pair%:*}"
	is "base ${pair%:*}: status" 0 "$STATUS"
	is "base ${pair%:*}" "$MIGRC_CACHE/source/debian-${pair#*:}" "$COPY"
done
base 7.31
is "a base that is not ours: status" 2 "$STATUS"
has "a base that is not ours" "kernel base 7.31: not in bases.conf; choose one of: 6.12 7.3" "$OUTPUT"
has "no base: message" "no base named" "$("$TOP/lab/fetch-kernel-source.sh" 2>&1)"
finish
