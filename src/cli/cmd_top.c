/* SPDX-License-Identifier: MIT */
/*
 * top: the tasks of a device that use its CPUs now. The numbers are top_table.h's; this file has
 * the three ways to show them: on a terminal, as text once in a while, as JSON.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analysis/json_whole.h"
#include "base/clock.h"
#include "base/memfile.h"
#include "base/saturate.h"
#include "base/when.h"
#include "cli/device_json.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/live.h"
#include "cli/screen.h"
#include "cli/signals.h"
#include "cli/table.h"
#include "cli/top_table.h"
#include "cli/units.h"
#include "command/args.h"
#include "command/say.h"

#define RATE_MOST 100000U
#define INTERVAL_LEAST_NS 100000000U
#define INTERVAL_MOST_NS (3600 * UINT64_C(1000000000))
#define LIMIT_TEXT 20U /* tasks, where there is no screen that says how many fit */
#define CPUS_SHOWN 16U
#define OVER 1

enum top_form {
	FORM_SCREEN,
	FORM_TEXT,
	FORM_JSON,
};

struct view {
	struct top *top;
	enum top_form form;
	enum top_order order;
	int signals;
	uint64_t interval_ms, next_ms;
	uint64_t looks, looks_max; /* 0: no end */
	uint64_t limit;
	uint64_t left_out; /* events that the collector did not send */
	bool frozen;
	bool is_lost; /* the connection */
	char device[TABLE_CELL_MAX], state[TABLE_CELL_MAX];
};

static const char *const orders[] = {
	[TOP_BY_CPU] = "cpu",	      [TOP_BY_SWITCHES] = "switches",
	[TOP_BY_WAKEUPS] = "wakeups", [TOP_BY_WAIT] = "wait",
	[TOP_BY_MAX] = "max",	      [TOP_BY_PID] = "pid",
	[TOP_BY_COMM] = "comm",	      [TOP_ORDERS] = NULL,
};

static const struct table_column columns[] = {
	{ "pid", false },	 { "task", true },	 { "CPU %", false },
	{ "switches/s", false }, { "wakeups/s", false }, { "wait avg", false },
	{ "wait max", false },	 { NULL, false },
};

/* --- text --- */

static void print_cpus(const struct view *v, FILE *f)
{
	const struct top_total *total = top_get_total(v->top);
	uint64_t length = total->to_ns - total->from_ns;
	char text[UNITS_LEN];
	uint32_t i;

	fputs("CPU ", f);
	for (i = 0; i < total->cpus && i < CPUS_SHOWN; i++)
		fprintf(f, "  %u: %s%%", i,
			units_percent(top_get_cpu(v->top, i)->busy_ns, length, text));
	if (i < total->cpus)
		fprintf(f, "  … and %u more", total->cpus - i);
	fputc('\n', f);
}

static void print_head(const struct view *v, FILE *f)
{
	const struct top_total *total = top_get_total(v->top);
	uint64_t length = total->to_ns - total->from_ns;
	char text[UNITS_LEN];

	fprintf(f, "%s  %s  %s of events, %" PRIu64 "/s", v->device, v->state,
		units_duration(length, text),
		length ? saturate_u64((double)total->events * 1e9 / (double)length) : 0);
	if (total->losses)
		fprintf(f, "  %" PRIu64 " lost in %" PRIu64 " gaps", total->lost, total->losses);
	if (v->left_out)
		fprintf(f, "  %" PRIu64 " not sent: the figures are too small", v->left_out);
	fputc('\n', f);
	print_cpus(v, f);
}

static void push_task(struct table *t, const struct top_task *k, uint64_t length)
{
	char text[UNITS_LEN], comm[UNITS_COMM_LEN];
	double seconds = (double)length / 1e9;

	table_printf(t, "%" PRId32, k->pid);
	table_push(t, units_comm(k->comm, comm));
	table_push(t, units_percent(k->cpu_ns, length, text));
	table_printf(t, "%.0f", seconds > 0 ? (double)k->switches / seconds : 0);
	table_printf(t, "%.0f", seconds > 0 ? (double)k->wakeups / seconds : 0);
	table_push(t, k->waits ? units_duration(k->wait_ns / k->waits, text) : NULL);
	table_push(t, k->waits ? units_duration(k->wait_max_ns, text) : NULL);
}

