# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The build matrix as data: config/check.matrix names the cells, config/check.objects what each of
# them compiles. A line that cannot be right stops everything: a cell that silently checks less than
# it says is worse than none.

# matrix__lines FILE: "NUMBER LINE", without comments and empty lines, blanks squeezed.
matrix__lines() {
	awk '{ sub(/#.*/, "") } NF { $1 = $1; print NR, $0 }' "$1"
}

matrix__bad() {
	die "$1:$2" "$3" "see the head of the file for its columns"
}

# matrix__toggles LIST: one KEY=VALUE a line, with its mark "?", if it has one.
matrix__toggles() {
	[ "$1" = - ] || printf '%s\n' "${1//,/$'\n'}"
}

matrix__check_toggles() {
	local toggle
	while read -r toggle; do
		[[ $toggle =~ ^[A-Z0-9_]+=([ymn]|[0-9]+)\??$ ]] || matrix__bad "$1" "$2" "$toggle is not OPTION=y|m|n|NUMBER"
	done < <(matrix__toggles "$3")
}

# matrix__fragments CONFIG BASE: the files of a cell's configuration on that base, one a line.
matrix__fragments() {
	# shellcheck disable=SC2086 # a list
	[ "$1" = - ] || arms__fragments "$2" ${1//+/ }
}

matrix__check_config() {
	local fragment
	while read -r fragment; do
		[ -r "$fragment" ] || matrix__bad "$1" "$2" "no file lab/config/${fragment##*/}"
	done < <(matrix__fragments "$3" -)
}

matrix__check_bases() {
	local base
	[[ $3 =~ ^[0-9.]+(,[0-9.]+)*$ ]] || matrix__bad "$1" "$2" "$3 names no bases"
	for base in ${3//,/ }; do
		[ -r "$ROOT/kernel-patch/$base/series" ] || matrix__bad "$1" "$2" "no series kernel-patch/$base"
	done
}

# matrix__cells FILE: "NAME ARCH COMPILER CONFIG TOGGLES BASES ARGS" a line, all of them sound.
matrix__cells() {
	local number name arch compiler config toggles bases args rest seen=" "
	while read -r number name arch compiler config toggles bases args rest; do
		[ -n "$args" ] && [ -z "$rest" ] || matrix__bad "$1" "$number" "7 columns are wanted"
		[[ $name =~ ^[a-z0-9_-]+$ ]] || matrix__bad "$1" "$number" "$name is not a name"
		[[ $seen != *" $name "* ]] || matrix__bad "$1" "$number" "a second cell $name"
		seen+="$name "
		[ -n "$(matrix__cross "$arch")" ] || matrix__bad "$1" "$number" "unknown architecture $arch"
		case $compiler in
		gcc | clang) ;;
		*) matrix__bad "$1" "$number" "unknown compiler $compiler" ;;
		esac
		matrix__check_config "$1" "$number" "$config"
		matrix__check_toggles "$1" "$number" "$toggles"
		matrix__check_bases "$1" "$number" "$bases"
		[[ $args =~ ^(-|[A-Z]=[0-9a-z]+)$ ]] || matrix__bad "$1" "$number" "$args is no argument of make"
		printf '%s\n' "$name $arch $compiler $config $toggles $bases $args"
	done < <(matrix__lines "$1")
	[ "$seen" != " " ] || die "$1" "names no cell" "restore it"
}

# matrix__on BASE: of cells on standard input, those for that base, with it alone in the place of all.
matrix__on() {
	awk -v base="$1" '
		index("," $6 ",", "," base ",") { $6 = base; print }'
}

# matrix__cross ARCH: the prefix of its gcc, - for this machine's own, nothing if ARCH is unknown.
# Debian's package is gcc-PREFIX without the last dash.
matrix__cross() {
	case $1 in
	x86_64 | i386 | um) [ "$(uname -m)" = x86_64 ] && echo - || echo x86_64-linux-gnu- ;;
	arm64) echo aarch64-linux-gnu- ;;
	riscv) echo riscv64-linux-gnu- ;;
	alpha | m68k) echo "$1-linux-gnu-" ;;
	esac
}

# matrix__objects FILE ARCH CONFIG: the objects that a kernel of CONFIG has.
matrix__objects() {
	local number object arch option rest
	while read -r number object arch option rest; do
		[ -n "$option" ] && [ -z "$rest" ] || matrix__bad "$1" "$number" "3 columns are wanted"
		[[ ,$arch, == *,$2,* ]] || [ "$arch" = '*' ] || continue
		[ "$option" = - ] || grep -q "^CONFIG_$option=[ym]\$" "$3" || continue
		printf '%s\n' "$object"
	done < <(matrix__lines "$1")
}

# matrix__unlisted OBJECTS SERIES_DIR: C files of the series that no line of OBJECTS compiles.
matrix__unlisted() {
	series__files "$2" | sed -n 's/\.c$/.o/p' |
		comm -23 - <(matrix__lines "$1" | awk '{ print $2 }' | sort -u)
}

# matrix__unresolved NM PATTERN OBJECT...: "SYMBOL(OBJECT,...)" a line, of the symbols like PATTERN
# that are wanted and that none of the objects defines.
matrix__unresolved() {
	local nm=$1 pattern=$2
	shift 2
	"$nm" -A "$@" | awk -v own="$pattern" '
		{ file = $1; sub(/:.*/, "", file); sub(/.*\//, "", file) }
		$NF !~ own { next }
		$(NF - 1) ~ /U$/ { wants[$NF] = wants[$NF] "," file; next }
		$(NF - 1) ~ /^[A-Z]$/ { defined[$NF] }
		END { for (s in wants) if (!(s in defined)) printf "%s(%s)\n", s, substr(wants[s], 2) }' | sort
}

# matrix__warnings TREE OUT: those of a build log on standard input, without what differs from tree to
# tree: folders, lines, columns.
matrix__warnings() {
	sed -n -E -e '/warning:/!d' -e "s|$1/||g" -e "s|$2/||g" -e 's|^(\.\./)+||' -e 's/:[0-9]+:([0-9]+:)?/:/' -e p | sort
}

# matrix__style ACCEPTED: what checkpatch says on standard input (--terse --show-types --showfile), but
# for what the file accepts of it.
matrix__style() {
	awk -v accepted="$1" '
		BEGIN {
			while ((got = getline line < accepted) > 0) {
				sub(/#.*/, "", line)
				if ((n = split(line, word)) == 2)
					take[word[1] " " word[2]]
				else if (n)
					got = -1
				if (got < 0)
					break
			}
			if (got < 0) {
				print accepted ": cannot be read, or a line is not a file and a type" > "/dev/stderr"
				exit bad = 2
			}
		}
		{ split($0, part, ":") }	# FILE:LINE: LEVEL:TYPE: ...
		!(part[1] " " part[4] in take)
		END { exit bad }' || die "$1" "is no list of what to accept" "see the message above"
}
