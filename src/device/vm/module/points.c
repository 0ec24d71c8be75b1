/* SPDX-License-Identifier: GPL-2.0-only */
/* points: see points.h. */
#include "device/vm/module/points.h"

#include <linux/module.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

static void open_one(struct points *p, struct tracepoint *point)
{
	u32 i;
	int error;

	for (i = 0; p->probes[i].name; i++) {
		if (p->point[i] || strcmp(point->name, p->probes[i].name))
			continue;
		error = tracepoint_probe_register(point, p->probes[i].function, p->data);
		if (!error)
			p->point[i] = point;
		else if (!p->error)
			p->error = error;
	}
}

static void close_one(struct points *p, u32 i)
{
	if (p->point[i])
		tracepoint_probe_unregister(p->point[i], p->probes[i].function, p->data);
	p->point[i] = NULL;
}

static void look_at(struct tracepoint *point, void *data)
{
	open_one(data, point);
}

#ifdef CONFIG_MODULES
static void leave_module(struct points *p, struct tracepoint *point)
{
	u32 i;

	for (i = 0; p->probes[i].name; i++) {
		if (p->point[i] != point)
			continue;
		close_one(p, i);
		if (p->left)
			p->left(p->data);
	}
}

static int hear_of_module(struct notifier_block *n, unsigned long state, void *data)
{
	struct points *p = container_of(n, struct points, modules);
	const struct tp_module *m = data;
	int i;

	for (i = 0; i < m->mod->num_tracepoints; i++) {
		struct tracepoint *point = tracepoint_ptr_deref(&m->mod->tracepoints_ptrs[i]);

		if (state == MODULE_STATE_COMING)
			open_one(p, point);
		else if (state == MODULE_STATE_GOING)
			leave_module(p, point);
	}
	return NOTIFY_OK;
}

static int open_modules(struct points *p)
{
	p->modules.notifier_call = hear_of_module;
	return register_tracepoint_module_notifier(&p->modules);
}

static void close_modules(struct points *p)
{
	if (p->modules.notifier_call)
		unregister_tracepoint_module_notifier(&p->modules);
	p->modules.notifier_call = NULL;
}
#else
static int open_modules(struct points *p)
{
	return 0;
}

static void close_modules(struct points *p)
{
}
#endif

int points_open(struct points *p, const struct points_probe *probes, void (*left)(void *),
		void *data)
{
	u32 i;
	int error;

	memset(p, 0, sizeof(*p));
	p->left = left;
	p->probes = probes;
	p->data = data;
	for_each_kernel_tracepoint(look_at, p);
	error = open_modules(p);
	for (i = 0; probes[i].name && !error; i++)
		if (probes[i].is_needed && !p->point[i])
			error = -ENOENT;
	if (!error)
		error = p->error;
	if (error)
		points_close(p);
	return error;
}

void points_close(struct points *p)
{
	u32 i;

	if (!p->probes)
		return;
	close_modules(p);
	for (i = 0; p->probes[i].name; i++)
		close_one(p, i);
	p->probes = NULL;
	tracepoint_synchronize_unregister();
}
