#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a configuration lost of its fragments.
. "$(dirname "$0")/lib.sh"
PARTS=(kconfig)

printf '%s\n' 'CONFIG_SMP=y' 'CONFIG_NR_CPUS=32' '# CONFIG_AMD_NUMA is not set' 'CONFIG_OFF=y' > "$WORK/config"
printf '%s\n' '# why' 'CONFIG_SMP=y' 'CONFIG_NR_CPUS=32' 'CONFIG_AMD_NUMA=n' > "$WORK/good"
printf '%s\n' 'CONFIG_NR_CPUS=3' 'CONFIG_MIGRC=y' 'CONFIG_OFF=n' > "$WORK/bad"
is "all took effect" "" "$(lab kconfig__lost "$WORK/config" "$WORK/good")"
is "lost lines" "CONFIG_NR_CPUS=3 CONFIG_MIGRC=y CONFIG_OFF=n" \
	"$(lab kconfig__lost "$WORK/config" "$WORK/good" "$WORK/bad" | tr '\n' ' ' | sed 's/ $//')"
printf '%s\n' 'CONFIG_SMP=y' 'CONFIG_OFF=n' 'CONFIG_CMD="a b=c"' > "$WORK/first"
printf '%s\n' 'CONFIG_OFF=y' 'CONFIG_CMD="d e=f"' > "$WORK/second"
is "a later fragment takes back, once each" 'CONFIG_SMP=y CONFIG_OFF=y CONFIG_CMD="d e=f"' \
	"$(lab kconfig__last "$WORK/first" "$WORK/second" | tr '\n' ' ' | sed 's/ $//')"
is "what was taken back is not lost" 'CONFIG_CMD="d e=f"' \
	"$(lab kconfig__lost "$WORK/config" "$WORK/first" "$WORK/second")"
message=$(lab kconfig__check "$WORK/config" "$WORK/bad" 2>&1)
is "status" 2 $?
has "message names them" "CONFIG_MIGRC=y" "$message"
finish
