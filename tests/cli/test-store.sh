#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The database under what happens to it: kills, full disks, limits, other users, other programs.
# Nothing that was stored before is ever lost, and each error is one line that names the file.

# shellcheck source=../lab/lib.sh
. "$(dirname "$0")/../lab/lib.sh"
MIGRC=$TOP/build/migrc
IMPORT="$TOP/tests/fixtures/import"
cd "$WORK" || exit 2

sql() {
	sqlite3 "$@" 2>&1
}

# record DB ARG...: without what needs the kernel's leave; messages about probes are not errors here
record() {
	local db=$1
	shift
	"$MIGRC" record -o "$db" --missing-probes=warn --interval 20 "$@" 2> err.all
	local rc=$?
	grep -v 'cannot be traced' err.all > err
	return $rc
}

import() {
	"$MIGRC" import --arm a --vmstat "$IMPORT/published-after.vmstat" "$@"
}

# whole DB N: it is sound and has N valid runs, each with all its rows
whole() {
	is "$1: sound" ok "$(sql "$1" 'PRAGMA integrity_check')"
	is "$1: valid runs" "$2" "$(sql "$1" "SELECT count(*) FROM run_validity WHERE valid AND run_id IN (SELECT run_id FROM counter)")"
}

one_line() {
	is "$1: one line" 1 "$(wc -l < err)"
	has "$1: begins with" migrc: "$(head -c 6 err)"
	has "$1: says" "$2" "$(cat err)"
	has "$1: and the remedy" '; ' "$(cat err)"
}

record first.db -- true
[ $? -ne 5 ] || { echo "skipped: record is not permitted here"; is skipped 1 1; finish; exit; }

# --- killed by the workload itself, so that it is while the run is under way ------------------------
cp first.db kills.db
for delay in 0 0.05 0.2 0.4; do
	record kills.db -- sh -c "echo 'migrc: metric m 1 s lower time'; sleep $delay; kill -9 \$PPID" > /dev/null 2>&1
	is "killed after $delay s: status" 137 $?
	is "killed after $delay s: sound" ok "$(sql kills.db 'PRAGMA quick_check')"
done
whole kills.db 1
is "killed: all are marked" 4 "$(sql kills.db "SELECT count(*) FROM run WHERE state = 'running'")"
is "killed: none has results" 0 "$(sql kills.db "SELECT count(*) FROM metric WHERE name = 'm'")"
record kills.db -- true
whole kills.db 2
"$MIGRC" runs -d kills.db > runs.txt
is "killed: readable" 0 $?
has "killed: and marked" "state running" "$(cat runs.txt)"

# --- kill -9 of import and merge, wherever they are --------------------------------------------------
# kills WHAT DB COUNT COMMAND...: 25 kills that hit, each on a database with first.db's run. The time to wait is drawn
# below a limit that begins with what the command takes when left alone, and is lowered by each that came too late
# and raised by each that hit: how fast the machine is at that moment decides nothing. COUNT, a query, is how many
# runs are there and not whole.
RANDOM=1
first=$(sql first.db 'SELECT uuid FROM run')
kills() {
	local what=$1 db=$2 count=$3 hits=0 tries=0 torn='' state limit start
	shift 3
	cp first.db "$db"
	start=$(date +%s%N)
	"$@" > out 2>&1
	is "$what, left alone: status" 0 $?
	limit=$((($(date +%s%N) - start) / 1000))
	while [ $hits -lt 25 ] && [ $tries -lt 250 ]; do
		tries=$((tries + 1))
		limit=$((limit > 999999 ? 999999 : limit < 10 ? 10 : limit))
		rm -f "$db" "$db"-*
		cp first.db "$db"
		"$@" > out 2>&1 &
		sleep "$(printf '0.%06d' $(((RANDOM << 15 | RANDOM) % limit)))"
		kill -9 $! 2> kill.err
		{ wait $!; } 2> kill.err
		if [ $? = 137 ]; then
			hits=$((hits + 1)) limit=$((limit * 5 / 4))
		else
			limit=$((limit * 3 / 4))
		fi
		state="$(sql "$db" 'PRAGMA integrity_check') $(sql "$db" "SELECT count(*) FROM run WHERE uuid = '$first'") $(sql "$db" "$count")"
		[ "$state" = "ok 1 0" ] || torn="$torn$state; "
	done
	is "$what, killed: 25 hit it" 25 $hits
	is "$what, killed: sound, what was there is there, and nothing by halves" "" "$torn"
	"$@" > out 2>&1
	is "$what, again: status" 0 $?
	is "$what, again: whole" 0 "$(sql "$db" "$count")"
}

kills import killed-import.db "SELECT count(*) FROM run WHERE state <> 'complete' OR id NOT IN (SELECT run_id FROM counter)" \
	"$MIGRC" import --arm a --vmstat "$IMPORT/published-after.vmstat" -o killed-import.db
for i in 1 2 3 4; do
	import -o "part$i.db" > out
	sql "part$i.db" "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 40000)
		INSERT INTO sample SELECT 1, i, 'vmstat', 'x', i FROM n"
done
sha256sum part?.db > parts.sum
kills merge killed-merge.db "SELECT count(*) FROM run WHERE arm = 'a' AND (SELECT count(*) FROM sample WHERE run_id = id AND name = 'x') <> 40000" \
	"$MIGRC" merge part1.db part2.db part3.db part4.db -o killed-merge.db
