/* SPDX-License-Identifier: MIT */
/*
 * door: see door.h.
 *
 * The agent is believed as far as the user who started the program chose it. A program that has more rights
 * than that user takes records from root alone: what is in a record steers the hooks, so who holds
 * one holds the program.
 */
#include "device/func/door.h"

#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include "device/func/clock.h"
#include "device/func/sys.h"
#include "wire/varint.h"

#define WAIT_NS 2000000000U
#define SPARE_FDS 2U /* room for more than belong to an answer, to see that they came */
#define TURNS 3U
#define PAUSE_US 1000U
#define ERRNO_MAX 4095U /* of Linux */

_Static_assert(sizeof(((struct sockaddr_un *)0)->sun_path) >= DOOR_PATH_MAX, "a path fits");

static void take_text(const uint8_t *from, char to[FUNC_DOOR_TEXT_LEN + 1])
{
	size_t i;

	memset(to, 0, FUNC_DOOR_TEXT_LEN + 1);
	for (i = 0; i < FUNC_DOOR_TEXT_LEN && from[i]; i++)
		to[i] = from[i] >= ' ' && from[i] < 0x7f ? (char)from[i] : '?';
}

int door_parse(const uint8_t *bytes, size_t len, struct door_answer *ret)
{
	uint32_t code;

	if (len != FUNC_DOOR_ANSWER || memcmp(bytes, FUNC_DOOR_MAGIC, 8) != 0 ||
	    get_le32(bytes + FUNC_DOOR_AT_VERSION) != FUNC_DOOR_VERSION)
		return -EPROTO;
	code = get_le32(bytes + FUNC_DOOR_AT_CODE);
	if (code > ERRNO_MAX)
		return -EPROTO;
	if (code) {
		take_text(bytes + FUNC_DOOR_AT_TEXT, ret->text);
		return -(int)code;
	}
	ret->bytes = get_le64(bytes + FUNC_DOOR_AT_SIZE);
	ret->on = get_le32(bytes + FUNC_DOOR_AT_ON) != 0;
	ret->agent = get_le32(bytes + FUNC_DOOR_AT_AGENT);
	return 0;
}

/* Gives the next call what is left of the time. */
static int allow(int fd, uint64_t end_ns)
{
	uint64_t now = func_clock_ns(CLOCK_MONOTONIC), left = now < end_ns ? end_ns - now : 0;
	struct timeval time = { (time_t)(left / CLOCK_SECOND_NS),
				(suseconds_t)(left % CLOCK_SECOND_NS / 1000) };

	if (left < 1000) /* 0 would mean for ever */
		return -ETIMEDOUT;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)) < 0)
		return -errno;
	return 0;
}

/* Makes the call until no signal comes in between: what it gave, or a negative errno. */
static ssize_t call_in_time(int fd, uint64_t end_ns, ssize_t (*call)(int fd, void *what),
			    void *what)
{
	ssize_t n;

	do {
		n = allow(fd, end_ns);
		if (!n && (n = call(fd, what)) < 0)
			n = -errno;
	} while (n == -EINTR);
	return n;
}

static bool is_trusted(int fd)
{
	struct ucred peer = { 0, 1, 1 };
	socklen_t len = sizeof(peer);

	if (!getauxval(AT_SECURE))
		return true;
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.uid == 0;
}

static ssize_t call_connect(int fd, void *to)
{
	return sys_connect(fd, to, sizeof(struct sockaddr_un));
}

static int connect_to(int fd, const char *path, uint64_t end_ns)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	memcpy(to.sun_path, path, strlen(path) + 1);
	return (int)call_in_time(fd, end_ns, call_connect, &to);
}

static ssize_t call_send(int fd, void *bytes)
{
	return sys_send(fd, bytes, FUNC_DOOR_REQUEST);
}

static int send_request(int fd, const struct door_request *q, uint64_t end_ns)
{
	uint8_t bytes[FUNC_DOOR_REQUEST] = { 0 };
	ssize_t n;

	memcpy(bytes + FUNC_DOOR_AT_MAGIC, FUNC_DOOR_MAGIC, 8);
	put_le32(bytes + FUNC_DOOR_AT_VERSION, FUNC_DOOR_VERSION);
	put_le32(bytes + FUNC_DOOR_AT_VERB, q->verb);
	put_le64(bytes + FUNC_DOOR_AT_BYTES, q->bytes);
	memcpy(bytes + FUNC_DOOR_AT_COMM, q->comm, DOOR_COMM_BYTES);
	put_le32(bytes + FUNC_DOOR_AT_CLOCK, q->clock);
	put_le32(bytes + FUNC_DOOR_AT_SHIFT, q->shift);
	n = call_in_time(fd, end_ns, call_send, bytes);
	return n < 0 ? (int)n : 0;
}

