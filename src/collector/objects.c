/* SPDX-License-Identifier: MIT */
/*
 * objects: see objects.h.
 *
 * What both threads share is the queue of jobs and the rows of connections with the one question that each may have,
 * under one lock. Sources, with what they are wanted for, belong to the thread alone.
 */
#include "collector/objects.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "collector/http_symbols.h"
#include "collector/objects_file.h"
#include "symbol/object.h"
#include "trace/func_meta.h"
#include "wire/meta.h"
#include "wire/sample_meta_decode.h"

#define PIECES_MAX 2U /* that a connection may have in the queue: one is what was asked for */
#define NAME_MAX_LEN 64U
#define TRIES_MAX 2U

enum job_kind {
	JOB_ARRIVE,
	JOB_LEAVE,
	JOB_SEE,
	JOB_TAKE,
};

struct job {
	struct job *next;
	enum job_kind kind;
	uint64_t session;
	struct message_piece piece; /* its bytes are ours */
	size_t len;
	uint8_t bytes[];
};

/* A connection, as the loop sees it. */
struct row {
	uint64_t session;
	void *owner;
	bool has_want;
	uint32_t pieces; /* in the queue */
	struct message_want want;
};

enum wanted_state {
	WANTED_NOT = 0, /* it is there */
	WANTED_YET,
	WANTED_OVER, /* not to be had here */
};

struct wanted {
	struct message_build_id id;
	uint8_t state; /* enum wanted_state */
	uint8_t tries;
};

/* The same, as the thread sees it. */
struct source {
	struct source *next;
	uint64_t session;
	char name[NAME_MAX_LEN];
	bool is_refused; /* it lied, and is not asked any more */
	struct wanted *list;
	size_t n, room;
	struct wanted *current; /* NULL: nothing is asked */
	struct objects_file file;
};

struct objects {
	struct objects_options o;
	struct http_symbols from;
	struct symcache *tables; /* NULL: none */
	pthread_t thread;
	bool has_thread;
	uint64_t bytes;
	bool is_full; /* and that was said */
	struct source *sources;
	/* Of both threads: */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stop;
	struct job *first, **last;
	size_t queued;
	struct row *rows; /* by rising session */
	size_t n_rows, room_rows, next_row;
	void (*wake)(void *context);
	void *wake_context;
};

__attribute__((format(printf, 2, 3))) static void say(struct objects *o, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (o->o.log)
		o->o.log(o->o.log_context, line);
}

/* --- the loop's side --- */

static struct row *find_row(struct objects *o, uint64_t session)
{
	size_t low = 0, high = o->n_rows, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (o->rows[middle].session < session)
			low = middle + 1;
		else
			high = middle;
	}
	return low < o->n_rows && o->rows[low].session == session ? &o->rows[low] : NULL;
}

/* With the lock held. */
static void push_job(struct objects *o, struct job *j)
{
	j->next = NULL;
	*o->last = j;
	o->last = &j->next;
	o->queued += sizeof(*j) + j->len;
	pthread_cond_signal(&o->changed);
}

static struct job *new_job(enum job_kind kind, uint64_t session, const void *bytes, size_t len)
{
	struct job *j = malloc(sizeof(*j) + len);

	if (!j)
		return NULL;
	*j = (struct job){ .kind = kind, .session = session, .len = len };
	if (len)
		memcpy(j->bytes, bytes, len);
	return j;
}

bool objects_arrive(struct objects *o, uint64_t session, void *owner, const char *name)
{
	struct job *j = new_job(JOB_ARRIVE, session, name, strnlen(name, NAME_MAX_LEN - 1));
	size_t room = o->room_rows ? o->room_rows * 2 : 16;
	struct row *moved;
	bool done = false;

	pthread_mutex_lock(&o->lock);
	if (j && o->n_rows == o->room_rows) {
		moved = realloc(o->rows, room * sizeof(*moved));
		if (moved) {
			o->rows = moved;
			o->room_rows = room;
		}
	}
	if (j && o->n_rows < o->room_rows) {
		o->rows[o->n_rows++] = (struct row){ .session = session, .owner = owner };
		push_job(o, j);
		done = true;
	}
	pthread_mutex_unlock(&o->lock);
	if (!done)
		free(j);
	return done;
}

/* A job that there is no memory for leaves a source that is never asked again: its row is gone. */
void objects_leave(struct objects *o, uint64_t session)
{
	struct job *j = new_job(JOB_LEAVE, session, NULL, 0);
	struct row *row;

	pthread_mutex_lock(&o->lock);
	row = find_row(o, session);
	if (row) {
		o->n_rows--;
		memmove(row, row + 1, (size_t)(o->rows + o->n_rows - row) * sizeof(*row));
	}
	if (j)
		push_job(o, j);
	pthread_mutex_unlock(&o->lock);
}

