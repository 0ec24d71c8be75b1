/* SPDX-License-Identifier: MIT */
/*
 * event_page: see event_page.h.
 *
 * Between the run and the filter stands a source that counts: it knows the cursor of the item that
 * the filter has just let through, stops where the page has to, and notes who ran on each CPU, since
 * an event names its task by number only.
 */
#include "collector/event_page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memfile.h"
#include "collector/event_text.h"
#include "trace/run_source.h"

#define SCAN_MAX 500000U /* items that a page may look at: some 100 ms */
#define LOOK_EVERY 16384U
#define WINDOW_NS_LEAST 1000000U
#define WINDOW_GROWTH 8U

/* Items of the run one by one, each with its cursor. */
struct counted {
	struct trace_source source;
	struct trace_source *inner;
	const struct event_query *q;
	struct event_names *names; /* owned */
	uint64_t *ticks;	   /* by CPU, for seeking */
	struct event_cursor at;
	bool begun;
	uint64_t until_ns; /* it ends before this, */
	uint64_t left;	   /* or when so many more were seen */
	uint64_t seen;
};

struct entry {
	struct trace_item item;
	struct event_cursor cursor;
	char comm[SCHED_COMM_LEN];
	char *filename; /* owned */
};

struct page {
	struct event_query *q;
	struct counted *counted; /* owned by source */
	struct trace_source *source;
	struct entry *entries; /* a ring of q->limit */
	size_t first, n;
	bool dropped;		 /* an entry fell out of the ring, or did not find room */
	bool spent;		 /* it ended because it had looked at enough */
	struct event_cursor end; /* spent: where to go on */
};

/* --- cursors --- */

static const char *parse_number(const char *p, uint64_t *ret)
{
	const char *start = p;
	uint64_t v = 0;

	for (; *p >= '0' && *p <= '9'; p++) {
		if (v > (UINT64_MAX - 9) / 10)
			return NULL;
		v = v * 10 + (uint64_t)(*p - '0');
	}
	*ret = v;
	return p == start ? NULL : p;
}

int event_cursor_parse(const char *text, struct event_cursor *ret)
{
	struct event_cursor c;
	const char *p = parse_number(text, &c.ns);

	p = p && *p == '-' ? parse_number(p + 1, &c.ordinal) : NULL;
	if (!p || *p)
		return -EINVAL;
	*ret = c;
	return 0;
}

void event_cursor_format(const struct event_cursor *c, char ret[EVENT_CURSOR_MAX])
{
	snprintf(ret, EVENT_CURSOR_MAX, "%" PRIu64 "-%" PRIu64, c->ns, c->ordinal);
}

static int compare(const struct event_cursor *a, const struct event_cursor *b)
{
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->ordinal > b->ordinal) - (a->ordinal < b->ordinal);
}

/* --- the source that counts --- */

static int counted_next(struct trace_source *s, struct trace_item *ret, struct error *e)
{
	struct counted *c = (struct counted *)s;
	const struct trace_clock *clock = &c->source.info.clock;
	uint64_t ns;
	int r = c->left ? c->inner->ops->next(c->inner, ret, e) : 0;

	if (r <= 0)
		return r;
	ns = ret->type == ITEM_EVENT ? clock_event_ns(clock, &ret->event)
				     : clock_ns(clock, ret->loss.from_tick);
	if (ns >= c->until_ns)
		return 0;
	c->at.ordinal = c->begun && c->at.ns == ns ? c->at.ordinal + 1 : 0;
	c->at.ns = ns;
	c->begun = true;
	c->left--;
	event_names_note(c->names, ret);
	if (++c->seen % LOOK_EVERY == 0 && c->q->is_over && c->q->is_over(c->q->context))
		return error_set(e, ECANCELED, "the client has gone");
	return 1;
}

/* Each CPU to the segment that holds this time. */
static void counted_begin(struct counted *c, uint64_t from_ns, uint64_t until_ns)
{
	uint64_t tick = clock_tick_at(&c->source.info.clock, from_ns);
	uint32_t cpu;

	for (cpu = 0; cpu < c->source.info.cpus; cpu++)
		c->ticks[cpu] = tick;
	source_run_seek_segments(c->inner, c->ticks);
	c->begun = false;
	c->until_ns = until_ns;
	c->left = SCAN_MAX;
}

static int counted_rewind(struct trace_source *s, struct error *e)
{
	(void)s;
	(void)e;
	return 0; /* counted_begin() has done it */
}

static void counted_free(struct trace_source *s)
{
	struct counted *c = (struct counted *)s;

	source_free(c->inner);
	event_names_free(c->names);
	info_done(&s->info);
	free(c->ticks);
	free(c);
}

static const struct trace_source_ops counted_ops = {
	.next = counted_next,
	.rewind = counted_rewind,
	.free = counted_free,
};

