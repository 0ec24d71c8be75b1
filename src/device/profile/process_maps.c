/* SPDX-License-Identifier: MIT */
/* process_maps: see process_maps.h. */
#include "device/profile/process_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hex.h"

#define STAT_ROOM 1024U
#define DELETED " (deleted)"

/* --- lines --- */

/* A number in base 16 and what stands behind it; NULL: there is none. */
static const char *take_hex(const char *p, char behind, uint64_t *ret)
{
	const char *start = p;
	int digit;

	*ret = 0;
	for (; p && (digit = hex_digit(*p)) >= 0; p++)
		*ret = *ret << 4 | (unsigned)digit;
	return p && p != start && p - start <= 16 && *p == behind ? p + 1 : NULL;
}

bool process_maps_parse(const char *line, struct sample_mapping *ret, uint64_t *ret_device,
			uint64_t *ret_inode)
{
	struct sample_mapping m = { 0 };
	uint64_t major, minor;
	const char *p = take_hex(line, '-', &m.from);
	char *end;

	p = take_hex(p, ' ', &m.to);
	if (!p || strlen(p) < 5 || p[4] != ' ' || p[2] != 'x' || m.from >= m.to)
		return false;
	p = take_hex(p + 5, ' ', &m.offset);
	p = take_hex(p, ':', &major);
	p = take_hex(p, ' ', &minor);
	if (!p || *p < '0' || *p > '9')
		return false;
	*ret_inode = strtoull(p, &end, 10);
	*ret_device = major << 32 | minor;
	m.path = end + strspn(end, " ");
	m.path_len = (uint32_t)strlen(m.path);
	if (!m.path_len)
		return false;
	*ret = m;
	return true;
}

/* A file that was replaced since is not the one that is mapped. */
static bool is_deleted(const struct sample_mapping *m)
{
	size_t len = sizeof(DELETED) - 1;

	return m->path_len > len && !memcmp(m->path + m->path_len - len, DELETED, len);
}

static void put_line(struct profile_meta *m, struct object_ids *ids, const char *line,
		     const struct sample_mapping *who)
{
	struct sample_mapping row;
	uint64_t device, inode;

	if (!process_maps_parse(line, &row, &device, &inode))
		return;
	row.pid = who->pid;
	row.tick = who->tick;
	if (is_deleted(&row))
		row.path_len -= (uint32_t)sizeof(DELETED) - 1;
	else
		object_ids_get(ids, &row, device, inode);
	profile_meta_put_mapping(m, &row);
}

/* Lines of the text; what is behind the last of them moves to the front. A line that is too long ends it all. */
static size_t put_lines(struct profile_meta *m, struct object_ids *ids, char *text, size_t len,
			const struct sample_mapping *who)
{
	char *line = text, *end;

	while ((end = memchr(line, '\n', len - (size_t)(line - text)))) {
		*end = 0;
		put_line(m, ids, line, who);
		line = end + 1;
	}
	len -= (size_t)(line - text);
	memmove(text, line, len);
	return len;
}

int process_maps_put(struct profile_meta *m, struct object_ids *ids, int32_t pid, uint64_t tick)
{
	struct sample_mapping who = { .pid = pid, .tick = tick };
	char text[2 * PROCESS_MAPS_LINE], path[32];
	_cleanup_close_ int fd = -1;
	size_t len = 0;
	ssize_t n;
	uint32_t reads;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (reads = 0; reads < PROCESS_MAPS_MAX && len < sizeof(text); reads++) {
		n = read(fd, text + len, sizeof(text) - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		len = put_lines(m, ids, text, len + (size_t)n, &who);
	}
	return 0;
}

/* --- who it is --- */

static bool read_small(const char *path, char text[STAT_ROOM])
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, STAT_ROOM - 1);

	text[n > 0 ? n : 0] = 0;
	return n > 0;
}

/* The name is in parentheses and may have some itself. */
bool process_stat_parse(const char *text, struct process_stat *ret)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	struct process_stat s = { 0 };
	long parent, threads;

	if (!open || !close || close < open ||
	    sscanf(close + 1,
		   " %c %ld %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld",
		   &s.state, &parent, &threads) != 3)
		return false;
	s.parent = (int32_t)parent;
	s.threads = threads > 0 ? (uint32_t)threads : 1;
	sched_comm_set(s.comm, open + 1, (size_t)(close - open - 1));
	*ret = s;
	return true;
}

bool process_stat_get(int32_t pid, struct process_stat *ret)
{
	char path[32], text[STAT_ROOM];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	return read_small(path, text) && process_stat_parse(text, ret);
}

bool process_comm_get(int32_t pid, int32_t tid, char ret[SCHED_COMM_LEN])
{
	char path[48], text[STAT_ROOM];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	if (!read_small(path, text))
		return false;
	sched_comm_set(ret, text, strcspn(text, "\n"));
	return true;
}
