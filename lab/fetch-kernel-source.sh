#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fetch-kernel-source.sh BASE [FILE]: a pristine kernel source tree in the cache, its path written to
# FILE. Debian's package linux-source-BASE, or a copy of the tree that KERNEL_SRC names, whatever the
# base. Neither the system's apt configuration nor the user's tree is touched.

# shellcheck source=lib/common.sh
. "$(dirname "$0")/lib/common.sh"
# shellcheck source=lib/arms.sh
. "$LAB/lib/arms.sh"
# shellcheck source=lib/apt-sources.sh
. "$LAB/lib/apt-sources.sh"

readonly SOURCES=$CACHE/source
# 1.8 GB of tree, 170 MB of package beside it while it is unpacked.
readonly SPACE_MB=2200

# apt_private ARGS...: apt with lists, archives, sources and state of its own, in the cache.
apt_private() {
	local state=$CACHE/apt
	mkdir -p "$state/lists/partial" "$state/archives/partial"
	# What is installed here is of no concern; apt would offer that version for download.
	: > "$state/status"
	"$1" -q -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::status="$state/status" -o Dir::State::lists="$state/lists" -o Dir::Cache="$state" \
		-o APT::Sandbox::User="$(id -un)" "${@:2}" 9>&-
}

# Ask the machine's own apt first; a release that does not have the package by itself may have it in
# its backports suite, or a later release has: read through a private list.
choose_apt() {
	local codename suites
	if [ -z "${MIGRC_APT_PRIVATE:-}" ] && apt_knows apt_system; then
		APT=apt_system
		return
	fi
	codename=$(sed -n 's/^VERSION_CODENAME="\{0,1\}\([a-z]*\).*/\1/p' /etc/os-release)
	[ -n "$codename" ] || die "$PACKAGE" "this system is not a Debian release" "give a kernel tree: KERNEL_SRC=dir"
	mkdir -p "$CACHE/apt"
	suites=$(arms__suites "$BASE" | paste -sd' ')
	apt_sources__private "$codename" "$suites" /etc/apt/sources.list /etc/apt/sources.list.d/* \
		> "$CACHE/apt/sources.list" ||
		die "$PACKAGE" "the apt configuration names no source for $codename" \
			"add one to /etc/apt, or give a kernel tree: KERNEL_SRC=dir"
	suites="$codename, $codename-backports${suites:+, ${suites// /, }}"
	say FETCH "package lists of $suites, into the cache (about 20 s)"
	apt_private apt-get update >"$CACHE/apt/log" 2>&1 ||
		die "$PACKAGE" "apt-get update failed: $(tail -n 1 "$CACHE/apt/log")" \
			"check the network, or give a kernel tree: KERNEL_SRC=dir"
	apt_knows apt_private || die "$PACKAGE" "not in $suites" "give a kernel tree: KERNEL_SRC=dir"
	APT=apt_private
}

apt_system() {
	"$1" -q -o APT::Sandbox::User="$(id -un)" "${@:2}" 9>&-
}

apt_knows() {
	# Not grep -q: it would end before apt-cache has written all, which pipefail takes for a failure.
	"$1" apt-cache policy "$PACKAGE" 2>/dev/null | grep -E '^ *Candidate: [0-9]' > /dev/null
}

# The installed package's own file is as good as a download, and already here.
installed_archive() {
	[ -z "${MIGRC_APT_PRIVATE:-}" ] && [ -r "$INSTALLED" ] && [ -z "$(dpkg --verify "$PACKAGE" 2>&1)" ]
}

# download DIR: the package's file, its sha256 checked by apt against the signed lists.
download() {
	local size
	choose_apt
	size=$("$APT" apt-cache show --no-all-versions "$PACKAGE" | awk '/^Size:/ { print int($2 / 1e6) }')
	say FETCH "$PACKAGE, $size MB"
	(cd "$1" && "$APT" apt-get download "$PACKAGE" >apt.log 2>&1) ||
		die "$PACKAGE" "download failed: $(grep -m 1 '^E:' "$1/apt.log" || tail -n 1 "$1/apt.log")" \
			"check the network and the space, or give a kernel tree: KERNEL_SRC=dir"
}

# unpack STREAM_COMMAND...: the tar.xz on its stdout becomes $SOURCES/VERSION.
unpack() {
	local version staging=$SOURCES/.unpack
	rm -rf "$staging"
	mkdir -p "$staging"
	say UNPACK "kernel source, 1.8 GB (about 1 min)"
	"$@" | tar -xJ -C "$staging" --strip-components=1 ||
		die "$PACKAGE" "could not be unpacked" "see whether $SOURCES has space left, and repeat"
	version=debian-$(make -s -C "$staging" kernelversion 9>&-)
	rm -rf "${SOURCES:?}/$version"
	mv "$staging" "$SOURCES/$version"
}

stream_deb() {
	dpkg-deb --fsys-tarfile "$1" | tar -xO "./usr/src/$PACKAGE.tar.xz"
}

# unpacked: the tree of the base that is in the cache, nothing if none is. unpack leaves no half one.
unpacked() {
	local tree
	for tree in "$SOURCES/debian-$BASE".*/; do
		[ ! -d "$tree" ] || echo "${tree%/}"
	done | sort -V | tail -n 1
}

