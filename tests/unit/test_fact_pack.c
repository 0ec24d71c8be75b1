/* SPDX-License-Identifier: MIT */
/* fact_pack, fact_flat: what is decoded is what was encoded; bytes that end early or are another's are damaged. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "facts/fact_flat.h"
#include "facts/fact_name.h"
#include "facts/fact_pack.h"
#include "tools/fact_random.h"

struct packed {
	struct fact_set set;
	struct fact_numbers numbers;
	uint8_t *flat, *tree, *tasks, *objects;
	size_t flat_len, tree_len, tasks_len, objects_len;
};

static void pack(struct packed *p, uint8_t kind, uint64_t period_ns)
{
	struct fact_key key = { .kind = kind, .length_s = FACT_MINUTE_S };
	struct fact_random r = {
		.seed = 3, .functions = 300, .stacks = 400, .period_ns = period_ns
	};
	struct fact_flat flat;
	size_t i, n;

	memset(p, 0, sizeof(*p));
	assert_int_equal(fact_random_make(&p->set, &key, &r), 0);
	n = p->set.functions.n;
	p->numbers.functions = calloc(n + 1, sizeof(uint32_t));
	p->numbers.objects = calloc(n + 1, sizeof(uint32_t));
	for (i = 0; i < n; i++) { /* in no order, with gaps */
		p->numbers.functions[i] = (uint32_t)(3 * ((i * 7919) % n) + 1000);
		p->numbers.objects[i] = (uint32_t)(i % 16);
	}
	assert_int_equal(fact_flat_init(&flat, &p->set, &p->numbers), 0);
	assert_int_equal(fact_flat_encode(&flat, &p->flat, &p->flat_len), 0);
	fact_flat_done(&flat);
	assert_int_equal(fact_tree_encode(&p->set, p->numbers.functions, &p->tree, &p->tree_len),
			 0);
	assert_int_equal(fact_tasks_encode(&p->set, &p->tasks, &p->tasks_len), 0);
	assert_int_equal(fact_objects_encode(&p->set, &p->objects, &p->objects_len), 0);
}

static void unpack_done(struct packed *p)
{
	fact_set_done(&p->set);
	free(p->numbers.functions);
	free(p->numbers.objects);
	free(p->flat);
	free(p->tree);
	free(p->tasks);
	free(p->objects);
}

/* The name that a number was given for. */
static uint32_t key_of_number(const struct packed *p, uint32_t number)
{
	uint32_t i;

	for (i = 0; p->numbers.functions[i] != number; i++)
		assert_true(i < p->set.functions.n);
	return i;
}

static int unpack(const struct packed *p, struct fact_set *ret)
{
	struct fact_tree_reader t;
	const struct function *f;
	uint32_t *keys;
	size_t i;
	int r = 0;

	if (ret->tree) {
		assert_int_equal(fact_tree_open(&t, p->tree, p->tree_len), 0);
		keys = calloc(t.n_numbers + 1, sizeof(*keys));
		for (i = 0; i < t.n_numbers; i++) {
			f = functions_get(&p->set.functions, key_of_number(p, t.numbers[i]));
			assert_int_equal(functions_find_label(&ret->functions, f->name, f->object,
							      &keys[i]),
					 0);
		}
		r = fact_tree_add(&t, ret->tree, keys);
		assert_int_equal(reader_left(&t.r), 0);
		free(keys);
		fact_tree_done(&t);
	}
	if (r == 0)
		r = fact_tasks_decode(ret, p->tasks, p->tasks_len);
	return r < 0 ? r : fact_objects_decode(ret, p->objects, p->objects_len);
}

static void comes_back(void **state)
{
	static const uint64_t periods[] = { 0, 10101010 };
	struct fact_set back;
	struct packed p;
	char *x, *y;
	uint8_t kind;
	size_t i;

	(void)state;
	for (kind = 0; kind < FACT_KINDS; kind++)
		for (i = 0; i < 2; i++) {
			pack(&p, kind, periods[i]);
			assert_int_equal(fact_set_init(&back, &p.set.key), 0);
			assert_int_equal(unpack(&p, &back), 0);
			back.covered_ns = p.set.covered_ns;
			back.events = p.set.events;
			back.lost = p.set.lost;
			back.lost_places = p.set.lost_places;
			x = fact_random_text(&p.set);
			y = fact_random_text(&back);
			assert_string_equal(x, y);
			free(x);
			free(y);
			fact_set_done(&back);
			unpack_done(&p);
		}
}

