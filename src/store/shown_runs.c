/* SPDX-License-Identifier: MIT */
/* shown_runs: see shown_runs.h. */
#include "store/shown_runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"

void shown_runs_init(struct shown_runs *t)
{
	t->removals = 0;
	hashtable_init(&t->by_number, SHOWN_RUNS_MAX);
	hashtable_init(&t->by_id, SHOWN_RUNS_MAX);
}

static void free_run(struct shown_run *run)
{
	free(run->files);
	free(run->in);
	free(run->out);
	cuts_done(&run->cuts);
	free(run);
}

void shown_runs_done(struct shown_runs *t)
{
	struct shown_run *run;
	size_t at = 0;

	while ((run = hashtable_next(&t->by_number, &at)))
		free_run(run);
	hashtable_done(&t->by_number);
	hashtable_done(&t->by_id);
}

static bool is_number(const void *entry, const void *key)
{
	return ((const struct shown_run *)entry)->number == *(const uint32_t *)key;
}

static bool is_id(const void *entry, const void *key)
{
	return !memcmp(&((const struct shown_run *)entry)->ids.run, key, 16);
}

struct shown_run *shown_runs_get(const struct shown_runs *t, uint32_t number)
{
	return hashtable_get(&t->by_number, hashtable_hash_number(number), is_number, &number);
}

struct shown_run *shown_runs_find(const struct shown_runs *t, const struct message_id *run)
{
	return hashtable_get(&t->by_id, hashtable_hash_id(run->bytes), is_id, run);
}

static int set_bytes(uint8_t **to, size_t *to_len, const uint8_t *from, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	if (!copy)
		return -ENOMEM;
	if (len)
		memcpy(copy, from, len);
	free(*to);
	*to = copy;
	*to_len = len;
	return 0;
}

static int set_in(struct shown_run *run, const uint8_t *in, size_t len)
{
	struct run_state s;
	int r = run_state_decode(&s, in, len);

	if (r < 0)
		return r;
	r = set_bytes(&run->in, &run->in_len, in, len);
	if (r == 0)
		run->in_totals = s.totals;
	run_state_done(&s);
	return r;
}

static int add_run(struct shown_runs *t, const struct index_run *r, struct shown_run **ret)
{
	struct shown_run *run = calloc(1, sizeof(*run));
	int error;

	if (!run)
		return -ENOMEM;
	run->number = r->number;
	run->ids = r->ids;
	error = set_in(run, r->in, r->in_len);
	if (error == 0) /* for its first file: nobody sees a run without one */
		error = array_grow(&run->files, 0, &run->room_files, sizeof(*run->files),
				   SHOWN_FILES_MAX);
	if (error == 0)
		error = hashtable_add(&t->by_number, hashtable_hash_number(run->number), run);
	if (error == 0) {
		error = hashtable_add(&t->by_id, hashtable_hash_id(run->ids.run.bytes), run);
		if (error < 0)
			hashtable_remove(&t->by_number, hashtable_hash_number(run->number), run);
	}
	if (error < 0) {
		free_run(run);
		return error;
	}
	*ret = run;
	return 0;
}

int shown_runs_add(struct shown_runs *t, uint32_t file, const struct index_run *r,
		   struct shown_run **ret)
{
	struct shown_run *run = shown_runs_get(t, r->number);
	int error = run ? 0 : add_run(t, r, &run);

	if (error < 0)
		return error;
	*ret = run;
	if (run->n_files && run->files[run->n_files - 1].file == file)
		return 0;
	error = array_grow(&run->files, run->n_files, &run->room_files, sizeof(*run->files),
			   SHOWN_FILES_MAX);
	if (error < 0)
		return error;
	run->files[run->n_files++] = (struct run_file){ .file = file,
							.has_tick = r->has_tick,
							.from_tick = r->from_tick,
							.to_tick = r->to_tick };
	return 0;
}

