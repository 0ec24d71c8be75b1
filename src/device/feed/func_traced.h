/* SPDX-License-Identifier: MIT */
/*
 * func_traced: one traced process, as the agent sees it: its record's file and the process itself
 * (docs/format/func-buffer.md, docs/format/func-door.md).
 *
 * The agent makes the file and hands its descriptor to the process, which maps it. The agent does
 * not: whoever can write a file can cut it short, and that would end an agent that has it mapped. So
 * it reads with pread() and changes single words with pwrite().
 *
 * Nothing in the file is believed. Where its parts are is read once, when the magic appears, and
 * kept; from then on only what changes by design is looked at. A chunk's head is copied, bounded, and
 * compared with what it says when its bytes were copied: if it is still that chunk, they were its
 * bytes. The pid is what the socket said, never what the file says.
 */
#ifndef KISEKI_DEVICE_FEED_FUNC_TRACED_H
#define KISEKI_DEVICE_FEED_FUNC_TRACED_H

#include "base/error.h"
#include "wire/func_buffer.h"
#include "wire/sched_event.h"

#define FUNC_TRACED_NAME_MAX 64U
#define FUNC_TRACED_LEAST (256U << 10) /* bytes that a record is of use with */
#define FUNC_TRACED_CHUNKS 2048U       /* heads that are looked at in one turn */
#define FUNC_TRACED_MAPS ".maps"
#define FUNC_TRACED_TOLD ".told"

struct func_traced {
	int folder; /* borrowed */
	int fd, pidfd;
	int32_t pid;	  /* 0: it was gone when the record was found */
	int32_t made_for; /* the same, or what the name of the record says */
	uint64_t born;	  /* its start, in the kernel's own unit; 0: not known */
	uint64_t bytes;
	uint64_t inode;
	char name[FUNC_TRACED_NAME_MAX]; /* of the file, in the folder */
	bool is_known;			 /* its header is complete and was believed */
	uint32_t freed;			 /* what the header's FREED is */

	/* from the header, once */
	uint32_t slots, slot_bytes, chunks, chunk_bytes;
	uint64_t slots_at, chunks_at;
	uint64_t start_tick;
	uint64_t tick_hz;
	uint32_t clock, shift, policy;
};

/* What changes in the header, and texts that are needed seldom. */
struct func_traced_header {
	uint8_t bytes[FUNC_BUFFER_HEADER];
};

/* As it was said by the file, but bounded. */
struct func_traced_chunk {
	uint32_t number;
	uint32_t state; /* FUNC_CHUNK_WRITING or FUNC_CHUNK_FULL */
	uint32_t stream;
	int32_t tid;
	uint32_t flags;
	uint32_t used;
	uint64_t sequence;
	uint64_t tick;
	uint64_t before;
	uint64_t lost;
	bool is_bad; /* it cannot be so */
};

/* By stream, then by sequence. If a record has more than fit, those with a high sequence are left
 * for later. */
struct func_traced_chunks {
	uint32_t n;
	uint32_t full; /* of them, and of those that were left */
	struct func_traced_chunk at[FUNC_TRACED_CHUNKS];
};

struct func_traced_slot {
	uint32_t stream;
	int32_t tid;
	uint64_t lost, events;
	char comm[SCHED_COMM_LEN];
};

/* Who asked for a record. */
struct func_traced_owner {
	int32_t pid;
	char comm[SCHED_COMM_LEN]; /* from outside */
};

/* Makes the record, empty, and its maps. */
int func_traced_open(struct func_traced *t, int folder, const struct func_traced_owner *owner,
		     uint64_t bytes, struct error *e);

/* Takes up one that an earlier agent made. Its process may be gone since. -ENOENT: no record. */
int func_traced_take(struct func_traced *t, int folder, const char *name, struct error *e);

/* The descriptors stay with the caller of this, the file where it is. */
void func_traced_close(struct func_traced *t);

/* The files, too. */
void func_traced_remove(struct func_traced *t);

/* A descriptor of a file beside the record; -errno. */
int func_traced_beside(const struct func_traced *t, const char *suffix, int flags);

/* Is this the process that had the record made? */
bool func_traced_is_gone(const struct func_traced *t);

/* Has the process the record mapped? After execve it has not. If nobody can say, it has. */
bool func_traced_is_mapped(const struct func_traced *t);

/* 1: the header was read, and is_known is set; 0: it is not complete yet; -EBADMSG: it never will
 * be. */
int func_traced_look(struct func_traced *t, struct func_traced_header *ret, struct error *e);

void func_traced_get_chunks(const struct func_traced *t, struct func_traced_chunks *ret);

/* Copies bytes of a chunk. -ESTALE: it is another by now. */
int func_traced_read(const struct func_traced *t, const struct func_traced_chunk *c, uint32_t at,
		     uint8_t *out, uint32_t len);

/* A chunk that is FULL goes back to the process; unless it takes them itself (FUNC_FLIGHT). */
void func_traced_give_back(struct func_traced *t, const struct func_traced_chunk *c);

/* Thread by thread from *at = 0 on; false: there is none. */
bool func_traced_next_slot(const struct func_traced *t, uint32_t *at, struct func_traced_slot *ret);

/* A word of the header. */
void func_traced_put(const struct func_traced *t, enum func_buffer_header at, uint32_t value);

#endif
