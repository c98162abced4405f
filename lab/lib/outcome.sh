# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How a boot ended, by name, from its console log; each name has its own exit code.

# The kernel's own lines only (printk.time=1 marks them): a workload may print WARNING as it likes.
readonly KLINE='\[ *[0-9]+\.[0-9]{6}\] '
readonly SPLAT_WORDS="WARNING: |pagealloc: |[^ ]*: bad p[mu4g]d |BUG: |UBSAN: |kernel BUG at |Oops|general protection fault|INFO: task .* blocked|rcu: INFO: .*stall|watchdog: BUG"
readonly SPLAT="${KLINE}(${SPLAT_WORDS}|Call Trace:)"
readonly PANIC="${KLINE}Kernel panic - not syncing"
# A breakpoint whose owner is gone or not there yet, at the entry of a function (its first 16 bytes):
# patching a probe in while another CPU runs it, which emulation does not keep coherent.
readonly INT3="${KLINE}(Oops: )?int3: "
readonly INT3_ENTRY='RIP: 0010:[a-zA-Z0-9_.]+\+0x[0-9a-f]/'

# outcome__expected KINDS: the log on stdin, but the traces belonging to reports of KINDS that a plan
# expects have no "Call Trace:" any more: `oom` (the OOM killer's), `nomem` (an allocation that failed).
# Each report answers for one trace; one that follows a splat's first line stays. `race`: KCSAN's reports
# without a function of migrc in them are left out as a whole; the kernel has such races without it, too.
outcome__expected() {
	awk -v kinds=" $1 " -v splat="\\] ($SPLAT_WORDS)" '
		function give_back() { printf "%s", race; race = "" }
		kinds ~ / race / && /\] BUG: KCSAN: / { give_back(); race = $0 "\n"; next }
		race != "" && /\] =+\r?$/ { if (race ~ /[a-z0-9_.]*migrc[a-z0-9_.]*( \/|\+0x|\r?\n)/) give_back(); race = ""; next }
		race != "" && $0 !~ splat { race = race $0 "\n"; next }
		race != "" { give_back() }
		kinds ~ / oom / && / invoked oom-killer: gfp_mask=/ { owed++ }
		kinds ~ / nomem / && /: page allocation failure: order:/ { owed++ }
		$0 ~ splat { owed = 0 }
		owed && /\] Call Trace:/ { owed--; next }
		{ print }
		END { give_back() }'
}

outcome__names() {
	cat <<-END
	ok 0
	workload-failed 1
	panic 10
	hang 11
	splat 12
	int3-race 13
	no-results 14
	wrong-kernel 15
	setup-failed 16
	emulator-failed 17
	record-failed 18
	END
}

outcome__code() {
	outcome__names | awk -v name="$1" '$1 == name { print $2 }'
}

# outcome__guest_rc LOG: what the guest said at its end, nothing if it never came there.
outcome__guest_rc() {
	sed -n -E 's/^.*migrc-guest: done rc=([0-9]+).*$/\1/p' "$1" | tail -n 1
}

# outcome__classify LOG EMULATOR_RC RESULTS: the name on stdout. EMULATOR_RC is timeout(1)'s: 124 or
# 137 mean that the time limit ended it. RESULTS is 1 if a whole database came back.
outcome__classify() {
	local log=$1 emulator_rc=$2 results=$3 rc
	rc=$(outcome__guest_rc "$log")
	if grep -qE "$INT3" "$log" && grep -qE "$INT3_ENTRY" "$log"; then
		echo int3-race
	elif grep -qE "$PANIC" "$log"; then
		echo panic
	elif grep -qE "$SPLAT" "$log"; then
		echo splat
	elif [ "$emulator_rc" -eq 124 ] || [ "$emulator_rc" -eq 137 ]; then
		echo hang
	elif [ "$emulator_rc" -ne 0 ]; then
		echo emulator-failed
	elif grep -q 'migrc-guest: error: wrong kernel' "$log"; then
		echo wrong-kernel
	elif grep -q 'migrc-guest: error: ' "$log"; then
		echo setup-failed
	elif [ "${rc:-0}" -eq 1 ]; then
		echo workload-failed
	elif [ "${rc:-0}" -ne 0 ]; then
		# Not the workload: migrc itself could not do its work.
		echo record-failed
	elif [ "$results" -ne 1 ] || [ -z "$rc" ]; then
		echo no-results
	else
		echo ok
	fi
}

# outcome__detail LOG NAME: the line of the log that says most, for a summary.
outcome__detail() {
	local log=$1
	case $2 in
	int3-race) grep -m 1 -oE "$INT3_ENTRY" "$log" ;;
	panic) grep -m 1 -oE "$PANIC.*" "$log" ;;
	splat) grep -m 1 -oE "$SPLAT.*" "$log" ;;
	wrong-kernel | setup-failed) sed -n 's/.*migrc-guest: error: //p' "$log" | sed -n 1p ;;
	workload-failed) grep -m 1 -E 'migrc-guest: step .* ends rc=[^0]' "$log" ;;
	record-failed) grep -m 1 '^migrc: ' "$log" ;;
	hang | no-results) grep -a 'migrc-guest: ' "$log" | tail -n 1 ;;
	esac | tr -d '\r' || true
}
