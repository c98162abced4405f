#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# clean-cache.sh: removes what the lab keeps in its cache, by name: MIGRC_CACHE may point anywhere.

# shellcheck source=lib/common.sh
. "$(dirname "$0")/lib/common.sh"

main() {
	[ -d "$CACHE" ] || return 0
	say CLEAN "$CACHE"
	cd "$CACHE"
	rm -rf source source-path* trees builds kernels initramfs accel apt pace check
	rm -f times-* boot-seconds-* .lock-*
	rmdir "$CACHE" 2>/dev/null || say CLEAN "$CACHE has files that are not the lab's: left there"
}

main "$@"
