/* SPDX-License-Identifier: MIT */
/* func_items: see func_items.h. */
#include "tools/func_items.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int items_next(struct func_source *s, struct func_item *ret, struct error *e)
{
	struct func_items *i = (struct func_items *)s;

	(void)e;
	if (i->at == i->n)
		return 0;
	*ret = i->items[i->at++];
	return 1;
}

static int items_rewind(struct func_source *s, struct error *e)
{
	(void)e;
	((struct func_items *)s)->at = 0;
	return 0;
}

static void items_progress(const struct func_source *s, uint64_t *ret_done, uint64_t *ret_total)
{
	*ret_done = ((const struct func_items *)s)->at;
	*ret_total = ((const struct func_items *)s)->n;
}

static void items_free(struct func_source *s)
{
	free(((struct func_items *)s)->items);
	func_source_done(s);
	free(s);
}

static const struct func_source_ops items_ops = {
	.next = items_next,
	.rewind = items_rewind,
	.progress = items_progress,
	.free = items_free,
};

struct func_items *func_items_new(uint32_t threads)
{
	struct func_items *s = calloc(1, sizeof(*s));
	struct func_process p;
	struct func_thread t = { .cpu = -1 };
	uint32_t i;

	assert(s && func_process_init(&p, "items", "/bin/items") == 0);
	p.pid = 900;
	p.parent = 1;
	s->source.ops = &items_ops;
	clock_init(&s->source.clock);
	strcpy(s->source.clock.name, "mono");
	assert(func_source_set_origin(&s->source, "items") == 0);
	assert(func_source_add_process(&s->source, &p, NULL) == 0);
	for (i = 0; i < threads; i++) {
		t.tid = (int32_t)(900 + i);
		snprintf(t.comm, sizeof(t.comm), "items/%u", i % 1000);
		assert(func_source_add_thread(&s->source, &t, NULL) == 0);
	}
	return s;
}

void func_items_add(struct func_items *s, const struct func_item *item)
{
	if (s->n == s->room) {
		s->room = s->room ? s->room * 2 : 64;
		s->items = realloc(s->items, s->room * sizeof(*s->items));
		assert(s->items);
	}
	s->items[s->n++] = *item;
}

void func_items_add_event(struct func_items *s, uint32_t thread, uint8_t kind, uint64_t value,
			  uint64_t tick)
{
	struct func_item item = { .type = FUNC_ITEM_EVENT, .thread = thread };

	item.event = (struct func_event){ .tick = tick, .value = value, .kind = kind };
	func_items_add(s, &item);
}
