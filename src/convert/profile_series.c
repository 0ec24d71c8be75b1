/* SPDX-License-Identifier: MIT */
/* profile_series: see profile_series.h. */
#include "convert/profile_series.h"

#include <stdio.h>
#include <string.h>

static void describe(const void *data, uint32_t thread, struct stack_thread *ret)
{
	const struct profile_tasks *tasks = data;
	const struct profile_process *p = profile_tasks_process(tasks, thread);
	const struct profile_thread *t = tasks->threads[thread];
	char process[PROFILE_TASK_TEXT], name[PROFILE_TASK_TEXT];

	memset(ret, 0, sizeof(*ret));
	profile_process_format(p, true, process);
	profile_thread_format(t, true, name);
	snprintf(ret->title, sizeof(ret->title), "%s, %s", process, name);
	snprintf(ret->process, sizeof(ret->process), "%s", p->name);
	snprintf(ret->name, sizeof(ret->name), "%s", t->name);
	ret->pid = p->pid;
	ret->life = p->life;
	ret->tid = t->tid;
	ret->is_main = t->tid == p->pid;
}

int profile_series_init(struct stack_series *s, struct profile_list *list,
			const struct profile_walk *w, const struct profile_export_options *o,
			struct error *e)
{
	int r = profile_list_init(list, w, false, e);

	if (r < 0)
		return r;
	*s = (struct stack_series){ .list = list,
				    .functions = profile_names_functions(w->names),
				    .source = w->source,
				    .is_weighted = o->value == PROFILE_WEIGHT,
				    .is_time = w->source->sampling.method != SAMPLE_CYCLES,
				    .thread = describe,
				    .data = w->tasks };
	return 0;
}
