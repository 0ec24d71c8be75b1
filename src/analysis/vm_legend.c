/* SPDX-License-Identifier: MIT */
/* vm_legend: see vm_legend.h. */
#include "analysis/vm_legend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"

static void table_init(struct vm_legend_table *t)
{
	memset(t, 0, sizeof(*t));
	hashtable_init(&t->entries, VM_LEGEND_MAX);
}

static void table_done(struct vm_legend_table *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		free(t->list[i]);
	hashtable_done(&t->entries);
	free(t->list);
	free(t->shown);
}

void vm_legend_init(struct vm_legend *l)
{
	table_init(&l->places);
	table_init(&l->exits);
	table_init(&l->tasks);
}

void vm_legend_done(struct vm_legend *l)
{
	table_done(&l->places);
	table_done(&l->exits);
	table_done(&l->tasks);
}

/* The entry that is like this one, made if it is new. */
static int put(struct vm_legend_table *t, uint64_t hash, hashtable_is_fn is,
	       const struct vm_legend_entry *like, struct vm_legend_entry **ret)
{
	struct vm_legend_entry *entry = hashtable_get(&t->entries, hash, is, like);
	int r;

	if (!entry) {
		entry = malloc(sizeof(*entry));
		r = entry ? array_grow(&t->list, t->n, &t->room, sizeof(struct vm_legend_entry *),
				       VM_LEGEND_MAX)
			  : -ENOMEM;
		if (r == 0)
			r = hashtable_add(&t->entries, hash, entry);
		if (r < 0) {
			free(entry);
			return r;
		}
		*entry = *like;
		entry->number = (int32_t)t->n;
		entry->shown = -1;
		t->list[t->n++] = entry;
	}
	*ret = entry;
	return 0;
}

static bool is_place(const void *entry, const void *key)
{
	const struct vm_place *a = &((const struct vm_legend_entry *)entry)->place;
	const struct vm_place *b = &((const struct vm_legend_entry *)key)->place;

	return a->process == b->process && a->thread == b->thread && a->function == b->function;
}

int vm_legend_put_place(struct vm_legend *l, const struct vm_place *p, int32_t *ret)
{
	const struct vm_legend_entry like = { .place = *p };
	struct vm_legend_entry *entry;
	uint64_t hash = hashtable_hash_number(p->function + ((uint64_t)p->thread << 32)) ^
			hashtable_hash_number(p->process);
	int r = put(&l->places, hash, is_place, &like, &entry);

	if (r == 0)
		*ret = entry->number;
	return r;
}

static bool is_exit(const void *entry, const void *key)
{
	return !strcmp(((const struct vm_legend_entry *)entry)->exit,
		       ((const struct vm_legend_entry *)key)->exit);
}

int vm_legend_put_exit(struct vm_legend *l, const char *name, int32_t *ret)
{
	struct vm_legend_entry like = { .number = 0 }, *entry;
	uint64_t hash = 0;
	size_t i;
	int r;

	for (i = 0; i < sizeof(like.exit) - 1 && name[i]; i++) {
		like.exit[i] = name[i];
		hash = hashtable_hash_number(hash + (uint8_t)name[i] + 1);
	}
	r = put(&l->exits, hash, is_exit, &like, &entry);
	if (r == 0)
		*ret = entry->number;
	return r;
}

static bool is_task(const void *entry, const void *key)
{
	const struct sample_task *a = &((const struct vm_legend_entry *)entry)->task;
	const struct sample_task *b = &((const struct vm_legend_entry *)key)->task;

	return a->tid == b->tid && a->pid == b->pid;
}

int vm_legend_put_task(struct vm_legend *l, const struct sample_task *t, int32_t *ret)
{
	const struct vm_legend_entry like = { .task = *t };
	struct vm_legend_entry *entry;
	uint64_t hash =
		hashtable_hash_number((uint32_t)t->tid + ((uint64_t)(uint32_t)t->pid << 32));
	int r = put(&l->tasks, hash, is_task, &like, &entry);

	if (r < 0)
		return r;
	if (t->vcpu >= 0)
		entry->task.vcpu = t->vcpu;
	if (t->tid && t->comm[0])
		memcpy(entry->task.comm, t->comm, sizeof(t->comm));
	*ret = entry->number;
	return 0;
}

int vm_legend_show(struct vm_legend_table *t, int32_t number, int32_t *ret)
{
	struct vm_legend_entry *entry = number < 0 ? NULL : t->list[number];
	int r;

	if (entry && entry->shown < 0) {
		r = array_grow(&t->shown, t->n_shown, &t->room_shown,
			       sizeof(struct vm_legend_entry *), VM_LEGEND_MAX);
		if (r < 0)
			return r;
		entry->shown = (int32_t)t->n_shown;
		t->shown[t->n_shown++] = entry;
	}
	*ret = entry ? entry->shown : -1;
	return 0;
}
