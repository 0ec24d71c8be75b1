/* SPDX-License-Identifier: MIT */
/* graph_settings: see graph_settings.h. */
#include "device/graph/graph_settings.h"

#include <errno.h>
#include <string.h>

#include "base/when.h"
#include "command/kernel_options.h"
#include "ftrace/graph.h"

#define NS_PER_US 1000U
#define NS_PER_MS 1000000U

const struct cli_option graph_options[] = {
	{ 'o', "output", "FILE", "the recording (kernel.dat)", NULL },
	KERNEL_OPTIONS,
	{ 's', "sched", NULL, "switches and wakings of tasks, too", NULL },
	{ 0, "no-sleep-time", NULL, "without time asleep, as trace-cmd prints it", NULL },
	{ 0, "no-graph-time", NULL, "durations without nested calls (profiler)", NULL },
	{ 0, "man", NULL, "write the manual page in roff", NULL },
	{ 0 },
};

static int get_count(const struct args *a, const char *name, uint64_t most, uint64_t *ret,
		     struct error *e)
{
	int r = args_has(a, name) ? args_get_count(a, name, ret, e) : 0;

	if (r == 0 && *ret > most)
		return error_set(e, EINVAL, "cannot use --%s %llu: %llu is the most", name,
				 (unsigned long long)*ret, (unsigned long long)most);
	return r;
}

static int get_time(const struct args *a, const char *name, uint64_t *ret_ns, struct error *e)
{
	const char *text = args_get(a, name);

	return text ? when_parse_length(text, ret_ns, e) : 0;
}

static int check_word(const char *option, const char *text, struct error *e)
{
	if (text && (!*text || strpbrk(text, ", \t\n:")))
		return error_set(e, EINVAL, "cannot use --%s \"%s\": it is not one function",
				 option, text);
	return 0;
}

int graph_settings_load(struct graph_settings *s, const struct args *a, struct error *e)
{
	uint64_t depth = 0, buffer = 8192, min_ns = 0, time_ns = 0;
	int r;

	memset(s, 0, sizeof(*s));
	s->functions = args_get(a, "tree");
	s->not_functions = args_get(a, "notree");
	s->start = args_get(a, "start");
	s->stop = args_get(a, "stop");
	s->pids = args_get(a, "pid");
	s->cpus = args_get(a, "cpu");
	s->clock = args_get(a, "clock") ? args_get(a, "clock") : "local";
	s->output = args_get(a, "output") ? args_get(a, "output") : "kernel.dat";
	s->fork = !args_has(a, "no-fork");
	s->irqs = !args_has(a, "no-irqs");
	s->sleep_time = !args_has(a, "no-sleep-time");
	s->graph_time = !args_has(a, "no-graph-time");
	s->sched = args_has(a, "sched");
	s->command = a->n_operands ? a->operands : NULL;
	s->all = args_has(a, "all") || (!s->command && !s->pids);
	r = get_count(a, "depth", GRAPH_DEPTH_MAX, &depth, e);
	if (r == 0)
		r = get_count(a, "events", UINT64_MAX, &s->calls_max, e);
	if (r == 0)
		r = get_count(a, "buffer", GRAPH_BUFFER_KIB_MAX, &buffer, e);
	if (r == 0)
		r = get_time(a, "min-time", &min_ns, e);
	if (r == 0)
		r = get_time(a, "time", &time_ns, e);
	if (r == 0)
		r = check_word("start", s->start, e);
	if (r == 0)
		r = check_word("stop", s->stop, e);
	if (r < 0)
		return r;
	if (min_ns && (min_ns < NS_PER_US || min_ns / NS_PER_US > UINT32_MAX))
		return error_set(e, EINVAL,
				 "cannot use --min-time: the kernel counts microseconds");
	if (args_has(a, "all") && s->pids)
		return error_set(e, EINVAL, "cannot use --all and --pid at once");
	s->depth = (uint32_t)depth;
	s->buffer_kib = (uint32_t)buffer;
	s->min_us = (uint32_t)(min_ns / NS_PER_US);
	s->time_ms = time_ns / NS_PER_MS;
	return 0;
}
