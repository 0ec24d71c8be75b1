/* SPDX-License-Identifier: MIT */
/* boot_report_json: see boot_report_json.h. */
#include "analysis/boot_report_json.h"

#include <stdio.h>

#include "analysis/json_value.h"

static void set_count(json_t *o, const char *key, uint64_t value)
{
	json_object_set_new(o, key, json_value_count(value));
}

static void set_known(json_t *o, const char *key, uint64_t value, bool known)
{
	json_object_set_new(o, key, known ? json_value_count(value) : json_null());
}

static void set_text(json_t *o, const char *key, const char *text)
{
	json_object_set_new(o, key, text && *text ? json_value_text(text) : json_null());
}

static void set_who(json_t *o, const struct boot_process *p)
{
	const struct boot_name *name = boot_process_name(p);

	json_object_set_new(o, "pid", json_integer(p->pid));
	json_object_set_new(o, "comm", json_value_comm(name->comm));
	set_text(o, "args", name->args);
}

/* Who it is; null: nobody. */
static json_t *who_json(const struct boot *b, uint32_t process)
{
	json_t *o;

	if (process >= b->n_processes)
		return json_null();
	o = json_object();
	set_who(o, &b->processes[process]);
	return o;
}

static json_t *process_json(const struct boot *b, uint32_t process)
{
	const struct boot_process *p;
	json_t *o = who_json(b, process);
	int i;

	if (process >= b->n_processes)
		return o;
	p = &b->processes[process];
	json_object_set_new(o, "parent_pid", json_integer(p->parent_pid));
	json_object_set_new(o, "kernel", json_boolean(p->is_kernel));
	set_known(o, "from_ns", p->from_ns, !p->was_there);
	set_known(o, "to_ns", p->to_ns, !p->is_alive);
	set_count(o, "from_error_ns", p->from_error_ns);
	set_count(o, "to_error_ns", p->to_error_ns);
	json_object_set_new(o, "exit_code",
			    p->exit_code < 0 ? json_null() : json_integer(p->exit_code));
	set_count(o, "cpu_ns", boot_process_cpu(p));
	for (i = 0; i < BOOT_STATES; i++) {
		char key[24] = "";

		snprintf(key, sizeof(key), "%s_ns", boot_state_words[i]);
		set_count(o, key, p->state_ns[i]);
	}
	return o;
}

/* --- the report --- */

