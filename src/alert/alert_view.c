/* SPDX-License-Identifier: MIT */
/* alert_view: see alert_view.h. */
#include "alert/alert_view.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile_walk.h"
#include "facts/fact_tree.h"
#include "store/array.h"

#define NONE UINT32_MAX

const char *const alert_kind_words[ALERT_KINDS + 1] = { "process", "function", "steal", "vmm",
							"guest",   "task",     "wait",	NULL };

void alert_view_done(struct alert_view *v)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		free(v->things[i]);
	free(v->things);
	hashtable_done(&v->table);
	memset(v, 0, sizeof(*v));
}

/* --- things --- */

static bool is_thing(const void *entry, const void *key)
{
	const struct alert_thing *a = entry, *b = key;

	return a->kind == b->kind && a->keys[0] == b->keys[0] && a->keys[1] == b->keys[1];
}

/* By its keys; NULL in *ret: there are too many. */
static int find(struct alert_view *v, uint8_t kind, const uint32_t keys[2],
		struct alert_thing **ret)
{
	struct alert_thing like = { .kind = kind, .keys = { keys[0], keys[1] } }, *t;
	uint64_t hash = hashtable_hash_number((uint64_t)keys[0] << 32 | keys[1]) +
			hashtable_hash_number(kind);
	int r;

	*ret = hashtable_get(&v->table, hash, is_thing, &like);
	if (*ret || v->n == ALERT_THINGS_MAX)
		return 0;
	r = array_grow(&v->things, v->n, &v->room, sizeof(*v->things), ALERT_THINGS_MAX);
	t = r < 0 ? NULL : malloc(sizeof(*t));
	if (!t)
		return -ENOMEM;
	*t = like;
	t->scope = t->name = t->object = "";
	t->of_scope = 1;
	r = hashtable_add(&v->table, hash, t);
	if (r < 0) {
		free(t);
		return r;
	}
	v->things[v->n++] = *ret = t;
	return 0;
}

/* --- trees --- */

/* Of a node: what it lies in. */
struct above {
	uint32_t process, machine; /* keys; NONE: none */
	uint8_t kind;		   /* of what is below: enum alert_kind, ALERT_KINDS: not watched */
	bool has_class;		   /* of a machine: what is below the class */
};

static uint8_t kind_of_class(const char *name)
{
	if (!strcmp(name, "steal") || !strcmp(name, "waiting"))
		return ALERT_STEAL;
	if (!strncmp(name, "vmm-", 4))
		return ALERT_VMM;
	return strcmp(name, "guest") ? ALERT_KINDS : ALERT_GUEST;
}

/* Words say what groups others only where groups are: in a profile on top, of a machine above the class. Below, a file may be called so. */
static void look_up(const struct fact_set *s, const struct profile_node *node,
		    const struct above *parent, struct above *ret)
{
	const struct function *f = functions_get(&s->functions, node->key);

	*ret = *parent;
	if (s->key.kind == FACT_VM ? parent->has_class : node->depth > 1)
		return;
	if (!strcmp(f->object, "process"))
		ret->process = node->key;
	else if (!strcmp(f->object, "machine"))
		ret->machine = node->key;
	else if (!strcmp(f->object, "class")) {
		ret->kind = kind_of_class(f->name);
		ret->has_class = true;
	}
}

static void add_values(struct alert_thing *t, const uint64_t *values)
{
	t->ns += values[PROFILE_WEIGHT];
	t->samples += values[PROFILE_SAMPLES];
}

/* object+0xoffset: a place without a name. It is an instruction or two of a function, and another one in the next build. */
static bool is_place(const struct function *f)
{
	size_t len = strlen(f->object);

	return len && !strncmp(f->name, f->object, len) && !strncmp(f->name + len, "+0x", 3);
}

/* What Kiseki's own programs and threads are called: what they do follows from what they are asked. */
static bool is_own(const char *name)
{
	return !strncmp(name, "kiseki", 6);
}

static int add_function(struct alert_view *v, const struct fact_set *s, const struct above *a,
			uint32_t node, uint32_t key)
{
	uint32_t scope = s->key.kind == FACT_VM ? a->machine : a->process;
	const uint32_t keys[2] = { scope, key };
	struct alert_thing *t;
	int r;

	if (s->key.kind != FACT_VM && scope != NONE &&
	    is_own(functions_get(&s->functions, scope)->name))
		return 0;
	r = find(v, s->key.kind == FACT_VM ? ALERT_GUEST : ALERT_FUNCTION, keys, &t);
	if (r < 0 || !t)
		return r;
	t->name = functions_get(&s->functions, key)->name;
	t->object = functions_get(&s->functions, key)->object;
	t->scope = scope == NONE ? "" : functions_get(&s->functions, scope)->name;
	add_values(t, profile_tree_self(s->tree, node));
	return 0;
}

/* All of a process, of what was stolen from a machine, of what the VMM took. */
static int add_group(struct alert_view *v, const struct fact_set *s, uint8_t kind, uint32_t key,
		     uint32_t node)
{
	const uint32_t keys[2] = { key, NONE };
	struct alert_thing *t;
	int r;

	if (kind == ALERT_PROCESS && is_own(functions_get(&s->functions, key)->name))
		return 0;
	r = find(v, kind, keys, &t);
	if (r < 0 || !t)
		return r;
	t->name = functions_get(&s->functions, key)->name;
	add_values(t, profile_tree_total(s->tree, node));
	return 0;
}

