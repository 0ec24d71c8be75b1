/* SPDX-License-Identifier: MIT */
/* clickhouse_link: see clickhouse_link.h. */
#include "store/clickhouse/clickhouse_link.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/secrecy.h"

#define CONNECT_MS 3000L
#define SILENT_S 20L /* nothing came or went for so long */
#define IDLE_MAX 32U /* connections that are kept */
#define URL_MAX 2048U
#define FAILURE_MAX 2048U
#define LEFT_MAX (64U << 20) /* bytes of a row that is not whole yet */
#define PASSWORD_MAX 256U

struct clickhouse_link {
	struct clickhouse_url url;
	char password[PASSWORD_MAX];
	atomic_uint server;			    /* that answered last */
	atomic_bool is_old[CLICKHOUSE_SERVERS_MAX]; /* it has no async_insert to be switched off */
	pthread_mutex_t lock;
	CURL *idle[IDLE_MAX];
	size_t n_idle;
};

/* One request. */
struct transfer {
	CURL *easy;
	curl_mime *parts;		  /* NULL: the body is all */
	const struct clickhouse_ask *ask; /* NULL: an answer is not looked at */
	uint8_t *left;
	size_t left_len, left_room;
	long status;
	int error; /* of who takes the rows */
	char failure[FAILURE_MAX + 1];
	size_t failure_len;
};

struct request {
	const char *url;
	const uint8_t *body;
	size_t body_len;
	const struct clickhouse_ask *ask;
	const struct clickhouse_list *list; /* then the body is one part, and this another */
	uint32_t server;
	bool inserts;
};

/* --- failures --- */

#define NO_GRANT 497 /* the user may not do that */

/* The number behind "Code:" that every exception of the server begins with; 0: it is none. */
static int get_code(const char *text)
{
	return strncmp(text, "Code: ", 6) ? 0 : atoi(text + 6);
}

static int errno_of_code(int code, const char *text)
{
	switch (code) {
	case 192: /* no such user */
	case 193: /* wrong password */
	case 194: /* a password is needed */
	case 516: /* authentication failed */
	case NO_GRANT:
		return EACCES;
	case 115: /* unknown setting */
		return strstr(text, "async_insert") ? ENOTSUP : EIO;
	case 60: /* no such table */
	case 81: /* no such database */
		return ENOENT;
	case 243: /* not enough space */
		return ENOSPC;
	case 159: /* too long */
	case 209: /* the network was too slow */
		return ETIMEDOUT;
	default:
		return strstr(text, "No space left on device") || strstr(text, "errno: 28") ? ENOSPC
											    : EIO;
	}
}

static char *last_of(char *text, const char *part)
{
	char *found = NULL, *at = text;

	while ((at = strstr(at, part)))
		found = at++;
	return found;
}

/* What is between the exception's name and what it says of itself. */
static void shorten(char *text)
{
	static const char name[] = "Exception: ";
	char *from = strstr(text, name), *to;

	if (from)
		memmove(text, from + strlen(name), strlen(from + strlen(name)) + 1);
	to = strstr(text,
		    ", e.what()"); /* of releases before 20.9; later ones say which they are */
	if (!to)
		to = last_of(text, " (version ");
	if (to)
		*to = 0;
	text[strcspn(text, "\n")] = 0;
	if (strlen(text) > 250)
		strcpy(text + 247, "...");
}

static int say(const struct clickhouse_link *l, const struct request *q, int code, const char *why,
	       struct error *e)
{
	const struct clickhouse_server *s = &l->url.servers[q->server];

	return error_set(e, code, "ClickHouse at %s:%u: %s", s->host, s->port, why);
}

static int judge_status(const struct clickhouse_link *l, const struct request *q,
			struct transfer *t, struct error *e)
{
	int code;

