/* SPDX-License-Identifier: MIT */
/*
 * func_buffer: see func_buffer.h.
 *
 * A cursor for each thread, and a heap of them. What a cursor needs to decode it takes with its
 * first event and gives back with its last, so memory is that of the threads which run at one time
 * of the record.
 */
#include "trace/func_buffer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "store/array.h"
#include "trace/func_clock.h"
#include "trace/func_heap.h"
#include "trace/func_merge.h"
#include "trace/func_record.h"
#include "trace/func_record_cursor.h"
#include "trace/maps.h"

#define REALTIME_ERR_NS 1000U /* two clocks read one right after the other */
#define NO_SLOT_COMM "(no slot)"
#define PATH_ROOM 4096U

struct func_buffer {
	struct func_source source;
	struct func_record *record;
	struct func_record_cursor *cursors; /* by thread */
	size_t n_cursors;
	struct func_stream rest; /* of the thread that stands for those without a slot */
	bool has_rest;
	struct func_heap heap; /* threads by number */
};

static void buffer_free(struct func_source *s)
{
	struct func_buffer *b = (struct func_buffer *)s;
	size_t i;

	for (i = 0; i < b->n_cursors; i++)
		func_record_cursor_done(&b->cursors[i]);
	free(b->cursors);
	func_heap_done(&b->heap);
	func_record_free(b->record);
	func_source_done(s);
	free(b);
}

/* Threads of which more was there than is left: nobody knows how many calls these made. */
static bool has_lost_streams(const struct func_buffer *b)
{
	return b->record->streams > b->n_cursors && func_record_gap_cause(b->record) != LOSS_DAMAGE;
}

static void restart_rest(struct func_buffer *b)
{
	const struct func_record *r = b->record;

	func_stream_init(&b->rest, (uint32_t)b->n_cursors, false);
	b->rest.last_tick = r->start_tick;
	loss_tally_add(&b->rest.tally, LOSS_BUFFER, r->lost_threads);
	if (has_lost_streams(b))
		loss_tally_add(&b->rest.tally, func_record_gap_cause(r), LOSS_UNKNOWN);
	func_stream_end(&b->rest);
}

static int buffer_rewind(struct func_source *s, struct error *e)
{
	struct func_buffer *b = (struct func_buffer *)s;
	size_t i;

	(void)e;
	func_heap_clear(&b->heap);
	for (i = 0; i < b->n_cursors; i++) {
		func_record_cursor_rewind(&b->cursors[i]);
		func_heap_push(&b->heap, func_record_cursor_tick(&b->cursors[i]), (uint32_t)i);
	}
	if (b->has_rest) {
		restart_rest(b);
		func_heap_push(&b->heap, b->record->start_tick, (uint32_t)b->n_cursors);
	}
	return 0;
}

static int fetch(void *owner, uint32_t thread, struct func_item *ret)
{
	struct func_buffer *b = owner;

	if (thread == b->n_cursors)
		return func_stream_pop(&b->rest, ret);
	return func_record_cursor_next(&b->cursors[thread], ret);
}

static int buffer_next(struct func_source *s, struct func_item *ret, struct error *e)
{
	struct func_buffer *b = (struct func_buffer *)s;
	int r = func_heap_next(&b->heap, fetch, b, ret);

	if (r >= 0)
		return r;
	return error_set(e, r, "cannot read %s: %s", b->record->path ? b->record->path : "calls",
			 strerror(-r));
}

static void buffer_progress(const struct func_source *s, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct func_buffer *b = (const struct func_buffer *)s;
	uint64_t chunk_bytes = b->record->chunk_bytes;
	size_t i;

	*ret_done = 0;
	for (i = 0; i < b->n_cursors; i++)
		*ret_done += (b->cursors[i].at - b->cursors[i].first) * chunk_bytes;
	*ret_total = b->record->n_chunks * chunk_bytes;
}

static const struct func_source_ops buffer_ops = {
	.next = buffer_next,
	.rewind = buffer_rewind,
	.progress = buffer_progress,
	.free = buffer_free,
};

/* Texts that a process wrote about itself are shown to people. */
static int add_thread(struct func_buffer *b, int32_t tid, const char comm[SCHED_COMM_LEN])
{
	struct func_thread t = { .process = 0, .tid = tid, .cpu = -1 };

	memcpy(t.comm, comm, SCHED_COMM_LEN);
	return func_source_add_thread(&b->source, &t, NULL);
}

