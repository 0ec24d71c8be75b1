/* SPDX-License-Identifier: MIT */
/* clickhouse: opening and closing a store in ClickHouse (clickhouse.h, clickhouse_parts.h). */
#include "store/clickhouse/clickhouse.h"

#include <errno.h>
#include <string.h>

#include "base/condition.h"
#include "store/clickhouse/clickhouse_parts.h"
#include "store/clickhouse/clickhouse_schema.h"

/* States are saved when it closes; failing is no harm. */
static void clickhouse_free(struct store *store)
{
	struct clickhouse_store *s = clickhouse_get(store);

	if (s->link && !s->options.read_only)
		clickhouse_commit_states(s, 1, NULL);
	clickhouse_runs_done(s);
	clickhouse_batch_free(s->filling);
	clickhouse_batch_free(s->pending);
	clickhouse_batch_free(s->spare);
	clickhouse_link_free(s->link);
	pthread_cond_destroy(&s->committed);
	pthread_mutex_destroy(&s->keep_lock);
	pthread_mutex_destroy(&s->look_lock);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static const struct store_ops clickhouse_ops = {
	.free = clickhouse_free,
	.device = clickhouse_device,
	.take_run = clickhouse_take_run,
	.find_run = clickhouse_find_run,
	.next_sequences = clickhouse_next_sequences,
	.put = clickhouse_put,
	.end = clickhouse_end,
	.note = clickhouse_note,
	.commit = clickhouse_commit,
	.puts = clickhouse_puts,
	.waiting = clickhouse_waiting,
	.settle = clickhouse_settle,
	.retain = clickhouse_retain,
	.devices = clickhouse_devices,
	.runs = clickhouse_runs,
	.get_run = clickhouse_get_run,
	.ledger = clickhouse_ledger,
	.get_clock = clickhouse_get_clock,
	.wait = clickhouse_wait,
	.space = clickhouse_space,
	.check = clickhouse_check,
	.open_reader = clickhouse_open_reader,
};

static void init(struct clickhouse_store *s, const struct store_options *o)
{
	s->store.ops = &clickhouse_ops;
	condition_init(&s->committed);
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->look_lock, NULL);
	pthread_mutex_init(&s->keep_lock, NULL);
	hashtable_init(&s->by_id, CLICKHOUSE_RUNS_MAX);
	hashtable_init(&s->by_number, CLICKHOUSE_RUNS_MAX);
	hashtable_init(&s->arrivals, CLICKHOUSE_DEVICES_MAX);
	s->version = 1;
	s->filling = clickhouse_batch_new();
	s->spare = clickhouse_batch_new();
	if (o)
		s->options = *o;
	if (!s->options.batch_bytes)
		s->options.batch_bytes = CLICKHOUSE_BATCH_BYTES;
}

int clickhouse_open(struct store **ret, const char *url, const struct store_options *o,
		    struct error *e)
{
	struct clickhouse_store *s = calloc(1, sizeof(*s));
	CLEANUP(store) struct store *store = (struct store *)s;
	int r;

	if (!s)
		return error_set(e, ENOMEM, "cannot open the store: out of memory");
	init(s, o);
	if (!s->filling || !s->spare)
		return error_set(e, ENOMEM, "cannot open the store: out of memory");
	r = clickhouse_url_parse(&s->url, url, e);
	if (r == 0)
		r = clickhouse_link_open(&s->link, &s->url, e);
	if (r == 0)
		r = clickhouse_schema_prepare(s->link, &s->url, s->options.read_only, e);
	if (r < 0)
		return r;
	*ret = take_ptr(store);
	return 0;
}
