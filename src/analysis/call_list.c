/* SPDX-License-Identifier: MIT */
/*
 * call_list: see call_list.h.
 *
 * A row's number is its place in the file. Its low 32 bits are the call's mark; rows are fewer than that
 * by CALL_ROWS_MAX. Marks of calls that are not kept say why.
 */
#include "analysis/call_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/types.h"

#define RING 32768U /* rows, a power of two */
#define ABOVE                                                                                      \
	UINT32_MAX /* marks: nothing above it, nor itself, fits the pattern; or it is left out */
#define LEFT (UINT32_MAX - 1) /* it fits, and is too deep or beyond the limit */

struct call_list {
	const struct call_names *names;
	struct call_list_options o;
	struct call_totals totals;
	FILE *file; /* NULL: all rows are in the ring */
	struct call_row *ring;
	uint64_t n, written; /* rows in all, of these in the file */
	uint64_t more;
	uint64_t read;
};

/* --- a row as bytes --- */

static uint8_t *put_number(uint8_t *p, uint64_t v, int bytes)
{
	for (; bytes; bytes--, v >>= 8)
		*p++ = (uint8_t)v;
	return p;
}

static const uint8_t *get_number(const uint8_t *p, uint64_t *v, int bytes)
{
	int i;

	for (*v = 0, i = 0; i < bytes; i++)
		*v |= (uint64_t)p[i] << (8 * i);
	return p + bytes;
}

static void encode_row(uint8_t p[CALL_ROW_BYTES], const struct call_row *row)
{
	int i;

	memset(p, 0, CALL_ROW_BYTES);
	p = put_number(p, row->thread, 4);
	p = put_number(p, row->depth, 4);
	p = put_number(p, row->function, 4);
	p = put_number(p, row->caller, 4);
	p = put_number(p, row->end, 4);
	p = put_number(p, row->dropped, 4);
	p = put_number(p, row->begin_ns, 8);
	p = put_number(p, row->total_ns, 8);
	for (i = 0; i < CALL_PARTS; i++)
		p = put_number(p, row->local.ns[i], 8);
}

static void decode_row(const uint8_t p[CALL_ROW_BYTES], struct call_row *row)
{
	uint64_t v[6];
	int i;

	for (i = 0; i < 6; i++)
		p = get_number(p, &v[i], 4);
	row->thread = (uint32_t)v[0];
	row->depth = (uint32_t)v[1];
	row->function = (uint32_t)v[2];
	row->caller = (uint32_t)v[3];
	row->end = (enum call_end)v[4];
	row->dropped = v[5] != 0;
	p = get_number(p, &row->begin_ns, 8);
	p = get_number(p, &row->total_ns, 8);
	for (i = 0; i < CALL_PARTS; i++)
		p = get_number(p, &row->local.ns[i], 8);
}

/* --- rows to the file --- */

static int write_at(struct call_list *l, uint64_t place, const struct call_row *row)
{
	uint8_t bytes[CALL_ROW_BYTES];

	encode_row(bytes, row);
	if (fseeko(l->file, (off_t)(place * CALL_ROW_BYTES), SEEK_SET) ||
	    fwrite(bytes, sizeof(bytes), 1, l->file) != 1)
		return errno ? -errno : -EIO;
	return 0;
}

/* The older half of the ring, at once. */
static int spill(struct call_list *l)
{
	uint8_t bytes[CALL_ROW_BYTES];
	uint64_t until = l->written + RING / 2;

	if (!l->file)
		l->file = tmpfile();
	if (!l->file || fseeko(l->file, (off_t)(l->written * CALL_ROW_BYTES), SEEK_SET))
		return -errno;
	for (; l->written < until; l->written++) {
		encode_row(bytes, &l->ring[l->written & (RING - 1)]);
		if (fwrite(bytes, sizeof(bytes), 1, l->file) != 1)
			return errno ? -errno : -EIO;
	}
	return 0;
}

/* --- the walk --- */

