# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Steps with an estimate before and a table of times after.

# timing__begin NAME: the times of NAME's last run, in the cache, are the estimates of this one.
timing__begin() {
	TIMING_FILE=$CACHE/times-$1
	TIMING_TABLE=()
	mkdir -p "$CACHE" 2>/dev/null ||
		die "$CACHE" "cannot be created" "be root, or set MIGRC_CACHE to a folder that you may write"
	touch "$TIMING_FILE"
}

# timing__estimate STEP FIRST: from the longest run so far, as a step may find everything done.
timing__estimate() {
	awk -v step="$1" -v first="$2" '$1 == step && $2 > most { most = $2 } END { print most ? most : first }' "$TIMING_FILE"
}

# timing__step NAME FIRST COMMAND...: FIRST: seconds, the estimate on a machine that never ran it.
timing__step() {
	local name=$1 start seconds
	printf '%s (up to %s)\n' "$name" "$(duration "$(timing__estimate "$name" "$2")")"
	shift 2
	start=$(now)
	"$@"
	seconds=$(($(now) - start))
	TIMING_TABLE+=("$(printf '  %-10s %12s' "$name" "$(duration "$seconds")")")
	echo "$name $seconds" >> "$TIMING_FILE"
}

timing__table() {
	printf '\ntime of each step\n'
	printf '%s\n' "${TIMING_TABLE[@]}"
}
