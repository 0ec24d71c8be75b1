/* SPDX-License-Identifier: MIT */
/*
 * http: see http.h. The server: its socket, and the way of a request from the library's callbacks
 * to a handler and back.
 *
 * The library hands over the target of a request before it touches it (see_target), so that paths
 * and parameters are taken apart by our own bounded parser alone. Then it calls take_request() once
 * when the head is there, once for each piece of the body, and once at the end; a request that is
 * refused by its head is answered at the first of these calls and its body never read.
 */
#include "collector/http.h"

#include <errno.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "collector/endpoint.h"
#include "collector/http_access.h"
#include "collector/http_connections.h"
#include "collector/http_marks.h"
#include "collector/http_reply.h"
#include "collector/http_request.h"
#include "collector/http_states.h"
#include "collector/http_tls.h"

#define CONNECTION_BYTES (64U * 1024) /* head of a request, and a piece of its answer */
#define STACK_BYTES (512U * 1024)
#define BACKLOG 128
#define CLOSING_MAX HTTP_CONNECTIONS_MAX /* connections that are shut, and whose thread ends */
#define PORT 8080
#define NAME_SHOWN 20 /* characters; beside an address of IPv6 there is no more room */

void http_log(const struct http *h, const char *fmt, ...)
{
	struct error line;
	va_list ap;

	if (!h->options.log)
		return;
	va_start(ap, fmt);
	vsnprintf(line.text, sizeof(line.text), fmt, ap);
	va_end(ap);
	h->options.log(h->options.log_context, line.text);
}

const char *http_request_header(const struct http_request *q, const char *name)
{
	return MHD_lookup_connection_value(q->connection, MHD_HEADER_KIND, name);
}

const char *http_request_peer(const struct http_request *q, char out[HTTP_PEER_MAX])
{
	const union MHD_ConnectionInfo *i =
		MHD_get_connection_info(q->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *a = i ? i->client_addr : NULL;
	socklen_t len = a && a->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
						      : sizeof(struct sockaddr_in);

	if (!a || getnameinfo(a, len, out, HTTP_PEER_MAX, NULL, 0, NI_NUMERICHOST))
		out[0] = 0;
	return out;
}

const char *http_request_asker(const struct http_request *q, char out[HTTP_PEER_MAX])
{
	char peer[HTTP_PEER_MAX];

	http_request_peer(q, peer);
	if (q->who->state.name[0])
		snprintf(out, HTTP_PEER_MAX, "%.*s@%.42s", NAME_SHOWN, q->who->state.name, peer);
	else
		memcpy(out, peer, sizeof(peer));
	return out;
}

bool http_request_is_over(const struct http_request *q)
{
	const union MHD_ConnectionInfo *i =
		MHD_get_connection_info(q->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct pollfd p = { .events = POLLRDHUP };

	if (atomic_load(&q->http->stopping) || !i || !http_access_holds(q))
		return true;
	p.fd = i->connect_fd;
	return poll(&p, 1, 0) > 0 && p.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL);
}

/* --- a request --- */

/* What came may be a password. */
static void free_request(struct http_request *q)
{
	if (q->body)
		explicit_bzero(q->body, q->body_len);
	if (q->who)
		explicit_bzero(q->who, sizeof(*q->who));
	free(q->raw);
	free(q->who);
	free(q->body);
	free(q);
}

/* NULL here means that the request is answered with an error later. */
static void *see_target(void *context, const char *target, struct MHD_Connection *connection)
{
	struct http_request *q = calloc(1, sizeof(*q));

	/* The library's thread works for us from here on; in a trace it bears our name. */
	pthread_setname_np(pthread_self(), "kiseki-http");
	if (!q)
		return NULL;
	q->http = context;
	q->connection = connection;
	q->raw = strndup(target, HTTP_TARGET_MAX + 1);
	q->who = calloc(1, sizeof(*q->who));
	if (!q->raw || !q->who) {
		free_request(q);
		return NULL;
	}
	return q;
}

static struct http_connection *connection_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *i =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return i ? i->socket_context : NULL;
}

static void set_waiting(struct MHD_Connection *connection, struct http *h, bool waiting)
{
	http_connection_set_waiting(h->connections, connection_of(connection), waiting);
}

static void end_request(void *context, struct MHD_Connection *connection, void **request,
			enum MHD_RequestTerminationCode why)
{
	struct http_request *q = *request;