void objects_see(struct objects *o, uint64_t session, const uint8_t *payload, size_t len)
{
	struct job *j;

	pthread_mutex_lock(&o->lock);
	/* What finds no room is told again by the next recording. */
	j = o->queued + len <= OBJECTS_QUEUE_MAX ? new_job(JOB_SEE, session, payload, len) : NULL;
	if (j)
		push_job(o, j);
	pthread_mutex_unlock(&o->lock);
}

void objects_take(struct objects *o, uint64_t session, const struct message_piece *m)
{
	struct row *row;
	struct job *j = NULL;

	pthread_mutex_lock(&o->lock);
	row = find_row(o, session);
	if (row && row->pieces < PIECES_MAX)
		j = new_job(JOB_TAKE, session, m->bytes, m->len);
	if (j) {
		row->pieces++;
		j->piece = *m;
		j->piece.bytes = j->bytes;
		push_job(o, j);
	}
	pthread_mutex_unlock(&o->lock);
}

void *objects_pop(struct objects *o, struct message_want *ret)
{
	void *owner = NULL;
	struct row *row;
	size_t i;

	pthread_mutex_lock(&o->lock);
	for (i = 0; i < o->n_rows && !owner; i++) {
		row = &o->rows[(o->next_row + i) % o->n_rows];
		if (!row->has_want)
			continue;
		row->has_want = false;
		*ret = row->want;
		owner = row->owner;
	}
	o->next_row = o->n_rows ? (o->next_row + i) % o->n_rows : 0;
	pthread_mutex_unlock(&o->lock);
	return owner;
}

void objects_set_wake(struct objects *o, void (*wake)(void *context), void *context)
{
	pthread_mutex_lock(&o->lock);
	o->wake = wake;
	o->wake_context = context;
	pthread_mutex_unlock(&o->lock);
}

/* --- asking --- */

static void put_want(struct objects *o, const struct source *s)
{
	struct row *row;

	pthread_mutex_lock(&o->lock);
	row = find_row(o, s->session);
	if (row) {
		row->has_want = true;
		row->want = (struct message_want){ .id = s->file.id, .offset = s->file.offset };
		if (o->wake)
			o->wake(o->wake_context);
	}
	pthread_mutex_unlock(&o->lock);
}

