# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The folder of a plan's boots: what is done, what is set aside, what each one gave.

# boots__key PLAN NAME POSITION BLOCK ARM KERNEL INITRD: over all that decides what a boot does.
boots__key() {
	{
		plan__for_guest "$1" "$2" "$3" "$4" "$5"
		plan__value "$1" preset current
		plan__value "$1" icount off
		plan__value "$1" fast_mb 320
		echo "${MIGRC_ACCEL:-}"
		basename "$6"
		basename "$7"
		cat "$LAB/lib/qemu.sh"
	} | digest | cut -c1-16
}

# boots__done DIR KEY: the boot ended well and nothing that decides it has changed.
boots__done() {
	[ -f "$1/key" ] && [ "$(cat "$1/key")" = "$2" ] && [ "$(cut -f1 "$1/outcome")" = ok ]
}

# boots__set_aside OUT DIR: an earlier boot in this place is kept, out of the way.
boots__set_aside() {
	[ -d "$2" ] || return 0
	mkdir -p "$1/old"
	mv "$2" "$1/old/$(basename "$2")-$(date +%Y%m%dT%H%M%S)"
}

# boots__gather DB DIR: the boot's runs into DB; those of a kernel that went wrong are marked.
boots__gather() {
	local db=$1 from=$2/results/runs.db outcome detail
	[ -s "$from" ] || return 0
	merge "$db" "$from"
	IFS=$'\t' read -r outcome detail < "$2/outcome"
	case $outcome in
	splat | panic | int3-race) merge__invalidate "$db" "$from" "kernel-$outcome" "$detail" ;;
	esac
}

# boots__replace_db OUT NEW: NEW becomes OUT/runs.db; an old one with runs that NEW lacks is kept.
boots__replace_db() {
	local db=$1/runs.db new=$2 others
	if [ -f "$db" ]; then
		others=1
		[ ! -f "$new" ] || others=$(sqlite3 "$new" "ATTACH '${db//\'/\'\'}' AS old;
			SELECT count(*) FROM old.run WHERE uuid NOT IN (SELECT uuid FROM main.run)" 2>/dev/null || echo 1)
		if [ "$others" -ne 0 ]; then
			mkdir -p "$1/old"
			mv "$db" "$1/old/runs-$(date +%Y%m%dT%H%M%S).db"
			say KEEP "runs of other kernels, programs or plans: moved to $1/old"
		fi
		rm -f "$db" "$db-wal" "$db-shm"
	fi
	[ ! -f "$new" ] || mv "$new" "$db"
}

# boots__mean_seconds OUT FALLBACK: of the boots so far, else FALLBACK's content, else nothing.
boots__mean_seconds() {
	local files=("$1"/boots/*/seconds)
	if [ -f "${files[0]}" ]; then
		cat "${files[@]}" | awk '{ s += $1 } END { printf "%d\n", s / NR }'
	elif [ -r "$2" ]; then
		cat "$2"
	fi
}

# boots__line DIR: outcome, time and detail for people.
boots__line() {
	local outcome detail
	IFS=$'\t' read -r outcome detail < "$1/outcome"
	echo "$outcome, $(duration "$(cat "$1/seconds")")${detail:+: $detail}"
}

# boots__checksums DIR ARM: "STEP NAME<tab>VALUE<tab>ARM" of each checksum that a boot's steps printed,
# recorded or bare.
boots__checksums() {
	local file
	[ ! -s "$1/results/runs.db" ] || sqlite3 -separator $'\t' "$1/results/runs.db" "SELECT workload || ' ' || name, value, '$2'
		FROM result_text JOIN run ON run.id = run_id WHERE state = 'complete' AND name LIKE '%checksum'"
	for file in "$1"/results/steps/*.out; do
		[ ! -f "$file" ] || sed -n "s/^migrc: text \([^ ]*checksum\) \(.*\)/$(basename "$file" .out) \1\t\2\t$2/p" "$file"
	done
}

# boots__same_checksums OUT ORDER: a step's checksum is the same in every boot, whatever its arm; says
# which are not. A kernel that changes one has broken data.
boots__same_checksums() {
	local position block arm
	# shellcheck disable=SC2034 # block: the arm is behind it
	while read -r position block arm; do
		boots__checksums "$1/boots/$(printf '%02d' "$position")-$arm" "$arm"
	done <<< "$2" | awk -F '\t' '
		!($1 in value) { value[$1] = $2; arm[$1] = $3 }
		value[$1] != $2 { printf "migrc: %s: %s in a boot of %s, but %s in one of %s; do not trust one of these kernels with data\n",
			$1, value[$1], arm[$1], $2, $3; bad = 1 }
		END { exit bad }' >&2
}

# boots__summary OUT ORDER: writes OUT/boots.tsv, says what did not go well; the plan's exit status.
boots__summary() {
	local out=$1 position block arm dir outcome detail ok=0 failed=0 bad=0
	printf 'position\tblock\tarm\toutcome\tseconds\tdetail\n' > "$out/boots.tsv"
	while read -r position block arm; do
		dir=$out/boots/$(printf '%02d' "$position")-$arm
		IFS=$'\t' read -r outcome detail < "$dir/outcome"
		printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$position" "$block" "$arm" "$outcome" "$(cat "$dir/seconds")" "$detail" >> "$out/boots.tsv"
		case $outcome in
		ok) ok=$((ok + 1)); continue ;;
		workload-failed) failed=$((failed + 1)) ;;
		*) bad=$((bad + 1)) ;;
		esac
		warn "boot $position ($arm)" "$outcome${detail:+: $detail}; its log is $dir/console.log"
	done <<< "$2"
	say BOOTS "$ok ok, $failed with a failed workload, $bad ended otherwise; list in $out/boots.tsv"
	[ "$bad" -eq 0 ] || return "$EX_INVALID"
	[ "$failed" -eq 0 ] || return "$EX_WORKLOAD"
}
