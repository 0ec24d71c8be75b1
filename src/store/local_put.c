/* SPDX-License-Identifier: MIT */
/*
 * local_put: the ingest's side of the store (local_parts.h): what is taken, what is refused, and
 * the records that wait for the next commit.
 *
 * A block costs a lookup, a copy, and the checksum of its record's head. A run is declared in each
 * file before its first record there, with all that is known of it, so that every file can be read
 * when those before it are gone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/array.h"
#include "store/local_parts.h"

#define BATCH_ROOM_LEAST (256U * 1024)
/* Of one device: runs that have not ended. With one more, the oldest counts as one that never will. */
#define OPEN_RUNS_MAX 64U
/* Of one device: all that the store holds, so that it leaves room for others. */
#define DEVICE_RUNS_MAX (1U << 16)
#define SPANS_MAX LOG_FILES_MAX
#define IDS_LEN 48U

static void lock(struct put_side *p)
{
	pthread_mutex_lock(&p->lock);
}

static int unlock(struct put_side *p, int r)
{
	pthread_mutex_unlock(&p->lock);
	return r;
}

struct batch *batch_new(void)
{
	return calloc(1, sizeof(struct batch));
}

void batch_free(struct batch *b)
{
	if (!b)
		return;
	free(b->data);
	free(b->spans);
	free(b);
}

int put_side_init(struct put_side *p)
{
	pthread_mutex_init(&p->lock, NULL);
	hashtable_init(&p->by_number, SHOWN_RUNS_MAX);
	hashtable_init(&p->by_id, SHOWN_RUNS_MAX);
	hashtable_init(&p->devices, STORE_DEVICES_MAX);
	p->filling = batch_new();
	return p->filling ? 0 : -ENOMEM;
}

static void free_run(struct put_run *run)
{
	run_state_done(&run->state);
	free(run);
}

void put_side_done(struct put_side *p)
{
	struct put_device *d;
	struct put_run *run;
	size_t at = 0;

	while ((run = hashtable_next(&p->by_number, &at)))
		free_run(run);
	for (at = 0; (d = hashtable_next(&p->devices, &at));) {
		free(d->open);
		free(d);
	}
	hashtable_done(&p->by_number);
	hashtable_done(&p->by_id);
	hashtable_done(&p->devices);
	batch_free(p->filling);
	pthread_mutex_destroy(&p->lock);
}

/* --- the batch --- */

/* Room for `len` more bytes in the batch, or -EAGAIN at its ceiling. */
static int reserve(struct local_store *s, size_t len, struct error *e)
{
	struct batch *b = s->put.filling;
	size_t wanted = b->room ? b->room : BATCH_ROOM_LEAST;
	uint8_t *grown;

	if (s->put.waiting + len > s->options.batch_bytes)
		return error_set(e, EAGAIN, "%llu bytes wait to be written",
				 (unsigned long long)s->put.waiting);
	if (len <= b->room - b->len)
		return 0;
	while (wanted - b->len < len)
		wanted *= 2;
	grown = realloc(b->data, wanted);
	if (!grown)
		return error_set(e, ENOMEM, "no memory for %zu bytes that wait to be written",
				 wanted);
	b->data = grown;
	b->room = wanted;
	return 0;
}

/* Where the next record of this length goes: perhaps a new file. */
static int place(struct local_store *s, size_t len, struct error *e)
{
	struct put_side *p = &s->put;
	struct batch *b = p->filling;
	bool fresh = (p->offset + len > s->options.file_bytes && p->offset > LOG_HEAD_LEN) ||
		     p->blocks >= s->options.file_blocks;

	if (b->n_spans && !fresh)
		return 0;
	if (array_grow(&b->spans, b->n_spans, &b->room_spans, sizeof(*b->spans), SPANS_MAX) < 0)
		return error_set(e, ENOMEM, "out of memory");
	if (fresh) {
		p->file++;
		p->offset = LOG_HEAD_LEN;
		p->blocks = 0;
		p->wants_sweep = true;
	}
	b->spans[b->n_spans++] = (struct span){
		.file = p->file, .next_run = p->next_run, .offset = p->offset, .at = b->len
	};
	return 0;
}

