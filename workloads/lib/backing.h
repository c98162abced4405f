/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that is filled once and then read, in the ways that decide whether its TLB flushes can be
 * deferred:
 *
 *	anon		private anonymous memory, still writable; or made read-only by mprotect(2)
 *			(its PTEs stay dirty)
 *	file, memfd	with protect: filled by write(2) only, then mapped PROT_READ, MAP_SHARED:
 *			read-only and clean PTEs. Without: filled through a writable shared mapping
 *
 * The file has no name any more when it is in use, so that nothing is left behind however the
 * program ends.
 */
#ifndef WL_BACKING_H
#define WL_BACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wl_backing_kind { WL_BACKING_ANON, WL_BACKING_FILE, WL_BACKING_MEMFD };

/* NULL-terminated, in the order of the enum: for wl_opt__name(). */
extern const char *const wl_backing_names[];

struct wl_backing_opts {
	enum wl_backing_kind kind;
	bool protect;
	bool thp;		/* allow huge pages; by default they are forbidden */
	const char *dir;	/* folder of a WL_BACKING_FILE */
};

struct wl_backing {
	struct wl_backing_opts opts;
	int fd;			/* -1 without a file */
	size_t bytes;
	unsigned char *base;	/* NULL until there is a mapping; complete after seal */
};

/* 0 or -errno; -ENOMEM also when the machine has less than that available. */
int wl_backing__open(struct wl_backing *b, const struct wl_backing_opts *opts, uint64_t bytes);
/* Store len bytes at an offset. Before wl_backing__seal() only. */
int wl_backing__put(struct wl_backing *b, uint64_t off, const void *buf, size_t len);
/* End of filling: b->base is now what the workload reads. */
int wl_backing__seal(struct wl_backing *b);
void wl_backing__close(struct wl_backing *b);
/* Prints the one-line error with its remedy; smaller says how to ask for less, e.g. "lower -g". */
void wl_backing__error(const struct wl_backing_opts *opts, uint64_t bytes, int err,
		       const char *smaller);
/* Bytes that can be had without pushing others out: MemAvailable + SwapFree. */
int wl_memory_available(uint64_t *bytes);

#endif /* WL_BACKING_H */
