/* SPDX-License-Identifier: MIT */
/*
 * vm_names: see vm_names.h.
 *
 * Each machine has its own names of places (profile_names.h), by its own processes and its own kernel. What is numbered
 * here are pairs: a process of a machine, a thread of a process, a function of a machine.
 */
#include "analysis/vm_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile_names.h"
#include "store/array.h"
#include "store/hashtable.h"

/* One machine. As a source it has nothing but the guest's processes. */
struct machine {
	int32_t vm;
	struct sample_source source;
	struct sample_spaces *own; /* NULL: they are the guest's */
	struct symbols *symbols;
	struct profile_names *names;
};

enum sort {
	PROCESS_BY_PID = 0,
	PROCESS_BY_TABLE = 1,
	PROCESS_OF_KERNEL = 2,
	PROCESS_UNKNOWN = 3,
	THREAD = 4,
	FUNCTION = 5,
};

/* What makes one of the three what it is; `owner` is a machine, of a thread its process. */
struct key {
	uint8_t sort;
	bool is_kernel; /* of a function */
	uint32_t owner;
	uint64_t value;
	uint32_t life; /* of a process by pid */
};

struct entry {
	struct key key;
	uint32_t number;
	char text[VM_NAME_TEXT];
};

struct list {
	struct entry **entries;
	size_t n, room;
};

#define MEMO_BITS 11

/* What was asked last in each of some slots, and for which ticks the answer holds: most places are asked for again and again. */
struct memo {
	bool is_used;
	uint8_t mode, guest;
	int32_t vm;
	uint64_t pc, table, context, task;
	struct sample_span span;
	struct vm_place place;
};

struct vm_names {
	struct vm_names_options o;
	struct machine **machines;
	size_t n_machines, room_machines;
	struct hashtable table;
	struct list processes, threads, functions;
	struct memo memo[1U << MEMO_BITS];
};

int vm_names_new(struct vm_names **ret, const struct vm_names_options *o, struct error *e)
{
	struct vm_names *n = calloc(1, sizeof(*n));

	if (!n)
		return error_set(e, ENOMEM, "cannot name guests: out of memory");
	n->o = *o;
	hashtable_init(&n->table, VM_NAMES_MAX);
	*ret = n;
	return 0;
}

static void free_machine(struct machine *m)
{
	if (!m)
		return;
	profile_names_free(m->names);
	symbols_free(m->symbols);
	sample_spaces_free(m->own);
	free(m);
}

void vm_names_free(struct vm_names *n)
{
	size_t i, at = 0;
	void *entry;

	if (!n)
		return;
	while ((entry = hashtable_next(&n->table, &at)))
		free(entry);
	hashtable_done(&n->table);
	free(n->processes.entries);
	free(n->threads.entries);
	free(n->functions.entries);
	for (i = 0; i < n->n_machines; i++)
		free_machine(n->machines[i]);
	free(n->machines);
	free(n);
}

/* --- machines --- */

static const char *kallsyms_of(const struct vm_names *n, int32_t vm)
{
	const char *found = NULL;
	size_t i;

	for (i = 0; i < n->o.n_kallsyms; i++)
		if (n->o.kallsyms[i].vm == vm || (!found && n->o.kallsyms[i].vm == 0))
			found = n->o.kallsyms[i].path;
	return found;
}

static int open_machine(struct vm_names *n, struct machine *m, struct error *e)
{
	struct symbols_options symbols = n->o.symbols;
	int r;

	m->source.spaces = n->o.guests ? sample_guests_spaces(n->o.guests, m->vm) : NULL;
	if (!m->source.spaces) {
		r = sample_spaces_new(&m->own);
		if (r >= 0)
			r = sample_spaces_settle(m->own);
		if (r < 0)
			return error_set(e, -r, "cannot name guests: out of memory");
		m->source.spaces = m->own;
	}
	symbols.kallsyms = kallsyms_of(n, m->vm);
	r = symbols_new(&symbols, &m->symbols, e);
	return r < 0 ? r : profile_names_new(&m->names, &m->source, m->symbols, e);
}

static int get_machine(struct vm_names *n, int32_t vm, uint32_t *ret, struct error *e)
{
	struct machine *m;
	uint32_t i;
	int r;

	for (i = 0; i < n->n_machines; i++)
		if (n->machines[i]->vm == vm) {
			*ret = i;
			return 0;
		}
	r = array_grow(&n->machines, n->n_machines, &n->room_machines, sizeof(*n->machines),
		       SAMPLE_GUESTS_MAX);
	m = r < 0 ? NULL : calloc(1, sizeof(*m));
	if (!m)
		return error_set(e, r < 0 ? -r : ENOMEM, "cannot name guests: too many");
	m->vm = vm;
	r = open_machine(n, m, e);
	if (r < 0) {
		free_machine(m);
		return r;
	}
	*ret = (uint32_t)n->n_machines;
	n->machines[n->n_machines++] = m;
	return 0;
}

