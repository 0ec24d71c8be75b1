/* SPDX-License-Identifier: MIT */
/* vm_guest_door: see vm_guest_door.h. */
#include "device/vm/vm_guest_door.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "command/value.h"
#include "device/vm/vsock_abi.h"

#define WAITING 32 /* connections that nobody took yet */
#define KIND (SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC)

static int listen_at(const struct sockaddr *at, socklen_t len)
{
	_cleanup_close_ int fd = socket(at->sa_family, KIND, 0);
	int one = 1;

	if (fd < 0)
		return -errno;
	if (at->sa_family == AF_INET || at->sa_family == AF_INET6)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, at, len) < 0 || listen(fd, WAITING) < 0)
		return -errno;
	return take_fd(&fd);
}

static int open_vsock(const char *port)
{
	struct vsock_address at = { .family = VSOCK_FAMILY, .cid = VSOCK_CID_ANY };
	uint64_t number;

	if (value_number(&number, port, UINT32_MAX - 1) < 0)
		return -EINVAL;
	at.port = (uint32_t)number;
	return listen_at((const struct sockaddr *)&at, sizeof(at));
}

/* A socket that is left over from before is replaced, another file is not. Only root may come to it. */
static int open_local(struct vm_guest_door *d, const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct stat st;
	mode_t old;
	int fd;

	if (value_text(at.sun_path, sizeof(at.sun_path), path) < 0)
		return -EINVAL;
	memcpy(d->path, at.sun_path, sizeof(d->path));
	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		d->is_folder = true;
		return -1;
	}
	if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode))
		unlink(path);
	old = umask(0177);
	fd = listen_at((const struct sockaddr *)&at, sizeof(at));
	umask(old);
	if (fd < 0)
		d->path[0] = 0;
	return fd;
}

static int open_tcp(const char *address)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE };
	const char *colon = strrchr(address, ':');
	struct addrinfo *list = NULL;
	char host[64];
	size_t len = colon ? (size_t)(colon - address) : 0;
	int fd;

	if (len >= 2 && address[0] == '[' && address[len - 1] == ']') {
		address++;
		len -= 2;
	}
	if (!colon || !len || len >= sizeof(host))
		return -EINVAL;
	memcpy(host, address, len);
	host[len] = 0;
	if (getaddrinfo(host, colon + 1, &hints, &list))
		return -EINVAL;
	fd = listen_at(list->ai_addr, list->ai_addrlen);
	freeaddrinfo(list);
	return fd;
}

int vm_guest_door_open(struct vm_guest_door *d, const char *address, struct error *e)
{
	*d = (struct vm_guest_door){ .fd = -EINVAL };
	if (!strncmp(address, "vsock:", 6)) {
		d->way = VM_GUEST_VSOCK;
		d->fd = open_vsock(address + 6);
	} else if (!strncmp(address, "unix:", 5)) {
		d->way = VM_GUEST_LOCAL;
		d->fd = open_local(d, address + 5);
	} else if (!strncmp(address, "tcp:", 4)) {
		d->way = VM_GUEST_TCP;
		d->fd = open_tcp(address + 4);
	}
	if (d->fd >= 0 || d->is_folder)
		return 0;
	if (d->fd == -EINVAL)
		return error_set(e, EINVAL,
				 "cannot use --guests %s: it is none of vsock:PORT, unix:PATH, "
				 "tcp:ADDRESS:PORT",
				 address);
	return error_set(e, -d->fd, "cannot wait for guests at %s: %s", address, strerror(-d->fd));
}

void vm_guest_door_close(struct vm_guest_door *d)
{
	if (d->fd < 0)
		return;
	close(d->fd);
	d->fd = -1;
	if (d->path[0])
		unlink(d->path);
}

static int know_local(int fd, struct vm_guest_peer *ret)
{
	struct vsock_peer who = { 0 };
	socklen_t len = sizeof(who);

	ret->way = VM_GUEST_LOCAL;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
		return -errno;
	ret->pid = who.pid;
	snprintf(ret->text, sizeof(ret->text), "process %d", who.pid);
	return 0;
}

int vm_guest_door_accept(const struct vm_guest_door *d, struct vm_guest_peer *ret)
{
	union {
		struct sockaddr any;
		struct sockaddr_storage room;
		struct vsock_address vsock;
	} from;
	socklen_t len = sizeof(from);
	_cleanup_close_ int fd = -1;
	char host[64] = "?";

	memset(&from, 0, sizeof(from));
	*ret = (struct vm_guest_peer){ .way = d->way };
	fd = accept4(d->fd, &from.any, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (d->way == VM_GUEST_LOCAL && know_local(fd, ret) < 0)
		return -EPERM;
	if (d->way == VM_GUEST_VSOCK) {
		ret->cid = from.vsock.cid;
		snprintf(ret->text, sizeof(ret->text), "vsock cid %u", ret->cid);
	} else if (d->way == VM_GUEST_TCP) {
		getnameinfo(&from.any, len, host, sizeof(host), NULL, 0, NI_NUMERICHOST);
		snprintf(ret->text, sizeof(ret->text), "%s", host);
	}
	return take_fd(&fd);
}

/* Of a socket that is listened at, the kernel tells who does. */
int vm_guest_door_connect(const char *path, struct vm_guest_peer *ret)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = socket(AF_UNIX, KIND, 0);

	*ret = (struct vm_guest_peer){ .way = VM_GUEST_LOCAL };
	if (value_text(to.sun_path, sizeof(to.sun_path), path) < 0)
		return -EINVAL;
	if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0)
		return -errno;
	return know_local(fd, ret) < 0 ? -EPERM : take_fd(&fd);
}
