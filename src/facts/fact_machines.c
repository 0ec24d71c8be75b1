/* SPDX-License-Identifier: MIT */
/*
 * fact_machines: see fact_machines.h.
 *
 * A node comes behind its parent in a tree's numbers, so one pass tells for each which machine and which class it is below.
 */
#include "facts/fact_machines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile_walk.h"
#include "store/array.h"

/* What is above a node, + 1; 0: nothing. */
struct above {
	uint32_t machine;
	uint8_t kind;
};

struct sorting {
	struct fact_machines *m;
	const struct fact_set *s;
	uint32_t *rows; /* by key of a machine: its row + 1 */
	struct above *nodes;
};

static uint8_t find_class(const char *word)
{
	uint8_t i;

	for (i = 0; i < VM_CLASSES; i++)
		if (!strcmp(vm_class_words[i], word))
			return i;
	return VM_UNKNOWN;
}

/* Rows have room for all keys that are machines. */
static void enter_machine(struct sorting *o, const struct profile_node *n, struct above *at,
			  uint64_t ns)
{
	if (!o->rows[n->key]) {
		o->m->rows[o->m->n].name = functions_get(&o->s->functions, n->key)->name;
		o->rows[n->key] = (uint32_t)++o->m->n;
	}
	at->machine = o->rows[n->key];
	o->m->rows[at->machine - 1].ns += ns;
}

static int add_cause(struct sorting *o, const struct above *at, uint32_t key, uint64_t ns)
{
	struct fact_machines *m = o->m;
	int r = array_grow(&m->causes, m->n_causes, &m->room_causes, sizeof(*m->causes),
			   PROFILE_NODES_MAX);

	if (r == 0)
		m->causes[m->n_causes++] = (struct fact_cause){ .machine = at->machine - 1,
								.key = key,
								.kind = (uint8_t)(at->kind - 1),
								.ns = ns };
	return r;
}

static int sort_node(struct sorting *o, uint32_t node)
{
	const struct profile_node *n = profile_tree_get(o->s->tree, node);
	const struct function *f = functions_get(&o->s->functions, n->key);
	struct above *at = &o->nodes[node];
	uint64_t ns = profile_tree_total(o->s->tree, node)[PROFILE_WEIGHT];

	*at = o->nodes[n->parent];
	if (!at->machine) {
		if (!strcmp(f->object, "machine"))
			enter_machine(o, n, at, ns);
		return 0;
	}
	if (!at->kind && !strcmp(f->object, "class")) {
		at->kind = (uint8_t)(find_class(f->name) + 1);
		o->m->rows[at->machine - 1].classes[at->kind - 1] += ns;
		return 0;
	}
	if (at->kind && (!strcmp(f->object, "culprit") || !strcmp(f->object, "exit")))
		return add_cause(o, at, n->key, ns);
	return 0;
}

static int by_cause(const void *a, const void *b)
{
	const struct fact_cause *x = a, *y = b;

	if (x->machine != y->machine)
		return x->machine < y->machine ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static int by_size(const void *a, const void *b)
{
	const struct fact_cause *x = a, *y = b;

	if (x->machine != y->machine || x->ns == y->ns)
		return by_cause(a, b);
	return x->ns < y->ns ? 1 : -1;
}

static int by_time(const void *a, const void *b)
{
	const struct fact_machine *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Each cause once, by its size, and each machine its own. */
static void give_causes(struct fact_machines *m)
{
	size_t i, n = 0;

	if (!m->n_causes)
		return;
	qsort(m->causes, m->n_causes, sizeof(*m->causes), by_cause);
	for (i = 1; i < m->n_causes; i++)
		if (by_cause(&m->causes[n], &m->causes[i]))
			m->causes[++n] = m->causes[i];
		else
			m->causes[n].ns += m->causes[i].ns;
	m->n_causes = n + 1;
	qsort(m->causes, m->n_causes, sizeof(*m->causes), by_size);
	for (i = m->n_causes; i; i--) {
		m->rows[m->causes[i - 1].machine].causes = &m->causes[i - 1];
		m->rows[m->causes[i - 1].machine].n_causes++;
	}
}

static size_t count_machines(const struct fact_set *s)
{
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < s->functions.n; i++)
		n += !strcmp(functions_get(&s->functions, i)->object, "machine");
	return n;
}

int fact_machines_init(struct fact_machines *m, const struct fact_set *s)
{
	size_t n = s->tree ? profile_tree_count(s->tree) : 1;
	_cleanup_free_ uint32_t *rows = calloc(s->functions.n + 1, sizeof(*rows));
	_cleanup_free_ struct above *nodes = calloc(n, sizeof(*nodes));
	struct sorting o = { .m = m, .s = s, .rows = rows, .nodes = nodes };
	uint32_t i;
	int r = 0;

	memset(m, 0, sizeof(*m));
	m->rows = calloc(count_machines(s) + 1, sizeof(*m->rows));
	if (!rows || !nodes || !m->rows)
		r = -ENOMEM;
	for (i = 1; r == 0 && i < n; i++)
		r = sort_node(&o, i);
	if (r < 0) {
		fact_machines_done(m);
		return r;
	}
	give_causes(m);
	qsort(m->rows, m->n, sizeof(*m->rows), by_time);
	return 0;
}

void fact_machines_done(struct fact_machines *m)
{
	free(m->rows);
	free(m->causes);
	memset(m, 0, sizeof(*m));
}
