/* SPDX-License-Identifier: MIT */
/*
 * local_reader: a run in the log of a folder, as a block_reader (store_reader.h).
 *
 * The reader knows the log files of its run and opens the index of one when it is needed; of the
 * file that is being written it has a copy of the rows, to which it adds those that are new. A place is the number of bytes of the run's
 * files before a record, so it rises through all of them. Blocks are read with pread(): a file may
 * be damaged or on a disk that fails, and then it can be said which block it was. What indexes say, which are mapped, is
 * believed after a look whether they are torn (mapping.h).
 *
 * The description (stream 0) is read as a whole and in the order of its sequence, for after a
 * removal of old files parts of it lie behind later ones; there a place is a number in that order.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"
#include "store/ksk.h"
#include "store/local_parts.h"

#define FDS 8U
#define INDEXES 4U /* that a reader has open; its streams are mostly in the same file */
#define META_MAX (1U << 22)

#define ROWS_MAX (1U << 28)

/* The rows of a stream in the file that is being written, and how far we have copied them. */
struct live_stream {
	uint32_t stream;
	uint32_t *rows;
	size_t n, room;
	struct view_key *keys;
	size_t n_keys, room_keys;
	struct rows_walk at_row;
	struct keys_walk at_key;
};

struct reader_file {
	struct log_file *file; /* referenced */
	uint32_t number;
	uint64_t base, size;
	bool has_tick;
	uint64_t from_tick;
	bool live;		     /* being written when we looked: `streams` has its rows */
	struct live_stream *streams; /* by rising number */
	size_t n_streams, room_streams;
	const struct log_index *index; /* of a full file, while we look at it */
	bool known;		       /* `run` is set, as long */
	struct index_run run;
};

/* The rows of a stream in a file, wherever they are. */
struct rows {
	const struct live_stream *live;
	struct index_stream index;
	size_t n, n_keys;
};

/* Where a stream was read last, so that the next block need not be searched. */
struct reader_stream {
	uint32_t stream;
	size_t file, row; /* the next */
	uint64_t place;	  /* behind the last */
	uint64_t until;
	bool over;    /* the range ends behind the last */
	uint8_t kind; /* of the record that was read last */
	uint8_t *buffer;
	size_t room;
};

struct meta_row {
	uint64_t sequence;
	size_t file;
	uint32_t offset;
};

struct open_file {
	uint32_t number; /* 0: none */
	int fd;
};

struct local_reader {
	struct store_reader base;
	struct local_store *store;
	uint32_t run;
	struct reader_file *files;
	size_t n_files, room_files;
	struct reader_stream *streams; /* by rising number: a run may have thousands */
	size_t n_streams, room_streams;
	struct meta_row *meta;
	size_t n_meta, room_meta;
	bool has_meta;
	struct open_file fds[FDS];
	size_t indexed[INDEXES]; /* the files whose indexes are open, by turns */
	unsigned int n_indexed;
	uint64_t count;
	uint64_t version; /* of the store, when we looked last */
	bool has_in;
};

/* --- files --- */

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

/* Brings the list of files up to what the store shows; its lock is held. */
static int gather(struct local_reader *r)
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

static void close_index(struct local_reader *r, size_t file)
{
	struct reader_file *f = &r->files[file];

	if (f->index)
		local_unref_index(r->store, f->file, f->index, 0, NULL);
	f->index = NULL;
}

/* Whether what it said was so: 0 or -EIO. */
static int check_index(struct local_reader *r, size_t file)
{
	const struct log_index *x = r->files[file].index;
	int error = x ? log_index_check(x, NULL) : 0;

	if (error < 0)
		close_index(r, file);
	return error;
}

