/* SPDX-License-Identifier: MIT */
/*
 * boot diff: two boots side by side: what came later, what took longer, what is new, what is gone; as text, as JSON,
 * or as a chart with both.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/boot_report_json.h"
#include "base/when.h"
#include "cli/boot_picture.h"
#include "cli/boot_print.h"
#include "cli/boot_reading.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/units.h"
#include "command/say.h"

#define LIMIT_DEFAULT 10U
#define MIN_DEFAULT_NS 10000000ULL

struct diff {
	struct boot *before, *after;
	struct boot_diff *diff;
	struct boot_diff_json_options options;
	const char *names[2];
};

enum section {
	LATER,
	LONGER,
	MORE_CPU,
	MORE_DISK,
	EARLIER,
	SHORTER,
	LESS_CPU,
	LESS_DISK,
	NEW,
	GONE
};

/* What a section is sorted by, largest first. 0: the pair is not in it. */
static int64_t weight(const struct boot_diff *d, const struct boot_pair *p, enum section s)
{
	bool is_pair = p->a != BOOT_NONE && p->b != BOOT_NONE;

	switch (s) {
	case LATER:
	case EARLIER:
		return s == LATER ? p->start_ns : -p->start_ns;
	case LONGER:
	case SHORTER:
		return s == LONGER ? p->length_ns : -p->length_ns;
	case MORE_CPU:
	case LESS_CPU:
		return s == MORE_CPU ? p->cpu_ns : -p->cpu_ns;
	case MORE_DISK:
	case LESS_DISK:
		return s == MORE_DISK ? p->disk_ns : -p->disk_ns;
	case NEW:
		return is_pair || p->b == BOOT_NONE ? 0
						    : (int64_t)(d->b->processes[p->b].to_ns -
								d->b->processes[p->b].from_ns);
	default:
		return is_pair || p->a == BOOT_NONE ? 0
						    : (int64_t)(d->a->processes[p->a].to_ns -
								d->a->processes[p->a].from_ns);
	}
}

struct order {
	const struct boot_diff *diff;
	enum section section;
};

static int compare_weights(const void *pa, const void *pb, void *data)
{
	const uint32_t i = *(const uint32_t *)pa, k = *(const uint32_t *)pb;
	const struct order *o = data;
	int64_t x = weight(o->diff, &o->diff->pairs[i], o->section);
	int64_t y = weight(o->diff, &o->diff->pairs[k], o->section);

	if (x != y)
		return x < y ? 1 : -1;
	return (i > k) - (i < k);
}

static bool is_kernel(const struct boot_diff *d, const struct boot_pair *p)
{
	return p->b != BOOT_NONE ? d->b->processes[p->b].is_kernel
				 : d->a->processes[p->a].is_kernel;
}

/* Numbers of the pairs of a section, in its order. */
static uint32_t *list_section(const struct diff *d, enum section s, size_t *ret_n)
{
	struct order order = { .diff = d->diff, .section = s };
	uint32_t *list = calloc(d->diff->n_pairs + 1, sizeof(*list));
	const struct boot_pair *p;
	size_t i, n = 0;
	int64_t by;

	for (i = 0; list && i < d->diff->n_pairs; i++) {
		p = &d->diff->pairs[i];
		by = weight(d->diff, p, s);
		if (by > 0 && (uint64_t)by >= d->options.min_ns &&
		    (d->options.kernel || !is_kernel(d->diff, p)))
			list[n++] = (uint32_t)i;
	}
	if (list)
		qsort_r(list, n, sizeof(*list), compare_weights, &order);
	*ret_n = n;
	return list;
}

/* --- rows --- */

