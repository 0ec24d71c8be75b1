/* SPDX-License-Identifier: MIT */
/*
 * memory: all that must outlive the agent, in one mapped file of a fixed size.
 *
 *	page 0     what the file is; the mark, twice; the runs; words of the sources
 *	page 1     the configurations of the current run and of the one before it or after it
 *	           a checkpoint for the description and for each CPU, twice; where there are rows of
 *	           threads, also for the description of the function run
 *	           heads of the staging slots, then the slots, whole pages of the kernel's ring
 *	           the spool's ring
 *	           a row for each thread of the function run
 *
 * The mark is the root: where the ring's entries start and end, which run is current, and up to
 * which number checkpoints count. Everything else is written first, where no valid mark leads to,
 * and then one store of `current` makes all of it true at once. A process that is killed between any
 * two instructions so leaves the state before or the state after, never a mixture. `current` is 32
 * bits wide, because a 64-bit store is two instructions on a small machine.
 *
 * The file belongs to one machine and its byte order; it is no format for exchange. Still nothing in
 * it is believed before it was checked: it may come from another version, another boot, or from a
 * disk that lost power.
 */
#ifndef KISEKI_DEVICE_AGENT_MEMORY_H
#define KISEKI_DEVICE_AGENT_MEMORY_H

#include "base/cleanup.h"
#include "base/error.h"
#include "device/agent/spool.h"

#define MEMORY_VERSION 1U
#define MEMORY_PAGE 4096U
#define MEMORY_CPUS_MAX 4096U
#define MEMORY_SLOTS_MAX 1024U
#define MEMORY_SLOT_MOST (256U << 10) /* a position has 16 bits for the records of a page */
#define MEMORY_SPOOL_LEAST (64U << 10)
#define MEMORY_SPOOL_MOST (1U << 30)
#define MEMORY_CONFIG_MAX 2048U
#define MEMORY_WORDS 16U
#define MEMORY_FUNC_ROWS_MAX 1024U

/* What a run is doing, as the mark says. */
enum memory_state {
	MEMORY_IDLE = 0,     /* no run, or it is over */
	MEMORY_STARTING = 1, /* its description is not yet complete */
	MEMORY_TRACING = 2,
};

/* The file's first bytes never change after it was made. */
struct memory_name {
	char magic[8];
	uint32_t version;
	uint32_t order; /* 0x01020304: the byte order it was written in */
	uint32_t cpus;
	uint32_t slots; /* of each CPU */
	uint32_t slot_bytes;
	uint32_t spool_bytes;
	uint32_t func_rows; /* threads that a function run can have; 0: there is none */
	uint32_t crc;	    /* of the fields above */
};

struct memory_mark {
	uint64_t head, tail; /* of the ring; they only rise, the place is the rest by its size */
	uint64_t sequence;   /* checkpoints up to this number count */
	uint32_t run;	     /* the last one that was begun; 0: none yet */
	uint32_t state;	     /* enum memory_state */
	uint8_t boot[16];    /* in which the kernel had its part of that run */
	uint32_t func;	     /* the last function run: its number << 2 | enum memory_state */
	uint32_t crc;	     /* of the fields above */
};

#define MEMORY_ORIGIN_FUNC 0x100U   /* beside enum trace_origin: it is a function run */
#define MEMORY_ORIGIN_BESIDE 0x101U /* it is that of a recorder beside the agent */

struct memory_run {
	uint32_t number; /* 0: the row is free */
	uint32_t origin; /* enum trace_origin: what it uses; or one of the two above */
	uint8_t id[16];
	uint32_t config_len; /* in config[number & 1] while it is the current one */
	uint32_t config_crc;
	uint32_t crc; /* of the fields above */
};

struct memory_head {
	struct memory_name name;
	uint8_t pad0[512 - sizeof(struct memory_name)];
	struct memory_mark mark[2];
	uint32_t current; /* which of the two holds; stored last, and alone */
	uint8_t pad1[512 - 2 * sizeof(struct memory_mark) - 4];
	struct memory_run runs[MESSAGE_RUNS_MAX];
	uint8_t pad2[1024 - MESSAGE_RUNS_MAX * sizeof(struct memory_run)];
	uint64_t words[MEMORY_WORDS]; /* a source's own: the first half tracefs, the second bpf */
	uint8_t pad3[MEMORY_PAGE - 2048 - MEMORY_WORDS * 8];
	uint8_t config[2][MEMORY_CONFIG_MAX];
};

