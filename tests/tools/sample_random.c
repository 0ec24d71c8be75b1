/* SPDX-License-Identifier: MIT */
/*
 * sample_random: see sample_random.h.
 *
 * A program is a graph of calls that is never written down: what a function is like (its size, whom it calls from
 * where, where in it time is spent) is a hash of its number. A task has a stack in it; between two samples some of the
 * innermost calls return and others are made, the more seldom the further out.
 */
#include "tools/sample_random.h"

#define KERNEL_BASE 0xffff800080010000ULL
#define KERNEL_FUNCTIONS 600U
#define PROGRAM_FUNCTIONS 250U
#define NS_MS 1000000ULL

static uint64_t next_number(struct sample_random *r)
{
	r->x ^= r->x << 13;
	r->x ^= r->x >> 7;
	r->x ^= r->x << 17;
	return r->x * 0x2545f4914f6cdd1dULL;
}

uint32_t sample_random_below(struct sample_random *r, uint32_t n)
{
	return (uint32_t)((next_number(r) >> 32) * n >> 32);
}

static uint32_t below(struct sample_random *r, uint32_t n)
{
	return sample_random_below(r, n);
}

/* The smaller the likelier: each doubling of the number is half as likely. */
static uint32_t skewed(struct sample_random *r, uint32_t n)
{
	while (n > 1 && below(r, 2))
		n = (n + 1) / 2;
	return below(r, n);
}

static uint32_t hash(uint32_t a, uint32_t b)
{
	uint64_t x = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15ULL;

	x ^= x >> 29;
	return (uint32_t)(x * 0xbf58476d1ce4e5b9ULL >> 32);
}

static void set_comm(struct sample_task *t, const char *name, uint32_t number)
{
	size_t len = strlen(name);

	memset(t->comm, 0, sizeof(t->comm));
	memcpy(t->comm, name, len < 12 ? len : 12);
	if (number)
		t->comm[len < 12 ? len : 12] = (char)('0' + number % 10);
}

/* --- where a program is --- */

static uint32_t size_of(uint32_t code, uint32_t function)
{
	return 64 + (hash(code, function) & 15) * (hash(code, function) >> 8 & 15) * 16;
}

static uint64_t address_of(uint32_t code, uint64_t base, uint32_t function, uint32_t offset)
{
	return base + (uint64_t)function * 0x1000 + (hash(code, function + 7777) & 0x7c0) +
	       (offset & ~3U);
}

/* Where function `caller` calls `callee`. */
static uint64_t site_of(uint32_t code, uint64_t base, uint32_t caller, uint32_t callee)
{
	return address_of(code, base, caller, 4 + hash(caller, callee) % size_of(code, caller));
}

/* One of the few that it calls, the first of them mostly. */
static uint32_t callee_of(struct sample_random *r, uint32_t code, uint32_t caller,
			  uint32_t functions)
{
	return hash(code * 31 + caller, skewed(r, 5)) % functions;
}

static void move(struct sample_random *r, struct sample_random_stack *s, uint32_t code,
		 uint32_t functions, uint32_t usual)
{
	uint32_t gone = skewed(r, s->depth + 1);

	s->depth -= gone < s->depth ? gone : s->depth;
	if (!s->depth) {
		s->function[0] = hash(code, 1) % functions;
		s->depth = 1;
	}
	while (s->depth < SAMPLE_RANDOM_DEPTH && (s->depth < usual ? below(r, 8) : below(r, 2))) {
		s->function[s->depth] = callee_of(r, code, s->function[s->depth - 1], functions);
		s->depth++;
	}
}

/* Appends the innermost place and the callers; `is_leaf`: the place is where the sample was. */
static uint32_t put_stack(struct sample_random *r, const struct sample_random_stack *s,
			  const struct sample_random_task *t, uint64_t base, bool is_leaf)
{
	uint32_t code = base == t->base ? t->code : 0, n = 0, i = s->depth - 1, spot;
	uint64_t *to = r->chain;

	spot = skewed(r, 24);
	if (!is_leaf)
		spot = 0;
	spot = hash(s->function[i], spot) % size_of(code, s->function[i]);
	to[n++] = address_of(code, base, s->function[i], spot);
	for (; i; i--)
		to[n++] = site_of(code, base, s->function[i - 1], s->function[i]);
	return n;
}

/* --- samples of programs --- */

static void put_chain(struct sample_random *r, struct sample_random_task *t,
		      struct sample_event *ret)
{
	uint64_t user[SAMPLE_RANDOM_DEPTH];

