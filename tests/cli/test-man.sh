#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Manual pages: one for each subcommand, well-formed, with every option that --help has and no other;
# those of the policy and the plan have every key. And --help: examples of its own command, 80 columns.

# shellcheck source=../lab/lib.sh
. "$(dirname "$0")/../lab/lib.sh"
# shellcheck source=../../lab/lib/plan.sh
. "$TOP/lab/lib/plan.sh"
MIGRC=$TOP/build/migrc
cd "$WORK" || exit 2

mkdir man
for source in "$TOP"/docs/man/*.[15]; do
	page=man/$(basename "$source")
	"$TOP/docs/man/make-page.sh" "$MIGRC" "$source" > "$page"
	is "$(basename "$page"): is made" 0 $?
	is "$(basename "$page"): nothing is left to replace" 0 "$(grep -c '^@' "$page")"
	is "$(basename "$page"): lint" "" "$(mandoc -T lint -W warning "$page")"
	mandoc -T utf8 "$page" | sed "s|.\x08||g" > "$page.txt"
done

# Options of a text, each once: --name, and -x where it is before one.
options_of() {
	grep -oE '^ +(-[a-zA-Z?], )?--[a-z][a-z-]*' | grep -oE -- '-[-a-z?]+' | grep -vxE -- '--(help|usage)|-\?' | sort -u
}

commands=$("$MIGRC" --help | awk '/^  [a-z]/ { print $1 }')
has "there are subcommands" gate "$commands"
for c in $commands; do
	page=man/migrc-$c.1.txt
	is "$c has a page" 1 "$([ -s "$page" ] && echo 1)"
	has "$c is in migrc(1)" "migrc-$c(1)" "$(cat man/migrc.1.txt)"
	"$MIGRC" "$c" --help > help
	is "$c: options of page and --help are the same" "$(options_of < help)" "$(options_of < "$page")"
	is "$c --help: 80 columns" "" "$(awk 'length($0) > 80' help)"
	is "$c --help: examples" 1 "$(grep -c '^Examples:$' help)"
	has "$c --help: of itself" "  migrc $c" "$(sed -n '/^Examples:$/,$p' help)"
	has "$c --help: exit status" "Exit status: 0" "$(cat help)"
	is "$c: page has its examples" 1 "$(grep -c '^EXAMPLES' "$page")"
	is "$c: page has its exit status" 1 "$(grep -c '^EXIT STATUS' "$page")"
done
for page in man/migrc-*.1; do
	c=${page#man/migrc-}
	is "$(basename "$page") is of a subcommand" 1 "$(echo "$commands" | grep -cx "${c%.1}")"
done
has "a page has the text of an option" "Arm of the comparison" "$(cat man/migrc-record.1.txt)"

for key in $PLAN_KEYS; do
	has "migrc-plan(5) has $key" "$key" "$(grep -E "^     $key( |$)" man/migrc-plan.5.txt)"
done
keys=$(sed -n '/^static const struct key keys/,/^};/s/.*{ "\(gate\|limits\|metric\)", "\([a-z-]*\)".*/\2/p' "$TOP/analysis/policy.c" | sort -u)
has "there are keys of policies" held-memory "$keys"
for key in $keys; do
	is "migrc-policy(5) has $key" 1 "$(grep -qE "^     ([a-z-]+, )?$key(,| |$)" man/migrc-policy.5.txt && echo 1)"
done
# Its example is a policy.
bash "$TOP/tests/fixtures/analysis/make-demo-db.sh" demo.db 7 0
sed -n '/^EXAMPLES/,/^SEE ALSO/p' man/migrc-policy.5.txt | sed -e 's/^     //' -e '/^[A-Z]/d' > policy
"$MIGRC" gate --policy policy -d demo.db > out 2> err
is "the example of migrc-policy(5) is understood" "" "$(cat err)"
sed -n '/^EXAMPLES/,/^SEE ALSO/p' man/migrc-plan.5.txt | sed -e 's/^     //' -e '/^[A-Z]/d' > plan
is "the example of migrc-plan(5) is one" "" "$(plan__error plan)"
is "and has boots" 8 "$(plan__boots plan | wc -l)"
finish
