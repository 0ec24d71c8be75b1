/* SPDX-License-Identifier: MIT */
/* graph_file: see graph_file.h. */
#include "convert/graph_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"

int graph_file_open(const char *path, func_child_fn open_bytes, struct func_source **ret,
		    struct error *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct import_bytes in;
	struct stat st;
	void *map;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	if (!st.st_size)
		return error_set(e, EBADMSG, "cannot read %s: it is empty", path);
	if ((uint64_t)st.st_size > SIZE_MAX)
		return error_set(e, EFBIG, "cannot read %s: %s", path, strerror(EFBIG));
	in.len = (size_t)st.st_size;
	map = mmap(NULL, in.len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	in.data = map;
	r = func_child_open(ret, open_bytes, in, e);
	return r < 0 ? error_prefix(e, -r, "cannot read %s", path) : 0;
}
