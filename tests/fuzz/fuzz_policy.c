// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/policy.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct policy *policy = NULL;
	int fd = memfd_create("policy", MFD_CLOEXEC);
	char path[48], *msg = NULL;

	PROMISE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* A policy, or one line that says why not. */
	if (policy__load(path, &policy, &msg)) {
		PROMISE(!policy && msg && *msg);
		PROMISE(!strchr(msg, '\n'));
	} else {
		PROMISE(policy && !msg);
	}
	policy__free(policy);
	free(msg);
	close(fd);
	return 0;
}
