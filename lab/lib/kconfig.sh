# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A kernel configuration from fragments, and the check that every line of them took effect:
# Kconfig drops what misses a dependency without a word.

# kconfig__last FRAGMENT...: each option once, as the last line that names it says: a fragment may take
# back what one before it gave.
kconfig__last() {
	awk '/^CONFIG_[A-Z0-9_]*=/ {
		name = $0
		sub(/=.*/, "", name)
		if (!(name in line))
			order[++n] = name
		line[name] = $0
	} END { for (i = 1; i <= n; i++) print line[order[i]] }' "$@"
}

# kconfig__lost CONFIG FRAGMENT...: the lines of the fragments that CONFIG does not have.
kconfig__lost() {
	local config=$1 line
	shift
	kconfig__last "$@" | while read -r line; do
		case $line in
		*=n) ! grep -q "^${line%n}" "$config" || echo "$line" ;;
		*) grep -qxF -e "$line" "$config" || echo "$line" ;;
		esac
	done
}

# kconfig__check CONFIG FRAGMENT...
kconfig__check() {
	local lost
	lost=$(kconfig__lost "$@" | tr '\n' ' ')
	[ -z "$lost" ] || die "kernel config" "without effect: ${lost% }" \
		"the option, or what it depends on, is missing in this kernel: see lab/config/"
}
