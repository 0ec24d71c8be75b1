/* SPDX-License-Identifier: MIT */
/* summarise: see summarise.h. */
#include "collector/summarise.h"

#include <errno.h>
#include <string.h>

#include "collector/summary_carry.h"
#include "store/store_reader.h"
#include "trace/info_meta.h"

#define COMMIT_EVENTS (1U << 21) /* decoded in one transaction: about half a second of work */

struct summariser {
	struct store *store;
	struct summary_db *db;
	const atomic_bool *stop;
	struct summary_carry *carry;
	struct summary_key key; /* of the stream at work; level and chunk are not used */
	uint64_t events;
	uint64_t uncommitted;
};

/* One run at work. */
struct work {
	struct summariser *m;
	struct block_reader *reader;
	const struct trace_info *info;
	bool ended; /* the last segment is complete */
};

static int put_chunk(void *context, uint32_t level, uint64_t chunk, const uint8_t *data, size_t len)
{
	struct summariser *m = context;
	struct summary_key key = m->key;

	key.level = level;
	key.chunk = chunk;
	return summary_db_put_chunk(m->db, &key, data, len);
}

int summariser_new(struct summariser **ret, struct store *s, struct summary_db *db,
		   const atomic_bool *stop)
{
	CLEANUP(summariser) struct summariser *m = calloc(1, sizeof(*m));

	if (!m || summary_carry_new(&m->carry, put_chunk, m) < 0)
		return -ENOMEM;
	m->store = s;
	m->db = db;
	m->stop = stop;
	*ret = take_ptr(m);
	return 0;
}

void summariser_free(struct summariser *m)
{
	if (!m)
		return;
	summary_carry_free(m->carry);
	free(m);
}

uint64_t summariser_events(const struct summariser *m)
{
	return m->events;
}

/* --- one stream --- */

static int load_carry(struct work *w)
{
	struct summariser *m = w->m;
	const uint8_t *data;
	size_t len;
	int r;

	summary_carry_reset(m->carry, w->info);
	r = summary_db_get_carry(m->db, m->key.run, m->key.cpu, &data, &len);
	if (r == -ENOENT)
		return 0;
	return r < 0 ? r : summary_carry_decode(m->carry, data, len);
}

static int save_carry(struct work *w)
{
	struct summariser *m = w->m;
	_cleanup_free_ uint8_t *data = NULL;
	size_t len;
	int r = summary_carry_encode(m->carry, &data, &len);

	return r < 0 ? r : summary_db_put_carry(m->db, m->key.run, m->key.cpu, data, len);
}

static int commit(struct summariser *m, struct error *e)
{
	int r = summary_db_commit(m->db, e);

	m->uncommitted = 0;
	if (r == 0 && atomic_load(m->stop))
		r = -EINTR;
	return r < 0 ? r : summary_db_begin(m->db, e);
}

int summarise_find(struct block_reader *r, uint32_t stream, struct stream_mark *m)
{
	uint64_t place = m->place, at;
	struct block b;
	int rc = r->ops->next(r, stream, &place, &b, &at);

	if (rc < 0 || (rc == 1 && b.sequence == m->next_sequence))
		return rc;
	place = r->ops->seek(r, stream, m->last_tick);
	while ((rc = r->ops->next(r, stream, &place, &b, &at)) == 1)
		if (b.sequence >= m->next_sequence)
			break;
	m->place = rc == 1 ? at : place;
	return rc;
}

/* Some segments of the stream at work that are taken in one go. */
struct piece {
	bool any;	/* there are blocks in it */
	bool more;	/* … and behind it that can be taken */
	uint64_t limit; /* its end */
};

