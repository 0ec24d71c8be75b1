/* SPDX-License-Identifier: MIT */
/*
 * sandbox: see sandbox.h.
 *
 * The order matters: descriptors and limits first, then the file system, then the filter, which would
 * refuse the calls of the others. Memory is limited as data (RLIMIT_DATA), which counts what is
 * private and writable: files that were mapped to be read do not count.
 */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/file_rules.h"
#include "sandbox/syscall_filter.h"
#include "sandbox/syscall_number.h"

#define FDS_MAX 65536 /* looked at where close_range() is missing */

#define ALWAYS(name)                                                                               \
	{                                                                                          \
		.number = __NR_##name                                                              \
	}
#define WHERE(name, n, m, v)                                                                       \
	{                                                                                          \
		.number = __NR_##name, .argument = n, .mask = m, .value = v                        \
	}

/* What a parser needs: its memory, what it was given, and to end. */
static const struct syscall_rule parser_rules[] = {
	ALWAYS(read),
	ALWAYS(write),
	ALWAYS(readv),
	ALWAYS(writev),
	ALWAYS(pread64),
	ALWAYS(pwrite64),
	ALWAYS(lseek),
	ALWAYS(_llseek),
	ALWAYS(close),
	ALWAYS(fstat),
	ALWAYS(fstat64),
	ALWAYS(poll),
	ALWAYS(ppoll),
	ALWAYS(ppoll_time64),
	ALWAYS(ftruncate),
	ALWAYS(ftruncate64),
	ALWAYS(brk),
	ALWAYS(munmap),
	ALWAYS(mremap),
	ALWAYS(madvise),
	ALWAYS(futex),
	ALWAYS(futex_time64),
	ALWAYS(exit),
	ALWAYS(exit_group),
	ALWAYS(getpid),
	ALWAYS(gettid),
	ALWAYS(tgkill), /* abort() */
	ALWAYS(rt_sigaction),
	ALWAYS(rt_sigprocmask),
	ALWAYS(rt_sigreturn),
	ALWAYS(sigaltstack),
	ALWAYS(setitimer),
	ALWAYS(clock_gettime),
	ALWAYS(clock_gettime64),
	ALWAYS(getrandom),
	ALWAYS(sched_yield),
	ALWAYS(restart_syscall),
	ALWAYS(uname),
	ALWAYS(sysinfo), /* qsort() */
	/* GLib asks whether its standard error is the journal before it says there that memory is out. */
	{ .number = __NR_getpeername, .code = EPERM },
	ALWAYS(sched_getaffinity),
	ALWAYS(getuid),
	ALWAYS(geteuid),
	ALWAYS(getuid32),
	ALWAYS(geteuid32),
	WHERE(mmap, 2, PROT_EXEC, 0),
	WHERE(mmap2, 2, PROT_EXEC, 0),
	WHERE(mprotect, 2, PROT_EXEC, 0),
	WHERE(fcntl, 1, UINT32_MAX, F_GETFL),
	WHERE(fcntl, 1, UINT32_MAX, F_GETFD),
	WHERE(fcntl64, 1, UINT32_MAX, F_GETFL),
	WHERE(fcntl64, 1, UINT32_MAX, F_GETFD),
	/* fstat(), as the C library writes it. */
	WHERE(newfstatat, 3, AT_EMPTY_PATH, AT_EMPTY_PATH),
	WHERE(fstatat64, 3, AT_EMPTY_PATH, AT_EMPTY_PATH),
};

#define WRITING (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND)

/* And one that was given a folder to look through. */
static const struct syscall_rule folder_rules[] = {
	WHERE(open, 1, WRITING, 0),
	WHERE(openat, 2, WRITING, 0),
	/* Its flags are in memory, where no filter can look: only where landlock lets nothing be written. */
	{ .number = __NR_openat2, .code = ENOSYS },
	ALWAYS(getdents64),
	ALWAYS(stat),
	ALWAYS(lstat),
	ALWAYS(newfstatat),
	ALWAYS(fstatat64),
	ALWAYS(statx),
	ALWAYS(fstatfs),
	ALWAYS(fstatfs64),
	ALWAYS(access),
	ALWAYS(faccessat),
	ALWAYS(faccessat2),
	ALWAYS(readlink),
	ALWAYS(readlinkat),
	ALWAYS(getcwd),
	WHERE(ioctl, 1, UINT32_MAX, TCGETS), /* is it a terminal? */
	WHERE(fcntl, 1, UINT32_MAX, F_SETFD),
	WHERE(fcntl64, 1, UINT32_MAX, F_SETFD),
};

#define N_PARSER (sizeof(parser_rules) / sizeof(parser_rules[0]))
#define N_FOLDER (sizeof(folder_rules) / sizeof(folder_rules[0]))

_Static_assert(N_PARSER + N_FOLDER <= SYSCALL_RULES_MAX, "the rules fit a filter");

static void close_between(int from, int to)
{
	if (from > to)
		return;
	if (__NR_close_range < 0 ||
	    syscall(__NR_close_range, (unsigned int)from, (unsigned int)to, 0) < 0)
		for (; from <= to && from < FDS_MAX; from++)
			close(from);
}

