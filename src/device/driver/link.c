/* SPDX-License-Identifier: GPL-2.0-only */
/* link: see link.h. */
#include "device/driver/link.h"

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/inet.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/tcp.h>
#include <net/inet_connection_sock.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <net/tls.h>
#include <uapi/linux/tls.h>

#include "device/driver/compat/socket.h"

#define USER_TIMEOUT_MS 30000
#define KEEP_IDLE_S 20
#define ADDRESS_LEN 64
#define RECORD_ALERT 21
#define RECORD_HANDSHAKE 22
#define RECORD_DATA 23
#define HANDSHAKE_TICKET 4
#define ALERT_WARNING 1
#define ALERT_CLOSE 0
#define TICKET (-EALREADY) /* a record that is passed over */
#define TICKETS_MAX 8

/* AES-GCM should not encrypt more than 2^24.5 records of 16 KiB with a key (RFC 8446, 5.5), which is
 * 2^38.5 bytes. A record that is not full counts its head and tag as well. A test may want less. */
#ifndef LINK_KEY_BYTES_MAX
#define LINK_KEY_BYTES_MAX (1ULL << 38)
#endif
#define RECORD_OVERHEAD 32U

#ifndef SOL_TLS
#define SOL_TLS 282
#endif

static int link_woken(wait_queue_entry_t *wait, unsigned int mode, int flags, void *key)
{
	struct link *l = container_of(wait, struct link, wait);

	l->wake(l->context);
	return 0;
}

void link_init(struct link *l, void (*wake)(void *context), void *context)
{
	memset(l, 0, sizeof(*l));
	l->wake = wake;
	l->context = context;
	init_waitqueue_func_entry(&l->wait, link_woken);
}

/* --- addresses --- */

/* An address in its parts: "[fe80::1%eth0]:7077" is host "fe80::1", scope "eth0". */
struct address_parts {
	char room[ADDRESS_LEN];
	const char *host, *scope; /* NULL: none */
	sa_family_t family;
	u16 port;
};

static bool split(struct address_parts *ret, const char *text)
{
	char *host = ret->room, *port, *scope;

	if (strscpy(ret->room, text, sizeof(ret->room)) < 0)
		return false;
	strim(host);
	port = strrchr(host, ':');
	if (!port)
		return false;
	*port++ = 0;
	ret->family = AF_INET;
	if (host[0] == '[') {
		if (port - host < 3 || port[-2] != ']')
			return false;
		port[-2] = 0;
		host++;
		ret->family = AF_INET6;
	}
	scope = ret->family == AF_INET6 ? strchr(host, '%') : NULL;
	if (scope)
		*scope++ = 0;
	ret->host = host;
	ret->scope = scope;
	return !kstrtou16(port, 10, &ret->port) && ret->port && (!scope || scope[0]);
}

static bool get_number(struct sockaddr_storage *ret, const struct address_parts *p)
{
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)ret;
	struct sockaddr_in *four = (struct sockaddr_in *)ret;

	memset(ret, 0, sizeof(*ret));
	ret->ss_family = p->family;
	/* Up to the NUL: with -1 as the end, any letter that is no digit would be one. */
	if (p->family == AF_INET) {
		four->sin_port = htons(p->port);
		return in4_pton(p->host, -1, (u8 *)&four->sin_addr, 0, NULL);
	}
	six->sin6_port = htons(p->port);
	return in6_pton(p->host, -1, (u8 *)&six->sin6_addr, 0, NULL);
}

bool link_is_address(const char *text)
{
	struct sockaddr_storage address;
	struct address_parts p;

	return split(&p, text) && get_number(&address, &p);
}

static int find_interface(const char *name)
{
	struct net_device *device;
	u32 number;

	rcu_read_lock();
	device = dev_get_by_name_rcu(&init_net, name);
	number = device ? (u32)device->ifindex : 0;
	rcu_read_unlock();
	if (number)
		return (int)number;
	return kstrtou32(name, 10, &number) || !number || number > INT_MAX ? -ENODEV : (int)number;
}

int link_resolve(struct sockaddr_storage *ret, const char *text)
{
	struct address_parts p;
	int number;

	if (!split(&p, text) || !get_number(ret, &p))
		return -EINVAL;
	if (!p.scope)
		return 0;
	number = find_interface(p.scope);
	if (number < 0)
		return number;
	((struct sockaddr_in6 *)ret)->sin6_scope_id = (u32)number;
	return 0;
}

/* --- opening --- */

/* A protocol above TCP other than TLS frames the bytes as nobody here knows, and TLS without
 * keys of both directions sends them as they are, for all to read. */
