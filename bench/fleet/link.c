/* SPDX-License-Identifier: MIT */
/* link: see link.h. */
#include "link.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define LEFT_MAX (TAPE_FRAME_MAX + (64U << 10)) /* bytes that the collector may leave unread */

static int watch(struct device *d, int operation, bool out)
{
	struct epoll_event ev = { .events = EPOLLIN | (out ? EPOLLOUT : 0U), .data.ptr = d };

	if (operation == EPOLL_CTL_MOD && out == d->wants_out)
		return 0;
	d->wants_out = out;
	return epoll_ctl(d->fleet->epoll_fd, operation, d->fd, &ev) < 0 ? -errno : 0;
}

int link_open(struct device *d)
{
	const struct sockaddr_storage *a = &d->fleet->targets[d->target];
	socklen_t len =
		a->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	int one = 1;

	d->fd = socket(a->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->fd < 0)
		return -errno;
	setsockopt(d->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(d->fd, (const struct sockaddr *)a, len) < 0 && errno != EINPROGRESS)
		return -errno;
	return watch(d, EPOLL_CTL_ADD, true);
}

int link_check(const struct device *d)
{
	int code = 0;
	socklen_t len = sizeof(code);

	return getsockopt(d->fd, SOL_SOCKET, SO_ERROR, &code, &len) < 0 ? -errno : -code;
}

void link_close(struct device *d, bool reset)
{
	struct linger linger = { .l_onoff = 1 };

	if (reset && d->fd >= 0)
		setsockopt(d->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
	free(d->held);
	free(d->left);
	d->held = d->left = NULL;
	d->held_len = d->left_len = 0;
}

static int keep(struct device *d, const uint8_t *bytes, uint32_t len)
{
	uint8_t *grown;

	if (d->left_len + len > LEFT_MAX)
		return -ENOBUFS;
	grown = realloc(d->left, d->left_len + len);
	if (!grown)
		return -ENOMEM;
	memcpy(grown + d->left_len, bytes, len);
	d->left = grown;
	d->left_len += len;
	return watch(d, EPOLL_CTL_MOD, true);
}

int link_send(struct device *d, const uint8_t *bytes, uint32_t len)
{
	ssize_t n = 0;

	if (!d->left_len)
		n = send(d->fd, bytes, len, MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN)
		return -errno;
	n = n < 0 ? 0 : n;
	d->fleet->tally.bytes_sent += len;
	return (uint32_t)n < len ? keep(d, bytes + n, len - (uint32_t)n) : 0;
}

int link_flush(struct device *d)
{
	ssize_t n;

	if (d->left_len) {
		n = send(d->fd, d->left, d->left_len, MSG_NOSIGNAL);
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		d->left_len -= (uint32_t)n;
		memmove(d->left, d->left + n, d->left_len);
	}
	if (d->left_len)
		return 0;
	free(d->left);
	d->left = NULL;
	return watch(d, EPOLL_CTL_MOD, false);
}

int link_receive(struct device *d)
{
	uint8_t *in = d->fleet->in;
	uint32_t held = d->held_len;
	ssize_t n;

	n = recv(d->fd, in + held, FLEET_READ_MAX, 0);
	if (n <= 0)
		return n < 0 && errno == EAGAIN ? 0 : -ECONNRESET;
	if (held)
		memcpy(in, d->held, held);
	free(d->held);
	d->held = NULL;
	d->held_len = 0;
	return (int)(held + (uint32_t)n);
}

int link_hold(struct device *d, const uint8_t *bytes, uint32_t len)
{
	if (!len)
		return 0;
	if (len > FLEET_HELD_MAX)
		return -EMSGSIZE;
	d->held = malloc(len);
	if (!d->held)
		return -ENOMEM;
	memcpy(d->held, bytes, len);
	d->held_len = len;
	return 0;
}
