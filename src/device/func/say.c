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
};

static void add(char line[LINE_MAX_BYTES], const char *text)
{
	size_t at = strlen(line), len = strlen(text);

	if (len >= LINE_MAX_BYTES - at)
		len = LINE_MAX_BYTES - at - 1;
	memcpy(line + at, text, len);
	line[at + len] = '\0';
}

void say_failure(const char *verb, const char *object, int number)
{
	static uint32_t said;
	char line[LINE_MAX_BYTES] = "libkiseki-func: cannot ";
	const char *reason = "unknown reason";
	size_t i;

	if (__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
		return;
	for (i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (reasons[i].number == number)
			reason = reasons[i].text;
	add(line, verb);
	add(line, " ");
	add(line, object);
	add(line, ": ");
	add(line, reason);
	add(line, "; this program is not traced\n");
	sys_write(STDERR_FILENO, line, strlen(line));
}
