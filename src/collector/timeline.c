/* SPDX-License-Identifier: MIT */
/*
 * timeline: see timeline.h.
 *
 * For each CPU, the buckets of the level that fits, then of finer ones what those of the level do not
 * cover yet, then the bucket that was being filled, then what the segments behind it give: one row of
 * buckets by rising time, whatever they come from.
 */
#include "collector/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/summarise.h"
#include "collector/summary_carry.h"
#include "collector/summary_db.h"
#include "collector/timeline_grid.h"
#include "store/store_reader.h"
#include "trace/info_meta.h"

#define WIDTH_DEFAULT 1000U

/* All that one query works with. */
struct query {
	struct summaries *summaries;
	struct timeline_query asked;
	struct store_run run;
	struct trace_info info;
	struct block_reader *reader;
	struct summary_db *db; /* NULL: nothing is summarised */
	struct summary_carry *carry;
	struct chunk_reader chunk; /* too large for the stack, as is */
	struct bucket bucket;
	uint64_t from_ns, to_ns; /* as asked, cut to the run */
	uint32_t level;
	struct timeline *t;
	struct timeline_grid *grid;
};

void timeline_free(struct timeline *t)
{
	uint32_t i;

	if (!t)
		return;
	for (i = 0; i < t->n_tasks; i++)
		free(t->tasks[i].piece_ns);
	free(t->tasks);
	free(t->other_piece_ns);
	free(t->cells);
	free(t->totals);
	free(t);
}

static void query_free(struct query *q)
{
	if (!q)
		return;
	timeline_grid_free(q->grid);
	timeline_free(q->t);
	summary_carry_free(q->carry);
	summary_db_free(q->db);
	if (q->reader)
		q->reader->ops->free(q->reader);
	info_done(&q->info);
	free(q);
}
DEFINE_CLEANUP(query, query_free)

/* --- the pieces --- */

static uint64_t count_pieces(const struct query *q, uint64_t piece_ns)
{
	return q->to_ns / piece_ns - q->from_ns / piece_ns + 1;
}

/* From below a second up: 1, 2, 5, 10, … ns, so that pieces stay the same when the range moves. */
static uint64_t fine_piece_ns(const struct query *q, uint32_t width)
{
	static const uint64_t steps[] = { 1, 2, 5 };
	uint64_t ten, piece_ns;
	size_t i;

	for (ten = 1; ten < LADDER_BASE_NS; ten *= 10)
		for (i = 0; i < 3; i++) {
			piece_ns = ten * steps[i];
			if (count_pieces(q, piece_ns) <= width)
				return piece_ns;
		}
	return LADDER_BASE_NS;
}

/* As many buckets of the coarsest level that is fine enough as it takes; of a coarser one if there
 * are so many CPUs that it would take too long. */
static uint64_t coarse_piece_ns(struct query *q, uint32_t width)
{
	uint64_t length_ns = q->to_ns - q->from_ns, ideal_ns = length_ns / width + 1;
	uint64_t level_ns, piece_ns;

	for (q->level = 0; q->level + 1 < LADDER_LEVELS; q->level++)
		if (ladder_width_ns(q->level + 1) > ideal_ns &&
		    length_ns / ladder_width_ns(q->level) <=
			    TIMELINE_BUCKETS_MAX / (q->info.cpus + 1))
			break;
	level_ns = ladder_width_ns(q->level);
	piece_ns = (ideal_ns + level_ns - 1) / level_ns * level_ns;
	while (count_pieces(q, piece_ns) > width)
		piece_ns += (piece_ns / level_ns / 16 + 1) * level_ns;
	return piece_ns;
}

static int set_pieces(struct query *q, uint32_t width, bool decode)
{
	struct timeline *t;
	size_t cells;

	timeline_grid_free(q->grid);
	timeline_free(q->t);
	q->grid = NULL;
	t = q->t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->clock = q->info.clock;
	t->run_from_ns = clock_ns(&t->clock, q->run.first_tick);
	t->run_to_ns = clock_ns(&t->clock, q->run.last_tick);
	t->cpus = q->info.cpus;
	t->decoded = decode;
	t->piece_ns = decode ? fine_piece_ns(q, width) : coarse_piece_ns(q, width);
	t->from_ns = q->from_ns / t->piece_ns * t->piece_ns;
	t->n = (uint32_t)count_pieces(q, t->piece_ns);
	t->pending_from_ns = UINT64_MAX;
	cells = (size_t)t->cpus * t->n;
	t->cells = calloc(cells + 1, sizeof(*t->cells));
	t->totals = calloc(t->cpus + 1, sizeof(*t->totals));
	if (!t->cells || !t->totals)
		return -ENOMEM;
	return timeline_grid_new(&q->grid, t);
}

/* --- one CPU --- */

static int put_bucket(void *context, struct bucket *b)
{
	struct query *q = context;

	return timeline_grid_put(q->grid, b, q->carry->slices.width_ns);
}

