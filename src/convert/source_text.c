/* SPDX-License-Identifier: MIT */
/*
 * source_text: the text of the kernel's `trace` and `trace_pipe`, of trace-cmd report, or of an
 * Android systrace page, as a source.
 *
 * Text in memory is read twice: once to learn the dialect, the CPUs and the tasks, because all of
 * that must be known before the first item, and then to give the items. A pipe is read ahead to its
 * first trace line, plus what came with it; what shows only later (a field that an event of another
 * kind prints) is then taken as the default of the dialect.
 *
 * Items come in the order of the lines, which is the true order of the events, also of those with
 * the same microsecond. A line with all columns whose event is ours but whose body or flags do not
 * parse is a loss of one event by damage, never silently skipped, and so is a last line without its
 * newline, since a cut number still looks like one.
 *
 * The task column and its tgid go to info.tasks as they are met, so that a sink that prints the
 * items as they come finds the name that stood in the very line.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "convert/import.h"
#include "convert/text_body.h"
#include "convert/text_columns.h"
#include "convert/text_facts.h"
#include "convert/text_lines.h"

#define NONSENSE_MAX 100U /* lines in a row that are no trace lines */
#define PENDING_MAX 64U	  /* loss lines in a row */
#define PIPE_CPUS_MIN 64U /* CPUs of a pipe that does not tell */
#define TASK_CACHE 512U	  /* a power of two */

struct cached_task {
	int32_t pid;
	int32_t tgid;
	bool used;
	size_t len; /* of comm */
	char comm[SCHED_COMM_LEN];
};

struct pending_loss {
	uint32_t cpu;
	uint64_t from_tick;
	uint64_t count;
};

struct source_text {
	struct trace_source base; /* first */
	struct text_lines lines;
	struct text_facts facts;
	int failed;		/* 1: not yet; else what next() answers until rewound */
	bool from_memory;	/* skipped and tasks are known since opening */
	bool started;		/* the loss of the header was given */
	uint32_t digits;	/* of the stamps, as the clock had them at opening */
	uint32_t nonsense;	/* lines in a row */
	struct trace_item held; /* an event behind pending losses */
	bool has_held;
	uint32_t n_pending;
	uint32_t next_pending;
	struct pending_loss pending[PENDING_MAX];
	uint64_t last_tick[TRACE_CPUS_MAX];
	struct cached_task cache[TASK_CACHE];
	char scratch[TEXT_SCRATCH]; /* a file's name of the item may lie in it */
};

/* Counts a line that is nothing we know. */
static int add_nonsense(struct source_text *s, const struct text_line *line, struct error *e)
{
	int shown = line->len < 60 ? (int)line->len : 60;

	if (++s->nonsense < NONSENSE_MAX)
		return 0;
	return error_set(e, EBADMSG,
			 "ftrace text: line %llu is the %uth in a row that is no trace line: %.*s",
			 (unsigned long long)s->lines.line_no, s->nonsense, shown, line->text);
}

static int32_t known_tgid(const struct trace_info *info, int32_t pid, int32_t tgid)
{
	const struct trace_task *task;

	if (tgid > 0)
		return tgid;
	task = info_get_task(info, pid);
	return task ? task->tgid : -1;
}

/* Takes the task column to info.tasks. "<...>" is a name the kernel did not know, so it is kept
 * only to hold a tgid, and never replaces a name. */
static int learn_task(struct source_text *s, const struct text_columns *c, struct error *e)
{
	struct cached_task *t = &s->cache[(uint32_t)c->pid % TASK_CACHE];
	struct trace_info *info = &s->base.info;
	int32_t tgid = c->tgid > 0 ? c->tgid : -1;
	char comm[SCHED_COMM_LEN];
	bool unknown;
	int r;

	if (c->pid <= 0)
		return 0;
	if (t->used && t->pid == c->pid && t->tgid == tgid && t->len == c->comm.len &&
	    !memcmp(t->comm, c->comm.text, c->comm.len))
		return 0;
	sched_comm_set(comm, c->comm.text, c->comm.len);
	unknown = c->comm.len == 5 && !memcmp(comm, "<...>", 5);
	t->used = true;
	t->pid = c->pid;
	t->tgid = tgid;
	t->len = c->comm.len;
	memcpy(t->comm, comm, sizeof(comm));
	if (unknown && (tgid < 0 || info_get_task(info, c->pid)))
		return 0;
	r = info_add_task(info, c->pid, known_tgid(info, c->pid, tgid), comm);
	if (r < 0)
		return error_set(e, -r, "ftrace text: too many tasks at line %llu",
				 (unsigned long long)s->lines.line_no);
	return 0;
}

