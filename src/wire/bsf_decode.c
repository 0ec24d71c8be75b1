/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * bsf_decode: see bsf_decode.h and docs/format/bsf.md, section 6.
 *
 * Invariant of the tail pass: `end` bytes of the block are not read yet, and a record lies at their
 * end. Nothing is read before the length that says so was checked against `end`.
 */
#include "wire/bsf_decode.h"

/* The five texts in the order they stand in the string section. */
enum { COMM, CPU, SECS, USEC, NEXT_CPU, TEXTS };

void bsf_log_init(struct bsf_log *log, struct bsf_entry *entries, size_t room)
{
	memset(log, 0, sizeof(*log));
	log->entries = entries;
	log->room = room;
	log->first = entries;
}

static uint64_t get_le(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

/* Section 5. Fills the fields of the binary header and the five lengths; false if the header cannot
 * be one. */
static bool get_header(const uint8_t *p, struct bsf_record *r, uint32_t len[TEXTS])
{
	uint64_t low = get_le(p, 8), high = get_le(p + 8, 8);
	uint32_t rest = (uint32_t)get_le(p + 16, 2);

	len[COMM] = low & 31;
	len[CPU] = low >> 5 & 3;
	len[SECS] = low >> 7 & 31;
	len[USEC] = low >> 12 & 31;
	len[NEXT_CPU] = low >> 17 & 3;
	r->entry_type = low >> 19 & 3;
	r->prev_state = low >> 21 & 7;
	r->next_state = low >> 24 & 7;
	r->entry_pid = (int32_t)(uint32_t)(low >> 27);
	r->prev_pid = (int32_t)(uint32_t)(low >> 59 | high << 5);
	r->next_pid = (int32_t)(uint32_t)(high >> 27);
	r->prev_prio = (uint8_t)(high >> 59 | rest << 5);
	r->next_prio = (uint8_t)(rest >> 3);
	return rest >> 11 == 0 && (len[COMM] <= BSF_COMM_LEN || len[COMM] == BSF_COMM_EMPTY) &&
	       len[SECS] <= 10 && len[USEC] <= 6;
}

static bool get_comm(const uint8_t *p, uint32_t len, char comm[BSF_COMM_LEN])
{
	uint32_t i;

	memset(comm, 0, BSF_COMM_LEN);
	for (i = 0; i < len; i++) {
		if (!p[i])
			return false;
		comm[i] = (char)p[i];
	}
	return true;
}

/* Decimal digits only; the lengths keep it below 10^10. */
static bool get_decimal(const uint8_t *p, uint32_t len, uint64_t *ret)
{
	uint64_t v = 0;
	uint32_t i;

	for (i = 0; i < len; i++) {
		if (p[i] < '0' || p[i] > '9')
			return false;
		v = v * 10 + (p[i] - '0');
	}
	*ret = v;
	return true;
}

/* The string section: a text of length 0 gets its mark, any other its value. */
static bool get_strings(const uint8_t *p, const uint32_t len[TEXTS], struct bsf_entry *entry)
{
	struct bsf_record *r = &entry->rec;
	uint64_t number[TEXTS] = { 0 };
	uint32_t i;

	if (len[COMM] == 0)
		entry->missing |= BSF_TEXT_COMM;
	else if (len[COMM] != BSF_COMM_EMPTY) {
		if (!get_comm(p, len[COMM], r->comm))
			return false;
		p += len[COMM];
	}
	for (i = CPU; i < TEXTS; i++) {
		if (len[i] == 0)
			entry->missing |= (uint8_t)(1U << i);
		else if (!get_decimal(p, len[i], &number[i]))
			return false;
		p += len[i];
	}
	r->cpu = (uint16_t)number[CPU];
	r->secs = number[SECS];
	r->usec_rem = (uint32_t)number[USEC];
	r->next_cpu = (uint16_t)number[NEXT_CPU];
	return true;
}

/* Reads the record that ends at `end`; returns where it starts, or `end` if there is none. */
static size_t get_record(const uint8_t *data, size_t end, struct bsf_entry *entry)
{
	uint32_t len[TEXTS];
	size_t strings;

	memset(entry, 0, sizeof(*entry));
	if (end < BSF_HEADER_LEN || !get_header(data + end - BSF_HEADER_LEN, &entry->rec, len))
		return end;
	strings = (len[COMM] == BSF_COMM_EMPTY ? 0 : len[COMM]) + len[CPU] + len[SECS] + len[USEC] +
		  len[NEXT_CPU];
	if (strings > end - BSF_HEADER_LEN)
		return end;
	if (!get_strings(data + end - BSF_HEADER_LEN - strings, len, entry))
		return end;
	return end - BSF_HEADER_LEN - strings;
}

enum wire_status bsf_log_decode(struct bsf_log *log, const uint8_t *data, size_t len)
{
	size_t end = len, free_entries = log->room, start;

	log->first = log->entries;
	log->count = 0;
	log->bad_offset = 0;
	if (len > BSF_BLOCK_MAX) {
		log->bad_offset = BSF_BLOCK_MAX;
		return WIRE_CORRUPT;
	}
	/* The number of records shows only at the head, so the log fills from its end as well. */
	while (end) {
		if (!free_entries)
			return WIRE_FULL;
		start = get_record(data, end, &log->entries[free_entries - 1]);
		if (start == end) {
			log->bad_offset = end < BSF_HEADER_LEN ? 0 : end - BSF_HEADER_LEN;
			return WIRE_CORRUPT;
		}
		end = start;
		free_entries--;
	}
	log->first = log->entries + free_entries;
	log->count = log->room - free_entries;
	return WIRE_OK;
}

static void fill_entry(struct bsf_entry *entry, const struct bsf_record *before)
{
	struct bsf_record *r = &entry->rec;

	if (entry->missing & BSF_TEXT_COMM)
		memcpy(r->comm, before->comm, BSF_COMM_LEN);
	if (entry->missing & BSF_TEXT_CPU)
		r->cpu = before->cpu;
	if (entry->missing & BSF_TEXT_SECS)
		r->secs = before->secs;
	if (entry->missing & BSF_TEXT_USEC)
		r->usec_rem = before->usec_rem;
	if (entry->missing & BSF_TEXT_NEXT_CPU)
		r->next_cpu = before->next_cpu;
	entry->missing = 0;
}

enum wire_status bsf_log_fill(struct bsf_log *log)
{
	size_t i;

	if (log->count && log->first[0].missing) {
		/* A block stands alone, so nothing can be left out of its first record. */
		log->count = 0;
		log->bad_offset = 0;
		return WIRE_CORRUPT;
	}
	for (i = 1; i < log->count; i++)
		fill_entry(&log->first[i], &log->first[i - 1].rec);
	return WIRE_OK;
}

enum wire_status bsf_decode(struct bsf_log *log, const uint8_t *data, size_t len)
{
	enum wire_status status = bsf_log_decode(log, data, len);

	return status == WIRE_OK ? bsf_log_fill(log) : status;
}