static void close_all(struct door_answer *a)
{
	uint32_t i;

	for (i = 0; i < DOOR_FDS; i++) {
		if (a->fd[i] >= 0)
			sys_close(a->fd[i]);
		a->fd[i] = -1;
	}
}

/* Returns how many came. What there is no room for, the kernel keeps. */
static uint32_t take_descriptors(struct msghdr *m, struct door_answer *ret)
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(m);
	uint32_t i, n;
	int fd;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return 0;
	n = (uint32_t)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
	for (i = 0; i < n; i++) {
		memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
		if (i < DOOR_FDS)
			ret->fd[i] = fd;
		else
			sys_close(fd);
	}
	return n;
}

static ssize_t call_receive(int fd, void *message)
{
	return sys_receive(fd, message);
}

static int receive_answer(int fd, uint32_t wanted, uint64_t end_ns, struct door_answer *ret)
{
	uint8_t bytes[FUNC_DOOR_ANSWER + 1];
	union {
		struct cmsghdr head;
		uint8_t room[CMSG_SPACE((DOOR_FDS + SPARE_FDS) * sizeof(int))];
	} control;
	struct iovec part = { bytes, sizeof(bytes) };
	struct msghdr m;
	uint32_t n_fds;
	ssize_t n;
	int rc;

	memset(&control, 0, sizeof(control));
	memset(&m, 0, sizeof(m)); /* with what some C libraries fill it up by */
	m.msg_iov = &part;
	m.msg_iovlen = 1;
	m.msg_control = &control;
	m.msg_controllen = sizeof(control);
	n = call_in_time(fd, end_ns, call_receive, &m);
	if (n < 0)
		return (int)n;
	n_fds = take_descriptors(&m, ret);
	rc = n ? door_parse(bytes, (size_t)n, ret) : -ECONNRESET;
	if (!rc && n_fds < wanted && m.msg_flags & MSG_CTRUNC)
		return -EMFILE; /* the kernel could not give them to this process */
	return !rc && (n_fds != wanted || m.msg_flags & MSG_CTRUNC) ? -EPROTO : rc;
}

/* Whether it is a file, and of this size if there is one: what else a descriptor may be makes writers wait. */
static bool is_file(int fd, uint64_t bytes)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       (!bytes || (uint64_t)st.st_size == bytes);
}

static int ask(int fd, const char *path, const struct door_request *q, struct door_answer *ret,
	       uint64_t end_ns)
{
	bool opens = q->verb == FUNC_DOOR_OPEN;
	int rc = connect_to(fd, path, end_ns);

	if (!rc && !is_trusted(fd))
		rc = -EPERM;
	if (!rc)
		rc = send_request(fd, q, end_ns);
	if (!rc)
		rc = receive_answer(fd, opens ? 2 : 1, end_ns, ret);
	if (!rc && opens && (!ret->bytes || !is_file(ret->fd[0], ret->bytes)))
		rc = -EPROTO;
	if (!rc && !is_file(ret->fd[opens], 0))
		rc = -EPROTO;
	return rc == -EAGAIN ? -ETIMEDOUT : rc;
}

static int ask_once(const char *path, const struct door_request *q, struct door_answer *ret,
		    uint64_t end_ns)
{
	int rc, fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	rc = ask(fd, path, q, ret, end_ns);
	sys_close(fd);
	if (rc < 0)
		close_all(ret);
	return rc;
}

int door_ask(const char *path, const struct door_request *q, struct door_answer *ret)
{
	uint64_t end_ns = func_clock_ns(CLOCK_MONOTONIC) + WAIT_NS;
	uint32_t turn = 0;
	int rc;

	memset(ret, 0, sizeof(*ret));
	ret->fd[0] = ret->fd[1] = -1;
	/* An agent that many come to at once may close on those who have not said anything yet. */
	do {
		if (turn)
			sys_sleep_us(PAUSE_US << turn);
		rc = ask_once(path, q, ret, end_ns);
	} while ((rc == -ECONNRESET || rc == -EPIPE) && ++turn < TURNS);
	return rc;
}
