/* SPDX-License-Identifier: MIT */
/*
 * func_record_cursor: one thread's items out of the record of a process, in order, with its losses
 * where they belong.
 *
 * Its chunks come by sequence. Each says how many events of the thread came before it and how many
 * of these were lost right before it, so that whatever is missing is counted exactly as soon as the
 * next chunk is there; at the end the thread's slot says it. Counted as lost are:
 *
 *	buffer  calls for which no chunk could be had: what chunks and slots tell
 *	ring    chunks that made room for newer ones, on purpose (FUNC_FLIGHT)
 *	spool   chunks that somebody drained: they are elsewhere
 *	damage  all else that is missing, and what does not decode
 *
 * A chunk without KEY goes on where the one before it ended: if that is missing, its events are lost,
 * too, by the same cause.
 */
#ifndef KISEKI_TRACE_FUNC_RECORD_CURSOR_H
#define KISEKI_TRACE_FUNC_RECORD_CURSOR_H

#include "trace/func_record.h"
#include "trace/func_stream.h"
#include "wire/varint.h"

struct func_record_work;

struct func_record_cursor {
	const struct func_record *record;
	const struct func_record_slot *slot; /* NULL: the thread has none any more */
	size_t first, end;		     /* its chunks in the record */
	size_t at;
	struct func_stream out;
	uint64_t next_sequence;
	uint64_t seen; /* events given or told as lost */
	bool broken;   /* nothing decodes until the next KEY */
	uint8_t why;   /* … enum loss_cause */
	bool finished;
	struct byte_reader bytes; /* of the chunk that is being decoded */
	struct func_record_work *work;
};

void func_record_cursor_init(struct func_record_cursor *c, const struct func_record *r,
			     uint32_t thread);
void func_record_cursor_done(struct func_record_cursor *c);
void func_record_cursor_rewind(struct func_record_cursor *c);

/* 1, 0 at the end, or -ENOMEM or what reading the file failed with. */
int func_record_cursor_next(struct func_record_cursor *c, struct func_item *ret);

/* A tick that nothing it has next is before, without decoding it: unless the clock steps back. */
uint64_t func_record_cursor_tick(const struct func_record_cursor *c);

/* Why chunks of this record are missing that are not torn. */
uint8_t func_record_gap_cause(const struct func_record *r);

#endif
