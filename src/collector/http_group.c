/* SPDX-License-Identifier: MIT */
/*
 * http_group: POST /devices/{device}/group: where people put a device, for those who look at many.
 *
 * It is text for people: UTF-8 without control characters, and short.
 */
#include <errno.h>
#include <string.h>

#include "collector/http_device.h"

/* jansson takes no text that is not UTF-8. */
static bool is_fit(const char *text, size_t len)
{
	size_t i;

	if (len >= FLEET_GROUP_MAX)
		return false;
	for (i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return false;
	return true;
}

static int parse_group(struct http_request *q, char out[FLEET_GROUP_MAX], struct error *e)
{
	json_error_t why;
	json_t *document =
		json_loadb(q->body ? q->body : "", q->body_len, JSON_REJECT_DUPLICATES, &why);
	const json_t *group = json_object_get(document, "group");
	size_t len = json_string_length(group);
	int r = 0;

	if (!document)
		r = error_set(e, EINVAL, "cannot read the group: %s, line %d", why.text, why.line);
	else if (json_object_size(document) != 1 || !(json_is_string(group) || json_is_null(group)))
		r = error_set(e, EINVAL,
			      "cannot read the group: the body is {\"group\": \"name\"} or "
			      "{\"group\": null}");
	else if (json_is_string(group) && !is_fit(json_string_value(group), len))
		r = error_set(e, EINVAL,
			      "cannot take the group: it has more than %u bytes, or control "
			      "characters",
			      FLEET_GROUP_MAX - 1);
	else
		snprintf(out, FLEET_GROUP_MAX, "%s",
			 json_is_string(group) ? json_string_value(group) : "");
	json_decref(document);
	return r;
}

int http_group(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct registry *registry = q->http->options.registry;
	char group[FLEET_GROUP_MAX];
	struct registry_row row;
	int r = parse_group(q, group, e);

	if (r >= 0 && !registry)
		r = error_set(e, EOPNOTSUPP, "this collector only reads; it keeps no groups");
	if (r >= 0)
		r = http_device_find(q->http, q->captured[0], &row, e);
	if (r >= 0)
		r = registry_set_group(registry, &row.device.id, group, e);
	if (r >= 0)
		r = http_device_find(q->http, q->captured[0], &row, e);
	return r < 0 ? r : http_reply_json(reply, http_device_json(&row), JSON_INDENT(2), e);
}
