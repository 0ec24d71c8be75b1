/* SPDX-License-Identifier: MIT */
/* func_objects: see func_objects.h. */
#include "device/feed/func_objects.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "device/feed/func_alive.h"

#define PATH_ROOM 4160U

static bool may_be_told(int32_t pid, const char *path)
{
	const char *name = strrchr(path, '/');
	char seen[PATH_ROOM];
	struct stat st;
	int n = snprintf(seen, sizeof(seen), "/proc/%d/root%s", pid, path);

	if (!name || n < 0 || n >= (int)sizeof(seen))
		return false;
	if (stat(seen, &st) == 0)
		return func_alive_has(pid, st.st_ino, name + 1) == 1;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_mode & S_IROTH;
}

void func_objects_tell(struct told_objects *to, int32_t pid, const struct func_meta_mapping *m)
{
	struct sample_mapping row = { .pid = pid,
				      .path = m->path.text,
				      .path_len = m->path.len,
				      .build_id_len = (uint8_t)m->build_id_len };
	char path[PATH_ROOM];

	if (!m->build_id_len || m->build_id_len > sizeof(row.build_id) || !m->path.len ||
	    m->path.len >= sizeof(path) || m->path.text[0] != '/')
		return;
	memcpy(row.build_id, m->build_id, m->build_id_len);
	memcpy(path, m->path.text, m->path.len);
	path[m->path.len] = 0;
	if (!told_objects_has(to, &row) && may_be_told(pid, path))
		told_objects_push(to, &row);
}
