/* SPDX-License-Identifier: MIT */
/*
 * How a traced program asks its agent, compiled as the rest of the tests is: so sanitizers see it, and
 * descriptors are counted. Programs that ask are in tests/func.
 */
#include "device/func/door.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "wire/varint.h"

#define SIZE 300000U

static char folder[] = "/tmp/kiseki-door-XXXXXX";
static char path[64];
static int listener;

/* What the agent is to do with the next one who asks. */
static struct {
	bool is_silent;
	int fds[3];
	uint32_t n_fds;
	size_t len;
	uint8_t bytes[FUNC_DOOR_ANSWER];
	uint8_t request[FUNC_DOOR_REQUEST]; /* what was asked */
} agent;

static void give(int connection)
{
	union {
		struct cmsghdr head;
		uint8_t room[CMSG_SPACE(sizeof(agent.fds))];
	} control = { .room = { 0 } };
	struct iovec part = { agent.bytes, agent.len };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *c = &control.head;

	if (agent.n_fds) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(agent.n_fds * sizeof(int));
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(agent.n_fds * sizeof(int));
		memcpy(CMSG_DATA(c), agent.fds, agent.n_fds * sizeof(int));
	}
	assert_int_equal(sendmsg(connection, &m, 0), agent.len);
}

/* Answers one request; a silent one holds the connection until the other side is gone. */
static void *serve(void *argument)
{
	int connection = accept(listener, NULL, NULL);
	char more;

	assert_true(connection >= 0);
	assert_int_equal(recv(connection, agent.request, sizeof(agent.request), 0),
			 sizeof(agent.request));
	if (!agent.is_silent)
		give(connection);
	assert_int_equal(recv(connection, &more, 1, 0), 0);
	close(connection);
	return argument;
}

