/* SPDX-License-Identifier: MIT */
/* told: see told.h. */
#include "collector/told.h"

#include <stdio.h>
#include <string.h>

static void set_done(struct told *t)
{
	memset(&t->result, 0, sizeof(t->result));
	t->result.outcome = FLEET_DONE;
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

bool told_start(struct told *t, const struct message_instruction *told, uint32_t n)
{
	uint32_t i;

	memset(t->ids, 0, sizeof(t->ids));
	for (i = 0; i < n && i < TOLD_MAX; i++)
		t->ids[i] = told[i].id;
	t->late = 0;
	t->arrivals++;
	set_done(t);
	return is_answered(t);
}

bool told_push(struct told *t, const struct message_result *m)
{
	bool late = t->late && t->late == m->id, found = late;
	uint32_t i;

	if (late) {
		t->late = 0;
		set_done(t);
	}
	for (i = 0; i < TOLD_MAX; i++)
		if (t->ids[i] && t->ids[i] == m->id) {
			t->ids[i] = 0;
			found = true;
		}
	if (!found)
		return false;
	if (m->code && !t->result.code) {
		t->result.outcome = FLEET_FAILED;
		t->result.code = m->code;
	}
	if (m->text.len && (m->code || !t->result.text[0]))
		snprintf(t->result.text, sizeof(t->result.text), "%.*s", (int)m->text.len,
			 m->text.at);
	return late || is_answered(t);
}

bool told_wait(struct told *t, uint64_t arrivals)
{
	if (t->answered > arrivals)
		return true;
	t->waits = true;
	return false;
}
