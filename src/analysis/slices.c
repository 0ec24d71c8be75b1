/* SPDX-License-Identifier: MIT */
/* slices: see slices.h. */
#include "analysis/slices.h"

#include <string.h>

static const struct holder unknown = { .type = HOLDER_UNKNOWN };
static const struct holder idle = { .type = HOLDER_IDLE };

void slices_init(struct slices *s, const struct trace_info *info, uint64_t width_ns)
{
	memset(s, 0, offsetof(struct slices, open));
	s->info = info;
	s->width_ns = width_ns;
}

static int put_open(struct slices *s)
{
	bucket_trim(&s->open);
	return s->put ? s->put(s->context, &s->open) : 0;
}

/* From seen_ns to ns the CPU was this one's. Buckets in between have no event, and so do not exist. */
static int stretch(struct slices *s, uint64_t ns, const struct holder *h)
{
	uint64_t index = ns / s->width_ns, from_ns = s->state.seen_ns;
	int r;

	if (index != s->open.index) {
		bucket_add_time(&s->open, h, (s->open.index + 1) * s->width_ns - from_ns);
		r = put_open(s);
		if (r)
			return r;
		bucket_init(&s->open, index, h);
		from_ns = index * s->width_ns;
	}
	bucket_add_time(&s->open, h, ns - from_ns);
	s->state.seen_ns = ns;
	return 0;
}

static void hold(struct holder *h, int32_t pid, const char *comm)
{
	memset(h, 0, sizeof(*h));
	h->type = pid ? HOLDER_TASK : HOLDER_IDLE;
	h->pid = pid;
	if (pid && comm)
		memcpy(h->comm, comm, SCHED_COMM_LEN);
}

/* Who ran when it happened. Where common_pid is itself inferred, it is no evidence. */
static void find_holder(const struct slices *s, const struct sched_event *ev, struct holder *ret)
{
	const struct holder *now = &s->state.now;
	bool said = !(s->info->dialect.features & DIALECT_NO_CUR);

	if (ev->kind == SCHED_SWITCH)
		hold(ret, ev->task.pid, ev->task.comm);
	else if (now->type == HOLDER_TASK && (now->pid == ev->pid || !said))
		*ret = *now;
	else if (said || now->type != HOLDER_IDLE)
		hold(ret, ev->pid, NULL);
	else
		*ret = idle;
}

/* The switch to the task on this CPU is missing, so its name was unknown. This event has it. */
static void name_holder(struct slices *s, const struct sched_event *ev)
{
	const struct holder *now = &s->state.now;

	if (now->type == HOLDER_TASK && !now->comm[0] && ev->task.pid == now->pid &&
	    (ev->kind == SCHED_SWITCH || ev->kind == SCHED_RENAME))
		bucket_name(&s->open, now->pid, ev->task.comm);
}

static void take_losses(struct slices *s)
{
	s->open.counts.lost += s->state.lost;
	s->open.counts.uncounted += s->state.uncounted;
	s->state.lost = s->state.uncounted = 0;
}

static int add_event(struct slices *s, const struct sched_event *ev)
{
	struct slices_state *t = &s->state;
	uint64_t ns = clock_event_ns(&s->info->clock, ev);
	struct holder holder;
	int r = 0;

	find_holder(s, ev, &holder);
	if (t->begun) {
		name_holder(s, ev);
		r = stretch(s, ns > t->seen_ns ? ns : t->seen_ns,
			    t->now.type == HOLDER_UNKNOWN ? &unknown : &holder);
	} else {
		t->begun = true;
		t->first = holder;
		t->first_ns = t->seen_ns = ns;
		bucket_init(&s->open, ns / s->width_ns, NULL);
	}
	if (r)
		return r;
	take_losses(s);
	bucket_add_event(&s->open, ev->kind);
	t->now = holder;
	if (ev->kind == SCHED_SWITCH)
		hold(&t->now, ev->other.pid, ev->other.comm);
	else if (ev->kind == SCHED_RENAME && holder.type == HOLDER_TASK &&
		 ev->task.pid == holder.pid)
		memcpy(t->now.comm, ev->other.comm, SCHED_COMM_LEN);
	return 0;
}

int slices_add(struct slices *s, const struct trace_item *item)
{
	if (item->type == ITEM_EVENT)
		return add_event(s, &item->event);
	if (item->loss.count == LOSS_UNKNOWN)
		s->state.uncounted++;
	else
		s->state.lost += item->loss.count;
	s->state.now = unknown;
	if (!s->state.begun)
		s->state.lost_first = true;
	return 0;
}

int slices_end(struct slices *s, uint64_t to_ns)
{
	int r = 0;

	if (!s->state.begun)
		return 0;
	take_losses(s);
	if (to_ns > s->state.seen_ns)
		r = stretch(s, to_ns, s->state.now.type == HOLDER_IDLE ? &idle : &unknown);
	return r ? r : put_open(s);
}

const struct holder *slices_get_beginning(const struct slices_state *s)
{
	return s->begun && s->first.type == HOLDER_IDLE && !s->lost_first ? &idle : &unknown;
}
