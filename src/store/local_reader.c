/* SPDX-License-Identifier: MIT */
/*
 * local_reader: a run in the log of a folder, as a block_reader (store_reader.h).
 *
 * Where blocks are local_rows.h knows. A place is the number of bytes of the run's files before a
 * record, so it rises through all of them. Blocks are read with pread(): a file may be damaged or on a
 * disk that fails, and so it can be said which block it was.
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
#include "store/local_rows.h"

#define FDS 8U
#define META_MAX (1U << 22)

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
	struct local_rows where;
	struct reader_stream *streams; /* by rising number: a run may have thousands */
	size_t n_streams, room_streams;
	struct meta_row *meta;
	size_t n_meta, room_meta;
	bool has_meta;
	struct open_file fds[FDS];
	uint64_t count;
	uint64_t version; /* of the store, when we looked last */
	bool has_in;
};

/* --- bytes --- */

static int open_log(struct local_reader *r, uint32_t number)
{
	struct open_file *f = &r->fds[number % FDS];
	char name[STORE_LOG_NAME];

	if (f->number != number) {
		if (f->number)
			close(f->fd);
		f->fd = openat(r->where.store->log_fd, local_log_name(number, name),
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
	const struct reader_file *f = &r->where.files[file];
	struct log_record record;
	size_t len = 4096;
	int fd = open_log(r, f->number);

	if (local_is_trouble(fd))
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
	    !log_kind_is_block(record.kind) || record.run != r->where.run ||
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
	for (t->file = 0; t->file + 1 < r->where.n_files; t->file++)
		if (place < r->where.files[t->file + 1].base)
			break;
	if (t->file >= r->where.n_files || place <= r->where.files[t->file].base)
		return 0;
	n = local_rows_get(&r->where, t->file, t->stream, &rows);
	if (n <= 0)
		return n;
	for (lo = 0, hi = rows.n; lo < hi;) {
		mid = lo + (hi - lo) / 2;
		if (r->where.files[t->file].base + rows_at(&rows, mid) < place)
			lo = mid + 1;
		else
			hi = mid;
	}
	t->row = lo;
	return local_rows_check(&r->where, t->file);
}

/* The next row of the stream: 1, 0 if there is none, or < 0. */
static int next_row(struct local_reader *r, struct reader_stream *t, uint32_t *ret_offset)
{
	struct rows rows;
	int n;

	while (t->file < r->where.n_files) {
		n = local_rows_get(&r->where, t->file, t->stream, &rows);
		if (n < 0)
			return n;
		if (t->row < rows.n) {
			*ret_offset = rows_at(&rows, t->row);
			n = local_rows_check(&r->where, t->file);
			return n < 0 ? n : 1;
		}
		if (t->file + 1 == r->where.n_files) /* more may come here */
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
		*ret_at = r->where.files[t->file].base + offset;
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

/* A block of events that cannot be read is in the ledger; one of names only here. Once for each file. */
static void tell_torn(struct local_reader *r, size_t file, uint32_t offset)
{
	struct log_file *f = r->where.files[file].file;
	bool told;

	pthread_mutex_lock(&r->where.store->lock);
	told = f->told;
	f->told = true;
	pthread_mutex_unlock(&r->where.store->lock);
	if (!told)
		local_say(r->where.store,
			  "log file %u is damaged at %u: the description of run %u lacks a part, "
			  "and names may be missing",
			  f->number, offset, r->where.run);
}

/* 1: this is where the last look ended; all that is wanted lies behind it. What was kept when its file went lies behind later ones,
 * and says nothing of where it is. */
static int add_meta(struct local_reader *r, struct reader_stream *t, size_t file, uint32_t offset)
{
	struct block b;
	int got = read_record(r, t, file, offset, &b), error;

	if (got == 0)
		tell_torn(r, file, offset);
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
	int n = local_rows_get(&r->where, file, STREAM_META, &rows), got = 0, whole;
	size_t i;

	if (n <= 0)
		return n;
	for (i = rows.n; got == 0 && i-- > 0;)
		got = add_meta(r, t, file, rows_at(&rows, i));
	whole = local_rows_check(&r->where, file);
	return whole < 0 ? whole : got;
}

/* From the end on, since who wants only what is new wants the last ones. */
static int list_meta(struct local_reader *r, struct reader_stream *t)
{
	size_t file = r->where.n_files, i, kept = 0;
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
		tell_torn(r, row->file, row->offset);
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

	if (local_rows_get(&r->where, file, t->stream, &rows) <= 0)
		return SIZE_MAX;
	for (hi = rows.n_keys; lo < hi;) {
		mid = lo + (hi - lo) / 2;
		if (rows_key_at(&rows, mid).tick < tick)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo-- > 0) {
		key = rows_key_at(&rows, lo);
		if (key.row < rows.n && read_record(r, t, file, rows_at(&rows, key.row), &b) == 1 &&
		    b.events)
			return rows_at(&rows, key.row);
	}
	return SIZE_MAX;
}

static uint64_t reader_seek(struct block_reader *reader, uint32_t stream, uint64_t tick)
{
	struct local_reader *r = (struct local_reader *)reader;
	struct reader_stream *t = get_stream(r, stream);
	size_t file = r->where.n_files, offset;

	if (!t || !tick)
		return 0;
	t->place = 0;
	while (file-- > 0) {
		/* No segment of a file starts before its first event. */
		if (!stream_is_func(stream) && r->where.files[file].has_tick &&
		    r->where.files[file].from_tick >= tick)
			continue;
		offset = find_key(r, t, file, tick);
		if (offset != SIZE_MAX)
			return r->where.files[file].base + offset;
	}
	return 0;
}

static uint64_t reader_size(struct block_reader *reader)
{
	const struct local_reader *r = (const struct local_reader *)reader;
	const struct reader_file *last =
		r->where.n_files ? &r->where.files[r->where.n_files - 1] : NULL;

	return last ? last->base + last->size : 0;
}

static void reader_free(struct block_reader *reader)
{
	struct local_reader *r = (struct local_reader *)reader;
	size_t i;

	local_rows_done(&r->where);
	for (i = 0; i < r->n_streams; i++)
		free(r->streams[i].buffer);
	for (i = 0; i < FDS; i++)
		if (r->fds[i].number)
			close(r->fds[i].fd);
	store_reader_done(&r->base);
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
	struct local_store *s = r->where.store;
	struct run_state in, out;
	const struct shown_run *run;
	const struct view_run *live;
	int error;

	pthread_mutex_lock(&s->lock);
	run = shown_runs_get(&s->runs, r->where.run);
	live = run ? log_view_run(s->view, r->where.run) : NULL;
	error = run ? local_rows_gather(&r->where) : -ENOENT;
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

	pthread_mutex_lock(&r->where.store->lock);
	version = r->where.store->version;
	pthread_mutex_unlock(&r->where.store->lock);
	if (version == r->version)
		return 0;
	error = look(r);
	if (error == -ENOENT)
		return 0;
	if (error < 0)
		return error_set(e, error, "cannot read run %u: %s", r->where.run,
				 strerror(-error));
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
	r->where.store = local_get(store);
	r->where.run = run;
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
