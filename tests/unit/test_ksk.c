/* SPDX-License-Identifier: MIT */
/*
 * ksk: what sink_ksk writes, source_ksk reads: every event and every loss, field by field and in
 * order, whatever the sizes of blocks and segments; from any tick as from the start.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "store/ksk.h"
#include "store/ksk_writer.h"
#include "tools/sched_random.h"
#include "tools/trace_random.h"
#include "trace/ksk_source.h"
#include "wire/bsf_event.h"

static struct trace_source *open_bytes(const uint8_t *data, size_t len)
{
	struct error e = ERROR_INIT;
	struct trace_source *s;

	if (source_ksk_open_memory(&s, data, len, &e) < 0)
		fail_msg("%s", e.text);
	return s;
}

static void expect_items(const struct trace_item *a, size_t n_a, const struct trace_item *b,
			 size_t n_b, const char *what)
{
	size_t i;

	for (i = 0; i < n_a && i < n_b; i++)
		if (!trace_item_equal(&a[i], &b[i]))
			fail_msg("%s: item %zu of %zu differs: type %d/%d cpu %u/%u tick %llu/%llu",
				 what, i, n_a, a[i].type, b[i].type, a[i].cpu, b[i].cpu,
				 (unsigned long long)item_tick(&a[i]),
				 (unsigned long long)item_tick(&b[i]));
	if (n_a != n_b)
		fail_msg("%s: %zu items became %zu", what, n_a, n_b);
}

static size_t items_from(const struct trace_item *all, size_t n, uint64_t tick,
			 struct trace_item *ret)
{
	static bool begun[TRACE_CPUS_MAX];
	size_t i, kept = 0;

	memset(begun, 0, sizeof(begun));
	for (i = 0; i < n; i++) {
		uint64_t until =
			all[i].type == ITEM_EVENT ? all[i].event.tick : all[i].loss.to_tick;

		begun[all[i].cpu] = begun[all[i].cpu] || until >= tick;
		if (begun[all[i].cpu])
			ret[kept++] = all[i];
	}
	return kept;
}

/* Where an order is known, or time runs backwards, a merge that starts later may differ in how
 * CPUs interleave; what each CPU gives may not. */
static void expect_by_cpu(const struct trace_item *a, size_t n_a, const struct trace_item *b,
			  size_t n_b, uint32_t cpus)
{
	size_t i, j;
	uint32_t cpu;

	assert_int_equal(n_a, n_b);
	for (cpu = 0; cpu < cpus; cpu++)
		for (i = j = 0; i < n_a; i++) {
			if (a[i].cpu != cpu)
				continue;
			for (; j < n_b && b[j].cpu != cpu; j++)
				;
			if (j == n_b || !trace_item_equal(&a[i], &b[j++]))
				fail_msg("cpu %u: item %zu differs", cpu, i);
		}
}

static void check_seeks(struct trace_source *s, const struct trace_random *t, bool by_cpu,
			uint32_t seeks)
{
	struct trace_item *want = malloc((t->n + 1) * sizeof(*want)), *got;
	struct sched_random *r = malloc(sizeof(*r));
	struct error e = ERROR_INIT;
	size_t n_want, n_got, at;
	uint64_t tick;

	sched_random_init(r, t->n, SCHED_RANDOM_REAL);
	while (seeks-- && t->n) {
		at = sched_random_below(r, (uint32_t)t->n);
		tick = item_tick(&t->items[at]) + sched_random_below(r, 3) - 1;
		tick = seeks == 0 ? UINT64_MAX : seeks == 1 ? 1 : tick;
		assert_int_equal(s->ops->seek(s, tick, &e), 0);
		n_got = trace_items_read(s, &got);
		n_want = items_from(t->items, t->n, tick, want);
		if (by_cpu)
			expect_by_cpu(want, n_want, got, n_got, t->info.cpus);
		else
			expect_items(want, n_want, got, n_got, "after a seek");
		trace_items_free(got, n_got);
	}
	free(want);
	free(r);
}

