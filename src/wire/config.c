/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * config: what to trace, as the items of an INSTRUCTION; see message.h.
 *
 * A row of items as in metadata: type, length, bytes. An item that is there is meant, one that is
 * not leaves the device as it is, one of an unknown type is skipped.
 */
#include "wire/message.h"

#include "wire/block.h"
#include "wire/meta.h"

/* Type and length of an item whose `len` bytes the caller puts behind them; false: no room. */
static bool begin_item(struct byte_writer *w, uint32_t type, size_t len)
{
	size_t head = len < 0x80 ? 2 : 3;

	if (w->full || head + len > (size_t)(w->end - w->at)) {
		w->full = true;
		return false;
	}
	*w->at++ = (uint8_t)type;
	w->at = varint_put(w->at, len);
	return true;
}

static void put_item(struct byte_writer *w, uint32_t type, const void *data, size_t len)
{
	if (!begin_item(w, type, len) || !len)
		return;
	memcpy(w->at, data, len);
	w->at += len;
}

static void put_number_item(struct byte_writer *w, uint32_t type, uint64_t v)
{
	uint8_t bytes[VARINT_MAX];

	put_item(w, type, bytes, (size_t)(varint_put(bytes, v) - bytes));
}

static void put_pids(struct byte_writer *w, const struct message_config *c)
{
	uint8_t bytes[CONFIG_PIDS_MAX * 5], *p = bytes;
	uint32_t i;

	for (i = 0; i < c->n_pids; i++)
		p = varint_put(p, (uint32_t)c->pids[i]);
	put_item(w, CONFIG_PIDS, bytes, (size_t)(p - bytes));
}

static uint32_t path_len(const char path[CONFIG_CGROUP_LEN])
{
	uint32_t len = 0;

	while (len < CONFIG_CGROUP_LEN - 1 && path[len])
		len++;
	return len;
}

/* One by one into their place: together they are too large for a kernel's stack. */
static void put_cgroups(struct byte_writer *w, const struct message_config *c)
{
	uint32_t i, len, all = c->n_cgroups;

	for (i = 0; i < c->n_cgroups; i++)
		all += path_len(c->cgroups[i]);
	if (!begin_item(w, CONFIG_CGROUP_PATHS, all))
		return;
	for (i = 0; i < c->n_cgroups; i++) {
		len = path_len(c->cgroups[i]);
		memcpy(w->at, c->cgroups[i], len);
		w->at[len] = 0;
		w->at += len + 1;
	}
}

static bool is_given(const struct message_config *c, uint32_t field)
{
	return c->given & (1U << field);
}

static void put_duty(struct byte_writer *w, uint32_t type, const struct config_pace *p)
{
	uint8_t bytes[2 * VARINT_MAX], *at = varint_put(bytes, p->on_ms);

	put_item(w, type, bytes, (size_t)(varint_put(at, p->every_ms) - bytes));
}

static void put_pace(struct byte_writer *w, const struct message_config *c, uint32_t of)
{
	const struct config_pace *p = &c->paces[of];

	if (is_given(c, CONFIG_PACE_FIELD(of, PACE_MODE)))
		put_number_item(w, CONFIG_PACE_FIELD(of, PACE_MODE), p->is_on);
	if (is_given(c, CONFIG_PACE_FIELD(of, PACE_RATE)))
		put_number_item(w, CONFIG_PACE_FIELD(of, PACE_RATE), p->rate_hz);
	if (is_given(c, CONFIG_PACE_FIELD(of, PACE_BUDGET)))
		put_number_item(w, CONFIG_PACE_FIELD(of, PACE_BUDGET), p->budget_ppm);
	if (is_given(c, CONFIG_PACE_FIELD(of, PACE_DUTY)))
		put_duty(w, CONFIG_PACE_FIELD(of, PACE_DUTY), p);
}

void config_encode(struct byte_writer *w, const struct message_config *c)
{
	uint32_t of;

	if (is_given(c, CONFIG_ORIGIN))
		put_number_item(w, CONFIG_ORIGIN, c->origin);
	if (is_given(c, CONFIG_EVENTS))
		put_number_item(w, CONFIG_EVENTS, c->events);
	if (is_given(c, CONFIG_BLOCK_BYTES))
		put_number_item(w, CONFIG_BLOCK_BYTES, c->block_bytes);
	if (is_given(c, CONFIG_FLUSH))
		put_number_item(w, CONFIG_FLUSH, c->flush_ms);
	if (is_given(c, CONFIG_RING))
		put_number_item(w, CONFIG_RING, c->ring_kib);
	if (is_given(c, CONFIG_RESOLUTION))
		put_number_item(w, CONFIG_RESOLUTION, c->resolution_ns);
	if (is_given(c, CONFIG_POLICY))
		put_number_item(w, CONFIG_POLICY, c->policy);
	if (is_given(c, CONFIG_PIDS))
		put_pids(w, c);
	if (is_given(c, CONFIG_COMMS))
		put_item(w, CONFIG_COMMS, c->comms, (size_t)c->n_comms * SCHED_COMM_LEN);
	if (is_given(c, CONFIG_CGROUP_PATHS))
		put_cgroups(w, c);
	if (is_given(c, CONFIG_CODEC))
		put_number_item(w, CONFIG_CODEC, c->codec);
	if (is_given(c, CONFIG_FUNC))
		put_number_item(w, CONFIG_FUNC, c->func);
	for (of = 0; of < PACES; of++)
		put_pace(w, c, of);
}

