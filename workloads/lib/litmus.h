/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the litmus tests share. A test is a row of a table: how its page is prepared, moved and
 * written, and which hooks of the patch must hold its writer back. litmus_round.c runs a row;
 * litmus_file.c, litmus_map.c, litmus_anon.c, litmus_swap.c, litmus_uffd.c and litmus_life.c
 * hold the rows.
 */
#ifndef WL_LITMUS_H
#define WL_LITMUS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "workloads/lib/cgroup.h"

/* Bits of vm.migrc_debug_skip, the order of enum migrc_hook in the patch. */
enum litmus_hook {
	LITMUS_WP, LITMUS_FAULT, LITMUS_NUMA, LITMUS_SWAPIN, LITMUS_MPROTECT, LITMUS_UFFD,
	LITMUS_REMAP, LITMUS_FORCE, LITMUS_PIN, LITMUS_SHMEM, LITMUS_TRUNCATE,
	LITMUS_INFLIGHT,	/* a generation whose flush is in flight counts as done */
	LITMUS_EARLY,		/* sources are freed without waiting for their flush */
	LITMUS_DRAIN,		/* offline, contiguous allocation and suspend do not drain */
	LITMUS_HOOKS,
};

#define LITMUS_BIT(hook)	(1U << (hook))
#define LITMUS_WORD		256	/* the word of the page that is tested: not at its start */

/* Shared by all processes of a test; locked, as all but the memory under test. */
struct litmus_shared {
	_Atomic uint64_t flag;		/* the round whose write is done */
	_Atomic uint64_t loads;		/* of the reader */
	_Atomic uint64_t idle;		/* turns of the reader without data to read */
	_Atomic uint64_t violations;
	_Atomic uint64_t watch;		/* what the reader must see once flag is the round */
	_Atomic uint64_t gone;		/* or this, where the page is taken away */
	_Atomic uint64_t addr;		/* a child's mapping, for who writes into it */
	atomic_bool ready, go, over;	/* between driver and child, as the test likes */
	atomic_bool stop;
	const volatile uint64_t *_Atomic data;
};

/* A file that a test has changed, with what was in it. */
struct litmus_knob {
	char path[96], old[64];
};

struct litmus_ring {
	int fd;
	char *rings, *sqes;
	size_t rings_bytes, sqes_bytes;
	unsigned int sq_tail, sq_mask, sq_array, cq_head, cq_mask, cqes;	/* offsets */
};

struct litmus {
	struct litmus_shared *sh;
	struct wl_cgroup cg;
	int fast, slow;			/* nodes */
	size_t page, bytes;		/* bytes: of the memory; its first page is tested */
	int fd;				/* of the file under test; -1: anonymous memory */
	char *map;			/* the reader's mapping */
	uint64_t value;			/* that this round writes */
	bool moved;			/* the page did move in this round */

	char *other;			/* a second mapping, by tests that have one */
	size_t other_bytes;
	int other_fd;
	int pipe[2];
	pid_t child;			/* by tests that have one */
	int to_child, from_child;
	pthread_t helper;		/* by tests that have one */
	int helper_err;			/* what its last act came to */
	struct litmus_ring ring;
	uint64_t bad_blocks;		/* memory blocks that cannot be taken offline */
	size_t filled;			/* bytes of other that are in use to keep out of those */
	struct litmus_knob knobs[12];
	unsigned int nr_knobs;
};

enum {
	LITMUS_ANON = 1,		/* private anonymous memory, else a memfd */
	LITMUS_ZEROES = 2,		/* the write can only write zeroes */
	LITMUS_KEEPS = 4,		/* nothing is written: the old value must stay */
	LITMUS_PRIVATE = 8,		/* the file is mapped privately */
	LITMUS_RACE = 16,		/* a busy machine may not let what is tested come about */
	LITMUS_TAKES = 32,		/* the page is taken away: its address reads as zero */
};

/* A round in which what was tested did not come about: it does not count. */
#define LITMUS_MISSED	1

/* All functions return 0 or -errno; write may return LITMUS_MISSED. All but write may be NULL. */
struct litmus_test {
	const char *name;
	unsigned int flags;
	unsigned int pages;			/* of the memory under test; 0: one */
	unsigned int max_rounds;		/* that count, for slow tests; 0: as asked for */
	/* What this machine lacks for the test, or NULL. */
	const char *(*lacks)(struct litmus *l);
	int (*begin)(struct litmus *l);		/* once */
	int (*prepare)(struct litmus *l);	/* before the page is moved */
	int (*move)(struct litmus *l);		/* instead of litmus__demote() */
	int (*write)(struct litmus *l, uint64_t value);
	int (*cleanup)(struct litmus *l);	/* after the reader has looked */
	int (*end)(struct litmus *l);		/* once */
	unsigned int hooks;			/* without any one of these the test must fail */
	unsigned int together;			/* and without all of these, where each is enough */
	const char *why;			/* no hook is needed */
};

/* What came of running one test. */
struct litmus_result {
	bool broken;				/* without a guard */
	int err;				/* -errno, if it could not be run */
	const char *lacks;			/* or what was lacking */
	bool race;				/* the test is one of LITMUS_RACE */
	unsigned int wanted, rounds;		/* rounds to count, and that counted */
	uint64_t violations;
	int64_t deferred;			/* folios; -1: this kernel does not say */
};

enum litmus_verdict {
	LITMUS_OK, LITMUS_SKIPPED, LITMUS_NOT_DEFERRED, LITMUS_NO_RACE, LITMUS_NOT_MOVED,
	LITMUS_FAILED,
};

