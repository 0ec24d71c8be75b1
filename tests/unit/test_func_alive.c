/* SPDX-License-Identifier: MIT */
/* func_alive: processes that come and go, and what they have mapped. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/feed/func_alive.h"

static void tells_who_is_gone(void **state)
{
	uint64_t born;
	int pidfd;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	born = func_alive_born(pid);
	pidfd = func_alive_open(pid);
	assert_true(born > 0);
	assert_false(func_alive_is_gone(pid, pidfd, born));
	assert_false(func_alive_is_gone(pid, -1, born));
	assert_false(func_alive_is_gone(pid, -1, 0));
	assert_true(func_alive_is_gone(pid, -1, born + 1)); /* another one by now */
	kill(pid, SIGKILL);
	/* It is gone before anybody has asked for its status. */
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	assert_true(func_alive_is_gone(pid, -1, born));
	if (pidfd >= 0)
		assert_true(func_alive_is_gone(pid, pidfd, born));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(func_alive_is_gone(pid, -1, born));
	if (pidfd >= 0) {
		assert_true(func_alive_is_gone(pid, pidfd, born));
		close(pidfd);
	}
	assert_int_equal(func_alive_born(pid), 0);
	assert_int_equal(func_alive_has(pid, 1, "x"), 0);
}

static void finds_what_is_mapped(void **state)
{
	char path[] = "/tmp/kiseki-alive-XXXXXX";
	int fd = mkstemp(path);
	struct stat st;
	void *at;

	(void)state;
	assert_true(fd >= 0 && ftruncate(fd, 4096) == 0 && fstat(fd, &st) == 0);
	assert_int_equal(func_alive_has(getpid(), (uint64_t)st.st_ino, path + 5), 0);
	at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	close(fd);
	assert_int_equal(func_alive_has(getpid(), (uint64_t)st.st_ino, path + 5), 1);
	assert_int_equal(func_alive_has(getpid(), (uint64_t)st.st_ino + 1, path + 5), 0);
	assert_int_equal(func_alive_has(getpid(), (uint64_t)st.st_ino, "other"), 0);
	unlink(path);
	assert_int_equal(func_alive_has(getpid(), (uint64_t)st.st_ino, path + 5), 1);
	munmap(at, 4096);
	assert_int_equal(func_alive_has(getpid(), (uint64_t)st.st_ino, path + 5), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_who_is_gone),
		cmocka_unit_test(finds_what_is_mapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
