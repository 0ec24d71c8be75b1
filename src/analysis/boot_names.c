/* SPDX-License-Identifier: MIT */
/*
 * boot_names: the names that a process had, one after the other.
 *
 * An exec gives arguments and a name, told by two records in any order and not always at one time; both are
 * one name. A process that was forked and of which no name was told before its exec has its parent's, because
 * that is what fork() does. What is said again changes nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/boot_build.h"

/* A name that is told so many passes behind an exec was not given by it. */
#define EXEC_PASSES 2U

struct names {
	struct boot_name *list;
	size_t n, room;
	uint64_t exec_passes; /* when the last one was executed, */
	bool is_exec;	      /* and its name has not been told since */
};

static int compare_words(const void *pa, const void *pb)
{
	const struct boot_word *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* Arguments end with a NUL each; empty ones stay as two blanks. */
static char *join_words(const struct boot_word *w)
{
	size_t i, len = w->len;
	char *text;

	while (len && !w->text[len - 1])
		len--;
	text = malloc(len + 1);
	for (i = 0; text && i < len; i++)
		text[i] = w->text[i] ? w->text[i] : ' ';
	if (text)
		text[len] = 0;
	return text;
}

/* A new name, the same as before it so far. */
static struct boot_name *push(struct names *names, uint64_t ns)
{
	struct boot_name *n;

	if (boot_build_grow(&names->list, &names->room, names->n, sizeof(*names->list),
			    BOOT_WORDS_MAX) < 0)
		return NULL;
	n = &names->list[names->n++];
	if (names->n > 1) {
		memcpy(n->comm, n[-1].comm, sizeof(n->comm));
		n->args = n[-1].args ? strdup(n[-1].args) : NULL;
	}
	n->from_ns = ns;
	return n;
}

static int put_args(struct names *names, const struct boot_word *w, uint64_t start_ns)
{
	struct boot_name *n = &names->list[names->n - 1];
	char *args = join_words(w);

	if (!args)
		return -ENOMEM;
	if (!w->is_first && n->from_ns != w->ns && w->ns > start_ns) {
		n = push(names, w->ns);
		names->is_exec = true;
		names->exec_passes = w->passes;
	}
	if (n) {
		free(n->args);
		n->args = args;
		return 0;
	}
	free(args);
	return -ENOMEM;
}

static int put_comm(struct names *names, const struct boot_word *w, const struct boot_process *p)
{
	size_t len = w->len < SCHED_COMM_LEN ? w->len : SCHED_COMM_LEN - 1;
	struct boot_name *n = &names->list[names->n - 1];
	char comm[SCHED_COMM_LEN + 1] = { 0 };
	bool is_same;

	memcpy(comm, w->text, len);
	is_same = n->from_ns == w->ns || (names->n == 1 && !n->comm[0]) || w->ns <= p->from_ns ||
		  w->ns >= p->to_ns; /* told with its account */
	if (names->is_exec && w->passes - names->exec_passes < EXEC_PASSES)
		is_same = true;
	names->is_exec = false;
	if (!strcmp(n->comm, comm))
		return 0;
	if (!is_same)
		n = push(names, w->ns);
	if (!n)
		return -ENOMEM;
	memcpy(n->comm, comm, sizeof(n->comm));
	return 0;
}

int boot_names_finish(const struct boot_life *l, struct boot_process *p)
{
	struct names names = { 0 };
	struct boot_name *first = push(&names, p->from_ns);
	size_t i;
	int r = first ? 0 : -ENOMEM;

	if (l->n_words)
		qsort(l->words, l->n_words, sizeof(*l->words), compare_words);
	for (i = 0; r >= 0 && i < l->n_words; i++)
		r = l->words[i].is_args ? put_args(&names, &l->words[i], p->from_ns)
					: put_comm(&names, &l->words[i], p);
	p->names = names.list;
	p->n_names = names.n;
	return r;
}

static const struct boot_name *name_at(const struct boot_process *p, uint64_t ns)
{
	size_t i = p->n_names;

	while (i > 1 && p->names[i - 1].from_ns > ns)
		i--;
	return &p->names[i - 1];
}

/* What was said again is no new name. */
static void drop_same(struct boot_process *p)
{
	struct boot_name *list = p->names;
	size_t i, n = 1;

	for (i = 1; i < p->n_names; i++) {
		if (!strcmp(list[i].comm, list[n - 1].comm) &&
		    !strcmp(list[i].args, list[n - 1].args))
			free(list[i].args);
		else
			list[n++] = list[i];
	}
	p->n_names = n;
}

static int inherit(struct boot_process *p, const struct boot_name *of_parent)
{
	struct boot_name *n;
	bool is_same;
	size_t i;

	for (i = 0; i < p->n_names; i++) {
		n = &p->names[i];
		if (of_parent && !n->comm[0])
			memcpy(n->comm, of_parent->comm, sizeof(n->comm));
		if (n->args)
			continue;
		is_same = of_parent && !p->is_kernel && !strcmp(of_parent->comm, n->comm);
		n->args = strdup(is_same ? of_parent->args : "");
		if (!n->args)
			return -ENOMEM;
	}
	drop_same(p);
	return 0;
}

int boot_names_inherit(struct boot *b)
{
	const struct boot_name *of_parent;
	struct boot_process *p;
	size_t i;
	int r = 0;

	for (i = 0; i < b->n_processes && r >= 0; i++) { /* parents first */
		p = &b->processes[i];
		of_parent = p->parent == BOOT_NONE ? NULL
						   : name_at(&b->processes[p->parent], p->from_ns);
		r = inherit(p, of_parent);
	}
	return r;
}
