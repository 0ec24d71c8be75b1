/* SPDX-License-Identifier: MIT */
/* func_meta: see func_meta.h. Here the reading side; func_meta_encode.c has the other. */
#include "trace/func_meta.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"
#include "trace/info_meta.h"
#include "wire/block.h"
#include "wire/meta.h"

#define MOST_CPU 4095U

void func_meta_init(struct func_meta *m)
{
	memset(m, 0, sizeof(*m));
	clock_init(&m->tables.clock);
}

void func_meta_done(struct func_meta *m)
{
	func_source_done(&m->tables);
	free(m->threads);
	memset(m, 0, sizeof(*m));
}

/* The process with this number, and all below it. */
static int get_process(struct func_meta *m, uint64_t number, struct func_process **ret)
{
	struct func_process p;
	int r = 0;

	if (number >= FUNC_PROCESSES_MAX)
		return -EBADMSG;
	while (r == 0 && m->tables.n_processes <= number) {
		r = func_process_init(&p, "", "");
		p.pid = p.parent = -1;
		if (r == 0)
			r = func_source_add_process(&m->tables, &p, NULL);
	}
	if (r == 0)
		*ret = &m->tables.processes[number];
	return r;
}

static int take_text(char **field, struct byte_reader *r)
{
	uint64_t len = reader_varint(r);
	const uint8_t *text = reader_bytes(r, len);

	return r->bad ? -EBADMSG : info_set(field, (const char *)text, (size_t)len);
}

static int take_pid(struct byte_reader *r, int32_t *ret)
{
	int64_t v = reader_signed(r);

	if (r->bad || v < INT32_MIN || v > INT32_MAX)
		return -EBADMSG;
	*ret = (int32_t)v;
	return 0;
}

static int take_process(struct func_meta *m, struct byte_reader *r)
{
	struct func_process *p;
	int ret = get_process(m, reader_varint(r), &p);

	if (ret == 0)
		ret = take_pid(r, &p->pid);
	if (ret == 0)
		ret = take_pid(r, &p->parent);
	if (ret < 0)
		return ret;
	p->kernel = reader_varint(r) & 1;
	ret = take_text(&p->command, r);
	return ret < 0 ? ret : take_text(&p->exe, r);
}

int func_meta_get_mapping(struct byte_reader *r, struct func_mapping *ret)
{
	struct func_mapping f = { .from = reader_varint(r) };
	uint64_t size = reader_varint(r), since, span, id_len;
	const uint8_t *id;

	f.offset = reader_varint(r);
	since = reader_varint(r);
	span = reader_varint(r);
	id_len = reader_varint(r);
	id = reader_bytes(r, id_len);
	if (r->bad || size > UINT64_MAX - f.from || since >= UINT32_MAX ||
	    span >= UINT32_MAX - since || id_len > FUNC_BUILD_ID_MAX)
		return -EBADMSG;
	f.to = f.from + size;
	f.since = (uint32_t)since;
	f.until = span ? (uint32_t)(since + span) : UINT32_MAX;
	f.build_id_len = (uint8_t)id_len;
	if (id_len)
		memcpy(f.build_id, id, (size_t)id_len);
	*ret = f;
	return take_text(&ret->path, r);
}

static int take_mapping(struct func_process *p, struct byte_reader *r)
{
	struct func_mapping f = { 0 };
	int ret = func_meta_get_mapping(r, &f);

	if (ret == 0)
		ret = func_process_add_mapping(p, &f);
	free(f.path);
	return ret;
}

static int take_mappings(struct func_meta *m, struct byte_reader *r)
{
	struct func_process *p;
	int ret = get_process(m, reader_varint(r), &p);

	while (ret == 0 && reader_left(r))
		ret = take_mapping(p, r);
	return ret;
}

static int add_thread(struct func_meta *m, uint32_t number, const struct func_thread *t)
{
	int r = array_grow(&m->threads, m->n_threads, &m->room_threads, sizeof(*m->threads),
			   2 * (size_t)FUNC_THREADS_MAX);

	if (r < 0)
		return r;
	m->threads[m->n_threads] = (struct func_meta_row){ .number = number,
							   .order = (uint32_t)m->n_threads,
							   .thread = *t };
	m->n_threads++;
	return 0;
}

static int take_thread(struct func_meta *m, struct byte_reader *r)
{
	uint64_t number = reader_varint(r), process = reader_varint(r), cpu, len;
	struct func_thread t = { 0 };
	struct func_process *p;
	const uint8_t *comm;
	int ret = take_pid(r, &t.tid);

	if (ret < 0)
		return ret;
	cpu = reader_varint(r);
	len = reader_varint(r);
	comm = reader_bytes(r, len);
	if (r->bad || number >= STREAM_FUNC_THREADS || cpu > MOST_CPU + 1 || len > SCHED_COMM_LEN)
		return -EBADMSG;
	t.cpu = (int32_t)cpu - 1;
	sched_comm_set(t.comm, (const char *)comm, (size_t)len);
	ret = get_process(m, process, &p);
	t.process = (uint32_t)process;
	return ret < 0 ? ret : add_thread(m, (uint32_t)number, &t);
}

int func_meta_add_thread(struct func_meta *m, uint32_t number)
{
	struct func_thread t = { .process = FUNC_PROCESSES_MAX, .tid = -1, .cpu = -1 };

	return number < STREAM_FUNC_THREADS ? add_thread(m, number, &t) : -E2BIG;
}

