/* SPDX-License-Identifier: MIT */
/* proto: see proto.h. */
#include "convert/proto.h"

#include <string.h>

#define VARINT_MAX 10U

enum { TYPE_VARINT = 0, TYPE_BYTES = 2 };

static bool fits(struct proto *p, size_t len)
{
	if (p->full || p->room - p->len < len)
		p->full = true;
	return !p->full;
}

static void put_varint(struct proto *p, uint64_t v)
{
	if (!fits(p, VARINT_MAX))
		return;
	for (; v >= 0x80; v >>= 7)
		p->data[p->len++] = (uint8_t)(v | 0x80);
	p->data[p->len++] = (uint8_t)v;
}

static void put_tag(struct proto *p, uint32_t field, uint32_t type)
{
	put_varint(p, (uint64_t)field << 3 | type);
}

void proto_uint(struct proto *p, uint32_t field, uint64_t value)
{
	put_tag(p, field, TYPE_VARINT);
	put_varint(p, value);
}

void proto_int(struct proto *p, uint32_t field, int64_t value)
{
	proto_uint(p, field, (uint64_t)value);
}

void proto_bytes(struct proto *p, uint32_t field, const void *data, size_t len)
{
	put_tag(p, field, TYPE_BYTES);
	put_varint(p, len);
	if (!len || !fits(p, len))
		return;
	memcpy(p->data + p->len, data, len);
	p->len += len;
}

void proto_text(struct proto *p, uint32_t field, const char *text)
{
	proto_bytes(p, field, text, strlen(text));
}

size_t proto_begin(struct proto *p, uint32_t field, unsigned int width)
{
	put_tag(p, field, TYPE_BYTES);
	if (fits(p, width))
		p->len += width;
	return p->len;
}

void proto_end(struct proto *p, size_t mark, unsigned int width)
{
	size_t len = p->len - mark;
	unsigned int i;

	if (p->full)
		return;
	if (len >> (7 * width)) {
		p->full = true;
		return;
	}
	for (i = 0; i < width; i++, len >>= 7)
		p->data[mark - width + i] = (uint8_t)((len & 0x7f) | (i + 1 < width ? 0x80 : 0));
}
