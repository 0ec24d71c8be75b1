/* SPDX-License-Identifier: MIT */
/* config_json: both ways, by random configurations too, and bodies that must be refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collector/config_json.h"
#include "wire/block.h"

static int parse(struct message_config *c, const char *text, struct error *e)
{
	json_error_t je;
	json_t *o = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, &je);
	int r;

	if (!o)
		fail_msg("%s: %s", text, je.text);
	r = config_json_parse(c, o, e);
	json_decref(o);
	return r;
}

static void refuses(const char *text, const char *why)
{
	struct message_config c, before;
	struct error e = ERROR_INIT;

	memset(&c, 0x5a, sizeof(c));
	before = c;
	if (parse(&c, text, &e) != -EINVAL)
		fail_msg("%s is taken", text);
	assert_memory_equal(&c, &before, sizeof(c));
	if (!strstr(e.text, why))
		fail_msg("%s: \"%s\" does not say \"%s\"", text, e.text, why);
}

static void test_parse(void **state)
{
	struct message_config c = { .given = ~0U };
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(parse(&c, "{}", &e), 0);
	assert_int_equal(c.given, 0);
	assert_int_equal(
		parse(&c,
		      "{\"source\": \"bpf\", \"events\": [\"switch\", \"sched_waking\"],"
		      " \"pid\": [1, \"2\"], \"comm\": [\"a,b\", \"c\\\\d*\"],"
		      " \"cgroup\": [], \"flush\": \"1s\", \"block\": 8192, \"ring\": \"2M\","
		      " \"resolution\": 64, \"policy\": \"flight\", \"codec\": \"bsf\","
		      " \"func\": \"split\"}",
		      &e),
		0);
	assert_int_equal(c.given, CONFIG_ALL);
	assert_int_equal(c.origin, ORIGIN_BPF);
	assert_int_equal(c.events, 3);
	assert_int_equal(c.n_pids, 2);
	assert_int_equal(c.pids[1], 2);
	assert_int_equal(c.n_comms, 2);
	assert_string_equal(c.comms[0], "a,b");
	assert_string_equal(c.comms[1], "c\\d*");
	assert_int_equal(c.n_cgroups, 0);
	assert_int_equal(c.flush_ms, 1000);
	assert_int_equal(c.block_bytes, 8192);
	assert_int_equal(c.ring_kib, 2048);
	assert_int_equal(c.resolution_ns, 64);
	assert_int_equal(c.policy, POLICY_FLIGHT);
	assert_int_equal(c.codec, CODEC_BSF);
	assert_int_equal(c.func, FUNC_MODE_SPLIT);
	assert_int_equal(parse(&c, "{\"events\": \"switch,exit\", \"pid\": 7}", &e), 0);
	assert_int_equal(c.events, 1 | 1 << SCHED_EXIT);
	assert_int_equal(c.pids[0], 7);
}

static void test_refuse(void **state)
{
	char *big = malloc(200001), *body = malloc(200100);

	(void)state;
	refuses("[]", "not a JSON object");
	refuses("7", "not a JSON object");
	refuses("{\"evnts\": []}", "there is no such option");
	refuses("{\"comms\": [\"gen*\"]}", "cannot use \"comms\": there is no such option");
	refuses("{\"flush\": -1}", "flush");
	refuses("{\"flush\": 1.5}", "flush");
	refuses("{\"flush\": [100]}", "flush");
	refuses("{\"flush\": null}", "flush");
	refuses("{\"pid\": [[1]]}", "pid");
	refuses("{\"pid\": [true]}", "pid");
	refuses("{\"pid\": {\"a\": 1}}", "pid");
	refuses("{\"pid\": [\"1,2\"]}", "pid"); /* one member is one pid */
	refuses("{\"pid\": [\"\"]}", "pid");
	refuses("{\"pid\": [9223372036854775807]}", "pid");
	refuses("{\"comm\": [\"a\", \"\"]}", "comm");
	refuses("{\"comm\": \"a\\u0000b\"}", "comm");
	refuses("{\"events\": []}", "event");
	refuses("{\"source\": \"bpf\", \"ring\": 0}", "ring");
	memset(big, 'x', 200000);
	big[200000] = 0;
	snprintf(body, 200100, "{\"comm\": \"%s\"}", big);
	refuses(body, "too long");
	snprintf(body, 200100, "{\"%s\": 1}", big);
	refuses(body, "no such option");
	free(big);
	free(body);
}

