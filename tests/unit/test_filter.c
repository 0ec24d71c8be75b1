/* SPDX-License-Identifier: MIT */
/* filter: each condition passes exactly its items, and losses are never hidden by task or kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "sample.h"
#include "trace/filter_parse.h"

/* The numbers in sample_items[] that passed, as "1 2 3". */
static void passed(struct trace_source *s, char *ret, size_t room)
{
	struct error e = ERROR_INIT;
	struct trace_item item;
	size_t n = 0, i;
	int r;

	ret[0] = 0;
	while ((r = s->ops->next(s, &item, &e)) == 1) {
		for (i = 0; i < SAMPLE_N; i++)
			if (sample_items[i].type == item.type && sample_items[i].cpu == item.cpu &&
			    (item.type == ITEM_LOSS
				     ? !memcmp(&sample_items[i].loss, &item.loss, sizeof(item.loss))
				     : sched_event_equal(&sample_items[i].event, &item.event)))
				break;
		assert_true(i < SAMPLE_N);
		n += (size_t)snprintf(ret + n, room - n, "%s%zu", n ? " " : "", i);
	}
	assert_int_equal(r, 0);
	assert_int_equal(s->ops->next(s, &item, &e), 0);
}

struct options {
	const char *cpu, *pid, *comm, *event, *from, *to;
};

static struct trace_source *make(const struct options *o)
{
	struct trace_source *s = NULL;
	struct error e = ERROR_INIT;
	struct trace_filter f;

	filter_init(&f);
	assert_true(filter_is_empty(&f));
	if (o->cpu)
		assert_int_equal(filter_parse_cpus(&f, o->cpu, &e), 0);
	if (o->pid)
		assert_int_equal(filter_parse_pids(&f, o->pid, &e), 0);
	if (o->comm)
		assert_int_equal(filter_parse_comms(&f, o->comm, &e), 0);
	if (o->event)
		assert_int_equal(filter_parse_kinds(&f, o->event, &e), 0);
	if (o->from)
		assert_int_equal(filter_parse_time(&f.from, o->from, &e), 0);
	if (o->to)
		assert_int_equal(filter_parse_time(&f.to, o->to, &e), 0);
	assert_int_equal(filter_source_new(&s, sample_source_new(), &f, &e), 0);
	assert_true(filter_is_empty(&f));
	return s;
}

static void expect(const char *want, struct options o)
{
	struct error e = ERROR_INIT;
	struct trace_source *s = make(&o);
	char got[200];

	passed(s, got, sizeof(got));
	assert_string_equal(got, want);
	assert_int_equal(s->ops->rewind(s, &e), 0);
	passed(s, got, sizeof(got));
	assert_string_equal(got, want);
	assert_int_equal(s->info.n_tasks, 3);
	source_free(s);
}

#define ALL "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18"

static void test_conditions(void **state)
{
	(void)state;
	expect(ALL, (struct options){ 0 });
	expect(ALL, (struct options){ .cpu = "0-1" });
	expect("4 10 11 12 13 16 18", (struct options){ .cpu = "1" });
	expect("0 11 12 17 18", (struct options){ .cpu = "0,1", .event = "exec", .pid = "7" });
	expect("0 8 11 12 17 18", (struct options){ .event = "exec" });
	expect("0 2 3 6 11 12 17 18",
	       (struct options){ .event = "waking,sched_wakeup,sched_wakeup_new" });
	/* 43 is prev, the renamed priority's owner, and who ran. */
	expect("0 4 10 11 12 13 17 18", (struct options){ .pid = "43" });
	/* 0 is a pid like others: fields that a kind does not use are none. */
	expect("0 1 11 12 15 17 18", (struct options){ .pid = "0" });
}

static void test_names(void **state)
{
	(void)state;
	expect("0 4 10 11 12 13 17 18", (struct options){ .comm = "<a>*" });
	/* Who ran is known by name from the switch before, and the rename counts for both names;
	 * the exec names a pid alone. */
	expect("0 9 11 12 14 15 17 18", (struct options){ .comm = "\xc3\xa9t\xc3\xa9*" });
	expect("0 1 2 3 5 6 7 8 9 11 12 17 18", (struct options){ .comm = "two words" });
	expect("0 11 12 16 17 18", (struct options){ .comm = "16 bytes\\, no NUL" });
	expect("0 11 12 17 18", (struct options){ .comm = "16 bytes" });
	expect("8 9 11 12 14 15 16 17 18",
	       (struct options){ .comm = "16*,nothing", .pid = "44", .from = "1.000004400" });
}

