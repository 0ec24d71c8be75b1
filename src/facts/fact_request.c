/* SPDX-License-Identifier: MIT */
/* fact_request: see fact_request.h. */
#include "facts/fact_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "base/when.h"
#include "store/array.h"

#define NS_OF_S 1000000000ULL
#define LAST_DEFAULT_S FACT_HOUR_S

const char *const fact_kind_words[FACT_KINDS + 1] = { "profile", "vm", "sched", "cycles", NULL };
const char *const fact_value_words[FACT_VALUES + 1] = { "samples", "time", NULL };

static const char *get(const struct fact_request *r, const char *name)
{
	return r->get(r->params, name);
}

int fact_request_word(const struct fact_request *r, const char *name, const char *const *words,
		      uint8_t *ret, struct error *e)
{
	const char *text = get(r, name);
	uint8_t i;

	if (!text)
		return 0;
	for (i = 0; words[i]; i++)
		if (!strcmp(words[i], text)) {
			*ret = i;
			return 0;
		}
	return error_set(e, EINVAL, "cannot take %s=%s: it is not known", name, text);
}

int fact_request_count(const struct fact_request *r, const char *name, uint64_t most, uint64_t *ret,
		       struct error *e)
{
	const char *text = get(r, name);
	unsigned long long value;
	char *end;

	if (!text)
		return 0;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value > most)
		return error_set(e, EINVAL, "cannot take %s=%s: it is no number up to %llu", name,
				 text, (unsigned long long)most);
	*ret = value;
	return 0;
}

int fact_request_order(const struct fact_request *r, struct facts_order *ret, struct error *e)
{
	static const char *const sorts[] = { "self", "total", NULL };
	uint64_t limit = FACT_REQUEST_LIMIT;
	uint8_t total = 0;
	int code;

	*ret = (struct facts_order){ .by = FACTS_BY_FUNCTION, .value = 1 };
	code = fact_request_word(r, "by", facts_by_words, &ret->by, e);
	if (code == 0)
		code = fact_request_word(r, "value", fact_value_words, &ret->value, e);
	if (code == 0)
		code = fact_request_word(r, "sort", sorts, &total, e);
	if (code == 0)
		code = fact_request_count(r, "limit", FACT_REQUEST_LIMIT_MAX, &limit, e);
	ret->total = total == 1;
	ret->most = (size_t)limit;
	return code;
}

/* --- devices --- */

void fact_range_done(struct fact_range *r)
{
	free(r->devices);
	r->devices = NULL;
}

int fact_request_find_id(void *finder, const char *name, struct message_id *ret, struct error *e)
{
	size_t i;
	int high, low;

	(void)finder;
	for (i = 0; i < sizeof(ret->bytes); i++) {
		high = hex_digit(name[2 * i]);
		low = high < 0 ? -1 : hex_digit(name[2 * i + 1]);
		if (low < 0)
			break;
		ret->bytes[i] = (uint8_t)(high << 4 | low);
	}
	if (i < sizeof(ret->bytes) || name[2 * i])
		return error_set(e, EINVAL, "'%s' is no label KEY=VALUE and no id of 32 digits",
				 name);
	return 0;
}

/* Names with commas between them. */
static int find_devices(const struct fact_request *r, const char *text, struct fact_range *ret,
			struct error *e)
{
	_cleanup_free_ char *copy = strdup(text);
	char *at = copy, *name;
	size_t room = 0;
	int code = copy ? 0 : error_set(e, ENOMEM, "cannot take devices: out of memory");

	while (code == 0 && (name = strsep(&at, ","))) {
		code = array_grow(&ret->devices, ret->q.n_devices, &room, sizeof(*ret->devices),
				  FACTS_DEVICES_MAX);
		if (code < 0)
			return error_set(e, -code, "cannot take devices: %s", strerror(-code));
		code = r->find(r->finder, name, &ret->devices[ret->q.n_devices], e);
		ret->q.n_devices += code == 0;
	}
	return code;
}

static int take_devices(const struct fact_request *r, struct facts *f, const char *text,
			struct fact_range *ret, struct error *e)
{
	int code;

	if (!text || !*text) {
		ret->q.all_devices = true;
		return 0;
	}
	code = strchr(text, '=') ? facts_devices(f, text, &ret->devices, &ret->q.n_devices, e)
				 : find_devices(r, text, ret, e);
	if (code < 0)
		return code;
	facts_sort_devices(ret->devices, ret->q.n_devices);
	ret->q.devices = ret->devices;
	return 0;
}

/* --- times --- */

static int get_moment(const struct fact_request *r, const char *name, uint64_t *ret_s,
		      struct error *e)
{
	const char *text = get(r, name);
	uint64_t ns;
	int code = text ? when_parse(text, r->now_ns, &ns, e) : 0;

