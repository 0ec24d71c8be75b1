/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * kernel: the few fields of the kernel's structs that the programs read, and the few numbers of its
 * BPF interface that they use. For programs only.
 *
 * preserve_access_index makes the compiler note each access, and the loader put in where the field
 * lies in the kernel that runs (CO-RE). So nothing of these declarations but names and types need
 * be true, and a build needs no kernel's headers and no BTF. Fields that came or went have a struct
 * with a suffix behind three underscores, which the loader ignores.
 */
#ifndef KISEKI_DEVICE_BPF_KERNEL_H
#define KISEKI_DEVICE_BPF_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

/* The words in which libbpf declares the helpers. */
typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef uint64_t __u64;
typedef int16_t __s16;
typedef int32_t __s32;
typedef int64_t __s64;
typedef uint16_t __be16;
typedef uint32_t __be32;
typedef uint32_t __wsum;

enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_ANY = 0,
	BPF_F_MMAPABLE = 1 << 10,
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
};

#define KERNEL_STRUCT __attribute__((preserve_access_index))

struct thread_info {
	uint32_t cpu;
} KERNEL_STRUCT;

/* Where a CPU's preempt count is kept: with the task that it runs, on arm64 beside a flag, elsewhere alone. */
struct thread_info___arm64 {
	struct {
		uint32_t count;
	} preempt;
} KERNEL_STRUCT;

struct task_struct___arm64 {
	struct thread_info___arm64 thread_info;
} KERNEL_STRUCT;

struct thread_info___count {
	uint32_t preempt_count;
} KERNEL_STRUCT;

struct task_struct___count {
	struct thread_info___count thread_info;
} KERNEL_STRUCT;

/* From 5.11 on a program has its task with its type, and can load from it as from its arguments. */
enum bpf_func_id___typed {
	BPF_FUNC_get_current_task_btf___typed = 158,
};

struct hlist_node {
	struct hlist_node *next;
} KERNEL_STRUCT;

struct hlist_head {
	struct hlist_node *first;
} KERNEL_STRUCT;

struct signal_struct {
	int16_t oom_score_adj;
} KERNEL_STRUCT;

struct task_struct {
	struct thread_info thread_info;
	uint32_t flags;
	int32_t pid;
	int32_t tgid;
	void *mm;
	struct hlist_head preempt_notifiers;
	int32_t prio;
	int32_t normal_prio;
	int32_t exit_state;
	struct signal_struct *signal;
	char comm[16];
} KERNEL_STRUCT;

/* From 5.14 on. */
struct task_struct___state {
	uint32_t __state;
} KERNEL_STRUCT;

/* Before it. */
struct task_struct___old_state {
	long state;
} KERNEL_STRUCT;

/* Until 5.15 the CPU was not in thread_info. */
struct task_struct___cpu {
	uint32_t cpu;
} KERNEL_STRUCT;

/* And on 32-bit ARM thread_info was at the base of the stack. */
struct task_struct___stack {
	void *stack;
} KERNEL_STRUCT;

/* A kernel with PREEMPT_RT counts softirqs there. */
struct task_struct___rt {
	int32_t softirq_disable_cnt;
} KERNEL_STRUCT;

struct linux_binprm {
	const char *filename;
} KERNEL_STRUCT;

#endif
