/* SPDX-License-Identifier: MIT */
/* vm_json: see vm_json.h. */
#include "analysis/vm_json.h"

#include <stdlib.h>

#include "analysis/json_value.h"
#include "analysis/vm_exit.h"

static void set_count(json_t *o, const char *key, uint64_t value)
{
	json_object_set_new(o, key, json_value_count(value));
}

static bool is_enough(const struct vm_json *j, size_t n)
{
	return j->limit && n >= j->limit;
}

/* --- machines --- */

static void set_sums(json_t *o, const struct vm_sums *s)
{
	json_t *classes = json_object();
	size_t i;

	for (i = 0; i < VM_CLASSES; i++)
		set_count(classes, vm_class_words[i], s->ns[i]);
	set_count(o, "wall_ns", vm_sums_wall(s));
	json_object_set_new(o, "classes_ns", classes);
	set_count(o, "steal1_ns", vm_sums_steal1(s));
	set_count(o, "steal2_ns", vm_sums_steal2(s));
	set_count(o, "sampling_ns", s->ours_ns);
	set_count(o, "entries", s->times[VM_GUEST]);
}

static json_t *vcpu_json(const struct vm_json *j, uint32_t vcpu)
{
	const struct vm_vcpu *v = vm_time_get(vm_report_time(j->report), vcpu);
	const struct vm_sums *s = vm_account_get(vm_report_account(j->report), vcpu);
	const struct vm_sums none = { 0 };
	json_t *o = json_pack("{sisi}", "vcpu", (int)v->number, "tid", (int)v->tid);

	json_object_set_new(o, "comm", json_value_comm(v->comm));
	json_object_set_new(o, "ended", json_boolean(v->is_gone));
	set_sums(o, s ? s : &none);
	return o;
}

json_t *vm_machines_json(const struct vm_json *j)
{
	const struct vm_time *t = vm_report_time(j->report);
	json_t *list = json_array();
	struct vm_sums sums;
	uint32_t i, k;

	for (i = 0; i < vm_time_count(t); i++) {
		int32_t vm = vm_time_get(t, i)->pid;
		const char *name =
			sample_spaces_comm(j->source->spaces, vm, vm_time_get(t, i)->first_tick);
		json_t *o, *vcpus;

		if (!vm_time_is_first(t, i))
			continue;
		o = json_pack("{si}", "vm", (int)vm);
		vcpus = json_array();
		for (k = i; k < vm_time_count(t); k++)
			if (vm_time_get(t, k)->pid == vm)
				json_array_append_new(vcpus, vcpu_json(j, k));
		json_object_set_new(o, "name", name ? json_value_text(name) : json_null());
		vm_report_sum(j->report, vm, &sums);
		set_sums(o, &sums);
		json_object_set_new(o, "vcpus", vcpus);
		json_array_append_new(list, o);
	}
	return list;
}

/* --- steal --- */

static void set_vcpu(json_t *o, const struct vm_json *j, uint32_t vcpu)
{
	const struct vm_vcpu *v = vm_time_get(vm_report_time(j->report), vcpu);

	json_object_set_new(o, "vm", json_integer(v->pid));
	json_object_set_new(o, "vcpu", json_integer(v->number));
	json_object_set_new(o, "tid", json_integer(v->tid));
}

static void set_reason(json_t *o, const struct vm_json *j, bool is_known, const uint64_t reason[2])
{
	char name[VM_EXIT_NAME_LEN];

	if (!is_known) {
		json_object_set_new(o, "exit", json_null());
		return;
	}
	vm_exit_format(name, (enum sample_exits)j->source->sampling.exits, reason[0], reason[1]);
	json_object_set_new(o, "exit", json_string(name));
	set_count(o, "reason", reason[0]);
}

static json_t *reasons_json(const struct vm_json *j)
{
	json_t *list = json_array();
	size_t i, n;
	const struct vm_reason **rows = vm_account_dup_reasons(vm_report_account(j->report), &n);

	if (!rows)
		return NULL;
	for (i = 0; i < n && !is_enough(j, i); i++) {
		json_t *o = json_object();

		set_vcpu(o, j, rows[i]->vcpu);
		set_reason(o, j, rows[i]->is_known,
			   (const uint64_t[]){ rows[i]->reason, rows[i]->detail });
		set_count(o, "exits", rows[i]->exits);
		set_count(o, "kernel_ns", rows[i]->kernel_ns);
		set_count(o, "user_ns", rows[i]->outside_ns);
		set_count(o, "sampling_ns", rows[i]->ours_ns);
		json_array_append_new(list, o);
	}
	free(rows);
	return list;
}

