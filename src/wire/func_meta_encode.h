/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * func_meta_encode: what a trace says about its function streams, into bytes (docs/format/wire.md,
 * sections 7.6 to 7.12).
 *
 *	body = meta_item_begin(p, META_PROCESSES);
 *	p = func_meta_put_process(body, &row) …      as many rows as there is room for
 *	p = meta_item_end(body, p);
 *
 * Every row stands for itself: it needs no other before it, and said again it changes nothing. So
 * what changes while a trace is recorded (a mapping that goes, a thread that comes) is one more row
 * in a later block. Each function writes one row at p and returns the place behind it; the caller has
 * the room: FUNC_META_ROW_ROOM, and the lengths of its texts beside.
 */
#ifndef KISEKI_WIRE_FUNC_META_ENCODE_H
#define KISEKI_WIRE_FUNC_META_ENCODE_H

#include "wire/meta_encode.h"

#define FUNC_META_ROW_ROOM (8U * VARINT_MAX + 32U)

/* Not terminated. */
struct func_meta_text {
	const char *text;
	uint32_t len;
};

struct func_meta_process {
	uint32_t number; /* from 0, in the life of the run */
	int32_t pid, parent;
	bool kernel;
	struct func_meta_text command, exe;
};

struct func_meta_mapping {
	uint64_t from, to, offset;
	uint32_t since, until; /* generations; until UINT32_MAX: it is still there */
	const uint8_t *build_id;
	uint32_t build_id_len; /* at most 20, 0: not known */
	struct func_meta_text path;
};

struct func_meta_thread {
	uint32_t number; /* its streams are STREAM_FUNC(number) and the one behind it */
	uint32_t process;
	int32_t tid;
	int32_t cpu; /* -1: it is a thread */
	struct func_meta_text comm;
};

uint8_t *func_meta_put_process(uint8_t *p, const struct func_meta_process *r);
/* An item of mappings or of names starts with this. */
uint8_t *func_meta_put_owner(uint8_t *p, uint32_t process);
uint8_t *func_meta_put_mapping(uint8_t *p, const struct func_meta_mapping *r);
uint8_t *func_meta_put_thread(uint8_t *p, const struct func_meta_thread *r);
uint8_t *func_meta_put_sync(uint8_t *p, uint64_t tick, uint64_t mono_ns);

/* A whole item: as META_CLOCK, but of the function streams. */
uint8_t *func_meta_put_clock(uint8_t *p, const struct meta_clock *c);

/* Names: after the owner, the number of the first; then one by one. */
uint8_t *func_meta_put_first(uint8_t *p, uint32_t first);
uint8_t *func_meta_put_name(uint8_t *p, const struct func_meta_text *name);

#endif
