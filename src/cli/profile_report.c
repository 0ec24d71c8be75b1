/* SPDX-License-Identifier: MIT */
/* profile report: where the time went. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile_json.h"
#include "analysis/profile_report.h"
#include "analysis/profile_stacks.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/profile_print.h"
#include "cli/profile_reading.h"
#include "command/say.h"

#define LIMIT_DEFAULT 20
#define CALLERS_PERCENT 1.0 /* of the function's own: callers with less are left out */
#define CALLERS_DEPTH 8U

struct wanted {
	size_t by, order;
	uint64_t limit;
	double percent;
	const char *pattern;
	bool callers, json;
};

static int read_percent(const struct args *a, double *ret, struct error *e)
{
	const char *text = args_get(a, "percent");
	char *end;

	if (!text)
		return 0;
	errno = 0;
	*ret = strtod(text, &end);
	if (errno || end == text || *end || !(*ret >= 0 && *ret <= 100))
		return error_set(e, EINVAL, "cannot take --percent %s: it is not from 0 to 100",
				 text);
	return 0;
}

static int read_options(struct wanted *w, const struct args *a, struct error *e)
{
	w->limit = LIMIT_DEFAULT;
	w->pattern = args_get(a, "function");
	w->callers = args_has(a, "callers");
	w->json = args_has(a, "json");
	if (args_get_count(a, "limit", &w->limit, e) < 0 ||
	    args_get_word(a, "by", profile_by_words, &w->by, e) < 0 ||
	    args_get_word(a, "sort", profile_order_words, &w->order, e) < 0)
		return -EINVAL;
	if (w->callers && w->by != PROFILE_BY_FUNCTION)
		return error_set(e, EINVAL, "cannot take --callers: only functions have callers");
	return read_percent(a, &w->percent, e);
}

/* --- callers --- */

static uint32_t find_child(const struct profile_tree *t, uint32_t parent, uint32_t key)
{
	uint32_t node = profile_tree_get(t, parent)->child;

	while (node != PROFILE_NODE_NONE && profile_tree_get(t, node)->key != key)
		node = profile_tree_get(t, node)->next;
	return node;
}

/* Who led to the samples in a function, level by level; shares are of the function's own. */
static void print_callers(const struct profile_stacks *s, uint32_t function,
			  const struct profile_reading *in)
{
	uint32_t top = find_child(s->tree, 0, function), node, depth;
	const struct function *f;
	uint64_t whole, part;
	char text[UNITS_LEN];
	bool skip;

	if (top == PROFILE_NODE_NONE)
		return;
	whole = profile_tree_total(s->tree, top)[in->value];
	node = profile_tree_next(s->tree, top, false);
	while (node != PROFILE_NODE_NONE && profile_tree_get(s->tree, node)->depth > 1) {
		depth = profile_tree_get(s->tree, node)->depth;
		part = profile_tree_total(s->tree, node)[in->value];
		skip = (double)part < CALLERS_PERCENT / 100 * (double)whole ||
		       depth > CALLERS_DEPTH;
		if (!skip) {
			f = functions_get(s->functions, profile_tree_get(s->tree, node)->key);
			printf("%26s%*s%6s  ", "", (int)(2 * (depth - 2)), "",
			       profile_print_share(part, whole, text));
			profile_print_name(f->name, f->object);
		}
		node = profile_tree_next(s->tree, node, skip);
	}
}

/* --- the list --- */

static const char *const titles[PROFILE_BYS] = { "function", "object", "process", "thread", "CPU" };

static void print_row(const struct profile_row *row, const struct profile_totals *t,
		      const struct profile_reading *in, bool frames)
{
	uint64_t all = t->values[in->value];
	char a[4][UNITS_LEN];

	printf("%7s %9s", profile_print_share(row->self[in->value], all, a[0]),
	       profile_print_amount(in->source, in->value, row->self[in->value], a[1]));
	if (frames)
		printf(" %7s", profile_print_share(row->total[in->value], all, a[2]));
	printf(" %8" PRIu64 " %7s  ", row->self[PROFILE_SAMPLES],
	       profile_print_share(row->kernel, row->self[PROFILE_SAMPLES], a[3]));
	profile_print_name(row->name, row->object);
}

