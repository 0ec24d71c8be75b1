/* SPDX-License-Identifier: MIT */
/*
 * The record of a process that is gone, and its maps, as the agent finds them: whatever they are, the
 * blocks that it makes of them decode, and both files go.
 *
 *	le32 bytes of maps | maps | record, which is filled up with zeros
 */
#undef NDEBUG /* what is asserted here is also done here */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "in_place.h"
#include "tools/func_rig.h"
#include "wire/varint.h"

#define RECORD_BYTES (64U << 10)
#define NAME                                                                                       \
	"sample.4194304" /* no process has that number, and there are few whose map root may not read */

static struct func_rig rig;

static void clean_up(void)
{
	func_rig_done(&rig);
}

static void write_file(const struct func_rig *r, const char *name, const uint8_t *data, size_t len)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/records/%s", r->folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert(fd >= 0 && write(fd, data, len) == (ssize_t)len);
	assert(ftruncate(fd, strcmp(name, NAME) ? (off_t)len : (off_t)RECORD_BYTES) == 0);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct func_rig_options small = { 1U << 20, 16, 1U << 20 };
	char path[128];
	size_t maps;

	if (size < 4 || size > RECORD_BYTES)
		return 0;
	maps = get_le32(data);
	maps = maps < size - 4 ? maps : size - 4;
	if (!rig.feed) {
		func_rig_init(&rig, &small);
		atexit(clean_up);
	}
	write_file(&rig, NAME, data + 4 + maps, size - 4 - maps);
	write_file(&rig, NAME ".maps", data + 4, maps);
	func_rig_restart(&rig);
	do {
		func_rig_turn(&rig, 20000);
		func_rig_collect(&rig);
	} while (func_feed_next(rig.feed) != UINT64_MAX);
	snprintf(path, sizeof(path), "%s/records/" NAME, rig.folder);
	assert(access(path, F_OK) < 0);
	func_rig_forget(&rig);
	return 0;
}
