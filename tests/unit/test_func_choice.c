/* SPDX-License-Identifier: MIT */
/*
 * choice: what of a thread's calls is recorded, setting by setting, with the hooks compiled as the rest of the tests is. A process reads its
 * settings once, so each case is a process. Calls are written as letters: A is entered, a is left.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/func/choice.h"
#include "device/func/gate.h"
#include "device/func/hook.h"
#include "wire/func_hook_decode.h"

#define FUNCTIONS 4
#define SETTINGS 3
#define STORY_MAX 4096U

static char folder[] = "/tmp/kiseki-choice-XXXXXX";
static char story[STORY_MAX];

static int setup(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static void do_call(uintptr_t function)
{
	__cyg_profile_func_enter((void *)function, NULL);
}

static void do_leave(uintptr_t function)
{
	__cyg_profile_func_exit((void *)function, NULL);
}

/* The functions that are called are some of this file: rules need code that an object has. */
static uintptr_t function(uint32_t i)
{
	const uintptr_t functions[FUNCTIONS] = { (uintptr_t)setup, (uintptr_t)teardown,
						 (uintptr_t)do_call, (uintptr_t)do_leave };

	return functions[i % FUNCTIONS];
}

/* What emulates a program may show its code as data; then no rule finds it. */
static bool is_code_shown(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	bool is_shown = false;
	uint64_t from, to;
	char line[1024], rights[8];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &from, &to, rights) == 3 &&
		    function(0) >= from && function(0) < to)
			is_shown = rights[2] == 'x';
	if (f)
		fclose(f);
	return is_shown;
}

/* "A" in a setting becomes the place of that function in its file. */
static void put_place(uint32_t i, char *at, size_t room)
{
	char line[1024], path[512];
	uint64_t from, to, offset;
	FILE *f = fopen("/proc/self/maps", "r");

	*at = 0;
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %511s", &from,
			   &to, &offset, path) == 4 &&
		    function(i) >= from && function(i) < to)
			snprintf(at, room, "%s+0x%" PRIx64, path, function(i) - from + offset);
	}
	if (f)
		fclose(f);
}

static void set(const char *setting)
{
	char name[64], value[700];
	const char *is = strchr(setting, '=');

	snprintf(name, sizeof(name), "KISEKI_FUNC_%.*s", (int)(is - setting), setting);
	if (is[1] >= 'A' && is[1] <= 'D')
		put_place((uint32_t)(is[1] - 'A'), value, sizeof(value));
	else if (!strncmp(is, "=exit:", 6))
		snprintf(value, sizeof(value), "exit:"),
			put_place((uint32_t)(is[6] - 'A'), value + 5, sizeof(value) - 5);
	else
		snprintf(value, sizeof(value), "%s", is + 1);
	setenv(name, value, 1);
}

static void add_event(const struct func_event *ev)
{
	size_t len = strlen(story);
	uint32_t i = 0;

	while (i < FUNCTIONS && function(i) != ev->value)
		i++;
	if (len + 1 < STORY_MAX)
		story[len] = (char)((ev->kind == FUNC_ENTER ? 'A' : 'a') + i);
}

/* All that was recorded, in its order, into `story`. */
static void read_story(void)
{
	static struct func_hook_decoder d;
	const struct gate *g = &gate_pages.gate;
	struct byte_reader r;
	struct func_event ev;
	uint32_t i;

	memset(story, 0, sizeof(story));
	for (i = 0; i < g->n_chunks; i++) {
		const uint8_t *head = g->chunks + (size_t)i * g->chunk_bytes;

		if (get_le32(head + FUNC_CHUNK_AT_STATE) == FUNC_CHUNK_FREE)
			continue;
		reader_init(&r, head + FUNC_CHUNK_HEAD, get_le32(head + FUNC_CHUNK_AT_USED));
		if (get_le32(head + FUNC_CHUNK_AT_FLAGS) & FUNC_CHUNK_KEY)
			func_hook_decode_begin(&d, &r, get_le64(head + FUNC_CHUNK_AT_TICK));
		while (reader_left(&r) && func_hook_decode(&d, &r, &ev) == WIRE_OK)
			add_event(&ev);
	}
}