fetch_debian() {
	[ -z "$(unpacked)" ] || return 0
	need_space "$SOURCES" "$SPACE_MB" "kernel source"
	if installed_archive; then
		say FETCH "$PACKAGE is installed here: nothing to download"
		unpack cat "$INSTALLED"
		return
	fi
	rm -rf "$SOURCES/.download"
	mkdir -p "$SOURCES/.download"
	download "$SOURCES/.download"
	unpack stream_deb "$SOURCES/.download"/*.deb
	rm -rf "$SOURCES/.download" "$CACHE/apt"
}

# own_files TREE: what belongs to the source and not to a build in it, one path a line.
own_files() {
	if git -C "$1" rev-parse --show-toplevel >/dev/null 2>&1; then
		git -C "$1" ls-files --cached --others --exclude-standard
	else
		(cd "$1" && find . -type d -name .git -prune -o \( -type f -o -type l \) -print | sed 's|^\./||')
	fi
}

# A copy in the cache, so that neither patches nor builds reach the user's tree. Times are kept:
# a file edited there is newer here too, and only what depends on it is rebuilt.
fetch_own() {
	local tree name list
	tree=$(cd "$1" 2>/dev/null && pwd) || die "KERNEL_SRC" "no folder $1" "name the top of a kernel tree"
	[ -f "$tree/mm/migrate.c" ] ||
		die "KERNEL_SRC" "$tree is not a kernel tree" "name the folder that has mm/migrate.c in it"
	name=own-$(printf '%s' "$tree" | digest | cut -c1-12)
	list=$SOURCES/.files-$name
	[ -d "$SOURCES/$name" ] || need_space "$SOURCES" "$SPACE_MB" "copy of KERNEL_SRC"
	mkdir -p "$SOURCES/$name"
	say SYNC "$tree"
	own_files "$tree" | sort > "$list"
	rsync -a --ignore-missing-args --files-from="$list" "$tree/" "$SOURCES/$name/" ||
		die "KERNEL_SRC" "copy of $tree failed" "see rsync's message above"
	(cd "$SOURCES/$name" && find . -type f -o -type l | sed 's|^\./||' | sort | comm -23 - "$list" |
		tr '\n' '\0' | xargs -0r rm -f --)
	# A build in the user's tree came along where git could not tell it apart.
	if [ -e "$SOURCES/$name/.config" ] || [ -d "$SOURCES/$name/include/config" ]; then
		make -s -C "$SOURCES/$name" mrproper 9>&-
	fi
	TREE=$SOURCES/$name
}

main() {
	[ $# -gt 0 ] || die "fetch-kernel-source.sh" "no base named" "choose from: $(arms__names "$LAB/bases.conf")"
	BASE=$1
	arms__suites "$BASE" > /dev/null
	readonly PACKAGE=linux-source-$BASE INSTALLED=/usr/src/linux-source-$BASE.tar.xz
	need_command rsync rsync
	need_command make make
	lock source
	if [ -n "${KERNEL_SRC:-}" ]; then
		fetch_own "$KERNEL_SRC"
	else
		need_command dpkg-deb dpkg
		need_command xz xz-utils
		fetch_debian
		TREE=$(unpacked)
	fi
	[ $# -eq 1 ] || echo "$TREE" > "$2"
}

main "$@"
