/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rtc: what the encoder and the decoder of the published real-time codec both know
 * (docs/format/rtc.md).
 *
 * A record is a difference of time and either the start or the end of a function, or what the
 * operating system did. Times lose their leading zeros; the rest goes through three small
 * dictionaries, of which that of functions expects the end of what started, and the other way
 * round. All widths are parameters. The published rules know no difference that is wider than its
 * field, and none of zero; carry records (section 5) add these without changing a bit of
 * the others.
 */
#ifndef KISEKI_WIRE_RTC_H
#define KISEKI_WIRE_RTC_H

#include "wire/types.h"

#define RTC_VERSION 1U

#define RTC_TIME_BITS_MIN 2U /* of one bit there are no leading zeros to count */
#define RTC_TIME_BITS_MAX 64U
#define RTC_ID_BITS_MAX 32U
#define RTC_TYPE_BITS_MAX 32U
#define RTC_VALUE_BITS_MAX 64U
#define RTC_ADDRESS_BITS_MAX 10U
#define RTC_PLACES_MAX (1U << RTC_ADDRESS_BITS_MAX) /* one of which is the miss */

/* Where a dictionary puts what is new. The paper names both; they cost the same bits. */
enum rtc_placing {
	RTC_NEWEST_FIRST = 0,  /* at address 0; all others move up by one */
	RTC_WRITE_POINTER = 1, /* where the oldest was; nothing moves */
};

struct rtc_params {
	uint8_t time_bits;	    /* Nt */
	uint8_t id_bits;	    /* of a function */
	uint8_t type_bits;	    /* of an information's type */
	uint8_t value_bits;	    /* of its value */
	uint8_t id_address_bits;    /* Nd of the functions' dictionary */
	uint8_t type_address_bits;  /* Nd of the types' */
	uint8_t value_address_bits; /* Nd of the values' */
	uint8_t placing;	    /* enum rtc_placing */
};

/* Those of the paper's experiment. */
#define RTC_PARAMS_PUBLISHED                                                                       \
	{                                                                                          \
		23, 16, 7, 16, 3, 3, 3, RTC_NEWEST_FIRST                                           \
	}

enum rtc_kind {
	RTC_START = 0, /* of a function */
	RTC_END = 1,
	RTC_OS = 2,
};

struct rtc_record {
	uint64_t difference; /* of time, to the record before */
	uint64_t value;	     /* START, END: the function's id; OS: the information's value */
	uint32_t type;	     /* OS only, below rtc_carry_type() */
	uint8_t kind;	     /* enum rtc_kind */
};

static inline bool rtc_params_valid(const struct rtc_params *p)
{
	return p->time_bits >= RTC_TIME_BITS_MIN && p->time_bits <= RTC_TIME_BITS_MAX &&
	       p->id_bits >= 1 && p->id_bits <= RTC_ID_BITS_MAX && p->type_bits >= 1 &&
	       p->type_bits <= RTC_TYPE_BITS_MAX && p->value_bits >= 1 &&
	       p->value_bits <= RTC_VALUE_BITS_MAX && p->id_address_bits >= 1 &&
	       p->id_address_bits <= RTC_ADDRESS_BITS_MAX && p->type_address_bits >= 1 &&
	       p->type_address_bits <= RTC_ADDRESS_BITS_MAX && p->value_address_bits >= 1 &&
	       p->value_address_bits <= RTC_ADDRESS_BITS_MAX && p->placing <= RTC_WRITE_POINTER;
}

/* Bits of the largest number of n <= 64 bits. */
static inline uint64_t rtc_mask(uint32_t n)
{
	return n ? UINT64_MAX >> (64 - n) : 0;
}

/* How many bits v has without its leading zeros. */
static inline uint32_t rtc_width(uint64_t v)
{
	return v ? 64 - (uint32_t)__builtin_clzll(v) : 0;
}

/* Nzero = floor(log2(Nt - 1)) + 1, the field that counts leading zeros (section 3). */
static inline uint32_t rtc_zero_bits(const struct rtc_params *p)
{
	return rtc_width((uint64_t)p->time_bits - 1);
}

/* Whether Nzero bits can say Nt zeros, which is a difference of 0: not where Nt is a power of 2. */
static inline bool rtc_counts_zero(const struct rtc_params *p)
{
	return p->time_bits <= rtc_mask(rtc_zero_bits(p));
}

/* The information type that says: part of the next record's difference. */
static inline uint32_t rtc_carry_type(const struct rtc_params *p)
{
	return (uint32_t)rtc_mask(p->type_bits);
}

#endif
