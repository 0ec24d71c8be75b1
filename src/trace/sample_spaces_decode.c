/* SPDX-License-Identifier: MIT */
/*
 * sample_spaces: see sample_spaces.h. Here its rows out of metadata (docs/format/wire.md, section 7; wire/sample_meta_decode.h);
 * sample_spaces.c has the tables.
 */
#include <errno.h>

#include "trace/sample_spaces.h"
#include "wire/meta.h"
#include "wire/sample_meta_decode.h"

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
			ret = sample_meta_get_sampling(&r.item, sampling) ? 0 : -EBADMSG;
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
