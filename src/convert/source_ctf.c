/* SPDX-License-Identifier: MIT */
/*
 * source_ctf: a CTF 1.8 folder as a source, read by a process of its own.
 *
 * libbabeltrace2 checks its inner state with assertions that damaged traces can break, and then ends
 * the process; a description of a field with a billion elements makes it allocate them. Neither may
 * happen to a program that reads other people's files, so ctf_reader runs in a child process with
 * bounded memory and a watchdog on its processor time, and sends what it finds through a pipe
 * (ctf_frame). When the child dies, that is one error like any other. On machines with a second
 * processor it also makes an import faster.
 *
 * The child does nothing but read and send; it ends without running the program's exit handlers, and
 * it dies with the thread that opened the source, which therefore must outlive it. No other thread
 * may be using GLib when a source is opened.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "convert/ctf_frame.h"
#include "convert/ctf_reader.h"
#include "convert/ctf_reason.h"
#include "convert/import.h"

#define CHILD_LOG (64U * 1024)

/* The sanitizer reserves terabytes for its shadow, which a limit would stop. */
#ifdef __has_feature
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif
#if SANITIZED
#include <sanitizer/common_interface_defs.h>
#endif

/* What the child may use grows with its input: the library keeps an entry per packet, and a tree of
 * the metadata. Damaged packets can make it add entries without end, so the rest is little. */
#define CHILD_MEMORY (256ULL << 20)
#define CHILD_MEMORY_MAX (8ULL << 30)
#define METADATA_FACTOR 128U
#define CHILD_PATIENCE_S (SANITIZED ? 3 : 30) /* of processor time for one batch of messages */
#define INPUT_PER_S (128U << 20)	      /* more of it for opening large traces */

struct source_ctf {
	struct trace_source base;
	char *dir;
	pid_t child; /* 0: none */
	int log;     /* what the library says to standard error */
	bool at_end;
	int failed;
	struct error error;
	struct ctf_pipe pipe;
};

static void set_patience(uint64_t seconds)
{
	const struct itimerval patience = { .it_value.tv_sec = (time_t)seconds };

	setitimer(ITIMER_VIRTUAL, &patience, NULL);
}

static void child_alive(void)
{
	set_patience(CHILD_PATIENCE_S);
}

/* Bytes of the files in the folder; those of a folder in it do not count. */
static uint64_t input_size(const char *path, uint64_t *ret_metadata)
{
	DIR *dir = opendir(path);
	struct dirent *d;
	uint64_t sum = 0;
	struct stat st;

	while (dir && (d = readdir(dir))) {
		if (fstatat(dirfd(dir), d->d_name, &st, 0) < 0 || !S_ISREG(st.st_mode))
			continue;
		sum += (uint64_t)st.st_size;
		if (!strcmp(d->d_name, "metadata"))
			*ret_metadata = (uint64_t)st.st_size;
	}
	if (dir)
		closedir(dir);
	return sum;
}

static void child_limit(const char *path)
{
	uint64_t metadata = 0, size = input_size(path, &metadata), memory;
	const struct rlimit none = { 0, 0 }, log = { CHILD_LOG, CHILD_LOG };
	struct rlimit data;

	set_patience(CHILD_PATIENCE_S + size / INPUT_PER_S);
	setrlimit(RLIMIT_CORE, &none);
	if (SANITIZED)
		return;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &log);
	memory = CHILD_MEMORY + size + metadata * METADATA_FACTOR;
	data.rlim_cur = data.rlim_max = memory < CHILD_MEMORY_MAX ? memory : CHILD_MEMORY_MAX;
	setrlimit(RLIMIT_DATA, &data);
}

/* A sanitizer's findings still go to the program's standard error. */
static void keep_reports(void)
{
#if SANITIZED
	__sanitizer_set_report_fd((void *)(intptr_t)dup(STDERR_FILENO));
#endif
}

/* The library's last words are for nobody, and the handlers that the program has for signals would
 * tidy up the program's things. */
static void child_prepare(pid_t parent, int log)
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
	dup2(null, STDOUT_FILENO);
	keep_reports();
	dup2(log, STDERR_FILENO);
	/* The metadata's parser tells the line of a mistake nowhere but in its log. */
	setenv("BABELTRACE_PLUGIN_CTF_METADATA_LOG_LEVEL", "ERROR", 1);
}

/* Tasks that the reader has learned since the last call. Its list is sorted by pid, so new ones are
 * anywhere in it; they are few, and early. */
static int send_tasks(struct ctf_pipe *p, const struct trace_info *info, size_t *sent)
{
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && info->n_tasks != *sent && i < info->n_tasks; i++)
		r = ctf_frame_send(p, CTF_FRAME_TASK, &info->tasks[i], sizeof(info->tasks[i]));
	*sent = info->n_tasks;
	return r;
}

static int send_all(struct ctf_pipe *p, struct trace_source *s, struct error *e)
{
	struct trace_item item;
	size_t sent = 0;
	int r;

	r = send_tasks(p, &s->info, &sent);
	if (r >= 0)
		r = ctf_frame_send_info(p, &s->info);
	while (r >= 0) {
		r = s->ops->next(s, &item, e);
		if (r < 0)
			return ctf_frame_send_error(p, r, e);
		if (r == 0)
			break;
		r = ctf_frame_send_item(p, &item);
	}
	if (r >= 0)
		r = send_tasks(p, &s->info, &sent);
	return r < 0 ? r
		     : ctf_frame_send(p, CTF_FRAME_END, &s->info.skipped, sizeof(s->info.skipped));
}

