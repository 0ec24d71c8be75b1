/* SPDX-License-Identifier: MIT */
/*
 * local_query: what readers ask of the store (store.h). Rows are copied under the lock and told
 * outside of it, so that a slow reader holds up nobody.
 */
#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/condition.h"
#include "store/array.h"
#include "store/local_parts.h"

#define LEDGER_MAX (1U << 26) /* rows of one run */

static void lock(struct local_store *s)
{
	pthread_mutex_lock(&s->lock);
}

static void unlock(struct local_store *s)
{
	pthread_mutex_unlock(&s->lock);
}

static void facts_of(const struct local_store *s, const struct shown_run *run,
		     struct store_run *ret)
{
	const struct view_run *live = log_view_run(s->view, run->number);

	if (live)
		shown_run_facts(run, &live->state, live, ret);
	else
		*ret = run->facts;
}

/* --- devices and runs --- */

int local_devices(struct store *store, store_device_fn fn, void *context, struct error *e)
{
	struct local_store *s = local_get(store);
	_cleanup_free_ struct store_device *rows = NULL;
	const struct store_device *d;
	size_t n = 0, at = 0, i;
	int r = 0;

	lock(s);
	rows = calloc(s->devices.n + 1, sizeof(*rows));
	while (rows && (d = hashtable_next(&s->devices, &at)))
		rows[n++] = *d;
	unlock(s);
	if (!rows)
		return error_set(e, ENOMEM, "cannot list the devices: out of memory");
	for (i = 0; i < n && r == 0; i++)
		r = fn(context, &rows[i]);
	return r;
}

int local_runs(struct store *store, const struct message_id *device, store_run_fn fn, void *context,
	       struct error *e)
{
	struct local_store *s = local_get(store);
	_cleanup_free_ struct store_run *rows = NULL;
	const struct shown_run *run;
	size_t n = 0, at = 0, i;
	int r = 0;

	lock(s);
	rows = calloc(s->runs.by_number.n + 1, sizeof(*rows));
	while (rows && (run = hashtable_next(&s->runs.by_number, &at)))
		if (!device || !memcmp(&run->ids.device, device, sizeof(*device)))
			facts_of(s, run, &rows[n++]);
	unlock(s);
	if (!rows)
		return error_set(e, ENOMEM, "cannot list the runs: out of memory");
	qsort(rows, n, sizeof(*rows), store_latest_first);
	for (i = 0; i < n && r == 0; i++)
		r = fn(context, &rows[i]);
	return r;
}

int local_get_run(struct store *store, uint32_t number, struct store_run *ret, struct error *e)
{
	struct local_store *s = local_get(store);
	const struct shown_run *run;

	lock(s);
	run = shown_runs_get(&s->runs, number);
	if (run)
		facts_of(s, run, ret);
	unlock(s);
	return run ? 0 : error_set(e, ENOENT, "there is no run %u", number);
}

int local_get_clock(struct store *store, uint32_t number, struct store_clock *ret)
{
	struct local_store *s = local_get(store);
	const struct shown_run *run;
	const struct view_run *live;
	int r = -ENOENT;

	lock(s);
	run = shown_runs_get(&s->runs, number);
	live = run ? log_view_run(s->view, number) : NULL;
	if (live ? live->state.has_clock : run && run->has_clock) {
		*ret = live ? live->state.clock : run->clock;
		ret->run = number;
		r = 0;
	}
	unlock(s);
	return r;
}

/* The state behind the last commit; the lock is held. */
static int copy_state(const struct local_store *s, uint32_t number, struct run_state *ret)
{
	const struct shown_run *run = shown_runs_get(&s->runs, number);
	const struct view_run *live = run ? log_view_run(s->view, number) : NULL;

	if (!run)
		return -ENOENT;
	return live ? run_state_dup(ret, &live->state)
		    : run_state_decode(ret, run->out, run->out_len);
}

int local_copy_state(struct local_store *s, uint32_t number, struct run_state *ret, struct error *e)
{
	int r;

	lock(s);
	r = copy_state(s, number, ret);
	unlock(s);
	if (r == -ENOENT)
		return error_set(e, ENOENT, "there is no run %u", number);
	return r < 0 ? error_set(e, r, "cannot read run %u: %s", number, strerror(-r)) : 0;
}

/* What is durable counts: the device forgets what is below. */
size_t local_next_sequences(struct store *store, uint32_t run, struct message_resume *rows,
			    size_t n)
{
	struct local_store *s = local_get(store);
	struct run_state state;
	size_t i, all;

	if (local_copy_state(s, run, &state, NULL) < 0)
		return 0;
	all = state.n;
	for (i = 0; i < all && i < n; i++)
		rows[i] =
			(struct message_resume){ .stream = state.streams[i].stream,
						 .next_sequence = state.streams[i].next_sequence };
	run_state_done(&state);
	return all;
}

/* --- the ledger --- */

struct ledger {
	struct store_loss *rows;
	size_t n, room;
	uint32_t run;
	struct catalog_part part; /* the files that the catalog has */
	uint32_t live;		  /* the file that is being written */
	int error;
};

static int add_row(void *context, const struct store_loss *row)
{
	struct ledger *l = context;
	int r = array_grow(&l->rows, l->n, &l->room, sizeof(*l->rows), LEDGER_MAX);

	if (r < 0) {
		l->error = r;
		return r;
	}
	l->rows[l->n] = *row;
	l->rows[l->n++].run = l->run;
	return 0;
}

static void push_row(void *context, const struct store_loss *row)
{
	add_row(context, row);
}

