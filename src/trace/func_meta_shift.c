/* SPDX-License-Identifier: MIT */
/* func_meta_shift: see func_meta_shift.h. */
#include "trace/func_meta_shift.h"

#include <errno.h>

#include "trace/func_source.h"
#include "wire/meta.h"
#include "wire/meta_encode.h"

bool func_meta_shift_wants(const uint8_t *in, size_t len)
{
	struct meta_reader r;

	meta_reader_init(&r, in, len);
	while (meta_reader_next(&r) == WIRE_OK)
		if (r.type >= META_PROCESSES && r.type <= META_NAMES)
			return true;
	return false;
}

static uint8_t *put_bytes(uint8_t *p, const uint8_t *from, const uint8_t *to)
{
	memcpy(p, from, (size_t)(to - from));
	return p + (to - from);
}

/* A number of a row that is moved; bad ones, and those that are moved too far, make the reader so. */
static uint8_t *put_number(uint8_t *p, struct byte_reader *r, uint32_t by, uint32_t most,
			   uint32_t *next)
{
	uint64_t number = reader_varint(r);

	if (number >= most || number + by >= most)
		r->bad = true;
	if (r->bad)
		return p;
	number += by;
	if (number >= *next)
		*next = (uint32_t)number + 1;
	return varint_put(p, number);
}

static uint8_t *put_process_number(struct func_meta_shift *s, uint8_t *p, struct byte_reader *r)
{
	return put_number(p, r, s->processes, FUNC_PROCESSES_MAX, &s->next_process);
}

/* Steps over a varint, and that many bytes. */
static void pass_text(struct byte_reader *r)
{
	reader_bytes(r, reader_varint(r));
}

static uint8_t *put_processes(struct func_meta_shift *s, uint8_t *p, struct byte_reader *r)
{
	const uint8_t *rest;

	while (reader_left(r) && !r->bad) {
		p = put_process_number(s, p, r);
		rest = r->at;
		reader_signed(r);
		reader_signed(r);
		reader_varint(r);
		pass_text(r);
		pass_text(r);
		if (!r->bad)
			p = put_bytes(p, rest, r->at);
	}
	return p;
}

static uint8_t *put_threads(struct func_meta_shift *s, uint8_t *p, struct byte_reader *r)
{
	const uint8_t *rest;

	while (reader_left(r) && !r->bad) {
		p = put_number(p, r, s->threads, FUNC_THREADS_MAX, &s->next_thread);
		p = put_process_number(s, p, r);
		rest = r->at;
		reader_signed(r);
		reader_varint(r);
		pass_text(r);
		if (!r->bad)
			p = put_bytes(p, rest, r->at);
	}
	return p;
}

/* Mappings and names are one process's, and do not name it again. */
static uint8_t *put_owned(struct func_meta_shift *s, uint8_t *p, struct byte_reader *r)
{
	p = put_process_number(s, p, r);
	return r->bad ? p : put_bytes(p, r->at, r->at + reader_left(r));
}

static uint8_t *put_item(struct func_meta_shift *s, uint8_t *p, struct meta_reader *r)
{
	uint8_t *body = meta_item_begin(p, (uint8_t)r->type);

	switch (r->type) {
	case META_PROCESSES:
		p = put_processes(s, body, &r->item);
		break;
	case META_THREADS:
		p = put_threads(s, body, &r->item);
		break;
	case META_MAPPINGS:
	case META_NAMES:
		p = put_owned(s, body, &r->item);
		break;
	default:
		p = put_bytes(body, r->item.at, r->item.at + reader_left(&r->item));
	}
	return meta_item_end(body, p);
}

ssize_t func_meta_shift_encode(struct func_meta_shift *s, const uint8_t *in, size_t len,
			       uint8_t *out)
{
	enum wire_status status;
	struct meta_reader r;
	uint8_t *p = out;

	meta_reader_init(&r, in, len);
	while ((status = meta_reader_next(&r)) == WIRE_OK) {
		if (r.type < META_PROCESSES || r.type > META_NAMES)
			continue;
		p = put_item(s, p, &r);
		if (r.item.bad)
			return -EBADMSG;
	}
	return status == WIRE_CORRUPT ? -EBADMSG : p - out;
}
