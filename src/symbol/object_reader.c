/* SPDX-License-Identifier: MIT */
/*
 * object_reader: see object_reader.h.
 *
 * Question and answer are structs as they lie in memory, for both ends are the same program after a
 * fork. What comes back is bounded by its size, its text is ended here, and flags are read as 0 or not.
 */
#include "symbol/object_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/sandbox.h"
#include "symbol/kallsyms.h"

#define READER_MEMORY (4ULL << 30)
#define READER_CPU_S 120U
#define ERRNO_MAX 4095			/* the kernel's; a code beyond it is none */
#define FDS_MAX (OBJECT_TABLES_MAX + 1) /* tables, and the text of a kernel's names */
#define DEBUG_FOLDER "/usr/lib/debug"

static struct {
	pthread_mutex_t lock;
	pid_t pid; /* 0: none */
	int fd;
	enum object_reader_reach reach;
} host = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

/* What a question goes with; of an object the first table alone. -1: none. */
struct question_fds {
	int fd[FDS_MAX];
	size_t n;
};

static void close_fds(struct question_fds *f)
{
	while (f->n)
		close(f->fd[--f->n]);
}

/* --- the process that waits, and those that read --- */

static int take_question(int fd, struct object_question *q, struct question_fds *ret)
{
	char room[CMSG_SPACE(FDS_MAX * sizeof(int))];
	struct iovec bytes = { q, sizeof(*q) };
	struct msghdr m = { .msg_iov = &bytes,
			    .msg_iovlen = 1,
			    .msg_control = room,
			    .msg_controllen = sizeof(room) };
	const struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(*q))
		return -EPIPE;
	c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return -EPROTO;
	ret->n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(ret->fd, CMSG_DATA(c), ret->n * sizeof(int));
	return ret->n == (q->part == OBJECT_KERNEL ? FDS_MAX : 1) ? 0 : -EPROTO;
}

/* Folders and files that may be read, beside the first. */
struct places {
	const char *list[OBJECT_READER_FOLDERS + 5];
	char beside[OBJECT_PATH_MAX]; /* the folder of the path */
	size_t n;
};

static const char *const *split_folders(const struct object_question *q, struct places *p)
{
	const char *at = q->folders;

	for (p->n = 0; p->n < q->n_folders && p->n < OBJECT_READER_FOLDERS; p->n++) {
		p->list[p->n] = at;
		at += strlen(at) + 1;
	}
	return p->list;
}

/* A path of this machine: the file, and the folder it is in, where its debug file may be. All of the machine is
 * not a folder. */
static void add_path(const struct object_question *q, struct places *p)
{
	char *slash;

	memcpy(p->beside, q->path, sizeof(p->beside));
	slash = strrchr(p->beside, '/');
	p->list[p->n++] = q->path;
	if (slash && slash != p->beside) {
		*slash = 0;
		p->list[p->n++] = p->beside;
	}
}

static int enter(const struct object_question *q, int out, const struct question_fds *f)
{
	struct places places;
	struct sandbox_rules rules = { .memory_bytes = READER_MEMORY,
				       .output_bytes = SYMFILE_BYTES_MAX,
				       .cpu_s = READER_CPU_S,
				       .folder = q->sysroot[0] ? q->sysroot : "/usr",
				       .more = split_folders(q, &places),
				       .keep = { out },
				       .n_keep = 1 };
	size_t i;

	for (i = 0; i < f->n; i++)
		rules.keep[rules.n_keep++] = f->fd[i];
	places.list[places.n++] = DEBUG_FOLDER;
	if (!q->sysroot[0] && host.reach == OBJECT_READER_THIS_MACHINE)
		add_path(q, &places);
	places.list[places.n] = NULL;
	if (q->part == OBJECT_KERNEL)
		rules.folder = NULL;
	return sandbox_enter(&rules, NULL);
}

static void read_object(const struct object_question *q, int table, struct object_answer *a,
			char **problem)
{
	struct places places;
	const struct search s = { q->sysroot[0] ? q->sysroot : NULL, split_folders(q, &places) };
	const struct object_wanted w = { .path = q->path,
					 .build_id = q->id,
					 .build_id_len = q->id_len,
					 .without_names = q->part != OBJECT_NAMES };
	struct object *o = NULL;
	int r;

	places.list[places.n] = NULL;
	a->code = object_open(&s, &w, &o, problem);
	if (a->code < 0)
		return;
	a->is_found = object_is_found(o);
	if (!a->is_found)
		return;
	r = q->part == OBJECT_NAMES ? object_write_table(o, table) : object_write_lines(o, table);
	a->has_table = r == 0;
	if (r < 0 && r != -ENODATA && r != -E2BIG) /* that there is none is no failure */
		a->code = r;
}