/* The stamp in ticks of the clock that was chosen at opening, and what they lack. A rate that was set
 * later changes no tick. */
static bool set_tick(uint32_t digits, const struct text_columns *c, struct sched_event *ret)
{
	static const uint32_t powers[] = { 1000000000, 100000000, 10000000, 1000000, 100000,
					   10000,      1000,	  100,	    10,	     1 };
	uint32_t part = c->part * powers[c->part_digits];

	if (digits == 0) {
		ret->tick = c->whole;
		return c->part_digits == 0;
	}
	if (c->whole > UINT64_MAX / 1000000000 - 1 || !c->part_digits)
		return false;
	ret->tick = c->whole * 1000000000 + part;
	if (digits == 6) {
		ret->tick = c->whole * 1000000 + part / 1000;
		ret->tick_off_ns = (int32_t)(part % 1000);
	}
	return true;
}

/* Makes the item of a line whose event is of kind `kind`. */
static void make_item(struct source_text *s, const struct text_columns *c, int kind, bool torn,
		      struct trace_item *ret)
{
	const struct sched_dialect *d = &s->base.info.dialect;
	const char *letters = text_facts_letters(&s->facts, d);
	struct sched_event stamp = { .tick = s->last_tick[c->cpu] };
	struct text_body body;
	bool good;

	memset(ret, 0, sizeof(*ret));
	ret->cpu = c->cpu;
	good = set_tick(s->digits, c, &stamp);
	if (good && !torn && text_body_parse(&body, kind, c) &&
	    text_flags_parse(d, c, &body.event) &&
	    (!body.state.len || text_state_parse(d, letters, &body.state, &body.event.state))) {
		ret->type = ITEM_EVENT;
		ret->event = body.event;
		ret->event.tick = stamp.tick;
		ret->event.tick_off_ns = stamp.tick_off_ns;
	} else {
		ret->type = ITEM_LOSS;
		ret->loss.from_tick = s->last_tick[c->cpu];
		ret->loss.to_tick =
			stamp.tick > ret->loss.from_tick ? stamp.tick : ret->loss.from_tick;
		ret->loss.count = 1;
		ret->loss.cause = LOSS_DAMAGE;
	}
	s->last_tick[c->cpu] = stamp.tick;
}

static int check_cpu(const struct source_text *s, uint32_t cpu, struct error *e)
{
	if (cpu < s->base.info.cpus)
		return 0;
	return error_set(e, EBADMSG, "ftrace text: CPU %u at line %llu is beyond %s of %u CPUs",
			 cpu, (unsigned long long)s->lines.line_no,
			 s->from_memory ? "the maximum" : "what the pipe began with,",
			 s->from_memory ? TRACE_CPUS_MAX : s->base.info.cpus);
}

static int add_pending(struct source_text *s, const struct text_columns *c, struct error *e)
{
	int r = check_cpu(s, c->cpu, e);

	if (r < 0)
		return r;
	if (s->n_pending == PENDING_MAX)
		return error_set(e, EBADMSG,
				 "ftrace text: more than %u losses in a row at line %llu",
				 PENDING_MAX, (unsigned long long)s->lines.line_no);
	s->pending[s->n_pending].cpu = c->cpu;
	s->pending[s->n_pending].from_tick = s->last_tick[c->cpu];
	s->pending[s->n_pending].count = c->count;
	s->n_pending++;
	return 0;
}

/* A line with all columns. 1: *ret is its item; 0: not an event of ours. */
static int take_event_line(struct source_text *s, const struct text_columns *c, bool torn,
			   struct trace_item *ret, struct error *e)
{
	int kind = text_body_kind(&c->name), r;

	s->nonsense = 0;
	r = learn_task(s, c, e);
	if (r < 0)
		return r;
	if (kind < 0) {
		s->base.info.skipped += !s->from_memory;
		return 0;
	}
	r = check_cpu(s, c->cpu, e);
	if (r < 0)
		return r;
	make_item(s, c, kind, torn, ret);
	return 1;
}

