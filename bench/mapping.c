/* SPDX-License-Identifier: MIT */
/* mapping: see mapping.h. */
#include "mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"

/* Populated at once, so that no measurement pays for the first touch of a page. */
int mapping_open(struct import_bytes *ret, const char *path, struct error *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *data;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	if (st.st_size == 0)
		return error_set(e, EBADMSG, "cannot read %s: it is empty", path);
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (data == MAP_FAILED)
		return error_set(e, errno, "cannot map %s: %s", path, strerror(errno));
	*ret = (struct import_bytes){ data, (size_t)st.st_size };
	return 0;
}

void mapping_close(struct import_bytes *m)
{
	if (m->data)
		munmap((void *)(uintptr_t)m->data, m->len);
	*m = (struct import_bytes){ NULL, 0 };
}
