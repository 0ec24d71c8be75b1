/* SPDX-License-Identifier: MIT */
/*
 * log_scan: a view out of the bytes of a whole log file, and the bodies of the small records.
 *
 * The last file of a store ends at its first unsound record: what lies behind was never
 * acknowledged, and if it came back later than it was cut, the device has sent it again. Whole
 * records behind it can be those of a write that was broken off, too, so it is cut all the same; but
 * what is cut off is kept, and somebody is told (local.c). In an older file unsound bytes are damage, and the records behind them are searched.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/log_view.h"

/* Bytes checked in vain while searching, per byte of the file: honest damage needs almost none. */
#define SEARCH_RATIO 8U

static uint64_t find_record(const struct log_scan *s, uint64_t at, uint64_t *left)
{
	struct log_record r;
	const uint8_t *p;

	while (at < s->len) {
		p = memchr(s->data + at, LOG_RECORD_MAGIC0, (size_t)(s->len - at));
		if (!p)
			break;
		at = (uint64_t)(p - s->data);
		if (log_record_peek(p, (size_t)(s->len - at), &r) == WIRE_OK) {
			if (r.len > *left)
				break;
			*left -= r.len;
			if (log_record_decode(p, (size_t)(s->len - at), &r) == WIRE_OK)
				return at;
		}
		at++;
	}
	return s->len;
}

bool log_scan_finds(const struct log_scan *scan, uint64_t at)
{
	uint64_t left = (uint64_t)scan->len * SEARCH_RATIO;

	return find_record(scan, at, &left) < scan->len;
}

static void say(const struct log_scan *s, uint64_t at, uint64_t len, const char *what)
{
	if (s->on_damage)
		s->on_damage(s->context, at, len, what);
}

static int scan_records(struct log_view *v, const struct log_scan *s)
{
	uint64_t at = LOG_HEAD_LEN, left = (uint64_t)s->len * SEARCH_RATIO, next;
	struct log_record r;
	int error;

	while (at < s->len) {
		if (log_record_decode(s->data + at, (size_t)(s->len - at), &r) == WIRE_OK) {
			error = log_view_apply(v, &r, (uint32_t)at, NULL);
			if (error < 0 && error != -EBADMSG)
				return error;
			if (error < 0)
				say(s, at, r.len, "a record that contradicts those before it");
			at += r.len;
			v->size = at;
			continue;
		}
		next = s->to_the_end ? find_record(s, at + 1, &left) : s->len;
		say(s, at, next - at, "not a record, or a checksum is wrong");
		error = s->to_the_end ? log_view_damage(v, at, next, s->mark) : 0;
		if (error < 0)
			return error;
		at = next;
	}
	if (!s->to_the_end || !s->mark || s->mark->len <= s->len)
		return 0;
	say(s, s->len, s->mark->len - s->len, "the end of the file is gone");
	return log_view_damage(v, s->len, s->mark->len, s->mark);
}

int log_view_scan(struct log_view **ret, const struct log_scan *scan, struct error *e)
{
	CLEANUP(log_view) struct log_view *v = NULL;
	struct log_head head;
	int r;

	if (scan->len > UINT32_MAX)
		return error_set(e, EFBIG, "the log file is too large");
	if (log_head_decode(scan->data, scan->len, &head) != WIRE_OK) {
		if (!scan->to_the_end)
			return error_set(e, EBADMSG, "not a log file of version %u", LOG_VERSION);
		head = (struct log_head){ .number = scan->number };
		say(scan, 0, LOG_HEAD_LEN, "not the head of a log file");
	}
	v = log_view_new(&head);
	r = v ? scan_records(v, scan) : -ENOMEM;
	if (r < 0)
		return error_set(e, r, "cannot read the log: %s", strerror(-r));
	*ret = take_ptr(v);
	return 0;
}

/* --- the bodies of small records --- */

static uint8_t *put_text(uint8_t *p, const char *text)
{
	size_t len = strnlen(text, STORE_NAME_MAX - 1);

	p = varint_put(p, len);
	memcpy(p, text, len);
	return p + len;
}

static void get_text(struct byte_reader *r, char out[STORE_NAME_MAX])
{
	uint64_t len = reader_varint(r);
	const uint8_t *p = reader_bytes(r, len);

	if (!p || len >= STORE_NAME_MAX) {
		r->bad = true;
		return;
	}
	memcpy(out, p, (size_t)len);
	out[len] = 0;
}

size_t log_device_encode(uint8_t out[LOG_DEVICE_ROOM], const struct store_device *d)
{
	uint8_t *p = out;

	memcpy(p, d->id.bytes, 16);
	p = varint_put(p + 16, d->cpus);
	p = varint_put(p, d->seen_ns);
	p = put_text(p, d->name);
	p = put_text(p, d->kernel);
	p = put_text(p, d->machine);
	p = put_text(p, d->agent);
	return (size_t)(p - out);
}

int log_device_decode(struct store_device *ret, const uint8_t *in, size_t len)
{
	struct store_device d = { 0 };
	struct byte_reader r;
	const uint8_t *id;

	reader_init(&r, in, len);
	id = reader_bytes(&r, 16);
	if (!id)
		return -EBADMSG;
	memcpy(d.id.bytes, id, 16);
	d.cpus = (uint32_t)reader_varint(&r);
	d.seen_ns = reader_varint(&r);
	get_text(&r, d.name);
	get_text(&r, d.kernel);
	get_text(&r, d.machine);
	get_text(&r, d.agent);
	if (r.bad)
		return -EBADMSG;
	*ret = d;
	return 0;
}

size_t log_clock_encode(uint8_t out[3 * VARINT_MAX], const struct store_clock *c)
{
	uint8_t *p = varint_put(out, c->device_ns);

	p = varint_put_signed(p, c->off_ns);
	return (size_t)(varint_put(p, c->err_ns) - out);
}

int log_clock_decode(struct store_clock *ret, const uint8_t *in, size_t len)
{
	struct store_clock c = { 0 };
	struct byte_reader r;

	reader_init(&r, in, len);
	c.device_ns = reader_varint(&r);
	c.off_ns = reader_signed(&r);
	c.err_ns = reader_varint(&r);
	if (r.bad)
		return -EBADMSG;
	*ret = c;
	return 0;
}

int log_end_encode(const struct message_end *m, uint8_t **ret, size_t *ret_len)
{
	size_t room = (1 + 3 * (size_t)m->n_rows) * VARINT_MAX;
	struct message_end rows = *m;
	struct message_stream_end row;
	struct byte_writer w;

	*ret = malloc(room);
	if (!*ret)
		return -ENOMEM;
	writer_init(&w, *ret, room);
	end_encode(&w, m);
	while (end_next(&rows, &row))
		end_put(&w, &row);
	*ret_len = writer_len(&w);
	return 0;
}
