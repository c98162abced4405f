// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A family's processes. Each has readers, which go round and round a few pages at a time so that
 * their CPUs keep the translations, and writers, which do one operation after the other.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "workloads/lib/storm.h"

#define WINDOW		16		/* pages that a reader stays with */
#define BURST		1500		/* reads before it takes others */
#define SWEEP_EVERY	8		/* bursts */
#define REST_US		8000		/* at most, in between: the others want to get on, too */
#define WORDS_READ	2
#define READER_NICE	15
#define THREADS_MAX	4
#define STACK_BYTES	(256 << 10)
#define POLL_US		2000

const char *const storm_kind_names[STORM_FAMILIES] = { "file", "anon", "ksm", "thp" };

/* Threads of each process of a family: the file's second process reads and writes it too. */
static const struct { unsigned int processes, readers, writers; } crew[STORM_FAMILIES] = {
	[STORM_FILE] = { 2, 1, 1 },
	[STORM_ANON] = { 1, 1, 1 },
	[STORM_KSM] = { 1, 1, 1 },
	[STORM_THP] = { 1, 1, 1 },
};

unsigned int storm_family__processes(enum storm_kind kind)
{
	return crew[kind].processes;
}

void storm__count(struct storm_tally *t, int err)
{
	atomic_fetch_add_explicit(&t->tried, 1, memory_order_relaxed);
	if (err)
		atomic_store_explicit(&t->err, -err, memory_order_relaxed);
	else
		atomic_fetch_add_explicit(&t->done, 1, memory_order_relaxed);
}

void storm__found(struct storm *st, enum storm_kind kind, const char *how, const struct arena *a,
		  const struct arena_finding *f)
{
	struct storm_shared *sh = st->sh;

	if (atomic_fetch_add(&sh->findings, 1))
		return;
	sh->first.kind = kind;
	snprintf(sh->first.how, sizeof(sh->first.how), "%s", how);
	sh->first.at = *f;
	sh->first.stale_version = arena__stale_version(a, f);
	atomic_store(&sh->first_done, true);
}

static void beat(struct storm_worker *w)
{
	atomic_fetch_add_explicit(&w->p->st->sh->family[w->p->kind].beat, 1, memory_order_relaxed);
}

static bool over(const struct storm_worker *w)
{
	return atomic_load_explicit(&w->p->st->sh->stop, memory_order_relaxed);
}

/* --- threads ----------------------------------------------------------------------------------*/

/* Through the mapping, or with read(2). */
static void check_words(struct storm_worker *w, const char *base, uint32_t page, uint32_t from,
			uint32_t n, const char *how)
{
	struct storm_proc *p = w->p;
	struct arena_finding f;

	if (!arena__check(p->a, page, arena__state(p->a, page), (const volatile uint64_t *)base, from,
			  n, &f))
		storm__found(p->st, p->kind, how, p->a, &f);
}

static void whole_page(struct storm_worker *w, uint32_t page)
{
	struct storm_proc *p = w->p;
	const char *base = p->ro + (size_t)page * ARENA_PAGE;

	if (!arena__try_read(p->a, page))
		return;
	check_words(w, base, page, 0, ARENA_WORDS, "whole page");
	if (p->fd >= 0 &&
	    pread(p->fd, w->buf, ARENA_PAGE, (off_t)page * ARENA_PAGE) == ARENA_PAGE)
		check_words(w, (const char *)w->buf, page, 0, ARENA_WORDS, "read(2)");
	arena__end_read(p->a, page);
}

/* One word of every page: translations to all of them, on this CPU. */
static void sweep(struct storm_worker *w)
{
	struct storm_proc *p = w->p;

	for (uint32_t page = 0; page < p->a->pages && !over(w); page++) {
		if (!arena__try_read(p->a, page))
			continue;
		check_words(w, p->ro + (size_t)page * ARENA_PAGE, page, 1, 1, "sweep");
		arena__end_read(p->a, page);
	}
}

static void burst(struct storm_worker *w)
{
	struct storm_proc *p = w->p;
	uint32_t first = (uint32_t)wl_rng__below(&w->rng, p->a->pages);
	uint64_t reads = 0;

	for (uint32_t i = 0; i < BURST; i++) {
		uint64_t r = wl_rng__next(&w->rng);
		uint32_t page = (first + r % WINDOW) % p->a->pages;

		if (!arena__try_read(p->a, page))
			continue;
		check_words(w, p->ro + (size_t)page * ARENA_PAGE, page,
			    (uint32_t)(r >> 32) % (ARENA_WORDS - WORDS_READ), WORDS_READ, "mapping");
		arena__end_read(p->a, page);
		reads++;
	}
	whole_page(w, first);
	atomic_fetch_add_explicit(&p->st->sh->reads, reads, memory_order_relaxed);
}

static void *reader(void *arg)
{
	struct storm_worker *w = arg;

	/* Without it the writers are slower, no more. */
	setpriority(PRIO_PROCESS, 0, READER_NICE);
	for (uint64_t i = 0; !over(w); i++) {
		if (i % SWEEP_EVERY == 0)
			sweep(w);
		burst(w);
		beat(w);
		usleep((useconds_t)wl_rng__below(&w->rng, REST_US));
	}
	return NULL;
}

static void *writer(void *arg)
{
	struct storm_worker *w = arg;

	while (!over(w)) {
		storm_ops__one(w);
		beat(w);
		usleep((useconds_t)wl_rng__below(&w->rng, 400));
	}
	return NULL;
}

static void start_thread(void *(*fn)(void *), void *arg, pthread_t *thread)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	/* For lack of memory, which is made to be short here. */
	while (pthread_create(thread, &attr, fn, arg))
		usleep(POLL_US);
	pthread_attr_destroy(&attr);
}

