/* SPDX-License-Identifier: MIT */
/* boot_stop: see boot_stop.h. */
#include "device/boot/boot_stop.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/cleanup.h"

#define NAME "\0kiseki-boot"

static socklen_t address(struct sockaddr_un *a)
{
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	memcpy(a->sun_path, NAME, sizeof(NAME) - 1);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(NAME) - 1);
}

int boot_stop_open(struct error *e)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un a;
	socklen_t len = address(&a);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) || listen(fd, 4))
		return error_set(e, errno, "cannot listen for --stop: %s", strerror(errno));
	return take_fd(&fd);
}

int boot_stop_take(int fd)
{
	_cleanup_close_ int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	struct ucred who = { .uid = (uid_t)-1 };
	socklen_t len = sizeof(who);

	if (peer < 0 || getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &who, &len) ||
	    (who.uid != 0 && who.uid != geteuid()))
		return -1;
	return take_fd(&peer);
}

int boot_stop_ask(struct error *e)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un a;
	socklen_t len = address(&a);
	char nothing;

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, len))
		return error_set(e, errno, "cannot stop the recording: %s",
				 errno == ECONNREFUSED ? "there is none" : strerror(errno));
	while (recv(fd, &nothing, 1, 0) < 0 && errno == EINTR)
		;
	return 0;
}
