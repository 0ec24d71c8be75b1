/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* task_encode: see task_encode.h. */
#include "wire/task_encode.h"

#include "wire/meta_encode.h"

#define ITEM_HEAD 4U /* type, and a length that is always three bytes */

void task_encoder_begin(struct task_encoder *e, uint8_t *out, size_t room)
{
	if (room > TASK_ITEM_MAX)
		room = TASK_ITEM_MAX;
	e->start = out;
	e->end = out + room;
	e->at = room < ITEM_HEAD ? e->end : meta_item_begin(out, META_TASKS);
	e->pid = e->tgid = 0;
	e->n_names = 0;
	memset(e->comm, 0, sizeof(e->comm));
}

static uint8_t *put_comm(struct task_encoder *e, uint8_t *p, uint8_t *first,
			 const char comm[SCHED_COMM_LEN])
{
	uint32_t i = 0, len = 0;

	if (!memcmp(e->comm, comm, SCHED_COMM_LEN))
		return p;
	memcpy(e->comm, comm, SCHED_COMM_LEN);
	while (i < e->n_names && memcmp(e->names[i], comm, SCHED_COMM_LEN) != 0)
		i++;
	if (i < e->n_names) {
		*first |= 1;
		return varint_put(p, i);
	}
	if (e->n_names < TASK_NAMES_MAX)
		memcpy(e->names[e->n_names++], comm, SCHED_COMM_LEN);
	*first |= 2;
	while (len < SCHED_COMM_LEN && comm[len])
		len++;
	p = varint_put(p, len);
	memcpy(p, comm, len);
	return p + len;
}

void task_encode(struct task_encoder *e, int32_t pid, int32_t tgid, const char comm[SCHED_COMM_LEN])
{
	int32_t step = pid - e->pid;
	uint8_t *first = e->at, *p = first + 1;

	*first = step < 16 ? (uint8_t)(step << 4) : 0;
	if (!*first)
		p = varint_put_signed(p, step);
	if (tgid == pid) {
		*first |= 4;
	} else if (tgid == e->tgid) {
		*first |= 8;
	} else {
		*first |= 12;
		p = varint_put(p, (uint32_t)tgid);
	}
	e->pid = pid;
	e->tgid = tgid;
	e->at = put_comm(e, p, first, comm);
}

size_t task_encoder_end(struct task_encoder *e)
{
	if ((size_t)(e->at - e->start) <= ITEM_HEAD)
		return 0;
	meta_item_end(e->start + ITEM_HEAD, e->at);
	return (size_t)(e->at - e->start);
}
