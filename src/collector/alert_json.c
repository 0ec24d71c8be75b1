/* SPDX-License-Identifier: MIT */
/* alert_json: see alert_json.h. */
#include "collector/alert_json.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "analysis/json_value.h"
#include "base/hex.h"

#define BEFORE_S 600U		  /* before it began, and since: what the diff compares */
#define ENCODED (3U * ALERT_TEXT) /* a text in an address: each byte may become three */
#define LINK_ROOM (2U * ENCODED + 512U)

/* What the page's lists of facts call it. Of tasks there are no stacks: their minutes are shown. */
struct place {
	const char *kind, *by;
};
static const struct place places[ALERT_KINDS] = {
	[ALERT_PROCESS] = { "profile", "process" }, [ALERT_FUNCTION] = { "profile", "function" },
	[ALERT_STEAL] = { "vm", "machine" },	    [ALERT_VMM] = { "vm", "machine" },
	[ALERT_GUEST] = { "vm", "function" },
};

/* Names come from devices: all that could mean something in an address is written by its number. */
static const char *encode(const char *in, char text[ENCODED])
{
	char *out = text;

	for (; *in; in++)
		if (isalnum((unsigned char)*in) || *in == '_' || *in == '.' || *in == '-')
			*out++ = *in;
		else
			out += snprintf(out, 4, "%%%02X", (unsigned int)(unsigned char)*in);
	*out = '\0';
	return text;
}

/* Where the page shows what grew: the minutes since it began, against the ten before; of a task, what it did in them. */
static const char *format_link(const struct alert *a, const char *id, char *text, size_t room)
{
	uint64_t to_s = (a->until_s ? a->until_s : a->told_s) + FACT_MINUTE_S;
	char name[ENCODED], object[ENCODED];

	if (a->kind == ALERT_TASK || a->kind == ALERT_WAIT) {
		snprintf(text, room, "/#%s?device=%s&since=%" PRIu64 "&until=%" PRIu64 "&name=%s",
			 a->kind == ALERT_TASK ? "timeline" : "latency", id, a->since_s, to_s,
			 encode(a->name, name));
		return text;
	}
	snprintf(text, room,
		 "/#fleet?tab=graph&kind=%s&devices=%s&since=%" PRIu64 "&until=%" PRIu64
		 "&base=time&basesince=%" PRIu64 "&baseuntil=%" PRIu64 "&by=%s&name=%s&object=%s",
		 places[a->kind].kind, id, a->since_s, to_s, a->since_s - BEFORE_S, a->since_s,
		 places[a->kind].by, encode(a->name, name),
		 a->kind == ALERT_FUNCTION || a->kind == ALERT_GUEST ? encode(a->object, object)
								     : "");
	return text;
}

json_t *alert_json(const struct alert *a, const char *device)
{
	char id[2 * sizeof(a->device.bytes) + 1], text[1024], link[LINK_ROOM];

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
