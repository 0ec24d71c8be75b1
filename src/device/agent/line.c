/* SPDX-License-Identifier: MIT */
/* line: see line.h. */
#include "device/agent/line.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "device/agent/dial.h"
#include "device/agent/enroll.h"
#include "device/agent/kernel_tls.h"
#include "device/agent/tls.h"

#define HANDSHAKE_MS 10000U
#define NS_PER_S 1000000000ULL
#define RENEW_AGAIN_MS 60000U /* after a failure */
#define RENEW_LOOK_MS 100U    /* whether the child is done */
#define AHEAD_S 3600U	      /* collectors' clocks differ by less */

struct line {
	struct line_options o;
	struct dial *dial;
	struct tls *tls; /* NULL: not yet, or no keys */
	bool is_open;
	bool is_aes_only;   /* the kernel has no other cipher */
	uint64_t renewal_s; /* of the certificate that the connection began with; 0: none */
	uint64_t from_s;    /* when it begins to hold */
	uint64_t until_ms;  /* for the handshake */
	pid_t renewer;
	uint64_t renew_ms; /* not before */
	uint64_t told_s;   /* the collector's time, and when that was; 0: it has not said it */
	uint64_t told_ms;
};

int line_new(struct line **ret, const struct line_options *o, struct error *e)
{
	CLEANUP(line) struct line *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return error_set(e, ENOMEM, "cannot prepare the connection: out of memory");
	l->o = *o;
	r = dial_new(&l->dial, o->collector, e);
	if (r < 0)
		return r;
	*ret = take_ptr(l);
	return 0;
}

void line_close(struct line *l)
{
	dial_close(l->dial);
	tls_free(l->tls);
	l->tls = NULL;
	l->is_open = false;
	l->renewal_s = 0;
}

int line_take(struct line *l, struct error *e)
{
	int r = l->tls ? tls_give(l->tls, dial_fd(l->dial), e) : 0;

	if (r == -EOPNOTSUPP)
		l->is_aes_only = true;
	if (r < 0)
		return r;
	tls_free(l->tls);
	l->tls = NULL;
	l->is_open = false;
	return dial_take(l->dial);
}

void line_free(struct line *l)
{
	if (!l)
		return;
	if (l->dial)
		line_close(l);
	dial_free(l->dial);
	if (l->renewer) {
		kill(l->renewer, SIGKILL);
		waitpid(l->renewer, NULL, 0);
	}
	free(l);
}

static int secure(struct line *l, uint64_t now_ms, struct error *e)
{
	int r = 0;

	if (!l->tls) {
		l->until_ms = now_ms + HANDSHAKE_MS;
		/* A kernel that cannot is found out before the collector is bothered. */
		r = l->o.is_for_driver ? kernel_tls_open(dial_fd(l->dial), e) : 0;
		if (r == 0)
			r = tls_new(&l->tls, l->o.state_dir, e);
		if (r == 0 && l->is_aes_only)
			tls_set_aes_only(l->tls);
	}
	if (r >= 0)
		r = tls_open(l->tls, dial_fd(l->dial), e);
	if (r > 0) {
		l->renewal_s = tls_get_renewal(l->tls);
		l->from_s = tls_get_start(l->tls);
	}
	if (r == 0 && now_ms >= l->until_ms)
		r = error_set(e, ETIMEDOUT,
			      "cannot secure the connection: the collector does not answer");
	return r;
}

int line_open(struct line *l, uint64_t now_ms, struct error *e)
{
	int r = dial_open(l->dial, now_ms, e);

	if (r > 0 && !l->is_open && (l->tls || tls_has_keys(l->o.state_dir)))
		r = secure(l, now_ms, e);
	l->is_open = r > 0;
	return r;
}

ssize_t line_recv(struct line *l, void *out, size_t room)
{
	ssize_t n;

	if (l->tls)
		return tls_recv(l->tls, out, room);
	n = recv(dial_fd(l->dial), out, room, MSG_DONTWAIT);
	return n < 0 ? (errno == EINTR ? -EAGAIN : -errno) : n;
}