static bool is_same(const struct message_build_id *a, const struct message_build_id *b)
{
	return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

static bool is_asked_elsewhere(const struct objects *o, const struct message_build_id *id)
{
	const struct source *s;

	for (s = o->sources; s; s = s->next)
		if (s->current && is_same(&s->current->id, id))
			return true;
	return false;
}

/* It may have come from somebody else since, or lie where a user has put it: then its table is made, if there is none. */
static bool has_object(struct objects *o, const char *path, const struct message_build_id *id)
{
	const struct search search = { o->from.options.sysroot, o->from.options.folders };
	const struct object_wanted w = { path, id->bytes, id->len, o->tables, false };
	_cleanup_free_ char *problem = NULL;
	struct object *found = NULL;
	bool has;

	if (object_open(&search, &w, &found, &problem) < 0)
		return false;
	has = object_is_found(found);
	object_close(found);
	return has;
}

static const char *hex_of(const struct message_build_id *id, char out[2 * MESSAGE_BUILD_ID_MAX + 1])
{
	return hex_format(id->bytes, id->len, out);
}

static void begin(struct objects *o, struct source *s, struct wanted *w)
{
	struct error why = ERROR_INIT;

	if (objects_file_open(&s->file, o->o.folder, &w->id, &why) < 0) {
		say(o, "%s: %s", s->name, why.text);
		objects_file_close(&s->file);
		w->state = WANTED_OVER;
		return;
	}
	s->current = w;
	w->tries++;
	put_want(o, s);
}

/* The next object of a source that has none on its way. */
static void ask_next(struct objects *o, struct source *s)
{
	size_t i;

	if (o->bytes >= o->o.bytes_max) {
		if (!o->is_full)
			say(o, "objects of devices have %" PRIu64 " bytes: no more are asked for",
			    o->bytes);
		o->is_full = true;
		return;
	}
	for (i = 0; i < s->n && !s->current && !s->is_refused; i++) {
		struct wanted *w = &s->list[i];

		if (w->state != WANTED_YET || is_asked_elsewhere(o, &w->id))
			continue;
		if (has_object(o, "/", &w->id))
			w->state = WANTED_NOT;
		else
			begin(o, s, w);
	}
}

static void ask_all(struct objects *o)
{
	struct source *s;

	for (s = o->sources; s; s = s->next)
		if (!s->current)
			ask_next(o, s);
}

/* --- jobs --- */

static struct source *find_source(struct objects *o, uint64_t session)
{
	struct source *s = o->sources;

	while (s && s->session != session)
		s = s->next;
	return s;
}

static void add_source(struct objects *o, const struct job *j)
{
	struct source *s = calloc(1, sizeof(*s));

	if (!s)
		return;
	s->session = j->session;
	memcpy(s->name, j->bytes, j->len);
	s->file.fd = -1;
	s->next = o->sources;
	o->sources = s;
}

static void free_source(struct source *s)
{
	objects_file_close(&s->file);
	free(s->list);
	free(s);
}

static void remove_source(struct objects *o, uint64_t session)
{
	struct source **at = &o->sources, *s;

	while (*at && (*at)->session != session)
		at = &(*at)->next;
	s = *at;
	if (!s)
		return;
	*at = s->next;
	free_source(s);
	ask_all(o); /* somebody else may have what it was asked for */
}

/* Its places in the list move: no pointer to one is kept over this. */
static void add_wanted(struct objects *o, struct source *s, const struct sample_mapping *m)
{
	struct wanted new = { .id = { .len = m->build_id_len }, .state = WANTED_YET };
	size_t at = s->current ? (size_t)(s->current - s->list) : 0, i;
	size_t room = s->room ? s->room * 2 : 16;
	char path[SAMPLE_META_TEXT_MAX + 1];
	struct wanted *moved;

	if (!m->build_id_len || m->path_len == 0 || m->path[0] != '/' ||
	    m->path_len > SAMPLE_META_TEXT_MAX || s->n == OBJECTS_OF_DEVICE_MAX)
		return;
	memcpy(new.id.bytes, m->build_id, m->build_id_len);
	for (i = 0; i < s->n; i++)
		if (is_same(&s->list[i].id, &new.id))
			return;
	if (s->n == s->room) {
		moved = realloc(s->list, room * sizeof(*moved));
		if (!moved)
			return;
		s->list = moved;
		s->room = room;
		s->current = s->current ? &s->list[at] : NULL;
	}
	memcpy(path, m->path, m->path_len);
	path[m->path_len] = 0;
	new.state = has_object(o, path, &new.id) ? WANTED_NOT : WANTED_YET;
	s->list[s->n++] = new;
}

/* Of a traced program. */
static void see_program(struct objects *o, struct source *s, struct byte_reader *r)
{
	struct func_mapping f = { 0 };
	struct sample_mapping m;

	reader_varint(r); /* whose they are */
	while (reader_left(r) && func_meta_get_mapping(r, &f) == 0) {
		m = (struct sample_mapping){ .build_id_len = f.build_id_len,
					     .path = f.path,
					     .path_len = (uint32_t)strlen(f.path) };
		memcpy(m.build_id, f.build_id, f.build_id_len);
		add_wanted(o, s, &m);
		free(f.path);
		f.path = NULL;
	}
	free(f.path);
}

/* Guests' mappings are items of another type: their files are not the device's. */
static void see(struct objects *o, struct source *s, const struct job *j)
{
	struct sample_mapping m;
	struct meta_reader r;

	meta_reader_init(&r, j->bytes, j->len);
	while (meta_reader_next(&r) == WIRE_OK) {
		if (r.type == META_MAPPINGS)
			see_program(o, s, &r.item);
		while (r.type == META_MAPPED && reader_left(&r.item) &&
		       sample_meta_get_mapping(&r.item, &m))
			add_wanted(o, s, &m);
	}
	if (!s->current)
		ask_next(o, s);
}

/* One that was begun by another connection may have been of another file: then once more, from its start. */
static void give_up(struct objects *o, struct source *s, int r, const struct error *why)
{
	char hex[2 * MESSAGE_BUILD_ID_MAX + 1];
	bool again = s->file.is_resumed && s->current->tries < TRIES_MAX && r == -EPROTO;

	objects_file_drop(&s->file, o->o.folder);
	if (!again) {
		say(o, "%s: object %s is dropped: %s", s->name, hex_of(&s->current->id, hex),
		    why->text);
		s->current->state = WANTED_OVER;
		s->is_refused = r == -EPROTO;
	}
	s->current = NULL;
}

static void finish(struct objects *o, struct source *s)
{
	char hex[2 * MESSAGE_BUILD_ID_MAX + 1];

	o->bytes += s->file.size;
	s->current->state = WANTED_NOT;
	say(o, "%s: object %s came, %" PRIu64 " bytes", s->name, hex_of(&s->current->id, hex),
	    s->file.size);
	has_object(o, "/", &s->current->id); /* makes its table */
	s->current = NULL;
}

static void take(struct objects *o, struct source *s, const struct job *j)
{
	struct error why = ERROR_INIT;
	struct row *row;
	int r;

	pthread_mutex_lock(&o->lock);
	row = find_row(o, s->session);
	if (row)
		row->pieces--;
	pthread_mutex_unlock(&o->lock);
	if (s->is_refused)
		return;
	if (!s->current) {
		say(o, "%s: sent a piece of an object that nobody asked for", s->name);
		s->is_refused = true;
		return;
	}
	if (!j->piece.size && is_same(&j->piece.id, &s->current->id)) {
		objects_file_close(&s->file); /* what is there is for somebody else */
		s->current->state = WANTED_OVER;
		s->current = NULL;
	} else {
		r = objects_file_put(&s->file, o->o.folder, &j->piece, &why);
		if (r < 0)
			give_up(o, s, r, &why);
		else if (r == 1)
			finish(o, s);
		else
			put_want(o, s);
	}
	if (!s->current)
		ask_all(o);
}

static void do_job(struct objects *o, const struct job *j)
{
	struct source *s = find_source(o, j->session);

	if (j->kind == JOB_ARRIVE && !s)
		add_source(o, j);
	else if (j->kind == JOB_LEAVE)
		remove_source(o, j->session);
	else if (j->kind == JOB_SEE && s)
		see(o, s, j);
	else if (j->kind == JOB_TAKE && s)
		take(o, s, j);
}

static struct job *next_job(struct objects *o)
{
	struct job *j = NULL;

	pthread_mutex_lock(&o->lock);
	while (!o->stop && !o->first)
		pthread_cond_wait(&o->changed, &o->lock);
	if (!o->stop) {
		j = o->first;
		o->first = j->next;
		if (!o->first)
			o->last = &o->first;
		o->queued -= sizeof(*j) + j->len;
	}
	pthread_mutex_unlock(&o->lock);
	return j;
}

static void *run(void *context)
{
	struct objects *o = context;
	struct job *j;

	while ((j = next_job(o))) {
		do_job(o, j);
		free(j);
	}
	return NULL;
}

/* --- start and stop --- */

static _Thread_local uint64_t counted; /* nftw() takes no data along */

static int count_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)path;
	(void)ftw;
	counted += type == FTW_F ? (uint64_t)st->st_size : 0;
	return 0;
}

