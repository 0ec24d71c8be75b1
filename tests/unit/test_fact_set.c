/* SPDX-License-Identifier: MIT */
/* fact_set, fact_flat: sums are exact, by names; recursion counts once. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "facts/fact_flat.h"
#include "tools/fact_random.h"

static struct fact_key key_of(uint8_t kind)
{
	return (struct fact_key){ .device = fact_random_id(1),
				  .run = fact_random_id(2),
				  .kind = kind,
				  .length_s = FACT_MINUTE_S,
				  .start_s = 60 };
}

/* One stack, "process;a;b", with its samples of 10 ns. */
static void put(struct fact_set *s, const char *process, const char *path, uint64_t samples)
{
	uint64_t values[FACT_VALUES] = { samples, samples * 10 };
	uint32_t node = 0, key;
	char name[2] = "";

	assert_int_equal(functions_find_label(&s->functions, process, "process", &key), 0);
	assert_int_equal(profile_tree_find(s->tree, 0, key, &node), 0);
	for (; *path; path++) {
		name[0] = *path;
		assert_int_equal(functions_find_label(&s->functions, name,
						      *path < 'm' ? "low" : "high", &key),
				 0);
		assert_int_equal(profile_tree_find(s->tree, node, key, &node), 0);
	}
	profile_tree_add(s->tree, node, values);
}

static void adds_by_names(void **state)
{
	struct fact_key key = key_of(FACT_PROFILE);
	struct fact_set a, b, both;
	char *x, *y;

	(void)state;
	assert_int_equal(fact_set_init(&a, &key), 0);
	assert_int_equal(fact_set_init(&b, &key), 0);
	assert_int_equal(fact_set_init(&both, &key), 0);
	put(&a, "one", "ab", 3);
	put(&a, "two", "a", 1);
	put(&b, "two", "az", 5); /* other numbers for the same functions */
	put(&b, "one", "ab", 2);
	put(&both, "one", "ab", 5);
	put(&both, "two", "az", 5);
	put(&both, "two", "a", 1);
	a.covered_ns = 7;
	b.covered_ns = 8;
	both.covered_ns = 15;
	assert_int_equal(fact_set_add(&a, &b), 0);
	x = fact_random_text(&a);
	y = fact_random_text(&both);
	assert_string_equal(x, y);
	free(x);
	free(y);
	fact_set_done(&a);
	fact_set_done(&b);
	fact_set_done(&both);
}

/* In whatever order they are added, and with whatever: sixty sets and one after the other are the same. */
static void adds_in_any_order(void **state)
{
	struct fact_random r = { .functions = 50, .stacks = 100 };
	struct fact_key key;
	struct fact_set one, sums[2];
	char *x, *y;
	uint8_t kind;
	uint32_t i;

	(void)state;
	for (kind = 0; kind < FACT_KINDS; kind++) {
		key = key_of(kind);
		assert_int_equal(fact_set_init(&sums[0], &key), 0);
		assert_int_equal(fact_set_init(&sums[1], &key), 0);
		for (i = 0; i < 40; i++) {
			r.seed = i < 20 ? i : 39 - i;
			assert_int_equal(fact_random_make(&one, &key, &r), 0);
			assert_int_equal(fact_set_add(&sums[i / 20], &one), 0);
			fact_set_done(&one);
		}
		x = fact_random_text(&sums[0]);
		y = fact_random_text(&sums[1]);
		assert_string_equal(x, y);
		free(x);
		free(y);
		fact_set_done(&sums[0]);
		fact_set_done(&sums[1]);
	}
}

static void finds_rows(void **state)
{
	struct fact_key key = key_of(FACT_SCHED);
	struct fact_object like = { .name = "libc.so", .build_id_len = 2, .build_id = { 1, 2 } },
			   *o;
	struct fact_set s;
	struct fact_task *t;
	char name[2 * COMM_TEXT_LEN];

	(void)state;
	assert_int_equal(fact_set_init(&s, &key), 0);
	assert_null(s.tree);
	assert_int_equal(fact_set_find_task(&s, "b", &t), 0);
	t->cpu_ns = 2;
	assert_int_equal(fact_set_find_task(&s, "a", &t), 0);
	t->cpu_ns = 1;
	assert_int_equal(fact_set_find_task(&s, "b", &t), 0);
	assert_int_equal(t->cpu_ns, 2);
	assert_int_equal(s.n_tasks, 2);
	assert_string_equal(s.tasks[s.task_order[0]].name, "a");
	memset(name, 'x', sizeof(name));
	name[COMM_TEXT_LEN] = '\0';
	assert_int_equal(fact_set_find_task(&s, name, &t), -E2BIG);
	assert_int_equal(fact_set_find_object(&s, &like, &o), 0);
	o->samples = 5;
	like.build_id[1] = 1; /* another release */
	assert_int_equal(fact_set_find_object(&s, &like, &o), 0);
	assert_int_equal(o->samples, 0);
	assert_int_equal(s.n_objects, 2);
	fact_set_done(&s);
}

