/* SPDX-License-Identifier: MIT */
/* vm_account: see vm_account.h. */
#include "analysis/vm_account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/vm_exit.h"
#include "store/array.h"
#include "store/hashtable.h"

struct row {
	struct vm_sums sums;
	uint64_t last_tick; /* where its last segment ended: what begins there goes on */
	uint8_t last_class;
};

struct vm_account {
	struct vm_account_options o;
	struct row *rows;
	size_t n, room;
	struct hashtable reasons, culprits;
};

int vm_account_new(struct vm_account **ret, const struct vm_account_options *o)
{
	struct vm_account *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->o = *o;
	hashtable_init(&a->reasons, VM_REASONS_MAX);
	hashtable_init(&a->culprits, VM_CULPRITS_MAX);
	*ret = a;
	return 0;
}

static void free_all(struct hashtable *t)
{
	size_t at = 0;
	void *entry;

	while ((entry = hashtable_next(t, &at)))
		free(entry);
	hashtable_done(t);
}

void vm_account_free(struct vm_account *a)
{
	if (!a)
		return;
	free_all(&a->reasons);
	free_all(&a->culprits);
	free(a->rows);
	free(a);
}

int vm_account_dup_state(struct vm_account **ret, const struct vm_account *a,
			 const struct vm_account_options *o)
{
	static const struct vm_account_options none;
	CLEANUP(vm_account) struct vm_account *to = NULL;
	int r = vm_account_new(&to, o ? o : &none);

	if (r < 0)
		return r;
	to->rows = calloc(a->n + 1, sizeof(*to->rows));
	if (!to->rows)
		return -ENOMEM;
	to->room = a->n + 1;
	for (; to->n < a->n; to->n++) {
		to->rows[to->n].last_tick = a->rows[to->n].last_tick;
		to->rows[to->n].last_class = a->rows[to->n].last_class;
	}
	*ret = take_ptr(to);
	return 0;
}

/* --- rows --- */

/* How a table finds its entries, and how large they are. */
struct shape {
	hashtable_is_fn is;
	size_t size;
};

/* The entry that is like this one, made if there is none. NULL: r says why. */
static void *find(struct hashtable *t, const struct shape *shape, uint64_t hash, const void *like,
		  int *r)
{
	void *entry = hashtable_get(t, hash, shape->is, like);

	if (entry)
		return entry;
	entry = malloc(shape->size);
	*r = entry ? hashtable_add(t, hash, entry) : -ENOMEM;
	if (*r < 0) {
		free(entry);
		return NULL;
	}
	return memcpy(entry, like, shape->size);
}

static bool is_reason(const void *entry, const void *key)
{
	const struct vm_reason *a = entry, *b = key;

	return a->vcpu == b->vcpu && a->is_known == b->is_known && a->reason == b->reason &&
	       a->is_halt == b->is_halt;
}

static const struct shape reason_shape = { is_reason, sizeof(struct vm_reason) };

static int put_reason(struct vm_account *a, const struct vm_segment *s, uint64_t ns)
{
	struct vm_reason like = { .vcpu = s->vcpu, .is_known = s->has_reason }, *row;
	int r = 0;

	if (s->has_reason) {
		like.reason = s->reason;
		like.detail = s->detail;
		/* A halt and a yield have one number and differ in the detail. */
		like.is_halt = vm_exit_is_halt(a->o.exits, s->reason, s->detail);
	}
	row = find(&a->reasons, &reason_shape,
		   hashtable_hash_number(like.reason * 2 + like.is_halt +
					 ((uint64_t)s->vcpu << 40)),
		   &like, &r);
	if (!row)
		return r;
	row->exits += s->is_exit;
	if (s->kind == VM_KERNEL)
		row->kernel_ns += ns;
	if (s->kind == VM_OUTSIDE)
		row->outside_ns += ns;
	row->ours_ns += s->ours ? ns : 0;
	return 0;
}

static bool is_culprit(const void *entry, const void *key)
{
	const struct vm_culprit *a = entry, *b = key;

	return a->vcpu == b->vcpu && a->task.tid == b->task.tid && a->task.pid == b->task.pid;
}

static const struct shape culprit_shape = { is_culprit, sizeof(struct vm_culprit) };

static int put_culprit(struct vm_account *a, const struct vm_segment *s, uint64_t ns)
{
	struct vm_culprit like = { .vcpu = s->vcpu, .task = s->culprit }, *row;
	int r = 0;

	row = find(&a->culprits, &culprit_shape,
		   hashtable_hash_number((uint32_t)s->culprit.tid + ((uint64_t)s->vcpu << 32)),
		   &like, &r);
	if (!row)
		return r;
	/* A thread is known to run a virtual CPU when it has been in its guest: that holds for what it took before, too. */
	if (s->culprit.vcpu >= 0)
		row->task = s->culprit;
	if (s->kind == VM_STEAL)
		row->steal_ns += ns;
	else
		row->waiting_ns += ns;
	row->times++;
	return 0;
}

