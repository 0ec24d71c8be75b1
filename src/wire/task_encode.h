/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * task_encode: the item `tasks` of metadata (docs/format/wire.md, section 7.3), row by row.
 *
 * The pids of one item must rise; a task that does not fit into it starts another one. The encoder
 * is what the rows of an item refer back to.
 */
#ifndef KISEKI_WIRE_TASK_ENCODE_H
#define KISEKI_WIRE_TASK_ENCODE_H

#include "wire/sched_event.h"
#include "wire/varint.h"

#define TASK_NAMES_MAX 256U	 /* that an item can refer back to */
#define TASK_ITEM_MAX (1U << 20) /* bytes, less than what its three bytes of length can say */
#define TASK_ROW_MAX (1U + 3U * VARINT_MAX + SCHED_COMM_LEN)

struct task_encoder {
	uint8_t *start, *at, *end;
	int32_t pid, tgid;
	char comm[SCHED_COMM_LEN];
	char names[TASK_NAMES_MAX][SCHED_COMM_LEN];
	uint32_t n_names;
};

void task_encoder_begin(struct task_encoder *e, uint8_t *out, size_t room);

/* False: it has no room for another row. */
static inline bool task_encoder_has_room(const struct task_encoder *e)
{
	return (size_t)(e->end - e->at) >= TASK_ROW_MAX;
}

/* `pid` is larger than that of the row before; there is room. */
void task_encode(struct task_encoder *e, int32_t pid, int32_t tgid,
		 const char comm[SCHED_COMM_LEN]);

/* The length of the item; 0 if it has no rows. */
size_t task_encoder_end(struct task_encoder *e);

#endif
