/* SPDX-License-Identifier: MIT */
/*
 * client: see client.h.
 *
 * libcurl's multi interface with a single transfer: it waits on the connection and on the caller's
 * descriptors at once, so that Ctrl-C and keys need neither threads nor signal handlers.
 */
#include "cli/client.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "analysis/json_whole.h"
#include "cli/access.h"
#include "cli/table.h"

#define CONNECT_S 10L
#define ANSWER_S 120L	/* of a JSON answer; an instruction may wait for its device */
#define ERROR_MAX 8192U /* bytes of a failure's text that are looked at */
#define NOTE_HEADER "Kiseki-Note:"

struct client {
	CURL *easy;
	CURLM *multi;
	char *server; /* without a trailing slash */
	struct access access;
	char why[CURL_ERROR_SIZE]; /* the library's own words for the last failure */
	char note[256];
	/* Of the running transfer. */
	const struct client_watch *watch;
	long status; /* 0: not known yet */
	int stopped; /* what take returned */
	struct error *e;
	char failure[ERROR_MAX + 1];
	size_t failure_len;
};

/* An answer that is kept whole. */
struct answer {
	char *bytes;
	size_t len, room;
};

/* --- callbacks of libcurl --- */

static size_t take_bytes(char *bytes, size_t size, size_t n, void *context)
{
	struct client *c = context;
	size_t len = size * n, room = ERROR_MAX - c->failure_len;

	if (!c->status)
		curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &c->status);
	if (c->status >= 400) {
		memcpy(c->failure + c->failure_len, bytes, len < room ? len : room);
		c->failure_len += len < room ? len : room;
		return len;
	}
	c->stopped = c->watch->take(c->watch->context, bytes, len, c->e);
	return c->stopped ? CURL_WRITEFUNC_ERROR : len;
}

static size_t take_header(char *bytes, size_t size, size_t n, void *context)
{
	struct client *c = context;
	size_t len = size * n, head = strlen(NOTE_HEADER);

	if (len > head && !strncasecmp(bytes, NOTE_HEADER, head)) {
		while (head < len && bytes[head] == ' ')
			head++;
		while (len > head && (bytes[len - 1] == '\n' || bytes[len - 1] == '\r'))
			len--;
		snprintf(c->note, sizeof(c->note), "%.*s", (int)(len - head), bytes + head);
		table_clean(c->note);
	}
	return size * n;
}

/* --- opening --- */

static bool is_server(const char *url)
{
	return (!strncasecmp(url, "http://", 7) && url[7]) ||
	       (!strncasecmp(url, "https://", 8) && url[8]);
}

static int set_server(struct client *c, const char *url, struct error *e)
{
	size_t len = strlen(url);

	if (!is_server(url))
		return error_set(e, EINVAL,
				 "cannot use the server \"%.100s\": write it as " CLIENT_SERVER,
				 url);
	while (len && url[len - 1] == '/')
		len--;
	c->server = strndup(url, len);
	return c->server ? 0 : error_set(e, ENOMEM, "cannot connect: out of memory");
}

static const char *choose_server(const struct args *a)
{
	const char *url = args_get(a, "server");

	if (!url)
		url = getenv("KISEKI_SERVER");
	return url && *url ? url : CLIENT_SERVER;
}

int client_open(struct client **ret, const struct args *a, struct error *e)
{
	CLEANUP(client) struct client *c = calloc(1, sizeof(*c));
	int r;

	if (!c || curl_global_init(CURL_GLOBAL_DEFAULT))
		return error_set(e, ENOMEM, "cannot connect: out of memory");
	r = set_server(c, choose_server(a), e);
	if (r == 0)
		r = access_load(&c->access, c->server, e);
	if (r < 0)
		return r;
	c->easy = curl_easy_init();
	c->multi = curl_multi_init();
	if (!c->easy || !c->multi)
		return error_set(e, ENOMEM, "cannot connect: out of memory");
	*ret = take_ptr(c);
	return 0;
}

void client_free(struct client *c)
{
	if (!c)
		return;
	curl_easy_cleanup(c->easy);
	curl_multi_cleanup(c->multi);
	free(c->server);
	explicit_bzero(&c->access, sizeof(c->access));
	free(c);
}

const char *client_server(const struct client *c)
{
	return c->server;
}

const char *client_note(const struct client *c)
{
	return c->note;
}

/* --- failures --- */

static int errno_of_status(long status)
{
	switch (status) {
	case 400:
		return EINVAL;
	case 401:
		return EKEYREJECTED;
	case 403:
		return EACCES;
	case 404:
		return ENOENT;
	case 409:
		return ENOTUNIQ;
	case 429:
		return EAGAIN;
	case 503:
		return EBUSY;
	case 504:
		return ETIMEDOUT;
	default:
		return EIO;
	}
}

