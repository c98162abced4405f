#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# On a terminal: lines that fit it, names that stay apart, colour only there and never alone, and
# bars that are seen only there and only if it takes long.

# shellcheck source=../lab/lib.sh
. "$(dirname "$0")/../lab/lib.sh"
MIGRC=$TOP/build/migrc
cd "$WORK" || exit 2
unset NO_COLOR COLUMNS
export TERM=xterm

long=an-arm-with-a-name-that-nobody-can-read-and-that-ends-in
bash "$TOP/tests/fixtures/analysis/make-demo-db.sh" plain.db 3 1
cp plain.db hostile.db
is "the databases are made" 18 "$(sqlite3 plain.db "SELECT count(*) FROM run")"
# Ends that differ, ends that do not, ideographs, an escape sequence; a host's name is a fact.
sqlite3 hostile.db "
	UPDATE run SET arm = '$long-one' WHERE arm = 'migrc';
	UPDATE run SET arm = '$long-two' WHERE arm = 'migrc-off';
	UPDATE run SET workload = 'workload-' || replace(hex(zeroblob(60)), '00', 'same-') WHERE workload = 'xsbench';
	UPDATE metric SET name = 'm' || replace(hex(zeroblob(40)), '00', 'etric_') WHERE name = 'rounds';
	UPDATE metric SET name = replace(hex(zeroblob(70)), '00', char(28450)) WHERE name = 'reads_per_s';
	INSERT INTO fact SELECT id, 'drift', 'host', 'host' || char(27) || '[31m' || replace(hex(zeroblob(200)), '00', 'x.') FROM run;"
is "with hostile names" 0 $?
cat > policy <<'EOT'
[gate]
baseline = stock
[metric metric.runtime]
margin = 5 %
EOT

# In columns, as the terminal sees it: ideographs are two.
too_wide() {
	sed -e 's/\x1b\[[0-9;]*m//g' "$1" | LC_ALL=C.UTF-8 sed -e 's/漢/xx/g' | LC_ALL=C.UTF-8 awk -v most="$2" 'length($0) > most'
}

# on_tty COLUMNS COMMAND...: its output as the terminal shows it in the end: a bar is written over.
on_tty() {
	local columns=$1
	shift
	script -qec "stty cols $columns; $*" /dev/null < /dev/null | sed -e 's/\r$//' -e 's/.*\r//'
}

for db in plain hostile; do
	for args in "runs" "compare" "compare -a" "compare --explain metric.runtime" "show 2"; do
		# shellcheck disable=SC2086 # words
		"$MIGRC" $args -d $db.db > out 2> err
		rc=$?
		is "$db: $args: status" 0 $(( rc == 4 ? 0 : rc ))
		is "$db: $args: lines fit 80 columns" "" "$(too_wide out 80)"
		is "$db: $args: no colour in a pipe" 0 "$(grep -c $'\x1b' out)"
		is "$db: $args: nothing on stderr" 0 "$(wc -c < err)"
		on_tty 80 "$MIGRC $args -d $db.db" > screen
		is "$db: $args: lines fit a terminal of 80" "" "$(too_wide screen 80)"
		is "$db: $args: the same without its colour" "" "$(sed 's/\x1b\[[0-9;]*m//g' screen | diff - out)"
		[ $db = hostile ] || continue
		on_tty 60 "$MIGRC $args -d $db.db" > screen
		is "$db: $args: lines fit a terminal of 60" "" "$(too_wide screen 60)"
		on_tty 140 "$MIGRC $args -d $db.db" > screen
		is "$db: $args: lines fit a terminal of 140" "" "$(too_wide screen 140)"
	done
	on_tty 80 "$MIGRC gate --policy policy -d $db.db" > screen
	is "$db: gate: lines fit a terminal of 80" "" "$(too_wide screen 80)"
	"$MIGRC" gate --policy policy -d $db.db > out
	is "$db: gate: one line for each metric in a pipe" 4 "$(grep -c 'metric.runtime: ' out)"
done
"$MIGRC" doctor > out 2> err
is "doctor: lines fit 80 columns" "" "$(too_wide out 80)"
COLUMNS=50 "$MIGRC" doctor > out 2> err
is "doctor: lines fit 50 columns" "" "$(too_wide out 50)"

# --- names ----------------------------------------------------------------------------------------------
"$MIGRC" runs -d hostile.db > out
arms=$(awk '/^ *[0-9]+  / { for (i = 1; i <= NF; i++) if ($i ~ /^an-/) print $i }' out | sort -u | grep -v "$long")
is "two long arms, two short names" 2 "$(echo "$arms" | wc -l)"
for a in $arms; do
	has "$a is told below" "$a: $long" "$(tr '\n' ' ' < out)"
done
COLUMNS=400 "$MIGRC" runs -d hostile.db > out
has "wide enough for the whole name" " $long-one " "$(cat out)"
COLUMNS=60 "$MIGRC" runs -d plain.db > out
is "COLUMNS counts in a pipe" "" "$(too_wide out 60)"
COLUMNS=nonsense "$MIGRC" runs -d plain.db > out
is "COLUMNS that is no number: status" 0 $?

