#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What `migrc doctor` says of a machine that lacks something: file systems of a mount namespace of its own
# stand for that machine. Needs root.

# shellcheck source=../lab/lib.sh
. "$(dirname "$0")/../lab/lib.sh"
MIGRC=$TOP/build/migrc
cd "$WORK" || exit 2
unshare -m true 2> /dev/null || { echo "skipped: no mount namespaces here"; is skipped 1 1; finish; exit; }

# doctor SETUP...: doctor's output into `out`, its exit status into RC, with SETUP done before, in shell.
doctor() {
	MIGRC=$MIGRC unshare -m sh -c "$* \"\$MIGRC\" doctor" > out 2> err
	RC=$?
}
# over DIR: an empty file system over DIR
over() {
	[ -d "$1" ] && echo "mount -t tmpfs none $1 || exit 99;"
}
# finding WHAT: its line, with what follows it up to the next one
finding() {
	awk -v what="$1" '$1 == "ok" || $1 == "NO" { on = $2 == what } on' out | tr -s ' \n' ' '
}

doctor "$(over /sys/kernel/btf)"
is "no BTF: exit" 5 "$RC"
has "no BTF: doctor names it" "NO /sys/kernel/btf/vmlinux missing because: No such file or directory remedy: boot a kernel with CONFIG_DEBUG_INFO_BTF=y" \
	"$(finding /sys/kernel/btf/vmlinux)"
MIGRC=$MIGRC unshare -m sh -c "$(over /sys/kernel/btf) \"\$MIGRC\" record -o r.db -- true" > out 2> err
is "no BTF: record's exit" 5 $?
is "no BTF: record says it in one line" "migrc: /sys/kernel/btf/vmlinux: no type information; boot a kernel with CONFIG_DEBUG_INFO_BTF=y (and mount /sys)" "$(cat err)"

if [ -d /sys/kernel/tracing ]; then
	doctor "$(over /sys/kernel/tracing)"
	has "no tracefs" "NO /sys/kernel/tracing/events missing because: No such file or directory remedy: mount -t tracefs tracefs /sys/kernel/tracing" \
		"$(finding /sys/kernel/tracing/events)"
	doctor "$(over /sys/kernel/tracing) mkdir /sys/kernel/tracing/events;"
	has "tracefs" "ok /sys/kernel/tracing/events readable" "$(finding /sys/kernel/tracing/events)"
fi

if [ -d /sys/kernel/security ]; then
	doctor "$(over /sys/kernel/security) echo 'none integrity [confidentiality]' > /sys/kernel/security/lockdown;"
	has "lockdown" "NO lockdown none integrity \\[confidentiality\\] because: BPF must not read the kernel's memory remedy: boot with lockdown=none or lockdown=integrity" \
		"$(finding lockdown)"
	doctor "$(over /sys/kernel/security) echo 'none [integrity] confidentiality' > /sys/kernel/security/lockdown;"
	has "lockdown that lets probes be" "ok lockdown none \\[integrity\\] confidentiality" "$(finding lockdown)"
fi

doctor "$(over /sys/bus/event_source/devices)"
has "no PMU" "NO PMU missing because: the kernel shows no counters of this CPU remedy: give the guest a PMU" "$(finding PMU)"
doctor "$(over /sys/bus/event_source/devices) mkdir /sys/bus/event_source/devices/cpu;"
has "PMU" "ok PMU present" "$(finding PMU)"

# A user without capabilities: each that is missing is named, with what it is for.
if command -v setpriv > /dev/null; then
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$MIGRC" doctor > out 2> err
	is "no capabilities: exit" 5 $?
	for cap in CAP_BPF CAP_PERFMON; do
		has "no capabilities: $cap" "NO $cap missing because: needed for" "$(finding $cap)"
	done
	has "no capabilities: CAP_SYS_ADMIN is not needed" "ok CAP_SYS_ADMIN missing because: needed for run time of the probes' bodies" "$(finding CAP_SYS_ADMIN)"
fi

for how in "" --json; do
	# shellcheck disable=SC2086 # none or one word
	"$MIGRC" doctor $how > /dev/full 2> err
	is "full output $how: exit" 2 $?
	has "full output $how" "migrc: standard output: " "$(cat err)"
done
finish
