/* SPDX-License-Identifier: MIT */
/* config_args: every option, its limits on both sides, and that a wrong one changes nothing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "command/config_args.h"
#include "trace/word.h"
#include "wire/block.h"

static struct message_config taken(const char *name, const char *text)
{
	struct message_config c = { 0 };
	struct error e = ERROR_INIT;

	if (config_option_parse(&c, name, text, &e) < 0)
		fail_msg("--%s %s: %s", name, text, e.text);
	return c;
}

static void refuses(const char *name, const char *text)
{
	struct message_config c, before;
	struct error e = ERROR_INIT;

	memset(&c, 0x5a, sizeof(c));
	before = c;
	if (config_option_parse(&c, name, text, &e) != -EINVAL)
		fail_msg("--%s %s is taken", name, text);
	assert_memory_equal(&c, &before, sizeof(c));
	assert_memory_equal(e.text, "cannot use ", 11);
}

static void test_paces(void **state)
{
	const struct cli_option paces[] = { CONFIG_PACE_OPTIONS, { 0 } };
	struct message_config c;
	uint32_t i;

	(void)state;
	for (i = 0; i < PACES * CONFIG_PACE_PARTS; i++)
		assert_string_equal(config_option_name(CONFIG_PACE + i), paces[i].name);
	assert_null(paces[i].name);
	assert_int_equal(taken("profile", "on").paces[PACE_OF_PROFILE].is_on, 1);
	assert_int_equal(taken("vm", "off").given, 1U << CONFIG_PACE_FIELD(PACE_OF_VM, PACE_MODE));
	assert_int_equal(taken("vm-rate", "100000").paces[PACE_OF_VM].rate_hz, 100000);
	assert_int_equal(taken("profile-budget", "0.5%").paces[PACE_OF_PROFILE].budget_ppm, 5000);
	assert_int_equal(taken("profile-budget", "0").paces[PACE_OF_PROFILE].budget_ppm, 0);
	c = taken("profile-duty", "1500ms/1m");
	assert_int_equal(c.paces[PACE_OF_PROFILE].on_ms, 1500);
	assert_int_equal(c.paces[PACE_OF_PROFILE].every_ms, 60000);
	assert_int_equal(taken("vm-duty", "").paces[PACE_OF_VM].every_ms, 0);
	refuses("profile", "pause");
	refuses("profile-rate", "0");
	refuses("profile-rate", "100001");
	refuses("profile-rate", "1kHz");
	refuses("vm-budget", "0.001");
	refuses("vm-budget", "100.1");
	refuses("vm-budget", "-0.5");
	refuses("vm-budget", "nan");
	refuses("vm-duty", "10s");
	refuses("vm-duty", "60s/10s");
	refuses("vm-duty", "10s/10s");
	refuses("vm-duty", "999ms/10s");
	refuses("vm-duty", "1s/25h");
	assert_int_equal(config_get_pace(&c), PACE_OF_PROFILE);
	c.given |= 1U << CONFIG_FLUSH;
	assert_int_equal(config_get_pace(&c), PACES);
	c.given = 0;
	assert_int_equal(config_get_pace(&c), PACES);
}

static void test_words(void **state)
{
	(void)state;
	assert_int_equal(taken("source", "auto").origin, ORIGIN_AUTO);
	assert_int_equal(taken("source", "driver").origin, ORIGIN_DRIVER);
	assert_int_equal(taken("source", "bpf").given, 1 << CONFIG_ORIGIN);
	assert_int_equal(taken("policy", "flight").policy, POLICY_FLIGHT);
	assert_int_equal(taken("policy", "flight-recorder").policy, POLICY_FLIGHT);
	assert_int_equal(taken("policy", "keep-oldest").policy, POLICY_OLDEST);
	refuses("source", "");
	refuses("source", "BPF");
	refuses("source", "bp");
	refuses("policy", "latest");
	assert_int_equal(taken("codec", "sched").codec, CODEC_SCHED);
	assert_int_equal(taken("codec", "bsf").codec, CODEC_BSF);
	assert_int_equal(taken("codec", "bsf").given, 1 << CONFIG_CODEC);
	assert_int_equal(taken("func", "off").func, FUNC_MODE_OFF);
	assert_int_equal(taken("func", "on").func, FUNC_MODE_ON);
	assert_int_equal(taken("func", "split").func, FUNC_MODE_SPLIT);
	assert_int_equal(taken("func", "off").given, 1 << CONFIG_FUNC);
	refuses("func", "");
	refuses("func", "yes");
	refuses("codec", "");
	refuses("codec", "meta");
}

static void test_numbers(void **state)
{
	(void)state;
	assert_int_equal(taken("block", "4096").block_bytes, 4096);
	assert_int_equal(taken("block", "64K").block_bytes, 65536);
	refuses("block", "4095");
	refuses("block", "65537");
	refuses("block", "1M");
	refuses("block", "4096 ");
	refuses("block", "16KB");
	refuses("block", "-1");
	refuses("block", "4294971392"); /* 2^32 + 4096 */
	assert_int_equal(taken("block", "8k").block_bytes, 8192);
	assert_int_equal(taken("ring", "1").ring_kib, 1);
	assert_int_equal(taken("ring", "512k").ring_kib, 512);
	assert_int_equal(taken("ring", "1M").ring_kib, 1024);
	assert_int_equal(taken("ring", "256M").ring_kib, CONFIG_RING_MOST);
	refuses("ring", "0");
	refuses("ring", "257M");
	refuses("ring", "4294967295M");
	refuses("ring", "1G");
	assert_int_equal(taken("flush", "100").flush_ms, 100);
	assert_int_equal(taken("flush", "100ms").flush_ms, 100);
	assert_int_equal(taken("flush", "1m").flush_ms, 60000);
	assert_int_equal(taken("flush", "1.5s").flush_ms, 1500);
	refuses("flush", "0");
	refuses("flush", "61s");
	refuses("flush", "1500us");
	refuses("flush", "");
	assert_int_equal(taken("resolution", "0").resolution_ns, 0);
	assert_int_equal(taken("resolution", "64").resolution_ns, 64);
	assert_int_equal(taken("resolution", "64ns").resolution_ns, 64);
	refuses("resolution", "1us");
	refuses("resolution", "3");
	refuses("resolution", "4294967296");
}

