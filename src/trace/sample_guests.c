/* SPDX-License-Identifier: MIT */
/*
 * sample_guests: see sample_guests.h.
 *
 * Each guest has its rows three times as an index: by table, by task, by tid, each then by tick. The last row that is not
 * later than a moment says whose it was.
 */
#include "trace/sample_guests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"
#include "store/hashtable.h"
#include "trace/pidmap.h"
#include "wire/meta.h"
#include "wire/sample_meta_decode.h"

enum key {
	BY_TABLE = 0,
	BY_TASK = 1,
	BY_TID = 2,
	KEYS = 3,
};

struct row {
	struct sample_table_row told; /* its comm is kept below */
	char comm[SCHED_COMM_LEN + 1];
	bool stays; /* while others are forgotten */
	uint32_t order;
};

struct index {
	struct row **rows;
	size_t n;
};

struct guest {
	int32_t vm;
	struct sample_spaces *spaces;
	struct row *rows;
	size_t n, room, settled; /* settled: rows that are in the indexes */
	struct index index[KEYS];
	bool tells_tasks; /* some row had one, also if it is forgotten */
	struct sample_link *links;
	size_t n_links, room_links;
};

struct sample_guests {
	struct pidmap *by_vm; /* struct place */
	struct guest *guests;
	size_t n, room;
};

struct place {
	int32_t vm;
	uint32_t guest; /* index + 1 */
};

int sample_guests_new(struct sample_guests **ret)
{
	struct sample_guests *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->by_vm = pidmap_new(sizeof(struct place));
	if (!g->by_vm) {
		free(g);
		return -ENOMEM;
	}
	*ret = g;
	return 0;
}

void sample_guests_free(struct sample_guests *g)
{
	size_t i, k;

	if (!g)
		return;
	for (i = 0; i < g->n; i++) {
		sample_spaces_free(g->guests[i].spaces);
		free(g->guests[i].rows);
		free(g->guests[i].links);
		for (k = 0; k < KEYS; k++)
			free(g->guests[i].index[k].rows);
	}
	free(g->guests);
	pidmap_free(g->by_vm);
	free(g);
}

static struct guest *find_guest(const struct sample_guests *g, int32_t vm)
{
	const struct place *p = pidmap_get(g->by_vm, vm);

	return p && p->guest ? &g->guests[p->guest - 1] : NULL;
}

static int get_guest(struct sample_guests *g, int32_t vm, struct guest **ret)
{
	struct sample_spaces *spaces;
	struct place *p;
	int r;

	*ret = find_guest(g, vm);
	if (*ret)
		return 0;
	r = array_grow(&g->guests, g->n, &g->room, sizeof(*g->guests), SAMPLE_GUESTS_MAX);
	if (r < 0)
		return r;
	p = pidmap_add(g->by_vm, vm);
	r = p ? sample_spaces_new(&spaces) : -ENOMEM;
	if (r < 0)
		return r;
	*ret = &g->guests[g->n];
	memset(*ret, 0, sizeof(**ret));
	(*ret)->vm = vm;
	(*ret)->spaces = spaces;
	p->guest = (uint32_t)++g->n;
	return 0;
}

/* --- reading --- */

static int take_row(struct guest *to, struct byte_reader *r)
{
	struct sample_table_row told;
	struct row *row;
	int ret;

	if (!sample_meta_get_table(r, &told))
		return -EBADMSG;
	ret = array_grow(&to->rows, to->n, &to->room, sizeof(*to->rows), SAMPLE_TABLES_MAX);
	if (ret < 0)
		return ret;
	row = &to->rows[to->n];
	memset(row, 0, sizeof(*row));
	row->told = told;
	to->tells_tasks = to->tells_tasks || told.task;
	row->order = (uint32_t)to->n++;
	if (told.comm_len)
		memcpy(row->comm, told.comm, told.comm_len);
	return 0;
}

