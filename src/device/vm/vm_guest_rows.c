/* SPDX-License-Identifier: MIT */
/* vm_guest_rows: see vm_guest_rows.h. */
#include "device/vm/vm_guest_rows.h"

#include <errno.h>

#include "wire/sample_meta_decode.h"

#define HEAD 32U /* bytes that both items take beside the rows, at most */

/* An item inside of that of its guest, while rows are put. */
struct item {
	struct profile_meta *meta;
	int32_t vm;
	enum meta_item type;
	uint8_t *start, *guest, *body, *p;
};

static void open_item(struct item *i)
{
	i->start = profile_meta_begin(i->meta);
	i->guest = meta_item_begin(i->start, META_GUEST);
	i->body = i->p = meta_item_begin(sample_meta_put_guest(i->guest, i->vm), i->type);
}

static void close_item(struct item *i)
{
	if (i->p == i->body)
		return;
	profile_meta_end(i->meta, meta_item_end(i->guest, meta_item_end(i->body, i->p)));
}

/* The place for a row with so much text. */
static uint8_t *next_row(struct item *i, uint32_t text)
{
	if ((size_t)(i->p - i->start) + SAMPLE_META_ROW_ROOM + HEAD + text > SPOOL_META_MOST) {
		close_item(i);
		open_item(i);
	}
	return i->p;
}

static uint64_t tick_of(const struct vm_guest_rows *r, uint64_t guest_ns)
{
	return vm_guest_clock_get(r->clock, guest_ns, r->now_ns);
}

static bool put_mapping(struct vm_guest_rows *r, struct item *i, struct byte_reader *in)
{
	struct sample_mapping m;

	if (!sample_meta_get_mapping(in, &m) || m.pid <= 0 || m.path_len > PROFILE_META_PATH_MAX)
		return false;
	m.tick = tick_of(r, m.tick);
	i->p = sample_meta_put_mapping(next_row(i, m.path_len), &m);
	if (r->objects)
		vm_guest_objects_map(r->objects, &m);
	return true;
}

static bool put_life(struct vm_guest_rows *r, struct item *i, struct byte_reader *in)
{
	struct sample_life_row l;

	if (!sample_meta_get_life(in, &l) || l.pid <= 0 || l.parent < 0 ||
	    l.comm_len > SCHED_COMM_LEN)
		return false;
	l.tick = tick_of(r, l.tick);
	i->p = sample_meta_put_life(next_row(i, l.comm_len), &l);
	return true;
}

static bool put_kernel_name(struct vm_guest_rows *r, struct item *i, struct byte_reader *in)
{
	struct sample_kernel_name k;

	(void)r;
	if (!sample_meta_get_kernel_name(in, &k) || k.name_len > VM_GUEST_NAME_MAX)
		return false;
	i->p = sample_meta_put_kernel_name(next_row(i, k.name_len), &k);
	return true;
}

static bool put_table(struct vm_guest_rows *r, struct item *i, struct byte_reader *in)
{
	struct sample_table_row t;

	if (!sample_meta_get_table(in, &t) || t.pid < 0 || t.tid < 0)
		return false;
	t.tick = tick_of(r, t.tick);
	i->p = sample_meta_put_table(next_row(i, t.comm_len), &t);
	return true;
}

static int put_item(struct vm_guest_rows *r, enum meta_item type, struct byte_reader *in)
{
	static const struct {
		enum meta_item type;
		bool (*put)(struct vm_guest_rows *r, struct item *i, struct byte_reader *in);
	} kinds[] = { { META_MAPPED, put_mapping },
		      { META_LIFE, put_life },
		      { META_KERNEL_NAMES, put_kernel_name },
		      { META_TABLES, put_table } };
	struct item item = { .meta = r->meta, .vm = r->vm, .type = type };
	bool is_good = true;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && kinds[i].type != type; i++)
		;
	if (i == sizeof(kinds) / sizeof(kinds[0]))
		return 0; /* of a later version */
	open_item(&item);
	while (is_good && reader_left(in)) {
		is_good = kinds[i].put(r, &item, in);
		r->taken += is_good;
	}
	close_item(&item);
	return is_good ? 0 : -EBADMSG;
}

int vm_guest_rows_put(struct vm_guest_rows *r, const uint8_t *body, size_t len)
{
	struct meta_reader in;
	enum wire_status status;
	int ret = 0;

	meta_reader_init(&in, body, len);
	while (ret == 0 && (status = meta_reader_next(&in)) != WIRE_MORE)
		ret = status == WIRE_OK ? put_item(r, (enum meta_item)in.type, &in.item) : -EBADMSG;
	return ret;
}

void vm_guest_rows_put_link(struct profile_meta *meta, int32_t vm, const struct guest_link_row *row)
{
	struct item item = { .meta = meta, .vm = vm, .type = META_GUEST_LINK };

	open_item(&item);
	item.p = guest_link_put(next_row(&item, GUEST_LINK_ROW_ROOM), row);
	close_item(&item);
}