static json_t *costs_json(const struct boot_report *r, const struct boot_costs *c, uint64_t limit)
{
	json_t *list = json_array(), *o;
	size_t i;

	for (i = 0; i < c->n && (!limit || i < limit); i++) {
		o = process_json(r->boot, c->list[i].process);
		set_count(o, "cost_ns", c->list[i].ns);
		set_count(o, "life_ns", c->list[i].life_ns);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *waiter_json(const struct boot *b, const struct boot_waiter *w)
{
	json_t *o = who_json(b, w->process);

	json_object_set_new(o, "state", json_string(boot_state_words[w->state]));
	set_count(o, "waited_ns", w->waited_ns);
	json_object_set_new(o, "woken_by", who_json(b, w->whom));
	json_object_set_new(o, "by_interrupt", json_boolean(w->whom == BOOT_INTERRUPT));
	set_text(o, "where", w->where && w->where < b->n_texts ? b->texts[w->where] : NULL);
	return o;
}

static json_t *idles_json(const struct boot_report *r, uint64_t limit)
{
	json_t *list = json_array(), *waiters, *o;
	const struct boot_idle *each;
	size_t i, k;

	for (i = 0; i < r->idles->n && (!limit || i < limit); i++) {
		each = &r->idles->list[i];
		waiters = json_array();
		for (k = 0; k < each->n_waiters; k++)
			json_array_append_new(waiters, waiter_json(r->boot, &each->waiters[k]));
		o = json_object();
		set_count(o, "from_ns", each->from_ns);
		set_count(o, "to_ns", each->to_ns);
		set_count(o, "busy_permille", each->busy_permille);
		json_object_set_new(o, "disk", json_boolean(each->is_disk));
		json_object_set_new(o, "ended_by", who_json(r->boot, each->ended_by));
		json_object_set_new(o, "waiters", waiters);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *chains_json(const struct boot_report *r, uint64_t limit)
{
	json_t *list = json_array(), *members, *o;
	const struct boot_chain *each;
	size_t i, k;

	for (i = 0; i < r->chains->n && (!limit || i < limit); i++) {
		each = &r->chains->list[i];
		members = json_array();
		for (k = 0; k < each->n; k++)
			json_array_append_new(members, process_json(r->boot, each->members[k]));
		o = json_object();
		json_object_set_new(o, "parent", who_json(r->boot, each->parent));
		set_count(o, "from_ns", each->from_ns);
		set_count(o, "to_ns", each->to_ns);
		set_count(o, "sum_ns", each->sum_ns);
		set_count(o, "longest_ns", each->longest_ns);
		set_count(o, "busy_permille", each->busy_permille);
		json_object_set_new(o, "members", members);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *path_json(const struct boot *b, const struct boot_path *path)
{
	json_t *list, *o;
	size_t i;
	int k;

	if (!path)
		return json_null();
	list = json_array();
	for (i = 0; i < path->n_steps; i++) {
		o = who_json(b, path->steps[i].process);
		if (json_is_null(o))
			o = json_object();
		set_count(o, "from_ns", path->steps[i].from_ns);
		set_count(o, "to_ns", path->steps[i].to_ns);
		json_object_set_new(o, "state",
				    json_string(boot_state_words[path->steps[i].state]));
		for (k = 0; k < BOOT_STATES; k++) {
			char key[24] = "";

			snprintf(key, sizeof(key), "%s_ns", boot_state_words[k]);
			set_count(o, key, path->steps[i].state_ns[k]);
		}
		json_object_set_new(o, "inferred", json_boolean(path->steps[i].is_inferred));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *gaps_json(const struct boot *b)
{
	json_t *list = json_array(), *o;
	size_t i;

	for (i = 0; i < b->n_gaps; i++) {
		o = json_object();
		set_count(o, "from_ns", b->gaps[i].from_ns);
		set_count(o, "to_ns", b->gaps[i].to_ns);
		set_text(o, "why", b->gaps[i].why);
		json_array_append_new(list, o);
	}
	return list;
}

/* What the whole is about. */
static json_t *boot_head_json(const struct boot *b)
{
	json_t *o = json_object();

	set_text(o, "device", b->device);
	set_text(o, "kernel", b->kernel);
	set_text(o, "machine", b->machine);
	set_text(o, "release", b->release);
	set_text(o, "command_line", b->command_line);
	set_count(o, "cpus", b->cpus);
	set_count(o, "from_ns", b->from_ns);
	set_count(o, "to_ns", b->to_ns);
	set_known(o, "interval_ns", b->interval_ns, b->interval_ns > 0);
	set_known(o, "target_ns", b->target_ns, b->target_ns > 0);
	set_text(o, "target", b->target);
	json_object_set_new(o, "exact", json_boolean(b->is_exact));
	json_object_set_new(o, "events", json_boolean(b->has_events));
	json_object_set_new(o, "cut", json_boolean(b->is_cut));
	json_object_set_new(o, "gaps", gaps_json(b));
	return o;
}

json_t *boot_report_json(const struct boot_report *r, const struct boot_path *path, uint64_t limit)
{
	json_t *o = json_object(), *machine = json_object();

	json_object_set_new(o, "report", json_string("boot"));
	json_object_set_new(o, "boot", boot_head_json(r->boot));
	set_count(o, "to_ns", r->to.ns);
	set_text(o, "to", r->to.text);
	json_object_set_new(o, "reached", json_boolean(r->is_target));
	set_known(o, "user_space_ns", r->user_ns, r->user_ns > 0);
	set_count(o, "processes", r->processes);
	set_count(o, "processes_between_passes", r->between);
	set_count(o, "kernel_threads", r->kernel_threads);
	set_count(machine, "user_ns", r->user_cpu_ns);
	set_count(machine, "system_ns", r->system_ns);
	set_count(machine, "irq_ns", r->irq_ns);
	set_count(machine, "iowait_ns", r->iowait_ns);
	set_count(machine, "idle_ns", r->idle_ns);
	set_count(machine, "steal_ns", r->steal_ns);
	set_count(machine, "read_bytes", r->read_bytes);
	set_count(machine, "written_bytes", r->written_bytes);
	json_object_set_new(o, "machine", machine);
	json_object_set_new(o, "cpu", costs_json(r, &r->cpu, limit));
	json_object_set_new(o, "disk", costs_json(r, &r->disk, limit));
	json_object_set_new(o, "waiting", costs_json(r, &r->waiting, limit));
	json_object_set_new(o, "idle", idles_json(r, limit));
	json_object_set_new(o, "chains", chains_json(r, limit));
	json_object_set_new(o, "path", path_json(r->boot, path));
	return o;
}

/* --- the comparison --- */

static bool differs(const struct boot_pair *p, uint64_t min_ns)
{
	const int64_t by[] = { p->start_ns, p->end_ns, p->length_ns, p->cpu_ns, p->disk_ns };
	size_t i;

	for (i = 0; i < sizeof(by) / sizeof(*by); i++)
		if (by[i] && (by[i] < 0 ? -(uint64_t)by[i] : (uint64_t)by[i]) >= min_ns)
			return true;
	return p->a == BOOT_NONE || p->b == BOOT_NONE;
}

static bool is_kernel(const struct boot_diff *d, const struct boot_pair *p)
{
	return p->b != BOOT_NONE ? d->b->processes[p->b].is_kernel
				 : d->a->processes[p->a].is_kernel;
}

json_t *boot_diff_json(const struct boot_diff *d, const struct boot_diff_json_options *o)
{
	json_t *list = json_array(), *row;
	const struct boot_pair *p;
	size_t i;

	for (i = 0; i < d->n_pairs && (!o->limit || json_array_size(list) < o->limit); i++) {
		p = &d->pairs[i];
		if (!differs(p, o->min_ns) || (is_kernel(d, p) && !o->kernel))
			continue;
		row = json_object();
		json_object_set_new(row, "before", process_json(d->a, p->a));
		json_object_set_new(row, "after", process_json(d->b, p->b));
		json_object_set_new(row, "start_change_ns", json_integer(p->start_ns));
		json_object_set_new(row, "end_change_ns", json_integer(p->end_ns));
		json_object_set_new(row, "length_change_ns", json_integer(p->length_ns));
		json_object_set_new(row, "cpu_change_ns", json_integer(p->cpu_ns));
		json_object_set_new(row, "disk_change_ns", json_integer(p->disk_ns));
		json_array_append_new(list, row);
	}
	row = json_pack("{ss so so sI sb so}", "report", "boot diff", "before",
			boot_head_json(d->a), "after", boot_head_json(d->b), "target_change_ns",
			(json_int_t)d->target_ns, "target", d->a->target_ns && d->b->target_ns,
			"processes", list);
	if (row) {
		set_count(row, "new", d->n_new);
		set_count(row, "gone", d->n_gone);
	}
	return row;
}
