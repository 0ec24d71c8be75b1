/* SPDX-License-Identifier: MIT */
/* vector: see vector.h. */
#include "tools/vector.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const struct vector *v, const char *what, const char *text)
{
	fprintf(stderr, "tests/vectors/%s: %s: %s\n", v->name, what, text);
	exit(1);
}

void vector_open(struct vector *v, const char *name)
{
	char path[1024];
	FILE *f;

	v->name = name;
	v->at = 0;
	snprintf(path, sizeof(path), "%s/../vectors/%s", KISEKI_TEST_DATA, name);
	f = fopen(path, "rb");
	if (!f)
		die(v, "cannot open", path);
	v->len = fread(v->text, 1, VECTOR_MAX, f);
	v->text[v->len] = 0;
	fclose(f);
	if (v->len == VECTOR_MAX)
		die(v, "too long", path);
}

/* Any line, into v->line; false at the end. */
static bool next_line(struct vector *v)
{
	const char *start = v->text + v->at;
	size_t n = strcspn(start, "\n");

	if (v->at >= v->len)
		return false;
	if (n >= sizeof(v->line))
		die(v, "too long a line", "");
	memcpy(v->line, start, n);
	v->line[n] = 0;
	v->at += n + 1;
	return true;
}

char *vector_line(struct vector *v)
{
	while (next_line(v))
		if (v->line[0] && v->line[0] != '#')
			return v->line;
	return NULL;
}

static int digit(const struct vector *v, char c)
{
	const char *digits = "0123456789abcdef", *p = c ? strchr(digits, c) : NULL;

	if (!p)
		die(v, "not hexadecimal", v->line);
	return (int)(p - digits);
}

size_t vector_hex(struct vector *v, const char *text, uint8_t *out, size_t room)
{
	size_t n = 0;

	for (; *text && *text != '#'; text++) {
		if (*text == ' ' || *text == '\t')
			continue;
		if (n == room)
			die(v, "too many bytes", v->line);
		out[n++] = (uint8_t)(digit(v, text[0]) << 4 | digit(v, text[1]));
		text++;
	}
	return n;
}

size_t vector_bytes(struct vector *v, uint8_t *out, size_t room)
{
	size_t n = 0;

	while (next_line(v)) {
		if (v->line[0])
			n += vector_hex(v, v->line, out + n, room - n);
		else if (n)
			break;
	}
	return n;
}

static const char *const kinds[SCHED_KINDS] = { "switch", "waking", "wakeup", "wakeup_new", "fork",
						"exec",	  "exit",   "rename", "setprio" };

static void set_comm(struct sched_task *t, const char *name)
{
	sched_comm_set(t->comm, name, strcmp(name, "-") ? strlen(name) : 0);
}

bool vector_event(struct vector *v, const char *line, struct sched_event *ev)
{
	char kind[16], task[17], other[17];
	unsigned flags, preempt_count, extra, i;
	int n = 0;

	memset(ev, 0, sizeof(*ev));
	sscanf(line,
	       "%15s %" SCNu64 " %" SCNd32 " %" SCNd32 " %x %u %" SCNx64 " %" SCNd32
	       " %u | %" SCNd32 " %" SCNd32 " %16s | %" SCNd32 " %" SCNd32 " %16s |%n",
	       kind, &ev->tick, &ev->tick_off_ns, &ev->pid, &flags, &preempt_count, &ev->state,
	       &ev->value, &extra, &ev->task.pid, &ev->task.prio, task, &ev->other.pid,
	       &ev->other.prio, other, &n);
	if (!n)
		return false;
	for (i = 0; i < SCHED_KINDS && strcmp(kinds[i], kind); i++)
		;
	if (i == SCHED_KINDS)
		die(v, "no such kind", line);
	ev->kind = (uint8_t)i;
	ev->flags = (uint8_t)flags;
	ev->preempt_count = (uint8_t)preempt_count;
	ev->extra = (uint8_t)extra;
	set_comm(&ev->task, task);
	set_comm(&ev->other, other);
	if (line[n] == ' ') {
		ev->filename_len =
			(uint16_t)snprintf(v->filename, sizeof(v->filename), "%s", line + n + 1);
		ev->filename = v->filename;
	}
	return true;
}
