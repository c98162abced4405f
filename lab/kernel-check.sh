#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kernel-check.sh [-b BASE|all] [CELL...]: compiles what the kernel series of a base touches (of the
# first one in bases.conf unless said) in every cell of config/check.matrix, or in those named, and
# prints a table. Exits with 1 if a cell failed.
#
# A cell passes if each of its options took effect, every object that its configuration has was
# compiled, without a warning that the unpatched tree does not give, sparse's among them where the cell
# has the argument C=, and no object wants a function of the series that none defines. Before the cells of
# a base, `checkpatch.pl --strict` reads its series. What passed is remembered by all that decides it.

# shellcheck source=lib/common.sh
. "$(dirname "$0")/lib/common.sh"
# shellcheck source=lib/arms.sh
. "$LAB/lib/arms.sh"
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
readonly ACCEPTED=$LAB/config/checkpatch.accepted
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
	for tool in "$command:$package" $([ "$COMPILER" = gcc ] || echo ld.lld:lld llvm-nm:llvm) \
		$([[ $ARGS != C=* ]] || echo sparse:sparse); do
		command -v "${tool%%:*}" >/dev/null || { echo "${tool/:/ }"; return; }
	done
}

# cell_key LINE: over everything that decides whether the cell passes.
cell_key() {
	local fragment
	{
		echo "$1 $SRC_DIGEST"
		"$(compiler_command)" --version | sed -n 1p
		[[ $ARGS != C=* ]] || sparse --version
		series__patches "$ROOT/kernel-patch/$BASE" | tr '\n' '\0' | xargs -0 cat
		matrix__fragments "$CONFIG" "$BASE" | while read -r fragment; do cat "$fragment"; done
		cat "$OBJECTS" "$LAB/kernel-check.sh" "$LAB/lib/matrix.sh" "$LAB/lib/kconfig.sh" "$LAB/lib/arms.sh"
	} | digest | cut -c1-16
}

