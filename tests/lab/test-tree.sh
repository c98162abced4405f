#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A patched tree follows its series and touches nothing else.
. "$(dirname "$0")/lib.sh"
PARTS=(tree)

SRC=$WORK/src TREE=$WORK/tree SERIES=$WORK/series.d
mkdir -p "$SRC/mm" "$SERIES"
printf '%s\n' one two three four five six seven > "$SRC/mm/a.c"
printf '%s\n' alpha beta gamma > "$SRC/mm/b.c"
echo untouched > "$SRC/mm/c.c"
find "$SRC" -type f -exec touch -d 2020-01-01 {} +

# change NAME COMMAND: a patch of what COMMAND does to a copy of the source.
change() {
	rm -rf "$WORK/edit"
	mkdir "$WORK/edit"
	cp -a "$SRC" "$WORK/edit/a"
	cp -a "$SRC" "$WORK/edit/b"
	(cd "$WORK/edit/b" && eval "$2")
	(cd "$WORK/edit" && git diff --no-index --no-prefix a b > "$SERIES/$1")
	echo "$1" >> "$SERIES/series"
}
sync_tree() {
	lab tree__sync "$SRC" "$SERIES" "$TREE" 2>&1
}
mtimes() {
	(cd "$TREE" && find . -type f -printf '%P %T@\n' | sort)
}
pristine=$(cd "$SRC" && find . -type f -exec sha256sum {} + | sort)

change 1.patch 'sed -i s/four/FOUR/ mm/a.c; echo new > mm/new.c'
sync_tree
is "patched" "FOUR" "$(sed -n 4p "$TREE/mm/a.c")"
is "a file that the patch makes" "new" "$(cat "$TREE/mm/new.c")"
is "others are there" "untouched" "$(cat "$TREE/mm/c.c")"
is "source as it was" "$pristine" "$(cd "$SRC" && find . -type f -exec sha256sum {} + | sort)"
is "others are shared, not copied" "$(stat -c %i "$SRC/mm/c.c")" "$(stat -c %i "$TREE/mm/c.c")"

before=$(mtimes)
sync_tree
is "again touches nothing" "$before" "$(mtimes)"

change 2.patch 'sed -i s/beta/BETA/ mm/b.c'
sync_tree
is "a patch more: only its file is newer" "mm/b.c" \
	"$(diff <(echo "$before") <(mtimes) | awk '/^>/ { print $2 }')"

printf '2.patch\n' > "$SERIES/series"
before=$(mtimes)
sync_tree
is "a patch less: its file as in the source" "" "$(cmp "$SRC/mm/a.c" "$TREE/mm/a.c" 2>&1)"
is "newer than what was built from it" 1 \
	"$(awk -v then="$(echo "$before" | awk '$1 == "mm/a.c" { print $2 }')" '$1 == "mm/a.c" { print ($2 > then) }' <(mtimes))"
is "its new file is gone" "no" "$([ -e "$TREE/mm/new.c" ] && echo yes || echo no)"
is "the other patch stays" "BETA" "$(sed -n 2p "$TREE/mm/b.c")"
is "source as it was, still" "$pristine" "$(cd "$SRC" && find . -type f -exec sha256sum {} + | sort)"

change 3.patch 'rm mm/c.c'
sync_tree
is "a file that a patch removes" "no" "$([ -e "$TREE/mm/c.c" ] && echo yes || echo no)"

sed 's/^ alpha/ omega/' "$SERIES/2.patch" > "$SERIES/4.patch"
echo 4.patch >> "$SERIES/series"
message=$(sync_tree)
is "a patch that does not apply: status" 2 $?
has "and its name" "migrc: 4.patch: does not apply to src" "$message"
echo 5.patch > "$SERIES/series"
message=$(sync_tree)
has "a patch that is not there" "names 5.patch, which is not there" "$message"
rm "$SERIES/series"
has "no series" "not found" "$(sync_tree)"
finish
