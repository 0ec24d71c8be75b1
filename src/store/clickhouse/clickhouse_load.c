/* SPDX-License-Identifier: MIT */
/*
 * clickhouse_load: runs and their states, from what the tables have (clickhouse_parts.h).
 *
 * Notes are read before blocks, and an END is applied behind them: whoever sees it sees all blocks
 * that came before it, for they were inserted before. Only the blocks behind those that the state
 * has are asked for; their headers are columns, so that no payload is read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/hex.h"
#include "store/array.h"
#include "store/clickhouse/clickhouse_parts.h"

#define NOTES_MAX (1U << 16) /* of one run, not yet merged */
#define STREAM_TEXT 48U	     /* one stream and its sequence in a query */
#define DAY_S 86400U

const char *clickhouse_where(const struct store_run_ids *ids, char out[CLICKHOUSE_WHERE_MAX])
{
	char device[33], run[33];

	snprintf(out, CLICKHOUSE_WHERE_MAX, "device = unhex('%s') AND run = unhex('%s')",
		 hex_format(ids->device.bytes, 16, device), hex_format(ids->run.bytes, 16, run));
	return out;
}

__attribute__((format(printf, 4, 5))) static int ask(struct clickhouse_store *s,
						     struct clickhouse_ask *a, struct error *e,
						     const char *format, ...)
{
	_cleanup_free_ char *sql = NULL;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&sql, format, args);
	va_end(args);
	if (len < 0) {
		sql = NULL;
		return error_set(e, ENOMEM, "cannot ask ClickHouse: out of memory");
	}
	a->sql = sql;
	return clickhouse_link_ask(s->link, a, e);
}

/* --- runs --- */

static ssize_t take_runs(void *context, const uint8_t *bytes, size_t len)
{
	struct clickhouse_store *s = context;
	const uint8_t *at = bytes;
	struct clickhouse_run *run;
	struct store_run_ids ids;
	struct byte_reader in;
	uint32_t number;
	int r = 0;

	reader_init(&in, bytes, len);
	pthread_mutex_lock(&s->lock);
	while (r == 0) {
		number = clickhouse_row_u32(&in);
		ids.device = clickhouse_row_id(&in);
		ids.run = clickhouse_row_id(&in);
		ids.boot = clickhouse_row_id(&in);
		if (in.bad)
			break;
		at = in.at;
		r = clickhouse_runs_add(s, &ids, number, &run);
		if (r == 0)
			run->known = run->declared = true;
	}
	pthread_mutex_unlock(&s->lock);
	return r < 0 ? r : at - bytes;
}

int clickhouse_load_runs(struct clickhouse_store *s, const char *where, struct error *e)
{
	struct clickhouse_ask a = { .take = take_runs, .context = s };

	return ask(s, &a, e, "SELECT number, device, run, boot FROM runs WHERE %s", where);
}

int clickhouse_load_number(struct clickhouse_store *s, uint32_t number, struct clickhouse_run **ret,
			   struct error *e)
{
	char where[64];
	int r;

	pthread_mutex_lock(&s->lock);
	*ret = clickhouse_runs_get(s, number);
	pthread_mutex_unlock(&s->lock);
	if (*ret)
		return 0;
	snprintf(where, sizeof(where), "number = %u", number);
	r = clickhouse_load_runs(s, where, e);
	if (r < 0)
		return r;
	pthread_mutex_lock(&s->lock);
	*ret = clickhouse_runs_get(s, number);
	pthread_mutex_unlock(&s->lock);
	return *ret ? 0 : -ENOENT;
}

int clickhouse_load_id(struct clickhouse_store *s, const struct message_id *id,
		       struct clickhouse_run **ret, struct error *e)
{
	char where[64], hex[33];
	int r;

