#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A private sources list out of apt configurations as machines have them.
. "$(dirname "$0")/lib.sh"
PARTS=(apt-sources)

cat > "$WORK/one.list" <<'END'
# deb http://commented.example/debian bookworm main
deb http://mirror.example/debian bookworm main contrib  # ours
deb-src http://mirror.example/debian bookworm main
deb [arch=amd64 signed-by=/usr/share/keyrings/k.gpg] http://signed.example/debian bookworm main
deb http://security.example/debian-security bookworm-security main
deb http://other.example/tool stable tool
END
is "one-line entries" "http://mirror.example/debian bookworm -
http://signed.example/debian bookworm /usr/share/keyrings/k.gpg
http://security.example/debian-security bookworm-security -" "$(lab apt_sources__entries "$WORK/one.list")"

cat > "$WORK/two.sources" <<'END'
Types: deb deb-src
# a comment between
URIs: http://mirror.example/debian/
Suites: bookworm bookworm-updates
Components: main non-free-firmware
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main

Types: deb-src
URIs: http://src.example/debian
Suites: bookworm
Components: main

types: deb
uris:
 http://a.example/debian
 http://b.example/debian
suites: trixie
components: main
signed-by:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc
END
is "deb822 entries" "http://mirror.example/debian/ bookworm /usr/share/keyrings/debian-archive-keyring.gpg
http://mirror.example/debian/ bookworm-updates /usr/share/keyrings/debian-archive-keyring.gpg
http://a.example/debian trixie -
http://b.example/debian trixie -" "$(lab apt_sources__entries "$WORK/two.sources")"

is "private list from one-line" "deb [signed-by=/usr/share/keyrings/k.gpg] http://signed.example/debian bookworm main
deb [signed-by=/usr/share/keyrings/k.gpg] http://signed.example/debian bookworm-backports main
deb http://mirror.example/debian bookworm main
deb http://mirror.example/debian bookworm-backports main" "$(lab apt_sources__private bookworm "" "$WORK/one.list")"
is "private list from deb822" "deb http://a.example/debian trixie main
deb http://a.example/debian trixie-backports main
deb http://b.example/debian trixie main
deb http://b.example/debian trixie-backports main" "$(lab apt_sources__private trixie "" "$WORK/two.sources")"
is "suites of a later release" "deb [signed-by=/usr/share/keyrings/k.gpg] http://signed.example/debian bookworm main
deb [signed-by=/usr/share/keyrings/k.gpg] http://signed.example/debian bookworm-backports main
deb [signed-by=/usr/share/keyrings/k.gpg] http://signed.example/debian trixie main
deb [signed-by=/usr/share/keyrings/k.gpg] http://signed.example/debian trixie-backports main" \
	"$(lab apt_sources__private bookworm "trixie trixie-backports" "$WORK/one.list" | grep signed)"
is "a suite that is the release's own is there once" 2 \
	"$(lab apt_sources__private trixie "trixie-backports" "$WORK/two.sources" | grep -c a.example)"
is "both kinds, and files that are not there" 4 \
	"$(lab apt_sources__private trixie "" "$WORK/none.list" "$WORK/one.list" "$WORK/two.sources" | wc -l)"
lab apt_sources__private forky "trixie" "$WORK/one.list" "$WORK/two.sources" > /dev/null
is "a release that is not named: failure" 1 $?
is "no mirror's address in the lab" "" "$(grep -rnE 'https?://' "$TOP/lab" "$TOP/Makefile")"
finish