/* Is the call kept, and if not, why? */
static uint32_t judge(struct call_list *l, const struct call_at *at)
{
	uint32_t above = at->caller ? at->caller->mark : ABOVE;

	if (l->o.function && above == ABOVE &&
	    !call_names_fits(l->names, at->call->function, l->o.function))
		return ABOVE;
	if (l->o.depth && at->depth >= l->o.depth)
		return LEFT;
	if ((l->o.limit && l->n >= l->o.limit) || l->n >= CALL_ROWS_MAX - 2) {
		l->more++;
		return LEFT;
	}
	return 0;
}

static int begin(void *data, const struct call_at *at)
{
	struct call_list *l = data;
	uint32_t why = judge(l, at);
	struct call_row *row;
	int r = 0;

	if (why) {
		at->call->mark = why;
		return 0;
	}
	if (l->n - l->written == RING)
		r = spill(l);
	if (r < 0)
		return r;
	row = &l->ring[l->n & (RING - 1)];
	memset(row, 0, sizeof(*row));
	row->thread = at->thread;
	row->depth = at->depth;
	row->function = at->call->function;
	row->caller = at->caller ? at->caller->function : UINT32_MAX;
	row->begin_ns = at->call->begin_ns;
	at->call->mark = (uint32_t)l->n++;
	return 0;
}

static int end(void *data, const struct call_at *at)
{
	struct call_list *l = data;
	uint64_t place = at->call->mark;
	struct call_row row = { .thread = at->thread,
				.depth = at->depth,
				.function = at->call->function,
				.caller = at->caller ? at->caller->function : UINT32_MAX,
				.end = at->end,
				.begin_ns = at->call->begin_ns,
				.total_ns = at->ns - at->call->begin_ns,
				.local = at->call->local };

	if (place >= LEFT)
		return 0;
	row.dropped = row.total_ns < l->o.min_ns;
	if (row.dropped && place + 1 == l->n && place >= l->written) {
		l->n--;
		return 0;
	}
	if (place < l->written)
		return write_at(l, place, &row);
	l->ring[place & (RING - 1)] = row;
	return 0;
}

static const struct call_listener listener = { .begin = begin, .end = end };

int call_list_new(struct call_list **ret, const struct call_walk *w,
		  const struct call_list_options *o, struct error *e)
{
	CLEANUP(call_list) struct call_list *l = calloc(1, sizeof(*l));
	struct call_walk mine = *w;
	int r;

	if (l)
		l->ring = calloc(RING, sizeof(*l->ring));
	if (!l || !l->ring)
		return error_set(e, ENOMEM, "cannot list the calls: out of memory");
	l->o = *o;
	l->names = w->names;
	mine.listener = &listener;
	mine.data = l;
	r = call_walk_run(&mine, &l->totals, e);
	if (r >= 0 && l->file && fseeko(l->file, 0, SEEK_SET))
		r = error_set(e, errno, "cannot read the list of calls: %s", strerror(errno));
	if (r >= 0)
		*ret = take_ptr(l);
	return r;
}

void call_list_free(struct call_list *l)
{
	if (!l)
		return;
	if (l->file)
		fclose(l->file);
	free(l->ring);
	free(l);
}

static int read_row(struct call_list *l, struct call_row *ret, struct error *e)
{
	uint8_t bytes[CALL_ROW_BYTES];

	if (l->read >= l->written) {
		*ret = l->ring[l->read++ & (RING - 1)];
		return 0;
	}
	if (fread(bytes, sizeof(bytes), 1, l->file) != 1)
		return error_set(e, EIO,
				 "cannot read the list of calls: its temporary file is short");
	decode_row(bytes, ret);
	l->read++;
	return 0;
}

int call_list_next(struct call_list *l, struct call_row *ret, struct error *e)
{
	int r;

	while (l->read < l->n) {
		r = read_row(l, ret, e);
		if (r < 0)
			return r;
		if (!ret->dropped)
			return 1;
	}
	return 0;
}

const struct call_totals *call_list_totals(const struct call_list *l)
{
	return &l->totals;
}

uint64_t call_list_more(const struct call_list *l)
{
	return l->more;
}
