// SPDX-License-Identifier: GPL-2.0
/* Puts events that user space has made into a ring, as the probes do with theirs. */
#include "bpf/kernel_types.h"
#include <bpf/bpf_helpers.h>
#include "bpf/events.h"

char LICENSE[] SEC("license") = "GPL";

#define FILL_MAX	65536	/* events that wait in the map */
#define FILL_RUN	1024	/* of these, in one run of the program */

enum { BPF_MAP_MMAPABLE = 1024, RING_NO_WAKEUP = 1 };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_MAP_MMAPABLE);
	__uint(max_entries, FILL_MAX);
	__type(key, __u32);
	__type(value, struct event);
} made SEC(".maps");

/* User space puts the ring of the probes here. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

/* Arguments: the first event, and their number. Returns how many found no room. */
SEC("raw_tp")
int fill(unsigned long long *ctx)
{
	__u32 first = ctx[0], nr = ctx[1], i, key;
	struct event *from, *to;
	int lost = 0;

	for (i = 0; i < FILL_RUN && i < nr; i++) {
		key = first + i;
		from = bpf_map_lookup_elem(&made, &key);
		to = from ? bpf_ringbuf_reserve(&ring, sizeof(*to), 0) : 0;
		if (!to) {
			lost++;
			continue;
		}
		*to = *from;
		bpf_ringbuf_submit(to, RING_NO_WAKEUP);
	}
	return lost;
}
