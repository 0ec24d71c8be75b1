/* SPDX-License-Identifier: MIT */
/*
 * How a traced program asks its agent, compiled as the rest of the tests is: so sanitizers see it, and
 * descriptors are counted. Programs that ask are in tests/func.
 */
#include "device/func/door.h"
#include "tools/emulator.h"

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
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/syscall_filter.h"
#include "wire/varint.h"

#define SIZE 300000U
#define CANNOT 255 /* of a child: this machine cannot deny calls */

static char folder[] = "/tmp/kiseki-door-XXXXXX";
static char path[64];
static int listener;

/* What the agent is to do with the next one who asks. */
static struct {
	bool is_silent;
	bool is_gone;	 /* it answers nobody */
	uint32_t closes; /* so often it closes without a word before */
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

static int take_request(void)
{
	int connection = accept(listener, NULL, NULL);

	assert_true(connection >= 0);
	assert_int_equal(recv(connection, agent.request, sizeof(agent.request), 0),
			 sizeof(agent.request));
	return connection;
}

/* Answers one request; a silent one holds the connection until the other side is gone. */
static void *serve(void *argument)
{
	int connection;
	char more;

	for (; agent.closes; agent.closes--)
		close(take_request());
	if (agent.is_gone)
		return argument;
	connection = take_request();
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
	agent.is_silent = agent.is_gone = false;
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

/* Memory of another kind where records of objects go to. */
static void test_no_file(void **state)
{
	int ends[2], file = agent.fds[1];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	agent.fds[1] = ends[1];
	prepare(2);
	expect(FUNC_DOOR_OPEN, -EPROTO);
	agent.fds[1] = file;
	close(ends[0]);
	close(ends[1]);
}

/* An agent that hangs up is asked again, twice. */
static void test_again(void **state)
{
	struct door_answer a;

	(void)state;
	prepare(2);
	agent.closes = 2;
	assert_int_equal(ask(FUNC_DOOR_OPEN, &a), 0);
	assert_int_equal(agent.closes, 0);
	close(a.fd[0]);
	close(a.fd[1]);
	prepare(2);
	agent.closes = 3;
	agent.is_gone = true;
	expect(FUNC_DOOR_OPEN, -ECONNRESET);
}

/* Runs in a child: its answer, with so many descriptors left; 0: as many as it likes. */
static int ask_alone(int left)
{
	struct door_request q = { .verb = FUNC_DOOR_OPEN };
	struct rlimit most;
	struct door_answer a;
	int free_ones[8], i;

	assert_true(left <= 8);
	for (i = 0; i < left; i++) /* there may be others in between */
		free_ones[i] = dup(0);
	for (i = 0; i < left; i++)
		close(free_ones[i]);
	getrlimit(RLIMIT_NOFILE, &most);
	if (left)
		most.rlim_cur = (rlim_t)free_ones[left - 1] + 1;
	if (setrlimit(RLIMIT_NOFILE, &most))
		return 1;
	return -door_ask(path, &q, &a);
}

/* The child's door_ask(), from above 0; the agent serves it unless there is none. */
static int ask_in_child(int left, bool is_served)
{
	const struct syscall_filter deny = { SYS_sendto, EPIPE };
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid)
		_exit(!is_served && syscall_filter_set(&deny, 1) ? CANNOT : ask_alone(left));
	if (is_served)
		serve(NULL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* A process that has no descriptors left is told so; an agent that gives too many is not believed, though they did not come. */
static void test_no_descriptors(void **state)
{
	(void)state;
	if (emulator_is_valgrind())
		skip(); /* it keeps descriptors of its own beyond the limit */
	prepare(2);
	assert_int_equal(ask_in_child(1, true), EMFILE);
	assert_int_equal(ask_in_child(2, true), EMFILE);
	assert_int_equal(ask_in_child(3, true), 0);
	prepare(3);
	assert_int_equal(ask_in_child(3, true), EPROTO);
}

/* An agent that closes before it is asked. */
static void test_cannot_send(void **state)
{
	int code = ask_in_child(0, false), i;

	(void)state;
	if (code == CANNOT)
		skip();
	assert_int_equal(code, EPIPE);
	for (i = 0; i < 3; i++)
		close(accept(listener, NULL, NULL)); /* it had come each time */
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

static void on_long_alarm(int number)
{
	/* Not on the stack: qemu 7.2 aligns that of a handler for x86-64 wrongly. */
	static const struct timespec long_time = { 2, 100000000 };

	(void)number;
	nanosleep(&long_time, NULL);
}

/* All of the time is gone when a signal's handler returns. */
static void test_late(void **state)
{
	struct itimerval once = { { 0, 0 }, { 0, 50000 } };
	struct sigaction act = { .sa_handler = on_long_alarm }, old;

	(void)state;
	sigaction(SIGALRM, &act, &old);
	prepare(0);
	agent.is_silent = true;
	setitimer(ITIMER_REAL, &once, NULL);
	expect(FUNC_DOOR_OPEN, -ETIMEDOUT);
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
		cmocka_unit_test(test_open),	       cmocka_unit_test(test_maps),
		cmocka_unit_test(test_wrong),	       cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_file),	       cmocka_unit_test(test_again),
		cmocka_unit_test(test_no_descriptors), cmocka_unit_test(test_cannot_send),
		cmocka_unit_test(test_silent),	       cmocka_unit_test(test_late),
		cmocka_unit_test(test_crowd),	       cmocka_unit_test(test_nobody),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
