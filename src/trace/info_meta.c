/* SPDX-License-Identifier: MIT */
/* info_meta: see info_meta.h and docs/format/wire.md, section 7. */
#include "trace/info_meta.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/block_reader.h"
#include "trace/description_check.h"
#include "wire/meta_encode.h"

#define ITEM_HEAD_MAX (2 * VARINT_MAX)
#define TASK_ROW_MAX (1 + 3 * VARINT_MAX + SCHED_COMM_LEN)
#define NAMES_MAX 256U /* names a tasks item can refer back to */

void orders_done(struct trace_orders *o)
{
	free(o->rows);
	free(o->cpus);
	memset(o, 0, sizeof(*o));
}

static int grow(void **array, size_t *room, size_t need, size_t size)
{
	size_t wanted = *room ? *room : 64;
	void *grown;

	if (need <= *room)
		return 0;
	if (need > TRACE_ORDERS_MAX)
		return -E2BIG;
	while (wanted < need)
		wanted *= 2;
	grown = realloc(*array, wanted * size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*room = wanted;
	return 0;
}

int orders_add(struct trace_orders *o, uint64_t tick, const uint32_t *cpus, uint32_t n)
{
	int r;

	if (!n || n > TRACE_ORDER_CPUS_MAX)
		return -E2BIG;
	r = grow((void **)&o->rows, &o->room, o->n + 1, sizeof(*o->rows));
	if (!r)
		r = grow((void **)&o->cpus, &o->room_cpus, o->n_cpus + n, sizeof(*o->cpus));
	if (r)
		return r;
	o->rows[o->n].tick = tick;
	o->rows[o->n].first = (uint32_t)o->n_cpus;
	o->rows[o->n].n = n;
	o->n++;
	memcpy(o->cpus + o->n_cpus, cpus, n * sizeof(*cpus));
	o->n_cpus += n;
	return 0;
}

static uint8_t *put_text(uint8_t *p, enum meta_item type, const char *text)
{
	return meta_put_text(p, type, text, strlen(text));
}

struct meta_clock info_get_clock(const struct trace_clock *c)
{
	return (struct meta_clock){
		.name = c->name,
		.name_len = (uint32_t)strnlen(c->name, sizeof(c->name)),
		.mult = c->mult,
		.shift = c->shift,
		.base_ns = c->base_ns,
		.print_digits = c->print_digits,
		.has_realtime = c->has_realtime,
		.realtime_off_ns = c->realtime_off_ns,
		.realtime_err_ns = c->realtime_err_ns,
		.whose = !c->is_measured ? META_WHOSE_DEVICE
			 : c->has_own	 ? META_WHOSE_BOTH
					 : META_WHOSE_COLLECTOR,
		.own_off_ns = c->own_off_ns,
	};
}

static uint8_t *put_clock(uint8_t *p, const struct trace_clock *c)
{
	struct meta_clock clock = info_get_clock(c);

	return meta_put_clock(p, &clock);
}

size_t info_encode(const struct trace_info *i, uint8_t *out, size_t room)
{
	uint8_t *p = out;

	if (room < 4 * (TRACE_STRING_MAX + ITEM_HEAD_MAX) + 1024)
		return 0;
	p = put_text(p, META_DEVICE, i->device);
	p = put_text(p, META_KERNEL, i->kernel);
	p = put_text(p, META_MACHINE, i->machine);
	p = put_text(p, META_ORIGIN, i->origin);
	p = meta_put_number(p, META_CPUS, i->cpus);
	p = put_clock(p, &i->clock);
	p = meta_put_dialect(p, &i->dialect);
	p = meta_put_number(p, META_SKIPPED, i->skipped);
	if (i->agent_tgid > 0)
		p = meta_put_number(p, META_AGENT, (uint32_t)i->agent_tgid);
	return (size_t)(p - out);
}

/* What both directions of a tasks item keep while going through its rows. */
struct task_rows {
	int32_t pid, tgid;
	char comm[SCHED_COMM_LEN];
	char names[NAMES_MAX][SCHED_COMM_LEN];
	uint32_t n_names;
};

static uint8_t *put_task(uint8_t *p, struct task_rows *s, const struct trace_task *t)
{
	int64_t step = (int64_t)t->pid - s->pid;
	uint8_t *first = p++;
	size_t len = strnlen(t->comm, SCHED_COMM_LEN);
	uint32_t name;

	*first = step > 0 && step < 16 ? (uint8_t)(step << 4) : 0;
	if (!*first)
		p = varint_put_signed(p, step);
	if (t->tgid == t->pid) {
		*first |= 4;
	} else if (t->tgid >= 0 && t->tgid == s->tgid) {
		*first |= 8;
	} else if (t->tgid >= 0) {
		*first |= 12;
		p = varint_put(p, (uint32_t)t->tgid);
	}
	if (memcmp(s->comm, t->comm, SCHED_COMM_LEN)) {
		for (name = 0; name < s->n_names; name++)
			if (!memcmp(s->names[name], t->comm, SCHED_COMM_LEN))
				break;
		*first |= name < s->n_names ? 1 : 2;
		p = varint_put(p, name < s->n_names ? name : len);
		if (name == s->n_names) {
			memcpy(p, t->comm, len);
			p += len;
			if (s->n_names < NAMES_MAX)
				memcpy(s->names[s->n_names++], t->comm, SCHED_COMM_LEN);
		}
	}
	s->pid = t->pid;
	s->tgid = t->tgid;
	memcpy(s->comm, t->comm, SCHED_COMM_LEN);
	return p;
}

size_t info_encode_tasks(const struct trace_info *i, size_t *from, uint8_t *out, size_t room)
{
	uint8_t *body = meta_item_begin(out, META_TASKS), *p = body;
	struct task_rows s;

	if (*from >= i->n_tasks)
		return 0;
	memset(&s, 0, sizeof(s));
	for (; *from < i->n_tasks && room - (size_t)(p - out) > TASK_ROW_MAX; (*from)++)
		p = put_task(p, &s, &i->tasks[*from]);
	return (size_t)(meta_item_end(body, p) - out);
}

size_t info_encode_orders(const struct trace_orders *o, size_t *from, uint8_t *out, size_t room)
{
	uint8_t *body = meta_item_begin(out, META_ORDER), *p = body;
	uint64_t tick = 0;
	uint32_t n;

	if (*from >= o->n)
		return 0;
	for (; *from < o->n; (*from)++) {
		const struct trace_order *row = &o->rows[*from];

		if (room - (size_t)(p - out) < (2 + (size_t)row->n) * VARINT_MAX)
			break;
		p = varint_put(p, row->tick - tick);
		p = varint_put(p, row->n);
		for (n = 0; n < row->n; n++)
			p = varint_put(p, o->cpus[row->first + n]);
		tick = row->tick;
	}
	return (size_t)(meta_item_end(body, p) - out);
}

/* Whose real time it is: fields that older files do not have. */
static void get_whose(struct trace_clock *c, struct byte_reader *r)
{
	uint64_t whose = reader_left(r) ? reader_varint(r) : META_WHOSE_DEVICE;

	c->is_measured = whose != META_WHOSE_DEVICE;
	c->has_own = whose == META_WHOSE_BOTH;
	c->own_off_ns = c->has_own ? reader_signed(r) : 0;
}

int info_decode_clock(struct trace_clock *c, struct byte_reader *r)
{
	const uint8_t *name;
	uint64_t len, mult, shift, digits;

	mult = reader_varint(r);
	shift = reader_varint(r);
	c->base_ns = reader_varint(r);
	digits = reader_varint(r);
	len = reader_varint(r);
	name = reader_bytes(r, len);
	c->has_realtime = reader_varint(r) != 0;
	c->realtime_off_ns = reader_signed(r);
	c->realtime_err_ns = reader_varint(r);
	get_whose(c, r);
	if (r->bad || !mult || mult > UINT32_MAX || shift > 63 || digits > 9 ||
	    len >= TRACE_CLOCK_NAME_LEN)
		return -EBADMSG;
	c->mult = (uint32_t)mult;
	c->shift = (uint32_t)shift;
	c->print_digits = (uint32_t)digits;
	memset(c->name, 0, sizeof(c->name));
	memcpy(c->name, name, (size_t)len);
	return 0;
}

static int get_dialect(struct sched_dialect *d, struct byte_reader *r)
{
	uint64_t long_size, flag_columns, pid_width;
	const uint8_t *letters;

	d->features = (uint32_t)reader_varint(r);
	d->kinds = (uint32_t)reader_varint(r);
	long_size = reader_varint(r);
	flag_columns = reader_varint(r);
	pid_width = reader_varint(r);
	d->state_mask = reader_varint(r);
	d->state_preempt = reader_varint(r);
	letters = reader_bytes(r, DIALECT_STATE_BITS);
	if (r->bad || (long_size != 4 && long_size != 8) || flag_columns > 16 || pid_width > 16)
		return -EBADMSG;
	d->long_size = (uint8_t)long_size;
	d->flag_columns = (uint8_t)flag_columns;
	d->pid_width = (uint8_t)pid_width;
	memcpy(d->state_letters, letters, DIALECT_STATE_BITS);
	return 0;
}

static int get_task_name(struct task_rows *s, struct byte_reader *r, uint32_t mode)
{
	const uint8_t *text;
	uint64_t v;

	if (mode == 0)
		return 0;
	v = reader_varint(r);
	if (mode == 1) {
		if (v >= s->n_names)
			return -EBADMSG;
		memcpy(s->comm, s->names[v], SCHED_COMM_LEN);
		return 0;
	}
	text = v <= SCHED_COMM_LEN ? reader_bytes(r, v) : NULL;
	if (mode != 2 || !text)
		return -EBADMSG;
	sched_comm_set(s->comm, (const char *)text, (size_t)v);
	if (s->n_names < NAMES_MAX)
		memcpy(s->names[s->n_names++], s->comm, SCHED_COMM_LEN);
	return 0;
}

/* Rows come by rising pid, so that a long table is not sorted by moving it about. */
static int get_task(struct task_rows *s, struct byte_reader *r, bool first_row)
{
	uint32_t first = *reader_bytes(r, 1);
	int64_t step = first & META_TASK_STEP ? first >> 4 : reader_signed(r);
	uint64_t tgid;

	if (step < -(int64_t)UINT32_MAX || step > UINT32_MAX || (step <= 0 && !first_row))
		return -EBADMSG;
	step += s->pid;
	if (step < INT32_MIN || step > INT32_MAX)
		return -EBADMSG;
	s->pid = (int32_t)step;
	switch (first & META_TASK_TGID) {
	case 0:
		s->tgid = -1;
		break;
	case 4:
		s->tgid = s->pid < 0 ? -1 : s->pid;
		break;
	case 12:
		tgid = reader_varint(r);
		if (tgid > INT32_MAX)
			return -EBADMSG;
		s->tgid = (int32_t)tgid;
		break;
	default:
		break;
	}
	return get_task_name(s, r, first & META_TASK_COMM);
}

static int get_tasks(struct trace_info *i, struct byte_reader *r)
{
	struct task_rows s;
	bool first_row = true;
	int ret = 0;

	memset(&s, 0, sizeof(s));
	for (; reader_left(r) && ret == 0; first_row = false) {
		ret = get_task(&s, r, first_row);
		if (!ret && r->bad)
			ret = -EBADMSG;
		if (!ret)
			ret = info_add_task(i, s.pid, s.tgid, s.comm);
	}
	return ret;
}

static int get_orders(struct trace_orders *o, struct byte_reader *r)
{
	uint32_t cpus[TRACE_ORDER_CPUS_MAX], i;
	uint64_t tick = 0, n, cpu;
	int ret;

	while (reader_left(r)) {
		tick += reader_varint(r);
		n = reader_varint(r);
		if (r->bad || !n || n > TRACE_ORDER_CPUS_MAX)
			return -EBADMSG;
		for (i = 0; i < n; i++) {
			cpu = reader_varint(r);
			if (r->bad || cpu >= TRACE_CPUS_MAX)
				return -EBADMSG;
			cpus[i] = (uint32_t)cpu;
		}
		ret = orders_add(o, tick, cpus, (uint32_t)n);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int get_text(char **field, struct byte_reader *r)
{
	return info_set(field, (const char *)r->at, reader_left(r));
}

static int get_item(struct trace_info *i, struct trace_orders *orders, struct meta_reader *r)
{
	struct byte_reader *b = &r->item;
	uint64_t v;

	switch (r->type) {
	case META_DEVICE:
		return get_text(&i->device, b);
	case META_KERNEL:
		return get_text(&i->kernel, b);
	case META_MACHINE:
		return get_text(&i->machine, b);
	case META_ORIGIN:
		return get_text(&i->origin, b);
	case META_CPUS:
		v = reader_varint(b);
		if (b->bad || v > TRACE_CPUS_MAX)
			return -EBADMSG;
		i->cpus = (uint32_t)v;
		return 0;
	case META_CLOCK:
		return info_decode_clock(&i->clock, b);
	case META_DIALECT:
		return get_dialect(&i->dialect, b);
	case META_TASKS:
		return get_tasks(i, b);
	case META_ORDER:
		return orders ? get_orders(orders, b) : 0;
	case META_SKIPPED:
		i->skipped = reader_varint(b);
		return b->bad ? -EBADMSG : 0;
	case META_AGENT:
		v = reader_varint(b);
		if (b->bad || v > INT32_MAX)
			return -EBADMSG;
		i->agent_tgid = (int32_t)v;
		return 0;
	default:
		return 0;
	}
}

int info_decode(struct trace_info *i, struct trace_orders *orders, const uint8_t *in, size_t len)
{
	struct meta_reader r;
	enum wire_status status;
	int ret;

	meta_reader_init(&r, in, len);
	while ((status = meta_reader_next(&r)) == WIRE_OK) {
		ret = get_item(i, orders, &r);
		if (ret < 0)
			return ret;
	}
	return status == WIRE_MORE ? 0 : -EBADMSG;
}

int info_read(struct trace_info *i, struct block_reader *r, struct error *e)
{
	struct trace_orders orders = { 0 };
	uint64_t place = 0, at;
	struct block b;
	int rc;

	while ((rc = r->ops->next(r, STREAM_META, &place, &b, &at)) == 1) {
		if (!b.payload || b.codec != CODEC_META)
			continue;
		rc = info_decode(i, &orders, b.payload, b.payload_len);
		if (rc < 0)
			break;
	}
	orders_done(&orders);
	if (rc == 0)
		return 0;
	description_explain(rc == -EBADMSG ? b.payload : NULL, rc == -EBADMSG ? b.payload_len : 0,
			    rc, e);
	return error_prefix(e, rc == -EBADMSG ? EBADE : -rc,
			    "cannot read the description of the run");
}