/* The next item of a line; losses that stand before it are left pending. */
static int next_line_item(struct source_text *s, struct trace_item *ret, struct error *e)
{
	struct text_columns c = { .scratch = s->scratch };
	struct text_line line;
	int r;

	for (;;) {
		r = text_lines_next(&s->lines, &line, e);
		if (r <= 0)
			return r;
		text_columns_parse(&c, &line);
		if (c.kind == TEXT_EVENT)
			r = take_event_line(s, &c, line.torn, ret, e);
		else if (c.kind == TEXT_LOST)
			r = add_pending(s, &c, e);
		else
			r = c.kind == TEXT_OTHER ? add_nonsense(s, &line, e) : 0;
		if (c.kind == TEXT_EVENT ? r != 0 : r < 0)
			return r;
	}
}

/* The oldest pending loss; the item that was read after it bounds it. */
static void give_pending(struct source_text *s, struct trace_item *ret)
{
	const struct pending_loss *p = &s->pending[s->next_pending++];
	uint64_t held_tick = s->held.type == ITEM_EVENT ? s->held.event.tick : s->held.loss.to_tick;

	memset(ret, 0, sizeof(*ret));
	ret->type = ITEM_LOSS;
	ret->cpu = p->cpu;
	ret->loss.from_tick = p->from_tick;
	ret->loss.to_tick = s->has_held && held_tick > p->from_tick ? held_tick : p->from_tick;
	ret->loss.count = p->count;
	ret->loss.cause = LOSS_RING;
	if (s->next_pending == s->n_pending)
		s->n_pending = s->next_pending = 0;
}

/* What the header says was overwritten before the first line. Text does not say on which CPUs, so
 * it is booked on that of the first event; both ticks are 0, which no other loss has. */
static bool give_overwritten(struct source_text *s, struct trace_item *ret)
{
	if (s->started)
		return false;
	s->started = true;
	/* A CPU beyond the maximum is refused with its line, which comes next. */
	if (!s->facts.overwritten || !s->facts.any_event || s->facts.first_cpu >= s->base.info.cpus)
		return false;
	memset(ret, 0, sizeof(*ret));
	ret->type = ITEM_LOSS;
	ret->cpu = s->facts.first_cpu;
	ret->loss.count = s->facts.overwritten;
	ret->loss.cause = LOSS_RING;
	return true;
}

static int text_next(struct trace_source *base, struct trace_item *ret, struct error *e)
{
	struct source_text *s = (struct source_text *)base;
	int r;

	if (give_overwritten(s, ret))
		return 1;
	if (!s->n_pending && !s->has_held) {
		r = s->failed <= 0 ? s->failed : next_line_item(s, ret, e);
		if (r <= 0)
			s->failed = r;
		if (r < 0)
			s->n_pending = 0;
		if (!s->n_pending)
			return r;
		s->has_held = r > 0;
		if (r > 0)
			s->held = *ret;
	}
	if (s->n_pending) {
		give_pending(s, ret);
		return 1;
	}
	*ret = s->held;
	s->has_held = false;
	return 1;
}

static void start_over(struct source_text *s)
{
	s->failed = 1;
	s->started = s->has_held = false;
	s->nonsense = s->n_pending = s->next_pending = 0;
	memset(s->last_tick, 0, sizeof(s->last_tick));
	memset(s->cache, 0, sizeof(s->cache));
}

static int text_rewind(struct trace_source *base, struct error *e)
{
	struct source_text *s = (struct source_text *)base;

	if (!s->from_memory)
		return error_set(e, ESPIPE, "ftrace text: a pipe cannot be read twice");
	start_over(s);
	return text_lines_rewind(&s->lines);
}

static void text_progress(const struct trace_source *base, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct source_text *s = (const struct source_text *)base;

	*ret_done = text_lines_offset(&s->lines);
	*ret_total = s->from_memory ? s->lines.end : 0;
}

static void text_free(struct trace_source *base)
{
	struct source_text *s = (struct source_text *)base;

	text_lines_done(&s->lines);
	info_done(&s->base.info);
	free(s);
}

static const struct trace_source_ops text_ops = {
	.next = text_next,
	.rewind = text_rewind,
	.progress = text_progress,
	.free = text_free,
};

static void scan_header(struct source_text *s, const struct text_columns *c)
{
	struct text_facts *f = &s->facts;

	if (c->kind == TEXT_LOST && c->cpu >= f->cpus && c->cpu < TRACE_CPUS_MAX)
		f->cpus = c->cpu + 1;
	if (c->cpus > f->cpus && c->cpus <= TRACE_CPUS_MAX)
		f->cpus = c->cpus;
	if (c->kind == TEXT_ENTRIES && c->has_counts && c->written > c->count && !f->any_line)
		f->overwritten = c->written - c->count;
}

