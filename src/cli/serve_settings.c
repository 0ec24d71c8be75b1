/* SPDX-License-Identifier: MIT */
/* serve_settings: see serve_settings.h. */
#include "cli/serve_settings.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/when.h"

#define CONNECTIONS_MOST 1000000U
#define COMMIT_MS_MOST 10000U
#define DEVICE_MEMORY_LEAST (64U << 10)
#define DEVICE_MEMORY_MOST (1ULL << 30)
#define RETAIN_LEAST (1ULL << 20)

static void set_default_data(struct serve_settings *s)
{
	const char *home = getenv("HOME"), *data = getenv("XDG_DATA_HOME");

	if (geteuid() == 0 || ((!home || !*home) && (!data || !*data)))
		snprintf(s->data, sizeof(s->data), "/var/lib/kiseki");
	else if (data && *data)
		snprintf(s->data, sizeof(s->data), "%s/kiseki", data);
	else
		snprintf(s->data, sizeof(s->data), "%s/.local/share/kiseki", home);
}

void serve_settings_init(struct serve_settings *s)
{
	memset(s, 0, sizeof(*s));
	snprintf(s->listen, sizeof(s->listen), "127.0.0.1:7077");
	snprintf(s->http, sizeof(s->http), "127.0.0.1:8080");
	set_default_data(s);
	s->options.listen = s->listen;
	s->options.http = s->http;
	s->options.data = s->data;
}

static int set_text(char out[SERVE_TEXT_MAX], const char *value, struct error *e)
{
	if (!*value || strlen(value) >= SERVE_TEXT_MAX)
		return error_set(e, EINVAL, "is a text of 1 to %u bytes", SERVE_TEXT_MAX - 1);
	strcpy(out, value);
	return 0;
}

/* A number with an optional K, M, G or T of 1024. */
static int set_size(uint64_t *ret, const char *value, uint64_t least, uint64_t most,
		    struct error *e)
{
	static const char units[] = "KMGT";
	unsigned long long v;
	const char *unit;
	char *end;
	int shift = 0;

	errno = 0;
	v = strtoull(value, &end, 10);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (int)(unit - units + 1);
		end++;
	}
	if (!isdigit((unsigned char)*value) || *end || errno || v > UINT64_MAX >> shift)
		return error_set(e, EINVAL, "is a size, such as 500M or 20G");
	v <<= shift;
	if (v < least || v > most)
		return error_set(e, EINVAL, "is a size of %llu to %llu bytes",
				 (unsigned long long)least, (unsigned long long)most);
	*ret = v;
	return 0;
}

static int set_count(uint32_t *ret, const char *value, uint32_t most, struct error *e)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(value, &end, 10);
	if (!isdigit((unsigned char)*value) || *end || errno || !v || v > most)
		return error_set(e, EINVAL, "is a number from 1 to %u", most);
	*ret = (uint32_t)v;
	return 0;
}

static int set_age(uint64_t *ret, const char *value, struct error *e)
{
	struct error ignored = ERROR_INIT;

	if (when_parse_length(value, ret, &ignored) < 0 || !*ret)
		return error_set(e, EINVAL, "is a length of time, such as 36h or 30d");
	return 0;
}

static int set_flag(bool *ret, const char *value, struct error *e)
{
	if (*value && strcmp(value, "yes") && strcmp(value, "no"))
		return error_set(e, EINVAL, "is yes or no");
	*ret = strcmp(value, "no") != 0;
	return 0;
}