static bool is_understood(struct sock *sk)
{
	const struct tcp_ulp_ops *above;
	const struct tls_context *tls;
	bool understood = true;

	lock_sock(sk);
	above = inet_csk(sk)->icsk_ulp_ops;
	if (above && !strcmp(above->name, "tls")) {
		tls = tls_get_ctx(sk);
		understood = tls && tls->tx_conf != TLS_BASE && tls->rx_conf != TLS_BASE;
	} else if (above) {
		understood = false;
	}
	release_sock(sk);
	return understood;
}

static void listen_to(struct link *l, struct socket *sock)
{
	l->sock = sock;
	l->is_corked = false;
	l->low_mark = 1;
	l->key_bytes = 0;
	l->tickets = 0;
	l->has_tls = inet_csk(sock->sk)->icsk_ulp_ops;
	add_wait_queue(&sock->wq.wait, &l->wait);
}

int link_connect(struct link *l, const struct sockaddr_storage *to)
{
	struct sockaddr_storage address = *to;
	struct socket *sock;
	int len, r;

	len = to->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	r = sock_create_kern(&init_net, to->ss_family, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (r < 0)
		return r;
	tcp_sock_set_nodelay(sock->sk);
	tcp_sock_set_user_timeout(sock->sk, USER_TIMEOUT_MS);
	tcp_sock_set_keepidle(sock->sk, KEEP_IDLE_S);
	sock_set_keepalive(sock->sk);
	l->is_handed = false;
	listen_to(l, sock);
	r = kernel_connect(sock, compat_address(&address), len, O_NONBLOCK);
	if (r < 0 && r != -EINPROGRESS)
		link_close(l);
	return r;
}

int link_check(struct link *l)
{
	struct sock *sk = l->sock->sk;
	int r = sock_error(sk);

	if (r < 0)
		return r;
	switch (READ_ONCE(sk->sk_state)) {
	case TCP_ESTABLISHED:
		return 0;
	case TCP_SYN_SENT:
	case TCP_SYN_RECV:
		return -EINPROGRESS;
	default:
		return -ECONNREFUSED;
	}
}

int link_get_handed(struct socket **ret, int descriptor)
{
	struct socket *sock;
	struct sock *sk;
	int r = 0;

	sock = sockfd_lookup(descriptor, &r);
	if (!sock)
		return r;
	sk = sock->sk;
	if (sock->type != SOCK_STREAM || sk->sk_protocol != IPPROTO_TCP ||
	    (sk->sk_family != AF_INET && sk->sk_family != AF_INET6))
		r = -EPROTOTYPE;
	else if (READ_ONCE(sk->sk_state) != TCP_ESTABLISHED)
		r = -ENOTCONN;
	else if (!is_understood(sk))
		r = -EPROTONOSUPPORT;
	if (r < 0) {
		sockfd_put(sock);
		return r;
	}
	*ret = sock;
	return 0;
}

void link_put_handed(struct socket *sock)
{
	sockfd_put(sock);
}

void link_adopt(struct link *l, struct socket *sock)
{
	tcp_sock_set_nodelay(sock->sk);
	l->is_handed = true;
	listen_to(l, sock);
}

/* TLS wants each side to say that it has no more, so that nobody between can cut the end off. It goes
 * if there is room for it; our own protocol knows what is missing. */
static void say_no_more(struct link *l)
{
	u8 control[CMSG_SPACE(sizeof(u8))] __aligned(sizeof(size_t)) = { 0 };
	struct cmsghdr *c = (struct cmsghdr *)control;
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	u8 alert[] = { ALERT_WARNING, ALERT_CLOSE };
	struct kvec vec = { .iov_base = alert, .iov_len = sizeof(alert) };

	c->cmsg_level = SOL_TLS;
	c->cmsg_type = TLS_SET_RECORD_TYPE;
	c->cmsg_len = CMSG_LEN(sizeof(u8));
	*(u8 *)CMSG_DATA(c) = RECORD_ALERT;
	if (READ_ONCE(l->sock->sk->sk_state) == TCP_ESTABLISHED)
		kernel_sendmsg(l->sock, &msg, &vec, 1, sizeof(alert));
}

void link_close(struct link *l)
{
	struct socket *sock = l->sock;

	if (!sock)
		return;
	if (l->has_tls)
		say_no_more(l);
	l->sock = NULL;
	remove_wait_queue(&sock->wq.wait, &l->wait);
	if (!l->is_handed) {
		sock_release(sock);
		return;
	}
	/* The program may still have its descriptor: it should see the end, too. */
	kernel_sock_shutdown(sock, SHUT_RDWR);
	sockfd_put(sock);
}

/* --- bytes --- */

/* What the thread itself did in a piece of time: another one may have had the CPU for most of it. Then
 * the scheduler's own account is taken, which is at most a tick behind. */
struct stopwatch {
	u64 clock, account;
	unsigned long switches;
};

static unsigned long own_switches(void)
{
	return current->nvcsw + current->nivcsw;
}

/* A tick may change it between its two halves. */
u64 link_own_runtime(void)
{
	u64 ns;

	do
		ns = READ_ONCE(current->se.sum_exec_runtime);
	while (ns != READ_ONCE(current->se.sum_exec_runtime));
	return ns;
}

static void stopwatch_start(struct stopwatch *w)
{
	w->switches = own_switches();
	w->account = link_own_runtime();
	w->clock = local_clock();
}

static u64 stopwatch_stop(const struct stopwatch *w)
{
	u64 passed = local_clock() - w->clock;

	if (own_switches() == w->switches)
		return passed;
	return min(passed, link_own_runtime() - w->account);
}

int link_send(struct link *l, const void *bytes, u32 len, bool more)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct kvec vec = { .iov_base = (void *)bytes, .iov_len = len };
	struct stopwatch watch;
	int r;

	if (l->has_tls && l->key_bytes >= LINK_KEY_BYTES_MAX)
		return -EKEYEXPIRED;
	stopwatch_start(&watch);
	/* kTLS would keep a record open, and nothing but another send would close it. */
	more = more && !l->has_tls;
	if (more)
		msg.msg_flags |= MSG_MORE;
	r = kernel_sendmsg(l->sock, &msg, &vec, 1, len);
	if (r > 0) {
		l->is_corked = more;
		l->key_bytes += (u32)r + RECORD_OVERHEAD;
	}
	l->busy_ns += stopwatch_stop(&watch);
	return r == -EINTR || r == -ERESTARTSYS || r == -ENOBUFS || r == -ENOMEM ? -EAGAIN : r;
}

