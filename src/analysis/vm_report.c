/* SPDX-License-Identifier: MIT */
/* vm_report: see vm_report.h. */
#include "analysis/vm_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/hashtable.h"

/* Of a virtual CPU in a mark: its open segments, its sums and what was told of it, about. */
#define MARK_VCPU_BYTES                                                                            \
	(4 * sizeof(struct vm_segment) + 2 * sizeof(struct sample_event) + sizeof(struct vm_sums))

struct vm_report {
	struct vm_report_options o;
	struct vm_time *time;
	struct vm_account *account;
	struct vm_correct *correct;
	struct vm_cells *cells; /* NULL: nobody asked for them */
	struct hashtable host;
	struct vm_losses losses;
	uint64_t events;
	uint64_t last_event_tick;
	uint64_t lost_to_tick; /* what is lost so far ends here */
	struct marks_pace pace;
	struct error *error; /* of the run, while it goes on */
};

void vm_report_free(struct vm_report *r)
{
	size_t at = 0;
	void *row;

	if (!r)
		return;
	while ((row = hashtable_next(&r->host, &at)))
		free(row);
	hashtable_done(&r->host);
	vm_time_free(r->time);
	vm_account_free(r->account);
	vm_correct_free(r->correct);
	vm_cells_free(r->cells);
	free(r);
}

/* --- what the VMM did --- */

static bool is_host_row(const void *entry, const void *key)
{
	const struct vm_host_row *a = entry, *b = key;

	return a->vcpu == b->vcpu && a->function == b->function && a->is_known == b->is_known &&
	       a->reason == b->reason;
}

static int put_host(struct vm_report *r, const struct vm_segment *now,
		    const struct sample_item *item)
{
	const struct sample_event *ev = &item->event;
	struct vm_host_row like = { .vcpu = now->vcpu, .is_known = now->has_reason }, *row;
	uint64_t hash;
	uint32_t place;
	int ret;

	if (!ev->n_kernel && !ev->n_user)
		return 0;
	ret = profile_names_find_chain(r->o.host, ev, 0, &place);
	if (ret < 0)
		return ret;
	like.function = profile_names_get(r->o.host, place)->function;
	if (now->has_reason) {
		like.reason = now->reason;
		like.detail = now->detail;
	}
	hash = hashtable_hash_number(like.function + ((uint64_t)now->vcpu << 32)) ^
	       hashtable_hash_number(like.reason);
	row = hashtable_get(&r->host, hash, is_host_row, &like);
	if (!row) {
		row = malloc(sizeof(*row));
		ret = row ? hashtable_add(&r->host, hash, row) : -ENOMEM;
		if (ret < 0) {
			free(row);
			return ret;
		}
		*row = like;
	}
	row->samples++;
	row->weight += ev->weight;
	return 0;
}

/* All functions of it, for the cells. */
static int put_stack(struct vm_report *r, const struct vm_segment *now,
		     const struct sample_event *ev)
{
	uint32_t functions[SAMPLE_CHAIN_MAX], n = (uint32_t)ev->n_kernel + ev->n_user, i, place;
	struct vm_host_stack stack = { functions, n, ev->tick, ev->weight };
	int ret = 0;

	for (i = 0; i < n && ret >= 0; i++) {
		ret = profile_names_find_chain(r->o.host, ev, i, &place);
		if (ret >= 0)
			functions[n - 1 - i] = profile_names_get(r->o.host, place)->function;
	}
	return ret < 0 ? ret : vm_cells_put_host(r->cells, now, &stack);
}

/* --- the pass --- */

static bool is_inside(const struct vm_report *r, uint64_t tick)
{
	uint64_t ns = clock_ns(&r->o.source->info.clock, tick);

	return ns >= r->o.from_ns && ns < r->o.to_ns;
}

static int take_segment(void *data, const struct vm_segment *s)
{
	struct vm_report *r = data;
	int ret = vm_account_put(r->account, s);

	if (ret >= 0 && r->cells)
		ret = vm_cells_put_segment(r->cells, s);
	return ret < 0 ? ret : vm_correct_put_segment(r->correct, s);
}

static int take_sample(void *data, const struct vm_segment *now, const struct sample_item *item)
{
	struct vm_report *r = data;
	int ret;

	if (item->event.guest)
		return vm_correct_put_sample(r->correct, now->vcpu, item);
	if (!is_inside(r, item->event.tick))
		return 0;
	ret = r->o.cells_only ? 0 : put_host(r, now, item);
	return ret < 0 || !r->cells ? ret : put_stack(r, now, &item->event);
}

