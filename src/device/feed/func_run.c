/* SPDX-License-Identifier: MIT */
/*
 * func_run: see func_run.h; the rows' layout is in memory.h.
 *
 * The rows in the mapped file are what is worked with, there is no copy of them. Who a row is of is
 * written once, before its first block; where it is, in turn into one of two places, so that a death
 * while one is written leaves the other. A row or a place that is not whole was never used.
 *
 * A description is put before what depends on it: a process before its threads, a thread before its
 * row. What a death leaves is described twice, which means the same. The number that the next process
 * gets is kept with the description's sequence (checkpoint.position): were one given twice, the
 * mappings of two processes would be mixed.
 */
#include "device/feed/func_run.h"

#include <errno.h>
#include <string.h>

#include "device/agent/memory.h"
#include "device/agent/run_meta.h"

#define SHARE 64U		     /* an END may take this part of the spool */
#define NUMBER_MOST (UINT64_MAX / 2) /* of a place: no agent writes one so often */
#define NOBODY UINT32_MAX	     /* process of a row whose owner is not known any more */
#define ORIGIN "programs"
#define TEXT_MOST 1024U /* bytes, as readers keep */
#define BUILD_ID_MOST 20U

/* Those that were announced by this agent, or have rows. */
struct process {
	uint64_t start_tick;
	int32_t pid;
	uint32_t number;
};

struct func_run {
	struct spool *spool;
	bool is_open;
	uint32_t most, n_rows, n_processes;
	struct memory_func_row *rows;
	struct process *processes; /* as many as rows at most */
	uint8_t *end;		   /* room for an END */
	uint64_t blocks, bytes;
	struct run_meta meta;
};

uint32_t func_run_rows(uint32_t spool_bytes)
{
	uint32_t rows = spool_bytes / SHARE / SPOOL_END_ROW / FUNC_LANES;

	rows = rows ? rows - 1 : 0;
	return rows < MEMORY_FUNC_ROWS_MAX ? rows : MEMORY_FUNC_ROWS_MAX;
}

uint32_t func_run_block_most(const struct func_run *r)
{
	uint64_t most = spool_size(r->spool) / 8;

	return most < FUNC_RUN_PAYLOAD_MOST ? (uint32_t)most : FUNC_RUN_PAYLOAD_MOST;
}

/* --- rows --- */

static uint32_t row_crc(const struct memory_func_row *row)
{
	return memory_crc(row, offsetof(struct memory_func_row, crc));
}

static const struct memory_func_place *place_of(const struct memory_func_row *row)
{
	return &row->places[row->places[1].number > row->places[0].number];
}

