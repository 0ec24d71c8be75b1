/* SPDX-License-Identifier: MIT */
/*
 * func_child: see func_child.h. The frames are those of child_frame.h: a TASK for each name of the process, with its text, and
 * for each thread; an INFO, the clock with the origin behind it; ITEMs, each a call, or a loss; an END.
 */
#include "convert/func_child.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"

/* Of a reader, beside its file: records have more bytes than their text. */
#define CHILD_MEMORY (2ULL << 30)
#define CHILD_FACTOR 16U
#define NAME_MAX_LEN 4096U

struct func_child {
	struct func_source base;
	func_child_fn open;
	struct import_bytes bytes;
	bool is_known;		   /* the tables are there: others have pointers into them */
	size_t n_names, n_threads; /* that came */
	bool at_end, is_fresh;
	struct child_process process;
};

/* Of a call, which is nearly every item, no more than this is sent. */
struct flat_call {
	struct func_event event;
	uint32_t thread;
};

_Static_assert(sizeof(struct flat_call) != sizeof(struct func_item), "the length tells them apart");
_Static_assert(sizeof(struct func_thread) + sizeof(char) < NAME_MAX_LEN, "a thread fits");
_Static_assert(NAME_MAX_LEN + 1 < CHILD_FRAME_MAX, "a name fits a frame");

/* A TASK begins with a letter for what it is. */
enum { TASK_NAME = 'n', TASK_THREAD = 't' };

/* --- the child --- */

static int send_part(struct child_pipe *p, char what, const void *bytes, size_t len)
{
	char body[NAME_MAX_LEN + 1] = { what };

	if (len > NAME_MAX_LEN)
		len = NAME_MAX_LEN;
	memcpy(body + 1, bytes, len);
	return child_frame_send(p, CHILD_FRAME_TASK, body, len + 1);
}

static int send_info(struct child_pipe *p, const struct func_source *from)
{
	char body[sizeof(from->clock) + TRACE_STRING_MAX];
	size_t len = strnlen(from->origin, TRACE_STRING_MAX);

	memcpy(body, &from->clock, sizeof(from->clock));
	memcpy(body + sizeof(from->clock), from->origin, len);
	return child_frame_send(p, CHILD_FRAME_INFO, body, sizeof(from->clock) + len);
}

static int send_tables(struct child_pipe *p, const struct func_source *from)
{
	const struct func_process *kernel = from->processes;
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < kernel->n_names; i++)
		r = send_part(p, TASK_NAME, kernel->names[i], strlen(kernel->names[i]));
	for (i = 0; r >= 0 && i < from->n_threads; i++)
		r = send_part(p, TASK_THREAD, &from->threads[i], sizeof(from->threads[i]));
	return r < 0 ? r : send_info(p, from);
}

static int send_item(struct child_pipe *p, const struct func_item *item)
{
	const struct flat_call call = { item->event, item->thread };

	if (item->type == FUNC_ITEM_EVENT)
		return child_frame_send(p, CHILD_FRAME_ITEM, &call, sizeof(call));
	return child_frame_send(p, CHILD_FRAME_ITEM, item, sizeof(*item));
}

static int run(struct child_process *c)
{
	const struct func_child *f = c->setup.context;
	struct func_source *from = NULL;
	struct error e = ERROR_INIT;
	struct func_item item;
	uint64_t n = 0;
	int r = f->open(f->bytes, &from, &e), more = 1;

	if (r < 0)
		return child_frame_send_error(&c->pipe, r, &e);
	r = send_tables(&c->pipe, from);
	while (r >= 0) {
		if (n++ % CHILD_BATCH == 0) {
			child_process_alive();
			from->ops->progress(from, &c->share->done, &c->share->total);
		}
		more = from->ops->next(from, &item, &e);
		if (more <= 0)
			break;
		r = send_item(&c->pipe, &item);
	}
	if (more < 0)
		return child_frame_send_error(&c->pipe, more, &e);
	return r < 0 ? r : child_frame_send(&c->pipe, CHILD_FRAME_END, NULL, 0);
}

/* --- the parent --- */

static int give_error(const struct func_child *f, struct error *e)
{
	return error_set(e, f->process.failed, "%s", f->process.error.text);
}

static int take_name(struct func_child *f, const struct child_frame *frame)
{
	f->n_names++;
	return f->is_known ? 0
			   : func_process_add_name(f->base.processes, (const char *)frame->body + 1,
						   frame->len - 1);
}

static int take_thread(struct func_child *f, const struct child_frame *frame)
{
	struct func_thread t;

	memcpy(&t, frame->body + 1, sizeof(t));
	if (t.process != 0 || t.comm[sizeof(t.comm) - 1])
		return -EBADMSG;
	f->n_threads++;
	return f->is_known ? 0 : func_source_add_thread(&f->base, &t, NULL);
}

static int take_part(struct func_child *f, const struct child_frame *frame)
{
	int r = -EBADMSG;

	if (frame->len && frame->body[0] == TASK_NAME)
		r = take_name(f, frame);
	else if (frame->len == sizeof(struct func_thread) + 1 && frame->body[0] == TASK_THREAD)
		r = take_thread(f, frame);
	if (r == -EBADMSG)
		return child_process_disorder(&f->process);
	return r < 0 ? child_process_fail(&f->process, -r, "too many threads or functions") : 0;
}

