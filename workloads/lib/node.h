/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NUMA nodes of this machine, up to 64, as bit masks. */
#ifndef WL_NODE_H
#define WL_NODE_H

#include <stddef.h>
#include <stdint.h>

/* "0-1,3" -> 0b1011. -EINVAL for garbage, -ERANGE for a node above 63; "" is no node. */
int wl_node__parse_list(const char *s, uint64_t *mask);
/* Masks of the nodes with memory and with CPUs. -ENOSYS on a kernel without NUMA. */
int wl_node__masks(uint64_t *memory, uint64_t *cpu);
/*
 * The two nodes to work on: fast is the first with CPUs and memory, slow the first other one with
 * memory, one without CPUs before one with. -ENODEV if fewer than two nodes have memory.
 */
int wl_node__pick(uint64_t memory, uint64_t cpu, int *fast, int *slow);
/*
 * wl_node__masks() and wl_node__pick(), where *fast and *slow are -1 or the user's choice. Prints
 * the error; returns 0 or the exit code.
 */
int wl_node__choose(int *fast, int *slow);
/* Moves all that this process has on one node to the other: pages that stayed, or -errno. */
long wl_node__move(int from, int to);
/* How many of a range's pages are on the node, or -errno. */
long wl_node__count(const void *base, size_t bytes, int node);

#endif /* WL_NODE_H */