/* Buckets of a chunk that start at or behind a time. 1: enough. */
static int put_chunk(struct query *q, uint32_t level, const uint8_t *data, size_t len,
		     uint64_t from_ns)
{
	uint64_t width_ns = ladder_width_ns(level);
	enum wire_status status = WIRE_MORE;
	int r = 0;

	chunk_reader_init(&q->chunk, data, len);
	while (r == 0 && (status = chunk_reader_next(&q->chunk, &q->bucket)) == WIRE_OK)
		if (q->bucket.index >= from_ns / width_ns)
			r = timeline_grid_put(q->grid, &q->bucket, width_ns);
	return status == WIRE_CORRUPT ? -EBADMSG : r;
}

/* The buckets of one level from *from_ns on, which is then where they end. */
static int put_level(struct query *q, uint32_t cpu, uint32_t level, uint64_t *from_ns)
{
	uint64_t width_ns = ladder_width_ns(level);
	struct summary_key key = { .run = q->run.number, .cpu = cpu, .level = level };
	const uint8_t *data;
	size_t len;
	int r = 0;

	for (key.chunk = *from_ns / width_ns / LADDER_STEP; r == 0; key.chunk++) {
		r = summary_db_next_chunk(q->db, &key, &data, &len);
		if (r <= 0)
			break;
		r = put_chunk(q, level, data, len, *from_ns);
	}
	data = ladder_get_open(q->carry->ladder, level, &len);
	if (r != 0 || !len)
		return r;
	r = put_chunk(q, level, data, len, *from_ns);
	/* The last bucket of the level is in its open chunk. */
	if (r == 0 && q->chunk.known.next_index * width_ns > *from_ns)
		*from_ns = q->chunk.known.next_index * width_ns;
	return r;
}

static int load_carry(struct query *q, uint32_t cpu)
{
	const uint8_t *data;
	size_t len;
	int r;

	summary_carry_reset(q->carry, &q->info);
	if (!q->db || q->t->decoded)
		return 0;
	r = summary_db_get_carry(q->db, q->run.number, cpu, &data, &len);
	return r == -ENOENT ? 0 : r < 0 ? r : summary_carry_decode(q->carry, data, len);
}

static int put_summaries(struct query *q, uint32_t cpu)
{
	uint64_t from_ns = q->t->from_ns;
	uint32_t level;
	int r = 0;

	if (!q->carry->slices.state.begun)
		return 0;
	for (level = q->level + 1; level-- > 0 && r == 0;)
		r = put_level(q, cpu, level, &from_ns);
	return r;
}

/* Too much: what is known up to here is shown, and that there is more. */
static void give_up(struct query *q)
{
	uint64_t seen_ns = q->carry->slices.state.seen_ns;

	if (seen_ns < q->t->pending_from_ns)
		q->t->pending_from_ns = seen_ns;
}

static int decode(struct query *q, struct stream_cursor *c)
{
	uint64_t max = q->t->decoded ? TIMELINE_EVENTS_MAX : TIMELINE_TAIL_MAX;
	const struct trace_item *item;
	int r = 0;

	while (r == 0 && (item = stream_cursor_peek(c))) {
		if (q->t->events >= max && q->t->decoded)
			return -E2BIG;
		if (q->t->events >= max) {
			give_up(q);
			break;
		}
		q->t->events += item->type == ITEM_EVENT;
		r = slices_add(&q->carry->slices, item);
		stream_cursor_pop(c);
	}
	return r != 0 ? r : stream_cursor_error(c);
}

static int set_mark(struct query *q, struct stream_cursor *c, uint32_t cpu)
{
	int r = summarise_find(q->reader, STREAM_CPU(cpu), &q->carry->mark);

	if (r >= 0)
		stream_cursor_set_mark(c, &q->carry->mark);
	return r;
}

/* What is not summarised, and the ends of the CPU's time. */
static int put_tail(struct query *q, uint32_t cpu)
{
	CLEANUP(stream_cursor) struct stream_cursor *c = NULL;
	struct slices *s = &q->carry->slices;
	int r;

	s->width_ns = q->t->decoded ? q->t->piece_ns : LADDER_BASE_NS;
	s->put = put_bucket;
	s->context = q;
	r = stream_cursor_new(&c, q->reader, cpu, &q->info);
	if (r < 0)
		return r;
	if (q->t->decoded)
		stream_cursor_seek(c, clock_tick_at(&q->info.clock, q->t->from_ns));
	else if (q->carry->mark.next_sequence)
		r = set_mark(q, c, cpu);
	if (r >= 0)
		r = decode(q, c);
	if (r == 0)
		r = slices_end(s, q->t->pending_from_ns == UINT64_MAX ? q->t->run_to_ns : 0);
	return r;
}

