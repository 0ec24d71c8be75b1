/* SPDX-License-Identifier: MIT */
/*
 * local_commit: the batch to the disk, and then before the readers' eyes.
 *
 * The put side goes on filling another batch meanwhile. A batch that could not be written stays,
 * and is written again to the same places; what got there in part is cut off, so that a reader of
 * the files never finds half a batch. A file's index is made in memory when it is full, because the
 * readers go on with it; that it is written, and its rows of the catalog, is no part of being durable
 * and waits for local_settle().
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/local_parts.h"

#define SHOW_AT_ONCE 256U /* records, between which readers get their turn */

static int write_all(int fd, const uint8_t *data, size_t len, uint64_t offset)
{
	ssize_t n;

	while (len) {
		n = pwrite(fd, data, len, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		data += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

/* --- full files --- */

/* The runs that rest now: their states are those of the index. */
static int rest_runs(struct local_store *s, const struct log_index *x)
{
	struct shown_run *shown;
	struct index_run run;
	uint32_t i;
	int r = 0;

	for (i = 0; i < x->n_runs && r == 0; i++) {
		log_index_run_at(x, i, &run);
		shown = shown_runs_get(&s->runs, run.number);
		if (shown)
			cuts_take_view(&shown->cuts, x->number, log_view_run(s->view, run.number));
		r = local_show_run(s, x->number, &run);
	}
	return r;
}

/* The index that the view of a file becomes when it is full. */
static int make_index(struct local_store *s, struct log_index **ret, struct error *e)
{
	int r = log_index_new(ret, s->view);

	return r < 0 ? error_set(e, r, "cannot make the index of log file %u: %s",
				 s->view->head.number, strerror(-r))
		     : 0;
}

/* One that is there may be left over from a try that failed. If it has records, nobody knew of it: they stay. */
static int create_file(struct local_store *s, const struct log_head *h, int *ret_fd)
{
	char name[STORE_LOG_NAME];
	uint8_t head[LOG_HEAD_LEN];
	_cleanup_close_ int fd = openat(s->log_fd, local_log_name(h->number, name),
					O_RDWR | O_CREAT | O_CLOEXEC, 0640);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size > (off_t)LOG_HEAD_LEN)
		return -EEXIST;
	log_head_encode(head, h);
	r = write_all(fd, head, sizeof(head), 0);
	if (r == 0 && fdatasync(fd) < 0)
		r = -errno;
	if (r == 0) {
		local_new_mark(s, h);
		if (fsync(s->log_fd) < 0)
			r = -errno;
	}
	if (r < 0) {
		unlinkat(s->log_fd, name, 0);
		return r;
	}
	*ret_fd = take_fd(&fd);
	return 0;
}

/* The new file takes the place of the last, whose index, if it has one, is x: to readers both happen
 * at once. */
static int swap_view(struct local_store *s, struct log_view *view, struct log_index *x)
{
	struct log_view *old = NULL;
	struct log_file *last = s->active, *f;
	int r;

	pthread_mutex_lock(&s->lock);
	r = x ? rest_runs(s, x) : 0;
	if (r == 0)
		r = local_add_log_file(s, view->head.number, LOG_HEAD_LEN, &f);
	if (r == 0) {
		if (x)
			last->index = x;
		old = s->view;
		s->view = view;
		s->active = f;
	}
	pthread_mutex_unlock(&s->lock);
	log_view_free(old);
	return r;
}

int local_rotate(struct local_store *s, uint32_t number, uint32_t next_run, struct error *e)
{
	const struct log_head head = { .number = number,
				       .next_run = next_run,
				       .time_ns = clock_real_ns() };
	CLEANUP(log_view) struct log_view *view = log_view_new(&head);
	CLEANUP(log_index) struct log_index *x = NULL;
	_cleanup_close_ int fd = -1;
	int r = view ? create_file(s, &head, &fd) : -ENOMEM;

	if (r < 0)
		return error_set(e, r, "cannot create log file %u in %s: %s", number, s->dir,
				 strerror(-r));
	r = s->active && s->view ? make_index(s, &x, e) : 0;
	if (r < 0)
		return r;
	r = swap_view(s, view, x);
	if (r < 0)
		return error_set(e, r, "cannot keep log file %u: %s", number, strerror(-r));
	take_ptr(view);
	take_ptr(x);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = take_fd(&fd);
	return 0;
}

/* --- batches --- */

static size_t span_end(const struct batch *b, size_t i)
{
	return i + 1 < b->n_spans ? b->spans[i + 1].at : b->len;
}

static int write_span(struct local_store *s, const struct batch *b, size_t i, struct error *e)
{
	const struct span *span = &b->spans[i];
	const struct log_file *f = s->active;
	int r = write_all(s->fd, b->data + span->at, span_end(b, i) - span->at, span->offset);

	if (r == 0 && fdatasync(s->fd) < 0)
		r = -errno;
	if (r == 0)
		return 0;
	/* Half a batch is of no use, and the room may be needed to get on. */
	if (ftruncate(s->fd, (off_t)f->size) < 0)
		return error_set(e, r, "cannot write log file %u in %s: %s, and cannot cut it: %s",
				 f->number, s->dir, strerror(-r), strerror(errno));
	return error_set(e, r, "cannot write log file %u in %s: %s", f->number, s->dir,
			 strerror(-r));
}

/* What is durable becomes visible, a few records at a time. */
static int show_span(struct local_store *s, struct batch *b, size_t i, struct error *e)
{
	const struct span *span = &b->spans[i];
	size_t at = b->shown > span->at ? b->shown : span->at, end = span_end(b, i), n;
	struct log_file *f = s->active;
	struct log_record record;
	int r = 0;

	while (at < end && r == 0) {
		pthread_mutex_lock(&s->lock);
		for (n = 0; n < SHOW_AT_ONCE && at < end && r == 0; n++) {
			uint64_t offset = span->offset + (at - span->at);

			log_record_peek(b->data + at, end - at, &record);
			r = local_show(s, &record, (uint32_t)offset);
			if (r < 0)
				break;
			b->shown = at += record.len;
			s->view->size = f->size = offset + record.len;
		}
		f->last_ns = s->view->last_ns;
		pthread_mutex_unlock(&s->lock);
	}
	return r < 0 ? error_set(e, r, "cannot index what was stored: %s", strerror(-r)) : 0;
}

static int commit_batch(struct local_store *s, struct batch *b, struct error *e)
{
	int r = 0;

	for (; b->spans_done < b->n_spans && r == 0; b->spans_done++) {
		const struct span *span = &b->spans[b->spans_done];

		if (s->active->number != span->file)
			r = local_rotate(s, span->file, span->next_run, e);
		if (r == 0)
			r = write_span(s, b, b->spans_done, e);
		if (r == 0)
			local_move_mark(s, b->data + span->at,
					span_end(b, b->spans_done) - span->at, span->offset);
		if (r == 0)
			r = show_span(s, b, b->spans_done, e);
		if (r < 0)
			break;
	}
	return r;
}

/* The batch that is being filled becomes the one that is written. */
static bool take_batch(struct local_store *s)
{
	struct put_side *p = &s->put;

	pthread_mutex_lock(&p->lock);
	if (p->filling->len) {
		s->pending = p->filling;
		p->filling = take_ptr(s->spare);
	}
	pthread_mutex_unlock(&p->lock);
	return s->pending;
}

static void finish_batch(struct local_store *s)
{
	struct batch *b = take_ptr(s->pending);

	pthread_mutex_lock(&s->put.lock);
	s->put.waiting -= b->len;
	pthread_mutex_unlock(&s->put.lock);
	pthread_mutex_lock(&s->lock);
	if (b->puts)
		s->durable = b->puts;
	s->version++;
	pthread_cond_broadcast(&s->committed);
	pthread_mutex_unlock(&s->lock);
	b->len = b->n_spans = b->spans_done = b->shown = 0;
	b->puts = 0;
	s->spare = b;
}

int local_commit(struct store *store, uint64_t *ret_durable, struct error *e)
{
	struct local_store *s = local_get(store);
	int r = s->options.read_only ? error_set(e, EROFS, "the store is open for reading only")
				     : 0;

	/* One that failed before comes first; then what has come since. */
	if (r == 0 && s->pending) {
		r = commit_batch(s, s->pending, e);
		if (r == 0)
			finish_batch(s);
	}
	if (r == 0 && take_batch(s)) {
		r = commit_batch(s, s->pending, e);
		if (r == 0)
			finish_batch(s);
	}
	if (ret_durable)
		*ret_durable = s->durable;
	return r;
}
