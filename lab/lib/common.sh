# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What every lab script shares: where things are, how errors and progress are printed, locks, space.
# Source it first; it needs bash and coreutils only.

set -euo pipefail
export LC_ALL=C

LAB=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034 # used by the scripts that source this
ROOT=$(dirname "$LAB")
CACHE=${MIGRC_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/migrc}

# Exit codes of the design.
# shellcheck disable=SC2034
readonly EX_WORKLOAD=1 EX_TOOL=2 EX_INVALID=4 EX_UNSUPPORTED=5

# die THING WHAT REMEDY [CODE]: the one form of an error.
die() {
	printf 'migrc: %s: %s; %s\n' "$1" "$2" "$3" >&2
	exit "${4:-$EX_TOOL}"
}

warn() {
	printf 'migrc: %s: %s\n' "$1" "$2" >&2
}

# say WORD TEXT...: one progress line, in the build's layout.
say() {
	local word=$1
	shift
	printf '  %-8s %s\n' "$word" "$*"
}

# progress TEXT: replaced in place on a terminal, not shown elsewhere.
progress() {
	[ -t 2 ] || return 0
	local columns
	columns=$(stty size < /dev/stderr 2>/dev/null | cut -d' ' -f2) || columns=80
	printf '\r\033[K  %.*s' $((${columns:-80} - 3)) "$*" >&2
}

progress_end() {
	[ -t 2 ] || return 0
	printf '\r\033[K' >&2
}

# duration SECONDS: 75 -> 1 min 15 s
duration() {
	local s=$1
	if [ "$s" -ge 60 ]; then
		printf '%d min %02d s' $((s / 60)) $((s % 60))
	else
		printf '%d s' "$s"
	fi
}

now() {
	date +%s
}

# digest: of standard input, as hexadecimal text.
digest() {
	sha256sum | cut -d' ' -f1
}

# need_command NAME PACKAGE
need_command() {
	command -v "$1" >/dev/null ||
		die "$1" "not found" "install the package $2 or run 'make deps' as root"
}

# need_space DIR MEGABYTES WHAT
need_space() {
	local free
	mkdir -p "$1" 2>/dev/null || die "$1" "cannot be created" "set MIGRC_CACHE to a folder that you may write"
	free=$(df -Pm "$1" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge "$2" ] ||
		die "$3" "needs $2 MB in $1, which has $free MB free" \
			"free some space or set MIGRC_CACHE to a larger disk"
}

# lock NAME: one holder at a time, until the script ends. The caller's sub-processes must not
# keep the descriptor (9>&-) if they outlive it.
lock() {
	mkdir -p "$CACHE" 2>/dev/null || die "$CACHE" "cannot be created" "set MIGRC_CACHE to a folder that you may write"
	exec 9>"$CACHE/.lock-$1"
	flock -n 9 && return
	say WAIT "another migrc process holds the lock '$1'"
	flock 9
}
