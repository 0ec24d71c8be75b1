/* SPDX-License-Identifier: MIT */
/*
 * run_calls: the calls that a collector's store has, as text, for tests.
 *
 *	run_calls FOLDER
 *
 *	run NUMBER ended lost_unknown
 *	process NUMBER PID PARENT comm
 *	map PROCESS from to since until path
 *	thread NUMBER PROCESS TID comm
 *	E thread address tick | X thread address tick | O thread os value tick | L thread cause count
 *
 * A count that is not known is -1.
 */
#include <inttypes.h>
#include <stdio.h>

#include "store/store.h"
#include "trace/func_ksk.h"

static int fail(const struct error *e)
{
	fprintf(stderr, "run_calls: %s\n", e->text);
	return -1;
}

static void print_tables(const struct func_source *s)
{
	const struct func_mapping *m;
	size_t i, k;

	for (i = 0; i < s->n_processes; i++) {
		printf("process %zu %d %d %s\n", i, (int)s->processes[i].pid,
		       (int)s->processes[i].parent, s->processes[i].command);
		for (k = 0; k < s->processes[i].n_mappings; k++) {
			m = &s->processes[i].mappings[k];
			printf("map %zu %" PRIx64 " %" PRIx64 " %" PRIu32 " %" PRIu32 " %s\n", i,
			       m->from, m->to, m->since, m->until, m->path);
		}
	}
	for (i = 0; i < s->n_threads; i++)
		printf("thread %zu %" PRIu32 " %d %.16s\n", i, s->threads[i].process,
		       (int)s->threads[i].tid, s->threads[i].comm);
}

static void print_item(const struct func_item *i)
{
	const struct func_event *ev = &i->event;

	if (i->type == FUNC_ITEM_LOSS)
		printf("L %" PRIu32 " %u %" PRId64 "\n", i->thread, i->loss.cause,
		       i->loss.count == LOSS_UNKNOWN ? -1 : (int64_t)i->loss.count);
	else if (ev->kind == FUNC_OS)
		printf("O %" PRIu32 " %u %" PRIu64 " %" PRIu64 "\n", i->thread, ev->os, ev->value,
		       ev->tick);
	else
		printf("%c %" PRIu32 " %" PRIx64 " %" PRIu64 "\n",
		       ev->kind == FUNC_ENTER ? 'E' : 'X', i->thread, ev->value, ev->tick);
}

static int print_run(struct store *store, const struct store_run *run)
{
	struct func_source *s = NULL;
	struct error e = ERROR_INIT;
	struct func_item item;
	int r;

	printf("run %" PRIu32 " %d %d\n", run->number, run->ended, run->lost_unknown);
	if (func_ksk_open_run(store, run->number, &s, &e) < 0)
		return fail(&e);
	print_tables(s);
	while ((r = s->ops->next(s, &item, &e)) == 1)
		print_item(&item);
	func_source_free(s);
	return r < 0 ? fail(&e) : 0;
}

struct all {
	struct store *store;
	uint32_t n;
	struct store_run runs[256];
};

static int add_run(void *context, const struct store_run *run)
{
	struct all *all = context;

	if (run->threads && all->n < sizeof(all->runs) / sizeof(all->runs[0]))
		all->runs[all->n++] = *run;
	return 0;
}

int main(int argc, char **argv)
{
	struct store_options o = { .read_only = true };
	struct error e = ERROR_INIT;
	static struct all all;
	uint32_t i;
	int r = 0;

	if (argc != 2 || store_open(&all.store, argv[1], &o, &e) < 0 ||
	    store_runs(all.store, NULL, add_run, &all, &e) < 0)
		return fail(&e) < 0;
	for (i = 0; i < all.n && r >= 0; i++)
		r = print_run(all.store, &all.runs[i]);
	store_free(all.store);
	return r < 0;
}
