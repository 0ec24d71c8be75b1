/* SPDX-License-Identifier: MIT */
/*
 * log_index: see log_index.h.
 *
 * Head, then the tables of runs (sorted by number), streams, rows, keys, ledger (by run) and
 * devices, then the encoded states and devices. Tables have entries of fixed size, so that a reader
 * goes to what it needs and touches nothing else.
 */
#include "store/log_index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "store/checksum.h"

#define RUN_LEN 104U
#define STREAM_LEN 20U
#define ROW_LEN 4U
#define KEY_LEN 12U
#define LOSS_LEN 36U
#define DEVICE_LEN 8U
#define CRC_FROM 16U

/* --- writing --- */

struct index_maker {
	uint8_t *data;
	size_t len, room;
	uint32_t n_streams, n_rows, n_keys;
	uint8_t *runs, *streams, *rows, *keys, *losses, *devices;
	uint8_t *blobs; /* where the next one goes */
	uint32_t streams_done, rows_done, keys_done, losses_done;
};

static int by_number(const void *a, const void *b)
{
	uint32_t x = (*(struct view_run *const *)a)->number;
	uint32_t y = (*(struct view_run *const *)b)->number;

	return (x > y) - (x < y);
}

static int measure(struct index_maker *m, const struct log_view *v)
{
	uint64_t len = INDEX_HEAD_LEN, blobs = 0, n_streams = 0, n_rows = 0, n_keys = 0;
	size_t i, k;

	for (i = 0; i < v->n_runs; i++) {
		const struct view_run *r = v->runs[i];

		n_streams += r->n;
		for (k = 0; k < r->n; k++) {
			n_rows += r->streams[k].rows.n;
			n_keys += r->streams[k].keys.n;
		}
		blobs += r->in_len + RUN_STATE_ROOM(r->state.n);
	}
	len += v->n_runs * RUN_LEN + n_streams * STREAM_LEN + n_rows * ROW_LEN + n_keys * KEY_LEN;
	len += v->n_losses * LOSS_LEN + v->n_devices * (DEVICE_LEN + LOG_DEVICE_ROOM) + blobs;
	if (len > UINT32_MAX)
		return -EFBIG;
	m->room = (size_t)len;
	m->n_streams = (uint32_t)n_streams;
	m->n_rows = (uint32_t)n_rows;
	m->n_keys = (uint32_t)n_keys;
	return 0;
}

static void place_tables(struct index_maker *m, const struct log_view *v)
{
	m->runs = m->data + INDEX_HEAD_LEN;
	m->streams = m->runs + v->n_runs * RUN_LEN;
	m->rows = m->streams + (size_t)m->n_streams * STREAM_LEN;
	m->keys = m->rows + (size_t)m->n_rows * ROW_LEN;
	m->losses = m->keys + (size_t)m->n_keys * KEY_LEN;
	m->devices = m->losses + v->n_losses * LOSS_LEN;
	m->blobs = m->devices + v->n_devices * DEVICE_LEN;
}

static void put_stream(struct index_maker *m, const struct view_stream *s)
{
	uint8_t *p = m->streams + (size_t)m->streams_done++ * STREAM_LEN;
	struct rows_walk rows = { 0 };
	struct keys_walk keys = { 0 };
	struct view_key key;
	uint32_t row;

	put_le32(p, s->stream);
	put_le32(p + 4, m->rows_done);
	put_le32(p + 8, s->rows.n);
	put_le32(p + 12, m->keys_done);
	put_le32(p + 16, s->keys.n);
	while (view_rows_next(&s->rows, &rows, &row))
		put_le32(m->rows + (size_t)m->rows_done++ * ROW_LEN, row);
	while (view_keys_next(&s->keys, &keys, &key)) {
		p = m->keys + (size_t)m->keys_done++ * KEY_LEN;
		put_le64(p, key.tick);
		put_le32(p + 8, key.row);
	}
}

static void put_loss(uint8_t *p, const struct store_loss *l)
{
	put_le32(p, l->run);
	put_le32(p + 4, l->stream);
	put_le32(p + 8, l->cause);
	put_le64(p + 12, l->from_tick);
	put_le64(p + 20, l->to_tick);
	put_le64(p + 28, l->count);
}

