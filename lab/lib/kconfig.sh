# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A kernel configuration from fragments, and the check that every line of them took effect:
# Kconfig drops what misses a dependency without a word.

# kconfig__lost CONFIG FRAGMENT...: the lines of the fragments that CONFIG does not have.
kconfig__lost() {
	local config=$1 line
	shift
	sed -n 's/^\(CONFIG_[A-Z0-9_]*=.*\)$/\1/p' "$@" | while read -r line; do
		case $line in
		*=n) ! grep -q "^${line%n}" "$config" || echo "$line" ;;
		*) grep -qxF "$line" "$config" || echo "$line" ;;
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