static void read_identity(const struct object_question *q, struct object_answer *a)
{
	struct elf_file f;
	int fd = open(q->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	a->code = fd < 0 ? -errno : elf_file_open(&f, fd, NULL);
	a->is_found = a->code == 0;
	if (a->is_found) {
		elf_identity_get_build_id(&f, &a->id);
		elf_file_close(&f);
	} else if (fd >= 0 && a->code != -ENOMEM && a->code != -EIO) {
		a->code = 0; /* no object, or not a sound one */
	}
}

static void read_kernel(const struct question_fds *f, struct object_answer *a)
{
	struct error why = ERROR_INIT;
	struct kallsyms *k = NULL;

	a->code = kallsyms_open_fd(f->fd[OBJECT_TABLES_MAX], &k, &why);
	a->is_found = a->code == 0;
	a->has_table = a->is_found && kallsyms_write_tables(k, f->fd[0], f->fd[1]) == 0;
	snprintf(a->problem, sizeof(a->problem), "%s", why.text);
}

_Noreturn static void read_asked(const struct object_question *q, int out,
				 const struct question_fds *f)
{
	struct object_answer a = { 0 };
	_cleanup_free_ char *problem = NULL;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (enter(q, out, f) < 0)
		_exit(1);
	if (q->part == OBJECT_KERNEL)
		read_kernel(f, &a);
	else if (q->part == OBJECT_IDENTITY)
		read_identity(q, &a);
	else
		read_object(q, f->fd[0], &a, &problem);
	if (problem)
		snprintf(a.problem, sizeof(a.problem), "%s", problem);
	_exit(write(out, &a, sizeof(a)) == (ssize_t)sizeof(a) ? 0 : 1);
}

/* A reader that ended before it answered has a problem, and the answer is that. */
static void explain(const struct object_question *q, int status, struct object_answer *a)
{
	const char *slash = strrchr(q->path, '/');
	char reason[SANDBOX_REASON_MAX];

	/* Without lines an object is as good as one that has none, so the code must tell. */
	*a = (struct object_answer){ 0 };
	if (q->part == OBJECT_KERNEL || q->part == OBJECT_LINES)
		a->code = -EBADMSG;
	sandbox_explain(status, reason);
	if (q->part == OBJECT_KERNEL)
		snprintf(a->problem, sizeof(a->problem), "cannot be read: %s", reason);
	else
		snprintf(a->problem, sizeof(a->problem), "%.200s: %s; its %s",
			 slash && slash[1] ? slash + 1 : q->path, reason,
			 q->part == OBJECT_LINES ? "source lines are not known"
						 : "functions have no names");
}

static void answer(int fd, const struct object_question *q, const struct question_fds *f)
{
	struct object_answer a;
	int ends[2], status = 0;
	ssize_t n = 0;
	pid_t child;

	if (pipe(ends) < 0)
		_exit(1);
	child = fork();
	if (child == 0) {
		close(ends[0]);
		read_asked(q, ends[1], f);
	}
	close(ends[1]);
	if (child > 0) {
		do
			n = read(ends[0], &a, sizeof(a));
		while (n < 0 && errno == EINTR);
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
	}
	close(ends[0]);
	if (n != (ssize_t)sizeof(a))
		explain(q, status, &a);
	if (send(fd, &a, sizeof(a), MSG_NOSIGNAL) < 0)
		_exit(1);
}

_Noreturn static void be_host(int fd, pid_t parent)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	struct object_question q;
	struct question_fds fds = { .n = 0 };
	sigset_t none;
	int i;

	for (i = 1; i < NSIG; i++)
		sigaction(i, &plain, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_IGN); /* of the terminal: the program ends it */
	signal(SIGTERM, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "kiseki-reader");
	if (getppid() != parent)
		_exit(1);
	while (take_question(fd, &q, &fds) == 0) {
		answer(fd, &q, &fds);
		close_fds(&fds);
	}
	_exit(0);
}

/* --- the program --- */

int object_reader_start(enum object_reader_reach reach, struct error *e)
{
	pid_t parent = getpid();
	int ends[2];

	if (host.pid > 0)
		return 0;
	host.reach = reach;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_set(e, errno, "cannot start the reader of objects: %s",
				 strerror(errno));
	host.pid = fork();
	if (host.pid == 0) {
		close(ends[0]);
		be_host(ends[1], parent);
	}
	close(ends[1]);
	if (host.pid < 0) {
		host.pid = 0;
		close(ends[0]);
		return error_set(e, errno, "cannot start the reader of objects: %s",
				 strerror(errno));
	}
	host.fd = ends[0];
	return 0;
}

void object_reader_stop(void)
{
	if (host.pid <= 0)
		return;
	close(host.fd);
	while (waitpid(host.pid, NULL, 0) < 0 && errno == EINTR)
		;
	host.pid = 0;
	host.fd = -1;
}

bool object_reader_is_there(void)
{
	return host.pid > 0;
}

