/* SPDX-License-Identifier: MIT */
/* What the driver is told: each key, what is wrong and how that is said, and that a line which it shows
 * can be given back to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "device/driver/core/settings.h"
#include "wire/block.h"

static struct settings s;
static char why[SETTINGS_WHY_LEN];

static bool parse(const char *text)
{
	static char line[SETTINGS_LINE_MAX];

	snprintf(line, sizeof(line), "%s", text);
	return settings_parse(&s, line, why);
}

static void reads_every_key(void **state)
{
	(void)state;
	settings_init(&s);
	assert_true(settings_set(&s, "collector", "[fe80::1%eth0]:7077", why));
	assert_true(settings_set(&s, "name", "board-7.a_b", why));
	assert_true(settings_set(&s, "id", "00112233-4455-6677-8899-aabbccddeeFF", why));
	assert_true(settings_set(&s, "boot", "7f112233-4455-6677-8899-aabbccddee01", why));
	assert_true(settings_set(&s, "start", "1", why));
	assert_true(settings_set(&s, "mem", "512K", why));
	assert_true(parse("events=switch,exit policy=flight-recorder\tcodec=bsf flush_ms=20 "
			  "block=8K pids=1,22 comms=sh,a\\,b\\ c cgroups=/x,y/z profile=yes\n"));
	assert_string_equal(s.collector, "[fe80::1%eth0]:7077");
	assert_string_equal(s.name, "board-7.a_b");
	assert_int_equal(s.id.bytes[0], 0);
	assert_int_equal(s.id.bytes[15], 0xff);
	assert_int_equal(s.boot.bytes[0], 0x7f);
	assert_int_equal(s.boot.bytes[15], 1);
	assert_true(s.given & 1U << SETTING_BOOT);
	assert_true(s.start && s.profile);
	assert_int_equal(s.mem_kib, 512);
	assert_int_equal(s.config.events, 1U << SCHED_SWITCH | 1U << SCHED_EXIT);
	assert_int_equal(s.config.policy, POLICY_FLIGHT);
	assert_int_equal(s.config.codec, CODEC_BSF);
	assert_int_equal(s.config.flush_ms, 20);
	assert_int_equal(s.config.block_bytes, 8192);
	assert_int_equal(s.config.n_pids, 2);
	assert_int_equal(s.config.pids[1], 22);
	assert_int_equal(s.config.n_comms, 2);
	assert_string_equal(s.config.comms[1], "a,b c");
	assert_int_equal(s.config.n_cgroups, 2);
	assert_string_equal(s.config.cgroups[1], "y/z");
	assert_true(s.given & 1U << SETTING_ID && s.config.given & 1U << CONFIG_CODEC);
}

static void says_what_is_wrong(void **state)
{
	static const struct {
		const char *key, *value, *why;
	} wrong[] = {
		{ "mem", "abc", "mem is a number of KiB up to 262144, not 'abc'" },
		{ "mem", "262145", "mem is a number of KiB up to 262144, not '262145'" },
		{ "mem", "", "mem is a number of KiB up to 262144, not ''" },
		{ "mem", "K", "mem is a number of KiB up to 262144, not 'K'" },
		{ "start", "2", "start is 0 or 1, not '2'" },
		{ "block", "4095", "block is 4096 to 65536, not '4095'" },
		{ "block", "65K", "block is 4096 to 65536, not '65K'" },
		{ "flush_ms", "0", "flush_ms is 1 to 60000, not '0'" },
		{ "flush_ms", "-1", "flush_ms is 1 to 60000, not '-1'" },
		{ "codec", "gz", "codec is sched or bsf, not 'gz'" },
		{ "policy", "a\nb", "policy is keep-oldest or flight-recorder, not 'a?b'" },
		{ "events", "", "events is all, or a list of kinds as switch,waking, not ''" },
		{ "boot", "x", "boot is 32 hexadecimal digits, not 'x'" },
		{ "id", "00112233445566778899aabbccddeeff0",
		  "id is 32 hexadecimal digits, not '00112233445566778899aabbccddeeff0'" },
		{ "name", ".x", "name is up to 63 letters, digits, '.', '_' and '-', not '.x'" },
		{ "pids", "2147483648", "pids is a list of at most 64 numbers, not '2147483648'" },
		{ "comms", "0123456789abcdefg",
		  "comms is a list of at most 32 names of up to 16 bytes, not "
		  "'0123456789abcdefg'" },
		{ "cgroups", "a,b,c,d,e", "cgroups is a list of at most 4 paths, not 'a,b,c,d,e'" },
		{ "nix", "", "there is no setting 'nix'" },
	};
	struct settings before;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		settings_init(&s);
		before = s;
		assert_false(settings_set(&s, wrong[i].key, wrong[i].value, why));
		assert_string_equal(why, wrong[i].why);
		assert_memory_equal(&s, &before, sizeof(s));
	}
	assert_false(parse("codec=sched mem=4"));
	assert_string_equal(why, "mem can be set only when the driver is loaded");
	assert_false(parse("="));
	assert_string_equal(why, "there is no setting ''");
}

static void takes_as_many_as_fit(void **state)
{
	char list[1000] = "";
	int i;

	(void)state;
	settings_init(&s);
	for (i = 0; i < (int)CONFIG_PIDS_MAX; i++)
		sprintf(list + strlen(list), "%s%d", i ? "," : "", i + 1000);
	assert_true(settings_set(&s, "pids", list, why));
	assert_int_equal(s.config.n_pids, CONFIG_PIDS_MAX);
	strcat(list, ",9");
	assert_false(settings_set(&s, "pids", list, why));
	assert_int_equal(s.config.n_pids, CONFIG_PIDS_MAX);
	assert_true(settings_set(&s, "pids", "", why));
	assert_int_equal(s.config.n_pids, 0);
}

static void shows_what_it_takes(void **state)
{
	static const char *const lines[] = {
		"events=all policy=keep-oldest codec=sched flush_ms=100 block=4096 pids= comms= "
		"cgroups= profile=0\n",
		"events=switch,wakeup_new policy=flight-recorder codec=bsf flush_ms=7 block=65536 "
		"pids=1,2147483647 comms=a\\ b,c\\,d,e\\\\f cgroups=/x\\ y profile=1\n",
	};
	char out[SETTINGS_LINE_MAX];
	struct settings first;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		settings_init(&s);
		assert_true(parse(lines[i]));
		assert_int_equal(settings_format(&s, out, sizeof(out)), strlen(lines[i]));
		assert_string_equal(out, lines[i]);
		first = s;
		assert_true(parse(out));
		assert_true(settings_is_same(&first, &s));
	}
	assert_int_equal(settings_format(&s, out, 5), 4);
	assert_string_equal(out, "even");
}

/* A collector may give names that take all of their bytes, and lists may be as long as they can be: that, too, is shown so that it is taken. */
static void shows_the_longest(void **state)
{
	static char out[SETTINGS_LINE_MAX];
	struct settings first;
	uint32_t i;

	(void)state;
	settings_init(&s);
	assert_true(parse("events=switch,waking,wakeup,wakeup_new,fork,exec,rename,setprio "
			  "policy=flight-recorder flush_ms=60000 block=65536"));
	s.config.n_pids = CONFIG_PIDS_MAX;
	s.config.n_comms = CONFIG_COMMS_MAX;
	s.config.n_cgroups = CONFIG_CGROUPS_MAX;
	for (i = 0; i < CONFIG_PIDS_MAX; i++)
		s.config.pids[i] = INT32_MAX;
	memset(s.config.comms, ',', sizeof(s.config.comms));
	memset(s.config.cgroups, '\\', sizeof(s.config.cgroups));
	for (i = 0; i < CONFIG_CGROUPS_MAX; i++)
		s.config.cgroups[i][CONFIG_CGROUP_LEN - 1] = 0;
	assert_true(settings_format(&s, out, sizeof(out)) < sizeof(out) - 1);
	first = s;
	settings_init(&s);
	if (!parse(out))
		fail_msg("%s", why);
	assert_true(settings_is_same(&first, &s));
}

