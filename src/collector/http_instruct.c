/* SPDX-License-Identifier: MIT */
/*
 * http_instruct: POST /devices/{device}/start, stop and configure.
 *
 * {device} is a device, several with commas between them, or patterns with * and ?. Each is told on
 * its own and has its own result, in the order of their names; a few threads tell many at once, since
 * each answer may take a round trip, or the whole timeout.
 */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "analysis/json_value.h"
#include "collector/config_json.h"
#include "collector/http_device.h"

#define TIMEOUT_DEFAULT_MS 5000U
#define TIMEOUT_MOST_MS 30000U
#define TELLERS_MAX 16U

struct order {
	struct registry *registry;
	struct message_instruction instruction;
	uint64_t timeout_ms;
	char from[HTTP_PEER_MAX];
	const char *client;
	struct target {
		struct store_device device;
		int code; /* 0, or a negative errno, with the result's text */
		struct registry_result result;
	} * targets;
	size_t n;
	atomic_size_t next;
};

/* --- who --- */

static bool is_pattern(const char *text)
{
	return strpbrk(text, "*?[");
}

static int push_target(struct order *o, const struct store_device *d, struct error *e)
{
	struct target *grown;
	size_t i;

	for (i = 0; i < o->n; i++)
		if (!memcmp(&o->targets[i].device.id, &d->id, sizeof(d->id)))
			return 0;
	grown = realloc(o->targets, (o->n + 1) * sizeof(*grown));
	if (!grown)
		return error_set(e, ENOMEM, "cannot tell the devices: out of memory");
	o->targets = grown;
	memset(&grown[o->n], 0, sizeof(*grown));
	grown[o->n++].device = *d;
	return 0;
}

static int push_matching(struct http *h, struct order *o, const char *pattern, struct error *e)
{
	_cleanup_free_ struct registry_row *rows = NULL;
	size_t n = 0, i, before = o->n;
	int r = http_device_list(h, &rows, &n, e);

	for (i = 0; r >= 0 && i < n; i++)
		if (!fnmatch(pattern, rows[i].device.name, 0))
			r = push_target(o, &rows[i].device, e);
	if (r >= 0 && o->n == before)
		return error_set(e, ENOENT, "no device's name matches %s", pattern);
	return r;
}

static int push_named(struct http *h, struct order *o, const char *name, struct error *e)
{
	struct registry_row row;
	int r = http_device_find(h, name, &row, e);

	return r < 0 ? r : push_target(o, &row.device, e);
}

static int choose_targets(struct http_request *q, struct order *o, struct error *e)
{
	_cleanup_free_ char *list = strdup(q->captured[0]);
	char *rest = list, *one;
	int r = 0;

	if (!list)
		return error_set(e, ENOMEM, "cannot tell the devices: out of memory");
	/* A name may have a comma or a star in it; then it is that one. */
	r = push_named(q->http, o, list, e);
	if (r != -ENOENT || !strpbrk(list, ",*?["))
		return r;
	for (r = 0; r >= 0 && (one = strsep(&rest, ","));) {
		if (!*one)
			continue;
		r = is_pattern(one) ? push_matching(q->http, o, one, e)
				    : push_named(q->http, o, one, e);
	}
	return r < 0 || o->n ? r : error_set(e, ENOENT, "no device is named");
}

/* --- what --- */

static int parse_config(struct http_request *q, struct order *o, struct error *e)
{
	json_error_t why;
	json_t *document;
	int r;

	if (!q->body_len)
		return 0;
	document = json_loadb(q->body, q->body_len, JSON_REJECT_DUPLICATES, &why);
	if (!document)
		return error_set(e, EINVAL, "cannot read the configuration: %s, line %d", why.text,
				 why.line);
	r = config_json_parse(&o->instruction.config, document, e);
	json_decref(document);
	return r;
}

/* --- telling --- */

