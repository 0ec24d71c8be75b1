/* SPDX-License-Identifier: MIT */
/* http_users: who may ask, for admins; and the end of somebody's logins. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/when.h"
#include "collector/http_access.h"

static json_t *when_json(uint64_t s)
{
	char text[WHEN_MAX];

	return s ? json_string(when_format(s * CLOCK_NS_PER_S, text)) : json_null();
}

static json_t *users_json(struct logins *l, const struct people_user *list, size_t n)
{
	json_t *all = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(
			all,
			json_pack("{s:s, s:s, s:o, s:o, s:i}", "name", list[i].name, "role",
				  people_role_name(list[i].role), "made", when_json(list[i].made_s),
				  "changed", when_json(list[i].changed_s), "logins",
				  (int)logins_count_user(l, list[i].name, clock_mono_ms())));
	return all;
}

static json_t *tokens_json(const struct people_token *list, size_t n)
{
	json_t *all = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(all, json_pack("{s:s, s:s, s:o, s:o}", "name", list[i].name,
						     "role", people_role_name(list[i].role), "made",
						     when_json(list[i].made_s), "until",
						     when_json(list[i].until_s)));
	return all;
}

int http_users(struct http_request *q, struct http_reply *reply, struct error *e)
{
	_cleanup_free_ struct people_token *tokens = NULL;
	_cleanup_free_ struct people_user *users = NULL;
	size_t n_users = 0, n_tokens = 0;
	struct people *p;
	int r = http_access_need(q, e);

	if (r < 0)
		return r;
	p = http_access_lock(q->http->access);
	r = people_dup_users(p, &users, &n_users, e);
	if (r == 0)
		r = people_dup_tokens(p, &tokens, &n_tokens, e);
	http_access_unlock(q->http->access);
	if (r < 0)
		return r;
	return http_reply_json(reply,
			       json_pack("{s:o, s:o}", "users",
					 users_json(http_access_logins(q->http->access), users,
						    n_users),
					 "tokens", tokens_json(tokens, n_tokens)),
			       JSON_INDENT(2), e);
}

int http_user_logout(struct http_request *q, struct http_reply *reply, struct error *e)
{
	char by[HTTP_PEER_MAX];
	unsigned int n;
	int r = http_access_need(q, e);

	if (r < 0)
		return r;
	n = logins_remove_user(http_access_logins(q->http->access), q->captured[0]);
	if (!n)
		return error_set(e, ENOENT, "%.63s is not logged in", q->captured[0]);
	http_log(q->http, "http: %s ended the logins of %.63s", http_request_asker(q, by),
		 q->captured[0]);
	return http_reply_json(reply, json_pack("{s:i}", "ended", (int)n), JSON_INDENT(2), e);
}
