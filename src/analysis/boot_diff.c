/* SPDX-License-Identifier: MIT */
/*
 * boot_diff: see boot_diff.h.
 *
 * What a process is, is a text: its program without folder and its arguments, or its name if there are none; each
 * number in it is one sign, because pids, temporary names and CPUs differ from boot to boot. Whose child it is comes in
 * as the parent's mark, so equal marks mean that the whole chain of parents is alike. What that leaves
 * alone is matched by the text itself: the same program, started by another.
 */
#include "analysis/boot_diff.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct who {
	uint64_t mark; /* of itself and its parents, or of itself alone */
	uint64_t start_ns;
	uint32_t process;
	char *text; /* borrowed from the side */
};

struct side {
	const struct boot *boot;
	char **texts;
	uint64_t *marks; /* with their parents */
	uint32_t *partner;
	struct who *list;
	size_t n;
};

/* --- what it is --- */

static char *describe(const struct boot_process *p)
{
	const struct boot_name *name = boot_process_name(p);
	const char *from = *name->args ? name->args : name->comm, *c;
	size_t folder = 0;
	char *text = malloc(strlen(from) + 1), *at = text;

	if (!text)
		return NULL;
	for (c = from; *name->args && *c && *c != ' '; c++)
		if (*c == '/' && c[1] && c[1] != ' ')
			folder = (size_t)(c - from) + 1;
	for (c = from + folder; *c; c++) {
		if (!isdigit((unsigned char)*c))
			*at++ = *c;
		else if (at == text || at[-1] != '#')
			*at++ = '#';
	}
	*at = 0;
	return text;
}

/* FNV-1a, with the parent's mark as the start. */
static uint64_t mark_of(const char *text, uint64_t parent)
{
	uint64_t h = 14695981039346656037ULL ^ parent;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 1099511628211ULL;
	return (h ^ 0xff) * 1099511628211ULL;
}

static void side_done(struct side *s)
{
	size_t i;

	for (i = 0; s->texts && i < s->boot->n_processes; i++)
		free(s->texts[i]);
	free(s->texts);
	free(s->marks);
	free(s->partner);
	free(s->list);
}

static int side_init(struct side *s, const struct boot *b)
{
	size_t i, n = b->n_processes;
	uint32_t parent;

	s->boot = b;
	s->texts = calloc(n + 1, sizeof(*s->texts));
	s->marks = calloc(n + 1, sizeof(*s->marks));
	s->partner = calloc(n + 1, sizeof(*s->partner));
	s->list = calloc(n + 1, sizeof(*s->list));
	if (!s->texts || !s->marks || !s->partner || !s->list)
		return -ENOMEM;
	for (i = 0; i < n; i++) { /* parents first */
		parent = b->processes[i].parent;
		s->texts[i] = describe(&b->processes[i]);
		if (!s->texts[i])
			return -ENOMEM;
		s->marks[i] = mark_of(s->texts[i], parent == BOOT_NONE ? 0 : s->marks[parent]);
		s->partner[i] = BOOT_NONE;
	}
	return 0;
}

/* --- matching --- */

static int compare_who(const void *pa, const void *pb)
{
	const struct who *a = pa, *b = pb;

	if (a->mark != b->mark)
		return a->mark < b->mark ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->process > b->process) - (a->process < b->process);
}

/* Those that have no partner yet. */
static void list_rest(struct side *s, bool with_parents)
{
	size_t i;

	s->n = 0;
	for (i = 0; i < s->boot->n_processes; i++) {
		if (s->partner[i] != BOOT_NONE)
			continue;
		s->list[s->n++] = (struct who){
			.mark = with_parents ? s->marks[i] : mark_of(s->texts[i], 0),
			.start_ns = s->boot->processes[i].from_ns - s->boot->processes[i].before_ns,
			.process = (uint32_t)i,
			.text = s->texts[i],
		};
	}
	qsort(s->list, s->n, sizeof(*s->list), compare_who);
}

static void match(struct side *a, struct side *b, bool with_parents)
{
	size_t i = 0, k = 0;

	list_rest(a, with_parents);
	list_rest(b, with_parents);
	while (i < a->n && k < b->n) {
		const struct who *x = &a->list[i], *y = &b->list[k];

		if (x->mark == y->mark && !strcmp(x->text, y->text)) {
			a->partner[x->process] = y->process;
			b->partner[y->process] = x->process;
		}
		i += x->mark <= y->mark;
		k += y->mark <= x->mark;
	}
}

