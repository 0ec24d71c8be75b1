/* SPDX-License-Identifier: MIT */
/*
 * process_event, exit_account, unit_state: what they ask for, over a socket on which a test answers in the place of the kernel, and where the
 * kernel denies the calls that they need.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/boot/exit_account.h"
#include "device/boot/kernel_abi.h"
#include "device/boot/process_event.h"
#include "device/boot/unit_state.h"
#include "tools/emulator.h"
#include "tools/syscall_filter.h"

#define FAMILY 0x1cU
#define CANNOT 77 /* of a child: this machine cannot deny calls */

struct wire {
	int ours, kernels;
};

static struct wire open_wire(void)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends), 0);
	return (struct wire){ ends[0], ends[1] };
}

static void close_wire(struct wire *w)
{
	close(w->ours);
	close(w->kernels);
}

static void say(const struct wire *w, const uint8_t *m, size_t len)
{
	assert_int_equal(send(w->kernels, m, len, 0), len);
}

static void put32(uint8_t *m, size_t at, uint32_t v)
{
	memcpy(m + at, &v, sizeof(v));
}

static void put16(uint8_t *m, size_t at, uint16_t v)
{
	memcpy(m + at, &v, sizeof(v));
}

static uint32_t get32(const uint8_t *m, size_t at)
{
	uint32_t v;

	memcpy(&v, m + at, sizeof(v));
	return v;
}

static uint16_t get16(const uint8_t *m, size_t at)
{
	uint16_t v;

	memcpy(&v, m + at, sizeof(v));
	return v;
}

/* --- process events --- */

/* Something happened to a process; of what == 0, the answer to a request, pid is an errno. */
static void say_event(const struct wire *w, uint32_t what, uint32_t pid)
{
	uint8_t m[76] = { 0 };

	put32(m, 0, sizeof(m));
	put16(m, 32, 40);
	put32(m, 36, what);
	put32(m, 52, pid);
	put32(m, 56, pid);
	say(w, m, sizeof(m));
}

static void asks_for_events(void **state)
{
	struct wire w = open_wire();
	struct error e = ERROR_INIT;
	uint8_t m[256];

	(void)state;
	/* Others' events come before the answer; one of no kind that is known among them, and bytes that are no message. */
	say_event(&w, ABI_PROCESS_EXEC, 7);
	say_event(&w, 0x40, 7);
	say(&w, (const uint8_t *)"\1\2\3", 3);
	say_event(&w, ABI_PROCESS_NONE, 0);
	assert_int_equal(process_event_ask(w.ours, &e), 0);
	assert_int_equal(recv(w.kernels, m, sizeof(m), 0), 40);
	assert_int_equal(get32(m, 0), 40); /* its length */
	assert_int_equal(get16(m, 4), 3);  /* DONE */
	assert_int_equal(get32(m, 36), 1); /* listen */
	close_wire(&w);
}

static void is_refused_events(void **state)
{
	struct wire w = open_wire();
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(process_event_ask(w.ours, &e), -EPERM); /* without a word */
	assert_non_null(strstr(e.text, "refuses them here"));
	say_event(&w, ABI_PROCESS_NONE, EINVAL);
	assert_int_equal(process_event_ask(w.ours, &e), -EINVAL);
	assert_non_null(strstr(e.text, "refuses them here"));
	close(w.kernels);
	assert_int_equal(process_event_ask(w.ours, &e), -ECONNREFUSED);
	assert_non_null(strstr(e.text, "lacks CONFIG_PROC_EVENTS"));
	close(w.ours);
}

/* --- accounts --- */

/* An acknowledgement, or what went wrong, which is below 0. */
static void say_error(const struct wire *w, int error)
{
	uint8_t m[36] = { 0 };

	put32(m, 0, sizeof(m));
	put16(m, 4, ABI_MESSAGE_ERROR);
	put32(m, 16, (uint32_t)error);
	say(w, m, sizeof(m));
}

/* A family with a name and a number of so many bytes. */
static void say_family(const struct wire *w, uint16_t bytes)
{
	uint8_t m[20 + 16 + 8] = { 0 };

	put32(m, 0, sizeof(m));
	put16(m, 4, ABI_GENERIC_CONTROL);
	put16(m, 20, 4 + 10);
	put16(m, 22, ABI_GENERIC_FAMILY_NAME);
	memcpy(m + 24, "TASKSTATS", 10);
	put16(m, 36, (uint16_t)(4 + bytes));
	put16(m, 38, ABI_GENERIC_FAMILY_ID);
	put16(m, 40, FAMILY);
	say(w, m, sizeof(m));
}

static void asks_for_accounts(void **state)
{
	struct wire w = open_wire();
	struct error e = ERROR_INIT;
	uint8_t m[256];

	(void)state;
	say_family(&w, 2);
	say_error(&w, 0);
	say_error(&w, 0);
	assert_int_equal(exit_account_ask(w.ours, "0-3", &e), 0);
	assert_int_equal(recv(w.kernels, m, sizeof(m), 0), 20 + 4 + 10);
	assert_int_equal(get16(m, 4), ABI_GENERIC_CONTROL);
	assert_string_equal((char *)m + 24, "TASKSTATS");
	assert_int_equal(recv(w.kernels, m, sizeof(m), 0), 20 + 4 + 4);
	assert_int_equal(get16(m, 4), FAMILY);
	assert_string_equal((char *)m + 24, "0-3");
	close_wire(&w);
}