/*
 * Pure. With its guards a test passes if its page was moved and nobody read what he must not.
 * Without one of them (broken) it passes if somebody did; where nothing was deferred, as the rule
 * or the machine is, there was nothing to guard, and it counts as skipped. So does a race that no
 * round had.
 */
enum litmus_verdict litmus__judge(const struct litmus_result *r);
/*
 * Pure. Is another round needed after so many tries? Those that prove nothing do not count: more of
 * them, up to a limit. Without its guard a race is tried until it shows.
 */
bool litmus__goes_on(const struct litmus_result *r, unsigned int tries, uint64_t violations);
const char *litmus__hook_name(unsigned int hook);
/* "wp+fault" for their bits; cut off where it does not fit. */
void litmus__hook_names(unsigned int mask, char *text, size_t size);
/* Of an entry of /proc/PID/pagemap: neither present nor empty, as during a migration; its frame. */
bool litmus__entry_swapped(uint64_t entry);
uint64_t litmus__entry_pfn(uint64_t entry);

/* The tables, each ending with a row without a name. */
extern const struct litmus_test litmus_file_tests[], litmus_map_tests[], litmus_anon_tests[],
	litmus_swap_tests[], litmus_uffd_tests[], litmus_life_tests[];
/* Row i of all tables, or NULL behind the last. */
const struct litmus_test *litmus__test(unsigned int i);

/* ---- rounds: litmus_round.c ---------------------------------------------------------------- */

/* Joins a cgroup of its own and locks what is mapped so far. 0 or the exit code. */
int litmus__setup(struct litmus *l, const char *cgroup_root);
void litmus__teardown(struct litmus *l);
/* broken: without a guard, see litmus__goes_on(). */
void litmus__run(struct litmus *l, const struct litmus_test *t, unsigned int rounds, bool broken,
		 struct litmus_result *r);
/* Demotes the memory under test through memory.reclaim. */
int litmus__demote(struct litmus *l);
/* Moves a part of it to a node by move_pages(2), in one batch. */
int litmus__move_to(struct litmus *l, size_t from, size_t bytes, int node);
/* Private anonymous memory at a multiple of its size, which is a power of two of pages. */
int litmus__map_aligned(size_t bytes, char **map);
/* Such memory instead of the anonymous memory under test, before the reader has been there. */
int litmus__remap_whole(struct litmus *l, size_t bytes);
/* Node that the first page is on now, or -errno. */
int litmus__page_node(struct litmus *l);
volatile uint64_t *litmus__own_word(struct litmus *l);
int litmus__pwrite(struct litmus *l, uint64_t value);
/* Takes the reader away from the memory, which may then be unmapped, and back to it. */
int litmus__park(struct litmus *l);
void litmus__unpark(struct litmus *l);
int litmus__pin(unsigned int cpu);
/* CPUs of the driver and of the reader, and one that is neither's where there are three. */
enum { LITMUS_CPU_DRIVER, LITMUS_CPU_READER, LITMUS_CPU_OTHER };

/* ---- a second process: litmus_child.c ------------------------------------------------------ */

typedef int litmus_prepare_fn(struct litmus *l);
typedef int litmus_write_fn(struct litmus *l, uint64_t value);

/*
 * Forks a process on a CPU of its own, which gives up the memory under test, calls prepare, and
 * then fn for each value that it is asked to write. It must exist before the page is moved.
 */
int litmus__child(struct litmus *l, litmus_prepare_fn *prepare, litmus_write_fn *fn);
/* The same, but it keeps the reader's mapping. */
int litmus__child_sharing(struct litmus *l, litmus_write_fn *fn);
int litmus__ask(struct litmus *l, uint64_t value);
int litmus__answer(struct litmus *l);
/* Waits until the child has set the flag; -ETIMEDOUT if it does not, as it may have died. */
int litmus__await(const atomic_bool *flag);
/* Asks, and gets the answer. */
int litmus__write_by_child(struct litmus *l, uint64_t value);
int litmus__end_child(struct litmus *l);

/* ---- anonymous memory: litmus_anon.c ------------------------------------------------------- */

/* All of it, for this process. */
int litmus__protect_own(struct litmus *l);
int litmus__unprotect_own(struct litmus *l);
/* Writers: by a store; by a store after litmus__unprotect_own(); through /proc/self/mem. */
litmus_write_fn litmus__write_own, litmus__write_own_mprotect, litmus__write_force;
/* What the kernel lacks for the last of them where the memory is read-only, or NULL. */
const char *litmus__lacks_force(struct litmus *l);

/* ---- the machine: litmus_system.c ---------------------------------------------------------- */

/* Until litmus__restore(). -ENOENT where there is no such file. */
int litmus__set(struct litmus *l, const char *path, const char *value);
/* A sysctl of the patch: none where the kernel does not have it. */
int litmus__set_migrc(struct litmus *l, const char *name, const char *value);
int litmus__restore(struct litmus *l);
int litmus__write_file(const char *path, const char *text);
int litmus__read_u64(const char *path, uint64_t *value);
int litmus__vmstat(const char *key, uint64_t *value);
/* Does the kernel compare sources with their destinations, as with --compare? */
bool litmus__comparing(void);
/* The entry of an address of this process in /proc/self/pagemap. */
int litmus__pagemap(int fd, const void *addr, uint64_t *entry);
/* System calls that move pages may defer, too. */
int litmus__defer_syscalls(struct litmus *l);
/* CPUs that this process could run on if it were not pinned. */
unsigned int litmus__cpus(void);

#endif /* WL_LITMUS_H */