/* Is there a complete segment behind the mark? The last one that has begun is not. */
static int find_end(const struct work *w, struct piece *ret)
{
	uint32_t stream = STREAM_CPU(w->m->key.cpu);
	struct block_reader *r = w->reader;
	uint64_t place, at;
	struct block b;
	int rc;

	ret->any = ret->more = false;
	ret->limit = UINT64_MAX;
	if (!w->ended) {
		place = ret->limit = r->ops->seek(r, stream, UINT64_MAX);
		rc = place ? r->ops->next(r, stream, &place, &b, &at) : 0;
		if (rc <= 0 || b.sequence <= w->m->carry->mark.next_sequence)
			return rc < 0 ? rc : 0;
	}
	return summarise_find(r, stream, &w->m->carry->mark);
}

/* From the mark to the next KEY block behind enough events, or to the last one. -ESTALE: what was
 * taken for a complete segment has got more blocks. */
static int find_piece(const struct work *w, struct piece *ret)
{
	uint32_t stream = STREAM_CPU(w->m->key.cpu);
	const struct stream_mark *mark = &w->m->carry->mark;
	struct block_reader *r = w->reader;
	uint64_t place, events = 0, at;
	struct block b;
	int rc = find_end(w, ret);

	if (rc <= 0)
		return rc;
	place = mark->place;
	while ((rc = r->ops->next(r, stream, &place, &b, &at)) == 1 && at < ret->limit) {
		if (!ret->any && mark->next_sequence && !(b.flags & BLOCK_KEY))
			return -ESTALE;
		ret->any = true;
		if (b.flags & BLOCK_KEY && events >= COMMIT_EVENTS) {
			ret->more = true;
			ret->limit = at;
			break;
		}
		events += b.events;
	}
	return rc < 0 ? rc : 0;
}

static int decode(struct work *w, struct stream_cursor *c)
{
	struct summariser *m = w->m;
	const struct trace_item *item;
	int r;

	while ((item = stream_cursor_peek(c))) {
		r = slices_add(&m->carry->slices, item);
		if (r < 0)
			return r;
		if (item->type == ITEM_EVENT) {
			m->events++;
			m->uncommitted++;
		}
		stream_cursor_pop(c);
	}
	return stream_cursor_error(c);
}

static int take_piece(struct work *w, struct stream_cursor *c, const struct piece *p,
		      struct error *e)
{
	struct summariser *m = w->m;
	int r;

	stream_cursor_hold(c, p->limit);
	r = decode(w, c);
	if (r < 0)
		return r;
	stream_cursor_get_mark(c, &m->carry->mark);
	r = save_carry(w);
	if (r == 0 && (m->uncommitted >= COMMIT_EVENTS || atomic_load(m->stop)))
		r = commit(m, e);
	return r;
}

/* The first block of a stream that starts a segment. */
static int find_first_key(struct block_reader *r, uint32_t stream, struct block *ret)
{
	uint64_t place = 0, at;
	int rc;

	while ((rc = r->ops->next(r, stream, &place, ret, &at)) == 1)
		if (ret->flags & BLOCK_KEY)
			break;
	return rc;
}

/* What lies before the stream's first segment is no longer in the store. */
static int drop_chunks(struct work *w)
{
	struct summariser *m = w->m;
	struct summary_carry *c = m->carry;
	struct summary_key key = m->key;
	uint64_t coarse_ns = ladder_width_ns(LADDER_LEVELS - 1), place = 0, at;
	struct block b;
	int rc = w->reader->ops->next(w->reader, STREAM_CPU(key.cpu), &place, &b, &at);

	if (rc <= 0 || b.sequence + 1 == c->start)
		return rc < 0 ? rc : 0;
	if (c->start) {
		rc = find_first_key(w->reader, STREAM_CPU(key.cpu), &b);
		if (rc <= 0)
			return rc;
		c->known_ns = clock_ns(&w->info->clock, b.first_tick) / coarse_ns * coarse_ns;
	}
	c->start = b.sequence + 1;
	for (key.level = 0, rc = 0; key.level < LADDER_LEVELS && rc == 0; key.level++) {
		key.chunk = c->known_ns / ladder_width_ns(key.level) / LADDER_STEP;
		rc = summary_db_drop_chunks(m->db, &key);
	}
	return rc < 0 ? rc : save_carry(w);
}