static void lists_come_back(void **state)
{
	struct fact_flat_row row = { 0 }; /* what is between its fields, too */
	struct fact_flat_reader r;
	struct fact_flat flat;
	struct packed p;
	uint32_t by;
	size_t i;

	(void)state;
	pack(&p, FACT_VM, 0);
	assert_int_equal(fact_flat_init(&flat, &p.set, &p.numbers), 0);
	for (by = 0; by < FACTS_BYS; by++) {
		assert_int_equal(fact_flat_read(&r, p.flat, p.flat_len, by), 0);
		for (i = 0; fact_flat_next(&r, &row); i++)
			assert_memory_equal(&row, &flat.rows[by][i], sizeof(row));
		assert_int_equal(i, flat.n[by]);
		assert_true(i > 0);
		assert_false(r.r.bad);
	}
	fact_flat_done(&flat);
	unpack_done(&p);
}

/* Any end that is too early. */
static void knows_what_is_cut(void **state)
{
	struct fact_tree_reader t;
	struct fact_tree_node node;
	struct fact_flat_reader r;
	struct fact_flat_row row;
	struct fact_set s;
	struct packed p;
	size_t cut;

	(void)state;
	pack(&p, FACT_PROFILE, 1000);
	for (cut = 0; cut < p.tree_len; cut++) {
		if (fact_tree_open(&t, p.tree, cut) < 0)
			continue;
		while (fact_tree_next(&t, &node))
			;
		assert_true(t.r.bad);
		fact_tree_done(&t);
	}
	for (cut = 0; cut < p.objects_len; cut++) {
		assert_int_equal(fact_set_init(&s, &p.set.key), 0);
		assert_int_equal(fact_objects_decode(&s, p.objects, cut), -EBADMSG);
		fact_set_done(&s);
	}
	for (cut = 0; cut < p.flat_len; cut++) {
		if (fact_flat_read(&r, p.flat, cut, FACTS_BY_MACHINE) < 0)
			continue;
		while (fact_flat_next(&r, &row))
			;
		assert_true(r.r.bad);
	}
	unpack_done(&p);
	pack(&p, FACT_SCHED, 0);
	for (cut = 0; cut < p.tasks_len; cut++) {
		assert_int_equal(fact_set_init(&s, &p.set.key), 0);
		assert_int_equal(fact_tasks_decode(&s, p.tasks, cut), -EBADMSG);
		fact_set_done(&s);
	}
	unpack_done(&p);
}

/* Numbers that promise more than there is. */
static void believes_no_count(void **state)
{
	static const uint8_t many[] = { 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f };
	static const uint8_t other[] = { 2, 0 };
	/* one name, one node below it: two levels up from the root */
	static const uint8_t above[] = { 1, 1, 5, 1, 0, 0, 0, 4, 0 };
	struct fact_key key = { .kind = FACT_SCHED, .length_s = FACT_MINUTE_S };
	struct fact_tree_reader t;
	struct fact_tree_node node;
	struct fact_flat_reader r;
	struct fact_set s;

	(void)state;
	assert_int_equal(fact_set_init(&s, &key), 0);
	assert_int_equal(fact_tree_open(&t, many, sizeof(many)), -EBADMSG);
	assert_int_equal(fact_tree_open(&t, other, sizeof(other)), -EBADMSG);
	assert_int_equal(fact_flat_read(&r, many, sizeof(many), 0), -EBADMSG);
	assert_int_equal(fact_flat_read(&r, other, sizeof(other), 0), -EBADMSG);
	assert_int_equal(fact_tasks_decode(&s, many, sizeof(many)), -EBADMSG);
	assert_int_equal(fact_objects_decode(&s, many, sizeof(many)), -EBADMSG);
	assert_int_equal(fact_tree_open(&t, above, sizeof(above)), 0);
	assert_false(fact_tree_next(&t, &node));
	assert_true(t.r.bad);
	fact_tree_done(&t);
	fact_set_done(&s);
}

/* More names, or more nodes, than a set may have, though there are bytes for them. */
static void knows_ceilings(void **state)
{
	size_t len = FUNCTIONS_MAX + PROFILE_NODES_MAX + 64;
	struct fact_tree_reader t;
	uint8_t *data = calloc(1, len), *p;

	(void)state;
	assert_non_null(data);
	data[0] = 1;
	varint_put(data + 1, FUNCTIONS_MAX + 1);
	assert_int_equal(fact_tree_open(&t, data, len), -EBADMSG);
	memset(data, 0, 16);
	data[0] = 1;
	p = varint_put(data + 1, 0);
	varint_put(p, PROFILE_NODES_MAX);
	assert_int_equal(fact_tree_open(&t, data, len), -EBADMSG);
	p = varint_put(data + 1, 0);
	varint_put(p, PROFILE_NODES_MAX - 1);
	assert_int_equal(fact_tree_open(&t, data, len), 0);
	fact_tree_done(&t);
	free(data);
}

