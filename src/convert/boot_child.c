/* SPDX-License-Identifier: MIT */
/*
 * boot_child: see boot_child.h. The frames are those of child_frame.h: an INFO behind a TASK of one byte, whether the trace
 * is cut; ITEMs, each a record with its text behind it; an END.
 */
#include "convert/boot_child.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

#define CHILD_MEMORY                                                                               \
	(2ULL                                                                                      \
	 << 30) /* all files of a bootchart lie in memory: 512 MiB, and what they are made into */

struct boot_child {
	struct boot_source base;
	struct boot_child_job job;
	char *path; /* of the job */
	bool at_end, is_fresh;
	struct child_process process;
};

/* An item as it is sent; only as much of the text as there is. */
struct flat_item {
	struct boot_item item;
	char text[BOOT_TEXT_MAX];
};

#define FLAT_HEAD offsetof(struct flat_item, text)

_Static_assert(sizeof(struct flat_item) < CHILD_FRAME_MAX, "an item fits a frame");

/* --- the child --- */

static int send_item(struct child_pipe *p, const struct boot_item *item)
{
	struct flat_item flat = { .item = *item };
	size_t len = item->type == ITEM_EVENT && item->event.text ? item->event.text_len : 0;

	if (len > BOOT_TEXT_MAX)
		len = BOOT_TEXT_MAX;
	if (len)
		memcpy(flat.text, item->event.text, len);
	flat.item.event.text = NULL;
	flat.item.event.text_len = (uint32_t)len;
	return child_frame_send(p, CHILD_FRAME_ITEM, &flat, FLAT_HEAD + len);
}

static int send_items(struct child_process *c, struct boot_source *from, struct error *e)
{
	struct boot_item item;
	uint64_t n = 0;
	int r = 0, more = 1;

	while (r >= 0) {
		if (n++ % CHILD_BATCH == 0)
			child_process_alive();
		more = from->ops->next(from, &item, e);
		if (more <= 0)
			break;
		r = send_item(&c->pipe, &item);
	}
	if (more < 0)
		return child_frame_send_error(&c->pipe, more, e);
	return r < 0 ? r : child_frame_send(&c->pipe, CHILD_FRAME_END, NULL, 0);
}

static int run(struct child_process *c)
{
	const struct boot_child *b = c->setup.context;
	struct boot_source *from = NULL;
	struct error e = ERROR_INIT;
	unsigned char is_cut;
	int r;

	/* The process before this one, which read the same, has moved it. A folder cannot be moved in. */
	if (!b->job.is_folder && lseek(b->job.fd, 0, SEEK_SET) < 0)
		errno = 0;
	r = b->job.open(&b->job, &from, &e);
	if (r < 0)
		return child_frame_send_error(&c->pipe, r, &e);
	is_cut = from->is_cut;
	r = child_frame_send(&c->pipe, CHILD_FRAME_TASK, &is_cut, sizeof(is_cut));
	if (r >= 0)
		r = child_frame_send_info(&c->pipe, &from->info);
	return r < 0 ? r : send_items(c, from, &e);
}

/* --- the parent --- */

static int give_error(const struct boot_child *b, struct error *e)
{
	return error_set(e, b->process.failed, "%s", b->process.error.text);
}

static int start(struct boot_child *b)
{
	struct child_frame f;
	int r = child_process_start(&b->process);

	b->at_end = false;
	b->is_fresh = true;
	if (r >= 0)
		r = child_process_receive(&b->process, &f);
	if (r > 0 && (f.type != CHILD_FRAME_TASK || f.len != 1))
		r = child_process_disorder(&b->process);
	if (r > 0) {
		b->base.is_cut = f.body[0] != 0;
		r = child_process_receive(&b->process, &f);
	}
	if (r < 0)
		return r;
	return child_frame_get_info(&f, &b->base.info) < 0 ? child_process_disorder(&b->process)
							   : 0;
}

/* The text lies in the frame. */
static bool take_item(const struct child_frame *f, struct boot_item *ret)
{
	if (f->type != CHILD_FRAME_ITEM || f->len < FLAT_HEAD || f->len > FLAT_HEAD + BOOT_TEXT_MAX)
		return false;
	memcpy(ret, f->body, sizeof(*ret));
	ret->event.text = (const char *)f->body + FLAT_HEAD;
	return (ret->type == ITEM_LOSS ? child_frame_has_cause(&ret->loss)
				       : ret->type == ITEM_EVENT && ret->event.kind < BOOT_KINDS) &&
	       ret->event.text_len == f->len - FLAT_HEAD;
}

static int boot_child_next(struct boot_source *base, struct boot_item *ret, struct error *e)
{
	struct boot_child *b = (struct boot_child *)base;
	struct child_frame f;

	if (!b->process.failed && b->at_end)
		return 0;
	b->is_fresh = false;
	if (child_process_receive(&b->process, &f) > 0) {
		b->at_end = f.type == CHILD_FRAME_END;
		if (b->at_end)
			return 0;
		if (take_item(&f, ret))
			return 1;
		child_process_disorder(&b->process);
	}
	return give_error(b, e);
}

static int boot_child_rewind(struct boot_source *base, struct error *e)
{
	struct boot_child *b = (struct boot_child *)base;

	return !b->is_fresh && start(b) < 0 ? give_error(b, e) : 0;
}

static void boot_child_free(struct boot_source *base)
{
	struct boot_child *b = (struct boot_child *)base;

	child_process_done(&b->process);
	close(b->job.fd);
	info_done(&base->info);
	free(b->path);
	free(b);
}

static const struct boot_source_ops ops = {
	.next = boot_child_next,
	.rewind = boot_child_rewind,
	.free = boot_child_free,
};

static int make(struct boot_child *b, const struct boot_child_job *job)
{
	const struct child_setup setup = { .run = run,
					   .context = b,
					   .fd = job->fd,
					   .folder = job->is_folder ? job->path : NULL,
					   .memory_bytes = CHILD_MEMORY };

	b->base.ops = &ops;
	b->job = *job;
	b->job.path = b->path = strdup(job->path);
	if (info_init(&b->base.info) < 0 || !b->path)
		return -ENOMEM;
	return child_process_init(&b->process, &setup);
}

int boot_child_open(struct boot_source **ret, const struct boot_child_job *job, struct error *e)
{
	struct boot_child *b = calloc(1, sizeof(*b));
	int r;

	if (!b) {
		close(job->fd);
		return error_set(e, ENOMEM, "cannot read %s: out of memory", job->path);
	}
	r = make(b, job);
	if (r < 0)
		child_process_fail(&b->process, -r, "out of memory");
	if (r == 0 && start(b) >= 0) {
		*ret = &b->base;
		return 0;
	}
	r = give_error(b, e);
	boot_child_free(&b->base);
	return r;
}
