/* SPDX-License-Identifier: MIT */
/* local_rows: see local_rows.h. */
#include "store/local_rows.h"

#include <stdlib.h>
#include <string.h>

#include "store/array.h"

#define ROWS_MAX (1U << 28)

static void free_live(struct reader_file *f)
{
	size_t i;

	for (i = 0; i < f->n_streams; i++) {
		free(f->streams[i].rows);
		free(f->streams[i].keys);
	}
	free(f->streams);
	f->streams = NULL;
	f->n_streams = f->room_streams = 0;
}

static int copy_rows(struct live_stream *to, const struct view_stream *from)
{
	struct view_key key;
	uint32_t row;
	int r;

	/* First the room: what a walk has passed does not come again. */
	while ((r = array_grow(&to->rows, to->n, &to->room, sizeof(row), ROWS_MAX)) == 0 &&
	       view_rows_next(&from->rows, &to->at_row, &row))
		to->rows[to->n++] = row;
	while (r == 0 &&
	       (r = array_grow(&to->keys, to->n_keys, &to->room_keys, sizeof(key), ROWS_MAX)) ==
		       0 &&
	       view_keys_next(&from->keys, &to->at_key, &key))
		to->keys[to->n_keys++] = key;
	return r;
}

/* The i-th stream of a run, at the same place of the copy. Streams come, but none goes. */
static int get_live(struct reader_file *f, size_t i, uint32_t stream)
{
	int r;

	if (i < f->n_streams && f->streams[i].stream == stream)
		return 0;
	r = array_grow(&f->streams, f->n_streams, &f->room_streams, sizeof(*f->streams),
		       RUN_STATE_STREAMS_MAX);
	if (r < 0)
		return r;
	memmove(f->streams + i + 1, f->streams + i, (f->n_streams - i) * sizeof(*f->streams));
	f->streams[i] = (struct live_stream){ .stream = stream };
	f->n_streams++;
	return 0;
}

/* Copies what is new of the run in the file that is being written; the store's lock is held. A walk
 * is good as long as the file is being written, for so long there is its view. */
static int copy_live(struct reader_file *f, const struct view_run *run)
{
	size_t i;
	int r = 0;

	for (i = 0; i < run->n && r == 0; i++) {
		r = get_live(f, i, run->streams[i].stream);
		if (r == 0)
			r = copy_rows(&f->streams[i], &run->streams[i]);
	}
	f->has_tick = run->has_tick;
	f->from_tick = run->from_tick;
	return r;
}

int local_rows_gather(struct local_rows *r)
{
	struct local_store *s = r->store;
	const struct shown_run *run = shown_runs_get(&s->runs, r->run);
	const struct view_run *live = log_view_run(s->view, r->run);
	uint32_t last = r->n_files ? r->files[r->n_files - 1].number : 0;
	struct reader_file *f, *before;
	size_t i;
	int error;

	if (!run)
		return r->n_files ? 0 : -ENOENT;
	if (last && r->files[r->n_files - 1].live && s->view->head.number != last) {
		f = &r->files[r->n_files - 1];
		free_live(f);
		f->live = false;
		f->size = f->file->size;
	}
	for (i = 0; i < run->n_files; i++) {
		if (run->files[i].file <= last)
			continue;
		error = array_grow(&r->files, r->n_files, &r->room_files, sizeof(*r->files),
				   LOG_FILES_MAX);
		if (error < 0)
			return error;
		f = &r->files[r->n_files];
		memset(f, 0, sizeof(*f));
		f->file = local_find_file(s, run->files[i].file);
		if (!f->file)
			continue;
		before = r->n_files ? f - 1 : NULL;
		f->number = f->file->number;
		f->base = before ? before->base + before->size : 0;
		f->size = f->file->size;
		f->has_tick = run->files[i].has_tick;
		f->from_tick = run->files[i].from_tick;
		f->live = f->number == s->view->head.number;
		f->file->refs++;
		r->n_files++;
	}
	f = r->n_files ? &r->files[r->n_files - 1] : NULL;
	if (!f || !f->live || !live)
		return 0;
	f->size = f->file->size;
	return copy_live(f, live);
}

static int by_stream(const void *key, const void *entry)
{
	uint32_t stream = *(const uint32_t *)key;
	uint32_t other = ((const struct live_stream *)entry)->stream;

	return (stream > other) - (stream < other);
}

static void close_index(struct local_rows *r, size_t file)
{
	struct reader_file *f = &r->files[file];

	if (f->index)
		local_unref_index(r->store, f->file, f->index, 0, NULL);
	f->index = NULL;
}

int local_rows_check(struct local_rows *r, size_t file)
{
	const struct log_index *x = r->files[file].index;
	int error = x ? log_index_check(x, NULL) : 0;

	if (error < 0)
		close_index(r, file);
	return error;
}

/* One more, for which the one that was opened first goes. */
static int open_index(struct local_rows *r, size_t file)
{
	struct reader_file *f = &r->files[file];
	size_t *slot = &r->indexed[r->n_indexed % LOCAL_ROWS_INDEXES];
	int error = local_file_index(r->store, f->file, &f->index, NULL);

	if (error < 0)
		return error;
	if (r->n_indexed >= LOCAL_ROWS_INDEXES)
		close_index(r, *slot);
	*slot = file;
	r->n_indexed++;
	f->known = log_index_run(f->index, r->run, &f->run);
	return 0;
}

/* In the index of a full file. */
static int find_rows(struct local_rows *r, size_t file, uint32_t stream, struct rows *ret)
{
	struct reader_file *f = &r->files[file];
	int error = f->index ? 0 : open_index(r, file);

	if (error < 0)
		return local_is_trouble(error) || error == -EIO ? error : 0;
	if (f->known && log_index_stream(f->index, &f->run, stream, &ret->index)) {
		ret->n = ret->index.n;
		ret->n_keys = ret->index.n_keys;
	}
	error = local_rows_check(r, file);
	return error < 0 ? error : (int)ret->n;
}

int local_rows_get(struct local_rows *r, size_t file, uint32_t stream, struct rows *ret)
{
	struct reader_file *f = &r->files[file];
	int n;

	memset(ret, 0, sizeof(*ret));
	if (f->live) {
		if (f->n_streams)
			ret->live = bsearch(&stream, f->streams, f->n_streams, sizeof(*f->streams),
					    by_stream);
		ret->n = ret->live ? ret->live->n : 0;
		ret->n_keys = ret->live ? ret->live->n_keys : 0;
		return (int)ret->n;
	}
	n = find_rows(r, file, stream, ret);
	/* A torn one has been given back; what comes now is made from the log. */
	return n == -EIO ? find_rows(r, file, stream, ret) : n;
}

void local_rows_done(struct local_rows *r)
{
	size_t i;

	for (i = 0; i < r->n_files; i++) {
		free_live(&r->files[i]);
		close_index(r, i);
		local_unref_file(r->store, r->files[i].file);
	}
	free(r->files);
}
