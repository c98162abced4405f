// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Operations of a family on pages of its own memory. An operation holds the lock of its page, so the
 * content is known before and after it, whatever the kernel does meanwhile. One that fails (memory is
 * short by design here) may leave half of a page: it is then written again in the plainest way.
 *
 * File memory is mapped for reading by everybody all the time, and for writing only for moments: what
 * has a writable translation is not deferred. Anonymous memory is read-only but for the moment of a
 * write, for the same reason.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <numaif.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/lib/storm.h"

#define RANGE		8		/* pages of an operation on several */
#define VERIFY_PAGES	4
#define RETRY_US	2000
#define TRIES		500

#define ON_FILE		(1U << STORM_FILE)
#define ON_ANON		(1U << STORM_ANON | 1U << STORM_KSM | 1U << STORM_THP)
#define ON_PLAIN	(1U << STORM_ANON)
#define ON_ALL		(ON_FILE | ON_ANON)

struct storm_op {
	const char *name;
	unsigned int weight, kinds;
	/* Changes the page to *state, whose content is in w->buf; may change *state. */
	int (*write)(struct storm_worker *w, uint32_t page, uint64_t *state);
	/* Or: takes the locks that it needs itself. -EBUSY if it does not get them. */
	int (*other)(struct storm_worker *w, uint32_t page);
};

static char *at(char *base, uint32_t page)
{
	return base + (size_t)page * ARENA_PAGE;
}

/* Out of memory, by injection or not, says nothing about the kernel's health. */
static int protect(void *addr, size_t bytes, int prot)
{
	int tries = TRIES;

	while (mprotect(addr, bytes, prot)) {
		if (errno != ENOMEM || !tries--)
			return -errno;
		usleep(RETRY_US);
	}
	return 0;
}

/* --- files ------------------------------------------------------------------------------------*/

static int file_pwrite(struct storm_worker *w, uint32_t page, uint64_t *state)
{
	ssize_t n = pwrite(w->p->fd, w->buf, ARENA_PAGE, (off_t)page * ARENA_PAGE);

	(void)state;
	return n == ARENA_PAGE ? 0 : n < 0 ? -errno : -EIO;
}

static int file_splice(struct storm_worker *w, uint32_t page, uint64_t *state)
{
	off_t off = (off_t)page * ARENA_PAGE;
	ssize_t n = -1;
	int p[2];

	(void)state;
	if (pipe2(p, O_CLOEXEC))
		return -errno;
	if (write(p[1], w->buf, ARENA_PAGE) == ARENA_PAGE)
		n = splice(p[0], NULL, w->p->fd, &off, ARENA_PAGE, 0);
	if (n >= 0)
		errno = EIO;
	close(p[0]);
	close(p[1]);
	return n == ARENA_PAGE ? 0 : -errno;
}

/* Through the writable mapping, whose translation is then given up. */
static int file_map(struct storm_worker *w, uint32_t page, uint64_t *state)
{
	(void)state;
	memcpy(at(w->p->rw, page), w->buf, ARENA_PAGE);
	return madvise(at(w->p->rw, page), ARENA_PAGE, MADV_DONTNEED) ? -errno : 0;
}

static int file_vmwrite(struct storm_worker *w, uint32_t page, uint64_t *state)
{
	struct iovec from = { w->buf, ARENA_PAGE }, to = { at(w->p->rw, page), ARENA_PAGE };
	ssize_t n = process_vm_writev(getpid(), &from, 1, &to, 1, 0);
	int err = n == ARENA_PAGE ? 0 : n < 0 ? -errno : -EIO;

	(void)state;
	madvise(to.iov_base, ARENA_PAGE, MADV_DONTNEED);
	return err;
}

static int file_through(struct storm_worker *w, uint32_t page, int prot, bool read_first)
{
	volatile char *map = mmap(NULL, ARENA_PAGE, prot, MAP_SHARED, w->p->fd,
				  (off_t)page * ARENA_PAGE);
	int err = 0;

	if (map == MAP_FAILED)
		return -errno;
	if (read_first)
		(void)*map;
	if (!(prot & PROT_WRITE))
		err = protect((void *)map, ARENA_PAGE, PROT_READ | PROT_WRITE);
	if (!err)
		memcpy((void *)map, w->buf, ARENA_PAGE);
	while (munmap((void *)map, ARENA_PAGE))
		usleep(RETRY_US);
	return err;
}

