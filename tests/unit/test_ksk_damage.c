/* SPDX-License-Identifier: MIT */
/*
 * ksk_damage: the law of the ledger. A file with known contents is damaged at random: bits flip,
 * pages turn to zeros, ranges vanish or come twice, the tail is cut. Whatever is left, for every
 * CPU: what is given is a subsequence of what was written, and events given + events told as lost
 * = events written and lost before, exactly; or the ledger says that it does not know; or no header
 * of the lost blocks remains, and then the file's list of damage is not empty.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "store/ksk.h"
#include "tools/sched_random.h"
#include "tools/trace_random.h"
#include "trace/ksk_source.h"

#define FILES 24
#define CASES 6000
#define CPUS_MAX 6

struct original {
	struct trace_random trace;
	uint8_t *bytes;
	size_t len;
	uint64_t total[CPUS_MAX]; /* events and counted losses */
};

enum damage {
	FLIP,
	ZERO,
	REPEAT,
	REMOVE,
	CUT,
	DAMAGES,
};

static struct original originals[FILES];
static struct sched_random numbers;

static uint32_t below(size_t n)
{
	return sched_random_below(&numbers, (uint32_t)n);
}

static int make_originals(void **state)
{
	static const uint32_t sizes[] = { 30, 100, 400, 2000 };
	uint32_t i;
	size_t k;

	(void)state;
	for (i = 0; i < FILES; i++) {
		struct original *o = &originals[i];
		struct trace_random_options t = { .seed = 1000 + i,
						  .cpus = 1 + i % CPUS_MAX,
						  .events = 50 + 60 * (i % 5),
						  .style = i % SCHED_RANDOM_STYLES,
						  .loss_every = i % 3 ? 20 : 0 };
		struct sink_ksk_options k_options = { .codec = i % 8 == 7 ? CODEC_BSF : CODEC_SCHED,
						      .block_bytes = sizes[i % 4],
						      .segment_bytes = sizes[i / 4 % 4] };
		struct trace_item *items;
		struct error e = ERROR_INIT;
		struct trace_source *s;
		size_t n;

		trace_random_init(&o->trace, &t);
		o->bytes = trace_random_ksk(&o->trace, &k_options, &o->len);
		/* What a codec cannot hold is no loss of the file. */
		assert_int_equal(source_ksk_open_memory(&s, o->bytes, o->len, &e), 0);
		n = trace_items_read(s, &items);
		source_free(s);
		trace_items_free(o->trace.items, o->trace.n);
		o->trace.items = items;
		o->trace.n = n;
		for (k = 0; k < n; k++)
			if (items[k].type == ITEM_EVENT)
				o->total[items[k].cpu]++;
			else if (items[k].loss.count != LOSS_UNKNOWN)
				o->total[items[k].cpu] += items[k].loss.count;
	}
	return 0;
}

static int free_originals(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < FILES; i++) {
		trace_random_done(&originals[i].trace);
		free(originals[i].bytes);
	}
	return 0;
}

/* An offset behind the head: anywhere, or exactly where a block starts, or near that. */
static size_t place(const uint8_t *data, size_t len)
{
	size_t at = KSK_HEAD_LEN + below(len - KSK_HEAD_LEN);
	struct block b;

	if (below(3) == 0)
		return at;
	while (at > KSK_HEAD_LEN && block_decode(data + at, len - at, &b) != WIRE_OK)
		at--;
	if (below(3) == 0)
		at += below(24);
	return at < len ? at : len - 1;
}

static void damage_once(uint8_t *data, size_t *len, enum damage kind)
{
	size_t at = place(data, *len), to = place(data, *len), n, i, back;
	uint8_t *copy;

	if (to < at) {
		n = to;
		to = at;
		at = n;
	}
	n = to - at;
	switch (kind) {
	case FLIP:
		for (i = 0; i < 1 + below(4) * (size_t)below(4); i++)
			data[place(data, *len)] ^= (uint8_t)(1U << below(8));
		break;
	case ZERO:
		n = n > 4096 ? 4096 : n + 1;
		memset(data + at, 0, at + n > *len ? *len - at : n);
		break;
	case REPEAT:
		back = place(data, *len);
		copy = malloc(n + 1);
		memcpy(copy, data + at, n);
		memmove(data + back + n, data + back, *len - back);
		memcpy(data + back, copy, n);
		free(copy);
		*len += n;
		break;
	case REMOVE:
		memmove(data + at, data + to, *len - to);
		*len -= n;
		break;
	default:
		*len = at;
		break;
	}
}