	ret->n_user = ret->n_kernel = 0;
	if (t->task.tid && t->base) {
		move(r, &t->user, t->code, PROGRAM_FUNCTIONS, 10);
		ret->n_user =
			(uint16_t)put_stack(r, &t->user, t, t->base, ret->mode == SAMPLE_USER);
		memcpy(user, r->chain, ret->n_user * sizeof(*user));
	}
	if (ret->mode != SAMPLE_USER) {
		t->kernel.function[0] = t->task.tid ? t->user.function[0] % 20 : 20;
		t->kernel.depth = t->kernel.depth ? t->kernel.depth : 1;
		move(r, &t->kernel, 0, KERNEL_FUNCTIONS, 6);
		ret->n_kernel = (uint16_t)put_stack(r, &t->kernel, t, KERNEL_BASE, true);
	}
	memcpy(r->chain + ret->n_kernel, user, ret->n_user * sizeof(*user));
	ret->chain = r->chain;
}

static void put_native(struct sample_random *r, struct sample_event *ret)
{
	struct sample_random_task *t;

	if (!below(r, r->style == SAMPLE_RANDOM_CROWD ? 2 : 6))
		r->cur = skewed(r, r->n_tasks);
	t = &r->task[r->cur];
	ret->kind = SAMPLE_TAKEN;
	ret->task = t->task;
	ret->mode = !t->task.tid	     ? SAMPLE_IDLE
		    : t->base && below(r, 3) ? SAMPLE_USER
					     : SAMPLE_KERNEL;
	r->tick += NS_MS - 2000 + below(r, 4000);
	if (!below(r, 50))
		r->tick += below(r, 4) * NS_MS;
	ret->tick = r->tick;
	ret->weight = NS_MS;
	put_chain(r, t, ret);
}

/* --- a host of virtual machines --- */

enum vm_step {
	VM_ENTRY,
	VM_EXIT,
	VM_AFTER,
	VM_OUTSIDE,
	VM_POLL,
	VM_SLEEP,
	VM_HOST,
};

static void put_place(struct sample_random *r, struct sample_random_task *t,
		      struct sample_event *ret)
{
	bool user = below(r, 4) != 0;
	uint64_t base =
		user ? 0xaaaac0000000ULL + t->process * 0x1230000ULL : 0xffffa00008000000ULL;
	const struct sample_random_stack *s = &t->user;

	if (!below(r, 12))
		t->process = skewed(r, 6);
	move(r, &t->user, 100 + t->process, PROGRAM_FUNCTIONS, 8);
	ret->mode = user ? SAMPLE_GUEST_USER : SAMPLE_GUEST_KERNEL;
	ret->guest = SAMPLE_GUEST_PC | SAMPLE_GUEST_TABLE | SAMPLE_GUEST_CONTEXT;
	ret->guest_pc = address_of(t->code, base, s->function[s->depth - 1],
				   hash(s->depth, skewed(r, 24)) % 500);
	ret->guest_table =
		0x41000000ULL + t->process * 0x3000ULL + (uint64_t)t->task.pid * 0x100000;
	ret->guest_context = 100 + t->process;
}

static void put_guest(struct sample_random *r, struct sample_random_task *t,
		      struct sample_event *ret)
{
	put_place(r, t, ret);
	t->sampled = *ret;
	ret->guest |= SAMPLE_GUEST_REASON;
	ret->reason = t->reason;
	ret->reason_detail = t->detail;
}

static void put_vm_sample(struct sample_random *r, struct sample_random_task *t,
			  struct sample_event *ret, bool in_guest)
{
	ret->kind = SAMPLE_TAKEN;
	ret->weight = NS_MS;
	if (in_guest)
		put_guest(r, t, ret);
	ret->mode = in_guest ? ret->mode : t->task.tid ? SAMPLE_KERNEL : SAMPLE_IDLE;
	ret->n_kernel = 3;
	r->chain[0] = KERNEL_BASE + (in_guest ? 0x44 : 0x1000 * skewed(r, 40) + 4 * skewed(r, 30));
	r->chain[1] = KERNEL_BASE + 0x100000 + (in_guest ? 0 : 0x100 * skewed(r, 20));
	r->chain[2] = KERNEL_BASE + 0x200000;
	ret->chain = r->chain;
	r->next_sample = r->tick + NS_MS / 2 + below(r, NS_MS);
}

/* A sample's own interrupt leaves the guest where it was taken, other interrupts anywhere; it halts in one place, and
 * has few from where it calls for a device. */