int shown_run_rest(struct shown_run *run, const struct index_run *r)
{
	struct run_file *f = &run->files[run->n_files - 1];
	struct run_state s;
	int error = run_state_decode(&s, r->out, r->out_len);

	if (error < 0)
		return error;
	error = set_bytes(&run->out, &run->out_len, r->out, r->out_len);
	if (error == 0) {
		shown_run_facts(run, &s, NULL, &run->facts);
		run->has_clock = s.has_clock;
		run->clock = s.clock;
		run->clock.run = run->number;
		f->has_tick = r->has_tick;
		f->from_tick = r->from_tick;
		f->to_tick = r->to_tick;
	}
	run_state_done(&s);
	return error;
}

void shown_runs_remove(struct shown_runs *t, struct shown_run *run)
{
	hashtable_remove(&t->by_number, hashtable_hash_number(run->number), run);
	hashtable_remove(&t->by_id, hashtable_hash_id(run->ids.run.bytes), run);
	t->removals++;
	free_run(run);
}

int shown_run_shorten(struct shown_run *run, uint32_t next, const struct run_before *before)
{
	struct run_state out = { 0 };
	size_t n = 0;
	int error = run->out ? run_state_decode(&out, run->out, run->out_len) : 0;

	if (error == 0)
		error = set_in(run, before->in, before->in_len);
	if (error == 0) {
		while (n < run->n_files && run->files[n].file < next)
			n++;
		run->n_files -= n;
		memmove(run->files, run->files + n, run->n_files * sizeof(*run->files));
		cuts_done(&run->cuts);
		run->cuts = *before->cuts;
		*before->cuts = (struct cuts){ 0 };
		if (run->out)
			shown_run_facts(run, &out, NULL, &run->facts);
	}
	run_state_done(&out);
	return error;
}

static void count_streams(const struct run_state *s, struct store_run *ret)
{
	uint32_t thread = UINT32_MAX, stream;
	size_t i;

	for (i = 0; i < s->n; i++) {
		stream = s->streams[i].stream;
		ret->has_boot |= stream_is_boot(stream);
		ret->samplers += stream_is_sample(stream);
		if (!stream_is_func(stream)) {
			ret->cpus += stream != STREAM_META && !stream_is_boot(stream) &&
				     !stream_is_sample(stream);
			continue;
		}
		ret->split |= stream == STREAM_FUNC_OS(stream_func_thread(stream));
		ret->threads += stream_func_thread(stream) != thread;
		thread = stream_func_thread(stream);
	}
}

/* What was in files that are gone is lost by the store, and what cannot be decoded without them; the
 * ledger's counts stay. */
void shown_run_facts(const struct shown_run *run, const struct run_state *s,
		     const struct view_run *live, struct store_run *ret)
{
	const struct run_totals *t = &s->totals, *in = &run->in_totals;
	uint64_t gone = in->events + cuts_count(&run->cuts, live);
	size_t i;

	memset(ret, 0, sizeof(*ret));
	ret->number = run->number;
	ret->device = run->ids.device;
	ret->id = run->ids.run;
	ret->boot = run->ids.boot;
	ret->first_ns = s->first_ns;
	ret->last_ns = s->last_ns;
	ret->first_tick = s->first_tick;
	ret->last_tick = s->last_tick;
	ret->blocks = t->blocks - in->blocks;
	ret->events = t->events - gone;
	ret->bytes = t->bytes - in->bytes;
	for (i = 0; i < LOSS_CAUSES; i++)
		ret->lost[i] = t->lost[i];
	ret->lost[LOSS_STORE] += gone;
	ret->lost_unknown = t->unknown || t->gaps || s->doubt;
	ret->damaged = s->doubt || t->lost[LOSS_DAMAGE];
	ret->ended = s->ended || s->closed;
	ret->streams = t->streams;
	ret->has_guests = s->has_guests;
	count_streams(s, ret);
}
