/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's symbols, as the text of /proc/kallsyms. Pure: text in, answers out. */
#ifndef MIGRC_SYMBOLS_H
#define MIGRC_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

/* Is there a symbol of exactly this name? text NULL: nobody knows, so no. */
bool symbols__has(const char *text, const char *name);

/*
 * What the compiler made of a function beside the function: NAME.isra.0, NAME.constprop.0,
 * NAME.part.0, NAME.cold. Their names, joined by ", ", into buf, cut where it is full; returns how
 * many of them are called by others than the function itself, so that a probe on NAME misses calls
 * (.cold is where the function itself jumps to: not one of these).
 */
size_t symbols__twins(const char *text, const char *name, char *buf, size_t size);

#endif /* MIGRC_SYMBOLS_H */