static int compare_fds(const void *left, const void *right)
{
	const int *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static void close_others(const struct sandbox_rules *r)
{
	int kept[SANDBOX_KEEP_MAX] = { 0 }, next = STDERR_FILENO + 1;
	size_t i;

	if (r->n_keep)
		memcpy(kept, r->keep, r->n_keep * sizeof(kept[0]));
	qsort(kept, r->n_keep, sizeof(kept[0]), compare_fds);
	for (i = 0; i < r->n_keep; i++) {
		close_between(next, kept[i] - 1);
		next = kept[i] < next ? next : kept[i] + 1;
	}
	close_between(next, INT_MAX);
}

static int limit(int what, uint64_t most, struct error *e)
{
	struct rlimit before, l = { .rlim_cur = (rlim_t)most, .rlim_max = (rlim_t)most };

	if (getrlimit((__rlimit_resource_t)what, &before) == 0 && before.rlim_max < l.rlim_max)
		l.rlim_cur = l.rlim_max = before.rlim_max;
	if (setrlimit((__rlimit_resource_t)what, &l) < 0)
		return error_set(e, errno, "cannot limit a process: %s", strerror(errno));
	return 0;
}

static int set_limits(const struct sandbox_rules *r, struct error *e)
{
	int rc = limit(RLIMIT_CORE, 0, e);

	if (rc == 0 && r->cpu_s)
		rc = limit(RLIMIT_CPU, r->cpu_s, e);
	if (rc < 0 || SANDBOX_SANITIZED)
		return rc;
	signal(SIGXFSZ, SIG_IGN); /* the write fails, and says so */
	rc = limit(RLIMIT_FSIZE, r->output_bytes, e);
	if (rc == 0 && r->memory_bytes)
		rc = limit(RLIMIT_DATA, r->memory_bytes, e);
	return rc;
}

static int install_filter(const struct sandbox_rules *r, bool has_landlock, struct error *e)
{
	struct syscall_rule all[N_PARSER + N_FOLDER];
	const struct syscall_filter f = { .rules = all,
					  .n = r->folder ? N_PARSER + N_FOLDER : N_PARSER,
					  .otherwise = SYSCALL_KILL };
	size_t i;

	memcpy(all, parser_rules, sizeof(parser_rules));
	memcpy(all + N_PARSER, folder_rules, sizeof(folder_rules));
	for (i = N_PARSER; i < N_PARSER + N_FOLDER && has_landlock; i++)
		all[i].code = 0;
	return syscall_filter_install(&f, e);
}

int sandbox_enter(const struct sandbox_rules *r, struct error *e)
{
	int rc;

	if (r->n_keep > SANDBOX_KEEP_MAX)
		return error_set(e, EINVAL, "cannot keep so many descriptors");
	if (!SANDBOX_SANITIZED) /* whose reports have a descriptor of their own */
		close_others(r);
	rc = set_limits(r, e);
	if (rc < 0 || SANDBOX_SANITIZED)
		return rc;
	prctl(PR_SET_DUMPABLE, 0);
	rc = file_rules_enter(r->folder, r->more, e);
	if (rc == 0 || rc == -ENOSYS)
		rc = install_filter(r, rc == 0, e);
	return rc == -ENOSYS ? 0 : rc;
}

const char *sandbox_explain(int status, char out[SANDBOX_REASON_MAX])
{
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (number == SIGVTALRM || number == SIGXCPU)
		snprintf(out, SANDBOX_REASON_MAX, "its reader took too much time and was ended");
	else if (number == SIGSYS)
		snprintf(out, SANDBOX_REASON_MAX,
			 "its reader tried to do more than read, and was ended");
	else if (number == SIGKILL)
		snprintf(out, SANDBOX_REASON_MAX, "its reader was killed");
	else if (number)
		snprintf(out, SANDBOX_REASON_MAX, "its reader crashed (%s)", strsignal(number));
	else
		snprintf(out, SANDBOX_REASON_MAX, "its reader ended with status %d",
			 WEXITSTATUS(status));
	return out;
}

void sandbox_probe(struct sandbox_abilities *ret)
{
	/* Without a program the kernel says EFAULT if it knows such filters, EINVAL if not. */
	ret->has_filter =
		prctl(PR_SET_SECCOMP, 2 /* SECCOMP_MODE_FILTER */, NULL) < 0 && errno == EFAULT;
	ret->has_landlock = file_rules_exist();
}

enum { TRY_NO_FILTER = 1, TRY_SURVIVED = 2 };

int sandbox_try(struct error *e)
{
	const struct sandbox_rules rules = { .n_keep = 0 };
	char reason[SANDBOX_REASON_MAX];
	struct sandbox_abilities can;
	pid_t pid;
	int status = 0;

	sandbox_probe(&can);
	if (SANDBOX_SANITIZED || !can.has_filter)
		return error_set(e, ENOSYS,
				 SANDBOX_SANITIZED ? "it was built with a sanitizer"
						   : "this kernel has no seccomp");
	pid = fork();
	if (pid == 0) {
		if (sandbox_enter(&rules, NULL) < 0)
			_exit(TRY_NO_FILTER);
		syscall(__NR_getppid);
		_exit(TRY_SURVIVED);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return error_set(e, errno, "no process can be started: %s", strerror(errno));
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == TRY_NO_FILTER)
		return error_set(e, EPERM, "a process that has one cannot be made");
	if (WIFEXITED(status))
		return error_set(e, EPERM, "a process that has one can do what it likes");
	return error_set(e, EPERM, "%s", sandbox_explain(status, reason));
}
