/* SPDX-License-Identifier: MIT */
/*
 * func_heap: many streams of items as one, by tick, and of one tick by the stream's number.
 *
 * Its owner keeps the streams and fetches the next item of one when its turn comes, not before: a
 * stream is first known by a tick that nothing of it is before, so that one whose time has not come
 * costs nothing. Records of a process, .ksk files and the merge of several sources all go by one.
 *
 * Within a stream the order stays: an item that is earlier than the one before it comes right behind
 * that.
 */
#ifndef KISEKI_TRACE_FUNC_HEAP_H
#define KISEKI_TRACE_FUNC_HEAP_H

#include "trace/func_source.h"

struct func_turn {
	uint64_t tick;
	uint32_t number;
};

/* 1: *ret is the stream's next item; 0: it has no more; < 0: failed. */
typedef int (*func_heap_fetch)(void *owner, uint32_t number, struct func_item *ret);

struct func_heap {
	struct func_turn *turns;
	size_t n, room;
	struct func_item *heads; /* by number: fetched, and not its turn */
	bool *has_head;
};

int func_heap_init(struct func_heap *h, size_t room); /* numbers below room; 0 or -ENOMEM */
void func_heap_done(struct func_heap *h);
void func_heap_clear(struct func_heap *h);

/* Each number once. */
void func_heap_push(struct func_heap *h, uint64_t tick, uint32_t number);

/* As sources do, without the text. */
int func_heap_next(struct func_heap *h, func_heap_fetch fetch, void *owner, struct func_item *ret);

#endif