	(void)why;
	set_waiting(connection, context, true);
	if (!q)
		return;
	free_request(q);
	*request = NULL;
}

static int refuse(struct http_request *q, struct http_reply *reply, unsigned int status,
		  const char *why, struct error *e)
{
	reply->status = status;
	http_log(q->http, "http: refused %.200s: %s", q->raw, why);
	return error_set(e, EPERM, "%s", why);
}

/* Does a page of another site ask? One that came without TLS is another one. */
static bool is_foreign(const struct http_request *q, const char *host)
{
	const char *origin = http_request_header(q, MHD_HTTP_HEADER_ORIGIN);

	if (q->http->tls && origin && strncasecmp(origin, "https://", 8) != 0)
		return true;
	return !http_origin_allow(origin, host) ||
	       http_fetch_is_foreign(http_request_header(q, "Sec-Fetch-Site"));
}

/* Does a page of another site start work here that nobody sees? It could not read the answer, but
 * making it costs. */
static bool is_hidden(const struct http_request *q)
{
	return !strncmp(q->route->pattern, "/api/", 5) &&
	       http_fetch_is_hidden(http_request_header(q, "Sec-Fetch-Site"),
				    http_request_header(q, "Sec-Fetch-Mode"),
				    http_request_header(q, "Sec-Fetch-Dest"));
}

/* What can be said against a request before its body is read. */
static int judge(struct http_request *q, const char *method, struct http_reply *reply,
		 struct error *e)
{
	const char *host = http_request_header(q, MHD_HTTP_HEADER_HOST);
	int r = http_target_parse(&q->target, q->raw, e);

	if (r == -E2BIG)
		reply->status = MHD_HTTP_URI_TOO_LONG;
	if (r < 0)
		return r;
	/* By TLS the browser knows whom it speaks to, whatever a name points at. */
	if (!q->http->tls && !http_host_allow(host, q->http->host))
		return refuse(
			q, reply, MHD_HTTP_FORBIDDEN,
			"refused: the Host is neither a name of the loopback nor the one that "
			"kiseki listens on",
			e);
	r = http_routes_find(q, method);
	if (r == -EPERM) {
		reply->status = MHD_HTTP_METHOD_NOT_ALLOWED;
		reply->allow = q->allow;
		return error_set(e, EPERM, "cannot %.16s %.200s: it takes %s", method, q->raw,
				 q->allow);
	}
	if (r < 0)
		return error_set(e, ENOENT, "nothing is at %.200s; see /api/v1/openapi.json",
				 q->raw);
	if (strcmp(q->route->method, "GET") ? is_foreign(q, host) : is_hidden(q))
		return refuse(q, reply, MHD_HTTP_FORBIDDEN,
			      "refused: the request comes from another site's page", e);
	r = http_access_judge(q, reply, e);
	if (r < 0)
		return r;
	/* Without keys there are no logins: whoever may ask is known. */
	if (!q->http->access || q->who->state.kind != WHO_STRANGER)
		http_connection_set_known(q->http->connections, connection_of(q->connection));
	return http_target_check(&q->target, q->route->params, e);
}

/* Adds a piece of the body. */
static int take_body(struct http_request *q, const char *data, size_t len, struct http_reply *reply,
		     struct error *e)
{
	char *grown;

	if (len > HTTP_BODY_MAX - q->body_len) {
		reply->status = MHD_HTTP_CONTENT_TOO_LARGE;
		return error_set(e, E2BIG,
				 "cannot take the request: its body has more than %u "
				 "bytes",
				 HTTP_BODY_MAX);
	}
	grown = realloc(q->body, q->body_len + len + 1);
	if (!grown)
		return error_set(e, ENOMEM, "cannot take the request: out of memory");
	memcpy(grown + q->body_len, data, len);
	q->body = grown;
	q->body_len += len;
	q->body[q->body_len] = 0;
	return 0;
}