/* The server's own text, which is whole; or its status if it is no server of ours. */
static int server_failure(struct client *c, struct error *e)
{
	json_t *o = json_loadb(c->failure, c->failure_len, 0, NULL);
	const char *text = json_string_value(json_object_get(o, "error"));
	int code = errno_of_status(c->status);

	if (text)
		error_set(e, code, "%s", text);
	else
		error_set(e, code,
			  "cannot ask %s: it answers with status %ld; is it a kiseki collector?",
			  c->server, c->status);
	json_decref(o);
	return -code;
}

static bool is_plain(const char *server)
{
	return !strncasecmp(server, "http://", 7);
}

static int curl_failure(struct client *c, CURLcode code, struct error *e)
{
	long os_errno = 0;
	double done = 0;

	curl_easy_getinfo(c->easy, CURLINFO_OS_ERRNO, &os_errno);
	curl_easy_getinfo(c->easy, CURLINFO_TOTAL_TIME, &done);
	switch (code) {
	case CURLE_COULDNT_CONNECT:
		return error_set(e, ECONNREFUSED,
				 "cannot reach %s: %s; is `kiseki serve` running? --server or "
				 "KISEKI_SERVER names another collector",
				 c->server,
				 os_errno ? strerror((int)os_errno) : curl_easy_strerror(code));
	case CURLE_OPERATION_TIMEDOUT:
		return error_set(e, ETIMEDOUT, "cannot ask %s: no answer within %.0f s", c->server,
				 done);
	case CURLE_COULDNT_RESOLVE_HOST:
		return error_set(e, EHOSTUNREACH, "cannot reach %s: %s", c->server,
				 curl_easy_strerror(code));
	case CURLE_PARTIAL_FILE:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_GOT_NOTHING:
		return error_set(
			e, ECONNRESET,
			"cannot read the answer of %s: the connection ended before it did%s",
			c->server,
			is_plain(c->server) ? "; a collector with keys is asked as https://" : "");
	case CURLE_UNSUPPORTED_PROTOCOL: /* an answer that is not HTTP */
		return error_set(e, EPROTO,
				 "cannot ask %s: no HTTP is spoken there; devices have a port of "
				 "their own (7077), commands and browsers another (8080)",
				 c->server);
	case CURLE_PEER_FAILED_VERIFICATION:
		return error_set(e, EKEYREJECTED,
				 "cannot trust %s: %s; KISEKI_CA names the collector's ca.pem, of "
				 "its folder of keys",
				 c->server, *c->why ? c->why : curl_easy_strerror(code));
	default:
		return error_set(e, EIO, "cannot reach %s: %s", c->server,
				 *c->why ? c->why : curl_easy_strerror(code));
	}
}

/* --- one transfer --- */

static void show_access(struct client *c)
{
	CURL *h = c->easy;

	c->why[0] = 0;
	curl_easy_setopt(h, CURLOPT_ERRORBUFFER, c->why);
	if (c->access.authority[0]) {
		curl_easy_setopt(h, CURLOPT_CAINFO, c->access.authority);
		curl_easy_setopt(h, CURLOPT_CAPATH, NULL); /* it, and nobody else */
	}
	if (c->access.token[0]) {
		curl_easy_setopt(h, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
		curl_easy_setopt(h, CURLOPT_XOAUTH2_BEARER, c->access.token);
	}
}

static int prepare(struct client *c, const struct url *u, const struct client_watch *w,
		   struct error *e)
{
	char full[URL_MAX + 512];
	CURL *h = c->easy;

	if (u->full ||
	    snprintf(full, sizeof(full), "%s%s", c->server, u->text) >= (int)sizeof(full))
		return error_set(e, E2BIG, "cannot ask %.60s: the request is too long", c->server);
	c->watch = w;
	c->status = 0;
	c->stopped = 0;
	c->failure_len = 0;
	c->note[0] = 0;
	c->e = e;
	curl_easy_reset(h);
	curl_easy_setopt(h, CURLOPT_URL, full);
	curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(h, CURLOPT_NOPROXY, "localhost,127.0.0.1,::1");
	curl_easy_setopt(h, CURLOPT_USERAGENT, "kiseki/" KISEKI_VERSION);
	curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
	show_access(c);
	curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, take_bytes);
	curl_easy_setopt(h, CURLOPT_WRITEDATA, c);
	curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(h, CURLOPT_HEADERDATA, c);
	return 0;
}

