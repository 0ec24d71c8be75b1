/* SPDX-License-Identifier: MIT */
/*
 * local_files: the log files on the disk, and what the shown side knows of them (local_parts.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/array.h"
#include "store/local_parts.h"

const char *local_log_name(uint32_t number, char out[STORE_LOG_NAME])
{
	snprintf(out, STORE_LOG_NAME, "%08u.klog", number);
	return out;
}

const char *local_index_name(uint32_t number, char out[STORE_LOG_NAME])
{
	snprintf(out, STORE_LOG_NAME, "%08u.kidx", number);
	return out;
}

const char *local_mark_name(uint32_t number, char out[STORE_LOG_NAME])
{
	snprintf(out, STORE_LOG_NAME, "%08u.kmark", number);
	return out;
}

const char *local_rest_name(uint32_t number, char out[STORE_LOG_NAME])
{
	snprintf(out, STORE_LOG_NAME, "%08u.rest", number);
	return out;
}

void local_say(const struct local_store *s, const char *format, ...)
{
	char line[256];
	va_list list;

	if (!s->options.say)
		return;
	va_start(list, format);
	vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	s->options.say(s->options.say_context, line);
}

int local_map_log(struct local_store *s, uint32_t number, struct mapping **ret, struct error *e)
{
	char name[STORE_LOG_NAME];
	_cleanup_close_ int fd =
		openat(s->log_fd, local_log_name(number, name), O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : mapping_open(ret, fd, SIZE_MAX);

	return r < 0 ? error_set(e, r, "cannot read %s: %s", name, strerror(-r)) : 0;
}

int local_check_log(const struct mapping *log, uint32_t number, struct error *e)
{
	char name[STORE_LOG_NAME];

	if (!mapping_is_torn(log))
		return 0;
	return error_set(e, EIO, "cannot read log/%s: the disk does not give all of it",
			 local_log_name(number, name));
}

int local_make_index(struct local_store *s, uint32_t number, struct log_index **ret,
		     struct error *e)
{
	CLEANUP(mapping) struct mapping *log = NULL;
	CLEANUP(log_view) struct log_view *v = NULL;
	__attribute__((cleanup(local_unmap_mark))) struct marked marked = { 0 };
	struct log_scan scan = { .to_the_end = true, .number = number };
	struct error why = ERROR_INIT;
	int r;

	scan.mark = local_map_mark(s, number, &marked);
	r = local_map_log(s, number, &log, e);
	if (r < 0)
		return r;
	scan.data = log->data;
	scan.len = log->len;
	r = log_view_scan(&v, &scan, e);
	if (r < 0)
		return error_prefix(e, r, "cannot read log file %u", number);
	v->size = log->len;
	r = log_index_new(ret, v);
	if (r < 0)
		return error_set(e, r, "cannot index log file %u: %s", number, strerror(-r));
	/* What can be read is not kept from anybody by what cannot. */
	(*ret)->lacks = local_check_log(log, number, &why) < 0;
	if ((*ret)->lacks)
		local_say(s, "%s; what lacks counts as lost", why.text);
	return 0;
}

