/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * bsf: what the encoder and the decoder of the mixed Binary and String Format both know.
 *
 * BSF is the published record of one context switch or wakeup (docs/format/bsf.md): the values that
 * are long and often repeat are decimal text in a string section, and are left out while they
 * repeat; everything else sits in a fixed binary header behind it. The header comes last, so that
 * the writer need not know the lengths before it has written the texts, and the reader starts at
 * the tail.
 */
#ifndef KISEKI_WIRE_BSF_H
#define KISEKI_WIRE_BSF_H

#include "wire/types.h"

#define BSF_VERSION 1

#define BSF_COMM_LEN 16U	    /* bytes of a name */
#define BSF_CPU_MAX 999U	    /* three digits */
#define BSF_SECS_MAX 9999999999ULL  /* ten digits */
#define BSF_USEC_MAX 999999U	    /* six digits */
#define BSF_STATE_MAX 7U	    /* three bits */
#define BSF_TYPE_MAX 3U		    /* two bits */
#define BSF_COMM_EMPTY 31U	    /* comm length that says: the name is the empty text */
#define BSF_HEADER_BITS 139U	    /* 5 bits of zeros follow */
#define BSF_HEADER_LEN 18U	    /* bytes */
#define BSF_STRING_MAX 38U	    /* 16 + 3 + 10 + 6 + 3 */
#define BSF_RECORD_MAX 56U	    /* BSF_STRING_MAX + BSF_HEADER_LEN */
#define BSF_BLOCK_MAX 65536U	    /* bytes of records that are decoded at once */
#define BSF_BLOCK_RECORDS_MAX 3640U /* BSF_BLOCK_MAX / BSF_HEADER_LEN */

/* The first two are the published ones; the others tell a wakeup's three kernel events apart. */
enum bsf_type {
	BSF_SWITCH = 0,	    /* ==> */
	BSF_WAKEUP = 1,	    /* +   */
	BSF_WAKING = 2,	    /* +w  */
	BSF_WAKEUP_NEW = 3, /* +n  */
};

enum bsf_state {
	BSF_STATE_R = 0,
	BSF_STATE_S = 1,
	BSF_STATE_D = 2,
	BSF_STATE_T = 3,
	BSF_STATE_TRACED = 4, /* t */
	BSF_STATE_Z = 5,
	BSF_STATE_X = 6,
	BSF_STATE_I = 7,
};

/* The thirteen published fields. `comm` is the name of the task that ran, whose id is entry_pid;
 * it is padded with NULs. Of a switch, prev is that task and next the one that runs now; of a
 * wakeup, prev is the waker and next the woken task. */
struct bsf_record {
	uint64_t secs;
	uint32_t usec_rem;
	int32_t entry_pid;
	int32_t prev_pid;
	int32_t next_pid;
	uint16_t cpu;
	uint16_t next_cpu;
	uint8_t prev_prio;
	uint8_t next_prio;
	uint8_t prev_state; /* enum bsf_state */
	uint8_t next_state;
	uint8_t entry_type; /* enum bsf_type */
	char comm[BSF_COMM_LEN];
};

/* Which texts a record leaves out because they are those of the record before it. */
enum bsf_text {
	BSF_TEXT_COMM = 1 << 0,
	BSF_TEXT_CPU = 1 << 1,
	BSF_TEXT_SECS = 1 << 2,
	BSF_TEXT_USEC = 1 << 3,
	BSF_TEXT_NEXT_CPU = 1 << 4,
};

/* A line of the intermediate log. A set bit in `missing` is the marker `_` of the paper: the field
 * of `rec` is not known yet. It is a bit and not a text, so a task named "_" is no exception. */
struct bsf_entry {
	struct bsf_record rec;
	uint8_t missing; /* enum bsf_text */
};

#endif
