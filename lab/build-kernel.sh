#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# build-kernel.sh ARM...: builds the kernels of arms.conf into $CACHE/kernels/ARM-KEY and points
# $CACHE/kernels/ARM at the newest. The key is over everything that decides the result, so that what
# is built is never built again; a changed patch or option rebuilds only what depends on it.

# shellcheck source=lib/common.sh
. "$(dirname "$0")/lib/common.sh"
# shellcheck source=lib/arms.sh
. "$LAB/lib/arms.sh"
# shellcheck source=lib/tree.sh
. "$LAB/lib/tree.sh"
# shellcheck source=lib/kconfig.sh
. "$LAB/lib/kconfig.sh"

readonly KERNELS=$CACHE/kernels
# For the first estimate only, before this machine has built a kernel of its own: objects by
# `grep -cE '^  (CC|AS) '` of a build log, CPU time of it by `time make` over the same objects.
readonly OBJECTS=1041 CPU_MS_PER_OBJECT=880
readonly SPACE_MB=1200

# kernel_key ARM SRC: SRC_DIGEST is made once for all arms of a base.
kernel_key() {
	{
		echo "$1 $(basename "$2") $SRC_DIGEST"
		gcc --version | sed -n 1p
		ld --version | sed -n 1p
		pahole --version
		cat "${FRAGMENTS[@]}"
		[ -z "$SERIES" ] || series__patches "$SERIES" | tr '\n' '\0' | xargs -0 cat
	} | digest | cut -c1-16
}

# kmake TREE BUILD ARM TARGET...: make with nothing of the caller's environment in it.
kmake() {
	local tree=$1 build=$2 arm=$3
	shift 3
	env -i PATH="$PATH" HOME="${HOME:-/}" LC_ALL=C \
		make -C "$tree" O="$build" -j"$(nproc)" LOCALVERSION="-$arm" \
		KBUILD_BUILD_USER=migrc KBUILD_BUILD_HOST=lab KBUILD_BUILD_VERSION=1 \
		KBUILD_BUILD_TIMESTAMP="1970-01-01 00:00:00 UTC" "$@"
}

configure() {
	local tree=$1 build=$2 arm=$3
	kconfig__last "${FRAGMENTS[@]}" > "$build/.fragments"
	kmake "$tree" "$build" "$arm" KCONFIG_ALLCONFIG="$build/.fragments" allnoconfig > "$build/config.log" 2>&1 ||
		die "kernel $arm" "configuration failed: $(grep -m 1 -iE 'error|\*\*\*' "$build/config.log")" \
			"read $build/config.log"
	kconfig__check "$build/.config" "${FRAGMENTS[@]}"
}

objects_done() {
	grep -cE '^  (CC|AS) ' "$1" || true
}

# estimate BUILD: seconds, from this machine's last whole build if there was one.
estimate() {
	local objects=$OBJECTS ms=$((CPU_MS_PER_OBJECT / $(nproc)))
	[ ! -r "$CACHE/pace" ] || read -r objects ms < "$CACHE/pace"
	EXPECTED=$objects
	ESTIMATE=$((objects * ms / 1000))
}

# watch LOG ARM: how far the build is, every second on a terminal, every 30 s elsewhere.
watch_build() {
	local log=$1 arm=$2 start done_now elapsed left
	start=$(now)
	local pause=30
	[ ! -t 1 ] || pause=1
	while sleep "$pause"; do
		done_now=$(objects_done "$log")
		elapsed=$(($(now) - start))
		left=$((done_now > 20 ? (EXPECTED - done_now) * elapsed / done_now : ESTIMATE - elapsed))
		[ "$left" -gt 0 ] || left=0
		if [ -t 1 ]; then
			progress "kernel $arm: $done_now of about $EXPECTED objects, about $(duration $left) left"
		else
			say KERNEL "$arm: $done_now of about $EXPECTED objects, about $(duration $left) left"
		fi
	done
}

build_failed() {
	local log=$1 arm=$2
	grep -E -m 5 'error:|undefined reference|\*\*\*|No space left' "$log" >&2 || tail -n 5 "$log" >&2
	if grep -q 'No space left' "$log"; then
		die "kernel $arm" "no space left in $CACHE" "free some space or set MIGRC_CACHE, and repeat: it goes on where it stopped"
	fi
	die "kernel $arm" "build failed" "the whole log is $log"
}

# shellcheck disable=SC2317 # called by the trap
stopped() {
	[ -z "$WATCHER" ] || kill "$WATCHER" 2>/dev/null || true
	progress_end
	warn "kernel" "stopped; repeat the command to go on where it was"
	exit 130
}