	t->failure[t->failure_len] = 0;
	if (t->status == 200)
		return 0;
	code = errno_of_code(get_code(t->failure), t->failure);
	if (code == EACCES && get_code(t->failure) != NO_GRANT)
		return say(l, q, code, "it does not take this user and password", e);
	if (code == ENOSPC)
		return say(l, q, code, "its disk is full", e);
	shorten(t->failure);
	return say(l, q, code, *t->failure ? t->failure : "it answers, but not as ClickHouse does",
		   e);
}

static int judge_curl(const struct clickhouse_link *l, const struct request *q, CURLcode code,
		      struct error *e)
{
	switch (code) {
	case CURLE_OPERATION_TIMEDOUT:
		return say(l, q, ETIMEDOUT, "no answer in time", e);
	case CURLE_OUT_OF_MEMORY:
		return say(l, q, ENOMEM, "out of memory", e);
	default:
		return say(l, q, ECONNREFUSED, curl_easy_strerror(code), e);
	}
}

/* --- transfers --- */

static int keep_left(struct transfer *t, const uint8_t *bytes, size_t n)
{
	uint8_t *grown;

	if (n > LEFT_MAX - t->left_len)
		return -E2BIG;
	if (t->left_len + n > t->left_room) {
		grown = realloc(t->left, (t->left_len + n) * 2);
		if (!grown)
			return -ENOMEM;
		t->left = grown;
		t->left_room = (t->left_len + n) * 2;
	}
	memcpy(t->left + t->left_len, bytes, n);
	t->left_len += n;
	return 0;
}

static size_t take_bytes(char *bytes, size_t size, size_t n, void *context)
{
	struct transfer *t = context;
	size_t len = size * n, room = FAILURE_MAX - t->failure_len;
	ssize_t taken;

	if (!t->status)
		curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &t->status);
	if (t->status != 200) {
		memcpy(t->failure + t->failure_len, bytes, len < room ? len : room);
		t->failure_len += len < room ? len : room;
		return len;
	}
	if (!t->ask)
		return len;
	t->error = keep_left(t, (const uint8_t *)bytes, len);
	if (t->error < 0)
		return 0;
	taken = t->ask->take(t->ask->context, t->left, t->left_len);
	if (taken < 0 || (size_t)taken > t->left_len) {
		t->error = taken < 0 ? (int)taken : -EBADMSG;
		return 0;
	}
	t->left_len -= (size_t)taken;
	if (t->left_len)
		memmove(t->left, t->left + taken, t->left_len);
	return len;
}

static CURL *take_handle(struct clickhouse_link *l)
{
	CURL *easy = NULL;

	pthread_mutex_lock(&l->lock);
	if (l->n_idle)
		easy = l->idle[--l->n_idle];
	pthread_mutex_unlock(&l->lock);
	return easy ? easy : curl_easy_init();
}

static void give_handle(struct clickhouse_link *l, CURL *easy)
{
	bool kept;

	curl_easy_reset(easy); /* the connection stays */
	pthread_mutex_lock(&l->lock);
	kept = l->n_idle < IDLE_MAX;
	if (kept)
		l->idle[l->n_idle++] = easy;
	pthread_mutex_unlock(&l->lock);
	if (!kept)
		curl_easy_cleanup(easy);
}

static void set_up(const struct clickhouse_link *l, const struct request *q, struct transfer *t,
		   const struct curl_slist *headers)
{
	CURL *c = t->easy;

	curl_easy_setopt(c, CURLOPT_URL, q->url);
	if (!t->parts) {
		curl_easy_setopt(c, CURLOPT_POST, 1L);
		curl_easy_setopt(c, CURLOPT_POSTFIELDS, (const char *)q->body);
		curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body_len);
	} else {
		curl_easy_setopt(c, CURLOPT_MIMEPOST, t->parts);
	}
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_bytes);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, SILENT_S);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_PROXY, "");
	if (*l->url.user) {
		curl_easy_setopt(c, CURLOPT_USERNAME, l->url.user);
		curl_easy_setopt(c, CURLOPT_PASSWORD, l->password);
	}
}

