/* SPDX-License-Identifier: MIT */
/*
 * local_retain: the oldest log files go when there are too many or they are too old.
 *
 * What must not go with them is written again, to the end of the log: the state of runs that have
 * not ended, so that their devices can go on, and the descriptions (stream 0) of runs of which
 * later files still have events, for nothing decodes without them. Only when that is durable are
 * the files removed, at a later call; those that a reader holds, when it is done.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/clock.h"
#include "store/array.h"
#include "store/local_parts.h"

#define KEPT_MAX (1U << 24)		    /* blocks that a removal may have to write again */
#define STEP_NS (3600 * CLOCK_NS_PER_S)	    /* a clock that gains more was set */
#define DISTRUST_NS (3600 * CLOCK_NS_PER_S) /* since then */

/* A run that loses its first files, and what it is left with. */
struct survivor {
	uint32_t run;
	uint32_t next_file; /* the first that it keeps, 0: none */
	bool over;	    /* nothing will come of it any more */
};

struct survivors {
	struct survivor *list;
	size_t n;
};

static void survivors_done(struct survivors *v)
{
	free(v->list);
}

/* A clock that is set wrongly for a moment must not remove everything. Of one that was right, an hour changes nothing. */
uint64_t local_age_ns(struct age_clock *a, uint64_t real_ns, uint64_t mono_ns)
{
	if (a->mono_ns && real_ns > a->real_ns + (mono_ns - a->mono_ns) + STEP_NS)
		a->distrusted_till_ns = mono_ns + DISTRUST_NS;
	a->real_ns = real_ns;
	a->mono_ns = mono_ns;
	return mono_ns < a->distrusted_till_ns ? 0 : real_ns;
}

/* The number of the first file that stays; the last always does. */
static uint32_t first_to_stay(const struct local_store *s, uint64_t now_ns)
{
	uint64_t bytes = 0;
	size_t i = s->n_files;

	while (i > 0) {
		const struct log_file *f = s->files[--i];

		bytes += f->size;
		if (i + 1 == s->n_files)
			continue;
		if ((s->options.retain_bytes && bytes > s->options.retain_bytes) ||
		    (s->options.retain_ns && f->last_ns + s->options.retain_ns < now_ns))
			return s->files[i + 1]->number;
	}
	return 0;
}

static bool is_over(const struct local_store *s, const struct shown_run *run)
{
	const struct view_run *live = log_view_run(s->view, run->number);

	return live ? live->state.ended || live->state.closed : run->facts.ended;
}

/* All runs that have records before the file. */
static int list_shortened(struct local_store *s, uint32_t first, struct survivors *ret)
{
	const struct shown_run *run;
	size_t at = 0, i;

	pthread_mutex_lock(&s->lock);
	ret->list = calloc(s->runs.by_number.n + 1, sizeof(*ret->list));
	while (ret->list && (run = hashtable_next(&s->runs.by_number, &at))) {
		if (!run->n_files || run->files[0].file >= first)
			continue;
		for (i = 0; i < run->n_files && run->files[i].file < first; i++)
			;
		ret->list[ret->n++] =
			(struct survivor){ .run = run->number,
					   .next_file = i < run->n_files ? run->files[i].file : 0,
					   .over = is_over(s, run) };
	}
	pthread_mutex_unlock(&s->lock);
	return ret->list ? 0 : -ENOMEM;
}

/* Those of them that live on. */
static int list_survivors(struct local_store *s, uint32_t first, struct survivors *ret)
{
	size_t i, n = 0;
	int r = list_shortened(s, first, ret);

	for (i = 0; r == 0 && i < ret->n; i++)
		if (ret->list[i].next_file || !ret->list[i].over)
			ret->list[n++] = ret->list[i];
	ret->n = n;
	return r;
}

/* --- what must be written again --- */

/* Copies of the blocks that are kept: what is read from the disk is read before anybody has to wait
 * for it. */
struct kept_block {
	uint32_t run, len;
	uint8_t *bytes;
};

struct kept {
	struct kept_block *list;
	size_t n, room;
};

static void kept_done(struct kept *k)
{
	while (k->n)
		free(k->list[--k->n].bytes);
	free(k->list);
}

static int keep_block(struct kept *k, uint32_t run, const struct mapping *log, uint32_t at)
{
	struct kept_block b = { .run = run };
	struct log_record r;
	int error;

	if (at >= log->len || log_record_decode(log->data + at, log->len - at, &r) != WIRE_OK ||
	    !log_kind_is_block(r.kind) || r.block.stream != STREAM_META)
		return 0; /* damaged: there is nothing to keep */
	error = array_grow(&k->list, k->n, &k->room, sizeof(*k->list), KEPT_MAX);
	if (error < 0)
		return error;
	b.bytes = malloc(r.body_len);
	if (!b.bytes)
		return -ENOMEM;
	b.len = r.body_len;
	memcpy(b.bytes, r.body, r.body_len);
	k->list[k->n++] = b;
	return 0;
}