ssize_t line_send(struct line *l, const void *bytes, size_t len)
{
	ssize_t n;

	if (l->tls)
		return tls_send(l->tls, bytes, len);
	n = send(dial_fd(l->dial), bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	return n < 0 ? (errno == EINTR ? -EAGAIN : -errno) : n;
}

int line_fd(const struct line *l)
{
	return dial_fd(l->dial);
}

short line_events(const struct line *l)
{
	return l->tls && !l->is_open ? tls_events(l->tls) : dial_events(l->dial);
}

uint64_t line_next(const struct line *l)
{
	return l->tls && !l->is_open ? l->until_ms : dial_next(l->dial);
}

bool line_is_secure(const struct line *l)
{
	return l->tls;
}

/* Whoever listens there could read this machine's files himself, or is a tunnel that somebody with rights has made. */
bool line_is_local(const struct line *l)
{
	struct sockaddr_storage peer = { 0 };
	socklen_t len = sizeof(peer);
	const struct sockaddr_in *four = (const struct sockaddr_in *)&peer;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&peer;

	if (getpeername(line_fd(l), (struct sockaddr *)&peer, &len) < 0)
		return false;
	if (peer.ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
	return peer.ss_family == AF_INET && ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

bool line_has_unread(const struct line *l)
{
	return l->tls && tls_has_unread(l->tls);
}

bool line_is_spent(const struct line *l)
{
	return dial_is_once(l->dial) && !dial_is_open(l->dial);
}

/* --- the certificate --- */

__attribute__((noreturn)) static void be_renewer(const struct line *l, pid_t parent)
{
	struct error e;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	_exit(enroll_run(&(struct enroll_options){ l->o.collector, l->o.name, l->o.state_dir,
						   NULL },
			 &e) < 0);
}

void line_set_time(struct line *l, uint64_t realtime_ns, uint64_t now_ms)
{
	l->told_s = realtime_ns / NS_PER_S;
	l->told_ms = now_ms;
}

static uint64_t time_s(const struct line *l, uint64_t now_ms)
{
	return l->told_s ? l->told_s + (now_ms - l->told_ms) / 1000 : (uint64_t)time(NULL);
}

/* Our own clock says nothing of it: where it is wrong, it is mostly behind. */
bool line_is_ahead(const struct line *l, uint64_t now_ms)
{
	return l->renewal_s && l->told_s && time_s(l, now_ms) + AHEAD_S < l->from_s;
}

/* From then on the certificate is renewed; 0: now. */
static uint64_t due_s(const struct line *l, uint64_t now_ms)
{
	return line_is_ahead(l, now_ms) ? 0 : l->renewal_s;
}

static bool is_due(const struct line *l, uint64_t now_ms)
{
	return l->renewal_s && now_ms >= l->renew_ms && time_s(l, now_ms) >= due_s(l, now_ms);
}

uint64_t line_next_renewal(const struct line *l, uint64_t now_ms)
{
	uint64_t now_s = time_s(l, now_ms), at_s = due_s(l, now_ms), at_ms;

	if (l->renewer)
		return now_ms + RENEW_LOOK_MS;
	if (!l->renewal_s)
		return UINT64_MAX;
	at_ms = now_ms + (at_s > now_s ? (at_s - now_s) * 1000 : 0);
	return at_ms > l->renew_ms ? at_ms : l->renew_ms;
}

bool line_renew(struct line *l, uint64_t now_ms)
{
	pid_t parent = getpid(), gone;
	int status = 1;

	if (!l->renewer && is_due(l, now_ms)) {
		l->renew_ms = now_ms + RENEW_AGAIN_MS;
		l->renewer = fork();
		if (l->renewer == 0)
			be_renewer(l, parent);
		l->renewer = l->renewer < 0 ? 0 : l->renewer;
	}
	if (!l->renewer)
		return false;
	gone = waitpid(l->renewer, &status, WNOHANG);
	if (!gone)
		return false;
	l->renewer = 0;
	if (status == 0)
		l->renew_ms = now_ms;
	return status == 0;
}