static void takes_only_what_is_meant(void **state)
{
	struct settings wish, now;

	(void)state;
	settings_init(&now);
	settings_init(&s);
	memset(&wish, 0, sizeof(wish));
	settings_apply(&now, &wish);
	assert_true(settings_is_same(&now, &s));
	assert_true(settings_set(&wish, "codec", "bsf", why));
	assert_true(settings_set(&wish, "comms", "x", why));
	settings_apply(&now, &wish);
	assert_false(settings_is_same(&now, &s));
	assert_int_equal(now.config.codec, CODEC_BSF);
	assert_int_equal(now.config.n_comms, 1);
	assert_int_equal(now.config.flush_ms, SETTINGS_FLUSH_MS);
	s.config.codec = CODEC_BSF;
	assert_false(settings_is_same(&now, &s));
	s.config.n_comms = 1;
	s.config.comms[0][0] = 'x';
	assert_true(settings_is_same(&now, &s));
}

/* Other words for the same, and values at the ends of what they may be. */
static void reads_other_words(void **state)
{
	char text[SETTINGS_TEXT_LEN + 2];

	(void)state;
	settings_init(&s);
	assert_true(settings_set(&s, "start", "y", why) && s.start);
	assert_true(settings_set(&s, "start", "n", why) && !s.start);
	assert_true(settings_set(&s, "start", "yes", why) && s.start);
	assert_true(settings_set(&s, "start", "no", why) && !s.start);
	assert_true(settings_set(&s, "mem", "512k", why));
	assert_int_equal(s.mem_kib, 512);
	assert_false(settings_set(&s, "mem", "000000000512", why)); /* longer than any number */
	assert_true(settings_set(&s, "name", "", why));
	assert_false(settings_set(&s, "name", "board{", why));
	assert_false(settings_set(&s, "name", "board[", why));
	assert_true(settings_set(&s, "name", "BoardZ", why));
	assert_true(settings_set(&s, "pids", "1\n2,\n3", why));
	assert_int_equal(s.config.n_pids, 3);
	assert_false(settings_set(&s, "pids", "1,x", why));
	memset(text, 'a', sizeof(text));
	text[SETTINGS_TEXT_LEN] = 0;
	assert_false(settings_set(&s, "collector", text, why));
	assert_false(settings_set(&s, "name", text, why));
	assert_false(settings_is_name(text));
	assert_false(settings_is_name(""));
	text[SETTINGS_TEXT_LEN - 1] = 0;
	assert_true(settings_set(&s, "collector", text, why));
	assert_true(settings_set(&s, "name", text, why));
	assert_false(settings_set(&s, "id", "-0112233445566778899aabbccddeeff", why));
	assert_false(settings_set(&s, "id", "0011223344556677 899aabbccddeeff", why));
	assert_false(settings_set(&s, "id", "0011223344556677@899aabbccddeefg", why));
}