static int take_link(struct guest *to, struct byte_reader *r)
{
	struct guest_link_row told;
	struct sample_link *link;
	int ret;
	uint32_t i;

	if (!sample_meta_get_link(r, &told))
		return -EBADMSG;
	ret = array_grow(&to->links, to->n_links, &to->room_links, sizeof(*to->links),
			 SAMPLE_LINKS_MAX);
	if (ret < 0)
		return ret;
	link = &to->links[to->n_links++];
	*link = (struct sample_link){ .tick = told.tick,
				      .error_ns = told.error_ns,
				      .what = told.what };
	/* What would move a terminal's cursor is none of its parts. */
	for (i = 0; i < told.note_len; i++)
		link->note[i] =
			(uint8_t)told.note[i] < 0x20 || told.note[i] == 0x7f ? '?' : told.note[i];
	return 0;
}

static int take_guest(struct sample_guests *g, struct byte_reader *r)
{
	int64_t vm = reader_signed(r);
	struct sample_sampling none;
	struct meta_reader items;
	struct guest *to;
	size_t len = reader_left(r);
	const uint8_t *in = reader_bytes(r, len);
	int ret;

	if (r->bad || vm < 0 || vm > INT32_MAX)
		return -EBADMSG;
	ret = get_guest(g, (int32_t)vm, &to);
	if (ret == 0)
		ret = sample_spaces_decode(to->spaces, &none, in, len);
	meta_reader_init(&items, in, len); /* they are sound: the spaces read all of them */
	while (ret == 0 && meta_reader_next(&items) == WIRE_OK) {
		while (ret == 0 && items.type == META_TABLES && reader_left(&items.item))
			ret = take_row(to, &items.item);
		while (ret == 0 && items.type == META_GUEST_LINK && reader_left(&items.item))
			ret = take_link(to, &items.item);
	}
	return ret;
}

int sample_guests_decode(struct sample_guests *g, const uint8_t *in, size_t len)
{
	struct meta_reader r;
	enum wire_status status;
	int ret = 0;

	meta_reader_init(&r, in, len);
	while (ret == 0 && (status = meta_reader_next(&r)) != WIRE_MORE) {
		if (status != WIRE_OK)
			return -EBADMSG;
		if (r.type == META_GUEST)
			ret = take_guest(g, &r.item);
	}
	return ret;
}

/* --- indexes --- */

static uint64_t key_of(const struct row *r, enum key key)
{
	if (key == BY_TABLE)
		return r->told.table;
	return key == BY_TASK ? r->told.task : (uint64_t)(uint32_t)r->told.tid;
}

