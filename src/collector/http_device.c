/* SPDX-License-Identifier: MIT */
/* http_device: see http_device.h. */
#include "collector/http_device.h"

#include <errno.h>
#include <string.h>

#include "analysis/json_value.h"
#include "base/hex.h"
#include "base/when.h"
#include "collector/config_json.h"
#include "command/config_args.h"
#include "trace/word.h"

const char *http_id_format(const struct message_id *id, char out[ID_TEXT_LEN])
{
	return hex_format(id->bytes, sizeof(id->bytes), out);
}

static bool is_same(const struct message_id *a, const struct message_id *b)
{
	return !memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

/* --- names of the store --- */

static int add_name(void *context, const struct store_device *d)
{
	struct http_names *n = context;
	struct store_device *grown;

	if (n->n >= REGISTRY_DEVICES_MAX)
		return 0;
	if (!(n->n & (n->n - 1))) {
		grown = realloc(n->devices, (n->n ? 2 * n->n : 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		n->devices = grown;
	}
	n->devices[n->n++] = *d;
	return 0;
}

int http_names_init(struct http_names *n, struct store *s, struct error *e)
{
	int r;

	memset(n, 0, sizeof(*n));
	n->store = s;
	r = store_devices(s, add_name, n, e);
	if (r == -ENOMEM)
		error_set(e, ENOMEM, "cannot list the devices: out of memory");
	if (r < 0)
		http_names_done(n);
	return r;
}

void http_names_done(struct http_names *n)
{
	free(n->devices);
	memset(n, 0, sizeof(*n));
}

const char *http_names_get(const struct http_names *n, const struct message_id *id)
{
	size_t i;

	for (i = 0; i < n->n; i++)
		if (is_same(&n->devices[i].id, id))
			return n->devices[i].name;
	return "";
}

/* --- devices --- */

static void make_row(struct registry_row *row, const struct store_device *d)
{
	memset(row, 0, sizeof(*row));
	row->device = *d;
	row->clock_err_ns = row->cpu_ppm = UINT64_MAX;
}

static int by_name(const void *a, const void *b)
{
	const struct registry_row *x = a, *y = b;
	int r = strcmp(x->device.name, y->device.name);

	return r ? r : memcmp(x->device.id.bytes, y->device.id.bytes, sizeof(x->device.id.bytes));
}

static int by_id(const void *a, const void *b)
{
	const struct message_id *x = a, *y = b;

	return memcmp(x->bytes, y->bytes, sizeof(x->bytes));
}

/* The ids of the rows, sorted; free(). NULL: out of memory. */
static struct message_id *sort_ids(const struct registry_row *rows, size_t n)
{
	struct message_id *ids = malloc((n + 1) * sizeof(*ids));
	size_t i;

	for (i = 0; ids && i < n; i++)
		ids[i] = rows[i].device.id;
	if (ids)
		qsort(ids, n, sizeof(*ids), by_id);
	return ids;
}

/* Adds the devices that only the store remembers. */
static int add_remembered(struct http *h, struct registry_row **rows, size_t *n, struct error *e)
{
	_cleanup_free_ struct message_id *ids = sort_ids(*rows, *n);
	size_t known = *n, i;
	struct registry_row *grown;
	struct http_names names;
	int r = http_names_init(&names, h->options.store, e);

	if (r < 0)
		return r;
	grown = ids ? realloc(*rows, (*n + names.n + 1) * sizeof(*grown)) : NULL;
	if (!grown) {
		http_names_done(&names);
		return error_set(e, ENOMEM, "cannot list the devices: out of memory");
	}
	*rows = grown;
	for (i = 0; i < names.n; i++)
		if (!bsearch(&names.devices[i].id, ids, known, sizeof(*ids), by_id))
			make_row(&grown[(*n)++], &names.devices[i]);
	http_names_done(&names);
	return 0;
}

int http_device_list(struct http *h, struct registry_row **ret, size_t *ret_n, struct error *e)
{
	_cleanup_free_ struct registry_row *rows = NULL;
	size_t n = 0;
	int r = 0;

	if (h->options.registry)
		r = registry_list(h->options.registry, &rows, &n, e);
	if (r >= 0)
		r = add_remembered(h, &rows, &n, e);
	if (r < 0)
		return r;
	qsort(rows, n, sizeof(*rows), by_name);
	*ret_n = n;
	*ret = take_ptr(rows);
	return 0;
}

static int find_remembered(struct http *h, const char *name, struct registry_row *ret,
			   struct error *e)
{
	const struct store_device *found = NULL;
	struct http_names names;
	size_t i, n = 0;
	int r = http_names_init(&names, h->options.store, e);

	for (i = 0; r >= 0 && i < names.n; i++) {
		const struct store_device *d = &names.devices[i];

		if (!strcmp(d->name, name)) {
			found = d;
			n = 1;
			break;
		}
		if (registry_id_match(&d->id, name)) {
			found = d;
			n++;
		}
	}
	if (r >= 0 && n > 1)
		r = error_set(e, ENOTUNIQ, "%zu devices have an id that starts with %s", n, name);
	else if (r >= 0 && !found)
		r = error_set(e, ENOENT, "there is no device %s", name);
	else if (r >= 0)
		make_row(ret, found);
	http_names_done(&names);
	return r;
}

int http_device_find(struct http *h, const char *name, struct registry_row *ret, struct error *e)
{
	int r = -ENOENT;

	if (h->options.registry)
		r = registry_find(h->options.registry, name, ret, e);
	return r == -ENOENT ? find_remembered(h, name, ret, e) : r;
}

/* --- JSON --- */

json_t *http_time_json(uint64_t ns)
{
	char text[WHEN_MAX];

	return ns ? json_string(when_format(ns, text)) : json_null();
}

json_t *http_lost_json(const uint64_t lost[LOSS_CAUSES])
{
	json_t *o = json_object();
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++)
		json_object_set_new(o, word_cause(i), json_value_count(lost[i]));
	return o;
}

static const char *state_word(uint8_t state)
{
	return state == DEVICE_TRACING ? "tracing" : state == DEVICE_FAILED ? "failed" : "idle";
}

static json_t *origins_json(uint32_t origins)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = ORIGIN_TRACEFS; i < ORIGINS; i++)
		if (origins >> i & 1)
			json_array_append_new(list, json_string(config_origin_word(i)));
	return list;
}

