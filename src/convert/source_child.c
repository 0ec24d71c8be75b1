/* SPDX-License-Identifier: MIT */
/*
 * source_child: see source_child.h.
 *
 * The watchdog counts the processor time that the child takes for some thousand items, so a trace may be as long
 * as it likes. How far it is, for a progress bar, is told in a page that both have; the parent
 * shows it and believes nothing of it.
 */
#include "convert/source_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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
#include "convert/child_frame.h"
#include "sandbox/sandbox.h"
#if SANDBOX_SANITIZED
#include <sanitizer/common_interface_defs.h>
#endif

#define CHILD_LOG (64U * 1024)
#define CHILD_PATIENCE_S (SANDBOX_SANITIZED ? 3 : 30) /* of processor time for one batch */
#define INPUT_PER_S (128U << 20)		      /* more of it for opening large traces */
#define BATCH_ITEMS 4096U

struct share {
	uint64_t done, total;
};

struct source_child {
	struct trace_source base;
	struct source_child_job job;
	char *folder, *prefix; /* of the job */
	pid_t child;	       /* 0: none */
	int log;	       /* its standard error; -1: the program's */
	bool at_end;
	int failed;
	struct error error;
	struct share *share;
	struct child_pipe pipe;
};

static void set_patience(uint64_t seconds)
{
	const struct itimerval patience = { .it_value.tv_sec = (time_t)seconds };

	setitimer(ITIMER_VIRTUAL, &patience, NULL);
}

void source_child_alive(void)
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
static void child_prepare(const struct source_child *s, pid_t parent)
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
	if (s->log >= 0)
		dup2(s->log, STDERR_FILENO);
	if (s->job.prepare)
		s->job.prepare();
}

static int child_enter(const struct source_child *s, int out, struct error *e)
{
	struct sandbox_rules rules = { .memory_bytes = s->job.memory_bytes,
				       .output_bytes = CHILD_LOG,
				       .folder = s->job.folder,
				       .keep = { out, s->job.fd },
				       .n_keep = s->job.fd >= 0 ? 2 : 1 };

	set_patience(CHILD_PATIENCE_S + s->job.input_bytes / INPUT_PER_S);
	return sandbox_enter(&rules, e);
}

static int send_tasks(struct child_pipe *p, const struct trace_info *info)
{
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < info->n_tasks; i++)
		r = child_frame_send(p, CHILD_FRAME_TASK, &info->tasks[i], sizeof(info->tasks[i]));
	return r;
}

/* Who follows a pipe wants what is there when nothing more comes. */
static int send_live(struct child_pipe *p, int fd)
{
	struct pollfd in = { .fd = fd, .events = POLLIN };

	return fd >= 0 && poll(&in, 1, 0) == 0 ? child_frame_flush(p) : 0;
}

static int send_items(struct source_child *s, struct trace_source *from, struct error *e)
{
	struct child_pipe *p = &s->pipe;
	struct trace_item item;
	uint64_t n = 0;
	int r = 0, more;

	while (r >= 0) {
		if (n++ % BATCH_ITEMS == 0) {
			source_child_alive();
			if (from->ops->progress)
				from->ops->progress(from, &s->share->done, &s->share->total);
		}
		r = send_live(p, s->job.fd);
		if (r < 0)
			break;
		more = from->ops->next(from, &item, e);
		if (more < 0)
			return child_frame_send_error(p, more, e);
		if (more == 0)
			break;
		r = child_frame_send_item(p, &item);
	}
	if (r >= 0)
		r = send_tasks(p, &from->info);
	return r < 0 ? r
		     : child_frame_send(p, CHILD_FRAME_END, &from->info.skipped,
					sizeof(from->info.skipped));
}