static void test_lists(void **state)
{
	struct message_config c = taken("events", "switch,task_rename,wakeup_new");

	(void)state;
	assert_int_equal(c.events, 1 << SCHED_SWITCH | 1 << SCHED_RENAME | 1 << SCHED_WAKEUP_NEW);
	assert_int_equal(taken("events", "all").events, (1 << SCHED_KINDS) - 1);
	refuses("events", "");
	refuses("events", "switch,");
	refuses("events", "switch,,waking");
	refuses("events", "Switch");
	c = taken("pid", "1,2147483647,0");
	assert_int_equal(c.n_pids, 3);
	assert_int_equal(c.pids[1], INT32_MAX);
	assert_int_equal(taken("pid", "").given, 1 << CONFIG_PIDS);
	assert_int_equal(taken("pid", "").n_pids, 0);
	refuses("pid", "2147483648");
	refuses("pid", "-1");
	refuses("pid", "1,");
	refuses("pid", "1 ,2");
	c = taken("comm", "nginx*,a\\,b,c\\\\d,0123456789abcde*");
	assert_int_equal(c.n_comms, 4);
	assert_memory_equal(c.comms[0], "nginx*\0\0\0\0\0\0\0\0\0\0", 16);
	assert_string_equal(c.comms[1], "a,b");
	assert_string_equal(c.comms[2], "c\\d");
	assert_memory_equal(c.comms[3], "0123456789abcde*", 16);
	c = taken("comm", "a b, c,\\ d");
	assert_int_equal(c.n_comms, 3);
	assert_string_equal(c.comms[0], "a b");
	assert_string_equal(c.comms[1], "c");
	assert_string_equal(c.comms[2], " d");
	refuses("comm", "0123456789abcdef*");
	refuses("comm", "a*b");
	refuses("comm", "**");
	refuses("comm", ",");
	c = taken("cgroup", "/system.slice/x.service/,user..slice");
	assert_string_equal(c.cgroups[0], "/system.slice/x.service");
	assert_string_equal(c.cgroups[1], "user..slice");
	refuses("cgroup", "/a/../b");
	refuses("cgroup", "..");
	refuses("cgroup", "a,,b");
	refuses("cgroup", "1,2,3,4,5");
}

