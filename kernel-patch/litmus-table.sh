#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# litmus-table.sh OUT: the tables of README.md from what `migrc lab run lab/plans/litmus.plan OUT` left:
# violations with all guards and without each of the hooks, under both rules.

set -eu
[ $# -eq 1 ] && [ -d "$1/boots" ] || { echo "litmus-table.sh: no boots in '${1:-}'; give the folder of a run of litmus.plan" >&2; exit 2; }

# Last, so that an unfinished boot stops this instead of giving a short table.
for arm in clean ro; do
	for log in "$1"/boots/*-"$arm"/console.log; do
		[ -r "$log" ] || { echo "litmus-table.sh: no boot of arm $arm in $1; run the plan to its end" >&2; exit 2; }
		# What a progress bar had on a line was written over by what followed.
		sed "s/\r*\$//; s/.*\r//; s/^/$arm /" "$log"
	done
done | awk '
	$2 == "migrc-guest:" && $5 ~ /^litmus/ && $6 == "begins" { step = $5; next }
	$2 == "migrc-guest:" { step = ""; next }
	step == "" || $2 ~ /^\[/ || $2 == "migrc:" || NF < 3 { next }
	/passed, .*failed/ { totals[$1 " " step] = $2 " passed, " $4 " failed" ($6 ? ", " $6 " skipped" : ""); next }
	$2 == "compare" { differ[$1] = $(NF - 1); next }
	{
		test = $2; hook = "-"
		if ($3 == "no" && $4 == "hook:") { row(test, "none"); next }
		if ($3 == "skipped:") value = "skipped"
		else if ($3 == "could") value = "could not be run FAILED"
		else {
			if ($3 != "rounds") hook = $3
			value = "?"
			for (i = 3; i < NF; i++) if ($i == "violations") value = $(i + 1)
			if ($NF != "ok") value = value ($0 ~ /skipped/ ? " (skipped)" : " FAILED")
		}
		if (step == "litmus-break") row(test, hook)
		else if (!(test in first)) { first[test]; order[++n] = test }
		cell[step, test, hook, $1] = value
	}
	function row(test, hook) { if (!((test, hook) in seen)) { seen[test, hook]; rows[test] = rows[test] " " hook } }
	function get(step, test, hook, arm) { return (step, test, hook, arm) in cell ? cell[step, test, hook, arm] : "" }
	END {
		if (!n) { print "litmus-table.sh: no test in the logs" > "/dev/stderr"; exit 2 }
		print "| test | guarded: `clean` | `ro` | compared: `clean` | `ro` | without | `clean` | `ro` |"
		print "|---|---|---|---|---|---|---|---|"
		for (i = 1; i <= n; i++) {
			t = order[i]
			k = split(rows[t], h, " ")
			if (!k) { k = 1; h[1] = "" }
			for (j = 1; j <= k; j++)
				printf "| %s | %s | %s | %s | %s | %s | %s | %s |\n", j == 1 ? t : "", \
					j == 1 ? get("litmus", t, "-", "clean") : "", j == 1 ? get("litmus", t, "-", "ro") : "", \
					j == 1 ? get("litmus-compare", t, "-", "clean") : "", j == 1 ? get("litmus-compare", t, "-", "ro") : "", \
					h[j] == "none" ? "none needed" : h[j], get("litmus-break", t, h[j], "clean"), get("litmus-break", t, h[j], "ro")
		}
		print ""
		split("litmus litmus-compare litmus-break", s, " ")
		for (i = 1; i <= 3; i++)
			printf "%s: `clean` %s; `ro` %s\n", s[i], totals["clean " s[i]], totals["ro " s[i]]
		printf "sources that differed from their destination when they were let go: `clean` %s; `ro` %s\n", \
			differ["clean"], differ["ro"]
	}'
