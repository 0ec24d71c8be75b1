/* SPDX-License-Identifier: MIT */
/* vm_print: see vm_print.h. */
#include "cli/vm_print.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/table.h"
#include "cli/units.h"
#include "command/say.h"

void vm_print_head(const struct vm_reading *r)
{
	const struct vm_time *t = vm_report_time(r->report);
	uint64_t first = UINT64_MAX, last = 0;
	size_t machines = 0;
	char text[UNITS_LEN];
	uint32_t i;

	for (i = 0; i < vm_time_count(t); i++) {
		const struct vm_vcpu *v = vm_time_get(t, i);

		machines += vm_time_is_first(t, i);
		first = v->first_tick < first ? v->first_tick : first;
		last = v->end_tick > last ? v->end_tick : last;
	}
	printf("%s: %zu virtual machine%s, %zu virtual CPU%s, %s\n", r->in.path, machines,
	       machines == 1 ? "" : "s", vm_time_count(t), vm_time_count(t) == 1 ? "" : "s",
	       units_duration(clock_ns(&r->in.source->info.clock, last) -
				      clock_ns(&r->in.source->info.clock, first),
			      text));
}

const char *vm_print_vcpu(const struct vm_reading *r, uint32_t vcpu, char text[VM_PRINT_VCPU_LEN])
{
	const struct vm_vcpu *v = vm_time_get(vm_report_time(r->report), vcpu);

	if (v->number < 0)
		snprintf(text, VM_PRINT_VCPU_LEN, "%" PRId32 "/?", v->pid);
	else
		snprintf(text, VM_PRINT_VCPU_LEN, "%" PRId32 "/%" PRId32, v->pid, v->number);
	return text;
}

void vm_print_machines(const struct vm_reading *r)
{
	static const struct table_column columns[] = {
		{ "vm/vcpu", true },   { "wall", false },     { "guest%", false },
		{ "kernel%", false },  { "vmm%", false },     { "steal%", false },
		{ "waiting%", false }, { "halt%", false },    { "polling%", false },
		{ "asleep%", false },  { "unknown%", false }, { "sampling%", false },
		{ NULL, false },
	};
	static const enum vm_class order[] = { VM_GUEST, VM_KERNEL,  VM_OUTSIDE,
					       VM_STEAL, VM_WAITING, VM_HALT,
					       VM_POLL,	 VM_ASLEEP,  VM_UNKNOWN };
	CLEANUP_TABLE struct table table;
	char text[UNITS_LEN], name[VM_PRINT_VCPU_LEN];
	uint32_t i;
	size_t k;

	table_init(&table, columns);
	for (i = 0; i < vm_time_count(vm_report_time(r->report)); i++) {
		const struct vm_sums *s = vm_account_get(vm_report_account(r->report), i);
		uint64_t wall = s ? vm_sums_wall(s) : 0;

		if (!wall)
			continue;
		table_push(&table, vm_print_vcpu(r, i, name));
		table_push(&table, units_duration(wall, text));
		for (k = 0; k < sizeof(order) / sizeof(order[0]); k++)
			table_push(&table, units_percent(s->ns[order[k]], wall, text));
		table_push(&table, units_percent(s->ours_ns, wall, text));
	}
	table_print(&table, stdout, 0);
}

/* --- guests --- */

/* When, since the first virtual CPU was seen. */
static const char *format_at(const struct vm_reading *r, uint64_t tick, char text[UNITS_LEN])
{
	const struct vm_time *t = vm_report_time(r->report);
	const struct trace_clock *c = &r->in.source->info.clock;
	uint64_t first = UINT64_MAX;
	uint32_t i;

	for (i = 0; i < vm_time_count(t); i++)
		if (vm_time_get(t, i)->first_tick < first)
			first = vm_time_get(t, i)->first_tick;
	return units_duration(tick > first ? clock_ns(c, tick) - clock_ns(c, first) : 0, text);
}

static void print_refused(const struct vm_reading *r, const struct sample_link *links, size_t n)
{
	char at[UNITS_LEN];
	size_t i;

	for (i = 0; i < n; i++)
		if (links[i].what == GUEST_LINK_REFUSED)
			printf("a guest program was refused at +%s: %s\n",
			       format_at(r, links[i].tick, at), links[i].note);
}

/* How it ended with it, and whether something is missing before. */
static void print_links(const struct vm_reading *r, int32_t vm, const struct sample_link *links,
			size_t n)
{
	const struct sample_link *last = NULL, *missed = NULL;
	char at[UNITS_LEN];
	size_t i, times = 0;

	for (i = 0; i < n; i++) {
		if (links[i].what <= GUEST_LINK_REFUSED)
			last = &links[i];
		if (links[i].what != GUEST_LINK_MISSED)
			continue;
		missed = &links[i];
		times++;
	}
	if (missed)
		printf("machine %" PRId32
		       ": its guest program missed events of processes, %zu time%s, last at +%s\n",
		       vm, times, times == 1 ? "" : "s", format_at(r, missed->tick, at));
	if (!last || last->what == GUEST_LINK_TALKS)
		return;
	if (last->what == GUEST_LINK_REFUSED)
		printf("machine %" PRId32 ": its guest program is not listened to since +%s: %s\n",
		       vm, format_at(r, last->tick, at), last->note);
	else
		printf("machine %" PRId32 ": its guest program is %s since +%s\n", vm,
		       last->what == GUEST_LINK_SILENT ? "silent" : "gone",
		       format_at(r, last->tick, at));
}

static void print_guests(const struct vm_reading *r)
{
	const struct sample_guests *g = r->in.source->guests;
	const struct sample_link *links;
	size_t i, n;
	int32_t vm;

	for (i = 0; g && (vm = sample_guests_vm(g, i)) >= 0; i++) {
		n = sample_guests_links(g, vm, &links);
		if (vm)
			print_links(r, vm, links, n);
		else
			print_refused(r, links, n);
	}
}

void vm_print_rest(const struct vm_reading *r)
{
	const struct vm_losses *l = vm_report_losses(r->report);

	print_guests(r);
	if (!l->places)
		return;
	printf("%" PRIu64 " records are missing in %" PRIu64 " places", l->events, l->places);
	if (l->uncounted)
		printf(", in %" PRIu64 " of them nobody counted", l->uncounted);
	printf(": what virtual CPUs did there is unknown\n");
}

void vm_print_more(size_t shown, size_t n)
{
	if (shown < n)
		printf("%s... and %zu more; --limit 0 shows all%s\n", say_style(stdout, STYLE_DIM),
		       n - shown, say_style(stdout, STYLE_PLAIN));
}
