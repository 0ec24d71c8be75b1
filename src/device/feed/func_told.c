/* SPDX-License-Identifier: MIT */
/* func_told: see func_told.h. Lines of stream and count, between a head and an end. */
#include "device/feed/func_told.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define NEW_SUFFIX ".told.new"
#define HEAD "# kiseki told 1\n"
#define ON_MARK "# on\n"

FILE *func_told_start(const struct func_traced *t, bool was_on)
{
	int fd = func_traced_beside(t, NEW_SUFFIX, O_WRONLY | O_CREAT | O_TRUNC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f && fd >= 0)
		close(fd);
	if (f)
		fputs(was_on ? HEAD ON_MARK : HEAD, f);
	return f;
}

void func_told_put(FILE *f, uint32_t stream, uint64_t count)
{
	fprintf(f, "%" PRIu32 " %" PRIu64 "\n", stream, count);
}

int func_told_stop(FILE *f, const struct func_traced *t)
{
	char from[FUNC_TRACED_NAME_MAX + 16], to[FUNC_TRACED_NAME_MAX + 16];
	bool is_bad = ferror(f) != 0;

	is_bad |= fclose(f) != 0;
	snprintf(from, sizeof(from), "%s" NEW_SUFFIX, t->name);
	snprintf(to, sizeof(to), "%s" FUNC_TRACED_TOLD, t->name);
	if (!is_bad && renameat(t->folder, from, t->folder, to) == 0)
		return 0;
	unlinkat(t->folder, from, 0);
	return is_bad ? -EIO : -errno;
}

/* Behind the head; NULL: there is none. */
static FILE *open_told(const struct func_traced *t)
{
	int fd = func_traced_beside(t, FUNC_TRACED_TOLD, O_RDONLY);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[64];

	if (!f && fd >= 0)
		close(fd);
	if (f && (!fgets(line, sizeof(line), f) || strcmp(line, HEAD))) {
		fclose(f);
		return NULL;
	}
	return f;
}

bool func_told_was_on(const struct func_traced *t)
{
	FILE *f = open_told(t);
	char line[64];
	bool on;

	if (!f)
		return false;
	on = fgets(line, sizeof(line), f) && !strcmp(line, ON_MARK);
	fclose(f);
	return on;
}

int func_told_get(const struct func_traced *t, uint32_t stream, uint64_t *ret)
{
	FILE *f = open_told(t);
	uint64_t count;
	uint32_t found;
	char line[64];
	int r = -ENOENT;

	while (f && r < 0 && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNu32 " %" SCNu64, &found, &count) != 2 || found != stream)
			continue;
		*ret = count;
		r = 0;
	}
	if (f)
		fclose(f);
	return r;
}
