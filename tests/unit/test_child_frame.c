/* SPDX-License-Identifier: MIT */
/*
 * child_frame: what a reader of foreign traces sends comes back as it was; and a reader that was taken over by the file it read can send
 * nothing that is taken for a frame, an item or a description and is none.
 */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "convert/child_frame.h"
#include "trace/info.h"

static struct child_pipe from, to;
static int ends[2];

static int setup(void **state)
{
	(void)state;
	memset(&from, 0, sizeof(from));
	memset(&to, 0, sizeof(to));
	if (pipe(ends) < 0)
		return -1;
	from.fd = ends[1];
	to.fd = ends[0];
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	close(ends[0]);
	if (from.fd >= 0)
		close(from.fd);
	return 0;
}

static void end_sending(void)
{
	close(from.fd);
	from.fd = -1;
}

static void test_there_and_back(void **state)
{
	struct trace_item item = { .type = ITEM_EVENT, .cpu = 3 }, got;
	struct trace_info info, back;
	struct error e = ERROR_INIT, said = ERROR_INIT;
	struct child_frame f;

	(void)state;
	assert_int_equal(info_init(&info), 0);
	assert_int_equal(info_init(&back), 0);
	assert_int_equal(info_set(&info.device, "board", 5), 0);
	info.cpus = 4;
	item.event = (struct sched_event){
		.kind = SCHED_EXEC, .pid = 7, .filename = "/bin/true", .filename_len = 9
	};
	error_set(&e, ENODATA, "nothing in it");
	assert_int_equal(child_frame_send_info(&from, &info), 0);
	assert_int_equal(child_frame_send_item(&from, &item), 0);
	assert_int_equal(child_frame_send_error(&from, -ENODATA, &e), 0);
	assert_int_equal(child_frame_flush(&from), 0);
	end_sending();
	assert_int_equal(child_frame_receive(&to, &f), 1);
	assert_int_equal(child_frame_get_item(&f, &got), -EBADMSG);
	assert_int_equal(child_frame_get_info(&f, &back), 0);
	assert_string_equal(back.device, "board");
	assert_int_equal(back.cpus, 4);
	assert_int_equal(child_frame_receive(&to, &f), 1);
	assert_int_equal(child_frame_get_info(&f, &back), -EBADMSG);
	assert_int_equal(child_frame_get_item(&f, &got), 0);
	assert_true(sched_event_equal(&got.event, &item.event) && got.cpu == 3);
	assert_int_equal(child_frame_receive(&to, &f), 1);
	assert_int_equal(child_frame_get_error(&f, &said), -ENODATA);
	assert_string_equal(said.text, "nothing in it");
	assert_int_equal(child_frame_receive(&to, &f), 0);
	info_done(&info);
	info_done(&back);
}

/* Types and lengths that there are not, and frames that end too early. */
static void test_bad_frames(void **state)
{
	static const uint32_t heads[][2] = { { 0, 0 },
					     { CHILD_FRAME_ERROR + 1, 0 },
					     { CHILD_FRAME_END, CHILD_FRAME_MAX + 1 },
					     { CHILD_FRAME_END, UINT32_MAX },
					     { CHILD_FRAME_END, 8 } };
	struct child_frame f;
	size_t i;

	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		assert_int_equal(write(from.fd, heads[i], 8), 8);
		end_sending();
		assert_int_equal(child_frame_receive(&to, &f), -EBADMSG);
		teardown(state);
		assert_int_equal(setup(state), 0);
	}
	assert_int_equal(write(from.fd, heads[4], 5), 5);
	end_sending();
	assert_int_equal(child_frame_receive(&to, &f), -EBADMSG);
}

static int get_item(const struct trace_item *item, size_t more)
{
	unsigned char body[sizeof(*item) + 16] = { 0 };
	struct child_frame f = { CHILD_FRAME_ITEM, body, sizeof(*item) + more };
	struct trace_item got;

	memcpy(body, item, sizeof(*item));
	return child_frame_get_item(&f, &got);
}

static void test_bad_items(void **state)
{
	struct trace_item item = { .type = ITEM_EVENT };
	struct trace_item got;
	struct child_frame f = { CHILD_FRAME_ITEM, (const unsigned char *)&item, sizeof(item) - 1 };

	(void)state;
	assert_int_equal(child_frame_get_item(&f, &got), -EBADMSG);
	assert_int_equal(get_item(&item, 0), 0);
	assert_int_equal(get_item(&item, 1), -EBADMSG); /* a name that nobody speaks of */
	item.event.filename_len = 2;
	assert_int_equal(get_item(&item, 1), -EBADMSG);
	assert_int_equal(get_item(&item, 2), 0);
	item = (struct trace_item){ .type = ITEM_EVENT, .cpu = TRACE_CPUS_MAX };
	assert_int_equal(get_item(&item, 0), -EBADMSG);
	item = (struct trace_item){ .type = ITEM_EVENT };
	item.event.kind = SCHED_KINDS;
	assert_int_equal(get_item(&item, 0), -EBADMSG);
	item = (struct trace_item){ .type = ITEM_LOSS };
	assert_int_equal(get_item(&item, 0), 0);
	memset(&item.type, 0x55, sizeof(item.type));
	assert_int_equal(get_item(&item, 0), -EBADMSG);
}

