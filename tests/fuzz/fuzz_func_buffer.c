/* SPDX-License-Identifier: MIT */
/*
 * func_buffer: any bytes as the record of a process, and as its maps: read through, twice; and, where that is due, as
 * a file, alone and in a folder.
 */
#include <assert.h>
#include <errno.h>

#include "as_file.h"
#include "in_place.h"
#include "trace/func_buffer.h"

static int read_all(struct func_source *s, uint64_t *ret_n)
{
	struct error e = ERROR_INIT;
	struct func_item item;
	int r;

	*ret_n = 0;
	while ((r = s->ops->next(s, &item, &e)) == 1) {
		assert(item.thread < s->n_threads);
		assert(item.type == FUNC_ITEM_EVENT ? item.event.kind <= FUNC_OS
						    : item.loss.cause < LOSS_CAUSES);
		++*ret_n;
	}
	assert(r == 0 || r == -ENOMEM);
	return r;
}

static char folder[] = "/tmp/kiseki-fuzz-XXXXXX", record[64], maps[64];

static void remove_folder(void)
{
	unlink(record);
	unlink(maps);
	rmdir(folder);
}

static void make_folder(void)
{
	if (record[0])
		return;
	if (!mkdtemp(folder))
		abort();
	snprintf(record, sizeof(record), "%s/a", folder);
	snprintf(maps, sizeof(maps), "%s/a.maps", folder);
	atexit(remove_folder);
}

/* A new one: what replaces the bytes of a file may wait for the disk. */
static void write_file(const char *path, const uint8_t *data, size_t size)
{
	int fd;

	unlink(path);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

/* A folder of one record, which is its maps as well: lines may stand behind it. */
static void read_folder(const uint8_t *data, size_t size)
{
	struct func_source *s;
	uint64_t n;

	make_folder();
	write_file(record, data, size);
	write_file(maps, data, size);
	if (func_buffer_open_folder(folder, &s, NULL) == 0) {
		read_all(s, &n);
		func_source_free(s);
	}
}

static void read_file(const uint8_t *data, size_t size)
{
	struct func_source *s;
	struct as_file f;
	uint64_t n;

	as_file_init(&f, data, size);
	if (func_buffer_open(f.path, &s, NULL) == 0) {
		read_all(s, &n);
		func_source_free(s);
	}
	as_file_done(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct func_buffer_bytes bytes = { .data = data, .len = size };
	struct error e = ERROR_INIT;
	struct func_source *s;
	uint64_t n, again;
	int r;

	if (as_file_is_due(data, size)) {
		read_file(data, size);
		read_folder(data, size);
	}
	bytes.maps = (const char *)data;
	bytes.maps_len = size;
	if (func_buffer_open_memory(&bytes, &s, &e) < 0)
		return 0;
	r = read_all(s, &n);
	assert(s->ops->rewind(s, &e) == 0);
	if (read_all(s, &again) == 0 && r == 0)
		assert(n == again);
	func_source_free(s);
	return 0;
}
