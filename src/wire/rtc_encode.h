/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rtc_encode: records into the bits of the published real-time codec (docs/format/rtc.md,
 * sections 2 to 6).
 *
 * The state is fixed in size and lies in memory of the caller: three dictionaries and an
 * accumulator of bits. Records of one encoder stand in one piece of bits; rtc_encoder_init() starts
 * the next with empty dictionaries.
 */
#ifndef KISEKI_WIRE_RTC_ENCODE_H
#define KISEKI_WIRE_RTC_ENCODE_H

#include "wire/rtc.h"

/* A dictionary that is asked for an address. Entries are numbered 1, 2, … as they are written; the
 * last 2^Nd - 1 are in it. Those with the same hash are chained from the newest to the oldest,
 * so a chain ends at the first that has been dropped and nothing need be unchained. */
struct rtc_finder {
	uint32_t written; /* entries so far: the misses */
	uint32_t pointer; /* address of the next one, by the write pointer */
	uint64_t key[RTC_PLACES_MAX];
	uint32_t older[RTC_PLACES_MAX];	 /* by number: the one before it in its chain, 0 none */
	uint32_t newest[RTC_PLACES_MAX]; /* by hash: the first of its chain */
	uint16_t address[RTC_PLACES_MAX];
};

struct rtc_encoder {
	struct rtc_params params;
	uint8_t *out;
	size_t len;	  /* whole bytes written */
	size_t room;	  /* bytes there are */
	size_t need;	  /* bytes that any record has room in, carry records apart */
	uint64_t bits;	  /* the last `pending` of these are not written yet */
	uint32_t pending; /* below 32 */
	uint32_t zero_bits;
	bool counts_zero;
	uint32_t records;    /* that were given, of which */
	uint32_t os_records; /* were of the operating system */
	uint32_t carries;    /* carry records beside them */
	struct rtc_finder ids;
	struct rtc_finder types;
	struct rtc_finder values;
};

/* False: the parameters are not valid. `out` is written up to `room` bytes. */
bool rtc_encoder_init(struct rtc_encoder *e, const struct rtc_params *p, uint8_t *out, size_t room);

/* WIRE_FULL: there may not be room for it, or this encoder has seen UINT32_MAX records.
 * WIRE_CORRUPT: the parameters cannot hold it. In both cases nothing was written. */
enum wire_status rtc_encode(struct rtc_encoder *e, const struct rtc_record *r);

/* Bits so far. */
uint64_t rtc_encoder_bits(const struct rtc_encoder *e);

/* Writes the last bits, and zeros up to the end of their byte; returns the length in bytes. Only
 * rtc_encoder_init() may follow. */
size_t rtc_encoder_end(struct rtc_encoder *e);

#endif