_Noreturn static void child_run(struct source_child *s, pid_t parent)
{
	struct error e = ERROR_INIT;
	struct trace_source *from = NULL;
	int r;

	child_prepare(s, parent);
	r = child_enter(s, s->pipe.fd, &e);
	if (r >= 0)
		r = s->job.open(&s->job, &from, &e);
	if (r < 0) {
		r = child_frame_send_error(&s->pipe, r, &e);
	} else {
		r = send_tasks(&s->pipe, &from->info);
		if (r >= 0)
			r = child_frame_send_info(&s->pipe, &from->info);
		if (r >= 0)
			r = send_items(s, from, &e);
	}
	if (r >= 0)
		child_frame_flush(&s->pipe);
	_exit(0);
}

/* --- the parent --- */

static int fail(struct source_child *s, int code, const char *reason)
{
	const char *prefix = s->job.prefix;

	s->failed = error_set(&s->error, code, "%s%s%s", prefix ? prefix : "", prefix ? ": " : "",
			      reason);
	return s->failed;
}

static void child_stop(struct source_child *s, int *ret_status)
{
	int status = 0;

	if (s->child > 0) {
		close(s->pipe.fd);
		kill(s->child, SIGKILL);
		while (waitpid(s->child, &status, 0) < 0 && errno == EINTR)
			;
	}
	s->child = 0;
	if (ret_status)
		*ret_status = status;
}

static int child_start(struct source_child *s)
{
	pid_t parent = getpid();
	int fds[2];

	s->failed = 0;
	s->at_end = false;
	s->pipe.start = s->pipe.end = 0;
	if (s->log >= 0 && (ftruncate(s->log, 0) < 0 || lseek(s->log, 0, SEEK_SET) < 0))
		return fail(s, errno, strerror(errno));
	if (pipe2(fds, O_CLOEXEC) < 0)
		return fail(s, errno, strerror(errno));
	s->child = fork();
	if (s->child == 0) {
		close(fds[0]);
		s->pipe.fd = fds[1];
		child_run(s, parent);
	}
	close(fds[1]);
	s->pipe.fd = fds[0];
	if (s->child < 0) {
		close(fds[0]);
		return fail(s, errno, strerror(errno));
	}
	return 0;
}

/* The pipe ended without END or ERROR. The child closes it only by dying, so waiting is short; the
 * kill in child_stop() does not change the status of one that is dead already. */
static int child_died(struct source_child *s)
{
	char reason[SANDBOX_REASON_MAX], log[256];
	siginfo_t info = { 0 };
	int status = 0;

	waitid(P_PID, (id_t)s->child, &info, WEXITED | WNOWAIT);
	child_stop(s, &status);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGVTALRM && s->job.hangs)
		return fail(s, EBADMSG, s->job.hangs);
	if (WIFSIGNALED(status) && s->job.read_log && s->job.read_log(s->log, log, sizeof(log)))
		return fail(s, EBADMSG, log);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && s->job.dies)
		return fail(s, EBADMSG, s->job.dies);
	return fail(s, EBADMSG, sandbox_explain(status, reason));
}

/* Where a library failed, its log knows more than its error. */
static int take_error(struct source_child *s, const struct child_frame *f)
{
	char reason[256];

	s->failed = child_frame_get_error(f, &s->error);
	if (s->failed == -EBADMSG && s->job.read_log &&
	    s->job.read_log(s->log, reason, sizeof(reason)))
		fail(s, EBADMSG, reason);
	return s->failed;
}

static int take_task(struct source_child *s, const struct child_frame *f)
{
	struct trace_task t;
	int r;

	if (f->len != sizeof(t))
		return fail(s, EBADMSG, "its reader is out of order");
	memcpy(&t, f->body, sizeof(t));
	r = info_add_task(&s->base.info, t.pid, t.tgid, t.comm);
	return r < 0 ? fail(s, -r, "it has too many tasks") : 0;
}

/* The next frame that the caller must look at: 1, or a failure. Tasks are kept on the way. */
static int receive(struct source_child *s, struct child_frame *ret)
{
	int r;

	do {
		r = child_frame_receive(&s->pipe, ret);
		if (r == 0)
			return child_died(s);
		if (r < 0)
			return fail(s, -r, "its reader is out of order");
		if (ret->type == CHILD_FRAME_ERROR)
			return take_error(s, ret);
		r = ret->type == CHILD_FRAME_TASK ? take_task(s, ret) : 0;
	} while (r >= 0 && ret->type == CHILD_FRAME_TASK);
	return r < 0 ? r : 1;
}

