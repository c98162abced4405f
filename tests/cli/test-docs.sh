#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The page about the database is what the schema says of itself, and every column says something.

# shellcheck source=../lab/lib.sh
. "$(dirname "$0")/../lab/lib.sh"
cd "$WORK" || exit 2

"$TOP/docs/make-schema.sh" "$TOP/collector/schema.sql" > page.md
is "every column has a comment" 0 $?
is "docs/schema.md is up to date (make docs/schema.md)" "" "$(diff page.md "$TOP/docs/schema.md")"
is "every table is there" "$(sqlite3 :memory: ".read $TOP/collector/schema.sql" "SELECT count(*) FROM sqlite_schema WHERE type IN ('table', 'view')")" \
	"$(grep -c '^## ' page.md)"
is "every column is there" "$(sqlite3 :memory: ".read $TOP/collector/schema.sql" \
	"SELECT count(*) FROM sqlite_schema s JOIN pragma_table_info(s.name) WHERE s.type = 'table'")" "$(grep -c '^| `' page.md)"
sed 's/-- identity across.*//' "$TOP/collector/schema.sql" > mute.sql
message=$("$TOP/docs/make-schema.sh" mute.sql 2>&1 > page.md)
is "a column without a comment: status" 1 $?
has "a column without a comment: which" "run.uuid" "$message"
finish