/* The chunks and the slot of the lowest stream that is left of both; both are sorted. */
static int add_stream(struct func_buffer *b, size_t *chunk, size_t *slot)
{
	const struct func_record *r = b->record;
	struct func_record_cursor *c = &b->cursors[b->n_cursors];
	bool has_chunk = *chunk < r->n_chunks, has_slot = *slot < r->n_slots;
	uint32_t stream = has_chunk ? r->chunks[*chunk].stream : UINT32_MAX;

	if (has_slot && r->slots[*slot].stream <= stream)
		stream = r->slots[*slot].stream;
	func_record_cursor_init(c, r, (uint32_t)b->n_cursors);
	c->slot = func_record_get_slot(r, stream);
	c->first = *chunk;
	while (*chunk < r->n_chunks && r->chunks[*chunk].stream == stream)
		++*chunk;
	c->end = *chunk;
	while (*slot < r->n_slots && r->slots[*slot].stream == stream)
		++*slot;
	b->n_cursors++;
	return add_thread(b, c->slot ? c->slot->tid : r->chunks[c->first].tid,
			  c->slot ? c->slot->comm : r->comm);
}

static int add_streams(struct func_buffer *b)
{
	static const char comm[SCHED_COMM_LEN] = NO_SLOT_COMM;
	const struct func_record *r = b->record;
	size_t chunk = 0, slot = 0;
	int rc = 0;

	b->cursors = calloc(r->n_chunks + r->n_slots + 1, sizeof(*b->cursors));
	if (!b->cursors)
		return -ENOMEM;
	while (rc == 0 && (chunk < r->n_chunks || slot < r->n_slots))
		rc = add_stream(b, &chunk, &slot);
	b->has_rest = r->lost_threads || has_lost_streams(b);
	if (rc == 0 && b->has_rest)
		rc = add_thread(b, 0, comm);
	return rc < 0 ? rc : func_heap_init(&b->heap, b->n_cursors + 1);
}

static int set_clock(struct func_buffer *b)
{
	const struct func_record *r = b->record;
	struct func_source *s = &b->source;
	uint32_t i;
	int rc = 0;

	clock_init(&s->clock);
	if (r->start_real_ns) {
		s->clock.has_realtime = true;
		s->clock.realtime_off_ns = (int64_t)(r->start_real_ns - r->start_mono_ns);
		s->clock.realtime_err_ns = REALTIME_ERR_NS;
	}
	if (r->clock == FUNC_CLOCK_MONOTONIC) {
		func_clock_settle(s, 0);
		s->clock.mult = 1U << (r->shift < 32 ? r->shift : 31);
		return 0;
	}
	for (i = 0; i < r->n_syncs && rc == 0; i++)
		rc = func_source_add_sync(s, r->syncs[i].tick, r->syncs[i].mono_ns);
	func_clock_settle(s, r->tick_hz);
	return rc;
}

static int add_process(struct func_buffer *b, const char *maps_text, size_t maps_len)
{
	struct func_process p;
	struct maps maps = { 0 };
	int rc = func_process_init(&p, b->record->comm, b->record->exe);
	size_t i;

	if (rc < 0)
		return rc;
	p.pid = b->record->pid;
	p.parent = b->record->parent;
	/* What does not parse is left out: an address without an object is still an address. */
	if (maps_text)
		rc = maps_parse(maps_text, maps_len, &maps, NULL);
	if (rc < 0 && rc != -ENOMEM)
		rc = 0;
	for (i = 0; i < maps.n && rc == 0; i++)
		rc = func_process_add_mapping(&p, &maps.mappings[i]);
	maps_done(&maps);
	if (rc < 0) {
		func_process_done(&p);
		return rc;
	}
	return func_source_add_process(&b->source, &p, NULL);
}

/* Takes the record, also when it fails. */
static int open_source(struct func_record *record, const char *maps, size_t maps_len,
		       struct func_source **ret, struct error *e)
{
	struct func_buffer *b = calloc(1, sizeof(*b));
	int r;

