#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make-schema.sh SCHEMA.SQL: docs/schema.md from the comments of the schema, so that there is one text
# to keep. A column that says nothing of itself is an error. A test compares the page with this.
set -eu
awk '
BEGIN {
	print "<!-- SPDX-License-Identifier: GPL-2.0-or-later -->"
	print "<!-- Made by docs/make-schema.sh from collector/schema.sql; change that and run make docs/schema.md. -->"
	print "# The database, column by column\n"
}
function strip(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }
function plain(s) { gsub(/</, "\\&lt;", s); return s }
function cell(s) { gsub(/\|/, "\\|", s); return plain(s) }
function end_column() {
	if (column == "")
		return
	if (what == "") {
		print "make-schema: " table "." column ": has no comment" > "/dev/stderr"
		failed = 1
	}
	print "| `" column "` | " type " | " cell(what) " |"
	column = ""
}
# Comments before a table are about it; those before everything about the database.
/^-- SPDX/ { next }
/^--/ { sub(/^-- ?/, ""); about = about (about == "" ? "" : "\n") $0; next }
/^PRAGMA application_id/ { print plain(about) "\n"; about = ""; next }
/^PRAGMA user_version/ { print "This is version " $4 + 0 " of the schema (`PRAGMA user_version`).\n"; next }
/^CREATE (TABLE|VIEW)/ {
	table = $3
	view = $2 == "VIEW"
	print "## " table (view ? " (a view)" : "") "\n"
	if (about != "")
		print plain(about) "\n"
	about = ""
	if (!view)
		print "| column | type | |\n|---|---|---|"
	in_table = !view
	next
}
/^\)/ && in_table { end_column(); in_table = 0; if (key != "") print "\nKey: " key "."; key = ""; print ""; next }
in_table && /^\t+-- / { sub(/^\t+-- /, ""); what = what (what == "" ? "" : " ") $0; next }
in_table && /^\tPRIMARY KEY/ { end_column(); key = $0; sub(/.*\(/, "", key); sub(/\).*/, "", key); next }
in_table && /^\tFOREIGN KEY/ { next }
in_table {
	end_column()
	split($0, part, /-- /)
	what = index($0, "-- ") ? strip(substr($0, index($0, "-- ") + 3)) : ""
	column = $1
	type = $2
	sub(/,$/, "", type)
	type = type (/NOT NULL|PRIMARY KEY/ ? "" : ", or NULL")
	if (match(part[1], /CHECK \(.*\)/)) {
		check = substr(part[1], RSTART + 7)
		sub(/\),?[ \t]*$/, "", check)
		if (check ~ / IN \(/) {
			sub(/.* IN \(/, "", check)
			sub(/\)$/, "", check)
			type = type ": " check
		} else
			type = type ", " check
	}
}
END { exit failed }
' "$1"
