/* SPDX-License-Identifier: MIT */
/* live_item: what item_json writes comes back, by random events too; broken objects do not. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/live_item.h"
#include "convert/item_json.h"
#include "tools/trace_random.h"

static struct live_item got;

static int parse(const char *text, size_t len, struct error *e)
{
	json_error_t why;
	json_t *o = json_loadb(text, len, 0, &why);
	int r;

	if (!o)
		fail_msg("%.*s: %s", (int)len, text, why.text);
	r = live_item_parse(&got, o, e);
	json_decref(o);
	return r;
}

/* Ticks become the nanoseconds of the object; JSON's numbers end at 2^63. */
static bool make_wanted(struct trace_item *i, const struct trace_info *info)
{
	uint64_t ns;

	if (i->type == ITEM_EVENT) {
		ns = clock_event_ns(&info->clock, &i->event);
		i->event.tick = ns;
		i->event.tick_off_ns = 0;
		return ns <= INT64_MAX && i->event.state <= INT64_MAX;
	}
	i->loss.from_tick = i->loss.from_tick ? clock_ns(&info->clock, i->loss.from_tick) : 0;
	i->loss.to_tick = clock_ns(&info->clock, i->loss.to_tick);
	return i->loss.from_tick <= INT64_MAX && i->loss.to_tick <= INT64_MAX &&
	       (i->loss.count <= INT64_MAX || i->loss.count == LOSS_UNKNOWN);
}

static void test_round(void **state)
{
	struct trace_random_options o = {
		.seed = 3, .cpus = 4, .events = 3000, .loss_every = 50, .damage_unknown = true
	};
	struct error e = ERROR_INIT;
	struct trace_random t;
	size_t i, compared = 0;

	(void)state;
	trace_random_init(&t, &o);
	for (i = 0; i < t.n; i++) {
		struct trace_item want = t.items[i];
		char *text = malloc(fields_room(&want));
		char *p = item_put_json(text, &want, &t.info);

		if (make_wanted(&want, &t.info)) {
			if (parse(text, (size_t)(p - text), &e) != 0)
				fail_msg("%.*s: %s", (int)(p - text), text, e.text);
			if (!trace_item_equal(&got.item, &want))
				fail_msg("not the same: %.*s", (int)(p - text), text);
			compared++;
		}
		free(text);
	}
	assert_true(compared > t.n / 2);
	trace_random_done(&t);
}

static void is(const char *text, int want)
{
	struct error e = ERROR_INIT;

	if (parse(text, strlen(text), &e) != want)
		fail_msg("%s: not %d", text, want);
}

static void test_broken(void **state)
{
	(void)state;
	is("{\"kind\":\"exec\",\"ns\":5,\"cpu\":0,\"common_pid\":1,\"pid\":1,\"filename\":"
	   "\"/a\\\\x41\\\\\\\\\",\"old_pid\":1}",
	   0);
	assert_int_equal(got.item.event.filename_len, 4);
	assert_memory_equal(got.item.event.filename, "/aA\\", 4);
	assert_false(got.has_flags);
	is("{\"kind\":\"trace\"}", 1);
	is("{\"kind\":\"totals\"}", 1);
	is("{}", -EBADMSG);
	is("[]", -EBADMSG);
	is("{\"kind\":7}", -EBADMSG);
	is("{\"kind\":\"waking\",\"ns\":5,\"cpu\":0,\"common_pid\":1}", -EBADMSG);
	is("{\"kind\":\"waking\",\"ns\":5,\"cpu\":4096,\"common_pid\":1,\"comm\":\"a\",\"pid\":1,"
	   "\"prio\":1,\"target_cpu\":0}",
	   -EBADMSG);
	is("{\"kind\":\"waking\",\"ns\":-5,\"cpu\":0,\"common_pid\":1,\"comm\":\"a\",\"pid\":1,"
	   "\"prio\":1,\"target_cpu\":0}",
	   -EBADMSG);
	is("{\"kind\":\"waking\",\"ns\":5,\"cpu\":0,\"common_pid\":1,\"comm\":"
	   "\"12345678901234567\","
	   "\"pid\":1,\"prio\":1,\"target_cpu\":0}",
	   -EBADMSG);
	is("{\"kind\":\"waking\",\"ns\":5,\"cpu\":0,\"common_pid\":1,\"comm\":\"a\",\"pid\":"
	   "2147483648,\"prio\":1,\"target_cpu\":0}",
	   -EBADMSG);
	is("{\"kind\":\"lost\",\"ns\":5,\"cpu\":0,\"to_ns\":5,\"count\":1,\"cause\":\"magic\"}",
	   -EBADMSG);
	is("{\"kind\":\"lost\",\"ns\":5,\"cpu\":0,\"to_ns\":5,\"cause\":\"ring\"}", 0);
	assert_true(got.item.loss.count == LOSS_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round),
		cmocka_unit_test(test_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
