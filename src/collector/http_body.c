/* SPDX-License-Identifier: MIT */
/* http_body: see http_body.h. The plain ones: memory and files. */
#include "collector/http_body.h"

#include <errno.h>
#include <string.h>

struct memory_body {
	struct http_body body;
	char *owned;
	const char *data;
	size_t len, at;
};

static ssize_t memory_read(struct http_body *b, char *out, size_t room)
{
	struct memory_body *m = (struct memory_body *)b;
	size_t n = m->len - m->at < room ? m->len - m->at : room;

	memcpy(out, m->data + m->at, n);
	m->at += n;
	return (ssize_t)n;
}

static void memory_free(struct http_body *b)
{
	struct memory_body *m = (struct memory_body *)b;

	free(m->owned);
	free(m);
}

static const struct http_body_ops memory_ops = {
	.read = memory_read,
	.free = memory_free,
};

int http_body_new_static(struct http_body **ret, const void *data, size_t len, struct error *e)
{
	struct memory_body *m = calloc(1, sizeof(*m));

	if (!m)
		return error_set(e, ENOMEM, "cannot answer: out of memory");
	m->body.ops = &memory_ops;
	m->data = data;
	m->len = len;
	*ret = &m->body;
	return 0;
}

int http_body_new_text(struct http_body **ret, char *text, size_t len, struct error *e)
{
	int r = http_body_new_static(ret, text, len, e);

	if (r >= 0)
		((struct memory_body *)*ret)->owned = text;
	return r;
}

struct file_body {
	struct http_body body;
	int fd;
	uint64_t at, end;
};

static ssize_t file_read(struct http_body *b, char *out, size_t room)
{
	struct file_body *f = (struct file_body *)b;
	uint64_t left = f->end - f->at;
	ssize_t n;

	if (!left)
		return 0;
	do
		n = pread(f->fd, out, left < room ? (size_t)left : room, (off_t)f->at);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return -EIO; /* it was whole when it was measured */
	f->at += (uint64_t)n;
	return n;
}

static void file_free(struct http_body *b)
{
	struct file_body *f = (struct file_body *)b;

	close(f->fd);
	free(f);
}

static const struct http_body_ops file_ops = {
	.read = file_read,
	.free = file_free,
};

int http_body_new_file(struct http_body **ret, int fd, const struct http_range *range,
		       struct error *e)
{
	struct file_body *f = calloc(1, sizeof(*f));

	if (!f)
		return error_set(e, ENOMEM, "cannot answer: out of memory");
	f->body.ops = &file_ops;
	f->fd = fd;
	f->at = range->from;
	f->end = range->from + range->len;
	*ret = &f->body;
	return 0;
}
