/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * bsf_encode: see bsf_encode.h and docs/format/bsf.md, sections 3 to 5.
 *
 * There is no 64-bit division here: a 32-bit kernel has none. The one number wider than 32 bits,
 * the seconds, loses its first digit by subtraction and fits then.
 */
#include "wire/bsf_encode.h"

#define BILLION 1000000000U

void bsf_encoder_init(struct bsf_encoder *e)
{
	memset(e, 0, sizeof(*e));
}

static size_t comm_len(const char comm[BSF_COMM_LEN])
{
	size_t n = 0;

	while (n < BSF_COMM_LEN && comm[n])
		n++;
	return n;
}

bool bsf_record_valid(const struct bsf_record *r)
{
	size_t i;

	for (i = comm_len(r->comm); i < BSF_COMM_LEN; i++)
		if (r->comm[i])
			return false;
	return r->secs <= BSF_SECS_MAX && r->usec_rem <= BSF_USEC_MAX && r->cpu <= BSF_CPU_MAX &&
	       r->next_cpu <= BSF_CPU_MAX && r->prev_state <= BSF_STATE_MAX &&
	       r->next_state <= BSF_STATE_MAX && r->entry_type <= BSF_TYPE_MAX;
}

/* The digits of v without leading zeros; returns how many. */
static uint32_t put_decimal(uint8_t *out, uint32_t v)
{
	uint8_t digits[10];
	uint32_t n = 0, i;

	do {
		digits[n++] = (uint8_t)('0' + v % 10);
		v /= 10;
	} while (v);
	for (i = 0; i < n; i++)
		out[i] = digits[n - 1 - i];
	return n;
}

static uint32_t put_secs(uint8_t *out, uint64_t secs)
{
	uint8_t first = '0';
	uint32_t v, i;

	if (secs < BILLION)
		return put_decimal(out, (uint32_t)secs);
	for (; secs >= BILLION; secs -= BILLION)
		first++;
	out[0] = first;
	v = (uint32_t)secs;
	for (i = 9; i > 0; i--) {
		out[i] = (uint8_t)('0' + v % 10);
		v /= 10;
	}
	return 10;
}

static void put_le(uint8_t *out, uint64_t v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		out[i] = (uint8_t)(v >> (8 * i));
}

/* Section 5: bit i of the header is bit i % 8 of its byte i / 8, so the 139 bits are two
 * little-endian words of 64 bits and the rest. */
static void put_header(uint8_t *out, uint32_t lengths, const struct bsf_record *r)
{
	uint32_t entry = (uint32_t)r->entry_pid, prev = (uint32_t)r->prev_pid;
	uint32_t next = (uint32_t)r->next_pid;
	uint32_t small = lengths | (uint32_t)r->entry_type << 19 | (uint32_t)r->prev_state << 21 |
			 (uint32_t)r->next_state << 24;

	put_le(out, small | (uint64_t)entry << 27 | (uint64_t)prev << 59, 8);
	put_le(out + 8, prev >> 5 | (uint64_t)next << 27 | (uint64_t)r->prev_prio << 59, 8);
	put_le(out + 16, (uint32_t)r->prev_prio >> 5 | (uint32_t)r->next_prio << 3, 2);
}

/* Writes at most BSF_RECORD_MAX bytes and does not touch the state. */
static size_t put_record(const struct bsf_encoder *e, uint8_t *out, const struct bsf_record *r)
{
	const struct bsf_record *last = &e->last;
	bool all = !e->started;
	uint32_t lengths = 0, n;
	size_t at = 0;

	if (all || memcmp(r->comm, last->comm, BSF_COMM_LEN)) {
		n = (uint32_t)comm_len(r->comm);
		memcpy(out, r->comm, n);
		lengths = n ? n : BSF_COMM_EMPTY;
		at = n;
	}
	if (all || r->cpu != last->cpu) {
		n = put_decimal(out + at, r->cpu);
		lengths |= n << 5;
		at += n;
	}
	if (all || r->secs != last->secs) {
		n = put_secs(out + at, r->secs);
		lengths |= n << 7;
		at += n;
	}
	if (all || r->usec_rem != last->usec_rem) {
		n = put_decimal(out + at, r->usec_rem);
		lengths |= n << 12;
		at += n;
	}
	if (all || r->next_cpu != last->next_cpu) {
		n = put_decimal(out + at, r->next_cpu);
		lengths |= n << 17;
		at += n;
	}
	put_header(out + at, lengths, r);
	return at + BSF_HEADER_LEN;
}

size_t bsf_encode(struct bsf_encoder *e, uint8_t *out, size_t room, const struct bsf_record *r)
{
	uint8_t small[BSF_RECORD_MAX];
	size_t len;

	if (!bsf_record_valid(r))
		return 0;
	if (room >= BSF_RECORD_MAX) {
		len = put_record(e, out, r);
	} else {
		len = put_record(e, small, r);
		if (len > room)
			return 0;
		memcpy(out, small, len);
	}
	e->last = *r;
	e->started = true;
	return len;
}
