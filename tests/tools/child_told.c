/* SPDX-License-Identifier: MIT */
/* child_told: see child_told.h. */
#include "tools/child_told.h"

#include <errno.h>
#include <string.h>

#include "convert/child_process.h"

static const void *told;
static size_t told_len;

void child_told_set(const void *bytes, size_t len)
{
	told = bytes;
	told_len = len;
}

int child_process_init(struct child_process *c, const struct child_setup *setup)
{
	static struct child_share share;

	c->setup = *setup;
	c->share = &share;
	return 0;
}

void child_process_done(struct child_process *c)
{
	memset(c, 0, sizeof(*c));
}

int child_process_start(struct child_process *c)
{
	size_t n = told_len < sizeof(c->pipe.buffer) ? told_len : sizeof(c->pipe.buffer);

	c->failed = 0;
	c->pipe.fd = -1; /* read() fails, and that is the end */
	c->pipe.start = 0;
	c->pipe.end = n;
	if (n)
		memcpy(c->pipe.buffer, told, n);
	return 0;
}

int child_process_fail(struct child_process *c, int code, const char *reason)
{
	c->failed = error_set(&c->error, code, "%s", reason);
	return c->failed;
}

int child_process_disorder(struct child_process *c)
{
	return child_process_fail(c, EBADMSG, "its reader is out of order");
}

int child_process_receive(struct child_process *c, struct child_frame *ret)
{
	if (c->failed)
		return c->failed;
	if (child_frame_receive(&c->pipe, ret) <= 0)
		return child_process_fail(c, EBADMSG, "it died");
	if (ret->type != CHILD_FRAME_ERROR)
		return 1;
	c->failed = child_frame_get_error(ret, &c->error);
	return c->failed;
}

void child_process_progress(const struct child_process *c, uint64_t *ret_done, uint64_t *ret_total)
{
	*ret_done = c->share->done;
	*ret_total = c->share->total;
}

void child_process_alive(void)
{
}
