/* SPDX-License-Identifier: MIT */
/*
 * sample_spaces: see sample_spaces.h. Here its rows out of metadata (docs/format/wire.md, section 7; wire/sample_meta.h);
 * sample_spaces.c has the tables.
 */
#include <errno.h>
#include <string.h>

#include "trace/sample_spaces.h"
#include "wire/meta.h"
#include "wire/sample_meta_decode.h"

static int take_pid(struct byte_reader *r, int32_t *ret)
{
	int64_t v = reader_signed(r);

	if (r->bad || v < INT32_MIN || v > INT32_MAX)
		return -EBADMSG;
	*ret = (int32_t)v;
	return 0;
}

static int take_text(struct byte_reader *r, const char **ret, uint32_t *ret_len)
{
	uint64_t len = reader_varint(r);
	const uint8_t *text = reader_bytes(r, len);

	if (r->bad || len > SAMPLE_PATH_MAX)
		return -EBADMSG;
	*ret = (const char *)text;
	*ret_len = (uint32_t)len;
	return 0;
}

/* From and size; to is behind it. */
static int take_range(struct byte_reader *r, uint64_t *ret_from, uint64_t *ret_to)
{
	uint64_t from = reader_varint(r), size = reader_varint(r);

	if (r->bad || !size || size > UINT64_MAX - from)
		return -EBADMSG;
	*ret_from = from;
	*ret_to = from + size;
	return 0;
}

static int take_mapping(struct sample_spaces *s, struct byte_reader *r)
{
	struct sample_mapping m = { 0 };
	uint64_t id_len;
	const uint8_t *id;
	int ret = take_pid(r, &m.pid);

	if (ret < 0)
		return ret;
	m.tick = reader_varint(r);
	ret = take_range(r, &m.from, &m.to);
	m.offset = reader_varint(r);
	id_len = reader_varint(r);
	id = reader_bytes(r, id_len);
	if (ret < 0 || r->bad || id_len > SAMPLE_BUILD_ID_MAX)
		return -EBADMSG;
	m.build_id_len = (uint8_t)id_len;
	if (id_len)
		memcpy(m.build_id, id, (size_t)id_len);
	ret = take_text(r, &m.path, &m.path_len);
	return ret < 0 ? ret : sample_spaces_add_mapping(s, &m);
}

static int take_life(struct sample_spaces *s, struct byte_reader *r)
{
	struct sample_life_row l = { 0 };
	uint64_t what;
	int ret = take_pid(r, &l.pid);

	if (ret == 0)
		ret = take_pid(r, &l.parent);
	l.tick = reader_varint(r);
	what = reader_varint(r);
	if (ret < 0 || what > SAMPLE_LIFE_END)
		return -EBADMSG;
	l.what = (uint8_t)what;
	ret = take_text(r, &l.comm, &l.comm_len);
	return ret < 0 ? ret : sample_spaces_add_life(s, &l);
}

static int take_kernel(struct sample_spaces *s, struct byte_reader *r)
{
	struct sample_kernel_name k = { 0 };
	int ret = take_range(r, &k.from, &k.to);

	if (ret == 0)
		ret = take_text(r, &k.name, &k.name_len);
	return ret < 0 ? ret : sample_spaces_add_kernel(s, &k);
}

static int take_rows(struct sample_spaces *s, struct byte_reader *r,
		     int (*take)(struct sample_spaces *s, struct byte_reader *r))
{
	int ret = 0;

	while (ret == 0 && reader_left(r))
		ret = take(s, r);
	return ret;
}

int sample_spaces_decode(struct sample_spaces *s, struct sample_sampling *sampling,
			 const uint8_t *in, size_t len)
{
	struct meta_reader r;
	enum wire_status status;
	int ret = 0;

	meta_reader_init(&r, in, len);
	while (ret == 0 && (status = meta_reader_next(&r)) == WIRE_OK) {
		if (r.type == META_SAMPLING)
			ret = sample_meta_get_sampling(sampling, &r.item) == WIRE_OK ? 0 : -EBADMSG;
		else if (r.type == META_MAPPED)
			ret = take_rows(s, &r.item, take_mapping);
		else if (r.type == META_LIFE)
			ret = take_rows(s, &r.item, take_life);
		else if (r.type == META_KERNEL_NAMES)
			ret = take_rows(s, &r.item, take_kernel);
	}
	if (ret < 0)
		return ret;
	return status == WIRE_MORE ? 0 : -EBADMSG;
}
