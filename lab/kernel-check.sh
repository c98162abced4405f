#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kernel-check.sh [CELL...]: compiles what the kernel series touches in every cell of
# config/check.matrix, or in those named, and prints a table. Exits with 1 if a cell failed.
#
# A cell passes if each of its options took effect, every object that its configuration has was
# compiled, without a warning that the unpatched tree does not give, and no object wants a function
# of the series that none defines. Passed cells are remembered by all that decides the result.

# shellcheck source=lib/common.sh
. "$(dirname "$0")/lib/common.sh"
# shellcheck source=lib/tree.sh
. "$LAB/lib/tree.sh"
# shellcheck source=lib/kconfig.sh
. "$LAB/lib/kconfig.sh"
# shellcheck source=lib/matrix.sh
. "$LAB/lib/matrix.sh"
# shellcheck source=lib/timing.sh
. "$LAB/lib/timing.sh"

readonly CHECK=$CACHE/check
readonly MATRIX=$LAB/config/check.matrix OBJECTS=$LAB/config/check.objects
# The trees are hard links but for what is patched; a cell is removed when it has passed.
readonly SPACE_MB=600
# What the series defines, as symbols of objects.
readonly OWN_SYMBOLS='^(_*(tracepoint_|traceiter_)?migrc_|tlb_ubc_|arch_tlbbatch_)'

# kmake TREE OUT TARGET...: of the current cell, with nothing of the caller's environment in it.
kmake() {
	local tree=$1 out=$2 args=()
	shift 2
	[ "$COMPILER" != clang ] || args+=(LLVM=1)
	[ "$CROSS" = - ] || args+=(CROSS_COMPILE="$CROSS")
	[ "$ARGS" = - ] || args+=("$ARGS")
	env -i PATH="$PATH" HOME="${HOME:-/}" LC_ALL=C \
		make -C "$tree" O="$out" ARCH="$ARCH" -j"$(nproc)" "${args[@]}" "$@" 9>&-
}

# compiler_command: that of the current cell.
compiler_command() {
	case $COMPILER,$CROSS in
	clang,*) echo clang ;;
	gcc,-) echo gcc ;;
	gcc,*) echo "${CROSS}gcc" ;;
	esac
}

nm_command() {
	case $COMPILER,$CROSS in
	clang,*) echo llvm-nm ;;
	gcc,-) echo nm ;;
	gcc,*) echo "${CROSS}nm" ;;
	esac
}

# missing_tool: "COMMAND PACKAGE" of the first one that this cell lacks, or nothing.
missing_tool() {
	local command package=gcc tool
	command=$(compiler_command)
	[ "$CROSS" = - ] || package=gcc-${CROSS%-}
	[ "$COMPILER" = gcc ] || package=clang
	for tool in "$command:$package" $([ "$COMPILER" = gcc ] || echo ld.lld:lld llvm-nm:llvm); do
		command -v "${tool%%:*}" >/dev/null || { echo "${tool/:/ }"; return; }
	done
}

# cell_key LINE: over everything that decides whether the cell passes.
cell_key() {
	local fragment
	{
		echo "$1 $SRC_DIGEST"
		"$(compiler_command)" --version | sed -n 1p
		series__patches "$ROOT/kernel-patch/$SERIES" | tr '\n' '\0' | xargs -0 cat
		matrix__fragments "$BASE" | while read -r fragment; do cat "$LAB/config/$fragment"; done
		cat "$OBJECTS" "$LAB/kernel-check.sh" "$LAB/lib/matrix.sh" "$LAB/lib/kconfig.sh"
	} | digest | cut -c1-16
}

# cell_fragments OUT: the base without what is toggled in OUT/.base, the toggles in OUT/.toggles,
# those that need not be settable in OUT/.maybe, in the form of KCONFIG_ALLCONFIG.
cell_fragments() {
	local out=$1 fragment toggle
	: > "$out/.base"
	: > "$out/.toggles"
	: > "$out/.maybe"
	while read -r toggle; do
		case $toggle in
		*\?) echo "CONFIG_${toggle%?}" >> "$out/.maybe" ;;
		*) echo "CONFIG_$toggle" >> "$out/.toggles" ;;
		esac
	done < <(matrix__toggles "$TOGGLES")
	while read -r fragment; do
		# Not grep -f: a toggle is for one option, and CONFIG_SMP must not take CONFIG_SMPX along.
		awk -F= 'FNR == 1 { n++ } n < 3 && FILENAME != last { last = FILENAME }
			FILENAME != ARGV[3] { toggled[$1]; next } !($1 in toggled) && /^CONFIG_/' \
			"$out/.toggles" "$out/.maybe" "$LAB/config/$fragment" >> "$out/.base"
	done < <(matrix__fragments "$BASE")
}
