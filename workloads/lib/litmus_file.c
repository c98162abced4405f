// SPDX-License-Identifier: GPL-2.0-or-later
/* Litmus tests that write page cache without a PTE, or through one of pinned memory. */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/udmabuf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "workloads/lib/litmus.h"

#define AT	((off_t)(LITMUS_WORD * sizeof(uint64_t)))

static int short_of(ssize_t n)
{
	return n == sizeof(uint64_t) ? 0 : n < 0 ? -errno : -EIO;
}

static int write_pwritev(struct litmus *l, uint64_t value)
{
	uint32_t *half = (uint32_t *)(void *)&value;
	struct iovec halves[2] = { { &half[0], sizeof(*half) }, { &half[1], sizeof(*half) } };

	return short_of(pwritev(l->fd, halves, 2, AT));
}

static int write_splice(struct litmus *l, uint64_t value)
{
	off_t at = AT;
	int p[2], err;

	if (pipe(p))
		return -errno;
	err = short_of(write(p[1], &value, sizeof(value)));
	if (!err)
		err = short_of(splice(p[0], NULL, l->fd, &at, sizeof(value), 0));
	close(p[0]);
	close(p[1]);
	return err;
}

/* ---- copy_file_range(2) -------------------------------------------------------------------- */

static int begin_copy(struct litmus *l)
{
	l->other_fd = memfd_create("litmus-source", MFD_CLOEXEC);
	return l->other_fd < 0 || ftruncate(l->other_fd, (off_t)l->page) ? -errno : 0;
}

static int write_copy(struct litmus *l, uint64_t value)
{
	off_t from = AT, to = AT;
	int err = short_of(pwrite(l->other_fd, &value, sizeof(value), AT));

	if (err)
		return err;
	return short_of(copy_file_range(l->other_fd, &from, l->fd, &to, sizeof(value), 0));
}

static int end_other_fd(struct litmus *l)
{
	return close(l->other_fd) ? -errno : 0;
}

/* ---- io_uring, by its system calls alone --------------------------------------------------- */

static const char *lacks_io_uring(struct litmus *l)
{
	struct io_uring_params p = { 0 };
	long fd = syscall(SYS_io_uring_setup, 1, &p);

	(void)l;
	if (fd < 0)
		return errno == ENOSYS ? "CONFIG_IO_URING" : "io_uring (kernel.io_uring_disabled)";
	close((int)fd);
	return NULL;
}

static int begin_ring(struct litmus *l)
{
	struct io_uring_params p = { 0 };
	struct litmus_ring *r = &l->ring;
	size_t sq, cq;

	r->fd = (int)syscall(SYS_io_uring_setup, 1, &p);
	if (r->fd < 0)
		return -errno;
	if (!(p.features & IORING_FEAT_SINGLE_MMAP))
		return -EOPNOTSUPP;
	sq = p.sq_off.array + p.sq_entries * sizeof(uint32_t);
	cq = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
	r->rings_bytes = sq > cq ? sq : cq;
	r->sqes_bytes = p.sq_entries * sizeof(struct io_uring_sqe);
	r->rings = mmap(NULL, r->rings_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			r->fd, IORING_OFF_SQ_RING);
	r->sqes = mmap(NULL, r->sqes_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		       r->fd, IORING_OFF_SQES);
	if (r->rings == MAP_FAILED || r->sqes == MAP_FAILED)
		return -errno;
	r->sq_tail = p.sq_off.tail;
	r->sq_mask = p.sq_off.ring_mask;
	r->sq_array = p.sq_off.array;
	r->cq_head = p.cq_off.head;
	r->cq_mask = p.cq_off.ring_mask;
	r->cqes = p.cq_off.cqes;
	return 0;
}

static uint32_t *ring_u32(struct litmus *l, unsigned int at)
{
	return (uint32_t *)(void *)(l->ring.rings + at);
}