static void print_report(const struct profile_report *r, const struct profile_stacks *callers,
			 const struct profile_reading *in, const struct wanted *w)
{
	const struct profile_totals *t = profile_report_totals(r);
	bool frames = w->by <= PROFILE_BY_OBJECT;
	const struct profile_row *rows;
	size_t n, i;

	profile_print_head(in->path, in->source, t);
	rows = profile_report_get(r, &n);
	printf("\n%s  self%%      self%s  samples kernel%%  %s%s\n", say_style(stdout, STYLE_HEAD),
	       frames ? "  total%" : "", titles[w->by], say_style(stdout, STYLE_PLAIN));
	for (i = 0; i < n && (!w->limit || i < w->limit); i++) {
		print_row(&rows[i], t, in, frames);
		if (callers->tree)
			print_callers(callers, rows[i].key, in);
	}
	if (i < n)
		printf("%s        ... and %zu more; --limit 0 shows all%s\n",
		       say_style(stdout, STYLE_DIM), n - i, say_style(stdout, STYLE_PLAIN));
	profile_print_rest(in->source, t);
}

static int make_callers(struct profile_stacks *s, struct profile_reading *in, struct error *e)
{
	const struct profile_shape shape = { .turned = true };
	int r = profile_reading_rewind(in, e);

	if (r >= 0)
		r = profile_stacks_init(s, &in->walk, &shape, e);
	if (r >= 0 && profile_stacks_sort(s, in->value) < 0)
		r = error_set(e, ENOMEM, "cannot sort the callers: out of memory");
	return r;
}

static int run(const struct args *a)
{
	CLEANUP_PROFILE_READING struct profile_reading in = { 0 };
	CLEANUP_PROFILE_STACKS struct profile_stacks callers = { 0 };
	CLEANUP(profile_report) struct profile_report *r = NULL;
	struct wanted w = { 0 };
	struct error e = ERROR_INIT;
	int rc;

	if (read_options(&w, a, &e) < 0)
		return say_usage(&e);
	rc = profile_reading_open(&in, a, a->operands[0], &e);
	if (rc >= 0)
		rc = profile_report_new(&r, &in.walk, (enum profile_by)w.by, false, &e);
	if (rc >= 0 && w.callers && !w.json)
		rc = make_callers(&callers, &in, &e);
	if (rc < 0)
		return profile_reading_failure(&in, &e);
	profile_reading_warn(&in);
	profile_report_filter(r, w.pattern, w.percent, in.value);
	profile_report_sort(r, (enum profile_order)w.order, in.value);
	if (w.json)
		return jsonout_print(
			profile_report_json(r, in.source, args_has(a, "limit") ? w.limit : 0));
	print_report(r, &callers, &in, &w);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'b', "by", "WHAT", "what the rows are: function object process thread cpu (function)",
	  "function object process thread cpu" },
	{ 's', "sort", "KEY", "self, total or name (self)", "self total name" },
	{ 'n', "limit", "N", "show this many rows (20); 0 shows all", NULL },
	{ 0, "percent", "P", "only rows with at least this share in total", NULL },
	{ 0, "function", "PATTERN", "only rows with such names", NULL },
	{ 'g', "callers", NULL, "show who led to each function", NULL },
	{ 0, "json", NULL, "print JSON (docs/profile.md)", NULL },
	PROFILE_READING_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "The ten functions with the most time of their own:",
	  "kiseki profile report profile.ksk --limit 10" },
	{ "What of one program is time in the kernel, and who asked for it:",
	  "kiseki profile report profile.ksk -p server --mode kernel --callers" },
	{ "Which processes had the CPUs:", "kiseki profile report profile.ksk --by process" },
	{ NULL, NULL },
};

const struct command command_profile_report = {
	.name = "report",
	.summary = "where the time went: by function, object, process, thread or CPU",
	.usage = "FILE|STORE|DEVICE|RUN [--by WHAT] [--sort KEY] [--limit N] [OPTION...]",
	.description = "A row's own share is that of the samples that were taken in it, its total "
		       "share that "
		       "of the samples in which it was on the stack; recursion counts once. Own "
		       "shares add up "
		       "to 100 percent. Of its own samples, kernel% were in the kernel. Samples of "
		       "CPUs that "
		       "had nothing to do are counted apart, unless --mode idle asks for them.\n\n"
		       "FILE is a .ksk file of kiseki profile record. Of the folder of a "
		       "collector's store, and of a DEVICE of the collector that --server names, "
		       "the latest profile is meant; a number is that run of the collector. Names "
		       "come from the objects' symbols by their build-ids, of the kernel from the "
		       "profile itself.",
	.options = options,
	.examples = examples,
	.parent = &command_profile,
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
