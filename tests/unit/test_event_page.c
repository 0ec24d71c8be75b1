/* SPDX-License-Identifier: MIT */
/*
 * event_page: pages of every size, forward and backward, with and without a filter, are the items of
 * the run, each once and in order; also where many have the same time, and with losses among them.
 */
#include "stored.h"

#include <jansson.h>

#include "collector/event_page.h"
#include "tools/trace_store.h"
#include "trace/filter_parse.h"
#include "trace/run_source.h"

static char dir[64];
static struct trace_random trace;
static struct trace_blocks blocks;
static struct store *store;
static uint32_t run;
static struct trace_item *items;
static size_t n_items;
static struct trace_clock clock_of_run;

static int make(void **state)
{
	const struct trace_random_options o = { .seed = 3,
						.cpus = 3,
						.events = 700,
						.loss_every = 90,
						.tick_grain = 500000,
						.style = SCHED_RANDOM_REAL };
	const struct sink_ksk_options k = { .codec = CODEC_SCHED,
					    .block_bytes = 300,
					    .segment_bytes = 2000 };
	struct trace_source *source;
	struct error e = ERROR_INIT;

	(void)state;
	stored_folder(dir);
	trace_random_init(&trace, &o);
	trace_blocks_init(&blocks, &trace, &k);
	store = stored_open(dir, NULL);
	run = trace_store_run(store, 1);
	trace_store_put(store, run, &blocks, 0, blocks.n);
	trace_store_end(store, run, &blocks);
	assert_int_equal(source_run_open(&source, store, run, NULL, &e), 0);
	clock_of_run = source->info.clock;
	n_items = trace_items_read(source, &items);
	source_free(source);
	assert_true(n_items > 1000);
	return 0;
}

static int clean(void **state)
{
	(void)state;
	trace_items_free(items, n_items);
	store_free(store);
	trace_blocks_done(&blocks);
	trace_random_done(&trace);
	stored_remove(dir);
	return 0;
}

static uint64_t item_ns(const struct trace_item *i)
{
	return i->type == ITEM_EVENT ? clock_event_ns(&clock_of_run, &i->event)
				     : clock_ns(&clock_of_run, i->loss.from_tick);
}

struct asked {
	uint64_t from_ns, to_ns;
	uint32_t limit;
	const char *cpus, *kinds;
};

static json_t *get_page(const struct asked *a, bool backward, const char *cursor)
{
	struct trace_filter filter;
	struct event_query q = { .from_ns = a->from_ns,
				 .to_ns = a->to_ns,
				 .limit = a->limit,
				 .backward = backward,
				 .filter = &filter };
	struct error e = ERROR_INIT;
	char *text = NULL;
	json_t *page;
	size_t len;

	filter_init(&filter);
	if (a->cpus)
		assert_int_equal(filter_parse_cpus(&filter, a->cpus, &e), 0);
	if (a->kinds)
		assert_int_equal(filter_parse_kinds(&filter, a->kinds, &e), 0);
	assert_int_equal(store_get_run(store, run, &q.run, &e), 0);
	q.has_cursor = cursor;
	if (cursor)
		assert_int_equal(event_cursor_parse(cursor, &q.cursor), 0);
	if (event_page_make(store, &q, &text, &len, &e) < 0)
		fail_msg("%s", e.text);
	filter_done(&filter);
	page = json_loadb(text, len, 0, NULL);
	assert_non_null(page);
	free(text);
	assert_true(json_array_size(json_object_get(page, "events")) <= a->limit);
	return page;
}

/* All pages, one behind the other, as one list. */
static json_t *get_all(const struct asked *a, bool backward)
{
	json_t *all = json_array(), *page, *events;
	char cursor[EVENT_CURSOR_MAX] = "";
	const char *next;
	size_t i;

	do {
		page = get_page(a, backward, *cursor ? cursor : NULL);
		events = json_object_get(page, "events");
		if (backward)
			for (i = json_array_size(events); i > 0; i--)
				json_array_insert(all, 0, json_array_get(events, i - 1));
		else
			json_array_extend(all, events);
		next = json_string_value(json_object_get(page, backward ? "prev" : "next"));
		snprintf(cursor, sizeof(cursor), "%s", next ? next : "");
		json_decref(page);
	} while (*cursor);
	return all;
}

