/* SPDX-License-Identifier: MIT */
/*
 * local: opening and closing a store in a folder (local_parts.h).
 *
 * What a store knows when it is opened comes from three places. Full files: the catalog, and for
 * those that it lacks, their indexes, and where these are missing, too, the log itself. The last
 * file: the log, record by record; it is cut where the first unsound one starts, for nothing behind
 * that was ever acknowledged. A file's size and the catalog's row must agree, else the row is made
 * again.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/condition.h"
#include "store/array.h"
#include "store/local_parts.h"

struct numbers {
	uint32_t *list;
	size_t n, room;
};

static void numbers_done(struct numbers *l)
{
	free(l->list);
}

/* --- the folder --- */

static int open_folder(struct local_store *s, struct error *e)
{
	if (!s->options.read_only && mkdir(s->dir, 0750) < 0 && errno != EEXIST)
		return error_set(e, errno, "cannot create %s: %s", s->dir, strerror(errno));
	s->dir_fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir_fd < 0)
		return error_set(e, errno, "cannot open %s: %s", s->dir, strerror(errno));
	if (!s->options.read_only && mkdirat(s->dir_fd, "log", 0750) < 0 && errno != EEXIST)
		return error_set(e, errno, "cannot create %s/log: %s", s->dir, strerror(errno));
	s->log_fd = openat(s->dir_fd, "log", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->log_fd < 0)
		return error_set(e, errno, "cannot open %s/log: %s", s->dir, strerror(errno));
	return 0;
}

static int lock_folder(struct local_store *s, struct error *e)
{
	if (s->options.read_only)
		return 0;
	s->lock_fd = openat(s->dir_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0640);
	if (s->lock_fd < 0)
		return error_set(e, errno, "cannot lock %s: %s", s->dir, strerror(errno));
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return error_set(e, errno, "cannot lock %s: %s", s->dir,
				 errno == EWOULDBLOCK ? "another collector uses it"
						      : strerror(errno));
	return 0;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int add_number(struct numbers *l, uint32_t number)
{
	int r = array_grow(&l->list, l->n, &l->room, sizeof(*l->list), LOG_FILES_MAX);

	if (r == 0)
		l->list[l->n++] = number;
	return r;
}

/* The number of a file in the folder of logs with this ending; 0: it is another. */
static uint32_t number_of(const char *name, const char *ending)
{
	unsigned int number;
	int end = 0;

	if (sscanf(name, "%8u%n", &number, &end) != 1 || !end || strcmp(name + end, ending) != 0)
		return 0;
	return number;
}

static int list_folder(struct local_store *s, struct numbers *logs, struct numbers *marks,
		       struct error *e)
{
	int fd = dup(s->log_fd), r = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *d;
	uint32_t log, mark;

	if (!dir) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return error_set(e, r, "cannot list %s/log: %s", s->dir, strerror(-r));
	}
	rewinddir(dir);
	/* A folder that cannot be read to its end is not an empty one. */
	while (errno = 0, r == 0 && (d = readdir(dir))) {
		log = number_of(d->d_name, ".klog");
		mark = number_of(d->d_name, ".kmark");
		if (log || mark)
			r = add_number(log ? logs : marks, log ? log : mark);
	}
	if (r == 0)
		r = -errno;
	closedir(dir);
	return r < 0 ? error_set(e, r, "cannot list %s/log: %s", s->dir, strerror(-r)) : 0;
}

static bool has_number(const struct numbers *l, uint32_t number)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->list[i] == number)
			return true;
	return false;
}

/* A log file whose mark is there was not removed by the store: it goes on without it, and its runs
 * are known by the mark. */
static int list_logs(struct local_store *s, struct numbers *ret, struct error *e)
{
	__attribute__((cleanup(numbers_done))) struct numbers marks = { 0 };
	size_t i, n;
	int r = list_folder(s, ret, &marks, e);

	n = ret->n;
	for (i = 0; i < marks.n && r == 0; i++) {
		struct numbers there = { ret->list, n, 0 };

		if (has_number(&there, marks.list[i]))
			continue;
		if (s->options.read_only) {
			local_say(s, "log file %u is gone", marks.list[i]);
			continue;
		}
		r = local_replace_log(s, marks.list[i], e);
		if (r == 0 && add_number(ret, marks.list[i]) < 0)
			r = error_set(e, ENOMEM, "out of memory");
	}
	if (ret->n)
		qsort(ret->list, ret->n, sizeof(*ret->list), by_value);
	return r;
}