static const struct fact_flat_row *row_of(const struct fact_flat *f, enum facts_by by,
					  uint32_t number)
{
	size_t i;

	for (i = 0; i < f->n[by]; i++)
		if (f->rows[by][i].number == number)
			return &f->rows[by][i];
	return NULL;
}

static void check_row(const struct fact_flat *f, enum facts_by by, uint32_t number, uint64_t self,
		      uint64_t total)
{
	const struct fact_flat_row *row = row_of(f, by, number);

	assert_non_null(row);
	assert_int_equal(row->self[0], self);
	assert_int_equal(row->self[1], self * 10);
	assert_int_equal(row->total[0], total);
	assert_int_equal(row->total[1], total * 10);
}

static void flattens(void **state)
{
	struct fact_key key = key_of(FACT_PROFILE);
	/* by key: one, a, b, z, two, c; the number of c is that of a: two that have one name */
	uint32_t functions[] = { 10, 11, 12, 13, 14, 11 }, objects[] = { 90, 1, 1, 2, 90, 1 };
	struct fact_numbers numbers = { functions, objects };
	struct fact_flat flat;
	struct fact_set s;

	(void)state;
	assert_int_equal(fact_set_init(&s, &key), 0);
	put(&s, "one", "abza", 1); /* recursion: a once */
	put(&s, "one", "ab", 4);
	put(&s, "two", "c", 20);
	assert_int_equal(fact_flat_init(&flat, &s, &numbers), 0);
	assert_int_equal(flat.n[FACTS_BY_FUNCTION], 3);
	check_row(&flat, FACTS_BY_FUNCTION, 11, 21, 25);
	check_row(&flat, FACTS_BY_FUNCTION, 12, 4, 5);
	check_row(&flat, FACTS_BY_FUNCTION, 13, 0, 1);
	assert_int_equal(flat.n[FACTS_BY_PROCESS], 2);
	check_row(&flat, FACTS_BY_PROCESS, 10, 5, 5);
	check_row(&flat, FACTS_BY_PROCESS, 14, 20, 20);
	assert_int_equal(flat.n[FACTS_BY_OBJECT], 2);
	check_row(&flat, FACTS_BY_OBJECT, 1, 25, 25);
	check_row(&flat, FACTS_BY_OBJECT, 2, 0, 1);
	assert_int_equal(flat.n[FACTS_BY_CLASS], 0);
	fact_flat_done(&flat);
	fact_set_done(&s);
}

/* host ; machine ; process ; class ; mode ; object ; function, and a program that is called like a label. */
static void flattens_machines(void **state)
{
	static const char *const path[][2] = { { "h", "host" },	     { "VM", "machine" },
					       { "sh", "process" },  { "guest", "class" },
					       { "user", "mode" },   { "libc", "object" },
					       { "malloc", "libc" }, { "main", "host" } };
	struct fact_key key = key_of(FACT_VM);
	uint32_t functions[] = { 0, 1, 2, 3, 4, 5, 6, 7 }, objects[] = { 8, 8, 8, 8, 8, 8, 9, 10 };
	struct fact_numbers numbers = { functions, objects };
	uint64_t values[FACT_VALUES] = { 3, 30 };
	struct fact_flat flat;
	struct fact_set s;
	uint32_t node = 0, found;
	size_t i;

	(void)state;
	assert_int_equal(fact_set_init(&s, &key), 0);
	for (i = 0; i < sizeof(path) / sizeof(*path); i++) {
		assert_int_equal(functions_find_label(&s.functions, path[i][0], path[i][1], &found),
				 0);
		assert_int_equal(profile_tree_find(s.tree, node, found, &node), 0);
	}
	profile_tree_add(s.tree, node, values);
	assert_int_equal(fact_flat_init(&flat, &s, &numbers), 0);
	assert_int_equal(flat.n[FACTS_BY_FUNCTION], 2);
	check_row(&flat, FACTS_BY_FUNCTION, 6, 0, 3);
	check_row(&flat, FACTS_BY_FUNCTION, 7, 3, 3);
	check_row(&flat, FACTS_BY_PROCESS, 2, 3, 3);
	check_row(&flat, FACTS_BY_MACHINE, 1, 3, 3);
	check_row(&flat, FACTS_BY_CLASS, 3, 3, 3);
	check_row(&flat, FACTS_BY_OBJECT, 9, 0, 3);
	fact_flat_done(&flat);
	fact_set_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds_by_names),     cmocka_unit_test(adds_in_any_order),
		cmocka_unit_test(finds_rows),	     cmocka_unit_test(flattens),
		cmocka_unit_test(flattens_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
