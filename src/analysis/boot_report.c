/* SPDX-License-Identifier: MIT */
/* boot_report: see boot_report.h. */
#include "analysis/boot_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct report_build {
	const struct boot *boot;
	struct boot_report *report;
	const struct boot_report_options *o;
	uint64_t *below; /* CPU time of each process and all below it */
};

/* --- the start of user space --- */

/* The kernel says so itself; else the first program that the first process executes. */
static uint64_t find_user(const struct boot *b)
{
	const struct boot_process *p;
	size_t i;

	for (i = 0; i < b->n_marks; i++)
		if (b->marks[i].type == BOOT_MARK_KERNEL &&
		    !strncmp(b->marks[i].text, "Run /", 5) &&
		    strstr(b->marks[i].text, " as init process"))
			return b->marks[i].ns;
	for (i = 0; i < b->n_processes; i++) {
		p = &b->processes[i];
		if (p->pid == 1 && p->n_names > 1)
			return p->names[1].from_ns;
		if (p->pid == 1)
			return p->was_there ? 0 : p->from_ns;
	}
	return 0;
}

/* --- sums --- */

static void sum_machine(struct boot_report *r, const struct boot *b)
{
	const struct boot_point *p;
	const struct boot_disk *d;
	size_t i, k;

	for (i = 0; i < b->n_points && b->points[i].ns <= r->to.ns; i++) {
		p = &b->points[i];
		r->user_cpu_ns += p->user_ns;
		r->system_ns += p->system_ns;
		r->irq_ns += p->irq_ns;
		r->iowait_ns += p->iowait_ns;
		r->idle_ns += p->idle_ns;
		r->steal_ns += p->steal_ns;
	}
	for (i = 0; i < b->n_disks; i++) {
		d = &b->disks[i];
		for (k = 0; !d->is_part && k < d->n_points && d->points[k].ns <= r->to.ns; k++) {
			r->read_bytes += d->points[k].read_bytes;
			r->written_bytes += d->points[k].written_bytes;
		}
	}
}