/* Twice for each CPU: the one with the larger number that the mark covers holds. */
struct memory_checkpoint {
	uint64_t sequence;
	struct checkpoint at;
	uint32_t run;
	uint32_t crc; /* of the fields above */
};

/* Of a staging slot. It holds a page if it has a number and the page's own head is not zero. */
struct memory_slot {
	uint64_t number; /* of the page on its CPU, + 1 */
	uint64_t before; /* records of the pages before it, as the kernel counts what was read */
};

/* Where both streams of a thread are. Twice in a row: the one with the larger number holds. */
struct memory_func_place {
	uint64_t number; /* 0: nothing was written yet */
	uint64_t next_sequence[2];
	uint64_t count[2];
	uint64_t until[2];
	uint64_t lost[LOSS_CAUSES]; /* of both, as blocks have told */
	uint32_t zero;
	uint32_t crc; /* of the fields above */
};

/* A thread of the function run. Who it is never changes. */
struct memory_func_row {
	uint32_t run; /* that it is of; of another one: the row is free */
	uint32_t process;
	uint32_t stream; /* in the process's file */
	int32_t pid, tid;
	uint32_t zero;
	uint64_t start_tick; /* of the process */
	uint64_t base;
	uint32_t zero2;
	uint32_t crc; /* of the fields above */
	struct memory_func_place places[2];
};

struct memory;

struct memory_options {
	const char *path;     /* NULL: memory that nothing outlives */
	uint32_t cpus;	      /* possible ones: highest number + 1 */
	uint32_t slots;	      /* staging pages of each CPU */
	uint32_t slot_bytes;  /* 0: a page of this machine */
	uint32_t spool_bytes; /* rounded up to whole pages */
	uint32_t func_rows;   /* threads that a function run can have, or 0 */
	const uint8_t *boot;  /* 16 bytes of this boot; NULL: the kernel is asked in /proc */
};

/*
 * Makes the file, or takes up the one that is there. A file that another agent holds is -EBUSY. One
 * that cannot be used is renamed to <path>.old and a new one made: memory_get_note() then has a
 * line about it, else it is empty. One that still holds entries or a run keeps its own sizes.
 */
int memory_open(struct memory **ret, const struct memory_options *o, struct error *e);
void memory_free(struct memory *m);
DEFINE_CLEANUP(memory, memory_free)

/* The same on bytes that the caller has, for tests: 0, or why they cannot be used. */
int memory_check(const void *bytes, size_t len, struct error *e);
int memory_adopt(struct memory **ret, void *bytes, size_t len, struct error *e);

const char *memory_get_note(const struct memory *m);
size_t memory_get_len(const struct memory *m);

/* Is the mark from this boot? Else what the kernel had of its run is gone. */
bool memory_is_same_boot(const struct memory *m);

/* The mark that holds. Its successor gets this boot and its checksum, and takes its place. */
const struct memory_mark *memory_get_mark(const struct memory *m);
void memory_publish(struct memory *m, struct memory_mark *next);

/* Where things are. `stream` 0 is the description, 1 + cpu a CPU, 1 + cpus the description of the
 * function run. */
struct memory_head *memory_get_head(struct memory *m);
struct memory_checkpoint *memory_get_checkpoints(struct memory *m, uint32_t stream);
struct memory_slot *memory_get_slot(struct memory *m, uint32_t cpu, uint64_t number);
uint8_t *memory_get_page(struct memory *m, uint32_t cpu, uint64_t number);
uint8_t *memory_get_ring(struct memory *m);
struct memory_func_row *memory_get_func_rows(struct memory *m);

/* Nothing is staged, and the staging slots have memory: a source may now read into them. */
int memory_clear_slots(struct memory *m, struct error *e);

/* The same of the rows of threads. */
int memory_clear_func_rows(struct memory *m, struct error *e);

/* Of memory that nothing outlives: what the ring's pages held is not needed any more, and the machine has them back
 * until they are used again. */
void memory_give_back_ring(struct memory *m);

/* Returns when all of it is on the disk; of use only for a file on one. */
int memory_sync(struct memory *m, struct error *e);

uint32_t memory_crc(const void *fields, size_t len);

#endif
