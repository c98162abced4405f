// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs that read the clock and do nothing else: less no program can do that times a call. */
#include "bpf/kernel_types.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("fentry/do_wp_page")
int clock_entry(void *ctx)
{
	bpf_ktime_get_ns();
	return 0;
}

SEC("fexit/do_wp_page")
int clock_exit(void *ctx)
{
	bpf_ktime_get_ns();
	return 0;
}