static void lacks_accounts(struct wire *w, int error)
{
	struct error e = ERROR_INIT;

	assert_int_equal(exit_account_ask(w->ours, "0", &e), error);
	assert_non_null(strstr(e.text, "lacks CONFIG_TASKSTATS"));
}

static void finds_no_family(void **state)
{
	struct wire w = open_wire();

	(void)state;
	lacks_accounts(&w, -EAGAIN); /* it says nothing */
	say_error(&w, -ENOENT);
	lacks_accounts(&w, -ENOENT);
	say_error(&w, 0); /* all is well, but where is the number? */
	lacks_accounts(&w, -ENOENT);
	say(&w, (const uint8_t *)"\12\0\0\0\20\0\0\0\0\0", 10);
	lacks_accounts(&w, -EBADMSG);
	say_family(&w, 1);
	lacks_accounts(&w, -EBADMSG);
	close(w.kernels);
	lacks_accounts(&w, -ECONNREFUSED);
	close(w.ours);
}

static void is_refused_accounts(void **state)
{
	struct wire w = open_wire();
	struct error e = ERROR_INIT;
	char cpus[400];
	size_t i;

	(void)state;
	say_family(&w, 2);
	say_error(&w, 0);
	say_error(&w, -EPERM);
	assert_int_equal(exit_account_ask(w.ours, "0", &e), -EPERM);
	assert_non_null(strstr(e.text, "refuses them"));
	for (i = 0; i + 1 < sizeof(cpus); i += 2)
		memcpy(cpus + i, "1,", 2);
	cpus[sizeof(cpus) - 1] = 0;
	say_family(&w, 2);
	say_error(&w, 0);
	assert_int_equal(exit_account_ask(w.ours, cpus, &e), -E2BIG);
	close_wire(&w);
}

/* --- without the calls --- */

/* Runs it in a child to which a call is denied. */
static void deny(long call, int (*child)(void *context), void *context)
{
	const struct syscall_filter list = { call, ENOBUFS };
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid)
		_exit(syscall_filter_set(&list, 1) < 0 ? CANNOT : child(context));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == CANNOT)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static bool says(const struct error *e, int r, const char *part)
{
	return r == -ENOBUFS && strstr(e->text, part);
}

static int opens_neither(void *context)
{
	struct error events = ERROR_INIT, accounts = ERROR_INIT;
	int r = process_event_open(4096, PROCESS_EVENTS_OF_ALL, &events);

	(void)context;
	if (!says(&events, r, "no process events"))
		return 1;
	r = exit_account_open(4096, "0", &accounts);
	return !says(&accounts, r, "no exit accounts");
}

/* Its buffer stays as it is, but a filter is needed. */
static int opens_accounts(void *context)
{
	struct error events = ERROR_INIT;
	int fd = exit_account_open(4096, "0", context);

	return !says(&events, process_event_open(4096, PROCESS_EVENTS_EXEC, &events),
		     "no process events") ||
	       fd == -ENOBUFS;
}

static void says_what_the_kernel_denies(void **state)
{
	struct error e = ERROR_INIT;
	int fd = process_event_open(4096, PROCESS_EVENTS_OF_PROCESSES, &e);

	(void)state;
	deny(SYS_socket, opens_neither, NULL);
	if (fd == -EPROTONOSUPPORT) /* no connector: the rest is not reached */
		skip();
	if (fd >= 0)
		close(fd);
	deny(SYS_bind, opens_neither, NULL);
	deny(SYS_sendto, opens_neither, NULL);
	deny(SYS_setsockopt, opens_accounts, &e);
}

static int is_not_connected(void *context)
{
	struct unit_state u;

	unit_state_init(&u);
	return unit_state_check(&u, context, "a.target", UNIT_STATE_NS) || u.fd >= 0;
}

static void cannot_greet_systemd(void **state)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char root[] = "/tmp/kiseki-asked-XXXXXX", path[64];
	int fd;

	(void)state;
	if (emulator_is_there())
		skip(); /* before there is a folder: it can deny nothing */
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/run", root);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/run/systemd", root);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s" UNIT_STATE_SOCKET, root);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)) | listen(fd, 1), 0);
	deny(SYS_socket, is_not_connected, root);
	deny(SYS_sendto, is_not_connected, root);
	assert_true(accept(fd, NULL, NULL) >= 0); /* it had come so far */
	close(fd);
	assert_int_equal(unlink(a.sun_path) | rmdir(path), 0);
	snprintf(path, sizeof(path), "%s/run", root);
	assert_int_equal(rmdir(path) | rmdir(root), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asks_for_events),
		cmocka_unit_test(is_refused_events),
		cmocka_unit_test(asks_for_accounts),
		cmocka_unit_test(finds_no_family),
		cmocka_unit_test(is_refused_accounts),
		cmocka_unit_test(says_what_the_kernel_denies),
		cmocka_unit_test(cannot_greet_systemd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
