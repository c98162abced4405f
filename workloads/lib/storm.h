/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the program storm share.
 *
 *	family	one or two processes in a cgroup of their own, with an arena of memory that their
 *		threads read, check, write, map, protect, fork, punch in random ways (operations).
 *		The OOM killer may take a family; it is started again with new memory.
 *	actor	a process that does things to the whole machine in random order (actions):
 *		demotion, hotplug, compaction, switches ... It cannot be killed by OOM.
 *
 * All counters and the first wrong byte are in one piece of shared memory.
 */
#ifndef WL_STORM_H
#define WL_STORM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "workloads/lib/arena.h"
#include "workloads/lib/rng.h"

#define STORM_NAME	24
#define STORM_LINE	64
#define STORM_PATH	256
#define STORM_TALLIES	64
#define STORM_SWITCHES	10

enum storm_kind { STORM_FILE, STORM_ANON, STORM_KSM, STORM_THP, STORM_FAMILIES };

extern const char *const storm_kind_names[STORM_FAMILIES];

/* What became of an operation or action; err is the last failure's errno. */
struct storm_tally {
	_Atomic uint64_t tried, done;
	_Atomic int err;
};

struct storm_finding {
	enum storm_kind kind;
	char how[STORM_NAME];
	struct arena_finding at;
	uint64_t stale_version;
};

struct storm_family_shared {
	_Atomic pid_t pid[2];
	_Atomic uint64_t base;		/* of its memory in the first process, for actors */
	atomic_bool ready;		/* its memory has been filled */
	_Atomic uint64_t beat;		/* grows while any of its threads gets on */
};

struct storm_shared {
	atomic_bool stop;
	atomic_uint findings, died;	/* wrong bytes; children that a signal ended without reason */
	atomic_int died_signal;
	atomic_bool first_done;		/* first is complete */
	struct storm_finding first;
	atomic_uint faults;		/* times that allocations were made to fail; odd while they are */
	_Atomic uint64_t reads, words;
	struct storm_tally op[STORM_TALLIES], act[STORM_TALLIES];
	struct storm_family_shared family[STORM_FAMILIES];
};

struct storm {
	struct storm_shared *sh;
	uint64_t seed, bytes;		/* bytes: of each family */
	int fast, slow;
	const char *swap;		/* device, or NULL */
	char group[STORM_PATH];		/* cgroup of all families; one below it for each */
	struct arena arena[STORM_FAMILIES];
	int fd[STORM_FAMILIES];		/* of the file's family; -1 */
	bool skip_op[STORM_TALLIES], skip_act[STORM_TALLIES];
	char saved[STORM_SWITCHES][STORM_LINE];
};

/* --- operations and families (storm_op.c, storm_family.c) */

struct storm_proc {
	struct storm *st;
	enum storm_kind kind;
	struct arena *a;
	char *ro;			/* what readers read; anonymous: the memory itself */
	char *rw;			/* file: a writable mapping of it */
	char *minor;			/* file: a writable mapping with userfaultfd minor faults */
	int fd, mem, uffd;		/* file; /proc/self/mem; userfaultfd; or -1 */
};

struct storm_worker {
	struct storm_proc *p;
	struct wl_rng rng;
	uint64_t *buf;			/* one page */
};

size_t storm_ops__count(void);
const char *storm_ops__name(size_t i);
/* One operation, chosen at random. */
void storm_ops__one(struct storm_worker *w);
/* Writes the page by the plainest way until it works; the caller holds its lock. */
void storm_ops__rewrite(struct storm_worker *w, uint32_t page, uint64_t state);
/* For a userfaultfd whose minor faults are to be answered, until the storm ends. */
void *storm_ops__uffd_thread(void *proc);
/* 0 or -errno: p->uffd, and p->minor registered with it. */
int storm_ops__uffd_open(struct storm_proc *p);
/* Runs `--verify SPEC` of a process that was started by an operation; the exit code. */
int storm_ops__verify(const char *spec);

/* Forks the family's processes. 0 or -errno. */
int storm_family__start(struct storm *st, enum storm_kind kind, unsigned int generation);
unsigned int storm_family__processes(enum storm_kind kind);
void storm__found(struct storm *st, enum storm_kind kind, const char *how,
		  const struct arena *a, const struct arena_finding *f);
void storm__count(struct storm_tally *t, int err);

/* --- actions (storm_act.c) */

size_t storm_acts__count(void);
const char *storm_acts__name(size_t i);
/* Is the action one of the switches of migrc? */
bool storm_acts__is_migrc(size_t i);
/* Forks an actor. Its pid or -errno. */
pid_t storm_actor__start(struct storm *st, unsigned int index, unsigned int oom_every);
/* What the switches are now. */
void storm_acts__save(struct storm *st);
/* Everything online again, all switches as they were saved. 0 or the last -errno. */
int storm_acts__restore(struct storm *st);
/* mkswap and swapon. 0 or -errno. */
int storm_swap__on(const char *device);

/* --- files of the system (storm_file.c) */

/* One write of the text, as a command. 0 or -errno. */
int storm_file__put(const char *path, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * The same until it works, at most for that many seconds: for what must be undone. A file that is not
 * there, or does not take the text in its present state, is not asked again.
 */
int storm_file__put_surely(double seconds, const char *path, const char *text);
int storm_file__u64(const char *path, uint64_t *out);
/* The first line. 0 or -errno. */
int storm_file__line(const char *path, char line[STORM_LINE]);
/* Is the text, up to a newline, what the file has? */
bool storm_file__is(const char *path, const char *text);
/* Frame number of a page of a process. -ENOENT if there is none. */
int storm_file__pfn(pid_t pid, uint64_t addr, uint64_t *pfn);

#endif /* WL_STORM_H */
