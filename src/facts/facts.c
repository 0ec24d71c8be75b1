/* SPDX-License-Identifier: MIT */
/* facts: see facts.h. What is the same for every engine: that the question makes sense, and what answers are made of. */
#include "facts/facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "facts/clickhouse/facts_clickhouse.h"
#include "facts/facts_by_device.h"
#include "facts/facts_local.h"
#include "store/array.h"
#include "store/clickhouse/clickhouse_url.h"

const char *const facts_by_words[FACTS_BYS + 2] = { "function", "process", "object", "class",
						    "machine",	"device",  NULL };

int facts_open(struct facts **ret, const char *place, struct error *e)
{
	return clickhouse_url_is(place) ? facts_clickhouse_open(ret, place, false, e)
					: facts_local_open(ret, place, false, e);
}

int facts_open_reader(struct facts **ret, const char *place, struct error *e)
{
	return clickhouse_url_is(place) ? facts_clickhouse_open(ret, place, true, e)
					: facts_local_open(ret, place, true, e);
}

void facts_free(struct facts *f)
{
	if (f)
		f->ops->free(f);
}

/* --- writing --- */

static int check_set(const struct fact_set *s, struct error *e)
{
	const struct fact_key *k = &s->key;

	if (k->kind >= FACT_KINDS || (k->length_s != FACT_MINUTE_S && k->length_s != FACT_HOUR_S) ||
	    k->start_s % k->length_s || k->start_s > INT64_MAX / 2)
		return error_set(e, EINVAL, "a fact set of kind %u, %u s from %llu has no place",
				 k->kind, k->length_s, (unsigned long long)k->start_s);
	return 0;
}

static int check_batch(struct facts_batch *b, struct error *e)
{
	size_t i;
	int r = 0;

	b->n_late = 0;
	for (i = 0; r == 0 && i < b->n_sets; i++)
		r = check_set(b->sets[i], e);
	if (r == 0 && b->carry_len > FACTS_CARRY_MAX)
		r = error_set(e, E2BIG, "a carry has at most %u bytes", FACTS_CARRY_MAX);
	return r;
}

int facts_put_batches(struct facts *f, struct facts_batch *list, size_t n, struct error *e)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < n; i++)
		r = check_batch(&list[i], e);
	return r < 0 ? r : f->ops->put(f, list, n, e);
}

int facts_put_batch(struct facts *f, struct facts_batch *b, struct error *e)
{
	return facts_put_batches(f, b, 1, e);
}

int facts_put(struct facts *f, const struct fact_set *s, struct error *e)
{
	struct facts_batch b = { .sets = &s, .n_sets = 1 };
	int r = facts_put_batch(f, &b, e);

	if (r == 0 && b.n_late)
		r = error_set(e, ESTALE, "the minute at %llu comes too late",
			      (unsigned long long)s->key.start_s);
	return r;
}

int facts_get_carry(struct facts *f, const struct message_id *run, uint8_t **ret, size_t *ret_len,
		    struct error *e)
{
	return f->ops->get_carry(f, run, ret, ret_len, e);
}

int facts_put_carry(struct facts *f, const struct message_id *run, const uint8_t *carry, size_t len,
		    struct error *e)
{
	struct facts_batch b = { .run = run, .carry = carry, .carry_len = len };

	return facts_put_batch(f, &b, e);
}

int facts_drop_carry(struct facts *f, const struct message_id *run, struct error *e)
{
	return f->ops->drop_carry(f, run, e);
}

int facts_roll(struct facts *f, uint64_t to_s, struct error *e)
{
	return f->ops->roll(f, to_s, e);
}

int facts_retain(struct facts *f, const struct facts_ages *a, struct error *e)
{
	return f->ops->retain(f, a, e);
}

/* --- asking --- */

static int compare_ids(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct message_id));
}

void facts_sort_devices(struct message_id *devices, size_t n)
{
	if (n)
		qsort(devices, n, sizeof(*devices), compare_ids);
}

