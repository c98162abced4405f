#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Packages: apt-get only for what is missing, errors with their remedy.
. "$(dirname "$0")/lib.sh"

mkdir "$WORK/bin"
printf '#!/bin/sh\necho "$@" >> "%s/apt-calls"\n[ ! -e "%s/broken" ] || { echo "E: no network"; exit 100; }\n' "$WORK" "$WORK" > "$WORK/bin/apt-get"
printf '#!/bin/sh\ncat "%s/uid"\n' "$WORK" > "$WORK/bin/id"
chmod +x "$WORK/bin"/*
echo 0 > "$WORK/uid"
install_packages() {
	PATH=$WORK/bin:$PATH "$TOP/lab/install-packages.sh" "$WORK/list" 2>&1
}

printf '# comment\n\nbash\ncoreutils # why\n' > "$WORK/list"
message=$(install_packages)
is "nothing missing: status" 0 $?
has "nothing missing: said" "all 2 are here" "$message"
is "nothing missing: no apt-get" "no" "$([ -e "$WORK/apt-calls" ] && echo yes || echo no)"

echo migrc-no-such-package >> "$WORK/list"
install_packages > /dev/null
is "only what is missing" "-q -y install --no-install-recommends migrc-no-such-package" "$(tail -n 1 "$WORK/apt-calls")"

touch "$WORK/broken"
message=$(install_packages)
is "apt fails: status" 2 $?
has "apt fails: its own error" "E: no network" "$message"

echo 1000 > "$WORK/uid"
message=$(install_packages)
is "not root: status" 2 $?
has "not root: what is missing" "missing: migrc-no-such-package; run 'make deps' as root" "$message"

is "packages.list has no version or path" "" "$(sed 's/#.*//' "$TOP/packages.list" | grep -nE '[=/ ]')"
finish
