/* SPDX-License-Identifier: MIT */
/*
 * source_tracedat_section: the parts of a trace.dat's head that both versions have: descriptions of
 * pages, formats of events, names of tasks; and the cursor they are read with.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "convert/tracedat.h"
#include "ftrace/bytes.h"

const uint8_t *tracedat_get_bytes(struct tracedat_cursor *c, uint64_t len)
{
	const uint8_t *p = c->data + c->at;

	if (c->failed || len > c->len - c->at) {
		c->failed = true;
		return NULL;
	}
	c->at += (size_t)len;
	return p;
}

uint16_t tracedat_get16(struct tracedat_cursor *c)
{
	const uint8_t *p = tracedat_get_bytes(c, 2);

	return p ? bytes_get16(p, c->big_endian) : 0;
}

uint32_t tracedat_get32(struct tracedat_cursor *c)
{
	const uint8_t *p = tracedat_get_bytes(c, 4);

	return p ? bytes_get32(p, c->big_endian) : 0;
}

uint64_t tracedat_get64(struct tracedat_cursor *c)
{
	const uint8_t *p = tracedat_get_bytes(c, 8);

	return p ? bytes_get64(p, c->big_endian) : 0;
}

const char *tracedat_get_string(struct tracedat_cursor *c)
{
	const uint8_t *p = c->data + c->at;
	const uint8_t *end = !c->failed && c->len > c->at ? memchr(p, 0, c->len - c->at) : NULL;

	if (!end) {
		c->failed = true;
		return NULL;
	}
	c->at += (size_t)(end - p) + 1;
	return (const char *)p;
}

static int cut_short(const struct tracedat_cursor *c, const char *where, struct error *e)
{
	return error_set(e, EBADMSG, TRACEDAT_CUT_SHORT, where, c->at);
}

/* The descriptions of a page and of a record's head. */
int tracedat_read_header_info(struct tracedat *t, struct tracedat_cursor *c, struct error *e)
{
	const uint8_t *tag = tracedat_get_bytes(c, 12), *text, *tag2;
	uint64_t len = tracedat_get64(c);
	int r;

	text = tracedat_get_bytes(c, len);
	if (!text)
		return cut_short(c, "header_page", e);
	if (memcmp(tag, "header_page", 12))
		return error_set(e, EBADMSG, "trace.dat: no header_page at offset %zu",
				 c->at - (size_t)len - 20);
	r = page_layout_parse(&t->layout, (const char *)text, (size_t)len, t->big_endian, e);
	if (r < 0)
		return error_prefix(e, -r, "trace.dat");
	tag2 = tracedat_get_bytes(c, 13);
	if (!tag2 || memcmp(tag2, "header_event", 13) || !tracedat_get_bytes(c, tracedat_get64(c)))
		return cut_short(c, "header_event", e);
	return 0;
}

/* The events of the system "ftrace", which have a place of their own. */
int tracedat_read_ftrace_formats(struct tracedat *t, struct tracedat_cursor *c, struct error *e)
{
	uint32_t events = tracedat_get32(c);
	const uint8_t *text;
	uint64_t len;
	int r;

	while (events-- && !c->failed) {
		len = tracedat_get64(c);
		text = tracedat_get_bytes(c, len);
		if (!text || !t->wants)
			continue;
		r = t->wants->format(t->wants->context, (const char *)text, (size_t)len, e);
		if (r < 0)
			return error_prefix(e, -r, "trace.dat: at offset %zu", c->at - (size_t)len);
	}
	return c->failed ? cut_short(c, "the tracers' formats", e) : 0;
}

int tracedat_read_kallsyms(struct tracedat *t, struct tracedat_cursor *c, struct error *e)
{
	uint32_t len = tracedat_get32(c);
	const uint8_t *text = tracedat_get_bytes(c, len);

	if (!text)
		return cut_short(c, "the kernel's symbols", e);
	return t->wants ? t->wants->kallsyms(t->wants->context, (const char *)text, len, e) : 0;
}

int tracedat_read_systems(struct tracedat *t, struct tracedat_cursor *c, struct error *e)
{
	uint32_t systems = tracedat_get32(c), events;
	const char *system;
	const uint8_t *text;
	uint64_t len;
	int r;

	while (systems-- && !c->failed) {
		system = tracedat_get_string(c);
		events = tracedat_get32(c);
		while (events-- && !c->failed) {
			len = tracedat_get64(c);
			text = tracedat_get_bytes(c, len);
			if (!text || (strcmp(system, "sched") && strcmp(system, "task")))
				continue;
			r = sched_map_add(&t->map, system, (const char *)text, (size_t)len, e);
			if (r < 0)
				return error_prefix(e, -r, "trace.dat: at offset %zu",
						    c->at - (size_t)len);
		}
	}
	return c->failed ? cut_short(c, "the event formats", e) : 0;
}

static int compare_pid(const void *a, const void *b)
{
	const struct trace_task *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Lines of "pid name", in no order: sorted first, because adding them in order is cheap. */
static int parse_cmdlines(struct trace_info *info, const char *text, size_t len)
{
	_cleanup_free_ struct trace_task *tasks = NULL;
	const char *end = text + len, *eol;
	size_t n = 0, i, lines = 1;
	char number[16];
	int used;

	for (i = 0; i < len; i++)
		lines += text[i] == '\n';
	if (lines > TRACE_TASKS_MAX)
		return -E2BIG;
	tasks = malloc(lines * sizeof(*tasks));
	if (!tasks)
		return -ENOMEM;
	for (; text < end; text = eol + (eol < end)) {
		eol = memchr(text, '\n', (size_t)(end - text));
		eol = eol ? eol : end;
		snprintf(number, sizeof(number), "%.*s", (int)(eol - text < 15 ? eol - text : 15),
			 text);
		if (sscanf(number, "%d%n", &tasks[n].pid, &used) != 1 || text + used >= eol ||
		    text[used] != ' ')
			continue;
		sched_comm_set(tasks[n].comm, text + used + 1, (size_t)(eol - text) - used - 1);
		n++;
	}
	qsort(tasks, n, sizeof(*tasks), compare_pid);
	for (i = 0; i < n; i++)
		if (info_add_task(info, tasks[i].pid, -1, tasks[i].comm) < 0)
			return -ENOMEM;
	return 0;
}

int tracedat_read_cmdlines(struct tracedat_cursor *c, struct trace_info *info, struct error *e)
{
	uint64_t len = tracedat_get64(c);
	const uint8_t *text = tracedat_get_bytes(c, len);
	int r;

	if (!text)
		return cut_short(c, "the saved command lines", e);
	r = parse_cmdlines(info, (const char *)text, (size_t)len);
	if (r < 0)
		return error_set(e, -r, "cannot read the saved command lines: %s",
				 r == -ENOMEM ? "out of memory" : "too many");
	return 0;
}
