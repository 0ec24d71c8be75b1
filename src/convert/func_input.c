/* SPDX-License-Identifier: MIT */
/* func_input: see func_input.h. */
#include "convert/func_input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "convert/source_graph_dat.h"
#include "convert/source_graph_text.h"
#include "trace/func_buffer.h"
#include "wire/func_buffer.h"

#define HEAD 4096U

int func_input_open(const char *path, struct func_source **ret, struct error *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t head[HEAD];
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return func_buffer_open_folder(path, ret, e);
	n = read(fd, head, sizeof(head));
	if (n < 0)
		return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	if (n >= 8 && !memcmp(head, FUNC_BUFFER_MAGIC, 8))
		return func_buffer_open(path, ret, e);
	if (graph_dat_is(head, (size_t)n))
		return source_graph_dat_open(path, ret, e);
	if (graph_text_is(head, (size_t)n))
		return source_graph_text_open(path, ret, e);
	return error_set(e, EINVAL, "cannot read %s: it holds no calls", path);
}