_Noreturn static void child_run(struct ctf_pipe *p, const char *dir)
{
	struct error e = ERROR_INIT;
	struct trace_source *s = NULL;
	_cleanup_free_ char *folder = ctf_reader_folder(dir);
	int r;

	child_limit(folder ? folder : dir);
	r = ctf_reader_open(&s, folder ? folder : dir, child_alive, &e);
	if (r >= 0)
		r = send_all(p, s, &e);
	else
		r = ctf_frame_send_error(p, r, &e);
	if (r >= 0)
		ctf_frame_flush(p);
	_exit(0);
}

static int fail(struct source_ctf *s, int code, const char *reason)
{
	s->failed = error_set(&s->error, code, "cannot read CTF trace %s: %s", s->dir, reason);
	return s->failed;
}

static void child_stop(struct source_ctf *s, int *ret_status)
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

static int child_start(struct source_ctf *s)
{
	pid_t parent = getpid();
	int fds[2];

	s->failed = 0;
	s->at_end = false;
	s->pipe.start = s->pipe.end = 0;
	if (ftruncate(s->log, 0) < 0 || lseek(s->log, 0, SEEK_SET) < 0)
		return fail(s, errno, strerror(errno));
	if (pipe2(fds, O_CLOEXEC) < 0)
		return fail(s, errno, strerror(errno));
	s->child = fork();
	if (s->child == 0) {
		close(fds[0]);
		child_prepare(parent, s->log);
		s->pipe.fd = fds[1];
		child_run(&s->pipe, s->dir);
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
static int child_died(struct source_ctf *s)
{
	char reason[64], log[256];
	siginfo_t info = { 0 };
	int status = 0;

	waitid(P_PID, (id_t)s->child, &info, WEXITED | WNOWAIT);
	child_stop(s, &status);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGVTALRM)
		return fail(s, EBADMSG, "libbabeltrace2 hangs on it");
	if (WIFEXITED(status)) {
		snprintf(reason, sizeof(reason), "its reader ends with status %d",
			 WEXITSTATUS(status));
		return fail(s, EBADMSG, reason);
	}
	if (ctf_reason_from_log(s->log, log, sizeof(log)))
		return fail(s, EBADMSG, log);
	return fail(s, EBADMSG, "it is damaged so that libbabeltrace2 gives up");
}

/* Where the library failed, its log knows more than its error. */
static int take_error(struct source_ctf *s, const struct ctf_frame *f)
{
	char reason[256];

	s->failed = ctf_frame_get_error(f, &s->error);
	if (s->failed == -EBADMSG && ctf_reason_from_log(s->log, reason, sizeof(reason)))
		fail(s, EBADMSG, reason);
	return s->failed;
}

static int take_task(struct source_ctf *s, const struct ctf_frame *f)
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
static int receive(struct source_ctf *s, struct ctf_frame *ret)
{
	int r;

	do {
		r = ctf_frame_receive(&s->pipe, ret);
		if (r == 0)
			return child_died(s);
		if (r < 0)
			return fail(s, -r, "its reader is out of order");
		if (ret->type == CTF_FRAME_ERROR)
			return take_error(s, ret);
		r = ret->type == CTF_FRAME_TASK ? take_task(s, ret) : 0;
	} while (r >= 0 && ret->type == CTF_FRAME_TASK);
	return r < 0 ? r : 1;
}

static int start(struct source_ctf *s)
{
	struct ctf_frame f;
	int r = child_start(s);

	if (r >= 0)
		r = receive(s, &f);
	if (r < 0)
		return r;
	r = ctf_frame_get_info(&f, &s->base.info);
	return r < 0 ? fail(s, -r, "its reader is out of order") : 0;
}

static int source_ctf_next(struct trace_source *base, struct trace_item *ret, struct error *e)
{
	struct source_ctf *s = (struct source_ctf *)base;
	struct ctf_frame f;

	if (!s->failed && s->at_end)
		return 0;
	if (!s->failed && receive(s, &f) > 0) {
		if (f.type == CTF_FRAME_END && f.len == sizeof(base->info.skipped)) {
			memcpy(&base->info.skipped, f.body, f.len);
			s->at_end = true;
			return 0;
		}
		if (ctf_frame_get_item(&f, ret) >= 0)
			return 1;
		fail(s, EBADMSG, "its reader is out of order");
	}
	return error_set(e, s->failed, "%s", s->error.text);
}

static int source_ctf_rewind(struct trace_source *base, struct error *e)
{
	struct source_ctf *s = (struct source_ctf *)base;

	child_stop(s, NULL);
	base->info.skipped = 0;
	return start(s) < 0 ? error_set(e, s->failed, "%s", s->error.text) : 0;
}

static void source_ctf_free(struct trace_source *base)
{
	struct source_ctf *s = (struct source_ctf *)base;

	child_stop(s, NULL);
	if (s->log >= 0)
		close(s->log);
	info_done(&base->info);
	free(s->dir);
	free(s);
}

static const struct trace_source_ops source_ctf_ops = {
	.next = source_ctf_next,
	.rewind = source_ctf_rewind,
	.free = source_ctf_free,
};

int source_ctf_open(struct trace_source **ret, const char *dir, struct error *e)
{
	struct source_ctf *s = calloc(1, sizeof(*s));

	if (!s)
		return error_set(e, ENOMEM, "cannot read CTF trace %s: out of memory", dir);
	s->log = memfd_create("ctf", MFD_CLOEXEC);
	if (info_init(&s->base.info) < 0 || !(s->dir = strdup(dir)) || s->log < 0) {
		source_ctf_free(&s->base);
		return error_set(e, ENOMEM, "cannot read CTF trace %s: out of memory", dir);
	}
	s->base.ops = &source_ctf_ops;
	if (start(s) < 0) {
		int r = error_set(e, s->failed, "%s", s->error.text);

		source_ctf_free(&s->base);
		return r;
	}
	*ret = &s->base;
	return 0;
}