static int put_cpu(struct query *q, uint32_t cpu)
{
	const struct slices_state *s = &q->carry->slices.state;
	struct block_stream about;
	struct timeline *t = q->t;
	uint64_t from_ns = t->run_from_ns;
	int r = load_carry(q, cpu);

	if (r == 0)
		r = timeline_grid_begin(q->grid, cpu, q->carry->known_ns);
	if (r == 0)
		r = put_summaries(q, cpu);
	if (r == 0 && q->reader->ops->stream(q->reader, STREAM_CPU(cpu), &about))
		r = put_tail(q, cpu);
	if (r < 0)
		return r;
	if (!s->begun)
		timeline_grid_lose(q->grid, t->run_from_ns, s->lost, s->uncounted);
	if (from_ns < q->carry->known_ns)
		from_ns = q->carry->known_ns;
	return timeline_grid_fill(q->grid, from_ns, s->begun ? s->first_ns : t->run_to_ns,
				  slices_get_beginning(s));
}

/* --- the query --- */

static int fill(struct query *q, uint32_t width, bool decode)
{
	uint32_t cpu;
	int r = set_pieces(q, width, decode);

	for (cpu = 0; cpu < q->info.cpus && r == 0; cpu++)
		r = put_cpu(q, cpu);
	return r == 0 ? timeline_grid_finish(q->grid, q->asked.tasks_max, &q->info) : r;
}

/* As fine as asked; coarser where that would take too much. */
static int fill_somehow(struct query *q)
{
	uint32_t width = q->asked.width ? q->asked.width : WIDTH_DEFAULT;
	int r = -E2BIG;

	if (width > TIMELINE_WIDTH_MAX)
		width = TIMELINE_WIDTH_MAX;
	if (q->info.cpus && width > TIMELINE_CELLS_MAX / q->info.cpus)
		width = TIMELINE_CELLS_MAX / q->info.cpus;
	if (fine_piece_ns(q, width) < LADDER_BASE_NS)
		r = fill(q, width, true);
	for (; r == -E2BIG && width; width /= 2)
		r = fill(q, width, false);
	return r;
}

static int open_db(struct query *q, struct error *e)
{
	struct summary_run have;
	int r = summaries_read(q->summaries, &q->db, e);

	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = summary_db_get_run(q->db, q->run.number, &have, e);
	/* Nothing of it yet, or it is of another run or clock, and will be made again. */
	if (r == -ENOENT ||
	    (r == 0 &&
	     (memcmp(&have.id, &q->run.id, sizeof(have.id)) || have.mult != q->info.clock.mult ||
	      have.shift != q->info.clock.shift || have.base_ns != q->info.clock.base_ns))) {
		summary_db_free(take_ptr(q->db));
		r = 0;
	}
	return r;
}

static int open_run(struct query *q, struct error *e)
{
	static const struct store_range all = { .to_tick = UINT64_MAX };
	struct store *store = summaries_store(q->summaries);
	uint32_t streams;
	int r = store_get_run(store, q->asked.run, &q->run, e);

	if (r == 0)
		r = store_reader_open(&q->reader, store, q->asked.run, &all, e);
	if (r == 0)
		r = info_read(&q->info, q->reader, e);
	if (r < 0)
		return r;
	streams = q->reader->ops->streams(q->reader);
	if (streams > q->info.cpus)
		q->info.cpus = streams < TRACE_CPUS_MAX ? streams : TRACE_CPUS_MAX;
	return summary_carry_new(&q->carry, NULL, NULL);
}

static int set_range(struct query *q, struct error *e)
{
	const struct timeline_query *a = &q->asked;
	uint64_t from = a->from_tick, to = a->to_tick;

	if (to < from)
		return error_set(e, EINVAL, "the timeline's end is before its start");
	if (!q->run.last_tick)
		return error_set(e, ENODATA, "run %u has no events yet", a->run);
	if (from < q->run.first_tick)
		from = q->run.first_tick;
	if (to > q->run.last_tick)
		to = q->run.last_tick;
	if (to < from)
		return error_set(e, ENODATA, "run %u has no events in that range", a->run);
	q->from_ns = clock_ns(&q->info.clock, from);
	q->to_ns = clock_ns(&q->info.clock, to);
	return q->to_ns < q->from_ns ? error_set(e, EBADMSG, "run %u: its clock wraps", a->run) : 0;
}

int timeline_make(struct timeline **ret, struct summaries *s, const struct timeline_query *asked,
		  struct error *e)
{
	CLEANUP(query) struct query *q = calloc(1, sizeof(*q));
	int r;

	if (!q || info_init(&q->info) < 0) {
		free(take_ptr(q));
		return error_set(e, ENOMEM, "cannot make a timeline: out of memory");
	}
	q->summaries = s;
	q->asked = *asked;
	r = open_run(q, e);
	if (r == 0)
		r = set_range(q, e);
	if (r == 0)
		r = open_db(q, e);
	if (r < 0)
		return r;
	r = fill_somehow(q);
	if (r == -EBADMSG)
		summaries_distrust(s);
	if (r < 0)
		return error_set(e, -r, "cannot make a timeline of run %u: %s", asked->run,
				 r == -EBADMSG ? "its summaries are damaged and are made again"
					       : strerror(-r));
	*ret = take_ptr(q->t);
	return 0;
}