struct account {
	uint64_t sum; /* events and counted losses */
	bool unknown; /* damage that nobody counted */
	bool any;
};

/* Every event given must be found in the original behind the one before it. */
static void take_account(const struct original *o, const struct trace_item *items, size_t n,
			 struct account *ret, uint32_t test)
{
	size_t at[CPUS_MAX] = { 0 }, i, k;

	memset(ret, 0, CPUS_MAX * sizeof(*ret));
	for (i = 0; i < n; i++) {
		uint32_t cpu = items[i].cpu;

		assert_true(cpu < o->trace.info.cpus);
		ret[cpu].any = true;
		if (items[i].type == ITEM_LOSS) {
			if (items[i].loss.count != LOSS_UNKNOWN)
				ret[cpu].sum += items[i].loss.count;
			else if (items[i].loss.cause == LOSS_DAMAGE)
				ret[cpu].unknown = true;
			continue;
		}
		ret[cpu].sum++;
		for (k = at[cpu]; k < o->trace.n; k++)
			if (o->trace.items[k].cpu == cpu &&
			    trace_item_equal(&o->trace.items[k], &items[i]))
				break;
		if (k == o->trace.n)
			fail_msg("case %u: cpu %u: item %zu was never written", test, cpu, i);
		at[cpu] = k + 1;
	}
}

static void check_law(const struct original *o, struct trace_source *s, const struct account *a,
		      uint32_t kinds, uint32_t test)
{
	const struct ksk_file *f = source_ksk_file(s);
	bool removed = kinds & (1U << REMOVE | 1U << CUT);
	const struct ksk_stream *stream;
	uint32_t cpu;

	for (cpu = 0; cpu < o->trace.info.cpus; cpu++) {
		stream = ksk_file_stream(f, STREAM_CPU(cpu));
		if (a[cpu].sum == o->total[cpu] || a[cpu].unknown)
			continue;
		/* A cut header is not vouched for: with other damage before, it may be wrong. */
		if (a[cpu].sum < o->total[cpu] && !(stream && stream->counted) && f->n_damage &&
		    (removed || !a[cpu].any))
			continue;
		if (removed && kinds & (kinds - 1) && !(stream && stream->counted))
			continue;
		fail_msg("case %u, file %td, damage %x: cpu %u: %llu accounted for of %llu", test,
			 o - originals, kinds, cpu, (unsigned long long)a[cpu].sum,
			 (unsigned long long)o->total[cpu]);
	}
}

static size_t items_from(const struct trace_item *all, size_t n, uint64_t tick,
			 struct trace_item *ret, uint32_t cpu)
{
	size_t i, kept = 0;

	for (i = 0; i < n; i++)
		if (all[i].cpu == cpu &&
		    (kept ||
		     (all[i].type == ITEM_EVENT ? all[i].event.tick : all[i].loss.to_tick) >= tick))
			ret[kept++] = all[i];
	return kept;
}

/* From a tick on, the same as when read from the start. */
static void check_seek(const struct original *o, struct trace_source *s,
		       const struct trace_item *items, size_t n, uint32_t test)
{
	struct trace_item *got, *a = malloc((n + 1) * sizeof(*a)), *b;
	struct error e = ERROR_INIT;
	size_t n_got, n_a, n_b, i;
	uint64_t tick = n ? item_tick(&items[below(n)]) + below(2) : 7;
	uint32_t cpu;

	assert_int_equal(s->ops->seek(s, tick, &e), 0);
	n_got = trace_items_read(s, &got);
	b = malloc((n_got + 1) * sizeof(*b));
	for (cpu = 0; cpu < o->trace.info.cpus; cpu++) {
		n_a = items_from(items, n, tick, a, cpu);
		n_b = items_from(got, n_got, 0, b, cpu);
		if (n_a != n_b)
			fail_msg("case %u: cpu %u: %zu items after a seek, not %zu", test, cpu, n_b,
				 n_a);
		for (i = 0; i < n_a; i++)
			if (!trace_item_equal(&a[i], &b[i]))
				fail_msg("case %u: cpu %u: item %zu differs after a seek", test,
					 cpu, i);
	}
	free(a);
	free(b);
	trace_items_free(got, n_got);
}