/* A list that is there twice means the latter. What a list does not use of its array is zero, always: so
 * two configurations can be compared as bytes. */
static enum wire_status get_pids(struct message_config *c, struct byte_reader *r)
{
	uint64_t pid;

	memset(c->pids, 0, sizeof(c->pids));
	for (c->n_pids = 0; reader_left(r); c->n_pids++) {
		pid = reader_varint(r);
		if (r->bad || pid > INT32_MAX || c->n_pids == CONFIG_PIDS_MAX)
			return WIRE_CORRUPT;
		c->pids[c->n_pids] = (int32_t)pid;
	}
	return WIRE_OK;
}

static enum wire_status get_comms(struct message_config *c, struct byte_reader *r)
{
	size_t len = reader_left(r);

	if (len > sizeof(c->comms) || len % SCHED_COMM_LEN)
		return WIRE_CORRUPT;
	memset(c->comms, 0, sizeof(c->comms));
	c->n_comms = (uint32_t)(len / SCHED_COMM_LEN);
	if (len)
		memcpy(c->comms, r->at, len);
	return WIRE_OK;
}

static enum wire_status get_cgroups(struct message_config *c, struct byte_reader *r)
{
	uint32_t len = 0;

	memset(c->cgroups, 0, sizeof(c->cgroups));
	for (c->n_cgroups = 0; reader_left(r); r->at++) {
		if (c->n_cgroups == CONFIG_CGROUPS_MAX || len == CONFIG_CGROUP_LEN)
			return WIRE_CORRUPT;
		c->cgroups[c->n_cgroups][len++] = (char)*r->at;
		if (!*r->at) {
			c->n_cgroups++;
			len = 0;
		}
	}
	return len ? WIRE_CORRUPT : WIRE_OK;
}

static enum wire_status get_number(struct message_config *c, uint32_t field, struct byte_reader *r)
{
	uint64_t v = reader_varint(r);

	if (r->bad || v > UINT32_MAX)
		return WIRE_CORRUPT;
	switch (field) {
	case CONFIG_ORIGIN:
		c->origin = (uint8_t)v;
		return v < ORIGINS ? WIRE_OK : WIRE_CORRUPT;
	case CONFIG_EVENTS:
		c->events = (uint32_t)v;
		return WIRE_OK;
	case CONFIG_BLOCK_BYTES:
		c->block_bytes = (uint32_t)v;
		return v >= CONFIG_BLOCK_LEAST && v <= CONFIG_BLOCK_MOST ? WIRE_OK : WIRE_CORRUPT;
	case CONFIG_FLUSH:
		c->flush_ms = (uint32_t)v;
		return v && v <= CONFIG_FLUSH_MOST ? WIRE_OK : WIRE_CORRUPT;
	case CONFIG_RING:
		c->ring_kib = (uint32_t)v;
		return v && v <= CONFIG_RING_MOST ? WIRE_OK : WIRE_CORRUPT;
	case CONFIG_RESOLUTION:
		c->resolution_ns = (uint32_t)v;
		return v & (v - 1) ? WIRE_CORRUPT : WIRE_OK;
	case CONFIG_CODEC:
		c->codec = (uint8_t)v;
		return v == CODEC_SCHED || v == CODEC_BSF ? WIRE_OK : WIRE_CORRUPT;
	case CONFIG_FUNC:
		c->func = (uint8_t)v;
		return v < FUNC_MODES ? WIRE_OK : WIRE_CORRUPT;
	default:
		c->policy = (uint8_t)v;
		return v <= POLICY_FLIGHT ? WIRE_OK : WIRE_CORRUPT;
	}
}

static bool is_duty(uint64_t on_ms, uint64_t every_ms)
{
	if (!on_ms && !every_ms)
		return true;
	return on_ms >= CONFIG_DUTY_LEAST_MS && on_ms < every_ms && every_ms <= CONFIG_DUTY_MOST_MS;
}

static enum wire_status get_pace(struct config_pace *p, uint32_t part, struct byte_reader *r)
{
	uint64_t v = reader_varint(r), every_ms = part == PACE_DUTY ? reader_varint(r) : 0;

