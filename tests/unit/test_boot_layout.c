/* SPDX-License-Identifier: MIT */
/* boot_layout: which process has a row, which pixel shows what, and where the axis has its lines. */
#include "chart/boot_layout.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "chart/boot_sign.h"
#include "tools/fake_boot.h"

#define MS FAKE_MS

static void test_rows(void **state)
{
	const struct fake_boot_options fake = { .more = 200 };
	CLEANUP(boot) struct boot *b = fake_boot_new(&fake);
	CLEANUP(boot_layout) struct boot_layout *all = NULL, *few = NULL, *kernel = NULL;
	struct boot_chart_options o = { 0 };
	size_t i, folded = 0;

	(void)state;
	assert_int_equal(boot_layout_new(&all, b, &o, NULL), 0);
	assert_int_equal(all->n_hidden, 5);
	assert_int_equal(all->n_rows, b->n_processes - 5);
	o.kernel = true;
	assert_int_equal(boot_layout_new(&kernel, b, &o, NULL), 0);
	assert_int_equal(kernel->n_rows, b->n_processes);
	o.min_ns = 50 * MS;
	assert_int_equal(boot_layout_new(&few, b, &o, NULL), 0);
	for (i = 0; i < few->n_rows; i++) {
		const struct boot_row *row = &few->rows[i];

		folded += row->folded;
		assert_int_equal(few->row_of[row->process], i);
		if (row->parent != BOOT_NONE) {
			assert_true(row->parent < i);
			assert_int_equal(row->depth, few->rows[row->parent].depth + 1);
		}
	}
	/* Nobody is gone: who has no row is in one. */
	assert_int_equal(few->n_rows + folded, b->n_processes);
	assert_true(folded >= 200);
}

/* A short process without an ancestor keeps its row, and its child stays below it. */
static void test_short_root(void **state)
{
	struct boot_name name = { .comm = "a" };
	struct boot_process p[2] = {
		{ .pid = 7,
		  .parent = BOOT_NONE,
		  .from_ns = 10,
		  .to_ns = 11,
		  .names = &name,
		  .n_names = 1 },
		{ .pid = 8, .parent = 0, .from_ns = 11, .to_ns = 12, .names = &name, .n_names = 1 },
	};
	struct boot b = { .to_ns = 100, .processes = p, .n_processes = 2 };
	struct boot_chart_options o = { .min_ns = 50 };
	CLEANUP(boot_layout) struct boot_layout *l = NULL;

	(void)state;
	assert_int_equal(boot_layout_new(&l, &b, &o, NULL), 0);
	assert_int_equal(l->n_rows, 1);
	assert_int_equal(l->rows[0].process, 0);
	assert_int_equal(l->rows[0].folded, 1);
}

static void test_pixels(void **state)
{
	struct boot_scale s = { 1000, 2000, 100 };
	uint32_t px[2];

	(void)state;
	assert_true(boot_scale_pixels(&s, 1000, 2000, px));
	assert_int_equal(px[0], 0);
	assert_int_equal(px[1], 100);
	assert_true(boot_scale_pixels(&s, 1500, 1500, px));
	assert_int_equal(px[1] - px[0], 1);
	assert_true(boot_scale_pixels(&s, 2000, 2000, px));
	assert_int_equal(px[0], 99);
	assert_true(boot_scale_pixels(&s, 0, 1005, px));
	assert_int_equal(px[0], 0);
	assert_int_equal(px[1], 1);
	assert_false(boot_scale_pixels(&s, 0, 999, px));
	assert_false(boot_scale_pixels(&s, 2001, 3000, px));
}