static int check_query(const struct facts_query *q, struct error *e)
{
	if (q->kind >= FACT_KINDS)
		return error_set(e, EINVAL, "there are no facts of kind %u", q->kind);
	if (q->n_devices > FACTS_DEVICES_MAX)
		return error_set(e, E2BIG, "a question is about %u devices at the most",
				 FACTS_DEVICES_MAX);
	return 0;
}

int facts_scan(struct facts *f, const struct facts_query *q, facts_set_fn fn, void *context,
	       struct error *e)
{
	int r = check_query(q, e);

	return r < 0 ? r : f->ops->scan(f, q, fn, context, e);
}

int facts_keys(struct facts *f, const struct facts_query *q, facts_head_fn fn, void *context,
	       struct error *e)
{
	int r = check_query(q, e);

	return r < 0 ? r : f->ops->keys(f, q, fn, context, e);
}

int facts_top(struct facts *f, const struct facts_query *q, const struct facts_order *o,
	      struct facts_rows *ret, struct error *e)
{
	int r = check_query(q, e);

	if (r == 0 && (o->by > FACTS_BY_DEVICE || o->value >= FACT_VALUES))
		r = error_set(e, EINVAL, "there is no such order of facts");
	if (r < 0)
		return r;
	return o->by == FACTS_BY_DEVICE ? facts_by_device_top(f, q, o, ret, e)
					: f->ops->top(f, q, o, ret, e);
}

int facts_tree(struct facts *f, const struct facts_query *q, struct fact_set *ret,
	       struct facts_basis *ret_basis, struct error *e)
{
	int r = check_query(q, e);

	if (r == 0 && q->kind == FACT_SCHED)
		r = error_set(e, EINVAL, "facts about tasks have no stacks");
	return r < 0 ? r : f->ops->tree(f, q, ret, ret_basis, e);
}

int facts_trend(struct facts *f, const struct facts_query *q, const struct facts_trend *t,
		struct facts_points *ret, struct error *e)
{
	int r = check_query(q, e);

	if (r == 0 && t->by == FACTS_BY_DEVICE)
		r = error_set(e, EINVAL,
			      "cannot show the trend of a device: ask for it by devices");
	if (r == 0 && (t->by >= FACTS_BYS || !t->step_s || t->step_s % FACT_MINUTE_S))
		r = error_set(e, EINVAL, "a trend goes by whole minutes");
	return r < 0 ? r : f->ops->trend(f, q, t, ret, e);
}

void facts_rows_done(struct facts_rows *r)
{
	size_t i;

	for (i = 0; i < r->n; i++) {
		free(r->rows[i].name);
		free(r->rows[i].object);
	}
	free(r->rows);
	r->rows = NULL;
	r->n = 0;
}

void facts_points_done(struct facts_points *p)
{
	free(p->points);
	p->points = NULL;
	p->n = 0;
}

/* --- what an answer was made of --- */

void facts_basis_add(struct facts_basis *b, const struct facts_head *h)
{
	size_t i;

	b->sets++;
	b->minutes += h->key.length_s == FACT_MINUTE_S;
	b->hours += h->key.length_s == FACT_HOUR_S;
	b->covered_ns += h->covered_ns;
	b->events += h->events;
	b->lost += h->lost;
	b->lost_places += h->lost_places;
	for (i = 0; i < FACT_VALUES; i++)
		b->values[i] += h->values[i];
}

void facts_basis_join(struct facts_basis *to, const struct facts_basis *from)
{
	size_t i;

	to->sets += from->sets;
	to->minutes += from->minutes;
	to->hours += from->hours;
	to->damaged += from->damaged;
	to->covered_ns += from->covered_ns;
	to->events += from->events;
	to->lost += from->lost;
	to->lost_places += from->lost_places;
	for (i = 0; i < FACT_VALUES; i++)
		to->values[i] += from->values[i];
}

/* --- labels --- */

bool facts_is_label_key(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/",
			    text[i]))
			return false;
	return len && len <= FACTS_LABEL_KEY_MAX;
}

/* Anything but what ends it in a selector, and what a terminal would take for itself. */
bool facts_is_label_value(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == ',' || text[i] == '=' ||
		    text[i] == 0x7f)
			return false;
	return len && len <= FACTS_LABEL_VALUE_MAX;
}