/* Appends a record for which there is room; the body may lie where it has to go already. */
static void append(struct local_store *s, const struct log_record *r)
{
	struct batch *b = s->put.filling;
	uint8_t *to = b->data + b->len;
	size_t len = LOG_RECORD_HEAD + r->body_len;

	if (r->body_len && r->body != to + LOG_RECORD_HEAD)
		memcpy(to + LOG_RECORD_HEAD, r->body, r->body_len);
	log_record_encode(to, r);
	b->len += len;
	s->put.offset += len;
	s->put.blocks += log_kind_is_block(r->kind);
	s->put.waiting += len;
}

/* --- devices and runs --- */

static bool is_device(const void *entry, const void *key)
{
	return !memcmp(&((const struct put_device *)entry)->device.id, key, 16);
}

static int get_device(struct put_side *p, const struct message_id *id, struct put_device **ret)
{
	uint64_t hash = hashtable_hash_id(id->bytes);
	struct put_device *d = hashtable_get(&p->devices, hash, is_device, id);
	int r;

	if (!d) {
		d = calloc(1, sizeof(*d));
		if (!d)
			return -ENOMEM;
		d->device.id = *id;
		r = hashtable_add(&p->devices, hash, d);
		if (r < 0) {
			free(d);
			return r;
		}
	}
	*ret = d;
	return 0;
}

int put_side_add_device(struct local_store *s, const struct store_device *device)
{
	struct put_device *d;
	int r = get_device(&s->put, &device->id, &d);

	if (r == 0) {
		d->device = *device;
		d->known = true;
	}
	return r;
}

static int add_open(struct put_device *d, uint32_t run)
{
	int r = array_grow(&d->open, d->n_open, &d->room_open, sizeof(*d->open), SHOWN_RUNS_MAX);

	if (r == 0)
		d->open[d->n_open++] = run;
	return r;
}

int put_side_add_run(struct local_store *s, const struct message_id *device, uint32_t run,
		     bool is_open)
{
	struct put_device *d;
	int r = get_device(&s->put, device, &d);

	if (r < 0)
		return r;
	d->runs++;
	return is_open ? add_open(d, run) : 0;
}

static void remove_open(struct put_device *d, uint32_t run)
{
	size_t i;

	for (i = 0; i < d->n_open; i++)
		if (d->open[i] == run) {
			d->open[i] = d->open[--d->n_open];
			return;
		}
}

static void put_device_record(struct local_store *s, struct put_device *d, uint64_t now_ns)
{
	struct batch *b = s->put.filling;
	struct log_record r = { .kind = LOG_DEVICE, .time_ns = now_ns };

	r.body = b->data + b->len + LOG_RECORD_HEAD;
	r.body_len = (uint32_t)log_device_encode(b->data + b->len + LOG_RECORD_HEAD, &d->device);
	append(s, &r);
	d->file = s->put.file;
}

int local_device(struct store *store, const struct store_device *device, struct error *e)
{
	struct local_store *s = local_get(store);
	struct put_device *d;
	int r;

	lock(&s->put);
	r = get_device(&s->put, &device->id, &d);
	if (r < 0)
		return unlock(&s->put, error_set(e, r, "cannot note a device: %s", strerror(-r)));
	d->device = *device;
	d->known = true;
	r = reserve(s, LOG_RECORD_HEAD + LOG_DEVICE_ROOM, e);
	if (r == 0)
		r = place(s, LOG_RECORD_HEAD + LOG_DEVICE_ROOM, e);
	if (r == 0)
		put_device_record(s, d, clock_real_ns());
	return unlock(&s->put, r);
}

static bool is_number(const void *entry, const void *key)
{
	return ((const struct put_run *)entry)->number == *(const uint32_t *)key;
}

static bool is_id(const void *entry, const void *key)
{
	return !memcmp(&((const struct put_run *)entry)->ids.run, key, 16);
}

