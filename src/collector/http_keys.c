/* SPDX-License-Identifier: MIT */
/*
 * http_keys: devices let in and taken out by admins, as `kiseki keys enroll` and `kiseki keys revoke` do. The folder of
 * keys is opened for each request; the loop of the server notices what was changed like that of any other program.
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "collector/http_request.h"
#include "keys/keys.h"

static int open_keys(const struct http_request *q, struct keys **ret, struct error *e)
{
	if (!q->http->options.keys)
		return error_set(e, EOPNOTSUPP,
				 "this collector has no keys; `kiseki keys init` makes them");
	return keys_open(ret, q->http->options.keys, e);
}

/* {"device": "board-7"} */
static int take_device(const struct http_request *q, char ret[ROSTER_NAME_MAX], struct error *e)
{
	json_t *o = json_loadb(q->body ? q->body : "", q->body_len, JSON_REJECT_DUPLICATES, NULL);
	const char *name = json_string_value(json_object_get(o, "device"));
	bool is_name = name && roster_is_name(name);

	if (is_name)
		strcpy(ret, name);
	json_decref(o);
	return is_name ? 0
		       : error_set(e, EINVAL,
				   "{\"device\": NAME} is wanted, with up to 63 letters, digits, "
				   "'.', "
				   "'_' and '-'");
}

int http_enroll(struct http_request *q, struct http_reply *reply, struct error *e)
{
	char name[ROSTER_NAME_MAX], token[TOKEN_TEXT_LEN + 1], by[HTTP_PEER_MAX];
	struct keys_wish w = { .name = name,
			       .now_s = clock_real_ns() / CLOCK_NS_PER_S,
			       .wait_s = KEYS_TOKEN_S,
			       .valid_s = KEYS_VALID_S };
	CLEANUP(keys) struct keys *k = NULL;
	int r = open_keys(q, &k, e);

	if (r == 0)
		r = take_device(q, name, e);
	if (r == 0)
		r = keys_make_token(k, &w, token, e);
	if (r < 0)
		return r;
	http_log(q->http, "http: %s made a token for %s", http_request_asker(q, by), name);
	return http_reply_json(reply, json_pack("{s:s, s:s}", "device", name, "token", token),
			       JSON_INDENT(2), e);
}

int http_revoke(struct http_request *q, struct http_reply *reply, struct error *e)
{
	char name[ROSTER_NAME_MAX], by[HTTP_PEER_MAX];
	CLEANUP(keys) struct keys *k = NULL;
	int r = open_keys(q, &k, e);

	if (r == 0)
		r = take_device(q, name, e);
	if (r == 0)
		r = keys_revoke(k, name, clock_real_ns() / CLOCK_NS_PER_S, e);
	if (r == 0)
		return error_set(e, ENOENT, "%s has no certificate and no token", name);
	if (r < 0)
		return r;
	http_log(q->http, "http: %s revoked %s", http_request_asker(q, by), name);
	return http_reply_json(reply, json_pack("{s:s, s:i}", "device", name, "revoked", r),
			       JSON_INDENT(2), e);
}