/* --- numbers --- */

static bool is_entry(const void *entry, const void *key)
{
	const struct key *a = &((const struct entry *)entry)->key, *b = key;

	return a->sort == b->sort && a->owner == b->owner && a->value == b->value &&
	       a->life == b->life && a->is_kernel == b->is_kernel;
}

/* *ret_entry is for its text if it is new, else NULL. */
static int number_of(struct vm_names *n, struct list *list, const struct key *key, uint32_t *ret,
		     struct entry **ret_entry)
{
	uint64_t hash = hashtable_hash_number(
		key->value + hashtable_hash_number(key->owner + ((uint64_t)key->life << 32)) +
		key->sort);
	struct entry *entry = hashtable_get(&n->table, hash, is_entry, key);
	int r;

	*ret_entry = NULL;
	if (entry) {
		*ret = entry->number;
		return 0;
	}
	r = array_grow(&list->entries, list->n, &list->room, sizeof(*list->entries), VM_NAMES_MAX);
	if (r < 0)
		return r;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	entry->key = *key;
	entry->number = (uint32_t)list->n;
	r = hashtable_add(&n->table, hash, entry);
	if (r < 0) {
		free(entry);
		return r;
	}
	list->entries[list->n++] = entry;
	*ret = entry->number;
	*ret_entry = entry;
	return 0;
}

/* --- who --- */

struct who {
	bool is_known; /* pid and tid are */
	int32_t pid, tid;
	const char *comm;	 /* of the thread; NULL: not known */
	struct sample_span span; /* of all that was found out so far */
};

static void find_who(const struct vm_names *n, int32_t vm, const struct sample_event *ev,
		     struct who *ret)
{
	struct sample_owner owner = { .span = SAMPLE_SPAN_ALL };
	bool is_told = n->o.guests &&
		       sample_guests_find(n->o.guests, vm, n->o.source->sampling.exits, ev, &owner);

	*ret = (struct who){ .span = owner.span };
	if (is_told) {
		*ret = (struct who){ true, owner.pid, owner.tid, owner.comm, owner.span };
		return;
	}
	/* What the guest's kernel keeps there is the number of the thread, if it keeps anything. */
	if (ev->guest & SAMPLE_GUEST_CONTEXT && ev->guest_context &&
	    ev->guest_context <= INT32_MAX) {
		ret->is_known = true;
		ret->pid = ret->tid = (int32_t)ev->guest_context;
	}
}

static void write_name(char text[VM_NAME_TEXT], const char *comm, int32_t number)
{
	char padded[SCHED_COMM_LEN], clean[COMM_TEXT_LEN];

	if (!comm || !*comm) {
		snprintf(text, VM_NAME_TEXT, "pid %" PRId32, number);
		return;
	}
	sched_comm_set(padded, comm, strlen(comm));
	snprintf(text, VM_NAME_TEXT, "%s (%" PRId32 ")", comm_format(padded, clean), number);
}

static int find_process(struct vm_names *n, uint32_t machine, const struct sample_event *ev,
			struct who *who, uint32_t *ret)
{
	const struct machine *m = n->machines[machine];
	struct key key = { .owner = machine };
	struct entry *new;
	const char *comm;
	int r;

	if (who->is_known) {
		key.sort = PROCESS_BY_PID;
		key.value = (uint32_t)who->pid;
		key.life =
			sample_spaces_life_span(m->source.spaces, who->pid, ev->tick, &who->span);
	} else if (ev->guest & SAMPLE_GUEST_TABLE && ev->mode == SAMPLE_GUEST_USER) {
		key.sort = PROCESS_BY_TABLE;
		key.value = sample_guest_table(n->o.source->sampling.exits, ev->guest_table);
	} else {
		/* In the kernel the table may be borrowed: nobody knows whose time it is. */
		key.sort = ev->mode == SAMPLE_GUEST_KERNEL ? PROCESS_OF_KERNEL : PROCESS_UNKNOWN;
	}
	r = number_of(n, &n->processes, &key, ret, &new);
	if (r < 0 || !new)
		return r;
	if (key.sort == PROCESS_BY_PID) {
		comm = sample_spaces_last_comm(m->source.spaces, who->pid, ev->tick);
		write_name(new->text, comm ? comm : who->comm, who->pid);
	} else if (key.sort == PROCESS_BY_TABLE)
		snprintf(new->text, sizeof(new->text), "space 0x%" PRIx64, key.value);
	else
		snprintf(new->text, sizeof(new->text), "%s",
			 key.sort == PROCESS_OF_KERNEL ? "[kernel]" : "[unknown]");
	return 0;
}