static curl_mimepart *add_part(curl_mime *parts, const char *name, const uint8_t *bytes, size_t len)
{
	curl_mimepart *p = parts ? curl_mime_addpart(parts) : NULL;

	return p && curl_mime_name(p, name) == CURLE_OK &&
			       curl_mime_data(p, len ? (const char *)bytes : "", len) == CURLE_OK
		       ? p
		       : NULL;
}

/* The question, and the list as a file of its own, which is how the server tells one from the other. */
static int make_parts(struct transfer *t, const struct request *q)
{
	curl_mimepart *file;

	if (!q->list)
		return 0;
	t->parts = curl_mime_init(t->easy);
	if (!add_part(t->parts, "query", q->body, q->body_len))
		return -ENOMEM;
	file = add_part(t->parts, "listed", q->list->rows, q->list->len);
	return file && curl_mime_filename(file, "listed") == CURLE_OK ? 0 : -ENOMEM;
}

static int perform(struct clickhouse_link *l, const struct request *q, struct error *e)
{
	struct transfer t = { .easy = take_handle(l), .ask = q->ask };
	/* Or libcurl asks for leave before it sends a body, which costs a round trip. */
	struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
	CURLcode code;
	int r;

	if (!t.easy || !headers || make_parts(&t, q) < 0) {
		curl_mime_free(t.parts);
		curl_easy_cleanup(t.easy);
		curl_slist_free_all(headers);
		return say(l, q, ENOMEM, "out of memory", e);
	}
	set_up(l, q, &t, headers);
	code = curl_easy_perform(t.easy);
	if (!t.status)
		curl_easy_getinfo(t.easy, CURLINFO_RESPONSE_CODE, &t.status);
	if (t.error < 0)
		r = say(l, q, -t.error, "its answer is not what was asked for", e);
	else if (code != CURLE_OK)
		r = judge_curl(l, q, code, e);
	else if (t.status == 200 && t.left_len)
		r = say(l, q, EBADMSG, "its answer ends inside a row", e);
	else
		r = judge_status(l, q, &t, e);
	curl_mime_free(t.parts);
	give_handle(l, t.easy);
	curl_slist_free_all(headers);
	free(t.left);
	return r;
}

/* --- opening --- */

static int read_password(struct clickhouse_link *l, struct error *e)
{
	const char *value = getenv("KISEKI_CLICKHOUSE_PASSWORD");
	FILE *f;

	if (*l->url.password_file || value)
		secrecy_enter();
	if (!*l->url.password_file) {
		snprintf(l->password, sizeof(l->password), "%s", value ? value : "");
		return 0;
	}
	f = fopen(l->url.password_file, "re");
	if (!f || !fgets(l->password, sizeof(l->password), f)) {
		if (f)
			fclose(f);
		return error_set(e, f ? EINVAL : errno, "cannot read the password in %s: %s",
				 l->url.password_file, f ? "it is empty" : strerror(errno));
	}
	fclose(f);
	l->password[strcspn(l->password, "\r\n")] = 0;
	return 0;
}

int clickhouse_link_open(struct clickhouse_link **ret, const struct clickhouse_url *u,
			 struct error *e)
{
	CLEANUP(clickhouse_link) struct clickhouse_link *l = calloc(1, sizeof(*l));
	int r;

	if (!l || curl_global_init(CURL_GLOBAL_DEFAULT))
		return error_set(e, ENOMEM, "cannot use ClickHouse: out of memory");
	pthread_mutex_init(&l->lock, NULL);
	l->url = *u;
	r = read_password(l, e);
	if (r < 0)
		return r;
	*ret = take_ptr(l);
	return 0;
}

void clickhouse_link_free(struct clickhouse_link *l)
{
	if (!l)
		return;
	while (l->n_idle)
		curl_easy_cleanup(l->idle[--l->n_idle]);
	pthread_mutex_destroy(&l->lock);
	explicit_bzero(l->password, sizeof(l->password));
	free(l);
}

/* --- asking --- */

#define SETTINGS "wait_end_of_query=1&max_query_size=4194304"

#define DURABLE "&async_insert=0"

