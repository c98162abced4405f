#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh [-i] [-k DIR]: reports of invented experiments, looked at in a browser: on a phone and on a desk,
# light and dark. look.js says what is looked for; every check is also given a page that it must
# object to. They are printed, too. -i installs a browser, tidy and pdftotext where there are none; -k keeps
# the pages and pictures of them in DIR, for eyes. Needs build/migrc.

# shellcheck source=../lab/lib.sh
. "$(dirname "$0")/../lab/lib.sh"

HERE=$TOP/tests/report
MIGRC=$TOP/build/migrc
PHONE=390 DESK=1280
KEEP=

# Any Chromium will do; BROWSER names another.
browser() {
	local name
	for name in ${BROWSER:-} chromium-headless-shell chromium google-chrome; do
		command -v "$name" && return
	done
	return 1
}

has_tools() {
	browser > /dev/null && command -v tidy > /dev/null && command -v pdftotext > /dev/null
}

# What the test cannot do without, and where it is had.
need() {
	has_tools && return
	[ -z "$1" ] || "$TOP/lab/install-packages.sh" "$HERE/packages.list" || exit 2
	has_tools && return
	echo "migrc: tests/report: needs a Chromium, tidy and pdftotext; run lab/install-packages.sh tests/report/packages.list as root" >&2
	exit 2
}

# world NAME ARGS...: NAME.db, made by world.awk.
world() {
	local name=$1
	shift
	{ cat "$TOP/collector/schema.sql"; awk "$@" -f "$HERE/world.awk"; } | sqlite3 "$name.db"
}

# page NAME [OPTION...]: NAME.html of NAME.db.
page() {
	local name=$1
	shift
	"$MIGRC" report -d "$name.db" -o "$name.html" "$@" > page.log 2>&1 || is "report of $name" 0 $?
}

hostile() {
	printf '%s' "</script><script>alert(1)</script>\"' & \`id\` \$(id) | *x* "
	printf 'ABCDEFGHIJ%.0s' 1 2 3 4 5 6 7 8 9
}

make_pages() {
	world three -v arms="unbatched stock migrc" -v blocks=7
	world two -v arms="stock migrc" -v blocks=1 -v emulated=1
	world one -v arms=stock -v blocks=1
	world none -v arms= -v blocks=0
	world many -v arms="stock migrc" -v blocks=100
	world eight -v arms="unbatched stock migrc-off migrc migrc-ro migrc-demotion another-arm-with-a-long-name an-eighth" -v blocks=2 -v cpus=64
	world hostile -v arms="stock migrc" -v blocks=4 -v text="$(hostile)" -v level=1.4
	cp three.db loss.db
	{ awk -v arms="stock migrc" -v blocks=7 -v workload=cycle -v first=100 -v level=1.3 -f "$HERE/world.awk"
	echo "INSERT INTO invalid VALUES (103, 'lost-events', '5 % of 1000 events');"; } | sqlite3 loss.db
	for name in "${PAGES[@]}"; do
		case $name in
		plain) ;;
		many | eight) page "$name" --no-records ;;
		*) page "$name" ;;
		esac
	done
	page three --no-records -o base.html
	cp three.db plain.db
	mkdir empty
	PATH=$WORK/empty "$MIGRC" report -d plain.db -o plain.html --no-records
}

# spoil PAGE WANT SED: spoils PAGE.html in one more way, of which the browser must say WANT.
spoil() {
	cp "$1.html" before.html
	sed -i "$3" "$1.html"
	cmp -s before.html "$1.html" && is "$1 is spoilt by $3" yes no
	WANTED+=("$1|$2")
}