static bool is_body_too_long(const struct http_request *q)
{
	const char *length = http_request_header(q, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return length && (strlen(length) > 6 || strtoul(length, NULL, 10) > HTTP_BODY_MAX);
}

/* One call of the library for a request: its head, a piece of its body, or its end. */
static enum MHD_Result take_request(struct http_request *q, const char *method, const char *data,
				    size_t *len)
{
	struct http_reply reply = HTTP_REPLY_INIT;
	struct error e = ERROR_INIT;
	int r = 0;

	if (!q->judged) {
		q->judged = true;
		q->head = !strcmp(method, "HEAD");
		r = judge(q, method, &reply, &e);
		if (r >= 0 && is_body_too_long(q))
			r = take_body(q, "", HTTP_BODY_MAX + 1, &reply, &e);
		if (r >= 0)
			return MHD_YES;
	} else if (*len) {
		r = take_body(q, data, *len, &reply, &e);
		*len = 0;
		if (r >= 0)
			return MHD_YES;
	}
	set_waiting(q->connection, q->http, false);
	if (r >= 0)
		r = q->route->handle(q, &reply, &e);
	return http_reply_send(q, &reply, r, &e);
}

/* The library's idea of a handler has eight parameters; five of them are of use. */
#define HANDLER_PARAMETERS                                                                         \
	void *context, struct MHD_Connection *connection, const char *target, const char *method,  \
		const char *version, const char *data, size_t *len, void **request

static enum MHD_Result handle(HANDLER_PARAMETERS)
{
	(void)context;
	(void)connection;
	(void)target;
	(void)version;
	return *request ? take_request(*request, method, data, len) : MHD_NO;
}

/* --- connections --- */

static gnutls_session_t session_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *i =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);

	return i ? i->tls_session : NULL;
}

/* One that gets nothing to show here fails in its handshake (show_nothing). */
static void show_certificate(struct http *h, gnutls_session_t session, struct http_connection *one)
{
	struct credentials *c = NULL;
	struct error e = ERROR_INIT;

	if (!session || !one)
		return;
	if (http_tls_take(h->tls, &c, &e) > 0)
		http_log(h, "http: the certificate of before is shown: %s", e.text);
	gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials_get_x509(c));
	http_connection_set_shown(one, c);
}

/* The library asks before it takes a connection. */
static enum MHD_Result admit(void *context, const struct sockaddr *from, socklen_t len)
{
	struct http *h = context;

	(void)len;
	return http_connections_admit(h->connections, from) ? MHD_YES : MHD_NO;
}

/* The library has ended the session before, or will without a look at what it showed. */
static void end_connection(struct http *h, struct http_connection *one)
{
	struct credentials *c = http_connection_take_shown(one);

	if (c)
		http_tls_put(h->tls, c);
	http_connections_pop(h->connections, one);
}

static void notice_connection(void *context, struct MHD_Connection *connection,
			      void **socket_context, enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *fd, *from;
	struct http *h = context;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		end_connection(h, *socket_context);
		*socket_context = NULL;
		return;
	}
	fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	from = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	*socket_context =
		fd ? http_connections_push(h->connections, from ? from->client_addr : NULL,
					   fd->connect_fd)
		   : NULL;
	if (h->tls)
		show_certificate(h, session_of(connection), *socket_context);
}

/* The library wants a certificate or this; each connection has got its own by then. */
#define SHOW_PARAMETERS                                                                            \
	gnutls_session_t session, const gnutls_datum_t *authorities, int n_authorities,            \
		const gnutls_pk_algorithm_t *algorithms, int n_algorithms,                         \
		gnutls_pcert_st **certificates, unsigned int *n_certificates,                      \
		gnutls_privkey_t *key

static int show_nothing(SHOW_PARAMETERS)
{
	(void)session;
	(void)authorities;
	(void)n_authorities;
	(void)algorithms;
	(void)n_algorithms;
	(void)certificates;
	(void)n_certificates;
	(void)key;
	return -1;
}

/* Targets are taken apart by http_target_parse() from what see_target() was given; the library's own
 * idea of them is not used, so it need not decode them. */
static size_t leave_escaped(void *context, struct MHD_Connection *connection, char *text)
{
	(void)context;
	(void)connection;
	return strlen(text);
}

/* --- start and stop --- */

