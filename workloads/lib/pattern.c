// SPDX-License-Identifier: GPL-2.0-or-later
#include <stddef.h>

#include "workloads/lib/pattern.h"

const char *const wl_pattern_names[] = { "uniform", "normal", NULL };
