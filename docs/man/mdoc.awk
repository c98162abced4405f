# SPDX-License-Identifier: GPL-2.0-or-later
#
# One part of a --help text (commands, options, after) as mdoc.

# Text that no macro or escape begins in.
function plain(s) {
	gsub(/\\/, "\\e", s)
	gsub(/-/, "\\-", s)
	if (s ~ /^[.']/)
		s = "\\\\&" s
	return s
}

# One sentence a line, as mdoc wants it.
function sentences(s,    n) {
	sub(/^ +/, "", s)
	if (s !~ /[.:!?]$/)
		s = s "."
	s = plain(s)
	gsub(/\. +/, ".\n", s)
	return s
}

# NAME, NAME=ARG or NAME[=ARG] of an option with so many dashes.
function option(s,    at, arg) {
	sub(/^-/, "", s)
	at = match(s, /\[?=/)
	arg = at ? substr(s, at) : ""
	s = at ? substr(s, 1, at - 1) : s
	gsub(/-/, "\\-", s)
	s = "Fl " s
	if (arg ~ /^\[=/) {
		sub(/^\[=/, "", arg)
		sub(/\]$/, "", arg)
		return s " Ns Oo = Ns Ar \\&" plain(arg) " Oc"
	}
	if (arg != "")
		return s " Ns = Ns Ar \\&" plain(substr(arg, 2))
	return s
}

part == "commands" && /^  [a-z]/ {
	if (!n++)
		print ".Bl -tag -width Ds"
	name = $1
	sub(/^ +[a-z]+ +/, "")
	printf ".It Xr migrc\\-%s 1\n%s\n", name, sentences($0)
}

part == "options" && /^ +-/ {
	if (!n++)
		print ".Bl -tag -width Ds"
	text = $0
	sub(/^ +/, "", text)
	item = ".It"
	if (text ~ /^-[^-],? /) {
		item = item " Fl " substr(text, 2, 1) " ,"
		sub(/^-., +/, "", text)
	}
	end = index(text " ", " ")
	print item " " option(substr(text, 1, end - 1))
	text = substr(text, end)
	if (text ~ /[^ ]/)
		print sentences(text)
	pending = text !~ /[^ ]/
	next
}

part == "options" && pending && /^ +[^ -]/ {
	print sentences($0)
	pending = 0
}

# Paragraphs behind the options (of lab, behind its commands): the first is that of the examples.
function end_paragraph(    k, i, word) {
	if (paragraph == "")
		return
	if (sub(/^Exit status: /, "", paragraph)) {
		status = ".Sh EXIT STATUS\n.Bl -tag -width Ds\n"
		k = split(paragraph, word, /; /)
		for (i = 1; i <= k; i++) {
			if (match(word[i], /^[0-9]+ /)) {
				status = status ".It " substr(word[i], 1, RLENGTH - 1) "\n"
				word[i] = substr(word[i], RLENGTH + 1)
			}
			status = status sentences(word[i]) "\n"
		}
		status = status ".El\n"
	} else {
		examples = examples ".Pp\n" sentences(paragraph) "\n"
	}
	paragraph = ""
}
function end_literal() {
	if (literal != "")
		examples = examples ".Bd -literal -compact\n" literal ".Ed\n"
	literal = ""
}

part == "after" && /^Examples:/ { after = 1; next }
part != "after" || !after { next }
/^  / {
	end_paragraph()
	literal = literal plain(substr($0, 3)) "\n"
	next
}
{ end_literal() }
/^ *$/ { end_paragraph(); next }
{ paragraph = paragraph (paragraph == "" ? "" : " ") $0 }

END {
	if (n)
		print ".El"
	end_literal()
	end_paragraph()
	if (after)
		printf "%s.Sh EXAMPLES\n%s", status, examples
}
