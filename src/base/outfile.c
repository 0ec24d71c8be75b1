/* SPDX-License-Identifier: MIT */
/* outfile: see outfile.h. */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define BUFFER_SIZE (256U * 1024)
#define RESERVE_MAX (64U * 1024)

struct outfile {
	char *path;
	char *temporary; /* NULL: written in place (standard output, a device, a fifo) */
	int fd;
	int error;
	uint64_t flushed;
	size_t used;
	char buffer[BUFFER_SIZE];
};

static int open_target(struct outfile *f, struct error *e)
{
	struct stat st;

	if (!strcmp(f->path, "-")) {
		f->fd = dup(STDOUT_FILENO);
	} else if (!stat(f->path, &st) && !S_ISREG(st.st_mode)) {
		f->fd = open(f->path, O_WRONLY | O_CLOEXEC);
	} else {
		if (asprintf(&f->temporary, "%s.partial.%d", f->path, (int)getpid()) < 0) {
			f->temporary = NULL;
			return error_set(e, ENOMEM, "cannot write %s: out of memory", f->path);
		}
		f->fd = open(f->temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (f->fd < 0) {
			free(f->temporary);
			f->temporary = NULL;
		}
	}
	if (f->fd < 0)
		return error_set(e, errno, "cannot write %s: %s", f->path, strerror(errno));
	return 0;
}

int outfile_open(struct outfile **ret, const char *path, struct error *e)
{
	CLEANUP(outfile) struct outfile *f = calloc(1, sizeof(*f));
	int r;

	if (!f || !(f->path = strdup(path)))
		return error_set(e, ENOMEM, "cannot write %s: out of memory", path);
	f->fd = -1;
	r = open_target(f, e);
	if (r < 0)
		return r;
	*ret = take_ptr(f);
	return 0;
}

void outfile_free(struct outfile *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	if (f->temporary)
		unlink(f->temporary);
	free(f->temporary);
	free(f->path);
	free(f);
}

static void write_all(struct outfile *f, const char *p, size_t len)
{
	while (len && !f->error) {
		ssize_t n = write(f->fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			f->error = n < 0 ? -errno : -EIO;
			return;
		}
		p += n;
		len -= (size_t)n;
		f->flushed += (uint64_t)n;
	}
}

static void flush(struct outfile *f)
{
	write_all(f, f->buffer, f->used);
	f->used = 0;
}

void outfile_write(struct outfile *f, const void *data, size_t len)
{
	if (len > BUFFER_SIZE - f->used) {
		flush(f);
		if (len > BUFFER_SIZE) {
			write_all(f, data, len);
			return;
		}
	}
	memcpy(f->buffer + f->used, data, len);
	f->used += len;
}

void outfile_printf(struct outfile *f, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0) {
		f->error = f->error ? f->error : -ENOMEM;
		return;
	}
	outfile_write(f, text, (size_t)n);
	free(text);
}

char *outfile_reserve(struct outfile *f, size_t need)
{
	if (need > RESERVE_MAX)
		abort(); /* a caller's constant, never a length that was read */
	if (need > BUFFER_SIZE - f->used)
		flush(f);
	return f->buffer + f->used;
}

void outfile_advance(struct outfile *f, size_t used)
{
	f->used += used;
}

uint64_t outfile_offset(const struct outfile *f)
{
	return f->flushed + f->used;
}

int outfile_error(const struct outfile *f)
{
	return f->error;
}

int outfile_check(const struct outfile *f, struct error *e)
{
	if (f->error)
		return error_set(e, f->error, "cannot write %s: %s", f->path, strerror(-f->error));
	return 0;
}

int outfile_patch(struct outfile *f, uint64_t offset, const void *data, size_t len, struct error *e)
{
	flush(f);
	if (!f->temporary)
		return error_set(e, ESPIPE, "cannot write %s: the format needs a regular file",
				 f->path);
	if (!f->error && pwrite(f->fd, data, len, (off_t)offset) != (ssize_t)len)
		f->error = errno ? -errno : -EIO;
	return f->error;
}

bool outfile_is_file(const struct outfile *f)
{
	return f->temporary;
}

/* Copies one piece of the file; the buffer is empty after a flush and serves as the carrier. */
static int move_piece(struct outfile *f, uint64_t from, uint64_t to, size_t len)
{
	if (pread(f->fd, f->buffer, len, (off_t)from) != (ssize_t)len ||
	    pwrite(f->fd, f->buffer, len, (off_t)to) != (ssize_t)len)
		return errno ? -errno : -EIO;
	return 0;
}

/* Moves the bytes from `from` to the end of the file so that they start at `to`. */
static int move_tail(struct outfile *f, uint64_t from, uint64_t to)
{
	uint64_t left = f->flushed - from, done = 0;
	int r = 0;

	while (left && !r) {
		size_t len = left < BUFFER_SIZE ? (size_t)left : BUFFER_SIZE;

		/* Away from where it goes: from the front to move down, from the back to move up. */
		if (to < from)
			r = move_piece(f, from + done, to + done, len);
		else
			r = move_piece(f, from + left - len, to + left - len, len);
		done += len;
		left -= len;
	}
	return r;
}

int outfile_replace(struct outfile *f, uint64_t offset, size_t old_len, const char *text,
		    struct error *e)
{
	size_t len = strlen(text);
	uint64_t end;

	flush(f);
	if (f->temporary && !f->error && len != old_len) {
		errno = 0;
		end = f->flushed - old_len + len;
		f->error = move_tail(f, offset + old_len, offset + len);
		if (!f->error &&
		    (ftruncate(f->fd, (off_t)end) < 0 || lseek(f->fd, (off_t)end, SEEK_SET) < 0))
			f->error = -errno;
		f->flushed = end;
	}
	return outfile_patch(f, offset, text, len, e);
}

int outfile_commit(struct outfile *f, struct error *e)
{
	flush(f);
	if (!f->error && close(f->fd) < 0)
		f->error = -errno;
	f->fd = -1;
	if (!f->error && f->temporary && rename(f->temporary, f->path) < 0)
		f->error = -errno;
	if (f->error)
		return outfile_check(f, e);
	free(f->temporary);
	f->temporary = NULL;
	return 0;
}