	snprintf(where, sizeof(where), "run = unhex('%s')", hex_format(id->bytes, 16, hex));
	r = clickhouse_load_runs(s, where, e);
	if (r < 0)
		return r;
	pthread_mutex_lock(&s->lock);
	*ret = clickhouse_runs_find(s, id);
	pthread_mutex_unlock(&s->lock);
	return *ret ? 0 : -ENOENT;
}

/* --- the notes of a run --- */

struct note {
	struct clickhouse_record record;
	uint8_t *body;
};

struct notes {
	struct note *list;
	size_t n, room;
};

static void notes_done(struct notes *l)
{
	while (l->n)
		free(l->list[--l->n].body);
	free(l->list);
}

static int add_note(struct notes *l, const struct clickhouse_record *record, const uint8_t *body)
{
	int r = array_grow(&l->list, l->n, &l->room, sizeof(*l->list), NOTES_MAX);
	uint8_t *copy = r < 0 ? NULL : malloc(record->len + 1);

	if (!copy)
		return r < 0 ? r : -ENOMEM;
	memcpy(copy, body, record->len);
	l->list[l->n++] = (struct note){ .record = *record, .body = copy };
	return 0;
}

static ssize_t take_notes(void *context, const uint8_t *bytes, size_t len)
{
	const uint8_t *at = bytes, *body;
	struct clickhouse_record record = { 0 };
	struct byte_reader in;
	size_t body_len;
	int r = 0;

	reader_init(&in, bytes, len);
	while (r == 0) {
		record.kind = clickhouse_row_u8(&in);
		record.came_ns = clickhouse_row_u64(&in);
		body = clickhouse_row_string(&in, &body_len);
		if (in.bad)
			break;
		record.len = (uint32_t)body_len;
		at = in.at;
		r = add_note(context, &record, body);
	}
	return r < 0 ? r : at - bytes;
}

/* In the order in which they came. */
static int get_notes(struct clickhouse_store *s, const struct clickhouse_run *run,
		     struct notes *ret, struct error *e)
{
	struct clickhouse_ask a = { .take = take_notes, .context = ret };
	char where[CLICKHOUSE_WHERE_MAX];

	return ask(s, &a, e, "SELECT kind, came, body FROM notes WHERE %s ORDER BY came, kind",
		   clickhouse_where(&run->ids, where));
}

static const struct note *last_note(const struct notes *l, enum clickhouse_kind kind)
{
	size_t i = l->n;

	while (i--)
		if (l->list[i].record.kind == kind)
			return &l->list[i];
	return NULL;
}

static bool is_of_run(const struct note *n)
{
	return n->record.kind == NOTE_END || n->record.kind == NOTE_CLOSE ||
	       n->record.kind == NOTE_CLOCK;
}

/* --- where a state begins --- */

static int begin_with_cut(struct clickhouse_run *run, const struct note *n)
{
	struct run_state in;
	int r = run_state_decode(&in, n->body, n->record.len);

	if (r < 0)
		return r;
	run_state_done(&run->in);
	run_state_done(&run->shown);
	cuts_done(&run->cuts);
	run->in = in;
	run->cut_ns = n->record.came_ns;
	r = cuts_init(&run->cuts, n->body, n->record.len);
	return r < 0 ? r : run_state_dup(&run->shown, &run->in);
}

static int begin_with_state(struct clickhouse_run *run, const struct note *n)
{
	struct run_state state;
	int r = run_state_decode(&state, n->body, n->record.len);

	if (r < 0)
		return 0; /* it only saves work */
	if (state.totals.blocks <= run->shown.totals.blocks) {
		run_state_done(&state);
		return 0;
	}
	run_state_done(&run->shown);
	run->shown = state;
	run->saved_blocks = state.totals.blocks;
	return 0;
}