static void put_left(struct sample_random *r, struct sample_random_task *t,
		     struct sample_event *ret, uint32_t which)
{
	if (t->sampled.guest) {
		ret->mode = t->sampled.mode;
		ret->guest = t->sampled.guest;
		ret->guest_pc = t->sampled.guest_pc;
		ret->guest_table = t->sampled.guest_table;
		ret->guest_context = t->sampled.guest_context;
		t->sampled.guest = 0;
		return;
	}
	put_place(r, t, ret);
	if (which == 4)
		return;
	ret->mode = SAMPLE_GUEST_KERNEL;
	ret->guest_pc =
		0xffffa00008000000ULL + 0x1204 * which + (which == 3 ? 0 : 0x1000 * skewed(r, 5));
}

/* Why a guest is left, and how it goes on. */
static void put_exit(struct sample_random *r, struct sample_random_task *t,
		     struct sample_event *ret)
{
	static const uint16_t reasons[] = { 0x124, 0x118, 0x116, 0x101, 0 };
	uint32_t which = t->sampled.guest ? 4 : skewed(r, 5);

	put_left(r, t, ret, which);
	ret->kind = SAMPLE_EXIT;
	ret->value = reasons[which];
	ret->detail = which == 4 ? 0 : 0x93c00000ULL + ((uint64_t)which << 26) + skewed(r, 12) * 64;
	if (which != 4) {
		t->reason = ret->value;
		t->detail = ret->detail;
	}
	r->step = which == 3 ? VM_POLL : which == 0 && !below(r, 3) ? VM_OUTSIDE : VM_ENTRY;
}

static void put_switch(struct sample_random *r, struct sample_event *ret, bool sleeps)
{
	uint32_t next = skewed(r, r->n_tasks);

	if (next == r->cur)
		next = (next + 1) % r->n_tasks;
	ret->kind = SAMPLE_SWITCH;
	ret->value = sleeps ? 1 : 0;
	ret->next = r->task[next].task;
	r->cur = next;
	r->step = r->task[next].task.vcpu >= 0 ? VM_ENTRY : VM_HOST;
}

static void put_vm_step(struct sample_random *r, struct sample_random_task *t,
			struct sample_event *ret)
{
	switch (r->step) {
	case VM_ENTRY:
		ret->kind = SAMPLE_ENTRY;
		r->step = VM_EXIT;
		break;
	case VM_EXIT:
		put_exit(r, t, ret);
		break;
	case VM_OUTSIDE:
		ret->kind = SAMPLE_OUTSIDE;
		ret->value = 6;
		r->step = VM_ENTRY;
		break;
	case VM_POLL:
		ret->kind = SAMPLE_POLL;
		ret->detail = below(r, 3) != 0;
		ret->value = 5000 + skewed(r, 3000000);
		r->step = ret->detail ? VM_SLEEP : VM_ENTRY;
		break;
	case VM_SLEEP:
		put_switch(r, ret, true);
		break;
	default:
		if (below(r, 2)) {
			ret->kind = SAMPLE_WAKE;
			ret->next = r->task[1 + below(r, 4)].task;
			break;
		}
		put_switch(r, ret, below(r, 4) != 0);
		break;
	}
}

static void put_vm(struct sample_random *r, struct sample_event *ret)
{
	static const uint32_t usual[] = { 900, 60000, 0, 5000, 900, 1500, 20000 };
	struct sample_random_task *t = &r->task[r->cur];
	uint64_t took = usual[r->step] / 2 + skewed(r, usual[r->step] * 8);

	ret->task = t->task;
	if (r->tick + took >= r->next_sample) {
		r->tick = r->next_sample;
		put_vm_sample(r, t, ret, r->step == VM_EXIT);
	} else {
		r->tick += took;
		put_vm_step(r, t, ret);
	}
	ret->tick = r->tick;
}

/* --- no rule --- */

static uint64_t any(struct sample_random *r)
{
	return next_number(r) >> (below(r, 2) ? below(r, 64) : 0);
}

static void any_task(struct sample_random *r, struct sample_task *t)
{
	uint32_t i;

	t->tid = (int32_t)any(r);
	t->pid = below(r, 2) ? t->tid : (int32_t)any(r);
	t->vcpu = below(r, 2) ? SAMPLE_NO_VCPU : (int32_t)any(r);
	for (i = 0; i < SCHED_COMM_LEN; i++)
		t->comm[i] = below(r, 4) ? (char)below(r, 256) : 0;
}