static uint32_t count_descriptors(void)
{
	uint32_t n = 0;
	int fd;

	for (fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static int ask(uint32_t verb, struct door_answer *ret)
{
	struct door_request q = {
		.verb = verb, .bytes = 1 << 20, .clock = 1, .shift = 3, .comm = "editor"
	};
	pthread_t thread;
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old); /* signals are for who asks */
	assert_int_equal(pthread_create(&thread, NULL, serve, NULL), 0);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	rc = door_ask(path, &q, ret);
	pthread_join(thread, NULL);
	return rc;
}

static void prepare(uint32_t n_fds)
{
	agent.is_silent = false;
	agent.n_fds = n_fds;
	agent.len = sizeof(agent.bytes);
	memset(agent.bytes, 0, sizeof(agent.bytes));
	memcpy(agent.bytes, FUNC_DOOR_MAGIC, 8);
	put_le32(agent.bytes + FUNC_DOOR_AT_VERSION, FUNC_DOOR_VERSION);
	put_le64(agent.bytes + FUNC_DOOR_AT_SIZE, SIZE);
	put_le32(agent.bytes + FUNC_DOOR_AT_ON, 1);
	put_le32(agent.bytes + FUNC_DOOR_AT_AGENT, 4711);
	memcpy(agent.bytes + FUNC_DOOR_AT_TEXT, "editor.12", 9);
}

static void test_open(void **state)
{
	uint32_t before = count_descriptors();
	struct door_answer a;

	(void)state;
	prepare(2);
	assert_int_equal(ask(FUNC_DOOR_OPEN, &a), 0);
	assert_int_equal(a.bytes, SIZE);
	assert_int_equal(a.agent, 4711);
	assert_true(a.on);
	assert_string_equal(a.text, "");
	assert_int_equal(count_descriptors(), before + 2);
	assert_int_equal(lseek(a.fd[0], 0, SEEK_END), SIZE);
	assert_int_equal(lseek(a.fd[1], 0, SEEK_END), 0);
	assert_int_equal(fcntl(a.fd[0], F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(a.fd[1], F_GETFD), FD_CLOEXEC);
	close(a.fd[0]);
	close(a.fd[1]);
	assert_memory_equal(agent.request, FUNC_DOOR_MAGIC, 8);
	assert_int_equal(get_le32(agent.request + FUNC_DOOR_AT_VERSION), 1);
	assert_int_equal(get_le32(agent.request + FUNC_DOOR_AT_VERB), FUNC_DOOR_OPEN);
	assert_int_equal(get_le64(agent.request + FUNC_DOOR_AT_BYTES), 1 << 20);
	assert_memory_equal(agent.request + FUNC_DOOR_AT_COMM, "editor\0\0\0\0\0\0\0\0\0", 16);
	assert_int_equal(get_le32(agent.request + FUNC_DOOR_AT_CLOCK), 1);
	assert_int_equal(get_le32(agent.request + FUNC_DOOR_AT_SHIFT), 3);
	assert_int_equal(get_le64(agent.request + 48), 0);
	assert_int_equal(get_le64(agent.request + 56), 0);
}

static void test_maps(void **state)
{
	uint32_t before = count_descriptors();
	struct door_answer a;

	(void)state;
	prepare(1);
	put_le64(agent.bytes + FUNC_DOOR_AT_SIZE, 0);
	assert_int_equal(ask(FUNC_DOOR_MAPS, &a), 0);
	assert_int_equal(count_descriptors(), before + 1);
	assert_true(a.fd[0] >= 0 && a.fd[1] < 0);
	close(a.fd[0]);
}

/* Whatever comes with a wrong answer is closed. */
static void expect(uint32_t verb, int rc)
{
	uint32_t before = count_descriptors();
	struct door_answer a;

	assert_int_equal(ask(verb, &a), rc);
	assert_int_equal(a.fd[0], -1);
	assert_int_equal(a.fd[1], -1);
	assert_int_equal(count_descriptors(), before);
}

static void test_wrong(void **state)
{
	(void)state;
	prepare(2);
	agent.len--;
	expect(FUNC_DOOR_OPEN, -EPROTO);
	prepare(2);
	agent.bytes[3] ^= 1;
	expect(FUNC_DOOR_OPEN, -EPROTO);
	prepare(2);
	put_le32(agent.bytes + FUNC_DOOR_AT_VERSION, 2);
	expect(FUNC_DOOR_OPEN, -EPROTO);
	prepare(2);
	put_le64(agent.bytes + FUNC_DOOR_AT_SIZE, SIZE - 1);
	expect(FUNC_DOOR_OPEN, -EPROTO);
	prepare(2);
	put_le64(agent.bytes + FUNC_DOOR_AT_SIZE, 0);
	expect(FUNC_DOOR_OPEN, -EPROTO);
	prepare(2);
	expect(FUNC_DOOR_MAPS, -EPROTO);
	prepare(0);
	expect(FUNC_DOOR_OPEN, -EPROTO);
	prepare(1);
	expect(FUNC_DOOR_OPEN, -EPROTO);
	prepare(3);
	expect(FUNC_DOOR_OPEN, -EPROTO);
	prepare(0);
	put_le32(agent.bytes + FUNC_DOOR_AT_CODE, 5000);
	expect(FUNC_DOOR_OPEN, -EPROTO);
}

static void test_refused(void **state)
{
	struct door_answer a;

	(void)state;
	prepare(2);
	put_le32(agent.bytes + FUNC_DOOR_AT_CODE, EBUSY);
	expect(FUNC_DOOR_OPEN, -EBUSY);
	memset(agent.bytes + FUNC_DOOR_AT_TEXT, 'x', FUNC_DOOR_TEXT_LEN);
	agent.bytes[FUNC_DOOR_AT_TEXT] = '\n';
	assert_int_equal(ask(FUNC_DOOR_OPEN, &a), -EBUSY);
	assert_int_equal(strlen(a.text), FUNC_DOOR_TEXT_LEN);
	assert_int_equal(a.text[0], '?');
	assert_int_equal(a.text[1], 'x');
}

static void on_alarm(int number)
{
	(void)number;
}

/* Signals that come all the time neither end the waiting nor make it longer for ever. */
static void test_silent(void **state)
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction act = { .sa_handler = on_alarm }, old;

	(void)state;
	sigaction(SIGALRM, &act, &old);
	setitimer(ITIMER_REAL, &often, NULL);
	prepare(0);
	agent.is_silent = true;
	expect(FUNC_DOOR_OPEN, -ETIMEDOUT);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &old, NULL);
}

/* More than the listener takes wait; this one does not wait for ever. */
static void test_crowd(void **state)
{
	struct door_request q = { .verb = FUNC_DOOR_OPEN };
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct door_answer a;
	int others[8], i;

	(void)state;
	strcpy(at.sun_path, path);
	for (i = 0; i < 8; i++) {
		others[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
		connect(others[i], (struct sockaddr *)&at, sizeof(at));
	}
	assert_int_equal(door_ask(path, &q, &a), -ETIMEDOUT);
	for (i = 0; i < 8; i++)
		close(others[i]);
}

static void test_nobody(void **state)
{
	struct door_request q = { .verb = FUNC_DOOR_OPEN };
	struct door_answer a;

	(void)state;
	assert_int_equal(door_ask("/no/such/socket", &q, &a), -ENOENT);
	close(listener);
	assert_int_equal(door_ask(path, &q, &a), -ECONNREFUSED);
	unlink(path);
}

static int set_up(void **state)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int i;

	(void)state;
	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/s", folder);
	strcpy(at.sun_path, path);
	listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(listener, 2) < 0)
		return 1;
	for (i = 0; i < 3; i++)
		agent.fds[i] = memfd_create("given", 0);
	return ftruncate(agent.fds[0], SIZE);
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),   cmocka_unit_test(test_maps),
		cmocka_unit_test(test_wrong),  cmocka_unit_test(test_refused),
		cmocka_unit_test(test_silent), cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_nobody),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
