/* SPDX-License-Identifier: MIT */
/*
 * vm_pprof: the time of virtual machines as pprof reads it: one sample for each cell, with the number of samples and true time, steal
 * of type 1 and 2, halt and all other as values. Together, without the number, they are the wall time of the virtual CPUs.
 *
 * A stack begins with the guest's function. What was stolen from it stands below it: the class, the reason of the exit and
 * the functions of the host, or who ran instead. So pprof's "cum" of a function has its steal, and "flat" who took it. Whose it is
 * (machine, virtual CPU, process, thread, class) are labels.
 */
#include <errno.h>
#include <string.h>

#include "convert/pprof.h"
#include "convert/profile_export.h"

#define SCRATCH 64U
#define SAMPLE_ROOM (VM_TREE_DEPTH_MAX * 6U + 512U)

enum value {
	VALUE_SAMPLES,
	VALUE_TRUE,
	VALUE_STEAL1,
	VALUE_STEAL2,
	VALUE_HALT,
	VALUE_OTHER,
	VALUES,
};

static const char *const value_words[VALUES] = { "samples", "true", "steal1",
						 "steal2",  "halt", "other" };

static const uint8_t value_of[VM_CLASSES] = {
	[VM_UNKNOWN] = VALUE_OTHER,  [VM_GUEST] = VALUE_TRUE,	[VM_KERNEL] = VALUE_STEAL2,
	[VM_OUTSIDE] = VALUE_STEAL2, [VM_STEAL] = VALUE_STEAL1, [VM_WAITING] = VALUE_STEAL1,
	[VM_HALT] = VALUE_HALT,	     [VM_POLL] = VALUE_HALT,	[VM_ASLEEP] = VALUE_OTHER,
};

/* Numbers of the strings that samples need. */
struct words {
	uint64_t vm, vcpu, process, thread, kind, count, ns;
	uint64_t values[VALUES];
};

struct writer {
	struct vm_tree tree;
	struct pprof file;
	struct words words;
	uint64_t from_ns, to_ns;
};

static int put_types(struct writer *x)
{
	struct words *w = &x->words;
	const struct pprof_word list[] = {
		{ "vm", &w->vm },	   { "vcpu", &w->vcpu },  { "process", &w->process },
		{ "thread", &w->thread },  { "class", &w->kind }, { "count", &w->count },
		{ "nanoseconds", &w->ns },
	};
	int r = pprof_intern_all(&x->file, list, sizeof(list) / sizeof(list[0])), i;

	for (i = 0; r >= 0 && i < VALUES; i++) {
		r = pprof_intern(&x->file, value_words[i], &w->values[i]);
		if (r >= 0)
			r = pprof_put_type(&x->file, PPROF_SAMPLE_TYPE, w->values[i],
					   i == VALUE_SAMPLES ? w->count : w->ns);
	}
	return r;
}

/* --- samples --- */

/* A label; what is not known has none. */
static int add_label(struct writer *x, struct proto *m, uint64_t key, const char *text)
{
	uint64_t number = 0;
	int r = text && *text ? pprof_intern(&x->file, text, &number) : 0;

	if (r >= 0 && number)
		pprof_add_label(m, key, number, 0);
	return r;
}

static int add_labels(struct writer *x, struct proto *m, const struct vm_cell *c)
{
	const struct vm_names *names = x->tree.o.names;
	const struct words *w = &x->words;
	char text[VM_TREE_NAME_LEN];
	int r = add_label(x, m, w->vm, vm_tree_machine(&x->tree, c->vcpu, text));

	if (r >= 0)
		r = add_label(x, m, w->vcpu, vm_tree_vcpu(&x->tree, c->vcpu, text));
	if (r >= 0 && c->level >= VM_BY_PROCESS)
		r = add_label(x, m, w->process, vm_names_process(names, c->place.process));
	if (r >= 0 && c->level >= VM_BY_THREAD)
		r = add_label(x, m, w->thread, vm_names_thread(names, c->place.thread));
	return r < 0 ? r : add_label(x, m, w->kind, vm_class_words[c->kind]);
}

