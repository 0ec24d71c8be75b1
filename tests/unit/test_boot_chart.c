/* SPDX-License-Identifier: MIT */
/*
 * boot_chart: the pictures, as documents: valid, complete, and with a legend that explains all that is drawn.
 * How they look in a browser is tests/system/boot_chart.sh.
 */
#include "chart/boot_chart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>

#include "chart/boot_sign.h"
#include "tools/fake_boot.h"

typedef int (*chart)(FILE *f, const struct boot *b, const struct boot_chart_options *o,
		     struct error *e);

static char *drawn(chart c, const struct boot *b, const struct boot_chart_options *o)
{
	struct error e = ERROR_INIT;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	if (c(f, b, o, &e) < 0)
		fail_msg("%s", e.text);
	fclose(f);
	return text;
}

struct svg {
	xmlDoc *doc;
	xmlXPathContext *context;
	size_t len;
};

static struct svg svg_of(const struct boot *b, const struct boot_chart_options *o)
{
	_cleanup_free_ char *text = drawn(boot_chart_svg, b, o);
	struct svg s = { .len = strlen(text) };

	s.doc = xmlReadMemory(text, (int)strlen(text), NULL, NULL,
			      XML_PARSE_NONET | XML_PARSE_HUGE);
	assert_non_null(s.doc);
	s.context = xmlXPathNewContext(s.doc);
	xmlXPathRegisterNs(s.context, BAD_CAST "s", BAD_CAST "http://www.w3.org/2000/svg");
	return s;
}

static void svg_done(struct svg *s)
{
	xmlXPathFreeContext(s->context);
	xmlFreeDoc(s->doc);
}

static int count(struct svg *s, const char *path)
{
	xmlXPathObject *found = xmlXPathEvalExpression(BAD_CAST path, s->context);
	int n;

	assert_non_null(found);
	n = found->nodesetval ? found->nodesetval->nodeNr : 0;
	xmlXPathFreeObject(found);
	return n;
}

static bool has_legend(struct svg *s, const char *key)
{
	char path[128];

	snprintf(path, sizeof(path), "//s:g[@class='legend']/s:g[@data-sign='%s']", key);
	return count(s, path) == 1;
}

/* The sign of a class: those that are drawn have its key, running has levels. */
static const char *sign_of_class(const char *word)
{
	size_t i;

	if (word[0] == 'r' && word[1] >= '0' && word[1] <= '9')
		return "running";
	for (i = 0; i < SIGNS; i++)
		if (!strcmp(boot_signs[i].key, word))
			return word;
	return NULL;
}

/* Returns how many signs were found in the chart. */
static int check_legend(struct svg *s)
{
	xmlXPathObject *all =
		xmlXPathEvalExpression(BAD_CAST "//s:g[@class='chart']//@class", s->context);
	int i, n = 0;

	assert_non_null(all->nodesetval);
	for (i = 0; i < all->nodesetval->nodeNr; i++) {
		char *text = (char *)xmlNodeGetContent(all->nodesetval->nodeTab[i]), *word, *rest;

		for (word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
			const char *sign = sign_of_class(word);

			if (sign && !has_legend(s, sign))
				fail_msg("'%s' is drawn and not in the legend", sign);
			n += sign ? 1 : 0;
		}
		xmlFree(text);
	}
	xmlXPathFreeObject(all);
	return n;
}

static void test_svg(void **state)
{
	CLEANUP(boot) struct boot *b = fake_boot_new(&(struct fake_boot_options){ 0 });
	struct boot_chart_options o = { 0 };
	struct svg s = svg_of(b, &o);

	(void)state;
	assert_int_equal(count(&s, "//s:g[@class='process']"), b->n_processes - 5);
	assert_int_equal(count(&s, "//s:g[@class='process'][@data-pid='123']"), 1);
	assert_int_equal(count(&s, "//s:g[@class='machine']"), 6);
	assert_int_equal(count(&s, "//s:g[@data-row='mmcblk0']"), 1);
	assert_int_equal(count(&s, "//s:script"), 0);
	assert_int_equal(count(&s, "//@href | //@*[starts-with(name(), 'on')]"), 0);
	assert_true(check_legend(&s) > 100);
	assert_true(has_legend(&s, "running") && has_legend(&s, "zombie") &&
		    has_legend(&s, "stopped") && has_legend(&s, "unknown") &&
		    has_legend(&s, "self"));
	assert_false(has_legend(&s, "kernel") || has_legend(&s, "gap") || has_legend(&s, "path") ||
		     has_legend(&s, "runnable"));
	svg_done(&s);
}

static void test_svg_all(void **state)
{
	const struct fake_boot_options fake = {
		.exact = true, .hostile = true, .cut = true, .more = 20
	};
	CLEANUP(boot) struct boot *b = fake_boot_new(&fake);
	struct boot_chart_options o = { .kernel = true, .path = true, .min_ns = 8 * FAKE_MS };
	struct svg s = svg_of(b, &o);

	(void)state;
	assert_true(count(&s, "//s:g[@class='process']") < (int)b->n_processes);
	assert_true(count(&s, "//s:path[@class='folded']") > 10);
	assert_true(count(&s, "//s:g[@class='steps']/s:path") > 3);
	assert_int_equal(count(&s, "//s:g[@class='chart']//s:rect[@class='gap']"), 1);
	check_legend(&s);
	assert_true(has_legend(&s, "kernel") && has_legend(&s, "gap") && has_legend(&s, "path") &&
		    has_legend(&s, "runnable") && has_legend(&s, "missing"));
	assert_true(count(&s, "//s:text[@class='note']") >= 3);
	svg_done(&s);
}