static int counted_open(struct counted **ret, struct store *s, const struct event_query *q,
			struct error *e)
{
	static const struct store_range all = { .to_tick = UINT64_MAX };
	struct counted *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return error_set(e, ENOMEM, "cannot list events: out of memory");
	c->source.ops = &counted_ops;
	c->q = q;
	r = source_run_open(&c->inner, s, q->run.number, &all, e);
	if (r == 0 && info_dup(&c->source.info, &c->inner->info) < 0)
		r = error_set(e, ENOMEM, "cannot list events: out of memory");
	if (r == 0) {
		c->ticks = calloc((size_t)c->source.info.cpus + 1, sizeof(*c->ticks));
		c->names = event_names_new(&c->source.info);
		if (!c->ticks || !c->names)
			r = error_set(e, ENOMEM, "cannot list events: out of memory");
	}
	if (r < 0) {
		counted_free(&c->source);
		return r;
	}
	*ret = c;
	return 0;
}

/* --- the page --- */

static void page_free(struct page *p)
{
	size_t i;

	if (!p)
		return;
	for (i = 0; p->entries && i < p->q->limit; i++)
		free(p->entries[i].filename);
	free(p->entries);
	source_free(p->source);
	free(p);
}
DEFINE_CLEANUP(page, page_free)

static int page_open(struct page **ret, struct store *s, struct event_query *q, struct error *e)
{
	CLEANUP(page) struct page *p = calloc(1, sizeof(*p));
	struct trace_source *filtered = NULL;
	int r;

	if (!p)
		return error_set(e, ENOMEM, "cannot list events: out of memory");
	p->q = q;
	r = counted_open(&p->counted, s, q, e);
	if (r < 0)
		return r;
	p->source = &p->counted->source;
	if (!filter_is_empty(q->filter)) {
		r = filter_source_new(&filtered, p->source, q->filter, e);
		if (r < 0)
			return r;
		p->source = filtered;
	}
	p->entries = calloc((size_t)q->limit + 1, sizeof(*p->entries));
	if (!p->entries)
		return error_set(e, ENOMEM, "cannot list events: out of memory");
	*ret = take_ptr(p);
	return 0;
}

static struct entry *entry_at(const struct page *p, size_t i)
{
	return &p->entries[(p->first + i) % p->q->limit];
}

static int set_entry(struct entry *to, const struct trace_item *item,
		     const struct event_cursor *cursor, const char comm[SCHED_COMM_LEN])
{
	free(to->filename);
	to->filename = NULL;
	to->item = *item;
	to->cursor = *cursor;
	memcpy(to->comm, comm, SCHED_COMM_LEN);
	if (item->type != ITEM_EVENT || !item->event.filename_len)
		return 0;
	to->filename = malloc(item->event.filename_len);
	if (!to->filename)
		return -ENOMEM;
	memcpy(to->filename, item->event.filename, item->event.filename_len);
	to->item.event.filename = to->filename;
	return 0;
}

/* 1: enough. Forward the first `limit` stay, backward the last. */
static int put_entry(struct page *p, const struct trace_item *item)
{
	const char *comm = event_names_get(p->counted->names, item);

	if (p->n == p->q->limit) {
		p->dropped = true;
		if (!p->q->backward)
			return 1;
		p->first = (p->first + 1) % p->q->limit;
		p->n--;
	}
	return set_entry(entry_at(p, p->n++), item, &p->counted->at, comm);
}

/* A loss that reaches into the page's time belongs to it, but not to a page that goes on. */
static bool reaches_in(const struct page *p, const struct trace_item *item, uint64_t from_ns)
{
	return item->type == ITEM_LOSS && item->loss.from_tick && !p->q->has_cursor &&
	       clock_ns(&p->counted->source.info.clock, item->loss.to_tick) > from_ns;
}

static bool is_in(const struct page *p, const struct trace_item *item, uint64_t from_ns)
{
	const struct event_query *q = p->q;
	const struct event_cursor *at = &p->counted->at;

	if (at->ns < from_ns && !reaches_in(p, item, from_ns))
		return false;
	if (!q->has_cursor)
		return true;
	return q->backward ? compare(at, &q->cursor) < 0 : compare(at, &q->cursor) > 0;
}

/* Takes what passes between two times. */
static int read_window(struct page *p, uint64_t from_ns, uint64_t until_ns, struct error *e)
{
	struct trace_item item;
	int r = 0, got = 1;

	counted_begin(p->counted, from_ns, until_ns);
	if (p->source != &p->counted->source) {
		r = p->source->ops->rewind(p->source, e);
		if (r < 0)
			return r;
	}
	while (r == 0 && (got = p->source->ops->next(p->source, &item, e)) > 0) {
		if (is_in(p, &item, from_ns))
			r = put_entry(p, &item);
	}
	if (r < 0)
		return error_set(e, r, "cannot list events: out of memory");
	p->spent = r == 0 && got == 0 && !p->counted->left;
	p->end = p->counted->at;
	return got < 0 ? got : 0;
}

/* --- backward --- */

/* How long a time has some pages' worth of events, on average. */
static uint64_t first_window_ns(const struct page *p)
{
	const struct store_run *run = &p->q->run;
	const struct trace_clock *c = &p->counted->source.info.clock;
	uint64_t length_ns = clock_ns(c, run->last_tick) - clock_ns(c, run->first_tick);
	uint64_t each_ns = length_ns / (run->events + 1) + 1;

	each_ns *= 2 * (uint64_t)p->q->limit;
	return each_ns > WINDOW_NS_LEAST ? each_ns : WINDOW_NS_LEAST;
}

