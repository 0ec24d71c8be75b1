/* SPDX-License-Identifier: MIT */
/*
 * sample_ksk: see sample_ksk.h.
 *
 * A heap of the CPUs by the tick of each one's next item, which lies in a batch until its turn and until the next one is asked for.
 */
#include "trace/sample_ksk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/stream_span.h"

/* One CPU, and what comes next of it. */
struct lane {
	uint32_t cpu, number; /* number: among those that have a stream */
	uint64_t tick;	      /* of its next item */
	const struct sample_batch *batch;
	size_t at; /* in the batch: that item */
};

struct sample_ksk {
	struct sample_source source;
	struct block_reader *reader;
	struct ksk_file *file;	     /* the reader, if it is one */
	struct run_description *own; /* NULL: what the source says is borrowed */
	struct sample_ahead *ahead;
	struct lane *lanes; /* by CPU */
	size_t n_lanes;
	struct lane **heap; /* the earliest first */
	size_t n_heap;
	bool started, taken; /* the first one's item was given: it needs another */
	uint64_t place;	     /* furthest in the reader, for progress */
};

static void ksk_free(struct sample_source *s)
{
	struct sample_ksk *k = (struct sample_ksk *)s;

	sample_ahead_free(k->ahead);
	free(k->lanes);
	free(k->heap);
	k->reader->ops->free(k->reader);
	run_description_free(k->own);
	free(k);
}

/* --- order --- */

static bool is_before(const struct lane *a, const struct lane *b)
{
	return a->tick < b->tick || (a->tick == b->tick && a->cpu < b->cpu);
}

static void sift_down(struct sample_ksk *k, size_t at)
{
	struct lane *l = k->heap[at];
	size_t child;

	while ((child = 2 * at + 1) < k->n_heap) {
		if (child + 1 < k->n_heap && is_before(k->heap[child + 1], k->heap[child]))
			child++;
		if (!is_before(k->heap[child], l))
			break;
		k->heap[at] = k->heap[child];
		at = child;
	}
	k->heap[at] = l;
}

static int take_batch(struct sample_ksk *k, struct lane *l)
{
	l->batch = sample_ahead_take(k->ahead, l->number);
	l->at = 0;
	if (!l->batch)
		return -ENOMEM;
	if (l->batch->place > k->place)
		k->place = l->batch->place;
	return 0;
}

/* Its next item: 1, 0 at the end, < 0. */
static int fetch(struct sample_ksk *k, struct lane *l)
{
	int r = 0;

	l->at++;
	while (r == 0 && (!l->batch || l->at >= l->batch->n)) {
		if (l->batch && l->batch->result != 1)
			return l->batch->result;
		r = take_batch(k, l);
	}
	if (r < 0)
		return r;
	/* A loss lies where the event before it does: within a CPU the order stays. */
	if (l->batch->items[l->at].type == ITEM_EVENT)
		l->tick = l->batch->items[l->at].event.tick;
	return 1;
}

static int start(struct sample_ksk *k)
{
	size_t i;
	int r;

	k->n_heap = 0;
	for (i = 0; i < k->n_lanes; i++) {
		k->lanes[i].batch = NULL;
		k->lanes[i].tick = 0;
		r = fetch(k, &k->lanes[i]);
		if (r < 0)
			return r;
		if (r == 1)
			k->heap[k->n_heap++] = &k->lanes[i];
	}
	for (i = k->n_heap / 2; i > 0; i--)
		sift_down(k, i - 1);
	k->started = true;
	k->taken = false;
	return 0;
}

/* The one whose item was given goes on. */
static int move_on(struct sample_ksk *k)
{
	int got = fetch(k, k->heap[0]);

	if (got < 0)
		return got;
	if (got == 0)
		k->heap[0] = k->heap[--k->n_heap];
	if (k->n_heap)
		sift_down(k, 0);
	k->taken = false;
	return 0;
}

