/* SPDX-License-Identifier: MIT */
/* boot_json: the document says what the model has, and is one whatever processes are called. */
#include "chart/boot_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "tools/fake_boot.h"

static json_t *document(const struct boot *b)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	json_error_t why;
	json_t *doc;

	assert_non_null(f);
	assert_int_equal(boot_json_write(f, b, NULL), 0);
	fclose(f);
	assert_null(strchr(text, '<'));
	doc = json_loads(text, JSON_REJECT_DUPLICATES, &why);
	if (!doc)
		fail_msg("%s at %d", why.text, why.position);
	return doc;
}

static json_int_t number(json_t *o, const char *name)
{
	json_t *v = json_object_get(o, name);

	assert_true(json_is_integer(v));
	return json_integer_value(v);
}

/* A column's value, or what one that is left out means. */
static json_int_t cell(json_t *spans, const char *name, size_t i, json_int_t otherwise)
{
	json_t *list = json_object_get(spans, name);

	return list ? json_integer_value(json_array_get(list, i)) : otherwise;
}

static void check_process(json_t *doc, const struct boot *b, size_t i)
{
	const struct boot_process *p = &b->processes[i];
	json_t *o = json_array_get(json_object_get(doc, "processes"), i);
	json_t *spans = json_object_get(o, "spans");
	const char *letters = json_string_value(json_object_get(spans, "state"));
	json_int_t at = number(o, "from_ns");
	size_t k;

	assert_int_equal(number(o, "pid"), p->pid);
	assert_int_equal(number(o, "parent"), p->parent == BOOT_NONE ? -1 : (json_int_t)p->parent);
	assert_int_equal(strlen(letters), p->n_spans);
	for (k = 0; k < p->n_spans; k++) {
		const struct boot_span *s = &p->spans[k];

		assert_int_equal(at, s->from_ns);
		at += cell(spans, "length_ns", k, -1);
		assert_int_equal(at, s->to_ns);
		assert_int_equal(letters[k], "RWDSTZU"[s->state]);
		assert_int_equal(cell(spans, "share", k, 0), s->share);
		assert_int_equal(cell(spans, "whom", k, -1),
				 s->whom == BOOT_NONE ? -1 : (json_int_t)s->whom);
		assert_int_equal(cell(spans, "where", k, 0), s->where);
	}
	assert_int_equal(at, p->to_ns);
}

static void check(const struct fake_boot_options *o)
{
	CLEANUP(boot) struct boot *b = fake_boot_new(o);
	json_t *doc = document(b), *points;
	size_t i;

	assert_string_equal(json_string_value(json_object_get(doc, "format")), "kiseki-boot");
	assert_int_equal(number(doc, "version"), 1);
	assert_int_equal(number(doc, "target_ns"), FAKE_TARGET_NS);
	assert_int_equal(json_array_size(json_object_get(doc, "processes")), b->n_processes);
	for (i = 0; i < b->n_processes; i++)
		check_process(doc, b, i);
	points = json_object_get(doc, "points");
	assert_int_equal(json_array_size(json_object_get(points, "ns")), b->n_points);
	for (i = 0; i < b->n_points; i++) {
		assert_int_equal(cell(points, "user_ns", i, -1), b->points[i].user_ns);
		assert_int_equal(cell(points, "runnable", i, -1), b->points[i].runnable);
		assert_int_equal(cell(points, "io_some_ns", i, -1),
				 b->points[i].some_ns[BOOT_RESOURCE_IO]);
	}
	assert_int_equal(json_array_size(json_object_get(doc, "marks")), b->n_marks);
	assert_int_equal(json_array_size(json_object_get(doc, "gaps")), b->n_gaps);
	assert_int_equal(json_array_size(json_object_get(doc, "disks")), 2);
	json_decref(doc);
}

static void test_all(void **state)
{
	(void)state;
	check(&(struct fake_boot_options){ 0 });
	check(&(struct fake_boot_options){ .exact = true, .more = 50, .spans = 30 });
	check(&(struct fake_boot_options){ .cut = true, .hostile = true });
}

static void test_empty(void **state)
{
	char none[] = "";
	struct boot b = { .device = none,
			  .kernel = none,
			  .machine = none,
			  .origin = none,
			  .command_line = none,
			  .release = none,
			  .target = none };
	json_t *doc = document(&b);

	(void)state;
	assert_int_equal(json_array_size(json_object_get(doc, "processes")), 0);
	json_decref(doc);
}

static void test_full_disk(void **state)
{
	CLEANUP(boot) struct boot *b = fake_boot_new(&(struct fake_boot_options){ 0 });
	struct error e = ERROR_INIT;
	FILE *f = fopen("/dev/full", "w");

	(void)state;
	if (!f)
		skip();
	setvbuf(f, NULL, _IONBF, 0);
	assert_true(boot_json_write(f, b, &e) < 0);
	assert_non_null(strstr(e.text, "cannot write"));
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
