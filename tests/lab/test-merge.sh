#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Databases together: nothing twice, nothing lost, nothing mixed up.
. "$(dirname "$0")/lib.sh"
PARTS=(merge)

# boot FILE UUID...: a database with runs as record writes them.
boot() {
	local db=$1 uuid id=0
	shift
	sqlite3 "$db" < "$TOP/collector/schema.sql"
	for uuid in "$@"; do
		id=$((id + 1))
		sqlite3 "$db" "
			INSERT INTO run VALUES ($id, '$uuid', 'stock', 1, 1, 'boot-$uuid', 'xs', 'xs', 'complete',
				1, 2, 0, NULL, 0, 1, 'test');
			INSERT INTO counter VALUES ($id, 'vmstat', 'pgmigrate_success', 1, 100$id);
			INSERT INTO histogram VALUES ($id, 'h', 'ns', 3, 1, 5, 5);
			INSERT INTO histogram_bin VALUES ($id, 'h', 5, 1, 1);
			INSERT INTO run_label VALUES ($id, 'name', 'it''s $uuid');
			INSERT INTO event VALUES ($id, 1, 0, 1, 1, 1, 1, 1, 1);"
	done
}

dump() {
	sqlite3 "$1" .dump | digest_of
}
digest_of() {
	sha256sum | cut -c1-16
}

boot "$WORK/a.db" u1 u2
boot "$WORK/b.db" u3 u4
lab merge "$WORK/all.db" "$WORK/a.db"
lab merge "$WORK/all.db" "$WORK/b.db"
is "all runs" "u1 u2 u3 u4" "$(sqlite3 "$WORK/all.db" "SELECT group_concat(uuid, ' ') FROM (SELECT uuid FROM run ORDER BY id)")"
before=$(dump "$WORK/all.db")
lab merge "$WORK/all.db" "$WORK/b.db"
lab merge "$WORK/all.db" "$WORK/a.db"
is "again changes nothing" "$before" "$(dump "$WORK/all.db")"
is "rows stay with their run" "u1|it's u1|1001 u2|it's u2|1002 u3|it's u3|1001 u4|it's u4|1002" \
	"$(sqlite3 "$WORK/all.db" "SELECT uuid, l.value, c.after_value FROM run JOIN run_label l ON l.run_id = id
		JOIN counter c ON c.run_id = id ORDER BY uuid" | tr '\n' ' ' | sed 's/ $//')"
for table in counter histogram histogram_bin run_label event; do
	is "every row of $table" 4 "$(sqlite3 "$WORK/all.db" "SELECT count(*) FROM $table")"
done
is "keys hold" "" "$(sqlite3 "$WORK/all.db" 'PRAGMA foreign_key_check')"
is "version and application kept" "$(sqlite3 "$WORK/a.db" 'PRAGMA user_version; PRAGMA application_id')" \
	"$(sqlite3 "$WORK/all.db" 'PRAGMA user_version; PRAGMA application_id')"

lab merge__invalidate "$WORK/all.db" "$WORK/b.db" kernel-splat "WARNING: it's bad"
is "marked runs" "u3 u4" "$(sqlite3 "$WORK/all.db" \
	"SELECT group_concat(uuid, ' ') FROM (SELECT uuid FROM run JOIN invalid ON run_id = id ORDER BY uuid)")"

before=$(dump "$WORK/all.db")
boot "$WORK/new.db" u5
sqlite3 "$WORK/new.db" 'PRAGMA user_version = 99'
message=$(lab merge "$WORK/all.db" "$WORK/new.db" 2>&1)
is "another version: status" 2 $?
has "another version: message" "schema version $(sqlite3 "$WORK/a.db" 'PRAGMA user_version'), the new runs have 99" "$message"
head -c 3000 /dev/urandom > "$WORK/junk.db"
message=$(lab merge "$WORK/all.db" "$WORK/junk.db" 2>&1)
is "not a database: status" 2 $?
has "not a database: message" "not a whole database" "$message"
is "neither changed anything" "$before" "$(dump "$WORK/all.db")"
finish
