/* SPDX-License-Identifier: MIT */
/*
 * bootchart_records: blocks of a bootchart's logs made into records of a boot chart, one block at a time. Private to
 * source_bootchart.c.
 *
 * A process that a block no longer has is gone. taskstats.log has only those whose times have changed, and nothing
 * about ends: there a process that is not told of sleeps, and after it was told of for the last time, what it does
 * is not known. Only what has changed since it was last said becomes a record.
 */
#ifndef KISEKI_CONVERT_BOOTCHART_RECORDS_H
#define KISEKI_CONVERT_BOOTCHART_RECORDS_H

#include "base/error.h"
#include "convert/bootchart_facts.h"
#include "convert/bootchart_log.h"
#include "wire/boot_event.h"

#define BOOTCHART_CPUS_MAX 4096U
#define BOOTCHART_DISKS_MAX 1024U

struct bootchart_records {
	struct boot_event *list; /* of the block at hand */
	size_t n, room;
	struct bootchart_facts *facts;
	struct pidmap *processes;
	int32_t *alive; /* pids */
	size_t n_alive, room_alive;
	uint64_t (*cpus)[8]; /* as last told */
	size_t n_cpus;
	struct bootchart_disk *disks;
	size_t n_disks;
	uint64_t memory[9];
	bool has_memory;
	uint64_t switches, runnable, blocked, forks; /* of the last block of proc_stat.log */
	uint64_t blocks;			     /* with processes, so far */
	uint64_t tick;				     /* of the last one; ticks do not go back */
	uint64_t bad;				     /* lines that could not be read */
};

int bootchart_records_init(struct bootchart_records *r, struct bootchart_facts *facts);
void bootchart_records_done(struct bootchart_records *r);

/* For taskstats.log: in which block, from 0, the pid is told of last. Before the first block. */
int bootchart_records_set_last(struct bootchart_records *r, int32_t pid, uint64_t block);

/* Each makes the records of one block; 0 or -ENOMEM. */
int bootchart_records_stat(struct bootchart_records *r, const struct bootchart_block *b);
int bootchart_records_disks(struct bootchart_records *r, const struct bootchart_block *b);
int bootchart_records_memory(struct bootchart_records *r, const struct bootchart_block *b);
int bootchart_records_processes(struct bootchart_records *r, const struct bootchart_block *b);
int bootchart_records_taskstats(struct bootchart_records *r, const struct bootchart_block *b);

/* A mark with this text. */
int bootchart_records_mark(struct bootchart_records *r, enum boot_mark_type type, uint64_t tick,
			   struct text_span text);

#endif
