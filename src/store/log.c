/* SPDX-License-Identifier: MIT */
/* log: see log.h. */
#include "store/log.h"

#include "store/checksum.h"
#include "wire/varint.h"

#define BLOCK_VOUCHED 8U /* bytes of a block that the record's checksum covers */

void log_head_encode(uint8_t out[LOG_HEAD_LEN], const struct log_head *h)
{
	memset(out, 0, LOG_HEAD_LEN);
	memcpy(out, LOG_MAGIC, 8);
	out[8] = LOG_VERSION;
	put_le32(out + 16, h->number);
	put_le32(out + 20, h->next_run);
	put_le64(out + 24, h->time_ns);
	put_le32(out + 12,
		 checksum_crc32c(checksum_crc32c(0, out, 12), out + 16, LOG_HEAD_LEN - 16));
}

enum wire_status log_head_decode(const uint8_t *in, size_t len, struct log_head *ret)
{
	if (len < LOG_HEAD_LEN)
		return WIRE_MORE;
	if (memcmp(in, LOG_MAGIC, 8) || in[8] != LOG_VERSION ||
	    get_le32(in + 12) !=
		    checksum_crc32c(checksum_crc32c(0, in, 12), in + 16, LOG_HEAD_LEN - 16))
		return WIRE_CORRUPT;
	ret->number = get_le32(in + 16);
	ret->next_run = get_le32(in + 20);
	ret->time_ns = get_le64(in + 24);
	return WIRE_OK;
}

static uint32_t checksum(const uint8_t head[LOG_RECORD_HEAD], const uint8_t *body, uint32_t len)
{
	uint32_t crc = checksum_crc32c(0, head, 4);

	crc = checksum_crc32c(crc, head + 8, LOG_RECORD_HEAD - 8);
	if (log_kind_is_block(head[2]) && len > BLOCK_VOUCHED)
		len = BLOCK_VOUCHED;
	return len ? checksum_crc32c(crc, body, len) : crc;
}

void log_record_encode(uint8_t out[LOG_RECORD_HEAD], const struct log_record *r)
{
	out[0] = LOG_RECORD_MAGIC0;
	out[1] = LOG_RECORD_MAGIC1;
	out[2] = r->kind;
	out[3] = 0;
	put_le32(out + 8, r->run);
	put_le32(out + 12, r->body_len);
	put_le64(out + 16, r->time_ns);
	put_le32(out + 4, checksum(out, r->body, r->body_len));
}

static enum wire_status read_head(const uint8_t *in, size_t len, struct log_record *ret)
{
	if (len < LOG_RECORD_HEAD)
		return WIRE_MORE;
	if (in[0] != LOG_RECORD_MAGIC0 || in[1] != LOG_RECORD_MAGIC1 || in[3] || !in[2] ||
	    in[2] >= LOG_KINDS)
		return WIRE_CORRUPT;
	ret->kind = in[2];
	ret->run = get_le32(in + 8);
	ret->body_len = get_le32(in + 12);
	ret->time_ns = get_le64(in + 16);
	if (ret->body_len > LOG_BODY_MAX)
		return WIRE_CORRUPT;
	ret->len = LOG_RECORD_HEAD + ret->body_len;
	ret->body = in + LOG_RECORD_HEAD;
	return ret->len > len ? WIRE_MORE : WIRE_OK;
}

static enum wire_status read_block(struct log_record *r, bool checked)
{
	enum wire_status status = checked ? checksum_decode_block(r->body, r->body_len, &r->block)
					  : block_peek(r->body, r->body_len, &r->block);

	return status == WIRE_OK && r->block.len == r->body_len ? WIRE_OK : WIRE_CORRUPT;
}

enum wire_status log_record_peek(const uint8_t *in, size_t len, struct log_record *ret)
{
	enum wire_status status = read_head(in, len, ret);

	return status == WIRE_OK && log_kind_is_block(ret->kind) ? read_block(ret, false) : status;
}

enum wire_status log_record_decode(const uint8_t *in, size_t len, struct log_record *ret)
{
	enum wire_status status = read_head(in, len, ret);

	if (status != WIRE_OK)
		return status;
	if (get_le32(in + 4) != checksum(in, ret->body, ret->body_len))
		return WIRE_CORRUPT;
	return log_kind_is_block(ret->kind) ? read_block(ret, true) : WIRE_OK;
}
