/* SPDX-License-Identifier: MIT */
/*
 * log: the bytes of a log file (docs/format/store.md, sections 2 and 3).
 *
 *	head of 32 bytes: magic, version, checksum, number of the file, lowest free run, time
 *	records: head of 24 bytes, body
 *
 * A record's head has a checksum over itself and over the body; where the body is a block, which
 * has its own, over the block's first eight bytes only, which hold that. So a record vouches for
 * all of its bytes, and storing a block does not read its payload.
 */
#ifndef KISEKI_STORE_LOG_H
#define KISEKI_STORE_LOG_H

#include "wire/block.h"
#include "wire/message.h"

#define LOG_MAGIC "KISKLOG\n"
#define LOG_VERSION 1
#define LOG_HEAD_LEN 32U
#define LOG_RECORD_MAGIC0 0xc5
#define LOG_RECORD_MAGIC1 0x4c
#define LOG_RECORD_HEAD 24U
#define LOG_BODY_MAX (BLOCK_HEADER_MAX + BLOCK_PAYLOAD_MAX)
#define LOG_FILES_MAX (1U << 20)

enum log_kind {
	LOG_RUN = 1,	/* declares a run, with all that was known of it before this file */
	LOG_DEVICE = 2, /* what is known of a device */
	LOG_BLOCK = 3,
	LOG_END = 4,   /* the body of an END message */
	LOG_CLOCK = 5, /* the run's clock against the collector's */
	LOG_CLOSE = 6, /* its END can never come: the device has booted since */
	LOG_KEEP = 7,  /* a block of stream 0 that lay in a file which is removed */
	LOG_KINDS = 8,
};

struct log_head {
	uint32_t number;   /* of the file */
	uint32_t next_run; /* the lowest number that no run had when the file was made */
	uint64_t time_ns;
};

struct log_record {
	uint8_t kind;
	uint32_t run;
	uint64_t time_ns; /* of arrival, CLOCK_REALTIME */
	const uint8_t *body;
	uint32_t body_len;
	uint32_t len;	    /* of the whole record */
	struct block block; /* of LOG_BLOCK and LOG_KEEP */
};

void log_head_encode(uint8_t out[LOG_HEAD_LEN], const struct log_head *h);
enum wire_status log_head_decode(const uint8_t *in, size_t len, struct log_head *ret);

/* The head of a record whose body is r->body of r->body_len bytes. */
void log_record_encode(uint8_t out[LOG_RECORD_HEAD], const struct log_record *r);

/* The record at `in`; its body is borrowed. WIRE_MORE: the bytes end before it does. */
enum wire_status log_record_decode(const uint8_t *in, size_t len, struct log_record *ret);

/* The same for bytes that this process has made: no checksum is looked at. */
enum wire_status log_record_peek(const uint8_t *in, size_t len, struct log_record *ret);

static inline bool log_kind_is_block(uint8_t kind)
{
	return kind == LOG_BLOCK || kind == LOG_KEEP;
}

#endif