static bool passes(const struct asked *a, const struct trace_item *i)
{
	if (item_ns(i) < a->from_ns || item_ns(i) >= a->to_ns)
		return false;
	if (a->cpus && i->cpu != (uint32_t)(*a->cpus - '0'))
		return false;
	return !a->kinds || i->type == ITEM_LOSS || i->event.kind == SCHED_SWITCH;
}

static void compare_all(const struct asked *a, bool backward)
{
	json_t *all = get_all(a, backward), *one;
	size_t i, at = 0;

	for (i = 0; i < n_items; i++) {
		if (!passes(a, &items[i]))
			continue;
		one = json_array_get(all, at++);
		assert_non_null(one);
		assert_int_equal(json_integer_value(json_object_get(one, "ns")),
				 item_ns(&items[i]));
		assert_int_equal(json_integer_value(json_object_get(one, "cpu")), items[i].cpu);
		assert_string_equal(json_string_value(json_object_get(one, "event")),
				    items[i].type == ITEM_LOSS
					    ? "lost"
					    : sched_kind_event(items[i].event.kind));
	}
	assert_int_equal(at, json_array_size(all));
	assert_true(at > 0);
	json_decref(all);
}

static void test_pages(void **state)
{
	static const uint32_t limits[] = { 37, 256, 5000 };
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct asked a = { .to_ns = UINT64_MAX, .limit = limits[i] };

		compare_all(&a, false);
		compare_all(&a, true);
		a.cpus = "1";
		compare_all(&a, false);
		compare_all(&a, true);
		a.kinds = "switch";
		compare_all(&a, true);
	}
}

/* Every item its own page, where many have the same time. */
static void test_single(void **state)
{
	struct asked a = { .from_ns = item_ns(&items[600]), .limit = 1 };

	(void)state;
	a.to_ns = item_ns(&items[700]);
	assert_true(a.to_ns > a.from_ns);
	a.cpus = "2"; /* no loss of others that reaches in */
	compare_all(&a, true);
}

/* The neighbours of a page lead back to it. */
static void test_neighbours(void **state)
{
	struct asked a = { .to_ns = UINT64_MAX, .limit = 10 };
	json_t *first = get_page(&a, false, NULL), *second, *back, *last;

	(void)state;
	assert_true(json_is_null(json_object_get(first, "prev")));
	second = get_page(&a, false, json_string_value(json_object_get(first, "next")));
	back = get_page(&a, true, json_string_value(json_object_get(second, "prev")));
	assert_true(json_equal(json_object_get(first, "events"), json_object_get(back, "events")));
	last = get_page(&a, true, NULL);
	assert_true(json_is_null(json_object_get(last, "next")));
	assert_true(json_is_string(json_object_get(last, "prev")));
	json_decref(first);
	json_decref(second);
	json_decref(back);
	json_decref(last);
}

static void test_cursor(void **state)
{
	static const char *const bad[] = { "",
					   "5",
					   "5-",
					   "-5",
					   "5-x",
					   "5-6x",
					   "x",
					   " 5-6",
					   "5-6 ",
					   "5--6",
					   "99999999999999999999-0" };
	char text[EVENT_CURSOR_MAX];
	struct event_cursor c = { 0, 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(event_cursor_parse(bad[i], &c), -EINVAL);
	assert_int_equal(event_cursor_parse("1810779992000-3", &c), 0);
	assert_int_equal(c.ns, 1810779992000);
	assert_int_equal(c.ordinal, 3);
	event_cursor_format(&c, text);
	assert_string_equal(text, "1810779992000-3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_cursor),
	};

	return cmocka_run_group_tests(tests, make, clean);
}
