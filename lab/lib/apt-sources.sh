# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# From the machine's own apt configuration to a private sources list with more suites. No mirror
# is named here: the address is whatever this machine already trusts for its release.

# apt_sources__entries FILE...: "URI SUITE SIGNED_BY" for each enabled binary entry that has the
# component main, of one-line (.list) and deb822 (.sources) files. SIGNED_BY is - where not given.
apt_sources__entries() {
	local file
	for file in "$@"; do
		[ -r "$file" ] || continue
		case $file in
		*.list) apt_sources__one_line "$file" ;;
		*.sources) apt_sources__deb822 "$file" ;;
		esac
	done
}

apt_sources__one_line() {
	awk '
	{ sub(/#.*/, "") }
	$1 == "deb" {
		key = "-"; options = ""
		line = $0
		sub(/^[ \t]*deb[ \t]+/, "", line)
		if (line ~ /^\[/) {
			options = substr(line, 2, index(line, "]") - 2)
			line = substr(line, index(line, "]") + 1)
		}
		n = split(options, opt, /[ \t]+/)
		for (i = 1; i <= n; i++)
			if (opt[i] ~ /^signed-by=/)
				key = substr(opt[i], 11)
		n = split(line, word, /[ \t]+/)
		first = word[1] == "" ? 2 : 1
		for (i = first + 2; i <= n; i++)
			if (word[i] == "main")
				print word[first], word[first + 1], key
	}' "$1"
}

apt_sources__deb822() {
	awk '
	function flush(   i, j, u, s, nu, ns) {
		if ((" " types " ") ~ / deb / && (" " components " ") ~ / main / && enabled != "no") {
			nu = split(uris, u, /[ \t]+/); ns = split(suites, s, /[ \t]+/)
			for (i = 1; i <= nu; i++)
				for (j = 1; j <= ns; j++)
					if (u[i] != "" && s[j] != "")
						print u[i], s[j], key == "" ? "-" : key
		}
		types = uris = suites = components = enabled = key = field = ""
	}
	function add(value) {
		sub(/^[ \t]+/, "", value); sub(/[ \t\r]+$/, "", value)
		if (field == "types") types = types " " value
		else if (field == "uris") uris = uris " " value
		else if (field == "suites") suites = suites " " value
		else if (field == "components") components = components " " value
		else if (field == "enabled") enabled = tolower(value)
		else if (field == "signed-by" && value ~ /^\//) key = value
	}
	/^#/ { next }
	/^[ \t]*$/ { flush(); next }
	/^[ \t]/ { add($0); next }
	{ field = tolower(substr($0, 1, index($0, ":") - 1)); add(substr($0, index($0, ":") + 1)) }
	END { flush() }' "$1"
}

# apt_sources__private CODENAME SUITES FILE...: the private list on stdout: the release itself, its
# backports, where Debian 12 keeps newer kernels, and SUITES. Fails if no entry is for the release.
apt_sources__private() {
	local codename=$1 suites=$2 uri suite key option
	shift 2
	apt_sources__entries "$@" | while read -r uri suite key; do
		[ "$suite" = "$codename" ] || continue
		option=
		[ "$key" = - ] || option="[signed-by=$key] "
		for suite in "$codename" "$codename-backports" $suites; do
			printf 'deb %s%s %s main\n' "$option" "$uri" "$suite"
		done
	done | sort -u | grep .
}

# apt_sources__suites CODENAME SUITES FILE...: as apt_sources__private, with the SUITES (one word with
# blanks) of the same archive instead: packages of other releases, to be unpacked and not installed.
apt_sources__suites() {
	local codename=$1 suites=$2 uri suite key option other
	shift 2
	apt_sources__entries "$@" | while read -r uri suite key; do
		[ "$suite" = "$codename" ] || continue
		option=
		[ "$key" = - ] || option="[signed-by=$key] "
		for other in $suites; do
			printf 'deb %s%s %s main\n' "$option" "$uri" "$other"
		done
	done | sort -u | grep .
}