static void test_runs(void **state)
{
	struct boot_span spans[] = {
		{ .from_ns = 0, .to_ns = 100, .state = BOOT_RUNNING, .share = 1000 },
		{ .from_ns = 100, .to_ns = 200, .state = BOOT_SLEEPING },
		{ .from_ns = 200, .to_ns = 201, .state = BOOT_DISK_WAIT },
		{ .from_ns = 201, .to_ns = 300, .state = BOOT_SLEEPING },
		{ .from_ns = 300, .to_ns = 400, .state = BOOT_SLEEPING, .share = 400 },
		{ .from_ns = 400, .to_ns = 500, .state = BOOT_SLEEPING, .share = 49 },
		{ .from_ns = 500, .to_ns = 550, .state = BOOT_RUNNING, .share = 500 },
		{ .from_ns = 550, .to_ns = 600, .state = BOOT_ZOMBIE },
	};
	struct boot_process p = { .to_ns = 600, .spans = spans, .n_spans = 8 };
	struct boot_scale s = { 0, 1000, 10 };
	struct boot_stretch runs[10];
	size_t n;

	(void)state;
	n = boot_layout_runs(&s, &p, runs);
	assert_int_equal(n, 6);
	assert_int_equal(runs[0].state, BOOT_RUNNING);
	assert_int_equal(runs[0].level, BOOT_SIGN_LEVELS - 1);
	assert_int_equal(runs[1].state, BOOT_SLEEPING);
	assert_int_equal(runs[2].state, BOOT_DISK_WAIT); /* for one hundredth of it, and yet seen */
	assert_int_equal(runs[3].state, BOOT_RUNNING);
	assert_int_equal(runs[3].level, boot_sign_level(400));
	assert_int_equal(runs[4].state, BOOT_SLEEPING);
	assert_int_equal(runs[5].state, BOOT_RUNNING);
	assert_int_equal(runs[5].level, boot_sign_level(250));
	assert_int_equal(runs[5].to_px, 6);
}

/* Whatever the width, runs lie side by side and each process has one at least. */
static void test_never_hidden(void **state)
{
	const struct fake_boot_options fake = { .more = 500 };
	CLEANUP(boot) struct boot *b = fake_boot_new(&fake);
	static const uint32_t widths[] = { 1, 7, 100, 1333 };
	struct boot_stretch runs[1333];
	size_t i, k, n, w;

	(void)state;
	for (w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
		struct boot_scale s = { b->from_ns, b->to_ns, widths[w] };

		for (i = 0; i < b->n_processes; i++) {
			n = boot_layout_runs(&s, &b->processes[i], runs);
			assert_true(n >= 1 && n <= widths[w]);
			for (k = 0; k < n; k++)
				assert_true(runs[k].from_px < runs[k].to_px);
			for (k = 1; k < n; k++)
				assert_int_equal(runs[k].from_px, runs[k - 1].to_px);
			assert_true(runs[n - 1].to_px <= widths[w]);
		}
	}
}

static void test_steps(void **state)
{
	static const struct {
		uint64_t length, step;
	} cases[] = {
		{ 10000000000ULL, 1000000000 },
		{ 12000000000ULL, 2000000000 },
		{ 30000000000ULL, 5000000000 },
		{ 1000000, 100000 },
		{ 10, 1 },
		{ 5, 1 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct boot_scale s = { 77, 77 + cases[i].length, 900 };

		assert_int_equal(boot_scale_step(&s, 90), cases[i].step);
	}
}

static uint64_t ns_of(const void *data, size_t i)
{
	(void)data;
	return i * 10;
}

static double value_of(const void *data, size_t i)
{
	return ((const double *)data)[i];
}

static void test_series(void **state)
{
	static const double values[] = { 9, 1, 3, 5 }; /* the first has no stretch */
	struct boot_series series = { values, 4, ns_of, value_of };
	struct boot_scale s = { 0, 40, 2 };
	double out[4], scratch[4];

	(void)state;
	boot_layout_series(&s, &series, out, scratch);
	assert_true(fabs(out[0] - 2) < 1e-9);
	assert_true(fabs(out[1] - 5) < 1e-9);
	s = (struct boot_scale){ 0, 40, 4 };
	boot_layout_series(&s, &series, out, scratch);
	assert_true(fabs(out[0] - 1) < 1e-9 && fabs(out[2] - 5) < 1e-9);
	assert_true(isnan(out[3]));
}

static void test_ramp(void **state)
{
	uint32_t i;

	(void)state;
	assert_int_equal(boot_sign_running(0), 0xffcb00);
	for (i = 1; i < BOOT_SIGN_LEVELS; i++) {
		uint32_t a = boot_sign_running(i - 1), b = boot_sign_running(i);

		assert_true((a >> 16) > (b >> 16) && (a >> 8 & 0xff) > (b >> 8 & 0xff));
	}
	assert_int_equal(boot_sign_level(0), 0);
	assert_int_equal(boot_sign_level(1000), BOOT_SIGN_LEVELS - 1);
	assert_int_equal(boot_sign_level(65535), BOOT_SIGN_LEVELS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),	     cmocka_unit_test(test_short_root),
		cmocka_unit_test(test_pixels),	     cmocka_unit_test(test_runs),
		cmocka_unit_test(test_never_hidden), cmocka_unit_test(test_steps),
		cmocka_unit_test(test_series),	     cmocka_unit_test(test_ramp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
