/* SPDX-License-Identifier: MIT */
/* profile_meta: see profile_meta.h. */
#include "device/profile/profile_meta.h"

#define ITEM_HEAD 16U /* bytes that an item takes beside its rows, at most */

static uint8_t *payload_of(struct profile_meta *m)
{
	return m->room + BLOCK_HEADER_MAX;
}

void profile_meta_init(struct profile_meta *m, struct block_out *out)
{
	memset(m, 0, sizeof(*m));
	m->out = out;
	m->p = payload_of(m);
}

static void close_item(struct profile_meta *m)
{
	if (m->open)
		m->p = meta_item_end(m->body, m->p);
	m->open = (enum meta_item)0;
}

void profile_meta_flush(struct profile_meta *m)
{
	struct block b = { .codec = CODEC_META, .flags = BLOCK_KEY, .stream = STREAM_META };

	close_item(m);
	b.payload_len = (uint32_t)(m->p - payload_of(m));
	m->p = payload_of(m);
	if (!b.payload_len)
		return;
	b.sequence = m->sequence;
	if (m->out->put(m->out, &b, payload_of(m), true) < 0) {
		m->missed++;
		m->is_missing = true;
		return;
	}
	m->sequence++;
	m->is_back |= m->is_missing;
	m->is_missing = false;
}

bool profile_meta_take_back(struct profile_meta *m)
{
	bool is_back = m->is_back;

	m->is_back = false;
	return is_back;
}

uint8_t *profile_meta_begin(struct profile_meta *m)
{
	profile_meta_flush(m);
	return m->p;
}

void profile_meta_end(struct profile_meta *m, uint8_t *behind)
{
	m->p = behind;
	profile_meta_flush(m);
}

/* The place for a row of an item, with so much text. */
static uint8_t *begin_row(struct profile_meta *m, enum meta_item item, uint32_t text)
{
	uint32_t need = SAMPLE_META_ROW_ROOM + text + ITEM_HEAD;

	if (m->open && m->open != item)
		close_item(m);
	if ((uint32_t)(m->p - payload_of(m)) + need > SPOOL_META_MOST)
		profile_meta_flush(m);
	if (!m->open) {
		m->body = m->p = meta_item_begin(m->p, item);
		m->open = item;
	}
	return m->p;
}

void profile_meta_put_mapping(struct profile_meta *m, const struct sample_mapping *row)
{
	struct sample_mapping r = *row;

	if (m->told)
		m->tell(m->told, row);
	if (r.path_len > PROFILE_META_PATH_MAX) {
		r.path += r.path_len - PROFILE_META_PATH_MAX;
		r.path_len = PROFILE_META_PATH_MAX;
	}
	m->p = sample_meta_put_mapping(begin_row(m, META_MAPPED, r.path_len), &r);
}

void profile_meta_put_encoded(struct profile_meta *m, const uint8_t *row, uint32_t len)
{
	uint8_t *p = begin_row(m, META_MAPPED, len);

	memcpy(p, row, len);
	m->p = p + len;
}

void profile_meta_put_life(struct profile_meta *m, const struct sample_life_row *row)
{
	m->p = sample_meta_put_life(begin_row(m, META_LIFE, row->comm_len), row);
}

void profile_meta_put_kernel_name(struct profile_meta *m, const struct sample_kernel_name *row)
{
	struct sample_kernel_name r = *row;

	if (r.name_len > PROFILE_META_PATH_MAX)
		r.name_len = PROFILE_META_PATH_MAX;
	m->p = sample_meta_put_kernel_name(begin_row(m, META_KERNEL_NAMES, r.name_len), &r);
}

void profile_meta_put_pace(struct profile_meta *m, const struct sample_pace_row *row)
{
	m->p = sample_meta_put_pace(begin_row(m, META_PACE, 0), row);
}