/* The figure of one side. */
static void print_figure(const struct boot *b, uint32_t process, enum section s)
{
	const struct boot_process *p = process == BOOT_NONE ? NULL : &b->processes[process];
	char moment[BOOT_PRINT_TIME], length[UNITS_LEN];
	const char *text = "-";

	if (p && (s == LATER || s == EARLIER || s == NEW || s == GONE))
		text = p->was_there ? "before" : boot_print_moment(p->from_ns - b->from_ns, moment);
	else if (p && (s == MORE_CPU || s == LESS_CPU))
		text = units_duration(boot_process_cpu(p), length);
	else if (p && (s == MORE_DISK || s == LESS_DISK))
		text = units_duration(p->state_ns[BOOT_DISK_WAIT] > p->account.disk_ns
					      ? p->state_ns[BOOT_DISK_WAIT]
					      : p->account.disk_ns,
				      length);
	else if (p)
		text = units_duration(p->to_ns - p->from_ns, length);
	printf("%11s ", text);
}

static void print_pair(const struct diff *d, const struct boot_pair *p, enum section s)
{
	int64_t by = weight(d->diff, p, s);
	char change[BOOT_PRINT_TIME], cpu[UNITS_LEN];
	bool is_less = s == EARLIER || s == SHORTER || s == LESS_CPU || s == LESS_DISK;
	const struct boot *b = p->b != BOOT_NONE ? d->after : d->before;
	uint32_t process = p->b != BOOT_NONE ? p->b : p->a;

	if (s == NEW || s == GONE) {
		print_figure(b, process, s);
		printf("%11s %9s", units_duration((uint64_t)by, change),
		       units_duration(boot_process_cpu(&b->processes[process]), cpu));
	} else {
		print_figure(d->before, p->a, s);
		print_figure(d->after, p->b, s);
		printf("%9s", boot_print_change(is_less ? -by : by, change));
	}
	fputs("  ", stdout);
	boot_print_process(b, process, true);
	putchar('\n');
}

static int print_section(const struct diff *d, enum section s, const char *title)
{
	_cleanup_free_ uint32_t *list = NULL;
	size_t i, n = 0;

	list = list_section(d, s, &n);
	if (!list)
		return -ENOMEM;
	if (!n)
		return 0;
	boot_print_title(title);
	puts(s == NEW || s == GONE ? "      start        life       cpu  process"
				   : "     before       after    change  process");
	for (i = 0; i < n && (!d->options.limit || i < d->options.limit); i++)
		print_pair(d, &d->diff->pairs[list[i]], s);
	boot_print_more(n - i);
	return 0;
}

/* --- all --- */

static void print_goal(const struct diff *d)
{
	const struct boot *a = d->before, *b = d->after;
	bool has_target = a->target_ns && b->target_ns;
	uint64_t x = (has_target ? a->target_ns : a->to_ns) - a->from_ns;
	uint64_t y = (has_target ? b->target_ns : b->to_ns) - b->from_ns;
	char before[BOOT_PRINT_TIME], after[BOOT_PRINT_TIME], change[BOOT_PRINT_TIME];

	printf("\n%s, from the start of the recordings: %s -> %s, %s%s%s\n",
	       has_target ? "Target" : "Not both have a target; the end",
	       boot_print_moment(x, before), boot_print_moment(y, after),
	       say_style(stdout, d->diff->target_ns > 0 ? STYLE_BAD : STYLE_GOOD),
	       boot_print_change(d->diff->target_ns, change), say_style(stdout, STYLE_PLAIN));
}

static int print_diff(const struct diff *d)
{
	static const struct {
		enum section section;
		const char *title;
	} sections[] = {
		{ LATER, "Later" },
		{ LONGER, "Longer" },
		{ MORE_CPU, "More CPU time" },
		{ MORE_DISK, "Longer waits for the disk" },
		{ NEW, "New" },
		{ GONE, "Gone" },
		{ EARLIER, "Earlier" },
		{ SHORTER, "Shorter" },
		{ LESS_CPU, "Less CPU time" },
		{ LESS_DISK, "Shorter waits for the disk" },
	};
	size_t i;
	int r = 0;

	boot_print_head(d->before, d->names[0]);
	boot_print_head(d->after, d->names[1]);
	print_goal(d);
	for (i = 0; i < sizeof(sections) / sizeof(*sections) && r >= 0; i++)
		r = print_section(d, sections[i].section, sections[i].title);
	return r;
}