static int ksk_next(struct sample_source *s, struct sample_item *ret, struct error *e)
{
	struct sample_ksk *k = (struct sample_ksk *)s;
	const struct lane *l;
	int r = 0;

	if (!k->started)
		r = start(k);
	else if (k->taken)
		r = move_on(k);
	if (r < 0)
		return error_set(e, r, "cannot decode: %s", strerror(-r));
	if (!k->n_heap)
		return 0;
	l = k->heap[0];
	*ret = l->batch->items[l->at];
	if (ret->type == ITEM_LOSS)
		ret->loss.from_tick = l->tick;
	k->taken = true;
	return 1;
}

static int ksk_rewind(struct sample_source *s, struct error *e)
{
	struct sample_ksk *k = (struct sample_ksk *)s;

	(void)e;
	sample_ahead_rewind(k->ahead);
	k->started = k->taken = false;
	k->place = 0;
	return 0;
}

static void ksk_progress(const struct sample_source *s, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct sample_ksk *k = (const struct sample_ksk *)s;

	*ret_done = k->place;
	*ret_total = k->reader->ops->size(k->reader);
}

static const struct sample_source_ops ksk_ops = {
	.next = ksk_next,
	.rewind = ksk_rewind,
	.progress = ksk_progress,
	.free = ksk_free,
};

/* --- opening --- */

bool sample_ksk_has_samples(struct block_reader *r)
{
	uint32_t stream;

	return r->ops->find(r, STREAM_SAMPLE_FIRST, &stream) && stream_is_sample(stream);
}

/* All descriptions, wherever they are. */
static int read_own(struct sample_ksk *k, struct error *e)
{
	const struct run_horizon all = { .tick = 0 };

	if (run_description_new(&k->own) < 0)
		return error_set(e, ENOMEM, "out of memory");
	return run_description_read(k->own, k->reader, &all, e);
}

/* What it says of itself, which stays whose it is. */
static void show(struct sample_source *s, const struct run_description *d)
{
	s->info = d->info;
	s->sampling = d->sampling;
	s->pace = d->pace;
	s->spaces = d->spaces;
	s->guests = d->guests;
}

static int open_lanes(struct sample_ksk *k)
{
	uint32_t stream = STREAM_SAMPLE_FIRST;
	struct lane *l;
	size_t n = 0;

	if (sample_ahead_new(&k->ahead, k->reader) < 0)
		return -ENOMEM;
	for (; k->reader->ops->find(k->reader, stream, &stream) && stream_is_sample(stream);
	     stream++)
		n++;
	k->lanes = calloc(n + 1, sizeof(*k->lanes));
	k->heap = calloc(n + 1, sizeof(*k->heap));
	if (!k->lanes || !k->heap)
		return -ENOMEM;
	for (stream = STREAM_SAMPLE_FIRST; k->n_lanes < n; stream++) {
		k->reader->ops->find(k->reader, stream, &stream);
		l = &k->lanes[k->n_lanes];
		l->cpu = stream - STREAM_SAMPLE_FIRST;
		l->number = (uint32_t)k->n_lanes;
		if (sample_ahead_add(k->ahead, l->cpu) < 0)
			return -ENOMEM;
		k->n_lanes++;
	}
	return 0;
}

static int load(struct sample_ksk *k, const struct run_description *told, struct error *e)
{
	int r = 0;

	if (!sample_ksk_has_samples(k->reader))
		return error_set(e, ENODATA, "it holds no profile");
	if (!told)
		r = read_own(k, e);
	if (r < 0)
		return r;
	show(&k->source, told ? told : k->own);
	return open_lanes(k) < 0 ? error_set(e, ENOMEM, "out of memory") : 0;
}

/* Takes the reader, also when it fails. */
static int open_source(struct block_reader *reader, const struct run_description *told,
		       struct sample_source **ret, struct error *e)
{
	struct sample_ksk *k = calloc(1, sizeof(*k));
	int r;

	if (!k) {
		reader->ops->free(reader);
		return error_set(e, ENOMEM, "out of memory");
	}
	k->source.ops = &ksk_ops;
	k->reader = reader;
	r = load(k, told, e);
	if (r < 0) {
		ksk_free(&k->source);
		return r;
	}
	*ret = &k->source;
	return 0;
}

