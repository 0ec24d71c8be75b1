/* SPDX-License-Identifier: MIT */
/*
 * library: what libkiseki gives is what was put in, by all three ways: a file that it reads, one that it writes, and
 * blocks. Damaged bytes and records that are none are refused.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <kiseki/block.h>
#include <kiseki/trace.h>
#include <kiseki/writer.h>

#include "library/ks_item.h"
#include "tools/sched_random.h"
#include "tools/trace_random.h"
#include "trace/ksk_source.h"

#define EVENTS 20000U
#define TAKE_EVERY 700U

static struct sched_random random_events;

static void assert_item_is(const struct ks_item *got, const struct trace_item *want)
{
	struct trace_item back = { .type = ITEM_LOSS, .cpu = got->cpu };

	if (got->type == KS_ITEM_EVENT) {
		back.type = ITEM_EVENT;
		assert_true(ks_event_to(&back.event, &got->event));
	} else {
		back.loss.from_tick = got->loss.from_tick;
		back.loss.to_tick = got->loss.to_tick;
		back.loss.count = got->loss.count;
		back.loss.cause = (uint8_t)got->loss.cause;
	}
	assert_true(trace_item_equal(&back, want));
}

static void assert_trace_is(struct ks_trace *t, const struct trace_random *want)
{
	struct ks_error e;
	struct ks_item item;
	size_t i;

	assert_int_equal(ks_trace_get_description(t)->cpus, want->info.cpus);
	assert_string_equal(ks_trace_get_description(t)->device, want->info.device);
	for (i = 0; i < want->n; i++) {
		assert_int_equal(ks_trace_next(t, &item, &e), 1);
		assert_item_is(&item, &want->items[i]);
	}
	assert_int_equal(ks_trace_next(t, &item, &e), 0);
}

static const struct trace_random_options options = {
	.seed = 7, .cpus = 3, .events = 4000, .style = SCHED_RANDOM_REAL, .loss_every = 500
};

static void test_reads(void **state)
{
	struct ks_error e = { "" };
	struct trace_random want;
	struct ks_trace *t;
	struct ks_item item;
	uint8_t *bytes;
	size_t len;

	(void)state;
	trace_random_init(&want, &options);
	bytes = trace_random_ksk(&want, NULL, &len);
	assert_int_equal(ks_trace_open_memory(&t, bytes, len, &e), 0);
	assert_trace_is(t, &want);
	assert_int_equal(ks_trace_seek(t, 0, &e), 0);
	assert_trace_is(t, &want);
	assert_int_equal(ks_trace_seek(t, UINT64_MAX, &e), 0);
	while (ks_trace_next(t, &item, &e) > 0)
		assert_int_equal(item.type, KS_ITEM_LOSS);
	ks_trace_close(t);
	assert_true(ks_trace_open_memory(&t, bytes + 1, len - 1, &e) < 0);
	assert_true(e.text[0]);
	assert_int_equal(ks_trace_open(&t, "/nonexistent/x.ksk", &e), -ENOENT);
	assert_int_equal(ks_trace_open(&t, "/nonexistent/x.ksk", NULL), -ENOENT);
	free(bytes);
	trace_random_done(&want);
}

/* A copy through the writer is the same trace. */
static void test_writes(void **state)
{
	char path[64];
	struct ks_error e = { "" };
	struct trace_random want;
	struct ks_trace *t, *copy;
	struct ks_writer *w;
	struct ks_item item;
	struct ks_name name;
	uint8_t *bytes;
	size_t len;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/kiseki-library-%d.ksk", (int)getpid());
	trace_random_init(&want, &options);
	bytes = trace_random_ksk(&want, NULL, &len);
	assert_int_equal(ks_trace_open_memory(&t, bytes, len, &e), 0);
	assert_int_equal(ks_writer_open_like(&w, path, t, &e), 0);
	memset(&name, 0, sizeof(name));
	name.pid = 4194000;
	memcpy(name.comm, "added", 5);
	assert_int_equal(ks_writer_add_name(w, &name, &e), 0);
	while (ks_trace_next(t, &item, &e) > 0)
		assert_int_equal(ks_writer_put(w, &item, &e), 0);
	item.type = KS_ITEM_EVENT;
	item.event.kind = 99;
	assert_int_equal(ks_writer_put(w, &item, &e), -EINVAL);
	assert_int_equal(ks_writer_commit(w, &e), 0);
	ks_writer_close(w);
	assert_int_equal(ks_trace_open(&copy, path, &e), 0);
	assert_trace_is(copy, &want);
	for (len = 0; ks_trace_get_name(copy, len, &name) == 0; len++)
		continue;
	assert_true(len > 0);
	assert_int_equal(ks_trace_get_name(copy, len - 1, &name), 0);
	assert_int_equal(name.pid, 4194000);
	ks_trace_close(copy);
	ks_trace_close(t);
	unlink(path);
	free(bytes);
	trace_random_done(&want);
}