static int keep_description(struct kept *k, uint32_t run, const struct log_index *x,
			    const struct mapping *log)
{
	struct index_stream stream;
	struct index_run entry;
	uint32_t i;
	int r = 0;

	if (!log_index_run(x, run, &entry) || !log_index_stream(x, &entry, STREAM_META, &stream))
		return 0;
	for (i = 0; i < stream.n && r == 0; i++)
		r = keep_block(k, run, log, index_row(&stream, i));
	return r;
}

/* Of a file that somebody has removed by hand there is nothing to keep, and that must not keep the others. */
static int keep_of_file(struct local_store *s, struct log_file *f, const struct survivors *v,
			struct kept *k, struct error *e)
{
	CLEANUP(mapping) struct mapping *log = NULL;
	const struct log_index *x;
	size_t i;
	int r = local_map_log(s, f->number, &log, e);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = local_file_index(s, f, &x, e);
	if (r < 0)
		return r;
	for (i = 0; i < v->n && r == 0; i++) {
		r = keep_description(k, v->list[i].run, x, log);
		if (r < 0)
			error_set(e, r, "cannot keep what log file %u has: %s", f->number,
				  strerror(-r));
	}
	return local_unref_index(s, f, x, r, e);
}

/* The put side's lock is held: nothing here waits for a disk. */
static int put_kept(struct local_store *s, const struct survivors *v, const struct kept *k,
		    struct error *e)
{
	struct put_run *run;
	size_t i;
	int r = 0;

	for (i = 0; i < v->n && r == 0; i++) {
		r = put_side_get_run(s, v->list[i].run, &run, e);
		if (r == 0)
			r = put_side_declare(s, run, e);
	}
	for (i = 0; i < k->n && r == 0; i++) {
		r = put_side_get_run(s, k->list[i].run, &run, e);
		if (r == 0)
			r = put_side_keep(s, run, k->list[i].bytes, k->list[i].len, e);
	}
	return r;
}

/* The i-th file if it is one that goes. Only retention takes files from the list, and one at a
 * time, so it stays valid. */
static struct log_file *file_before(struct local_store *s, size_t i, uint32_t first)
{
	struct log_file *f;

	pthread_mutex_lock(&s->lock);
	f = i + 1 < s->n_files && s->files[i]->number < first ? s->files[i] : NULL;
	pthread_mutex_unlock(&s->lock);
	return f;
}

/* Plans the removal of all files before the first that stays. */
static int plan(struct local_store *s, uint32_t first, struct error *e)
{
	__attribute__((cleanup(survivors_done))) struct survivors v = { 0 };
	__attribute__((cleanup(kept_done))) struct kept k = { 0 };
	struct log_file *f;
	size_t i;
	int r = list_survivors(s, first, &v);

	if (r < 0)
		return error_set(e, r, "cannot remove log files: %s", strerror(-r));
	for (i = 0; r == 0 && v.n && (f = file_before(s, i, first)); i++)
		r = keep_of_file(s, f, &v, &k, e);
	if (r < 0)
		return r;
	pthread_mutex_lock(&s->put.lock);
	r = put_kept(s, &v, &k, e);
	pthread_mutex_lock(&s->lock);
	if (r == 0) {
		s->removed_to = first;
		s->removed_at = v.n ? s->put.file * (1ULL << 32) + s->put.offset : 0;
	}
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_unlock(&s->put.lock);
	return r;
}

/* --- removal --- */

static int copy_indexed_in(struct local_store *s, uint32_t run, struct log_file *f, uint8_t **ret,
			   size_t *ret_len)
{
	const struct log_index *x;
	struct index_run entry;
	int r = local_file_index(s, f, &x, NULL);

	if (r < 0)
		return r;
	r = log_index_run(x, run, &entry) ? 0 : -ENOENT;
	if (r == 0) {
		*ret = malloc(entry.in_len + 1);
		*ret_len = entry.in_len;
		if (*ret)
			memcpy(*ret, entry.in, entry.in_len);
		r = *ret ? 0 : -ENOMEM;
	}
	return local_unref_index(s, f, x, r, NULL);
}