static int open_file(struct ksk_file *file, struct sample_source **ret, struct error *e)
{
	bool is_cut = !file->indexed;
	int r = open_source(&file->reader, NULL, ret, e);

	if (r < 0)
		return r;
	((struct sample_ksk *)*ret)->file = file;
	(*ret)->is_cut = is_cut;
	return 0;
}

int sample_ksk_open(const char *path, struct sample_source **ret, struct error *e)
{
	struct ksk_file *file;
	struct error reason = ERROR_INIT;
	int r = ksk_file_open(&file, path, e);

	if (r < 0)
		return r;
	r = open_file(file, ret, &reason);
	return r < 0 ? error_set(e, r, "cannot read %s: %s", path, reason.text) : 0;
}

int sample_ksk_open_memory(const uint8_t *data, size_t len, struct sample_source **ret,
			   struct error *e)
{
	struct ksk_file *file;
	int r = ksk_file_open_memory(&file, data, len, e);

	return r < 0 ? r : open_file(file, ret, e);
}

int sample_ksk_open_run(struct store *s, uint32_t run, struct sample_source **ret, struct error *e)
{
	const struct store_range all = { .to_tick = UINT64_MAX };

	return sample_ksk_open_part(s, run, &all, ret, e);
}

int sample_ksk_open_part(struct store *s, uint32_t run, const struct store_range *range,
			 struct sample_source **ret, struct error *e)
{
	const struct run_part part = { .store = s, .run = run, .range = *range };

	return sample_ksk_open_told(&part, ret, e);
}

int sample_ksk_open_told(const struct run_part *p, struct sample_source **ret, struct error *e)
{
	struct error reason = ERROR_INIT;
	struct block_reader *reader;
	struct store_clock clock;
	struct store_run about;
	int r = store_get_run(p->store, p->run, &about, e);

	if (r == 0)
		r = store_reader_open(&reader, p->store, p->run, &p->range, e);
	if (r < 0)
		return r;
	r = open_source(reader, p->told, ret, &reason);
	if (r < 0)
		return error_set(e, r, "cannot read run %u: %s", p->run, reason.text);
	(*ret)->is_cut = !about.ended;
	if (store_get_clock(p->store, p->run, &clock) == 0)
		clock_set_measured(&(*ret)->info.clock, clock.off_ns, clock.err_ns);
	return 0;
}

/* --- what it held --- */

size_t sample_ksk_cpus(const struct sample_source *s)
{
	return ((const struct sample_ksk *)s)->n_lanes;
}

uint32_t sample_ksk_cpu(const struct sample_source *s, size_t n)
{
	return ((const struct sample_ksk *)s)->lanes[n].cpu;
}

const struct sample_totals *sample_ksk_totals(const struct sample_source *s, size_t n)
{
	return sample_ahead_totals(((const struct sample_ksk *)s)->ahead, n);
}

struct ksk_file *sample_ksk_file(const struct sample_source *s)
{
	return ((const struct sample_ksk *)s)->file;
}

int sample_ksk_span(const struct sample_source *s, uint64_t *ret_from, uint64_t *ret_to)
{
	const struct sample_ksk *k = (const struct sample_ksk *)s;
	struct stream_span span = STREAM_SPAN_INIT;
	size_t i;
	int r = 0;

	for (i = 0; i < k->n_lanes && r == 0; i++)
		r = stream_span_add(&span, k->reader, STREAM_SAMPLE(k->lanes[i].cpu));
	*ret_from = span.from;
	*ret_to = span.to;
	return r < 0 ? r : span.from <= span.to;
}

struct block_reader *sample_ksk_reader(const struct sample_source *s)
{
	return ((const struct sample_ksk *)s)->reader;
}

uint64_t sample_ksk_help(struct sample_source *s)
{
	return sample_ahead_help(((struct sample_ksk *)s)->ahead);
}

void sample_ksk_dismiss(struct sample_source *s)
{
	sample_ahead_dismiss(((struct sample_ksk *)s)->ahead);
}
