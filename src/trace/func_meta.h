/* SPDX-License-Identifier: MIT */
/*
 * func_meta: the processes, threads and clock of function streams, to and from metadata
 * (docs/format/wire.md, sections 7.6 to 7.12).
 *
 * Rows may come in any order, again, and late: they are gathered, and settled when all were read.
 * A process that only a thread or a mapping names is there without a name.
 */
#ifndef KISEKI_TRACE_FUNC_META_H
#define KISEKI_TRACE_FUNC_META_H

#include "trace/func_source.h"
#include "wire/varint.h"

/* A thread with its number, by which its streams are numbered. */
struct func_meta_row {
	uint32_t number;
	uint32_t order; /* in which it was said: a later one replaces an earlier */
	struct func_thread thread;
};

struct func_meta {
	struct func_source tables;     /* processes, clock, pairs; threads after settling */
	struct func_meta_row *threads; /* after settling by rising number, one of each */
	size_t n_threads, room_threads;
	bool has_clock;
	bool found; /* any item of these was there */
};

void func_meta_init(struct func_meta *m);
void func_meta_done(struct func_meta *m);

/* Adds what a payload says; items of other things are passed over. -EBADMSG for what no encoder
 * wrote, -ENOMEM, -E2BIG. */
int func_meta_decode(struct func_meta *m, const uint8_t *in, size_t len);

/* One row of META_MAPPINGS, behind the process that they are of; the path is the caller's to free. -EBADMSG, -ENOMEM. */
int func_meta_get_mapping(struct byte_reader *r, struct func_mapping *ret);

/* A stream with no row: its thread is not known by name. 0, -ENOMEM, -E2BIG. */
int func_meta_add_thread(struct func_meta *m, uint32_t number);

/* Everything was read: the tables become what a source has. -ENOMEM. */
int func_meta_settle(struct func_meta *m);

/*
 * The payloads for a source's tables, its threads having their index as number. Every call writes one
 * into out (room >= 64 KiB) and returns its length, 0 when there is no more. at: zero at first.
 */
struct func_meta_place {
	uint32_t part;
	size_t process, row;
};
size_t func_meta_encode(const struct func_source *s, struct func_meta_place *at, uint8_t *out,
			size_t room);

#endif