static int take_charge(void *data, const struct vm_charge *charge)
{
	struct vm_report *r = data;

	return r->cells ? vm_cells_charge(r->cells, charge) : 0;
}

static int take_place(void *data, uint32_t vcpu, const struct sample_event *ev,
		      struct vm_place *ret)
{
	struct vm_report *r = data;

	return vm_names_find(r->o.names, vm_time_get(r->time, vcpu)->pid, ev, ret, r->error);
}

static void count_loss(struct vm_report *r, const struct trace_loss *l)
{
	if (l->to_tick > r->lost_to_tick)
		r->lost_to_tick = l->to_tick;
	if (!is_inside(r, l->from_tick) && !is_inside(r, l->to_tick))
		return;
	r->losses.places++;
	if (l->count == LOSS_UNKNOWN)
		r->losses.uncounted++;
	else
		r->losses.events += l->count;
}

/* --- marks --- */

struct state_options {
	const struct vm_time_options *time;
	const struct vm_account_options *account;
	const struct vm_correct_options *correct;
};

/* All but what was added up, into one that has nothing yet. */
static int copy_state(struct vm_report *to, const struct vm_report *r,
		      const struct state_options *o)
{
	int ret = vm_time_dup(&to->time, r->time, o->time);

	if (ret == 0)
		ret = vm_account_dup_state(&to->account, r->account, o->account);
	if (ret == 0)
		ret = vm_correct_dup_state(&to->correct, r->correct, o->correct);
	to->last_event_tick = r->last_event_tick;
	to->pace.last_tick = r->pace.last_tick;
	return ret;
}

static void free_mark(void *state)
{
	vm_report_free(state);
}

int vm_report_marks_new(struct marks **ret, uint64_t every)
{
	const struct marks_options o = { every, VM_MARKS_MAX, VM_MARKS_BYTES_MAX, free_mark };

	return marks_new(ret, &o);
}

/* Not while records are missing: a window behind the mark would have to know of the gap that reaches into it. */
static int leave_mark(struct vm_report *r, uint64_t tick)
{
	static const struct state_options kept;
	CLEANUP(vm_report) struct vm_report *mark = NULL;
	int ret;

	if (tick <= r->lost_to_tick || !marks_wants(r->o.marks, tick))
		return 0;
	mark = calloc(1, sizeof(*mark));
	if (!mark)
		return -ENOMEM;
	hashtable_init(&mark->host, 1);
	ret = copy_state(mark, r, &kept);
	if (ret == 0)
		marks_push(r->o.marks, tick, take_ptr(mark),
			   sizeof(*mark) + vm_time_count(r->time) * MARK_VCPU_BYTES);
	return ret;
}

/* --- all --- */

static void count_event(struct vm_report *r, uint64_t tick)
{
	r->events += is_inside(r, tick);
	if (tick > r->last_event_tick)
		r->last_event_tick = tick;
}

static int put(struct vm_report *r, const struct sample_item *item)
{
	int ret = 0;

	if (clock_ns(&r->o.source->info.clock, sample_item_tick(item)) >= r->o.from_ns)
		ret = vm_correct_begin(r->correct);
	if (item->type == ITEM_LOSS)
		count_loss(r, &item->loss);
	else
		count_event(r, item->event.tick);
	return ret < 0 ? ret : vm_time_put(r->time, item);
}

int vm_report_put(struct vm_report *r, const struct sample_item *item)
{
	uint64_t tick = sample_item_tick(item);
	int ret;

	if (r->o.resume && tick < r->o.resume_tick)
		return 0;
	ret = marks_pace_put(&r->pace, r->o.marks, tick) ? leave_mark(r, tick) : 0;
	return ret < 0 ? ret : put(r, item);
}

static int run(struct vm_report *r, struct error *e)
{
	struct sample_source *s = r->o.source;
	struct sample_item item;
	int ret;

	while ((ret = s->ops->next(s, &item, e)) > 0) {
		ret = vm_report_put(r, &item);
		if (ret == 0 && r->o.step)
			ret = r->o.step(r->o.step_data);
		if (ret < 0)
			return ret;
	}
	return ret;
}

static int finish(struct vm_report *r)
{
	int ret = vm_time_end(r->time, r->last_event_tick);

	if (ret >= 0)
		ret = vm_correct_end(r->correct);
	return ret < 0 || !r->cells ? ret : vm_cells_end(r->cells);
}

static const struct vm_time_listener listener = { take_segment, take_sample };