static int add_run(struct put_side *p, struct put_run *run)
{
	uint64_t hash = hashtable_hash_number(run->number);
	int r = hashtable_add(&p->by_number, hash, run);

	if (r == 0) {
		r = hashtable_add(&p->by_id, hashtable_hash_id(run->ids.run.bytes), run);
		if (r < 0)
			hashtable_remove(&p->by_number, hash, run);
	}
	if (r < 0)
		free_run(run);
	return r;
}

/* The state behind the last commit is all there is, for a run that is not on the put side. */
static int load_run(struct local_store *s, const struct shown_run *shown, struct put_run **ret)
{
	const struct view_run *live = log_view_run(s->view, shown->number);
	struct put_run *run = calloc(1, sizeof(*run));
	int r;

	if (!run)
		return -ENOMEM;
	run->number = shown->number;
	run->ids = shown->ids;
	run->file = live ? s->view->head.number : 0;
	run->logged = true;
	r = live ? run_state_dup(&run->state, &live->state)
		 : run_state_decode(&run->state, shown->out, shown->out_len);
	if (r < 0) {
		free(run);
		return r;
	}
	r = add_run(&s->put, run);
	if (r == 0)
		*ret = run;
	return r;
}

int put_side_get_run(struct local_store *s, uint32_t number, struct put_run **ret, struct error *e)
{
	struct put_run *run =
		hashtable_get(&s->put.by_number, hashtable_hash_number(number), is_number, &number);
	const struct shown_run *shown;
	int r = 0;

	if (!run) {
		pthread_mutex_lock(&s->lock);
		shown = shown_runs_get(&s->runs, number);
		r = shown ? load_run(s, shown, &run) : -ENOENT;
		pthread_mutex_unlock(&s->lock);
	}
	if (r < 0)
		return error_set(e, r, "run %u: %s", number,
				 r == -ENOENT ? "there is none" : strerror(-r));
	*ret = run;
	return 0;
}

static int find_run(struct local_store *s, const struct message_id *id, struct put_run **ret)
{
	const struct shown_run *shown;
	int r = 0;

	*ret = hashtable_get(&s->put.by_id, hashtable_hash_id(id->bytes), is_id, id);
	if (*ret)
		return 0;
	pthread_mutex_lock(&s->lock);
	shown = shown_runs_find(&s->runs, id);
	r = shown ? load_run(s, shown, ret) : 0;
	pthread_mutex_unlock(&s->lock);
	return r;
}

/* How many bytes a declaration may need. */
static size_t declaration_room(const struct put_run *run)
{
	return 2 * LOG_RECORD_HEAD + LOG_DEVICE_ROOM + IDS_LEN + RUN_STATE_ROOM(run->state.n);
}

/* Declares the run in the file that the next record goes to, unless it is. There is room. */
static void declare(struct local_store *s, struct put_run *run, uint64_t now_ns)
{
	struct put_device *d =
		hashtable_get(&s->put.devices, hashtable_hash_id(run->ids.device.bytes), is_device,
			      &run->ids.device);
	struct log_record r = { .kind = LOG_RUN, .run = run->number, .time_ns = now_ns };
	uint8_t *body;

	if (run->file == s->put.file)
		return;
	if (d && d->known && d->file != s->put.file)
		put_device_record(s, d, now_ns);
	body = s->put.filling->data + s->put.filling->len + LOG_RECORD_HEAD;
	memcpy(body, &run->ids.device, 16);
	memcpy(body + 16, &run->ids.run, 16);
	memcpy(body + 32, &run->ids.boot, 16);
	r.body = body;
	r.body_len = (uint32_t)(IDS_LEN + run_state_encode(&run->state, body + IDS_LEN));
	append(s, &r);
	run->file = s->put.file;
	run->logged = true;
}

/* Room for a record of this run and what must stand before it, and the place for both. */
static int prepare(struct local_store *s, struct put_run *run, size_t body_len, struct error *e)
{
	size_t len = LOG_RECORD_HEAD + body_len;
	int r = reserve(s, len + declaration_room(run), e);

	return r < 0 ? r : place(s, len, e);
}

