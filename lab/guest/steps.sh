# SPDX-License-Identifier: GPL-2.0-or-later
# The plan's steps; the results so far leave after each.
#     step NAME SECONDS COMMAND...	a command under `migrc record`
#     bare NAME SECONDS COMMAND...	without it, where the kernel has no BTF; its output is a result
#     script NAME SECONDS FILE		a test's script, which records into the database by itself

readonly DB=/tmp/runs.db

# steps__record NAME TIMEOUT COMMAND: the command is shell text, from the user's own plan.
steps__record() {
	local name=$1 timeout=$2 command=$3 word key value probes
	set -- -o "$DB" --arm "$(plan__value arm)" --block "$(plan__value block)" \
		--position "$(plan__value position)" --workload "$name" --timeout "$timeout"
	# Without probes nothing is to run beside the workload: no samples either.
	probes=$(plan__value probes)
	[ "${probes:-all}" = all ] || set -- "$@" --probes="$probes" --interval=0
	while read -r word key value; do
		case $word in
		label) set -- "$@" --label "$key=$value" ;;
		fact) set -- "$@" --fact "$key=$value" ;;
		esac
	done < /plan
	eval "set -- \"\$@\" -- $command"
	migrc record "$@" < /dev/null || {
		word=$?
		# An invalid run is in the database and says so; that is for the comparison to judge.
		[ $word -eq 4 ] || return $word
	}
}

# steps__bare FILE SECONDS COMMAND: the output into FILE and, as the guest may not live to send it, to
# the console. Any failure is the workload's.
steps__bare() {
	# shellcheck disable=SC2086 # words of the user's own plan
	{ timeout "$2" sh -c "$3" < /dev/null 2>&1; echo $? > /tmp/.bare-rc; } | tee "$1"
	[ "$(cat /tmp/.bare-rc)" -eq 0 ] || return 1
}

steps__script() {
	timeout "$2" sh "/files/$3" "$DB" < /dev/null
}

# A database whose writer was killed has its newest pages in a log beside it: both or nothing.
steps__send() {
	local file
	for file in "$DB" "$DB-wal" /tmp/steps/*; do
		[ -s "$file" ] || continue
		case $file in
		/tmp/steps/*) frame__send "steps/${file##*/}" "$file"; rm -f "$file" ;;
		*) frame__send "${file##*/}" "$file" ;;
		esac
	done
}

# steps__one KIND N NAME SECONDS COMMAND
steps__one() {
	local kind=$1 n=$2 name=$3 rc base
	base=/tmp/steps/$n-$name
	say "step $n $name begins at $(cut -d' ' -f1 /proc/uptime)"
	cat /proc/vmstat > "$base.vmstat-before"
	case $kind in
	step) steps__record "$name" "$4" "$5" ;;
	bare) steps__bare "$base.out" "$4" "$5" ;;
	script) steps__script "$name" "$4" "$5" ;;
	esac
	rc=$?
	cat /proc/vmstat > "$base.vmstat-after"
	echo "$rc" > "$base.rc"
	say "step $n $name ends rc=$rc at $(cut -d' ' -f1 /proc/uptime)"
	steps__send
	return $rc
}

# All steps, also after one has failed; returns the first status that was not 0.
steps__run() {
	local word name timeout command n=0 rc=0 one
	mkdir -p /tmp/steps
	while read -r word name timeout command <&4; do
		case $word in
		step | bare | script) ;;
		*) continue ;;
		esac
		n=$((n + 1))
		steps__one "$word" "$n" "$name" "$timeout" "$command"
		one=$?
		[ "$rc" -ne 0 ] || rc=$one
	done 4< /plan
	return $rc
}