static int make_folder(const struct objects_options *o, struct error *e)
{
	if (mkdir(o->folder, 0750) < 0 && errno != EEXIST)
		return error_set(e, errno, "cannot make %s: %s", o->folder, strerror(errno));
	return 0;
}

DEFINE_CLEANUP(objects, objects_stop)

int objects_start(struct objects **ret, const struct objects_options *options, struct error *e)
{
	CLEANUP(objects) struct objects *o = calloc(1, sizeof(*o));
	const struct http_options h = { .symbols = options->symbols,
					.objects = options->folder,
					.tables = options->tables,
					.tables_bytes = options->tables_bytes };
	int r = make_folder(options, e);

	if (r < 0)
		return r;
	if (!o)
		return error_set(e, ENOMEM, "cannot start the collector: out of memory");
	o->o = *options;
	o->last = &o->first;
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->changed, NULL);
	http_symbols_init(&o->from, &h);
	/* Without tables names are found, only later. */
	if (options->tables)
		(void)symcache_open(options->tables, options->tables_bytes, &o->tables, NULL);
	counted = 0;
	nftw(options->folder, count_file, 16, FTW_PHYS);
	o->bytes = counted;
	r = pthread_create(&o->thread, NULL, run, o);
	if (r)
		return error_set(e, r, "cannot start a thread: %s", strerror(r));
	o->has_thread = true;
	*ret = take_ptr(o);
	return 0;
}

void objects_stop(struct objects *o)
{
	struct source *s;
	struct job *j;

	if (!o)
		return;
	if (o->has_thread) {
		pthread_mutex_lock(&o->lock);
		o->stop = true;
		pthread_cond_signal(&o->changed);
		pthread_mutex_unlock(&o->lock);
		pthread_join(o->thread, NULL);
	}
	while ((j = o->first)) {
		o->first = j->next;
		free(j);
	}
	while ((s = o->sources)) {
		o->sources = s->next;
		free_source(s);
	}
	symcache_close(o->tables);
	pthread_mutex_destroy(&o->lock);
	pthread_cond_destroy(&o->changed);
	free(o->rows);
	free(o);
}
