#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Packaged kernels: which series there are, the newest of each, and its image, with a stand-in for apt.
. "$(dirname "$0")/lib.sh"

mkdir "$WORK/bin"
printf '%s\n' '#!/bin/sh' 'for last; do :; done' 'case $last in' 'update) exit 0 ;;' 'esac' \
	"echo \"\$last\" >> \"$WORK/downloads\"" 'touch "$last.deb"' > "$WORK/bin/apt-get"
printf '%s\n' '#!/bin/sh' "cat \"$WORK/names\"" > "$WORK/bin/apt-cache"
# An archive whose image says which package it is from.
printf '%s\n' '#!/bin/sh' "mkdir -p \"$WORK/tree/boot\" && cd \"$WORK/tree\" &&" \
	'basename "$2" .deb > boot/vmlinuz-x && tar -c ./boot' > "$WORK/bin/dpkg-deb"
chmod +x "$WORK/bin"/*

# fetch [SERIES...]: "SERIES RELEASE" of each line, or the error.
fetch() {
	if PATH=$WORK/bin:$PATH MIGRC_CACHE=$WORK/cache "$TOP/lab/fetch-packaged-kernel.sh" "$WORK/out" "$@" > "$WORK/said" 2>&1; then
		cut -d' ' -f1,2 "$WORK/out"
	else
		grep '^migrc: ' "$WORK/said"
	fi
}

cat > "$WORK/names" <<'END'
linux-image-6.1.0-47-cloud-amd64 - Linux 6.1 for x86-64 cloud (signed)
linux-image-6.1.0-50-cloud-amd64 - Linux 6.1 for x86-64 cloud (signed)
linux-image-6.12.107+deb13-cloud-amd64 - Linux 6.12
linux-image-6.12.9+deb13-cloud-amd64 - Linux 6.12
linux-image-6.13.1+deb13-amd64 - not a cloud kernel
linux-image-7.3.4+deb13-cloud-amd64 - without an image: that is in the next one
linux-binary-7.3.4+deb13-cloud-amd64 - Linux 7.3
END
is "every series, the newest of each" "6.1 6.1.0-50-cloud-amd64
6.12 6.12.107+deb13-cloud-amd64
7.3 7.3.4+deb13-cloud-amd64" "$(fetch)"
is "the package that has the image" "linux-binary-7.3.4+deb13-cloud-amd64" "$(tail -n 1 "$WORK/downloads")"
is "the image" "linux-binary-7.3.4+deb13-cloud-amd64" "$(cat "$(sed -n '3s/.* //p' "$WORK/out")")"
is "6.1 is not 6.12" "6.1 6.1.0-50-cloud-amd64" "$(fetch 6.1)"
is "nothing is downloaded twice" 3 "$(wc -l < "$WORK/downloads")"
has "a series that is not there" "kernel 6.13: no cloud kernel of that series" "$(fetch 6.1 6.13)"
: > "$WORK/names"
has "no series at all" "kernels: no cloud kernel in" "$(fetch)"
finish
