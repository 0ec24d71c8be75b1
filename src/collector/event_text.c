/* SPDX-License-Identifier: MIT */
/* event_text: see event_text.h. */
#include "collector/event_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "convert/escape.h"
#include "convert/ftrace_line.h"
#include "convert/item_json.h"

/* --- names --- */

struct runner {
	int32_t pid;
	char before[SCHED_COMM_LEN]; /* of who ran when the last item happened */
	char comm[SCHED_COMM_LEN];   /* of who runs since */
};

struct event_names {
	const struct trace_info *info;
	struct runner *cpus;
};

struct event_names *event_names_new(const struct trace_info *info)
{
	struct event_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->info = info;
	n->cpus = calloc((size_t)info->cpus + 1, sizeof(*n->cpus));
	if (n->cpus)
		return n;
	free(n);
	return NULL;
}

void event_names_free(struct event_names *n)
{
	if (!n)
		return;
	free(n->cpus);
	free(n);
}

static void find_name(const struct event_names *n, uint32_t cpu, const struct sched_event *ev)
{
	struct runner *r = &n->cpus[cpu];
	const struct trace_task *known;
	char idle[32];

	if (!ev->pid) { /* every CPU has its own, and no list has them */
		snprintf(idle, sizeof(idle), "swapper/%" PRIu32, cpu);
		sched_comm_set(r->before, idle, SCHED_COMM_LEN);
	} else if (ev->kind != SCHED_EXEC && ev->pid == ev->task.pid && ev->task.comm[0]) {
		memcpy(r->before, ev->task.comm, SCHED_COMM_LEN);
	} else if (r->pid == ev->pid && r->comm[0]) {
		memcpy(r->before, r->comm, SCHED_COMM_LEN);
	} else {
		known = info_get_task(n->info, ev->pid);
		memset(r->before, 0, SCHED_COMM_LEN);
		if (known)
			memcpy(r->before, known->comm, SCHED_COMM_LEN);
	}
}

void event_names_note(struct event_names *n, const struct trace_item *item)
{
	const struct sched_event *ev = &item->event;
	struct runner *r;

	if (item->type != ITEM_EVENT || item->cpu >= n->info->cpus)
		return;
	r = &n->cpus[item->cpu];
	find_name(n, item->cpu, ev);
	if (ev->kind == SCHED_SWITCH) {
		r->pid = ev->other.pid;
		memcpy(r->comm, ev->other.comm, SCHED_COMM_LEN);
	} else if (ev->kind == SCHED_RENAME && ev->task.pid == r->pid) {
		memcpy(r->comm, ev->other.comm, SCHED_COMM_LEN);
	}
}

const char *event_names_get(const struct event_names *n, const struct trace_item *item)
{
	static const char none[SCHED_COMM_LEN];

	if (item->type != ITEM_EVENT || item->cpu >= n->info->cpus)
		return none;
	return n->cpus[item->cpu].before;
}

/* --- text --- */

struct event_text {
	const struct trace_info *info;
	struct ftrace_line line;
	bool has_gap;
	char raw[FTRACE_LINE_MAX];
	char escaped[FTRACE_LINE_MAX * ESCAPE_GROWTH];
};

struct event_text *event_text_new(const struct trace_info *info)
{
	struct event_text *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->info = info;
	ftrace_line_init(&t->line, info);
	return t;
}

void event_text_free(struct event_text *t)
{
	free(t);
}

bool event_text_is_whole(const struct event_text *t)
{
	return !t->has_gap;
}

static void put_string(struct event_text *t, const char *text, size_t len, FILE *out)
{
	char *end = escape_put(t->escaped, text, len, ESCAPE_JSON);

	fputc('"', out);
	fwrite(t->escaped, 1, (size_t)(end - t->escaped), out);
	fputc('"', out);
}

/* What the kernel prints behind the event's name. The columns before it hold a name, which may have
 * anything in it, but only in the first of them, whose length is known. */
static void put_body(struct event_text *t, const struct trace_item *item, FILE *out)
{
	const struct sched_event *ev = &item->event;
	size_t len = ftrace_line_format(&t->line, item, t->raw);
	const char *p = t->raw + t->line.columns[(uint32_t)ev->pid % FTRACE_COLUMN_CACHE].len;
	const char *end = t->raw + len, *colon;
	int i;

	for (i = 0; i < 2; i++) { /* behind the stamp, and behind the event's name */
		colon = memchr(p, ':', (size_t)(end - p));
		p = colon && colon + 2 <= end ? colon + 2 : end;
	}
	while (end > p && end[-1] == '\n')
		end--;
	put_string(t, p, (size_t)(end - p), out);
}

static void put_fields(struct event_text *t, const struct trace_item *item, enum field_id first,
		       FILE *out)
{
	uint32_t room = fields_room(item);
	char *text = malloc(room), *end;

	if (!text) {
		t->has_gap = true;
		return;
	}
	end = item_put_json_from(text, item, t->info, first);
	fwrite(text, 1, (size_t)(end - text), out);
	free(text);
}

static void put_loss(struct event_text *t, const struct trace_item *item, FILE *out)
{
	uint64_t ns = clock_ns(&t->info->clock, item->loss.from_tick);

	fprintf(out,
		"{\"ns\":%" PRIu64 ",\"cpu\":%" PRIu32
		",\"pid\":null,\"comm\":null,\"event\":\"lost\",\"text\":\"\",\"fields\":",
		ns, item->cpu);
	put_fields(t, item, FIELD_FROM_NS, out);
	fputc('}', out);
}

void event_text_put(struct event_text *t, const struct trace_item *item,
		    const char comm[SCHED_COMM_LEN], FILE *out)
{
	const struct sched_event *ev = &item->event;

	if (item->type == ITEM_LOSS) {
		put_loss(t, item, out);
		return;
	}
	fprintf(out, "{\"ns\":%" PRIu64 ",\"cpu\":%" PRIu32 ",\"pid\":%" PRId32 ",\"comm\":",
		clock_event_ns(&t->info->clock, ev), item->cpu, ev->pid);
	if (comm[0])
		put_string(t, comm, strnlen(comm, SCHED_COMM_LEN), out);
	else
		fputs("null", out);
	fprintf(out, ",\"event\":\"%s\",\"text\":", sched_kind_event(ev->kind));
	put_body(t, item, out);
	fputs(",\"fields\":", out);
	put_fields(t, item, FIELD_COMMON_FLAGS, out);
	fputc('}', out);
}