static void *tell(void *context)
{
	struct order *o = context;
	size_t i;

	while ((i = atomic_fetch_add(&o->next, 1)) < o->n) {
		struct target *t = &o->targets[i];
		struct registry_request request = { t->device.id, o->instruction,
						    (unsigned int)o->timeout_ms, o->from,
						    o->client };
		struct error e = ERROR_INIT;

		t->code = registry_instruct(o->registry, &request, &t->result, &e);
		if (t->code < 0)
			memcpy(t->result.text, e.text, sizeof(t->result.text) - 1);
	}
	return NULL;
}

static void tell_all(struct order *o)
{
	pthread_t threads[TELLERS_MAX];
	size_t n = 0;

	while (n + 1 < o->n && n < TELLERS_MAX && !pthread_create(&threads[n], NULL, tell, o))
		n++;
	tell(o);
	while (n)
		pthread_join(threads[--n], NULL);
}

static int code_of(const struct target *t)
{
	return t->code < 0 ? -t->code : (int)t->result.code;
}

static json_t *result_json(const struct target *t)
{
	char id[ID_TEXT_LEN];

	return json_pack("{so ss sb sb si so}", "device", json_value_text(t->device.name), "id",
			 http_id_format(&t->device.id, id), "ok", !code_of(t), "deferred",
			 (int)(t->code >= 0 && t->result.deferred), "code", code_of(t), "text",
			 json_value_text(t->result.text));
}

/* Each result, and in front of them what one needs to know of all: the first failure, if there is
 * one, and whether any is still to come. */
static json_t *results_json(const struct order *o)
{
	const struct target *bad = NULL;
	json_t *list = json_array();
	bool deferred = false;
	size_t i;

	for (i = 0; i < o->n; i++) {
		const struct target *t = &o->targets[i];

		if (!bad && code_of(t))
			bad = t;
		deferred |= t->code >= 0 && t->result.deferred;
		json_array_append_new(list, result_json(t));
	}
	return json_pack("{sb sb si so so}", "ok", !bad, "deferred", (int)deferred, "code",
			 bad ? code_of(bad) : 0, "text",
			 json_value_text(bad ? bad->result.text : ""), "results", list);
}

static int instruct(struct http_request *q, struct http_reply *reply, enum instruction_verb verb,
		    struct error *e)
{
	struct order o = { .registry = q->http->options.registry,
			   .timeout_ms = TIMEOUT_DEFAULT_MS,
			   .instruction = { .verb = (uint8_t)verb } };
	int r = http_target_get_count(&q->target, "timeout_ms",
				      (struct http_bounds){ 1, TIMEOUT_MOST_MS }, &o.timeout_ms, e);

	if (r >= 0 && !o.registry)
		r = error_set(e, EOPNOTSUPP,
			      "this collector only reads; it can tell devices nothing");
	if (r >= 0)
		r = parse_config(q, &o, e);
	if (r >= 0 && verb == INSTRUCTION_STOP && o.instruction.config.given)
		r = error_set(e, EINVAL, "cannot stop with a configuration: it takes none");
	if (r >= 0 && verb == INSTRUCTION_CONFIGURE && !o.instruction.config.given)
		r = error_set(e, EINVAL, "cannot configure: the body says nothing to change");
	if (r >= 0)
		r = choose_targets(q, &o, e);
	if (r >= 0) {
		http_request_asker(q, o.from);
		o.client = http_request_header(q, "User-Agent");
		tell_all(&o);
		r = http_reply_json(reply, results_json(&o), JSON_INDENT(2), e);
	}
	free(o.targets);
	return r;
}

int http_instruct_start(struct http_request *q, struct http_reply *reply, struct error *e)
{
	return instruct(q, reply, INSTRUCTION_START, e);
}

int http_instruct_stop(struct http_request *q, struct http_reply *reply, struct error *e)
{
	return instruct(q, reply, INSTRUCTION_STOP, e);
}

int http_instruct_configure(struct http_request *q, struct http_reply *reply, struct error *e)
{
	return instruct(q, reply, INSTRUCTION_CONFIGURE, e);
}