void link_push(struct link *l)
{
	struct stopwatch watch;

	if (!l->sock || !l->is_corked)
		return;
	stopwatch_start(&watch);
	tcp_sock_set_nodelay(l->sock->sk); /* which sends what is there, also if it was set */
	l->is_corked = false;
	l->busy_ns += stopwatch_stop(&watch);
}

/* What a record that is no data means: tickets are for those who come again, the rest is not for us. */
static int take_record(u8 type, const u8 *room, int len)
{
	if (type == RECORD_DATA)
		return len;
	if (type == RECORD_HANDSHAKE && len && room[0] == HANDSHAKE_TICKET)
		return TICKET;
	if (type == RECORD_ALERT && len == 2 && room[1] == ALERT_CLOSE)
		return 0;
	return -EKEYREJECTED;
}

static int receive(struct link *l, void *room, u32 len)
{
	u8 control[CMSG_SPACE(sizeof(u8))] __aligned(sizeof(size_t)) = { 0 };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT };
	struct kvec vec = { .iov_base = room, .iov_len = len };
	struct cmsghdr *c = (struct cmsghdr *)control;
	int r;

	if (l->has_tls) {
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
	}
	r = kernel_recvmsg(l->sock, &msg, &vec, 1, len, MSG_DONTWAIT);
	if (r >= 0 && l->has_tls && msg.msg_controllen < sizeof(control) &&
	    c->cmsg_level == SOL_TLS && c->cmsg_type == TLS_GET_RECORD_TYPE)
		r = take_record(*(u8 *)CMSG_DATA(c), room, r);
	return r;
}

int link_receive(struct link *l, void *room, u32 len)
{
	struct stopwatch watch;
	int r;

	stopwatch_start(&watch);
	do
		r = receive(l, room, len);
	while (r == TICKET && ++l->tickets < TICKETS_MAX);
	l->busy_ns += stopwatch_stop(&watch);
	if (r == TICKET)
		return -EKEYREJECTED;
	return r == -EINTR || r == -ERESTARTSYS ? -EAGAIN : r;
}

void link_set_low_mark(struct link *l, int bytes)
{
	struct sock *sk = l->sock->sk;

	if (bytes == l->low_mark || !l->sock->ops->set_rcvlowat)
		return;
	l->low_mark = bytes;
	lock_sock(sk);
	l->sock->ops->set_rcvlowat(sk, bytes);
	release_sock(sk);
}
