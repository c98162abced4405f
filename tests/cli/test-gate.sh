#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The gate on runs that `migrc record` made: a fake workload, 10 % slower in one arm, in ABBA blocks.

# shellcheck source=../lab/lib.sh
. "$(dirname "$0")/../lab/lib.sh"
MIGRC=$TOP/build/migrc
cd "$WORK" || exit 2
cat > gate.policy <<'EOF'
[gate]
baseline = stock
[metric metric.runtime]
margin = 5 %
min-effect = 2 %
EOF

# record DB ARM BLOCK SEED FACTOR
record() {
	FAKE_SEED=$4 FAKE_FACTOR=$5 "$MIGRC" record -o "$1" --arm "$2" --block "$3" --workload fake \
		--missing-probes=warn --interval 0 -- "$TOP/tests/cli/fake-workload.sh" > out 2> err
}

# blocks DB ARM N FACTOR SEED: N blocks of stock and ARM, in alternating order
blocks() {
	local b seed=$5 order arm factor
	for ((b = 1; b <= $3; b++)); do
		order="stock $2"
		[ $((b % 2)) = 1 ] || order="$2 stock"
		for arm in $order; do
			factor=1
			[ "$arm" = stock ] || factor=$4
			seed=$((seed + 1))
			record "$1" "$arm" "$b" "$seed" "$factor" || return
		done
	done
}

gate() {
	local rc=0
	"$MIGRC" gate --policy gate.policy "$@" > out 2> err || rc=$?
	return "$rc"
}

blocks slow.db slow 7 1.10 100
is "the runs are recorded" 0 $?
[ "$FAILED" -eq 0 ] || cat err
gate -d slow.db --junit gate.xml --json gate.json --md gate.md
is "10 % slower within 7 blocks" 1 $?
has "says so" "REGRESSION    fake slow metric.runtime: regressed, +" "$(cat out)"
is "in JUnit" 1 "$(grep -c '<failure ' gate.xml)"
is "in JSON" 1 "$(sqlite3 :memory: "SELECT json_extract(CAST(readfile('gate.json') AS TEXT), '$.exit')")"
has "in Markdown" "| REGRESSION | fake | slow | metric.runtime |" "$(cat gate.md)"

blocks same.db again 7 1 200
is "the same arm twice is recorded" 0 $?
gate -d same.db
rc=$?
is "the same arm twice is no regression" 1 $((rc == 0 || rc == 3))
gate -d same.db --explain metric.runtime
has "explains" "p after Holm" "$(cat out)"

# Today's slow arm against the same workload of before, on the same machine and on another.
gate -d slow.db --arm slow --against same.db
is "no such arm there" 2 $?
printf '[gate]\narms = slow\nagainst-arm = again\n[metric metric.runtime]\n' > gate.policy
gate -d slow.db --against same.db
is "slower than before" 1 $?
sqlite3 same.db "UPDATE fact SET value = 'another CPU' WHERE key = 'cpu_model'"
gate -d slow.db --against same.db
is "another machine is refused" 4 $?
has "and says which fact" "cpu_model differs" "$(cat err)"

# Broken: never good, never a regression.
head -c 8192 slow.db > torn.db
gate -d torn.db --junit gate.xml
is "a torn database" 2 $?
is "JUnit says error" 1 "$(grep -c '<error ' gate.xml)"
is "in one line" 1 "$(wc -l < err)"
printf '[gate]\nbaseline = stock\n[metric metric.runtime]\n' > gate.policy
{ cat gate.policy && printf 'margin = 5 %%\n\0margin = 90 %%\n'; } > zero.policy
"$MIGRC" gate -d slow.db --policy zero.policy > out 2> err
is "a policy with a zero byte" 2 $?
is "says where, in one line" "migrc: zero.policy:5: a zero byte; a policy is a text file" "$(cat err)"
printf '%s\0' "$(cat gate.policy)" > zero.policy
"$MIGRC" gate -d slow.db --policy zero.policy > out 2> err
is "at its very end, too" 2 $?
ln -s loop loop
sqlite3 other.db 'CREATE TABLE run(x)'
cp slow.db newer.db && sqlite3 newer.db 'PRAGMA user_version = 99'
true > empty
for db in . empty loop other.db newer.db /dev/null gate.policy; do
	gate -d "$db"
	is "no database of ours: $db" 2 $?
	is "$db: in one line" 1 "$(wc -l < err)"
done
for policy in . empty loop slow.db /dev/null /dev/zero; do
	timeout 20 "$MIGRC" gate -d slow.db --policy "$policy" > out 2> err
	is "no policy: $policy" 2 $?
	is "$policy: in one line" 1 "$(wc -l < err)"
done
gate -d slow.db --arm slow --against slow.db
is "against itself" 2 $?
sum=$(sha256sum slow.db)
gate -d slow.db --junit slow.db
is "an output that is the database" 2 $?
has "says so" "slow.db: is a database, which is not written over" "$(cat err)"
is "which stays what it was" "$sum" "$(sha256sum slow.db)"
# A page that no verdict reads is damage all the same.
cp slow.db hole.db
page=$(sqlite3 slow.db "SELECT min(pageno) FROM dbstat WHERE name = 'sqlite_autoindex_run_1' AND pagetype = 'leaf'")
dd if=/dev/zero of=hole.db bs="$(sqlite3 slow.db 'PRAGMA page_size')" seek=$((page - 1)) count=1 conv=notrunc 2> /dev/null
gate -d hole.db
is "a page of zeroes" 2 $?
has "says damaged" "migrc: hole.db: damaged: " "$(cat err)"
is "damaged: in one line" 1 "$(wc -l < err)"
gate -d slow.db --against hole.db
is "a page of zeroes in what it is compared with" 2 $?
# The last line is the status, also when it is not the verdict's.
gate -d slow.db --md no/such/folder.md
is "an output that cannot be written" 2 $?
has "its last line says so" ", exit 2" "$(tail -n 1 out)"
has "and which one" "no/such/folder.md" "$(cat err)"
# A report of invalid runs is written, and nobody takes its exit code for a failure to write.
cp slow.db sums.db
sqlite3 sums.db "UPDATE result_text SET value = 'another' WHERE name = 'checksum' AND run_id = 1"
"$MIGRC" report -d sums.db -o sums.html > out 2> err
is "report of invalid runs: status" 4 $?
is "report of invalid runs: is written" 1 "$(grep -c '</html>' sums.html)"
is "report of invalid runs: says so" "migrc: sums.html: is written, of runs that are not valid; it says why at the top" "$(cat err)"

finish