static void test_time(void **state)
{
	(void)state;
	expect("5 6 7", (struct options){ .from = "1000004us", .to = "1.0000044", .cpu = "0" });
	expect("5 6 7", (struct options){ .from = "+2us", .to = "+2400ns", .cpu = "0,1" });
	/* The offset of an odd stamp counts: tick 221 is 1000004420 - 7. */
	expect("9", (struct options){ .from = "1000004413ns", .to = "1000004414ns" });
	expect("11", (struct options){ .from = "1000004700ns", .to = "1000004800ns" });
	expect("18", (struct options){ .from = "1.000007" });
	expect("", (struct options){ .from = "2s" });
	expect("0", (struct options){ .to = "1.0" });
}

static void test_seek(void **state)
{
	static struct trace_item items[1000];
	struct options o = { .from = "+500s" };
	struct error e = ERROR_INIT;
	struct trace_source *s, *inner;
	struct trace_filter f;
	struct trace_item item;
	size_t i;

	(void)state;
	memset(items, 0, sizeof(items));
	for (i = 0; i < 1000; i++)
		items[i].event.tick = 7000000000ULL + i * 1000000000;
	filter_init(&f);
	assert_int_equal(filter_parse_time(&f.from, o.from, &e), 0);
	assert_int_equal(filter_parse_time(&f.to, "+502s", &e), 0);
	inner = array_source_new(items, 1000);
	assert_int_equal(filter_source_new(&s, inner, &f, &e), 0);
	assert_int_equal(s->ops->next(s, &item, &e), 1);
	assert_true(item.event.tick == 507000000000ULL);
	assert_int_equal(((struct array_source *)inner)->seeks, 1);
	assert_int_equal(s->ops->next(s, &item, &e), 1);
	assert_int_equal(s->ops->next(s, &item, &e), 0);
	/* It stopped soon after the end instead of reading on. */
	assert_true(((struct array_source *)inner)->at < 520);
	assert_int_equal(s->ops->seek(s, 1, &e), 0);
	assert_int_equal(s->ops->next(s, &item, &e), 1);
	assert_true(item.event.tick == 507000000000ULL);
	source_free(s);
}

static void test_wrong_words(void **state)
{
	static const char *const cpus[] = {
		"", "x", "1-", "-1", "3-1", "4096", "1,,2", "1,", "1 "
	};
	static const char *const pids[] = {
		"",   "-1",  "2147483648",	    "7@", "7@x", "@7", "7@-1", "7@1@2",
		"1,", "0x1", "99999999999999999999"
	};
	static const char *const times[] = { "",
					     "+",
					     "s",
					     ".5",
					     "5.",
					     "1.5m",
					     "1e3",
					     "-1",
					     "1 s",
					     "0.5ns",
					     "1.0000000001",
					     "18446744073709551615",
					     "18446744074s",
					     "18446744073.8",
					     "99999999999999999999999ns" };
	struct filter_time t = { 0 };
	struct trace_filter f;
	struct error e;
	size_t i;

	(void)state;
	filter_init(&f);
	for (i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		e.text[0] = 0;
		assert_int_equal(filter_parse_cpus(&f, cpus[i], &e), -EINVAL);
		assert_int_not_equal(e.text[0], 0);
	}
	for (i = 0; i < sizeof(pids) / sizeof(pids[0]); i++)
		assert_int_equal(filter_parse_pids(&f, pids[i], &e), -EINVAL);
	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		assert_int_equal(filter_parse_time(&t, times[i], &e), -EINVAL);
	assert_false(t.given);
	assert_int_equal(filter_parse_kinds(&f, "switch,swtich", &e), -EINVAL);
	assert_non_null(strstr(e.text, "swtich"));
	assert_int_equal(filter_parse_comms(&f, "a,,b", &e), -EINVAL);
	filter_done(&f);
}

static void test_right_times(void **state)
{
	static const struct {
		const char *text;
		bool relative;
		uint64_t ns;
	} times[] = {
		{ "1.5s", false, 1500000000 },
		{ "+200ms", true, 200000000 },
		{ "123456789ns", false, 123456789 },
		{ "1234.567890", false, 1234567890000 },
		{ "+1.0000000010", true, 1000000001 },
		{ "2.5us", false, 2500 },
		{ "18446744073.709551615", false, UINT64_MAX },
		{ "0", false, 0 },
	};
	struct filter_time t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		assert_int_equal(filter_parse_time(&t, times[i].text, NULL), 0);
		assert_true(t.given);
		assert_int_equal(t.relative, times[i].relative);
		assert_true(t.ns == times[i].ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conditions),  cmocka_unit_test(test_names),
		cmocka_unit_test(test_time),	    cmocka_unit_test(test_seek),
		cmocka_unit_test(test_wrong_words), cmocka_unit_test(test_right_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