static int open_parts(struct vm_report *r)
{
	const struct sample_source *s = r->o.source;
	const struct vm_report *before = r->o.resume;
	enum sample_exits exits = (enum sample_exits)s->sampling.exits;
	struct vm_time_options time = { &s->info.clock, exits, &listener, r, &s->pace };
	struct vm_account_options account = { &s->info.clock, exits, r->o.from_ns, r->o.to_ns,
					      r->o.cells_only };
	struct vm_correct_options correct = {
		&s->info.clock, r->o.from_ns,	r->o.to_ns, take_place, r,
		take_charge,	r->o.cells_only
	};
	struct vm_cells_options cells = { &s->info.clock, exits, r->o.from_ns, r->o.to_ns,
					  r->o.with_spans };
	int ret = r->o.with_cells ? vm_cells_new(&r->cells, &cells) : 0;

	if (ret == 0 && before)
		return copy_state(r, before, &(struct state_options){ &time, &account, &correct });
	if (ret == 0)
		ret = vm_time_new(&r->time, &time);
	if (ret == 0)
		ret = vm_account_new(&r->account, &account);
	return ret < 0 ? ret : vm_correct_new(&r->correct, &correct);
}

int vm_report_explain(const struct vm_report *r, int failed, struct error *e)
{
	if (failed == -E2BIG && r->o.with_spans && !e->text[0])
		return error_set(e, E2BIG,
				 "cannot list the time of virtual CPUs: too many moments; choose "
				 "a part of the time");
	return e->text[0] ? failed : error_set(e, -failed, "cannot analyse virtual machines");
}

int vm_report_begin(struct vm_report **ret, const struct vm_report_options *o, struct error *e)
{
	CLEANUP(vm_report) struct vm_report *r = calloc(1, sizeof(*r));
	int failed;

	if (!r)
		return error_set(e, ENOMEM, "cannot analyse virtual machines: out of memory");
	r->o = *o;
	r->o.to_ns = o->to_ns ? o->to_ns : UINT64_MAX;
	r->error = e;
	hashtable_init(&r->host, VM_HOST_ROWS_MAX);
	e->text[0] = 0;
	failed = open_parts(r);
	if (failed < 0)
		return vm_report_explain(r, failed, e);
	*ret = take_ptr(r);
	return 0;
}

int vm_report_end(struct vm_report *r, struct error *e)
{
	int failed = finish(r);

	r->error = NULL;
	if (failed < 0)
		return vm_report_explain(r, failed, e);
	if (!vm_time_count(r->time))
		return error_set(e, ENODATA, "no virtual CPU was seen in it");
	return 0;
}

int vm_report_new(struct vm_report **ret, const struct vm_report_options *o, struct error *e)
{
	CLEANUP(vm_report) struct vm_report *r = NULL;
	int failed = vm_report_begin(&r, o, e);

	if (failed < 0)
		return failed;
	failed = run(r, e);
	if (failed < 0)
		return vm_report_explain(r, failed, e);
	failed = vm_report_end(r, e);
	if (failed < 0)
		return failed;
	*ret = take_ptr(r);
	return 0;
}

/* --- what came out --- */

const struct vm_time *vm_report_time(const struct vm_report *r)
{
	return r->time;
}

const struct vm_account *vm_report_account(const struct vm_report *r)
{
	return r->account;
}

const struct vm_correct *vm_report_correct(const struct vm_report *r)
{
	return r->correct;
}

const struct vm_cells *vm_report_cells(const struct vm_report *r)
{
	return r->cells;
}

const struct vm_losses *vm_report_losses(const struct vm_report *r)
{
	return &r->losses;
}

uint64_t vm_report_events(const struct vm_report *r)
{
	return r->events;
}

static int compare_host(const void *x, const void *y)
{
	const struct vm_host_row *a = *(const struct vm_host_row *const *)x;
	const struct vm_host_row *b = *(const struct vm_host_row *const *)y;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	if (a->vcpu != b->vcpu)
		return a->vcpu < b->vcpu ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

const struct vm_host_row **vm_report_dup_host(const struct vm_report *r, size_t *ret_n)
{
	const struct vm_host_row **list = calloc(r->host.n + 1, sizeof(*list));
	size_t at = 0, n = 0;

	if (!list)
		return NULL;
	while (n < r->host.n && (list[n] = hashtable_next(&r->host, &at)))
		n++;
	qsort(list, n, sizeof(*list), compare_host);
	*ret_n = n;
	return list;
}

void vm_report_sum(const struct vm_report *r, int32_t vm, struct vm_sums *ret)
{
	const struct vm_sums *s;
	uint32_t i;

	memset(ret, 0, sizeof(*ret));
	for (i = 0; i < vm_time_count(r->time); i++) {
		s = vm_account_get(r->account, i);
		if (s && (!vm || vm_time_get(r->time, i)->pid == vm))
			vm_sums_add(ret, s);
	}
}
