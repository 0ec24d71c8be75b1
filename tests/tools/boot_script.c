/* SPDX-License-Identifier: MIT */
/* boot_script: see boot_script.h; what happens then is boot_play.h's. */
#include "tools/boot_script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/boot_play.h"

#define WORDS 64
#define LINE_MAX_BYTES 512
#define MS 1000000.0

struct boot_script {
	struct boot_source source;
	struct boot_play play;
	size_t at;
};

/* A line in words, and what is wrong with it. */
struct line {
	char text[LINE_MAX_BYTES];
	char *word[WORDS];
	int n;
	bool bad;
};

static const char *const marks[BOOT_MARK_TYPES] = { "kernel", "phase",	 "target", "stop",
						    "clock",  "missing", "fact" };

static void split(struct line *l, const char *from, size_t len)
{
	char *p = l->text, *save = NULL;

	l->n = 0;
	l->bad = len >= sizeof(l->text);
	if (l->bad)
		return;
	memcpy(l->text, from, len);
	l->text[len] = 0;
	for (p = strtok_r(p, " \t", &save); p && l->n < WORDS; p = strtok_r(NULL, " \t", &save))
		l->word[l->n++] = p;
}

static double number(struct line *l, int i)
{
	char *end = NULL;
	double v = i < l->n ? strtod(l->word[i], &end) : 0;

	if (!end || end == l->word[i] || *end || !(v >= -1e9 && v <= 1e9))
		l->bad = true;
	return v;
}

static uint32_t whole(struct line *l, int i)
{
	double v = number(l, i);

	l->bad |= v < 0 || v > UINT32_MAX || v != (double)(uint32_t)v;
	return l->bad ? 0 : (uint32_t)v;
}

/* Milliseconds since the start, as a tick; "-" is never. */
static uint64_t moment(struct line *l, int i)
{
	double v;

	if (i < l->n && !strcmp(l->word[i], "-"))
		return BOOT_PLAY_STAYS;
	v = (double)BOOT_SCRIPT_START + number(l, i) * MS;
	l->bad |= v < 0;
	return l->bad ? 0 : (uint64_t)(v + 0.5);
}

static uint64_t length(struct line *l, int i)
{
	double v = number(l, i) * MS;

	l->bad |= v < 0;
	return l->bad ? 0 : (uint64_t)(v + 0.5);
}

static void copy(struct line *l, char *to, size_t room, int i)
{
	if (i >= l->n || strlen(l->word[i]) >= room)
		l->bad = true;
	else
		strcpy(to, l->word[i]);
}

/* The words from i on, each with `between` behind it or only between them. Returns the length. */
static uint32_t join(struct line *l, char *to, size_t room, int i, char between)
{
	size_t len = 0, word;

	l->bad |= i >= l->n;
	for (; i < l->n; i++) {
		word = strlen(l->word[i]);
		if (len + word + 1 >= room) {
			l->bad = true;
			break;
		}
		memcpy(to + len, l->word[i], word);
		len += word;
		to[len++] = between;
	}
	return (uint32_t)(len && between ? len - 1 : len);
}

static void add_task(struct boot_play *p, struct line *l, bool is_thread)
{
	struct boot_play_task *t = &p->task[p->n_tasks];

	l->bad |= p->n_tasks == BOOT_PLAY_TASKS || l->n != 6;
	if (l->bad)
		return;
	t->pid = whole(l, 1);
	t->parent = whole(l, 2);
	t->group = is_thread ? t->parent : t->pid;
	copy(l, t->name, sizeof(t->name), 3);
	t->from = moment(l, 4);
	t->to = moment(l, 5);
	p->n_tasks++;
}

static void set_code(struct boot_play *p, struct line *l)
{
	uint32_t i, pid = whole(l, 1), code = whole(l, 2);

	for (i = 0; i < p->n_tasks; i++)
		if (p->task[i].pid == pid)
			p->task[i].code = code;
}

static void add_span(struct boot_play *p, struct line *l)
{
	struct boot_play_span *s = &p->span[p->n_spans];
	bool waits = !strcmp(l->word[0], "wait"), flows = !strcmp(l->word[0], "flow");

	if (flows)
		s = &p->flow[p->n_flows];
	l->bad |= p->n_spans == BOOT_PLAY_SPANS || p->n_flows == BOOT_PLAY_FLOWS || l->n < 5;
	if (l->bad)
		return;
	s->key = whole(l, 1);
	s->from = moment(l, 2);
	s->to = moment(l, 3);
	if (waits) {
		s->state = l->word[4][0];
		if (l->n > 5)
			copy(l, s->place, sizeof(s->place), 5);
	} else {
		s->a = whole(l, 4);
		s->b = l->n > 5 ? whole(l, 5) : 0;
		l->bad |= !flows && s->a + s->b > 100;
	}
	*(flows ? &p->n_flows : &p->n_spans) += 1;
}

static struct boot_play_point *add_point(struct boot_play *p, struct line *l, uint8_t kind)
{
	struct boot_play_point *point = &p->point[p->n_points];

	l->bad |= p->n_points == BOOT_PLAY_POINTS;
	if (l->bad)
		return NULL;
	p->n_points++;
	point->kind = kind;
	point->at = moment(l, 2);
	return point;
}

static void add_exec(struct boot_play *p, struct line *l)
{
	struct boot_play_point *point = add_point(p, l, BOOT_EXEC);

	if (!point)
		return;
	point->key = whole(l, 1);
	copy(l, point->name, sizeof(point->name), 3);
	point->text_len = join(l, point->text, sizeof(point->text), 4, 0);
}

