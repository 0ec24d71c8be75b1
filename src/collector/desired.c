/* SPDX-License-Identifier: MIT */
/* desired: see desired.h. */
#include "collector/desired.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "wire/crc32c.h"

#define MAGIC "kiseki desired 1\n"
#define MAGIC_LEN (sizeof(MAGIC) - 1)
#define ROW_MAX 4096U
#define FILE_MAX (256U << 20) /* the largest row of as many devices as a registry has */

static int decode_row(const uint8_t *p, size_t len, struct desired *ret)
{
	struct byte_reader r;
	const uint8_t *id;
	uint64_t verb;

	reader_init(&r, p, len);
	id = reader_bytes(&r, sizeof(ret->device.bytes));
	verb = reader_varint(&r);
	if (r.bad || verb > INSTRUCTION_STOP || config_decode(&ret->config, &r) != WIRE_OK)
		return -EBADMSG;
	memcpy(ret->device.bytes, id, sizeof(ret->device.bytes));
	ret->verb = (uint8_t)verb;
	return 0;
}

int desired_decode(const uint8_t *in, size_t len, desired_fn fn, void *context)
{
	struct byte_reader r;
	struct desired d;
	const uint8_t *row;
	uint64_t n;
	int result = 0;

	if (len < MAGIC_LEN + 4 || memcmp(in, MAGIC, MAGIC_LEN) ||
	    crc32c_add(0, in, len - 4) != get_le32(in + len - 4))
		return -EBADMSG;
	reader_init(&r, in + MAGIC_LEN, len - MAGIC_LEN - 4);
	while (reader_left(&r) && result >= 0) {
		n = reader_varint(&r);
		row = reader_bytes(&r, n);
		if (!row || decode_row(row, (size_t)n, &d) < 0)
			return -EBADMSG;
		result = fn(context, &d);
	}
	return result < 0 ? result : 0;
}

static int read_all(int fd, uint8_t *out, size_t len)
{
	size_t at = 0;
	ssize_t n;

	while (at < len) {
		n = read(fd, out + at, len - at);
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += (size_t)n;
	}
	return 0;
}

int desired_read(const char *dir, desired_fn fn, void *context, struct error *e)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	_cleanup_close_ int fd = -EBADF;
	char path[PATH_MAX];
	struct stat st;
	int r;

	if (snprintf(path, sizeof(path), "%s/desired", dir) >= (int)sizeof(path))
		return error_set(e, ENAMETOOLONG, "cannot read %s/desired: too long a name", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	if (st.st_size > (off_t)FILE_MAX || !(bytes = malloc((size_t)st.st_size + 1)))
		return error_set(e, ENOMEM, "cannot read %s: out of memory", path);
	r = read_all(fd, bytes, (size_t)st.st_size);
	if (r < 0)
		return error_set(e, -r, "cannot read %s: %s", path, strerror(-r));
	r = desired_decode(bytes, (size_t)st.st_size, fn, context);
	if (r == -EBADMSG)
		return error_set(e, EBADMSG, "cannot read %s: it is damaged", path);
	return r;
}

static uint8_t *put_row(uint8_t *out, const struct desired *d)
{
	uint8_t row[ROW_MAX];
	struct byte_writer w;
	size_t len;

	memcpy(row, d->device.bytes, sizeof(d->device.bytes));
	row[sizeof(d->device.bytes)] = d->verb;
	writer_init(&w, row + sizeof(d->device.bytes) + 1, sizeof(row) - 17);
	config_encode(&w, &d->config);
	len = writer_len(&w) + 17;
	out = varint_put(out, len);
	memcpy(out, row, len);
	return out + len;
}

/* Writes, syncs, renames, and syncs the folder: whatever happens, one of the two files is there. */
static int replace(const char *dir, const char *path, const uint8_t *bytes, size_t len)
{
	_cleanup_close_ int fd = -EBADF, folder = -EBADF;
	char partial[PATH_MAX + 16];
	size_t at = 0;
	ssize_t n = 0;

	snprintf(partial, sizeof(partial), "%s.partial", path);
	fd = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	for (; fd >= 0 && at < len && n >= 0; at += (size_t)n)
		n = write(fd, bytes + at, len - at);
	if (fd < 0 || n < 0 || fdatasync(fd) < 0 || rename(partial, path) < 0)
		return -errno;
	folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return folder < 0 || fsync(folder) < 0 ? -errno : 0;
}

int desired_write(const char *dir, const struct desired *rows, size_t n, struct error *e)
{
	_cleanup_free_ uint8_t *bytes = malloc(MAGIC_LEN + 4 + n * (ROW_MAX + 2));
	char path[PATH_MAX];
	uint8_t *p = bytes;
	size_t i;
	int r;

	if (!bytes || snprintf(path, sizeof(path), "%s/desired", dir) >= (int)sizeof(path))
		return error_set(e, ENOMEM, "cannot write %s/desired: out of memory", dir);
	memcpy(p, MAGIC, MAGIC_LEN);
	p += MAGIC_LEN;
	for (i = 0; i < n; i++)
		p = put_row(p, &rows[i]);
	put_le32(p, crc32c_add(0, bytes, (size_t)(p - bytes)));
	r = replace(dir, path, bytes, (size_t)(p - bytes) + 4);
	if (r < 0)
		return error_set(e, -r, "cannot write %s: %s", path, strerror(-r));
	return 0;
}

void desired_make(const char *dir)
{
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof(path), "%s/desired", dir) < (int)sizeof(path) &&
	    stat(path, &st) < 0 && errno == ENOENT)
		desired_write(dir, NULL, 0, NULL);
}