static uint32_t below(uint32_t n)
{
	return n ? (uint32_t)rand() % n : 0;
}

static void fill_random(struct message_config *c)
{
	uint32_t i, k;

	memset(c, 0, sizeof(*c));
	c->given = (uint32_t)rand() & (CONFIG_ALL | CONFIG_PACES_BITS);
	for (i = 0; i < PACES; i++) {
		k = below(2) ? CONFIG_DUTY_LEAST_MS + below(10000) : 0;
		c->paces[i] =
			(struct config_pace){ .is_on = below(2),
					      .rate_hz = 1 + below(CONFIG_RATE_MOST),
					      .budget_ppm = CONFIG_BUDGET_LEAST + below(999900),
					      .on_ms = k,
					      .every_ms = k ? k + 1 + below(100000) : 0 };
	}
	c->origin = (uint8_t)below(ORIGINS);
	c->policy = (uint8_t)below(2);
	c->codec = below(2) ? CODEC_SCHED : CODEC_BSF;
	c->func = (uint8_t)below(FUNC_MODES);
	c->events = 1 + below((1U << SCHED_KINDS) - 1);
	c->block_bytes = CONFIG_BLOCK_LEAST + below(CONFIG_BLOCK_MOST - CONFIG_BLOCK_LEAST + 1);
	c->flush_ms = 1 + below(CONFIG_FLUSH_MOST);
	c->ring_kib = 1 + below(CONFIG_RING_MOST);
	c->resolution_ns = below(2) ? 1U << below(20) : 0;
	c->n_pids = below(CONFIG_PIDS_MAX + 1);
	for (i = 0; i < c->n_pids; i++)
		c->pids[i] = (int32_t)((uint32_t)rand() & INT32_MAX);
	c->n_comms = below(CONFIG_COMMS_MAX + 1);
	for (i = 0; i < c->n_comms; i++)
		for (k = 0; k < 1 + below(15); k++)
			c->comms[i][k] = "ab,\\/ -."[below(8)];
	c->n_cgroups = below(CONFIG_CGROUPS_MAX + 1);
	for (i = 0; i < c->n_cgroups; i++)
		for (k = 0; k < 1 + below(CONFIG_CGROUP_LEN - 2); k++)
			c->cgroups[i][k] = "ab,\\:-"[below(6)];
}

/* The fields that are not given do not travel. */
static void check_round(const struct message_config *c)
{
	struct message_config want = { 0 }, got = { 0 }, again = { 0 };
	struct error e = ERROR_INIT;
	json_t *o = config_json_format(c);

	config_apply(&want, c);
	if (config_json_parse(&got, o, &e) < 0)
		fail_msg("%s", e.text);
	config_apply(&again, &got);
	assert_memory_equal(&again, &want, sizeof(want));
	json_decref(o);
}

static void test_random(void **state)
{
	struct message_config c;
	int i;

	(void)state;
	srand(1);
	for (i = 0; i < 2000; i++) {
		fill_random(&c);
		check_round(&c);
	}
}

static void test_broken_names(void **state)
{
	struct message_config c = { .given = 1 << CONFIG_COMMS, .n_comms = 1 };
	json_t *o;

	(void)state;
	memcpy(c.comms[0], "a\xff\xfe", 4);
	o = config_json_format(&c);
	assert_string_equal(json_string_value(json_array_get(json_object_get(o, "comm"), 0)),
			    "a??");
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_refuse),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_broken_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
