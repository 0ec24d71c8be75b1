/* SPDX-License-Identifier: MIT */
/*
 * facts_local: see facts_local.h. Here: lists, trees and trends, summed by several threads.
 *
 * Each thread has sums of its own, by the numbers of names, and they are joined at the end; texts are looked up only for what is
 * shown. A row that cannot be read is left out and counted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "facts/fact_flat.h"
#include "facts/fact_pack.h"
#include "facts/facts_names.h"
#include "facts/facts_seal.h"
#include "facts/facts_sums.h"
#include "facts/facts_view.h"
#include "store/array.h"

struct sums {
	uint64_t self[FACT_VALUES], total[FACT_VALUES];
};

/* Of one thread. */
struct part {
	struct facts_basis basis;
	struct fact_flat_row *rows; /* of the list that is read now */
	size_t room;
	struct sums *sums;		/* of a list: by number of the name */
	struct profile_tree *tree;	/* its keys are numbers of names; only its shape counts, */
	uint64_t (*selfs)[FACT_VALUES]; /* own parts are here, by node, and totals are made once */
	size_t room_selfs;
	struct facts_point *points;
};

struct summing {
	const struct facts_query *q;
	struct facts_view view;
	struct part parts[FACTS_VIEW_THREADS_MAX];
	uint32_t n_names;
	enum facts_by by;
	/* of a trend */
	uint32_t *wanted; /* numbers, sorted */
	size_t n_wanted, room_wanted;
	uint64_t first_s, step_s;
	size_t n_points;
};

static void summing_done(struct summing *s)
{
	size_t i;

	for (i = 0; i < FACTS_VIEW_THREADS_MAX; i++) {
		free(s->parts[i].rows);
		free(s->parts[i].sums);
		free(s->parts[i].points);
		free(s->parts[i].selfs);
		profile_tree_free(s->parts[i].tree);
	}
	free(s->wanted);
	facts_view_done(&s->view);
}
#define CLEANUP_SUMMING __attribute__((cleanup(summing_done)))

static int summing_open(struct summing *s, struct facts *f, const struct facts_query *q,
			struct error *e)
{
	int r;

	memset(s, 0, sizeof(*s));
	s->q = q;
	r = facts_view_init(&s->view, (struct facts_local *)f, q, FACTS_VIEW_THREADS_MAX, e);
	if (r == 0)
		r = facts_sums_take(&s->view, q, e);
	return r < 0 ? r : facts_names_count(s->view.dbs[0]->names, &s->n_names, e);
}

static int no_memory(struct error *e)
{
	return error_set(e, ENOMEM, "cannot sum facts up: out of memory");
}

static void join_basis(struct summing *s, struct facts_basis *ret)
{
	size_t i;

	memset(ret, 0, sizeof(*ret));
	for (i = 0; i < s->view.n_dbs; i++)
		facts_basis_join(ret, &s->parts[i].basis);
	ret->devices = s->view.devices;
	ret->sets += s->view.summed;
	ret->hours += s->view.summed;
}

static void add(struct sums *to, const uint64_t *self, const uint64_t *total)
{
	size_t i;

	for (i = 0; i < FACT_VALUES; i++) {
		to->self[i] += self[i];
		to->total[i] += total[i];
	}
}

/* A row of the table: its head, and its list, whose bytes are borrowed until the next. */
struct stored {
	struct facts_head head;
	const uint8_t *data;
	size_t len;
	bool is_damaged;
};

static int get_as(struct facts_db *d, enum facts_statement which, const struct facts_view_row *row,
		  struct stored *ret, struct error *e)
{
	sqlite3_stmt *s = facts_db_use(d, which, &row->id, 1);
	int r = facts_db_step(d, s, e);