# Two pages: what spoils one axis must not hide what is wrong with another.
make_spoilt() {
	local first='s|<main>|<main>' long
	long=$(printf 'ABCDEFGHIJ%.0s' {1..20})
	cp base.html spoilt.html
	cp base.html blotted.html
	spoil spoilt "page scrolls sideways" "$first<p style=\"width:3000px;max-width:none\">wide</p>|"
	spoil spoilt "text runs out of the window: out" "$first<p style=\"overflow-wrap:normal\">out $long</p>|"
	spoil spoilt "text runs out of its box: box" "$first<p style=\"white-space:nowrap;width:3em\">box of three ems</p>|"
	spoil spoilt "text is cut: cut" "$first<p style=\"white-space:nowrap;width:3em;overflow:hidden\">cut off after three ems</p>|"
	spoil spoilt "text is cut: half" "$first<p style=\"height:.6em;overflow:hidden\">half a line</p>|"
	spoil spoilt "scrolls, and is not meant to: moves" "$first<div style=\"overflow-x:auto\" tabindex=\"0\">moves</div>|"
	spoil spoilt "hard to read" 's|--soft:#[0-9a-f]*|--soft:#999|g'
	spoil spoilt "table without a caption" 's|<caption><span>Primary.*</caption>||'
	spoil spoilt "row that does not fit its heads: more" 's|<tbody>|<tbody><tr><td>more</td></tr>|'
	spoil spoilt "fetched: more.png" "$first<img src=\"more.png\" alt=\"\">|"
	spoil spoilt "x axis without a unit: Interrupts by CPU" 's|CPU (number)|CPU|'
	spoil spoilt "y axis without a unit: Held folios" 's|held folios (pages)|held folios|'
	spoil blotted "a keyboard cannot scroll it" 's|class="scroll" tabindex="0"|class="scroll"|'
	spoil blotted "axis without numbers" '/<svg/,/<.svg>/s|<text>[-0-9. ]*</text>|<text></text>|'
	spoil blotted "label is cut by the plot's edge: CPU" 's|<text>CPU (number)|<text x="400">CPU (number)|'
	spoil blotted "labels run into each other" '/<svg/,/<.svg>/s|translate([0-9.]*,|translate(200,|'
	spoil blotted "label is too small to read" "$first<style>svg text{font-size:5px!important}</style>|"
	spoil blotted "plot without a name" 's|<svg role="img"|<svg|'
}

# show NAME WIDTH: the page in a frame of that width, with the script that looks at it. Without its
# own policy, which forbids scripts, and that is as it should be.
show() {
	[ -e "look-$1.html" ] || sed -e '/Content-Security-Policy/d' -e 's|src=.unsafe-inline.; img-src data:">||' \
		-e 's|</body>|<script src="look.js"></script></body>|' "$1.html" > "look-$1.html"
	echo "<iframe src=\"look-$1.html#$1:$2\" style=\"border:0;width:${2}px;height:800px\"></iframe>"
}

# wall SCHEME: all pages in both widths, and what was found in them, one line each. In the dark only
# colours are others, so one width will do.
wall() {
	local name
	echo '<!DOCTYPE html><html><body><pre id="found"></pre><script>'
	echo 'addEventListener("message", e => { const d = e.data;'
	echo 'const line = t => found.append(d.page + " " + t + "\n");'
	echo 'line("dark=" + d.dark + " plots=" + d.plots + " tables=" + d.tables + " problems=" + d.problems.length);'
	echo 'd.problems.forEach(p => line("PROBLEM " + p)); });</script>'
	for name in "${PAGES[@]}"; do
		[ "$1" = dark ] || show "$name" $PHONE
		show "$name" $DESK
	done
	[ "$1" = dark ] || for name in spoilt blotted; do
		show "$name" $PHONE
	done
	echo '</body></html>'
}

# chrome OPTION...: without a window. As root, as CI is, it cannot have its sandbox.
chrome() {
	local sandbox=()
	[ "$(id -u)" -ne 0 ] || sandbox=(--no-sandbox)
	"$CHROME" --headless "${sandbox[@]}" --disable-gpu --no-first-run --disable-extensions \
		--disable-background-networking --user-data-dir="$WORK/profile" "$@" 2> chrome.log
}

# scheme light|dark: the value of Chromium's setting.
scheme() {
	[ "$1" = dark ] && echo 0 || echo 1
}

# look SCHEME: what the browser found, one line each, in SCHEME.found.
look() {
	wall "$1" > wall.html
	chrome --blink-settings=preferredColorScheme="$(scheme "$1")" --virtual-time-budget=60000 \
		--dump-dom "file://$WORK/wall.html" > wall.dom
	sed -n '/<pre id="found">/,/<\/pre>/p' wall.dom |
		sed -e 's/.*<pre id="found">//' -e '/<\/pre>/d' -e 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' > "$1.found"
}

check_pages() {
	local name width
	for name in "${PAGES[@]}"; do
		for width in "${@:3}"; do
			has "$name at $width, $1: was looked at" "dark=$2 " "$(grep "^$name:$width dark=" "$1.found")"
			is "$name at $width, $1: no problem" "" "$(grep "^$name:$width PROBLEM" "$1.found" | head -5)"
		done
	done
}

# Figures that must be there: held memory, its age, ...; a page without gnuplot has none of them.
check_plots() {
	local plots
	plots=$(sed -n "s/^three:$DESK .*plots=\([0-9]*\) .*/\1/p" light.found)
	is "three arms have 20 plots and more (${plots:-none})" 1 "$((${plots:-0} >= 20))"
	has "without gnuplot there are none" " plots=0 " "$(grep "^plain:$DESK " light.found)"
	has "without gnuplot the page says so" "gnuplot is not installed" "$(grep -m 1 'Plot missing' plain.html)"
	has "no run" "The database has no runs" "$(cat none.html)"
	is "no script in a page" 0 "$(cat "${PAGES[@]/%/.html}" | grep -ci '<script')"
	is "nothing from elsewhere" "" "$(grep -oE '(src|href)="?(https?:)?//[^" ]*' "${PAGES[@]/%/.html}" | head -3)"
}