static void format_url(const struct clickhouse_link *l, uint32_t server, const char *more,
		       char out[URL_MAX])
{
	const struct clickhouse_server *s = &l->url.servers[server];

	snprintf(out, URL_MAX, "http://%s:%u/?" SETTINGS "%s", s->host, s->port, more);
}

static bool is_elsewhere(int r)
{
	return r == -ECONNREFUSED || r == -ETIMEDOUT;
}

/* An insert that is answered is in the table: releases from 26.2 on gather inserts in memory first, and answer
 * before they are written where the user's profile says so. Old releases do not know the setting and refuse it; a
 * server that comes back after it was away may be another release. */
static int perform_at(struct clickhouse_link *l, struct request *q, const char *more,
		      struct error *e)
{
	atomic_bool *is_old = &l->is_old[q->server];
	char url[URL_MAX + sizeof(DURABLE)];
	int r = -ENOTSUP;

	q->url = url;
	if (q->inserts && !atomic_load(is_old)) {
		format_url(l, q->server, more, url);
		strcat(url, DURABLE);
		r = perform(l, q, e);
		if (r == -ENOTSUP)
			atomic_store(is_old, true);
	}
	if (r == -ENOTSUP) {
		format_url(l, q->server, more, url);
		r = perform(l, q, e);
	}
	if (is_elsewhere(r))
		atomic_store(is_old, false);
	return r;
}

/* At the server that answered last, or at the next that does. */
static int perform_anywhere(struct clickhouse_link *l, struct request *q, const char *more,
			    struct error *e)
{
	uint32_t first = atomic_load(&l->server), i;
	int r = 0;

	for (i = 0; i < l->url.n_servers; i++) {
		q->server = (first + i) % l->url.n_servers;
		r = perform_at(l, q, more, e);
		if (!is_elsewhere(r))
			break;
	}
	if (r == 0 && q->server != first)
		atomic_store(&l->server, q->server);
	return r;
}

int clickhouse_link_ask(struct clickhouse_link *l, const struct clickhouse_ask *a, struct error *e)
{
	_cleanup_free_ char *sql = NULL;
	struct request q = { .ask = a, .list = a->list };
	char more[2 * CLICKHOUSE_NAME_MAX + 64];
	int len = asprintf(&sql, "%s FORMAT RowBinary", a->sql);

	if (len < 0) {
		sql = NULL;
		return error_set(e, ENOMEM, "cannot ask ClickHouse: out of memory");
	}
	q.body = (const uint8_t *)sql;
	q.body_len = (size_t)len;
	snprintf(more, sizeof(more), "&database=%s%s%s%s", l->url.database,
		 a->list ? "&listed_structure=key%20" : "", a->list ? a->list->type : "",
		 a->list ? "&listed_format=RowBinary" : "");
	return perform_anywhere(l, &q, more, e);
}

int clickhouse_link_insert(struct clickhouse_link *l, const char *into, const uint8_t *rows,
			   size_t len, struct error *e)
{
	struct request q = { .body = rows, .body_len = len, .inserts = true };
	char more[URL_MAX], sql[URL_MAX / 2], *escaped;
	int r;

	snprintf(sql, sizeof(sql), "INSERT INTO %s FORMAT RowBinary", into);
	escaped = curl_easy_escape(NULL, sql, 0);
	if (!escaped)
		return error_set(e, ENOMEM, "cannot ask ClickHouse: out of memory");
	snprintf(more, sizeof(more), "&insert_distributed_sync=1&database=%s&query=%s",
		 l->url.database, escaped);
	curl_free(escaped);
	r = perform_anywhere(l, &q, more, e);
	return r;
}

int clickhouse_link_tell(struct clickhouse_link *l, uint32_t server, const char *sql,
			 struct error *e)
{
	struct request q = { .body = (const uint8_t *)sql,
			     .body_len = strlen(sql),
			     .server = server };
	char url[URL_MAX];

	format_url(l, server, "&insert_distributed_sync=1", url);
	q.url = url;
	return perform(l, &q, e);
}