/* The catalog's rows count up to here, also if it gets more meanwhile. The lock is held. */
static uint32_t first_uncatalogued(const struct local_store *s)
{
	size_t i;

	for (i = 0; i + 1 < s->n_files; i++)
		if (!s->files[i]->catalogued)
			return s->files[i]->number;
	return s->view->head.number;
}

/* What was lost before the first file that is left, with what was stored in those before. */
static int list_before(struct local_store *s, struct ledger *l)
{
	const struct run_losses losses = { .add = push_row, .context = l };
	const struct shown_run *run;
	struct run_state state;
	int r;

	lock(s);
	run = shown_runs_get(&s->runs, l->run);
	r = run && run->n_files ? run_state_decode(&state, run->in, run->in_len) : -ENOENT;
	if (r == 0) {
		l->live = s->view->head.number;
		l->part = (struct catalog_part){ .run = l->run,
						 .first = run->files[0].file,
						 .end = first_uncatalogued(s) };
		cuts_list(&run->cuts, log_view_run(s->view, l->run), &losses);
	}
	unlock(s);
	if (r < 0)
		return r;
	run_state_list_sums(&state, &losses);
	run_state_done(&state);
	return l->error;
}

static int list_file(struct local_store *s, struct ledger *l, struct log_file *f, struct error *e)
{
	const struct log_index *x;
	struct index_run run;
	struct store_loss row;
	uint32_t k;
	int r = local_file_index(s, f, &x, e);

	if (r < 0)
		return r;
	if (!log_index_run(x, l->run, &run))
		run.n_losses = 0;
	for (k = 0; r == 0 && k < run.n_losses; k++) {
		log_index_loss_at(x, run.first_loss + k, &row);
		r = add_row(l, &row);
	}
	return local_unref_index(s, f, x, r, e);
}

/* Full files from there on: their indexes have the rows. They are referenced, since the lock cannot
 * be held meanwhile. */
static int list_uncatalogued(struct local_store *s, struct ledger *l, struct error *e)
{
	_cleanup_free_ struct log_file **files = NULL;
	size_t n = 0, i;
	int r = 0;

	lock(s);
	files = calloc(s->n_files + 1, sizeof(struct log_file *));
	for (i = 0; files && i + 1 < s->n_files; i++)
		if (s->files[i]->number >= l->part.end && s->files[i]->number >= l->part.first) {
			s->files[i]->refs++;
			files[n++] = s->files[i];
		}
	unlock(s);
	for (i = 0; i < n; i++) {
		if (r == 0 && files[i]->number < l->live)
			r = list_file(s, l, files[i], e);
		local_unref_file(s, files[i]);
	}
	return files ? r : -ENOMEM;
}

/* The file that is being written, and gaps whose size nobody knows yet. -EAGAIN if a file became
 * full or was removed since the rows before were listed: then they are not those before these. */
static int list_live(struct local_store *s, struct ledger *l)
{
	const struct run_losses losses = { .add = push_row, .context = l };
	const struct shown_run *run;
	const struct view_run *live;
	struct losses_walk walk = { 0 };
	struct store_loss row;
	struct run_state state;
	int r;

	lock(s);
	run = shown_runs_get(&s->runs, l->run);
	if (!run || !run->n_files || run->files[0].file != l->part.first ||
	    s->view->head.number != l->live) {
		unlock(s);
		return -EAGAIN;
	}
	live = log_view_run(s->view, l->run);
	while (live && view_losses_next(&live->losses, &walk, &row)) {
		row.run = l->run;
		add_row(l, &row);
	}
	r = copy_state(s, l->run, &state);
	unlock(s);
	if (r < 0)
		return r;
	run_state_list_open(&state, &losses);
	run_state_done(&state);
	return l->error;
}

static int list_ledger(struct local_store *s, struct ledger *l, struct error *e)
{
	int r;

	do {
		l->n = 0;
		r = list_before(s, l);
		if (r == 0)
			r = catalog_ledger(s->catalog, &l->part, add_row, l, e);
		if (r == 0)
			r = list_uncatalogued(s, l, e);
		if (r == 0)
			r = list_live(s, l);
	} while (r == -EAGAIN);
	return r;
}

int local_ledger(struct store *store, uint32_t run, store_loss_fn fn, void *context,
		 struct error *e)
{
	struct local_store *s = local_get(store);
	struct ledger l = { .run = run };
	size_t i;
	int r = list_ledger(s, &l, e);

	if (r == -ENOENT)
		error_set(e, ENOENT, "there is no run %u", run);
	else if (r < 0 && r != -EIO) /* the catalog has said why */
		error_set(e, r, "cannot list the ledger of run %u: %s", run, strerror(-r));
	for (i = 0; i < l.n && r == 0; i++)
		r = fn(context, &l.rows[i]);
	free(l.rows);
	return r;
}

/* --- the rest --- */

void local_wait(struct store *store, uint64_t *version, unsigned int timeout_ms)
{
	struct local_store *s = local_get(store);
	uint64_t until_ms = clock_mono_ms() + timeout_ms;

	lock(s);
	while (s->version <= *version)
		if (!condition_wait(&s->committed, &s->lock, until_ms))
			break;
	*version = s->version;
	unlock(s);
}

void local_space(struct store *store, uint64_t *ret_used, uint64_t *ret_free)
{
	struct local_store *s = local_get(store);
	struct statvfs v;
	uint64_t used = 0;
	size_t i;

	lock(s);
	for (i = 0; i < s->n_files; i++)
		used += s->files[i]->size;
	unlock(s);
	*ret_used = used;
	*ret_free = fstatvfs(s->dir_fd, &v) < 0 ? 0 : (uint64_t)v.f_bavail * v.f_frsize;
}
