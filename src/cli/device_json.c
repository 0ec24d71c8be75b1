/* SPDX-License-Identifier: MIT */
/* device_json: see device_json.h. */
#include "cli/device_json.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <strings.h>

#define ID_START_LEAST 6U
#define KEY_MAX 64U

const json_t *device_json_get(const json_t *object, const char *path)
{
	char key[KEY_MAX];
	size_t len;

	for (; object && *path; path += len + (path[len] == '.')) {
		len = strcspn(path, ".");
		if (len >= sizeof(key))
			return NULL;
		memcpy(key, path, len);
		key[len] = 0;
		object = json_object_get(object, key);
	}
	return object;
}

const char *device_json_text(const json_t *object, const char *path)
{
	const char *text = json_string_value(device_json_get(object, path));

	return text ? text : "";
}

uint64_t device_json_count(const json_t *object, const char *path)
{
	json_int_t v = json_integer_value(device_json_get(object, path));

	return v > 0 ? (uint64_t)v : 0;
}

uint64_t device_json_lost(const json_t *lost)
{
	uint64_t sum = 0;
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)lost, key, v) if (json_integer_value(v) > 0) sum +=
		(uint64_t)json_integer_value(v);
	return sum;
}

int device_json_list(struct client *c, json_t **ret, struct error *e)
{
	json_t *answer = NULL, *list;
	struct url u;
	int r;

	url_init(&u, "/api/v1/devices");
	r = client_get_json(c, &u, &answer, e);
	if (r < 0)
		return r;
	list = json_object_get(answer, "devices");
	if (!json_is_array(list))
		r = error_set(e, EBADMSG, "cannot read the answer of %s: it lists no devices",
			      client_server(c));
	else
		*ret = json_incref(list);
	json_decref(answer);
	return r;
}

bool device_json_match(const json_t *device, const char *pattern)
{
	const char *id = device_json_text(device, "id");
	size_t len = strlen(pattern);

	if (!fnmatch(pattern, device_json_text(device, "name"), 0))
		return true;
	return len >= ID_START_LEAST && !strncasecmp(id, pattern, len);
}

int device_json_only(const json_t *list, const char **ret_id, struct error *e)
{
	size_t n = json_array_size(list), tracing = 0, i;
	const char *id = NULL;

	for (i = 0; i < n; i++) {
		const json_t *d = json_array_get(list, i);

		if (n == 1 || !strcmp(device_json_text(d, "state"), "tracing")) {
			id = device_json_text(d, "id");
			tracing++;
		}
	}
	if (!n)
		return error_set(e, ENOENT,
				 "cannot choose a device: none has come yet; start one with "
				 "`kiseki-agent --start`");
	if (tracing != 1)
		return error_set(e, ENOTUNIQ,
				 "cannot choose a device: %zu of %zu trace; name one (`kiseki "
				 "devices` lists them)",
				 tracing, n);
	*ret_id = id;
	return 0;
}
