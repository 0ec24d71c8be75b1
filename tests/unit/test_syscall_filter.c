/* SPDX-License-Identifier: MIT */
/* syscall_filter: each case in a child of its own, for a filter stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sandbox.h"
#include "sandbox/syscall_filter.h"
#include "sandbox/syscall_name.h"
#include "sandbox/syscall_number.h"
#include "tools/emulator.h"

#define TEXT_MAX 512

static const struct syscall_rule few[] = {
	{ .number = __NR_write },
	{ .number = __NR_exit_group },
	{ .number = __NR_rt_sigreturn },
	{ .number = __NR_rt_sigprocmask },
	{ .number = __NR_read },
	{ .number = __NR_set_robust_list },
	{ .number = __NR_rseq },
	{ .number = __NR_futex },
	{ .number = __NR_munmap },
	{ .number = __NR_madvise },
	{ .number = __NR_exit },
	{ .number = __NR_getppid, .code = ENOSYS },
	{ .number = __NR_socket, .argument = 0, .mask = UINT32_MAX, .value = AF_INET },
	{ .number = __NR_socket, .argument = 0, .mask = UINT32_MAX, .value = AF_UNIX },
	{ .number = __NR_mprotect, .argument = 2, .mask = PROT_EXEC, .value = 0 },
	{ .number = -1 },
};

static int enter(enum syscall_otherwise otherwise)
{
	const struct syscall_filter f = { few, sizeof(few) / sizeof(few[0]), otherwise };

	return syscall_filter_install(&f, NULL);
}

/* Runs it in a child; its standard error is in `text`. */
static int run(int (*child)(void), char text[TEXT_MAX])
{
	int ends[2], status, n;
	size_t len = 0;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		_exit(child());
	}
	close(ends[1]);
	while ((n = (int)read(ends[0], text + len, TEXT_MAX - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = 0;
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int refused(void)
{
	if (enter(SYSCALL_TELL) < 0)
		return 1;
	if (open("/", O_RDONLY) >= 0 || errno != EPERM)
		return 2;
	if (open("/", O_RDONLY) >= 0 || errno != EPERM)
		return 3;
	return 0;
}

static void test_tells_once(void **state)
{
	char text[TEXT_MAX];

	(void)state;
	assert_int_equal(run(refused, text), 0);
	assert_string_equal(text, "kiseki: the sandbox refused the system call openat\n");
}

static int with_arguments(void)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (enter(SYSCALL_TELL) < 0)
		return 1;
	if (socket(AF_INET, SOCK_STREAM, 0) < 0 || socket(AF_UNIX, SOCK_STREAM, 0) < 0)
		return 2;
	if (socket(AF_NETLINK, SOCK_RAW, 0) >= 0 || errno != EPERM)
		return 3;
	if (mprotect(page, 4096, PROT_READ | PROT_WRITE) < 0)
		return 4;
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0 || errno != EPERM)
		return 5;
	if (syscall(__NR_getppid) != -1 || errno != ENOSYS)
		return 6;
	return 0;
}

static void test_arguments(void **state)
{
	char text[TEXT_MAX];

	(void)state;
	assert_int_equal(run(with_arguments, text), 0);
	assert_non_null(strstr(text, "system call socket\n"));
	assert_non_null(strstr(text, "system call mprotect\n"));
	assert_null(strstr(text, "getppid"));
}

static int killed(void)
{
	return enter(SYSCALL_KILL) < 0 ? 1 : 2 + (int)syscall(__NR_getpid);
}

static void test_kills(void **state)
{
	char text[TEXT_MAX];
	int status;

	(void)state;
	status = run(killed, text);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
}

static int wait_end[2];

static void *other_thread(void *result)
{
	char byte;

	if (read(wait_end[0], &byte, 1) == 1) /* which began before the filter */
		*(int *)result = open("/", O_RDONLY) < 0 && errno == EPERM ? 1 : 2;
	return NULL;
}

static int threads(void)
{
	pthread_t thread;
	int result = 0;

	if (pipe(wait_end) < 0 || pthread_create(&thread, NULL, other_thread, &result))
		return 1;
	if (enter(SYSCALL_TELL) < 0 || write(wait_end[1], "x", 1) != 1)
		return 2;
	pthread_join(thread, NULL);
	return result == 1 ? 0 : 3;
}

static void test_all_threads(void **state)
{
	char text[TEXT_MAX];

	(void)state;
	assert_int_equal(run(threads, text), 0);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(syscall_name_get(__NR_execve), "execve");
	assert_null(syscall_name_get(100000));
}

static void test_too_many(void **state)
{
	struct syscall_rule many[SYSCALL_RULES_MAX + 1] = { 0 };
	const struct syscall_filter f = { many, SYSCALL_RULES_MAX + 1, SYSCALL_TELL };

	(void)state;
	assert_int_equal(syscall_filter_install(&f, NULL), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tells_once), cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_kills),	   cmocka_unit_test(test_all_threads),
		cmocka_unit_test(test_names),	   cmocka_unit_test(test_too_many),
	};

	if (SANDBOX_SANITIZED) {
		puts("skipped: programs with a sanitizer have no filter");
		return 77;
	}
	if (emulator_is_there()) {
		puts("skipped: what emulates this program knows no filter");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