/* In a process of its own; `story` comes back by a pipe. */
static void play(const char *const settings[SETTINGS], const char *calls)
{
	int ends[2], status = -1, i;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		setenv("KISEKI_FUNC_FOLDER", folder, 1);
		for (i = 0; i < SETTINGS && settings[i]; i++)
			set(settings[i]);
		for (; *calls; calls++)
			*calls < 'a' ? do_call(function((uint32_t)(*calls - 'A')))
				     : do_leave(function((uint32_t)(*calls - 'a')));
		read_story();
		_exit(write(ends[1], story, strlen(story)) < 0);
	}
	close(ends[1]);
	n = read(ends[0], story, sizeof(story) - 1);
	story[n > 0 ? n : 0] = 0;
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_cases(void **state)
{
	static const struct {
		const char *settings[SETTINGS];
		const char *calls, *recorded;
	} cases[] = {
		{ { "DEPTH=1" }, "ABbaCc", "AaCc" },
		{ { "DEPTH=2" }, "ABCcba", "ABba" },
		{ { "LIMIT=3" }, "ABbaCc", "ABb" },
		{ { "ONLY=B" }, "ABCcba", "Bb" },
		{ { "NOT=B" }, "ABCcba", "ACca" },
		{ { "TREE=B" }, "ABCcbaDd", "BCcb" },
		{ { "TREE=B" }, "ABCBDdbcbaDd", "BCBDdbcb" },
		{ { "TREE=B", "DEPTH=1" }, "ABCcba", "Bb" },
		{ { "NOTREE=B" }, "ABCcbaDd", "AaDd" },
		{ { "START=B" }, "AaBbCc", "BbCc" },
		{ { "START=exit:B" }, "AaBbCc", "Cc" },
		{ { "STOP=exit:B" }, "AaBbCc", "AaBb" },
		{ { "STOP=B" }, "AaBbCc", "AaB" },
		{ { "START=C", "STOP=exit:C" }, "AaCBbcAaCc", "CBbcCc" },
		{ { "SAMPLE=2", "SAMPLE_DEPTH=1" }, "ABbaCcAaDd", "ABbaAa" },
		{ { "SAMPLE=2", "SAMPLE_AT=B" }, "ABCcbaABCcba", "ABCcbaAa" },
		{ { "MIN=1s" }, "ABbaCc", "" },
		{ { "MIN=1s" }, "ABCa", "" }, /* left in one go */
		{ { "MIN=1ns" }, "ABbaCc", "ABbaCc" },
		{ { "MIN=1ns", "LIMIT=2" }, "ABba", "AB" },
		{ { "MIN=1ns" }, "ABCa", "ABCa" },
		{ { "DEPTH=9" }, "ABCa", "ABCa" }, /* longjmp */
		{ { "DEPTH=9" }, "bAa", "bAa" },   /* called before anything was recorded */
		{ { "TREE=A" }, "bAa", "Aa" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		play(cases[i].settings, cases[i].calls);
		if (strcmp(story, cases[i].recorded) != 0)
			fail_msg("%s%s%s: of %s it recorded '%s', not '%s'", cases[i].settings[0],
				 cases[i].settings[1] ? " " : "",
				 cases[i].settings[1] ? cases[i].settings[1] : "", cases[i].calls,
				 story, cases[i].recorded);
	}
}

/* Deeper than there are frames: calls that have none are lost, and the rest goes on. */
static void test_deep(void **state)
{
	static const char *const settings[SETTINGS] = { "DEPTH=5000" };
	static char calls[CHOICE_FRAMES + 80];

	(void)state;
	memset(calls, 'A', CHOICE_FRAMES + 70);
	play(settings, calls);
	assert_int_equal(strlen(story), CHOICE_FRAMES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_deep),
	};

	if (!is_code_shown()) {
		puts("skipped: the program is emulated, and its code is shown as data");
		return 77;
	}
	return cmocka_run_group_tests_name("func_choice", tests, setup, teardown);
}
