/* SPDX-License-Identifier: MIT */
/* func_door: the socket itself: who may open it, who is replaced, and clients that do not ask. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/feed/func_door.h"
#include "wire/varint.h"

struct seen {
	uint32_t asked, sent;
	struct func_door_ask last;
	int code;
};

static int on_ask(void *context, const struct func_door_ask *a, struct func_door_reply *ret,
		  struct error *e)
{
	struct seen *s = context;

	s->asked++;
	s->last = *a;
	snprintf(ret->text, sizeof(ret->text), "fine");
	ret->size = 4096;
	ret->on = true;
	return s->code ? error_set(e, s->code, "%s",
				   "no, and the reason is longer than an answer has room for, so "
				   "it is cut somewhere behind this, at the latest here, or here")
		       : 0;
}

static void on_sent(void *context, const struct func_door_ask *a, bool was_sent)
{
	(void)a;
	((struct seen *)context)->sent += was_sent;
}

static char folder[64], path[96];

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/kiseki-door-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/sock", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static struct func_door *open_door(struct seen *s, const char *group)
{
	struct func_door_options o = { path, group, { s, on_ask, on_sent } };
	struct func_door *d = NULL;

	assert_int_equal(func_door_open(&d, &o, NULL), 0);
	return d;
}

static int connect_to(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void request(int fd)
{
	uint8_t q[FUNC_DOOR_REQUEST] = { 0 };

	memcpy(q, FUNC_DOOR_MAGIC, 8);
	put_le32(q + FUNC_DOOR_AT_VERSION, FUNC_DOOR_VERSION);
	put_le32(q + FUNC_DOOR_AT_VERB, FUNC_DOOR_OPEN);
	put_le64(q + FUNC_DOOR_AT_BYTES, 123456);
	memcpy(q + FUNC_DOOR_AT_COMM, "0123456789abcdef", 16);
	put_le32(q + FUNC_DOOR_AT_SHIFT, 5);
	assert_int_equal(send(fd, q, sizeof(q), 0), sizeof(q));
}

/* The answer's code; -1: the connection was closed. */
static int answer(int fd, uint8_t out[FUNC_DOOR_ANSWER])
{
	ssize_t n = recv(fd, out, FUNC_DOOR_ANSWER, MSG_DONTWAIT);

	close(fd);
	if (n == 0)
		return -1;
	assert_int_equal(n, FUNC_DOOR_ANSWER);
	return (int)get_le32(out + FUNC_DOOR_AT_CODE);
}

static void answers(void **state)
{
	uint8_t out[FUNC_DOOR_ANSWER];
	struct seen s = { 0 };
	struct func_door *d = open_door(&s, "");
	struct stat st;
	int fd;

	(void)state;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0660);
	fd = connect_to();
	request(fd);
	func_door_turn(d);
	assert_int_equal(answer(fd, out), 0);
	assert_int_equal(s.last.pid, getpid());
	assert_int_equal(s.last.bytes, 123456);
	assert_int_equal(s.last.shift, 5);
	assert_memory_equal(s.last.comm, "0123456789abcdef", 16);
	assert_int_equal(get_le32(out + FUNC_DOOR_AT_AGENT), getpid());
	assert_int_equal(get_le64(out + FUNC_DOOR_AT_SIZE), 4096);
	assert_string_equal((char *)out + FUNC_DOOR_AT_TEXT, "fine");
	s.code = EBUSY;
	fd = connect_to();
	request(fd);
	func_door_turn(d);
	assert_int_equal(answer(fd, out), EBUSY);
	assert_int_equal(out[FUNC_DOOR_ANSWER - 1], 0);
	assert_memory_equal(out + FUNC_DOOR_AT_TEXT, "no, and", 7);
	assert_int_equal(s.asked, 2);
	assert_int_equal(s.sent, 1);
	func_door_close(d);
	assert_int_equal(stat(path, &st), -1);
}

/* Those who connect and do not ask wait beside the others, and the oldest goes when there are many. */
static void waits_for_nobody(void **state)
{
	int idle[FUNC_DOOR_WAITING + 2], fd;
	uint8_t out[FUNC_DOOR_ANSWER];
	struct seen s = { 0 };
	struct func_door *d = open_door(&s, "*");
	uint32_t i;

	(void)state;
	for (i = 0; i < FUNC_DOOR_WAITING + 2; i++) {
		idle[i] = connect_to();
		func_door_turn(d);
	}
	fd = connect_to();
	request(fd);
	func_door_turn(d);
	assert_int_equal(answer(fd, out), 0);
	request(idle[FUNC_DOOR_WAITING + 1]);
	func_door_turn(d);
	assert_int_equal(answer(idle[FUNC_DOOR_WAITING + 1], out), 0);
	/* Two made room; one hangs up; what is said twice is heard once. */
	assert_int_equal(answer(idle[0], out), -1);
	assert_int_equal(answer(idle[1], out), -1);
	close(idle[2]);
	func_door_turn(d);
	request(idle[3]);
	request(idle[3]);
	func_door_turn(d);
	close(idle[3]);
	func_door_turn(d);
	assert_int_equal(s.asked, 3);
	for (i = 4; i < FUNC_DOOR_WAITING + 1; i++)
		close(idle[i]);
	func_door_close(d);
}

static void replaces_what_is_dead(void **state)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct func_door_options o = { path, "", { 0 } };
	struct seen s = { 0 }, other = { 0 };
	struct func_door *d, *late = NULL;
	struct error e = ERROR_INIT;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	(void)state;
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	close(fd); /* its name stays */
	d = open_door(&s, "");
	o.hooks.context = &other;
	assert_int_equal(func_door_open(&late, &o, &e), -EADDRINUSE);
	assert_non_null(strstr(e.text, "another agent does"));
	/* One whose name was taken leaves it alone. */
	unlink(path);
	late = open_door(&other, "");
	func_door_close(d);
	assert_int_equal(access(path, F_OK), 0);
	func_door_close(late);
	o.group = "no such group, surely";
	assert_int_equal(func_door_open(&late, &o, &e), -ENOENT);
	assert_int_equal(access(path, F_OK), -1);
	o.path = "/no/such/folder/sock";
	o.group = "";
	assert_int_equal(func_door_open(&late, &o, &e), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(answers, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(waits_for_nobody, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(replaces_what_is_dead, make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
