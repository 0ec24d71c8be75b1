/* SPDX-License-Identifier: MIT */
/* func_heap: see func_heap.h. */
#include "trace/func_heap.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int func_heap_init(struct func_heap *h, size_t room)
{
	h->n = 0;
	h->room = room;
	h->turns = calloc(room + 1, sizeof(*h->turns));
	h->heads = calloc(room + 1, sizeof(*h->heads));
	h->has_head = calloc(room + 1, sizeof(*h->has_head));
	return h->turns && h->heads && h->has_head ? 0 : -ENOMEM;
}

void func_heap_done(struct func_heap *h)
{
	free(h->turns);
	free(h->heads);
	free(h->has_head);
	memset(h, 0, sizeof(*h));
}

void func_heap_clear(struct func_heap *h)
{
	h->n = 0;
	memset(h->has_head, 0, h->room * sizeof(*h->has_head));
}

static bool is_before(const struct func_turn *a, const struct func_turn *b)
{
	return a->tick < b->tick || (a->tick == b->tick && a->number < b->number);
}

static void sift_down(struct func_heap *h, struct func_turn turn)
{
	size_t at = 0, child;

	while ((child = 2 * at + 1) < h->n) {
		if (child + 1 < h->n && is_before(&h->turns[child + 1], &h->turns[child]))
			child++;
		if (!is_before(&h->turns[child], &turn))
			break;
		h->turns[at] = h->turns[child];
		at = child;
	}
	h->turns[at] = turn;
}

void func_heap_push(struct func_heap *h, uint64_t tick, uint32_t number)
{
	struct func_turn turn = { .tick = tick, .number = number };
	size_t at = h->n++;

	assert(h->n <= h->room && number < h->room);
	while (at && is_before(&turn, &h->turns[(at - 1) / 2])) {
		h->turns[at] = h->turns[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	h->turns[at] = turn;
}

static void pop(struct func_heap *h)
{
	struct func_turn last = h->turns[--h->n];

	if (h->n)
		sift_down(h, last);
}

int func_heap_next(struct func_heap *h, func_heap_fetch fetch, void *owner, struct func_item *ret)
{
	struct func_turn turn;
	struct func_item *head;
	int r;

	while (h->n) {
		turn = h->turns[0];
		head = &h->heads[turn.number];
		if (h->has_head[turn.number]) {
			h->has_head[turn.number] = false;
			*ret = *head;
			return 1;
		}
		r = fetch(owner, turn.number, head);
		if (r < 0)
			return r;
		if (r == 0) {
			pop(h);
			continue;
		}
		h->has_head[turn.number] = true;
		if (func_item_tick(head) > turn.tick) {
			turn.tick = func_item_tick(head);
			sift_down(h, turn);
		}
	}
	return 0;
}
