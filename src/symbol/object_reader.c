/* SPDX-License-Identifier: MIT */
/*
 * object_reader: see object_reader.h.
 *
 * Question and answer are structs as they lie in memory, for both ends are the same program after a
 * fork. What comes back is bounded by its size, its text is ended here, and flags are read as 0 or not.
 */
#include "symbol/object_reader.h"

#include <errno.h>
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

#define READER_MEMORY (4ULL << 30)
#define READER_CPU_S 120U

static struct {
	pthread_mutex_t lock;
	pid_t pid; /* 0: none */
	int fd;
} host = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

/* --- the process that waits, and those that read --- */

static int take_question(int fd, struct object_question *q, int *ret_table)
{
	char room[CMSG_SPACE(sizeof(int))];
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
	memcpy(ret_table, CMSG_DATA(c), sizeof(*ret_table));
	return 0;
}

static int enter(const struct object_question *q, int out, int table)
{
	struct sandbox_rules rules = { .memory_bytes = READER_MEMORY,
				       .output_bytes = SYMFILE_BYTES_MAX,
				       .cpu_s = READER_CPU_S,
				       .folder = q->sysroot[0] ? q->sysroot : "/usr",
				       .more = { q->folders[0][0] ? q->folders[0] : NULL,
						 q->folders[1][0] ? q->folders[1] : NULL,
						 "/usr/lib/debug" },
				       .keep = { out, table },
				       .n_keep = 2 };

	return sandbox_enter(&rules, NULL);
}

_Noreturn static void read_object(const struct object_question *q, int out, int table)
{
	const char *const folders[] = { q->folders[0][0] ? q->folders[0] : NULL,
					q->folders[1][0] ? q->folders[1] : NULL, NULL };
	const struct search s = { q->sysroot[0] ? q->sysroot : NULL, folders };
	const struct object_wanted w = { .path = q->path,
					 .build_id = q->id,
					 .build_id_len = q->id_len };
	struct object_answer a = { 0 };
	_cleanup_free_ char *problem = NULL;
	struct object *o = NULL;

	if (enter(q, out, table) < 0)
		_exit(1);
	a.code = object_open(&s, &w, &o, &problem);
	if (a.code == 0) {
		a.is_found = object_is_found(o);
		a.has_table = a.is_found && object_write_table(o, table) == 0;
	}
	if (problem)
		snprintf(a.problem, sizeof(a.problem), "%s", problem);
	_exit(write(out, &a, sizeof(a)) == (ssize_t)sizeof(a) ? 0 : 1);
}

/* A reader that ended before it answered has a problem, and the answer is that. */
static void explain(const struct object_question *q, int status, struct object_answer *a)
{
	const char *slash = strrchr(q->path, '/');
	char reason[SANDBOX_REASON_MAX];

	*a = (struct object_answer){ 0 };
	snprintf(a->problem, sizeof(a->problem), "%.200s: %s; its functions have no names",
		 slash && slash[1] ? slash + 1 : q->path, sandbox_explain(status, reason));
}

static void answer(int fd, const struct object_question *q, int table)
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
		read_object(q, ends[1], table);
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
	sigset_t none;
	int i, table;

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
	while (take_question(fd, &q, &table) == 0) {
		answer(fd, &q, table);
		close(table);
	}
	_exit(0);
}

/* --- the program --- */

int object_reader_start(struct error *e)
{
	pid_t parent = getpid();
	int ends[2];

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

static bool copy(char out[OBJECT_PATH_MAX], const char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (len >= OBJECT_PATH_MAX)
		return false;
	if (len)
		memcpy(out, text, len);
	return true;
}

static bool make_question(struct object_question *q, const struct search *s,
			  const struct object_wanted *w)
{
	size_t i;

	if (w->build_id_len > sizeof(q->id) || !copy(q->path, w->path) ||
	    !copy(q->sysroot, s->sysroot))
		return false;
	for (i = 0; s->folders && s->folders[i]; i++)
		if (i == OBJECT_READER_FOLDERS || !copy(q->folders[i], s->folders[i]))
			return false;
	if (w->build_id_len)
		memcpy(q->id, w->build_id, w->build_id_len);
	q->id_len = w->build_id_len;
	return true;
}

static int send_question(const struct object_question *q, int table)
{
	char room[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec bytes = { (void *)(uintptr_t)q, sizeof(*q) };
	struct msghdr m = { .msg_iov = &bytes,
			    .msg_iovlen = 1,
			    .msg_control = room,
			    .msg_controllen = sizeof(room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &table, sizeof(table));
	return sendmsg(host.fd, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* One at a time; the lock is held until the answer is there. */
static int exchange(const struct object_question *q, int table, struct object_answer *ret)
{
	ssize_t n = 0;
	int r;

	pthread_mutex_lock(&host.lock);
	r = send_question(q, table);
	if (r == 0) {
		do
			n = recv(host.fd, ret, sizeof(*ret), 0);
		while (n < 0 && errno == EINTR);
	}
	pthread_mutex_unlock(&host.lock);
	return r < 0 ? r : n == (ssize_t)sizeof(*ret) ? 0 : -EPIPE;
}

int object_reader_ask(const struct search *s, const struct object_wanted *w,
		      struct object_answer *ret, int *ret_table)
{
	_cleanup_free_ struct object_question *q = calloc(1, sizeof(*q));
	_cleanup_close_ int table = memfd_create("table", MFD_CLOEXEC);
	int r;

	*ret_table = -1;
	if (!q || table < 0)
		return -ENOMEM;
	if (!make_question(q, s, w))
		return -ENAMETOOLONG;
	r = exchange(q, table, ret);
	if (r < 0)
		return r;
	ret->problem[sizeof(ret->problem) - 1] = 0;
	if (ret->code == 0 && ret->is_found && ret->has_table)
		*ret_table = take_fd(&table);
	return 0;
}