/* --- full files --- */

static int add_full_file(struct local_store *s, uint32_t number, struct error *e)
{
	char name[STORE_LOG_NAME];
	struct log_file *f;
	struct stat st;
	int r;

	if (fstatat(s->log_fd, local_log_name(number, name), &st, 0) < 0)
		return error_set(e, errno, "cannot read %s: %s", name, strerror(errno));
	r = local_add_log_file(s, number, (uint64_t)st.st_size, &f);
	return r < 0 ? error_set(e, r, "out of memory") : 0;
}

struct sorting {
	struct local_store *store;
	struct numbers wrong; /* rows of the catalog without their file */
};

static int sort_row(void *context, const struct catalog_file *row)
{
	struct sorting *t = context;
	struct log_file *f = local_find_file(t->store, row->file);
	int r = 0;

	if (f && f->size == row->size) {
		f->catalogued = true;
		f->last_ns = row->last_ns;
		return 0;
	}
	r = array_grow(&t->wrong.list, t->wrong.n, &t->wrong.room, sizeof(uint32_t), LOG_FILES_MAX);
	if (r == 0)
		t->wrong.list[t->wrong.n++] = row->file;
	return r;
}

/* Whoever removes a file removes its rows before. */
static void say_wrong(const struct local_store *s, uint32_t number)
{
	if (s->view && s->view->head.number == number)
		local_say(s,
			  "log file %u was full, and is the last one now: those behind it are gone",
			  number);
	else if (local_find_file((struct local_store *)s, number))
		local_say(s, "log file %u has another size than when it was full", number);
	else
		local_say(s, "log file %u is gone: runs that were only there are missing", number);
}

static int add_to_catalog(struct local_store *s, struct log_file *f, struct error *e)
{
	const struct log_index *x;
	int r = local_file_index(s, f, &x, e);

	if (r < 0)
		return r;
	f->last_ns = x->last_ns;
	if (!x->lacks)
		r = catalog_add_file(s->catalog, x, e);
	f->catalogued = r == 0 && !x->lacks;
	return local_unref_index(s, f, x, r, e);
}

static int settle_catalog(struct local_store *s, struct error *e)
{
	struct sorting t = { .store = s };
	size_t i;
	int r = catalog_files(s->catalog, sort_row, &t, e);

	for (i = 0; i < t.wrong.n && r == 0; i++) {
		say_wrong(s, t.wrong.list[i]);
		r = catalog_remove_file(s->catalog, t.wrong.list[i], e);
	}
	numbers_done(&t.wrong);
	for (i = 0; i < s->n_files && r == 0; i++)
		if (!s->files[i]->catalogued)
			r = add_to_catalog(s, s->files[i], e);
	return r;
}

/* A catalog that cannot be written, because the disk is full, must not keep anybody from reading,
 * nor from making room: then it is made in memory. */
static int open_catalog(struct local_store *s, struct error *e)
{
	size_t i;
	int r = catalog_open(&s->catalog, s->options.read_only ? NULL : s->dir, e);

	if (r == 0)
		r = settle_catalog(s, e);
	if (r == 0 || s->options.read_only)
		return r;
	catalog_free(take_ptr(s->catalog));
	for (i = 0; i < s->n_files; i++)
		s->files[i]->catalogued = false;
	r = catalog_open(&s->catalog, NULL, e);
	return r < 0 ? r : settle_catalog(s, e);
}

static int show_row(void *context, const struct catalog_run *row)
{
	int r = local_show_run(context, row->file, &row->run);

	return r == -EBADMSG ? 0 : r;
}

static int show_device(void *context, const struct store_device *d)
{
	return local_show_device(context, d);
}

/* --- the last file --- */

static int show_view(struct local_store *s)
{
	const struct log_view *v = s->view;
	struct shown_run *run;
	size_t i;
	int r = 0;

	for (i = 0; i < v->n_runs && r == 0; i++) {
		const struct index_run declared = { .number = v->runs[i]->number,
						    .ids = v->runs[i]->ids,
						    .in = v->runs[i]->in,
						    .in_len = v->runs[i]->in_len };

		r = shown_runs_add(&s->runs, v->head.number, &declared, &run);
	}
	for (i = 0; i < v->n_devices && r == 0; i++)
		r = local_show_device(s, &v->devices[i]);
	return r;
}