compile() {
	local tree=$1 build=$2 arm=$3 log=$2/build.log start objects rc=0
	start=$(now)
	: > "$log"
	watch_build "$log" "$arm" &
	WATCHER=$!
	# In the foreground, so that Ctrl-C reaches make itself.
	kmake "$tree" "$build" "$arm" bzImage >> "$log" 2>&1 || rc=$?
	kill "$WATCHER" 2>/dev/null || true
	wait "$WATCHER" 2>/dev/null || true
	WATCHER=
	progress_end
	[ "$rc" -eq 0 ] || build_failed "$log" "$arm"
	objects=$(objects_done "$log")
	SECONDS_TAKEN=$(($(now) - start))
	# Only a whole build tells the pace of the next one.
	[ "$objects" -lt $((OBJECTS / 2)) ] || echo "$objects $((SECONDS_TAKEN * 1000 / objects))" > "$CACHE/pace"
}

publish() {
	local build=$1 arm=$2 key=$3 out=$KERNELS/$2-$3 staging=$KERNELS/.$2-$3
	rm -rf "$staging"
	mkdir -p "$staging"
	cp "$build/arch/x86/boot/bzImage" "$build/System.map" "$staging/"
	cp "$build/.config" "$staging/config"
	{
		echo "arm $arm"
		echo "key $key"
		echo "release $(cat "$build/include/config/kernel.release")"
		echo "source $(basename "$SRC")"
		echo "seconds $SECONDS_TAKEN"
		[ -z "$SERIES" ] || series__patches "$SERIES" | sed 's|.*/|patch |'
	} > "$staging/info"
	rm -rf "$out"
	mv "$staging" "$out"
}

# source_of BASE: SRC and SRC_DIGEST, fetched once.
source_of() {
	if [ -z "${SOURCES[$1]:-}" ]; then
		"$LAB/fetch-kernel-source.sh" "$1" "$CACHE/source-path-$1" 9>&-
		SOURCES[$1]=$(cat "$CACHE/source-path-$1")
		DIGESTS[$1]=$(tree__digest "${SOURCES[$1]}")
	fi
	SRC=${SOURCES[$1]}
	SRC_DIGEST=${DIGESTS[$1]}
}

# make_arm ARM KEY: under a lock of its own, so that a plan whose kernels are all there need not wait for
# somebody else's.
make_arm() {
	local arm=$1 key=$2 build tree=$SRC
	lock "kernel-$arm"
	# Whoever held the lock may have been at the same kernel.
	[ ! -d "$KERNELS/$arm-$key" ] || return 0
	build=$CACHE/builds/$arm@$(basename "$SRC")
	need_space "$CACHE" "$([ -d "$build" ] && echo 300 || echo $SPACE_MB)" "kernel $arm"
	mkdir -p "$build" "$KERNELS"
	if [ -n "$SERIES" ]; then
		tree=$CACHE/trees/$arm@$(basename "$SRC")
		mkdir -p "$CACHE/trees"
		tree__sync "$SRC" "$SERIES" "$tree"
	fi
	estimate
	say KERNEL "$arm: $([ -f "$build/vmlinux" ] && echo "what changed," || echo "about $(duration $ESTIMATE),") log $build/build.log"
	configure "$tree" "$build" "$arm"
	compile "$tree" "$build" "$arm"
	publish "$build" "$arm" "$key"
}

build_arm() {
	local arm=$1 key
	arms__read "$arm"
	source_of "$BASE"
	key=$(kernel_key "$arm" "$SRC")
	[ -d "$KERNELS/$arm-$key" ] || make_arm "$arm" "$key"
	ln -sfn "$arm-$key" "$KERNELS/$arm"
	say KERNEL "$arm: $KERNELS/$arm-$key ($(awk '$1 == "release" { print $2 }' "$KERNELS/$arm-$key/info"))"
}

main() {
	local pair arm
	[ $# -gt 0 ] || die "build-kernel.sh" "no kernel named" "choose from: $(arms__names "$LAB/arms.conf")"
	for pair in gcc:gcc make:make flex:flex bison:bison bc:bc pahole:dwarves git:git rsync:rsync; do
		need_command "${pair%:*}" "${pair#*:}"
	done
	for arm in "$@"; do
		arms__read "$arm"
	done
	WATCHER=
	trap stopped INT TERM
	declare -A SOURCES=() DIGESTS=()
	for arm in "$@"; do
		build_arm "$arm"
	done
}

main "$@"; exit
