/* SPDX-License-Identifier: MIT */
/* vm_slices: see vm_slices.h. */
#include "analysis/vm_slices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"

#define LOOK_EVERY 256U /* items behind the window */
#define NO_TASK (-1)

const char *const vm_owner_words[VM_OWNERS] = { "unknown", "idle", "vcpu", "other" };

/* A virtual CPU. */
struct row {
	struct vm_lane lane;
	struct vm_segment held; /* in the guest: a sample at its end may still tell where */
	bool is_held;
	struct sample_event at; /* the latest that told where the guest was; without its chain */
	bool has_at, is_named;	/* … and `place` is what it says */
	int32_t place;
	uint64_t until_ns; /* told up to here, also outside of the window */
};

/* A physical CPU. */
struct core {
	struct vm_lane lane;
	bool is_seen;
	struct sample_task task; /* who has it */
	bool is_known;
	uint64_t since_ns;
};

struct vm_slices {
	struct vm_slices_options o;
	struct vm_time *time;
	struct vm_legend legend;
	struct vm_lane_room room;
	uint64_t min_ns;
	struct row *rows; /* by number in `time` */
	size_t n_rows, room_rows;
	struct core *cores; /* by number */
	uint32_t n_cores;
	uint64_t first_ns, last_ns; /* of all items so far */
	bool has_items;
	struct sample_pauses pauses;
	struct marks_pace pace;
	uint64_t last_event_tick; /* where what is told of virtual CPUs ends */
	bool is_all;		  /* the recording was read to its end */
	struct error *error;	  /* while it is made */
};

void vm_slices_free(struct vm_slices *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->n_rows; i++)
		vm_lane_done(&s->rows[i].lane);
	for (i = 0; i < s->n_cores; i++)
		vm_lane_done(&s->cores[i].lane);
	free(s->rows);
	free(s->cores);
	vm_legend_done(&s->legend);
	vm_time_free(s->time);
	free(s);
}

static uint64_t clip(const struct vm_slices *s, uint64_t ns)
{
	if (ns < s->o.from_ns)
		return s->o.from_ns;
	return ns > s->o.to_ns ? s->o.to_ns : ns;
}

static uint64_t ns_of(const struct vm_slices *s, uint64_t tick)
{
	return clock_ns(&s->o.source->info.clock, tick);
}

/* --- virtual CPUs --- */

static int get_row(struct vm_slices *s, uint32_t vcpu, struct row **ret)
{
	int r = 0;

	while (s->n_rows <= vcpu && r == 0) {
		r = array_grow(&s->rows, s->n_rows, &s->room_rows, sizeof(*s->rows), VM_VCPUS_MAX);
		if (r < 0)
			return r;
		memset(&s->rows[s->n_rows], 0, sizeof(*s->rows));
		vm_lane_init(&s->rows[s->n_rows++].lane, s->min_ns, &s->room);
	}
	*ret = &s->rows[vcpu];
	return r;
}

/* Names cost more than the rest, so only those that are shown are looked for. */
static int name_place(struct vm_slices *s, struct row *row, uint32_t vcpu, int32_t *ret)
{
	struct vm_place place;
	int r = 0;

	*ret = -1;
	if (!row->has_at)
		return 0;
	if (!row->is_named) {
		r = vm_names_find(s->o.names, vm_time_get(s->time, vcpu)->pid, &row->at, &place,
				  s->error);
		if (r >= 0)
			r = vm_legend_put_place(&s->legend, &place, &row->place);
		row->is_named = r >= 0;
	}
	*ret = row->place;
	return r;
}

static int name_exit(struct vm_slices *s, const struct vm_segment *g, int32_t *ret)
{
	char name[VM_EXIT_NAME_LEN] = "sampling";

	*ret = -1;
	if (!g->has_reason)
		return 0;
	if (!g->ours)
		vm_exit_format(name, (enum sample_exits)s->o.source->sampling.exits, g->reason,
			       g->detail);
	return vm_legend_put_exit(&s->legend, name, ret);
}

static int name_segment(struct vm_slices *s, struct row *row, const struct vm_segment *g,
			int32_t *ret)
{
	*ret = -1;
	switch (g->kind) {
	case VM_GUEST:
		return name_place(s, row, g->vcpu, ret);
	case VM_KERNEL:
	case VM_OUTSIDE:
		return name_exit(s, g, ret);
	case VM_STEAL:
	case VM_WAITING:
		return g->culprit.tid < 0 ? 0 : vm_legend_put_task(&s->legend, &g->culprit, ret);
	default:
		return 0;
	}
}

