# SPDX-License-Identifier: GPL-2.0-or-later
#
# Files to the host through the second serial port, each in a frame that says its length and sha256,
# so that a file arrives whole or is known to be torn. lab/lib/unframe.sh reads them.

frame__open() {
	stty -F /dev/ttyS1 raw -echo -opost -ixon 115200
	exec 3> /dev/ttyS1
}

# frame__send NAME FILE
frame__send() {
	gzip -c < "$2" > /tmp/.frame
	printf '\nmigrc-frame %s %s %s\n' "$1" "$(wc -c < /tmp/.frame)" "$(sha256sum < /tmp/.frame | cut -c1-64)" >&3
	cat /tmp/.frame >&3
	printf '\nmigrc-end %s\n' "$1" >&3
	rm -f /tmp/.frame
}

# The close waits until the port has sent everything.
frame__close() {
	exec 3>&-
}
