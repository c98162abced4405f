#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# install-packages.sh [LIST]: installs what of packages.list is missing; does nothing, and needs no
# root, where nothing is.

# shellcheck source=lib/common.sh
. "$(dirname "$0")/lib/common.sh"

wanted() {
	sed -e 's/#.*//' "$1" | tr -s ' \t' '\n' | sed '/^$/d'
}

missing() {
	local package
	for package in "$@"; do
		dpkg-query -W -f '${db:Status-Abbrev}\n' "$package" 2>/dev/null | grep '^.i' > /dev/null || echo "$package"
	done
}

# apt_run ARGS...: quiet unless it fails; apt's own first error is the message.
apt_run() {
	local log=$1
	shift
	DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" > "$log" 2>&1 && return
	die "packages" "apt-get $1 failed: $(grep -m 1 '^E:' "$log" || tail -n 1 "$log")" \
		"the whole log is $log; check the network and /etc/apt"
}

main() {
	local list=${1:-$ROOT/packages.list} log packages absent
	command -v dpkg-query >/dev/null ||
		die "packages" "this system is not Debian" "install what $list names by other means, then run the scripts in lab/"
	mapfile -t packages < <(wanted "$list")
	mapfile -t absent < <(missing "${packages[@]}")
	[ "${#absent[@]}" -gt 0 ] || { say PACKAGES "all ${#packages[@]} are here"; return; }
	[ "$(id -u)" -eq 0 ] || die "packages" "missing: ${absent[*]}" "run 'make deps' as root"
	log=$(mktemp --suffix=.log)
	say PACKAGES "${#absent[@]} to install (about $(duration $((20 + 4 * ${#absent[@]})))): ${absent[*]}"
	apt_run "$log" update
	apt_run "$log" install --no-install-recommends "${absent[@]}"
	rm -f "$log"
}

main "$@"
