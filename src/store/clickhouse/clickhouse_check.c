/* SPDX-License-Identifier: MIT */
/* clickhouse_check: every block of every run, as readers are given it (store_check.h). */
#include <errno.h>

#include "store/array.h"
#include "store/clickhouse/clickhouse_parts.h"

struct numbers {
	uint32_t *list;
	size_t n, room;
};

static int add_number(void *context, const struct store_run *r)
{
	struct numbers *l = context;
	int error = array_grow(&l->list, l->n, &l->room, sizeof(*l->list), CLICKHOUSE_RUNS_MAX);

	if (error == 0)
		l->list[l->n++] = r->number;
	return error;
}

static int check_stream(struct block_reader *reader, uint32_t stream, struct store_counts *counts)
{
	uint64_t place = 0, at;
	struct block b;
	int r;

	while ((r = reader->ops->next(reader, stream, &place, &b, &at)) == 1)
		counts->blocks++;
	return r;
}

static int check_run(struct store *store, uint32_t number, struct store_counts *counts,
		     uint64_t *ret_torn, struct error *e)
{
	struct block_reader *reader;
	uint32_t stream = 0;
	int r = store_reader_open(&reader, store, number, NULL, e);

	if (r < 0)
		return r;
	while (r == 0 && reader->ops->find(reader, stream, &stream))
		r = check_stream(reader, stream++, counts);
	*ret_torn = ((struct store_reader *)reader)->n_torn;
	reader->ops->free(reader);
	return r < 0 ? error_set(e, r, "cannot read all blocks of run %u", number) : 0;
}

int clickhouse_check(struct store *store, store_damage_fn fn, void *context,
		     struct store_counts *ret, struct error *e)
{
	struct store_damage damage = { .what = "a block of this run is not as it was sent" };
	struct numbers l = { 0 };
	uint64_t torn, left;
	size_t i;
	int r;

	*ret = (struct store_counts){ 0 };
	r = store_runs(store, NULL, add_number, &l, e);
	for (i = 0; i < l.n && r == 0; i++) {
		r = check_run(store, l.list[i], ret, &torn, e);
		damage.file = l.list[i];
		while (r == 0 && torn--)
			fn(context, &damage);
	}
	store_space(store, &ret->bytes, &left);
	free(l.list);
	return r;
}
