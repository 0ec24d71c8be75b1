/* SPDX-License-Identifier: MIT */
/* wheel: see wheel.h. Entries of a later round stay in their slot when it is passed. */
#include "collector/wheel.h"

#include <stddef.h>

void wheel_init(struct wheel *w, uint64_t now_ms)
{
	uint32_t i;

	for (i = 0; i < WHEEL_SLOTS; i++)
		w->slots[i].next = w->slots[i].prev = &w->slots[i];
	w->step = now_ms / WHEEL_STEP_MS;
}

void wheel_unset(struct wheel_entry *e)
{
	if (!e->next)
		return;
	e->next->prev = e->prev;
	e->prev->next = e->next;
	e->next = e->prev = NULL;
}

void wheel_set(struct wheel *w, struct wheel_entry *e, uint64_t at_ms)
{
	struct wheel_entry *head;

	wheel_unset(e);
	e->step = at_ms / WHEEL_STEP_MS + 1;
	if (e->step <= w->step)
		e->step = w->step + 1;
	head = &w->slots[e->step % WHEEL_SLOTS];
	e->prev = head->prev;
	e->next = head;
	head->prev->next = e;
	head->prev = e;
}

static struct wheel_entry *find_due(struct wheel *w)
{
	struct wheel_entry *head = &w->slots[w->step % WHEEL_SLOTS], *e;

	for (e = head->next; e != head; e = e->next)
		if (e->step <= w->step)
			return e;
	return NULL;
}

struct wheel_entry *wheel_pop(struct wheel *w, uint64_t now_ms)
{
	struct wheel_entry *e;

	while (!(e = find_due(w)) && w->step < now_ms / WHEEL_STEP_MS)
		w->step++;
	if (e)
		wheel_unset(e);
	return e;
}