static int emit(struct vm_slices *s, struct row *row, const struct vm_segment *g)
{
	struct vm_span span = { .from_ns = clip(s, ns_of(s, g->from_tick)),
				.to_ns = clip(s, ns_of(s, g->to_tick)),
				.kind = g->kind,
				.cpu = g->cpu == VM_CPU_NONE ? -1 : (int32_t)g->cpu };
	int r;

	row->until_ns = ns_of(s, g->to_tick);
	if (span.from_ns >= span.to_ns)
		return 0;
	r = name_segment(s, row, g, &span.what);
	return r < 0 ? r : vm_lane_put(&row->lane, &span);
}

static int let_go(struct vm_slices *s, struct row *row)
{
	if (!row->is_held)
		return 0;
	row->is_held = false;
	return emit(s, row, &row->held);
}

static int take_segment(void *data, const struct vm_segment *g)
{
	struct vm_slices *s = data;
	struct row *row;
	int r = get_row(s, g->vcpu, &row);

	if (r == 0)
		r = let_go(s, row);
	if (r < 0 || g->kind != VM_GUEST)
		return r < 0 ? r : emit(s, row, g);
	row->held = *g;
	row->is_held = true;
	return 0;
}

static int take_sample(void *data, const struct vm_segment *now, const struct sample_item *item)
{
	struct vm_slices *s = data;
	struct row *row;
	int r = get_row(s, now->vcpu, &row);

	if (r < 0 || !item->event.guest)
		return r;
	if (row->is_held && row->held.to_tick != item->event.tick)
		r = let_go(s, row);
	row->at = item->event;
	row->at.chain = NULL;
	row->has_at = true;
	row->is_named = false;
	return r < 0 ? r : let_go(s, row);
}

/* --- physical CPUs --- */