int put_side_declare(struct local_store *s, struct put_run *run, struct error *e)
{
	int r = prepare(s, run, 0, e);

	if (r == 0)
		declare(s, run, clock_real_ns());
	return r;
}

static int put_small(struct local_store *s, struct put_run *run, struct log_record *record,
		     struct error *e)
{
	int r = prepare(s, run, record->body_len, e);

	if (r < 0)
		return r;
	record->run = run->number;
	declare(s, run, record->time_ns);
	append(s, record);
	return 0;
}

int put_side_keep(struct local_store *s, struct put_run *run, const uint8_t *bytes, uint32_t len,
		  struct error *e)
{
	struct log_record r = {
		.kind = LOG_KEEP, .body = bytes, .body_len = len, .time_ns = clock_real_ns()
	};

	return put_small(s, run, &r, e);
}

/* No END of it is waited for any more. */
static int close_run(struct local_store *s, struct put_device *d, size_t i, struct error *e)
{
	struct log_record record = { .kind = LOG_CLOSE, .time_ns = clock_real_ns() };
	struct put_run *run;
	int r = put_side_get_run(s, d->open[i], &run, e);

	if (r == 0)
		r = put_small(s, run, &record, e);
	if (r < 0)
		return r;
	run_state_close(&run->state, NULL);
	d->open[i] = d->open[--d->n_open];
	return 0;
}

/* Runs of earlier boots get no END any more. What their kernels' rings held is lost. Once for each
 * boot: what is opened later is of the same. */
static int close_others(struct local_store *s, struct put_device *d, const struct message_id *boot,
			struct error *e)
{
	struct put_run *run;
	size_t i = 0;
	int r = 0;

	if (d->is_closed_for && !memcmp(&d->closed_for, boot, sizeof(*boot)))
		return 0;
	d->is_closed_for = false;
	while (i < d->n_open && r == 0) {
		r = put_side_get_run(s, d->open[i], &run, e);
		if (r == 0 && !memcmp(&run->ids.boot, boot, sizeof(*boot)))
			i++;
		else if (r == 0)
			r = close_run(s, d, i, e);
	}
	d->closed_for = *boot;
	d->is_closed_for = r == 0;
	return r;
}

/* Of more runs than a device can have at work, the oldest was given up. */
static int close_oldest(struct local_store *s, struct put_device *d, struct error *e)
{
	size_t oldest, i;
	int r = 0;

	while (d->n_open >= OPEN_RUNS_MAX && r == 0) {
		for (oldest = i = 0; i < d->n_open; i++)
			if (d->open[i] < d->open[oldest])
				oldest = i;
		r = close_run(s, d, oldest, e);
	}
	return r;
}

/* --- new runs --- */

static uint32_t count_runs(struct local_store *s, const struct put_device *d)
{
	const struct shown_run *run;
	uint32_t n = 0;
	size_t at = 0;

	while ((run = hashtable_next(&s->runs.by_number, &at)))
		n += !memcmp(&run->ids.device, &d->device.id, sizeof(d->device.id));
	return n;
}

/* Retention makes room again: then they are counted anew. */
static int check_limits(struct local_store *s, struct put_device *d, struct error *e)
{
	bool is_full;

	pthread_mutex_lock(&s->lock);
	if (d->runs >= DEVICE_RUNS_MAX && d->counted != s->runs.removals) {
		d->runs = count_runs(s, d);
		d->counted = s->runs.removals;
	}
	is_full = s->runs.by_number.n + s->put.by_number.n >= SHOWN_RUNS_MAX;
	pthread_mutex_unlock(&s->lock);
	if (d->runs >= DEVICE_RUNS_MAX)
		return error_set(e, EDQUOT, "the store holds %u runs of this device, its limit",
				 d->runs);
	return is_full ? error_set(e, EDQUOT, "the store holds %u runs, its limit", SHOWN_RUNS_MAX)
		       : 0;
}

static int new_run(struct local_store *s, const struct store_run_ids *ids, struct put_device *d,
		   struct put_run **ret)
{
	struct put_run *run = calloc(1, sizeof(*run));
	int r;

