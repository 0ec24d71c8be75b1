/* SPDX-License-Identifier: MIT */
/*
 * page: the records of one page of the kernel's ring buffer.
 *
 *	u64 time_stamp | long commit | data … [long count of missed events]
 *
 * commit holds the bytes of data in its low 27 bits, bit 31 when events were lost before this page,
 * and bit 30 when their number is stored behind the data. Each record starts with 32 bits: five
 * say what it is or how long, 27 are the time since the record before.
 */
#ifndef KISEKI_FTRACE_PAGE_H
#define KISEKI_FTRACE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PAGE_MISSED 0x80000000U	       /* in commit: events are missing before this page */
#define PAGE_MISSED_STORED 0x40000000U /* in commit: their number is behind the data */
#define PAGE_COMMIT_MASK 0x07ffffffU

#define PAGE_DELTA_BITS 27
#define PAGE_TYPE_DATA_MAX 28U /* up to here the type is the data's length in words, 0: see array */
#define PAGE_TYPE_PADDING 29U
#define PAGE_TYPE_TIME_EXTEND 30U
#define PAGE_TYPE_TIME_STAMP 31U

struct page_layout {
	uint16_t commit_offset;
	uint16_t data_offset;
	uint8_t long_size; /* of the traced kernel: 4 or 8 */
	bool big_endian;
};

struct page_record {
	const uint8_t *data;
	uint32_t len; /* with the padding to a multiple of four */
	uint64_t stamp;
};

struct page {
	const uint8_t *at, *end;
	uint64_t stamp;	 /* of the last record, at first of the page */
	uint64_t missed; /* events lost before this page; LOSS_UNKNOWN if only the fact is known */
	bool big_endian;
};

void page_layout_init(struct page_layout *l, unsigned int long_size, bool big_endian);

/* From the kernel's description, events/header_page. */
int page_layout_parse(struct page_layout *l, const char *text, size_t len, bool big_endian,
		      struct error *e);

/* The page's bytes must outlive the iteration. 0, or -EBADMSG and the cause. */
int page_open(struct page *p, const struct page_layout *l, const uint8_t *bytes, size_t len,
	      struct error *e);

/* 1: the next record with data; 0: the end; -EBADMSG: a record overruns the page, e says where. */
int page_next(struct page *p, struct page_record *ret, struct error *e);

/* The stamp in a page's head, without opening it; len must be at least data_offset. */
uint64_t page_get_stamp(const struct page_layout *l, const uint8_t *bytes);

#endif