static int get_core(struct vm_slices *s, uint32_t cpu, struct core **ret)
{
	struct core *grown;

	if (cpu >= VM_CPUS_MAX)
		return -E2BIG;
	if (cpu >= s->n_cores) {
		grown = realloc(s->cores, (cpu + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		s->cores = grown;
		for (; s->n_cores <= cpu; s->n_cores++) {
			memset(&grown[s->n_cores], 0, sizeof(*grown));
			vm_lane_init(&grown[s->n_cores].lane, s->min_ns, &s->room);
		}
	}
	*ret = &s->cores[cpu];
	if (!(*ret)->is_seen)
		(*ret)->since_ns = s->first_ns;
	(*ret)->is_seen = true;
	return 0;
}

/* It was whose it was up to here. */
static int close_core(struct vm_slices *s, struct core *c, uint64_t ns)
{
	struct vm_span span = { .from_ns = clip(s, c->since_ns),
				.to_ns = clip(s, ns),
				.kind = VM_OWNER_UNKNOWN,
				.cpu = -1,
				.what = NO_TASK };
	int r = 0;

	c->since_ns = ns;
	if (span.from_ns >= span.to_ns)
		return 0;
	if (c->is_known) {
		r = vm_legend_put_task(&s->legend, &c->task, &span.what);
		span.kind = !c->task.tid	? VM_OWNER_IDLE
			    : c->task.vcpu >= 0 ? VM_OWNER_VCPU
						: VM_OWNER_OTHER;
	}
	return r < 0 ? r : vm_lane_put(&c->lane, &span);
}

static int set_owner(struct vm_slices *s, struct core *c, uint64_t ns,
		     const struct sample_task *task)
{
	int r = 0;

	if (c->is_known != (task != NULL) ||
	    (task && (c->task.tid != task->tid || c->task.pid != task->pid)))
		r = close_core(s, c, ns);
	c->is_known = task != NULL;
	if (task)
		c->task = *task;
	return r;
}

static int put_core(struct vm_slices *s, const struct sample_item *item, uint64_t ns)
{
	struct core *c;
	int r = get_core(s, item->cpu, &c);

	if (r < 0)
		return r;
	if (item->type == ITEM_LOSS)
		return set_owner(s, c, ns, NULL);
	r = set_owner(s, c, ns, &item->event.task);
	if (r == 0 && item->event.kind == SAMPLE_SWITCH)
		r = set_owner(s, c, ns, &item->event.next);
	return r;
}

/* --- marks --- */

static int dup_rows(struct vm_slices *to, const struct vm_slices *s)
{
	to->rows = calloc(s->n_rows + 1, sizeof(*to->rows));
	if (!to->rows)
		return -ENOMEM;
	to->room_rows = s->n_rows + 1;
	for (; to->n_rows < s->n_rows; to->n_rows++) {
		to->rows[to->n_rows] = s->rows[to->n_rows];
		to->rows[to->n_rows].is_named = false; /* in another legend */
		vm_lane_init(&to->rows[to->n_rows].lane, to->min_ns, &to->room);
	}
	return 0;
}

static int dup_cores(struct vm_slices *to, const struct vm_slices *s)
{
	to->cores = calloc(s->n_cores + 1, sizeof(*to->cores));
	if (!to->cores)
		return -ENOMEM;
	for (; to->n_cores < s->n_cores; to->n_cores++) {
		to->cores[to->n_cores] = s->cores[to->n_cores];
		vm_lane_init(&to->cores[to->n_cores].lane, to->min_ns, &to->room);
	}
	return 0;
}

/* All but what is shown, into one that has nothing yet. */
static int copy_state(struct vm_slices *to, const struct vm_slices *s,
		      const struct vm_time_options *o)
{
	int r = vm_time_dup(&to->time, s->time, o);

	if (r == 0)
		r = dup_rows(to, s);
	if (r == 0)
		r = dup_cores(to, s);
	to->first_ns = s->first_ns;
	to->last_ns = s->last_ns;
	to->has_items = s->has_items;
	to->pace.last_tick = s->pace.last_tick;
	to->last_event_tick = s->last_event_tick;
	to->pauses.done = s->pauses.done;
	return r;
}

static void free_mark(void *state)
{
	vm_slices_free(state);
}

int vm_slices_marks_new(struct marks **ret, uint64_t every)
{
	const struct marks_options o = { every, VM_MARKS_MAX, VM_MARKS_BYTES_MAX, free_mark };

	return marks_new(ret, &o);
}

static int leave_mark(struct vm_slices *s, uint64_t tick)
{
	CLEANUP(vm_slices) struct vm_slices *mark = NULL;
	size_t bytes = sizeof(*mark) + s->n_rows * (sizeof(*s->rows) + sizeof(struct vm_segment)) +
		       s->n_cores * sizeof(*s->cores);
	int r;

	if (!marks_wants(s->o.marks, tick))
		return 0;
	mark = calloc(1, sizeof(*mark));
	if (!mark)
		return -ENOMEM;
	vm_legend_init(&mark->legend);
	r = copy_state(mark, s, NULL);
	if (r == 0)
		marks_push(s->o.marks, tick, take_ptr(mark), bytes);
	return r;
}

/* --- all --- */

/* Who had the CPUs then nobody knows. */
static int put_pauses(struct vm_slices *s, uint64_t tick)
{
	uint64_t pause;
	uint32_t i;
	int r = 0;

	while (sample_pauses_next(&s->pauses, tick, &pause))
		for (i = 0; i < s->n_cores && r >= 0; i++)
			r = set_owner(s, &s->cores[i], ns_of(s, pause), NULL);
	return r;
}

static int put(struct vm_slices *s, const struct sample_item *item)
{
	uint64_t ns = ns_of(s, sample_item_tick(item));
	int r = put_pauses(s, sample_item_tick(item));

	if (r < 0)
		return r;

	if (item->type == ITEM_EVENT && item->event.tick > s->last_event_tick)
		s->last_event_tick = item->event.tick;
	if (!s->has_items)
		s->first_ns = ns;
	s->has_items = true;
	if (ns > s->last_ns)
		s->last_ns = ns;
	r = put_core(s, item, ns);
	return r < 0 ? r : vm_time_put(s->time, item);
}

/* Whether whatever comes next changes nothing in the window. */
static bool is_over(const struct vm_slices *s)
{
	const struct vm_vcpu *v;
	uint32_t i;

	for (i = 0; i < vm_time_count(s->time); i++) {
		v = vm_time_get(s->time, i);
		if (!v->is_gone && ns_of(s, v->first_tick) < s->o.to_ns &&
		    (i >= s->n_rows || s->rows[i].until_ns < s->o.to_ns))
			return false;
	}
	return true;
}

static int finish(struct vm_slices *s)
{
	uint32_t i;
	int r = vm_time_end(s->time, s->last_event_tick);

	for (i = 0; r >= 0 && i < s->n_rows; i++) {
		r = let_go(s, &s->rows[i]);
		if (r >= 0)
			r = vm_lane_end(&s->rows[i].lane);
	}
	for (i = 0; r >= 0 && i < s->n_cores; i++) {
		if (s->cores[i].is_seen)
			r = close_core(s, &s->cores[i], s->last_ns);
		if (r >= 0)
			r = vm_lane_end(&s->cores[i].lane);
	}
	return r < 0 ? r : 0;
}

static int run(struct vm_slices *s, struct error *e)
{
	struct sample_source *source = s->o.source;
	struct sample_item item;
	uint64_t behind = 0;
	int r;

	while ((r = source->ops->next(source, &item, e)) > 0) {
		if (s->o.resume && sample_item_tick(&item) < s->o.resume_tick)
			continue;
		r = marks_pace_put(&s->pace, s->o.marks, sample_item_tick(&item))
			    ? leave_mark(s, sample_item_tick(&item))
			    : 0;
		if (r == 0)
			r = put(s, &item);
		if (r == 0 && s->o.step)
			r = s->o.step(s->o.step_data);
		if (r < 0)
			return r;
		if (s->last_ns >= s->o.to_ns && behind++ % LOOK_EVERY == 0 && is_over(s))
			return finish(s);
	}
	s->is_all = true;
	return r < 0 ? r : finish(s);
}

static const struct vm_time_listener listener = { take_segment, take_sample };

static int fail(const struct vm_slices *s, int r, struct error *e)
{
	if (e->text[0])
		return r;
	if (r == -E2BIG)
		return error_set(e, E2BIG,
				 "there are more than %llu spans: a smaller width merges more",
				 (unsigned long long)s->room.most);
	return error_set(e, -r, "cannot read the virtual machines: %s", strerror(-r));
}

int vm_slices_new(struct vm_slices **ret, const struct vm_slices_options *o, struct error *e)
{
	CLEANUP(vm_slices) struct vm_slices *s = calloc(1, sizeof(*s));
	struct vm_time_options time = { &o->source->info.clock,
					(enum sample_exits)o->source->sampling.exits, &listener, s,
					&o->source->pace };
	uint64_t length = o->to_ns - o->from_ns;
	int r;

	if (!s)
		return error_set(e, ENOMEM, "cannot read the virtual machines: out of memory");
	s->o = *o;
	s->pauses.pace = &o->source->pace;
	s->error = e;
	s->min_ns = length / o->width + (length % o->width != 0);
	s->room.most = o->limit < VM_SLICES_ROWS_MAX ? o->limit : VM_SLICES_ROWS_MAX;
	vm_legend_init(&s->legend);
	e->text[0] = 0;
	r = o->resume ? copy_state(s, o->resume, &time) : vm_time_new(&s->time, &time);
	if (r == 0)
		r = run(s, e);
	if (r < 0)
		return fail(s, r, e);
	if (!vm_time_count(s->time) &&
	    (s->is_all || !(o->source->sampling.has & SAMPLE_HAS_GUESTS)))
		return error_set(e, ENODATA, "no virtual CPU was seen in it");
	s->error = NULL;
	*ret = take_ptr(s);
	return 0;
}

/* --- what came out --- */

uint64_t vm_slices_min_ns(const struct vm_slices *s)
{
	return s->min_ns;
}

const struct vm_time *vm_slices_time(const struct vm_slices *s)
{
	return s->time;
}

const struct vm_lane *vm_slices_vcpu(const struct vm_slices *s, uint32_t vcpu)
{
	const struct vm_lane *l = vcpu < s->n_rows ? &s->rows[vcpu].lane : NULL;

	return l && l->from_ns < l->to_ns ? l : NULL;
}

const struct vm_lane *vm_slices_cpu(const struct vm_slices *s, uint32_t cpu)
{
	const struct vm_lane *l = cpu < s->n_cores ? &s->cores[cpu].lane : NULL;

	return l && l->from_ns < l->to_ns ? l : NULL;
}

uint32_t vm_slices_cpus(const struct vm_slices *s)
{
	return s->n_cores;
}

struct vm_legend *vm_slices_legend(struct vm_slices *s)
{
	return &s->legend;
}

const struct vm_slices_options *vm_slices_get_options(const struct vm_slices *s)
{
	return &s->o;
}