static int take_clock(struct func_meta *m, struct byte_reader *r)
{
	int ret = info_decode_clock(&m->tables.clock, r);

	m->has_clock = m->has_clock || ret == 0;
	return ret;
}

static int take_sync(struct func_meta *m, struct byte_reader *r)
{
	uint64_t tick = reader_varint(r), mono_ns = reader_varint(r);

	return r->bad ? -EBADMSG : func_source_add_sync(&m->tables, tick, mono_ns);
}

/* Names that come again are passed over; those behind a gap have no number that would be right. */
static int take_names(struct func_meta *m, struct byte_reader *r)
{
	struct func_process *p;
	int ret = get_process(m, reader_varint(r), &p);
	uint64_t number = reader_varint(r), len;
	const uint8_t *name;

	for (; ret == 0 && reader_left(r); number++) {
		len = reader_varint(r);
		name = reader_bytes(r, len);
		if (r->bad)
			return -EBADMSG;
		if (number == p->n_names)
			ret = func_process_add_name(p, (const char *)name, (size_t)len);
	}
	return r->bad ? -EBADMSG : ret;
}

static int take_rows(struct func_meta *m, struct byte_reader *r,
		     int (*take)(struct func_meta *m, struct byte_reader *r))
{
	int ret = 0;

	while (ret == 0 && reader_left(r))
		ret = take(m, r);
	return ret;
}

static int take_item(struct func_meta *m, struct meta_reader *r)
{
	switch (r->type) {
	case META_PROCESSES:
		return take_rows(m, &r->item, take_process);
	case META_MAPPINGS:
		return take_mappings(m, &r->item);
	case META_THREADS:
		return take_rows(m, &r->item, take_thread);
	case META_FUNC_CLOCK:
		return take_clock(m, &r->item);
	case META_FUNC_SYNCS:
		return take_rows(m, &r->item, take_sync);
	case META_NAMES:
		return take_names(m, &r->item);
	default:
		return 0;
	}
}

int func_meta_decode(struct func_meta *m, const uint8_t *in, size_t len)
{
	struct meta_reader r;
	enum wire_status status;
	int ret;

	meta_reader_init(&r, in, len);
	while ((status = meta_reader_next(&r)) == WIRE_OK) {
		ret = take_item(m, &r);
		if (ret < 0)
			return ret;
		m->found = m->found || (r.type >= META_PROCESSES && r.type <= META_NAMES);
	}
	return status == WIRE_MORE ? 0 : -EBADMSG;
}

/* By number; of one number the known before those that only a stream names, the latest first. */
static int thread_order(const void *a, const void *b)
{
	const struct func_meta_row *x = a, *y = b;
	bool x_named = x->thread.process < FUNC_PROCESSES_MAX;
	bool y_named = y->thread.process < FUNC_PROCESSES_MAX;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x_named != y_named)
		return y_named - x_named;
	return (x->order < y->order) - (x->order > y->order);
}

static int settle_threads(struct func_meta *m)
{
	uint32_t nobody = (uint32_t)m->tables.n_processes;
	struct func_process *p;
	size_t i, n = 0;
	int r = 0;

	if (m->n_threads)
		qsort(m->threads, m->n_threads, sizeof(*m->threads), thread_order);
	for (i = 0; i < m->n_threads && r == 0; i++) {
		if (n && m->threads[n - 1].number == m->threads[i].number)
			continue;
		m->threads[n] = m->threads[i];
		if (m->threads[n].thread.process == FUNC_PROCESSES_MAX) {
			m->threads[n].thread.process = nobody;
			r = get_process(m, nobody, &p);
		}
		if (r == 0)
			r = func_source_add_thread(&m->tables, &m->threads[n++].thread, NULL);
	}
	m->n_threads = n;
	return r;
}

static int mapping_order(const void *a, const void *b)
{
	const struct func_mapping *x = a, *y = b;

	if (x->since != y->since)
		return x->since < y->since ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	/* Of a mapping that was said again the one that ended is the later. */
	return x->until < y->until ? -1 : x->until > y->until;
}

static void settle_mappings(struct func_process *p)
{
	size_t i, n = 0;

	if (p->n_mappings)
		qsort(p->mappings, p->n_mappings, sizeof(*p->mappings), mapping_order);
	for (i = 0; i < p->n_mappings; i++) {
		if (n && p->mappings[n - 1].since == p->mappings[i].since &&
		    p->mappings[n - 1].from == p->mappings[i].from)
			free(p->mappings[i].path);
		else
			p->mappings[n++] = p->mappings[i];
	}
	p->n_mappings = n;
}

static int sync_order(const void *a, const void *b)
{
	const struct func_sync *x = a, *y = b;

	return x->tick < y->tick ? -1 : x->tick > y->tick;
}

static void settle_syncs(struct func_source *s)
{
	size_t i, n = 0;

	if (s->n_syncs)
		qsort(s->syncs, s->n_syncs, sizeof(*s->syncs), sync_order);
	for (i = 0; i < s->n_syncs; i++)
		if (!n || (s->syncs[i].tick > s->syncs[n - 1].tick &&
			   s->syncs[i].mono_ns > s->syncs[n - 1].mono_ns))
			s->syncs[n++] = s->syncs[i];
	s->n_syncs = n;
}

int func_meta_settle(struct func_meta *m)
{
	size_t i;

	for (i = 0; i < m->tables.n_processes; i++)
		settle_mappings(&m->tables.processes[i]);
	settle_syncs(&m->tables);
	return settle_threads(m);
}
