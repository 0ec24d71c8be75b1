/* SPDX-License-Identifier: MIT */
/* tar: see tar.h. */
#include "collector/tar.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

#define PIECE 65536U
#define NAME_MAX_LEN 100U

/* Octal digits and a NUL; what they cannot hold, big-endian behind a byte of 0x80. */
static void put_number(uint8_t *p, size_t len, uint64_t v)
{
	size_t i;

	if (v >> (3 * (len - 1)) && 3 * (len - 1) < 64) {
		memset(p, 0, len);
		p[0] = 0x80;
		for (i = 0; i < 8; i++)
			p[len - 1 - i] = (uint8_t)(v >> (8 * i));
		return;
	}
	p[len - 1] = 0;
	for (i = len - 1; i--; v >>= 3)
		p[i] = (uint8_t)('0' + (v & 7));
}

void tar_encode_head(uint8_t out[TAR_BLOCK], const char *name, uint64_t size, uint64_t modified_s)
{
	unsigned int sum = 0, i;

	memset(out, 0, TAR_BLOCK);
	memcpy(out, name, strnlen(name, NAME_MAX_LEN));
	put_number(out + 100, 8, 0644);
	put_number(out + 108, 8, 0);
	put_number(out + 116, 8, 0);
	put_number(out + 124, 12, size);
	put_number(out + 136, 12, modified_s);
	memset(out + 148, ' ', 8); /* the sum's own place counts as blanks */
	out[156] = '0';
	memcpy(out + 257,
	       "ustar\0"
	       "00",
	       8);
	for (i = 0; i < TAR_BLOCK; i++)
		sum += out[i];
	put_number(out + 148, 7, sum);
}

static int copy_file(struct outfile *out, int fd, uint64_t size, const char *name, struct error *e)
{
	static const uint8_t zeros[TAR_BLOCK];
	_cleanup_free_ char *piece = malloc(PIECE);
	uint64_t left = size;
	ssize_t n;

	if (!piece)
		return error_set(e, ENOMEM, "cannot pack %s: out of memory", name);
	while (left) {
		n = read(fd, piece, left < PIECE ? (size_t)left : PIECE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_set(e, n < 0 ? errno : EIO, "cannot pack %s: %s", name,
					 n < 0 ? strerror(errno) : "it became shorter");
		outfile_write(out, piece, (size_t)n);
		left -= (uint64_t)n;
	}
	outfile_write(out, zeros, (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK);
	return outfile_check(out, e);
}

static int put_file(struct outfile *out, const struct tar_options *o, const char *file,
		    struct error *e)
{
	_cleanup_close_ int folder = open(o->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int fd = -1;
	char name[NAME_MAX_LEN + 1];
	uint8_t head[TAR_BLOCK];
	struct stat st;

	if (folder >= 0)
		fd = openat(folder, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(e, errno, "cannot pack %s: %s", file, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return 0;
	if (snprintf(name, sizeof(name), "%.64s/%s", o->name, file) >= (int)sizeof(name))
		return error_set(e, ENAMETOOLONG, "cannot pack %s: its name is too long", file);
	tar_encode_head(head, name, (uint64_t)st.st_size, o->modified_s);
	outfile_write(out, head, sizeof(head));
	return copy_file(out, fd, (uint64_t)st.st_size, file, e);
}

int tar_write(struct outfile *out, const struct tar_options *o, struct error *e)
{
	static const uint8_t zeros[TAR_BLOCK];
	struct dirent **list = NULL;
	int n = scandir(o->folder, &list, NULL, alphasort), i, r = 0;

	if (n < 0)
		return error_set(e, errno, "cannot pack %s: %s", o->folder, strerror(errno));
	for (i = 0; i < n; i++) {
		if (r >= 0 && list[i]->d_name[0] != '.')
			r = put_file(out, o, list[i]->d_name, e);
		free(list[i]);
	}
	free(list);
	outfile_write(out, zeros, sizeof(zeros));
	outfile_write(out, zeros, sizeof(zeros));
	return r;
}