enum object_reader_reach object_reader_get_reach(void)
{
	return host.reach;
}

static bool copy(char out[OBJECT_PATH_MAX], const char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (len >= OBJECT_PATH_MAX)
		return false;
	if (len)
		memcpy(out, text, len);
	return true;
}

static bool put_folders(struct object_question *q, const char *const *folders)
{
	size_t len, at = 0;

	for (; folders && *folders; folders++) {
		len = strlen(*folders) + 1;
		if (q->n_folders == OBJECT_READER_FOLDERS || len > sizeof(q->folders) - at)
			return false;
		memcpy(q->folders + at, *folders, len);
		at += len;
		q->n_folders++;
	}
	return true;
}

static bool make_question(struct object_question *q, const struct search *s,
			  const struct object_wanted *w)
{
	if (w->build_id_len > sizeof(q->id) || !copy(q->path, w->path) ||
	    !copy(q->sysroot, s->sysroot) || !put_folders(q, s->folders))
		return false;
	if (w->build_id_len)
		memcpy(q->id, w->build_id, w->build_id_len);
	q->id_len = w->build_id_len;
	return true;
}

static int send_question(const struct object_question *q, const struct question_fds *f)
{
	char room[CMSG_SPACE(FDS_MAX * sizeof(int))] = { 0 };
	struct iovec bytes = { (void *)(uintptr_t)q, sizeof(*q) };
	struct msghdr m = { .msg_iov = &bytes,
			    .msg_iovlen = 1,
			    .msg_control = room,
			    .msg_controllen = CMSG_SPACE(f->n * sizeof(int)) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(f->n * sizeof(int));
	memcpy(CMSG_DATA(c), f->fd, f->n * sizeof(int));
	return sendmsg(host.fd, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* One at a time; the lock is held until the answer is there. */
static int exchange(const struct object_question *q, const struct question_fds *f,
		    struct object_answer *ret)
{
	ssize_t n = 0;
	int r;

	pthread_mutex_lock(&host.lock);
	r = send_question(q, f);
	if (r == 0) {
		do
			n = recv(host.fd, ret, sizeof(*ret), 0);
		while (n < 0 && errno == EINTR);
	}
	pthread_mutex_unlock(&host.lock);
	if (r == 0 && n != (ssize_t)sizeof(*ret))
		r = -EPIPE;
	if (r < 0)
		return r;
	ret->problem[sizeof(ret->problem) - 1] = 0;
	if (ret->code > 0 || ret->code < -ERRNO_MAX)
		ret->code = -EBADMSG;
	if (ret->id.len > sizeof(ret->id.bytes))
		ret->id.len = 0;
	return 0;
}

static int make_fds(struct question_fds *f, size_t n)
{
	for (f->n = 0; f->n < n; f->n++) {
		f->fd[f->n] = memfd_create("table", MFD_CLOEXEC);
		if (f->fd[f->n] < 0) {
			close_fds(f);
			return -ENOMEM;
		}
	}
	return 0;
}

int object_reader_ask(enum object_part part, const struct search *s, const struct object_wanted *w,
		      struct object_answer *ret, int *ret_table)
{
	_cleanup_free_ struct object_question *q = calloc(1, sizeof(*q));
	struct question_fds f;
	int r;

	*ret_table = -1;
	if (!q || make_fds(&f, 1) < 0)
		return -ENOMEM;
	q->part = part;
	r = make_question(q, s, w) ? exchange(q, &f, ret) : -ENAMETOOLONG;
	if (r == 0 && ret->code == 0 && ret->is_found && ret->has_table) {
		*ret_table = f.fd[0];
		f.n = 0;
	}
	close_fds(&f);
	return r;
}

static int write_text(int fd, const char *text, size_t len)
{
	ssize_t n;

	for (; len; text += n, len -= (size_t)n) {
		n = write(fd, text, len);
		if (n < 0)
			return -errno;
	}
	return lseek(fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

int object_reader_ask_kernel(const char *text, size_t len, struct object_answer *ret,
			     int ret_tables[OBJECT_TABLES_MAX])
{
	_cleanup_free_ struct object_question *q = calloc(1, sizeof(*q));
	struct question_fds f;
	int r;

	ret_tables[0] = ret_tables[1] = -1;
	if (!q || make_fds(&f, FDS_MAX) < 0)
		return -ENOMEM;
	q->part = OBJECT_KERNEL;
	r = write_text(f.fd[OBJECT_TABLES_MAX], text, len);
	if (r == 0)
		r = exchange(q, &f, ret);
	if (r == 0 && ret->code == 0 && ret->has_table) {
		close(f.fd[OBJECT_TABLES_MAX]);
		memcpy(ret_tables, f.fd, OBJECT_TABLES_MAX * sizeof(int));
		f.n = 0;
	}
	close_fds(&f);
	return r;
}