/* The lock is held. A cut is always the beginning; what saves work must be newer than it. */
static int begin(struct clickhouse_run *run, const struct notes *l)
{
	const struct note *cut = last_note(l, NOTE_CUT), *state = last_note(l, NOTE_STATE);
	int r = 0;

	run->gone = last_note(l, NOTE_GONE);
	if (cut && cut->record.came_ns != run->cut_ns)
		r = begin_with_cut(run, cut);
	else if (!run->loaded && !cut && state)
		r = begin_with_state(run, state);
	run->loaded = r == 0;
	return r;
}

/* --- the blocks of a run --- */

/* "sequence >= " what comes next of each stream. */
static int format_behind(const struct run_state *state, char **ret)
{
	size_t room = 128 + state->n * STREAM_TEXT, i;
	char *text = malloc(room), *p = text;

	if (!text)
		return -ENOMEM;
	if (!state->n) {
		strcpy(text, "1");
		*ret = text;
		return 0;
	}
	p += sprintf(p, "sequence >= transform(stream, [toUInt32(%u)", state->streams[0].stream);
	for (i = 1; i < state->n; i++)
		p += sprintf(p, ",%u", state->streams[i].stream);
	p += sprintf(p, "], [toUInt64(%" PRIu64 ")", state->streams[0].next_sequence);
	for (i = 1; i < state->n; i++)
		p += sprintf(p, ",%" PRIu64, state->streams[i].next_sequence);
	strcpy(p, "], toUInt64(0))");
	*ret = text;
	return 0;
}

struct taking {
	struct clickhouse_store *store;
	struct clickhouse_run *run;	  /* under the lock, or */
	struct clickhouse_replay *replay; /* the caller's own */
};

static int take_header(struct taking *t, const struct clickhouse_header *h)
{
	if (t->run)
		return clickhouse_run_take(t->run, h);
	if (t->replay->came_ns)
		*t->replay->came_ns = h->came_ns;
	return clickhouse_state_take(t->replay->state, t->replay->cuts, t->replay->losses, h);
}

static ssize_t take_headers(void *context, const uint8_t *bytes, size_t len)
{
	struct taking *t = context;
	const uint8_t *at = bytes;
	struct clickhouse_header h;
	struct byte_reader in;
	int r = 0;

	reader_init(&in, bytes, len);
	if (t->run)
		pthread_mutex_lock(&t->store->lock);
	while (r == 0 && clickhouse_row_header(&in, &h)) {
		at = in.at;
		r = take_header(t, &h);
	}
	if (t->run)
		pthread_mutex_unlock(&t->store->lock);
	return r < 0 ? r : at - bytes;
}

static int ask_headers(struct clickhouse_store *s, struct taking *t,
		       const struct store_run_ids *ids, const char *behind, struct error *e)
{
	struct clickhouse_ask a = { .take = take_headers, .context = t };
	char where[CLICKHOUSE_WHERE_MAX];

	return ask(s, &a, e,
		   "SELECT " CLICKHOUSE_HEADER_COLUMNS
		   " FROM blocks PREWHERE %s AND %s ORDER BY stream, sequence",
		   clickhouse_where(ids, where), behind);
}

/* --- one run --- */

static void apply_notes(struct clickhouse_run *run, const struct notes *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		const struct note *n = &l->list[i];

		if (!is_of_run(n))
			continue;
		clickhouse_state_note(&run->shown, NULL, &n->record, n->body);
		/* A clock that waits for its commit is the better one. */
		if (run->has_put && (n->record.kind != NOTE_CLOCK || !run->put.has_clock))
			clickhouse_state_note(&run->put, NULL, &n->record, n->body);
	}
}

