/* SPDX-License-Identifier: MIT */
/* guest_door: see guest_door.h. */
#include "device/guest/guest_door.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "command/value.h"
#include "device/agent/dial.h"
#include "device/vm/vsock_abi.h"

#define TURN_MS 100

static int fail(const char *address, int number, struct error *e)
{
	return error_set(e, number, "cannot reach the host at %s: %s", address, strerror(number));
}

/* Connects, then lets it be one that does not wait. */
static int connect_to(const struct sockaddr *to, socklen_t len)
{
	_cleanup_close_ int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, to, len) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	return take_fd(&fd);
}

static int open_vsock(const char *port, struct error *e)
{
	struct vsock_address to = { .family = VSOCK_FAMILY, .cid = VSOCK_CID_HOST };
	uint64_t number;

	if (value_number(&number, port, UINT32_MAX - 1) < 0)
		return error_set(e, EINVAL, "cannot use vsock:%s: that is no port", port);
	to.port = (uint32_t)number;
	return connect_to((const struct sockaddr *)&to, sizeof(to));
}

static int open_local(const char *path, struct error *e)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	if (value_text(to.sun_path, sizeof(to.sun_path), path) < 0)
		return error_set(e, EINVAL, "cannot use unix:%s: that is no path", path);
	return connect_to((const struct sockaddr *)&to, sizeof(to));
}

static int open_tcp(const char *address, struct error *e)
{
	CLEANUP(dial) struct dial *d = NULL;
	struct pollfd p;
	int r = dial_new(&d, address, e);

	while (r == 0) {
		r = dial_open(d, clock_mono_ms(), e);
		if (r)
			break;
		p = (struct pollfd){ .fd = dial_fd(d), .events = dial_events(d) };
		poll(&p, 1, TURN_MS);
	}
	if (r < 0)
		return r;
	r = fcntl(dial_fd(d), F_DUPFD_CLOEXEC, 3);
	return r < 0 ? -errno : r;
}

/* A line that changes bytes, or answers by itself, is no way. */
static int open_port(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	struct termios line;

	if (fd < 0)
		return -errno;
	/* So says a port of a VMM to whose other end nobody is connected. */
	if (poll(&p, 1, 0) == 1 && p.revents & POLLHUP)
		return -ENOTCONN;
	if (isatty(fd) && tcgetattr(fd, &line) == 0) {
		cfmakeraw(&line);
		line.c_cflag |= CLOCAL;
		if (tcsetattr(fd, TCSAFLUSH, &line) < 0)
			return -errno;
	}
	return take_fd(&fd);
}

int guest_door_open(const char *address, struct error *e)
{
	int r;

	if (!strncmp(address, "tcp:", 4))
		return open_tcp(address + 4, e);
	if (!strncmp(address, "vsock:", 6))
		r = open_vsock(address + 6, e);
	else if (!strncmp(address, "unix:", 5))
		r = open_local(address + 5, e);
	else if (address[0] == '/')
		r = open_port(address);
	else
		return error_set(e, EINVAL,
				 "cannot use the host's address '%s': it is none of vsock:PORT, "
				 "/dev/..., tcp:HOST:PORT",
				 address);
	return r < 0 && r != -EINVAL ? fail(address, -r, e) : r;
}
