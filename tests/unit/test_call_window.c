/* SPDX-License-Identifier: MIT */
/* Windows of time over calls: by hand, and random ones, which must add up to the whole. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/call_fold.h"
#include "analysis/call_report.h"
#include "analysis/call_slices.h"
#include "analysis/call_tree.h"
#include "tools/func_script.h"

#define LINES 400
#define ROUNDS 60

struct open {
	struct func_source *source;
	struct call_names *names;
	struct call_walk walk;
	struct call_window window;
};

static void open_script(struct open *o, const char *text)
{
	struct error e = ERROR_INIT;

	memset(o, 0, sizeof(*o));
	if (func_script_new(&o->source, text, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(call_names_new(&o->names, o->source, NULL, &e), 0);
	o->walk.source = o->source;
	o->walk.names = o->names;
}

static void close_script(struct open *o)
{
	call_names_free(o->names);
	func_source_free(o->source);
}

static struct call_report *report_of(struct open *o, uint64_t from_ns, uint64_t to_ns)
{
	struct call_report *r = NULL;
	struct error e = ERROR_INIT;

	o->window.from_ns = from_ns;
	o->window.to_ns = to_ns;
	o->walk.window = &o->window;
	assert_int_equal(o->source->ops->rewind(o->source, &e), 0);
	if (call_report_new(&r, &o->walk, &e) < 0)
		fail_msg("%s", e.text);
	call_report_sort(r, CALL_BY_NAME);
	return r;
}

static const struct call_stat *stat_of(const struct call_report *r, const char *name)
{
	const struct call_stat *s;
	size_t n, i;

	s = call_report_get(r, &n);
	for (i = 0; i < n; i++)
		if (!strcmp(call_names_get(call_report_names(r), s[i].function)->name, name))
			return &s[i];
	return NULL;
}

static const char small[] = "process 10 demo\n"
			    "thread 10 demo\n"
			    "thread 11 worker\n"
			    "100 10 > main\n"
			    "110 10 > f\n"
			    "120 11 > gone\n" /* never returns, and the thread has no more */
			    "150 10 < f\n"
			    "160 10 > g\n"
			    "180 10 < g\n"
			    "200 10 < main\n";

static void cuts_calls(void **state)
{
	struct call_report *r;
	struct open o;
	uint64_t last[] = { 200, 120 };

	(void)state;
	open_script(&o, small);
	o.window.last_ns = last;
	o.window.final = true;
	r = report_of(&o, 130, 170);
	assert_int_equal(call_report_totals(r)->threads, 1);
	assert_int_equal(call_report_totals(r)->from_ns, 130);
	assert_int_equal(call_report_totals(r)->to_ns, 170);
	assert_int_equal(call_report_totals(r)->counts.calls, 3);
	assert_int_equal(stat_of(r, "main")->total_ns, 40);
	assert_int_equal(call_split_sum(&stat_of(r, "main")->local), 10);
	assert_int_equal(stat_of(r, "f")->total_ns, 20);
	assert_int_equal(stat_of(r, "g")->total_ns, 10);
	assert_int_equal(stat_of(r, "g")->ends[CALL_OPEN], 1);
	/* A part of a call says nothing about how long calls take. */
	assert_int_equal(stat_of(r, "f")->ends[CALL_RETURNED], 1);
	assert_int_equal(call_stat_complete(stat_of(r, "f")), 0);
	assert_int_equal(stat_of(r, "f")->max_ns, 0);
	assert_null(stat_of(r, "gone"));
	call_report_free(r);
	close_script(&o);
}

static void is_empty_where_nothing_is(void **state)
{
	static const uint64_t at[][2] = { { 0, 100 }, { 200, 300 }, { 1000, 2000 } };
	struct call_report *r;
	struct open o;
	uint64_t last[] = { 200, 120 };
	size_t n, i;

	(void)state;
	open_script(&o, small);
	o.window.last_ns = last;
	o.window.final = true;
	for (i = 0; i < 3; i++) {
		r = report_of(&o, at[i][0], at[i][1]);
		assert_int_equal(call_split_sum(call_report_local(r)), 0);
		if (i != 1) { /* what returns at its begin is a call of no time in it */
			call_report_get(r, &n);
			assert_int_equal(n, 0);
			assert_int_equal(call_report_totals(r)->threads, 0);
		}
		call_report_free(r);
	}
	close_script(&o);
}

