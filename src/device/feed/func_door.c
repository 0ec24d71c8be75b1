/* SPDX-License-Identifier: MIT */
/* func_door: see func_door.h. */
#include "device/feed/func_door.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "wire/varint.h"

#define BACKLOG 16
#define TURN_MAX 32 /* events of the descriptors in one turn */

struct func_door {
	struct func_door_options o;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	dev_t device; /* of the socket, to know it again */
	ino_t inode;
	int listener, poll;
	uint32_t oldest;		/* the next that makes room */
	int waiting[FUNC_DOOR_WAITING]; /* -1: none */
};

/* --- the socket --- */

static int set_address(struct sockaddr_un *a, const char *path, struct error *e)
{
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(a->sun_path))
		return error_set(e, ENAMETOOLONG, "cannot listen at %s: the path is too long",
				 path);
	memcpy(a->sun_path, path, strlen(path) + 1);
	return 0;
}

static bool is_answered(const struct sockaddr_un *a)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd >= 0 && (connect(fd, (const struct sockaddr *)a, sizeof(*a)) == 0 ||
			   errno == EAGAIN); /* its backlog is full */
}

/* From the file alone: a small machine has no name service. */
static int find_group(const char *name, gid_t *ret)
{
	FILE *f = fopen("/etc/group", "re");
	const struct group *g;
	int r = -ENOENT;

	while (f && r < 0 && (g = fgetgrent(f))) {
		if (strcmp(g->gr_name, name))
			continue;
		*ret = g->gr_gid;
		r = 0;
	}
	if (f)
		fclose(f);
	return r;
}

/* Who may ask: the group, or everybody. */
static int set_access(const char *path, const char *group, struct error *e)
{
	bool is_all = !strcmp(group, "*");
	gid_t gid = (gid_t)-1;

	if (group[0] && !is_all && find_group(group, &gid) < 0)
		return error_set(e, ENOENT, "cannot open the socket for group %s: there is none",
				 group);
	if (chown(path, (uid_t)-1, gid) < 0 || chmod(path, is_all ? 0666 : 0660) < 0)
		return error_set(e, errno, "cannot open %s for others: %s", path, strerror(errno));
	return 0;
}

/* Bound under another name, made ready, and moved. */
static int listen_at(struct func_door *d, struct error *e)
{
	char beside[sizeof(d->path) + 16];
	struct sockaddr_un a, made;
	struct stat st;
	int r = set_address(&a, d->path, e);

	snprintf(beside, sizeof(beside), "%s.%d", d->path, (int)getpid());
	if (r < 0 || (r = set_address(&made, beside, e)) < 0)
		return r;
	if (is_answered(&a))
		return error_set(e, EADDRINUSE, "cannot listen at %s: another agent does", d->path);
	unlink(beside);
	d->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->listener < 0 || bind(d->listener, (const struct sockaddr *)&made, sizeof(made)) < 0)
		return error_set(e, errno, "cannot listen at %s: %s", d->path, strerror(errno));
	r = set_access(beside, d->o.group, e);
	if (r >= 0 && (listen(d->listener, BACKLOG) < 0 || stat(beside, &st) < 0 ||
		       rename(beside, d->path) < 0))
		r = error_set(e, errno, "cannot listen at %s: %s", d->path, strerror(errno));
	if (r < 0) {
		unlink(beside);
		return r;
	}
	d->device = st.st_dev;
	d->inode = st.st_ino;
	return 0;
}