static json_t *status_json(const struct registry_row *row)
{
	const struct message_status *s = &row->status;
	const char *origin = s->origin ? config_origin_word(s->origin) : NULL;

	return json_pack("{so so so so so so so so so so so so so so}", "source",
			 origin ? json_string(origin) : json_null(), "events",
			 json_value_count(s->events), "passed_over",
			 json_value_count(s->passed_over), "lost", http_lost_json(s->lost),
			 "blocks", json_value_count(s->blocks), "bytes", json_value_count(s->bytes),
			 "spool_used", json_value_count(s->spool_used), "spool_size",
			 json_value_count(s->spool_size), "cpu_us", json_value_count(s->cpu_us),
			 "cpu_percent",
			 row->cpu_ppm == UINT64_MAX ? json_null()
						    : json_real((double)row->cpu_ppm / 10000),
			 "rss_kib", json_value_count(s->rss_kib), "fixed_kib",
			 json_value_count(s->fixed_kib), "wakeups", json_value_count(s->wakeups),
			 "text", json_value_text(row->status_text));
}

static json_t *received_json(const struct registry_row *row)
{
	return json_pack("{so so so so so so so so so}", "frames", json_value_count(row->frames),
			 "blocks", json_value_count(row->blocks), "events",
			 json_value_count(row->events), "func_events",
			 json_value_count(row->func_events), "bytes", json_value_count(row->bytes),
			 "duplicates", json_value_count(row->duplicates), "waiting_bytes",
			 json_value_count(row->waiting_bytes), "events_per_s",
			 json_value_count(row->events_per_s), "bytes_per_s",
			 json_value_count(row->bytes_per_s));
}