	if (r->bad || v > UINT32_MAX)
		return WIRE_CORRUPT;
	switch (part) {
	case PACE_MODE:
		p->is_on = (uint32_t)v;
		return v <= 1 ? WIRE_OK : WIRE_CORRUPT;
	case PACE_RATE:
		p->rate_hz = (uint32_t)v;
		return v && v <= CONFIG_RATE_MOST ? WIRE_OK : WIRE_CORRUPT;
	case PACE_BUDGET:
		p->budget_ppm = (uint32_t)v;
		return !v || (v >= CONFIG_BUDGET_LEAST && v <= CONFIG_BUDGET_MOST) ? WIRE_OK
										   : WIRE_CORRUPT;
	default:
		p->on_ms = (uint32_t)v;
		p->every_ms = (uint32_t)every_ms;
		return is_duty(v, every_ms) ? WIRE_OK : WIRE_CORRUPT;
	}
}

enum wire_status config_decode(struct message_config *ret, struct byte_reader *r)
{
	enum wire_status status = WIRE_OK;
	struct meta_reader items;

	memset(ret, 0, sizeof(*ret));
	meta_reader_init(&items, r->at, reader_left(r));
	while (status == WIRE_OK && (status = meta_reader_next(&items)) == WIRE_OK) {
		if (!items.type || items.type >= CONFIG_FIELDS)
			continue;
		ret->given |= 1U << items.type;
		if (items.type == CONFIG_PIDS)
			status = get_pids(ret, &items.item);
		else if (items.type == CONFIG_COMMS)
			status = get_comms(ret, &items.item);
		else if (items.type == CONFIG_CGROUP_PATHS)
			status = get_cgroups(ret, &items.item);
		else if (items.type >= CONFIG_PACE)
			status = get_pace(
				&ret->paces[(items.type - CONFIG_PACE) / CONFIG_PACE_PARTS],
				(items.type - CONFIG_PACE) % CONFIG_PACE_PARTS, &items.item);
		else
			status = get_number(ret, items.type, &items.item);
	}
	return status == WIRE_MORE ? WIRE_OK : status;
}

uint32_t config_get_pace(const struct message_config *c)
{
	uint32_t of;

	for (of = 0; of < PACES; of++)
		if (c->given && !(c->given & ~CONFIG_PACE_BITS(of)))
			return of;
	return PACES;
}

static void apply_pace(struct message_config *to, const struct message_config *from, uint32_t of)
{
	struct config_pace *p = &to->paces[of];
	const struct config_pace *q = &from->paces[of];

	if (is_given(from, CONFIG_PACE_FIELD(of, PACE_MODE)))
		p->is_on = q->is_on;
	if (is_given(from, CONFIG_PACE_FIELD(of, PACE_RATE)))
		p->rate_hz = q->rate_hz;
	if (is_given(from, CONFIG_PACE_FIELD(of, PACE_BUDGET)))
		p->budget_ppm = q->budget_ppm;
	if (is_given(from, CONFIG_PACE_FIELD(of, PACE_DUTY))) {
		p->on_ms = q->on_ms;
		p->every_ms = q->every_ms;
	}
}

void config_apply(struct message_config *to, const struct message_config *from)
{
	uint32_t of;

	to->given |= from->given;
	if (is_given(from, CONFIG_ORIGIN))
		to->origin = from->origin;
	if (is_given(from, CONFIG_EVENTS))
		to->events = from->events;
	if (is_given(from, CONFIG_BLOCK_BYTES))
		to->block_bytes = from->block_bytes;
	if (is_given(from, CONFIG_FLUSH))
		to->flush_ms = from->flush_ms;
	if (is_given(from, CONFIG_RING))
		to->ring_kib = from->ring_kib;
	if (is_given(from, CONFIG_RESOLUTION))
		to->resolution_ns = from->resolution_ns;
	if (is_given(from, CONFIG_POLICY))
		to->policy = from->policy;
	if (is_given(from, CONFIG_PIDS)) {
		to->n_pids = from->n_pids;
		memcpy(to->pids, from->pids, sizeof(to->pids));
	}
	if (is_given(from, CONFIG_COMMS)) {
		to->n_comms = from->n_comms;
		memcpy(to->comms, from->comms, sizeof(to->comms));
	}
	if (is_given(from, CONFIG_CGROUP_PATHS)) {
		to->n_cgroups = from->n_cgroups;
		memcpy(to->cgroups, from->cgroups, sizeof(to->cgroups));
	}
	if (is_given(from, CONFIG_CODEC))
		to->codec = from->codec;
	if (is_given(from, CONFIG_FUNC))
		to->func = from->func;
	for (of = 0; of < PACES; of++)
		apply_pace(to, from, of);
}