static int put_cell(struct writer *x, const struct vm_cell *c)
{
	uint8_t bytes[SAMPLE_ROOM];
	struct proto m = { .data = bytes, .room = sizeof(bytes) };
	uint64_t values[VALUES] = { [VALUE_SAMPLES] = c->samples };
	struct vm_path path = { .n = 0 };
	size_t mark, i;
	int r = vm_tree_path(&x->tree, c, &path);

	if (r < 0)
		return r;
	values[value_of[c->kind]] = c->ns;
	mark = proto_begin(&m, PPROF_SAMPLE, 4);
	for (i = path.n; i > 0; i--)
		proto_uint(&m, 1, (uint64_t)path.keys[i - 1] + 1);
	for (i = 0; i < VALUES; i++)
		proto_uint(&m, 2, values[i]);
	r = add_labels(x, &m, c);
	proto_end(&m, mark, 4);
	return r < 0 ? r : pprof_put(&x->file, &m);
}

/* --- all of it --- */

static void find_times(struct writer *x)
{
	const struct vm_time *t = vm_report_time(x->tree.o.report);
	const struct trace_clock *clock = &x->tree.o.source->info.clock;
	uint64_t from_ns, to_ns;
	uint32_t i;

	x->from_ns = UINT64_MAX;
	for (i = 0; i < vm_time_count(t); i++) {
		from_ns = clock_ns(clock, vm_time_get(t, i)->first_tick);
		to_ns = clock_ns(clock, vm_time_get(t, i)->end_tick);
		x->from_ns = from_ns < x->from_ns ? from_ns : x->from_ns;
		x->to_ns = to_ns > x->to_ns ? to_ns : x->to_ns;
	}
}

static int put_end(struct writer *x)
{
	const struct trace_clock *c = &x->tree.o.source->info.clock;
	uint8_t bytes[SCRATCH];
	struct proto m = { .data = bytes, .room = sizeof(bytes) };
	int r = pprof_put_type(&x->file, PPROF_PERIOD_TYPE, x->words.values[VALUE_TRUE],
			       x->words.ns);

	find_times(x);
	if (c->has_realtime)
		proto_int(&m, PPROF_TIME, (int64_t)(x->from_ns + (uint64_t)c->realtime_off_ns));
	proto_uint(&m, PPROF_DURATION, x->to_ns - x->from_ns);
	proto_uint(&m, PPROF_PERIOD, x->tree.o.source->sampling.period);
	proto_uint(&m, PPROF_DEFAULT_TYPE, x->words.values[VALUE_TRUE]);
	if (r >= 0)
		r = pprof_put(&x->file, &m);
	return r < 0 ? r : pprof_finish(&x->file);
}

static int put_profile(struct writer *x)
{
	const struct vm_cells *cells = vm_report_cells(x->tree.o.report);
	size_t n = vm_cells_count(cells), i;
	int r = put_types(x);

	for (i = 0; r >= 0 && i < n; i++) {
		const struct vm_cell *c = vm_cells_get(cells, i);

		if (c->ns || c->samples)
			r = put_cell(x, c);
	}
	for (i = 0; r >= 0 && i < x->tree.functions.n; i++)
		r = pprof_put_plain(&x->file, i + 1,
				    functions_get(&x->tree.functions, (uint32_t)i));
	return r < 0 ? r : put_end(x);
}

int vm_pprof_write(const struct vm_tree_options *o, struct outfile *out, struct error *e)
{
	struct vm_tree_options mine = *o;
	struct writer x = { 0 };
	int r;

	mine.shape = (struct vm_shape){ .is_struck = true };
	if (pprof_init(&x.file, out) < 0)
		return error_set(e, ENOMEM, "cannot write the profile: out of memory");
	r = vm_tree_init(&x.tree, &mine);
	if (r >= 0)
		r = put_profile(&x);
	vm_tree_done(&x.tree);
	pprof_done(&x.file);
	if (r < 0)
		return error_set(e, -r, "cannot write the profile: %s", strerror(-r));
	return outfile_check(out, e);
}