static int start(struct source_child *s)
{
	struct child_frame f;
	int r = child_start(s);

	if (r >= 0)
		r = receive(s, &f);
	if (r < 0)
		return r;
	r = child_frame_get_info(&f, &s->base.info);
	return r < 0 ? fail(s, -r, "its reader is out of order") : 0;
}

static int source_child_next(struct trace_source *base, struct trace_item *ret, struct error *e)
{
	struct source_child *s = (struct source_child *)base;
	struct child_frame f;

	if (!s->failed && s->at_end)
		return 0;
	if (!s->failed && receive(s, &f) > 0) {
		if (f.type == CHILD_FRAME_END && f.len == sizeof(base->info.skipped)) {
			memcpy(&base->info.skipped, f.body, f.len);
			s->at_end = true;
			return 0;
		}
		if (child_frame_get_item(&f, ret) >= 0)
			return 1;
		fail(s, EBADMSG, "its reader is out of order");
	}
	return error_set(e, s->failed, "%s", s->error.text);
}

static int source_child_rewind(struct trace_source *base, struct error *e)
{
	struct source_child *s = (struct source_child *)base;

	if (s->job.fd >= 0)
		return error_set(e, ESPIPE, "a pipe cannot be read twice");
	child_stop(s, NULL);
	base->info.skipped = 0;
	return start(s) < 0 ? error_set(e, s->failed, "%s", s->error.text) : 0;
}

static void source_child_progress(const struct trace_source *base, uint64_t *ret_done,
				  uint64_t *ret_total)
{
	const struct source_child *s = (const struct source_child *)base;

	*ret_total = __atomic_load_n(&s->share->total, __ATOMIC_RELAXED);
	*ret_done = __atomic_load_n(&s->share->done, __ATOMIC_RELAXED);
	if (*ret_total && *ret_done > *ret_total)
		*ret_done = *ret_total;
}

static void source_child_free(struct trace_source *base)
{
	struct source_child *s = (struct source_child *)base;

	child_stop(s, NULL);
	if (s->log >= 0)
		close(s->log);
	if (s->job.fd >= 0)
		close(s->job.fd);
	if (s->share)
		munmap(s->share, sizeof(*s->share));
	info_done(&base->info);
	free(s->folder);
	free(s->prefix);
	free(s);
}

static const struct trace_source_ops source_child_ops = {
	.next = source_child_next,
	.rewind = source_child_rewind,
	.progress = source_child_progress,
	.free = source_child_free,
};

static int make(struct source_child *s, const struct source_child_job *job)
{
	void *page = mmap(NULL, sizeof(*s->share), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	s->base.ops = &source_child_ops;
	s->job = *job;
	s->share = page == MAP_FAILED ? NULL : page;
	s->log = job->read_log ? memfd_create("log", MFD_CLOEXEC) : -1;
	s->job.folder = s->folder = job->folder ? strdup(job->folder) : NULL;
	s->job.prefix = s->prefix = job->prefix ? strdup(job->prefix) : NULL;
	if (info_init(&s->base.info) < 0 || !s->share || (job->read_log && s->log < 0) ||
	    (job->folder && !s->folder) || (job->prefix && !s->prefix))
		return -ENOMEM;
	return 0;
}

int source_child_open(struct trace_source **ret, const struct source_child_job *job,
		      struct error *e)
{
	struct source_child *s = calloc(1, sizeof(*s));
	int r;

	if (!s) {
		if (job->fd >= 0)
			close(job->fd);
		return error_set(e, ENOMEM, "out of memory");
	}
	r = make(s, job);
	if (r < 0)
		fail(s, -r, "out of memory");
	if (r == 0 && start(s) >= 0) {
		*ret = &s->base;
		return 0;
	}
	r = error_set(e, s->failed, "%s", s->error.text);
	source_child_free(&s->base);
	return r;
}