	if (!run)
		return -ENOMEM;
	run->number = s->put.next_run;
	run->ids = *ids;
	r = add_open(d, run->number);
	if (r < 0) {
		free(run);
		return r;
	}
	r = add_run(&s->put, run);
	if (r < 0) {
		remove_open(d, s->put.next_run);
		return r;
	}
	s->put.next_run++;
	d->runs++;
	*ret = run;
	return 0;
}

static void forget_run(struct put_side *p, struct put_run *run)
{
	hashtable_remove(&p->by_number, hashtable_hash_number(run->number), run);
	hashtable_remove(&p->by_id, hashtable_hash_id(run->ids.run.bytes), run);
	free_run(run);
}

/* A run whose first record was not taken is none. */
static int drop_unlogged(struct local_store *s, struct put_run *run, int r)
{
	struct put_device *d;

	if (r == STORE_TAKEN || run->logged)
		return r;
	if (get_device(&s->put, &run->ids.device, &d) == 0) {
		remove_open(d, run->number);
		d->runs--;
	}
	if (run->number == s->put.next_run - 1)
		s->put.next_run--;
	forget_run(&s->put, run);
	return r;
}

/* Forgets the runs that have ended and of which everything rests in full files. */
static void sweep(struct local_store *s)
{
	struct put_side *p = &s->put;
	struct put_run *run, **gone;
	uint32_t active;
	size_t at = 0, n = 0;

	pthread_mutex_lock(&s->lock);
	active = s->view->head.number;
	pthread_mutex_unlock(&s->lock);
	p->wants_sweep = false;
	gone = calloc(p->by_number.n + 1, sizeof(*gone)); /* removing moves the entries */
	while (gone && (run = hashtable_next(&p->by_number, &at)))
		if ((run->state.ended || run->state.closed) && run->logged && run->file < active)
			gone[n++] = run;
	while (n--)
		forget_run(p, gone[n]);
	free(gone);
}

/* One that is known, and what of its device is over then; *ret NULL if there is none. */
static int meet_run(struct local_store *s, const struct store_run_ids *ids, struct put_run **ret,
		    struct error *e)
{
	struct put_device *d;
	int r = get_device(&s->put, &ids->device, &d);

	*ret = NULL;
	if (r == 0)
		r = find_run(s, &ids->run, ret);
	if (r < 0)
		return error_set(e, r, "cannot take a run: %s", strerror(-r));
	if (*ret && memcmp(&(*ret)->ids.device, &ids->device, sizeof(ids->device)))
		return error_set(e, EPROTO, "run %u belongs to another device", (*ret)->number);
	if (!*ret || memcmp(&(*ret)->ids.boot, &ids->boot, sizeof(ids->boot)))
		return 0;
	return close_others(s, d, &ids->boot, e);
}

static int declare_run(struct local_store *s, const struct store_run_ids *ids, struct put_run **ret,
		       struct error *e)
{
	struct put_device *d;
	int r = get_device(&s->put, &ids->device, &d);

	if (r == 0)
		r = check_limits(s, d, e);
	else
		error_set(e, r, "cannot take a run: %s", strerror(-r));
	if (r == 0)
		r = close_others(s, d, &ids->boot, e);
	if (r == 0)
		r = close_oldest(s, d, e);
	if (r < 0)
		return r;
	r = new_run(s, ids, d, ret);
	return r < 0 ? error_set(e, r, "cannot take a run: %s", strerror(-r)) : 0;
}

int local_find_run(struct store *store, const struct store_run_ids *ids, uint32_t *ret_number,
		   struct error *e)
{
	struct local_store *s = local_get(store);
	struct put_run *run;
	int r;

	lock(&s->put);
	if (s->put.wants_sweep)
		sweep(s);
	r = meet_run(s, ids, &run, e);
	if (r == 0)
		*ret_number = run ? run->number : 0;
	return unlock(&s->put, r);
}

int local_take_run(struct store *store, const struct store_run_ids *ids, uint32_t *ret_number,
		   struct error *e)
{
	struct local_store *s = local_get(store);
	struct put_run *run;
	int r;

