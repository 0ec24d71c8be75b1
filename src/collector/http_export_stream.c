/* SPDX-License-Identifier: MIT */
/* http_export_stream: the exports that are made while they are sent; see http_export.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "collector/http_export.h"

#define PIPE_BYTES (256 * 1024)

struct stream {
	struct http_body body;
	struct extract x;
	struct trace_sink *sink;
	pthread_t thread;
	bool running;
	int fd; /* the pipe's end for reading */
	int result;
	struct error error;
};

static void *work(void *context)
{
	struct stream *s = context;
	sigset_t pipes;

	/* A closed pipe is an error of write() here, not the death of the collector. */
	sigemptyset(&pipes);
	sigaddset(&pipes, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipes, NULL);
	s->result = extract_copy(&s->x, s->sink, &s->error);
	sink_free(take_ptr(s->sink)); /* and with it the pipe's other end */
	return NULL;
}

static int join(struct stream *s)
{
	if (s->running)
		pthread_join(s->thread, NULL);
	s->running = false;
	return s->result;
}

/* Until there is something to read, or the end. */
static int wait_for_bytes(struct stream *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	while (poll(&p, 1, HTTP_STOP_MS) <= 0)
		if (http_request_is_over(s->x.q))
			return -ECANCELED;
	return 0;
}

static ssize_t stream_read(struct http_body *b, char *out, size_t room)
{
	struct stream *s = (struct stream *)b;
	ssize_t n;

	if (wait_for_bytes(s) < 0)
		return -ECANCELED;
	n = read(s->fd, out, room);
	if (n < 0)
		return -errno;
	if (!n && join(s) < 0) {
		http_log(s->x.http, "http: an export of run %u broke off: %s",
			 s->x.selection.run.number, s->error.text);
		return s->result;
	}
	return n;
}

static void stream_free(struct http_body *b)
{
	struct stream *s = (struct stream *)b;

	atomic_store(&s->x.cancelled, true);
	if (s->fd >= 0)
		close(s->fd);
	join(s);
	sink_free(s->sink);
	extract_done(&s->x);
	free(s);
}

static const struct http_body_ops stream_ops = {
	.read = stream_read,
	.free = stream_free,
};

/* Opens the sink on a pipe of its own. */
static int open_pipe(struct stream *s, struct error *e)
{
	char path[32];
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set(e, errno, "cannot export: no pipe: %s", strerror(errno));
	s->fd = ends[0];
	fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES); /* the default does as well */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[1]);
	r = format_open(s->x.format, &s->sink, path, &s->x.options, e);
	close(ends[1]); /* the sink has its own */
	return r;
}

static int start(struct stream *s, struct error *e)
{
	int r;

	s->x.options.stop = &s->x.cancelled;
	r = format_prepare(s->x.format, &s->x.source, &s->x.options, e);
	if (r >= 0)
		r = open_pipe(s, e);
	if (r < 0)
		return r;
	r = pthread_create(&s->thread, NULL, work, s);
	if (r)
		return error_set(e, r, "cannot export: no thread for it");
	s->running = true;
	if (wait_for_bytes(s) < 0)
		return error_set(e, ECANCELED, "the client has gone");
	return 0;
}

/* A stream that ends before its first byte has failed, and that can still be said properly. */
static int check_start(struct stream *s, struct error *e)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	if (poll(&p, 1, 0) > 0 && p.revents & POLLIN)
		return 0;
	if (join(s) >= 0)
		return 0;
	*e = s->error;
	return s->result;
}

int extract_stream(struct extract *x, struct http_body **ret, struct error *e)
{
	struct stream *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return error_set(e, ENOMEM, "cannot export: out of memory");
	s->body.ops = &stream_ops;
	s->fd = -1;
	s->x = *x;
	memset(x, 0, sizeof(*x));
	r = start(s, e);
	if (r >= 0)
		r = check_start(s, e);
	if (r < 0) {
		stream_free(&s->body);
		return r;
	}
	*ret = &s->body;
	return 0;
}
