/* SPDX-License-Identifier: MIT */
/*
 * sched: raw records of the ring buffer as scheduler events.
 *
 *	sched_map_init(&map, big_endian);
 *	sched_map_add(&map, "sched", format_text, len, &e);	for every event there is
 *	sched_map_get_dialect(&map, release, long_size, &dialect);
 *	sched_map_decode(&map, record.data, record.len, &event)	for every record
 *
 * Adding a format resolves where each field lies and checks that it can be read, once. Decoding
 * then is one bounds check and a handful of loads. A map has a fixed size and owns no memory.
 */
#ifndef KISEKI_FTRACE_SCHED_H
#define KISEKI_FTRACE_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ftrace/format.h"
#include "wire/dialect.h"
#include "wire/sched_event.h"

#define SCHED_MAP_FIELDS 7 /* the most that one kind has */
#define SCHED_MAP_SLOTS 32 /* of the hash of IDs: a power of two, well above SCHED_KINDS */

/* Where a field lies; size 0: this kernel does not have it. */
struct sched_ref {
	uint16_t offset;
	uint8_t size;
	uint8_t form; /* enum format_form */
};

struct sched_layout {
	struct sched_ref field[SCHED_MAP_FIELDS];
	struct sched_ref flags, preempt_count, pid;
	uint32_t min_len; /* a record shorter than this lacks a field */
	uint32_t id;
	bool is_plain; /* as nearly all kernels have it: see sched.c */
};

struct sched_map {
	bool big_endian;
	struct sched_ref type; /* common_type, the same in every event */
	uint32_t kinds;	       /* 1 << enum sched_kind: formats that were added */
	uint32_t features;     /* enum dialect_feature, as far as formats tell */
	bool has_states;
	struct format_states states;
	struct {
		uint32_t id; /* + 1, so that 0 is an empty slot */
		uint8_t kind;
	} slots[SCHED_MAP_SLOTS];
	struct sched_layout layouts[SCHED_KINDS];
};

void sched_map_init(struct sched_map *m, bool big_endian);

/* Which event this is: "sched", "sched_switch" gives SCHED_SWITCH; -1 for all others. */
int sched_map_get_kind(const char *system, struct format_text name);

/* The names of a kind's event and of the system it belongs to. */
const char *sched_map_get_name(enum sched_kind kind);
const char *sched_map_get_system(enum sched_kind kind);

/* 1: added; 0: an event that is not carried; -EBADMSG and the cause otherwise. Adding a kind again
 * replaces its layout: the last format wins. */
int sched_map_add(struct sched_map *m, const char *system, const char *text, size_t len,
		  struct error *e);

/* Keeps what a kind's format says about the dialect; sched_map_add() calls it. */
void sched_map_learn(struct sched_map *m, enum sched_kind kind, const struct format *f);

/* release may be empty; what the formats say goes before what it implies. */
void sched_map_get_dialect(const struct sched_map *m, const char *release, unsigned int long_size,
			   struct sched_dialect *ret);

/* 1: *ret is the event, except for its tick, which is zero, and with filename pointing into the
 * record; 0: an event of another kind; -EBADMSG: the record is too short for its format. */
int sched_map_decode(const struct sched_map *m, const uint8_t *record, size_t len,
		     struct sched_event *ret);

#endif
