/* SPDX-License-Identifier: MIT */
/* dial: see dial.h. */
#include "device/agent/dial.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum stage {
	STAGE_NONE,
	STAGE_NAME,    /* a child looks the name up */
	STAGE_CONNECT, /* the socket is on its way */
	STAGE_OPEN,
};

/* What the child writes, in one piece: less than PIPE_BUF. */
struct found {
	int failure; /* of getaddrinfo() */
	uint32_t n;
	struct {
		socklen_t len;
		struct sockaddr_storage address;
	} list[DIAL_ADDRESSES_MAX];
};

struct dial {
	char host[DIAL_HOST_MAX];
	char port[8];
	int given; /* fd:N, until it is used */
	bool once;
	enum stage stage;
	int fd; /* pipe or socket */
	pid_t child;
	uint64_t until_ms;
	uint32_t next; /* address to try */
	struct found found;
};

_Static_assert(sizeof(struct found) <= 4096, "a pipe takes it in one piece");

static int parse_port(struct dial *d, const char *text)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end || !port || port > UINT16_MAX)
		return -EINVAL;
	snprintf(d->port, sizeof(d->port), "%lu", port);
	return 0;
}

static int parse_given(struct dial *d, const char *text)
{
	char *end;
	long fd = strtol(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end || fd > INT16_MAX)
		return -EINVAL;
	d->given = (int)fd;
	d->once = true;
	return 0;
}

static int parse_address(struct dial *d, const char *address)
{
	const char *colon = strrchr(address, ':'), *from = address;
	size_t len;

	if (!strncmp(address, "fd:", 3))
		return parse_given(d, address + 3);
	if (!colon || parse_port(d, colon + 1) < 0)
		return -EINVAL;
	len = (size_t)(colon - address);
	if (len >= 2 && address[0] == '[' && address[len - 1] == ']') {
		from++;
		len -= 2;
	} else if (memchr(address, ':', len)) {
		return -EINVAL; /* IPv6 without brackets: where the port begins is a guess */
	}
	if (!len || len >= sizeof(d->host))
		return -EINVAL;
	memcpy(d->host, from, len);
	return 0;
}

int dial_new(struct dial **ret, const char *address, struct error *e)
{
	CLEANUP(dial) struct dial *d = calloc(1, sizeof(*d));

	if (!d)
		return error_set(e, ENOMEM, "cannot prepare the connection: out of memory");
	d->fd = d->given = -1;
	if (parse_address(d, address) < 0)
		return error_set(e, EINVAL,
				 "cannot use the collector's address '%s': it is not HOST:PORT",
				 address);
	*ret = take_ptr(d);
	return 0;
}

void dial_close(struct dial *d)
{
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
	if (d->child) {
		kill(d->child, SIGKILL);
		waitpid(d->child, NULL, 0);
		d->child = 0;
	}
	d->stage = STAGE_NONE;
}

int dial_take(struct dial *d)
{
	d->stage = STAGE_NONE;
	return take_fd(&d->fd);
}

void dial_free(struct dial *d)
{
	if (!d)
		return;
	dial_close(d);
	if (d->given >= 0)
		close(d->given);
	free(d);
}

/* --- the address --- */

static void look_up(const struct dial *d, int flags, struct found *ret)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV };
	struct addrinfo *list = NULL, *a;

	memset(ret, 0, sizeof(*ret));
	ret->failure = getaddrinfo(d->host, d->port, &hints, &list);
	for (a = ret->failure ? NULL : list; a && ret->n < DIAL_ADDRESSES_MAX; a = a->ai_next) {
		if (a->ai_addrlen > sizeof(ret->list[0].address))
			continue;
		ret->list[ret->n].len = a->ai_addrlen;
		memcpy(&ret->list[ret->n++].address, a->ai_addr, a->ai_addrlen);
	}
	if (!ret->failure)
		freeaddrinfo(list);
}

__attribute__((noreturn)) static void be_child(const struct dial *d, pid_t parent, int out)
{
	struct found found;
	ssize_t n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	look_up(d, 0, &found);
	n = write(out, &found, sizeof(found));
	_exit(n == (ssize_t)sizeof(found) ? 0 : 1);
}

