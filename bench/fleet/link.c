/* SPDX-License-Identifier: MIT */
/* link: see link.h. With keys it is TLS as a real device has it (device/agent/tls.h). */
#include "link.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "device/agent/tls.h"

#define FOLDER_MAX 256U
#define LEFT_MAX (TAPE_FRAME_MAX + (64U << 10)) /* bytes that the collector may leave unread */

static int watch(struct device *d, int operation, bool out)
{
	struct epoll_event ev = { .events = EPOLLIN | (out ? EPOLLOUT : 0U), .data.ptr = d };

	if (operation == EPOLL_CTL_MOD && out == d->wants_out)
		return 0;
	d->wants_out = out;
	return epoll_ctl(d->fleet->epoll_fd, operation, d->fd, &ev) < 0 ? -errno : 0;
}

/* The keys of device i are in the folder i. */
static int open_keys(struct device *d)
{
	struct error e = ERROR_INIT;
	char folder[FOLDER_MAX];

	if (!d->fleet->o.keys)
		return 0;
	snprintf(folder, sizeof(folder), "%s/%u", d->fleet->o.keys, d->number);
	return tls_new(&d->tls, folder, &e);
}

int link_open(struct device *d)
{
	const struct sockaddr_storage *a = &d->fleet->targets[d->target];
	socklen_t len =
		a->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	int one = 1, r = open_keys(d);

	if (r < 0)
		return r;
	d->fd = socket(a->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->fd < 0)
		return -errno;
	setsockopt(d->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(d->fd, (const struct sockaddr *)a, len) < 0 && errno != EINPROGRESS)
		return -errno;
	return watch(d, EPOLL_CTL_ADD, true);
}

int link_check(struct device *d)
{
	struct error e = ERROR_INIT;
	int code = 0, r;
	socklen_t len = sizeof(code);

	if (getsockopt(d->fd, SOL_SOCKET, SO_ERROR, &code, &len) < 0)
		return -errno;
	if (code || !d->tls)
		return code ? -code : 1;
	r = tls_open(d->tls, d->fd, &e);
	if (r == 0)
		r = watch(d, EPOLL_CTL_MOD, tls_events(d->tls) == POLLOUT);
	return r;
}

void link_close(struct device *d, bool reset)
{
	struct linger linger = { .l_onoff = 1 };

	if (reset && d->fd >= 0)
		setsockopt(d->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
	d->fleet->gathered_len = 0;
	tls_free(d->tls);
	d->tls = NULL;
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

/* As much as goes now, of which TLS takes a record at a time. */
static int push(struct device *d, const uint8_t *bytes, uint32_t len, uint32_t *ret_done)
{
	ssize_t n;

	for (*ret_done = 0; *ret_done < len; *ret_done += (uint32_t)n) {
		const uint8_t *at = bytes + *ret_done;
		uint32_t left = len - *ret_done;

		n = d->tls ? tls_send(d->tls, at, left) : send(d->fd, at, left, MSG_NOSIGNAL);
		if (n < 0 && !d->tls)
			n = -errno;
		if (n < 0)
			return n == -EAGAIN ? 0 : (int)n;
	}
	return 0;
}

/* What does not go now waits for the socket. */
static int send_now(struct device *d, const uint8_t *bytes, uint32_t len)
{
	uint32_t done = 0;
	int r = d->left_len ? 0 : push(d, bytes, len, &done);

	if (r < 0)
		return r;
	return done < len ? keep(d, bytes + done, len - done) : 0;
}

int link_settle(struct device *d)
{
	uint32_t len = d->fleet->gathered_len;

	d->fleet->gathered_len = 0;
	return len && d->fd >= 0 ? send_now(d, d->fleet->gathered, len) : 0;
}

int link_send(struct device *d, const uint8_t *bytes, uint32_t len)
{
	struct fleet *f = d->fleet;
	int r = f->gathered_len + len > FLEET_GATHER ? link_settle(d) : 0;

	f->tally.bytes_sent += len;
	if (r < 0 || len > FLEET_GATHER)
		return r < 0 ? r : send_now(d, bytes, len);
	memcpy(f->gathered + f->gathered_len, bytes, len);
	f->gathered_len += len;
	return 0;
}

int link_flush(struct device *d)
{
	uint32_t done;
	int r;

	if (d->left_len) {
		r = push(d, d->left, d->left_len, &done);
		if (r < 0)
			return r;
		d->left_len -= done;
		memmove(d->left, d->left + done, d->left_len);
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

	/* A record fits, so that nothing stays unread behind the socket. */
	n = d->tls ? tls_recv(d->tls, in + held, FLEET_READ_MAX)
		   : recv(d->fd, in + held, FLEET_READ_MAX, 0);
	if (n <= 0)
		return n < 0 && (d->tls ? n == -EAGAIN : errno == EAGAIN) ? 0 : -ECONNRESET;
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