static void one_case(uint32_t test)
{
	const struct original *o = &originals[below(FILES)];
	uint8_t *data = malloc(o->len * 8 + 1), *exact;
	uint32_t kinds = 0, times = 1 + (below(3) == 0) * below(3);
	struct account accounts[CPUS_MAX];
	struct error e = ERROR_INIT;
	struct trace_source *s;
	struct trace_item *items;
	size_t len = o->len, n;

	memcpy(data, o->bytes, len);
	while (times-- && len > KSK_HEAD_LEN) {
		enum damage kind = below(DAMAGES);

		kinds |= 1U << kind;
		damage_once(data, &len, kind);
	}
	exact = malloc(len); /* so that a byte too far is seen */
	memcpy(exact, data, len);
	free(data);
	if (source_ksk_open_memory(&s, exact, len, &e) < 0)
		fail_msg("case %u: %s", test, e.text);
	n = trace_items_read(s, &items);
	take_account(o, items, n, accounts, test);
	check_law(o, s, accounts, kinds, test);
	if (test % 4 == 0)
		check_seek(o, s, items, n, test);
	assert_int_equal(ksk_file_verify(source_ksk_file(s), &e), 0);
	if (len != o->len || memcmp(exact, o->bytes, len))
		assert_true(source_ksk_file(s)->n_damage > 0);
	else
		assert_int_equal(source_ksk_file(s)->n_damage, 0);
	trace_items_free(items, n);
	source_free(s);
	free(exact);
}

static void test_random(void **state)
{
	uint32_t test;

	(void)state;
	for (test = 0; test < CASES; test++) {
		sched_random_init(&numbers, test, SCHED_RANDOM_REAL);
		one_case(test);
	}
}

/* Every single byte, one after the other. */
static void test_each_byte(void **state)
{
	const struct original *o = &originals[5];
	uint8_t *data = malloc(o->len);
	struct account accounts[CPUS_MAX];
	struct error e = ERROR_INIT;
	struct trace_source *s;
	struct trace_item *items;
	size_t at, n;

	(void)state;
	for (at = KSK_HEAD_LEN; at < o->len; at++) {
		memcpy(data, o->bytes, o->len);
		data[at] ^= (uint8_t)(1U << at % 8);
		assert_int_equal(source_ksk_open_memory(&s, data, o->len, &e), 0);
		n = trace_items_read(s, &items);
		take_account(o, items, n, accounts, (uint32_t)at);
		check_law(o, s, accounts, 1U << FLIP, (uint32_t)at);
		trace_items_free(items, n);
		source_free(s);
	}
	free(data);
}

/* Every length that a file can be cut to. */
static void test_each_cut(void **state)
{
	const struct original *o = &originals[13];
	struct account accounts[CPUS_MAX];
	struct error e = ERROR_INIT;
	struct trace_source *s;
	struct trace_item *items;
	uint8_t *data;
	size_t len, n;

	(void)state;
	for (len = KSK_HEAD_LEN; len < o->len; len++) {
		data = malloc(len);
		memcpy(data, o->bytes, len);
		assert_int_equal(source_ksk_open_memory(&s, data, len, &e), 0);
		n = trace_items_read(s, &items);
		take_account(o, items, n, accounts, (uint32_t)len);
		check_law(o, s, accounts, 1U << CUT, (uint32_t)len);
		assert_true(source_ksk_file(s)->n_damage > 0);
		trace_items_free(items, n);
		source_free(s);
		free(data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_each_byte),
		cmocka_unit_test(test_each_cut),
	};

	return cmocka_run_group_tests(tests, make_originals, free_originals);
}
