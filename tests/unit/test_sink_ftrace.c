/* SPDX-License-Identifier: MIT */
/*
 * sink_ftrace: header counts are exact in files of any length and absent on pipes, and losses are
 * where the kernel prints them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "convert/sink.h"

static char dir[64];
static char path[128];

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/kiseki-test-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/trace.txt", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(dir);
}

static char *read_all(const char *name)
{
	FILE *f = fopen(name, "rb");
	char *text = calloc(1, 1 << 20);

	assert_non_null(f);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 20) - 1, f) < (1 << 20) - 1);
	fclose(f);
	return text;
}

static struct trace_item event_on(uint32_t cpu, uint64_t tick)
{
	struct trace_item item = { .type = ITEM_EVENT, .cpu = cpu };

	item.event.kind = SCHED_EXEC;
	item.event.tick = tick;
	return item;
}

static struct trace_item loss_on(uint32_t cpu, uint64_t from, uint64_t to, uint64_t count)
{
	struct trace_item item = { .type = ITEM_LOSS, .cpu = cpu };

	item.loss = (struct trace_loss){ from, to, count, LOSS_RING };
	return item;
}

static void run(const struct trace_item *items, size_t n, size_t times)
{
	struct trace_sink *sink = NULL;
	struct error e = ERROR_INIT;
	struct trace_info info;
	size_t i, j;

	assert_int_equal(info_init(&info), 0);
	info.cpus = 2;
	assert_int_equal(sink_ftrace_new(&sink, path, &e), 0);
	assert_int_equal(sink->ops->begin(sink, &info, &e), 0);
	for (j = 0; j < times; j++)
		for (i = 0; i < n; i++)
			assert_int_equal(sink->ops->item(sink, &items[i], &e), 0);
	assert_int_equal(sink->ops->end(sink, &e), 0);
	sink_free(sink);
	info_done(&info);
}

/* The lines after the header. */
static const char *body_of(const char *text)
{
	const char *p = strstr(text, "|||||     |");

	assert_non_null(p);
	return strchr(p, '\n') + 1;
}

#define LINE(cpu, us)                                                                              \
	"          <idle>-0       [00" #cpu "] .....     0.00000" #us                              \
	": sched_process_exec: filename= pid=0 old_pid=0\n"

static void few_events_have_exact_counts(void **state)
{
	struct trace_item items[] = { event_on(0, 1000), event_on(1, 2000) };
	_cleanup_free_ char *text = NULL;

	(void)state;
	run(items, 2, 1);
	text = read_all(path);
	assert_ptr_equal(strstr(text, "# tracer: nop\n#\n"
				      "# entries-in-buffer/entries-written: 2/2   #P:2\n#\n"
				      "#                                _-----=> irqs-off"),
			 text);
	assert_string_equal(body_of(text), LINE(0, 1) LINE(1, 2));
}

static void many_events_have_exact_counts(void **state)
{
	struct trace_item items[] = { event_on(0, 1000), event_on(1, 2000) };
	_cleanup_free_ char *text = NULL;
	const char *p;
	size_t n = 0;

	(void)state;
	run(items, 2, 3000);
	text = read_all(path);
	assert_non_null(strstr(text, "written: 6000/6000   #P:2\n#\n#     "));
	for (p = body_of(text); *p; p += strlen(LINE(0, 1)), n++)
		assert_memory_equal(p, n % 2 ? LINE(1, 2) : LINE(0, 1), strlen(LINE(0, 1)));
	assert_int_equal(n, 6000);
}

static void a_loss_prints_before_the_next_event(void **state)
{
	struct trace_item items[] = { event_on(0, 1000), loss_on(0, 1000, 3000, 7),
				      event_on(1, 2000), loss_on(1, 2000, 4000, LOSS_UNKNOWN),
				      event_on(0, 3000), event_on(1, 4000) };
	_cleanup_free_ char *text = NULL;

	(void)state;
	run(items, 6, 1);
	text = read_all(path);
	assert_non_null(strstr(text, "written: 4/4   #P:2\n"));
	assert_string_equal(body_of(text), LINE(0, 1) LINE(1, 2) "CPU:0 [LOST 7 EVENTS]\n" LINE(
						   0, 3) "CPU:1 [LOST EVENTS]\n" LINE(1, 4));
}

static void what_was_overwritten_is_in_the_header(void **state)
{
	struct trace_item items[] = {
		loss_on(0, 0, 1000, 40), event_on(0, 1000), event_on(0, 2000),
		loss_on(1, 0, 3000, 2),	 event_on(1, 3000), event_on(1, 4000)
	};
	_cleanup_free_ char *text = NULL;

	(void)state;
	run(items, 6, 1);
	text = read_all(path);
	assert_non_null(strstr(text, "written: 4/46   #P:2\n"));
	assert_string_equal(body_of(text),
			    LINE(0, 1) LINE(0, 2) "##### CPU 1 buffer started ####\n" LINE(1, 3)
				    LINE(1, 4));
}

static void a_pipe_has_no_counts_and_all_losses(void **state)
{
	struct trace_item items[] = { loss_on(0, 0, 0, 40), event_on(0, 1000) };
	char text[4096] = "", command[256];
	size_t len;
	FILE *reader;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(command, sizeof(command), "cat %s", path);
	reader = popen(command, "r");
	assert_non_null(reader);
	run(items, 2, 1);
	len = fread(text, 1, sizeof(text) - 1, reader);
	pclose(reader);
	text[len] = 0;
	assert_non_null(strstr(text, "# entries-in-buffer/entries-written: -/-   #P:2\n"));
	assert_string_equal(body_of(text), "CPU:0 [LOST 40 EVENTS]\n" LINE(0, 1));
}

static void a_failed_write_is_told(void **state)
{
	struct trace_item item = event_on(0, 1000);
	struct trace_sink *sink = NULL;
	struct error e = ERROR_INIT;
	struct trace_info info;
	int i, r = 0;

	(void)state;
	assert_int_equal(info_init(&info), 0);
	assert_int_equal(sink_ftrace_new(&sink, "/dev/full", &e), 0);
	assert_int_equal(sink->ops->begin(sink, &info, &e), 0);
	for (i = 0; i < 100000 && r == 0; i++)
		r = sink->ops->item(sink, &item, &e);
	assert_int_equal(r, -ENOSPC);
	assert_non_null(strstr(e.text, "/dev/full"));
	sink_free(sink);
	info_done(&info);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TEST(few_events_have_exact_counts),
		TEST(many_events_have_exact_counts),
		TEST(a_loss_prints_before_the_next_event),
		TEST(what_was_overwritten_is_in_the_header),
		TEST(a_pipe_has_no_counts_and_all_losses),
		TEST(a_failed_write_is_told),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