/* Which of those below has most of it. */
static int add_cause(struct alert_view *v, const struct fact_set *s, const struct above *a,
		     uint32_t node, uint32_t key)
{
	const uint32_t keys[2] = { a->machine, NONE };
	uint64_t ns = profile_tree_total(s->tree, node)[PROFILE_WEIGHT];
	struct alert_thing *t;
	int r = find(v, a->kind, keys, &t);

	if (r < 0 || !t || ns <= t->cause_ns)
		return r;
	t->cause = functions_get(&s->functions, key)->name;
	t->cause_ns = ns;
	return 0;
}

static int add_node(struct alert_view *v, const struct fact_set *s, const struct above *a,
		    uint32_t node)
{
	const struct profile_node *p = profile_tree_get(s->tree, node);
	uint32_t key = p->key;
	const struct function *f = functions_get(&s->functions, key);
	bool is_machine = s->key.kind == FACT_VM;

	if (!is_machine && p->depth == 1 && !strcmp(f->object, "process"))
		return add_group(v, s, ALERT_PROCESS, key, node);
	if (is_machine && !strcmp(f->object, "class") &&
	    (a->kind == ALERT_STEAL || a->kind == ALERT_VMM) && a->machine != NONE)
		return add_group(v, s, a->kind, a->machine, node);
	if (is_machine && a->machine != NONE &&
	    ((a->kind == ALERT_STEAL && !strcmp(f->object, "culprit")) ||
	     (a->kind == ALERT_VMM && !strcmp(f->object, "exit"))))
		return add_cause(v, s, a, node, key);
	if (is_place(f) || (is_machine && fact_is_group(f)) ||
	    !profile_tree_self(s->tree, node)[PROFILE_WEIGHT] ||
	    (is_machine && (a->kind != ALERT_GUEST || a->machine == NONE)))
		return 0;
	return add_function(v, s, a, node, key);
}

/* How long the virtual CPUs of each machine were, by its key. */
static void add_walls(const struct fact_set *s, uint64_t *walls)
{
	const struct profile_node *p;
	size_t n = profile_tree_count(s->tree);
	uint32_t i;

	for (i = 1; i < n; i++) {
		p = profile_tree_get(s->tree, i);
		if (!strcmp(functions_get(&s->functions, p->key)->object, "machine"))
			walls[p->key] += profile_tree_total(s->tree, i)[PROFILE_WEIGHT];
	}
}

/* Shares, when all is added up. */
static void finish(struct alert_view *v, const struct fact_set *s, const uint64_t *walls)
{
	const uint32_t none = NONE;
	struct alert_thing *t, *scope;
	uint64_t of_ns, all = s->covered_ns, totals[FACT_VALUES];
	size_t i;

	if (s->key.kind == FACT_CYCLES) { /* how many there could have been nobody knows */
		fact_set_totals(s, totals);
		all = totals[PROFILE_WEIGHT];
	}

	for (i = 0; i < v->n; i++) {
		t = v->things[i];
		of_ns = s->key.kind == FACT_VM ? walls[t->keys[0]] : all;
		t->value = of_ns ? (double)t->ns / (double)of_ns : 0;
		t->noise = t->samples ? t->value / sqrt((double)t->samples) : 0;
		if (t->kind != ALERT_FUNCTION || t->keys[0] == NONE)
			continue;
		if (find(v, ALERT_PROCESS, (const uint32_t[2]){ t->keys[0], none }, &scope) == 0 &&
		    scope && scope->ns)
			t->of_scope = (double)t->ns / (double)scope->ns;
	}
}

static int view_tree(struct alert_view *v, const struct fact_set *s)
{
	size_t n = profile_tree_count(s->tree);
	struct above *above = calloc(n, sizeof(*above));
	uint64_t *walls = calloc(s->functions.n + 1, sizeof(*walls));
	const struct profile_node *p;
	uint32_t i;
	int r = above && walls ? 0 : -ENOMEM;

	if (r >= 0) {
		above[0] = (struct above){ NONE, NONE, ALERT_KINDS, false };
		add_walls(s, walls);
	}
	for (i = 1; r >= 0 && i < n; i++) {
		p = profile_tree_get(s->tree, i);
		look_up(s, p, &above[p->parent], &above[i]);
		r = add_node(v, s, &above[i], i);
	}
	if (r >= 0)
		finish(v, s, walls);
	free(above);
	free(walls);
	return r;
}

/* --- tasks --- */

static int add_task(struct alert_view *v, const struct fact_set *s, uint32_t i)
{
	const struct fact_task *task = &s->tasks[i];
	const uint32_t keys[2] = { i, NONE };
	struct alert_thing *t;
	int r;

	if (is_own(task->name))
		return 0;
	r = find(v, ALERT_TASK, keys, &t);
	if (r < 0 || !t)
		return r;
	t->name = task->name;
	t->value = s->covered_ns ? (double)task->cpu_ns / (double)s->covered_ns : 0;
	t->noise = task->switches ? t->value / sqrt((double)task->switches) : 0;
	if (task->waits.count < 100) /* there is no 99th percentile of fewer */
		return 0;
	r = find(v, ALERT_WAIT, keys, &t);
	if (r < 0 || !t)
		return r;
	t->name = task->name;
	t->value = (double)histogram_permille(&task->waits, 990) / 1e9;
	t->noise = t->value / sqrt((double)task->waits.count / 100);
	return 0;
}

int alert_view_init(struct alert_view *v, const struct fact_set *s)
{
	uint32_t i;
	int r = 0;

	memset(v, 0, sizeof(*v));
	hashtable_init(&v->table, ALERT_THINGS_MAX);
	if (s->tree)
		r = view_tree(v, s);
	for (i = 0; r >= 0 && i < s->n_tasks; i++)
		r = add_task(v, s, i);
	if (r < 0)
		alert_view_done(v);
	return r;
}