/* The error says only what would have been right. */
static int set_value(struct serve_settings *s, const char *key, const char *value, struct error *e)
{
	struct collector_options *o = &s->options;

	if (!strcmp(key, "listen"))
		return set_text(s->listen, value, e);
	if (!strcmp(key, "http"))
		return set_text(s->http, value, e);
	if (!strcmp(key, "data"))
		return set_text(s->data, value, e);
	if (!strcmp(key, "retain-size"))
		return set_size(&o->store.retain_bytes, value, RETAIN_LEAST, UINT64_MAX, e);
	if (!strcmp(key, "retain-age"))
		return set_age(&o->store.retain_ns, value, e);
	if (!strcmp(key, "connections"))
		return set_count(&o->connections_max, value, CONNECTIONS_MOST, e);
	if (!strcmp(key, "commit-ms"))
		return set_count(&o->commit_ms, value, COMMIT_MS_MOST, e);
	if (!strcmp(key, "device-memory"))
		return set_size(&o->device_bytes_max, value, DEVICE_MEMORY_LEAST,
				DEVICE_MEMORY_MOST, e);
	if (!strcmp(key, "insecure-listen"))
		return set_flag(&o->insecure, value, e);
	return -ENOENT;
}

int serve_settings_set(struct serve_settings *s, const char *key, const char *value,
		       struct error *e)
{
	struct error right = ERROR_INIT;
	int r = set_value(s, key, value, &right);

	if (r == -ENOENT)
		return error_set(e, EINVAL, "there is no setting '%s'", key);
	if (r < 0)
		return error_set(e, EINVAL, "%s %s, not '%s'", key, right.text, value);
	return 0;
}

static char *trim(char *text)
{
	char *end;

	while (isspace((unsigned char)*text))
		text++;
	for (end = text + strlen(text); end > text && isspace((unsigned char)end[-1]); end--)
		end[-1] = 0;
	return text;
}

static int parse_line(struct serve_settings *s, char *line, struct error *e)
{
	char *equals;

	line = trim(line);
	if (!*line || *line == '#')
		return 0;
	equals = strchr(line, '=');
	if (!equals)
		return error_set(e, EINVAL, "'%s' is not `key = value`", line);
	*equals = 0;
	return serve_settings_set(s, trim(line), trim(equals + 1), e);
}

int serve_settings_parse(struct serve_settings *s, const char *text, const char *file,
			 struct error *e)
{
	_cleanup_free_ char *copy = strdup(text);
	char *line, *rest = copy;
	unsigned int number = 0;

	if (!copy)
		return error_set(e, ENOMEM, "cannot read %s: out of memory", file);
	while ((line = strsep(&rest, "\n"))) {
		number++;
		if (parse_line(s, line, e) < 0)
			return error_prefix(e, EINVAL, "cannot read %s, line %u", file, number);
	}
	return 0;
}

static int read_file(struct serve_settings *s, const char *path, bool must, struct error *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = malloc(SERVE_FILE_MAX + 1);
	size_t len = 0;
	ssize_t n;

	if (fd < 0 && errno == ENOENT && !must)
		return 0;
	if (fd < 0 || !text)
		return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	while ((n = read(fd, text + len, SERVE_FILE_MAX - len)) > 0)
		len += (size_t)n;
	if (n < 0 || len == SERVE_FILE_MAX)
		return error_set(e, n < 0 ? errno : EFBIG, "cannot read %s: %s", path,
				 strerror(n < 0 ? errno : EFBIG));
	text[len] = 0;
	return serve_settings_parse(s, text, path, e);
}

int serve_settings_load(struct serve_settings *s, const struct args *a, struct error *e)
{
	static const char *const keys[] = { "listen",	   "http",	    "data",
					    "retain-size", "retain-age",    "connections",
					    "commit-ms",   "device-memory", "insecure-listen" };
	const char *file = args_get(a, "config"), *value;
	size_t i;
	int r = read_file(s, file ? file : SERVE_FILE, file != NULL, e);

	for (i = 0; r >= 0 && i < sizeof(keys) / sizeof(keys[0]); i++) {
		value = args_get(a, keys[i]);
		if (value && serve_settings_set(s, keys[i], value, e) < 0)
			r = error_prefix(e, EINVAL, "cannot run kiseki serve");
	}
	return r;
}