static json_t *culprits_json(const struct vm_json *j)
{
	json_t *list = json_array();
	size_t i, n;
	const struct vm_culprit **rows = vm_account_dup_culprits(vm_report_account(j->report), &n);

	if (!rows)
		return NULL;
	for (i = 0; i < n && !is_enough(j, i); i++) {
		const struct sample_task *task = &rows[i]->task;
		json_t *o = json_object(), *by = json_null();

		if (task->tid >= 0) {
			by = json_pack("{sisi}", "tid", (int)task->tid, "pid", (int)task->pid);
			json_object_set_new(by, "comm", json_value_comm(task->comm));
			json_object_set_new(by, "vcpu",
					    task->vcpu >= 0 ? json_integer(task->vcpu)
							    : json_null());
		}
		set_vcpu(o, j, rows[i]->vcpu);
		json_object_set_new(o, "by", by);
		set_count(o, "steal_ns", rows[i]->steal_ns);
		set_count(o, "waiting_ns", rows[i]->waiting_ns);
		set_count(o, "times", rows[i]->times);
		json_array_append_new(list, o);
	}
	free(rows);
	return list;
}

static json_t *host_json(const struct vm_json *j)
{
	json_t *list = json_array();
	size_t i, n;
	const struct vm_host_row **rows = vm_report_dup_host(j->report, &n);

	if (!rows)
		return NULL;
	for (i = 0; i < n && !is_enough(j, i); i++) {
		const struct function *f =
			functions_get(profile_names_functions(j->host), rows[i]->function);
		json_t *o = json_object();

		set_vcpu(o, j, rows[i]->vcpu);
		set_reason(o, j, rows[i]->is_known,
			   (const uint64_t[]){ rows[i]->reason, rows[i]->detail });
		json_object_set_new(o, "function", json_value_text(f->name));
		json_object_set_new(o, "object", json_value_text(f->object));
		set_count(o, "samples", rows[i]->samples);
		set_count(o, "weight", rows[i]->weight);
		json_array_append_new(list, o);
	}
	free(rows);
	return list;
}

json_t *vm_steal_json(const struct vm_json *j)
{
	return json_pack("{sosososo}", "machines", vm_machines_json(j), "exits", reasons_json(j),
			 "culprits", culprits_json(j), "host_functions", host_json(j));
}

/* --- true times --- */

static json_t *stat_json(const struct vm_json *j, const struct vm_stat *s, enum vm_level level)
{
	const struct vm_place *p = &s->place;
	json_t *o = json_pack("{si}", "vm", (int)vm_names_vm(j->names, p->process));

	json_object_set_new(o, "process", json_value_text(vm_names_process(j->names, p->process)));
	if (level >= VM_BY_THREAD)
		json_object_set_new(o, "thread",
				    json_value_text(vm_names_thread(j->names, p->thread)));
	if (level >= VM_BY_FUNCTION) {
		const struct function *f = vm_names_function(j->names, p->function);

		json_object_set_new(o, "function", json_value_text(f->name));
		json_object_set_new(o, "object", json_value_text(f->object));
		json_object_set_new(o, "kernel",
				    json_boolean(vm_names_is_kernel(j->names, p->function)));
	}
	set_count(o, "samples", s->samples);
	set_count(o, "true_ns", s->true_ns);
	set_count(o, "error_ns", vm_stat_error(s));
	set_count(o, "steal1_ns", s->steal1_ns);
	set_count(o, "steal2_ns", s->steal2_ns);
	set_count(o, "apparent_ns", vm_stat_apparent(s));
	return o;
}

json_t *vm_correct_json(const struct vm_json *j, enum vm_level level)
{
	const struct vm_correct *c = vm_report_correct(j->report);
	const struct vm_rest *rest = vm_correct_rest(c, level);
	json_t *list = json_array(), *nobody = json_object();
	size_t i, n;
	const struct vm_stat **rows = vm_correct_dup(c, level, &n);

	if (!rows)
		return NULL;
	for (i = 0; i < n && !is_enough(j, i); i++)
		json_array_append_new(list, stat_json(j, rows[i], level));
	free(rows);
	set_count(nobody, "true_ns", rest->true_ns);
	set_count(nobody, "steal1_ns", rest->steal1_ns);
	set_count(nobody, "steal2_ns", rest->steal2_ns);
	return json_pack("{soso}", "rows", list, "nobodys", nobody);
}

json_t *vm_report_json(const struct vm_json *j, enum vm_level level)
{
	return json_pack("{soso}", "machines", vm_machines_json(j), vm_level_words[level],
			 vm_correct_json(j, level));
}