static bool was_looked_at(const struct boot_process *p, const struct boot *b)
{
	size_t low = 0, high = b->n_points, middle;

	if (p->n_spans > 1 || p->was_there || !b->interval_ns)
		return true;
	while (low < high) { /* the first behind its start decides */
		middle = low + (high - low) / 2;
		if (b->points[middle].ns < p->from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < b->n_points && b->points[low].ns <= p->to_ns;
}

static void count_processes(struct boot_report *r, const struct boot *b)
{
	size_t i;

	for (i = 0; i < b->n_processes; i++) {
		if (b->processes[i].from_ns > r->to.ns)
			continue;
		if (b->processes[i].is_kernel) {
			r->kernel_threads++;
			continue;
		}
		r->processes++;
		r->between += !was_looked_at(&b->processes[i], b);
	}
}

/* --- costs --- */

static uint64_t spans_until(const struct boot_process *p, uint64_t ns, bool is_disk)
{
	struct boot_span s;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < p->n_spans && p->spans[i].from_ns < ns; i++) {
		s = p->spans[i];
		if (s.to_ns > ns)
			s.to_ns = ns;
		if (!is_disk)
			sum += boot_span_ran(&s);
		else if (s.state == BOOT_DISK_WAIT)
			sum += s.to_ns - s.from_ns - boot_span_ran(&s);
	}
	return sum;
}

static uint64_t cpu_until(const struct boot_process *p, uint64_t ns)
{
	return p->to_ns <= ns ? boot_process_cpu(p) : spans_until(p, ns, false);
}

/* What the kernel counts may be more than was seen: waits are short. */
static uint64_t disk_until(const struct boot_process *p, uint64_t ns)
{
	uint64_t seen = spans_until(p, ns, true);

	if (p->to_ns > ns || p->was_there || p->account.disk_ns < seen)
		return seen;
	return p->account.disk_ns;
}

static uint64_t life_until(const struct boot_process *p, uint64_t ns)
{
	uint64_t to = p->to_ns < ns ? p->to_ns : ns;

	return to > p->from_ns ? to - p->from_ns : 0;
}

static int compare_costs(const void *pa, const void *pb)
{
	const struct boot_cost *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return (a->process > b->process) - (a->process < b->process);
}

enum cost_kind { COST_CPU, COST_DISK, COST_WAITING };

/* 0: it is not in the list. */
static uint64_t get_cost(const struct report_build *b, uint32_t i, enum cost_kind kind)
{
	const struct boot_process *p = &b->boot->processes[i];
	uint64_t to = b->report->to.ns, life = life_until(p, to);

	if (kind == COST_CPU)
		return cpu_until(p, to);
	if (kind == COST_DISK)
		return disk_until(p, to);
	if (p->is_alive || p->is_kernel || p->was_there || p->to_ns > to ||
	    b->below[i] > life / BOOT_REPORT_WAITS ||
	    p->state_ns[BOOT_SLEEPING] < life - life / BOOT_REPORT_AWAKE)
		return 0;
	return life;
}

static int list_costs(const struct report_build *b, struct boot_costs *c, enum cost_kind kind)
{
	const struct boot *boot = b->boot;
	uint64_t ns, to = b->report->to.ns;
	uint32_t i;

	c->list = calloc(boot->n_processes + 1, sizeof(*c->list));
	if (!c->list)
		return -ENOMEM;
	for (i = 0; i < boot->n_processes; i++) {
		if (boot->processes[i].is_self || boot->processes[i].from_ns >= to ||
		    (boot->processes[i].is_kernel && !b->o->kernel))
			continue;
		ns = get_cost(b, i, kind);
		if (ns && ns >= b->o->min_ns)
			c->list[c->n++] =
				(struct boot_cost){ .process = i,
						    .ns = ns,
						    .life_ns =
							    life_until(&boot->processes[i], to) };
	}
	qsort(c->list, c->n, sizeof(*c->list), compare_costs);
	return 0;
}

static int sum_below(struct report_build *b)
{
	const struct boot *boot = b->boot;
	size_t i;

	b->below = calloc(boot->n_processes + 1, sizeof(*b->below));
	if (!b->below)
		return -ENOMEM;
	for (i = boot->n_processes; i-- > 0;) { /* children first */
		b->below[i] += boot_process_cpu(&boot->processes[i]);
		if (boot->processes[i].parent != BOOT_NONE)
			b->below[boot->processes[i].parent] += b->below[i];
	}
	return 0;
}

/* --- stretches --- */

static bool is_shown(const struct report_build *b, uint32_t process)
{
	return process == BOOT_NONE || b->o->kernel || !b->boot->processes[process].is_kernel;
}

/* Kernel threads wait for whoever wants something of them. */
static int find_idles(struct report_build *b)
{
	struct boot_idle *each;
	size_t i, k, n;
	int r = boot_idles_new_until(&b->report->idles, b->boot, b->o->min_ns ? b->o->min_ns : 1,
				     b->report->to.ns);

	for (i = 0; r >= 0 && i < b->report->idles->n; i++) {
		each = &b->report->idles->list[i];
		for (k = 0, n = 0; k < each->n_waiters; k++)
			if (is_shown(b, each->waiters[k].process))
				each->waiters[n++] = each->waiters[k];
		each->n_waiters = n;
	}
	return r;
}

/* --- all --- */

static int make(struct report_build *b)
{
	struct boot_report *report = b->report;
	int r = sum_below(b);

	report->is_boot = b->boot->from_ns <= BOOT_REPORT_YOUNG_NS;
	report->user_ns = find_user(b->boot);
	sum_machine(report, b->boot);
	count_processes(report, b->boot);
	if (r >= 0)
		r = list_costs(b, &report->cpu, COST_CPU);
	if (r >= 0)
		r = list_costs(b, &report->disk, COST_DISK);
	if (r >= 0)
		r = list_costs(b, &report->waiting, COST_WAITING);
	if (r >= 0)
		r = find_idles(b);
	if (r >= 0)
		r = boot_chains_new(&report->chains, b->boot, b->o->min_ns, report->to.ns);
	free(b->below);
	return r;
}

int boot_report_new(struct boot_report **ret, const struct boot *b, const struct boot_moment *to,
		    const struct boot_report_options *o)
{
	CLEANUP(boot_report) struct boot_report *report = calloc(1, sizeof(*report));
	struct report_build build = { .boot = b, .report = report, .o = o };
	int r;

	if (!report)
		return -ENOMEM;
	report->boot = b;
	report->is_target = to || b->target_ns;
	report->to = to ? *to : boot_moment_get_target(b);
	if (report->to.ns > b->to_ns) { /* nobody knows what was then */
		report->to.ns = b->to_ns;
		report->is_target = false;
	}
	r = make(&build);
	if (r < 0)
		return r;
	*ret = take_ptr(report);
	return 0;
}

void boot_report_free(struct boot_report *r)
{
	if (!r)
		return;
	free(r->cpu.list);
	free(r->disk.list);
	free(r->waiting.list);
	boot_idles_free(r->idles);
	boot_chains_free(r->chains);
	free(r);
}
