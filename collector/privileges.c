// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/privileges.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

const struct privilege privileges[] = {
	{ "CAP_BPF", CAP_BPF, true, "loading maps and programs" },
	{ "CAP_PERFMON", CAP_PERFMON, true, "programs that trace, and kprobes" },
	{ "CAP_SYS_ADMIN", CAP_SYS_ADMIN, false, "run time of the probes' bodies (body_ns)" },
	{ "CAP_DAC_OVERRIDE", CAP_DAC_OVERRIDE, false,
	  "/proc/sys/vm/stat_refresh and tracefs for others than root" },
};
const size_t nr_privileges = NR(privileges);

/* The kernel has no wrapper for these in the C library. */
static int caps__get(struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3])
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(SYS_capget, &header, data) ? -errno : 0;
}

static int caps__set(const struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3])
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

static bool in_effect(const struct __user_cap_data_struct *data, unsigned int nr)
{
	return data[nr / 32].effective >> (nr % 32) & 1;
}

bool privileges__has(unsigned int nr)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (caps__get(data))
		return false;
	return in_effect(data, nr) ||
	       ((nr == CAP_BPF || nr == CAP_PERFMON) && in_effect(data, CAP_SYS_ADMIN));
}

int privileges__drop(void)
{
	/* Where the database is, and to signal a workload that has become somebody else. */
	const uint32_t keep = 1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH |
			      1U << CAP_FOWNER | 1U << CAP_CHOWN | 1U << CAP_KILL;
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	int err = caps__get(data);

	if (err)
		return err;
	data[0].effective &= keep;
	data[0].permitted &= keep;
	data[0].inheritable = 0;
	data[1] = (struct __user_cap_data_struct){ 0 };
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return caps__set(data);
}
