/* SPDX-License-Identifier: MIT */
/*
 * recording_run: what a recording knows of one run: where each of its streams is, and where its
 * streams are in the file.
 *
 * A file has one run of the scheduler. Beside it the device may send runs of programs, one after the
 * other, each of which numbers its threads from 0; in the file those of a later one stand behind those of
 * the ones before it (func_meta_shift.h).
 */
#ifndef KISEKI_COLLECTOR_RECORDING_RUN_H
#define KISEKI_COLLECTOR_RECORDING_RUN_H

#include "trace/func_meta_shift.h"
#include "wire/block.h"
#include "wire/message.h"

struct recording_stream {
	uint64_t next_sequence;
	uint64_t end;	/* events found and lost up to here */
	uint64_t until; /* the tick where its last block ended */
	bool anchored;
};

struct recording_run {
	struct message_id id;
	bool is_func; /* something of threads came; else it is taken for the scheduler's */
	bool ended;
	struct func_meta_shift shift;	     /* of a run of programs */
	struct recording_stream *streams[2]; /* of the description and CPUs, of threads */
	size_t room[2];
};

void recording_run_done(struct recording_run *r);

/* The place of a stream, a new one for one that is not known; -EPROTO: there can be no such stream. It is
 * valid until the next call. */
int recording_run_get(struct recording_run *r, uint32_t stream, struct recording_stream **ret);

/* Its number in the file; UINT32_MAX: there is none left. */
uint32_t recording_run_place(const struct recording_run *r, uint32_t stream);

#endif
