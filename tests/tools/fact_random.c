/* SPDX-License-Identifier: MIT */
/* fact_random: see fact_random.h. */
#include "tools/fact_random.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 14U
#define CALLEES 3U
#define OBJECTS 16U

static uint32_t draw(uint32_t *state, uint32_t below)
{
	*state = *state * 1664525U + 1013904223U;
	return (uint32_t)((uint64_t)(*state >> 1) * below >> 31);
}

struct message_id fact_random_id(uint32_t number)
{
	struct message_id id;

	memset(&id, 0xa5, sizeof(id));
	memcpy(id.bytes + 4, &number, sizeof(number));
	return id;
}

/* Each function calls a few others, the first of them most. */
static uint32_t draw_callee(uint32_t *state, uint32_t caller, uint32_t n)
{
	uint32_t a = draw(state, CALLEES), b = draw(state, CALLEES);

	return (caller * CALLEES + (a < b ? a : b) + 1) % n;
}

static int find(struct fact_set *s, uint32_t *node, const char *name, const char *object)
{
	uint32_t key;
	int r = functions_find_label(&s->functions, name, object, &key);

	return r < 0 ? r : profile_tree_find(s->tree, *node, key, node);
}

static int find_function(struct fact_set *s, uint32_t *node, uint32_t number)
{
	char name[32], object[32];

	snprintf(name, sizeof(name), "function_%u", number);
	snprintf(object, sizeof(object), "lib%u.so", number % OBJECTS);
	return find(s, node, name, object);
}

static int put_stack(struct fact_set *s, const struct fact_random *r, uint32_t *state)
{
	static const char *const classes[] = { "guest", "vmm-kernel", "steal", "halt" };
	uint64_t values[FACT_VALUES] = { 1 + draw(state, 9), 0 };
	uint32_t node = 0, depth = 1 + draw(state, DEPTH_MAX), function = 0, i;
	char process[32];
	int code = 0;

	snprintf(process, sizeof(process), "process_%u", draw(state, 8));
	values[1] = values[0] * (r->period_ns ? r->period_ns : 1000 + draw(state, 1000000));
	if (s->key.kind == FACT_VM)
		code = find(s, &node, "VM one", "machine");
	if (code >= 0)
		code = find(s, &node, process, "process");
	if (code >= 0 && s->key.kind == FACT_VM)
		code = find(s, &node, classes[draw(state, 4)], "class");
	for (i = 0; code >= 0 && i < depth; i++) {
		code = find_function(s, &node, function);
		function = draw_callee(state, function, r->functions);
	}
	if (code >= 0)
		profile_tree_add(s->tree, node, values);
	return code;
}

static int put_task(struct fact_set *s, uint32_t *state)
{
	struct fact_task *t;
	char name[32];
	int r;

	snprintf(name, sizeof(name), "task_%u", draw(state, 40));
	r = fact_set_find_task(s, name, &t);
	if (r < 0)
		return r;
	t->cpu_ns += draw(state, 1000000);
	t->switches++;
	t->wakeups += draw(state, 2);
	t->preemptions += draw(state, 2);
	r = histogram_add(&t->waits, draw(state, 1U << draw(state, 30)));
	return r < 0 ? r : histogram_add(&t->preempted, draw(state, 1000));
}

static int put_object(struct fact_set *s, uint32_t *state)
{
	struct fact_object like = { .build_id_len = FACT_BUILD_ID_MAX }, *o;
	char name[32];
	int r;

	snprintf(name, sizeof(name), "lib%u.so", draw(state, OBJECTS));
	like.name = name;
	like.build_id[0] = (uint8_t)draw(state, 2);
	r = fact_set_find_object(s, &like, &o);
	if (r >= 0)
		o->samples += draw(state, 100);
	return r;
}

int fact_random_make(struct fact_set *ret, const struct fact_key *key, const struct fact_random *r)
{
	uint32_t state = r->seed * 2654435761U + 12345, i;
	int code = fact_set_init(ret, key);

	for (i = 0; code >= 0 && i < r->stacks; i++)
		code = key->kind == FACT_SCHED ? put_task(ret, &state) : put_stack(ret, r, &state);
	for (i = 0; code >= 0 && i < OBJECTS; i++)
		code = put_object(ret, &state);
	ret->version = ret->events = r->stacks;
	ret->covered_ns = key->length_s * 1000000000ULL;
	ret->lost = draw(&state, 5);
	ret->lost_places = draw(&state, 2);
	if (code < 0)
		fact_set_done(ret);
	return code;
}

/* --- as text --- */

static void print_tree(FILE *f, struct fact_set *s)
{
	const struct profile_node *n;
	const struct function *function;
	const uint64_t *self;
	uint32_t node;

	if (profile_tree_sort(s->tree, 0, functions_compare, &s->functions) < 0)
		return;
	for (node = profile_tree_next(s->tree, 0, false); node != PROFILE_NODE_NONE;
	     node = profile_tree_next(s->tree, node, false)) {
		n = profile_tree_get(s->tree, node);
		function = functions_get(&s->functions, n->key);
		self = profile_tree_self(s->tree, node);
		fprintf(f, "%u %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", n->depth,
			function->name, function->object, self[0], self[1],
			profile_tree_total(s->tree, node)[1]);
	}
}

static void print_histogram(FILE *f, const struct histogram *h)
{
	uint32_t i, k;

	fprintf(f, " [%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, h->count, h->sum, h->min,
		h->max);
	for (i = 0; i < HISTOGRAM_OCTAVES; i++)
		for (k = 0; h->octaves[i] && k < HISTOGRAM_SUB; k++)
			if (h->octaves[i][k])
				fprintf(f, " %u.%u:%" PRIu64, i, k, h->octaves[i][k]);
	fprintf(f, "]");
}

char *fact_random_text(struct fact_set *s)
{
	const struct fact_object *o;
	const struct fact_task *t;
	char *text = NULL;
	size_t len = 0, i;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fprintf(f, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", s->covered_ns, s->events,
		s->lost, s->lost_places);
	if (s->tree)
		print_tree(f, s);
	for (i = 0; i < s->n_tasks; i++) {
		t = &s->tasks[s->task_order[i]];
		fprintf(f, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, t->name, t->cpu_ns,
			t->switches, t->preemptions, t->wakeups);
		print_histogram(f, &t->waits);
		print_histogram(f, &t->preempted);
		fprintf(f, "\n");
	}
	for (i = 0; i < s->n_objects; i++) {
		o = &s->objects[s->object_order[i]];
		fprintf(f, "%s %u.%u %" PRIu64 "\n", o->name, o->build_id_len, o->build_id[0],
			o->samples);
	}
	fclose(f);
	return text;
}