/* --- segments --- */

static uint64_t clip(const struct vm_account *a, uint64_t tick)
{
	uint64_t ns = clock_ns(a->o.clock, tick);

	if (ns < a->o.from_ns)
		return a->o.from_ns;
	return ns > a->o.to_ns ? a->o.to_ns : ns;
}

static int get_row(struct vm_account *a, uint32_t vcpu, struct row **ret)
{
	int r = 0;

	while (r == 0 && a->n <= vcpu) {
		r = array_grow(&a->rows, a->n, &a->room, sizeof(*a->rows), VM_VCPUS_MAX);
		if (r == 0)
			memset(&a->rows[a->n++], 0, sizeof(*a->rows));
	}
	if (r == 0)
		*ret = &a->rows[vcpu];
	return r;
}

int vm_account_put(struct vm_account *a, const struct vm_segment *s)
{
	uint64_t ns = clip(a, s->to_tick) - clip(a, s->from_tick);
	struct row *row;
	int r = get_row(a, s->vcpu, &row);

	if (r < 0)
		return r;
	row->sums.times[s->kind] +=
		ns && (row->last_tick != s->from_tick || s->kind != row->last_class);
	row->last_tick = s->to_tick;
	row->last_class = s->kind;
	if (!ns)
		return 0;
	row->sums.ns[s->kind] += ns;
	if (s->ours)
		row->sums.ours_ns += ns;
	if (a->o.sums_only)
		return 0;
	if (s->kind == VM_KERNEL || s->kind == VM_OUTSIDE || s->is_exit)
		r = put_reason(a, s, ns);
	if (r == 0 && (s->kind == VM_STEAL || s->kind == VM_WAITING))
		r = put_culprit(a, s, ns);
	return r;
}

/* --- what came out --- */

const struct vm_sums *vm_account_get(const struct vm_account *a, uint32_t vcpu)
{
	return vcpu < a->n ? &a->rows[vcpu].sums : NULL;
}

static int compare_reasons(const void *x, const void *y)
{
	const struct vm_reason *a = *(const struct vm_reason *const *)x;
	const struct vm_reason *b = *(const struct vm_reason *const *)y;
	uint64_t na = a->kernel_ns + a->outside_ns, nb = b->kernel_ns + b->outside_ns;

	if (a->vcpu != b->vcpu)
		return a->vcpu < b->vcpu ? -1 : 1;
	if (na != nb)
		return na > nb ? -1 : 1;
	return a->reason < b->reason ? -1 : a->reason > b->reason;
}

static int compare_culprits(const void *x, const void *y)
{
	const struct vm_culprit *a = *(const struct vm_culprit *const *)x;
	const struct vm_culprit *b = *(const struct vm_culprit *const *)y;
	uint64_t na = a->steal_ns + a->waiting_ns, nb = b->steal_ns + b->waiting_ns;

	if (a->vcpu != b->vcpu)
		return a->vcpu < b->vcpu ? -1 : 1;
	if (na != nb)
		return na > nb ? -1 : 1;
	return a->task.tid < b->task.tid ? -1 : a->task.tid > b->task.tid;
}

static void *dup_sorted(const struct hashtable *t, size_t *ret_n,
			int (*compare)(const void *, const void *))
{
	const void **list = calloc(t->n + 1, sizeof(*list));
	size_t at = 0, n = 0;

	if (!list)
		return NULL;
	while (n < t->n && (list[n] = hashtable_next(t, &at)))
		n++;
	qsort(list, n, sizeof(*list), compare);
	*ret_n = n;
	return list;
}

const struct vm_reason **vm_account_dup_reasons(const struct vm_account *a, size_t *ret_n)
{
	return dup_sorted(&a->reasons, ret_n, compare_reasons);
}

const struct vm_culprit **vm_account_dup_culprits(const struct vm_account *a, size_t *ret_n)
{
	return dup_sorted(&a->culprits, ret_n, compare_culprits);
}

void vm_sums_add(struct vm_sums *to, const struct vm_sums *from)
{
	size_t i;

	for (i = 0; i < VM_CLASSES; i++) {
		to->ns[i] += from->ns[i];
		to->times[i] += from->times[i];
	}
	to->ours_ns += from->ours_ns;
}

uint64_t vm_sums_wall(const struct vm_sums *s)
{
	uint64_t wall = 0;
	size_t i;

	for (i = 0; i < VM_CLASSES; i++)
		wall += s->ns[i];
	return wall;
}
