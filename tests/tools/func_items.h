/* SPDX-License-Identifier: MIT */
/*
 * func_items: a function source out of a list of items, for tests of what takes sources.
 *
 * It has one process and as many threads as asked for, of the tids 900, 901, …; its ticks are
 * nanoseconds. A test changes the tables as it likes.
 */
#ifndef KISEKI_TESTS_FUNC_ITEMS_H
#define KISEKI_TESTS_FUNC_ITEMS_H

#include "trace/func_source.h"

struct func_items {
	struct func_source source;
	struct func_item *items;
	size_t n, room, at;
};

/* Freed with func_source_free(&s->source). */
struct func_items *func_items_new(uint32_t threads);
void func_items_add(struct func_items *s, const struct func_item *item);
void func_items_add_event(struct func_items *s, uint32_t thread, uint8_t kind, uint64_t value,
			  uint64_t tick);

#endif