static int start_child(struct dial *d, uint64_t now_ms, struct error *e)
{
	pid_t parent = getpid(), child;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return error_set(e, errno, "cannot look up %s: %s", d->host, strerror(errno));
	child = fork();
	if (child == 0)
		be_child(d, parent, ends[1]);
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return error_set(e, errno, "cannot look up %s: %s", d->host, strerror(errno));
	}
	d->child = child;
	d->fd = ends[0];
	d->stage = STAGE_NAME;
	d->until_ms = now_ms + DIAL_WAIT_MS;
	return 0;
}

/* --- the socket --- */

static int connect_next(struct dial *d, uint64_t now_ms, struct error *e)
{
	int r = EHOSTUNREACH, one = 1;

	while (d->next < d->found.n) {
		const struct sockaddr *a = (const void *)&d->found.list[d->next].address;
		socklen_t len = d->found.list[d->next++].len;

		d->fd = socket(a->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (d->fd >= 0 && (!connect(d->fd, a, len) || errno == EINPROGRESS)) {
			setsockopt(d->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
			d->stage = STAGE_CONNECT;
			d->until_ms = now_ms + DIAL_WAIT_MS;
			return 0;
		}
		r = errno;
		dial_close(d);
	}
	dial_close(d);
	return error_set(e, r, "cannot connect to %s:%s: %s", d->host, d->port, strerror(r));
}

static int take_name(struct dial *d, uint64_t now_ms, struct error *e)
{
	ssize_t n = read(d->fd, &d->found, sizeof(d->found));

	if (n < 0 && errno == EAGAIN && now_ms < d->until_ms)
		return 0;
	dial_close(d);
	d->next = 0;
	if (n < 0)
		return error_set(e, ETIMEDOUT, "cannot look up %s: no answer", d->host);
	if (n != (ssize_t)sizeof(d->found))
		return error_set(e, EIO, "cannot look up %s: the look-up died", d->host);
	if (d->found.failure)
		return error_set(e, EHOSTUNREACH, "cannot look up %s: %s", d->host,
				 gai_strerror(d->found.failure));
	return connect_next(d, now_ms, e);
}

static int take_socket(struct dial *d, uint64_t now_ms, struct error *e)
{
	struct pollfd p = { .fd = d->fd, .events = POLLOUT };
	int failure = 0;
	socklen_t len = sizeof(failure);

	if (poll(&p, 1, 0) == 0) {
		if (now_ms < d->until_ms)
			return 0;
		failure = ETIMEDOUT;
	} else if (getsockopt(d->fd, SOL_SOCKET, SO_ERROR, &failure, &len) < 0) {
		failure = errno;
	}
	if (!failure) {
		d->stage = STAGE_OPEN;
		return 1;
	}
	dial_close(d);
	if (d->next < d->found.n)
		return connect_next(d, now_ms, e);
	return error_set(e, failure, "cannot connect to %s:%s: %s", d->host, d->port,
			 strerror(failure));
}

static int take_given(struct dial *d, struct error *e)
{
	int flags = fcntl(d->given, F_GETFL), fd;

	if (d->given < 0)
		return error_set(e, ENOTCONN, "cannot connect again: the socket was a given one");
	fd = take_fd(&d->given);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return error_set(e, errno, "cannot use descriptor %d: %s", fd, strerror(errno));
	d->fd = fd;
	d->stage = STAGE_OPEN;
	return 1;
}

int dial_open(struct dial *d, uint64_t now_ms, struct error *e)
{
	if (d->stage == STAGE_OPEN)
		return 1;
	if (d->stage == STAGE_NAME)
		return take_name(d, now_ms, e);
	if (d->stage == STAGE_CONNECT)
		return take_socket(d, now_ms, e);
	if (d->once)
		return take_given(d, e);
	look_up(d, AI_NUMERICHOST, &d->found);
	d->next = 0;
	return d->found.failure ? start_child(d, now_ms, e) : connect_next(d, now_ms, e);
}

/* --- what the loop asks --- */

int dial_fd(const struct dial *d)
{
	return d->fd;
}

short dial_events(const struct dial *d)
{
	return d->stage == STAGE_CONNECT ? POLLOUT : POLLIN;
}

uint64_t dial_next(const struct dial *d)
{
	return d->stage == STAGE_NAME || d->stage == STAGE_CONNECT ? d->until_ms : UINT64_MAX;
}

bool dial_is_open(const struct dial *d)
{
	return d->stage == STAGE_OPEN;
}

bool dial_is_once(const struct dial *d)
{
	return d->once;
}
