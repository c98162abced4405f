#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make-initramfs.sh [FILE]: the guest's initramfs in the cache, its path written to FILE: busybox,
# migrc, the workloads, the libraries that they need, and lab/guest/. Equal inputs give the equal
# archive, byte for byte, and are not packed twice.

# shellcheck source=lib/common.sh
. "$(dirname "$0")/lib/common.sh"
# shellcheck source=lib/programs.sh
. "$LAB/lib/programs.sh"

BUSYBOX=$(command -v busybox || true)

# libraries PROGRAM...: what the dynamic loader would map, the loader too, as paths.
libraries() {
	local program
	for program in "$@"; do
		# A static program has none, which ldd reports as a failure.
		{ ldd "$program" 2>/dev/null || true; } |
			awk '$2 == "=>" && $3 == "not" { print "missing:" $1 } $2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\// { print $1 }'
	done | sort -u
}

# inputs: "DESTINATION SOURCE MODE" of every file.
inputs() {
	local file
	echo "bin/busybox $BUSYBOX 755"
	echo "usr/local/bin/migrc $MIGRC_BIN 755"
	for file in "${WORKLOADS[@]}"; do
		echo "usr/local/bin/$(basename "$file") $file 755"
	done
	libraries "$MIGRC_BIN" "${WORKLOADS[@]}" | while read -r file; do
		case $file in
		missing:*) die "${file#missing:}" "library not found by ldd" "install it, or build migrc again" ;;
		esac
		echo "${file#/} $file 755"
	done
	for file in "$LAB"/guest/*; do
		case $file in
		*/init) echo "init $file 755" ;;
		*) echo "lib/migrc/$(basename "$file") $file 644" ;;
		esac
	done
}

# key LIST: over names and contents, and this script, which decides the rest.
key() {
	{
		awk '{ print $1, $3 }' "$1"
		awk '{ print $2 }' "$1" | tr '\n' '\0' | xargs -0 sha256sum | cut -d' ' -f1
		cat "$0"
	} | digest | cut -c1-16
}

populate() {
	local root=$1 list=$2 destination source mode applet
	mkdir -p "$root"/{bin,dev,proc,sys,tmp,lib/migrc,usr/local/bin}
	while read -r destination source mode; do
		install -D -m "$mode" "$source" "$root/$destination"
	done < "$list"
	# Not busybox onto itself: the link would replace the program.
	for applet in $("$BUSYBOX" --list); do
		[ "$applet" = busybox ] || ln -s busybox "$root/bin/$applet"
	done
}

pack() {
	(cd "$1" && find . -exec touch -h -d @0 {} + && find . -print0 | sort -z |
		cpio --null --create --format=newc --owner=0:0 --reproducible --quiet) | gzip -n -6 > "$2"
}

main() {
	local dir=$CACHE/initramfs list out
	need_command cpio cpio
	[ -n "$BUSYBOX" ] || die "busybox" "not found" "install the package busybox-static or run 'make deps' as root"
	programs__find
	lock initramfs
	mkdir -p "$dir"
	list=$dir/.inputs
	inputs > "$list"
	out=$dir/$(key "$list").cpio.gz
	if [ ! -f "$out" ]; then
		need_space "$dir" 100 "initramfs"
		rm -rf "$dir"/.root "$dir"/*.cpio.gz
		populate "$dir/.root" "$list"
		pack "$dir/.root" "$out.tmp"
		mv "$out.tmp" "$out"
		rm -rf "$dir/.root"
	fi
	say INITRD "$out ($(du -h "$out" | cut -f1))"
	[ $# -eq 0 ] || echo "$out" > "$1"
}

main "$@"
