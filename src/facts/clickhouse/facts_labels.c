/* SPDX-License-Identifier: MIT */
/* facts_clickhouse: see facts_clickhouse.h. Here: labels of devices. One that was taken away is a row with an empty value. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "facts/clickhouse/facts_clickhouse.h"

struct calling {
	facts_label_fn fn;
	void *context;
	int code;
};

static bool copy_text(struct byte_reader *in, char *out, size_t room)
{
	size_t len;
	const uint8_t *text = clickhouse_row_string(in, &len);

	if (in->bad || len >= room)
		return false;
	memcpy(out, text, len);
	out[len] = '\0';
	return true;
}

static ssize_t take_labels(void *context, const uint8_t *bytes, size_t len)
{
	char key[FACTS_LABEL_KEY_MAX + 1], value[FACTS_LABEL_VALUE_MAX + 1];
	struct facts_label_row row = { .key = key, .value = value };
	struct calling *c = context;
	const uint8_t *at = bytes;
	struct byte_reader in;

	reader_init(&in, bytes, len);
	for (;;) {
		row.device = clickhouse_row_id(&in);
		if (!copy_text(&in, key, sizeof(key)) || !copy_text(&in, value, sizeof(value)))
			return in.bad ? at - bytes : -EBADMSG;
		at = in.at;
		if (!c->code)
			c->code = c->fn(c->context, &row);
	}
}

int facts_clickhouse_labels(struct facts *f, facts_label_fn fn, void *context, struct error *e)
{
	struct calling calling = { .fn = fn, .context = context };
	const struct clickhouse_ask ask = {
		.sql = "SELECT device, label, argMax(value, made) AS v FROM labels "
		       "GROUP BY device, label HAVING v != '' ORDER BY device, label",
		.take = take_labels,
		.context = &calling
	};
	int r = clickhouse_link_ask(facts_clickhouse_get(f)->link, &ask, e);

	return r < 0 ? r : calling.code;
}

struct counting {
	const struct facts_label_row *row;
	uint32_t others;
};

static int count_label(void *context, const struct facts_label_row *r)
{
	struct counting *c = context;

	c->others += !memcmp(&r->device, &c->row->device, sizeof(r->device)) &&
		     strcmp(r->key, c->row->key) != 0;
	return 0;
}

int facts_clickhouse_label(struct facts *f, const struct facts_label_row *r, struct error *e)
{
	struct facts_clickhouse *c = facts_clickhouse_get(f);
	struct counting counting = { .row = r };
	const char *value = r->value ? r->value : "";
	struct clickhouse_rows rows = { 0 };
	int code = facts_clickhouse_may_write(c, e);

	if (code == 0 && r->value)
		code = facts_clickhouse_labels(f, count_label, &counting, e);
	if (code < 0)
		return code;
	if (counting.others >= FACTS_LABELS_MAX)
		return error_set(e, E2BIG, "a device has at most %u labels", FACTS_LABELS_MAX);
	if (clickhouse_rows_reserve(&rows, strlen(r->key) + strlen(value) + 64) < 0)
		return error_set(e, ENOMEM, "cannot put a label: out of memory");
	clickhouse_rows_put(&rows, r->device.bytes, 16);
	clickhouse_rows_string(&rows, r->key, strlen(r->key));
	clickhouse_rows_string(&rows, value, strlen(value));
	clickhouse_rows_u64(&rows, clock_real_ns());
	code = clickhouse_link_insert(c->link, "labels (device, label, value, made)", rows.data,
				      rows.len, e);
	clickhouse_rows_done(&rows);
	return code;
}
