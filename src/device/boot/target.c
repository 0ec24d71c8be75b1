/* SPDX-License-Identifier: MIT */
/* target: see target.h. */
#include "device/boot/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "command/value.h"
#include "device/boot/words.h"

#define TEXT 4096U
#define LISTENING "0A"

static const char *const types[] = { "", "unit:", "process:", "file:", "port:" };

int target_parse(struct target *ret, const char *text)
{
	struct target t = { .type = TARGET_NONE };
	uint64_t port;
	size_t i, n;

	for (i = TARGET_UNIT; *text && i <= TARGET_PORT; i++) {
		n = strlen(types[i]);
		if (!strncmp(text, types[i], n)) {
			t.type = (enum target_type)i;
			text += n;
			break;
		}
	}
	if (t.type == TARGET_NONE && *text)
		return -EINVAL;
	if (t.type != TARGET_NONE && value_text(t.name, sizeof(t.name), text) < 0)
		return -EINVAL;
	if (t.type == TARGET_PORT) {
		if (value_number(&port, text, 65535) < 0 || !port)
			return -EINVAL;
		t.port = (uint32_t)port;
	}
	if (t.type == TARGET_FILE && t.name[0] != '/')
		return -EINVAL;
	*ret = t;
	return 0;
}

/* "  0: 0100007F:1F90 00000000:0000 0A …": the port behind the colon, in hexadecimal. */
static bool is_listener(struct words *w, uint32_t port)
{
	const char *word;
	uint32_t found = 0;
	size_t len, i;

	if (!words_next(w, &word, &len) || !words_next(w, &word, &len) || len < 5 ||
	    word[len - 5] != ':')
		return false;
	for (i = len - 4; i < len; i++) {
		int digit = hex_digit(word[i]);

		if (digit < 0)
			return false;
		found = found << 4 | (uint32_t)digit;
	}
	return found == port && words_next(w, &word, &len) && words_next(w, &word, &len) &&
	       words_is(word, len, LISTENING);
}

bool target_has_listener(const char *text, size_t len, uint32_t port)
{
	struct words w;

	words_init(&w, text, len);
	do
		if (is_listener(&w, port))
			return true;
	while (words_next_line(&w));
	return false;
}

static bool check_port(const struct target *t, int proc, const char *path)
{
	_cleanup_close_ int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	char text[TEXT];
	size_t have = 0, whole;
	const char *end;
	ssize_t n;

	while (fd >= 0 && (n = read(fd, text + have, sizeof(text) - have)) > 0) {
		have += (size_t)n;
		end = memrchr(text, '\n', have);
		whole = end ? (size_t)(end - text) + 1 : have;
		if (target_has_listener(text, whole, t->port))
			return true;
		memmove(text, text + whole, have - whole);
		have -= whole;
	}
	return false;
}

bool target_check(struct target *t, const char *root, int proc, uint64_t now_ns)
{
	char path[64 + TARGET_NAME_MAX];
	struct stat st;

	switch (t->type) {
	case TARGET_FILE:
		snprintf(path, sizeof(path), "%.63s%s", root, t->name);
		return !lstat(path, &st);
	case TARGET_PORT:
		if (now_ns < t->look_ns)
			return false;
		t->look_ns = now_ns + TARGET_PORT_NS;
		return check_port(t, proc, "1/net/tcp") || check_port(t, proc, "1/net/tcp6");
	default:
		return false;
	}
}

bool target_is_process(const struct target *t, const char *comm, size_t comm_len, const char *args,
		       size_t args_len)
{
	size_t len = strnlen(args, args_len);
	const char *base = len ? memrchr(args, '/', len) : NULL;

	if (t->type != TARGET_PROCESS)
		return false;
	base = base ? base + 1 : args;
	return words_is(comm, comm_len, t->name) || words_is(args, len, t->name) ||
	       words_is(base, len - (size_t)(base - args), t->name);
}