/* A description that is cut anywhere is none; nor one with more CPUs than any machine. */
static void test_bad_infos(void **state)
{
	struct trace_info info, back;
	struct child_frame f, cut;

	(void)state;
	assert_int_equal(info_init(&info), 0);
	assert_int_equal(info_init(&back), 0);
	info.cpus = TRACE_CPUS_MAX;
	assert_int_equal(child_frame_send_info(&from, &info), 0);
	info.cpus++;
	assert_int_equal(child_frame_send_info(&from, &info), 0);
	info.cpus = 1;
	info.clock.shift = 64;
	assert_int_equal(child_frame_send_info(&from, &info), 0);
	info.clock.shift = 0;
	memset(info.clock.name, 'x', sizeof(info.clock.name));
	assert_int_equal(child_frame_send_info(&from, &info), 0);
	assert_int_equal(child_frame_flush(&from), 0);
	assert_int_equal(child_frame_receive(&to, &f), 1);
	for (cut = f; cut.len--;)
		assert_int_equal(child_frame_get_info(&cut, &back), -EBADMSG);
	assert_int_equal(child_frame_get_info(&f, &back), 0);
	while (child_frame_receive(&to, &f) == 1 && f.len) {
		assert_int_equal(child_frame_get_info(&f, &back), -EBADMSG);
		if (to.start == to.end)
			break;
	}
	info_done(&info);
	info_done(&back);
}

static void check_info(const struct trace_info *info, int want)
{
	struct trace_info back;
	struct child_frame f;

	assert_int_equal(info_init(&back), 0);
	assert_int_equal(child_frame_send_info(&from, info), 0);
	assert_int_equal(child_frame_flush(&from), 0);
	assert_int_equal(child_frame_receive(&to, &f), 1);
	assert_int_equal(child_frame_get_info(&f, &back), want);
	info_done(&back);
}

/* Columns, digits and words that are wider than what prints them has room for. */
static void test_bad_widths(void **state)
{
	struct trace_info info;

	(void)state;
	assert_int_equal(info_init(&info), 0);
	info.dialect.long_size = 4;
	info.dialect.flag_columns = info.dialect.pid_width = 16;
	info.clock.print_digits = 9;
	check_info(&info, 0);
	info.dialect.long_size = 5;
	check_info(&info, -EBADMSG);
	info.dialect.long_size = 8;
	check_info(&info, 0);
	info.dialect.flag_columns++;
	check_info(&info, -EBADMSG);
	info.dialect.flag_columns--;
	info.dialect.pid_width++;
	check_info(&info, -EBADMSG);
	info.dialect.pid_width--;
	info.clock.print_digits++;
	check_info(&info, -EBADMSG);
	info_done(&info);
}

static void test_bad_errors(void **state)
{
	struct {
		int code;
		char text[4];
	} said = { 5, "why" };
	struct child_frame f = { CHILD_FRAME_ERROR, (const unsigned char *)"\1\0\0", 3 };
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(child_frame_get_error(&f, &e), -EBADMSG);
	f.body = (const unsigned char *)&said;
	f.len = sizeof(said);
	assert_int_equal(child_frame_get_error(&f, &e), -EBADMSG); /* no failure's number */
	said.code = INT_MIN;
	assert_int_equal(child_frame_get_error(&f, &e), -EBADMSG);
	said.code = -EIO;
	assert_int_equal(child_frame_get_error(&f, &e), -EIO);
	assert_string_equal(e.text, "why");
	said.text[0] = 0; /* then there is a line all the same */
	assert_int_equal(child_frame_get_error(&f, &e), -EBADMSG);
	assert_string_not_equal(e.text, "");
	f.len = sizeof(said.code);
	assert_int_equal(child_frame_get_error(&f, &e), -EBADMSG);
}

/* Nobody reads any more, or nobody can: said, not ignored. */
static void test_no_pipe(void **state)
{
	static unsigned char body[CHILD_FRAME_MAX + 1];
	struct child_frame f;
	int i, r = 0;

	(void)state;
	assert_int_equal(child_frame_send(&from, CHILD_FRAME_END, body, sizeof(body)), -EMSGSIZE);
	close(from.fd);
	for (i = 0; i < 20 && r == 0; i++)
		r = child_frame_send(&from, CHILD_FRAME_END, body, CHILD_FRAME_MAX);
	assert_int_equal(r, -EBADF);
	from.fd = -1;
	to.fd = -1;
	assert_int_equal(child_frame_receive(&to, &f), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_there_and_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_frames, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_items, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_infos, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_widths, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_pipe, setup, teardown),
	};

	return cmocka_run_group_tests_name("child_frame", tests, NULL, NULL);
}
