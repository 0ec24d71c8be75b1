/* SPDX-License-Identifier: MIT */
/* profile_file: see profile_file.h. */
#include "device/profile/profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "device/boot/boot_index.h"

#define HEAD 16U
#define FOR_END (96U << 10)  /* bytes that only the end may use */
#define AT_ONCE (256U << 10) /* that are reserved, so that it is not done for every block */

static const uint8_t head[HEAD] = { 'K', 'I', 'S', 'E', 'K', 'I', '\r', '\n', 1 };

static int write_all(int fd, const uint8_t *p, size_t len, uint64_t at)
{
	ssize_t n;

	for (; len; p += n, at += (uint64_t)n, len -= (size_t)n) {
		n = pwrite(fd, p, len, (off_t)at);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return n ? -errno : -ENOSPC;
	}
	return 0;
}

/* So many bytes, and the end's behind them. What cannot be reserved is written without. */
static int reserve(struct profile_file *f, uint64_t len)
{
	uint64_t need = f->len + len + FOR_END;

	if (!f->can_reserve || need <= f->reserved)
		return 0;
	if (!fallocate(f->fd, FALLOC_FL_KEEP_SIZE, (off_t)f->len,
		       (off_t)(need + AT_ONCE - f->len))) {
		f->reserved = need + AT_ONCE;
		return 0;
	}
	if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINTR) {
		f->can_reserve = errno == EINTR;
		return 0;
	}
	/* A little more is there, perhaps, than could be reserved at once. */
	if (!fallocate(f->fd, FALLOC_FL_KEEP_SIZE, (off_t)f->len, (off_t)(need - f->len))) {
		f->reserved = need;
		return 0;
	}
	return -errno;
}

/* Nothing torn stays; if even that fails, readers know what a cut block is. */
static int append(struct profile_file *f, const uint8_t *p, uint32_t len)
{
	int r = write_all(f->fd, p, len, f->len);

	if (r < 0) {
		if (ftruncate(f->fd, (off_t)f->len) < 0)
			return r;
		f->reserved = 0;
		return r;
	}
	f->len += len;
	return 0;
}

static int put(struct block_out *o, const struct block *b, uint8_t *payload, bool must)
{
	struct profile_file *f = (struct profile_file *)o;
	const uint8_t *bytes;
	uint32_t len;
	int r = 0;

	if (f->failed && !must)
		return f->failed;
	bytes = block_encode(b, payload, &len);
	if (!f->failed)
		r = reserve(f, len);
	if (r < 0)
		f->failed = r;
	if (!r || must)
		r = append(f, bytes, len);
	if (r < 0 && !f->failed)
		f->failed = r;
	if (!r)
		o->bytes += len;
	return r;
}

int profile_file_open(struct profile_file *f, const char *path, struct error *e)
{
	int r;

	*f = (struct profile_file){ .out = { .put = put, .cause = LOSS_STORE },
				    .path = path,
				    .can_reserve = true };
	f->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (f->fd < 0)
		return error_set(e, errno, "cannot write %s: %s", path, strerror(errno));
	r = reserve(f, HEAD);
	if (r == 0)
		r = append(f, head, sizeof(head));
	return r < 0 ? error_set(e, -r, "cannot write %s: %s", path, strerror(-r)) : 0;
}

int profile_file_check(const struct profile_file *f, struct error *e)
{
	return f->failed ? error_set(e, -f->failed, "cannot write %s: %s", f->path,
				     strerror(-f->failed))
			 : 0;
}

/* What was reserved and is not needed goes back. */
int profile_file_finish(struct profile_file *f, struct error *e)
{
	int r = boot_index_put(f->fd, f->len, e);
	struct stat st;

	if (r < 0)
		return error_prefix(e, -r, "%s", f->path);
	if (fstat(f->fd, &st) < 0 || ftruncate(f->fd, st.st_size) < 0 || fsync(f->fd) < 0)
		return errno == EINVAL ? 0 : error_set(e, errno, "cannot write %s: %m", f->path);
	return 0;
}

void profile_file_close(struct profile_file *f)
{
	cleanup_closep(&f->fd);
	f->fd = -1;
}