/* The second time all is as it was, unless the file was changed meanwhile. */
static int check_same(struct func_child *f)
{
	if (f->n_names == f->base.processes->n_names && f->n_threads == f->base.n_threads)
		return 0;
	return child_process_fail(&f->process, EBADMSG, "it was changed while it was read");
}

static int take_info(struct func_child *f, const struct child_frame *frame)
{
	struct trace_clock *clock = &f->base.clock;
	int r;

	if (frame->type != CHILD_FRAME_INFO || frame->len < sizeof(*clock))
		return child_process_disorder(&f->process);
	if (f->is_known)
		return check_same(f);
	if (child_frame_get_clock(frame->body, clock) < 0)
		return child_process_disorder(&f->process);
	r = info_set(&f->base.origin, (const char *)frame->body + sizeof(*clock),
		     frame->len - sizeof(*clock));
	f->is_known = true;
	return r < 0 ? child_process_fail(&f->process, -r, "out of memory") : 0;
}

static int start(struct func_child *f)
{
	struct child_frame frame;
	int r = child_process_start(&f->process);

	f->n_names = f->n_threads = 0;
	f->at_end = false;
	f->is_fresh = true;
	while (r >= 0) {
		r = child_process_receive(&f->process, &frame);
		if (r > 0 && frame.type != CHILD_FRAME_TASK)
			return take_info(f, &frame);
		if (r > 0)
			r = take_part(f, &frame);
	}
	return r;
}

static bool take_item(const struct func_child *f, const struct child_frame *frame,
		      struct func_item *ret)
{
	struct flat_call call;

	if (frame->type != CHILD_FRAME_ITEM)
		return false;
	if (frame->len == sizeof(*ret)) {
		memcpy(ret, frame->body, sizeof(*ret));
		ret->os_only = child_frame_get_bool(&ret->os_only);
		return ret->type == FUNC_ITEM_LOSS && ret->thread < f->base.n_threads &&
		       child_frame_has_cause(&ret->loss);
	}
	if (frame->len != sizeof(call))
		return false;
	memcpy(&call, frame->body, sizeof(call));
	memset(ret, 0, sizeof(*ret));
	ret->type = FUNC_ITEM_EVENT;
	ret->thread = call.thread;
	ret->event = call.event;
	return ret->thread < f->base.n_threads &&
	       (call.event.kind == FUNC_OS ? call.event.os <= FUNC_OS_MAX
					   : call.event.kind <= FUNC_EXIT &&
						     call.event.value < f->base.processes->n_names);
}

static int func_child_next(struct func_source *base, struct func_item *ret, struct error *e)
{
	struct func_child *f = (struct func_child *)base;
	struct child_frame frame;

	if (!f->process.failed && f->at_end)
		return 0;
	f->is_fresh = false;
	if (child_process_receive(&f->process, &frame) > 0) {
		f->at_end = frame.type == CHILD_FRAME_END;
		if (f->at_end)
			return 0;
		if (take_item(f, &frame, ret))
			return 1;
		child_process_disorder(&f->process);
	}
	return give_error(f, e);
}

static int func_child_rewind(struct func_source *base, struct error *e)
{
	struct func_child *f = (struct func_child *)base;

	return !f->is_fresh && start(f) < 0 ? give_error(f, e) : 0;
}

static void func_child_progress(const struct func_source *base, uint64_t *ret_done,
				uint64_t *ret_total)
{
	const struct func_child *f = (const struct func_child *)base;

	child_process_progress(&f->process, ret_done, ret_total);
}

static void func_child_free(struct func_source *base)
{
	struct func_child *f = (struct func_child *)base;

	child_process_done(&f->process);
	munmap((void *)(uintptr_t)f->bytes.data, f->bytes.len);
	func_source_done(base);
	free(f);
}

static const struct func_source_ops ops = {
	.next = func_child_next,
	.rewind = func_child_rewind,
	.progress = func_child_progress,
	.free = func_child_free,
};

static int make(struct func_child *f)
{
	const struct child_setup setup = { .run = run,
					   .context = f,
					   .fd = -1,
					   .memory_bytes =
						   CHILD_MEMORY + CHILD_FACTOR * f->bytes.len,
					   .input_bytes = f->bytes.len };
	struct func_process kernel;
	int r = func_process_init(&kernel, "kernel", "");

	kernel.kernel = true;
	if (r >= 0)
		r = func_source_add_process(&f->base, &kernel, NULL);
	return r < 0 ? r : child_process_init(&f->process, &setup);
}

int func_child_open(struct func_source **ret, func_child_fn open, struct import_bytes mapped,
		    struct error *e)
{
	struct func_child *f = calloc(1, sizeof(*f));
	int r;

	if (!f) {
		munmap((void *)(uintptr_t)mapped.data, mapped.len);
		return error_set(e, ENOMEM, "out of memory");
	}
	f->base.ops = &ops;
	f->open = open;
	f->bytes = mapped;
	r = make(f);
	if (r < 0)
		child_process_fail(&f->process, -r, "out of memory");
	if (r == 0 && start(f) >= 0) {
		*ret = &f->base;
		return 0;
	}
	r = give_error(f, e);
	func_child_free(&f->base);
	return r;
}
