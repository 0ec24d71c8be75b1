/* SPDX-License-Identifier: MIT */
/*
 * as_file: an input as a file without a name, for what reads files and pipes rather than memory. The path leads to it
 * as long as it is open here. Files take up to a hundred times as long as memory and are read by the same code; a
 * target that reads both asks which input is due for one.
 */
#ifndef KISEKI_FUZZ_AS_FILE_H
#define KISEKI_FUZZ_AS_FILE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define AS_FILE_EVERY 64U  /* inputs of a search */
#define AS_PIPE_MAX 65536U /* bytes: what a pipe takes while nobody reads */

struct as_file {
	int fd;
	char path[32];
};

static inline void as_file_set(struct as_file *f, int fd)
{
	f->fd = fd;
	snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", fd);
}

static inline void as_file_init(struct as_file *f, const uint8_t *data, size_t size)
{
	as_file_set(f, memfd_create("input", MFD_CLOEXEC));
	if (f->fd < 0 || write(f->fd, data, size) != (ssize_t)size || lseek(f->fd, 0, SEEK_SET))
		abort();
}

/* A pipe that has ended; of a long input its first part. */
static inline void as_file_init_pipe(struct as_file *f, const uint8_t *data, size_t size)
{
	int ends[2];

	size = size < AS_PIPE_MAX ? size : AS_PIPE_MAX;
	if (pipe2(ends, O_CLOEXEC) || write(ends[1], data, size) != (ssize_t)size)
		abort();
	close(ends[1]);
	as_file_set(f, ends[0]);
}

/* In a search one input of many, which its bytes choose; in a replay each. */
static inline bool as_file_is_due(const uint8_t *data, size_t size)
{
#ifdef FUZZ_SEARCH
	unsigned int sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += data[i];
	return sum % AS_FILE_EVERY == 0;
#else
	(void)data;
	(void)size;
	return true;
#endif
}

static inline void as_file_done(struct as_file *f)
{
	close(f->fd);
}

#endif