/* Into the place that does not hold. */
static void write_place(struct memory_func_row *row, struct memory_func_place *next)
{
	next->number = place_of(row)->number + 1;
	next->crc = memory_crc(next, offsetof(struct memory_func_place, crc));
	row->places[place_of(row) == &row->places[0]] = *next;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void write_row(struct memory_func_row *to, struct memory_func_row *row)
{
	row->crc = row_crc(row);
	*to = *row;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static uint32_t find_process(const struct func_run *r, int32_t pid, uint64_t start_tick)
{
	uint32_t i;

	for (i = 0; i < r->n_processes; i++)
		if (r->processes[i].pid == pid && r->processes[i].start_tick == start_tick)
			break;
	return i;
}

static const struct process *get_process(const struct func_run *r, uint32_t number)
{
	uint32_t i;

	for (i = 0; i < r->n_processes; i++)
		if (r->processes[i].number == number)
			return &r->processes[i];
	return NULL;
}

/* --- taking up what an earlier agent left --- */

static void check_places(struct memory_func_row *row)
{
	struct memory_func_place *p;

	for (p = row->places; p < row->places + 2; p++)
		if (p->crc != memory_crc(p, offsetof(struct memory_func_place, crc)) ||
		    p->number > NUMBER_MOST)
			memset(p, 0, sizeof(*p));
}

/* So many rows are in use, also those of which nothing is known but that there are blocks. */
static void use_rows(struct func_run *r, uint32_t n)
{
	struct memory_func_row nobody = { .run = r->meta.run, .process = NOBODY };

	for (; r->n_rows < n; r->n_rows++) {
		struct memory_func_row *row = &r->rows[r->n_rows];

		if (row->run != r->meta.run || row->crc != row_crc(row))
			write_row(row, &nobody);
		check_places(row);
	}
}

static void take_rows(struct func_run *r)
{
	const struct memory_func_row *row;
	uint32_t i, n = 0;

	for (i = 0; i < r->most; i++)
		if (r->rows[i].run == r->meta.run && r->rows[i].crc == row_crc(&r->rows[i]))
			n = i + 1;
	use_rows(r, n);
	for (i = 0; i < r->n_rows; i++) {
		row = &r->rows[i];
		if (row->process == NOBODY || get_process(r, row->process))
			continue;
		r->processes[r->n_processes++] = (struct process){ .start_tick = row->start_tick,
								   .pid = row->pid,
								   .number = row->process };
		if (r->meta.position <= row->process)
			r->meta.position = row->process + 1ULL;
	}
}

static void tell_place(struct memory_func_place *p, uint32_t lane, const struct block *b)
{
	uint32_t i;

	p->next_sequence[lane] = b->sequence + 1;
	p->count[lane] = b->before + b->events;
	if (p->until[lane] < b->first_tick + b->ticks)
		p->until[lane] = b->first_tick + b->ticks;
	for (i = 0; i < LOSS_CAUSES; i++)
		p->lost[i] += b->lost[i] == LOSS_UNKNOWN ? 0 : b->lost[i];
}

/* A block whose row was not written any more is the last one in the ring. */
static void take_entry(struct func_run *r, const struct spool_entry *e)
{
	uint32_t row = (e->stream - STREAM_FUNC_FIRST) / FUNC_LANES, lane = e->stream % FUNC_LANES;
	struct memory_func_place next;
	struct block b;

	if (row >= r->most || block_peek(e->bytes, e->len, &b) != WIRE_OK)
		return;
	use_rows(r, row + 1);
	next = *place_of(&r->rows[row]);
	if (b.sequence < next.next_sequence[lane])
		return;
	tell_place(&next, lane, &b);
	write_place(&r->rows[row], &next);
}

static void take_up(struct func_run *r, const struct spool_run *run)
{
	struct spool_entry e;
	struct checkpoint at;
	uint64_t place = 0;

	r->is_open = true;
	r->meta.run = run->number;
	spool_get_checkpoint(r->spool, SPOOL_FUNC_META, &at);
	r->meta.position = at.position;
	take_rows(r);
	while (spool_next(r->spool, &place, &e))
		if (e.run == run->number && e.kind == FRAME_BLOCK && stream_is_func(e.stream))
			take_entry(r, &e);
	/* If it finds no room, reports cannot tell this agent from other programs: not worth more. */
	run_meta_put(&r->meta, run_meta_put_agent(run_meta_begin(&r->meta)), true);
}

int func_run_new(struct func_run **ret, const struct func_run_options *o, struct error *e)
{
	CLEANUP(func_run) struct func_run *r = calloc(1, sizeof(*r));
	struct memory *m = spool_get_memory(o->spool);
	struct spool_run run;

	if (!r)
		return error_set(e, ENOMEM, "cannot make a run of calls: %m");
	r->spool = r->meta.spool = o->spool;
	r->meta.kind = SPOOL_CALLS;
	r->meta.device = o->device;
	r->most = memory_get_head(m)->name.func_rows;
	r->rows = memory_get_func_rows(m);
	r->processes = calloc(r->most + 1, sizeof(*r->processes));
	r->end = malloc((FUNC_LANES * r->most + 2) * SPOOL_END_ROW);
	if (!r->processes || !r->end)
		return error_set(e, ENOMEM, "cannot make a run of calls: %m");
	if (spool_get_current(r->spool, SPOOL_CALLS, &run)) {
		/* One that did not come to its description has no blocks, and nobody knows of it. */
		if (run.is_described && r->most)
			take_up(r, &run);
		else
			spool_abandon(r->spool, SPOOL_CALLS);
	}
	*ret = take_ptr(r);
	return 0;
}

void func_run_free(struct func_run *r)
{
	if (!r)
		return;
	free(r->processes);
	free(r->end);
	free(r);
}

/* --- its start and its end --- */

bool func_run_is_open(const struct func_run *r)
{
	return r->is_open;
}

uint32_t func_run_left(const struct func_run *r)
{
	return r->most - r->n_rows;
}

static void forget(struct func_run *r)
{
	r->is_open = false;
	r->n_rows = r->n_processes = 0;
	r->meta.run = 0;
	r->meta.position = 0;
}

static int describe(struct func_run *r, const struct meta_clock *clock)
{
	const struct memory_name *name = &memory_get_head(spool_get_memory(r->spool))->name;
	struct meta_clock c = *clock;
	uint8_t *p = run_meta_begin(&r->meta);

	/* Both clocks' nanoseconds are the same ones then. */
	if (!c.has_realtime && c.name_len == 4 && !memcmp(c.name, "mono", 4))
		run_meta_measure(&c);
	p = run_meta_put_machine(&r->meta, p, ORIGIN, name->cpus);
	p = run_meta_put_clock(p, 0);
	p = func_meta_put_clock(p, &c);
	return run_meta_put(&r->meta, run_meta_put_agent(p), true);
}

int func_run_start(struct func_run *r, const struct meta_clock *clock, struct error *e)
{
	struct spool_run run = { .kind = SPOOL_CALLS };
	int res;

	if (r->is_open)
		return error_set(e, EBUSY, "cannot begin a run of calls: there is one");
	/* Asked first: who tries again and again should not use up a number each time. */
	if (!spool_has_room(r->spool, SPOOL_META_MOST))
		return error_set(e, ENOSPC, "cannot begin a run of calls: the spool is full");
	forget(r);
	res = run_meta_draw(&run.id, e);
	if (!res)
		res = spool_start_run(r->spool, &run, e);
	if (res < 0)
		return res;
	r->meta.run = run.number;
	res = describe(r, clock);
	if (res < 0) {
		spool_abandon(r->spool, SPOOL_CALLS);
		return error_set(e, -res, "cannot begin a run of calls: the spool is full");
	}
	spool_set_described(r->spool, SPOOL_CALLS);
	r->is_open = true;
	return 0;
}

static uint32_t count_streams(const struct func_run *r)
{
	uint32_t i, n = 0;

	for (i = 0; i < FUNC_LANES * r->n_rows; i++)
		n += place_of(&r->rows[i / FUNC_LANES])->next_sequence[i % FUNC_LANES] > 0;
	return n;
}

static size_t encode_end(const struct func_run *r)
{
	struct message_end m = { .n_rows = 1 + count_streams(r) };
	struct message_stream_end row = { .stream = STREAM_META };
	const struct memory_func_place *p;
	struct checkpoint meta;
	struct byte_writer w;
	uint32_t i;

	writer_init(&w, r->end, (FUNC_LANES * (size_t)r->most + 2) * SPOOL_END_ROW);
	end_encode(&w, &m);
	spool_get_checkpoint(r->spool, SPOOL_FUNC_META, &meta);
	row.next_sequence = meta.next_sequence;
	end_put(&w, &row);
	for (i = 0; i < FUNC_LANES * r->n_rows; i++) {
		p = place_of(&r->rows[i / FUNC_LANES]);
		row.stream = STREAM_FUNC_FIRST + i;
		row.next_sequence = p->next_sequence[i % FUNC_LANES];
		row.events = p->count[i % FUNC_LANES];
		if (row.next_sequence)
			end_put(&w, &row);
	}
	return writer_len(&w);
}

int func_run_stop(struct func_run *r, struct error *e)
{
	struct spool_entry entry = { .kind = FRAME_RUN_END, .run = r->meta.run, .bytes = r->end };
	int res;

	if (!r->is_open)
		return 0;
	entry.len = (uint32_t)encode_end(r);
	res = spool_put(r->spool, &entry, SPOOL_FUNC_META, NULL);
	if (res < 0)
		return error_set(e, -res, "cannot end the run of calls: the spool is full");
	forget(r);
	return 0;
}

/* --- who is traced --- */

static int put_items(struct func_run *r, const uint8_t *end, bool must_stay, struct error *e)
{
	int res = run_meta_put(&r->meta, end, must_stay);

	return res < 0 ? error_set(e, -res, "cannot describe a program: the spool is full") : 0;
}

static struct func_meta_text cut(struct func_meta_text t)
{
	t.len = t.len < TEXT_MOST ? t.len : TEXT_MOST;
	return t;
}

static int check_open(const struct func_run *r, struct error *e)
{
	return r->is_open ? 0 : error_set(e, EINVAL, "cannot describe a program: there is no run");
}

int func_run_take_process(struct func_run *r, struct func_run_process *p, struct error *e)
{
	uint32_t at = find_process(r, p->about.pid, p->start_tick);
	struct func_meta_process about;
	uint8_t *body;
	int res = check_open(r, e);

	if (res < 0)
		return res;
	if (at < r->n_processes) {
		p->about.number = r->processes[at].number;
		return 0;
	}
	if (at == r->most || r->meta.position >= FUNC_RUN_PROCESSES)
		return error_set(e, ENOBUFS, "cannot describe a program: the run has %u already",
				 at);
	about = p->about;
	about.number = (uint32_t)r->meta.position++;
	about.command = cut(about.command);
	about.exe = cut(about.exe);
	body = meta_item_begin(run_meta_begin(&r->meta), META_PROCESSES);
	res = put_items(r, meta_item_end(body, func_meta_put_process(body, &about)), true, e);
	if (res < 0) {
		r->meta.position--;
		return res;
	}
	r->processes[r->n_processes++] = (struct process){ .start_tick = p->start_tick,
							   .pid = about.pid,
							   .number = about.number };
	p->about.number = about.number;
	return 0;
}

int func_run_put_mapping(struct func_run *r, uint32_t process, const struct func_meta_mapping *m,
			 struct error *e)
{
	struct func_meta_mapping row = *m;
	uint8_t *body, *p;
	int res = check_open(r, e);

	if (res < 0)
		return res;
	row.path = cut(row.path);
	row.build_id_len = row.build_id_len <= BUILD_ID_MOST ? row.build_id_len : 0;
	body = meta_item_begin(run_meta_begin(&r->meta), META_MAPPINGS);
	p = func_meta_put_mapping(func_meta_put_owner(body, process), &row);
	return put_items(r, meta_item_end(body, p), true, e);
}

/* Said again and again, so one may be dropped. */
int func_run_put_sync(struct func_run *r, uint64_t tick, uint64_t mono_ns, struct error *e)
{
	uint8_t *body;
	int res = check_open(r, e);

	if (res < 0)
		return res;
	body = meta_item_begin(run_meta_begin(&r->meta), META_FUNC_SYNCS);
	return put_items(r, meta_item_end(body, func_meta_put_sync(body, tick, mono_ns)), false, e);
}

static int announce(struct func_run *r, const struct func_run_thread *t, struct error *e)
{
	struct func_meta_thread about = {
		.number = r->n_rows,
		.process = t->process,
		.tid = t->tid,
		.cpu = -1,
		.comm = { t->comm, (uint32_t)strnlen(t->comm, sizeof(t->comm)) },
	};
	uint8_t *body = meta_item_begin(run_meta_begin(&r->meta), META_THREADS);

	return put_items(r, meta_item_end(body, func_meta_put_thread(body, &about)), true, e);
}

int func_run_take_thread(struct func_run *r, struct func_run_thread *t, uint32_t *ret_row,
			 struct error *e)
{
	const struct process *p = get_process(r, t->process);
	struct memory_func_row row = { .run = r->meta.run };
	uint32_t i;
	int res = check_open(r, e);

	if (res < 0)
		return res;
	for (i = 0; i < r->n_rows; i++) {
		if (r->rows[i].process != t->process || r->rows[i].stream != t->stream)
			continue;
		t->base = r->rows[i].base;
		*ret_row = i;
		return 0;
	}
	if (!p)
		return error_set(e, EINVAL, "cannot describe a thread: process %u is not known",
				 t->process);
	if (i == r->most)
		return error_set(e, ENOBUFS, "cannot describe a thread: the run has %u already", i);
	res = announce(r, t, e);
	if (res < 0)
		return res;
	row.process = t->process;
	row.stream = t->stream;
	row.pid = p->pid;
	row.tid = t->tid;
	row.start_tick = p->start_tick;
	row.base = t->base;
	write_row(&r->rows[i], &row);
	*ret_row = r->n_rows++;
	return 0;
}

/* --- blocks --- */

void func_run_get_place(const struct func_run *r, uint32_t row, enum func_run_lane lane,
			struct func_run_place *ret)
{
	const struct memory_func_place *p;

	memset(ret, 0, sizeof(*ret));
	if (row >= r->n_rows)
		return;
	p = place_of(&r->rows[row]);
	ret->next_sequence = p->next_sequence[lane];
	ret->count = p->count[lane];
	ret->until = p->until[lane];
}

/* Completes the header by the rules of wire.md, 3.3 and 3.4. */
static void fill_header(struct func_run_block *f, const struct memory_func_place *at)
{
	struct block *b = &f->block;
	uint64_t until = f->until > at->until[f->lane] ? f->until : at->until[f->lane];

	b->codec = CODEC_FUNC;
	b->flags = BLOCK_KEY;
	b->stream = STREAM_FUNC(f->row) + (uint32_t)f->lane;
	b->sequence = at->next_sequence[f->lane];
	b->before = at->count[f->lane] + block_told(b);
	if (!b->events)
		b->first_tick = at->until[f->lane];
	b->ticks = until > b->first_tick ? until - b->first_tick : 0;
}

int func_run_put(struct func_run *r, struct func_run_block *f)
{
	struct spool_entry entry = { .kind = FRAME_BLOCK, .run = r->meta.run, .key = true };
	struct block *b = &f->block;
	struct memory_func_place next;
	uint64_t all;
	int res;

	if (!r->is_open || f->row >= r->n_rows || (uint32_t)f->lane >= FUNC_LANES)
		return -EINVAL;
	if (b->payload_len > FUNC_RUN_PAYLOAD_MOST || b->events > BLOCK_EVENTS_MAX)
		return -EMSGSIZE;
	next = *place_of(&r->rows[f->row]);
	fill_header(f, &next);
	all = block_told(b) + b->events;
	entry.stream = b->stream;
	entry.sequence = b->sequence;
	entry.events = all > UINT32_MAX ? UINT32_MAX : (uint32_t)all;
	entry.bytes = block_encode(b, f->payload, &entry.len);
	res = spool_put(r->spool, &entry, 0, NULL);
	if (res < 0)
		return res;
	tell_place(&next, (uint32_t)f->lane, b);
	write_place(&r->rows[f->row], &next);
	r->blocks++;
	r->bytes += entry.len;
	return 0;
}

void func_run_count(const struct func_run *r, struct func_run_counts *ret)
{
	uint32_t i, c;

	memset(ret, 0, sizeof(*ret));
	for (i = 0; i < r->n_rows; i++) {
		const struct memory_func_place *p = place_of(&r->rows[i]);

		ret->events += p->count[FUNC_LANE_CALLS] + p->count[FUNC_LANE_OS];
		for (c = 0; c < LOSS_CAUSES; c++)
			ret->lost[c] += p->lost[c];
	}
	ret->blocks = r->blocks;
	ret->bytes = r->bytes;
}
