/* SPDX-License-Identifier: MIT */
/*
 * boot_play: the records that a recorder would have made of a machine that a script describes.
 *
 * What happens on its own (a process starts, a message comes) has its own tick and comes before the pass that
 * follows it; what is looked at has the tick of the pass.
 */
#ifndef KISEKI_TESTS_BOOT_PLAY_H
#define KISEKI_TESTS_BOOT_PLAY_H

#include "trace/boot_source.h"

#define BOOT_PLAY_TASKS 2048U
#define BOOT_PLAY_SPANS 16384U
#define BOOT_PLAY_FLOWS 1024U
#define BOOT_PLAY_POINTS 16384U
#define BOOT_PLAY_DISKS 16U
#define BOOT_PLAY_ITEMS (1U << 22)
#define BOOT_PLAY_STAYS UINT64_MAX

struct boot_play_task {
	uint32_t pid, parent, group;
	char name[16];
	uint64_t from, to;
	uint32_t code;
	/* What was last said of it. */
	bool started, ended;
	uint64_t said[BOOT_NUMBERS_MAX];
	char place[64];
};

struct boot_play_span {
	uint32_t key; /* pid or disk */
	uint64_t from, to;
	uint32_t a, b; /* percents, or KiB a second */
	char state;    /* 0: it runs, or it is a flow */
	char place[64];
};

/* Something at a time: an exec, a mark, a loss. */
struct boot_play_point {
	uint64_t at;
	uint8_t kind; /* BOOT_EXEC, BOOT_MARK; BOOT_KINDS: a loss */
	uint32_t key; /* pid, type or cause */
	uint64_t count;
	char name[16];
	char text[256];
	uint32_t text_len;
};

struct boot_play_disk {
	uint32_t key;
	char name[16];
};

/* All times are in ticks. */
struct boot_play {
	uint32_t cpus, memory;
	uint64_t interval, end;
	bool events;
	struct boot_play_task task[BOOT_PLAY_TASKS];
	struct boot_play_span span[BOOT_PLAY_SPANS];
	struct boot_play_span flow[BOOT_PLAY_FLOWS]; /* of disks */
	struct boot_play_point point[BOOT_PLAY_POINTS];
	struct boot_play_disk disk[BOOT_PLAY_DISKS];
	uint32_t n_tasks, n_spans, n_flows, n_points, n_disks;

	/* What came of it; texts are owned. */
	struct boot_item *items;
	size_t n, room;

	/* While it runs. */
	uint64_t now, idle, iowait, switches, blocked_ns;
};

/* 0 or -ENOMEM. Fills items. */
int boot_play_start(struct boot_play *p);
void boot_play_done(struct boot_play *p);

#endif