/* What was acknowledged is not thrown away without a word, though nobody can tell it from what was not. */
static void keep_rest(struct local_store *s, uint32_t number, const struct log_scan *scan)
{
	uint64_t at = s->view->size, len = scan->len - at;
	char name[STORE_LOG_NAME];

	if (s->options.read_only || !len || !log_scan_finds(scan, at + 1))
		return;
	if (local_save_rest(s, number, scan->data + at, (size_t)len) == 0)
		local_say(s,
			  "log file %u is damaged at %llu and ends there now; the %llu bytes "
			  "behind it, with whole records, are kept in log/%s",
			  number, (unsigned long long)at, (unsigned long long)len,
			  local_rest_name(number, name));
	else
		local_say(
			s,
			"log file %u is damaged at %llu and ends there now; %llu bytes with whole "
			"records are lost",
			number, (unsigned long long)at, (unsigned long long)len);
}

static void count_damage(void *context, uint64_t offset, uint64_t len, const char *what)
{
	struct local_store *s = context;

	(void)what;
	if (!s->found.places++)
		local_say(s,
			  "log file %u is damaged at %llu; what is sound before and behind that is "
			  "kept, what is lost is in the ledger",
			  s->damaged, (unsigned long long)offset);
	s->found.bytes += len;
}

/* Behind what was durable, whole records stay up to the first place that is none: there a write was
 * broken off. */
static int cut_unfinished(struct local_store *s, const struct log_scan *scan, struct error *e)
{
	uint64_t at = scan->mark ? scan->mark->len : scan->len;
	char name[STORE_LOG_NAME];
	_cleanup_close_ int fd = -1;
	struct log_record r;

	if (at >= scan->len || s->options.read_only)
		return 0;
	while (at < scan->len &&
	       log_record_decode(scan->data + at, (size_t)(scan->len - at), &r) == WIRE_OK)
		at += r.len;
	if (at == scan->len)
		return 0;
	fd = openat(s->log_fd, local_log_name(scan->number, name), O_WRONLY | O_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)at) < 0 || fdatasync(fd) < 0)
		return error_set(e, errno, "cannot write %s: %s", name, strerror(errno));
	return 0;
}

/* What was durable is damaged: it is read around that, as full files are, and nothing is written to
 * it any more. */
static int keep_damaged(struct local_store *s, struct log_scan scan, struct error *e)
{
	CLEANUP(log_view) struct log_view *v = NULL;
	int r;

	scan.to_the_end = true;
	scan.on_damage = count_damage;
	scan.context = s;
	s->damaged = scan.number;
	r = log_view_scan(&v, &scan, e);
	return r < 0 ? r : cut_unfinished(s, &scan, e);
}

/* Whether bytes of the last file that were durable are damaged or gone. Without a mark, for the file
 * is of an older collector or the mark is damaged, whole records behind the place are the sign: what
 * was not acknowledged and is kept makes no difference but a gap that is told. */
static bool is_damaged(const struct local_store *s, const struct log_scan *scan)
{
	uint64_t sound = s->view ? s->view->size : 0;

	if (scan->mark)
		return sound < scan->mark->len;
	return s->view ? sound < scan->len && log_scan_finds(scan, sound + 1)
		       : scan->len > LOG_HEAD_LEN;
}

static int settle_scan(struct local_store *s, struct log_scan *scan, bool *ret_full,
		       struct error *e)
{
	int r;

	*ret_full = is_damaged(s, scan);
	if (!*ret_full && s->view)
		keep_rest(s, scan->number, scan);
	if (!*ret_full) {
		if (s->view && !s->options.read_only)
			local_open_mark(s, scan);
		return 0;
	}
	r = keep_damaged(s, *scan, e);
	log_view_free(s->view);
	s->view = NULL;
	return r;
}

/* Reads the last file; *ret_full if it must be left as it is, and another one follow it. */
static int recover_last(struct local_store *s, uint32_t number, bool *ret_full, struct error *e)
{
	__attribute__((cleanup(local_unmap_mark))) struct marked marked = { 0 };
	CLEANUP(mapping) struct mapping *log = NULL;
	struct log_scan scan = { .number = number };
	int r;

	*ret_full = false;
	scan.mark = local_map_mark(s, number, &marked);
	r = local_map_log(s, number, &log, e);
	if (r < 0)
		return r;
	scan.data = log->data;
	scan.len = log->len;
	r = log_view_scan(&s->view, &scan, e);
	/* Nothing is cut off because a disk has a bad moment. */
	if (mapping_is_torn(log))
		return local_check_log(log, number, e);
	return r < 0 && r != -EBADMSG ? r : settle_scan(s, &scan, ret_full, e);
}