static int watch(const struct func_door *d, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(d->poll, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

int func_door_open(struct func_door **ret, const struct func_door_options *o, struct error *e)
{
	CLEANUP(func_door) struct func_door *d = calloc(1, sizeof(*d));
	uint32_t i;
	int r;

	if (!d)
		return error_set(e, ENOMEM, "cannot listen at %s: out of memory", o->path);
	d->o = *o;
	d->listener = d->poll = -1;
	for (i = 0; i < FUNC_DOOR_WAITING; i++)
		d->waiting[i] = -1;
	if (strlen(o->path) >= sizeof(d->path))
		return error_set(e, ENAMETOOLONG, "cannot listen at %s: the path is too long",
				 o->path);
	snprintf(d->path, sizeof(d->path), "%s", o->path);
	r = listen_at(d, e);
	if (r < 0)
		return r;
	d->poll = epoll_create1(EPOLL_CLOEXEC);
	if (d->poll < 0 || watch(d, d->listener) < 0)
		return error_set(e, errno, "cannot listen at %s: %s", o->path, strerror(errno));
	*ret = take_ptr(d);
	return 0;
}

void func_door_close(struct func_door *d)
{
	struct stat st;
	uint32_t i;

	if (!d)
		return;
	if (d->inode && stat(d->path, &st) == 0 && st.st_dev == d->device && st.st_ino == d->inode)
		unlink(d->path);
	for (i = 0; i < FUNC_DOOR_WAITING; i++)
		cleanup_closep(&d->waiting[i]);
	cleanup_closep(&d->listener);
	cleanup_closep(&d->poll);
	free(d);
}

int func_door_fd(const struct func_door *d)
{
	return d->poll;
}

/* --- a request --- */

int func_door_parse(const uint8_t *bytes, size_t len, struct func_door_ask *ret, struct error *e)
{
	if (len != FUNC_DOOR_REQUEST || memcmp(bytes + FUNC_DOOR_AT_MAGIC, FUNC_DOOR_MAGIC, 8))
		return error_set(e, EINVAL, "this is no request");
	ret->verb = get_le32(bytes + FUNC_DOOR_AT_VERB);
	if (get_le32(bytes + FUNC_DOOR_AT_VERSION) != FUNC_DOOR_VERSION ||
	    (ret->verb != FUNC_DOOR_OPEN && ret->verb != FUNC_DOOR_MAPS))
		return error_set(e, EOPNOTSUPP, "the agent speaks version %u alone",
				 FUNC_DOOR_VERSION);
	ret->bytes = get_le64(bytes + FUNC_DOOR_AT_BYTES);
	ret->clock = get_le32(bytes + FUNC_DOOR_AT_CLOCK);
	ret->shift = get_le32(bytes + FUNC_DOOR_AT_SHIFT);
	memcpy(ret->comm, bytes + FUNC_DOOR_AT_COMM, SCHED_COMM_LEN);
	return 0;
}

/* A process that this one cannot see (another pid namespace) has the number 0. */
static int get_pid(int fd, int32_t *ret, struct error *e)
{
	struct ucred peer = { 0, 0, 0 };
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 || peer.pid <= 0)
		return error_set(e, EINVAL, "the agent cannot see this process");
	*ret = peer.pid;
	return 0;
}

static bool send_answer(int fd, const uint8_t bytes[FUNC_DOOR_ANSWER],
			const struct func_door_reply *a)
{
	union {
		struct cmsghdr head;
		uint8_t room[CMSG_SPACE(FUNC_DOOR_FDS * sizeof(int))];
	} control;
	struct iovec part = { (void *)(uintptr_t)bytes, FUNC_DOOR_ANSWER };
	struct msghdr m;
	struct cmsghdr *c;

	memset(&control, 0, sizeof(control));
	memset(&m, 0, sizeof(m));
	m.msg_iov = &part;
	m.msg_iovlen = 1;
	if (a->n_fds) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(a->n_fds * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(a->n_fds * sizeof(int));
		memcpy(CMSG_DATA(c), a->fds, a->n_fds * sizeof(int));
	}
	return sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)FUNC_DOOR_ANSWER;
}

static bool answer(int fd, int code, const struct func_door_reply *a)
{
	uint8_t out[FUNC_DOOR_ANSWER] = { 0 };

	memcpy(out + FUNC_DOOR_AT_MAGIC, FUNC_DOOR_MAGIC, 8);
	put_le32(out + FUNC_DOOR_AT_VERSION, FUNC_DOOR_VERSION);
	put_le32(out + FUNC_DOOR_AT_CODE, (uint32_t)-code);
	put_le64(out + FUNC_DOOR_AT_SIZE, a->size);
	put_le32(out + FUNC_DOOR_AT_ON, a->on);
	put_le32(out + FUNC_DOOR_AT_AGENT, (uint32_t)getpid());
	memcpy(out + FUNC_DOOR_AT_TEXT, a->text, FUNC_DOOR_TEXT_LEN);
	return send_answer(fd, out, a);
}

/* A request is there. */
static void serve(const struct func_door *d, int fd, const uint8_t *bytes, size_t len)
{
	const struct func_door_hooks *hooks = &d->o.hooks;
	struct func_door_reply reply = { 0 };
	struct func_door_ask ask = { 0 };
	struct error e = ERROR_INIT;
	bool was_sent;
	int r = func_door_parse(bytes, len, &ask, &e);

	if (r >= 0)
		r = get_pid(fd, &ask.pid, &e);
	if (r >= 0)
		r = hooks->ask(hooks->context, &ask, &reply, &e);
	if (r < 0) {
		memset(&reply, 0, sizeof(reply));
		snprintf(reply.text, sizeof(reply.text), "%.*s", (int)sizeof(reply.text) - 1,
			 e.text);
		answer(fd, r, &reply);
		return;
	}
	was_sent = answer(fd, 0, &reply);
	hooks->sent(hooks->context, &ask, was_sent);
}

/* True: this connection is done with. */
static bool hear(const struct func_door *d, int fd)
{
	uint8_t bytes[FUNC_DOOR_REQUEST + 1];
	ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n > 0)
		serve(d, fd, bytes, (size_t)n);
	return true;
}

static void let_in(struct func_door *d)
{
	int fd = accept4(d->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), *place;

	if (fd < 0)
		return;
	if (hear(d, fd) || watch(d, fd) < 0) {
		close(fd);
		return;
	}
	place = &d->waiting[d->oldest];
	d->oldest = (d->oldest + 1) % FUNC_DOOR_WAITING;
	cleanup_closep(place);
	*place = fd;
}

/* What was closed in this turn already is not there any more. */
static void hear_again(struct func_door *d, int fd)
{
	uint32_t i;

	for (i = 0; i < FUNC_DOOR_WAITING; i++) {
		if (d->waiting[i] != fd || !hear(d, fd))
			continue;
		close(fd);
		d->waiting[i] = -1;
	}
}

void func_door_turn(struct func_door *d)
{
	struct epoll_event found[TURN_MAX];
	int i, n = epoll_wait(d->poll, found, TURN_MAX, 0);

	for (i = 0; i < n; i++)
		if (found[i].data.fd == d->listener)
			let_in(d);
		else
			hear_again(d, found[i].data.fd);
}