int clickhouse_load_run(struct clickhouse_store *s, struct clickhouse_run *run, struct error *e)
{
	__attribute__((cleanup(notes_done))) struct notes notes = { 0 };
	struct taking t = { .store = s, .run = run };
	_cleanup_free_ char *behind = NULL;
	uint64_t now_ms = clock_mono_ms();
	int r = get_notes(s, run, &notes, e);

	if (r < 0)
		return r;
	pthread_mutex_lock(&s->lock);
	r = begin(run, &notes);
	if (r == 0)
		r = format_behind(&run->shown, &behind);
	pthread_mutex_unlock(&s->lock);
	if (r < 0)
		return error_set(e, r, "cannot load run %u: %s", run->number, strerror(-r));
	r = ask_headers(s, &t, &run->ids, behind, e);
	if (r < 0)
		return r;
	pthread_mutex_lock(&s->lock);
	apply_notes(run, &notes);
	run->behind = false;
	run->looked_ms = now_ms;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

int clickhouse_load_replay(struct clickhouse_store *s, struct clickhouse_replay *p, struct error *e)
{
	__attribute__((cleanup(notes_done))) struct notes notes = { 0 };
	struct taking t = { .store = s, .replay = p };
	_cleanup_free_ char *behind = NULL, *both = NULL;
	size_t i;
	int r = get_notes(s, p->run, &notes, e);

	if (r < 0)
		return r;
	r = format_behind(p->state, &behind);
	if (r == 0 && asprintf(&both, "%s%s", behind, p->where) < 0) {
		both = NULL;
		r = -ENOMEM;
	}
	if (r < 0)
		return error_set(e, r, "cannot load run %u: %s", p->run->number, strerror(-r));
	r = ask_headers(s, &t, &p->run->ids, both, e);
	for (i = 0; r == 0 && !*p->where && i < notes.n; i++) {
		const struct note *n = &notes.list[i];

		if (p->came_ns)
			*p->came_ns = n->record.came_ns;
		if (is_of_run(n))
			clickhouse_state_note(p->state, p->losses, &n->record, n->body);
	}
	return r;
}

/* --- all runs --- */

/* Whether the state that is known lacks what the note says: the one that saves work may be older than notes, a
 * clock's or an end's behind a close, of a run that nothing else is said of any more. */
static bool is_news(const struct run_state *shown, const struct note *n)
{
	struct store_clock clock;

	switch (n->record.kind) {
	case NOTE_CLOCK:
		return log_clock_decode(&clock, n->body, n->record.len) == 0 &&
		       run_state_is_better_clock(shown, &clock);
	case NOTE_END:
		return !shown->ended;
	default:
		return !shown->ended && !shown->closed;
	}
}

/* A note of some run: one that saves work is used at once, others want the run to be loaded. */
static int take_any_note(struct clickhouse_store *s, const struct message_id *id,
			 const struct note *n)
{
	struct clickhouse_run *run = clickhouse_runs_find(s, id);

	if (!run)
		return 0;
	switch (n->record.kind) {
	case NOTE_STATE:
		run->saved = true;
		return run->loaded || run->behind ? 0 : begin_with_state(run, n);
	case NOTE_GONE:
		run->gone = true;
		return 0;
	case NOTE_CUT:
		run->behind |= run->cut_ns != n->record.came_ns;
		return 0;
	default:
		run->behind |= is_news(&run->shown, n);
		return 0;
	}
}

static ssize_t take_all_notes(void *context, const uint8_t *bytes, size_t len)
{
	struct clickhouse_store *s = context;
	const uint8_t *at = bytes;
	struct message_id id;
	struct byte_reader in;
	struct note n = { 0 };
	size_t body_len;
	int r = 0;

	reader_init(&in, bytes, len);
	pthread_mutex_lock(&s->lock);
	while (r == 0) {
		id = clickhouse_row_id(&in);
		n.record.kind = clickhouse_row_u8(&in);
		n.record.came_ns = clickhouse_row_u64(&in);
		n.body = (uint8_t *)clickhouse_row_string(&in, &body_len);
		if (in.bad)
			break;
		n.record.len = (uint32_t)body_len;
		at = in.at;
		r = take_any_note(s, &id, &n);
	}
	pthread_mutex_unlock(&s->lock);
	return r < 0 ? r : at - bytes;
}

/* How far each stream has come. */
static ssize_t take_lasts(void *context, const uint8_t *bytes, size_t len)
{
	struct clickhouse_store *s = context;
	const uint8_t *at = bytes;
	struct byte_reader in;

	reader_init(&in, bytes, len);
	pthread_mutex_lock(&s->lock);
	for (;;) {
		struct message_id id = clickhouse_row_id(&in);
		uint32_t stream = clickhouse_row_u32(&in);
		uint64_t last = clickhouse_row_u64(&in);
		const struct stream_state *t;
		struct clickhouse_run *run;

		if (in.bad)
			break;
		at = in.at;
		run = clickhouse_runs_find(s, &id);
		t = run ? run_state_stream(&run->shown, stream) : NULL;
		if (run && (!t || t->next_sequence <= last))
			run->behind = true;
	}
	pthread_mutex_unlock(&s->lock);
	return at - bytes;
}

/* What is newer than the last look, less what may be late; all of it at the first. */
static int look(struct clickhouse_store *s, uint64_t since_ns, struct error *e)
{
	struct clickhouse_ask notes = { .take = take_all_notes, .context = s };
	struct clickhouse_ask lasts = { .take = take_lasts, .context = s };
	uint64_t day = since_ns / CLOCK_NS_PER_S / DAY_S;
	char where[64];
	int r;

	snprintf(where, sizeof(where), "made >= %" PRIu64, since_ns);
	r = clickhouse_load_runs(s, where, e);
	if (r == 0)
		r = ask(s, &notes, e,
			"SELECT run, kind, came, body FROM notes WHERE came >= %" PRIu64
			" ORDER BY kind = %d DESC, came",
			since_ns, NOTE_STATE);
	if (r == 0)
		r = ask(s, &lasts, e,
			"SELECT run, stream, max(sequence) FROM blocks WHERE day >= toDate(%" PRIu64
			") AND came >= %" PRIu64 " GROUP BY run, stream",
			day, since_ns);
	return r;
}

/* Those that are behind, or have never been read; to be freed. */
static struct clickhouse_run **list_behind(struct clickhouse_store *s, size_t *ret_n)
{
	struct clickhouse_run *run, **list;
	size_t at = 0;

	*ret_n = 0;
	pthread_mutex_lock(&s->lock);
	list = calloc(s->by_id.n + 1, sizeof(struct clickhouse_run *));
	while (list && (run = hashtable_next(&s->by_id, &at))) {
		run->loaded |= run->saved && !run->behind;
		if (run->known && !run->gone && (run->behind || !run->loaded))
			list[(*ret_n)++] = run;
	}
	pthread_mutex_unlock(&s->lock);
	return list;
}

static int load_behind(struct clickhouse_store *s, struct error *e)
{
	_cleanup_free_ struct clickhouse_run **list = NULL;
	size_t n, i;
	int r = 0;

	list = list_behind(s, &n);
	for (i = 0; i < n && r == 0; i++)
		r = clickhouse_load_run(s, list[i], e);
	return list ? r : error_set(e, ENOMEM, "cannot load the runs: out of memory");
}

int clickhouse_load_all(struct clickhouse_store *s, struct error *e)
{
	uint64_t now_ms = clock_mono_ms(), now_ns = clock_real_ns(), since_ns;
	int r = 0;

	pthread_mutex_lock(&s->look_lock);
	since_ns = s->looked_ns > CLICKHOUSE_LATE_NS ? s->looked_ns - CLICKHOUSE_LATE_NS : 0;
	if (!s->looked_ns || now_ms - s->looked_ms >= CLICKHOUSE_LOOK_MS) {
		r = look(s, since_ns, e);
		if (r == 0)
			r = load_behind(s, e);
		if (r == 0) {
			s->looked_ms = now_ms;
			s->looked_ns = now_ns;
		}
	}
	pthread_mutex_unlock(&s->look_lock);
	return r;
}
