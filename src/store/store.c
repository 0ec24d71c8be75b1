/* SPDX-License-Identifier: MIT */
/* store: which engine it is, and that it does what is asked (store.h, store_engine.h). */
#include "store/store.h"

#include "store/clickhouse/clickhouse.h"
#include "store/clickhouse/clickhouse_url.h"
#include "store/store_engine.h"

#define COMMIT_FOLDER_MS 20U
/* Each insert is a part of the table that has to be merged; a server wants few and large ones. */
#define COMMIT_SERVER_MS 500U

int store_open(struct store **ret, const char *place, const struct store_options *o,
	       struct error *e)
{
	return clickhouse_url_is(place) ? clickhouse_open(ret, place, o, e)
					: local_open(ret, place, o, e);
}

unsigned int store_commit_ms(const char *place)
{
	return clickhouse_url_is(place) ? COMMIT_SERVER_MS : COMMIT_FOLDER_MS;
}

void store_free(struct store *s)
{
	if (s)
		s->ops->free(s);
}

/* --- the ingest --- */

int store_device(struct store *s, const struct store_device *d, struct error *e)
{
	return s->ops->device(s, d, e);
}

int store_take_run(struct store *s, const struct store_run_ids *ids, uint32_t *ret_number,
		   struct error *e)
{
	return s->ops->take_run(s, ids, ret_number, e);
}

int store_find_run(struct store *s, const struct store_run_ids *ids, uint32_t *ret_number,
		   struct error *e)
{
	return s->ops->find_run(s, ids, ret_number, e);
}

size_t store_next_sequences(struct store *s, uint32_t run, struct message_resume *rows, size_t n)
{
	return s->ops->next_sequences(s, run, rows, n);
}

int store_put(struct store *s, uint32_t run, const struct block *b, const uint8_t *bytes,
	      struct error *e)
{
	return s->ops->put(s, run, b, bytes, e);
}

int store_end(struct store *s, uint32_t run, const struct message_end *m, struct error *e)
{
	return s->ops->end(s, run, m, e);
}

int store_note(struct store *s, const struct store_clock *c, struct error *e)
{
	return s->ops->note(s, c, e);
}

int store_commit(struct store *s, uint64_t *ret_durable, struct error *e)
{
	return s->ops->commit(s, ret_durable, e);
}

uint64_t store_puts(const struct store *s)
{
	return s->ops->puts(s);
}

uint64_t store_waiting(const struct store *s)
{
	return s->ops->waiting(s);
}

int store_settle(struct store *s, struct error *e)
{
	return s->ops->settle(s, e);
}

int store_retain(struct store *s, struct error *e)
{
	return s->ops->retain(s, e);
}

/* --- the readers --- */

int store_devices(struct store *s, store_device_fn fn, void *context, struct error *e)
{
	return s->ops->devices(s, fn, context, e);
}

int store_latest_first(const void *a, const void *b)
{
	const struct store_run *x = a, *y = b;

	if (x->last_ns != y->last_ns)
		return x->last_ns < y->last_ns ? 1 : -1;
	return (x->number < y->number) - (x->number > y->number);
}

int store_runs(struct store *s, const struct message_id *device, store_run_fn fn, void *context,
	       struct error *e)
{
	return s->ops->runs(s, device, fn, context, e);
}

int store_get_run(struct store *s, uint32_t number, struct store_run *ret, struct error *e)
{
	return s->ops->get_run(s, number, ret, e);
}

int store_ledger(struct store *s, uint32_t run, store_loss_fn fn, void *context, struct error *e)
{
	return s->ops->ledger(s, run, fn, context, e);
}

int store_get_clock(struct store *s, uint32_t run, struct store_clock *ret)
{
	return s->ops->get_clock(s, run, ret);
}

void store_wait(struct store *s, uint64_t *version, unsigned int timeout_ms)
{
	s->ops->wait(s, version, timeout_ms);
}

void store_space(struct store *s, uint64_t *ret_used, uint64_t *ret_free)
{
	s->ops->space(s, ret_used, ret_free);
}

void store_get_damage(struct store *s, struct store_damages *ret)
{
	*ret = (struct store_damages){ 0 };
	if (s->ops->damage)
		s->ops->damage(s, ret);
}