static void round_trip(const struct trace_random_options *o, const struct sink_ksk_options *k,
		       uint32_t seeks)
{
	static uint32_t rounds;
	struct trace_random t;
	struct trace_source *s;
	struct trace_item *got;
	struct error e = ERROR_INIT;
	uint32_t pass;
	uint8_t *data;
	size_t len, n;

	trace_random_init(&t, o);
	data = trace_random_ksk(&t, k, &len);
	s = open_bytes(data, len);
	source_ksk_set_ahead(s, rounds++ % 2);
	assert_int_equal(s->info.cpus, o->cpus);
	for (pass = 0; pass < 2; pass++) {
		n = trace_items_read(s, &got);
		expect_items(t.items, t.n, got, n, pass ? "again" : "at first");
		trace_items_free(got, n);
		assert_int_equal(s->ops->next(s, &(struct trace_item){ 0 }, &e), 0);
		assert_int_equal(s->ops->rewind(s, &e), 0);
	}
	assert_int_equal(source_ksk_file(s)->n_damage, 0);
	check_seeks(s, &t, o->shuffled || o->style == SCHED_RANDOM_HOSTILE, seeks);
	source_free(s);
	free(data);
	trace_random_done(&t);
}

static void test_styles(void **state)
{
	struct trace_random_options o = { .cpus = 4, .events = 20000, .loss_every = 500 };
	unsigned style;

	(void)state;
	for (style = 0; style < SCHED_RANDOM_STYLES; style++) {
		o.style = style;
		o.seed = 10 + style;
		o.damage_unknown = true;
		round_trip(&o, NULL, 6);
	}
}

/* Blocks of a few events, segments of a few blocks, losses everywhere, flushing by time. */
static void test_sizes(void **state)
{
	static const uint32_t sizes[] = { 1, 20, 100, 700, 5000, 1U << 30 };
	struct trace_random_options o = { .damage_unknown = true };
	struct sink_ksk_options k = { .codec = CODEC_SCHED };
	uint32_t round;

	(void)state;
	for (round = 0; round < 120; round++) {
		o.seed = 100 + round;
		o.style = round % SCHED_RANDOM_STYLES;
		o.cpus = 1 + round % 7;
		o.events = round % 5 ? 300 : 4;
		o.loss_every = round % 3 ? 1 + round % 40 : 0;
		k.block_bytes = sizes[round % 6];
		k.segment_bytes = sizes[round / 6 % 6];
		k.flush_ns = round % 4 ? 0 : 1000 * (1 + round);
		round_trip(&o, &k, 12);
	}
}

/* As a text file gives it: many events of one tick, in an order that no rule gives back. */
static void test_order(void **state)
{
	struct trace_random_options o = { .cpus = 5, .events = 3000, .shuffled = true };
	uint32_t round;

	(void)state;
	for (round = 0; round < 8; round++) {
		o.seed = 300 + round;
		o.tick_grain =
			1U << (10 + 3 * round); /* at last some thousand events of one tick */
		o.style = round % 2 ? SCHED_RANDOM_IDLE : SCHED_RANDOM_REAL;
		round_trip(&o, NULL, 4);
	}
}

