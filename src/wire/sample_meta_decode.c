/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* sample_meta_decode: see sample_meta_decode.h. */
#include "wire/sample_meta_decode.h"

#include "wire/sched_event.h"

static bool take_pid(struct byte_reader *r, int32_t *ret)
{
	int64_t v = reader_signed(r);

	*ret = (int32_t)v;
	return !r->bad && v == *ret;
}

static bool take_text(struct byte_reader *r, uint32_t most, const char **ret, uint32_t *ret_len)
{
	uint64_t len = reader_varint(r);
	const uint8_t *text = reader_bytes(r, len);

	if (r->bad || len > most)
		return false;
	*ret = (const char *)text;
	*ret_len = (uint32_t)len;
	return true;
}

/* From and size; to is behind it. */
static bool take_range(struct byte_reader *r, uint64_t *ret_from, uint64_t *ret_to)
{
	uint64_t from = reader_varint(r), size = reader_varint(r);

	if (r->bad || !size || size > UINT64_MAX - from)
		return false;
	*ret_from = from;
	*ret_to = from + size;
	return true;
}

bool sample_meta_get_sampling(struct byte_reader *r, struct sample_sampling *ret)
{
	uint64_t period = reader_varint(r), jitter = reader_varint(r);
	uint64_t collector = reader_varint(r), method = reader_varint(r);
	uint64_t exits = reader_varint(r), has = reader_varint(r);

	if (r->bad || jitter > UINT32_MAX || collector > UINT8_MAX || method > UINT8_MAX ||
	    exits > UINT8_MAX || has > UINT32_MAX)
		return false;
	ret->period = period;
	ret->jitter = (uint32_t)jitter;
	ret->collector = (uint8_t)collector;
	ret->method = (uint8_t)method;
	ret->exits = (uint8_t)exits;
	ret->has = (uint32_t)has;
	return true;
}

bool sample_meta_get_mapping(struct byte_reader *r, struct sample_mapping *ret)
{
	const uint8_t *id;
	uint64_t id_len;

	memset(ret, 0, sizeof(*ret));
	if (!take_pid(r, &ret->pid))
		return false;
	ret->tick = reader_varint(r);
	if (!take_range(r, &ret->from, &ret->to))
		return false;
	ret->offset = reader_varint(r);
	id_len = reader_varint(r);
	id = reader_bytes(r, id_len);
	if (r->bad || id_len > SAMPLE_BUILD_ID_MAX)
		return false;
	ret->build_id_len = (uint8_t)id_len;
	if (id_len)
		memcpy(ret->build_id, id, (size_t)id_len);
	return take_text(r, SAMPLE_META_TEXT_MAX, &ret->path, &ret->path_len);
}

bool sample_meta_get_life(struct byte_reader *r, struct sample_life_row *ret)
{
	uint64_t what;

	memset(ret, 0, sizeof(*ret));
	if (!take_pid(r, &ret->pid) || !take_pid(r, &ret->parent))
		return false;
	ret->tick = reader_varint(r);
	what = reader_varint(r);
	if (r->bad || what > SAMPLE_LIFE_END)
		return false;
	ret->what = (uint8_t)what;
	return take_text(r, SAMPLE_META_TEXT_MAX, &ret->comm, &ret->comm_len);
}

bool sample_meta_get_kernel_name(struct byte_reader *r, struct sample_kernel_name *ret)
{
	memset(ret, 0, sizeof(*ret));
	return take_range(r, &ret->from, &ret->to) &&
	       take_text(r, SAMPLE_META_TEXT_MAX, &ret->name, &ret->name_len);
}

bool sample_meta_get_pace(struct byte_reader *r, struct sample_pace_row *ret)
{
	uint64_t what;

	memset(ret, 0, sizeof(*ret));
	ret->tick = reader_varint(r);
	what = reader_varint(r);
	ret->period = reader_varint(r);
	if (r->bad || what > UINT8_MAX)
		return false;
	ret->what = (uint8_t)what;
	return true;
}

bool sample_meta_get_table(struct byte_reader *r, struct sample_table_row *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (!take_pid(r, &ret->pid) || !take_pid(r, &ret->tid))
		return false;
	ret->tick = reader_varint(r);
	ret->is_end = reader_varint(r) & 1;
	ret->table = reader_varint(r);
	ret->task = reader_varint(r);
	return take_text(r, SCHED_COMM_LEN, &ret->comm, &ret->comm_len);
}

bool sample_meta_get_link(struct byte_reader *r, struct guest_link_row *ret)
{
	uint64_t what;

	memset(ret, 0, sizeof(*ret));
	ret->tick = reader_varint(r);
	what = reader_varint(r);
	ret->error_ns = reader_varint(r);
	if (r->bad || what > UINT8_MAX)
		return false;
	ret->what = (uint8_t)what;
	return take_text(r, GUEST_LINK_NOTE_MAX, &ret->note, &ret->note_len);
}
