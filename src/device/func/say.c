/* SPDX-License-Identifier: MIT */
/*
 * say: see say.h. The C library's texts for errors are translated, and may take locks and memory for
 * that, which a hook must not.
 */
#include "device/func/say.h"

#include "device/func/sys.h"
#include "wire/types.h"

#define LINE_MAX_BYTES 1400U

static const struct {
	int number;
	const char *text;
} reasons[] = {
	{ 0, "invalid value or unknown variable" },
	{ EACCES, "Permission denied" },
	{ EPERM, "Operation not permitted" },
	{ ENOENT, "No such file or directory" },
	{ ENOTDIR, "Not a directory" },
	{ EROFS, "Read-only file system" },
	{ ENOSPC, "No space left on device" },
	{ EDQUOT, "Disk quota exceeded" },
	{ ENOMEM, "Cannot allocate memory" },
	{ EMFILE, "Too many open files" },
	{ ENFILE, "Too many open files in system" },
	{ ENOSYS, "Function not implemented" },
	{ ENODEV, "The file system cannot be mapped" },
	{ EEXIST, "File exists" },
	{ ECONNREFUSED, "Connection refused" },
	{ ECONNRESET, "Closed without an answer" },
	{ EPIPE, "Closed without an answer" },
	{ ETIMEDOUT, "No answer" },
	{ EPROTO, "The answer makes no sense" },
	{ EPROTOTYPE, "Another kind of socket" },
	{ EAFNOSUPPORT, "Address family not supported" },
	{ EBUSY, "It has as many programs as it can take" },
	{ EOPNOTSUPP, "It has another version" },
	{ EINVAL, "It does not take this program" },
};

static void add(char line[LINE_MAX_BYTES], const char *text)
{
	size_t at = strlen(line), len = strlen(text);

	if (len >= LINE_MAX_BYTES - at)
		len = LINE_MAX_BYTES - at - 1;
	memcpy(line + at, text, len);
	line[at + len] = '\0';
}

const char *say_reason(int number)
{
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (reasons[i].number == number)
			return reasons[i].text;
	return "unknown reason";
}

void say_failure(const char *verb, const char *object, const char *reason)
{
	static uint32_t said;
	char line[LINE_MAX_BYTES] = "libkiseki-func: cannot ";

	if (__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
		return;
	add(line, verb);
	add(line, " ");
	add(line, object);
	add(line, ": ");
	add(line, reason);
	add(line, "; this program is not traced\n");
	sys_write(STDERR_FILENO, line, strlen(line));
}