static void test_svg_times(void **state)
{
	CLEANUP(boot) struct boot *b = fake_boot_new(&(struct fake_boot_options){ 0 });
	struct boot_chart_options o = { .from_ns = 5000 * FAKE_MS,
					.to_ns = 5500 * FAKE_MS,
					.width = 800 };
	struct svg s = svg_of(b, &o);

	(void)state;
	assert_int_equal(count(&s, "//s:g[@class='process'][@data-pid='100']"), 0);
	assert_int_equal(count(&s, "//s:g[@class='process'][@data-pid='270']"), 1);
	assert_int_equal(count(&s, "/s:svg[@width='800']"), 1);
	svg_done(&s);
}

static void test_svg_large(void **state)
{
	CLEANUP(boot)
	struct boot *b = fake_boot_new(&(struct fake_boot_options){ .more = 1000, .spans = 200 });
	struct boot_chart_options o = { 0 };
	struct svg s = svg_of(b, &o);

	(void)state;
	assert_int_equal(count(&s, "//s:g[@class='process']"), b->n_processes - 5);
	assert_true(s.len < 2U << 20);
	svg_done(&s);
}

static void test_svg_two(void **state)
{
	CLEANUP(boot) struct boot *a = fake_boot_new(&(struct fake_boot_options){ 0 });
	CLEANUP(boot) struct boot *b = fake_boot_new(&(struct fake_boot_options){ .late = true });
	struct boot_chart_options o = { .other = b };
	struct svg s = svg_of(a, &o);

	(void)state;
	assert_int_equal(count(&s, "//s:g[@class='boot']"), 2);
	assert_true(count(&s, "//s:rect[@class='later']") > 5);
	assert_int_equal(count(&s, "//s:text[starts-with(@class, 'new ')]"), 1);
	assert_int_equal(count(&s, "//s:text[starts-with(@class, 'gone ')]"), 1);
	check_legend(&s);
	svg_done(&s);
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
	struct boot_chart_options o = { .path = true };
	struct svg s = svg_of(&b, &o);
	_cleanup_free_ char *page = drawn(boot_chart_html, &b, &o);

	(void)state;
	svg_done(&s);
	assert_non_null(strstr(page, "</html>"));
}

/* --- the page --- */

static size_t occurrences(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static json_t *data_of(const char *page)
{
	const char *from = strstr(page, "<script type=\"application/json\" id=\"data\">"), *to;
	json_error_t why;
	json_t *doc;

	assert_non_null(from);
	from = strchr(from, '>') + 1;
	to = strstr(from, "</script>");
	assert_non_null(to);
	doc = json_loadb(from, (size_t)(to - from), 0, &why);
	if (!doc)
		fail_msg("%s at %d", why.text, why.position);
	return doc;
}

static void test_html(void **state)
{
	const struct fake_boot_options fake = { .hostile = true, .cut = true };
	CLEANUP(boot) struct boot *b = fake_boot_new(&fake);
	struct boot_chart_options o = { .path = true, .kernel = true, .min_ns = 5000000 };
	_cleanup_free_ char *page = drawn(boot_chart_html, b, &o);
	json_t *doc = data_of(page);

	(void)state;
	/* Two scripts of ours, and nothing that a process is called has become another. */
	assert_int_equal(occurrences(page, "</script"), 2);
	assert_int_equal(occurrences(page, "<script"), 2);
	assert_int_equal(occurrences(page, "alert(2)"),
			 occurrences(page, "alert(2)\\u003c") + occurrences(page, "alert(2)&lt;"));
	assert_int_equal(occurrences(page, "</title"), 1);
	assert_int_equal(occurrences(page, "http://") + occurrences(page, "https://"), 0);
	assert_int_equal(occurrences(page, "unsafe"), 0);
	assert_int_equal(occurrences(page, "sha256-"), 2);
	assert_null(strstr(page, "@DATA@"));
	assert_int_equal(json_array_size(json_object_get(doc, "boots")), 1);
	assert_int_equal(json_array_size(json_object_get(doc, "signs")), SIGNS);
	assert_int_equal(json_array_size(json_object_get(doc, "ramp")), BOOT_SIGN_LEVELS);
	assert_true(json_is_object(json_object_get(doc, "path")));
	json_decref(doc);
}

static void test_html_two(void **state)
{
	CLEANUP(boot) struct boot *a = fake_boot_new(&(struct fake_boot_options){ 0 });
	CLEANUP(boot) struct boot *b = fake_boot_new(&(struct fake_boot_options){ .late = true });
	struct boot_chart_options o = { .other = b };
	_cleanup_free_ char *page = drawn(boot_chart_html, a, &o);
	json_t *doc = data_of(page);

	(void)state;
	assert_int_equal(json_array_size(json_object_get(doc, "boots")), 2);
	assert_true(json_is_object(json_object_get(doc, "pairs")));
	json_decref(doc);
}

static void test_full_disk(void **state)
{
	CLEANUP(boot) struct boot *b = fake_boot_new(&(struct fake_boot_options){ 0 });
	struct boot_chart_options o = { 0 };
	static const chart charts[] = { boot_chart_svg, boot_chart_html };
	struct error e = ERROR_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		FILE *f = fopen("/dev/full", "w");

		if (!f)
			skip();
		setvbuf(f, NULL, _IONBF, 0);
		assert_true(charts[i](f, b, &o, &e) < 0);
		fclose(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_svg),	  cmocka_unit_test(test_svg_all),
		cmocka_unit_test(test_svg_times), cmocka_unit_test(test_svg_large),
		cmocka_unit_test(test_svg_two),	  cmocka_unit_test(test_empty),
		cmocka_unit_test(test_html),	  cmocka_unit_test(test_html_two),
		cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