is "merge, killed: the sources are as before" 0 "$(sha256sum --quiet -c parts.sum > out 2>&1; echo $?)"
is "merge, killed: and all is merged in the end" "5 160000" "$(sql -separator ' ' killed-merge.db "SELECT (SELECT count(*) FROM run), count(*) FROM sample WHERE name = 'x'")"

# --- full disk ----------------------------------------------------------------------------------------
mkdir full elsewhere
if unshare -m true 2> /dev/null; then
	cp first.db elsewhere/base.db
	cat > in-full.sh <<-'END'
	mount -t tmpfs -o size=256k none full || exit 77
	cp elsewhere/base.db full/runs.db
	fill() { head -c 1M /dev/zero > full/fill 2> fill.err; }
	"$@"
	rc=$?
	rm -f full/fill
	cp full/runs.db after.db
	exit $rc
	END
	full_at_the_end() {
		TMPDIR=$WORK/elsewhere "$MIGRC" record -o full/runs.db --missing-probes=warn --interval 0 -- \
			sh -c "head -c 1M /dev/zero > full/fill 2> fill.err; echo 'migrc: metric m 7 s lower time'" 2> err.all
	}
	full_before() {
		fill
		"$MIGRC" import --arm a --vmstat "$IMPORT/published-after.vmstat" -o full/runs.db 2> err
	}
	export -f full_at_the_end full_before
	export MIGRC IMPORT WORK
	unshare -m bash in-full.sh full_at_the_end
	rc=$?
	grep -v 'cannot be traced' err.all > err
	is "full at the end: status" 2 $rc
	has "full at the end: says" "full/runs.db: " "$(cat err)"
	has "full at the end: says where the run is" "it is stored in $WORK/elsewhere/migrc-run-" "$(cat err)"
	whole after.db 1
	rescued=$(echo elsewhere/migrc-run-*.db)
	is "full at the end: the run is whole" "7.0 complete" "$(sql -separator ' ' "$rescued" 'SELECT value, state FROM run JOIN metric ON run_id = id WHERE name = '"'m'")"
	"$MIGRC" merge "$rescued" -o after.db > merge.txt
	is "full at the end: can be merged later" 0 $?
	whole after.db 2
	sed -i 's/^	"\$@"$/fill() { head -c 1M \/dev\/zero > full\/fill 2> fill.err; }; export -f fill; "$@"/' in-full.sh
	unshare -m bash in-full.sh full_before
	is "full before: status" 2 $?
	one_line "full before" "disk"
	whole after.db 1
else
	echo "skipped: no mount namespace here"
fi

# A limit to the size of files is no end of the program.
cp first.db limit.db
size=$(($(stat -c %s limit.db) / 1024 + 8))
(ulimit -f $size; "$MIGRC" record -o limit.db --missing-probes=warn --interval 0 -- true 2> err.all)
is "limit: status" 2 $?
grep -v 'cannot be traced' err.all > err
has "limit: says" "limit.db: " "$(cat err)"
whole limit.db 1
is "limit: the workload has its own disposition" 153 "$("$MIGRC" record -o limit2.db --missing-probes=warn -- \
	bash -c '(ulimit -f 1; head -c 9000 /dev/zero > big) 2> /dev/null; echo $?' 2> /dev/null)"

# --- others -------------------------------------------------------------------------------------------
cp first.db lock.db
sqlite3 lock.db 'BEGIN EXCLUSIVE' '.shell sleep 3' 'COMMIT' &
locker=$!
sleep 0.5
import -o lock.db > out 2> err
is "lock: status" 0 $?
one_line "lock" "another program holds it; waiting"
wait $locker
whole lock.db 2
sqlite3 lock.db 'BEGIN EXCLUSIVE' '.shell sleep 8' 'COMMIT' &
locker=$!
sleep 0.5
(trap - INT; exec "$MIGRC" record -o lock.db --missing-probes=warn -- true > out 2> err.all) &
waiter=$!
sleep 2
kill -TERM $waiter
wait $waiter
is "Ctrl-C while waiting: status" 2 $?
grep -v 'cannot be traced' err.all > err
has "Ctrl-C while waiting: says" "another program holds it; wait for that to end" "$(cat err)"

wait $locker 2> /dev/null

for i in 1 2 3 4; do
	record two.db --arm "arm$i" -- sh -c 'sleep 0.2' &
done
wait
whole two.db 4
is "collectors at once: each its own" 4 "$(sql two.db 'SELECT count(DISTINCT uuid) FROM run WHERE arm LIKE '"'arm_'")"

sqlite3 first.db ".clone newer.db" > /dev/null
sqlite3 newer.db 'PRAGMA user_version = 99; PRAGMA application_id = 0x4d494752'
cp newer.db newer.copy
import -o newer.db > out 2> err
is "newer schema: status" 2 $?
one_line "newer schema" "has schema version 99"
is "newer schema: not touched" 0 "$(cmp newer.db newer.copy > /dev/null; echo $?)"

cp first.db ro.db
chmod 444 ro.db
if [ "$(id -u)" = 0 ]; then
	chmod 755 "$WORK"
	setpriv --reuid 65534 --clear-groups "$MIGRC" import --arm a --vmstat "$IMPORT/published-after.vmstat" -o ro.db > out 2> err
else
	import -o ro.db > out 2> err
fi
is "read-only: status" 2 $?
one_line "read-only" "ro.db: "
whole ro.db 1

# --- what is stored -------------------------------------------------------------------------------------
AWS_SECRET_ACCESS_KEY=s3cr3t-in-the-environment record secret.db -- true
is "the environment is not stored" 0 "$(sql secret.db .dump | grep -c 's3cr3t-in-the-environment')"
finish
