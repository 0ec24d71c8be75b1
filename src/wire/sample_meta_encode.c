/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* sample_meta_encode: see sample_meta_encode.h. */
#include "wire/sample_meta_encode.h"

static uint8_t *put_bytes(uint8_t *p, const void *data, uint32_t len)
{
	p = varint_put(p, len);
	if (len)
		memcpy(p, data, len);
	return p + len;
}

uint8_t *sample_meta_put_sampling(uint8_t *p, const struct sample_sampling *s)
{
	uint8_t *body = meta_item_begin(p, META_SAMPLING);

	p = varint_put(body, s->period);
	p = varint_put(p, s->jitter);
	p = varint_put(p, s->collector);
	p = varint_put(p, s->method);
	p = varint_put(p, s->exits);
	p = varint_put(p, s->has);
	return meta_item_end(body, p);
}

uint8_t *sample_meta_put_mapping(uint8_t *p, const struct sample_mapping *r)
{
	p = varint_put_signed(p, r->pid);
	p = varint_put(p, r->tick);
	p = varint_put(p, r->from);
	p = varint_put(p, r->to - r->from);
	p = varint_put(p, r->offset);
	p = put_bytes(p, r->build_id, r->build_id_len);
	return put_bytes(p, r->path, r->path_len);
}

uint8_t *sample_meta_put_life(uint8_t *p, const struct sample_life_row *r)
{
	p = varint_put_signed(p, r->pid);
	p = varint_put_signed(p, r->parent);
	p = varint_put(p, r->tick);
	p = varint_put(p, r->what);
	return put_bytes(p, r->comm, r->comm_len);
}

uint8_t *sample_meta_put_kernel_name(uint8_t *p, const struct sample_kernel_name *r)
{
	p = varint_put(p, r->from);
	p = varint_put(p, r->to - r->from);
	return put_bytes(p, r->name, r->name_len);
}

uint8_t *sample_meta_put_pace(uint8_t *p, const struct sample_pace_row *r)
{
	p = varint_put(p, r->tick);
	p = varint_put(p, r->what);
	return varint_put(p, r->period);
}

uint8_t *sample_meta_put_guest(uint8_t *p, int32_t vm)
{
	return varint_put_signed(p, vm);
}

uint8_t *sample_meta_put_table(uint8_t *p, const struct sample_table_row *r)
{
	p = varint_put_signed(p, r->pid);
	p = varint_put_signed(p, r->tid);
	p = varint_put(p, r->tick);
	p = varint_put(p, r->is_end);
	p = varint_put(p, r->table);
	p = varint_put(p, r->task);
	return put_bytes(p, r->comm, r->comm_len);
}