/* Of one cause between two events: counts add up, and an unknown one stays beside them. */
static void test_same_cause(void **state)
{
	static const uint64_t counts[] = { 3, 4, LOSS_UNKNOWN, 5, LOSS_UNKNOWN };
	struct trace_random_options o = { .seed = 77, .cpus = 1, .events = 6 };
	struct trace_random t;
	struct trace_source *s;
	struct trace_item *items, *got;
	size_t len, n, i, n_before;
	uint64_t known = 0, unknown = 0;
	uint8_t *data;

	(void)state;
	trace_random_init(&t, &o);
	n_before = t.n;
	items = calloc(t.n + 5, sizeof(*items));
	memcpy(items, t.items, sizeof(*items));
	memcpy(items + 6, t.items + 1, (t.n - 1) * sizeof(*items));
	for (i = 0; i < 5; i++) {
		items[1 + i].type = ITEM_LOSS;
		items[1 + i].loss.cause = LOSS_BUFFER;
		items[1 + i].loss.count = counts[i];
	}
	free(t.items);
	t.items = items;
	t.n += 5;
	data = trace_random_ksk(&t, NULL, &len);
	s = open_bytes(data, len);
	n = trace_items_read(s, &got);
	for (i = 1; i < n && got[i].type == ITEM_LOSS; i++) {
		assert_int_equal(got[i].loss.cause, LOSS_BUFFER);
		unknown += got[i].loss.count == LOSS_UNKNOWN;
		known += got[i].loss.count == LOSS_UNKNOWN ? 0 : got[i].loss.count;
	}
	assert_int_equal(known, 12);
	assert_int_equal(unknown, 1);
	assert_int_equal(n - i, n_before - 1);
	expect_items(t.items + 6, n_before - 1, got + i, n - i, "behind the losses");
	trace_items_free(got, n);
	source_free(s);
	free(data);
	trace_random_done(&t);
}

/* With the published codec: what it can hold, as its mapping alone would give it back. */
static void test_bsf(void **state)
{
	struct trace_random_options o = { .seed = 7, .cpus = 3, .events = 8000 };
	struct sink_ksk_options k = { .codec = CODEC_BSF, .block_bytes = 3000 };
	struct bsf_context contexts[3];
	struct trace_random t;
	struct trace_source *s;
	struct trace_item *got;
	struct bsf_record rec;
	struct sched_event want;
	size_t len, n, i, at = 0;
	uint8_t *data;
	uint64_t ns;

	(void)state;
	trace_random_init(&t, &o);
	data = trace_random_ksk(&t, &k, &len);
	s = open_bytes(data, len);
	assert_int_equal(s->info.clock.mult, 1);
	n = trace_items_read(s, &got);
	for (i = 0; i < 3; i++)
		bsf_context_init(&contexts[i], &t.info.dialect, (uint32_t)i);
	for (i = 0; i < t.n; i++) {
		ns = clock_event_ns(&t.info.clock, &t.items[i].event);
		if (!bsf_from_event(&contexts[t.items[i].cpu], &t.items[i].event, ns, &rec))
			continue;
		bsf_to_event(&contexts[t.items[i].cpu], &rec, &want);
		assert_true(at < n);
		/* The name that no record holds is looked for around it: it may be empty. */
		memcpy(want.kind == SCHED_SWITCH ? want.other.comm : want.task.comm,
		       want.kind == SCHED_SWITCH ? got[at].event.other.comm
						 : got[at].event.task.comm,
		       SCHED_COMM_LEN);
		assert_int_equal(got[at].cpu, t.items[i].cpu);
		assert_true(sched_event_equal(&want, &got[at].event));
		at++;
	}
	assert_int_equal(at, n);
	assert_true(n > 1000);
	trace_items_free(got, n);
	source_free(s);
	free(data);
	trace_random_done(&t);
}

/* A thread that reads ahead is stopped wherever it is: by a seek, by the end of the source. */
static void test_ahead(void **state)
{
	struct trace_random_options o = { .seed = 9, .cpus = 3, .events = 6000 };
	struct error e = ERROR_INIT;
	struct trace_random t;
	struct trace_source *s;
	struct trace_item item;
	uint64_t done, total;
	uint32_t round, i, n;
	uint8_t *data;
	size_t len;

	(void)state;
	trace_random_init(&t, &o);
	data = trace_random_ksk(&t, NULL, &len);
	for (round = 0; round < 60; round++) {
		s = open_bytes(data, len);
		source_ksk_set_ahead(s, true);
		for (n = round * round * 6, i = 0; i < n && i < t.n; i++) {
			assert_int_equal(s->ops->next(s, &item, &e), 1);
			assert_true(trace_item_equal(&item, &t.items[i]));
		}
		s->ops->progress(s, &done, &total);
		assert_true(done <= total && total < len);
		if (round % 3)
			assert_int_equal(s->ops->seek(s,
						      round % 2 ? 0 : item_tick(&t.items[n % t.n]),
						      &e),
					 0);
		if (round % 3 == 1)
			assert_true(s->ops->next(s, &item, &e) >= 0);
		source_free(s);
	}
	free(data);
	trace_random_done(&t);
}