static void print_table(struct view *v, FILE *f, size_t limit, size_t width)
{
	const struct top_total *total = top_get_total(v->top);
	const struct top_task *tasks;
	CLEANUP_TABLE struct table t = { 0 };
	size_t n, i;

	tasks = top_look(v->top, v->order, &n);
	print_head(v, f);
	fputc('\n', f);
	table_init(&t, columns);
	for (i = 0; i < n && (!limit || i < limit); i++)
		push_task(&t, &tasks[i], total->to_ns - total->from_ns);
	table_print(&t, f, width);
}

/* --- JSON: one object per line and look --- */

static json_t *task_json(const struct top_task *k)
{
	return json_pack("{sI so so so so so so so}", "pid", (json_int_t)k->pid, "comm",
			 jsonout_comm(k->comm), "cpu_ns", jsonout_count(k->cpu_ns), "switches",
			 jsonout_count(k->switches), "wakeups", jsonout_count(k->wakeups), "waits",
			 jsonout_count(k->waits), "wait_ns", jsonout_count(k->wait_ns),
			 "wait_max_ns", jsonout_count(k->wait_max_ns));
}

static json_t *cpus_json(const struct top *t)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < top_get_total(t)->cpus; i++) {
		const struct top_cpu *c = top_get_cpu(t, i);

		json_array_append_new(list, json_pack("{si so so}", "cpu", (int)i, "busy_ns",
						      jsonout_count(c->busy_ns), "idle_ns",
						      jsonout_count(c->idle_ns)));
	}
	return list;
}

static int print_json(struct view *v)
{
	const struct top_total *total = top_get_total(v->top);
	json_t *list = json_array(), *o;
	const struct top_task *tasks;
	size_t n, i;
	int r;

	tasks = top_look(v->top, v->order, &n);
	for (i = 0; i < n && (!v->limit || i < v->limit); i++)
		json_array_append_new(list, task_json(&tasks[i]));
	o = json_pack("{so so so so so so so so so}", "device", jsonout_text(v->device), "from_ns",
		      jsonout_count(total->from_ns), "to_ns", jsonout_count(total->to_ns), "events",
		      jsonout_count(total->events), "gaps", jsonout_count(total->losses), "lost",
		      jsonout_count(total->lost), "left_out", jsonout_count(v->left_out), "cpus",
		      cpus_json(v->top), "tasks", list);
	r = json_whole_is() && o ? json_dumpf(o, stdout, JSON_COMPACT) : -1;
	json_decref(o);
	putchar('\n');
	return r;
}

/* --- looks --- */

/* One line, as far as it goes: a second one would push the title out of the screen. */
static void print_hint(const struct view *v, FILE *f, size_t width)
{
	char text[128];
	int len = snprintf(text, sizeof(text),
			   "sorted by %s%s   c CPU  s switches  w wakeups  a wait  m max  p pid  "
			   "n name  space stops  q quits",
			   orders[v->order], v->frozen ? ", stopped" : "");

	fprintf(f, "%.*s\n", width && width < (size_t)len ? (int)width : len, text);
}

static void draw_screen(struct view *v)
{
	struct screen_size size = screen_get_size();
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	FILE *f = memfile_open(&text, &len);

	if (!f)
		return;
	print_table(v, f, size.rows > 6 ? size.rows - 5 : 1, size.columns);
	print_hint(v, f, size.columns);
	if (!fclose(f))
		screen_draw(text, size);
}

