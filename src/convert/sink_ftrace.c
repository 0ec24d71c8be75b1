/* SPDX-License-Identifier: MIT */
/*
 * sink_ftrace: the trace as the text of the kernel's own `trace` file.
 *
 * The header tells how many entries follow, which is known only at the end. In a file the line is
 * written with a guess and replaced when all is written; the guess has as many digits as a few
 * million events have, so that the replacement seldom moves what follows. On a pipe the counts
 * print as "-/-": every reader takes the line for a comment, and it still tells the CPUs.
 *
 * A loss prints right before the next event of its CPU, as the kernel does it, wherever in the gap
 * the source has it; only as many as WAITING_MAX wait for that. There is one exception:
 * events overwritten before the first event of a CPU do not print. The kernel tells of them only
 * in the second number of the header, and then announces the first event of each further CPU with
 * "##### CPU n buffer started ####". A pipe has no such number, so there it is a line like any
 * other loss. A loss stands in one of the two places only, so that a reader of the text who adds
 * them up counts it once.
 */
#include <errno.h>
#include <string.h>

#include "base/outfile.h"
#include "convert/ftrace_header.h"
#include "convert/ftrace_line.h"
#include "convert/ftrace_put.h"
#include "convert/sink.h"

#define ENTRIES_GUESS 1000000U
#define WAITING_MAX 256U

struct waiting_loss {
	uint32_t cpu;
	struct trace_loss loss;
};

struct sink_ftrace {
	struct trace_sink base; /* first */
	struct outfile *out;
	const struct trace_info *info;
	bool is_pipe;
	bool annotate; /* announce each CPU's first event */
	uint64_t entries_at;
	size_t entries_len;
	uint64_t entries; /* printed */
	uint64_t lost;	  /* of which only the header tells */
	uint8_t started[TRACE_CPUS_MAX / 8];
	struct waiting_loss waiting[WAITING_MAX]; /* in the order in which they came */
	size_t n_waiting;
	struct ftrace_line line;
};

static int ftrace_begin(struct trace_sink *base, const struct trace_info *info, struct error *e)
{
	struct sink_ftrace *s = (struct sink_ftrace *)base;
	uint64_t guess = s->is_pipe ? FTRACE_ENTRIES_UNKNOWN : ENTRIES_GUESS;
	char *p;

	(void)e;
	s->info = info;
	ftrace_line_init(&s->line, info);
	p = outfile_reserve(s->out, FTRACE_HEADER_MAX);
	outfile_advance(s->out, ftrace_header_part(info, 0, p));
	s->entries_at = outfile_offset(s->out);
	p = outfile_reserve(s->out, FTRACE_ENTRIES_MAX);
	s->entries_len = ftrace_header_entries(info, guess, guess, p);
	outfile_advance(s->out, s->entries_len);
	p = outfile_reserve(s->out, FTRACE_HEADER_MAX);
	outfile_advance(s->out, ftrace_header_part(info, 1, p));
	return 0;
}

static void announce_cpu(struct sink_ftrace *s, uint32_t cpu)
{
	char *start, *p;

	if (s->started[cpu / 8] & 1U << cpu % 8)
		return;
	s->started[cpu / 8] |= (uint8_t)(1U << cpu % 8);
	if (!s->entries)
		return;
	start = p = outfile_reserve(s->out, FTRACE_LINE_MAX);
	p = PUT(p, "##### CPU ");
	p = put_u32(p, cpu);
	p = PUT(p, " buffer started ####\n");
	outfile_advance(s->out, (size_t)(p - start));
}

static void print_loss(struct sink_ftrace *s, const struct waiting_loss *w)
{
	char *p = outfile_reserve(s->out, FTRACE_LINE_MAX);

	outfile_advance(s->out, ftrace_line_format_loss(w->cpu, &w->loss, p));
}

/* Prints what waits for this CPU's next event, or, with TRACE_CPUS_MAX, all. */
static void print_waiting(struct sink_ftrace *s, uint32_t cpu)
{
	size_t i, left = 0;

	for (i = 0; i < s->n_waiting; i++) {
		if (cpu == TRACE_CPUS_MAX || s->waiting[i].cpu == cpu)
			print_loss(s, &s->waiting[i]);
		else
			s->waiting[left++] = s->waiting[i];
	}
	s->n_waiting = left;
}

static void put_loss(struct sink_ftrace *s, uint32_t cpu, const struct trace_loss *loss)
{
	if (!loss->from_tick && !s->is_pipe && loss->cause == LOSS_RING &&
	    loss->count != LOSS_UNKNOWN && s->info->dialect.flag_columns != 0) {
		s->lost += loss->count;
		s->annotate = true;
		return;
	}
	if (s->n_waiting == WAITING_MAX)
		print_waiting(s, TRACE_CPUS_MAX);
	s->waiting[s->n_waiting++] = (struct waiting_loss){ .cpu = cpu, .loss = *loss };
}

/* Stops at the first failed write; committing what failed does nothing but name the cause. */
static int check_output(struct sink_ftrace *s, struct error *e)
{
	return outfile_error(s->out) ? outfile_commit(s->out, e) : 0;
}

static int ftrace_item(struct trace_sink *base, const struct trace_item *item, struct error *e)
{
	struct sink_ftrace *s = (struct sink_ftrace *)base;
	char *p;

	if (item->cpu >= TRACE_CPUS_MAX)
		return error_set(e, EINVAL, "ftrace text: CPU %u is beyond the maximum", item->cpu);
	if (item->type == ITEM_LOSS) {
		put_loss(s, item->cpu, &item->loss);
		return check_output(s, e);
	}
	print_waiting(s, item->cpu);
	if (s->annotate)
		announce_cpu(s, item->cpu);
	p = outfile_reserve(s->out, FTRACE_LINE_MAX);
	outfile_advance(s->out, ftrace_line_format(&s->line, item, p));
	s->entries++;
	return check_output(s, e);
}

static int ftrace_end(struct trace_sink *base, struct error *e)
{
	struct sink_ftrace *s = (struct sink_ftrace *)base;
	char text[FTRACE_ENTRIES_MAX + 1];

	print_waiting(s, TRACE_CPUS_MAX);
	/* A failed write is remembered and reported by the commit. */
	if (s->info && !s->is_pipe && s->entries_len) {
		text[ftrace_header_entries(s->info, s->entries, s->entries + s->lost, text)] = 0;
		outfile_replace(s->out, s->entries_at, s->entries_len, text, NULL);
	}
	return outfile_commit(s->out, e);
}

static void ftrace_free(struct trace_sink *base)
{
	struct sink_ftrace *s = (struct sink_ftrace *)base;

	outfile_free(s->out);
	free(s);
}

static const struct trace_sink_ops ftrace_ops = {
	.begin = ftrace_begin,
	.item = ftrace_item,
	.end = ftrace_end,
	.free = ftrace_free,
};

int sink_ftrace_new(struct trace_sink **ret, const char *path, struct error *e)
{
	struct sink_ftrace *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return error_set(e, ENOMEM, "cannot write %s: out of memory", path);
	s->base.ops = &ftrace_ops;
	r = outfile_open(&s->out, path, e);
	if (r < 0) {
		free(s);
		return r;
	}
	s->is_pipe = !outfile_is_file(s->out);
	*ret = &s->base;
	return 0;
}