static size_t scanned(const struct ksk_file *f)
{
	size_t i, n = 0;

	for (i = 0; i < f->n_chunks; i++)
		n += f->chunks[i].unscanned != i;
	return n;
}

/* A seek to the last tenth reads about a tenth. */
static void test_seek_is_short(void **state)
{
	struct trace_random_options o = { .seed = 5, .cpus = 4, .events = 20000 };
	struct sink_ksk_options k = { .block_bytes = 500,
				      .segment_bytes = 1000,
				      .codec = CODEC_SCHED };
	struct error e = ERROR_INIT;
	struct trace_random t;
	struct trace_source *s;
	struct trace_item *got;
	struct ksk_file *f;
	uint8_t *data;
	size_t len, n, opened;
	uint64_t tick;

	(void)state;
	trace_random_init(&t, &o);
	data = trace_random_ksk(&t, &k, &len);
	s = open_bytes(data, len);
	f = source_ksk_file(s);
	opened = scanned(f);
	assert_true(f->indexed && f->n_chunks > 100 && opened < 10);
	tick = item_tick(&t.items[t.n / 10 * 9]);
	assert_int_equal(s->ops->seek(s, tick, &e), 0);
	n = trace_items_read(s, &got);
	print_message("%zu of %zu chunks for %zu of %zu items\n", scanned(f), f->n_chunks, n, t.n);
	assert_true(n > 0);
	/* each CPU starts in a segment of its own, a few too early */
	assert_true(scanned(f) < f->n_chunks * n / t.n + 40);
	trace_items_free(got, n);
	source_free(s);
	free(data);
	trace_random_done(&t);
}

static void test_no_file(void **state)
{
	static const uint8_t head[KSK_HEAD_LEN + 1] = KSK_MAGIC "\x01";
	static const uint8_t later[KSK_HEAD_LEN + 1] = KSK_MAGIC "\x02";
	struct error e = ERROR_INIT;
	struct trace_source *s;
	struct trace_item item;

	(void)state;
	assert_int_equal(source_ksk_open_memory(&s, NULL, 0, &e), -EBADMSG);
	assert_int_equal(source_ksk_open_memory(&s, head, 15, &e), -EBADMSG);
	assert_int_equal(source_ksk_open_memory(&s, later, 16, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "version 2"));
	assert_int_equal(source_ksk_open(&s, "/nonexistent/x.ksk", &e), -ENOENT);
	assert_non_null(strstr(e.text, "/nonexistent/x.ksk"));
	/* Only the head: a file that was begun. */
	s = open_bytes(head, 16);
	assert_int_equal(s->ops->next(s, &item, &e), 0);
	assert_int_equal(s->ops->seek(s, 5, &e), 0);
	assert_int_equal(s->ops->next(s, &item, &e), 0);
	assert_int_equal(source_ksk_file(s)->n_damage, 1);
	source_free(s);
}

/* A trace without a single event, and CPUs that have none. */
static void test_empty(void **state)
{
	struct trace_random_options o = { .seed = 5, .cpus = 4, .events = 0 };

	(void)state;
	round_trip(&o, NULL, 0);
	o.events = 1;
	round_trip(&o, NULL, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_styles),	cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_order),	cmocka_unit_test(test_bsf),
		cmocka_unit_test(test_empty),	cmocka_unit_test(test_seek_is_short),
		cmocka_unit_test(test_no_file), cmocka_unit_test(test_same_cause),
		cmocka_unit_test(test_ahead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