static int look(struct view *v, struct error *e)
{
	if (v->form == FORM_SCREEN) {
		draw_screen(v);
	} else if (v->form == FORM_JSON) {
		if (print_json(v) < 0)
			return error_set(e, ENOMEM, "cannot print the result: out of memory");
	} else {
		if (v->looks)
			putchar('\n');
		print_table(v, stdout, v->limit, 0);
	}
	if (say_flush(e) < 0)
		return -EPIPE;
	top_next(v->top);
	v->left_out = 0;
	return v->looks_max && ++v->looks >= v->looks_max ? OVER : 0;
}

static int take_key(struct view *v, char key)
{
	static const struct {
		char key;
		enum top_order order;
	} keys[] = {
		{ 'c', TOP_BY_CPU },  { 's', TOP_BY_SWITCHES }, { 'w', TOP_BY_WAKEUPS },
		{ 'a', TOP_BY_WAIT }, { 'm', TOP_BY_MAX },	{ 'p', TOP_BY_PID },
		{ 'n', TOP_BY_COMM },
	};
	size_t i;

	if (key == 'q' || key == 'Q')
		return OVER;
	if (key == ' ')
		v->frozen = !v->frozen;
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].key == key)
			v->order = keys[i].order;
	draw_screen(v);
	return 0;
}

static int turn(void *context, struct error *e)
{
	struct view *v = context;
	int s, r = 0;
	char key;

	while ((s = signals_next(v->signals))) {
		if (signals_is_end(s))
			return OVER;
		if (v->form == FORM_SCREEN)
			draw_screen(v); /* another size */
	}
	while (v->form == FORM_SCREEN && r == 0 && (key = screen_next_key()))
		r = take_key(v, key);
	if (r == 0 && clock_mono_ms() >= v->next_ms) {
		v->next_ms = clock_mono_ms() + v->interval_ms;
		if (!v->frozen && !v->is_lost)
			r = look(v, e);
	}
	return r;
}

static int take_item(void *context, const struct live_item *l, struct error *e)
{
	struct view *v = context;

	return v->frozen ? 0 : top_add(v->top, &l->item, e);
}

static int take_state(void *context, const json_t *device, struct error *e)
{
	struct view *v = context;
	const char *source = device_json_text(device, "status.source");

	(void)e;
	snprintf(v->device, sizeof(v->device), "%s", device_json_text(device, "name"));
	snprintf(v->state, sizeof(v->state), "%s%s%s", device_json_text(device, "state"),
		 *source ? " by " : "", source);
	table_clean(v->device);
	table_clean(v->state);
	return 0;
}

/* What was counted is of a time that is over. */
static void start_again(struct view *v)
{
	top_next(v->top);
	top_forget(v->top);
}

static int take_run(void *context, uint64_t run, struct error *e)
{
	struct view *v = context;

	(void)run;
	(void)e;
	start_again(v); /* its clock may be another */
	return 0;
}

static int take_left_out(void *context, uint64_t items, struct error *e)
{
	struct view *v = context;

	(void)e;
	v->left_out += items;
	return 0;
}

/* On a terminal the first line says it. */
static void take_lost(void *context, const char *why)
{
	struct view *v = context;

	start_again(v);
	if (v->form != FORM_SCREEN)
		say_note("%s", why ? "connection lost, trying again" : "connected again");
	v->is_lost = why;
	snprintf(v->state, sizeof(v->state), "%s", why ? "connection lost, trying again" : "");
	if (v->form == FORM_SCREEN)
		draw_screen(v);
}

static const struct live_ops ops = {
	.item = take_item,
	.state = take_state,
	.run = take_run,
	.left_out = take_left_out,
	.turn = turn,
};

/* --- the command --- */

