/* SPDX-License-Identifier: MIT */
/* args: every way to write an option, and what is refused with which words. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/kiseki.h"
#include "command/args.h"

static int parse(struct args *a, struct error *e, const char *const words[])
{
	char *argv[16] = { (char *)(uintptr_t) "kiseki" };
	int argc = 1;

	for (; words[argc - 1]; argc++)
		argv[argc] = (char *)(uintptr_t)words[argc - 1];
	e->text[0] = 0;
	return args_parse(a, &command_kiseki, argc, argv, e);
}

#define PARSE(...) parse(&a, &e, (const char *const[]){ __VA_ARGS__, NULL })

static void test_forms(void **state)
{
	struct error e;
	struct args a;

	(void)state;
	assert_int_equal(PARSE("convert", "in", "-o", "out", "--format=json"), 0);
	assert_ptr_equal(a.command, &command_convert);
	assert_string_equal(a.operands[0], "in");
	assert_string_equal(args_get(&a, "output"), "out");
	assert_string_equal(args_get(&a, "format"), "json");
	assert_null(args_get(&a, "codec"));
	assert_int_equal(PARSE("convert", "-oout", "--format", "csv", "--", "-in"), 0);
	assert_string_equal(args_get(&a, "output"), "out");
	assert_string_equal(args_get(&a, "format"), "csv");
	assert_string_equal(a.operands[0], "-in");
	assert_int_equal(PARSE("convert", "-", "-o-", "-o", "last"), 0);
	assert_string_equal(a.operands[0], "-");
	assert_string_equal(args_get(&a, "output"), "last");
	assert_int_equal(PARSE("report", "sched", "x", "--json", "-n5", "--sort="), 0);
	assert_ptr_equal(a.command, &command_report_sched);
	assert_true(args_has(&a, "json"));
	assert_string_equal(args_get(&a, "sort"), "");
	assert_int_equal(PARSE("func", "run", "--agent", "a", "b"), 0);
	assert_string_equal(args_get(&a, "agent"), "");
	assert_string_equal(a.operands[0], "a");
	assert_int_equal(PARSE("func", "run", "--agent=/s", "a"), 0);
	assert_string_equal(args_get(&a, "agent"), "/s");
	assert_int_equal(PARSE("--version"), 0);
	assert_true(args_has(&a, "version"));
}

static void test_help_wins(void **state)
{
	struct error e;
	struct args a;

	(void)state;
	assert_int_equal(PARSE("convert", "--help"), 0);
	assert_true(a.help);
	assert_int_equal(PARSE("report", "latency", "-h", "--nonsense"), 0);
	assert_true(a.help);
	assert_ptr_equal(a.command, &command_report_latency);
	assert_int_equal(PARSE("report", "-h"), 0);
	assert_ptr_equal(a.command, &command_report);
}

static void test_refused(void **state)
{
	static const struct {
		const char *words[4];
		const char *says;
	} cases[] = {
		{ { "convrt" }, "unknown command 'convrt', did you mean convert?" },
		{ { "rep", "sched" }, "did you mean report?" },
		{ { "zebra" }, "unknown command 'zebra'; see kiseki --help" },
		{ { "report", "lateny" }, "cannot run kiseki report: unknown command" },
		{ { "convert", "x", "--fromat=json" }, "--fromat, did you mean --format?" },
		{ { "convert", "x", "--zzz" }, "unknown option --zzz;" },
		{ { "convert", "x", "-z" }, "unknown option -z" },
		{ { "convert", "x", "-o" }, "--output needs OUT" },
		{ { "check", "x", "--json=yes" }, "--json takes no argument" },
		{ { "check" }, "FILE|FOLDER is missing" },
		{ { "completion" }, "bash|zsh is missing" },
		{ { "func", "graph", "x" }, "FUNCTION is missing" },
		{ { "func", "run", "--split" }, "COMMAND is missing" },
		{ { "keys", "revoke" }, "DEVICE is missing" },
		{ { "check", "x", "y" }, "'y' is one argument too many" },
	};
	struct error e;
	struct args a;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(&a, &e, cases[i].words), -EINVAL);
		if (!strstr(e.text, cases[i].says))
			fail_msg("'%s' does not say '%s'", e.text, cases[i].says);
		assert_int_equal(strncmp(e.text, "cannot run kiseki", 17), 0);
	}
}

static void test_values(void **state)
{
	static const char *const words[] = { "one", "two", NULL };
	uint64_t n = 20;
	size_t at = 7;
	struct error e;
	struct args a;

	(void)state;
	assert_int_equal(PARSE("report", "sched", "x"), 0);
	assert_int_equal(args_get_count(&a, "limit", &n, &e), 0);
	assert_int_equal(n, 20);
	assert_int_equal(args_get_word(&a, "sort", words, &at, &e), 0);
	assert_int_equal(at, 7);
	assert_int_equal(PARSE("report", "sched", "x", "-n", "18446744073709551615", "-stwo"), 0);
	assert_int_equal(args_get_count(&a, "limit", &n, &e), 0);
	assert_true(n == UINT64_MAX);
	assert_int_equal(args_get_word(&a, "sort", words, &at, &e), 0);
	assert_int_equal(at, 1);
	assert_int_equal(PARSE("report", "sched", "x", "-n", "18446744073709551616", "-sx"), 0);
	assert_int_equal(args_get_count(&a, "limit", &n, &e), -EINVAL);
	assert_int_equal(args_get_word(&a, "sort", words, &at, &e), -EINVAL);
	assert_non_null(strstr(e.text, "one two, not 'x'"));
	assert_int_equal(PARSE("report", "sched", "x", "-n", "-1"), 0);
	assert_int_equal(args_get_count(&a, "limit", &n, &e), -EINVAL);
	assert_int_equal(PARSE("report", "sched", "x", "--limit=3x"), 0);
	assert_int_equal(args_get_count(&a, "limit", &n, &e), -EINVAL);
}

/* The usage has a word for each operand that must be there. */
static void check_missing(const struct command *c)
{
	const char *words[16] = { NULL };
	const struct command *up;
	size_t depth = 0, i;
	struct error e;
	struct args a;

	for (up = c; up->parent; up = up->parent)
		depth++;
	for (up = c, i = depth; i--; up = up->parent)
		words[i] = up->name;
	for (i = 0; i < c->operands_min; i++) {
		assert_int_equal(parse(&a, &e, words), -EINVAL);
		assert_ptr_equal(a.command, c);
		assert_non_null(strstr(e.text, " is missing"));
		words[depth + i] = "x";
	}
}

/* The tables themselves: what help, completion and the parser rely on. */
static void check_table(const struct command *c)
{
	const struct cli_option *o;
	size_t i;

	assert_non_null(c->summary);
	assert_non_null(c->usage);
	assert_true((c->run != NULL) != (c->children != NULL));
	for (o = c->options; o && o->name; o++) {
		assert_true(o - c->options < COMMAND_OPTIONS_MAX);
		assert_true(o->name[0] && o->help[0]);
		assert_true(o->letter != command_help_option.letter);
	}
	check_missing(c);
	for (i = 0; c->children && c->children[i]; i++) {
		assert_ptr_equal(c->children[i]->parent, c);
		check_table(c->children[i]);
	}
}

static void test_tables(void **state)
{
	char name[64];

	(void)state;
	check_table(&command_kiseki);
	assert_string_equal(command_full_name(&command_report_sched, '-', name),
			    "kiseki-report-sched");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),	cmocka_unit_test(test_help_wins),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_values),
		cmocka_unit_test(test_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