static int decode_waits(uint64_t min, uint64_t more, uint64_t count)
{
	struct fact_key key = { .kind = FACT_SCHED, .length_s = FACT_MINUTE_S };
	/* One task, "x", that was nowhere; of its waits an octave with two lengths. */
	uint8_t bytes[128] = { 1, 1, 1, 'x', 0, 0, 0, 0, 1, 0 }, *p = bytes + 10;
	struct fact_set s;
	int r;

	p = varint_put(p, min);
	p = varint_put(p, more);
	*p++ = 3; /* which */
	*p++ = 2;
	*p++ = 0;
	p = varint_put(p, count);
	*p++ = 0;
	p = varint_put(p, count);
	*p++ = 0; /* nobody took its place */
	assert_int_equal(fact_set_init(&s, &key), 0);
	r = fact_tasks_decode(&s, bytes, (size_t)(p - bytes));
	if (!r)
		assert_int_equal(s.tasks[0].waits.count, 2 * count);
	fact_set_done(&s);
	return r;
}

/* Sums that would begin anew. */
static void knows_overflows(void **state)
{
	(void)state;
	assert_int_equal(decode_waits(5, 6, 7), 0);
	assert_int_equal(decode_waits(5, UINT64_MAX - 5, 7), 0);
	assert_int_equal(decode_waits(5, UINT64_MAX - 4, 7), -EBADMSG);
	assert_int_equal(decode_waits(5, 6, UINT64_MAX / 2), 0);
	assert_int_equal(decode_waits(5, 6, UINT64_MAX / 2 + 1), -EBADMSG);
}

static uint32_t put_node(struct fact_set *s, uint32_t above, const char *name, const char *object)
{
	uint32_t key, node;

	assert_int_equal(functions_find_label(&s->functions, name, object, &key), 0);
	assert_int_equal(profile_tree_find(s->tree, above, key, &node), 0);
	return node;
}

/* Trees of other shapes than recorders give: no process above, time without samples, functions with one number. */
static void takes_any_tree(void **state)
{
	static const uint8_t kinds[] = { FACT_PROFILE, FACT_VM };
	static const uint64_t ns_only[FACT_VALUES] = { 0, 5 };
	uint32_t same[] = { 7, 7, 7 }, objects[] = { 1, 2, 2 };
	const struct fact_numbers numbers = { .functions = same, .objects = objects };
	struct fact_tree_reader t;
	struct fact_flat_reader r;
	struct fact_flat_row row;
	struct fact_flat flat;
	struct fact_set s;
	uint8_t *bytes;
	size_t i, len;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct fact_key key = { .kind = kinds[i], .length_s = FACT_MINUTE_S };
		uint32_t node;

		assert_int_equal(fact_set_init(&s, &key), 0);
		node = put_node(&s, 0, "f", "a.so");
		node = put_node(&s, node, "g", "b.so");
		profile_tree_add(s.tree, put_node(&s, node, "h", "b.so"), ns_only);
		assert_int_equal(fact_flat_init(&flat, &s, &numbers), 0);
		assert_int_equal(flat.n[FACTS_BY_PROCESS], 0);
		assert_int_equal(flat.n[FACTS_BY_FUNCTION], 1);
		assert_int_equal(flat.n[FACTS_BY_OBJECT], 2);
		assert_int_equal(fact_flat_encode(&flat, &bytes, &len), 0);
		assert_int_equal(fact_flat_read(&r, bytes, len, FACTS_BY_FUNCTION), 0);
		assert_true(fact_flat_next(&r, &row));
		assert_int_equal(row.number, 7);
		assert_int_equal(row.total[0], 0);
		assert_int_equal(row.total[1], 5); /* once, though it is thrice on the path */
		assert_int_equal(row.self[1], 5);
		assert_false(fact_flat_next(&r, &row));
		free(bytes);
		fact_flat_done(&flat);
		assert_int_equal(fact_tree_encode(&s, same, &bytes, &len), 0);
		assert_int_equal(fact_tree_open(&t, bytes, len), 0);
		assert_int_equal(t.n_numbers, 1);
		assert_int_equal(t.left, 3);
		fact_tree_done(&t);
		free(bytes);
		fact_set_done(&s);
	}
}

/* As the specification has it. */
static void numbers_names(void **state)
{
	uint64_t a, b;

	(void)state;
	assert_int_equal(fact_name_hash("libc.so.6", "malloc", &a), 0);
	assert_true(a == 0xb250ede12fbf4202ULL);
	assert_int_equal(fact_name_hash("libc.so.6m", "alloc", &b), 0);
	assert_true(a != b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),	     cmocka_unit_test(lists_come_back),
		cmocka_unit_test(knows_what_is_cut), cmocka_unit_test(believes_no_count),
		cmocka_unit_test(numbers_names),     cmocka_unit_test(knows_ceilings),
		cmocka_unit_test(knows_overflows),   cmocka_unit_test(takes_any_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
