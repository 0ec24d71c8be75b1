/* SPDX-License-Identifier: MIT */
/*
 * http_login: logging in and out with a browser, and who one is. The cookie goes to this host alone, over TLS alone, to
 * no script and with no request of another site's page; it has no time of its own, so it ends with the browser, too.
 */
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "collector/http_access.h"
#include "keys/roster.h"

#define COOKIE_RULES "Path=/; Secure; HttpOnly; SameSite=Strict"

static json_t *who_json(const char *name, enum people_role role, const char *proof)
{
	return json_pack("{s:b, s:s, s:s, s:s*}", "needs_login", 1, "user", name, "role",
			 people_role_name(role), "csrf", proof);
}

int http_me(struct http_request *q, struct http_reply *reply, struct error *e)
{
	const struct http_who *w = &q->who->state;
	json_t *o;

	if (!q->http->access)
		o = json_pack("{s:b, s:n, s:s}", "needs_login", 0, "user", "role",
			      people_role_name(ROLE_ADMIN));
	else if (w->kind == WHO_STRANGER)
		o = json_pack("{s:b, s:n, s:s}", "needs_login", 1, "user", "role",
			      people_role_name(ROLE_NOBODY));
	else
		o = who_json(w->name, w->role, w->kind == WHO_LOGIN ? w->proof : NULL);
	return http_reply_json(reply, o, JSON_INDENT(2), e);
}

/* A try that failed is told to whoever runs the collector; a name that is none is not repeated. */
static void log_failure(const struct http_request *q, const struct http_access_try *t, int r)
{
	if (r == -EACCES || r == -EAGAIN)
		http_log(q->http, "http: a login as %s from %s failed%s",
			 roster_is_name(t->user) ? t->user : "somebody", t->address,
			 r == -EAGAIN ? ": too many tries" : "");
}

static int reply_login(struct http_request *q, struct http_reply *reply,
		       const struct http_access_try *t, struct error *e)
{
	struct logins *all = http_access_logins(q->http->access);
	struct login l;

	if (q->who->state.kind == WHO_LOGIN)
		logins_remove(all, q->who->state.hash); /* who he was in this browser before */
	if (!logins_use(all, t->id, clock_mono_ms(), &l))
		return error_set(e, EAGAIN, "the login has ended already: try again");
	snprintf(reply->cookie, sizeof(reply->cookie), HTTP_COOKIE "=%s; " COOKIE_RULES, t->id);
	http_log(q->http, "http: %s logged in from %s", l.user, t->address);
	return http_reply_json(reply, who_json(l.user, t->found.role, l.proof), JSON_INDENT(2), e);
}

static int try_login(struct http_request *q, struct http_reply *reply, struct http_access_try *t,
		     struct error *e)
{
	int r = http_access_login(q->http->access, t, e);

	log_failure(q, t, r);
	if (r == -EACCES)
		reply->status = MHD_HTTP_UNAUTHORIZED;
	if (r == -EAGAIN)
		reply->status = MHD_HTTP_TOO_MANY_REQUESTS;
	reply->retry_s = t->retry_s;
	return r < 0 ? r : reply_login(q, reply, t, e);
}

int http_login(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct http_access_try t = { 0 };
	char address[HTTP_PEER_MAX];
	const char *password = NULL;
	json_t *o;
	int r = http_access_need(q, e);

	if (r < 0)
		return r;
	o = json_loadb(q->body ? q->body : "", q->body_len, JSON_REJECT_DUPLICATES, NULL);
	t.user = json_string_value(json_object_get(o, "user"));
	t.password = password = json_string_value(json_object_get(o, "password"));
	t.address = http_request_peer(q, address);
	if (t.user && t.password)
		r = try_login(q, reply, &t, e);
	else
		r = error_set(e, EINVAL, "cannot log in: {\"user\": …, \"password\": …} is wanted");
	if (password)
		explicit_bzero((char *)password, strlen(password));
	json_decref(o);
	explicit_bzero(&t, sizeof(t));
	return r;
}

int http_logout(struct http_request *q, struct http_reply *reply, struct error *e)
{
	int r = http_access_need(q, e);

	if (r < 0)
		return r;
	if (q->who->state.kind != WHO_LOGIN)
		return error_set(e, EINVAL, "a token does not log out; `kiseki keys token revoke`");
	logins_remove(http_access_logins(q->http->access), q->who->state.hash);
	snprintf(reply->cookie, sizeof(reply->cookie), HTTP_COOKIE "=; Max-Age=0; " COOKIE_RULES);
	return http_reply_json(reply, json_pack("{s:b}", "ok", 1), JSON_INDENT(2), e);
}