static int file_fresh(struct storm_worker *w, uint32_t page, uint64_t *state)
{
	(void)state;
	return file_through(w, page, PROT_READ | PROT_WRITE, wl_rng__below(&w->rng, 2));
}

static int file_mprotect(struct storm_worker *w, uint32_t page, uint64_t *state)
{
	(void)state;
	return file_through(w, page, PROT_READ, true);
}

static int file_punch(struct storm_worker *w, uint32_t page, uint64_t *state)
{
	*state = arena_state__zeroed(*state);
	return fallocate(w->p->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			 (off_t)page * ARENA_PAGE, ARENA_PAGE) ? -errno : 0;
}

/*
 * Did half a page become zeroes in the file itself? To cut a page that is swapped out, the kernel reads
 * it back in, and if there is no memory for that, it leaves the page as it was and says nothing. What
 * the file has, read(2) says: no mapping has a part in it. 0, or -ENODATA if the page is unchanged; a
 * page that is neither is left to who checks it next.
 */
static int file_half_zeroed(struct storm_worker *w, uint32_t page, uint64_t before)
{
	const struct arena *a = w->p->a;
	struct arena_finding f;

	while (pread(w->p->fd, w->buf, ARENA_PAGE, (off_t)page * ARENA_PAGE) != ARENA_PAGE)
		usleep(RETRY_US);
	if (arena__check(a, page, arena_state__half_zeroed(before), w->buf, 0, ARENA_WORDS, &f))
		return 0;
	return arena__check(a, page, before, w->buf, 0, ARENA_WORDS, &f) ? -ENODATA : 0;
}

/* The second half becomes zeroes in place; the first stays as it was. */
static int file_punch_half(struct storm_worker *w, uint32_t page, uint64_t *state)
{
	uint64_t before = arena__state(w->p->a, page);

	*state = arena_state__half_zeroed(before);
	if (fallocate(w->p->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      (off_t)page * ARENA_PAGE + ARENA_PAGE / 2, ARENA_PAGE / 2))
		return -errno;
	return file_half_zeroed(w, page, before);
}

/* Short by some pages and a half, and as long again. */
static int file_truncate(struct storm_worker *w, uint32_t page)
{
	struct arena *a = w->p->a;
	off_t whole = (off_t)a->pages * ARENA_PAGE;
	uint32_t first = a->pages - RANGE;
	int err;

	(void)page;
	if (!arena__try_write_range(a, first, RANGE))
		return -EBUSY;
	err = ftruncate(w->p->fd, whole - RANGE * ARENA_PAGE + ARENA_PAGE / 2) ? -errno : 0;
	while (ftruncate(w->p->fd, whole))
		usleep(RETRY_US);
	if (!err)
		err = file_half_zeroed(w, first, arena__state(a, first));
	for (uint32_t i = 0; i < RANGE; i++) {
		uint64_t state = arena__state(a, first + i);

		if (err)
			storm_ops__rewrite(w, first + i, state = arena_state__next(state));
		else
			state = i ? arena_state__zeroed(state) : arena_state__half_zeroed(state);
		arena__end_write(a, first + i, state);
	}
	return err;
}

/* --- userfaultfd ------------------------------------------------------------------------------*/

static int uffd_continue(int uffd, char *addr)
{
	struct uffdio_continue c = { .range = { (uintptr_t)addr, ARENA_PAGE } };

	if (!ioctl(uffd, UFFDIO_CONTINUE, &c) || errno == EEXIST)
		return 0;
	return -errno;
}

int storm_ops__uffd_open(struct storm_proc *p)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { 0 };
	size_t bytes = (size_t)p->a->pages * ARENA_PAGE;

	api.features = p->kind == STORM_FILE ? UFFD_FEATURE_MINOR_SHMEM
					     : UFFD_FEATURE_PAGEFAULT_FLAG_WP;
	reg.mode = p->kind == STORM_FILE ? UFFDIO_REGISTER_MODE_MINOR : UFFDIO_REGISTER_MODE_WP;
	reg.range.start = (uintptr_t)(p->kind == STORM_FILE ? p->minor : p->ro);
	reg.range.len = bytes;
	p->uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (p->uffd < 0)
		return -errno;
	if (!ioctl(p->uffd, UFFDIO_API, &api) && !ioctl(p->uffd, UFFDIO_REGISTER, &reg))
		return 0;
	return -errno;
}