static void test_describes(void **state)
{
	struct ks_description d = { .device = "board",
				    .kernel = "5.10.0",
				    .cpus = 2,
				    .clock_mult = 125,
				    .clock_shift = 1,
				    .clock_base_ns = 1000 };
	char path[64];
	struct ks_error e = { "" };
	struct ks_writer *w;
	struct ks_trace *t;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/kiseki-library-%d.ksk", (int)getpid());
	assert_int_equal(ks_writer_open(&w, path, &d, &e), 0);
	ks_writer_close(w);
	assert_int_equal(access(path, F_OK), -1); /* nothing was committed */
	assert_int_equal(ks_writer_open(&w, path, &d, &e), 0);
	assert_int_equal(ks_writer_commit(w, &e), 0);
	ks_writer_close(w);
	assert_int_equal(ks_trace_open(&t, path, &e), 0);
	assert_string_equal(ks_trace_get_description(t)->kernel, "5.10.0");
	assert_string_equal(ks_trace_get_description(t)->machine, "");
	assert_int_equal(ks_trace_get_ns(t, 8), 1000 + 8 * 125 / 2);
	ks_trace_close(t);
	unlink(path);
	d.cpus = 0;
	assert_int_equal(ks_writer_open(&w, path, &d, &e), -EINVAL);
	assert_true(e.text[0]);
}

/* One block of a stream: decoded, it gives the events that the generator makes again. */
static void check_block(struct ks_decoder *d, const uint8_t *bytes, size_t len, uint32_t events)
{
	struct sched_event want, back;
	struct ks_event got;
	struct ks_block b;
	uint32_t i;

	assert_int_equal(ks_decoder_push(d, bytes, len, &b), 0);
	assert_int_equal(b.len, len);
	assert_int_equal(b.events, events);
	for (i = 0; i < events; i++) {
		sched_random_next(&random_events, &want);
		assert_int_equal(ks_decoder_next(d, &got), 1);
		assert_true(ks_event_to(&back, &got));
		assert_true(sched_event_equal(&back, &want));
	}
	assert_int_equal(ks_decoder_next(d, &got), 0);
}

static void test_blocks(void **state)
{
	static struct sched_random in;
	const unsigned style = (unsigned)(uintptr_t)*state;
	struct ks_encoder *c;
	struct ks_decoder *d;
	struct sched_event ev;
	struct ks_event event;
	const uint8_t *bytes;
	uint32_t i, since = 0;
	size_t len;

	sched_random_init(&in, 3, style);
	sched_random_init(&random_events, 3, style);
	assert_int_equal(ks_encoder_new(&c, 5), 0);
	assert_int_equal(ks_decoder_new(&d, 5), 0);
	assert_int_equal(ks_encoder_take(c, 0, &bytes, &len), 0);
	for (i = 0; i < EVENTS; i++, since++) {
		sched_random_next(&in, &ev);
		ks_event_from(&event, &ev);
		if (since < TAKE_EVERY && ks_encoder_push(c, &event) == 0)
			continue;
		assert_int_equal(ks_encoder_take(c, i % 3 == 0, &bytes, &len), 1);
		check_block(d, bytes, len, since);
		assert_int_equal(ks_encoder_push(c, &event), 0);
		since = 0;
	}
	assert_int_equal(ks_encoder_take(c, 0, &bytes, &len), 1);
	check_block(d, bytes, len, since);
	ks_encoder_free(c);
	ks_decoder_free(d);
}