# cell_fragments OUT: the toggles in OUT/.toggles, those that need not be settable in OUT/.maybe, what
# is left of the base in OUT/.base: the last line of each option, in the form of KCONFIG_ALLCONFIG.
cell_fragments() {
	local out=$1 fragments
	matrix__toggles "$TOGGLES" | sed -n '/?$/!s/^/CONFIG_/p' > "$out/.toggles"
	matrix__toggles "$TOGGLES" | sed -n 's/^\(.*\)?$/CONFIG_\1/p' > "$out/.maybe"
	mapfile -t fragments < <(matrix__fragments "$CONFIG" "$BASE")
	[ ${#fragments[@]} -gt 0 ] || fragments=(/dev/null)
	cat "${fragments[@]}" | awk -F= -v toggles="$out/.toggles" -v maybe="$out/.maybe" '
		FILENAME == toggles || FILENAME == maybe { toggled[$1]; next }
		/^CONFIG_/ && !($1 in toggled) { if (!($1 in line)) name[++n] = $1; line[$1] = $0 }
		END { for (i = 1; i <= n; i++) print line[name[i]] }' "$out/.toggles" "$out/.maybe" - > "$out/.base"
	cat "$out/.base" "$out/.toggles" "$out/.maybe" > "$out/.fragments"
}

# configure TREE OUT: allnoconfig with the fragments of the cell.
configure() {
	kmake "$1" "$2" KCONFIG_ALLCONFIG="$2/.fragments" allnoconfig > "$2/config.log" 2>&1 && return
	NOTE="configuration failed: $(grep -m 1 -iE 'error|\*\*\*' "$2/config.log"), see $2/config.log"
	return 1
}

# The seed of an architecture: a prepared O= folder, whose scripts and objtool the cells start from.
# They name their folder and their tree in command lines that make compares; so these are rewritten.

# seed_plant TREE OUT: OUT starts as a copy of the seed, which is made first if there is none.
seed_plant() {
	local tree=$1 out=$2 seed=$CHECK/seeds/$BASE-$ARCH-$COMPILER
	rm -rf "$out"
	mkdir -p "$out"
	if [ "$(cat "$seed/.key" 2>/dev/null)" != "$(seed_key)" ]; then
		seed_make "$TREE" "$seed" || return
	fi
	cp -a "$seed/." "$out/" || die "cell $NAME" "no copy of $seed in $out" "see cp's message above"
	rm -f "$out/.key" "$out"/.config*
	find "$out" \( -name '*.cmd' -o -name Makefile -o -name 'FEATURE-DUMP*' \) -type f -print0 |
		xargs -0 sed -i -e "s|$seed|$out|g" -e "s|$TREE\>|$tree|g"
	ln -sfn "$tree" "$out/source"
}

seed_key() {
	{ echo "$SRC_DIGEST"; "$(compiler_command)" --version; } | digest
}

seed_make() {
	local tree=$1 seed=$2
	rm -rf "$seed"
	mkdir -p "$seed"
	cell_fragments "$seed"
	configure "$tree" "$seed" || return
	if ! kmake "$tree" "$seed" prepare > "$seed/build.log" 2>&1; then
		NOTE="make prepare failed: $(first_error "$seed/build.log"), see $seed/build.log"
		return 1
	fi
	seed_key > "$seed/.key"
}

first_error() {
	grep -m 1 -E 'error:|\*\*\*|No space left' "$1" || tail -n 1 "$1"
}

# compile TREE OUT OBJECT...: all of them, also after a failure.
compile() {
	local tree=$1 out=$2 rc=0
	shift 2
	kmake "$tree" "$out" -k "$@" > "$out/build.log" 2>&1 || rc=$?
	if grep -q 'No space left' "$out/build.log"; then
		die "cell $NAME" "no space left in $CACHE" "free some space or set MIGRC_CACHE, and repeat"
	fi
	return "$rc"
}

# warnings TREE OUT: of its log, comparable between trees.
warnings() {
	matrix__warnings "$1" "$2" < "$2/build.log"
}

# baseline: the same objects of the unpatched tree, in BASELINE; once for a cell, where it is needed.
baseline() {
	local objects
	[ -z "$BASELINE" ] || return 0
	BASELINE=$OUT.unpatched
	seed_plant "$SRC" "$BASELINE" || return
	cp "$OUT/.fragments" "$BASELINE/"
	configure "$SRC" "$BASELINE" || return
	mapfile -t objects < <(matrix__objects "$OBJECTS" "$ARCH" "$OUT/.config" |
		while read -r object; do [ ! -e "$SRC/${object%.o}.c" ] || echo "$object"; done)
	compile "$SRC" "$BASELINE" "${objects[@]}"
}

# The checks of a cell, in their order; each returns 1 with NOTE set if the cell fails.

check_options() {
	local lost
	configure "$TREE" "$OUT" || return
	lost=$(kconfig__lost "$OUT/.config" "$OUT/.toggles" | paste -sd' ')
	if [ -n "$lost" ]; then
		NOTE="option not settable: $lost"
		return 1
	fi
	lost=$(kconfig__lost "$OUT/.config" "$OUT/.base" "$OUT/.maybe" | sed 's/CONFIG_//' | paste -sd' ')
	[ -z "$lost" ] || NOTE="without $lost"
}

check_objects() {
	local object missing=() objects
	mapfile -t objects < <(matrix__objects "$OBJECTS" "$ARCH" "$OUT/.config")
	COUNT=${#objects[@]}
	compile "$TREE" "$OUT" "${objects[@]}" || true
	for object in "${objects[@]}"; do
		[ -f "$OUT/$object" ] || missing+=("$object")
	done
	[ "${#missing[@]}" -gt 0 ] || return 0
	NOTE="not compiled: ${missing[*]}: $(first_error "$OUT/build.log" | sed "s|$TREE/||g")"
	baseline || NOTE="$NOTE (the unpatched tree fails, too: $(first_error "$BASELINE/build.log"))"
	return 1
}

check_warnings() {
	local new old
	WARNINGS=$(warnings "$TREE" "$OUT" | grep -c . || true)
	[ "$WARNINGS" -gt 0 ] || return 0
	baseline || { NOTE="the unpatched tree fails: $(first_error "$BASELINE/build.log")"; return 1; }
	old=$(warnings "$SRC" "$BASELINE")
	new=$(comm -23 <(warnings "$TREE" "$OUT") <(printf '%s\n' "$old"))
	[ -n "$new" ] || return 0
	NOTE="$(printf '%s\n' "$new" | grep -c .) new warnings: $(printf '%s\n' "$new" | sed -n 1p)"
	return 1
}

# An object that calls what is not there compiles, and a whole kernel would not link.
check_links() {
	local objects undefined
	mapfile -t objects < <(matrix__objects "$OBJECTS" "$ARCH" "$OUT/.config" | sed "s|^|$OUT/|")
	undefined=$(matrix__unresolved "$(nm_command)" "$OWN_SYMBOLS" "${objects[@]}") ||
		die "cell $NAME" "$(nm_command) failed" "see its message above"
	[ -n "$undefined" ] || return 0
	NOTE="would not link: $(paste -sd' ' <<< "$undefined")"
	return 1
}

# cell_read LINE: into globals, as every step of a cell wants most of them.
cell_read() {
	read -r NAME ARCH COMPILER CONFIG TOGGLES BASE ARGS <<< "$1"
	CROSS=$(matrix__cross "$ARCH")
	SRC=${SOURCES[$BASE]} SRC_DIGEST=${DIGESTS[$BASE]}
	TREE=$CHECK/trees/$BASE@$(basename "$SRC")
	OUT=$CHECK/cells/$NAME-$BASE
	NOTE='' COUNT=- WARNINGS=- BASELINE=''
}

# cell_checks: a failed cell leaves its O= folders for whoever looks into it.
cell_checks() {
	seed_plant "$TREE" "$OUT" || return
	cell_fragments "$OUT"
	check_options && check_objects && check_warnings && check_links || return
	rm -rf "$OUT" "$OUT.unpatched"
}

row() {
	TABLE+=("$(printf '%-4s  %-5s %-18s %-7s %-6s %7s %8s %6s  %s' "$1" "$BASE" "$NAME" "$ARCH" "$COMPILER" \
		"$COUNT" "$WARNINGS" "$2" "$NOTE")")
	say "$1" "$BASE $NAME ($2 s)${NOTE:+: $NOTE}"
}

# checked KEY CHECK: a row of the table, by running CHECK unless it is known to pass.
checked() {
	local key=$1 start passed=$CHECK/passed/$NAME-$BASE
	if [ -r "$passed-$key" ]; then
		read -r COUNT WARNINGS NOTE < "$passed-$key"
		NOTE="${NOTE:+$NOTE; }known"
		PASSED=$((PASSED + 1))
		row ok 0
		return
	fi
	start=$(now)
	progress "$BASE $NAME"
	if "$2"; then
		rm -f "$passed"-????????????????
		echo "$COUNT $WARNINGS $NOTE" > "$passed-$key"
		PASSED=$((PASSED + 1))
		progress_end
		row ok $(($(now) - start))
	else
		FAILED=$((FAILED + 1))
		progress_end
		row FAIL $(($(now) - start))
	fi
}

cell_run() {
	local tool
	cell_read "$1"
	tool=$(missing_tool)
	if [ -n "$tool" ]; then
		NOTE="no ${tool% *}: install the package ${tool#* }"
		SKIPPED=$((SKIPPED + 1))
		row SKIP 0
		return
	fi
	checked "$(cell_key "$1")" cell_checks
}

style_patches() {
	series__patches "$ROOT/kernel-patch/$BASE"
}

style_key() {
	{ echo "$SRC_DIGEST"; style_patches | tr '\n' '\0' | xargs -0 cat "$ACCEPTED" "$LAB/lib/matrix.sh"; } | digest | cut -c1-16
}

# check_style: checkpatch ends with 1 if it has something to say, also of what is accepted.
check_style() {
	local said status=0 patches left
	mapfile -t patches < <(style_patches)
	COUNT=${#patches[@]}
	said=$(cd "$SRC" && perl scripts/checkpatch.pl --strict --terse --show-types --showfile --no-summary \
		"${patches[@]}" 2> "$OUT.log") || status=$?
	if [ "$status" -gt 1 ] || { [ "$status" -eq 1 ] && [ -z "$said" ]; }; then
		die "checkpatch.pl" "failed: $(tail -n 1 "$OUT.log")" "read $OUT.log"
	fi
	WARNINGS=$(grep -c . <<< "$said" || true)
	left=$(matrix__style "$ACCEPTED" <<< "$said")
	[ -n "$left" ] || return 0
	NOTE="$(sed -n 1p <<< "$left")"
	return 1
}

# style_run BASE: as a row of the table, objects are patches.
style_run() {
	NAME=checkpatch ARCH=- COMPILER=perl BASE=$1 NOTE='' COUNT=- WARNINGS=-
	SRC=${SOURCES[$BASE]} SRC_DIGEST=${DIGESTS[$BASE]} OUT=$CHECK/cells/checkpatch-$BASE
	checked "$(style_key)" check_style
}

# prepare: for each base of the cells its source, and that tree patched.
prepare() {
	local base unlisted
	mkdir -p "$CHECK/trees" "$CHECK/cells" "$CHECK/seeds" "$CHECK/passed"
	while read -r base; do
		"$LAB/fetch-kernel-source.sh" "$base" "$CACHE/source-path-$base" 9>&-
		SOURCES[$base]=$(cat "$CACHE/source-path-$base")
		DIGESTS[$base]=$(tree__digest "${SOURCES[$base]}")
		unlisted=$(matrix__unlisted "$OBJECTS" "$ROOT/kernel-patch/$base" | paste -sd' ')
		[ -z "$unlisted" ] || die "$OBJECTS" "does not name $unlisted of series $base" "add a line for each"
		tree__sync "${SOURCES[$base]}" "$ROOT/kernel-patch/$base" "$CHECK/trees/$base@$(basename "${SOURCES[$base]}")"
	done < <(printf '%s\n' "${CELLS[@]}" | awk '{ print $6 }' | sort -u)
}

run_cells() {
	local cell base
	while read -r base; do
		style_run "$base"
	done < <(printf '%s\n' "${!SOURCES[@]}" | sort)
	for cell in "${CELLS[@]}"; do
		cell_run "$cell"
	done
}

# install_packages: as root, what is missing; a cell without its compiler is a SKIP, not the end.
install_packages() {
	[ "$(id -u)" -eq 0 ] || return 0
	"$LAB/install-packages.sh" "$ROOT/check-packages.list" ||
		warn "kernel-check" "goes on without what could not be installed"
}

# choose BASES NAME...: CELLS of those bases, all or those named.
choose() {
	local bases=$1 base name cells all
	shift
	cells=$(matrix__cells "$MATRIX")
	all=$(for base in $bases; do matrix__on "$base" <<< "$cells"; done)
	if [ $# -eq 0 ]; then
		mapfile -t CELLS <<< "$all"
		return
	fi
	CELLS=()
	for name in "$@"; do
		mapfile -t -O ${#CELLS[@]} CELLS < <(awk -v name="$name" '$1 == name' <<< "$all")
		grep -q "^$name " <<< "$all" || die "cell $name" "not in check.matrix for $bases" \
			"choose from: $(awk '{ print $1 }' <<< "$all" | sort -u | paste -sd' ')"
	done
}

# read_bases ARG: BASES, those of an option -b, the first one without.
read_bases() {
	BASES=$(arms__names "$LAB/bases.conf")
	case $1 in
	all) ;;
	'') BASES=${BASES%% *} ;;
	*)
		arms__suites "$1" > /dev/null
		BASES=$1
		;;
	esac
}

# shellcheck disable=SC2317 # called by the trap
stopped() {
	progress_end
	warn "kernel-check" "stopped; cells that have passed are not built again"
	exit 130
}

main() {
	local pair option base=
	while getopts :b: option; do
		[ "$option" = b ] || die "kernel-check.sh" "unknown option -$OPTARG, or -b without a base" \
			"use: kernel-check.sh [-b BASE|all] [CELL...]"
		base=$OPTARG
	done
	shift $((OPTIND - 1))
	read_bases "$base"
	choose "$BASES" "$@"
	for pair in make:make flex:flex bison:bison bc:bc git:git rsync:rsync nm:binutils perl:perl; do
		need_command "${pair%:*}" "${pair#*:}"
	done
	install_packages
	need_space "$CHECK" "$SPACE_MB" "kernel-check"
	lock check
	PASSED=0 FAILED=0 SKIPPED=0 TABLE=()
	declare -A SOURCES=() DIGESTS=()
	trap stopped INT TERM
	# A few cells tell nothing about the time of all, and one base nothing about that of another.
	timing__begin "kernel-check${base:+-$base}$([ $# -eq 0 ] || echo -some)"
	timing__step source 90 prepare
	timing__step cells $((40 * ${#CELLS[@]})) run_cells
	printf '\n%-4s  %-5s %-18s %-7s %-6s %7s %8s %6s\n' "" base cell arch cc objects warnings s
	printf '%s\n' "${TABLE[@]}"
	timing__table
	printf '\n%d passed, %d failed%s\n' "$PASSED" "$FAILED" \
		"$([ "$SKIPPED" -eq 0 ] || echo ", $SKIPPED skipped for want of a package")"
	[ "$FAILED" -eq 0 ] || exit 1
	[ "$PASSED" -gt 0 ] || exit "$EX_TOOL"
}

main "$@"; exit
