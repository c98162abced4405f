/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For loops that wait for another CPU, or go on until told to end. An emulator that runs all CPUs in
 * one thread gives way to the next one here; without it, whoever waits for the loop's CPU to answer
 * an IPI waits for a timer tick.
 */
#ifndef WL_RELAX_H
#define WL_RELAX_H

static inline void wl_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	asm volatile("yield" : : : "memory");
#endif
}

#endif /* WL_RELAX_H */
