/* SPDX-License-Identifier: MIT */
/* told: see told.h. */
#include "collector/told.h"

#include <stdio.h>
#include <string.h>

static void set_done(struct fleet_result *r)
{
	memset(r, 0, sizeof(*r));
	r->outcome = FLEET_DONE;
}

static bool is_answered(struct told *t)
{
	uint32_t i;

	for (i = 0; i < TOLD_MAX; i++)
		if (t->ids[i])
			return false;
	t->answered = t->arrivals;
	return true;
}

static void put_answer(struct fleet_result *r, const struct message_result *m)
{
	if (m->code && !r->code) {
		r->outcome = FLEET_FAILED;
		r->code = m->code;
	}
	if (m->text.len && (m->code || !r->text[0]))
		snprintf(r->text, sizeof(r->text), "%.*s", (int)m->text.len, m->text.at);
}

bool told_start(struct told *t, const struct message_instruction *told, uint32_t n)
{
	uint32_t i;

	memset(t->ids, 0, sizeof(t->ids));
	for (i = 0; i < n && i < TOLD_MAX; i++)
		t->ids[i] = told[i].id;
	memset(t->late, 0, sizeof(t->late));
	t->arrivals++;
	set_done(&t->result);
	return is_answered(t);
}

bool told_push(struct told *t, const struct message_result *m)
{
	bool found = false;
	uint32_t i;

	for (i = 0; i < TOLD_MAX; i++)
		if (t->ids[i] && t->ids[i] == m->id) {
			t->ids[i] = 0;
			found = true;
		}
	if (!found)
		return false;
	put_answer(&t->result, m);
	return is_answered(t);
}

void told_put_late(struct told *t, uint64_t id, uint64_t number)
{
	memmove(&t->late[1], &t->late[0], sizeof(t->late) - sizeof(t->late[0]));
	t->late[0] = (struct told_late){ id, number };
}

uint64_t told_take_late(struct told *t, const struct message_result *m, struct fleet_result *ret)
{
	uint32_t i;

	for (i = 0; i < TOLD_LATE_MAX; i++) {
		uint64_t number = t->late[i].number;

		if (!number || t->late[i].id != m->id)
			continue;
		t->late[i].number = 0;
		set_done(ret);
		put_answer(ret, m);
		return number;
	}
	return 0;
}

bool told_wait(struct told *t, uint64_t arrivals)
{
	if (t->answered > arrivals)
		return true;
	t->waits = true;
	return false;
}