int facts_label(struct facts *f, const struct message_id *device, const char *key,
		const char *value, struct error *e)
{
	struct facts_label_row row = { .device = *device, .key = key, .value = value };

	if (!facts_is_label_key(key, strlen(key)))
		return error_set(e, EINVAL, "'%s' is no key of a label", key);
	if (value && !facts_is_label_value(value, strlen(value)))
		return error_set(e, EINVAL, "'%s' is no value of a label", value);
	return f->ops->label(f, &row, e);
}

int facts_labels(struct facts *f, facts_label_fn fn, void *context, struct error *e)
{
	return f->ops->labels(f, fn, context, e);
}

int facts_beat(struct facts *f, const struct facts_member *me, facts_member_fn fn, void *context,
	       struct error *e)
{
	struct facts_member only = *me;

	if (f->ops->beat)
		return f->ops->beat(f, me, fn, context, e);
	only.since_s = only.since_s ? only.since_s : 1;
	return fn(context, &only);
}

/* One "key=value" of a selector. */
struct demand {
	char key[FACTS_LABEL_KEY_MAX + 1], value[FACTS_LABEL_VALUE_MAX + 1];
};

struct selection {
	struct demand demands[FACTS_LABELS_MAX];
	size_t n_demands;
	struct message_id device; /* whose labels come now, */
	uint64_t met;		  /* and which demands they meet */
	struct message_id *list;
	size_t n, room;
};

static int parse_demand(struct demand *d, const char *text, size_t len)
{
	const char *equals = memchr(text, '=', len);
	size_t key = equals ? (size_t)(equals - text) : 0, value = equals ? len - key - 1 : 0;

	if (!facts_is_label_key(text, key) || !facts_is_label_value(equals + 1, value))
		return -EINVAL;
	memcpy(d->key, text, key);
	d->key[key] = '\0';
	memcpy(d->value, equals + 1, value);
	d->value[value] = '\0';
	return 0;
}

static int parse_selector(struct selection *s, const char *text, struct error *e)
{
	const char *at = text;
	size_t len;

	for (;; at += len + 1) {
		len = strcspn(at, ",");
		if (s->n_demands == FACTS_LABELS_MAX ||
		    parse_demand(&s->demands[s->n_demands], at, len) < 0)
			return error_set(e, EINVAL, "'%s' does not have the form KEY=VALUE,…",
					 text);
		s->n_demands++;
		if (!at[len])
			return 0;
	}
}

/* The labels of a device are all there. */
static int end_device(struct selection *s)
{
	uint64_t all = s->n_demands == 64 ? UINT64_MAX : (1ULL << s->n_demands) - 1;
	int r;

	if (s->met != all)
		return 0;
	s->met = 0;
	r = array_grow(&s->list, s->n, &s->room, sizeof(*s->list), FACTS_DEVICES_MAX);
	if (r == 0)
		s->list[s->n++] = s->device;
	return r;
}

static int on_label(void *context, const struct facts_label_row *row)
{
	struct selection *s = context;
	size_t i;
	int r = 0;

	if (memcmp(&s->device, &row->device, sizeof(s->device))) {
		r = end_device(s);
		s->device = row->device;
		s->met = 0;
	}
	for (i = 0; i < s->n_demands; i++)
		if (!strcmp(row->key, s->demands[i].key) &&
		    !strcmp(row->value, s->demands[i].value))
			s->met |= 1ULL << i;
	return r;
}

int facts_devices(struct facts *f, const char *selector, struct message_id **ret, size_t *ret_n,
		  struct error *e)
{
	_cleanup_free_ struct selection *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return error_set(e, ENOMEM, "cannot select devices: out of memory");
	r = parse_selector(s, selector, e);
	if (r == 0)
		r = facts_labels(f, on_label, s, e);
	if (r == 0)
		r = end_device(s);
	if (r == 0 && !s->list && !(s->list = calloc(1, sizeof(*s->list))))
		r = -ENOMEM;
	if (r < 0) {
		free(s->list);
		return r;
	}
	facts_sort_devices(s->list, s->n);
	*ret = s->list;
	*ret_n = s->n;
	return 0;
}
