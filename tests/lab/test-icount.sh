#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A guest whose clock counts instructions, and one without probes: what the plan's keys become.
. "$(dirname "$0")/lib.sh"
PARTS=(plan qemu accel)

args() {
	lab bash -c '. "$0/lab/lib/common.sh"; . "$0/lab/lib/qemu.sh"
		qemu__args current "$@"; printf "%s " "${QEMU[@]}"' "$TOP" "$@"
}
on=$(args tcg k i on) off=$(args tcg k i off) unsaid=$(args tcg k i)
has "on: instructions are the clock" "-accel tcg,thread=single -icount shift=0,sleep=off " "$on"
slow=$(args tcg k i 3)
is "3: an instruction takes 8 ns" "${on/shift=0/shift=3}" "$slow"
has "on: the guest knows the rate" "tsc_early_khz=1000000 tsc=reliable" "$on"
is "off is as unsaid" "$unsaid" "$off"
has "off: a thread for each CPU" "-accel tcg,thread=multi -cpu" "$off"
is "off: no icount" "$off" "${off/icount/}"

has "the fast node's size" "memory-backend-ram,size=320M,id=fast" "$off"
choose() {
	# shellcheck disable=SC2016
	MIGRC_ACCEL=$1 lab bash -c '. "$0/lab/lib/common.sh"; . "$0/lab/lib/accel.sh"
		accel__choose current kernel initrd "$1" && echo "$ACCEL: $WHY"' "$TOP" "$2" 2>&1
}
is "it is emulated" "tcg: instructions are counted" "$(choose '' on)"
is "so it is with a number" "tcg: instructions are counted" "$(choose '' 3)"
has "kvm cannot" "icount: only emulation counts instructions;" "$(choose kvm on)"
is "off: as the user says" "kvm: MIGRC_ACCEL=kvm" "$(choose kvm off)"

cat > "$WORK/p.plan" <<'END'
icount on
probes none
arm a stock
step s 10 true
END
is "a good plan" "" "$(lab plan__error "$WORK/p.plan")"
has "the guest is told of the probes" "probes none" "$(lab plan__for_guest "$WORK/p.plan" p 1 1 a)"
is "the limit is the host's time" 290 "$(lab plan__limit "$WORK/p.plan")"
sed -i 's/^icount on/icount 3/' "$WORK/p.plan"
is "a number is good" "" "$(lab plan__error "$WORK/p.plan")"
is "and its limit lower" 120 "$(lab plan__limit "$WORK/p.plan")"
sed -i 's/^icount 3/icount 9/' "$WORK/p.plan"
has "a number has a limit" "line 1: icount is" "$(lab plan__error "$WORK/p.plan")"
sed -i 's/^icount 9/icount maybe/' "$WORK/p.plan"
has "icount is on or off" "line 1: icount is" "$(lab plan__error "$WORK/p.plan")"
sed -i 's/^icount maybe/icount off/; s/^probes none/probes some/' "$WORK/p.plan"
has "probes are all or none" "line 2: probes is" "$(lab plan__error "$WORK/p.plan")"
sed -i 's/^probes some/fast_mb 12/' "$WORK/p.plan"
has "a node must hold the kernel" "line 2: fast_mb is" "$(lab plan__error "$WORK/p.plan")"
is "off: the limit of other plans" 100 "$(lab plan__limit "$WORK/p.plan")"

# The guest's own script, with a migrc that prints what it is given.
record() {
	printf '%s\n' 'arm a' 'block 1' 'position 1' "$@" > "$WORK/plan"
	cat > "$WORK/migrc" <<-'END'
	#!/bin/sh
	echo "$*"
	END
	chmod +x "$WORK/migrc"
	sed "s|/plan|$WORK/plan|g" "$TOP/lab/guest/say.sh" "$TOP/lab/guest/steps.sh" > "$WORK/steps.sh"
	PATH=$WORK:$PATH sh -c '. "$0/steps.sh"; steps__record s 10 "true x"' "$WORK"
}
has "none: neither probes nor samples" "--probes=none --interval=0 -- true x" "$(record 'probes none')"
is "all: as before" "record -o /tmp/runs.db --arm a --block 1 --position 1 --workload s --timeout 10 -- true x" \
	"$(record)"

# boot.sh knows it as well as the plan.
has "boot.sh refuses another word" "--icount 'yes' is neither on, off," \
	"$("$TOP/lab/boot.sh" --kernel "$0" --initrd "$0" --plan "$0" --out "$WORK/o" --icount yes 2>&1)"
finish
