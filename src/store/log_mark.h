/* SPDX-License-Identifier: MIT */
/*
 * log_mark: what a log file must have (docs/format/store.md, section 2.1): how long it was when the
 * last commit returned, and copies of the records that say whose runs are in it.
 *
 *	head of 32 bytes: magic, version, checksum, number of the file, lowest free run, length
 *	copies: where the record stands in the log, 8 bytes; the record
 *
 * It is written behind the commit that it tells of, and not synced: a process that is killed leaves
 * it exact, a machine that loses power some seconds behind. So what it says was durable is durable.
 * Below its length a place without a record is damage; beyond it, an unfinished write.
 */
#ifndef KISEKI_STORE_LOG_MARK_H
#define KISEKI_STORE_LOG_MARK_H

#include "store/log.h"

#define LOG_MARK_MAGIC "KISKMRK\n"
#define LOG_MARK_HEAD 32U
#define LOG_MARK_ENTRY 8U /* before each copy */

struct log_mark {
	uint32_t number;   /* of the log file */
	uint32_t next_run; /* the lowest number that no run had yet */
	uint64_t len;	   /* of the log file, when it was last durable */
	const uint8_t *copies;
	size_t copies_len;
};

void log_mark_encode(uint8_t out[LOG_MARK_HEAD], const struct log_mark *m);
/* False: it is no mark. `in` stays where it is. */
bool log_mark_decode(struct log_mark *ret, const uint8_t *in, size_t len);

void log_mark_put_place(uint8_t out[LOG_MARK_ENTRY], uint64_t place);
/* The next copy: its place, and the record, whose checksum is right. False: there are no more. */
bool log_mark_next(const struct log_mark *m, size_t *at, uint64_t *ret_place,
		   struct log_record *ret);

#endif
