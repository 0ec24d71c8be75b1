/* SPDX-License-Identifier: MIT */
/* setting: see setting.h. */
#include "command/setting.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "command/value.h"

#define SHOWN 100 /* of a wrong value, in the message */

/* --- kinds of values --- */

static void *place_of(void *to, const struct setting *s)
{
	return (char *)to + s->at;
}

int setting_text(void *to, const struct setting *s, const char *value, struct error *e)
{
	(void)e;
	return value_text(place_of(to, s), s->most, value);
}

int setting_size(void *to, const struct setting *s, const char *value, struct error *e)
{
	uint64_t bytes;

	(void)e;
	if (value_size(&bytes, value, 1) < 0 || bytes < s->least || bytes > s->most)
		return -EINVAL;
	memcpy(place_of(to, s), &bytes, sizeof(bytes));
	return 0;
}

int setting_count(void *to, const struct setting *s, const char *value, struct error *e)
{
	uint64_t v;
	uint32_t count;

	(void)e;
	if (value_number(&v, value, s->most) < 0 || v < s->least)
		return -EINVAL;
	count = (uint32_t)v;
	memcpy(place_of(to, s), &count, sizeof(count));
	return 0;
}

int setting_bool(void *to, const struct setting *s, const char *value, struct error *e)
{
	(void)e;
	return value_bool(place_of(to, s), value);
}

int setting_set(const struct setting_list *l, const char *key, const char *value, struct error *e)
{
	const struct setting *s = l->table;
	int r;

	while (s->key && strcmp(s->key, key))
		s++;
	if (!s->key)
		return error_set(e, EINVAL, "there is no setting \"%.40s\"", key);
	r = s->set(l->to, s, value, e);
	if (r < 0 && s->is)
		return error_set(e, -r, "cannot use %s: it is %s, not \"%.*s\"", key, s->is, SHOWN,
				 value);
	return r;
}

/* --- the file --- */

/* Cuts blanks off both ends. */
static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (end > text && isspace((unsigned char)end[-1]))
		*--end = 0;
	return text + strspn(text, " \t");
}

static int parse_line(const struct setting_list *l, char *line, struct error *e)
{
	char *key = trim(line), *equals;

	if (!*key || *key == '#')
		return 0;
	equals = strchr(key, '=');
	if (!equals)
		return error_set(e, EINVAL, "\"%.*s\" is not `key = value`", SHOWN, key);
	*equals = 0;
	return setting_set(l, trim(key), trim(equals + 1), e);
}

int setting_parse(const struct setting_list *l, const char *text, size_t len, const char *file,
		  struct error *e)
{
	const char *end = text + len;
	char line[SETTING_LINE_MAX];
	unsigned int number;
	int r;

	for (number = 1; text < end; number++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);

		if (n >= sizeof(line) || memchr(text, 0, n))
			return error_set(e, EINVAL,
					 "cannot read %s:%u: the line is no text of up to %u bytes",
					 file, number, SETTING_LINE_MAX - 1);
		memcpy(line, text, n);
		line[n] = 0;
		r = parse_line(l, line, e);
		if (r < 0)
			return error_prefix(e, -r, "cannot read %s:%u", file, number);
		text += n + 1;
	}
	return 0;
}

static int read_file(const struct setting_list *l, const char *path, bool needed, struct error *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = malloc(SETTING_FILE_MAX + 1);
	size_t len = 0;
	ssize_t n = 1;

	if (fd < 0 && errno == ENOENT && !needed)
		return 0;
	while (fd >= 0 && text && n > 0 && len <= SETTING_FILE_MAX) {
		n = read(fd, text + len, SETTING_FILE_MAX + 1 - len);
		len += n > 0 ? (size_t)n : 0;
	}
	if (fd < 0 || n < 0 || !text)
		return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	if (len > SETTING_FILE_MAX)
		return error_set(e, EFBIG, "cannot read %s: it has more than %u bytes", path,
				 SETTING_FILE_MAX);
	return setting_parse(l, text, len, path, e);
}

int setting_load_options(const struct setting_list *l, const struct args *a, struct error *e)
{
	const struct setting *s;
	int r = 0;

	for (s = l->table; r >= 0 && s->key; s++) {
		const char *value = args_knows(a, s->key) ? args_get(a, s->key) : NULL;
		bool is_switch = value && !*value && s->set == setting_bool;

		if (value)
			r = setting_set(l, s->key, is_switch ? "yes" : value, e);
	}
	return r;
}

int setting_load(const struct setting_list *l, const struct args *a, struct error *e)
{
	const char *path = args_get(a, "config");
	int r = read_file(l, path ? path : l->file, path != NULL, e);

	return r < 0 ? r : setting_load_options(l, a, e);
}
