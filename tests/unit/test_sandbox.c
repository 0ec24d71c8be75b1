/* SPDX-License-Identifier: MIT */
/* sandbox: what a process in it can still do, and how its end is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sandbox.h"
#include "tools/emulator.h"

#define MEMORY (16U << 20)

static char folder[] = "/tmp/kiseki-sandbox-XXXXXX";
static int kept = -1;

/* What a child does in the sandbox; its return is its status. */
static int run(int (*child)(void), const char *may_read)
{
	const struct sandbox_rules rules = { .memory_bytes = MEMORY,
					     .cpu_s = 1,
					     .folder = may_read,
					     .keep = { kept },
					     .n_keep = kept >= 0 };
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(sandbox_enter(&rules, NULL) < 0 ? 99 : child());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int end_by(int (*child)(void), const char *may_read)
{
	int status = run(child, may_read);

	return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static int computes(void)
{
	char *bytes = malloc(1U << 20);

	if (!bytes)
		return 1;
	memset(bytes, 1, 1U << 20);
	free(bytes);
	return write(kept, "x", 1) == 1 ? 0 : 2;
}

static void test_works(void **state)
{
	int ends[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	kept = ends[1];
	assert_int_equal(end_by(computes, NULL), 0);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	close(ends[1]);
	kept = -1;
}

static int opens(void)
{
	return open("/etc/passwd", O_RDONLY) < 0;
}

static int connects(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) < 0;
}

static int starts(void)
{
	execl("/bin/true", "true", (char *)NULL);
	return 0;
}

static int forks(void)
{
	return fork() < 0;
}

static int makes_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	       MAP_FAILED;
}

static int signals(void)
{
	return kill(getppid(), 0) < 0;
}

static void test_nothing_else(void **state)
{
	static int (*const tries[])(void) = { opens, connects, starts, forks, makes_code, signals };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(tries) / sizeof(tries[0]); i++)
		assert_int_equal(end_by(tries[i], NULL), SIGSYS);
}

static int looks(void)
{
	int fd = open("file", O_RDONLY);

	if (fd < 0)
		return 1;
	if (open("/etc/passwd", O_RDONLY) >= 0 || errno != EACCES)
		return 2;
	if (open("../../etc/passwd", O_RDONLY) >= 0 || errno != EACCES)
		return 3;
	return 0;
}

static int writes(void)
{
	return open("file", O_WRONLY) < 0;
}

static void test_folder(void **state)
{
	struct sandbox_abilities can;
	int before = open(".", O_RDONLY | O_DIRECTORY), fd;

	(void)state;
	sandbox_probe(&can);
	assert_true(can.has_filter);
	assert_int_equal(chdir(folder), 0);
	fd = open("file", O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	if (can.has_landlock)
		assert_int_equal(end_by(looks, folder), 0);
	assert_int_equal(end_by(writes, folder), SIGSYS);
	assert_int_equal(unlink("file"), 0);
	assert_int_equal(fchdir(before), 0);
	close(before);
}

/* A compiler leaves out memory that nobody reads: hence the look at it. */
static int takes_memory(void)
{
	size_t sum = 0;
	char *p;

	while (sum < 4 * (size_t)MEMORY && (p = malloc(1U << 20))) {
		memset(p, 1, 1U << 20);
		(void)*(volatile char *)p;
		sum += 1U << 20;
	}
	return sum < MEMORY ? 0 : 1;
}

static int takes_time(void)
{
	volatile unsigned int n = 0;

	while (n < UINT32_MAX)
		n = (n + 1) % 1000;
	return 1;
}

static int descriptors(void)
{
	return fcntl(kept + 1, F_GETFD) < 0 && fcntl(kept, F_GETFD) >= 0 ? 0 : 1;
}

static void test_limits(void **state)
{
	char text[SANDBOX_REASON_MAX];
	int fds[2], status;

	(void)state;
	assert_int_equal(end_by(takes_memory, NULL), 0);
	status = run(takes_time, NULL);
	assert_true(WIFSIGNALED(status));
	assert_string_equal(sandbox_explain(status, text), WTERMSIG(status) == SIGKILL
								   ? "its reader was killed"
								   : "its reader took too much "
								     "time and was ended");
	assert_int_equal(pipe(fds), 0);
	kept = fds[0] < fds[1] ? fds[0] : fds[1];
	assert_int_equal(end_by(descriptors, NULL), 0);
	kept = -1;
	close(fds[0]);
	close(fds[1]);
}

static int crashes(void)
{
	raise(SIGABRT);
	return 0;
}

static void test_explains(void **state)
{
	char text[SANDBOX_REASON_MAX];

	(void)state;
	assert_string_equal(sandbox_explain(run(crashes, NULL), text),
			    "its reader crashed (Aborted)");
	assert_string_equal(sandbox_explain(run(connects, NULL), text),
			    "its reader tried to do more than read, and was ended");
	assert_string_equal(sandbox_explain(3 << 8, text), "its reader ended with status 3");
	assert_string_equal(sandbox_explain(SIGKILL, text), "its reader was killed");
}

/* What the doctor asks. */
static void test_tries(void **state)
{
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(sandbox_try(&e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_works),	 cmocka_unit_test(test_nothing_else),
		cmocka_unit_test(test_folder),	 cmocka_unit_test(test_limits),
		cmocka_unit_test(test_explains), cmocka_unit_test(test_tries),
	};
	int r;

	if (SANDBOX_SANITIZED) {
		puts("skipped: programs with a sanitizer have no filter");
		return 77;
	}
	if (emulator_is_there()) {
		puts("skipped: what emulates this program knows no filter");
		return 77;
	}
	if (!mkdtemp(folder))
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return r;
}