# --- colour ---------------------------------------------------------------------------------------------
on_tty 80 "$MIGRC compare -d plain.db" > screen
is "colour on a terminal" 1 "$(grep -c $'\x1b' screen | sed 's/[1-9][0-9]*/1/')"
NO_COLOR=1 on_tty 80 "$MIGRC compare -d plain.db" > screen
is "no colour with NO_COLOR" 0 "$(grep -c $'\x1b' screen)"
NO_COLOR='' on_tty 80 "$MIGRC compare -d plain.db" > screen
is "an empty NO_COLOR is none" 1 "$(grep -c $'\x1b' screen | sed 's/[1-9][0-9]*/1/')"
TERM=dumb on_tty 80 "$MIGRC compare -d plain.db" > screen
is "no colour on a dumb terminal" 0 "$(grep -c $'\x1b' screen)"
# Never alone: each coloured row of a table says it in words too.
on_tty 80 "$MIGRC compare -d plain.db" | grep $'^\x1b\[3[12]' > coloured
is "some rows are coloured" 1 "$(($(wc -l < coloured) > 0))"
is "and all of them say why" 0 "$(grep -cvE 'improved|regressed|inconclusive|invalid' coloured)"

# --- bars ---------------------------------------------------------------------------------------------
# gnuplot that takes its time: two of its plots are done at once, the others in the end. All must be in
# the end, as what gnuplot fails at is tried again without the plot that it failed at.
mkdir slow
cat > slow/gnuplot <<'EOT'
#!/bin/sh
printf '%s\n' 0 1 > done
sleep 2.5
for f in $(sed -n 's/^set output "\(.*\)"/\1/p' plot.gp); do
	echo '<svg></svg>' > "$f"
done
sed -n 's/^print //p' plot.gp > done
EOT
chmod +x slow/gnuplot
bar='plotting: \[#*\.*\] *[0-9]+ %, [0-9]+ (s|min) left'
script -qec "stty cols 80; PATH=$WORK/slow:$PATH $MIGRC report -d plain.db -o slow.html" /dev/null < /dev/null > screen 2>&1
is "a report that takes its time: a bar with the time left" 1 "$(tr '\r' '\n' < screen | grep -cE "$bar" | sed 's/[1-9][0-9]*/1/')"
is "the bar fits the terminal" "" "$(tr '\r' '\n' < screen | awk 'length($0) > 79')"
is "and is wiped in the end" "" "$(tr '\r' '\n' < screen | tail -n 1 | tr -d ' ')"
PATH=$WORK/slow:$PATH "$MIGRC" report -d plain.db -o slow.html > out 2> err
is "no bar in a pipe" 0 "$(wc -c < err)"

# Databases that take their time: one that has to be worked out row by row, and a question of that kind.
count() {
	echo "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < $1) SELECT max(n) FROM c"
}
cp plain.db source.db
sqlite3 source.db "DROP TABLE run_label; CREATE VIEW run_label AS SELECT id AS run_id, 'long' AS key,
	CAST(($(count "500000 + run.id * 0")) AS TEXT) AS value FROM run"
is "a source that takes its time" 0 $?
script -qec "stty cols 80; $MIGRC merge -o merged.db source.db" /dev/null < /dev/null > screen 2>&1
tr '\r' '\n' < screen > lines
is "merge: run by run" 1 "$(grep -cE 'merging: \[#*\.*\] *[0-9]+ %, [0-9]+ (s|min) left' lines | sed 's/[1-9][0-9]*/1/')"
is "merge: its words have a line of their own" 1 "$(grep -cx 'source.db: 18 runs added, 0 there already' lines)"
is "merge: and all is there" "18|500000" "$(sqlite3 merged.db "SELECT count(*), min(value) FROM run_label WHERE key = 'long'")"
script -qec "stty cols 80; $MIGRC sql -d plain.db \"$(count 8000000)\"" /dev/null < /dev/null > screen 2>&1
tr '\r' '\n' < screen > lines
is "sql: how long it has taken" 1 "$(grep -cE '^querying: [0-9]+ s' lines | sed 's/[1-9][0-9]*/1/')"
is "sql: the answer has a line of its own" 1 "$(grep -cx 8000000 lines)"

"$MIGRC" record -o bars.db --missing-probes=warn --interval 0 --workload slow -- sleep 1 > out 2> err
if [ $? -eq 5 ]; then
	echo "skipped: record is not permitted here"
else
	is "record: no bar in a pipe" 0 "$(grep -c running err)"
	script -qec "stty cols 80; $MIGRC record -o bars.db --missing-probes=warn --interval 0 --workload slow -- sh -c 'sleep 2.5; echo end of it'" /dev/null < /dev/null > screen 2>&1
	tr '\r' '\n' < screen > lines
	is "record: by earlier runs" 1 "$(grep -cE 'running: \[#*\.*\] *[0-9]+ %, [0-9]+ s left' lines | sed 's/[1-9][0-9]*/1/')"
	is "record: the workload's lines have their own" 1 "$(grep -cx 'end of it' lines)"
	is "record: and are stored as they were" "" "$(sqlite3 bars.db "SELECT * FROM invalid WHERE rule = 'output'")"
	TERM=dumb script -qec "stty cols 80; $MIGRC record -o bars.db --missing-probes=warn --interval 0 --workload slow -- sh -c 'sleep 2; echo end of it'" /dev/null < /dev/null > screen 2>&1
	is "record: no bar on a console that is a log" "0 1" "$(grep -c running screen) $(grep -c 'end of it' screen)"
fi
finish
