/* SPDX-License-Identifier: MIT */
/* http_devices: GET /devices, GET /devices/{device}. */
#include "collector/http_device.h"

int http_devices(struct http_request *q, struct http_reply *reply, struct error *e)
{
	_cleanup_free_ struct registry_row *rows = NULL;
	json_t *list = json_array();
	size_t n = 0, i;
	int r = http_device_list(q->http, &rows, &n, e);

	if (r < 0) {
		json_decref(list);
		return r;
	}
	for (i = 0; i < n; i++)
		json_array_append_new(list, http_device_json(&rows[i]));
	return http_reply_json(reply, json_pack("{so}", "devices", list), JSON_INDENT(2), e);
}

int http_device(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct registry_row row;
	int r = http_device_find(q->http, q->captured[0], &row, e);

	return r < 0 ? r : http_reply_json(reply, http_device_json(&row), JSON_INDENT(2), e);
}
