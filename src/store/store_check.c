/* SPDX-License-Identifier: MIT */
/* store_check: see store_check.h. */
#include "store/store_check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/clickhouse/clickhouse_url.h"
#include "store/local_parts.h"

struct checking {
	uint32_t file;
	uint64_t size;
	uint64_t durable; /* so much of it, as its mark says */
	bool last;
	store_damage_fn fn;
	void *context;
	struct store_counts *counts;
};

static void tell(const struct checking *c, uint64_t offset, uint64_t len, const char *what)
{
	const struct store_damage d = { c->file, offset, len, what };

	c->fn(c->context, &d);
}

static void on_damage(void *context, uint64_t offset, uint64_t len, const char *what)
{
	struct checking *c = context;

	if (c->last && offset + len == c->size && offset && offset >= c->durable)
		c->counts->unfinished += len;
	else
		tell(c, offset, len, what);
}

/* An index of version 1 has other times of losses, and states that lack when a gap began. */
static bool fits(const struct log_index *x, const struct log_index *made)
{
	if (x->data[8] == INDEX_VERSION)
		return x->len == made->len && !memcmp(x->data, made->data, made->len);
	return !memcmp(x->data + 16, made->data + 16, INDEX_HEAD_LEN - 16) &&
	       !memcmp(x->rows, made->rows, (size_t)(made->losses - made->rows));
}

/* One that is missing or unsound is made again and does no harm; one that is sound and says
 * something else would. */
static int check_index(struct local_store *s, const struct checking *c, struct log_view *v)
{
	char name[STORE_LOG_NAME];
	CLEANUP(log_index) struct log_index *made = NULL;
	CLEANUP(log_index) struct log_index *x = NULL;
	int r = log_index_new(&made, v);

	if (r < 0)
		return r;
	if (log_index_open(&x, s->log_fd, local_index_name(c->file, name), false) < 0)
		return 0;
	if (!fits(x, made))
		tell(c, 0, 0, "its index does not fit the log");
	return 0;
}

/* What a collector cut off when it found the file damaged. */
static void check_rest(struct local_store *s, const struct checking *c)
{
	char name[STORE_LOG_NAME];
	struct stat st;

	if (fstatat(s->log_fd, local_rest_name(c->file, name), &st, 0) == 0)
		tell(c, c->size, (uint64_t)st.st_size,
		     "it was cut off here, and the rest kept beside it (.rest)");
}

static int check_file(struct local_store *s, struct checking *c, struct error *e)
{
	CLEANUP(mapping) struct mapping *log = NULL;
	CLEANUP(log_view) struct log_view *v = NULL;
	__attribute__((cleanup(local_unmap_mark))) struct marked marked = { 0 };
	struct log_scan scan = { .to_the_end = true, .on_damage = on_damage, .context = c };
	int r;

	scan.mark = local_map_mark(s, c->file, &marked);
	c->durable = scan.mark ? scan.mark->len : 0;
	r = local_map_log(s, c->file, &log, e);
	if (r < 0)
		return r;
	c->size = scan.len = log->len;
	scan.data = log->data;
	scan.number = c->file;
	r = log_view_scan(&v, &scan, e);
	if (r < 0)
		return error_prefix(e, r, "log file %u", c->file);
	check_rest(s, c);
	if (mapping_is_torn(log))
		tell(c, 0, 0, "the disk does not give all of it");
	if (v->head.number != c->file)
		tell(c, 0, LOG_HEAD_LEN, "the head of another log file");
	v->size = log->len;
	c->counts->files++;
	c->counts->bytes += log->len;
	c->counts->blocks += v->n_blocks;
	r = c->last ? 0 : check_index(s, c, v);
	return r < 0 ? error_set(e, r, "log file %u: %s", c->file, strerror(-r)) : 0;
}

int local_check(struct store *store, store_damage_fn fn, void *context, struct store_counts *ret,
		struct error *e)
{
	struct local_store *s = local_get(store);
	_cleanup_free_ uint32_t *numbers = NULL;
	struct checking c = { .fn = fn, .context = context, .counts = ret };
	size_t n, i;
	int r = 0;

	memset(ret, 0, sizeof(*ret));
	pthread_mutex_lock(&s->lock);
	n = s->n_files;
	numbers = calloc(n + 1, sizeof(*numbers));
	for (i = 0; numbers && i < n; i++)
		numbers[i] = s->files[i]->number;
	pthread_mutex_unlock(&s->lock);
	if (!numbers)
		return error_set(e, ENOMEM, "out of memory");
	for (i = 0; i < n && r == 0; i++) {
		c.file = numbers[i];
		c.last = i + 1 == n;
		r = check_file(s, &c, e);
	}
	return r;
}

int store_check(struct store *s, store_damage_fn fn, void *context, struct store_counts *ret,
		struct error *e)
{
	return s->ops->check(s, fn, context, ret, e);
}

bool store_is_place(const char *dir)
{
	char path[4096];
	struct stat st;

	if (clickhouse_url_is(dir))
		return true;
	if (snprintf(path, sizeof(path), "%s/log", dir) >= (int)sizeof(path))
		return false;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}
