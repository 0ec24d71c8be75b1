/* SPDX-License-Identifier: MIT */
/*
 * config_json: see config_json.h.
 *
 * A value is turned into the text that the option would have, so that one parser decides what is
 * right: lists are joined with commas, and commas and blanks inside a member get their backslash.
 */
#include "collector/config_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command/config_args.h"
#include "command/pace_value.h"

/* The longest list there can be: names and paths whose every byte wants a backslash. */
#define TEXT_ROOM (2 * (CONFIG_CGROUPS_MAX * CONFIG_CGROUP_LEN + CONFIG_COMMS_MAX * 17) + 1)

struct text {
	char bytes[TEXT_ROOM];
	size_t len;
	bool full;
};

static void push_char(struct text *t, char c)
{
	if (t->len + 1 >= sizeof(t->bytes)) {
		t->full = true;
		return;
	}
	t->bytes[t->len++] = c;
	t->bytes[t->len] = 0;
}

static void push_text(struct text *t, const char *s, bool escape)
{
	for (; *s; s++) {
		if (escape && strchr(", \\", *s))
			push_char(t, '\\');
		push_char(t, *s);
	}
}

/* A text or a whole number. */
static bool push_scalar(struct text *t, const json_t *v, bool escape)
{
	char number[32];

	if (json_is_integer(v)) {
		snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(v));
		push_text(t, number, false);
		return true;
	}
	if (!json_is_string(v) || strlen(json_string_value(v)) != json_string_length(v))
		return false;
	push_text(t, json_string_value(v), escape);
	return true;
}

static bool push_value(struct text *t, const json_t *v)
{
	size_t i;

	if (!json_is_array(v))
		return push_scalar(t, v, false);
	for (i = 0; i < json_array_size(v); i++) {
		const json_t *member = json_array_get(v, i);

		if (i)
			push_char(t, ',');
		if (!push_scalar(t, member, true) ||
		    (json_is_string(member) && !json_string_length(member)))
			return false;
	}
	return true;
}

static bool is_list(const char *key)
{
	return !strcmp(key, "events") || !strcmp(key, "pid") || !strcmp(key, "comm") ||
	       !strcmp(key, "cgroup");
}

static int take_key(struct message_config *c, const char *key, const json_t *v, struct error *e)
{
	struct message_config unused = { 0 };
	struct text t = { .len = 0 };
	int r;

	/* A name that nobody has is wrong whatever its value is. */
	if (config_option_parse(&unused, key, "", e) == -ENOENT)
		return -EINVAL;
	if ((json_is_array(v) && !is_list(key)) || !push_value(&t, v))
		return error_set(e, EINVAL, "cannot use %.40s: it is not %s", key,
				 is_list(key) ? "a list of texts or whole numbers"
					      : "a text or a whole number");
	if (t.full)
		return error_set(e, EINVAL, "cannot use %.40s: it is too long", key);
	r = config_option_parse(c, key, t.bytes, e);
	return r == -ENOENT ? -EINVAL : r;
}

int config_json_parse(struct message_config *ret, const json_t *object, struct error *e)
{
	struct message_config c = { 0 };
	json_t *o = json_incref((json_t *)object), *v;
	const char *key;
	int r = 0;

	if (!json_is_object(o))
		r = error_set(e, EINVAL, "cannot use the configuration: it is not a JSON object");
	json_object_foreach(o, key, v)
	{
		r = take_key(&c, key, v, e);
		if (r < 0)
			break;
	}
	json_decref(o);
	if (r == 0)
		*ret = c;
	return r;
}

/* --- the way back --- */

static json_t *events_json(uint32_t events)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < SCHED_KINDS; i++)
		if (events & (1U << i))
			json_array_append_new(list, json_string(config_event_word(i)));
	return list;
}

static json_t *pids_json(const struct message_config *c)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < c->n_pids; i++)
		json_array_append_new(list, json_integer(c->pids[i]));
	return list;
}

/* Bytes that are no UTF-8 cannot stand in JSON; each becomes '?', as in our
 * messages. */
static json_t *text_json(const char *bytes, size_t len)
{
	json_t *text = json_stringn(bytes, len);
	char copy[CONFIG_CGROUP_LEN];
	size_t i;

	if (text || len > sizeof(copy))
		return text;
	for (i = 0; i < len; i++)
		copy[i] = bytes[i] & (char)0x80 ? '?' : bytes[i];
	return json_stringn(copy, len);
}

static json_t *comms_json(const struct message_config *c)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < c->n_comms; i++)
		json_array_append_new(list,
				      text_json(c->comms[i], strnlen(c->comms[i], SCHED_COMM_LEN)));
	return list;
}

static json_t *cgroups_json(const struct message_config *c)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < c->n_cgroups; i++)
		json_array_append_new(list, text_json(c->cgroups[i],
						      strnlen(c->cgroups[i], CONFIG_CGROUP_LEN)));
	return list;
}

static json_t *word_json(const char *word)
{
	return word ? json_string(word) : json_null();
}

/* A rate is a number, all else a text. */
static json_t *pace_json(const struct message_config *c, uint32_t field)
{
	const struct config_pace *p = &c->paces[(field - CONFIG_PACE) / CONFIG_PACE_PARTS];
	uint32_t part = (field - CONFIG_PACE) % CONFIG_PACE_PARTS;
	char text[PACE_VALUE_LEN];

	return part == PACE_RATE ? json_integer(p->rate_hz)
				 : json_string(pace_value_format(p, part, text));
}

static json_t *field_json(const struct message_config *c, uint32_t field)
{
	if (field >= CONFIG_PACE)
		return pace_json(c, field);
	switch (field) {
	case CONFIG_ORIGIN:
		return word_json(config_origin_word(c->origin));
	case CONFIG_EVENTS:
		return events_json(c->events);
	case CONFIG_BLOCK_BYTES:
		return json_integer(c->block_bytes);
	case CONFIG_FLUSH:
		return json_integer(c->flush_ms);
	case CONFIG_RING:
		return json_integer(c->ring_kib);
	case CONFIG_RESOLUTION:
		return json_integer(c->resolution_ns);
	case CONFIG_POLICY:
		return word_json(config_policy_word(c->policy));
	case CONFIG_CODEC:
		return word_json(config_codec_word(c->codec));
	case CONFIG_FUNC:
		return word_json(config_func_word(c->func));
	case CONFIG_PIDS:
		return pids_json(c);
	case CONFIG_COMMS:
		return comms_json(c);
	default:
		return cgroups_json(c);
	}
}

json_t *config_json_format(const struct message_config *c)
{
	json_t *object = json_object();
	uint32_t field;

	for (field = CONFIG_ORIGIN; object && field < CONFIG_FIELDS; field++) {
		if (!(c->given & (1U << field)))
			continue;
		if (json_object_set_new(object, config_option_name(field), field_json(c, field))) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}
