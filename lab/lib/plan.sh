# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Plan files: which kernels are booted in which order and what runs in each boot. One `KEY VALUE...` a
# line, # begins a comment line; lab/plans/demo.plan shows every key.

readonly PLAN_KEYS="preset scan fast_mb icount probes design blocks arm sysctl label step bare boot expect"
# Under "icount on" a guest's second is 10^9 instructions, which take the host so many seconds at most
# (a busy machine emulates some 50 million a second in one thread); with a number, half of them for
# each 1.
readonly ICOUNT_SLOWER=20

# plan__value FILE KEY DEFAULT
plan__value() {
	local value
	value=$(awk -v key="$2" '$1 == key { sub(/^[ \t]*[^ \t]+[ \t]+/, ""); print; exit }' "$1")
	printf '%s\n' "${value:-$3}"
}

# plan__lines FILE KEY: every value of a key, in order.
plan__lines() {
	awk -v key="$2" '$1 == key { sub(/^[ \t]*[^ \t]+[ \t]+/, ""); print }' "$1"
}

plan__arms() {
	plan__lines "$1" arm | awk '{ print $1 }'
}

# plan__kernel FILE ARM: the kernel of arms.conf that the arm boots.
plan__kernel() {
	plan__lines "$1" arm | awk -v arm="$2" '$1 == arm { print $2 }'
}

# plan__syntax FILE: the first step that the guest's shell could not read, which would end its init. Of a
# step it makes words, a bare one it runs.
plan__syntax() {
	local nr kind command why
	while read -r nr kind command; do
		[ "$kind" = bare ] || command="set -- $command"
		why=$(sh -n -c "$command" 2>&1) || {
			echo "line $nr: $kind: ${why#sh: [0-9]*: }"
			return
		}
	done < <(awk '$1 == "step" || $1 == "bare" {
		nr = NR " " $1
		for (i = 1; i <= 3; i++)
			sub(/^[ \t]*[^ \t]+[ \t]+/, "")
		print nr, $0
	}' "$1")
}

# plan__error FILE: what is wrong with the plan, nothing if it is good.
plan__error() {
	local error
	error=$(plan__keys "$1")
	[ -n "$error" ] || error=$(plan__syntax "$1")
	[ -z "$error" ] || echo "$error"
}

plan__keys() {
	awk -v keys="$PLAN_KEYS" '
	function bad(what) { print "line " NR ": " what; failed = 1; exit }
	BEGIN { n = split(keys, k, " "); for (i = 1; i <= n; i++) known[k[i]] = 1 }
	/^[ \t]*(#|$)/ { next }
	!($1 in known) { bad("unknown key \"" $1 "\" (known: " keys ")") }
	$1 == "preset" && $2 != "current" && $2 != "l1tf" { bad("preset is current or l1tf") }
	$1 == "scan" && $2 !~ /^(fast|steady|default)$/ { bad("scan is fast, steady or default") }
	$1 == "icount" && $2 !~ /^(on|off|[1-8])$/ { bad("icount is on, off, or a number from 1 to 8") }
	$1 == "fast_mb" && ($2 !~ /^[0-9]+$/ || $2 < 128 || $2 > 65536) { bad("fast_mb is a number from 128 to 65536") }
	$1 == "probes" && $2 != "all" && $2 != "none" { bad("probes is all or none") }
	$1 == "design" && $2 != "abba" && $2 != "once" { bad("design is abba or once") }
	$1 == "blocks" && ($2 !~ /^[0-9]+$/ || $2 < 1) { bad("blocks is a number from 1") }
	$1 == "arm" && (NF < 3 || $2 !~ /^[a-z0-9_.-]+$/) { bad("arm NAME KERNEL [SYSCTL=VALUE...]") }
	$1 == "arm" && $2 in seen { bad("arm " $2 " is there twice") }
	$1 == "arm" { seen[$2] = 1; arms++ }
	$1 == "step" && (NF < 4 || $2 !~ /^[a-z0-9_.-]+$/ || $3 !~ /^[0-9]+$/) { bad("step NAME SECONDS COMMAND...") }
	$1 == "bare" && (NF < 4 || $2 !~ /^[a-z0-9_.-]+$/ || $3 !~ /^[0-9]+$/) { bad("bare NAME SECONDS COMMAND...") }
	$1 == "step" || $1 == "bare" { steps++ }
	$1 == "boot" && ($2 !~ /^[0-9]+$/ || $2 < 1) { bad("boot is a number of seconds") }
	$1 == "expect" && $2 !~ /^(oom|nomem|race)$/ { bad("expect is oom, nomem or race") }
	END {
		if (!failed && !arms) print "no arm"
		else if (!failed && !steps) print "no step"
	}' "$1"
}

# plan__order DESIGN BLOCKS ARM...: "POSITION BLOCK ARM" of each boot. `abba` runs the arms forth and
# back in a block, and begins the next block with the other end, so that a drift over time falls on
# all arms alike; `once` has each arm once in a block.
plan__order() {
	local design=$1 blocks=$2 block i position=0 forth=() back=() order=()
	shift 2
	forth=("$@")
	for ((i = $# - 1; i >= 0; i--)); do
		back+=("${forth[i]}")
	done
	for ((block = 1; block <= blocks; block++)); do
		if [ $((block % 2)) -eq 1 ]; then
			order=("${forth[@]}")
			[ "$design" = once ] || order+=("${back[@]}")
		else
			order=("${back[@]}")
			[ "$design" = once ] || order+=("${forth[@]}")
		fi
		for i in "${order[@]}"; do
			position=$((position + 1))
			echo "$position $block $i"
		done
	done
}

# plan__boots FILE
plan__boots() {
	local arms
	mapfile -t arms < <(plan__arms "$1")
	plan__order "$(plan__value "$1" design abba)" "$(plan__value "$1" blocks 1)" "${arms[@]}"
}

# plan__limit FILE: seconds after which a boot counts as hung: the steps' own limits, and what
# booting, attaching and sending may take under emulation on a busy machine.
plan__limit() {
	local slower=1 icount
	icount=$(plan__value "$1" icount off)
	case $icount in
	off) ;;
	on) slower=$ICOUNT_SLOWER ;;
	*) slower=$(((ICOUNT_SLOWER >> icount) + 1)) ;;
	esac
	{ plan__lines "$1" step; plan__lines "$1" bare; } |
		awk -v boot="$(plan__value "$1" boot 60)" -v slower="$slower" '{ s += slower * $2 + 30 } END { print s + boot }'
}

# plan__for_guest FILE NAME POSITION BLOCK ARM: the guest's own plan (lab/guest/ reads it).
plan__for_guest() {
	local file=$1 name=$2 position=$3 block=$4 arm=$5 pair
	echo "mode run"
	echo "arm $arm"
	echo "kernel $(plan__kernel "$file" "$arm")"
	echo "block $block"
	echo "position $position"
	echo "scan $(plan__value "$file" scan default)"
	[ "$(plan__value "$file" probes all)" = all ] || echo "probes $(plan__value "$file" probes all)"
	echo "label plan $name"
	plan__lines "$file" label | sed 's/^/label /'
	plan__lines "$file" sysctl | sed 's/^/sysctl /'
	for pair in $(plan__lines "$file" arm | awk -v arm="$arm" '$1 == arm { for (i = 3; i <= NF; i++) print $i }'); do
		echo "sysctl ${pair%%=*} ${pair#*=}"
	done
	plan__lines "$file" expect | sed 's/^/expect /'
	# In their order: a bare step may prepare what a step needs.
	awk '$1 == "step" || $1 == "bare" { sub(/^[ \t]+/, ""); print }' "$file"
}