static void put_losses(struct index_maker *m, const struct view_run *r)
{
	struct losses_walk walk = { 0 };
	struct store_loss row;

	while (view_losses_next(&r->losses, &walk, &row)) {
		row.run = r->number;
		put_loss(m->losses + (size_t)m->losses_done++ * LOSS_LEN, &row);
	}
}

static void put_run(struct index_maker *m, const struct view_run *r, uint8_t *p)
{
	size_t out_len, i;

	put_le32(p, r->number);
	put_le32(p + 4, r->has_tick);
	memcpy(p + 8, &r->ids.device, 16);
	memcpy(p + 24, &r->ids.run, 16);
	memcpy(p + 40, &r->ids.boot, 16);
	put_le64(p + 56, r->from_tick);
	put_le64(p + 64, r->to_tick);
	put_le32(p + 72, (uint32_t)(m->blobs - m->data));
	put_le32(p + 76, (uint32_t)r->in_len);
	memcpy(m->blobs, r->in, r->in_len);
	m->blobs += r->in_len;
	out_len = run_state_encode(&r->state, m->blobs);
	put_le32(p + 80, (uint32_t)(m->blobs - m->data));
	put_le32(p + 84, (uint32_t)out_len);
	m->blobs += out_len;
	put_le32(p + 88, m->streams_done);
	put_le32(p + 92, (uint32_t)r->n);
	for (i = 0; i < r->n; i++)
		put_stream(m, &r->streams[i]);
	put_le32(p + 96, m->losses_done);
	put_le32(p + 100, r->losses.n);
	put_losses(m, r);
}

static void put_devices(struct index_maker *m, const struct log_view *v)
{
	size_t i, len;

	for (i = 0; i < v->n_devices; i++) {
		len = log_device_encode(m->blobs, &v->devices[i]);
		put_le32(m->devices + i * DEVICE_LEN, (uint32_t)(m->blobs - m->data));
		put_le32(m->devices + i * DEVICE_LEN + 4, (uint32_t)len);
		m->blobs += len;
	}
}

static void put_head(struct index_maker *m, const struct log_view *v)
{
	uint8_t *p = m->data;

	memcpy(p, INDEX_MAGIC, 8);
	p[8] = INDEX_VERSION;
	put_le32(p + 16, v->head.number);
	put_le32(p + 20, v->head.next_run);
	put_le64(p + 24, v->size);
	put_le64(p + 32, v->head.time_ns);
	put_le64(p + 40, v->last_ns);
	put_le32(p + 48, (uint32_t)v->n_runs);
	put_le32(p + 52, m->n_streams);
	put_le32(p + 56, m->n_rows);
	put_le32(p + 60, m->n_keys);
	put_le32(p + 64, (uint32_t)v->n_losses);
	put_le32(p + 68, (uint32_t)v->n_devices);
	put_le32(p + 12, checksum_crc32c(0, p + CRC_FROM, m->len - CRC_FROM));
}

static void put_tables(struct index_maker *m, const struct log_view *v, struct view_run **runs)
{
	size_t i;

	if (v->n_runs) {
		memcpy(runs, v->runs, v->n_runs * sizeof(*runs));
		qsort(runs, v->n_runs, sizeof(*runs), by_number);
	}
	for (i = 0; i < v->n_runs; i++)
		put_run(m, runs[i], m->runs + i * RUN_LEN);
	put_devices(m, v);
}

/* --- reading --- */

static bool take_table(struct log_index *x, size_t *at, uint32_t n, size_t size,
		       const uint8_t **ret)
{
	if (n > (x->len - *at) / size)
		return false;
	*ret = x->data + *at;
	*at += n * size;
	return true;
}

static bool is_within(uint32_t first, uint32_t n, uint32_t all)
{
	return first <= all && n <= all - first;
}

static bool check_run(const struct log_index *x, const uint8_t *p)
{
	return is_within(get_le32(p + 72), get_le32(p + 76), (uint32_t)x->len) &&
	       is_within(get_le32(p + 80), get_le32(p + 84), (uint32_t)x->len) &&
	       is_within(get_le32(p + 88), get_le32(p + 92), x->n_streams) &&
	       is_within(get_le32(p + 96), get_le32(p + 100), x->n_losses);
}

static bool check_stream(const struct log_index *x, const uint8_t *p)
{
	return is_within(get_le32(p + 4), get_le32(p + 8), x->n_rows) &&
	       is_within(get_le32(p + 12), get_le32(p + 16), x->n_keys);
}