static int wait_turn(struct client *c, struct error *e)
{
	const struct client_watch *w = c->watch;
	struct curl_waitfd fds[CLIENT_FDS_MAX];
	unsigned int i;

	memset(fds, 0, sizeof(fds));
	for (i = 0; i < w->n_fds; i++) {
		fds[i].fd = w->fds[i];
		fds[i].events = CURL_WAIT_POLLIN;
	}
	if (curl_multi_poll(c->multi, fds, w->n_fds, w->turn ? w->turn_ms : 1000, NULL))
		return error_set(e, EIO, "cannot wait for %s", c->server);
	return w->turn ? w->turn(w->context, e) : 0;
}

/* How the one transfer ended. */
static int result(struct client *c, struct error *e)
{
	CURLMsg *m;
	int left;

	if (c->stopped)
		return c->stopped;
	m = curl_multi_info_read(c->multi, &left);
	if (m && m->data.result)
		return curl_failure(c, m->data.result, e);
	if (!c->status)
		curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &c->status);
	return c->status >= 300 ? server_failure(c, e) : 0;
}

static int transfer(struct client *c, struct error *e)
{
	int running = 1, r = 0;

	if (curl_multi_add_handle(c->multi, c->easy))
		return error_set(e, ENOMEM, "cannot ask %s: out of memory", c->server);
	while (r == 0 && running) {
		if (curl_multi_perform(c->multi, &running))
			r = error_set(e, EIO, "cannot ask %s", c->server);
		else if (running)
			r = wait_turn(c, e);
	}
	if (r == 0)
		r = result(c, e);
	curl_multi_remove_handle(c->multi, c->easy);
	return r;
}

int client_stream(struct client *c, const struct url *u, const struct client_watch *w,
		  struct error *e)
{
	int r = prepare(c, u, w, e);

	return r < 0 ? r : transfer(c, e);
}

/* --- answers that are kept whole --- */

static int keep(void *context, const char *bytes, size_t len, struct error *e)
{
	struct answer *a = context;
	size_t room = a->room ? a->room : 16384;
	char *grown;

	if (len > CLIENT_ANSWER_MAX - a->len)
		return error_set(e, E2BIG, "cannot read the answer: it has more than %u bytes",
				 CLIENT_ANSWER_MAX);
	while (room < a->len + len)
		room *= 2;
	if (room != a->room) {
		grown = realloc(a->bytes, room);
		if (!grown)
			return error_set(e, ENOMEM, "cannot read the answer: out of memory");
		a->bytes = grown;
		a->room = room;
	}
	memcpy(a->bytes + a->len, bytes, len);
	a->len += len;
	return 0;
}

static int parse_answer(struct client *c, const struct answer *a, json_t **ret, struct error *e)
{
	json_error_t why;
	json_t *o = json_loadb(a->bytes ? a->bytes : "", a->len, 0, &why);

	if (!o)
		return error_set(e, EBADMSG,
				 "cannot read the answer of %s: %.100s; is it a kiseki collector?",
				 c->server, why.text);
	*ret = o;
	return 0;
}

static int ask(struct client *c, const struct url *u, const char *body, json_t **ret,
	       struct error *e)
{
	struct answer a = { 0 };
	struct client_watch w = { .context = &a, .take = keep };
	struct curl_slist *headers = NULL;
	int r = prepare(c, u, &w, e);

	if (r < 0)
		return r;
	curl_easy_setopt(c->easy, CURLOPT_TIMEOUT, ANSWER_S);
	curl_easy_setopt(c->easy, CURLOPT_ACCEPT_ENCODING, "");
	if (body) {
		headers = curl_slist_append(NULL, "Content-Type: application/json");
		curl_easy_setopt(c->easy, CURLOPT_HTTPHEADER, headers);
		curl_easy_setopt(c->easy, CURLOPT_POSTFIELDS, body);
		curl_easy_setopt(c->easy, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
	}
	r = transfer(c, e);
	curl_slist_free_all(headers);
	if (r == 0)
		r = parse_answer(c, &a, ret, e);
	free(a.bytes);
	return r;
}

int client_get_json(struct client *c, const struct url *u, json_t **ret, struct error *e)
{
	return ask(c, u, NULL, ret, e);
}

int client_post_json(struct client *c, const struct url *u, const json_t *body, json_t **ret,
		     struct error *e)
{
	_cleanup_free_ char *text = json_dumps(body, JSON_COMPACT);

	if (!json_whole_is() || !text)
		return error_set(e, ENOMEM, "cannot ask %s: out of memory", c->server);
	return ask(c, u, text, ret, e);
}