/* --- differences --- */

static uint64_t start_of(const struct boot *b, uint32_t process)
{
	return b->processes[process].from_ns - b->from_ns;
}

static uint64_t disk_of(const struct boot_process *p)
{
	uint64_t seen = p->state_ns[BOOT_DISK_WAIT];

	return !p->was_there && p->account.disk_ns > seen ? p->account.disk_ns : seen;
}

static int64_t later(uint64_t before, uint64_t after)
{
	return (int64_t)(after - before);
}

static void set_change(struct boot_pair *pair, const struct boot *a, const struct boot *b)
{
	const struct boot_process *x = &a->processes[pair->a], *y = &b->processes[pair->b];
	bool has_start = !x->was_there && !y->was_there, has_end = !x->is_alive && !y->is_alive;

	if (has_start)
		pair->start_ns = later(start_of(a, pair->a), start_of(b, pair->b));
	if (has_end)
		pair->end_ns = later(x->to_ns - a->from_ns, y->to_ns - b->from_ns);
	if (has_start && has_end)
		pair->length_ns = later(x->to_ns - x->from_ns, y->to_ns - y->from_ns);
	pair->cpu_ns = later(boot_process_cpu(x), boot_process_cpu(y));
	pair->disk_ns = later(disk_of(x), disk_of(y));
}

static int compare_pairs(const void *pa, const void *pb, void *data)
{
	const struct boot_pair *a = pa, *b = pb;
	const struct boot_diff *d = data;
	uint64_t x = a->b != BOOT_NONE ? start_of(d->b, a->b) : start_of(d->a, a->a);
	uint64_t y = b->b != BOOT_NONE ? start_of(d->b, b->b) : start_of(d->a, b->a);

	if (x != y)
		return x < y ? -1 : 1;
	if (a->b != b->b)
		return a->b < b->b ? -1 : 1;
	return (a->a > b->a) - (a->a < b->a);
}

static void list_pairs(struct boot_diff *d, const struct side *a, const struct side *b)
{
	struct boot_pair *pair;
	size_t i;

	for (i = 0; i < d->b->n_processes; i++) {
		pair = &d->pairs[d->n_pairs++];
		*pair = (struct boot_pair){ .a = b->partner[i], .b = (uint32_t)i };
		if (pair->a == BOOT_NONE)
			d->n_new++;
		else
			set_change(pair, d->a, d->b);
	}
	for (i = 0; i < d->a->n_processes; i++) {
		if (a->partner[i] != BOOT_NONE)
			continue;
		d->pairs[d->n_pairs++] = (struct boot_pair){ .a = (uint32_t)i, .b = BOOT_NONE };
		d->n_gone++;
	}
	qsort_r(d->pairs, d->n_pairs, sizeof(*d->pairs), compare_pairs, d);
}

static uint64_t target_of(const struct boot *b, bool has_target)
{
	return (has_target ? b->target_ns : b->to_ns) - b->from_ns;
}

int boot_diff_new(struct boot_diff **ret, const struct boot *a, const struct boot *b)
{
	CLEANUP(boot_diff) struct boot_diff *d = calloc(1, sizeof(*d));
	__attribute__((cleanup(side_done))) struct side sa = { .boot = a }, sb = { .boot = b };
	bool has_target = a->target_ns && b->target_ns;

	if (!d || side_init(&sa, a) < 0 || side_init(&sb, b) < 0)
		return -ENOMEM;
	d->pairs = calloc(a->n_processes + b->n_processes + 1, sizeof(*d->pairs));
	if (!d->pairs)
		return -ENOMEM;
	d->a = a;
	d->b = b;
	match(&sa, &sb, true);
	match(&sa, &sb, false);
	list_pairs(d, &sa, &sb);
	d->target_ns = later(target_of(a, has_target), target_of(b, has_target));
	*ret = take_ptr(d);
	return 0;
}

void boot_diff_free(struct boot_diff *d)
{
	if (!d)
		return;
	free(d->pairs);
	free(d);
}
