/* SPDX-License-Identifier: MIT */
/*
 * child_process: see child_process.h.
 *
 * The watchdog counts the processor time that the child takes for some thousand items, so a trace may be as long
 * as it likes.
 */
#include "convert/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/sandbox.h"
#if SANDBOX_SANITIZED
#include <sanitizer/common_interface_defs.h>
#endif

#define CHILD_LOG (64U * 1024)
#define CHILD_PATIENCE_S (SANDBOX_SANITIZED ? 3 : 30) /* of processor time for one batch */
#define INPUT_PER_S (128U << 20)		      /* more of it for opening large traces */

static void set_patience(uint64_t seconds)
{
	const struct itimerval patience = { .it_value.tv_sec = (time_t)seconds };

	setitimer(ITIMER_VIRTUAL, &patience, NULL);
}

void child_process_alive(void)
{
	set_patience(CHILD_PATIENCE_S);
}

/* --- the child --- */

/* A sanitizer's findings still go to the program's standard error. */
static void keep_reports(void)
{
#if SANDBOX_SANITIZED
	__sanitizer_set_report_fd((void *)(intptr_t)dup(STDERR_FILENO));
#endif
}

/* The last words of a library are for nobody, and the handlers that the program has for signals would
 * tidy up the program's things. */
static void child_prepare(const struct child_process *c, pid_t parent)
{
	static const int reset[] = { SIGABRT, SIGSEGV, SIGBUS,	SIGFPE, SIGILL,	 SIGVTALRM,
				     SIGPIPE, SIGINT,  SIGTERM, SIGHUP, SIGALRM, SIGUSR1 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	size_t i;

	for (i = 0; i < sizeof(reset) / sizeof(reset[0]); i++)
		signal(reset[i], SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || null < 0)
		_exit(1);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	keep_reports();
	if (c->log >= 0)
		dup2(c->log, STDERR_FILENO);
	if (c->setup.prepare)
		c->setup.prepare();
}

static int child_enter(const struct child_process *c, int out, struct error *e)
{
	struct sandbox_rules rules = { .memory_bytes = c->setup.memory_bytes,
				       .output_bytes = CHILD_LOG,
				       .folder = c->setup.folder,
				       .keep = { out, c->setup.fd },
				       .n_keep = c->setup.fd >= 0 ? 2 : 1 };

	set_patience(CHILD_PATIENCE_S + c->setup.input_bytes / INPUT_PER_S);
	return sandbox_enter(&rules, e);
}

_Noreturn static void child_run(struct child_process *c, pid_t parent)
{
	struct error e = ERROR_INIT;
	int r;

	child_prepare(c, parent);
	r = child_enter(c, c->pipe.fd, &e);
	r = r < 0 ? child_frame_send_error(&c->pipe, r, &e) : c->setup.run(c);
	if (r >= 0)
		child_frame_flush(&c->pipe);
	_exit(0);
}

/* --- the parent --- */

int child_process_fail(struct child_process *c, int code, const char *reason)
{
	const char *prefix = c->setup.prefix;

	c->failed = error_set(&c->error, code, "%s%s%s", prefix ? prefix : "", prefix ? ": " : "",
			      reason);
	return c->failed;
}

static void child_stop(struct child_process *c, int *ret_status)
{
	int status = 0;

	if (c->pid > 0) {
		close(c->pipe.fd);
		kill(c->pid, SIGKILL);
		while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	c->pid = 0;
	if (ret_status)
		*ret_status = status;
}

int child_process_start(struct child_process *c)
{
	pid_t parent = getpid();
	int fds[2];

	child_stop(c, NULL);
	c->failed = 0;
	c->pipe.start = c->pipe.end = 0;
	if (c->log >= 0 && (ftruncate(c->log, 0) < 0 || lseek(c->log, 0, SEEK_SET) < 0))
		return child_process_fail(c, errno, strerror(errno));
	if (pipe2(fds, O_CLOEXEC) < 0)
		return child_process_fail(c, errno, strerror(errno));
	c->pid = fork();
	if (c->pid == 0) {
		close(fds[0]);
		c->pipe.fd = fds[1];
		child_run(c, parent);
	}
	close(fds[1]);
	c->pipe.fd = fds[0];
	if (c->pid < 0) {
		close(fds[0]);
		return child_process_fail(c, errno, strerror(errno));
	}
	return 0;
}

/* The pipe ended without END or ERROR. The child closes it only by dying, so waiting is short; the
 * kill in child_stop() does not change the status of one that is dead already. */
static int child_died(struct child_process *c)
{
	char reason[SANDBOX_REASON_MAX], log[256];
	siginfo_t info = { 0 };
	int status = 0;

	waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT);
	child_stop(c, &status);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGVTALRM && c->setup.hangs)
		return child_process_fail(c, EBADMSG, c->setup.hangs);
	if (WIFSIGNALED(status) && c->setup.read_log && c->setup.read_log(c->log, log, sizeof(log)))
		return child_process_fail(c, EBADMSG, log);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && c->setup.dies)
		return child_process_fail(c, EBADMSG, c->setup.dies);
	return child_process_fail(c, EBADMSG, sandbox_explain(status, reason));
}

/* Where a library failed, its log knows more than its error. */
static int take_error(struct child_process *c, const struct child_frame *f)
{
	char reason[256];

	c->failed = child_frame_get_error(f, &c->error);
	if (c->failed == -EBADMSG && c->setup.read_log &&
	    c->setup.read_log(c->log, reason, sizeof(reason)))
		child_process_fail(c, EBADMSG, reason);
	return c->failed;
}

int child_process_disorder(struct child_process *c)
{
	return child_process_fail(c, EBADMSG, "its reader is out of order");
}

int child_process_receive(struct child_process *c, struct child_frame *ret)
{
	int r;

	if (c->failed)
		return c->failed;
	r = child_frame_receive(&c->pipe, ret);
	if (r == 0)
		return child_died(c);
	if (r < 0)
		return child_process_fail(c, -r, "its reader is out of order");
	return ret->type == CHILD_FRAME_ERROR ? take_error(c, ret) : 1;
}

void child_process_progress(const struct child_process *c, uint64_t *ret_done, uint64_t *ret_total)
{
	*ret_total = __atomic_load_n(&c->share->total, __ATOMIC_RELAXED);
	*ret_done = __atomic_load_n(&c->share->done, __ATOMIC_RELAXED);
	if (*ret_total && *ret_done > *ret_total)
		*ret_done = *ret_total;
}

int child_process_init(struct child_process *c, const struct child_setup *setup)
{
	void *page = mmap(NULL, sizeof(*c->share), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	c->setup = *setup;
	c->share = page == MAP_FAILED ? NULL : page;
	c->log = setup->read_log ? memfd_create("log", MFD_CLOEXEC) : -1;
	c->setup.folder = c->folder = setup->folder ? strdup(setup->folder) : NULL;
	c->setup.prefix = c->prefix = setup->prefix ? strdup(setup->prefix) : NULL;
	if (!c->share || (setup->read_log && c->log < 0) || (setup->folder && !c->folder) ||
	    (setup->prefix && !c->prefix))
		return -ENOMEM;
	return 0;
}

void child_process_done(struct child_process *c)
{
	child_stop(c, NULL);
	if (c->share) {
		if (c->log >= 0)
			close(c->log);
		munmap(c->share, sizeof(*c->share));
	}
	free(c->folder);
	free(c->prefix);
	memset(c, 0, sizeof(*c));
}