	lock(&s->put);
	if (s->put.wants_sweep)
		sweep(s);
	r = meet_run(s, ids, &run, e);
	if (r == 0 && !run)
		r = declare_run(s, ids, &run, e);
	if (r == 0)
		*ret_number = run->number;
	return unlock(&s->put, r);
}

/* --- blocks and ends --- */

static int put_block(struct local_store *s, struct put_run *run, const struct block *b,
		     const uint8_t *bytes, struct error *e)
{
	struct log_record record = {
		.kind = LOG_BLOCK, .run = run->number, .body = bytes, .body_len = b->len
	};
	int r = run_state_check(&run->state, b, e);

	if (r != STORE_TAKEN)
		return r;
	r = prepare(s, run, b->len, e);
	if (r < 0)
		return r;
	record.time_ns = clock_real_ns();
	declare(s, run, record.time_ns);
	r = run_state_take(&run->state, b, record.time_ns, NULL);
	if (r < 0)
		return error_set(e, r, "cannot take a block: %s", strerror(-r));
	append(s, &record);
	s->put.filling->puts = ++s->put.puts;
	return STORE_TAKEN;
}

int local_put(struct store *store, uint32_t number, const struct block *b, const uint8_t *bytes,
	      struct error *e)
{
	struct local_store *s = local_get(store);
	struct put_run *run;
	int r;

	lock(&s->put);
	r = put_side_get_run(s, number, &run, e);
	return unlock(&s->put, r < 0 ? r : drop_unlogged(s, run, put_block(s, run, b, bytes, e)));
}

static int put_end(struct local_store *s, struct put_run *run, const struct message_end *m,
		   struct error *e)
{
	struct log_record record = { .kind = LOG_END, .time_ns = clock_real_ns() };
	_cleanup_free_ uint8_t *body = NULL;
	struct put_device *d;
	size_t len = 0;
	int r = run_state_check_end(&run->state, m, e);

	if (r != STORE_TAKEN)
		return r;
	r = log_end_encode(m, &body, &len);
	if (r < 0)
		return error_set(e, r, "out of memory");
	record.run = run->number;
	record.body = body;
	record.body_len = (uint32_t)len;
	r = prepare(s, run, len, e);
	if (r < 0)
		return r;
	declare(s, run, record.time_ns);
	r = run_state_end(&run->state, m, record.time_ns, NULL);
	if (r < 0)
		return error_set(e, r, "out of memory");
	append(s, &record);
	if (get_device(&s->put, &run->ids.device, &d) == 0)
		remove_open(d, run->number);
	s->put.filling->puts = ++s->put.puts;
	return STORE_TAKEN;
}

int local_end(struct store *store, uint32_t number, const struct message_end *m, struct error *e)
{
	struct local_store *s = local_get(store);
	struct put_run *run;
	int r;

	lock(&s->put);
	r = put_side_get_run(s, number, &run, e);
	return unlock(&s->put, r < 0 ? r : drop_unlogged(s, run, put_end(s, run, m, e)));
}

int local_note(struct store *store, const struct store_clock *c, struct error *e)
{
	struct local_store *s = local_get(store);
	uint8_t body[3 * VARINT_MAX];
	struct log_record record = { .kind = LOG_CLOCK, .body = body, .time_ns = clock_real_ns() };
	struct put_run *run;
	int r;

	lock(&s->put);
	r = put_side_get_run(s, c->run, &run, e);
	if (r < 0 || !run_state_is_better_clock(&run->state, c))
		return unlock(&s->put, r);
	record.body_len = (uint32_t)log_clock_encode(body, c);
	r = put_small(s, run, &record, e);
	if (r == 0)
		run_state_set_clock(&run->state, c);
	return unlock(&s->put, r);
}

uint64_t local_puts(const struct store *store)
{
	const struct local_store *s = local_get_const(store);
	return atomic_load(&s->put.puts);
}

uint64_t local_waiting(const struct store *store)
{
	const struct local_store *s = local_get_const(store);
	return atomic_load(&s->put.waiting);
}
