/* SPDX-License-Identifier: MIT */
/*
 * text_body: what an event of each kind prints is one; with a digit that is none, without a value, cut behind a sign or with more behind its
 * end it is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "convert/text_body.h"

/* No digit of these is part of a name. */
static const struct {
	int kind;
	const char *text;
} bodies[] = {
	{ SCHED_SWITCH, "prev_comm=make prev_pid=42 prev_prio=120 prev_state=S ==> next_comm=sh "
			"next_pid=7 next_prio=98" },
	{ SCHED_SWITCH, "make:42 [120] S ==> sh:7 [98]" },
	{ SCHED_WAKING, "comm=sh pid=7 prio=98 target_cpu=003" },
	{ SCHED_WAKEUP, "comm=sh pid=7 prio=98 success=1 target_cpu=003" },
	{ SCHED_WAKEUP, "sh:7 [98] success=1 CPU:003" },
	{ SCHED_WAKEUP_NEW, "sh:7 [98] CPU:003" },
	{ SCHED_FORK, "comm=sh pid=7 child_comm=sh child_pid=8" },
	{ SCHED_EXEC, "filename=/bin/true pid=7 old_pid=7" },
	{ SCHED_EXIT, "comm=sh pid=7 prio=98" },
	{ SCHED_EXIT, "comm=sh pid=7 prio=98 group_dead=true" },
	{ SCHED_RENAME, "pid=7 oldcomm=sh newcomm=make oom_score_adj=0" },
	{ SCHED_RENAME, "oldcomm=sh newcomm=make oom_score_adj=0" },
	{ SCHED_SETPRIO, "comm=sh pid=7 oldprio=120 newprio=98" },
};
#define BODIES (sizeof(bodies) / sizeof(bodies[0]))

static struct text_body body;

static bool parse(int kind, const char *text, size_t len)
{
	const struct text_columns c = { .pid = 5, .body = { text, len } };

	return text_body_parse(&body, kind, &c);
}

static void test_whole(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < BODIES; i++)
		if (!parse(bodies[i].kind, bodies[i].text, strlen(bodies[i].text)))
			fail_msg("'%s' is not taken", bodies[i].text);
	assert_false(parse(SCHED_KINDS, bodies[0].text, strlen(bodies[0].text)));
}

static void refuse(size_t i, const char *text, size_t len)
{
	if (parse(bodies[i].kind, text, len))
		fail_msg("'%.*s' is taken", (int)len, text);
}

static void test_broken(void **state)
{
	char text[200];
	size_t i, at, len;

	(void)state;
	for (i = 0; i < BODIES; i++) {
		len = (size_t)snprintf(text, sizeof(text), "%s x", bodies[i].text);
		refuse(i, text, len);
		for (at = 0; at < len - 2; at++) {
			char was = text[at];

			if (was >= '0' && was <= '9') {
				text[at] = 'x';
				refuse(i, text, len - 2);
				text[at] = was;
			}
			if (was == '=' || was == ':' || was == '[')
				refuse(i, text, at + 1);
			if (was == '=' || was == ':') {
				text[at] = '~';
				refuse(i, text, len - 2);
				text[at] = was;
			}
		}
	}
}

/* A pid that is no number of a pid, a success that is none, and a name that is longer than any path. */
static void test_bounds(void **state)
{
	static char path[SCHED_FILENAME_MAX + 100];
	static const char wide[] = "comm=sh pid=99999999999 prio=98 target_cpu=003";
	static const char success[] = "comm=sh pid=7 prio=98 success=256 target_cpu=003";
	static const char nothing[] = "filename= pid=7 old_pid=7";
	int len;

	(void)state;
	assert_false(parse(SCHED_WAKING, wide, strlen(wide)));
	assert_false(parse(SCHED_WAKEUP, success, strlen(success)));
	memset(path, 'x', sizeof(path));
	memcpy(path, "filename=", 9);
	len = 9 + (int)SCHED_FILENAME_MAX;
	len += snprintf(path + len, sizeof(path) - (size_t)len, " pid=7 old_pid=7");
	assert_true(parse(SCHED_EXEC, path, (size_t)len));
	assert_int_equal(body.event.filename_len, SCHED_FILENAME_MAX);
	memset(path, 'x', sizeof(path));
	memcpy(path, "filename=", 9);
	len = 10 + (int)SCHED_FILENAME_MAX;
	len += snprintf(path + len, sizeof(path) - (size_t)len, " pid=7 old_pid=7");
	assert_false(parse(SCHED_EXEC, path, (size_t)len));
	assert_true(parse(SCHED_EXEC, nothing, strlen(nothing)));
	assert_int_equal(body.event.filename_len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests_name("text_body", tests, NULL, NULL);
}