static void add_mark(struct boot_play *p, struct line *l)
{
	struct boot_play_point *point = add_point(p, l, BOOT_MARK);

	if (!point)
		return;
	while (point->key < BOOT_MARK_TYPES && strcmp(l->word[1], marks[point->key]) != 0)
		point->key++;
	l->bad |= point->key == BOOT_MARK_TYPES;
	point->text_len = join(l, point->text, sizeof(point->text), 3, ' ');
}

static void add_loss(struct boot_play *p, struct line *l)
{
	struct boot_play_point *point = add_point(p, l, BOOT_KINDS);

	if (!point)
		return;
	point->key = whole(l, 1);
	l->bad |= point->key >= LOSS_CAUSES || l->n != 4;
	point->count = LOSS_UNKNOWN;
	if (!l->bad && strcmp(l->word[3], "?") != 0)
		point->count = whole(l, 3);
}

static void add_disk(struct boot_play *p, struct line *l)
{
	l->bad |= p->n_disks == BOOT_PLAY_DISKS;
	if (l->bad)
		return;
	p->disk[p->n_disks].key = whole(l, 1);
	copy(l, p->disk[p->n_disks++].name, sizeof(p->disk[0].name), 2);
}

/* Of the recording as a whole. False: it is no such line. */
static bool set_head(struct boot_script *s, struct line *l)
{
	struct boot_play *p = &s->play;
	struct trace_info *info = &s->source.info;
	const char *what = l->word[0];
	char **field = !strcmp(what, "device")	  ? &info->device
		       : !strcmp(what, "kernel")  ? &info->kernel
		       : !strcmp(what, "machine") ? &info->machine
						  : NULL;

	if (field)
		l->bad |= l->n != 2 || info_set(field, l->word[1], strlen(l->word[1])) < 0;
	else if (!strcmp(what, "cpus"))
		p->cpus = whole(l, 1);
	else if (!strcmp(what, "memory"))
		p->memory = whole(l, 1);
	else if (!strcmp(what, "interval"))
		p->interval = length(l, 1);
	else if (!strcmp(what, "end"))
		p->end = length(l, 1);
	else if (!strcmp(what, "events"))
		p->events = l->n == 2 && !strcmp(l->word[1], "on");
	else
		return false;
	return true;
}

static void take(struct boot_script *s, struct line *l)
{
	struct boot_play *p = &s->play;
	const char *what = l->word[0];

	if (set_head(s, l))
		return;
	if (l->n < 3)
		l->bad = true;
	else if (!strcmp(what, "task") || !strcmp(what, "thread"))
		add_task(p, l, what[1] == 'h');
	else if (!strcmp(what, "exec"))
		add_exec(p, l);
	else if (!strcmp(what, "run") || !strcmp(what, "wait") || !strcmp(what, "flow"))
		add_span(p, l);
	else if (!strcmp(what, "exit"))
		set_code(p, l);
	else if (!strcmp(what, "disk"))
		add_disk(p, l);
	else if (!strcmp(what, "mark"))
		add_mark(p, l);
	else if (!strcmp(what, "loss"))
		add_loss(p, l);
	else
		l->bad = true;
}

static int script_next(struct boot_source *base, struct boot_item *ret, struct error *e)
{
	struct boot_script *s = (struct boot_script *)base;

	(void)e;
	if (s->at == s->play.n)
		return 0;
	*ret = s->play.items[s->at++];
	return 1;
}

static int script_rewind(struct boot_source *base, struct error *e)
{
	(void)e;
	((struct boot_script *)base)->at = 0;
	return 0;
}

static void script_free(struct boot_source *base)
{
	struct boot_script *s = (struct boot_script *)base;

	boot_play_done(&s->play);
	info_done(&base->info);
	free(s);
}

static const struct boot_source_ops script_ops = {
	.next = script_next,
	.rewind = script_rewind,
	.free = script_free,
};

static int parse(struct boot_script *s, const char *text, struct error *e)
{
	unsigned int number = 1;
	struct line l;
	size_t len;

	for (; *text; text += len + (text[len] == '\n'), number++) {
		len = strcspn(text, "\n");
		if (text[0] == '#')
			continue;
		split(&l, text, len);
		if (l.n && !l.bad)
			take(s, &l);
		if (l.bad)
			return error_set(e, EINVAL, "line %u: not understood", number);
	}
	if (!s->play.cpus || !s->play.interval)
		return error_set(e, EINVAL, "no CPUs, or no interval");
	return 0;
}

int boot_script_new(struct boot_source **ret, const char *text, struct error *e)
{
	struct boot_script *s = calloc(1, sizeof(*s));
	int r;

	if (!s || info_init(&s->source.info) < 0) {
		free(s);
		return error_set(e, ENOMEM, "out of memory");
	}
	s->source.ops = &script_ops;
	s->play.cpus = 1;
	s->play.memory = 262144;
	s->play.interval = 20000000;
	s->play.events = true;
	r = info_set(&s->source.info.origin, "boot", 4);
	if (r == 0)
		r = parse(s, text, e);
	if (r == 0 && (r = boot_play_start(&s->play)) < 0)
		error_set(e, r, "out of memory");
	if (r < 0) {
		script_free(&s->source);
		return r;
	}
	s->source.info.cpus = 0;
	*ret = &s->source;
	return 0;
}
