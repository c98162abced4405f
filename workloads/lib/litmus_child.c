// SPDX-License-Identifier: GPL-2.0-or-later
/* The second process of a litmus test: its flushes do not concern the reader's. */
#include <errno.h>
#include <fcntl.h>
#include <numaif.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/lib/litmus.h"
#include "workloads/lib/team.h"

/*
 * Locked here, the page under test would stay where it is; not locked, what is the child's own
 * would be demoted with it, be refused, and the flush for that would hide a missing one.
 */
static int settle(struct litmus *l, bool sharing)
{
	unsigned int cpu = litmus__cpus() > LITMUS_CPU_OTHER ? LITMUS_CPU_OTHER : LITMUS_CPU_DRIVER;
	int err = litmus__pin(cpu);

	if (err)
		return err;
	if (!sharing)
		return munmap(l->map, l->bytes) || mlockall(MCL_CURRENT) ? -errno : 0;
	/* Not MCL_CURRENT alone, which writes to private memory and so makes a copy of it. */
	return mlockall(MCL_CURRENT | MCL_ONFAULT) || munlock(l->map, l->bytes) ? -errno : 0;
}

static int child_main(struct litmus *l, bool sharing, litmus_prepare_fn *prepare,
		      litmus_write_fn *fn, int from, int to)
{
	int err = settle(l, sharing);
	uint64_t value;

	if (!err && prepare)
		err = prepare(l);
	if (write(to, &err, sizeof(err)) != sizeof(err))
		return 1;
	while (read(from, &value, sizeof(value)) == sizeof(value)) {
		err = fn(l, value);
		if (write(to, &err, sizeof(err)) != sizeof(err))
			return 1;
	}
	return 0;	/* the other end was closed: the round is over */
}

static int start(struct litmus *l, bool sharing, litmus_prepare_fn *prepare, litmus_write_fn *fn)
{
	int down[2], up[2];

	if (pipe2(down, O_CLOEXEC))
		return -errno;
	if (pipe2(up, O_CLOEXEC))
		return -errno;
	atomic_store(&l->sh->ready, false);
	atomic_store(&l->sh->go, false);
	atomic_store(&l->sh->over, false);
	l->child = fork();
	if (l->child < 0)
		return -errno;
	if (!l->child) {
		close(down[1]);
		_exit(child_main(l, sharing, prepare, fn, down[0], up[1]));
	}
	close(down[0]);
	close(up[1]);
	l->to_child = down[1];
	l->from_child = up[0];
	return litmus__answer(l);
}

int litmus__child(struct litmus *l, litmus_prepare_fn *prepare, litmus_write_fn *fn)
{
	return start(l, false, prepare, fn);
}

int litmus__child_sharing(struct litmus *l, litmus_write_fn *fn)
{
	return start(l, true, NULL, fn);
}

int litmus__ask(struct litmus *l, uint64_t value)
{
	return write(l->to_child, &value, sizeof(value)) == sizeof(value) ? 0 : -errno;
}

int litmus__answer(struct litmus *l)
{
	int err;

	return read(l->from_child, &err, sizeof(err)) == sizeof(err) ? err : -EIO;
}

int litmus__write_by_child(struct litmus *l, uint64_t value)
{
	int err = litmus__ask(l, value);

	return err ? err : litmus__answer(l);
}

int litmus__await(const atomic_bool *flag)
{
	double limit = wl_now() + 60;

	while (!atomic_load(flag))
		if (wl_now() > limit)
			return -ETIMEDOUT;
	return 0;
}

int litmus__end_child(struct litmus *l)
{
	pid_t child = l->child;
	int status;

	if (!child)
		return 0;
	l->child = 0;
	close(l->to_child);
	close(l->from_child);
	if (waitpid(child, &status, 0) != child)
		return -errno;
	return status ? -EIO : 0;
}
