/* SPDX-License-Identifier: MIT */
/*
 * info_meta: struct trace_info to and from the payload of meta blocks (wire/meta.h).
 */
#ifndef KISEKI_TRACE_INFO_META_H
#define KISEKI_TRACE_INFO_META_H

#include <stddef.h>
#include <stdint.h>

#include "trace/info.h"

/* Events of several CPUs at one tick that did not happen in the order of the CPUs' numbers: for
 * each of them in turn, the CPU. Only sources with a global order (text) have such. */
struct trace_order {
	uint64_t tick;
	uint32_t first; /* index into cpus */
	uint32_t n;
};

struct trace_orders {
	struct trace_order *rows; /* by rising tick */
	size_t n, room;
	uint32_t *cpus;
	size_t n_cpus, room_cpus;
};

#define TRACE_ORDERS_MAX (1U << 24)
#define TRACE_ORDER_CPUS_MAX 256U /* of one row; a tick with more events has several rows */

void orders_done(struct trace_orders *o);
int orders_add(struct trace_orders *o, uint64_t tick, const uint32_t *cpus, uint32_t n);

/*
 * The payloads, each at most a block's. Every call writes one into out (room >= 64 KiB) and returns
 * its length, 0 when there is no more, or a negative errno.
 */
size_t info_encode(const struct trace_info *i, uint8_t *out, size_t room);
size_t info_encode_tasks(const struct trace_info *i, size_t *from, uint8_t *out, size_t room);
size_t info_encode_orders(const struct trace_orders *o, size_t *from, uint8_t *out, size_t room);

/* Adds what a payload says. -EBADMSG for what no encoder wrote; orders may be NULL. */
int info_decode(struct trace_info *i, struct trace_orders *orders, const uint8_t *in, size_t len);

/* All of what a trace says about itself, as far as it has come. */
struct block_reader;
int info_read(struct trace_info *i, struct block_reader *r, struct error *e);

struct byte_reader;
struct meta_clock;

/* As it is written; the name is borrowed. */
struct meta_clock info_get_clock(const struct trace_clock *c);

/* The fields of a clock (7.1), also of the function streams' (7.9). -EBADMSG. */
int info_decode_clock(struct trace_clock *c, struct byte_reader *r);

#endif