static void test_ceilings(void **state)
{
	char text[1024] = "7";
	size_t i;

	(void)state;
	for (i = 1; i < CONFIG_PIDS_MAX; i++)
		strcat(text, ",7");
	assert_int_equal(taken("pid", text).n_pids, CONFIG_PIDS_MAX);
	strcat(text, ",7");
	refuses("pid", text);
	strcpy(text, "x");
	for (i = 1; i < CONFIG_COMMS_MAX; i++)
		strcat(text, ",x");
	assert_int_equal(taken("comm", text).n_comms, CONFIG_COMMS_MAX);
	strcat(text, ",x");
	refuses("comm", text);
	memset(text, 'g', CONFIG_CGROUP_LEN);
	text[CONFIG_CGROUP_LEN - 1] = 0;
	assert_int_equal(strlen(taken("cgroup", text).cgroups[0]), CONFIG_CGROUP_LEN - 1);
	text[CONFIG_CGROUP_LEN - 1] = 'g';
	text[CONFIG_CGROUP_LEN] = 0;
	refuses("cgroup", text);
	memset(text, 'g', sizeof(text) - 1);
	refuses("cgroup", text);
}

static int run_nothing(const struct args *a)
{
	(void)a;
	return 0;
}

static void test_table(void **state)
{
	static const struct cli_option options[] = { CONFIG_OPTIONS, { 0 } };
	static const struct command command = { .name = "x",
						.options = options,
						.run = run_nothing };
	const char *argv[] = { "x", "--pid", "1,2", "--source=bpf", "--flush", "2s", NULL };
	struct message_config c = { .given = 1 << CONFIG_RING, .ring_kib = 7 };
	struct error e = ERROR_INIT;
	struct args a;
	uint32_t i;

	(void)state;
	assert_int_equal(args_parse(&a, &command, 6, (char *const *)argv, &e), 0);
	assert_int_equal(config_args_parse(&c, &a, &e), 0);
	assert_int_equal(c.given, 1 << CONFIG_RING | 1 << CONFIG_PIDS | 1 << CONFIG_ORIGIN |
					  1 << CONFIG_FLUSH);
	assert_int_equal(c.flush_ms, 2000);
	argv[2] = "1,x";
	assert_int_equal(args_parse(&a, &command, 6, (char *const *)argv, &e), 0);
	assert_int_equal(config_args_parse(&c, &a, &e), -EINVAL);
	assert_string_equal(e.text, "cannot use pid: \"x\" is not a pid");
	assert_int_equal(c.n_pids, 2);
	assert_int_equal(config_option_parse(&c, "evnts", "x", &e), -ENOENT);
	for (i = 0; i <= SCHED_KINDS; i++) { /* the same words as in exports */
		const char *word = config_event_word(i);

		assert_string_equal(word ? word : "unknown", word_kind(i));
	}
	for (i = CONFIG_ORIGIN; i < CONFIG_FIELDS; i++) {
		assert_non_null(config_option_name(i));
		if (i < CONFIG_PACE)
			args_get(&a, config_option_name(i)); /* asserts that the table has it */
	}
	/* What test_recorder's test_flush sees happen is what people are told. */
	for (i = 0; strcmp(options[i].name, "flush"); i++)
		;
	assert_non_null(strstr(options[i].help, "twice"));
	assert_null(config_option_name(0));
	assert_null(config_option_name(CONFIG_FIELDS));
	assert_null(config_origin_word(ORIGINS));
	assert_null(config_policy_word(2));
	assert_null(config_codec_word(CODEC_META));
	assert_null(config_codec_word(CODEC_BSF + 1));
	assert_null(config_func_word(FUNC_MODES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paces),	 cmocka_unit_test(test_words),
		cmocka_unit_test(test_numbers),	 cmocka_unit_test(test_lists),
		cmocka_unit_test(test_ceilings), cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
