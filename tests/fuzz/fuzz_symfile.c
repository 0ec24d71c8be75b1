/* SPDX-License-Identifier: MIT */
/* symfile: any bytes as a table, also with a right head: all that is found is a string in it. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symfile.h"
#include "wire/crc32c.h"

static void look(const uint8_t *bytes, size_t size)
{
	struct elf_segment *segments = NULL;
	struct symfile_symbol s;
	struct symfile *f = NULL;
	const char *file = NULL;
	uint32_t line = 0;
	uint64_t i, base;
	size_t n;
	int r;

	if (symfile_open_memory(bytes, size, &f, NULL) < 0)
		return;
	base = get_le64(bytes + 24);
	for (i = 0; i < 512; i++) {
		const uint64_t at = base + (i < 256 ? i * 16 : i << (i % 56));

		if (symfile_find(f, at, &s))
			assert(strlen(s.name) < size && strlen(s.other) < size);
		if (symfile_find_line(f, at, &file, &line))
			assert(*file && strlen(file) < size && line);
	}
	r = symfile_dup_segments(f, &segments, &n);
	assert(r == -ENOMEM || (r == 0 && n <= ELF_SEGMENTS_MAX));
	free(segments);
	symfile_check(f);
	symfile_close(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	look(copy, size);
	if (size >= SYMFILE_HEAD_LEN) {
		memcpy(copy, SYMFILE_MAGIC, 8);
		copy[8] = SYMFILE_VERSION;
		put_le64(copy + 16, size);
		put_le32(copy + 12,
			 crc32c_add(crc32c_add(0, copy, 12), copy + 16, SYMFILE_HEAD_LEN - 16));
		look(copy, size);
	}
	free(copy);
	return 0;
}
