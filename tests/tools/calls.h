/* SPDX-License-Identifier: MIT */
/*
 * calls: a run of calls in a small spool, and a collector that holds what comes out of it against the
 * rules of docs/format/wire.md, 3.3 and 3.4. Payloads mean nothing here.
 */
#ifndef KISEKI_TESTS_TOOLS_CALLS_H
#define KISEKI_TESTS_TOOLS_CALLS_H

#include "device/agent/memory.h"
#include "device/feed/func_run.h"

#define CALLS_CPUS 2U
#define CALLS_ROWS 6U
#define CALLS_SPOOL (256U << 10)
#define CALLS_STREAMS (FUNC_LANES * CALLS_ROWS)

extern const struct meta_clock calls_clock;

struct calls {
	struct memory *memory;
	struct spool *spool;
	struct func_run *run;
};

void calls_open(struct calls *f, uint8_t policy);
void calls_close(struct calls *f);

/* All of it, with a run that has begun. */
void calls_begin(struct calls *f, uint8_t policy);
void calls_end(struct calls *f);

/* The agent dies, and the next one takes up what it left. */
void calls_die(struct calls *f);

uint32_t calls_number(const struct calls *f); /* of the last run of calls */
uint32_t calls_process(struct calls *f, int32_t pid);
int calls_take_thread(struct calls *f, uint32_t process, uint32_t stream, uint32_t *ret_row);
uint32_t calls_thread(struct calls *f, uint32_t process, uint32_t stream);

struct func_run_block calls_block(uint32_t row, enum func_run_lane lane, uint32_t events,
				  uint64_t first, uint64_t until);
int calls_put(struct calls *f, struct func_run_block b);

/* What a collector knows of a stream. */
struct calls_stream {
	uint64_t next_sequence, seen, until, blocks;
	uint64_t lost[LOSS_CAUSES];
};

struct calls_seen {
	struct calls_stream streams[CALLS_STREAMS];
	uint64_t next_meta;
	uint32_t ends, end_rows, metas, n_frames;
	uint32_t items; /* 1 << enum meta_item */
	uint32_t processes, threads, mappings;
};

/* All that would be sent; of the run with this number. */
void calls_collect(struct calls *f, uint32_t number, struct calls_seen *s);
uint32_t calls_count_streams(const struct calls_seen *s); /* that have blocks */

#endif