/* Learns from one line. */
static int scan_line(struct source_text *s, const struct text_line *line, struct error *e)
{
	struct text_columns c = { .scratch = s->scratch };
	struct text_body body;
	int kind;

	text_columns_parse(&c, line);
	if (c.kind == TEXT_OTHER)
		return add_nonsense(s, line, e);
	if (c.kind != TEXT_EVENT) {
		scan_header(s, &c);
		return 0;
	}
	s->nonsense = 0;
	text_facts_add_line(&s->facts, &c);
	kind = text_body_kind(&c.name);
	if (kind < 0)
		s->base.info.skipped += s->from_memory;
	else if (!line->torn && text_body_parse(&body, kind, &c))
		text_facts_add_body(&s->facts, &c, &body);
	return s->from_memory ? learn_task(s, &c, e) : 0;
}

/* A pipe is read on the machine that writes it, more often than not. */
static long cpus_here;

void source_text_prepare(void)
{
	if (!cpus_here)
		cpus_here = sysconf(_SC_NPROCESSORS_CONF);
}

/* Reads memory to its end; a pipe to its first trace line and what is in memory behind it. */
static int scan_ahead(struct source_text *s, struct error *e)
{
	struct text_line line;
	int r;

	while ((r = text_lines_next(&s->lines, &line, e)) > 0) {
		r = scan_line(s, &line, e);
		if (r < 0)
			return r;
		s->lines.no_wait = !s->from_memory && s->facts.any_line;
	}
	if (r < 0)
		return r;
	if (!s->facts.any_line && s->nonsense)
		return error_set(e, EBADMSG,
				 "not a trace: none of its %llu lines is one of ftrace text",
				 (unsigned long long)s->lines.line_no);
	if (!s->facts.any_line && s->lines.is_html)
		return error_set(e, EBADMSG, "systrace page: no trace line in its %llu lines",
				 (unsigned long long)s->lines.line_no);
	return text_lines_rewind(&s->lines);
}

static int set_info(struct source_text *s, struct error *e)
{
	struct trace_info *info = &s->base.info;
	const char *origin = "ftrace text";
	long here;

	if (s->lines.is_html)
		origin = "systrace page";
	else if (s->facts.padded || s->facts.traits & TEXT_TRACE_CMD)
		origin = "trace-cmd report text";
	text_facts_apply(&s->facts, info);
	s->digits = info->clock.print_digits;
	if (!s->from_memory) {
		/* Nobody knows what will come: a header tells only how many CPUs were on line when
		 * it was printed. A trace_pipe is mostly read where it is made. */
		info->dialect.kinds = (1U << SCHED_KINDS) - 1;
		source_text_prepare();
		here = cpus_here;
		if (info->cpus < PIPE_CPUS_MIN)
			info->cpus = PIPE_CPUS_MIN;
		if (here > (long)info->cpus && here <= (long)TRACE_CPUS_MAX)
			info->cpus = (uint32_t)here;
	}
	if (info_set(&info->origin, origin, strlen(origin)) < 0)
		return error_set(e, ENOMEM, "ftrace text: out of memory");
	return 0;
}

static int open_lines(struct source_text *s, struct trace_source **ret, struct error *e)
{
	int r;

	s->base.ops = &text_ops;
	r = info_init(&s->base.info);
	if (r < 0)
		error_set(e, ENOMEM, "ftrace text: out of memory");
	if (!r)
		r = scan_ahead(s, e);
	if (!r)
		r = set_info(s, e);
	if (r < 0) {
		text_free(&s->base);
		return r;
	}
	start_over(s);
	*ret = &s->base;
	return 0;
}

int source_text_open(struct trace_source **ret, struct import_bytes in, struct error *e)
{
	struct source_text *s = calloc(1, sizeof(*s));

	if (!s)
		return error_set(e, ENOMEM, "ftrace text: out of memory");
	text_lines_init_bytes(&s->lines, in.data, in.len);
	s->from_memory = true;
	return open_lines(s, ret, e);
}

int source_text_open_fd(struct trace_source **ret, int fd, struct error *e)
{
	struct source_text *s = calloc(1, sizeof(*s));

	if (!s) {
		close(fd);
		return error_set(e, ENOMEM, "ftrace text: out of memory");
	}
	text_lines_init_fd(&s->lines, fd);
	return open_lines(s, ret, e);
}