	if (r == 0)
		r = error_set(e, EBADMSG, "%s: a row of its index is missing", d->path);
	if (r < 0)
		return r;
	/* A row without a seal may be one of zeros. */
	ret->is_damaged =
		!facts_local_get_head(s, &ret->head) || ret->head.key.start_s != row->start_s;
	ret->data = sqlite3_column_blob(s, 0);
	ret->len = (size_t)sqlite3_column_bytes(s, 0);
	if (which == FACTS_ST_GET &&
	    !facts_seal_fits(s, FACTS_SEAL_COLUMN,
			     facts_seal_fact(&ret->head,
					     (struct facts_bytes){ ret->data, ret->len })))
		ret->is_damaged = true;
	return 0;
}

static int get_row(struct facts_db *d, const struct facts_view_row *row, struct stored *ret,
		   struct error *e)
{
	return get_as(d, FACTS_ST_GET, row, ret, e);
}

/* --- lists --- */

/* All rows of a list, before any of them counts: -EBADMSG if it is damaged. */
static int decode_list(const struct stored *stored, const struct summing *s, struct part *p,
		       size_t *ret_n)
{
	struct fact_flat_reader reader;
	struct fact_flat_row *grown;
	size_t n = 0;

	if (fact_flat_read(&reader, stored->data, stored->len, s->by) < 0)
		return -EBADMSG;
	if (reader.left > p->room) { /* which is less than the bytes that it has */
		grown = realloc(p->rows, (size_t)reader.left * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		p->rows = grown;
		p->room = (size_t)reader.left;
	}
	while (reader.left && fact_flat_next(&reader, &p->rows[n]))
		n++;
	if (reader.r.bad || (n && p->rows[n - 1].number >= s->n_names))
		return -EBADMSG;
	*ret_n = n;
	return 0;
}

/* The list of a row that is good; 0 without any if it is not, and counted. */
static int read_rows(struct summing *s, struct part *p, const struct stored *stored, size_t *ret_n,
		     struct error *e)
{
	int r = stored->is_damaged ? -EBADMSG : decode_list(stored, s, p, ret_n);

	if (r == -ENOMEM)
		return no_memory(e);
	if (r < 0)
		p->basis.damaged++;
	else
		facts_basis_add(&p->basis, &stored->head);
	return r == 0;
}

static int read_list(void *context, size_t part, struct facts_db *d,
		     const struct facts_view_row *view_row, struct error *e)
{
	struct summing *s = context;
	struct part *p = &s->parts[part];
	struct stored stored;
	size_t i, n = 0;
	int r = get_row(d, view_row, &stored, e);

	if (r >= 0)
		r = read_rows(s, p, &stored, &n, e);
	for (i = 0; i < n; i++)
		add(&p->sums[p->rows[i].number], p->rows[i].self, p->rows[i].total);
	return r < 0 ? r : 0;
}

struct numbered {
	uint32_t number;
	uint64_t value;
};

static int compare_numbered(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int name_row(struct summing *s, struct facts_row *row, uint32_t number, struct error *e)
{
	const struct facts_name *name;
	int r = facts_names_get(s->view.dbs[0]->names, number, &name, e);

	if (r < 0)
		return r;
	row->name = strdup(s->by == FACTS_BY_OBJECT && number ? name->object : name->name);
	row->object = strdup(s->by == FACTS_BY_FUNCTION ? name->object : "");
	return row->name && row->object ? 0 : no_memory(e);
}

/* Those that count, in their order. */
static struct numbered *order_rows(const struct summing *s, const struct facts_order *o,
				   size_t *ret_n)
{
	const struct sums *all = s->parts[0].sums;
	struct numbered *list;
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < s->n_names; i++)
		n += all[i].total[0] || all[i].total[1];
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return NULL;
	for (i = 0, n = 0; i < s->n_names; i++)
		if (all[i].total[0] || all[i].total[1])
			list[n++] = (struct numbered){ .number = i,
						       .value = o->total ? all[i].total[o->value]
									 : all[i].self[o->value] };
	qsort(list, n, sizeof(*list), compare_numbered);
	*ret_n = o->most && o->most < n ? o->most : n;
	return list;
}

static int make_rows(struct summing *s, const struct facts_order *o, struct facts_rows *ret,
		     struct error *e)
{
	_cleanup_free_ struct numbered *list = NULL;
	const struct sums *sums;
	size_t n = 0, i;
	int r = 0;

	list = order_rows(s, o, &n);
	ret->rows = calloc(n + 1, sizeof(*ret->rows));
	if (!list || !ret->rows)
		return no_memory(e);
	for (i = 0; r == 0 && i < n; i++) {
		sums = &s->parts[0].sums[list[i].number];
		memcpy(ret->rows[i].self, sums->self, sizeof(sums->self));
		memcpy(ret->rows[i].total, sums->total, sizeof(sums->total));
		ret->n = i + 1;
		r = name_row(s, &ret->rows[i], list[i].number, e);
	}
	return r;
}

static void join_lists(struct summing *s)
{
	struct sums *to = s->parts[0].sums, *from;
	uint32_t i;
	size_t part;

	for (part = 1; part < s->view.n_dbs; part++)
		for (i = 0, from = s->parts[part].sums; i < s->n_names; i++)
			add(&to[i], from[i].self, from[i].total);
}

static int sum_list(struct facts *f, const struct facts_query *q, const struct facts_order *o,
		    struct facts_rows *ret, struct error *e)
{
	CLEANUP_SUMMING struct summing s;
	struct facts_view_job job = { .read = read_list, .context = &s };
	size_t i;
	int r = summing_open(&s, f, q, e);

	memset(ret, 0, sizeof(*ret));
	s.by = o->by;
	for (i = 0; r == 0 && i < s.view.n_dbs; i++) {
		s.parts[i].sums = calloc(s.n_names, sizeof(*s.parts[i].sums));
		if (!s.parts[i].sums)
			r = no_memory(e);
	}
	if (r == 0)
		r = facts_view_run(&s.view, &job, e);
	if (r < 0)
		return r;
	join_lists(&s);
	join_basis(&s, &ret->basis);
	r = make_rows(&s, o, ret, e);
	if (r < 0)
		facts_rows_done(ret);
	return r;
}

/* --- trees --- */

static bool has_names(const struct fact_tree_reader *t, uint32_t n_names)
{
	return !t->n_numbers || t->numbers[t->n_numbers - 1] < n_names;
}

/* Whether all of it is good, before any of it counts. */
static int check_tree(const uint8_t *data, size_t len, uint32_t n_names)
{
	CLEANUP_FACT_TREE struct fact_tree_reader t = { 0 };
	struct fact_tree_node n;
	int r = fact_tree_open(&t, data, len);

	if (r < 0)
		return r;
	while (fact_tree_next(&t, &n))
		;
	return t.r.bad || !has_names(&t, n_names) ? -EBADMSG : 0;
}

/* Room for the own part of a node. */
static int need_self(struct part *p, uint32_t node)
{
	size_t room = p->room_selfs;
	int r = array_grow(&p->selfs, node, &p->room_selfs, sizeof(*p->selfs), PROFILE_NODES_MAX);

	if (r == 0 && p->room_selfs > room)
		memset(p->selfs + room, 0, (p->room_selfs - room) * sizeof(*p->selfs));
	return r;
}

static int add_self(struct part *p, uint32_t node, const uint64_t *self)
{
	size_t i;
	int r = need_self(p, node);

	for (i = 0; r == 0 && i < FACT_VALUES; i++)
		p->selfs[node][i] += self[i];
	return r;
}

/* Nodes are numbered as they come: a new one is at most one behind the last. */
static int add_tree(struct part *p, const uint8_t *data, size_t len)
{
	CLEANUP_FACT_TREE struct fact_tree_reader t = { 0 };
	_cleanup_free_ uint32_t *path = NULL; /* by depth */
	struct fact_tree_node n;
	int r = fact_tree_open(&t, data, len);

	if (r == 0 && !(path = calloc((size_t)t.left + 1, sizeof(*path))))
		r = -ENOMEM;
	if (r == 0)
		r = add_self(p, 0, t.root);
	while (r == 0 && fact_tree_next(&t, &n)) {
		r = profile_tree_find(p->tree, path[t.depth - 1], t.numbers[n.number_at],
				      &path[t.depth]);
		if (r == 0)
			r = add_self(p, path[t.depth], n.self);
	}
	return r;
}

static uint64_t seal_tree(struct facts_bytes tree)
{
	const struct facts_bytes none = { NULL, 0 };

	return facts_seal_body(tree, none, none);
}

static int read_tree(void *context, size_t part, struct facts_db *d,
		     const struct facts_view_row *row, struct error *e)
{
	struct summing *s = context;
	struct part *p = &s->parts[part];
	struct stored stored;
	struct facts_bytes tree = { NULL, 0 };
	sqlite3_stmt *st;
	int r = get_as(d, FACTS_ST_GET_HEAD, row, &stored, e);

	if (r < 0)
		return r;
	st = facts_db_use(d, FACTS_ST_GET_TREE, &row->id, 1);
	r = facts_db_step(d, st, e);
	if (r < 0)
		return r;
	if (r)
		tree = facts_seal_column(st, 0);
	if (stored.is_damaged || !facts_seal_fits_first(st, 1, seal_tree(tree)))
		r = -EBADMSG;
	else
		r = check_tree(tree.data, tree.len, s->n_names);
	if (r == 0)
		r = add_tree(p, tree.data, tree.len);
	sqlite3_reset(st);
	if (r == 0)
		facts_basis_add(&p->basis, &stored.head);
	if (r == -EBADMSG)
		p->basis.damaged++;
	return r == 0 || r == -EBADMSG ? 0 : no_memory(e);
}

/* The key of a number in the answer, looked up when it is first met. */
struct key_map {
	struct facts_names *names;
	struct functions *functions;
	uint32_t *keys; /* + 1; 0: not yet */
};

static int map_key(struct key_map *m, uint32_t number, uint32_t *ret, struct error *e)
{
	const struct facts_name *name;
	int r = 0;

	if (!m->keys[number]) {
		r = facts_names_get(m->names, number, &name, e);
		if (r == 0)
			r = functions_find_label(m->functions, name->name, name->object, ret);
		if (r == 0)
			m->keys[number] = *ret + 1;
	}
	*ret = m->keys[number] - 1;
	return r;
}

static int join_tree(struct key_map *m, struct profile_tree *to, const struct part *p,
		     struct error *e)
{
	const struct profile_tree *from = p->tree;
	size_t n = profile_tree_count(from);
	_cleanup_free_ uint32_t *nodes = calloc(n, sizeof(*nodes));
	const struct profile_node *node;
	const uint64_t *self;
	uint32_t i, key = 0;
	int r = nodes ? 0 : -ENOMEM;

	if (r == 0 && p->selfs) /* else there was no tree */
		profile_tree_add(to, 0, p->selfs[0]);
	for (i = 1; r == 0 && i < n; i++) {
		node = profile_tree_get(from, i);
		r = map_key(m, node->key, &key, e);
		if (r == 0)
			r = profile_tree_find(to, nodes[node->parent], key, &nodes[i]);
		if (r < 0)
			break;
		self = p->selfs[i];
		if (self[0] || self[1])
			profile_tree_add(to, nodes[i], self);
	}
	return r;
}

static int join_trees(struct summing *s, struct fact_set *ret, struct error *e)
{
	struct key_map m = { .names = s->view.dbs[0]->names, .functions = &ret->functions };
	size_t part;
	int r = 0;

	m.keys = calloc(s->n_names, sizeof(*m.keys));
	if (!m.keys)
		return no_memory(e);
	for (part = 0; r == 0 && part < s->view.n_dbs; part++)
		r = join_tree(&m, ret->tree, &s->parts[part], e);
	free(m.keys);
	return r < 0 && r != -EBADMSG ? no_memory(e) : r;
}

static int sum_tree(struct facts *f, const struct facts_query *q, struct fact_set *ret,
		    struct facts_basis *ret_basis, struct error *e)
{
	CLEANUP_SUMMING struct summing s;
	struct facts_view_job job = { .read = read_tree, .context = &s };
	struct fact_key key = { .kind = q->kind, .start_s = q->from_s };
	size_t i;
	int r = summing_open(&s, f, q, e);

	for (i = 0; r == 0 && i < s.view.n_dbs; i++)
		if (profile_tree_new(&s.parts[i].tree, FACT_VALUES) < 0)
			r = no_memory(e);
	if (r == 0)
		r = facts_view_run(&s.view, &job, e);
	if (r < 0)
		return r;
	if (fact_set_init(ret, &key) < 0)
		return no_memory(e);
	join_basis(&s, ret_basis);
	ret->covered_ns = ret_basis->covered_ns;
	ret->version = ret->events = ret_basis->events;
	ret->lost = ret_basis->lost;
	ret->lost_places = ret_basis->lost_places;
	r = join_trees(&s, ret, e);
	if (r < 0)
		fact_set_done(ret);
	return r;
}

/* --- trends --- */

static int compare_wanted(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static bool is_wanted(const struct summing *s, uint32_t number)
{
	return s->n_wanted &&
	       bsearch(&number, s->wanted, s->n_wanted, sizeof(number), compare_wanted);
}

static int read_point(void *context, size_t part, struct facts_db *d,
		      const struct facts_view_row *view_row, struct error *e)
{
	struct summing *s = context;
	struct part *p = &s->parts[part];
	struct facts_point *point;
	struct stored stored;
	size_t i, k, n = 0;
	int r = get_row(d, view_row, &stored, e);

	if (r >= 0)
		r = read_rows(s, p, &stored, &n, e);
	if (r <= 0)
		return r;
	point = &p->points[(view_row->start_s - s->first_s) / s->step_s];
	point->sets += view_row->n_sets;
	point->covered_ns += stored.head.covered_ns;
	for (k = 0; k < FACT_VALUES; k++)
		point->values[k] += stored.head.values[k];
	for (i = 0; i < n; i++)
		for (k = 0; k < FACT_VALUES && is_wanted(s, p->rows[i].number); k++) {
			point->self[k] += p->rows[i].self[k];
			point->total[k] += p->rows[i].total[k];
		}
	return 0;
}

/* The numbers of all names that are meant. */
static int find_wanted(struct summing *s, const struct facts_trend *t, struct error *e)
{
	static const char *const objects[FACTS_BYS] = { NULL, "process", NULL, "class", "machine" };
	bool is_object = t->by == FACTS_BY_OBJECT;
	const char *object = t->by == FACTS_BY_FUNCTION ? t->object : objects[t->by], *have;
	struct facts_db *d = s->view.dbs[0];
	sqlite3_stmt *st =
		facts_db_use(d, is_object ? FACTS_ST_NAME_BY_OBJECT : FACTS_ST_NAME_BY_TEXT, NULL,
			     0);
	int r;

	if (st)
		sqlite3_bind_text(st, 1, t->name, -1, SQLITE_STATIC);
	while ((r = facts_db_step(d, st, e)) == 1) {
		have = (const char *)sqlite3_column_text(st, 1);
		if (object && (!have || strcmp(have, object)))
			continue;
		r = array_grow(&s->wanted, s->n_wanted, &s->room_wanted, sizeof(*s->wanted),
			       FACTS_NAMES_MAX);
		if (r < 0) {
			sqlite3_reset(st);
			return no_memory(e);
		}
		s->wanted[s->n_wanted++] = (uint32_t)sqlite3_column_int64(st, 0);
	}
	if (r == 0 && s->n_wanted)
		qsort(s->wanted, s->n_wanted, sizeof(*s->wanted), compare_wanted);
	return r;
}

/* Room for all points that there may be: of the rows, since a range may be longer than what is kept. */
static int make_points(struct summing *s, struct error *e)
{
	uint64_t first = UINT64_MAX, last = 0;
	size_t i;

	for (i = 0; i < s->view.n; i++) {
		first = MIN(first, s->view.rows[i].start_s);
		last = MAX(last, s->view.rows[i].start_s);
	}
	if (!s->view.n)
		return 0;
	s->first_s = first / s->step_s * s->step_s;
	if ((last - s->first_s) / s->step_s >= FACTS_POINTS_MAX)
		return error_set(e, E2BIG, "a trend has at most %u points", FACTS_POINTS_MAX);
	s->n_points = (size_t)((last - s->first_s) / s->step_s) + 1;
	for (i = 0; i < s->view.n_dbs; i++) {
		s->parts[i].points = calloc(s->n_points, sizeof(*s->parts[i].points));
		if (!s->parts[i].points)
			return no_memory(e);
	}
	return 0;
}

static void join_point(struct facts_point *to, const struct facts_point *from)
{
	size_t i;

	to->sets += from->sets;
	to->covered_ns += from->covered_ns;
	for (i = 0; i < FACT_VALUES; i++) {
		to->self[i] += from->self[i];
		to->total[i] += from->total[i];
		to->values[i] += from->values[i];
	}
}

static int join_points(struct summing *s, struct facts_points *ret, struct error *e)
{
	struct facts_point *to;
	size_t i, part;

	ret->points = calloc(s->n_points + 1, sizeof(*ret->points));
	if (!ret->points)
		return no_memory(e);
	for (i = 0; i < s->n_points; i++) {
		to = &ret->points[ret->n];
		memset(to, 0, sizeof(*to));
		to->start_s = s->first_s + i * s->step_s;
		to->length_s = s->step_s;
		for (part = 0; part < s->view.n_dbs; part++)
			join_point(to, &s->parts[part].points[i]);
		ret->n += to->sets != 0;
	}
	return 0;
}

static int sum_trend(struct facts *f, const struct facts_query *q, const struct facts_trend *t,
		     struct facts_points *ret, struct error *e)
{
	CLEANUP_SUMMING struct summing s;
	struct facts_view_job job = { .read = read_point, .context = &s };
	struct facts_query mine = *q;
	int r;

	memset(ret, 0, sizeof(*ret));
	mine.minutes_only = mine.minutes_only || t->step_s < FACT_HOUR_S;
	r = summing_open(&s, f, &mine, e);
	s.by = t->by;
	s.step_s = t->step_s;
	if (r == 0)
		r = find_wanted(&s, t, e);
	if (r == 0)
		r = make_points(&s, e);
	if (r == 0)
		r = facts_view_run(&s.view, &job, e);
	if (r == 0)
		r = join_points(&s, ret, e);
	if (r == 0)
		join_basis(&s, &ret->basis);
	return r;
}

/* --- where a sum is damaged, the rows that it stands for may not be --- */

static bool is_doubtful(const struct facts_query *q, const struct facts_basis *b)
{
	return b->damaged && q->all_devices && !q->no_sums;
}

static struct facts_query without_sums(const struct facts_query *q)
{
	struct facts_query plain = *q;

	plain.no_sums = true;
	return plain;
}

int facts_local_top(struct facts *f, const struct facts_query *q, const struct facts_order *o,
		    struct facts_rows *ret, struct error *e)
{
	struct facts_query plain = without_sums(q);
	int r = sum_list(f, q, o, ret, e);

	if (r < 0 || !is_doubtful(q, &ret->basis))
		return r;
	facts_rows_done(ret);
	return sum_list(f, &plain, o, ret, e);
}

int facts_local_tree(struct facts *f, const struct facts_query *q, struct fact_set *ret,
		     struct facts_basis *ret_basis, struct error *e)
{
	struct facts_query plain = without_sums(q);
	int r = sum_tree(f, q, ret, ret_basis, e);

	if (r < 0 || !is_doubtful(q, ret_basis))
		return r;
	fact_set_done(ret);
	return sum_tree(f, &plain, ret, ret_basis, e);
}

int facts_local_trend(struct facts *f, const struct facts_query *q, const struct facts_trend *t,
		      struct facts_points *ret, struct error *e)
{
	struct facts_query plain = without_sums(q);
	int r = sum_trend(f, q, t, ret, e);

	if (r < 0 || !is_doubtful(q, &ret->basis))
		return r;
	facts_points_done(ret);
	return sum_trend(f, &plain, t, ret, e);
}