static int open_socket(struct http *h, struct error *e)
{
	const char *what = h->options.listen;
	struct sockaddr_storage a;
	socklen_t len = sizeof(a);
	_cleanup_close_ int fd = -1;
	int one = 1, r = endpoint_parse_listen(what, PORT, h->options.insecure, &a, e);

	if (r < 0)
		return r;
	fd = socket(a.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return error_set(e, errno, "cannot serve HTTP on %s: %s", what, strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		return error_set(e, errno, "cannot serve HTTP on %s: %s", what, strerror(errno));
	h->port = endpoint_get_port(&a);
	if (getnameinfo((struct sockaddr *)&a, len, h->host, sizeof(h->host), NULL, 0,
			NI_NUMERICHOST))
		return error_set(e, EINVAL, "cannot serve HTTP on %s: it has no address", what);
	return take_fd(&fd);
}

static int start_daemon(struct http *h, int fd, struct error *e)
{
	const struct MHD_OptionItem secure[] = {
		{ MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(intptr_t)show_nothing },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)HTTP_TLS_PRIORITY },
		{ MHD_OPTION_END, 0, NULL },
	};

	h->daemon = MHD_start_daemon(
		MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
			MHD_USE_ITC | (h->tls ? MHD_USE_TLS : 0),
		0, admit, h, handle, h, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
		HTTP_CONNECTIONS_MAX + CLOSING_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)HTTP_IDLE_S,
		MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES, MHD_OPTION_URI_LOG_CALLBACK,
		see_target, h, MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL,
		MHD_OPTION_NOTIFY_COMPLETED, end_request, h, MHD_OPTION_NOTIFY_CONNECTION,
		notice_connection, h, h->tls ? MHD_OPTION_ARRAY : MHD_OPTION_END, secure,
		MHD_OPTION_END);
	if (!h->daemon)
		return error_set(e, EIO, "cannot serve HTTP on %s: the server did not start",
				 h->options.listen);
	return 0;
}

/* That the folder is there is said at the start, not to the first who asks. */
static int check_symbols(const struct http_options *o, struct error *e)
{
	struct stat st;

	if (!o->symbols || (!stat(o->symbols, &st) && S_ISDIR(st.st_mode)))
		return 0;
	return error_set(e, ENOTDIR, "cannot read symbols of %s: it is no folder", o->symbols);
}

static int open_tls(struct http *h, struct error *e)
{
	const struct http_tls_files f = { h->options.keys, h->options.certificate, h->options.key };

	const struct http_access_options a = { h->options.keys, h->options.login_idle_s,
					       h->options.login_s };
	int r;

	if (!h->options.keys)
		return 0;
	if (MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
		return error_set(e, ENOTSUP,
				 "cannot serve HTTPS: libmicrohttpd was built without GnuTLS");
	r = http_tls_new(&h->tls, &f, e);
	return r < 0 ? r : http_access_new(&h->access, &a, e);
}

int http_start(struct http **ret, const struct http_options *o, struct error *e)
{
	const struct http_connections_limits limits = {
		.late_ms = HTTP_REQUEST_MS,
		.patience_ms = HTTP_PATIENCE_MS,
		.most = HTTP_CONNECTIONS_MAX,
		.reserved = o->keys ? HTTP_RESERVED : 0,
		.strangers = HTTP_STRANGERS_MAX,
	};
	CLEANUP(http) struct http *h = calloc(1, sizeof(*h));
	int fd, r;

	if (!h)
		return error_set(e, ENOMEM, "cannot serve HTTP: out of memory");
	h->options = *o;
	h->started_ns = clock_mono_ns();
	pthread_mutex_init(&h->health_lock, NULL);
	h->has_health_lock = true;
	h->marks = http_marks_new();
	r = h->marks ? check_symbols(o, e)
		     : error_set(e, ENOMEM, "cannot serve HTTP: out of memory");
	if (r < 0)
		return r;
	r = open_tls(h, e);
	if (r < 0)
		return r;
	fd = open_socket(h, e);
	if (fd < 0)
		return fd;
	r = http_connections_new(&h->connections, &limits, e);
	if (r >= 0)
		r = http_states_new(&h->states, h, e);
	if (r >= 0)
		r = start_daemon(h, fd, e);
	if (r < 0) {
		close(fd);
		return r;
	}
	*ret = take_ptr(h);
	return 0;
}

void http_stop(struct http *h)
{
	if (!h)
		return;
	atomic_store(&h->stopping, true);
	if (h->daemon)
		MHD_stop_daemon(h->daemon);
	http_states_free(h->states);
	http_connections_free(h->connections);
	http_tls_free(h->tls);
	http_access_free(h->access);
	http_marks_free(h->marks);
	if (h->has_health_lock)
		pthread_mutex_destroy(&h->health_lock);
	free(h);
}

uint16_t http_port(const struct http *h)
{
	return h->port;
}

bool http_is_secure(const struct http *h)
{
	return h->tls;
}
