/* SPDX-License-Identifier: MIT */
/*
 * sample_spaces: see sample_spaces.h. Here its rows out of metadata (docs/format/wire.md, section 7; wire/sample_meta_decode.h);
 * sample_spaces.c has the tables.
 */
#include <errno.h>

#include "trace/sample_spaces.h"
#include "wire/meta.h"
#include "wire/sample_meta_decode.h"

static int take_sampling(struct sample_sampling *s, struct byte_reader *r)
{
	uint64_t period = reader_varint(r), jitter = reader_varint(r);
	uint64_t collector = reader_varint(r), method = reader_varint(r);
	uint64_t exits = reader_varint(r), has = reader_varint(r);

	if (r->bad || jitter > UINT32_MAX || collector > UINT8_MAX || method > UINT8_MAX ||
	    exits > UINT8_MAX || has > UINT32_MAX)
		return -EBADMSG;
	*s = (struct sample_sampling){ .period = period,
				       .jitter = (uint32_t)jitter,
				       .collector = (uint8_t)collector,
				       .method = (uint8_t)method,
				       .exits = (uint8_t)exits,
				       .has = (uint32_t)has };
	return 0;
}

static int take_mapping(struct sample_spaces *s, struct byte_reader *r)
{
	struct sample_mapping m;

	return sample_meta_get_mapping(r, &m) ? sample_spaces_add_mapping(s, &m) : -EBADMSG;
}

static int take_life(struct sample_spaces *s, struct byte_reader *r)
{
	struct sample_life_row l;

	return sample_meta_get_life(r, &l) ? sample_spaces_add_life(s, &l) : -EBADMSG;
}

static int take_kernel(struct sample_spaces *s, struct byte_reader *r)
{
	struct sample_kernel_name k;

	return sample_meta_get_kernel_name(r, &k) ? sample_spaces_add_kernel(s, &k) : -EBADMSG;
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
			ret = take_sampling(sampling, &r.item);
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