static int read_backward(struct page *p, uint64_t least_ns, struct error *e)
{
	const struct event_query *q = p->q;
	const struct trace_clock *c = &p->counted->source.info.clock;
	uint64_t first_ns = clock_ns(c, q->run.first_tick);
	uint64_t last_ns = clock_ns(c, q->run.last_tick);
	uint64_t end_ns = q->to_ns <= last_ns ? q->to_ns : last_ns + 1;
	uint64_t window_ns = first_window_ns(p), from_ns, seen = 0;
	int r;

	if (q->has_cursor && q->cursor.ns < end_ns)
		end_ns = q->cursor.ns + 1;
	for (;;) {
		from_ns = end_ns > window_ns ? end_ns - window_ns : 0;
		if (from_ns <= first_ns || from_ns <= least_ns)
			from_ns = least_ns;
		p->first = p->n = 0;
		p->dropped = false;
		r = read_window(p, from_ns, end_ns, e);
		if (r < 0)
			return r;
		seen += p->counted->seen;
		p->counted->seen = 0;
		if (p->spent && window_ns > 1) { /* too much at once: it was not read to its end */
			window_ns = window_ns / WINDOW_GROWTH + 1;
			seen = SCAN_MAX;
			continue;
		}
		if (p->n == q->limit || from_ns == least_ns || seen >= SCAN_MAX)
			break;
		window_ns = window_ns > UINT64_MAX / WINDOW_GROWTH ? UINT64_MAX
								   : window_ns * WINDOW_GROWTH;
	}
	p->dropped = p->dropped || (p->n == q->limit && from_ns != least_ns);
	p->spent = p->n < q->limit && from_ns != least_ns;
	p->end = (struct event_cursor){ .ns = from_ns };
	return 0;
}

/* --- the answer --- */

static void put_cursor(FILE *out, const char *name, const struct event_cursor *c)
{
	char text[EVENT_CURSOR_MAX];

	if (!c) {
		fprintf(out, ",\"%s\":null", name);
		return;
	}
	event_cursor_format(c, text);
	fprintf(out, ",\"%s\":\"%s\"", name, text);
}

static void put_cursors(FILE *out, const struct page *p, uint64_t first_ns)
{
	const struct event_query *q = p->q;
	const struct event_cursor *first = p->n ? &entry_at(p, 0)->cursor : NULL;
	const struct event_cursor *last = p->n ? &entry_at(p, p->n - 1)->cursor : NULL;
	const struct event_cursor *next = NULL, *prev = NULL;

	if (q->backward) {
		prev = p->dropped ? first : p->spent ? &p->end : NULL;
		next = q->has_cursor ? last : NULL;
	} else {
		next = p->dropped ? last : p->spent ? &p->end : NULL;
		prev = q->has_cursor || (first && q->from_ns > first_ns) ? first : NULL;
	}
	put_cursor(out, "first", first);
	put_cursor(out, "last", last);
	put_cursor(out, "prev", prev);
	put_cursor(out, "next", next);
}

static int put_page(const struct page *p, uint64_t first_ns, FILE *out)
{
	struct event_text *t = event_text_new(&p->counted->source.info);
	bool is_whole;
	size_t i;

	if (!t)
		return -ENOMEM;
	fprintf(out, "{\"run\":%" PRIu32 ",\"events\":[", p->q->run.number);
	for (i = 0; i < p->n; i++) {
		fputs(i ? ",\n" : "\n", out);
		event_text_put(t, &entry_at(p, i)->item, entry_at(p, i)->comm, out);
	}
	fputs("\n]", out);
	put_cursors(out, p, first_ns);
	fputs("}\n", out);
	is_whole = event_text_is_whole(t);
	event_text_free(t);
	return !is_whole || ferror(out) ? -ENOMEM : 0;
}

int event_page_make(struct store *s, struct event_query *q, char **ret, size_t *ret_len,
		    struct error *e)
{
	CLEANUP(page) struct page *p = NULL;
	uint64_t first_ns, from_ns;
	FILE *out;
	int r = page_open(&p, s, q, e);

	if (r < 0)
		return r;
	first_ns = clock_ns(&p->counted->source.info.clock, q->run.first_tick);
	/* What a run lacks at its beginning has no time before it: it is at 0. */
	from_ns = q->from_ns > first_ns ? q->from_ns : 0;
	if (q->backward)
		r = read_backward(p, from_ns, e);
	else
		r = read_window(p, q->has_cursor && q->cursor.ns > from_ns ? q->cursor.ns : from_ns,
				q->to_ns, e);
	if (r < 0)
		return r;
	out = memfile_open(ret, ret_len);
	if (!out)
		return error_set(e, ENOMEM, "cannot list events: out of memory");
	r = put_page(p, first_ns, out);
	if (fclose(out) || r < 0) {
		free(take_ptr(*ret));
		return error_set(e, ENOMEM, "cannot list events: out of memory");
	}
	return 0;
}
