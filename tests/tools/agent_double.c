/* SPDX-License-Identifier: MIT */
/*
 * agent_double: stands in for the parts of the agent that a test of its core does not use: a filter
 * that can be told which kinds pass, and a walk over two tasks. A program that defines these names
 * itself does not take them from the agent's library.
 */
#include "tools/agent_double.h"

#include "device/agent/filter.h"
#include "device/agent/tasks.h"
#include "wire/meta_encode.h"

uint32_t agent_double_kinds = UINT32_MAX;
uint32_t agent_double_items = 1;

struct task_walk {
	uint32_t left;
};

bool filter_passes(struct event_filter *f, const struct sched_event *ev)
{
	(void)f;
	return agent_double_kinds & 1U << ev->kind;
}

int task_walk_open(struct task_walk **ret, struct error *e)
{
	(void)e;
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return -1;
	(*ret)->left = agent_double_items;
	return 0;
}

void task_walk_free(struct task_walk *w)
{
	free(w);
}

/* pid 1, tgid 1, "init". */
size_t task_walk_encode(struct task_walk *w, uint8_t *out, size_t room)
{
	static const uint8_t row[] = { 0x16, 4, 'i', 'n', 'i', 't' };

	(void)room;
	if (!w->left)
		return 0;
	w->left--;
	return (size_t)(meta_put_text(out, META_TASKS, (const char *)row, sizeof(row)) - out);
}
