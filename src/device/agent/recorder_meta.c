/* SPDX-License-Identifier: MIT */
/* recorder_meta: see recorder_meta.h. */
#include "device/agent/recorder_meta.h"

#include "device/agent/tasks.h"

void recorder_meta_init(struct recorder_meta *m, const struct recorder_options *o)
{
	m->blocks.spool = o->spool;
	m->blocks.device = o->device;
	m->blocks.kind = SPOOL_EVENTS;
	m->cpus = o->cpus;
}

static int describe(struct recorder_meta *m, const struct recorder_run *run)
{
	uint8_t *p = run_meta_begin(&m->blocks);

	p = run_meta_put_machine(&m->blocks, p, run->source->ops->name, m->cpus);
	p = run_meta_put_clock(p, run->resolution_shift);
	p = meta_put_dialect(p, &run->source->dialect);
	return run_meta_put(&m->blocks, run_meta_put_agent(p), true);
}

static int put_tasks(struct recorder_meta *m, struct task_walk *w)
{
	uint8_t *p = run_meta_begin(&m->blocks);
	size_t len;
	int r;

	while ((len = task_walk_encode(w, p, SPOOL_META_MOST)) > 0) {
		r = run_meta_put(&m->blocks, p + len, true);
		if (r < 0)
			return r;
	}
	return 0;
}

int recorder_meta_put(struct recorder_meta *m, const struct recorder_run *run, uint32_t number,
		      struct error *e)
{
	struct task_walk *w;
	int r;

	m->blocks.run = number;
	r = describe(m, run);
	if (!r) {
		r = task_walk_open(&w, e);
		if (r < 0)
			return r;
		r = put_tasks(m, w);
		task_walk_free(w);
	}
	return r < 0 ? error_set(e, -r, "cannot begin a run: the spool is full") : 0;
}

int recorder_meta_put_agent(struct recorder_meta *m, uint32_t number)
{
	m->blocks.run = number;
	return run_meta_put(&m->blocks, run_meta_put_agent(run_meta_begin(&m->blocks)), true);
}
