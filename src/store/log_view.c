/* SPDX-License-Identifier: MIT */
/* log_view: see log_view.h. */
#include "store/log_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"

#define RUNS_MAX (1U << 22) /* of one file: a RUN record has 80 bytes at least */
#define IDS_LEN 48U

struct log_view *log_view_new(const struct log_head *head)
{
	struct log_view *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->head = *head;
	v->size = LOG_HEAD_LEN;
	v->last_ns = head->time_ns;
	hashtable_init(&v->by_number, RUNS_MAX);
	return v;
}

static void free_run(struct view_run *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->n; i++) {
		chain_done(&r->streams[i].rows.chain);
		chain_done(&r->streams[i].keys.chain);
	}
	chain_done(&r->losses.chain);
	free(r->streams);
	free(r->in);
	run_state_done(&r->state);
	free(r);
}

void log_view_free(struct log_view *v)
{
	size_t i;

	if (!v)
		return;
	for (i = 0; i < v->n_runs; i++)
		free_run(v->runs[i]);
	free(v->runs);
	free(v->devices);
	hashtable_done(&v->by_number);
	free(v);
}

static bool is_run(const void *entry, const void *key)
{
	return ((const struct view_run *)entry)->number == *(const uint32_t *)key;
}

struct view_run *log_view_run(const struct log_view *v, uint32_t number)
{
	return hashtable_get(&v->by_number, hashtable_hash_number(number), is_run, &number);
}

static size_t place_of(const struct view_run *r, uint32_t stream)
{
	size_t lo = 0, hi = r->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (r->streams[mid].stream < stream)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct view_stream *view_run_stream(const struct view_run *r, uint32_t stream)
{
	size_t at = place_of(r, stream);

	return at < r->n && r->streams[at].stream == stream ? &r->streams[at] : NULL;
}

static int get_stream(struct view_run *r, uint32_t stream, struct view_stream **ret)
{
	const struct view_stream *known = view_run_stream(r, stream);
	size_t at;
	int error;

	if (known) {
		*ret = r->streams + (known - r->streams);
		return 0;
	}
	error = array_grow(&r->streams, r->n, &r->room, sizeof(*r->streams), RUN_STATE_STREAMS_MAX);
	if (error < 0)
		return error;
	at = place_of(r, stream);
	memmove(r->streams + at + 1, r->streams + at, (r->n - at) * sizeof(*r->streams));
	r->streams[at] = (struct view_stream){ .stream = stream };
	r->n++;
	*ret = &r->streams[at];
	return 0;
}

/* --- records --- */

static int declare(struct log_view *v, struct view_run *run, const struct log_record *r)
{
	int error;

	memcpy(&run->ids.device, r->body, 16);
	memcpy(&run->ids.run, r->body + 16, 16);
	memcpy(&run->ids.boot, r->body + 32, 16);
	run->in_len = r->body_len - IDS_LEN;
	run->in = malloc(run->in_len ? run->in_len : 1);
	if (!run->in)
		return -ENOMEM;
	memcpy(run->in, r->body + IDS_LEN, run->in_len);
	error = run_state_decode(&run->state, run->in, run->in_len);
	if (error == 0)
		error = array_grow(&v->runs, v->n_runs, &v->room_runs, sizeof(*v->runs), RUNS_MAX);
	if (error == 0)
		error = hashtable_add(&v->by_number, hashtable_hash_number(run->number), run);
	return error;
}

static int apply_run(struct log_view *v, const struct log_record *r, struct view_run **ret)
{
	struct view_run *run = log_view_run(v, r->run);
	int error;

	if (run || r->body_len < IDS_LEN || !r->run)
		return -EBADMSG;
	run = calloc(1, sizeof(*run));
	if (!run)
		return -ENOMEM;
	run->number = r->run;
	error = declare(v, run, r);
	if (error < 0) {
		free_run(run);
		return error;
	}
	v->runs[v->n_runs++] = run;
	*ret = run;
	return 0;
}

static int apply_device(struct log_view *v, const struct log_record *r)
{
	struct store_device d;
	int error = log_device_decode(&d, r->body, r->body_len);
	size_t i;

	if (error < 0)
		return error;
	for (i = 0; i < v->n_devices; i++)
		if (!memcmp(&v->devices[i].id, &d.id, sizeof(d.id))) {
			v->devices[i] = d;
			return 0;
		}
	error = array_grow(&v->devices, v->n_devices, &v->room_devices, sizeof(*v->devices),
			   RUNS_MAX);
	if (error == 0)
		v->devices[v->n_devices++] = d;
	return error;
}

/* Rows of the ledger are told where nothing may fail any more: so the room for them is made before. */
static void add_loss(void *context, const struct store_loss *row)
{
	view_losses_push(context, row);
}

/* How many rows a block may make: told by its header, and shown by its `before`. */
static size_t count_losses(const struct block *b)
{
	size_t n = b->flags & BLOCK_KEY && b->before;
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++)
		n += b->lost[i] != 0;
	return n;
}

static size_t count_end_losses(const struct run_state *s, const struct message_end *m)
{
	struct message_end rows = *m;
	struct message_stream_end row;
	size_t n = 0;

	while (end_next(&rows, &row)) {
		const struct stream_state *t = run_state_stream(s, row.stream);

		n += row.events > (t ? t->seen : 0);
	}
	return n;
}

