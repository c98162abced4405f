# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# One boot's database into the plan's: every row of every run that is not there yet (by UUID), under
# new ids, in one transaction.

merge__version() {
	sqlite3 "$1" 'PRAGMA user_version' 2>/dev/null || echo unreadable
}

# merge__tables DB: the tables whose rows belong to a run, parents before children.
merge__tables() {
	sqlite3 "$1" "
		SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND c.name = 'run_id'
		ORDER BY EXISTS (SELECT 1 FROM pragma_foreign_key_list(m.name) f WHERE f.\"table\" <> 'run'), m.name"
}

# merge__columns DB TABLE EXCEPT: its other columns, comma separated.
merge__columns() {
	sqlite3 "$1" "SELECT group_concat('\"' || name || '\"', ', ') FROM pragma_table_info('$2') WHERE name <> '$3'"
}

merge__sql() {
	local from=$1 table columns
	columns=$(merge__columns "$from" run id)
	cat <<-END
	.bail on
	ATTACH '${from//\'/\'\'}' AS boot;
	BEGIN IMMEDIATE;
	CREATE TEMP TABLE fresh AS
		SELECT id AS old_id, (SELECT coalesce(max(id), 0) FROM main.run) + row_number() OVER (ORDER BY id) AS new_id
		FROM boot.run WHERE uuid NOT IN (SELECT uuid FROM main.run);
	INSERT INTO main.run (id, $columns)
		SELECT new_id, $columns FROM boot.run JOIN temp.fresh ON old_id = id;
	END
	merge__tables "$from" | while read -r table; do
		columns=$(merge__columns "$from" "$table" run_id)
		echo "INSERT INTO main.$table (run_id, $columns) SELECT new_id, $columns FROM boot.$table JOIN temp.fresh ON old_id = run_id;"
	done
	echo "COMMIT;"
}

# merge INTO FROM: INTO is made if it is not there.
merge() {
	local into=$1 from=$2
	[ "$(sqlite3 "$from" 'PRAGMA quick_check' 2>&1)" = ok ] ||
		die "$from" "not a whole database" "the boot's files are kept beside it; boot again"
	if [ ! -f "$into" ]; then
		sqlite3 "$from" ".backup '${into//\'/\'\'}.tmp'"
		mv "$into.tmp" "$into"
		return
	fi
	[ "$(merge__version "$into")" = "$(merge__version "$from")" ] ||
		die "$into" "has schema version $(merge__version "$into"), the new runs have $(merge__version "$from")" \
			"move it away and run again"
	merge__sql "$from" | sqlite3 "$into" ||
		die "$into" "runs of $from could not be added" "nothing was changed; see whether the disk is full"
}

# merge__invalidate DB UUIDS_FROM RULE DETAIL: every run of the database UUIDS_FROM broke a rule that
# only the host could see.
merge__invalidate() {
	sqlite3 "$1" <<-END
	.bail on
	ATTACH '${2//\'/\'\'}' AS boot;
	INSERT OR IGNORE INTO main.invalid (run_id, rule, detail)
		SELECT id, '$3', '${4//\'/\'\'}' FROM main.run WHERE uuid IN (SELECT uuid FROM boot.run);
	END
}