static void test_losses(void **state)
{
	struct ks_event event = { .tick = 50, .kind = KS_EXIT };
	struct ks_encoder *c;
	const uint8_t *bytes;
	struct ks_block b;
	size_t len;

	(void)state;
	assert_int_equal(ks_encoder_new(&c, 0), 0);
	assert_int_equal(ks_encoder_push_loss(c, KS_LOSS_SPOOL, 12), 0);
	assert_int_equal(ks_encoder_push_loss(c, KS_LOSS_RING, KS_COUNT_UNKNOWN), 0);
	assert_int_equal(ks_encoder_push_loss(c, 77, 1), -EINVAL);
	assert_int_equal(ks_encoder_push(c, &event), 0);
	assert_int_equal(ks_encoder_push_loss(c, KS_LOSS_SPOOL, 1), -EAGAIN);
	assert_int_equal(ks_encoder_take(c, 0, &bytes, &len), 1);
	assert_int_equal(ks_block_decode(bytes, len, &b), 0);
	assert_int_equal(b.flags, KS_BLOCK_KEY | KS_BLOCK_LOST);
	assert_int_equal(b.lost[KS_LOSS_SPOOL], 12);
	assert_true(b.lost[KS_LOSS_RING] == KS_COUNT_UNKNOWN);
	assert_int_equal(b.before, 12);
	assert_int_equal(b.first_tick, 50);
	/* A loss at the very end has a block of its own. */
	assert_int_equal(ks_encoder_push_loss(c, KS_LOSS_BUFFER, 3), 0);
	assert_int_equal(ks_encoder_take(c, 0, &bytes, &len), 1);
	assert_int_equal(ks_block_decode(bytes, len, &b), 0);
	assert_int_equal(b.events, 0);
	assert_int_equal(b.lost[KS_LOSS_BUFFER], 3);
	ks_encoder_free(c);
}

/* Every byte of a block counts: changed, it is refused; cut, more is asked for. */
static void test_refuses(void **state)
{
	struct ks_event event = { .tick = 50, .kind = KS_EXIT };
	uint8_t bytes[256];
	const uint8_t *block;
	struct ks_encoder *c;
	struct ks_decoder *d;
	struct ks_block b;
	size_t len, i;

	(void)state;
	assert_int_equal(ks_encoder_new(&c, TRACE_CPUS_MAX), -EINVAL);
	assert_int_equal(ks_decoder_new(&d, TRACE_CPUS_MAX), -EINVAL);
	assert_int_equal(ks_encoder_new(&c, 0), 0);
	assert_int_equal(ks_decoder_new(&d, 0), 0);
	assert_int_equal(ks_encoder_push(c, &event), 0);
	assert_int_equal(ks_encoder_take(c, 0, &block, &len), 1);
	assert_true(len <= sizeof(bytes));
	memcpy(bytes, block, len);
	for (i = 0; i < len; i++) {
		assert_int_equal(ks_block_decode(bytes, i, &b), -EAGAIN);
		bytes[i] ^= 0x10;
		assert_true(ks_block_decode(bytes, len, &b) < 0);
		assert_int_equal(ks_decoder_push(d, bytes, len, &b), -EBADMSG);
		bytes[i] ^= 0x10;
	}
	/* The second block alone is nothing: it leans on the first. */
	assert_int_equal(ks_encoder_push(c, &event), 0);
	assert_int_equal(ks_encoder_take(c, 0, &block, &len), 1);
	assert_int_equal(ks_decoder_push(d, block, len, NULL), -ESTALE);
	event.kind = 200;
	assert_int_equal(ks_encoder_push(c, &event), -EINVAL);
	ks_encoder_free(c);
	ks_decoder_free(d);
}

static void test_words(void **state)
{
	(void)state;
	assert_string_equal(ks_kind_get_word(KS_WAKEUP_NEW), "wakeup_new");
	assert_string_equal(ks_cause_get_word(KS_LOSS_DAMAGE), "damage");
	assert_null(ks_kind_get_word(KS_SETPRIO + 1));
	assert_null(ks_cause_get_word(KS_LOSS_STORE + 1));
	assert_string_equal(ks_version(), KISEKI_VERSION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_writes),
		cmocka_unit_test(test_describes),
		cmocka_unit_test_prestate(test_blocks, (void *)SCHED_RANDOM_REAL),
		cmocka_unit_test_prestate(test_blocks, (void *)SCHED_RANDOM_HOSTILE),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
