/* SPDX-License-Identifier: MIT */
/* child_frame: see child_frame.h. */
#include "convert/child_frame.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#define CODE_MAX 4095 /* of errno */

struct head {
	uint32_t type;
	uint32_t len;
};

/* What an info has without pointers; its strings follow, each with its NUL. */
struct flat_info {
	uint32_t cpus;
	struct trace_clock clock;
	struct sched_dialect dialect;
};

_Static_assert(4 * (TRACE_STRING_MAX + 1) + sizeof(struct flat_info) < CHILD_FRAME_MAX,
	       "an info fits a frame");
_Static_assert(sizeof(struct trace_item) + SCHED_FILENAME_MAX < CHILD_FRAME_MAX,
	       "an item fits a frame");

int child_frame_flush(struct child_pipe *p)
{
	while (p->start < p->end) {
		ssize_t n = write(p->fd, p->buffer + p->start, p->end - p->start);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		p->start += (size_t)n;
	}
	p->start = p->end = 0;
	return 0;
}

/* In two parts, so that callers need not join them first. */
static int send(struct child_pipe *p, enum child_frame_type type, const struct iovec part[2])
{
	struct head h = { .type = type, .len = (uint32_t)(part[0].iov_len + part[1].iov_len) };
	int i, r = 0;

	if (h.len > CHILD_FRAME_MAX)
		return -EMSGSIZE;
	if (sizeof(p->buffer) - p->end < sizeof(h) + h.len)
		r = child_frame_flush(p);
	if (r < 0)
		return r;
	memcpy(p->buffer + p->end, &h, sizeof(h));
	p->end += sizeof(h);
	for (i = 0; i < 2; i++) {
		if (part[i].iov_len)
			memcpy(p->buffer + p->end, part[i].iov_base, part[i].iov_len);
		p->end += part[i].iov_len;
	}
	return 0;
}

int child_frame_send(struct child_pipe *p, enum child_frame_type type, const void *body, size_t len)
{
	return send(p, type, (struct iovec[2]){ { (void *)body, len } });
}

int child_frame_send_info(struct child_pipe *p, const struct trace_info *info)
{
	struct flat_info flat;
	const char *const texts[] = { info->device, info->kernel, info->machine, info->origin };
	char joined[4 * (TRACE_STRING_MAX + 1)];
	size_t i, len = 0, n;

	memset(&flat, 0, sizeof(flat)); /* what lies between the fields goes over, too */
	flat.cpus = info->cpus;
	flat.clock = info->clock;
	flat.dialect = info->dialect;
	for (i = 0; i < 4; i++) {
		n = strnlen(texts[i], TRACE_STRING_MAX);
		memcpy(joined + len, texts[i], n);
		joined[len + n] = 0;
		len += n + 1;
	}
	return send(p, CHILD_FRAME_INFO,
		    (struct iovec[2]){ { (void *)&flat, sizeof(flat) }, { joined, len } });
}

int child_frame_send_item(struct child_pipe *p, const struct trace_item *item)
{
	struct trace_item flat = *item;

	if (flat.type != ITEM_EVENT) /* whatever its reader left there */
		flat.event.filename_len = 0;
	return send(p, CHILD_FRAME_ITEM,
		    (struct iovec[2]){ { &flat, sizeof(flat) },
				       { (void *)item->event.filename, flat.event.filename_len } });
}

int child_frame_send_error(struct child_pipe *p, int code, const struct error *e)
{
	return send(p, CHILD_FRAME_ERROR,
		    (struct iovec[2]){ { &code, sizeof(code) },
				       { (void *)e->text, strnlen(e->text, sizeof(e->text)) } });
}

/* At least `need` bytes in the buffer: 1, 0 at the end before the first of them, or an error. */
static int fill(struct child_pipe *p, size_t need)
{
	ssize_t n;

	if (p->end - p->start >= need)
		return 1;
	memmove(p->buffer, p->buffer + p->start, p->end - p->start);
	p->end -= p->start;
	p->start = 0;
	while (p->end < need) {
		n = read(p->fd, p->buffer + p->end, sizeof(p->buffer) - p->end);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return p->end ? -EBADMSG : 0;
		p->end += (size_t)n;
	}
	return 1;
}

