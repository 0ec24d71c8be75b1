/* SPDX-License-Identifier: MIT */
/* facts: any bytes as lists, trees, tasks and objects; what decodes must encode to bytes that say the same. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts/fact_flat.h"
#include "facts/fact_pack.h"

static const struct fact_key tree_key = { .kind = FACT_PROFILE, .length_s = FACT_MINUTE_S };
static const struct fact_key task_key = { .kind = FACT_SCHED, .length_s = FACT_MINUTE_S };

/* What must work does, as long as there is memory. */
static bool did(int r)
{
	assert(r == 0 || r == -ENOMEM);
	return r == 0;
}

static void read_lists(const uint8_t *data, size_t size)
{
	struct fact_flat_reader r;
	struct fact_flat_row row;
	uint64_t rows;
	uint32_t by;

	for (by = 0; by < FACTS_BYS; by++) {
		if (fact_flat_read(&r, data, size, by) < 0)
			continue;
		for (rows = 0; fact_flat_next(&r, &row); rows++)
			assert(row.number < FACTS_NAMES_MAX);
		assert(rows <= size);
	}
}

/* Names are made of the numbers, so that the same function has the same number again. */
static int decode_tree(struct fact_set *s, const uint8_t *data, size_t size)
{
	CLEANUP_FACT_TREE struct fact_tree_reader t = { 0 };
	_cleanup_free_ uint32_t *keys = NULL;
	char name[16];
	size_t i;
	int r = fact_tree_open(&t, data, size);

	if (r < 0)
		return r;
	keys = calloc(t.n_numbers + 1, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	for (i = 0; i < t.n_numbers; i++) {
		snprintf(name, sizeof(name), "%u", t.numbers[i]);
		if (!did(functions_find_label(&s->functions, name, "", &keys[i])))
			return -ENOMEM;
	}
	return fact_tree_add(&t, s->tree, keys);
}

static bool is_same(const struct fact_flat_row *a, const struct fact_flat_row *b)
{
	return a->number == b->number && !memcmp(a->self, b->self, sizeof(a->self)) &&
	       !memcmp(a->total, b->total, sizeof(a->total));
}

/* The lists of a tree are read as they were made. */
static void check_flat(const struct fact_set *s, uint32_t *numbers)
{
	CLEANUP_FACT_FLAT struct fact_flat flat = { 0 };
	struct fact_numbers n = { .functions = numbers, .objects = numbers };
	_cleanup_free_ uint8_t *bytes = NULL;
	struct fact_flat_reader r;
	struct fact_flat_row row;
	size_t len = 0, i;
	uint32_t by;

	for (i = 0; i < s->functions.n; i++)
		if (numbers[i] >= FACTS_NAMES_MAX)
			return;
	if (!did(fact_flat_init(&flat, s, &n)) || !did(fact_flat_encode(&flat, &bytes, &len)))
		return;
	for (by = 0; by < FACTS_BYS; by++) {
		assert(fact_flat_read(&r, bytes, len, by) == 0);
		for (i = 0; fact_flat_next(&r, &row); i++)
			assert(is_same(&row, &flat.rows[by][i]));
		assert(i == flat.n[by] && !r.r.bad);
	}
}

static void check_tree(const uint8_t *data, size_t size)
{
	CLEANUP_FACT_SET struct fact_set s = { .tree = NULL }, again = { .tree = NULL };
	_cleanup_free_ uint32_t *numbers = NULL;
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t len = 0;
	uint32_t i;

	if (!did(fact_set_init(&s, &tree_key)) || !did(fact_set_init(&again, &tree_key)))
		return;
	if (decode_tree(&s, data, size) < 0)
		return;
	numbers = calloc(s.functions.n + 1, sizeof(*numbers));
	if (!numbers)
		return;
	for (i = 0; i < s.functions.n; i++)
		numbers[i] = (uint32_t)strtoul(functions_get(&s.functions, i)->name, NULL, 10);
	check_flat(&s, numbers);
	if (!did(fact_tree_encode(&s, numbers, &bytes, &len)) ||
	    !did(decode_tree(&again, bytes, len)))
		return;
	assert(profile_tree_count(s.tree) == profile_tree_count(again.tree));
	assert(!memcmp(profile_tree_total(s.tree, 0), profile_tree_total(again.tree, 0),
		       FACT_VALUES * sizeof(uint64_t)));
}

static void check_rows(const uint8_t *data, size_t size)
{
	CLEANUP_FACT_SET struct fact_set s = { .tree = NULL }, again = { .tree = NULL };
	_cleanup_free_ uint8_t *tasks = NULL, *objects = NULL, *twice = NULL;
	size_t len = 0, twice_len = 0;

	if (!did(fact_set_init(&s, &task_key)) || !did(fact_set_init(&again, &task_key)))
		return;
	if (fact_tasks_decode(&s, data, size) == 0 && did(fact_tasks_encode(&s, &tasks, &len)) &&
	    did(fact_tasks_decode(&again, tasks, len)) &&
	    did(fact_tasks_encode(&again, &twice, &twice_len)))
		assert(len == twice_len && !memcmp(tasks, twice, len));
	if (fact_objects_decode(&s, data, size) == 0 &&
	    did(fact_objects_encode(&s, &objects, &len)) &&
	    did(fact_objects_decode(&again, objects, len)))
		assert(again.n_objects == s.n_objects);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_lists(data, size);
	check_tree(data, size);
	check_rows(data, size);
	return 0;
}
