/* SPDX-License-Identifier: MIT */
/*
 * read_ahead: a thread that takes the items of a source before they are asked for, so that decoding
 * and what is done with the items go on at the same time.
 *
 * The items come in the order in which they were made: one thread makes them, a bounded ring of
 * batches carries them. While a read_ahead exists its thread alone may use what `produce` uses.
 */
#ifndef KISEKI_TRACE_READ_AHEAD_H
#define KISEKI_TRACE_READ_AHEAD_H

#include "trace/source.h"

struct read_ahead;

struct read_ahead_ops {
	/* As trace_source_ops.next. Called from the thread. */
	int (*produce)(void *context, struct trace_item *ret, struct error *e);
	/* How far it is, told with each batch. */
	uint64_t (*progress)(const void *context);
};

/* NULL if there is no memory or no thread to be had: then the caller does without. */
struct read_ahead *read_ahead_new(const struct read_ahead_ops *ops, void *context);

/* Ends the thread wherever it is; takes NULL. */
void read_ahead_free(struct read_ahead *r);

/* As trace_source_ops.next. After the end, or an error, the thread has ended. */
int read_ahead_next(struct read_ahead *r, struct trace_item *ret, struct error *e);
uint64_t read_ahead_progress(const struct read_ahead *r);

#endif