static struct storm_worker worker_make(struct storm_proc *p, uint64_t seed)
{
	struct storm_worker w = { .p = p };

	wl_rng__seed(&w.rng, seed);
	while (!(w.buf = aligned_alloc(ARENA_PAGE, ARENA_PAGE)))
		usleep(POLL_US);
	return w;
}

/* --- a process --------------------------------------------------------------------------------*/

static char *map_surely(size_t bytes, int prot, int flags, int fd)
{
	void *map;

	while ((map = mmap(NULL, bytes, prot, flags, fd, 0)) == MAP_FAILED)
		usleep(POLL_US);
	return map;
}

static void open_memory(struct storm_proc *p)
{
	size_t bytes = (size_t)p->a->pages * ARENA_PAGE;

	if (p->kind == STORM_FILE) {
		p->ro = map_surely(bytes, PROT_READ, MAP_SHARED, p->fd);
		p->rw = map_surely(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd);
		p->minor = map_surely(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd);
		/* Fault-around there would put translations where CONTINUE is to put them. */
		madvise(p->minor, bytes, MADV_RANDOM);
		return;
	}
	p->ro = map_surely(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (p->kind == STORM_KSM)
		madvise(p->ro, bytes, MADV_MERGEABLE);
	if (p->kind == STORM_THP)
		madvise(p->ro, bytes, MADV_HUGEPAGE);
}

static void fill(struct storm_proc *p, struct storm_worker *w)
{
	for (uint32_t i = 0; i < p->a->pages; i++) {
		uint64_t state = arena_state__next(0);

		storm_ops__rewrite(w, i, state);
		arena__end_write(p->a, i, state);
	}
}

/* Everything once more, when the threads have gone: what is still locked the other process writes. */
static void final_check(struct storm_proc *p, struct storm_worker *w)
{
	for (uint32_t i = 0; i < p->a->pages; i++) {
		while (!arena__try_read(p->a, i))
			usleep(POLL_US);
		arena__end_read(p->a, i);
		whole_page(w, i);
	}
}

static void work(struct storm_proc *p, struct storm_worker *main_worker, uint64_t seed)
{
	unsigned int n = crew[p->kind].readers + crew[p->kind].writers;
	struct storm_worker worker[THREADS_MAX];
	pthread_t thread[THREADS_MAX], uffd_thread;
	bool minor = p->kind == STORM_FILE && p->uffd >= 0;

	if (minor)
		start_thread(storm_ops__uffd_thread, p, &uffd_thread);
	for (unsigned int i = 0; i < n; i++) {
		worker[i] = worker_make(p, wl_rng__mix(seed + i + 1));
		start_thread(i < crew[p->kind].readers ? reader : writer, &worker[i], &thread[i]);
	}
	for (unsigned int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	if (minor)
		pthread_join(uffd_thread, NULL);
	final_check(p, main_worker);
}

static int process_main(struct storm *st, enum storm_kind kind, unsigned int index, uint64_t seed)
{
	struct storm_family_shared *fam = &st->sh->family[kind];
	struct storm_proc p = { .st = st, .kind = kind, .a = &st->arena[kind], .fd = st->fd[kind],
				.mem = -1, .uffd = -1 };
	struct storm_worker w = worker_make(&p, seed);
	char path[STORM_PATH + 32];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(path, sizeof(path), "%s/%s/cgroup.procs", st->group, storm_kind_names[kind]);
	if (storm_file__put_surely(10, path, "0"))
		return 3;
	storm_file__put("/proc/self/oom_score_adj", "200");
	storm_file__put("/proc/self/make-it-fail", "1");
	p.mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (p.mem < 0)
		return 3;
	open_memory(&p);
	if (!index) {
		fill(&p, &w);
		atomic_store(&fam->base, (uintptr_t)p.ro);
		atomic_store(&fam->ready, true);
	}
	while (!atomic_load(&fam->ready) && !atomic_load(&st->sh->stop))
		usleep(POLL_US);
	/* A kernel without it has the operation fail, which is told at the end. */
	if (kind == STORM_FILE || kind == STORM_ANON)
		if (storm_ops__uffd_open(&p) && p.uffd >= 0) {
			close(p.uffd);
			p.uffd = -1;
		}
	work(&p, &w, seed);
	return 0;
}

/* New memory: whoever held locks in the old one is dead. */
static int memory_reset(struct storm *st, enum storm_kind kind)
{
	struct arena *a = &st->arena[kind];

	memset(a->page, 0, a->pages * sizeof(*a->page));
	if (kind != STORM_FILE)
		return 0;
	if (st->fd[kind] >= 0)
		close(st->fd[kind]);
	st->fd[kind] = memfd_create("storm", 0);
	if (st->fd[kind] < 0 || ftruncate(st->fd[kind], (off_t)a->pages * ARENA_PAGE))
		return -errno;
	return 0;
}

int storm_family__start(struct storm *st, enum storm_kind kind, unsigned int generation)
{
	struct storm_family_shared *fam = &st->sh->family[kind];
	int err = memory_reset(st, kind);

	atomic_store(&fam->ready, false);
	atomic_store(&fam->base, 0);
	/* As if every page was being written: nobody is to look before it is filled. */
	for (uint32_t i = 0; i < st->arena[kind].pages; i++)
		atomic_store(&st->arena[kind].page[i].lock, -1);
	for (unsigned int i = 0; !err && i < crew[kind].processes; i++) {
		uint64_t seed = wl_rng__mix(st->seed + 1000 * kind + 10000 * generation + 100 * i);
		pid_t pid = fork();

		if (!pid)
			_exit(process_main(st, kind, i, seed));
		atomic_store(&fam->pid[i], pid < 0 ? 0 : pid);
		err = pid < 0 ? -errno : 0;
	}
	return err;
}
