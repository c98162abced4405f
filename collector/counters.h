/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own counters as text files: /proc/vmstat, /proc/zoneinfo, /proc/interrupts,
 * numastat, pressure. Parsers take text, so that they can be tested; what a kernel lacks has no entry.
 */
#ifndef MIGRC_COUNTERS_H
#define MIGRC_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

struct snapshot_entry {
	char source[16];
	char name[72];
	int64_t value;
};

/* Values at one time, in the order in which they were added. */
struct snapshot {
	struct snapshot_entry *entry;
	size_t nr, cap;
};

/* 0, -ENOMEM, or -ENAMETOOLONG. */
int snapshot__add(struct snapshot *s, const char *source, const char *name, int64_t value);
/* Order by source and name, so that two snapshots can be merged. */
void snapshot__sort(struct snapshot *s);
/* NULL if absent. Linear: for tests and single look-ups. */
const struct snapshot_entry *snapshot__find(const struct snapshot *s, const char *source,
					    const char *name);
void snapshot__free(struct snapshot *s);

/*
 * All parsers: 0 or a negative errno; the text is cut up on the way. -EINVAL: not of that format
 * (a line without a number); what was read so far stays.
 */
int vmstat__parse(char *text, const char *source, struct snapshot *s);
/* Rows TLB, CAL and RES: totals by row name, and "TLB/cpu0" and so on. -ERANGE: a total over INT64_MAX. */
int interrupts__parse(char *text, struct snapshot *s);
/* Stall times in us: "memory.some", "memory.full". */
int psi__parse(char *text, const char *resource, struct snapshot *s);
/* "node0/Normal/free", "node0/Normal/present", "node0/Normal/migrc_pending" (patched kernels). */
int zoneinfo__parse(char *text, struct snapshot *s);

/* All counters of the store's table but the probes' own. Files that are not there are left out. */
int counters__read(struct snapshot *s);
/* Fold the per-CPU differences of zone and node counters into what /proc/vmstat shows; best effort:
 * a negative errno where the kernel has no such knob or refuses. */
int counters__fold(void);

/* /proc/vmstat alone: value of one name; -ENOENT where the kernel has no such counter. */
int vmstat__read_one(const char *name, int64_t *value);

#endif /* MIGRC_COUNTERS_H */
