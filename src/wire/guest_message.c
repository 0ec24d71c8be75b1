/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* guest_message: see guest_message.h. */
#include "wire/guest_message.h"

static const uint8_t magic[4] = { 'K', 'S', 'K', 'G' };

/* --- frames --- */

uint8_t *guest_frame_begin(uint8_t *p, enum guest_frame type)
{
	*p = (uint8_t)type;
	return p + GUEST_HEAD_LEN;
}

/* Three bytes also where fewer would do: the length is known at the end. */
uint8_t *guest_frame_end(uint8_t *body, uint8_t *p)
{
	uint32_t len = (uint32_t)(p - body);

	body[-3] = (uint8_t)(len | 0x80);
	body[-2] = (uint8_t)(len >> 7 | 0x80);
	body[-1] = (uint8_t)(len >> 14);
	return p;
}

enum wire_status guest_frame_decode(const uint8_t *in, size_t len, struct frame *ret)
{
	enum wire_status status = frame_decode(in, len, ret);

	return ret->body_len > GUEST_BODY_MAX ? WIRE_CORRUPT : status;
}

/* --- writing --- */

static uint8_t *put_bytes(uint8_t *p, const void *data, uint32_t len)
{
	if (len)
		memcpy(p, data, len);
	return p + len;
}

static uint8_t *put_text(uint8_t *p, const struct guest_text *t)
{
	uint32_t len = t->len < GUEST_TEXT_MAX ? t->len : GUEST_TEXT_MAX;

	return put_bytes(varint_put(p, len), t->at, len);
}

static uint8_t *put_id(uint8_t *p, const struct guest_id *id)
{
	return put_bytes(varint_put(p, id->len), id->bytes, id->len);
}

uint8_t *guest_put_hello(uint8_t *p, const struct guest_hello *m)
{
	uint8_t *body = guest_frame_begin(p, GUEST_HELLO);

	p = put_bytes(body, magic, sizeof(magic));
	p = varint_put(p, m->version);
	p = varint_put(p, m->can);
	p = put_bytes(p, m->uuid, GUEST_UUID_LEN);
	p = put_text(p, &m->kernel);
	p = put_text(p, &m->machine);
	return guest_frame_end(body, put_text(p, &m->name));
}

uint8_t *guest_put_pong(uint8_t *p, const struct guest_pong *m)
{
	uint8_t *body = guest_frame_begin(p, GUEST_PONG);

	return guest_frame_end(body, varint_put(varint_put(body, m->number), m->ns));
}

uint8_t *guest_put_object(uint8_t *p, const struct guest_object *m)
{
	uint8_t *body = guest_frame_begin(p, GUEST_OBJECT);

	p = put_id(body, &m->id);
	p = varint_put(p, m->size);
	p = varint_put(p, m->offset);
	return guest_frame_end(body, put_bytes(p, m->bytes, m->len));
}

uint8_t *guest_put_names(uint8_t *p, const struct guest_names *m)
{
	uint8_t *body = guest_frame_begin(p, GUEST_NAMES);
	uint32_t i;

	for (i = 0, p = body; i < m->n; i++)
		p = varint_put(p, m->address[i]);
	return guest_frame_end(body, p);
}

uint8_t *guest_put_fetch(uint8_t *p, const struct guest_id *id)
{
	uint8_t *body = guest_frame_begin(p, GUEST_FETCH);

	return guest_frame_end(body, put_id(body, id));
}

uint8_t *guest_put_number(uint8_t *p, enum guest_frame type, uint64_t v)
{
	uint8_t *body = guest_frame_begin(p, type);

	return guest_frame_end(body, varint_put(body, v));
}

/* --- reading --- */

static bool take_text(struct byte_reader *r, struct guest_text *ret)
{
	uint64_t len = reader_varint(r);

	ret->at = (const char *)reader_bytes(r, len);
	ret->len = r->bad ? 0 : (uint32_t)len;
	return !r->bad && len <= GUEST_TEXT_MAX;
}

static bool take_id(struct byte_reader *r, struct guest_id *ret)
{
	uint64_t len = reader_varint(r);
	const uint8_t *bytes = reader_bytes(r, len);

	if (r->bad || !len || len > SAMPLE_BUILD_ID_MAX)
		return false;
	ret->len = (uint8_t)len;
	memcpy(ret->bytes, bytes, (size_t)len);
	return true;
}

bool guest_get_hello(const struct frame *f, struct guest_hello *ret)
{
	const uint8_t *head, *uuid;
	uint64_t version, can;
	struct byte_reader r;

	reader_init(&r, f->body, f->body_len);
	head = reader_bytes(&r, sizeof(magic));
	version = reader_varint(&r);
	can = reader_varint(&r);
	uuid = reader_bytes(&r, GUEST_UUID_LEN);
	if (r.bad || memcmp(head, magic, sizeof(magic)) != 0 || !version || version > UINT32_MAX)
		return false;
	ret->version = (uint32_t)version;
	ret->can = (uint32_t)can;
	memcpy(ret->uuid, uuid, GUEST_UUID_LEN);
	return take_text(&r, &ret->kernel) && take_text(&r, &ret->machine) &&
	       take_text(&r, &ret->name);
}

bool guest_get_pong(const struct frame *f, struct guest_pong *ret)
{
	struct byte_reader r;

	reader_init(&r, f->body, f->body_len);
	ret->number = reader_varint(&r);
	ret->ns = reader_varint(&r);
	return !r.bad;
}

bool guest_get_object(const struct frame *f, struct guest_object *ret)
{
	struct byte_reader r;
	size_t left;

	reader_init(&r, f->body, f->body_len);
	if (!take_id(&r, &ret->id))
		return false;
	ret->size = reader_varint(&r);
	ret->offset = reader_varint(&r);
	left = reader_left(&r);
	ret->bytes = r.at;
	ret->len = (uint32_t)left;
	return !r.bad && ret->size <= GUEST_OBJECT_MAX && ret->offset <= ret->size &&
	       left <= GUEST_PIECE_MAX && left <= ret->size - ret->offset && (left || !ret->size);
}

bool guest_get_names(const struct frame *f, struct guest_names *ret)
{
	struct byte_reader r;

	reader_init(&r, f->body, f->body_len);
	for (ret->n = 0; reader_left(&r); ret->n++) {
		if (ret->n == GUEST_NAMES_MAX)
			return false;
		ret->address[ret->n] = reader_varint(&r);
	}
	return !r.bad;
}

bool guest_get_fetch(const struct frame *f, struct guest_id *ret)
{
	struct byte_reader r;

	reader_init(&r, f->body, f->body_len);
	return take_id(&r, ret);
}

bool guest_get_number(const struct frame *f, uint64_t *ret)
{
	struct byte_reader r;

	reader_init(&r, f->body, f->body_len);
	*ret = reader_varint(&r);
	return !r.bad;
}