static int find_thread(struct vm_names *n, uint32_t process, const struct who *who, uint32_t *ret)
{
	struct key key = { .sort = THREAD, .owner = process, .value = (uint32_t)who->tid };
	struct entry *new;
	int r = number_of(n, &n->threads, &key, ret, &new);

	if (r < 0 || !new)
		return r;
	/* A process's name may be known by what it was later; its first thread has the same. */
	if (who->is_known && (who->comm || who->tid != who->pid))
		write_name(new->text, who->comm, who->tid);
	else
		snprintf(new->text, sizeof(new->text), "%s", n->processes.entries[process]->text);
	return 0;
}

static int find_function(struct vm_names *n, uint32_t machine, const struct sample_event *ev,
			 struct who *who, uint32_t *ret)
{
	struct machine *m = n->machines[machine];
	bool is_kernel = ev->mode == SAMPLE_GUEST_KERNEL;
	struct profile_address a = { who->is_known ? who->pid : -1, ev->tick, ev->guest_pc,
				     is_kernel };
	struct key key = { .sort = FUNCTION, .owner = machine, .is_kernel = is_kernel };
	struct entry *new;
	uint32_t place;
	int r = profile_names_find_span(m->names, &a, &place, &who->span);

	if (r < 0)
		return r;
	key.value = profile_names_get(m->names, place)->function;
	return number_of(n, &n->functions, &key, ret, &new);
}

static struct memo *memo_of(struct vm_names *n, int32_t vm, const struct sample_event *ev)
{
	uint64_t hash = hashtable_hash_number(
		ev->guest_pc ^ hashtable_hash_number(ev->guest_context + (uint32_t)vm) ^
		ev->guest_table << 20 ^ ev->guest_task);

	return &n->memo[hash >> 20 & ((1U << MEMO_BITS) - 1)];
}

static bool is_memo(const struct memo *m, int32_t vm, const struct sample_event *ev)
{
	return m->is_used && m->pc == ev->guest_pc && m->vm == vm && m->mode == ev->mode &&
	       m->guest == ev->guest && m->table == ev->guest_table &&
	       m->context == ev->guest_context && m->task == ev->guest_task &&
	       m->span.since <= ev->tick && ev->tick < m->span.until;
}

int vm_names_find(struct vm_names *n, int32_t vm, const struct sample_event *ev,
		  struct vm_place *ret, struct error *e)
{
	struct memo *memo = memo_of(n, vm, ev);
	struct vm_place p;
	struct who who;
	uint32_t machine = 0;
	int r;

	if (is_memo(memo, vm, ev)) {
		*ret = memo->place;
		return 0;
	}
	r = get_machine(n, vm, &machine, e);
	if (r < 0)
		return r;
	find_who(n, vm, ev, &who);
	r = find_process(n, machine, ev, &who, &p.process);
	if (r == 0)
		r = find_thread(n, p.process, &who, &p.thread);
	if (r == 0)
		r = find_function(n, machine, ev, &who, &p.function);
	if (r < 0)
		return error_set(e, -r, "cannot name guests: out of memory");
	*memo = (struct memo){ .is_used = true,
			       .mode = ev->mode,
			       .guest = ev->guest,
			       .vm = vm,
			       .pc = ev->guest_pc,
			       .table = ev->guest_table,
			       .context = ev->guest_context,
			       .task = ev->guest_task,
			       .span = who.span,
			       .place = p };
	*ret = p;
	return 0;
}

/* --- asking --- */

int32_t vm_names_vm(const struct vm_names *n, uint32_t process)
{
	return n->machines[n->processes.entries[process]->key.owner]->vm;
}

const char *vm_names_process(const struct vm_names *n, uint32_t process)
{
	return n->processes.entries[process]->text;
}

const char *vm_names_thread(const struct vm_names *n, uint32_t thread)
{
	return n->threads.entries[thread]->text;
}

const struct function *vm_names_function(const struct vm_names *n, uint32_t function)
{
	const struct key *key = &n->functions.entries[function]->key;
	struct machine *m = n->machines[key->owner];

	return functions_get(profile_names_functions(m->names), (uint32_t)key->value);
}

bool vm_names_is_kernel(const struct vm_names *n, uint32_t function)
{
	return n->functions.entries[function]->key.is_kernel;
}
