/* SPDX-License-Identifier: MIT */
/*
 * page: see page.h. Padding with a time of zero ends a page; any other is a discarded event, whose
 * time still counts because the events after it were measured from it. A time stamp record has 59
 * bits; the five above them do not change within a page and are taken from the stamp before.
 */
#include "ftrace/page.h"

#include <errno.h>

#include "ftrace/bytes.h"
#include "ftrace/format.h"
#include "wire/loss.h"

#define STAMP_HIGH_BITS (0xf8ULL << 56)

void page_layout_init(struct page_layout *l, unsigned int long_size, bool big_endian)
{
	l->commit_offset = 8;
	l->long_size = (uint8_t)long_size;
	l->data_offset = (uint16_t)(8 + long_size);
	l->big_endian = big_endian;
}

int page_layout_parse(struct page_layout *l, const char *text, size_t len, bool big_endian,
		      struct error *e)
{
	const struct format_field *stamp, *commit, *data;
	struct format f;
	int r;

	r = format_parse(&f, text, len, e);
	if (r < 0)
		return error_prefix(e, -r, "description of the ring buffer's pages");
	stamp = format_get_field(&f, "timestamp");
	commit = format_get_field(&f, "commit");
	data = format_get_field(&f, "data");
	if (!stamp || !commit || !data || stamp->offset != 0 || stamp->size != 8 ||
	    (commit->size != 4 && commit->size != 8) || commit->offset < 8 ||
	    data->offset < commit->offset + commit->size)
		return error_set(e, EBADMSG,
				 "description of the ring buffer's pages: not a layout of 3.x "
				 "kernels or later");
	l->commit_offset = commit->offset;
	l->data_offset = data->offset;
	l->long_size = (uint8_t)commit->size;
	l->big_endian = big_endian;
	return 0;
}

int page_open(struct page *p, const struct page_layout *l, const uint8_t *bytes, size_t len,
	      struct error *e)
{
	uint64_t commit;
	uint32_t size;

	if (len < l->data_offset)
		return error_set(e, EBADMSG, "ring-buffer page of %zu bytes has no head", len);
	commit = bytes_get_long(bytes + l->commit_offset, l->long_size, l->big_endian);
	size = (uint32_t)commit & PAGE_COMMIT_MASK;
	if (size > len - l->data_offset)
		return error_set(e, EBADMSG,
				 "ring-buffer page says %u bytes of data, has room "
				 "for %zu",
				 size, len - l->data_offset);
	p->at = bytes + l->data_offset;
	p->end = p->at + size;
	p->stamp = bytes_get64(bytes, l->big_endian);
	p->big_endian = l->big_endian;
	p->missed = 0;
	if (!(commit & PAGE_MISSED))
		return 0;
	p->missed = LOSS_UNKNOWN;
	if ((commit & PAGE_MISSED_STORED) && len - l->data_offset - size >= l->long_size)
		p->missed = bytes_get_long(p->end, l->long_size, l->big_endian);
	return 0;
}

static int overrun(const char *what, struct error *e)
{
	return error_set(e, EBADMSG, "ring-buffer page: %s overruns the data", what);
}

/* What p->at points to after the head word; *ret_len is set only for data. */
static int step(struct page *p, uint32_t type, uint32_t delta, uint32_t *ret_len, struct error *e)
{
	size_t left = (size_t)(p->end - p->at);
	uint32_t word;

	if (type && type <= PAGE_TYPE_DATA_MAX) {
		p->stamp += delta;
		*ret_len = type * 4;
		return *ret_len <= left ? 1 : overrun("a record", e);
	}
	if (type == PAGE_TYPE_PADDING && !delta) {
		p->at = p->end;
		return 0;
	}
	if (left < 4)
		return overrun("a record's second word", e);
	word = bytes_get32(p->at, p->big_endian);
	if (type == PAGE_TYPE_TIME_STAMP) {
		p->stamp = (p->stamp & STAMP_HIGH_BITS) | (uint64_t)word << PAGE_DELTA_BITS | delta;
		p->at += 4;
		return 0;
	}
	if (type == PAGE_TYPE_TIME_EXTEND) {
		p->stamp += ((uint64_t)word << PAGE_DELTA_BITS) + delta;
		p->at += 4;
		return 0;
	}
	p->stamp += delta;
	if (word > left)
		return overrun(type ? "a discarded record" : "a long record", e);
	if (type == PAGE_TYPE_PADDING) {
		p->at += word;
		return 0;
	}
	/* The length counts its own word. */
	word = (word + 3) & ~3U;
	if (word < 4 || word > left)
		return overrun("a long record", e);
	p->at += 4;
	*ret_len = word - 4;
	return 1;
}

int page_next(struct page *p, struct page_record *ret, struct error *e)
{
	uint32_t head, type, delta, len = 0;
	int r;

	while (p->end - p->at >= 4) {
		head = bytes_get32(p->at, p->big_endian);
		/* Bit fields are laid out from the other end on big-endian machines. */
		type = p->big_endian ? head >> PAGE_DELTA_BITS : head & 31;
		delta = p->big_endian ? head & ((1U << PAGE_DELTA_BITS) - 1) : head >> 5;
		p->at += 4;
		r = step(p, type, delta, &len, e);
		if (r < 0) {
			p->at = p->end;
			return r;
		}
		if (r > 0) {
			ret->data = p->at;
			ret->len = len;
			ret->stamp = p->stamp;
			p->at += len;
			return 1;
		}
	}
	if (p->at == p->end)
		return 0;
	p->at = p->end;
	return overrun("the last record", e);
}

uint64_t page_get_stamp(const struct page_layout *l, const uint8_t *bytes)
{
	return bytes_get64(bytes, l->big_endian);
}
