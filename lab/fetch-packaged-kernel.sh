#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fetch-packaged-kernel.sh FILE [SERIES...]: Debian's own cloud kernels, the newest of each series (6.1,
# 6.12, 7.3), as they are packaged: "SERIES RELEASE IMAGE" of each into FILE. Without SERIES, every series
# that the suites offer today. Packages of suites that the machine has not configured are found through a
# private sources list, and only unpacked.

# shellcheck source=lib/common.sh
. "$(dirname "$0")/lib/common.sh"
# shellcheck source=lib/apt-sources.sh
. "$LAB/lib/apt-sources.sh"

readonly SUITES="bookworm bookworm-backports trixie trixie-backports" STATE=$CACHE/packaged

# apt_private COMMAND ARGS...: apt with lists and state of its own.
apt_private() {
	"$1" -q -o Dir::Etc::sourcelist="$STATE/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::status="$STATE/apt/status" -o Dir::State::lists="$STATE/apt/lists" \
		-o Dir::Cache="$STATE/apt" -o APT::Sandbox::User="$(id -un)" "${@:2}" 9>&-
}

update_lists() {
	local codename
	codename=$(sed -n 's/^VERSION_CODENAME="\{0,1\}\([a-z]*\).*/\1/p' /etc/os-release)
	mkdir -p "$STATE/apt/lists/partial" "$STATE/apt/archives/partial"
	: > "$STATE/apt/status"
	apt_sources__suites "$codename" "$SUITES" /etc/apt/sources.list /etc/apt/sources.list.d/* \
		> "$STATE/apt/sources.list" ||
		die "kernels" "the apt configuration names no source for ${codename:-this system}" "add one to /etc/apt"
	say FETCH "package lists of $SUITES, into the cache (about 20 s)"
	apt_private apt-get update > "$STATE/apt/log" 2>&1 ||
		die "kernels" "apt-get update failed: $(tail -n 1 "$STATE/apt/log")" "check the network"
}

# offered < NAMES: the series of which there is a kernel, the oldest first.
offered() {
	sed -nE 's/^linux-(image|binary)-([0-9]+\.[0-9]+)[.+].*-cloud-amd64( .*)?$/\2/p' | sort -Vu
}

# newest SERIES < NAMES: the package with the image of the newest kernel of a series. Where the image is
# in a package linux-binary-..., that one.
newest() {
	awk -v series="$1" '
		{ release = $1; sub(/^linux-(image|binary)-/, "", release) }
		release !~ /-cloud-amd64$/ || index(release, series) != 1 { next }
		substr(release, length(series) + 1) !~ /^[.+]/ { next }
		{ kind[release] = kind[release] == "binary" || $1 ~ /^linux-binary-/ ? "binary" : "image" }
		END { for (r in kind) print r, "linux-" kind[r] "-" r }' | sort -V | tail -n 1 | cut -d' ' -f2
}

# fetch_one SERIES PACKAGE: the image into the cache; "SERIES RELEASE IMAGE".
fetch_one() {
	local series=$1 package=$2 release dir image
	release=${package#linux-*-}
	dir=$STATE/$release
	if [ ! -s "$dir/vmlinuz" ]; then
		need_space "$STATE" 200 "kernel $release"
		rm -rf "$dir"
		mkdir -p "$dir/unpacked"
		say FETCH "$package" >&2
		(cd "$dir" && apt_private apt-get download "$package" > log 2>&1) ||
			die "$package" "download failed: $(tail -n 1 "$dir/log")" "check the network and the space"
		dpkg-deb --fsys-tarfile "$dir"/*.deb | tar -x -C "$dir/unpacked" --wildcards '*/vmlinuz*'
		image=$(find "$dir/unpacked" -type f -name 'vmlinuz*' | head -n 1)
		[ -n "$image" ] || die "$package" "has no vmlinuz" "report this as a bug"
		mv "$image" "$dir/vmlinuz"
		rm -rf "$dir/unpacked" "$dir"/*.deb
	fi
	echo "$series $release $dir/vmlinuz"
}

main() {
	local out=$1 series package
	shift
	need_command dpkg-deb dpkg
	lock packaged
	update_lists
	apt_private apt-cache search --names-only '^linux-(image|binary)-[0-9].*-cloud-amd64$' > "$STATE/apt/names"
	: > "$out"
	# shellcheck disable=SC2046 # one word each
	[ $# -gt 0 ] || set -- $(offered < "$STATE/apt/names")
	[ $# -gt 0 ] || die "kernels" "no cloud kernel in $SUITES" "see $STATE/apt/log"
	for series in "$@"; do
		package=$(newest "$series" < "$STATE/apt/names")
		[ -n "$package" ] || die "kernel $series" "no cloud kernel of that series in $SUITES" "choose another series"
		fetch_one "$series" "$package" >> "$out"
	done
}

[ "${BASH_SOURCE[0]}" != "$0" ] || main "$@"