static int check_entries(const struct log_index *x)
{
	uint32_t i;

	for (i = 0; i < x->n_runs; i++)
		if (!check_run(x, x->runs + (size_t)i * RUN_LEN))
			return -EBADMSG;
	for (i = 0; i < x->n_streams; i++)
		if (!check_stream(x, x->streams + (size_t)i * STREAM_LEN))
			return -EBADMSG;
	for (i = 0; i < x->n_devices; i++)
		if (!is_within(get_le32(x->devices + (size_t)i * DEVICE_LEN),
			       get_le32(x->devices + (size_t)i * DEVICE_LEN + 4), (uint32_t)x->len))
			return -EBADMSG;
	return 0;
}

static int check_losses(const struct log_index *x)
{
	uint32_t i;

	for (i = 0; i < x->n_losses; i++)
		if (get_le32(x->losses + (size_t)i * LOSS_LEN + 8) >= LOSS_CAUSES)
			return -EBADMSG;
	return 0;
}

static bool has_right_checksum(const struct log_index *x)
{
	return get_le32(x->data + 12) == checksum_crc32c(0, x->data + CRC_FROM, x->len - CRC_FROM);
}

/* Of one that is sound only the places are checked. */
static int load(struct log_index *x, bool sound)
{
	const uint8_t *p = x->data;
	size_t at = INDEX_HEAD_LEN;

	if (x->len < INDEX_HEAD_LEN || x->len > UINT32_MAX || memcmp(p, INDEX_MAGIC, 8) ||
	    (p[8] != INDEX_VERSION && p[8] != INDEX_VERSION_FIRST) ||
	    (!sound && !has_right_checksum(x)))
		return -EBADMSG;
	x->number = get_le32(p + 16);
	x->next_run = get_le32(p + 20);
	x->log_size = get_le64(p + 24);
	x->first_ns = get_le64(p + 32);
	x->last_ns = get_le64(p + 40);
	x->n_runs = get_le32(p + 48);
	x->n_streams = get_le32(p + 52);
	x->n_rows = get_le32(p + 56);
	x->n_keys = get_le32(p + 60);
	x->n_losses = get_le32(p + 64);
	x->n_devices = get_le32(p + 68);
	if (!take_table(x, &at, x->n_runs, RUN_LEN, &x->runs) ||
	    !take_table(x, &at, x->n_streams, STREAM_LEN, &x->streams) ||
	    !take_table(x, &at, x->n_rows, ROW_LEN, &x->rows) ||
	    !take_table(x, &at, x->n_keys, KEY_LEN, &x->keys) ||
	    !take_table(x, &at, x->n_losses, LOSS_LEN, &x->losses) ||
	    !take_table(x, &at, x->n_devices, DEVICE_LEN, &x->devices))
		return -EBADMSG;
	return !sound && check_losses(x) < 0 ? -EBADMSG : check_entries(x);
}

int log_index_new(struct log_index **ret, const struct log_view *v)
{
	_cleanup_free_ struct view_run **runs = calloc(v->n_runs + 1, sizeof(*runs));
	CLEANUP(log_index) struct log_index *x = calloc(1, sizeof(*x));
	struct index_maker m = { 0 };
	int r = runs && x ? measure(&m, v) : -ENOMEM;

	if (r < 0)
		return r;
	m.data = mmap(NULL, m.room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m.data == MAP_FAILED)
		return -ENOMEM;
	place_tables(&m, v);
	put_tables(&m, v, runs);
	m.len = (size_t)(m.blobs - m.data);
	put_head(&m, v);
	x->data = m.data;
	x->len = m.len;
	x->map_len = m.room;
	r = load(x, true);
	if (r == 0)
		*ret = take_ptr(x);
	return r;
}

int log_index_open_memory(struct log_index **ret, uint8_t *bytes, size_t len)
{
	CLEANUP(log_index) struct log_index *x = calloc(1, sizeof(*x));
	int r;

	if (!x) {
		free(bytes);
		return -ENOMEM;
	}
	x->data = x->owned = bytes;
	x->len = len;
	r = load(x, false);
	if (r == 0)
		*ret = take_ptr(x);
	return r;
}