/* Nobody says when threads end: whoever has an event behind the window was there at its end. */
static void reads_on_where_ends_are_not_known(void **state)
{
	struct call_report *r;
	struct open o;

	(void)state;
	open_script(&o, small);
	r = report_of(&o, 130, 170);
	assert_int_equal(stat_of(r, "main")->total_ns, 40);
	assert_int_equal(stat_of(r, "g")->total_ns, 10);
	assert_int_equal(stat_of(r, "gone")->total_ns, 0);
	call_report_free(r);
	close_script(&o);
}

/* --- random ones --- */

static uint32_t seed;

static uint32_t draw(uint32_t below)
{
	seed = seed * 1664525U + 1013904223U;
	return (seed >> 8) % below;
}

/* Calls and returns that mostly fit, records, losses, of three threads; the first tick is 1000. */
static char *make_script(uint64_t *ret_end)
{
	static const char *const records[] = {
		"in 1", "out 1", "out 0", "wake 7", "call 3", "ret 3"
	};
	char *text = malloc(LINES * 32 + 256), *p = text;
	uint64_t tick = 1000;
	int i;

	assert_non_null(text);
	p += sprintf(p, "process 1 a\nthread 1 a\nthread 2 b\nprocess 3 c\nthread 3 c\n");
	for (i = 0; i < LINES; i++) {
		uint32_t what = draw(100), tid = 1 + draw(3);

		tick += draw(8);
		p += sprintf(p, "%" PRIu64 " %u ", tick, tid);
		if (what < 45)
			p += sprintf(p, "> f%u\n", draw(9));
		else if (what < 80)
			p += sprintf(p, "< f%u\n", draw(9));
		else if (what < 98)
			p += sprintf(p, "%s\n", records[draw(6)]);
		else
			p += sprintf(p, "lost %u\n", 1 + draw(5));
	}
	*ret_end = tick + 1;
	return text;
}

struct sums {
	uint64_t total[16], parts[CALL_PARTS], all, lost, orphans;
};

static void add_window(struct open *o, uint64_t from_ns, uint64_t to_ns, struct sums *sums)
{
	struct call_report *r = report_of(o, from_ns, to_ns);
	const struct call_stat *s;
	size_t n, i;

	s = call_report_get(r, &n);
	for (i = 0; i < n; i++)
		sums->total[s[i].function] += s[i].total_ns;
	for (i = 0; i < CALL_PARTS; i++)
		sums->parts[i] += call_report_local(r)->ns[i];
	sums->all += call_split_sum(call_report_local(r));
	sums->lost += call_report_totals(r)->lost;
	sums->orphans += call_report_totals(r)->counts.orphans;
	call_report_free(r);
}

/* However the time is cut, the parts have the time of the whole. */
static void windows_add_up(void **state)
{
	struct sums whole, parts;
	uint64_t end, at, next;
	struct open o;
	char *text;
	int i;

	(void)state;
	for (i = 0; i < ROUNDS; i++) {
		seed = (uint32_t)i + 1;
		text = make_script(&end);
		open_script(&o, text);
		memset(&whole, 0, sizeof(whole));
		memset(&parts, 0, sizeof(parts));
		add_window(&o, 0, UINT64_MAX, &whole);
		for (at = 0; at < end; at = next) {
			next = at + 1 + draw(i % 2 ? 40 : 1500);
			add_window(&o, at, next, &parts);
		}
		assert_true(whole.all > 0);
		if (memcmp(&whole, &parts, sizeof(whole)))
			fail_msg("script of seed %d: %" PRIu64 " ns in all, %" PRIu64 " in parts",
				 i + 1, whole.all, parts.all);
		close_script(&o);
		free(text);
	}
}