static int read_options(struct diff *d, const struct args *a, struct error *e)
{
	d->options.limit = LIMIT_DEFAULT;
	d->options.min_ns = MIN_DEFAULT_NS;
	d->options.kernel = args_has(a, "kernel");
	if (args_get_count(a, "limit", &d->options.limit, e) < 0)
		return -EINVAL;
	if (args_has(a, "min") && when_parse_length(args_get(a, "min"), &d->options.min_ns, e) < 0)
		return error_prefix(e, EINVAL, "cannot take --min");
	return 0;
}

static void diff_done(struct diff *d)
{
	boot_diff_free(d->diff);
	boot_free(d->before);
	boot_free(d->after);
}

static int fail(const struct diff *d, int code)
{
	struct error e = ERROR_INIT;

	error_set(&e, -code, "cannot compare %s and %s: %s", d->names[0], d->names[1],
		  strerror(-code));
	return say_failure(&e);
}

static int draw(const struct diff *d, const char *path)
{
	struct boot_chart_options o = { .kernel = d->options.kernel, .other = d->after };
	struct error e = ERROR_INIT;
	int r = boot_picture_write(path, d->before, &o, &e);

	if (r >= 0)
		return EXIT_OK;
	return r == -EINVAL ? say_usage(&e) : say_failure(&e);
}

static int run(const struct args *a)
{
	__attribute__((cleanup(diff_done))) struct diff d = { 0 };
	struct error e = ERROR_INIT;
	int r;

	if (read_options(&d, a, &e) < 0)
		return say_usage(&e);
	d.names[0] = a->operands[0];
	d.names[1] = a->operands[1];
	r = boot_reading_open(&d.before, a, d.names[0]);
	if (r == EXIT_OK)
		r = boot_reading_open(&d.after, a, d.names[1]);
	if (r != EXIT_OK)
		return r;
	if (args_has(a, "output"))
		return draw(&d, args_get(a, "output"));
	r = boot_diff_new(&d.diff, d.before, d.after);
	if (r < 0)
		return fail(&d, r);
	if (args_has(a, "json")) {
		d.options.limit = args_has(a, "limit") ? d.options.limit : 0;
		return jsonout_print(boot_diff_json(d.diff, &d.options));
	}
	r = print_diff(&d);
	return r < 0 ? fail(&d, r) : EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'n', "limit", "N", "show this many of each list (10); 0: all", NULL },
	{ 0, "min", "TIME", "leave out differences that are smaller (10ms)", NULL },
	{ 'k', "kernel", NULL, "kernel threads, too", NULL },
	{ 'o', "output", "FILE", "draw both on one axis into this .html or .svg instead", NULL },
	{ 0, "json", NULL, "print JSON (docs/reports.md)", NULL },
	BOOT_READING_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "What did the new image make slower?", "kiseki boot diff old.ksk new.ksk" },
	{ "Both in one chart:", "kiseki boot diff old.ksk new.ksk -o diff.html" },
	{ "Two boots of a device, by their runs:", "kiseki boot diff 12 15 --json" },
	{ NULL, NULL },
};

const struct command command_boot_diff = {
	.name = "diff",
	.summary = "two boots side by side: later, longer, new, gone",
	.usage = "BEFORE AFTER [--min TIME] [--limit N] [OPTION...]",
	.description =
		"Processes of both boots are matched by their program and arguments, numbers in "
		"them left out, by whose children they are, and among equals in their order. Times "
		"are seen from the start of each recording. What came later comes first, the "
		"largest "
		"difference first.\n\n"
		"BEFORE and AFTER are whatever `kiseki boot report` takes.",
	.options = options,
	.examples = examples,
	.parent = &command_boot,
	.operands = "FILE",
	.operands_min = 2,
	.operands_max = 2,
	.run = run,
};