static int open_last(struct local_store *s, uint32_t number, struct error *e)
{
	char name[STORE_LOG_NAME];
	struct log_file *f;
	int r = local_add_log_file(s, number, s->view->size, &f);

	if (r < 0)
		return error_set(e, r, "out of memory");
	f->last_ns = s->view->last_ns;
	s->active = f;
	if (s->options.read_only)
		return 0;
	s->fd = openat(s->log_fd, local_log_name(number, name), O_RDWR | O_CLOEXEC);
	if (s->fd < 0 || ftruncate(s->fd, (off_t)f->size) < 0 || fdatasync(s->fd) < 0)
		return error_set(e, errno, "cannot write %s: %s", name, strerror(errno));
	return 0;
}

/* --- all together --- */

static int load_files(struct local_store *s, const struct numbers *logs, bool *ret_full,
		      struct error *e)
{
	size_t i, n = logs->n;
	int r = n ? recover_last(s, logs->list[n - 1], ret_full, e) : 0;

	if (n && !*ret_full)
		n--;
	for (i = 0; i < n && r == 0; i++)
		r = add_full_file(s, logs->list[i], e);
	if (r == 0)
		r = open_catalog(s, e);
	if (r == 0)
		r = catalog_runs(s->catalog, show_row, s, e);
	if (r == 0)
		r = catalog_devices(s->catalog, show_device, s, e);
	return r;
}

static uint32_t lowest_free_run(const struct local_store *s)
{
	const struct shown_run *run;
	uint32_t next = s->view->head.next_run ? s->view->head.next_run : 1;
	size_t at = 0;

	while ((run = hashtable_next(&s->runs.by_number, &at)))
		if (run->number >= next)
			next = run->number + 1;
	return next;
}

/* The file that new records go to: the last one, or one behind it. */
static int settle_last(struct local_store *s, uint32_t last, bool full, struct error *e)
{
	const struct log_head nothing = { .number = last + 1, .next_run = 1 };
	struct log_view *v;

	if (s->view)
		return open_last(s, last, e);
	v = log_view_new(&nothing);
	if (!v)
		return error_set(e, ENOMEM, "out of memory");
	s->view = v; /* for what the runs say of the next free number */
	if (s->options.read_only)
		return 0;
	v->head.next_run = lowest_free_run(s);
	s->view = NULL;
	s->put.next_run = v->head.next_run;
	log_view_free(v);
	return local_rotate(s, last + full, s->put.next_run, e);
}

static bool is_open(const struct local_store *s, const struct shown_run *run)
{
	const struct view_run *live = log_view_run(s->view, run->number);

	return live ? !live->state.ended && !live->state.closed : !run->facts.ended;
}

static int fill_put_side(struct local_store *s)
{
	const struct store_device *d;
	const struct shown_run *run;
	size_t at = 0;
	int r = 0;

	s->put.file = s->view->head.number;
	s->put.offset = s->view->size;
	s->put.blocks = s->view->n_blocks;
	s->put.next_run = lowest_free_run(s);
	while (r == 0 && (d = hashtable_next(&s->devices, &at)))
		r = put_side_add_device(s, d);
	for (at = 0; r == 0 && (run = hashtable_next(&s->runs.by_number, &at));)
		r = put_side_add_run(s, &run->ids.device, run->number, is_open(s, run));
	return r;
}

/* Runs whose first files are gone. */
static int cut_runs(struct local_store *s)
{
	struct shown_run *run;
	size_t at = 0;
	int r = 0;

	while (r == 0 && (run = hashtable_next(&s->runs.by_number, &at))) {
		struct cut_search c = { .run = run->number, .in = run->in, .in_len = run->in_len };
		const struct run_before before = { c.in, c.in_len, &c.cuts };

		if (!run->in_totals.streams)
			continue;
		r = local_find_cuts(s, &c);
		if (r == 0)
			r = shown_run_shorten(run, 0, &before);
		cuts_done(&c.cuts);
	}
	return r;
}