/* --- marks --- */

static uint8_t *slices_of(struct open *o, const struct call_mark *resume, size_t *ret_len)
{
	const struct call_slices_options options = { .limit = 100000 };
	struct call_slices *s = NULL;
	struct error e = ERROR_INIT;
	uint8_t *bytes = NULL;

	o->walk.resume = resume;
	o->walk.window = &o->window;
	assert_int_equal(o->source->ops->rewind(o->source, &e), 0);
	if (call_slices_new(&s, &o->walk, &options, &e) < 0 ||
	    call_slices_encode(s, &bytes, ret_len, &e) < 0)
		fail_msg("%s", e.text);
	call_slices_free(s);
	return bytes;
}

/* From a mark a walk finds the same as from the start. */
static void compare_from_mark(struct open *o, struct marks *marks)
{
	struct call_mark mark = { .tick = 0 };
	uint8_t *whole, *part;
	size_t whole_len, part_len;
	int r = call_marks_dup(marks, o->window.from_ns, &mark);

	assert_true(r >= 0);
	whole = slices_of(o, NULL, &whole_len);
	part = slices_of(o, r ? &mark : NULL, &part_len);
	if (whole_len != part_len || memcmp(whole, part, whole_len))
		fail_msg("from %" PRIu64 " on: not the same from the mark at %" PRIu64,
			 o->window.from_ns, mark.tick);
	call_mark_done(&mark);
	free(whole);
	free(part);
}

static void goes_on_from_marks(void **state)
{
	struct marks *marks;
	uint64_t end;
	struct open o;
	char *text;
	int i, j;

	(void)state;
	for (i = 0; i < ROUNDS; i++) {
		seed = (uint32_t)i + 900;
		text = make_script(&end);
		open_script(&o, text);
		marks = NULL;
		assert_int_equal(call_marks_new(&marks, 1 + draw(40)), 0);
		o.walk.marks = marks;
		call_report_free(report_of(&o, 0, UINT64_MAX));
		assert_true(marks_count(marks) > 4);
		for (j = 0; j < 20; j++) {
			o.window.from_ns = 1000 + draw((uint32_t)(end - 1000));
			o.window.to_ns = o.window.from_ns + 1 + draw(300);
			compare_from_mark(&o, marks);
		}
		marks_unref(marks);
		close_script(&o);
		free(text);
	}
}

static void keeps_marks_in_order(void **state)
{
	struct call_mark mark = { .tick = 10 };
	struct marks *marks = NULL;

	(void)state;
	assert_int_equal(call_marks_new(&marks, 5), 0);
	assert_int_equal(call_marks_dup(marks, UINT64_MAX, &mark), 0);
	call_marks_push(marks, &mark);
	mark.tick = 20;
	call_marks_push(marks, &mark);
	mark.tick = 15; /* somebody else was further */
	assert_false(marks_wants(marks, 15));
	call_marks_push(marks, &mark);
	assert_int_equal(marks_count(marks), 2);
	assert_int_equal(call_marks_dup(marks, 9, &mark), 0);
	assert_int_equal(call_marks_dup(marks, 10, &mark), 1);
	assert_int_equal(mark.tick, 10);
	call_mark_done(&mark);
	assert_int_equal(call_marks_dup(marks, 19, &mark), 1);
	assert_int_equal(mark.tick, 10);
	call_mark_done(&mark);
	assert_int_equal(call_marks_dup(marks, 1000, &mark), 1);
	assert_int_equal(mark.tick, 20);
	call_mark_done(&mark);
	marks_unref(marks);
}

/* --- folded trees --- */

struct folded {
	struct call_tree *tree;
	struct call_fold *fold;
	const struct call_fold_row *rows;
	size_t n;
};

static void fold(struct open *o, const struct call_fold_options *options, struct folded *ret)
{
	struct error e = ERROR_INIT;

	assert_int_equal(o->source->ops->rewind(o->source, &e), 0);
	assert_int_equal(call_tree_new(&ret->tree, &o->walk, &e), 0);
	call_tree_sort(ret->tree);
	assert_int_equal(call_fold_new(&ret->fold, ret->tree, options, &e), 0);
	ret->rows = call_fold_get(ret->fold, &ret->n);
}

