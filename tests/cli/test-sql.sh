#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `migrc sql`, and the same table from the extension for sqlite3. What the table answers is tested in
# tests/unit/test_col_events.c.

# shellcheck source=../lab/lib.sh
. "$(dirname "$0")/../lab/lib.sh"
MIGRC=$TOP/build/migrc
EXTENSION=$TOP/build/migrc_events
cd "$WORK" || exit 2

# msql ARG...: `migrc sql ARG...`, its errors in err
msql() {
	"$MIGRC" sql "$@" 2> err
}

one_line() {
	is "$1: one line" 1 "$(wc -l < err)"
	has "$1: says" "$2" "$(cat err)"
}

# A database of the first schema has plain events; migrated, it takes packed ones too.
sqlite3 runs.db < "$TOP/tests/fixtures/store/v1.sql"
is "plain rows of an old database" "$(sqlite3 runs.db 'SELECT run_id, t_ns, kind, a, d FROM event')" \
	"$(msql 'SELECT run_id, t_ns, kind, a, d FROM events')"
is "and it stays old" 1 "$(sqlite3 runs.db 'PRAGMA user_version')"
"$MIGRC" import --arm a --vmstat "$TOP/tests/fixtures/import/published-after.vmstat" > /dev/null
is "plain rows of a migrated one" "$(sqlite3 runs.db 'SELECT run_id, t_ns, kind, a, d FROM event')" \
	"$(msql 'SELECT run_id, t_ns, kind, a, d FROM events')"
is "the extension sees the same" "$(msql 'SELECT * FROM events')" \
	"$(sqlite3 -cmd ".load $EXTENSION" runs.db 'SELECT * FROM events')"

# --- output -------------------------------------------------------------------------------------------
is "a line" 'x||2.5|6162' "$(msql "SELECT 'x', NULL, 2.5, x'6162'")"
is "other separator, header" $'a b\n1 2' "$(msql -H -s ' ' 'SELECT 1 AS a, 2 AS b')"
is "CSV" $'a,b\r\n"x,""y""",\r' "$(msql --csv "SELECT 'x,\"y\"' AS a, NULL AS b")"
is "several statements" $'1\n2' "$(msql 'SELECT 1; SELECT 2; -- and nothing')"
msql 'SELECT * FROM run' > /dev/full
is "full output: status" 2 $?
one_line "full output" "standard output: "

# --- what goes wrong ----------------------------------------------------------------------------------
msql 'SELEKT 1' > out
is "no SQL: status" 2 $?
one_line "no SQL" 'runs.db: near "SELEKT": syntax error; '
cp runs.db before.db
msql "UPDATE run SET arm = 'x'" > out
is "writing: status" 2 $?
one_line "writing" "only queries are run here"
is "writing: nothing was" 0 "$(cmp runs.db before.db > /dev/null; echo $?)"
for sql in "VACUUM INTO 'new.db'" "DROP TABLE run" "CREATE TABLE x (y)" "PRAGMA query_only = OFF; DELETE FROM run"; do
	msql "$sql" > out
	is "$sql: status" 2 $?
	one_line "$sql" "only queries are run here"
done
msql "ATTACH 'new.db' AS n" > out
is "attached: status" 2 $?
one_line "attached" "too many attached databases"
[ ! -e new.db ]
is "no file was made" 0 $?
is "a pragma that asks" 1 "$(msql 'PRAGMA table_info(run)' | grep -c '|uuid|')"
is "a query with WITH" 3 "$(msql 'WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT max(i) FROM n')"
msql > out
is "no query: status" 2 $?
one_line "no query" "give one"
msql -d none.db 'SELECT 1' > out
is "no database: status" 2 $?
one_line "no database" "none.db: "
[ ! -e none.db ]
is "no database: none is made" 0 $?
sqlite3 other.db 'CREATE TABLE t (x)'
msql -d other.db 'SELECT 1' > out
is "another's database: status" 2 $?
one_line "another's database" "not a migrc database"
sqlite3 newer.db < "$TOP/tests/fixtures/store/v1.sql"
sqlite3 newer.db 'PRAGMA user_version = 99'
msql -d newer.db 'SELECT 1' > out
is "newer schema: status" 2 $?
one_line "newer schema" "schema version 99"

# A damaged chunk, in both: named, no crash, what comes before it is printed.
sqlite3 runs.db "INSERT INTO event_chunk VALUES (1, 0, 5, 1, 9, 4, x'6d4501ffffffff')"
msql 'SELECT count(*) FROM events' > out
is "damaged: status" 2 $?
one_line "damaged" "run 1, chunk 0: damaged: "
has "damaged: the extension says it too" "run 1, chunk 0: damaged: " \
	"$(sqlite3 -cmd ".load $EXTENSION" runs.db 'SELECT count(*) FROM events' 2>&1)"
is "damaged: other runs are read" 0 "$(msql 'SELECT count(*) FROM events WHERE run_id = 99')"

# A journal that a killed writer left: put right, and read.
cp before.db hot.db
sqlite3 hot.db 'PRAGMA cache_size = 1' 'BEGIN IMMEDIATE' "UPDATE run SET command = hex(randomblob(200000))" \
	'.shell kill -9 $PPID' > /dev/null 2>&1
[ -s hot.db-journal ]
is "there is a journal" 0 $?
is "and it is rolled back" "$(sqlite3 before.db 'SELECT command FROM run')" "$(msql -d hot.db 'SELECT command FROM run')"
finish
