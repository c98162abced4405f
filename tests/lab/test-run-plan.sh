#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A plan's boots: order, what is repeated and what is not, failures, an interrupt. The boots are made
# up by scripts in the places of boot.sh, build-kernel.sh and make-initramfs.sh.
. "$(dirname "$0")/lib.sh"

R=$WORK/root
mkdir -p "$R" "$WORK/cache/kernels"
cp -r "$TOP/lab" "$R/"
export MIGRC_CACHE=$WORK/cache
export SCHEMA=$TOP/collector/schema.sql LOG=$WORK/calls FAKE=$WORK

cat > "$R/lab/build-kernel.sh" <<'END'
#!/bin/bash
for arm; do
	mkdir -p "$MIGRC_CACHE/kernels/$arm-$(cat "$FAKE/kernel-$arm")"
	ln -sfn "$arm-$(cat "$FAKE/kernel-$arm")" "$MIGRC_CACHE/kernels/$arm"
done
END
cat > "$R/lab/make-initramfs.sh" <<'END'
#!/bin/bash
touch "$FAKE/$(cat "$FAKE/initrd").cpio.gz"
echo "$FAKE/$(cat "$FAKE/initrd").cpio.gz" > "$1"
END
cat > "$R/lab/boot.sh" <<'END'
#!/bin/bash
while [ $# -gt 1 ]; do declare "${1#--}=$2"; shift 2; done
arm=$(sed -n 's/^arm //p' "$plan") position=$(sed -n 's/^position //p' "$plan")
echo "$arm $position" >> "$LOG"
echo "$icount $fast" > "$FAKE/machine"
if [ -e "$FAKE/slow-$position" ]; then
	sleep 60 &
	trap 'kill $!; exit 130' TERM
	wait $!
fi
outcome=ok
[ ! -e "$FAKE/outcome-$position" ] || outcome=$(cat "$FAKE/outcome-$position")
mkdir -p "$out/results"
sqlite3 "$out/results/runs.db" < "$SCHEMA"
sqlite3 "$out/results/runs.db" "INSERT INTO run VALUES (1, lower(hex(randomblob(8))), '$arm', 1, $position,
	'b', 'xs', 'xs', 'complete', 1, 2, 0, NULL, 0, 1, 'test');
	INSERT INTO result_text VALUES (1, 'checksum', '$(cat "$FAKE/sum-$position" 2>/dev/null || echo 77)')"
mkdir -p "$out/results/steps"
echo "migrc: text checksum $(cat "$FAKE/bare-sum-$position" 2>/dev/null || echo 88)" > "$out/results/steps/2-bare.out"
printf '%s\tdetail of it\n' "$outcome" > "$out/outcome"
touch "$out/console.log"
[ "$outcome" = ok ]
END
echo 1 > "$WORK/kernel-stock"; echo 1 > "$WORK/kernel-migrc"; echo 1 > "$WORK/initrd"
cat > "$WORK/p.plan" <<'END'
arm stock stock
arm migrc migrc vm.migrc=1
design abba
blocks 1
step xs 5 true
END

run() {
	: > "$LOG"
	OUTPUT=$("$R/lab/run-plan.sh" "$WORK/p.plan" "$WORK/out" 2>&1)
	STATUS=$?
	CALLS=$(tr '\n' ' ' < "$LOG" | sed 's/ $//')
}
runs() {
	sqlite3 "$WORK/out/runs.db" "SELECT group_concat(arm || position, ' ') FROM (SELECT * FROM run ORDER BY position)"
}

run
is "all boots, in order" "stock 1 migrc 2 migrc 3 stock 4" "$CALLS"
is "status" 0 "$STATUS"
is "their runs" "stock1 migrc2 migrc3 stock4" "$(runs)"
has "time left is said" "BOOT     2/4 migrc (block 1), about" "$OUTPUT"
before=$(sqlite3 "$WORK/out/runs.db" .dump | sha256sum)
run
is "nothing twice" "" "$CALLS"
is "the same database" "$before" "$(sqlite3 "$WORK/out/runs.db" .dump | sha256sum)"

echo 2 > "$WORK/kernel-migrc"
run
is "another kernel: its boots only" "migrc 2 migrc 3" "$CALLS"
is "another kernel: one run a boot" "stock1 migrc2 migrc3 stock4" "$(runs)"
has "the earlier runs are kept" "moved to" "$OUTPUT"
is "in a database of their own" 4 "$(sqlite3 "$WORK"/out/old/runs-*.db 'SELECT count(*) FROM run')"

echo panic > "$WORK/outcome-3"
echo 3 > "$WORK/kernel-migrc"
run
is "a panic does not end the plan" "migrc 2 migrc 3" "$CALLS"
is "a panic: status" 4 "$STATUS"
has "a panic: named" "boot 3 (migrc): panic: detail of it" "$OUTPUT"
is "its runs are there, and marked" "kernel-panic|detail of it|3" \
	"$(sqlite3 "$WORK/out/runs.db" "SELECT rule, detail, position FROM invalid JOIN run ON run_id = id")"
has "in the list of boots" "panic" "$(sed -n 4p "$WORK/out/boots.tsv")"
echo workload-failed > "$WORK/outcome-3"
run
is "a boot that failed is tried again" "migrc 3" "$CALLS"
is "a failed workload: status" 1 "$STATUS"
rm "$WORK/outcome-3"
run
is "and is good at last" "migrc 3 0" "$CALLS $STATUS"
is "each boot once" "stock1 migrc2 migrc3 stock4" "$(runs)"

for sum in sum bare-sum; do
	echo 78 > "$WORK/$sum-3"
	echo "$sum" > "$WORK/kernel-migrc"
	run
	is "$sum of one boot differs: status" 4 "$STATUS"
	has "$sum of one boot differs: named" "in a boot of stock, but 78 in one of migrc" "$OUTPUT"
	rm "$WORK/$sum-3"
	echo "$sum-again" > "$WORK/kernel-migrc"
	run
	is "$sum is the same again: status" 0 "$STATUS"
done

echo 2 > "$WORK/initrd"
touch "$WORK/slow-3"
: > "$LOG"
"$R/lab/run-plan.sh" "$WORK/p.plan" "$WORK/out" > "$WORK/output" 2>&1 &
pid=$!
for _ in $(seq 200); do
	grep -q 'migrc 3' "$LOG" && break
	sleep 0.1
done
kill -TERM "$pid"
wait "$pid"
is "interrupted: status" 130 $?
has "interrupted: what to do" "repeat the command to go on" "$(cat "$WORK/output")"
is "what was measured is there" "stock1 migrc2" "$(runs)"
rm "$WORK/slow-3"
run
is "goes on where it was" "migrc 3 stock 4" "$CALLS"
is "complete" "stock1 migrc2 migrc3 stock4" "$(runs)"

is "the machine, unless the plan says" "off 320" "$(cat "$WORK/machine")"
sed -i 's/^step xs/icount on\nstep xs/' "$WORK/p.plan"
run
is "another clock: all its boots" "stock 1 migrc 2 migrc 3 stock 4" "$CALLS"
is "the plan's clock" "on 320" "$(cat "$WORK/machine")"
sed -i 's/^icount on/fast_mb 192/' "$WORK/p.plan"
run
is "another size: all its boots" "stock 1 migrc 2 migrc 3 stock 4" "$CALLS"
is "the plan's size" "off 192" "$(cat "$WORK/machine")"

echo 'arm x' >> "$WORK/p.plan"
run
is "a bad plan: status" 2 "$STATUS"
has "a bad plan: message" "p.plan: line 7: arm NAME KERNEL" "$OUTPUT"
finish
