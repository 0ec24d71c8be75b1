/* SPDX-License-Identifier: MIT */
/*
 * perf_abi: numbers of the kernel's perf interface that are needed here. They never change; a C library that comes
 * without the kernel's headers, as small ones do, can so be used as it is.
 */
#ifndef KISEKI_DEVICE_PROFILE_PERF_ABI_H
#define KISEKI_DEVICE_PROFILE_PERF_ABI_H

#include <stdint.h>
#include <sys/ioctl.h>

/* What perf_event_open() is given; its first 112 bytes, which kernels since 4.8 know. */
struct perf_attr {
	uint32_t type;
	uint32_t size;
	uint64_t config;
	uint64_t period; /* or the frequency */
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t flags; /* perf_attr_flag() */
	uint32_t watermark;
	uint32_t bp_type;
	uint64_t config1, config2;
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint32_t sample_stack_user;
	int32_t clock_id;
	uint64_t sample_regs_intr;
	uint32_t aux_watermark;
	uint16_t max_stack;
	uint16_t zero;
};

_Static_assert(sizeof(struct perf_attr) == 112, "the kernel's own layout");

/* One of the kernel's bit fields, which start at the other end on big-endian machines. */
static inline uint64_t perf_attr_flag(unsigned bit)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return 1ULL << (63 - bit);
#else
	return 1ULL << bit;
#endif
}

enum perf_abi_flag {
	PERF_FLAG_DISABLED = 0,
	PERF_FLAG_INHERIT = 1,
	PERF_FLAG_EXCLUDE_KERNEL = 5,
	PERF_FLAG_EXCLUDE_HV = 6,
	PERF_FLAG_MMAP = 8,
	PERF_FLAG_COMM = 9,
	PERF_FLAG_FREQ = 10,
	PERF_FLAG_ENABLE_ON_EXEC = 12,
	PERF_FLAG_TASK = 13,
	PERF_FLAG_WATERMARK = 14,
	PERF_FLAG_SAMPLE_ID_ALL = 18,
	PERF_FLAG_EXCLUDE_CHAIN_KERNEL = 21,
	PERF_FLAG_MMAP2 = 23,
	PERF_FLAG_COMM_EXEC = 24,
	PERF_FLAG_USE_CLOCK_ID = 25,
	PERF_FLAG_SWITCHES = 26,
	PERF_FLAG_BUILD_ID = 34,
};

enum perf_abi_event {
	PERF_TYPE_HW = 0,
	PERF_TYPE_SW = 1,
	PERF_HW_CYCLES = 0,
	PERF_SW_CPU_CLOCK = 0,
	PERF_SW_NOTHING = 9, /* it counts nothing, and tells of tasks and mappings */
};

enum perf_abi_sample {
	PERF_HAS_IP = 1,
	PERF_HAS_TID = 2,
	PERF_HAS_TIME = 4,
	PERF_HAS_CHAIN = 32,
	PERF_HAS_CPU = 128,
	PERF_HAS_PERIOD = 256,
};

enum perf_abi_record {
	PERF_MMAP = 1,
	PERF_LOST = 2,
	PERF_COMM = 3,
	PERF_EXIT = 4,
	PERF_THROTTLE = 5,
	PERF_UNTHROTTLE = 6,
	PERF_FORK = 7,
	PERF_SAMPLE = 9,
	PERF_MMAP2 = 10,
	PERF_LOST_SAMPLES = 13,
	PERF_SWITCH = 14,
	PERF_SWITCH_WIDE = 15,
};

enum perf_abi_misc {
	PERF_MISC_MODE = 7,
	PERF_MISC_KERNEL = 1,
	PERF_MISC_USER = 2,
	PERF_MISC_GUEST_KERNEL = 4,
	PERF_MISC_GUEST_USER = 5,
	PERF_MISC_EXEC = 1 << 13,     /* of a COMM */
	PERF_MISC_OUT = 1 << 13,      /* of a switch */
	PERF_MISC_PREEMPT = 1 << 14,  /* of a switch out */
	PERF_MISC_BUILD_ID = 1 << 14, /* of an MMAP2 */
};

#define PERF_IOC_ENABLE _IO('$', 0)
#define PERF_IOC_DISABLE _IO('$', 1)
#define PERF_IOC_PERIOD _IOW('$', 4, uint64_t)
#define PERF_IOC_OUTPUT _IO('$', 5)
#define PERF_IOC_PROGRAM _IOW('$', 8, uint32_t)

/* Entries of a chain that say whose addresses follow; they are from PERF_CONTEXT_FIRST on. */
#define PERF_CONTEXT_KERNEL_MARK ((uint64_t)-128)
#define PERF_CONTEXT_USER_MARK ((uint64_t)-512)
#define PERF_CONTEXT_FIRST ((uint64_t)-4095)

/* Where in the first page of a ring. */
#define PERF_PAGE_HEAD 1024U
#define PERF_PAGE_TAIL 1032U

#define PERF_RECORD_HEAD 8U /* bytes: type, misc, length */
#define PERF_RECORD_MOST 65536U
#define PERF_OPEN_CLOEXEC 8UL

#endif