	if (code < 0)
		return error_prefix(e, code, "cannot take %s", name);
	if (text)
		*ret_s = ns / NS_OF_S;
	return 0;
}

static int get_last(const struct fact_request *r, uint64_t *ret_s, struct error *e)
{
	const char *text = get(r, "last");
	uint64_t ns = 0;
	int code = text ? when_parse_length(text, &ns, e) : 0;

	if (code < 0)
		return error_prefix(e, code, "cannot take last");
	if (text && ns < FACT_MINUTE_S * NS_OF_S)
		return error_set(e, EINVAL, "cannot take last=%s: facts are of whole minutes",
				 text);
	*ret_s = text ? ns / NS_OF_S : LAST_DEFAULT_S;
	return 0;
}

static int take_range(struct facts_query *q, uint64_t from_s, uint64_t to_s, struct error *e)
{
	if (from_s >= to_s)
		return error_set(e, EINVAL, "cannot take the range: it ends before it begins");
	q->from_s = from_s / FACT_MINUTE_S * FACT_MINUTE_S;
	if (to_s - from_s >= FACT_REQUEST_LONG_S)
		q->from_s = from_s / FACT_HOUR_S * FACT_HOUR_S;
	q->to_s = to_s;
	return 0;
}

/* By the names of its parameters; what is not said is *from_s and *to_s, of which 0 is `last` before the other. */
static int get_range(const struct fact_request *r, const char *const names[2],
		     const struct facts_query *like, struct facts_query *q, struct error *e)
{
	uint64_t last_s = 0, to_s = like ? like->to_s : r->now_ns / NS_OF_S, from_s;
	bool has_from = get(r, names[0]) != NULL, has_to = get(r, names[1]) != NULL;
	int code = get_last(r, &last_s, e);

	if (code == 0)
		code = get_moment(r, names[1], &to_s, e);
	from_s = to_s > last_s ? to_s - last_s : 0;
	if (like && !has_from && !has_to)
		from_s = like->from_s;
	else if (like && !has_from) /* as long as the other */
		from_s = to_s > like->to_s - like->from_s ? to_s - (like->to_s - like->from_s) : 0;
	if (code == 0)
		code = get_moment(r, names[0], &from_s, e);
	if (code == 0 && like && has_from && !has_to)
		to_s = from_s + (like->to_s - like->from_s);
	return code < 0 ? code : take_range(q, from_s, to_s, e);
}

int fact_request_range(const struct fact_request *r, struct facts *f, struct fact_range *ret,
		       struct error *e)
{
	static const char *const names[] = { "from", "to" };
	int code;

	memset(ret, 0, sizeof(*ret));
	code = fact_request_word(r, "kind", fact_kind_words, &ret->q.kind, e);
	if (code == 0)
		code = get_range(r, names, NULL, &ret->q, e);
	if (code == 0)
		code = take_devices(r, f, get(r, "devices"), ret, e);
	if (code < 0)
		fact_range_done(ret);
	return code;
}

/* Around a moment; the devices are the same. */
static int split(const struct fact_request *r, struct fact_range ret[2], struct error *e)
{
	uint64_t at_s = 0, last_s = 0;
	int code = get_moment(r, "at", &at_s, e);

	if (code == 0)
		code = get_last(r, &last_s, e);
	if (code < 0)
		return code;
	at_s = at_s / FACT_MINUTE_S * FACT_MINUTE_S; /* no minute is on both sides */
	ret[0].q.from_s = at_s > last_s ? at_s - last_s : 0;
	ret[0].q.to_s = ret[1].q.from_s = at_s;
	ret[1].q.to_s = at_s + last_s;
	return 0;
}

int fact_request_sides(const struct fact_request *r, struct facts *f, struct fact_range ret[2],
		       struct error *e)
{
	static const char *const names[] = { "with_from", "with_to" };
	const char *at = get(r, "at"), *devices = get(r, "with_devices");
	bool has_with = get(r, names[0]) || get(r, names[1]);
	int code;

	memset(ret, 0, 2 * sizeof(*ret));
	if (!at && !devices && !has_with)
		return error_set(
			e, EINVAL,
			"cannot compare: at, with_from, with_to or with_devices say with what");
	if (at && (has_with || get(r, "from") || get(r, "to")))
		return error_set(e, EINVAL, "cannot take at beside from and to: it says both");
	code = fact_request_range(r, f, &ret[1], e);
	ret[0].q.kind = ret[1].q.kind;
	if (code == 0)
		code = take_devices(r, f, devices ? devices : get(r, "devices"), &ret[0], e);
	if (code == 0)
		code = at ? split(r, ret, e) : get_range(r, names, &ret[1].q, &ret[0].q, e);
	if (code < 0) {
		fact_range_done(&ret[0]);
		fact_range_done(&ret[1]);
	}
	return code;
}