check_html() {
	local name
	for name in "${PAGES[@]}"; do
		is "$name: valid HTML" "" "$(tidy -e -q "$name.html" 2>&1 | head -5)"
	done
	sed 's|</table>||' three.html > broken.html
	has "a table that is not closed is seen" "missing </table>" "$(tidy -e -q broken.html 2>&1)"
	sed 's|id="why-1"|id="method"|' three.html > twice.html
	has "an id that is there twice is seen" "method" "$(tidy -e -q twice.html 2>&1)"
}

check_spoilt() {
	local each
	for each in "${WANTED[@]}"; do
		has "seen: ${each#*|}" "PROBLEM ${each#*|}" "$(grep -F ":$PHONE PROBLEM ${each#*|}" light.found | grep "^${each%%|*}:")"
	done
}

# texts NAME: what must be on paper of NAME.html, one text a line: all but long folds that are closed,
# and plots. Without blanks and hyphens: lines are broken elsewhere, and pdftotext joins what it takes for a
# divided word.
texts() {
	sed -e '/<details class="long">/,/<\/details>/d' -e '/<svg/,/<\/svg>/d' -e '/<style>/,/<\/style>/d' "$1.html" |
		grep -oE '<(p|li|td|th|caption|summary|h[1-4])[^a-z>]*[^>]*>[^<]+' | sed -e 's/^[^>]*>//' \
		-e 's/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g' -e "s/&#39;/'/g" -e 's/&amp;/\&/g' | tr -d ' \t-' | sort -u
}

# unprinted NAME: what is not on the paper that the browser makes of NAME.html.
unprinted() {
	chrome --print-to-pdf="$WORK/$1.pdf" --no-pdf-header-footer "file://$WORK/$1.html" > /dev/null
	pdftotext -raw "$1.pdf" - | tr -d ' \t\n\f-' > "$1.paper"
	texts "$1" | awk -v paper="$1.paper" 'BEGIN { getline all < paper } !index(all, $0)'
}

check_paper() {
	local name long
	for name in three hostile eight; do
		is "$name: all is on paper" "" "$(unprinted "$name" | head -5)"
	done
	long=$(grep -c '<details class="long">' three.html)
	is "three has long folds" 1 "$((long > 14))"
	is "three: what is left out is said to be" "$long" "$(grep -o '(folded,andsonotprinted)' three.paper | wc -l)"
	sed 's/details::details-content/details::nothing/' three.html > folded.html
	has "a fold that is not printed is seen" "uptime_s" "$(unprinted folded)"
	sed 's/<main>/<main><p style="position:absolute;left:-900px">off the page<\/p>/' base.html > off.html
	is "what is beside the paper is seen" "offthepage" "$(unprinted off)"
}

# For eyes: each page as the browser shows it.
keep() {
	local name colour width
	mkdir -p "$KEEP"
	for name in "${PAGES[@]}"; do
		cp "$name.html" "$KEEP/"
		for colour in light dark; do
			for width in $PHONE $DESK; do
				echo "<body style=\"margin:0\"><iframe src=\"$name.html\" style=\"border:0;width:${width}px;height:9000px\"></iframe>" > shot.html
				chrome --hide-scrollbars --blink-settings=preferredColorScheme="$(scheme $colour)" \
					--window-size=$((width < 500 ? 500 : width)),9000 \
					--screenshot="$KEEP/$name-$width-$colour.png" "file://$WORK/shot.html"
			done
		done
	done
	echo "pages and pictures are in $KEEP"
}

main() {
	local install=
	while [ $# -gt 0 ]; do
		case $1 in
		-i) install=yes ;;
		-k) KEEP=$(realpath -m "${2:?-k needs a directory}") && shift ;;
		*) echo "migrc: tests/report/run.sh: $1: not an option; -i and -k DIR are" >&2 && exit 2 ;;
		esac
		shift
	done
	need "$install"
	CHROME=$(browser)
	PAGES=(three two one none many eight hostile loss plain)
	WANTED=()
	cd "$WORK" || exit 2
	cp "$HERE/look.js" .
	make_pages
	[ -z "$KEEP" ] || keep
	make_spoilt
	check_html
	check_paper
	look light
	look dark
	check_pages light false $PHONE $DESK
	check_pages dark true $DESK
	check_plots
	check_spoilt
	finish
}

main "$@"