int log_index_open(struct log_index **ret, int dir_fd, const char *name, bool sound)
{
	CLEANUP(log_index) struct log_index *x = calloc(1, sizeof(*x));
	_cleanup_close_ int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	int r;

	if (!x)
		return -ENOMEM;
	if (fd < 0)
		return -errno;
	r = mapping_open(&x->file, fd, UINT32_MAX);
	if (r < 0)
		return r;
	x->data = x->file->data;
	x->len = x->file->len;
	r = load(x, sound);
	if (!sound && x->len) /* all of it was read for that; what is wanted of it comes back */
		(void)madvise((void *)x->data, x->len, MADV_DONTNEED);
	if (log_index_check(x, NULL) < 0)
		r = -EIO;
	if (r == 0)
		*ret = take_ptr(x);
	return r;
}

int log_index_check(const struct log_index *x, struct error *e)
{
	if (!mapping_is_torn(x->file))
		return 0;
	return error_set(e, EIO, "cannot read the index of log file %u: the disk does not give it",
			 x->number);
}

void log_index_free(struct log_index *x)
{
	if (!x)
		return;
	if (x->map_len)
		munmap((void *)x->data, x->map_len);
	mapping_close(x->file);
	free(x->owned);
	free(x);
}

void log_index_run_at(const struct log_index *x, uint32_t i, struct index_run *ret)
{
	const uint8_t *p = x->runs + (size_t)i * RUN_LEN;

	ret->number = get_le32(p);
	ret->has_tick = get_le32(p + 4) & 1;
	memcpy(&ret->ids.device, p + 8, 16);
	memcpy(&ret->ids.run, p + 24, 16);
	memcpy(&ret->ids.boot, p + 40, 16);
	ret->from_tick = get_le64(p + 56);
	ret->to_tick = get_le64(p + 64);
	ret->in = x->data + get_le32(p + 72);
	ret->in_len = get_le32(p + 76);
	ret->out = x->data + get_le32(p + 80);
	ret->out_len = get_le32(p + 84);
	ret->first_stream = get_le32(p + 88);
	ret->n_streams = get_le32(p + 92);
	ret->first_loss = get_le32(p + 96);
	ret->n_losses = get_le32(p + 100);
}

bool log_index_run(const struct log_index *x, uint32_t number, struct index_run *ret)
{
	uint32_t lo = 0, hi = x->n_runs, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (get_le32(x->runs + (size_t)mid * RUN_LEN) < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == x->n_runs || get_le32(x->runs + (size_t)lo * RUN_LEN) != number)
		return false;
	log_index_run_at(x, lo, ret);
	return true;
}

void log_index_stream_at(const struct log_index *x, const struct index_run *r, uint32_t i,
			 struct index_stream *ret)
{
	const uint8_t *p = x->streams + ((size_t)r->first_stream + i) * STREAM_LEN;

	ret->stream = get_le32(p);
	ret->rows = x->rows + (size_t)get_le32(p + 4) * ROW_LEN;
	ret->n = get_le32(p + 8);
	ret->keys = x->keys + (size_t)get_le32(p + 12) * KEY_LEN;
	ret->n_keys = get_le32(p + 16);
}

bool log_index_stream(const struct log_index *x, const struct index_run *r, uint32_t stream,
		      struct index_stream *ret)
{
	uint32_t lo = 0, hi = r->n_streams, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		log_index_stream_at(x, r, mid, ret);
		if (ret->stream == stream)
			return true;
		if (ret->stream < stream)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

void log_index_loss_at(const struct log_index *x, uint32_t i, struct store_loss *ret)
{
	const uint8_t *p = x->losses + (size_t)i * LOSS_LEN;

	ret->run = get_le32(p);
	ret->stream = get_le32(p + 4);
	/* A disk may have changed it since it was found sound. */
	ret->cause = get_le32(p + 8) < LOSS_CAUSES ? p[8] : LOSS_STORE;
	ret->from_tick = get_le64(p + 12);
	ret->to_tick = get_le64(p + 20);
	ret->count = get_le64(p + 28);
}

int log_index_device_at(const struct log_index *x, uint32_t i, struct store_device *ret)
{
	const uint8_t *p = x->devices + (size_t)i * DEVICE_LEN;

	return log_device_decode(ret, x->data + get_le32(p), get_le32(p + 4));
}