/* A page may be swapped out between its CONTINUE and the write: then the write faults once more. */
void *storm_ops__uffd_thread(void *proc)
{
	struct storm_proc *p = proc;

	while (!atomic_load(&p->st->sh->stop)) {
		struct pollfd pfd = { .fd = p->uffd, .events = POLLIN };
		struct uffd_msg msg;

		if (poll(&pfd, 1, 100) <= 0 || read(p->uffd, &msg, sizeof(msg)) != sizeof(msg) ||
		    msg.event != UFFD_EVENT_PAGEFAULT)
			continue;
		while (uffd_continue(p->uffd, (char *)(uintptr_t)(msg.arg.pagefault.address &
								   ~(uint64_t)(ARENA_PAGE - 1))) &&
		       !atomic_load(&p->st->sh->stop))
			usleep(RETRY_US);
	}
	return NULL;
}

static int file_uffd(struct storm_worker *w, uint32_t page, uint64_t *state)
{
	char *addr = at(w->p->minor, page);
	int err;

	(void)state;
	if (w->p->uffd < 0)
		return -ENOSYS;
	/* CONTINUE wants a page that is there; a hole gets one by being read. */
	(void)*(volatile char *)at(w->p->ro, page);
	err = uffd_continue(w->p->uffd, addr);
	if (!err)
		memcpy(addr, w->buf, ARENA_PAGE);
	madvise(addr, ARENA_PAGE, MADV_DONTNEED);
	return err;
}

/* --- anonymous memory -------------------------------------------------------------------------*/

static int anon_put(struct storm_worker *w, uint32_t page, const uint64_t *from)
{
	char *addr = at(w->p->ro, page);
	int err = protect(addr, ARENA_PAGE, PROT_READ | PROT_WRITE);

	if (err)
		return err;
	if (from)
		memcpy(addr, from, ARENA_PAGE);
	return protect(addr, ARENA_PAGE, PROT_READ);
}

static int anon_mprotect(struct storm_worker *w, uint32_t page, uint64_t *state)
{
	(void)state;
	return anon_put(w, page, w->buf);
}

/* As a debugger writes: through a mapping that may not be written. */
static int anon_force(struct storm_worker *w, uint32_t page, uint64_t *state)
{
	ssize_t n = pwrite(w->p->mem, w->buf, ARENA_PAGE, (off_t)(uintptr_t)at(w->p->ro, page));

	(void)state;
	return n == ARENA_PAGE ? 0 : n < 0 ? -errno : -EIO;
}

static int anon_dontneed(struct storm_worker *w, uint32_t page, uint64_t *state)
{
	*state = arena_state__zeroed(*state);
	return madvise(at(w->p->ro, page), ARENA_PAGE, MADV_DONTNEED) ? -errno : 0;
}