static void unfold(struct folded *f)
{
	call_fold_free(f->fold);
	call_tree_free(f->tree);
}

/* The time of a row is its own and that of the rows right below it. */
static void check_widths(const struct folded *f)
{
	const struct call_node *nodes;
	uint64_t outermost = 0, below, stood_for = 0;
	size_t n, i, j, others;

	nodes = call_tree_get(f->tree, &n);
	for (i = 0; i < f->n; i++) {
		below = others = 0;
		for (j = i + 1; j < f->n && f->rows[j].depth > f->rows[i].depth; j++) {
			if (f->rows[j].depth != f->rows[i].depth + 1)
				continue;
			below += f->rows[j].total_ns;
			others += f->rows[j].function == CALL_NODE_NONE;
		}
		assert_true(others <= 1);
		assert_int_equal(call_split_sum(&f->rows[i].local) + below, f->rows[i].total_ns);
		if (f->rows[i].function == CALL_NODE_NONE)
			assert_int_equal(below, 0);
		if (!f->rows[i].depth)
			outermost += f->rows[i].total_ns;
		stood_for += f->rows[i].nodes;
	}
	assert_int_equal(outermost, nodes[0].total_ns);
	assert_int_equal(stood_for, n - 1);
}

static size_t count_kept(const struct folded *f)
{
	size_t n = 0, i;

	for (i = 0; i < f->n; i++)
		n += f->rows[i].function != CALL_NODE_NONE;
	return n;
}

static void folded_trees_add_up(void **state)
{
	struct call_fold_options options;
	struct folded f;
	struct open o;
	uint64_t end;
	char *text;
	size_t n;
	int i;

	(void)state;
	for (i = 0; i < ROUNDS; i++) {
		seed = (uint32_t)i + 77;
		text = make_script(&end);
		open_script(&o, text);
		options = (struct call_fold_options){ .limit = 1 + draw(60) };
		if (i % 3 == 1)
			options.depth = 1 + draw(4);
		if (i % 3 == 2)
			options.min_ns = draw(200);
		fold(&o, &options, &f);
		call_tree_get(f.tree, &n);
		check_widths(&f);
		if (i % 3 == 0)
			assert_int_equal(count_kept(&f),
					 options.limit < n - 1 ? options.limit : n - 1);
		else
			assert_true(count_kept(&f) <= options.limit);
		unfold(&f);
		close_script(&o);
		free(text);
	}
}

static void keeps_what_is_largest(void **state)
{
	const struct call_fold_options options = { .limit = 2 };
	struct folded f;
	struct open o;

	(void)state;
	open_script(&o, small);
	fold(&o, &options, &f);
	/* main 100: f 40, others (g 20); others (gone 0) */
	assert_int_equal(f.n, 4);
	assert_string_equal(call_names_get(o.names, f.rows[0].function)->name, "main");
	assert_string_equal(call_names_get(o.names, f.rows[1].function)->name, "f");
	assert_int_equal(f.rows[2].function, CALL_NODE_NONE);
	assert_int_equal(f.rows[2].depth, 1);
	assert_int_equal(f.rows[2].total_ns, 20);
	assert_int_equal(f.rows[2].nodes, 1);
	assert_int_equal(f.rows[2].calls, 1);
	assert_int_equal(f.rows[3].depth, 0);
	assert_int_equal(f.rows[3].ends[CALL_OPEN], 1);
	unfold(&f);
	close_script(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts_calls),
		cmocka_unit_test(is_empty_where_nothing_is),
		cmocka_unit_test(reads_on_where_ends_are_not_known),
		cmocka_unit_test(windows_add_up),
		cmocka_unit_test(goes_on_from_marks),
		cmocka_unit_test(keeps_marks_in_order),
		cmocka_unit_test(folded_trees_add_up),
		cmocka_unit_test(keeps_what_is_largest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
