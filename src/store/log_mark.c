/* SPDX-License-Identifier: MIT */
/* log_mark: see log_mark.h. */
#include "store/log_mark.h"

#include <string.h>

#include "store/checksum.h"
#include "wire/varint.h"

#define VERSION 1U

static uint32_t checksum(const uint8_t head[LOG_MARK_HEAD])
{
	return checksum_crc32c(checksum_crc32c(0, head, 12), head + 16, LOG_MARK_HEAD - 16);
}

void log_mark_encode(uint8_t out[LOG_MARK_HEAD], const struct log_mark *m)
{
	memset(out, 0, LOG_MARK_HEAD);
	memcpy(out, LOG_MARK_MAGIC, 8);
	out[8] = VERSION;
	put_le32(out + 16, m->number);
	put_le32(out + 20, m->next_run);
	put_le64(out + 24, m->len);
	put_le32(out + 12, checksum(out));
}

bool log_mark_decode(struct log_mark *ret, const uint8_t *in, size_t len)
{
	if (len < LOG_MARK_HEAD || memcmp(in, LOG_MARK_MAGIC, 8) || in[8] != VERSION ||
	    get_le32(in + 12) != checksum(in))
		return false;
	*ret = (struct log_mark){ .number = get_le32(in + 16),
				  .next_run = get_le32(in + 20),
				  .len = get_le64(in + 24),
				  .copies = in + LOG_MARK_HEAD,
				  .copies_len = len - LOG_MARK_HEAD };
	return true;
}

void log_mark_put_place(uint8_t out[LOG_MARK_ENTRY], uint64_t place)
{
	put_le64(out, place);
}

bool log_mark_next(const struct log_mark *m, size_t *at, uint64_t *ret_place,
		   struct log_record *ret)
{
	const uint8_t *p;
	size_t left;

	for (; *at + LOG_MARK_ENTRY + LOG_RECORD_HEAD <= m->copies_len; ++*at) {
		p = m->copies + *at + LOG_MARK_ENTRY;
		left = m->copies_len - *at - LOG_MARK_ENTRY;
		/* A copy that is damaged itself is passed over, byte by byte. */
		if (log_record_decode(p, left, ret) != WIRE_OK ||
		    (ret->kind != LOG_RUN && ret->kind != LOG_DEVICE))
			continue;
		*ret_place = get_le64(p - LOG_MARK_ENTRY);
		*at += LOG_MARK_ENTRY + ret->len;
		return true;
	}
	return false;
}