static int summarise_stream(struct work *w, struct error *e)
{
	CLEANUP(stream_cursor) struct stream_cursor *c = NULL;
	struct piece p = { .more = true };
	int r = load_carry(w);

	if (r == 0)
		r = drop_chunks(w);
	while (r == 0 && p.more) {
		r = find_piece(w, &p);
		if (r < 0 || !p.any)
			break;
		if (!c) {
			r = stream_cursor_new(&c, w->reader, w->m->key.cpu, w->info);
			if (r < 0)
				break;
			stream_cursor_set_mark(c, &w->m->carry->mark);
		}
		r = take_piece(w, c, &p, e);
	}
	return r;
}

/* --- one run --- */

static int check_run(struct summariser *m, const struct store_run *run,
		     const struct trace_info *info, struct error *e)
{
	struct summary_run want = { .id = run->id,
				    .mult = info->clock.mult,
				    .shift = info->clock.shift,
				    .base_ns = info->clock.base_ns };
	struct summary_run have;
	int r = summary_db_get_run(m->db, run->number, &have, e);

	if (r == 0 && !memcmp(&have.id, &want.id, sizeof(want.id)) && have.mult == want.mult &&
	    have.shift == want.shift && have.base_ns == want.base_ns)
		return 0;
	if (r < 0 && r != -ENOENT)
		return r;
	/* Another run, or it has learned what a tick is: nothing of it can be used. */
	r = summary_db_drop_run(m->db, run->number, e);
	return r < 0 ? r : summary_db_put_run(m->db, run->number, &want, e);
}

static int summarise_streams(struct work *w, struct error *e)
{
	struct summariser *m = w->m;
	uint32_t streams = w->reader->ops->streams(w->reader), cpu;
	struct block_stream about;
	int r = 0;

	for (cpu = 0; cpu < TRACE_CPUS_MAX && STREAM_CPU(cpu) <= streams && r == 0; cpu++) {
		if (!w->reader->ops->stream(w->reader, STREAM_CPU(cpu), &about))
			continue;
		m->key.cpu = cpu;
		r = summarise_stream(w, e);
	}
	if (r == -EBADMSG || r == -ENOMEM || r == -ENOSPC || r == -EIO || r == -EBUSY)
		error_set(e, -r, "cannot summarise run %u: %s", m->key.run, strerror(-r));
	return r;
}

static int work_on(struct work *w, const struct store_run *run, struct error *e)
{
	struct summariser *m = w->m;
	int r = summary_db_begin(m->db, e);
	bool stale;

	m->key.run = run->number;
	m->uncommitted = 0;
	if (r == 0)
		r = check_run(m, run, w->info, e);
	if (r == 0)
		r = summarise_streams(w, e);
	stale = r == -ESTALE;
	if (stale)
		r = summary_db_drop_run(m->db, run->number, e);
	if (r == 0)
		r = summary_db_commit(m->db, e);
	if (r < 0)
		summary_db_undo(m->db);
	return r == 0 && stale ? -ESTALE : r;
}

static void free_reader(struct block_reader **r)
{
	if (*r)
		(*r)->ops->free(*r);
}

int summarise_run(struct summariser *m, uint32_t run, struct error *e)
{
	static const struct store_range all = { .to_tick = UINT64_MAX };
	__attribute__((cleanup(free_reader))) struct block_reader *reader = NULL;
	struct work w = { .m = m };
	struct store_run about;
	struct trace_info info;
	int r = store_get_run(m->store, run, &about, e);

	if (r == 0)
		r = store_reader_open(&reader, m->store, run, &all, e);
	if (r < 0)
		return r;
	if (info_init(&info) < 0)
		return error_set(e, ENOMEM, "cannot summarise run %u: out of memory", run);
	w.reader = reader;
	w.info = &info;
	w.ended = about.ended;
	r = info_read(&info, reader, e);
	if (r == 0)
		r = work_on(&w, &about, e);
	if (r == -ESTALE) /* its blocks go on behind what was taken for the end: all of it again */
		r = work_on(&w, &about, e);
	info_done(&info);
	return r;
}
