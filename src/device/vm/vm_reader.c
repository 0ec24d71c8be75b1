/* SPDX-License-Identifier: MIT */
/* vm_reader: see vm_reader.h. */
#include "device/vm/vm_reader.h"

#include "wire/sample_meta.h"

#define PLACE_BITS (SAMPLE_GUEST_PC | SAMPLE_GUEST_TABLE | SAMPLE_GUEST_CONTEXT | SAMPLE_GUEST_TASK)
#define GUEST_BITS (PLACE_BITS | SAMPLE_GUEST_REASON)
#define CHAIN_AT offsetof(struct vm_record_sample, chain)

void vm_reader_init(struct vm_reader *r, struct vm_reader_exit *exits, uint32_t n_cpus)
{
	memset(r, 0, sizeof(*r));
	r->exit = exits;
	r->n_cpus = n_cpus;
}

void vm_reader_feed(struct vm_reader *r, const uint8_t *data, size_t len)
{
	r->at = data;
	r->end = data + len;
	r->left = 0;
	r->is_told = false;
}

static enum wire_status open_chunk(struct vm_reader *r)
{
	size_t there = (size_t)(r->end - r->at);
	struct vm_chunk c;

	if (!there)
		return WIRE_MORE;
	if (there < sizeof(c))
		return WIRE_CORRUPT;
	memcpy(&c, r->at, sizeof(c));
	if (c.magic != VM_RECORD_MAGIC || c.version != VM_RECORD_VERSION ||
	    c.exits > SAMPLE_EXITS_VMX || c.cpu >= r->n_cpus || !c.length ||
	    c.length > there - sizeof(c))
		return WIRE_CORRUPT;
	r->at += sizeof(c);
	r->left = c.length;
	r->cpu = c.cpu;
	r->exits = c.exits;
	r->lost = c.lost;
	r->used_ns = c.used_ns;
	r->last_tick = 0;
	return WIRE_OK;
}

static bool get_task(struct sample_task *to, const struct vm_record_task *from)
{
	to->tid = from->tid;
	to->pid = from->pid;
	to->vcpu = from->vcpu;
	sched_comm_set(to->comm, from->comm, VM_RECORD_COMM);
	return from->tid >= 0 && from->pid >= 0 && from->vcpu >= SAMPLE_NO_VCPU;
}

static bool get_value(const struct vm_reader *r, const struct vm_record *base,
		      struct sample_event *ret)
{
	struct vm_record_value v;

	if (base->size != sizeof(v))
		return false;
	memcpy(&v, r->at, sizeof(v));
	ret->value = v.value;
	ret->detail = v.detail;
	return true;
}

static bool get_exit(const uint8_t *at, struct sample_event *ret)
{
	struct vm_record_exit x;

	memcpy(&x, at, sizeof(x));
	if (x.base.mode >= SAMPLE_MODES || x.guest & ~(uint32_t)PLACE_BITS)
		return false;
	ret->value = x.value;
	ret->detail = x.detail;
	ret->mode = x.base.mode;
	ret->guest = (uint8_t)x.guest;
	ret->guest_pc = x.guest_pc;
	ret->guest_table = x.guest_table;
	ret->guest_context = x.guest_context;
	ret->guest_task = x.guest_task;
	return true;
}

static bool get_two(const uint8_t *at, struct sample_event *ret)
{
	struct vm_record_two t;

	memcpy(&t, at, sizeof(t));
	ret->value = t.base.number;
	return get_task(&ret->next, &t.next);
}

static bool get_sample(struct vm_reader *r, const struct vm_record *base, struct sample_event *ret)
{
	struct vm_record_sample s;
	uint32_t n;

	if (base->size < CHAIN_AT || base->size > sizeof(s))
		return false;
	memcpy(&s, r->at, base->size);
	n = (uint32_t)s.n_kernel + s.n_user;
	if (n > VM_RECORD_CHAIN || base->size != CHAIN_AT + n * sizeof(s.chain[0]) ||
	    base->mode >= SAMPLE_MODES || s.guest & ~(uint32_t)GUEST_BITS || !base->number ||
	    s.period_ns > UINT32_MAX)
		return false;
	memcpy(r->chain, s.chain, n * sizeof(s.chain[0]));
	ret->mode = base->mode;
	ret->guest = (uint8_t)s.guest;
	ret->weight = s.period_ns * base->number;
	ret->n_kernel = s.n_kernel;
	ret->n_user = s.n_user;
	ret->chain = r->chain;
	ret->guest_pc = s.guest_pc;
	ret->guest_table = s.guest_table;
	ret->guest_context = s.guest_context;
	ret->guest_task = s.guest_task;
	ret->reason = s.reason;
	ret->reason_detail = s.reason_detail;
	return true;
}