static void put_any(struct sample_random *r, struct sample_event *ret)
{
	uint32_t i, n = below(r, 3) ? below(r, 6) : below(r, SAMPLE_CHAIN_MAX + 1);

	ret->tick = below(r, 4) ? r->tick + below(r, 1000) : any(r);
	ret->kind = (uint8_t)below(r, SAMPLE_KINDS);
	any_task(r, &ret->task);
	any_task(r, &ret->next);
	ret->value = any(r);
	ret->detail = any(r);
	ret->mode = (uint8_t)(below(r, 2) ? below(r, SAMPLE_MODES) : any(r));
	ret->guest = (uint8_t)any(r);
	ret->weight = any(r);
	ret->n_kernel = (uint16_t)below(r, n + 1);
	ret->n_user = (uint16_t)(n - ret->n_kernel);
	for (i = 0; i < n; i++)
		r->chain[i] = i && below(r, 2) ? r->chain[below(r, i)] : any(r);
	ret->chain = r->chain;
	ret->guest_pc = any(r);
	ret->guest_table = any(r);
	ret->guest_context = any(r);
	ret->guest_task = any(r);
	ret->reason = any(r);
	ret->reason_detail = any(r);
}

/* A new one, or an earlier one with something changed. */
static void put_hostile(struct sample_random *r, struct sample_event *ret)
{
	uint32_t at = below(r, SAMPLE_RANDOM_LAST);

	if (below(r, 3)) {
		*ret = r->last[at];
		memcpy(r->chain, r->chains[at], sizeof(r->chain));
		ret->chain = r->chain;
		ret->tick = r->tick + below(r, 3);
		if (below(r, 2))
			ret->kind = (uint8_t)below(r, SAMPLE_KINDS);
		if (!below(r, 4))
			any_task(r, below(r, 2) ? &ret->task : &ret->next);
		if (!below(r, 4))
			ret->guest = (uint8_t)below(r, 32);
	} else {
		put_any(r, ret);
	}
	r->tick = ret->tick;
	r->last[at] = *ret;
	memcpy(r->chains[at], r->chain, sizeof(r->chain));
}

/* --- --- */

static void make_tasks(struct sample_random *r)
{
	static const char *const names[] = { "worker", "nginx", "python3", "dbus-daemon",
					     "ksoftirqd/" };
	uint32_t i;

	for (i = 0; i < r->n_tasks; i++) {
		struct sample_random_task *t = &r->task[i];

		t->task.vcpu = SAMPLE_NO_VCPU;
		t->code = 1 + i % 300;
		if (!i) {
			set_comm(&t->task, "swapper/", 3);
			continue;
		}
		t->task.tid = (int32_t)(400 + 7 * i + hash(i, 5) % 7);
		t->task.pid = t->task.tid;
		t->base = hash(i, 3) % 5 ? 0xaaaad0000000ULL + ((uint64_t)hash(i, 9) << 12) : 0;
		set_comm(&t->task, names[t->base ? i % 4 : 4], i / 4);
		if (i % 3 == 2 && t->base) { /* a thread */
			t->task.pid = t[-1].task.pid;
			t->base = t[-1].base;
			t->code = t[-1].code;
		}
		if (r->style != SAMPLE_RANDOM_VM || i > 4)
			continue;
		t->task.pid = (int32_t)(400 + (i - 1) / 2);
		t->task.vcpu = (int32_t)((i - 1) % 2);
		set_comm(&t->task, "CPU 0/KVM", 0);
		t->task.comm[4] = (char)('0' + t->task.vcpu);
	}
}

void sample_random_init(struct sample_random *r, uint64_t seed, unsigned style)
{
	static const uint32_t tasks[] = { 24, 12, SAMPLE_RANDOM_PROGRAMS, 1 };

	memset(r, 0, sizeof(*r));
	r->x = seed * 0x9e3779b97f4a7c15ULL + 12345;
	r->style = style;
	r->n_tasks = tasks[style];
	r->tick = 5000000000ULL;
	r->next_sample = r->tick;
	r->step = VM_HOST;
	make_tasks(r);
}

void sample_random_next(struct sample_random *r, struct sample_event *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->chain = r->chain;
	switch (r->style) {
	case SAMPLE_RANDOM_VM:
		put_vm(r, ret);
		break;
	case SAMPLE_RANDOM_HOSTILE:
		put_hostile(r, ret);
		break;
	default:
		put_native(r, ret);
		break;
	}
}
