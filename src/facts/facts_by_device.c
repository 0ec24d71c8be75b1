/* SPDX-License-Identifier: MIT */
/* facts_by_device: see facts_by_device.h. */
#include "facts/facts_by_device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "facts/facts_view.h"
#include "store/hashtable.h"

#define ID_TEXT_LEN 33

struct device_sum {
	struct message_id device;
	uint64_t values[FACT_VALUES];
};

struct device_sums {
	struct hashtable table;
	struct facts_basis basis;
};

static void device_sums_done(struct device_sums *s)
{
	void *sum;
	size_t at = 0;

	while ((sum = hashtable_next(&s->table, &at)))
		free(sum);
	hashtable_done(&s->table);
}
#define CLEANUP_DEVICE_SUMS __attribute__((cleanup(device_sums_done)))

static bool is_device(const void *entry, const void *key)
{
	return !memcmp(&((const struct device_sum *)entry)->device, key, sizeof(struct message_id));
}

static int find_sum(struct device_sums *s, const struct message_id *device, struct device_sum **ret)
{
	uint64_t hash = hashtable_hash_id(device->bytes);
	int r;

	*ret = hashtable_get(&s->table, hash, is_device, device);
	if (*ret)
		return 0;
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	(*ret)->device = *device;
	r = hashtable_add(&s->table, hash, *ret);
	if (r < 0)
		free(*ret);
	return r;
}

static int add_head(void *context, const struct facts_head *h)
{
	struct device_sums *s = context;
	struct device_sum *sum;
	size_t i;
	int r = find_sum(s, &h->key.device, &sum);

	if (r < 0)
		return r;
	for (i = 0; i < FACT_VALUES; i++)
		sum->values[i] += h->values[i];
	facts_basis_add(&s->basis, h);
	return 0;
}

struct ordered {
	const struct device_sum *sum;
	uint64_t value;
};

static int compare_ordered(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return memcmp(&x->sum->device, &y->sum->device, sizeof(x->sum->device));
}

/* Those that have anything, in their order. */
static struct ordered *order_sums(const struct device_sums *s, uint8_t value, size_t *ret_n)
{
	struct ordered *list = calloc(s->table.n + 1, sizeof(*list));
	const struct device_sum *sum;
	size_t at = 0, n = 0;

	while (list && (sum = hashtable_next(&s->table, &at)))
		if (sum->values[0] || sum->values[1])
			list[n++] = (struct ordered){ sum, sum->values[value] };
	if (list)
		qsort(list, n, sizeof(*list), compare_ordered);
	*ret_n = n;
	return list;
}

static int make_row(struct facts_row *row, const struct device_sum *sum)
{
	char id[ID_TEXT_LEN];

	row->name = strdup(hex_format(sum->device.bytes, sizeof(sum->device.bytes), id));
	row->object = strdup("");
	memcpy(row->self, sum->values, sizeof(row->self));
	memcpy(row->total, sum->values, sizeof(row->total));
	return row->name && row->object ? 0 : -ENOMEM;
}

static int make_rows(const struct device_sums *s, const struct facts_order *o,
		     struct facts_rows *ret)
{
	size_t n = 0, i;
	_cleanup_free_ struct ordered *list = order_sums(s, o->value, &n);
	int r = 0;

	n = o->most && o->most < n ? o->most : n;
	ret->rows = calloc(n + 1, sizeof(*ret->rows));
	if (!list || !ret->rows)
		return -ENOMEM;
	for (i = 0; r == 0 && i < n; i++) {
		ret->n = i + 1;
		r = make_row(&ret->rows[i], list[i].sum);
	}
	return r;
}

int facts_by_device_top(struct facts *f, const struct facts_query *q, const struct facts_order *o,
			struct facts_rows *ret, struct error *e)
{
	CLEANUP_DEVICE_SUMS struct device_sums s;
	int r;

	memset(ret, 0, sizeof(*ret));
	memset(&s, 0, sizeof(s));
	hashtable_init(&s.table, FACTS_DEVICES_MAX);
	r = facts_keys(f, q, add_head, &s, e);
	if (r == 0)
		r = make_rows(&s, o, ret);
	if (r < 0) {
		facts_rows_done(ret);
		return r == -ENOMEM || r == -E2BIG
			       ? error_set(e, -r, "cannot sum facts up: %s", strerror(-r))
			       : r;
	}
	ret->basis = s.basis;
	ret->basis.devices = s.table.n;
	return 0;
}
