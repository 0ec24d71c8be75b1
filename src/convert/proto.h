/* SPDX-License-Identifier: MIT */
/*
 * proto: writes protocol buffer messages into a buffer of fixed size.
 *
 * The length of a nested message stands before its content and is not known yet when the content
 * is written. Its varint is written at a chosen fixed width (redundant leading groups are valid and
 * every reader takes them), so that it is filled in place and nothing is moved. One byte does for
 * messages under 128 bytes, two under 16 KiB, four under 256 MiB.
 *
 * What does not fit is not written and sets `full`; callers size their buffers so that it never
 * happens and assert it.
 */
#ifndef KISEKI_CONVERT_PROTO_H
#define KISEKI_CONVERT_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proto {
	uint8_t *data;
	size_t len;
	size_t room;
	bool full;
};

/* Varint fields: the second for int32, int64 (negative numbers take ten bytes). */
void proto_uint(struct proto *p, uint32_t field, uint64_t value);
void proto_int(struct proto *p, uint32_t field, int64_t value);
void proto_bytes(struct proto *p, uint32_t field, const void *data, size_t len);
void proto_text(struct proto *p, uint32_t field, const char *text);

/* A nested message; its length will fit into `width` varint bytes. Returns the mark for the end. */
size_t proto_begin(struct proto *p, uint32_t field, unsigned int width);
void proto_end(struct proto *p, size_t mark, unsigned int width);

#endif
