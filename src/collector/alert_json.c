/* SPDX-License-Identifier: MIT */
/* alert_json: see alert_json.h. */
#include "collector/alert_json.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/json_value.h"
#include "base/hex.h"

#define BEFORE_S 600U /* before it began, and since: what the diff compares */

/* Where the page shows what grew: ten minutes before it began against those since. */
static const char *format_link(const struct alert *a, const char *id, char *text, size_t room)
{
	uint64_t to_s = (a->until_s ? a->until_s : a->told_s) + FACT_MINUTE_S;

	snprintf(text, room,
		 "/#fleet?devices=%s&from=%" PRIu64 "&to=%" PRIu64 "&with_from=%" PRIu64
		 "&with_to=%" PRIu64,
		 id, a->since_s - BEFORE_S, a->since_s, a->since_s, to_s);
	return text;
}

json_t *alert_json(const struct alert *a, const char *device)
{
	char id[2 * sizeof(a->device.bytes) + 1], text[1024], link[256];

	hex_format(a->device.bytes, sizeof(a->device.bytes), id);
	return json_pack("{so so ss ss so so so so? ss? so so so? ss? sf sf sf so ss}", "number",
			 json_value_count(a->number), "device", json_value_text(device), "id", id,
			 "kind", alert_kind_words[a->kind], "scope", json_value_text(a->scope),
			 "name", json_value_text(a->name), "object", json_value_text(a->object),
			 "cause", a->cause[0] ? json_value_text(a->cause) : NULL, "build",
			 a->build[0] ? a->build : NULL, "since_s", json_value_count(a->since_s),
			 "told_s", json_value_count(a->told_s), "until_s",
			 a->until_s ? json_value_count(a->until_s) : NULL, "end",
			 a->until_s ? alert_end_words[a->end] : NULL, "usual", a->usual, "value",
			 a->value, "peak", a->peak, "text",
			 json_value_text(alert_format(a, text, sizeof(text))), "link",
			 format_link(a, id, link, sizeof(link)));
}
