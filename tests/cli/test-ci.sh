#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The CI jobs of docs/ci, step by step as they are written there. Only what would install, build and
# boot is put in their place: the plan's runs come from a database that is made up.

# shellcheck source=../lab/lib.sh
. "$(dirname "$0")/../lab/lib.sh"
# shellcheck source=../../lab/lib/plan.sh
. "$TOP/lab/lib/plan.sh"
CI=$TOP/docs/ci

# A tree in which the steps run: build/migrc is the real one, but for `lab run`, which looks at the
# plan and brings the runs of $RUNS. apt-get and make only tell what they were asked for.
mkdir -p "$WORK/bin" "$WORK/tree/build"
cd "$WORK/tree" || exit 2
for f in docs lab kernel-patch Makefile; do
	ln -s "$TOP/$f" "$f"
done
cat > build/migrc <<EOF
#!/bin/bash
if [ "\$1 \$2" = "lab run" ]; then
	. "$TOP/lab/lib/plan.sh"
	error=\$(plan__error "\$3") && [ -z "\$error" ] || { echo "\$3: \$error" >&2; exit 2; }
	mkdir -p "\$4" && cp "\$RUNS" "\$4/runs.db"
	exit
fi
exec "$TOP/build/migrc" "\$@"
EOF
for c in apt-get make; do
	# shellcheck disable=SC2016 # not here
	printf '#!/bin/sh\necho "%s $*" >> "$ASKED"\n' "$c" > "$WORK/bin/$c"
done
chmod +x build/migrc "$WORK"/bin/*
export ASKED=$WORK/asked PATH=$WORK/bin:$PATH

# steps FILE KEY...: the commands of these keys, each into a file of its own: steps/NN-ALWAYS, ALWAYS
# being 1 where the step runs after a failure too. Only the YAML that the examples are written in.
steps() {
	rm -rf steps
	mkdir steps
	awk -v keys="$2" '
	function indent(s) { match(s, /^ */); return RLENGTH }
	function begin() { file = sprintf("steps/%02d-%d", ++n, always) }
	BEGIN { k = split(keys, key, " ") }
	/^ *- (name|uses):/ { always = 0 }
	/^ *if: always\(\)/ { always = 1 }
	block && (/^ *$/ || indent($0) > depth) { print substr($0, depth + 3) > file; next }
	{ block = 0 }
	list && /^ *- / && indent($0) > depth { begin(); sub(/^ *- /, ""); print > file; next }
	{ list = 0 }
	{
		for (i = 1; i <= k; i++) {
			if ($0 !~ "^ *" key[i] ":")
				continue
			depth = indent($0)
			value = $0
			sub(/^ *[a-z_]+: */, "", value)
			if (value == "|") { begin(); block = 1 }
			else if (value == "") { list = 1; always = key[i] == "after_script" }
			else { begin(); print value > file }
		}
	}' "$1"
}

# job FILE KEYS: run the steps as the CI system would; the status is that of the first that failed.
job() {
	local step status=0 rc
	steps "$CI/$1" "$2"
	rm -rf out "$ASKED" summary
	for step in steps/*; do
		[ "$status" -eq 0 ] || [[ $step == *-1 ]] || continue
		rc=0
		env CI_PROJECT_DIR="$PWD" MIGRC_CACHE=cache GITHUB_STEP_SUMMARY="$PWD/summary" \
			sh -e "$step" > "$step.out" 2>&1 || rc=$?
		[ "$status" -ne 0 ] || status=$rc
	done
	return "$status"
}

# runs FILE FACTOR: a database as the plan would make it, with so many times the flushes under migrc.
runs() {
	"$TOP/tests/fixtures/analysis/make-demo-db.sh" "$1" 4 1 || return
	sqlite3 "$1" "DELETE FROM run WHERE arm = 'migrc-off' OR workload = 'xsbench';
		DELETE FROM invalid; UPDATE run SET workload = 'cycle', command = 'cycle';
		UPDATE counter SET after_value = before_value + (after_value - before_value) * $2
			WHERE name LIKE 'nr_tlb_remote_flush%' AND run_id IN (SELECT id FROM run WHERE arm = 'migrc');"
}

is "the plan is good" "" "$(plan__error "$CI/gate.plan")"
for w in $(sed -n 's/^workloads = //p' "$CI/gate.policy" | tr ',' ' '); do
	is "workload $w is a step of the plan" "$w" "$(plan__lines "$CI/gate.plan" step | awk -v w="$w" '$1 == w { print $1 }')"
done
for a in $(sed -n 's/^\(arms\|baseline\) = //p' "$CI/gate.policy" | tr ',' ' '); do
	is "arm $a is one of the plan" "$a" "$(plan__arms "$CI/gate.plan" | grep -x "$a")"
done
runs "$WORK/good.db" 1 && runs "$WORK/bad.db" 40
is "the databases are made" 0 $?
declare -A KEYS=([github-actions.yml]="run" [gitlab-ci.yml]="before_script script after_script")
for f in github-actions.yml gitlab-ci.yml; do
	RUNS=$WORK/good.db job "$f" "${KEYS[$f]}"
	is "$f: good runs pass" 0 $?
	has "$f: the packages are asked for" "make deps" "$(cat "$ASKED")"
	is "$f: JUnit is there" 1 "$(grep -c '<testsuites' out/gate.xml)"
	is "$f: the report is there" 1 "$(grep -c '</html>' out/report.html)"
	RUNS=$WORK/bad.db job "$f" "${KEYS[$f]}"
	is "$f: a regression fails" 1 $?
	is "$f: JUnit says it" 1 "$(grep -c '<testsuites.* failures="2"' out/gate.xml)"
	is "$f: the report is there all the same" 1 "$(grep -c '</html>' out/report.html)"
	RUNS=$WORK/nothing job "$f" "${KEYS[$f]}"
	is "$f: a lab that fails is not passed over" 1 $?
	for a in $(grep -o 'out/[a-z.]*' "$CI/$f" | sort -u); do
		RUNS=$WORK/good.db job "$f" "${KEYS[$f]}"
		is "$f: $a is made" 1 "$([ -s "$a" ] && echo 1)"
	done
done
has "GitHub's summary" "| REGRESSION | cycle | migrc |" "$(RUNS=$WORK/bad.db job github-actions.yml run; cat summary)"
finish