/* The state of a run before its next file, to be freed. */
static int copy_in(struct local_store *s, uint32_t run, uint32_t file, uint8_t **ret,
		   size_t *ret_len)
{
	const struct view_run *live;
	struct log_file *f;

	pthread_mutex_lock(&s->lock);
	f = local_find_file(s, file);
	live = s->view->head.number == file ? log_view_run(s->view, run) : NULL;
	if (live) {
		*ret = malloc(live->in_len + 1);
		*ret_len = live->in_len;
		if (*ret)
			memcpy(*ret, live->in, live->in_len);
	}
	pthread_mutex_unlock(&s->lock);
	if (live)
		return *ret ? 0 : -ENOMEM;
	return f ? copy_indexed_in(s, run, f, ret, ret_len) : -ENOENT;
}

/* The lock is held. */
static int drop_files(struct local_store *s, const struct survivor *v, struct cut_search *c)
{
	const struct run_before before = { c->in, c->in_len, &c->cuts };
	struct shown_run *run = shown_runs_get(&s->runs, v->run);

	if (v->next_file && s->view->head.number != c->live)
		return -EAGAIN; /* a file became full: it may have more that is cut off */
	if (run && v->next_file)
		return shown_run_shorten(run, v->next_file, &before);
	if (run)
		shown_runs_remove(&s->runs, run);
	return 0;
}

/* Takes the files before its next one from a run. */
static int shorten_run(struct local_store *s, const struct survivor *v)
{
	_cleanup_free_ uint8_t *in = NULL;
	struct cut_search c = { .run = v->run, .first = v->next_file };
	int r = v->next_file ? copy_in(s, v->run, v->next_file, &in, &c.in_len) : 0;

	c.in = in;
	if (r < 0)
		return r;
	do {
		cuts_done(&c.cuts);
		r = v->next_file ? local_find_cuts(s, &c) : 0;
		if (r < 0)
			return r;
		pthread_mutex_lock(&s->lock);
		r = drop_files(s, v, &c);
		pthread_mutex_unlock(&s->lock);
	} while (r == -EAGAIN);
	cuts_done(&c.cuts);
	return r;
}

/* Of all runs that have records before the file; those without later ones go. */
static int shorten_runs(struct local_store *s, uint32_t first)
{
	__attribute__((cleanup(survivors_done))) struct survivors v = { 0 };
	size_t i;
	int r = list_shortened(s, first, &v);

	for (i = 0; i < v.n && r == 0; i++)
		r = shorten_run(s, &v.list[i]);
	return r;
}

static int remove_first(struct local_store *s, struct error *e)
{
	struct log_file *f;
	uint32_t number;
	bool held;
	int r;

	pthread_mutex_lock(&s->lock);
	f = s->files[0];
	number = f->number;
	held = f->refs;
	f->doomed = true;
	s->n_files--;
	memmove(s->files, s->files + 1, s->n_files * sizeof(struct log_file *));
	pthread_mutex_unlock(&s->lock);
	r = catalog_remove_file(s->catalog, number, e);
	if (!held) {
		local_unlink_file(s, number);
		log_index_free(f->index);
		free(f);
	}
	return r;
}

/* Whether what is kept of the files is durable. The lock is held. */
static bool may_remove(const struct local_store *s)
{
	const struct log_file *last = s->files[s->n_files - 1];

	return s->removed_to && last->number * (1ULL << 32) + last->size >= s->removed_at;
}

static int remove_files(struct local_store *s, uint32_t first, struct error *e)
{
	int r = shorten_runs(s, first);

	if (r < 0)
		return error_set(e, r, "cannot remove log files: %s", strerror(-r));
	while (r == 0 && file_before(s, 0, first))
		r = remove_first(s, e);
	pthread_mutex_lock(&s->lock);
	if (r == 0)
		s->removed_to = 0;
	pthread_mutex_unlock(&s->lock);
	return r;
}

int local_retain(struct store *store, struct error *e)
{
	struct local_store *s = local_get(store);
	uint32_t first, planned;
	uint64_t now_ns;
	bool ready;
	int r = 0;

	if (s->options.read_only)
		return error_set(e, EROFS, "the store is open for reading only");
	pthread_mutex_lock(&s->retain_lock);
	pthread_mutex_lock(&s->lock);
	planned = s->removed_to;
	now_ns = local_age_ns(&s->ages, clock_real_ns(), clock_mono_ns());
	first = planned ? 0 : first_to_stay(s, now_ns);
	pthread_mutex_unlock(&s->lock);
	if (first)
		r = plan(s, first, e);
	pthread_mutex_lock(&s->lock);
	planned = s->removed_to;
	ready = may_remove(s);
	pthread_mutex_unlock(&s->lock);
	if (r == 0 && planned && ready)
		r = remove_files(s, planned, e);
	pthread_mutex_unlock(&s->retain_lock);
	return r;
}
