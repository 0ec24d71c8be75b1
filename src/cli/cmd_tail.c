/* SPDX-License-Identifier: MIT */
/*
 * tail: a device's events as they come, one line each: as the traced kernel would print them, or
 * as JSON.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/device_json.h"
#include "cli/kiseki.h"
#include "cli/live.h"
#include "cli/signals.h"
#include "command/args.h"
#include "command/say.h"
#include "convert/ftrace_line.h"

#define TURN_MS 1000
#define RATE_MOST 100000U
#define OVER 1 /* what a callback returns to end without a failure */

struct tail {
	struct trace_info info;
	struct ftrace_line line;
	int signals;
	bool json;
	uint64_t limit, events, losses, left_out;
};

static int count_item(struct tail *t, bool loss)
{
	t->losses += loss;
	t->events += !loss;
	return t->limit && t->events >= t->limit ? OVER : 0;
}

/* The lines of a reader of pipes must not wait in a buffer; a failed one (a closed pipe) ends it. */
static int put(const char *text, size_t len, struct error *e)
{
	if (fwrite(text, 1, len, stdout) != len)
		return error_set(e, EPIPE, "cannot print: %s", strerror(errno));
	return 0;
}

/* The column of the task wants its name, which a line of its own does not have. */
static void learn_tasks(struct tail *t, const struct sched_event *ev)
{
	if (ev->kind == SCHED_SWITCH) {
		info_add_task(&t->info, ev->task.pid, -1, ev->task.comm);
		info_add_task(&t->info, ev->other.pid, -1, ev->other.comm);
	} else if (ev->kind == SCHED_RENAME) {
		info_add_task(&t->info, ev->task.pid, -1, ev->other.comm);
	} else if (ev->kind != SCHED_EXEC && ev->kind != SCHED_FORK) {
		info_add_task(&t->info, ev->task.pid, -1, ev->task.comm);
	}
}

static void set_feature(struct trace_info *i, uint32_t feature, bool has)
{
	i->dialect.features = has ? i->dialect.features | feature : i->dialect.features & ~feature;
}

static int take_item(void *context, const struct live_item *l, struct error *e)
{
	const struct trace_item *item = &l->item;
	struct tail *t = context;
	char text[FTRACE_LINE_MAX];
	size_t len;
	int r;

	if (item->type == ITEM_LOSS) {
		len = ftrace_line_format_loss(item->cpu, &item->loss, text);
	} else {
		t->info.has_comm = item->comm_known; /* else what was learned here */
		if (item->event.kind == SCHED_EXIT)
			set_feature(&t->info, DIALECT_GROUP_DEAD, l->has_group_dead);
		set_feature(&t->info, DIALECT_NO_FLAGS, !l->has_flags);
		if (item->event.kind == SCHED_SWITCH)
			learn_tasks(t, &item->event);
		len = ftrace_line_format(&t->line, item, text);
		if (item->event.kind != SCHED_SWITCH)
			learn_tasks(t, &item->event);
	}
	r = put(text, len, e);
	return r < 0 ? r : count_item(t, item->type == ITEM_LOSS);
}

static int take_line(void *context, const char *json, size_t len, struct error *e)
{
	bool loss = len >= 14 && !memcmp(json, "{\"kind\":\"lost\"", 14);
	int r = put(json, len, e);

	if (r >= 0)
		r = put("\n", 1, e);
	return r < 0 ? r : count_item(context, loss);
}

static int take_left_out(void *context, uint64_t items, struct error *e)
{
	struct tail *t = context;

	(void)e;
	t->left_out += items;
	return 0;
}

static int turn(void *context, struct error *e)
{
	struct tail *t = context;
	int s;

	while ((s = signals_next(t->signals)))
		if (signals_is_end(s))
			return OVER;
	return say_flush(e);
}

static const struct live_ops text_ops = {
	.item = take_item,
	.left_out = take_left_out,
	.turn = turn,
};

static const struct live_ops json_ops = {
	.line = take_line,
	.left_out = take_left_out,
	.turn = turn,
};

static void take_lost(void *context, const char *why)
{
	(void)context;
	if (why)
		say_note("connection lost, trying again");
	else
		say_note("connected again; what came in between is in the store");
}

static int follow(struct tail *t, const struct args *a, struct error *e)
{
	CLEANUP(client) struct client *c = NULL;
	struct live l = { .ops = t->json ? &json_ops : &text_ops,
			  .context = t,
			  .turn_ms = TURN_MS,
			  .rate = RATE_MOST,
			  .lost = t->limit ? NULL : take_lost };
	json_t *list = NULL;
	const char *device = a->operands[0];
	int r = client_open(&c, a, e);

	if (r >= 0)
		r = args_get_count(a, "rate", &l.rate, e);
	if (r >= 0 && !device) {
		r = device_json_list(c, &list, e);
		if (r >= 0)
			r = device_json_only(list, &device, e);
	}
	if (r >= 0) {
		l.fds[l.n_fds++] = t->signals;
		r = live_follow(c, device, &l, e);
	}
	json_decref(list);
	return r;
}

static void print_counts(const struct tail *t)
{
	fprintf(stderr, "%" PRIu64 " events", t->events);
	if (t->losses)
		fprintf(stderr, ", %" PRIu64 " gaps", t->losses);
	if (t->left_out)
		fprintf(stderr,
			", %" PRIu64 " not shown: more than can be sent; they are in the store",
			t->left_out);
	fputc('\n', stderr);
}

static int run(const struct args *a)
{
	_cleanup_free_ struct tail *t = calloc(1, sizeof(*t)); /* a line's cache is large */
	struct error e = ERROR_INIT;
	int r;

	if (!t || info_init(&t->info) < 0) {
		error_set(&e, ENOMEM, "cannot follow: out of memory");
		return say_failure(&e);
	}
	t->json = args_has(a, "json");
	ftrace_line_init(&t->line, &t->info);
	t->signals = signals_open(&e);
	r = t->signals < 0 ? t->signals : args_get_count(a, "limit", &t->limit, &e);
	if (r >= 0)
		r = follow(t, a, &e);
	if (r >= 0)
		r = say_flush(&e);
	signals_close(t->signals);
	if (r >= 0)
		print_counts(t);
	info_done(&t->info);
	return r < 0 ? say_failure(&e) : EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'n', "limit", "N", "end after so many events", NULL },
	{ 0, "rate", "N", "show at most so many a second (100000)", NULL },
	{ 0, "json", NULL, "one JSON object per line (docs/format/json.md)", NULL },
	CLIENT_OPTION,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "What happens there now:", "kiseki tail board-7" },
	{ "Programs as they are started:",
	  "kiseki tail board-7 --json | jq -r 'select(.kind == \"exec\") | .filename'" },
	{ NULL, NULL },
};

const struct command command_tail = {
	.name = "tail",
	.summary = "print a device's events as they come",
	.usage = "[DEVICE] [--limit N] [--json]",
	.description =
		"Lines are those of the traced kernel's own text, in the order of time as far "
		"as they have come. Ctrl-C ends it and says how many there were. When the "
		"collector is started anew or the network was away, it goes on as soon as that is "
		"over, with what comes then; with --limit it fails instead. Without DEVICE it is "
		"the only one there is, or the only one that traces.",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.operands = "DEVICE",
	.operands_max = 1,
	.run = run,
};