static json_t *clock_json(const struct registry_row *row)
{
	if (row->clock_err_ns == UINT64_MAX)
		return json_null();
	return json_pack("{so so so}", "offset_ns", json_integer(row->clock_off_ns), "error_ns",
			 json_value_count(row->clock_err_ns), "round_trip_ns",
			 json_value_count(row->round_trip_ns));
}

json_t *http_device_json(const struct registry_row *row)
{
	const struct store_device *d = &row->device;
	char id[ID_TEXT_LEN];

	return json_pack("{so ss so so so so so so sb ss so so so so so so so so so so so}", "name",
			 json_value_text(d->name), "id", http_id_format(&d->id, id), "group",
			 row->group[0] ? json_value_text(row->group) : json_null(), "kernel",
			 json_value_text(d->kernel), "machine", json_value_text(d->machine),
			 "agent", json_value_text(d->agent), "cpus", json_value_count(d->cpus),
			 "seen", http_time_json(d->seen_ns), "online", (int)row->online, "state",
			 row->online ? state_word(row->state) : "offline", "desired",
			 row->has_desired ? json_string(state_word(row->desired)) : json_null(),
			 "run", row->run ? json_value_count(row->run) : json_null(), "func_run",
			 row->func_run ? json_value_count(row->func_run) : json_null(), "session",
			 row->session ? json_value_count(row->session) : json_null(), "address",
			 json_value_text(row->address), "connected",
			 http_time_json(row->connected_ns), "sources", origins_json(row->origins),
			 "config", config_json_format(&row->config), "received", received_json(row),
			 "status", status_json(row), "clock", clock_json(row));
}

/* What it has: a run of which only the description came is still neither. */
static json_t *kinds_json(const struct store_run *r)
{
	json_t *kinds = json_array();

	if (r->cpus)
		json_array_append_new(kinds, json_string("sched"));
	if (r->threads)
		json_array_append_new(kinds, json_string("func"));
	if (r->has_boot)
		json_array_append_new(kinds, json_string("boot"));
	if (r->samplers)
		json_array_append_new(kinds, json_string("profile"));
	if (r->samplers && r->has_guests)
		json_array_append_new(kinds, json_string("vm"));
	return kinds;
}

/* How its clock is that of real time, and how sure that is; for several devices on one axis. */
static json_t *run_clock_json(const struct store_run *r, const struct http_names *names)
{
	struct store_clock c;

	if (store_get_clock(names->store, r->number, &c) < 0)
		return json_null();
	return json_pack("{so so so}", "real_offset_ns", json_integer(c.off_ns), "error_ns",
			 json_value_count(c.err_ns), "at_ns", json_value_count(c.device_ns));
}

json_t *http_run_json(const struct store_run *r, const struct http_names *names)
{
	char device[ID_TEXT_LEN], id[ID_TEXT_LEN], boot[ID_TEXT_LEN];

	return json_pack("{so ss ss ss so so so so so so so so so sb sb so so so sb so}", "run",
			 json_value_count(r->number), "id", http_id_format(&r->id, id), "device_id",
			 http_id_format(&r->device, device), "boot", http_id_format(&r->boot, boot),
			 "device", json_value_text(http_names_get(names, &r->device)), "first",
			 http_time_json(r->first_ns), "last", http_time_json(r->last_ns),
			 "first_tick", json_value_count(r->first_tick), "last_tick",
			 json_value_count(r->last_tick), "blocks", json_value_count(r->blocks),
			 "events", json_value_count(r->events), "bytes", json_value_count(r->bytes),
			 "lost", http_lost_json(r->lost), "lost_unknown", (int)r->lost_unknown,
			 "ended", (int)r->ended, "streams", json_value_count(r->streams), "kinds",
			 kinds_json(r), "threads", json_value_count(r->threads), "split",
			 (int)r->split, "clock", run_clock_json(r, names));
}