int child_frame_receive(struct child_pipe *p, struct child_frame *ret)
{
	struct head h;
	int r = fill(p, sizeof(h));

	if (r <= 0)
		return r;
	memcpy(&h, p->buffer + p->start, sizeof(h));
	if (h.type < CHILD_FRAME_INFO || h.type > CHILD_FRAME_ERROR || h.len > CHILD_FRAME_MAX)
		return -EBADMSG;
	r = fill(p, sizeof(h) + h.len);
	if (r < 0) /* an end is one, too: the head was there */
		return r;
	ret->type = (enum child_frame_type)h.type;
	ret->body = p->buffer + p->start + sizeof(h);
	ret->len = h.len;
	p->start += sizeof(h) + h.len;
	return 1;
}

bool child_frame_has_cause(const struct trace_loss *l)
{
	return l->cause < LOSS_CAUSES;
}

bool child_frame_get_bool(const bool *b)
{
	uint8_t byte;

	memcpy(&byte, b, sizeof(byte));
	return byte != 0;
}

/* The bounds of a file's own (trace/info_meta.h). */
static bool is_dialect(const struct sched_dialect *d)
{
	return (d->long_size == 4 || d->long_size == 8) && d->flag_columns <= 16 &&
	       d->pid_width <= 16;
}

static bool is_clock(const struct trace_clock *c)
{
	return c->shift <= 63 && !c->name[TRACE_CLOCK_NAME_LEN - 1] && c->print_digits <= 9;
}

int child_frame_get_clock(const void *bytes, struct trace_clock *ret)
{
	struct trace_clock c;

	memcpy(&c, bytes, sizeof(c));
	c.has_realtime = child_frame_get_bool(&c.has_realtime);
	c.is_measured = child_frame_get_bool(&c.is_measured);
	c.has_own = child_frame_get_bool(&c.has_own);
	if (!is_clock(&c))
		return -EBADMSG;
	*ret = c;
	return 0;
}

int child_frame_get_info(const struct child_frame *f, struct trace_info *ret)
{
	char **const texts[] = { &ret->device, &ret->kernel, &ret->machine, &ret->origin };
	const char *p = (const char *)f->body + sizeof(struct flat_info);
	const char *end = (const char *)f->body + f->len;
	struct flat_info flat;
	size_t i, n;

	if (f->type != CHILD_FRAME_INFO || f->len < sizeof(flat))
		return -EBADMSG;
	memcpy(&flat, f->body, sizeof(flat));
	if (flat.cpus > TRACE_CPUS_MAX || child_frame_get_clock(&flat.clock, &flat.clock) < 0 ||
	    !is_dialect(&flat.dialect))
		return -EBADMSG;
	for (i = 0; i < 4; i++) {
		n = strnlen(p, (size_t)(end - p));
		if (p + n >= end)
			return -EBADMSG;
		if (info_set(texts[i], p, n) < 0)
			return -ENOMEM;
		p += n + 1;
	}
	ret->cpus = flat.cpus;
	ret->clock = flat.clock;
	ret->dialect = flat.dialect;
	return 0;
}

int child_frame_get_item(const struct child_frame *f, struct trace_item *ret)
{
	if (f->type != CHILD_FRAME_ITEM || f->len < sizeof(*ret))
		return -EBADMSG;
	memcpy(ret, f->body, sizeof(*ret));
	if (ret->cpu >= TRACE_CPUS_MAX ||
	    (ret->type == ITEM_LOSS ? !child_frame_has_cause(&ret->loss)
				    : ret->type != ITEM_EVENT || ret->event.kind >= SCHED_KINDS) ||
	    ret->event.filename_len != f->len - sizeof(*ret))
		return -EBADMSG;
	ret->event.filename = ret->event.filename_len ? (const char *)f->body + sizeof(*ret) : NULL;
	return 0;
}

int child_frame_get_error(const struct child_frame *f, struct error *e)
{
	int code = 0;

	if (f->len > sizeof(code) && f->body[sizeof(code)])
		memcpy(&code, f->body, sizeof(code));
	if (code >= 0 || code < -CODE_MAX)
		return error_set(e, EBADMSG, "the reader fails without a reason");
	return error_set(e, code, "%.*s", (int)(f->len - sizeof(code)),
			 (const char *)f->body + sizeof(code));
}