/* Other memory at the same address, in one step or with a hole in between. */
static int anon_replace(struct storm_worker *w, uint32_t page, uint64_t *state)
{
	char *addr = at(w->p->ro, page);

	*state = arena_state__zeroed(*state);
	while (mmap(addr, ARENA_PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	       MAP_FAILED)
		usleep(RETRY_US);
	if (w->p->kind == STORM_KSM)
		madvise(addr, ARENA_PAGE, MADV_MERGEABLE);
	return w->p->kind == STORM_THP && madvise(addr, ARENA_PAGE, MADV_HUGEPAGE) ? -errno : 0;
}

/* Away, written there, and back. */
static int anon_mremap(struct storm_worker *w, uint32_t page, uint64_t *state)
{
	char *home = at(w->p->ro, page), *away;
	int err;

	(void)state;
	away = mmap(NULL, ARENA_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (away == MAP_FAILED)
		return -errno;
	if (mremap(home, ARENA_PAGE, ARENA_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, away) == MAP_FAILED) {
		err = -errno;
		munmap(away, ARENA_PAGE);
		return err;
	}
	err = protect(away, ARENA_PAGE, PROT_READ | PROT_WRITE);
	if (!err)
		memcpy(away, w->buf, ARENA_PAGE);
	while (mremap(away, ARENA_PAGE, ARENA_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, home) == MAP_FAILED)
		usleep(RETRY_US);
	return err ? err : protect(home, ARENA_PAGE, PROT_READ);
}

static int uffd_wp(struct storm_worker *w, uint32_t page, uint64_t mode)
{
	struct uffdio_writeprotect wp = { .mode = mode };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_WP };

	wp.range.start = (uintptr_t)at(w->p->ro, page);
	wp.range.len = ARENA_PAGE;
	reg.range = wp.range;
	/* What was mapped there anew, or moved, is registered no more. */
	if (ioctl(w->p->uffd, UFFDIO_REGISTER, &reg) && errno != ENOMEM)
		return -errno;
	while (ioctl(w->p->uffd, UFFDIO_WRITEPROTECT, &wp)) {
		if (errno != EAGAIN && errno != ENOMEM)
			return -errno;
		usleep(RETRY_US);
	}
	return 0;
}

static int anon_uffd_wp(struct storm_worker *w, uint32_t page, uint64_t *state)
{
	char *addr = at(w->p->ro, page);
	int err, back;

	(void)state;
	if (w->p->uffd < 0)
		return -ENOSYS;
	err = protect(addr, ARENA_PAGE, PROT_READ | PROT_WRITE);
	if (err)
		return err;
	err = uffd_wp(w, page, UFFDIO_WRITEPROTECT_MODE_WP);
	if (!err) {
		(void)*(volatile char *)addr;
		usleep(wl_rng__below(&w->rng, 3000));
		err = uffd_wp(w, page, 0);
	}
	if (!err)
		memcpy(addr, w->buf, ARENA_PAGE);
	back = protect(addr, ARENA_PAGE, PROT_READ);
	return err ? err : back;
}

/* --- either -----------------------------------------------------------------------------------*/

static int advise(struct storm_worker *w, uint32_t page, int advice)
{
	uint32_t n = w->p->a->pages - page;

	return madvise(at(w->p->ro, page), (size_t)(n < 64 ? n : 64) * ARENA_PAGE, advice) ? -errno : 0;
}

static int both_cold(struct storm_worker *w, uint32_t page)
{
	return advise(w, page, MADV_COLD);
}

static int both_pageout(struct storm_worker *w, uint32_t page)
{
	return advise(w, page, MADV_PAGEOUT);
}

static int both_mbind(struct storm_worker *w, uint32_t page)
{
	unsigned long to = 1UL << (wl_rng__below(&w->rng, 2) ? w->p->st->fast : w->p->st->slow);
	char *addr = at(w->p->ro, page);
	size_t bytes = (size_t)(page + RANGE <= w->p->a->pages ? RANGE : 1) * ARENA_PAGE;
	int err = mbind(addr, bytes, MPOL_PREFERRED, &to, 64, MPOL_MF_MOVE) ? -errno : 0;

	while (mbind(addr, bytes, MPOL_DEFAULT, NULL, 0, 0) && errno == ENOMEM)
		usleep(RETRY_US);
	return err;
}

/* What became of a child; one that a signal ended is a finding, but for what a storm does to it. */
static int wait_child(struct storm_worker *w, pid_t pid, bool executes, unsigned int faults)
{
	struct storm_shared *sh = w->p->st->sh;
	int status;

	while (waitpid(pid, &status, 0) != pid)
		if (errno != EINTR)
			return -errno;
	if (WIFEXITED(status))
		return WEXITSTATUS(status) ? -EIO : 0;
	if (WTERMSIG(status) == SIGKILL)
		return -EINTR;
	/* exec(2) kills what it cannot give memory to any more. */
	if (executes && ((faults & 1) || atomic_load(&sh->faults) != faults))
		return -ENOMEM;
	atomic_store(&sh->died_signal, WTERMSIG(status));
	atomic_fetch_add(&sh->died, 1);
	return -EIO;
}

/* In the child: what was locked at the fork, then, in anonymous memory, a page of its own. */
static int fork_child(struct storm_worker *w, uint32_t page, const uint64_t *state)
{
	struct storm_proc *p = w->p;
	struct arena_finding f;

	for (uint32_t i = 0; i < RANGE; i++) {
		if (arena__check(p->a, page + i, state[i],
				 (const volatile uint64_t *)at(p->ro, page + i), 0, ARENA_WORDS, &f))
			continue;
		storm__found(p->st, p->kind, "fork: child", p->a, &f);
		return 0;
	}
	if (p->kind == STORM_FILE)
		return 0;
	arena__fill(p->a, page, state[0] + 400, w->buf);
	if (anon_put(w, page, w->buf))
		return 1;
	if (!arena__check(p->a, page, state[0] + 400, (const volatile uint64_t *)at(p->ro, page), 0,
			  ARENA_WORDS, &f))
		storm__found(p->st, p->kind, "fork: own copy", p->a, &f);
	return 0;
}

static int both_fork(struct storm_worker *w, uint32_t page)
{
	struct arena *a = w->p->a;
	unsigned int faults = atomic_load(&w->p->st->sh->faults);
	uint64_t state[RANGE];
	pid_t pid;

	page %= a->pages - RANGE;
	if (!arena__try_read_range(a, page, RANGE))
		return -EBUSY;
	for (uint32_t i = 0; i < RANGE; i++)
		state[i] = arena__state(a, page + i);
	pid = fork();
	if (!pid)
		_exit(fork_child(w, page, state));
	/* The child has a copy of anonymous memory: it may be written here meanwhile. */
	if (pid > 0 && w->p->kind != STORM_FILE)
		arena__end_read_range(a, page, RANGE);
	if (pid < 0) {
		arena__end_read_range(a, page, RANGE);
		return -errno;
	}
	if (w->p->kind != STORM_FILE)
		return wait_child(w, pid, false, faults);
	faults = (unsigned int)wait_child(w, pid, false, faults);
	arena__end_read_range(a, page, RANGE);
	return (int)faults;
}

/* Another program looks at the file. */
static int file_exec(struct storm_worker *w, uint32_t page)
{
	struct arena *a = w->p->a;
	unsigned int faults = atomic_load(&w->p->st->sh->faults);
	char spec[256];
	int n, err;
	pid_t pid;

	page %= a->pages - VERIFY_PAGES;
	if (!arena__try_read_range(a, page, VERIFY_PAGES))
		return -EBUSY;
	n = snprintf(spec, sizeof(spec), "%d,%u,%llu", w->p->fd, page, (unsigned long long)a->key);
	for (uint32_t i = 0; i < VERIFY_PAGES; i++)
		n += snprintf(spec + n, sizeof(spec) - (size_t)n, ",%llu",
			      (unsigned long long)arena__state(a, page + i));
	pid = fork();
	if (!pid) {
		execl("/proc/self/exe", "storm", "--verify", spec, (char *)NULL);
		_exit(3);
	}
	err = pid < 0 ? -errno : wait_child(w, pid, true, faults);
	arena__end_read_range(a, page, VERIFY_PAGES);
	return err;
}

/* A wrong word is told by the exit code of 1 and the text on stderr. */
int storm_ops__verify(const char *spec)
{
	struct arena a = { .pages = UINT32_MAX };
	unsigned int fd, first;
	unsigned long long key;
	const char *s = spec;
	const char *map;
	int used;

	if (sscanf(s, "%u,%u,%llu%n", &fd, &first, &key, &used) != 3)
		return 2;
	a.key = key;
	s += used;
	map = mmap(NULL, VERIFY_PAGES * ARENA_PAGE, PROT_READ, MAP_SHARED, (int)fd,
		   (off_t)first * ARENA_PAGE);
	if (map == MAP_FAILED)
		return 3;
	for (uint32_t i = 0; i < VERIFY_PAGES; i++) {
		struct arena_finding f;
		unsigned long long state;

		if (sscanf(s, ",%llu%n", &state, &used) != 1)
			return 2;
		s += used;
		if (arena__check(&a, first + i, state, (const volatile uint64_t *)(map + (size_t)i * ARENA_PAGE),
				 0, ARENA_WORDS, &f))
			continue;
		fprintf(stderr, "storm: exec: page %u word %u is %#llx, must be %#llx\n", f.page, f.word,
			(unsigned long long)f.got, (unsigned long long)f.want);
		abort();
	}
	return 0;
}

static const struct storm_op ops[] = {
	{ "pwrite", 30, ON_FILE, file_pwrite, NULL },
	{ "splice", 8, ON_FILE, file_splice, NULL },
	{ "write-mapping", 20, ON_FILE, file_map, NULL },
	{ "vm-writev", 8, ON_FILE, file_vmwrite, NULL },
	{ "fresh-mapping", 15, ON_FILE, file_fresh, NULL },
	{ "mprotect-mapping", 15, ON_FILE, file_mprotect, NULL },
	{ "punch-hole", 6, ON_FILE, file_punch, NULL },
	{ "punch-half", 10, ON_FILE, file_punch_half, NULL },
	{ "truncate", 3, ON_FILE, NULL, file_truncate },
	{ "uffd-continue", 8, ON_FILE, file_uffd, NULL },
	{ "exec", 2, ON_FILE, NULL, file_exec },
	{ "mprotect", 30, ON_ANON, anon_mprotect, NULL },
	{ "force-write", 15, ON_ANON, anon_force, NULL },
	{ "dontneed", 6, ON_ANON, anon_dontneed, NULL },
	{ "replace", 6, ON_ANON, anon_replace, NULL },
	{ "mremap", 6, ON_ANON, anon_mremap, NULL },
	{ "uffd-wp", 8, ON_PLAIN, anon_uffd_wp, NULL },
	{ "fork", 4, ON_ALL, NULL, both_fork },
	{ "cold", 6, ON_ALL, NULL, both_cold },
	{ "pageout", 4, ON_ALL, NULL, both_pageout },
	{ "mbind", 4, ON_ALL, NULL, both_mbind },
};
_Static_assert(sizeof(ops) / sizeof(ops[0]) <= STORM_TALLIES, "a tally for each operation");

size_t storm_ops__count(void)
{
	return sizeof(ops) / sizeof(ops[0]);
}

const char *storm_ops__name(size_t i)
{
	return ops[i].name;
}

void storm_ops__rewrite(struct storm_worker *w, uint32_t page, uint64_t state)
{
	arena__fill(w->p->a, page, state, w->buf);
	while (w->p->kind == STORM_FILE ? file_pwrite(w, page, &state) : anon_put(w, page, w->buf))
		usleep(RETRY_US);
}

static bool usable(const struct storm_worker *w, size_t i)
{
	return ops[i].kinds >> w->p->kind & 1 && !w->p->st->skip_op[i];
}

static size_t choose(struct storm_worker *w)
{
	uint64_t sum = 0, at;
	size_t i;

	for (i = 0; i < storm_ops__count(); i++)
		sum += usable(w, i) ? ops[i].weight : 0;
	if (!sum)
		return storm_ops__count();
	at = wl_rng__below(&w->rng, sum);
	for (i = 0;; i++) {
		uint64_t weight = usable(w, i) ? ops[i].weight : 0;

		if (at < weight)
			return i;
		at -= weight;
	}
}

void storm_ops__one(struct storm_worker *w)
{
	struct arena *a = w->p->a;
	uint32_t page = (uint32_t)wl_rng__below(&w->rng, a->pages);
	size_t i = choose(w);
	uint64_t state;
	int err;

	if (i == storm_ops__count())
		return;
	if (ops[i].other) {
		err = ops[i].other(w, page);
		if (err != -EBUSY)
			storm__count(&w->p->st->sh->op[i], err);
		return;
	}
	if (!arena__try_write(a, page))
		return;
	state = arena_state__next(arena__state(a, page));
	arena__fill(a, page, state, w->buf);
	err = ops[i].write(w, page, &state);
	if (err) {
		state = arena_state__next(state);
		storm_ops__rewrite(w, page, state);
	}
	arena__end_write(a, page, state);
	storm__count(&w->p->st->sh->op[i], err);
}