static void note_ticks(struct view_run *run, uint64_t from, uint64_t to)
{
	if (!run->has_tick || from < run->from_tick)
		run->from_tick = from;
	if (!run->has_tick || to > run->to_tick)
		run->to_tick = to;
	run->has_tick = true;
}

/* All that may fail, before anything is changed. */
static int reserve_block(struct view_run *run, const struct block *b, struct view_stream **ret)
{
	int error = get_stream(run, b->stream, ret);

	if (error == 0)
		error = view_rows_reserve(&(*ret)->rows);
	if (error == 0 && b->flags & BLOCK_KEY)
		error = view_keys_reserve(&(*ret)->keys);
	return error < 0 ? error : view_losses_reserve(&run->losses, count_losses(b));
}

static int apply_block(struct view_run *run, const struct log_record *r, uint32_t offset)
{
	const struct run_losses losses = { .add = add_loss, .context = &run->losses };
	const struct block *b = &r->block;
	const struct stream_state *t;
	struct view_stream *s;
	uint64_t until;
	int error;

	if (r->kind == LOG_BLOCK && run_state_check(&run->state, b, NULL) != STORE_TAKEN)
		return -EBADMSG;
	if (r->kind == LOG_KEEP && b->stream != STREAM_META)
		return -EBADMSG;
	error = reserve_block(run, b, &s);
	t = run_state_stream(&run->state, b->stream);
	until = t ? t->until : 0;
	if (error == 0 && r->kind == LOG_BLOCK)
		error = run_state_take(&run->state, b, r->time_ns, &losses);
	if (error < 0)
		return error;
	t = run_state_stream(&run->state, b->stream);
	if (r->kind == LOG_BLOCK && !s->keys.n && !(b->flags & BLOCK_KEY) && !t->gap)
		s->head_events += b->events;
	if (b->flags & BLOCK_KEY)
		view_keys_push(&s->keys, &(const struct view_key){ .tick = b->first_tick > until
										   ? b->first_tick
										   : until,
								   .row = s->rows.n });
	view_rows_push(&s->rows, offset);
	if (b->events && b->stream != STREAM_META && !stream_is_func(b->stream))
		note_ticks(run, b->flags & BLOCK_KEY ? b->first_tick : until, t->until);
	return 0;
}

static int apply_end(struct view_run *run, const struct log_record *r)
{
	const struct run_losses losses = { .add = add_loss, .context = &run->losses };
	struct message_end m;
	int error;

	if (end_decode(&m, r->body, r->body_len) != WIRE_OK ||
	    run_state_check_end(&run->state, &m, NULL) != STORE_TAKEN)
		return -EBADMSG;
	error = view_losses_reserve(&run->losses, count_end_losses(&run->state, &m));
	return error < 0 ? error : run_state_end(&run->state, &m, r->time_ns, &losses);
}

static int apply_clock(struct view_run *run, const struct log_record *r)
{
	struct store_clock c;
	int error = log_clock_decode(&c, r->body, r->body_len);

	if (error < 0)
		return error;
	c.run = run->number;
	run_state_set_clock(&run->state, &c);
	return 0;
}

static int apply_close(struct view_run *run)
{
	const struct run_losses losses = { .add = add_loss, .context = &run->losses };
	int error = view_losses_reserve(&run->losses, 1);

	if (error == 0)
		run_state_close(&run->state, &losses);
	return error;
}

static int apply_to_run(struct log_view *v, struct view_run *run, const struct log_record *r,
			uint32_t offset)
{
	uint32_t had = run->losses.n;
	int error;

	switch (r->kind) {
	case LOG_BLOCK:
	case LOG_KEEP:
		error = apply_block(run, r, offset);
		v->n_blocks += error == 0;
		break;
	case LOG_END:
		error = apply_end(run, r);
		break;
	case LOG_CLOCK:
		return apply_clock(run, r);
	case LOG_CLOSE:
		error = apply_close(run);
		break;
	default:
		return -EBADMSG;
	}
	v->n_losses += run->losses.n - had;
	return error;
}

int log_view_damage(struct log_view *v, uint64_t from, uint64_t to, const struct log_mark *mark)
{
	struct log_record r;
	uint64_t place;
	size_t at = 0, i;
	int error = 0;

	while (mark && (error == 0 || error == -EBADMSG) && log_mark_next(mark, &at, &place, &r))
		if (place >= from && place < to)
			error = log_view_apply(v, &r, (uint32_t)place, NULL);
	if (error < 0 && error != -EBADMSG)
		return error;
	for (i = 0; i < v->n_runs; i++)
		run_state_damage(&v->runs[i]->state);
	return 0;
}

int log_view_apply(struct log_view *v, const struct log_record *r, uint32_t offset,
		   struct view_run **ret_run)
{
	struct view_run *run = NULL;
	int error;

	if (r->kind == LOG_DEVICE) {
		error = apply_device(v, r);
	} else if (r->kind == LOG_RUN) {
		error = apply_run(v, r, &run);
	} else {
		run = log_view_run(v, r->run);
		error = run ? apply_to_run(v, run, r, offset) : -EBADMSG;
	}
	if (error < 0)
		return error;
	if (r->time_ns > v->last_ns)
		v->last_ns = r->time_ns;
	if (ret_run)
		*ret_run = run;
	return 0;
}