/* What an exit by the host's interrupt is called there. */
static uint64_t interrupt_of(uint16_t exits)
{
	static const uint8_t reasons[] = {
		[SAMPLE_EXITS_ARM64] = 0, [SAMPLE_EXITS_SVM] = 0x60, [SAMPLE_EXITS_VMX] = 1
	};

	return reasons[exits];
}

/* Its exit, should it be told of, is of the same moment and place. */
static void keep_exit(struct vm_reader *r, const struct sample_event *sample)
{
	struct vm_reader_exit *x = &r->exit[r->cpu];
	uint8_t guest = sample->guest & PLACE_BITS;

	x->is_there = sample->mode == SAMPLE_GUEST_KERNEL || sample->mode == SAMPLE_GUEST_USER;
	x->event = (struct sample_event){ .tick = sample->tick,
					  .kind = SAMPLE_EXIT,
					  .task = sample->task,
					  .value = interrupt_of(r->exits),
					  .mode = guest ? sample->mode : 0,
					  .guest = guest,
					  .guest_pc = sample->guest_pc,
					  .guest_table = sample->guest_table,
					  .guest_context = sample->guest_context,
					  .guest_task = sample->guest_task };
}

static bool get_record(struct vm_reader *r, const struct vm_record *base, struct sample_event *ret)
{
	switch (base->kind) {
	case SAMPLE_TAKEN:
		return get_sample(r, base, ret);
	case SAMPLE_SWITCH:
	case SAMPLE_WAKE:
		return base->size == sizeof(struct vm_record_two) && get_two(r->at, ret);
	case SAMPLE_ENTRY:
		return base->size == sizeof(*base);
	case SAMPLE_EXIT:
		return base->size == sizeof(struct vm_record_exit) && get_exit(r->at, ret);
	case SAMPLE_OUTSIDE:
	case SAMPLE_POLL:
		return get_value(r, base, ret);
	default:
		return false;
	}
}

static enum wire_status tell_exit(struct vm_reader *r, struct sample_event *ret)
{
	struct vm_reader_exit *x = &r->exit[r->cpu];

	if (!x->is_there || x->event.tick < r->last_tick)
		return WIRE_CORRUPT;
	x->is_there = false;
	r->is_told = true;
	*ret = x->event;
	return WIRE_OK;
}

enum wire_status vm_reader_next(struct vm_reader *r, struct sample_event *ret, uint32_t *ret_lost)
{
	struct vm_record base;
	struct sample_event ev;
	enum wire_status status = r->left ? WIRE_OK : open_chunk(r);

	if (status != WIRE_OK)
		return status;
	if (r->left < sizeof(base))
		return WIRE_CORRUPT;
	memcpy(&base, r->at, sizeof(base));
	if (base.kind & VM_RECORD_LEFT && !r->is_told) {
		*ret_lost = 0;
		return tell_exit(r, ret);
	}
	base.kind &= (uint8_t)~VM_RECORD_LEFT;
	r->is_told = false;
	memset(&ev, 0, sizeof(ev));
	if (base.size > r->left || base.tick < r->last_tick || !get_task(&ev.task, &base.task) ||
	    !get_record(r, &base, &ev))
		return WIRE_CORRUPT;
	ev.tick = base.tick;
	ev.kind = base.kind;
	if (ev.kind == SAMPLE_TAKEN)
		keep_exit(r, &ev);
	r->last_tick = base.tick;
	r->at += base.size;
	r->left -= base.size;
	*ret = ev;
	*ret_lost = base.lost;
	return WIRE_OK;
}
