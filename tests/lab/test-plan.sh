#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Plans: order of boots, errors by line, what the guest is told.
. "$(dirname "$0")/lib.sh"
PARTS=(plan)

arms() {
	lab plan__order "$@" | awk '{ printf "%s%s", sep, $3; sep = " " }'
}

is "abba, two blocks" "a b b a b a a b" "$(arms abba 2 a b)"
is "abba, three arms" "a b c c b a c b a a b c" "$(arms abba 2 a b c)"
is "once, three blocks" "a b b a a b" "$(arms once 3 a b)"
is "position and block" "5 2 b" "$(lab plan__order abba 2 a b | sed -n 5p)"
# No arm is earlier than another on average: a linear drift falls on both alike.
is "balanced positions" "a 18 b 18" \
	"$(lab plan__order abba 2 a b | awk '{ s[$3] += $1 } END { print "a", s["a"], "b", s["b"] }')"

for plan in "$TOP"/lab/plans/*.plan "$TOP"/tests/guest/*.plan; do
	is "${plan##*/} is good" "" "$(lab plan__error "$plan")"
done
is "demo has 8 boots" 8 "$(lab plan__boots "$TOP/lab/plans/demo.plan" | wc -l)"

error() {
	printf '%s\n' "$@" > "$WORK/bad.plan"
	lab plan__error "$WORK/bad.plan"
}
has "unknown key" 'line 2: unknown key "armm"' "$(error 'arm a stock' 'armm b stock' 'step s 3 true')"
has "bad preset" "line 1: preset is" "$(error 'preset old' 'arm a stock' 'step s 3 true')"
has "bad blocks" "line 1: blocks is" "$(error 'blocks none' 'arm a stock' 'step s 3 true')"
has "arm twice" "line 2: arm a is there twice" "$(error 'arm a stock' 'arm a stock' 'step s 3 true')"
has "step without a limit" "line 2: step NAME" "$(error 'arm a stock' 'step s true x')"
has "bare without a limit" "line 2: bare NAME" "$(error 'arm a stock' 'bare s true x')"
has "bad time to boot" "line 1: boot is" "$(error 'boot slowly' 'arm a stock' 'step s 3 true')"
has "bad expectation" "line 1: expect is" "$(error 'expect splat' 'arm a stock' 'step s 3 true')"
is "bare steps only" "" "$(error 'arm a stock' 'bare s 3 true')"
is "no arm" "no arm" "$(error 'step s 3 true')"
has "step that is no words" "line 2: step: " "$(error 'arm a stock' 'step s 5 for t in 1; do true; done')"
has "bare with a quote open" "line 3: bare: " "$(error 'arm a stock' 'step s 5 true' "bare b 5 echo 'x")"
is "bare with a loop" "" "$(error 'arm a stock' 'bare b 5 for t in 1 2; do true || exit 1; done')"
is "step with quotes" "" "$(error 'arm a stock' "step s 5 sh -c 'for t in 1; do true; done'")"
is "no step" "no step" "$(error 'arm a stock')"

cat > "$WORK/p.plan" <<'END'
preset l1tf
arm one stock
arm two migrc vm.migrc=1 kernel.numa_balancing=2
label site lab 7
sysctl vm.swappiness 60
step s 30 sh -c 'echo "a  b"'
step t 40 true
END
is "limit" "190" "$(lab plan__limit "$WORK/p.plan")"
is "the guest's plan" "$(cat <<'END'
mode run
arm two
kernel migrc
block 1
position 3
scan default
label plan p
label site lab 7
sysctl vm.swappiness 60
sysctl vm.migrc 1
sysctl kernel.numa_balancing 2
step s 30 sh -c 'echo "a  b"'
step t 40 true
END
)" "$(lab plan__for_guest "$WORK/p.plan" p 3 1 two)"

cat > "$WORK/q.plan" <<'END'
arm one stock
boot 300
expect oom
bare first 30 sh -c 'true; true'
step second 40 true
bare third 50 true
END
is "limit with bare steps and a slow boot" "510" "$(lab plan__limit "$WORK/q.plan")"
is "bare steps in their order, and what is expected" "$(cat <<'END'
expect oom
bare first 30 sh -c 'true; true'
step second 40 true
bare third 50 true
END
)" "$(lab plan__for_guest "$WORK/q.plan" q 1 1 one | grep -E '^(expect|bare|step) ')"
finish
