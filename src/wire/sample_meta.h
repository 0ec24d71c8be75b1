/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sample_meta: what a profile says about itself: how it was sampled, and what lay where in whom
 * (docs/format/wire.md, section 7; items META_SAMPLING, META_MAPPED, META_LIFE, META_KERNEL_NAMES, META_PACE).
 *
 * A process may map, execute and end while it is sampled, and its number may be used again. So each row has the tick
 * from which on it holds: a mapping until another lies over it, or the process executes or ends.
 */
#ifndef KISEKI_WIRE_SAMPLE_META_H
#define KISEKI_WIRE_SAMPLE_META_H

#include "wire/types.h"

#define SAMPLE_BUILD_ID_MAX 20U

enum sample_collector {
	SAMPLE_BY_PERF = 0,
	SAMPLE_BY_MODULE = 1,
	SAMPLE_BY_BPF = 2,
};

/* What ends the interval between two samples. */
enum sample_method {
	SAMPLE_CPU_CLOCK = 0,
	SAMPLE_CYCLES = 1, /* weights are cycles */
	SAMPLE_TIMER = 2,
};

/* Whose reasons of exits are in the records. */
enum sample_exits {
	SAMPLE_EXITS_NONE = 0, /* exits are not recorded */
	SAMPLE_EXITS_ARM64 =
		1, /* 0 interrupt, 1 system error, 256 + exception class: trap, detail: syndrome */
	SAMPLE_EXITS_SVM = 2,
	SAMPLE_EXITS_VMX = 3,
};

enum sample_has {
	SAMPLE_HAS_SWITCHES = 1,
	SAMPLE_HAS_GUESTS = 2,
	SAMPLE_HAS_EXITS = 4,
	SAMPLE_HAS_CHAINS = 8,
	SAMPLE_HAS_WHOLE = 16, /* all CPUs, not some processes */
};

struct sample_sampling {
	uint64_t period;   /* in units of the weights; the mean, if it is jittered */
	uint32_t jitter;   /* percent of the period, either way */
	uint8_t collector; /* enum sample_collector */
	uint8_t method;	   /* enum sample_method */
	uint8_t exits;	   /* enum sample_exits */
	uint32_t has;	   /* enum sample_has */
};

/* What a recorder does from a moment on. */
enum sample_pace_what {
	SAMPLE_PACE_GOES = 0,	  /* it samples, at this period */
	SAMPLE_PACE_PAUSES = 1,	  /* it does not, as was asked for */
	SAMPLE_PACE_STOPPED = 2,  /* it was told to end */
	SAMPLE_PACE_COMPLETE = 3, /* it ended: all that was asked for is recorded */
	SAMPLE_PACE_WHATS = 4,
};

struct sample_pace_row {
	uint64_t tick;	 /* from here on */
	uint8_t what;	 /* enum sample_pace_what */
	uint64_t period; /* as sample_sampling has it; 0: not known, or it does not go */
};

struct sample_mapping {
	int32_t pid;
	uint64_t tick; /* since when */
	uint64_t from, to, offset;
	uint8_t build_id[SAMPLE_BUILD_ID_MAX];
	uint8_t build_id_len; /* 0: not known */
	const char *path;     /* borrowed, not terminated */
	uint32_t path_len;
};

enum sample_life {
	SAMPLE_LIFE_START =
		0, /* made by `parent`: it has the mappings of it, unless it is a thread */
	SAMPLE_LIFE_EXEC = 1, /* its mappings are gone */
	SAMPLE_LIFE_END = 2,
};

struct sample_life_row {
	int32_t pid, parent;
	uint64_t tick;
	uint8_t what;	  /* enum sample_life */
	const char *comm; /* borrowed; of START and EXEC */
	uint32_t comm_len;
};

/* A function of the kernel in whose range a sample was. */
struct sample_kernel_name {
	uint64_t from, to;
	const char *name; /* with " [module]" behind it, as in /proc/kallsyms with a blank */
	uint32_t name_len;
};

/* What a guest's kernel keeps for a thread, as the host can see it in registers. */
struct sample_table_row {
	int32_t pid, tid; /* in the guest */
	uint64_t tick;	  /* since when, on the host's clock */
	bool is_end;	  /* not any more */
	uint64_t
		table; /* physical base of its page table, without ASID, PCID and the like; 0: a kernel thread */
	uint64_t
		task; /* arm64: address of its task struct; x86: of its kernel stack; 0: not known */
	const char *comm; /* borrowed */
	uint32_t comm_len;
};

#endif
