/* SPDX-License-Identifier: MIT */
/* source_child: see source_child.h. */
#include "convert/source_child.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct source_child {
	struct trace_source base;
	struct source_child_job job;
	bool at_end;
	struct child_process process;
};

/* --- the child --- */

static int send_tasks(struct child_pipe *p, const struct trace_info *info)
{
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < info->n_tasks; i++)
		r = child_frame_send(p, CHILD_FRAME_TASK, &info->tasks[i], sizeof(info->tasks[i]));
	return r;
}

/* Who follows a pipe wants what is there when nothing more comes. */
static int send_live(struct child_pipe *p, int fd)
{
	struct pollfd in = { .fd = fd, .events = POLLIN };

	return fd >= 0 && poll(&in, 1, 0) == 0 ? child_frame_flush(p) : 0;
}

static int send_items(struct child_process *c, struct trace_source *from, struct error *e)
{
	struct child_pipe *p = &c->pipe;
	struct trace_item item;
	uint64_t n = 0;
	int r = 0, more;

	while (r >= 0) {
		if (n++ % CHILD_BATCH == 0) {
			child_process_alive();
			if (from->ops->progress)
				from->ops->progress(from, &c->share->done, &c->share->total);
		}
		r = send_live(p, c->setup.fd);
		if (r < 0)
			break;
		more = from->ops->next(from, &item, e);
		if (more < 0)
			return child_frame_send_error(p, more, e);
		if (more == 0)
			break;
		r = child_frame_send_item(p, &item);
	}
	if (r >= 0)
		r = send_tasks(p, &from->info);
	return r < 0 ? r
		     : child_frame_send(p, CHILD_FRAME_END, &from->info.skipped,
					sizeof(from->info.skipped));
}

static int run(struct child_process *c)
{
	const struct source_child *s = c->setup.context;
	struct error e = ERROR_INIT;
	struct trace_source *from = NULL;
	int r = s->job.open(&s->job, &from, &e);

	if (r < 0)
		return child_frame_send_error(&c->pipe, r, &e);
	if (s->job.clock_hz && clock_is_ticks(&from->info.clock))
		clock_set_rate(&from->info.clock, s->job.clock_hz);
	r = send_tasks(&c->pipe, &from->info);
	if (r >= 0)
		r = child_frame_send_info(&c->pipe, &from->info);
	return r < 0 ? r : send_items(c, from, &e);
}

/* --- the parent --- */

static int take_task(struct source_child *s, const struct child_frame *f)
{
	struct trace_task t;
	int r;

	if (f->len != sizeof(t))
		return child_process_disorder(&s->process);
	memcpy(&t, f->body, sizeof(t));
	r = info_add_task(&s->base.info, t.pid, t.tgid, t.comm);
	return r < 0 ? child_process_fail(&s->process, -r, "it has too many tasks") : 0;
}

/* The next frame that the caller must look at: 1, or a failure. Tasks are kept on the way. */
static int receive(struct source_child *s, struct child_frame *ret)
{
	int r;

	do {
		r = child_process_receive(&s->process, ret);
		if (r > 0 && ret->type == CHILD_FRAME_TASK)
			r = take_task(s, ret);
	} while (r == 0);
	return r;
}

static int start(struct source_child *s)
{
	struct child_frame f;
	int r = child_process_start(&s->process);

	s->at_end = false;
	if (r >= 0)
		r = receive(s, &f);
	if (r < 0)
		return r;
	r = child_frame_get_info(&f, &s->base.info);
	return r < 0 ? child_process_fail(&s->process, -r, "its reader is out of order") : 0;
}

static int give_error(const struct source_child *s, struct error *e)
{
	return error_set(e, s->process.failed, "%s", s->process.error.text);
}

static int source_child_next(struct trace_source *base, struct trace_item *ret, struct error *e)
{
	struct source_child *s = (struct source_child *)base;
	struct child_frame f;

	if (!s->process.failed && s->at_end)
		return 0;
	if (receive(s, &f) > 0) {
		if (f.type == CHILD_FRAME_END && f.len == sizeof(base->info.skipped)) {
			memcpy(&base->info.skipped, f.body, f.len);
			s->at_end = true;
			return 0;
		}
		if (child_frame_get_item(&f, ret) >= 0 && ret->cpu < base->info.cpus)
			return 1;
		child_process_disorder(&s->process);
	}
	return give_error(s, e);
}

static int source_child_rewind(struct trace_source *base, struct error *e)
{
	struct source_child *s = (struct source_child *)base;

	if (s->job.child.fd >= 0)
		return error_set(e, ESPIPE, "a pipe cannot be read twice");
	base->info.skipped = 0;
	return start(s) < 0 ? give_error(s, e) : 0;
}

static void source_child_progress(const struct trace_source *base, uint64_t *ret_done,
				  uint64_t *ret_total)
{
	const struct source_child *s = (const struct source_child *)base;

	child_process_progress(&s->process, ret_done, ret_total);
}

static void source_child_free(struct trace_source *base)
{
	struct source_child *s = (struct source_child *)base;

	child_process_done(&s->process);
	if (s->job.child.fd >= 0)
		close(s->job.child.fd);
	info_done(&base->info);
	free(s);
}

static const struct trace_source_ops source_child_ops = {
	.next = source_child_next,
	.rewind = source_child_rewind,
	.progress = source_child_progress,
	.free = source_child_free,
};

static int make(struct source_child *s, const struct source_child_job *job)
{
	int r;

	s->base.ops = &source_child_ops;
	s->job = *job;
	s->job.child.run = run;
	s->job.child.context = s;
	r = child_process_init(&s->process, &s->job.child);
	/* The reader's copy of the job is asked for its folder. */
	s->job.child.folder = s->process.folder;
	s->job.child.prefix = s->process.prefix;
	return info_init(&s->base.info) < 0 ? -ENOMEM : r;
}

int source_child_open(struct trace_source **ret, const struct source_child_job *job,
		      struct error *e)
{
	struct source_child *s = calloc(1, sizeof(*s));
	int r;

	if (!s) {
		if (job->child.fd >= 0)
			close(job->child.fd);
		return error_set(e, ENOMEM, "out of memory");
	}
	r = make(s, job);
	if (r < 0)
		child_process_fail(&s->process, -r, "out of memory");
	if (r == 0 && start(s) >= 0) {
		*ret = &s->base;
		return 0;
	}
	r = give_error(s, e);
	source_child_free(&s->base);
	return r;
}