/* A file that is there, but that the machine cannot read now. */
static bool is_trouble(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

/* One more, for which the one that was opened first goes. */
static int open_index(struct local_reader *r, size_t file)
{
	struct reader_file *f = &r->files[file];
	size_t *slot = &r->indexed[r->n_indexed % INDEXES];
	int error = local_file_index(r->store, f->file, &f->index, NULL);

	if (error < 0)
		return error;
	if (r->n_indexed >= INDEXES)
		close_index(r, *slot);
	*slot = file;
	r->n_indexed++;
	f->known = log_index_run(f->index, r->run, &f->run);
	return 0;
}

/* In the index of a full file. */
static int find_rows(struct local_reader *r, size_t file, uint32_t stream, struct rows *ret)
{
	struct reader_file *f = &r->files[file];
	int error = f->index ? 0 : open_index(r, file);

	if (error < 0)
		return is_trouble(error) || error == -EIO ? error : 0;
	if (f->known && log_index_stream(f->index, &f->run, stream, &ret->index)) {
		ret->n = ret->index.n;
		ret->n_keys = ret->index.n_keys;
	}
	error = check_index(r, file);
	return error < 0 ? error : (int)ret->n;
}

/* The rows of a stream in a file: how many, or < 0 if nobody can tell now. A file that is gone has none. */
static int get_rows(struct local_reader *r, size_t file, uint32_t stream, struct rows *ret)
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

static uint32_t row_at(const struct rows *rows, size_t i)
{
	return rows->live ? rows->live->rows[i] : index_row(&rows->index, (uint32_t)i);
}

static struct view_key key_at(const struct rows *rows, size_t i)
{
	return rows->live ? rows->live->keys[i] : index_key(&rows->index, (uint32_t)i);
}

/* --- bytes --- */

static int open_log(struct local_reader *r, uint32_t number)
{
	struct open_file *f = &r->fds[number % FDS];
	char name[STORE_LOG_NAME];

	if (f->number != number) {
		if (f->number)
			close(f->fd);
		f->fd = openat(r->store->log_fd, local_log_name(number, name),
			       O_RDONLY | O_CLOEXEC);
		f->number = f->fd < 0 ? 0 : number;
	}
	return f->number ? f->fd : -errno;
}

static bool read_all(int fd, uint8_t *data, size_t len, uint64_t offset)
{
	ssize_t n;

	while (len) {
		n = pread(fd, data, len, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return true;
}

static int make_room(struct reader_stream *t, size_t len)
{
	uint8_t *grown;

	if (len <= t->room)
		return 0;
	grown = realloc(t->buffer, len);
	if (!grown)
		return -ENOMEM;
	t->buffer = grown;
	t->room = len;
	return 0;
}

/* Reads and checks the record at this place: 1, 0 if it is torn, or < 0: -ENOMEM, -EMFILE and such. A first
 * read takes what a small block needs; most are small. */
static int read_record(struct local_reader *r, struct reader_stream *t, size_t file,
		       uint32_t offset, struct block *ret)
{
	const struct reader_file *f = &r->files[file];
	struct log_record record;
	size_t len = 4096;
	int fd = open_log(r, f->number);

	if (is_trouble(fd))
		return fd;
	if (fd < 0 || offset >= f->size)
		return 0;
	if (f->size - offset < len)
		len = (size_t)(f->size - offset);
	if (make_room(t, len) < 0)
		return -ENOMEM;
	if (len < LOG_RECORD_HEAD || !read_all(fd, t->buffer, len, offset))
		return 0;
	memset(&record, 0, sizeof(record));
	if (log_record_peek(t->buffer, len, &record) == WIRE_CORRUPT || !record.len ||
	    record.len > f->size - offset)
		return 0;
	if (record.len > len) {
		if (make_room(t, record.len) < 0)
			return -ENOMEM;
		if (!read_all(fd, t->buffer + len, record.len - len, offset + len))
			return 0;
	}
	r->count++;
	if (log_record_decode(t->buffer, record.len, &record) != WIRE_OK ||
	    !log_kind_is_block(record.kind) || record.run != r->run ||
	    record.block.stream != t->stream)
		return 0;
	t->kind = record.kind;
	*ret = record.block;
	return 1;
}

/* --- streams --- */

static struct reader_stream *get_stream(struct local_reader *r, uint32_t stream)
{
	size_t lo = 0, hi = r->n_streams, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (r->streams[mid].stream < stream)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < r->n_streams && r->streams[lo].stream == stream)
		return &r->streams[lo];
	if (array_grow(&r->streams, r->n_streams, &r->room_streams, sizeof(*r->streams),
		       RUN_STATE_STREAMS_MAX) < 0)
		return NULL;
	memmove(r->streams + lo + 1, r->streams + lo, (r->n_streams - lo) * sizeof(*r->streams));
	r->streams[lo] = (struct reader_stream){ .stream = stream };
	r->n_streams++;
	return &r->streams[lo];
}

/* Sets the stream to its first row at or behind a place. */
static int find_place(struct local_reader *r, struct reader_stream *t, uint64_t place)
{
	size_t lo, hi, mid;
	struct rows rows;
	int n;

	t->over = false;
	t->until = 0;
	t->row = 0;
	for (t->file = 0; t->file + 1 < r->n_files; t->file++)
		if (place < r->files[t->file + 1].base)
			break;
	if (t->file >= r->n_files || place <= r->files[t->file].base)
		return 0;
	n = get_rows(r, t->file, t->stream, &rows);
	if (n <= 0)
		return n;
	for (lo = 0, hi = rows.n; lo < hi;) {
		mid = lo + (hi - lo) / 2;
		if (r->files[t->file].base + row_at(&rows, mid) < place)
			lo = mid + 1;
		else
			hi = mid;
	}
	t->row = lo;
	return check_index(r, t->file);
}

/* The next row of the stream: 1, 0 if there is none, or < 0. */
static int next_row(struct local_reader *r, struct reader_stream *t, uint32_t *ret_offset)
{
	struct rows rows;
	int n;

	while (t->file < r->n_files) {
		n = get_rows(r, t->file, t->stream, &rows);
		if (n < 0)
			return n;
		if (t->row < rows.n) {
			*ret_offset = row_at(&rows, t->row);
			n = check_index(r, t->file);
			return n < 0 ? n : 1;
		}
		if (t->file + 1 == r->n_files) /* more may come here */
			return 0;
		t->file++;
		t->row = 0;
	}
	return 0;
}

/* Whether the block is the first that begins after the range, before it moves the time on. */
static bool is_behind(const struct local_reader *r, struct reader_stream *t, const struct block *b)
{
	uint64_t from = b->flags & BLOCK_KEY ? b->first_tick : t->until;

	t->until = ksk_until(t->until, b);
	return from > r->base.range.to_tick;
}

static int next_in_stream(struct local_reader *r, struct reader_stream *t, uint64_t *place,
			  struct block *ret, uint64_t *ret_at)
{
	uint32_t offset;
	int got = 0, more;

	if (*place != t->place || !t->place)
		got = find_place(r, t, *place);
	if (got < 0 || t->over)
		return got;
	while ((more = next_row(r, t, &offset)) > 0) {
		*ret_at = r->files[t->file].base + offset;
		t->row++;
		got = read_record(r, t, t->file, offset, ret);
		if (got < 0)
			return got;
		if (got == 0) {
			store_reader_note_torn(&r->base, *ret_at);
			continue;
		}
		*place = t->place = *ret_at + 1;
		t->over = is_behind(r, t, ret);
		return 1;
	}
	return more;
}

/* --- the description --- */

static int by_sequence(const void *a, const void *b)
{
	const struct meta_row *x = a, *y = b;

	if (x->sequence != y->sequence)
		return (x->sequence > y->sequence) - (x->sequence < y->sequence);
	return (x->file > y->file) - (x->file < y->file);
}

/* 1: this is where the last look ended; all that is wanted lies behind it. What was kept when its file went lies behind later ones,
 * and says nothing of where it is. */
static int add_meta(struct local_reader *r, struct reader_stream *t, size_t file, uint32_t offset)
{
	struct block b;
	int got = read_record(r, t, file, offset, &b), error;

	if (got <= 0)
		return got;
	if (b.sequence < r->base.range.from_meta)
		return t->kind == LOG_BLOCK;
	error = array_grow(&r->meta, r->n_meta, &r->room_meta, sizeof(*r->meta), META_MAX);
	if (error == 0)
		r->meta[r->n_meta++] =
			(struct meta_row){ .sequence = b.sequence, .file = file, .offset = offset };
	return error;
}

/* Those of a file, from the last on; 1 as add_meta(). */
static int list_meta_of(struct local_reader *r, struct reader_stream *t, size_t file)
{
	struct rows rows;
	int n = get_rows(r, file, STREAM_META, &rows), got = 0, whole;
	size_t i;

	if (n <= 0)
		return n;
	for (i = rows.n; got == 0 && i-- > 0;)
		got = add_meta(r, t, file, row_at(&rows, i));
	whole = check_index(r, file);
	return whole < 0 ? whole : got;
}

/* From the end on, since who wants only what is new wants the last ones. */
static int list_meta(struct local_reader *r, struct reader_stream *t)
{
	size_t file = r->n_files, i, kept = 0;
	int got = 0;

	r->n_meta = 0;
	while (got == 0 && file-- > 0)
		got = list_meta_of(r, t, file);
	if (got < 0)
		return got;
	if (r->n_meta)
		qsort(r->meta, r->n_meta, sizeof(*r->meta), by_sequence);
	for (i = 0; i < r->n_meta; i++)
		if (!i || r->meta[i].sequence != r->meta[i - 1].sequence)
			r->meta[kept++] = r->meta[i];
	r->n_meta = kept;
	r->has_meta = true;
	return 0;
}

static int next_meta(struct local_reader *r, struct reader_stream *t, uint64_t *place,
		     struct block *ret, uint64_t *ret_at)
{
	int got = r->has_meta ? 0 : list_meta(r, t);

	if (got < 0)
		return got;
	while (*place < r->n_meta) {
		const struct meta_row *row = &r->meta[(*place)++];

		*ret_at = *place;
		got = read_record(r, t, row->file, row->offset, ret);
		if (got)
			return got;
	}
	return 0;
}

/* --- the operations --- */

static int reader_next(struct block_reader *reader, uint32_t stream, uint64_t *place,
		       struct block *ret, uint64_t *ret_at)
{
	struct local_reader *r = (struct local_reader *)reader;
	struct reader_stream *t = get_stream(r, stream);

	if (!t)
		return -ENOMEM;
	return stream == STREAM_META ? next_meta(r, t, place, ret, ret_at)
				     : next_in_stream(r, t, place, ret, ret_at);
}

/* The last KEY block of these rows before the tick, that is there and has an event; SIZE_MAX. */
static size_t find_key(struct local_reader *r, struct reader_stream *t, size_t file, uint64_t tick)
{
	size_t lo = 0, hi, mid;
	struct view_key key;
	struct rows rows;
	struct block b;

	if (get_rows(r, file, t->stream, &rows) <= 0)
		return SIZE_MAX;
	for (hi = rows.n_keys; lo < hi;) {
		mid = lo + (hi - lo) / 2;
		if (key_at(&rows, mid).tick < tick)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo-- > 0) {
		key = key_at(&rows, lo);
		if (key.row < rows.n && read_record(r, t, file, row_at(&rows, key.row), &b) == 1 &&
		    b.events)
			return row_at(&rows, key.row);
	}
	return SIZE_MAX;
}

static uint64_t reader_seek(struct block_reader *reader, uint32_t stream, uint64_t tick)
{
	struct local_reader *r = (struct local_reader *)reader;
	struct reader_stream *t = get_stream(r, stream);
	size_t file = r->n_files, offset;

	if (!t || !tick)
		return 0;
	t->place = 0;
	while (file-- > 0) {
		/* No segment of a file starts before its first event. */
		if (!stream_is_func(stream) && r->files[file].has_tick &&
		    r->files[file].from_tick >= tick)
			continue;
		offset = find_key(r, t, file, tick);
		if (offset != SIZE_MAX)
			return r->files[file].base + offset;
	}
	return 0;
}

static uint64_t reader_size(struct block_reader *reader)
{
	const struct local_reader *r = (const struct local_reader *)reader;
	const struct reader_file *last = r->n_files ? &r->files[r->n_files - 1] : NULL;

	return last ? last->base + last->size : 0;
}

static void reader_free(struct block_reader *reader)
{
	struct local_reader *r = (struct local_reader *)reader;
	size_t i;

	for (i = 0; i < r->n_files; i++) {
		free_live(&r->files[i]);
		close_index(r, i);
		local_unref_file(r->store, r->files[i].file);
	}
	for (i = 0; i < r->n_streams; i++)
		free(r->streams[i].buffer);
	for (i = 0; i < FDS; i++)
		if (r->fds[i].number)
			close(r->fds[i].fd);
	store_reader_done(&r->base);
	free(r->files);
	free(r->streams);
	free(r->meta);
	free(r);
}

static const struct block_reader_ops reader_ops = {
	.next = reader_next,
	.seek = reader_seek,
	.start = store_reader_start,
	.stream = store_reader_stream,
	.streams = store_reader_streams,
	.find = store_reader_find,
	.torn = store_reader_torn,
	.note = store_reader_note,
	.size = reader_size,
	.free = reader_free,
};

/* States and files as of one moment. */
static int look(struct local_reader *r)
{
	struct local_store *s = r->store;
	struct run_state in, out;
	const struct shown_run *run;
	const struct view_run *live;
	int error;

	pthread_mutex_lock(&s->lock);
	run = shown_runs_get(&s->runs, r->run);
	live = run ? log_view_run(s->view, r->run) : NULL;
	error = run ? gather(r) : -ENOENT;
	r->version = s->version;
	run_state_init(&in);
	run_state_init(&out);
	if (error == 0)
		error = run_state_decode(&in, run->in, run->in_len);
	if (error == 0)
		error = live ? run_state_dup(&out, &live->state)
			     : run_state_decode(&out, run->out, run->out_len);
	pthread_mutex_unlock(&s->lock);
	if (error < 0) {
		run_state_done(&in);
		return error;
	}
	if (!r->has_in) { /* what a reader began with stays its start */
		r->base.in = in;
		r->has_in = true;
	} else {
		run_state_done(&in);
	}
	run_state_done(&r->base.out);
	r->base.out = out;
	return 0;
}

static int refresh(struct block_reader *reader, struct error *e)
{
	struct local_reader *r = (struct local_reader *)reader;
	uint64_t version = r->version, blocks = r->base.out.totals.blocks;
	bool ended = r->base.out.ended || r->base.out.closed;
	int error;

	pthread_mutex_lock(&r->store->lock);
	version = r->store->version;
	pthread_mutex_unlock(&r->store->lock);
	if (version == r->version)
		return 0;
	error = look(r);
	if (error == -ENOENT)
		return 0;
	if (error < 0)
		return error_set(e, error, "cannot read run %u: %s", r->run, strerror(-error));
	r->has_meta = false;
	return r->base.out.totals.blocks != blocks ||
	       (r->base.out.ended || r->base.out.closed) != ended;
}

static uint64_t count_blocks(const struct block_reader *reader)
{
	return ((const struct local_reader *)reader)->count;
}

static const struct store_reader_ops more_ops = { .refresh = refresh, .count = count_blocks };

int local_open_reader(struct block_reader **ret, struct store *store, uint32_t run,
		      const struct store_range *range, struct error *e)
{
	struct local_reader *r = calloc(1, sizeof(*r));
	int error;

	if (!r)
		return error_set(e, ENOMEM, "cannot read run %u: out of memory", run);
	r->base.reader.ops = &reader_ops;
	r->base.ops = &more_ops;
	r->store = local_get(store);
	r->run = run;
	r->base.range = range ? *range : (struct store_range){ .to_tick = UINT64_MAX };
	error = look(r);
	if (error < 0) {
		reader_free(&r->base.reader);
		return error_set(e, error, "cannot read run %u: %s", run,
				 error == -ENOENT ? "there is none" : strerror(-error));
	}
	*ret = &r->base.reader;
	return 0;
}
