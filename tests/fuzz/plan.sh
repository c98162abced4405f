#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# plan.sh N: lab/lib/plan.sh on N damaged plans. A plan is not C, so this mutates plans itself: what
# comes out is a plan, or one line that says what is wrong; nothing in a plan is run while it is read.
set -u
HERE=$(cd "$(dirname "$0")" && pwd)
N=${1:?usage: plan.sh N}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
# shellcheck source=../../lab/lib/plan.sh
. "$HERE/../../lab/lib/plan.sh"

# mutate SEED PLAN: its lines cut, repeated, with bytes that a shell or awk might take for its own.
mutate() {
	awk -v seed="$1" '
	BEGIN { srand(seed); n = split("$(touch x)|`touch x`|;touch x;|%s%n|\\|\"|'"'"'|*|{}|-1|0|99999999999999999999|\t|\001|\377|arm|step|=", odd, "|") }
	{ line[NR] = $0 }
	# Half of them damaged in one line only: most of the plan is read then.
	END {
		damage = seed % 2 ? 1 : 1 + int(rand() * 8)
		for (i = 0; i < damage; i++) {
			k = 1 + int(rand() * NR)
			s = line[k]
			at = int(rand() * (length(s) + 1))
			r = rand()
			if (r < 0.6)
				s = substr(s, 1, at) odd[1 + int(rand() * n)] substr(s, at + 1)
			else if (r < 0.8)
				s = substr(s, 1, at)
			else
				s = s s
			line[k] = s
		}
		for (i = 1; i <= NR; i++)
			print line[i]
	}' "$2"
}

bad=0
good=0
seeds=("$HERE"/corpus/plan/*)
cd "$WORK" || exit 2
for ((i = 1; i <= N; i++)); do
	mutate "$i" "${seeds[i % ${#seeds[@]}]}" > plan
	error=$(plan__error plan 2> err) || { bad=$((bad + 1)); echo "FAILED: seed $i: status of plan__error"; continue; }
	if [ -n "$error" ]; then
		[ "$(wc -l <<< "$error")" -eq 1 ] || { bad=$((bad + 1)); echo "FAILED: seed $i: $error"; }
	else
		good=$((good + 1))
		# So that a plan of a thousand blocks does not take all day.
		sed -i 's/^\([ \t]*blocks[ \t]\+\)[0-9]\{2,\}/\19/' plan
		plan__boots plan > boots 2>> err
		grep -qvE '^[0-9]+ [0-9]+ [a-z0-9_.-]+$' boots && { bad=$((bad + 1)); echo "FAILED: seed $i: boots: $(head -1 boots)"; }
		plan__for_guest plan name 1 1 stock > guest 2>> err
		plan__limit plan > limit 2>> err
	fi
	[ ! -s err ] || { bad=$((bad + 1)); echo "FAILED: seed $i: stderr: $(head -1 err)"; }
	[ ! -e x ] || { bad=$((bad + 1)); echo "FAILED: seed $i: the plan was run"; rm -f x; }
done
printf '%-14s %9d inputs, %5d plans: %s\n' plan "$N" "$good" "$([ "$bad" -eq 0 ] && echo good || echo "$bad FAILED")"
[ "$bad" -eq 0 ]
