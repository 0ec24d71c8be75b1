/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* func_meta_encode: see func_meta_encode.h. */
#include "wire/func_meta_encode.h"

static uint8_t *put_bytes(uint8_t *p, const void *data, uint32_t len)
{
	p = varint_put(p, len);
	if (len)
		memcpy(p, data, len);
	return p + len;
}

static uint8_t *put_text(uint8_t *p, const struct func_meta_text *t)
{
	return put_bytes(p, t->text, t->len);
}

uint8_t *func_meta_put_process(uint8_t *p, const struct func_meta_process *r)
{
	p = varint_put(p, r->number);
	p = varint_put_signed(p, r->pid);
	p = varint_put_signed(p, r->parent);
	p = varint_put(p, r->kernel);
	p = put_text(p, &r->command);
	return put_text(p, &r->exe);
}

uint8_t *func_meta_put_owner(uint8_t *p, uint32_t process)
{
	return varint_put(p, process);
}

uint8_t *func_meta_put_mapping(uint8_t *p, const struct func_meta_mapping *r)
{
	p = varint_put(p, r->from);
	p = varint_put(p, r->to - r->from);
	p = varint_put(p, r->offset);
	p = varint_put(p, r->since);
	p = varint_put(p, r->until == UINT32_MAX ? 0 : r->until - r->since);
	p = put_bytes(p, r->build_id, r->build_id_len);
	return put_text(p, &r->path);
}

uint8_t *func_meta_put_thread(uint8_t *p, const struct func_meta_thread *r)
{
	p = varint_put(p, r->number);
	p = varint_put(p, r->process);
	p = varint_put_signed(p, r->tid);
	p = varint_put(p, (uint64_t)((int64_t)r->cpu + 1));
	return put_text(p, &r->comm);
}

uint8_t *func_meta_put_sync(uint8_t *p, uint64_t tick, uint64_t mono_ns)
{
	p = varint_put(p, tick);
	return varint_put(p, mono_ns);
}

uint8_t *func_meta_put_clock(uint8_t *p, const struct meta_clock *c)
{
	uint8_t *end = meta_put_clock(p, c);

	*p = META_FUNC_CLOCK; /* both are types of one byte */
	return end;
}

uint8_t *func_meta_put_first(uint8_t *p, uint32_t first)
{
	return varint_put(p, first);
}

uint8_t *func_meta_put_name(uint8_t *p, const struct func_meta_text *name)
{
	return put_text(p, name);
}