static int write_ring(struct litmus *l, uint64_t value)
{
	uint32_t tail = *ring_u32(l, l->ring.sq_tail), slot = tail & *ring_u32(l, l->ring.sq_mask);
	struct io_uring_sqe *sqe = (struct io_uring_sqe *)(void *)l->ring.sqes + slot;
	uint32_t head = *ring_u32(l, l->ring.cq_head);
	struct io_uring_cqe *cqe = (struct io_uring_cqe *)(void *)(l->ring.rings + l->ring.cqes) +
		(head & *ring_u32(l, l->ring.cq_mask));
	int res;

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_WRITE;
	sqe->fd = l->fd;
	sqe->addr = (uintptr_t)&value;
	sqe->len = sizeof(value);
	sqe->off = (uint64_t)AT;
	ring_u32(l, l->ring.sq_array)[slot] = slot;
	__atomic_store_n(ring_u32(l, l->ring.sq_tail), tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, l->ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		return -errno;
	res = __atomic_load_n(&cqe->res, __ATOMIC_ACQUIRE);
	__atomic_store_n(ring_u32(l, l->ring.cq_head), head + 1, __ATOMIC_RELEASE);
	return res == sizeof(value) ? 0 : res < 0 ? res : -EIO;
}

static int end_ring(struct litmus *l)
{
	munmap(l->ring.rings, l->ring.rings_bytes);
	munmap(l->ring.sqes, l->ring.sqes_bytes);
	return close(l->ring.fd) ? -errno : 0;
}

/* ---- truncation ----------------------------------------------------------------------------- */

static int punch(struct litmus *l, off_t from, off_t bytes)
{
	int how = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

	return fallocate(l->fd, how, from, bytes) ? -errno : 0;
}

/* Zeroes a part of the page, with the word in it, in place. */
static int write_punch(struct litmus *l, uint64_t value)
{
	(void)value;
	return punch(l, 64, (off_t)l->page - 128);
}

/* The hole begins in the page and ends in the last one: whole pages between. */
static int write_punch_large(struct litmus *l, uint64_t value)
{
	(void)value;
	return punch(l, 64, (off_t)l->bytes - 128);
}

/* The page itself goes. */
static int write_punch_page(struct litmus *l, uint64_t value)
{
	(void)value;
	return punch(l, 0, (off_t)l->page);
}

static int write_truncate(struct litmus *l, uint64_t value)
{
	(void)value;
	return ftruncate(l->fd, 64) || ftruncate(l->fd, (off_t)l->bytes) ? -errno : 0;
}

/* ---- memfd_pin_folios(), as udmabuf calls it ------------------------------------------------ */

static const char *lacks_udmabuf(struct litmus *l)
{
	(void)l;
	return access("/dev/udmabuf", R_OK | W_OK) ? "CONFIG_UDMABUF" : NULL;
}

static int begin_pin(struct litmus *l)
{
	return fcntl(l->fd, F_ADD_SEALS, F_SEAL_SHRINK) ? -errno : 0;
}

/* The buffer's mapping leads to the pinned page without a look at what is marked. */
static int write_pinned(struct litmus *l, uint64_t value)
{
	struct udmabuf_create what = { .memfd = (uint32_t)l->fd, .flags = UDMABUF_FLAGS_CLOEXEC,
				       .size = l->page };
	int fd = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	l->other_fd = ioctl(fd, UDMABUF_CREATE, &what);
	if (l->other_fd < 0)
		err = -errno;
	close(fd);
	if (err)
		return err;
	l->other = mmap(NULL, l->page, PROT_READ | PROT_WRITE, MAP_SHARED, l->other_fd, 0);
	if (l->other == MAP_FAILED)
		return -errno;
	((volatile uint64_t *)l->other)[LITMUS_WORD] = value;
	return 0;
}

static int unpin(struct litmus *l)
{
	int err = munmap(l->other, l->page) ? -errno : 0;

	close(l->other_fd);
	return err;
}

const struct litmus_test litmus_file_tests[] = {
	{ .name = "pwrite", .write = litmus__pwrite, .hooks = LITMUS_BIT(LITMUS_SHMEM) },
	{ .name = "pwritev", .write = write_pwritev, .hooks = LITMUS_BIT(LITMUS_SHMEM) },
	{ .name = "splice", .write = write_splice, .hooks = LITMUS_BIT(LITMUS_SHMEM) },
	{ .name = "copy-file-range", .begin = begin_copy, .write = write_copy, .end = end_other_fd,
	  .hooks = LITMUS_BIT(LITMUS_SHMEM) },
	{ .name = "io-uring", .lacks = lacks_io_uring, .begin = begin_ring, .write = write_ring,
	  .end = end_ring, .hooks = LITMUS_BIT(LITMUS_SHMEM) },
	{ .name = "private-reader", .flags = LITMUS_PRIVATE, .write = litmus__pwrite,
	  .hooks = LITMUS_BIT(LITMUS_SHMEM) },
	{ .name = "punch-part", .flags = LITMUS_ZEROES, .write = write_punch,
	  .hooks = LITMUS_BIT(LITMUS_TRUNCATE) },
	{ .name = "punch-large", .flags = LITMUS_ZEROES, .pages = 64, .write = write_punch_large,
	  .why = "whole pages go as well, and zapping those flushes" },
	{ .name = "punch-page", .flags = LITMUS_ZEROES, .write = write_punch_page,
	  .why = "zapping flushes" },
	{ .name = "truncate", .flags = LITMUS_ZEROES, .write = write_truncate,
	  .hooks = LITMUS_BIT(LITMUS_TRUNCATE) },
	{ .name = "pin", .lacks = lacks_udmabuf, .begin = begin_pin, .write = write_pinned,
	  .cleanup = unpin, .hooks = LITMUS_BIT(LITMUS_PIN) },
	{ 0 }
};
