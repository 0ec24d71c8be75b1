/* SPDX-License-Identifier: MIT */
/* guest_channel: see guest_channel.h. */
#include "device/guest/guest_channel.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

void guest_channel_init(struct guest_channel *c, int fd)
{
	memset(c, 0, sizeof(*c));
	c->fd = fd;
}

static int fail(struct guest_channel *c, int r)
{
	if (!c->failed)
		c->failed = r;
	return c->failed;
}

/* A port whose other end is not there says so by POLLHUP. */
static int wait_for_room(struct guest_channel *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLOUT };
	int n = poll(&p, 1, GUEST_STALL_MS);

	if (n < 0 && errno == EINTR)
		return 0;
	return n == 1 && !(p.revents & (POLLERR | POLLHUP)) ? 0 : fail(c, -ETIMEDOUT);
}

int guest_channel_send(struct guest_channel *c, const uint8_t *bytes, size_t len)
{
	ssize_t n;

	while (len && !c->failed) {
		n = write(c->fd, bytes, len);
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			wait_for_room(c);
		} else if (n == 0 || errno != EINTR) {
			return fail(c, n ? -errno : -EPIPE);
		}
	}
	return c->failed;
}

int guest_channel_read(struct guest_channel *c)
{
	ssize_t n;

	if (c->failed)
		return c->failed;
	memmove(c->in, c->in + c->at, c->len - c->at);
	c->len -= c->at;
	c->at = 0;
	n = read(c->fd, c->in + c->len, sizeof(c->in) - c->len);
	if (n > 0)
		c->len += (uint32_t)n;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return n > 0 ? 0 : fail(c, n ? -errno : -EPIPE);
}

int guest_channel_next(struct guest_channel *c, struct frame *ret)
{
	enum wire_status status = guest_frame_decode(c->in + c->at, c->len - c->at, ret);

	if (status == WIRE_MORE)
		return 0;
	if (status != WIRE_OK)
		return fail(c, -EPROTO);
	c->at += ret->len;
	return 1;
}
