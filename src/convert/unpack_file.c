/* SPDX-License-Identifier: MIT */
/*
 * unpack_file: see unpack.h. The process that unpacks sends ITEMs of bytes, then an END (child_frame.h); the parent
 * counts them, and writes the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "convert/child_process.h"
#include "convert/unpack.h"

#define CHILD_MEMORY (512ULL << 20)
#define FRAME 8000U
#define ALIVE_BYTES (16U << 20)

_Static_assert(FRAME < CHILD_FRAME_MAX, "a piece fits a frame");

struct work {
	enum recognised format;
	struct import_bytes in;
};

struct sending {
	struct child_pipe *pipe;
	size_t since; /* it was last said that the process lives */
};

static int send_piece(void *context, const uint8_t *data, size_t len)
{
	struct sending *s = context;
	size_t part;
	int r = 0;

	s->since += len;
	if (s->since >= ALIVE_BYTES) {
		child_process_alive();
		s->since = 0;
	}
	for (; len && r >= 0; data += part, len -= part) {
		part = len < FRAME ? len : FRAME;
		r = child_frame_send(s->pipe, CHILD_FRAME_ITEM, data, part);
	}
	return r;
}

static int run(struct child_process *c)
{
	const struct work *w = c->setup.context;
	struct sending s = { .pipe = &c->pipe };
	struct error e = ERROR_INIT;
	int r = unpack_bytes(w->format, w->in, send_piece, &s, &e);

	if (r < 0)
		return child_frame_send_error(&c->pipe, r, &e);
	return child_frame_send(&c->pipe, CHILD_FRAME_END, NULL, 0);
}

int unpack_temporary(int *ret_fd, struct error *e)
{
	const char *folder = getenv("TMPDIR");
	_cleanup_free_ char *name = NULL;
	int fd;

	if (asprintf(&name, "%s/kiseki-XXXXXX", folder && *folder ? folder : "/tmp") < 0) {
		name = NULL;
		return error_set(e, ENOMEM, "out of memory");
	}
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return error_set(e, errno, "cannot write %s: %s", name, strerror(errno));
	unlink(name);
	*ret_fd = fd;
	return 0;
}

static int write_all(int fd, const uint8_t *data, size_t len, struct error *e)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno != EINTR)
			return error_set(e, errno, "cannot write a temporary file: %s",
					 strerror(errno));
		if (n > 0) {
			data += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* All that it sends into the file. */
static int receive(struct child_process *c, uint64_t most, int fd, struct error *e)
{
	struct child_frame f;
	uint64_t bytes = 0;
	int r;

	for (;;) {
		r = child_process_receive(c, &f);
		if (r < 0)
			return error_set(e, -r, "%s", c->error.text);
		if (f.type == CHILD_FRAME_END)
			return 0;
		bytes += f.len;
		if (f.type != CHILD_FRAME_ITEM)
			return error_set(e, EBADMSG, "its reader is out of order");
		if (bytes > most)
			return error_set(e, EFBIG,
					 "it unpacks to more than %u times its size; if it is a "
					 "trace, unpack it first",
					 UNPACK_FACTOR);
		r = write_all(fd, f.body, f.len, e);
		if (r < 0)
			return r;
	}
}

int unpack_file(enum recognised format, struct import_bytes in, int *ret_fd, struct error *e)
{
	struct work w = { format, in };
	struct child_setup setup = { .run = run,
				     .context = &w,
				     .fd = -1,
				     .memory_bytes = CHILD_MEMORY,
				     .input_bytes = in.len };
	_cleanup_free_ struct child_process *c = calloc(1, sizeof(*c));
	_cleanup_close_ int fd = -1;
	int r;

	if (!c)
		return error_set(e, ENOMEM, "out of memory");
	r = unpack_temporary(&fd, e);
	if (r < 0)
		return r;
	r = child_process_init(c, &setup);
	if (r < 0)
		error_set(e, -r, "out of memory");
	if (r == 0) {
		r = child_process_start(c);
		r = r < 0 ? error_set(e, -r, "%s", c->error.text)
			  : receive(c, UNPACK_LEAST + (uint64_t)in.len * UNPACK_FACTOR, fd, e);
	}
	child_process_done(c);
	if (r == 0)
		*ret_fd = take_fd(&fd);
	return r;
}
