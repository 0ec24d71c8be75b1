/* SPDX-License-Identifier: MIT */
/* func_input: see func_input.h. */
#include "convert/func_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "convert/recognise.h"
#include "convert/source_graph_dat.h"
#include "convert/source_graph_text.h"
#include "convert/unpack.h"
#include "trace/func_buffer.h"
#include "trace/func_ksk.h"

static int open_file(const char *path, const uint8_t *head, size_t len, struct func_source **ret,
		     struct error *e);

static bool is_ksk(const uint8_t *head, size_t len)
{
	return recognise_bytes(head, len) == RECOGNISED_KSK;
}

/* Whether a file that starts so is of a format, and what opens it; a new format is a row. */
static const struct {
	bool (*is)(const uint8_t *head, size_t len);
	int (*open)(const char *path, struct func_source **ret, struct error *e);
} openers[] = {
	{ func_buffer_is_record, func_buffer_open },
	{ is_ksk, func_ksk_open_joined },
	{ graph_dat_is, source_graph_dat_open },
	{ graph_text_is, source_graph_text_open },
};

/* Of a compressed file what was in it, which has no name; the file is open as long as it is read. */
static int open_packed(const char *path, int fd, enum recognised format, struct func_source **ret,
		       struct error *e)
{
	_cleanup_close_ int plain = -1;
	uint8_t head[RECOGNISE_BYTES];
	struct import_bytes in;
	char name[32];
	struct stat st;
	void *map;
	ssize_t n;
	int r;

	if (fstat(fd, &st) < 0 || (uint64_t)st.st_size > SIZE_MAX)
		return error_set(e, EFBIG, "cannot read %s: %s", path, strerror(EFBIG));
	in.len = (size_t)st.st_size;
	map = mmap(NULL, in.len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	in.data = map;
	r = unpack_file(format, in, &plain, e);
	munmap(map, in.len);
	if (r < 0)
		return error_prefix(e, r, "cannot read %s", path);
	n = pread(plain, head, sizeof(head), 0);
	if (n < 0 || unpack_can(recognise_bytes(head, (size_t)n)))
		return error_set(e, EBADMSG, "cannot read %s: it holds no calls", path);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", plain);
	r = open_file(name, head, (size_t)n, ret, e);
	return r;
}

static int open_file(const char *path, const uint8_t *head, size_t len, struct func_source **ret,
		     struct error *e)
{
	size_t i;

	for (i = 0; i < sizeof(openers) / sizeof(openers[0]); i++)
		if (openers[i].is(head, len))
			return openers[i].open(path, ret, e);
	return error_set(e, EBADMSG, "cannot read %s: it holds no calls", path);
}

static int open_folder(const char *path, struct func_source **ret, struct error *e)
{
	_cleanup_free_ char *calls = NULL;

	if (asprintf(&calls, "%s/" FUNC_INPUT_CALLS, path) < 0)
		return error_set(e, ENOMEM, "cannot read %s: out of memory", path);
	return access(calls, R_OK) ? func_buffer_open_folder(path, ret, e)
				   : func_ksk_open_joined(calls, ret, e);
}

int func_input_open(const char *path, struct func_source **ret, struct error *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t head[RECOGNISE_BYTES];
	enum recognised format;
	struct stat st;
	size_t len = 0;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return open_folder(path, ret, e);
	while (len < sizeof(head) && (n = read(fd, head + len, sizeof(head) - len)) != 0) {
		if (n < 0 && errno != EINTR)
			return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
		len += n > 0 ? (size_t)n : 0;
	}
	format = recognise_bytes(head, len);
	return unpack_can(format) ? open_packed(path, fd, format, ret, e)
				  : open_file(path, head, len, ret, e);
}