/* A key has a word, and what is no key has none; a reason is cut where its room ends. */
static void says_no_more_than_fits(void **state)
{
	char text[3 * SETTINGS_WHY_LEN], line[8] = "xxxxxxx";
	uint32_t key;

	(void)state;
	for (key = 0; key < SETTINGS; key++)
		assert_non_null(settings_key(key));
	assert_null(settings_key(SETTINGS));
	memset(text, 'q', sizeof(text));
	text[sizeof(text) - 1] = 0;
	assert_false(settings_set(&s, "codec", text, why));
	assert_memory_equal(why, "codec is sched or bsf, not 'qqq", 31);
	assert_int_equal(strlen(why), SETTINGS_WHY_LEN - 1);
	assert_false(settings_set(&s, text, "1", why));
	assert_memory_equal(why, "there is no setting 'qqq", 24);
	assert_int_equal(strlen(why), SETTINGS_WHY_LEN - 1);
	settings_init(&s);
	settings_format(&s, line, 0);
	assert_int_equal(line[0], 'x');
}

/* Each setting alone makes two of them different, and nothing else does. */
static void finds_what_differs(void **state)
{
	static const char *const one[] = { "codec=bsf",	    "policy=flight-recorder",
					   "events=switch", "block=8K",
					   "flush_ms=21",   "pids=5",
					   "pids=6",	    "comms=a",
					   "comms=b",	    "cgroups=/x",
					   "cgroups=/y" };
	static struct settings each[12];
	size_t i, k;

	(void)state;
	settings_init(&each[11]);
	for (i = 0; i < 11; i++) {
		settings_init(&s);
		assert_true(parse(one[i]));
		each[i] = s;
	}
	for (i = 0; i < 12; i++)
		for (k = 0; k < 12; k++)
			assert_int_equal(settings_is_same(&each[i], &each[k]), i == k);
	settings_init(&s);
	assert_true(parse("profile=1"));
	settings_apply(&each[11], &s);
	assert_true(each[11].profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_other_words),
		cmocka_unit_test(says_no_more_than_fits),
		cmocka_unit_test(finds_what_differs),
		cmocka_unit_test(reads_every_key),
		cmocka_unit_test(says_what_is_wrong),
		cmocka_unit_test(takes_as_many_as_fit),
		cmocka_unit_test(shows_the_longest),
		cmocka_unit_test(shows_what_it_takes),
		cmocka_unit_test(takes_only_what_is_meant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
