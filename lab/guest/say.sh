# SPDX-License-Identifier: GPL-2.0-or-later
# Lines for the console, and the plan's values.

say() {
	echo "migrc-guest: $*"
}

# plan__value KEY: the rest of the first line that begins with KEY.
plan__value() {
	sed -n "s/^$1 //p" /plan | head -n 1
}