static int follow(struct view *v, const struct args *a, struct error *e)
{
	CLEANUP(client) struct client *c = NULL;
	struct live l = { .ops = &ops,
			  .context = v,
			  .turn_ms = 100,
			  .rate = RATE_MOST,
			  .lost = v->looks_max ? NULL : take_lost };
	const char *device = a->operands[0];
	json_t *list = NULL;
	int r = client_open(&c, a, e);

	if (r >= 0 && !device) {
		r = device_json_list(c, &list, e);
		if (r >= 0)
			r = device_json_only(list, &device, e);
	}
	if (r >= 0 && v->form == FORM_SCREEN)
		r = screen_open(e);
	if (r >= 0) {
		l.fds[l.n_fds++] = v->signals;
		if (v->form == FORM_SCREEN)
			l.fds[l.n_fds++] = STDIN_FILENO;
		v->next_ms = clock_mono_ms() + v->interval_ms;
		r = live_follow(c, device, &l, e);
	}
	screen_close();
	json_decref(list);
	return r;
}

static int read_options(struct view *v, const struct args *a, struct error *e)
{
	const char *interval = args_get(a, "interval");
	uint64_t ns = 1000000000;
	size_t order = TOP_BY_CPU;

	if (interval && when_parse_length(interval, &ns, e) < 0)
		return -EINVAL;
	if (ns < INTERVAL_LEAST_NS || ns > INTERVAL_MOST_NS)
		return error_set(e, EINVAL, "cannot look every %s: 100ms to 1h", interval);
	v->interval_ms = ns / 1000000;
	v->looks_max = args_has(a, "once") ? 1 : 0;
	v->limit = LIMIT_TEXT;
	if (args_get_word(a, "sort", orders, &order, e) < 0 ||
	    args_get_count(a, "count", &v->looks_max, e) < 0 ||
	    args_get_count(a, "limit", &v->limit, e) < 0)
		return -EINVAL;
	v->order = (enum top_order)order;
	v->form = args_has(a, "json")						    ? FORM_JSON
		  : v->looks_max || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO) ? FORM_TEXT
										    : FORM_SCREEN;
	return 0;
}

static int run(const struct args *a)
{
	CLEANUP(top) struct top *top = NULL;
	CLEANUP_SIGNALS int signals = -1;
	struct error e = ERROR_INIT;
	struct view v = { .device = "" };

	if (read_options(&v, a, &e) < 0)
		return say_usage(&e);
	signals = signals_open(&e);
	if (signals < 0 || top_new(&top, &e) < 0)
		return say_failure(&e);
	v.signals = signals;
	v.top = top;
	return follow(&v, a, &e) < 0 ? say_failure(&e) : EXIT_OK;
}

static const struct cli_option options[] = {
	{ 's', "sort", "KEY", "cpu (default) switches wakeups wait max pid comm",
	  "cpu switches wakeups wait max pid comm" },
	{ 'i', "interval", "TIME", "how often to look: 1s", NULL },
	{ 0, "once", NULL, "look once and print it", NULL },
	{ 'n', "count", "N", "look so many times and print them", NULL },
	{ 'l', "limit", "N", "print so many tasks (20); 0 prints all", NULL },
	{ 0, "json", NULL, "print one JSON object per look", NULL },
	CLIENT_OPTION,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "Who waits longest for a CPU on a device:", "kiseki top board-7 --sort max" },
	{ "For a script, over ten seconds:",
	  "kiseki top board-7 --once -i 10s --json | jq '.tasks[0]'" },
	{ NULL, NULL },
};

const struct command command_top = {
	.name = "top",
	.summary = "show which tasks use a device's CPUs now",
	.usage = "[DEVICE] [--sort KEY] [--once|-n N] [--json]",
	.description =
		"Not sampled: from every switch and wakeup as they come. Per task: CPU time in "
		"percent of one CPU, switches and wakeups per second, and how long it waited from "
		"a "
		"wakeup to running, on average and at most. On a terminal, keys choose the order: "
		"c s w a m p n; space stops it, q quits. When the collector is started anew or "
		"the network was away, it goes on as soon as that is over; with --once and "
		"--count it fails instead. Without DEVICE it is the only one there is, or the "
		"only one that traces.",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.operands = "DEVICE",
	.operands_max = 1,
	.run = run,
};