static int write_file(int dir_fd, const char *name, const uint8_t *data, size_t len)
{
	_cleanup_close_ int fd =
		openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	ssize_t n;

	if (fd < 0)
		return -errno;
	while (len) {
		n = write(fd, data, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

bool local_save_index(struct local_store *s, const struct log_index *x)
{
	char name[STORE_LOG_NAME], partial[STORE_LOG_NAME + 8];

	/* Another time the disk may give all of the log. */
	if (s->options.read_only || x->lacks)
		return false;
	local_index_name(x->number, name);
	snprintf(partial, sizeof(partial), "%s.new", name);
	if (write_file(s->log_fd, partial, x->data, x->len) == 0 &&
	    renameat(s->log_fd, partial, s->log_fd, name) == 0)
		return true;
	unlinkat(s->log_fd, partial, 0);
	return false;
}

int local_save_rest(struct local_store *s, uint32_t number, const uint8_t *data, size_t len)
{
	char name[STORE_LOG_NAME];

	return write_file(s->log_fd, local_rest_name(number, name), data, len);
}

void local_unlink_file(struct local_store *s, uint32_t number)
{
	char name[STORE_LOG_NAME];

	/* First the mark: without it nobody misses the log. */
	unlinkat(s->log_fd, local_mark_name(number, name), 0);
	unlinkat(s->log_fd, local_rest_name(number, name), 0);
	unlinkat(s->log_fd, local_log_name(number, name), 0);
	unlinkat(s->log_fd, local_index_name(number, name), 0);
}

/* --- the shown side --- */

int local_add_log_file(struct local_store *s, uint32_t number, uint64_t size, struct log_file **ret)
{
	struct log_file *f = calloc(1, sizeof(*f));
	int r = array_grow(&s->files, s->n_files, &s->room_files, sizeof(*s->files), LOG_FILES_MAX);

	if (!f || r < 0) {
		free(f);
		return r < 0 ? r : -ENOMEM;
	}
	f->number = number;
	f->size = size;
	s->files[s->n_files++] = f;
	*ret = f;
	return 0;
}

struct log_file *local_find_file(struct local_store *s, uint32_t number)
{
	size_t lo = 0, hi = s->n_files, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s->files[mid]->number < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->n_files && s->files[lo]->number == number ? s->files[lo] : NULL;
}

static bool is_device(const void *entry, const void *key)
{
	return !memcmp(&((const struct store_device *)entry)->id, key, 16);
}

int local_show_device(struct local_store *s, const struct store_device *d)
{
	uint64_t hash = hashtable_hash_id(d->id.bytes);
	struct store_device *known = hashtable_get(&s->devices, hash, is_device, &d->id);
	int r = 0;

	if (!known) {
		known = calloc(1, sizeof(*known));
		r = known ? hashtable_add(&s->devices, hash, known) : -ENOMEM;
	}
	if (r < 0) {
		free(known);
		return r;
	}
	*known = *d;
	return 0;
}

int local_show_run(struct local_store *s, uint32_t file, const struct index_run *r)
{
	struct shown_run *run;
	int error = shown_runs_add(&s->runs, file, r, &run);

	return error < 0 ? error : shown_run_rest(run, r);
}

int local_show(struct local_store *s, const struct log_record *r, uint32_t offset)
{
	/* A file declares a run once: if the view has it, this record came before, and there was no memory for what follows. */
	struct view_run *live = r->kind == LOG_RUN ? log_view_run(s->view, r->run) : NULL;
	struct index_run declared = { 0 };
	struct store_device d;
	struct shown_run *run;
	int error = live ? 0 : log_view_apply(s->view, r, offset, &live);

	if (error < 0)
		return error;
	if (r->kind == LOG_DEVICE)
		return log_device_decode(&d, r->body, r->body_len) == 0 ? local_show_device(s, &d)
									: -EBADMSG;
	if (r->kind != LOG_RUN)
		return 0;
	declared.number = live->number;
	declared.ids = live->ids;
	declared.in = live->in;
	declared.in_len = live->in_len;
	return shown_runs_add(&s->runs, s->view->head.number, &declared, &run);
}

/* From its file, or else from the log. *sound: what is known of the file, before and after. */
static int open_index(struct local_store *s, const struct log_file *f, bool *sound,
		      struct log_index **ret, struct error *e)
{
	char name[STORE_LOG_NAME];
	struct log_index *x = NULL;
	int r = log_index_open(&x, s->log_fd, local_index_name(f->number, name), *sound);

	if (r == 0 && x->number == f->number && x->log_size == f->size) {
		*sound = true;
		*ret = x;
		return 0;
	}
	log_index_free(x);
	r = local_make_index(s, f->number, ret, e);
	*sound = r == 0 && local_save_index(s, *ret);
	return r;
}

static struct log_index *ref_index(struct log_index *x)
{
	if (x)
		x->refs++;
	return x;
}

/* From now on nobody gets the file's index if it is torn. To be freed, unless somebody still has it. */
static struct log_index *take_torn(struct log_file *f)
{
	struct log_index *x;

	if (!f->index || log_index_check(f->index, NULL) == 0)
		return NULL;
	x = take_ptr(f->index);
	f->sound = false;
	return x->refs ? NULL : x;
}

int local_file_index(struct local_store *s, struct log_file *f, const struct log_index **ret,
		     struct error *e)
{
	struct log_index *x = NULL, *torn;
	bool sound;
	int r;

	pthread_mutex_lock(&s->lock);
	torn = take_torn(f);
	*ret = ref_index(f->index);
	f->asked = ++s->index_asks;
	sound = f->sound;
	pthread_mutex_unlock(&s->lock);
	log_index_free(torn);
	if (*ret)
		return 0;
	r = open_index(s, f, &sound, &x, e);
	if (r < 0)
		return r;
	pthread_mutex_lock(&s->lock);
	f->sound = sound;
	if (!f->index) /* else somebody was faster */
		f->index = take_ptr(x);
	*ret = ref_index(f->index);
	pthread_mutex_unlock(&s->lock);
	log_index_free(x);
	return 0;
}

/* The first full file of which the catalog has no rows, referenced; NULL if there is none. */
static struct log_file *next_to_settle(struct local_store *s, uint32_t after)
{
	struct log_file *f = NULL;
	size_t i;

	pthread_mutex_lock(&s->lock);
	for (i = 0; !f && i + 1 < s->n_files; i++)
		if (s->files[i]->number > after && !s->files[i]->catalogued)
			f = s->files[i];
	if (f)
		f->refs++;
	pthread_mutex_unlock(&s->lock);
	return f;
}

int local_settle(struct store *store, struct error *e)
{
	struct local_store *s = local_get(store);
	const struct log_index *x;
	struct log_file *f;
	uint32_t after = 0;
	bool saved, lacks;
	int r = s->options.read_only ? error_set(e, EROFS, "the store is open for reading only")
				     : 0;

	pthread_mutex_lock(&s->retain_lock);
	while (r == 0 && (f = next_to_settle(s, after))) {
		after = f->number;
		x = NULL;
		r = local_file_index(s, f, &x, e);
		saved = r == 0 && local_save_index(s, x);
		lacks = r == 0 && x->lacks;
		if (r == 0 && !lacks)
			r = catalog_add_file(s->catalog, x, e);
		pthread_mutex_lock(&s->lock);
		f->catalogued = r == 0 && !lacks;
		f->sound |= saved;
		pthread_mutex_unlock(&s->lock);
		if (x)
			r = local_unref_index(s, f, x, r, e);
		local_unref_file(s, f);
	}
	pthread_mutex_unlock(&s->retain_lock);
	return r;
}

/* The run's next full file that its cuts have not taken, or NULL. */
static struct log_file *next_to_cut(struct local_store *s, struct cut_search *c)
{
	const struct shown_run *run;
	struct log_file *f = NULL;
	size_t i;

	pthread_mutex_lock(&s->lock);
	c->live = s->view->head.number;
	run = shown_runs_get(&s->runs, c->run);
	for (i = 0; run && !f && i < run->n_files; i++) {
		uint32_t file = run->files[i].file;

		if (file >= c->first && file > c->cuts.file && file < c->live)
			f = local_find_file(s, file);
	}
	pthread_mutex_unlock(&s->lock);
	return f;
}

static int cut_file(struct local_store *s, struct cut_search *c, struct log_file *f)
{
	CLEANUP(mapping) struct mapping *log = NULL;
	const struct log_index *x;
	struct index_run run;
	int r = local_file_index(s, f, &x, NULL);

	if (r < 0)
		return r;
	r = local_map_log(s, f->number, &log, NULL);
	if (r == 0 && !log_index_run(x, c->run, &run))
		c->cuts.file = f->number;
	else if (r == 0) /* what the disk does not give is damaged: the file goes */
		r = cuts_take_index(&c->cuts, x, &run, log->data, log->len);
	return local_unref_index(s, f, x, r, NULL);
}

int local_find_cuts(struct local_store *s, struct cut_search *c)
{
	struct log_file *f;
	int r = cuts_init(&c->cuts, c->in, c->in_len);

	while (r == 0 && (f = next_to_cut(s, c)) && cuts_is_open(&c->cuts))
		r = cut_file(s, c, f);
	if (r < 0)
		cuts_done(&c->cuts);
	return r;
}

/* Takes the index that was asked for longest ago of those that are idle, if there are others and all
 * of them are more than may be kept. One that is in memory though there is a file of it goes at
 * once. The lock is held. */
static struct log_index *take_idle(struct local_store *s)
{
	struct log_file *oldest = NULL, *f;
	const struct log_index *x;
	uint64_t bytes = 0;
	bool must_go = false;
	size_t i, n = 0;

	for (i = 0; i < s->n_files && !must_go; i++) {
		f = s->files[i];
		x = f->index;
		/* Until the catalog has its rows, whoever wants them wants the index. */
		if (!x || x->refs || !f->catalogued)
			continue;
		must_go = !x->file && !s->options.read_only;
		bytes += x->len;
		n++;
		if (must_go || !oldest || f->asked < oldest->asked)
			oldest = f;
	}
	must_go |= n > 1 && bytes > STORE_IDLE_INDEX_BYTES;
	return oldest && must_go ? take_ptr(oldest->index) : NULL;
}

int local_unref_index(struct local_store *s, struct log_file *f, const struct log_index *given,
		      int result, struct error *e)
{
	struct log_index *x = (struct log_index *)given;
	int torn = log_index_check(x, result < 0 ? NULL : e);
	bool idle;

	pthread_mutex_lock(&s->lock);
	idle = !--x->refs;
	if (f->index == x)
		x = take_torn(f);
	else if (!idle)
		x = NULL;
	pthread_mutex_unlock(&s->lock);
	while (idle) {
		log_index_free(x);
		pthread_mutex_lock(&s->lock);
		x = take_idle(s);
		pthread_mutex_unlock(&s->lock);
		idle = x;
	}
	return result < 0 ? result : torn;
}

void local_unref_file(struct local_store *s, struct log_file *f)
{
	bool gone;

	pthread_mutex_lock(&s->lock);
	f->refs--;
	gone = f->doomed && !f->refs;
	pthread_mutex_unlock(&s->lock);
	if (!gone)
		return;
	local_unlink_file(s, f->number);
	log_index_free(f->index);
	free(f);
}
