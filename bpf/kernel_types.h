/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel types that the programs use, and no more, written by hand so that the object builds
 * where no BTF is. Fields are found by CO-RE relocation: only names matter here, not offsets. It
 * stands where a generated vmlinux.h would, and defines its guard for bpf_tracing.h.
 */
#ifndef MIGRC_KERNEL_TYPES_H
#define MIGRC_KERNEL_TYPES_H
#define __VMLINUX_H__

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;
typedef _Bool bool;
#define true 1
#define false 0

/* Of include/uapi/linux/bpf.h: constants that never change. */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
};

enum {
	BPF_F_MMAPABLE = 1024,
};

enum {
	BPF_RB_NO_WAKEUP = 1,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct cpumask {
	unsigned long bits[1];
};

/* x86's; arm64's is empty, which bpf_core_field_exists() finds out. */
struct arch_tlbflush_unmap_batch {
	struct cpumask cpumask;
};

struct task_struct {
	char comm[16];
};

/* The CPUs that may have translations of it in their TLB. */
struct mm_struct {
	unsigned long cpu_bitmap[1];
};

/* Its fields are the tracepoint's arguments in their order. Before 6.6 without the last one. */
struct trace_event_raw_mm_migrate_pages {
	unsigned long thp_split;
	unsigned long large_folio_split;
};

/* Values by name: bpf_core_enum_value(). */
enum tlb_flush_reason {
	TLB_REMOTE_SEND_IPI = 4,
};

enum migrc_trigger {
	MIGRC_BY_FLUSH = 0,
	MIGRC_BY_FAULT = 1,
	MIGRC_BY_ALLOC = 3,
};

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

#pragma clang attribute pop

#endif /* MIGRC_KERNEL_TYPES_H */