static int compare(const struct row *a, const struct row *b, enum key key)
{
	uint64_t ka = key_of(a, key), kb = key_of(b, key);

	if (ka != kb)
		return ka < kb ? -1 : 1;
	if (a->told.tick != b->told.tick)
		return a->told.tick < b->told.tick ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

#define COMPARE(name, key)                                                                         \
	static int name(const void *a, const void *b)                                              \
	{                                                                                          \
		return compare(*(const struct row *const *)a, *(const struct row *const *)b, key); \
	}
COMPARE(compare_table, BY_TABLE)
COMPARE(compare_task, BY_TASK)
COMPARE(compare_tid, BY_TID)
static int (*const compares[KEYS])(const void *, const void *) = { compare_table, compare_task,
								   compare_tid };

/* The rows may have moved, so all of it is made anew. */
static int settle(struct guest *g)
{
	size_t i, k;

	if (g->index[0].rows && g->settled == g->n)
		return 0;
	for (k = 0; k < KEYS; k++) {
		struct index *x = &g->index[k];

		free(x->rows);
		x->n = 0;
		x->rows = calloc(g->n ? g->n : 1, sizeof(struct row *));
		if (!x->rows)
			return -ENOMEM;
		for (i = 0; i < g->n; i++)
			if (key_of(&g->rows[i], (enum key)k))
				x->rows[x->n++] = &g->rows[i];
		qsort(x->rows, x->n, sizeof(struct row *), compares[k]);
	}
	g->settled = g->n;
	return 0;
}

int sample_guests_settle(struct sample_guests *g)
{
	size_t i;
	int r;

	for (i = 0; i < g->n; i++) {
		r = sample_spaces_settle(g->guests[i].spaces);
		if (r == 0)
			r = settle(&g->guests[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- forgetting --- */

/* Of the rows with one key, from first to end: the last that is not later than the moment, and those behind it. */
static void keep_key(const struct index *x, size_t first, size_t end,
		     const struct sample_horizon *to)
{
	size_t i = end;

	while (i > first && x->rows[i - 1]->told.tick > to->tick)
		x->rows[--i]->stays = true;
	if (i > first && !(x->rows[i - 1]->told.is_end && x->rows[i - 1]->told.tick < to->end_tick))
		x->rows[i - 1]->stays = true;
}

/* An end must stay where a row before it does, for another key's sake: else that one would go on. */
static void keep_end(const struct index *x, size_t first, size_t end,
		     const struct sample_horizon *to)
{
	size_t last = end, i;

	while (last > first && x->rows[last - 1]->told.tick > to->tick)
		last--;
	for (i = first; i + 1 < last; i++)
		if (x->rows[i]->stays)
			x->rows[last - 1]->stays = true;
}

static void each_key(const struct guest *g, const struct sample_horizon *to,
		     void (*keep)(const struct index *, size_t, size_t,
				  const struct sample_horizon *))
{
	size_t k, first, end;

	for (k = 0; k < KEYS; k++) {
		const struct index *x = &g->index[k];

		for (first = 0; first < x->n; first = end) {
			end = first + 1;
			while (end < x->n && key_of(x->rows[end], (enum key)k) ==
						     key_of(x->rows[first], (enum key)k))
				end++;
			keep(x, first, end, to);
		}
	}
}

static int forget(struct guest *g, const struct sample_horizon *to)
{
	size_t i, n = 0;

	for (i = 0; i < g->n; i++)
		g->rows[i].stays = false;
	each_key(g, to, keep_key);
	each_key(g, to, keep_end);
	for (i = 0; i < g->n; i++) {
		if (!g->rows[i].stays)
			continue;
		g->rows[n] = g->rows[i];
		g->rows[n].order = (uint32_t)n;
		n++;
	}
	if (n == g->n)
		return 0;
	g->n = n;
	g->settled = SIZE_MAX;
	return settle(g);
}

int sample_guests_forget(struct sample_guests *g, const struct sample_horizon *to)
{
	size_t i;
	int r;

	for (i = 0; i < g->n; i++) {
		r = sample_spaces_forget(g->guests[i].spaces, to);
		if (r == 0)
			r = forget(&g->guests[i], to);
		if (r < 0)
			return r;
	}
	return 0;
}

bool sample_guests_is_torn(const struct sample_guests *g)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		if (sample_spaces_is_torn(g->guests[i].spaces))
			return true;
	return false;
}

size_t sample_guests_rows(const struct sample_guests *g)
{
	size_t sum = 0, i;

	for (i = 0; i < g->n; i++)
		sum += g->guests[i].n + sample_spaces_rows(g->guests[i].spaces);
	return sum;
}

size_t sample_guests_bytes(const struct sample_guests *g)
{
	size_t sum = g->room * sizeof(*g->guests), i;

	for (i = 0; i < g->n; i++)
		sum += g->guests[i].room * (sizeof(struct row) + KEYS * sizeof(struct row *)) +
		       g->guests[i].room_links * sizeof(struct sample_link) +
		       sample_spaces_bytes(g->guests[i].spaces);
	return sum;
}

/* --- asking --- */

static bool has_key(const struct index *x, size_t i, enum key key, uint64_t value)
{
	return i < x->n && key_of(x->rows[i], key) == value;
}

/* The last row of a key that is not later than a tick, if it is no end; else NULL. */
static const struct row *find_row(const struct guest *g, enum key key, uint64_t value,
				  uint64_t tick, struct sample_span *span)
{
	const struct index *x = &g->index[key];
	size_t lo = 0, hi = x->n;

	if (!value)
		return NULL;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		const struct row *r = x->rows[mid];
		uint64_t k = key_of(r, key);

		if (k < value || (k == value && r->told.tick <= tick))
			lo = mid + 1;
		else
			hi = mid;
	}
	sample_span_cut(span, lo && has_key(x, lo - 1, key, value) ? x->rows[lo - 1]->told.tick : 0,
			has_key(x, lo, key, value) ? x->rows[lo]->told.tick : UINT64_MAX);
	if (!lo || !has_key(x, lo - 1, key, value) || x->rows[lo - 1]->told.is_end)
		return NULL;
	return x->rows[lo - 1];
}

struct sample_spaces *sample_guests_spaces(const struct sample_guests *g, int32_t vm)
{
	const struct guest *guest = find_guest(g, vm);

	return guest ? guest->spaces : NULL;
}

int32_t sample_guests_vm(const struct sample_guests *g, size_t number)
{
	return number < g->n ? g->guests[number].vm : -1;
}

size_t sample_guests_links(const struct sample_guests *g, int32_t vm,
			   const struct sample_link **ret)
{
	const struct guest *guest = find_guest(g, vm);

	*ret = guest ? guest->links : NULL;
	return guest ? guest->n_links : 0;
}

/* Bits of the registers that are part of the address. A 64-bit kernel of x86 that keeps two tables for a process has
 * them in two pages beside each other. */
#define ARM64_TABLE 0x0000fffffffffffeULL
#define X86_TABLE 0x000fffffffffe000ULL

uint64_t sample_guest_table(enum sample_exits exits, uint64_t value)
{
	return value & (exits == SAMPLE_EXITS_ARM64 ? ARM64_TABLE : X86_TABLE);
}

/* A guest that tells of tasks tells of all that have a table of their own. One that it did not tell of, as the one for
 * idle CPUs, runs on the table of whoever ran before; and on x86 an interrupt has a stack that is no task's. */
static bool is_borrowing(const struct guest *g, const struct sample_event *ev)
{
	return ev->mode == SAMPLE_GUEST_KERNEL && ev->guest & SAMPLE_GUEST_TASK && g->tells_tasks;
}

bool sample_guests_find(const struct sample_guests *g, int32_t vm, enum sample_exits exits,
			const struct sample_event *ev, struct sample_owner *ret)
{
	const struct guest *guest = find_guest(g, vm);
	const struct row *row = NULL;
	bool is_thread = true;

	ret->span = (struct sample_span)SAMPLE_SPAN_ALL;
	if (!guest)
		return false;
	/* What the kernel keeps for the thread itself is right also for kernel threads, which borrow a table. */
	if (ev->guest & SAMPLE_GUEST_CONTEXT)
		row = find_row(guest, BY_TID, (uint32_t)ev->guest_context, ev->tick, &ret->span);
	if (!row && ev->guest & SAMPLE_GUEST_TASK && ev->mode == SAMPLE_GUEST_KERNEL)
		row = find_row(guest, BY_TASK, ev->guest_task, ev->tick, &ret->span);
	if (!row && ev->guest & SAMPLE_GUEST_TABLE && !is_borrowing(guest, ev)) {
		is_thread = false;
		row = find_row(guest, BY_TABLE, sample_guest_table(exits, ev->guest_table),
			       ev->tick, &ret->span);
	}
	if (!row)
		return false;
	ret->pid = row->told.pid;
	ret->tid = is_thread ? row->told.tid : row->told.pid;
	ret->comm = row->comm;
	return true;
}
