/* SPDX-License-Identifier: MIT */
/*
 * measure_codecs: see measure.h.
 *
 * The memory for the blocks is the same in every run, so that its first touch is not measured.
 * Before the clock starts, the blocks are decoded once and every event of `sched` is compared with
 * the one that went in: a size is only printed for something that comes back.
 */
#include "measure.h"

#include <errno.h>
#include <string.h>

#include "codec_bsf.h"
#include "codec_sched.h"

#define EVENT_BYTES_GUESS 60U /* more than either codec needs for a long trace */
#define CPU_BYTES_GUESS (256U * 1024)

struct codec_run {
	const struct events *ev;
	struct blocks blocks;
	uint64_t flush_ticks;
};

static int encode_sched(void *ctx)
{
	struct codec_run *run = ctx;

	return codec_sched_encode(&run->blocks, run->ev, run->flush_ticks);
}

static int decode_sched(void *ctx)
{
	struct codec_run *run = ctx;

	return codec_sched_decode(&run->blocks, NULL);
}

static int encode_bsf(void *ctx)
{
	struct codec_run *run = ctx;

	return codec_bsf_encode(&run->blocks, run->ev);
}

static int decode_bsf(void *ctx)
{
	struct codec_run *run = ctx;

	return codec_bsf_decode(&run->blocks, run->ev);
}

static int measure_sched(const struct measure *m, struct codec_run *run, struct result *row,
			 struct error *e)
{
	int r = encode_sched(run);

	row->ours = true;
	row->state_bytes = codec_sched_encoder_size();
	if (r == 0)
		r = codec_sched_decode(&run->blocks, run->ev);
	if (r == 0 && run->blocks.events != run->ev->n)
		r = -EBADMSG;
	if (r < 0)
		return error_set(e, -r, "sched does not give the events back: %s", strerror(-r));
	row->bytes = run->blocks.bytes;
	r = stopwatch_best(&m->watch, encode_sched, run, &row->encode_ns);
	if (r == 0)
		r = stopwatch_best(&m->watch, decode_sched, run, &row->decode_ns);
	return r < 0 ? error_set(e, -r, "cannot measure sched: %s", strerror(-r)) : 0;
}

static int measure_bsf(const struct measure *m, struct codec_run *run, struct result *row,
		       struct error *e)
{
	int r = encode_bsf(run);

	row->ours = true;
	row->state_bytes = codec_bsf_encoder_size();
	if (r == 0) {
		row->bytes = run->blocks.bytes;
		row->events = run->blocks.events;
		r = stopwatch_best(&m->watch, encode_bsf, run, &row->encode_ns);
	}
	if (r == 0)
		r = stopwatch_best(&m->watch, decode_bsf, run, &row->decode_ns);
	return r < 0 ? error_set(e, -r, "cannot measure bsf: %s", strerror(-r)) : 0;
}

/* As many blocks as flushing can make, and some that are closed because they are full. */
static uint32_t blocks_guess(const struct events *ev, size_t payload)
{
	uint64_t n =
		(ev->ns / MEASURE_FLUSH_NS + 16) * ev->info.cpus + ev->n_losses + payload / 8192;

	return n < BLOCKS_MAX ? (uint32_t)n : BLOCKS_MAX;
}

int measure_codecs(const struct measure *m, const struct events *ev, struct error *e)
{
	size_t payload = ev->n * EVENT_BYTES_GUESS + (size_t)ev->info.cpus * CPU_BYTES_GUESS;
	struct trace_result *t = m->result;
	struct codec_run run = { .ev = ev };
	int r = blocks_init(&run.blocks, payload, blocks_guess(ev, payload), e);

	if (r < 0)
		return r;
	run.flush_ticks = clock_tick_at(&ev->info.clock, ev->info.clock.base_ns + MEASURE_FLUSH_NS);
	r = measure_sched(m, &run, result_add(t, "sched", "sched, live (100 ms)"), e);
	run.flush_ticks = 0;
	if (r == 0)
		r = measure_sched(m, &run, result_add(t, "sched-file", "sched, file"), e);
	if (r == 0)
		r = measure_bsf(m, &run, result_add(t, "bsf", "bsf"), e);
	blocks_done(&run.blocks);
	return r;
}
