# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A patched kernel tree, kept in step with its source and its series. It is a farm of hard links to
# the pristine source in which only the patched files are its own, and only files whose contents
# differ are ever written: make then rebuilds no more than what depends on them.

# series__patches DIR: the patches of DIR/series in order, as paths.
series__patches() {
	local dir=$1 name
	[ -r "$dir/series" ] || die "$dir/series" "not found" "a patched kernel needs its series"
	while read -r name; do
		[ -r "$dir/$name" ] || die "$dir/series" "names $name, which is not there" "restore it or drop the line"
		printf '%s\n' "$dir/$name"
	done < <(sed -e 's/#.*//' -e 's/[ \t]*$//' -e '/^$/d' "$dir/series")
}

# series__files DIR: the files that the series touches, one a line, sorted.
series__files() {
	local patch
	series__patches "$1" | while read -r patch; do
		sed -n -E -e 's#^(---|\+\+\+) [ab]/([^\t]*).*#\2#p' -e 's#^rename (from|to) (.*)#\2#p' "$patch"
	done | sort -u
}

# tree__stage SRC DIR STAGING: the touched files, patched, in STAGING.
tree__stage() {
	local src=$1 dir=$2 staging=$3 file patch message
	rm -rf "$staging"
	mkdir -p "$staging"
	while read -r file; do
		[ -e "$src/$file" ] || continue
		mkdir -p "$staging/$(dirname "$file")"
		cp "$src/$file" "$staging/$file"
	done < <(series__files "$dir")
	while read -r patch; do
		# The ceiling: a repository around the cache must not make git skip files.
		message=$(cd "$staging" && GIT_CEILING_DIRECTORIES=$(dirname "$staging") git apply "$patch" 2>&1) ||
			die "$(basename "$patch")" "does not apply to $(basename "$src"): ${message%%$'\n'*}" \
				"see kernel-patch/ for the base version it is for"
	done < <(series__patches "$dir")
}

# tree__install STAGING SRC TREE FILE: make TREE/FILE what it has to be, if it is not yet.
tree__install() {
	local want=$1/$4 have=$3/$4
	[ -e "$want" ] || want=$2/$4
	if [ ! -e "$want" ] || { [ ! -e "$1/$4" ] && grep -qxF "$4" "$1/.files"; }; then
		rm -f "$have"
		return
	fi
	cmp -s "$want" "$have" && return
	mkdir -p "$(dirname "$have")"
	cp --remove-destination "$want" "$have"
}

# tree__sync SRC DIR TREE: TREE becomes SRC with the series of DIR.
tree__sync() {
	local src=$1 dir=$2 tree=$3 staging=$3.staging touched=$3.touched file
	tree__stage "$src" "$dir" "$staging"
	series__files "$dir" > "$staging/.files"
	touch "$touched"
	sort -u "$staging/.files" "$touched" > "$touched.new"
	# Before the tree changes, so that an interrupted sync knows of every file it may have written.
	mv "$touched.new" "$touched"
	mkdir -p "$tree"
	sed 's|^|/|' "$touched" > "$tree.exclude"
	rsync -a --delete --exclude-from="$tree.exclude" --link-dest="$src" "$src/" "$tree/" ||
		die "$tree" "could not be brought up to date" "see rsync's message above"
	while read -r file; do
		tree__install "$staging" "$src" "$tree" "$file"
	done < "$touched"
	rm -rf "$staging" "$tree.exclude"
}

# tree__digest SRC: a tree by names, sizes and times: reading 1.7 GB would take longer than it is
# worth.
tree__digest() {
	(cd "$1" && find . -type f -printf '%P %s %T@\n' | sort | digest)
}
