/* SPDX-License-Identifier: MIT */
/* tracefs: see tracefs.h. */
#include "device/agent/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "ftrace/bytes.h"
#include "ftrace/format.h"

int tracefs_find(const char **ret, struct error *e)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char path[TRACEFS_PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s/instances", places[i]);
		if (!access(path, F_OK)) {
			*ret = places[i];
			return 0;
		}
		if (errno == EACCES)
			return error_set(e, EACCES,
					 "cannot enter %s: not root; run it as root, or "
					 "with CAP_DAC_OVERRIDE",
					 places[i]);
	}
	if (access(places[0], F_OK))
		return error_set(e, ENOENT,
				 "this kernel has no tracefs: it was built without "
				 "CONFIG_TRACING, or /sys is not mounted");
	return error_set(e, ENOENT, "tracefs is not mounted: mount -t tracefs tracefs %s",
			 places[0]);
}

static int join(char path[TRACEFS_PATH_MAX], const char *folder, const char *name, struct error *e)
{
	if (snprintf(path, TRACEFS_PATH_MAX, "%s/%s", folder, name) >= (int)TRACEFS_PATH_MAX)
		return error_set(e, ENAMETOOLONG, "cannot open %s/%s: its path is too long", folder,
				 name);
	return 0;
}

/* Whose instance it is by its name, 0 if nobody's. */
static pid_t get_owner(const char *name, const char *prefix)
{
	const char *dash = strrchr(name, '-');
	unsigned long pid;
	char *end;

	if (strncmp(name, prefix, strlen(prefix)) || !dash || dash[1] < '1' || dash[1] > '9')
		return 0;
	pid = strtoul(dash + 1, &end, 10);
	return *end || pid > INT32_MAX ? 0 : (pid_t)pid;
}

int tracefs_sweep(const char *root, const char *prefix)
{
	char path[TRACEFS_PATH_MAX + NAME_MAX + 2];
	struct dirent *each;
	pid_t owner;
	int n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/instances", root);
	d = opendir(path);
	while (d && (each = readdir(d))) {
		owner = get_owner(each->d_name, prefix);
		if (!owner || !kill(owner, 0) || errno != ESRCH)
			continue;
		snprintf(path, sizeof(path), "%s/instances/%s", root, each->d_name);
		n += !rmdir(path);
	}
	if (d)
		closedir(d);
	return n;
}

int tracefs_read(const char *folder, const char *name, char *out, uint32_t room, struct error *e)
{
	char path[TRACEFS_PATH_MAX];
	_cleanup_close_ int fd = -1;
	uint32_t len = 0;
	ssize_t n;
	int r = join(path, folder, name, e);

	if (r < 0)
		return r;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(e, errno, "cannot open %s: %m", path);
	while (len < room - 1 && (n = read(fd, out + len, room - 1 - len)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(e, errno, "cannot read %s: %m", path);
		len += (uint32_t)n;
	}
	if (len == room - 1)
		return error_set(e, EFBIG, "cannot read %s: it has more than %u bytes", path, len);
	out[len] = 0;
	return (int)len;
}

int tracefs_write(const char *folder, const char *name, const char *text, struct error *e)
{
	char path[TRACEFS_PATH_MAX];
	_cleanup_close_ int fd = -1;
	int r = join(path, folder, name, e);
	ssize_t n;

	if (r < 0)
		return r;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(e, errno, "cannot open %s: %m", path);
	do
		n = write(fd, text, strlen(text));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_set(e, errno, "cannot write \"%s\" to %s: %m", text, path);
	return 0;
}

int tracefs_read_page(int fd, uint8_t *page, uint32_t bytes)
{
	uint32_t done = 0;
	ssize_t n;

	do {
		n = read(fd, page + done, bytes - done);
		if (n > 0)
			done += (uint32_t)n;
	} while ((n > 0 && done < bytes) || (n < 0 && errno == EINTR));
	if (done || n == 0)
		return (int)done;
	return errno == EAGAIN ? 0 : -errno;
}

static bool parse_line(const char *line, const char *name, uint64_t *ret)
{
	size_t len = strlen(name);
	uint64_t v = 0;

	if (strncmp(line, name, len) || line[len] != ':')
		return false;
	for (line += len + 1; *line == ' '; line++)
		;
	if (*line < '0' || *line > '9')
		return false;
	for (; *line >= '0' && *line <= '9'; line++)
		v = v * 10 + (uint64_t)(*line - '0');
	*ret = v;
	return true;
}

int tracefs_get_pages(const char *folder, struct page_layout *ret, uint32_t *ret_bytes,
		      struct error *e)
{
	const struct format_field *data;
	char text[TRACEFS_TEXT_MAX];
	struct format f;
	int n, r;

	n = tracefs_read(folder, "events/header_page", text, sizeof(text), e);
	if (n < 0)
		return n;
	r = page_layout_parse(ret, text, (size_t)n, BYTES_HOST_BIG, e);
	if (r < 0 || format_parse(&f, text, (size_t)n, e) < 0)
		return r < 0 ? r : -EBADMSG;
	data = format_get_field(&f, "data");
	*ret_bytes = (uint32_t)data->offset + data->size;
	if (tracefs_read(folder, "buffer_subbuf_size_kb", text, sizeof(text), NULL) > 0)
		*ret_bytes = (uint32_t)strtoul(text, NULL, 10) << 10;
	return 0;
}

int tracefs_parse_stats(struct tracefs_stats *ret, const char *text)
{
	const struct {
		const char *name;
		uint64_t *field;
	} lines[] = {
		{ "entries", &ret->entries },
		{ "overrun", &ret->overrun },
		{ "commit overrun", &ret->commit_overrun },
		{ "dropped events", &ret->dropped },
		{ "read events", &ret->read },
	};
	const uint32_t all = (1U << sizeof(lines) / sizeof(lines[0])) - 1;
	uint32_t found = 0, i;

	for (; text; text = strchr(text, '\n'), text = text ? text + 1 : NULL)
		for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
			if (parse_line(text, lines[i].name, lines[i].field))
				found |= 1U << i;
	return found == all ? 0 : -EBADMSG;
}

uint64_t tracefs_widen(uint64_t known, uint64_t count)
{
	uint32_t more = (uint32_t)(count - known);

	if (count >= known)
		return count;
	return more <= INT32_MAX ? known + more : known;
}
