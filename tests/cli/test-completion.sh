#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Completion in bash: what is offered for a line, in a shell that does nothing else.

# shellcheck source=../lab/lib.sh
. "$(dirname "$0")/../lab/lib.sh"
cd "$WORK" || exit 2
export PATH=$TOP/build:$PATH
# Warnings of bash itself would show here.
# shellcheck source=../../docs/bash-completion/migrc
. "$TOP/docs/bash-completion/migrc" 2> source.err
is "sourced without a word" "" "$(cat source.err)"
is "and registered" "complete -F _migrc migrc" "$(complete -p migrc)"

bash "$TOP/tests/fixtures/analysis/make-demo-db.sh" runs.db 2 0
sqlite3 runs.db "UPDATE run SET arm = 'arm with spaces' WHERE arm = 'migrc-off'"
bash "$TOP/tests/fixtures/analysis/make-demo-db.sh" other.db 1 0
sqlite3 other.db "UPDATE run SET arm = 'elsewhere'"
touch a.policy

# offered WORD...: the line as bash splits it, the last word is the one to complete; one offer a line.
offered() {
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	_migrc 2> err
	printf '%s\n' "${COMPREPLY[@]}" | sort
}

all=$(migrc --help | awk '/^  [a-z]/ { print $1 }')
is "all subcommands" "$(printf '%s\n' "$all" --help --version | sort)" "$(offered migrc '')"
is "those with re" "$(printf 'record\nreport')" "$(offered migrc re)"
for c in $all; do
	[ "$c" != lab ] || continue
	is "$c: every option" "$(migrc "$c" --help | grep -oE '^ +(-[a-zA-Z?], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort)" \
		"$(offered migrc "$c" --)"
done
is "arms of runs.db" "$(printf '%s\n' 'arm\ with\ spaces' migrc stock)" "$(offered migrc compare --arm '')"
is "with =" "stock" "$(offered migrc compare --arm = st)"
is "right behind the =" 3 "$(offered migrc compare --arm = | wc -l)"
is "arms of another database" elsewhere "$(offered migrc compare -d other.db --arm '')"
is "and with =" elsewhere "$(offered migrc compare --database = other.db --baseline '')"
is "no database, no arms" "" "$(offered migrc compare -d nowhere.db --arm '')"
is "arms for record are of its output" elsewhere "$(offered migrc record -o other.db --arm e)"
is "workloads" "$(printf 'tmpfs-readers\nxsbench')" "$(offered migrc report --workload '')"
is "metrics" metric.runtime "$(offered migrc compare --explain metric.ru)"
is "runs" "$(printf '10\n11\n12')" "$(offered migrc show 1 | grep -vx 1)"
is "words of an option" "$(printf 'agg\nall')" "$(offered migrc record --events '')"
is "of an optional argument" "$(printf 'system\ntask')" "$(offered migrc record --perf = '')"
is "which is none without the =" "" "$(offered migrc record --perf '' | grep -x task)"
is "formats of report" "$(printf 'html\njson\nmd\ntext')" "$(offered migrc report --format '')"
is "formats of export" "$(printf 'csv\njson\nprom')" "$(offered migrc export -f '')"
is "what runs can list" workload "$(offered migrc runs --list w)"
is "files" a.policy "$(offered migrc gate --policy a)"
is "a command behind --, once" true "$(offered migrc record -- tru | grep -x true)"
is "lab" "$(printf '%s\n' --help build run shell)" "$(offered migrc lab '')"
is "plans by name" "$(cd "$TOP/lab/plans" && printf '%s\n' c*.plan | sed 's/\.plan$//' | sort)" "$(offered migrc lab run c)"
is "plans and files" 1 "$(offered migrc lab run a | grep -cx a.policy)"
is "kernels" "$(printf 'stock\nstock-7.3\nstock-storm')" "$(offered migrc lab build st)"
is "presets" l1tf "$(offered migrc lab shell stock l)"
is "nonsense: no noise" "" "$(offered migrc nonsense --x; cat err)"
# As bash does it itself, with the loader of bash-completion.
loaded=$(bash --norc -ic '. /usr/share/bash-completion/bash_completion; . '"$TOP"'/docs/bash-completion/migrc; complete -p migrc' 2> /dev/null)
is "in an interactive shell" "complete -F _migrc migrc" "$loaded"
finish