	if (!b) {
		func_record_free(record);
		return error_set(e, ENOMEM, "out of memory");
	}
	b->source.ops = &buffer_ops;
	b->record = record;
	r = func_source_set_origin(&b->source, "function record");
	if (r == 0)
		r = add_process(b, maps, maps_len);
	if (r == 0)
		r = set_clock(b);
	if (r == 0)
		r = add_streams(b);
	if (r < 0) {
		buffer_free(&b->source);
		return error_set(e, r, "%s", strerror(-r));
	}
	buffer_rewind(&b->source, NULL);
	*ret = &b->source;
	return 0;
}

int func_buffer_open_memory(const struct func_buffer_bytes *bytes, struct func_source **ret,
			    struct error *e)
{
	struct func_record *record;
	int r = func_record_open_memory(&record, bytes->data, bytes->len, e);

	return r < 0 ? r : open_source(record, bytes->maps, bytes->maps_len, ret, e);
}

/* The whole text, NULL if there is none, or it is too large to be one. */
static int read_text(const char *path, char **ret, size_t *ret_len)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	struct stat st;
	size_t len = 0;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > MAPS_TEXT_MAX)
		return 0;
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return -ENOMEM;
	while (len < (size_t)st.st_size) {
		n = read(fd, text + len, (size_t)st.st_size - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	*ret_len = len;
	*ret = take_ptr(text);
	return 0;
}

int func_buffer_open(const char *path, struct func_source **ret, struct error *e)
{
	_cleanup_free_ char *maps = NULL;
	char maps_path[PATH_ROOM];
	struct func_record *record;
	size_t maps_len = 0;
	int r = func_record_open(&record, path, e);

	if (r < 0)
		return r;
	if ((size_t)snprintf(maps_path, sizeof(maps_path), "%s.maps", path) < sizeof(maps_path))
		r = read_text(maps_path, &maps, &maps_len);
	if (r < 0) {
		func_record_free(record);
		return error_set(e, -r, "cannot read %s: %s", maps_path, strerror(-r));
	}
	r = open_source(record, maps, maps_len, ret, e);
	return r < 0 ? error_prefix(e, r, "cannot read %s", path) : 0;
}

bool func_buffer_is_record(const uint8_t *data, size_t len)
{
	return len >= 8 && !memcmp(data, FUNC_BUFFER_MAGIC, 8);
}

static bool is_record_file(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t magic[8];
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       read(fd, magic, sizeof(magic)) == sizeof(magic) &&
	       func_buffer_is_record(magic, sizeof(magic));
}

/* The records of a folder, in the order of their names, so that they always get the same numbers. */
struct folder {
	struct func_source **sources;
	size_t n, room;
};

static void folder_done(struct folder *f)
{
	while (f->n)
		func_source_free(f->sources[--f->n]);
	free(f->sources);
}

static int add_file(struct folder *f, const char *path, struct error *e)
{
	int r = array_grow(&f->sources, f->n, &f->room, sizeof(*f->sources), FUNC_BUFFER_FILES_MAX);

	if (r < 0)
		return error_set(e, r, "cannot read %s: %s", path,
				 r == -E2BIG ? "the folder has too many records" : strerror(-r));
	r = func_buffer_open(path, &f->sources[f->n], e);
	f->n += r == 0;
	return r;
}

static int read_folder(struct folder *f, const char *path, struct error *e)
{
	struct dirent **names = NULL;
	char file[PATH_ROOM];
	int r = 0, i, n = scandir(path, &names, NULL, alphasort);

	if (n < 0)
		return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	for (i = 0; i < n; i++) {
		if (r == 0 &&
		    (size_t)snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name) <
			    sizeof(file) &&
		    is_record_file(file))
			r = add_file(f, file, e);
		free(names[i]);
	}
	free(names);
	if (r == 0 && !f->n)
		r = error_set(e, ENOENT, "cannot read %s: a folder without function records", path);
	return r;
}

int func_buffer_open_folder(const char *path, struct func_source **ret, struct error *e)
{
	struct folder f = { 0 };
	int r = read_folder(&f, path, e);

	if (r < 0) {
		folder_done(&f);
		return r;
	}
	r = func_merge_new(f.sources, f.n, FUNC_AXIS_MONOTONIC, ret, e);
	free(f.sources);
	return r < 0 ? error_prefix(e, r, "cannot read %s", path) : 0;
}
