/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * link: the driver's TCP connection: made by itself, or handed over by a program.
 *
 * Nothing here waits. What happens to the socket is heard through an entry in its wait queue, as
 * epoll does it: nothing in the socket is replaced or must be put back, and a socket with a protocol
 * on top (kTLS) tells when its own records are complete. The entry's function only calls `wake`, which
 * may run in any context.
 *
 * One thread uses a link.
 */
#ifndef KISEKI_DEVICE_DRIVER_LINK_H
#define KISEKI_DEVICE_DRIVER_LINK_H

#include <linux/socket.h>
#include <linux/types.h>
#include <linux/wait.h>

struct socket;

struct link {
	struct socket *sock; /* NULL: closed */
	wait_queue_entry_t wait;
	void (*wake)(void *context);
	void *context;
	bool is_handed; /* it has a file, and the program's descriptor */
	bool has_tls;
	bool is_corked; /* something was sent with the promise that more follows */
	int low_mark;
	u32 tickets;   /* that came on this connection */
	u64 key_bytes; /* sent with the key of this connection, if it has TLS */
	u64 busy_ns;   /* spent in sending and receiving */
};

void link_init(struct link *l, void (*wake)(void *context), void *context);

/* Is it written as "10.0.2.2:7077" or "[fe80::1%eth0]:7077"? */
bool link_is_address(const char *text);

/* The address of such a text, now; -ENODEV: the interface behind % is not there, which may come,
 * go, and come back with another number. */
int link_resolve(struct sockaddr_storage *ret, const char *text);

/* 0: it is there; -EINPROGRESS: link_check() will say; else it is closed. */
int link_connect(struct link *l, const struct sockaddr_storage *to);
int link_check(struct link *l);

/* The socket behind a descriptor of the calling program: -EBADF, -ENOTSOCK; -EPROTOTYPE if it is no
 * TCP; -ENOTCONN; -EPROTONOSUPPORT: another protocol than TLS is on it, or TLS without keys of both
 * directions. It is given back with link_put_handed() or belongs to the link. */
int link_get_handed(struct socket **ret, int descriptor);
void link_put_handed(struct socket *sock);
void link_adopt(struct link *l, struct socket *sock);

static inline bool link_is_closed(const struct link *l)
{
	return !l->sock;
}

/* How many bytes went; -EAGAIN: none now, `wake` comes; -EKEYEXPIRED: the key has encrypted as much as it
 * should, there must be a new connection. `more`: another send follows at once. */
int link_send(struct link *l, const void *bytes, u32 len, bool more);

/* Sends what waited for more. */
void link_push(struct link *l);

/* How many bytes came; -EAGAIN: none now; 0: the other side has closed. -EKEYREJECTED: TLS asks for what
 * the kernel cannot do. */
int link_receive(struct link *l, void *room, u32 len);

/* How many bytes must be there before `wake` is called for them. */
void link_set_low_mark(struct link *l, int bytes);

void link_close(struct link *l);

/* The CPU time in ns that the calling thread has had, as the scheduler accounts for it. Asked by
 * the thread itself: another one would read the two halves of it at different moments, or after
 * the thread has gone. */
u64 link_own_runtime(void);

#endif