static int load(struct local_store *s, struct error *e)
{
	__attribute__((cleanup(numbers_done))) struct numbers logs = { 0 };
	bool full = false;
	int r = list_logs(s, &logs, e);

	if (r == 0)
		r = load_files(s, &logs, &full, e);
	if (r == 0)
		r = settle_last(s, logs.n ? logs.list[logs.n - 1] : 1, full, e);
	if (r < 0)
		return r;
	r = show_view(s);
	if (r == 0)
		r = cut_runs(s);
	if (r == 0)
		r = fill_put_side(s);
	return r < 0 ? error_set(e, r, "cannot list the runs: %s", strerror(-r)) : 0;
}

static void set_options(struct local_store *s, const struct store_options *o)
{
	if (o)
		s->options = *o;
	if (!s->options.file_bytes)
		s->options.file_bytes = STORE_FILE_BYTES;
	if (!s->options.file_blocks)
		s->options.file_blocks = STORE_FILE_BLOCKS;
	if (s->options.file_bytes > STORE_FILE_BYTES_MOST)
		s->options.file_bytes = STORE_FILE_BYTES_MOST;
	if (!s->options.batch_bytes)
		s->options.batch_bytes = STORE_BATCH_BYTES;
}

static int init(struct local_store *s)
{
	condition_init(&s->committed);
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->retain_lock, NULL);
	shown_runs_init(&s->runs);
	hashtable_init(&s->devices, STORE_DEVICES_MAX);
	s->dir_fd = s->log_fd = s->lock_fd = s->fd = s->mark_fd = -1;
	s->version = 1;
	s->spare = batch_new();
	return put_side_init(&s->put) < 0 || !s->spare ? -ENOMEM : 0;
}

static const struct store_ops local_ops = {
	.free = local_free,
	.device = local_device,
	.take_run = local_take_run,
	.find_run = local_find_run,
	.next_sequences = local_next_sequences,
	.put = local_put,
	.end = local_end,
	.note = local_note,
	.commit = local_commit,
	.puts = local_puts,
	.waiting = local_waiting,
	.settle = local_settle,
	.retain = local_retain,
	.devices = local_devices,
	.runs = local_runs,
	.get_run = local_get_run,
	.ledger = local_ledger,
	.get_clock = local_get_clock,
	.wait = local_wait,
	.damage = local_damage,
	.space = local_space,
	.check = local_check,
	.open_reader = local_open_reader,
};

int local_open(struct store **ret, const char *dir, const struct store_options *o, struct error *e)
{
	struct local_store *s = calloc(1, sizeof(*s));
	CLEANUP(store) struct store *store = (struct store *)s;
	int r;

	if (!s)
		return error_set(e, ENOMEM, "cannot open %s: out of memory", dir);
	s->store.ops = &local_ops;
	r = init(s);
	s->dir = strdup(dir);
	if (r < 0 || !s->dir)
		return error_set(e, ENOMEM, "cannot open %s: out of memory", dir);
	set_options(s, o);
	r = open_folder(s, e);
	if (r == 0)
		r = lock_folder(s, e);
	if (r < 0)
		return r;
	r = load(s, e);
	if (r < 0)
		return error_prefix(e, r, "cannot open the store %s", dir);
	*ret = take_ptr(store);
	return 0;
}

void local_free(struct store *store)
{
	struct local_store *s = local_get(store);
	struct store_device *d;
	size_t at = 0;

	if (s->catalog && s->active && !s->options.read_only)
		local_settle(store, NULL); /* or whoever opens it next does */
	put_side_done(&s->put);
	batch_free(s->pending);
	batch_free(s->spare);
	shown_runs_done(&s->runs);
	while ((d = hashtable_next(&s->devices, &at)))
		free(d);
	hashtable_done(&s->devices);
	for (at = 0; at < s->n_files; at++) {
		log_index_free(s->files[at]->index);
		free(s->files[at]);
	}
	free(s->files);
	log_view_free(s->view);
	catalog_free(s->catalog);
	if (s->mark_fd >= 0)
		fdatasync(s->mark_fd);
	cleanup_closep(&s->mark_fd);
	cleanup_closep(&s->fd);
	cleanup_closep(&s->lock_fd);
	cleanup_closep(&s->log_fd);
	cleanup_closep(&s->dir_fd);
	pthread_cond_destroy(&s->committed);
	pthread_mutex_destroy(&s->retain_lock);
	pthread_mutex_destroy(&s->lock);
	free(s->dir);
	free(s);
}
