/* SPDX-License-Identifier: MIT */
/*
 * settings: see settings.h. The keys stand in one table, each with the function that reads its
 * value.
 */
#include "device/agent/settings.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "device/agent/value.h"
#include "wire/block.h"

#define SPOOL_LEAST (64U << 10)
#define SPOOL_MOST (1ULL << 30)

typedef int setter(struct settings *s, const char *value);

static int set_collector(struct settings *s, const char *value)
{
	return value_text(s->collector, sizeof(s->collector), value);
}

/* It becomes part of file names and of the kernel's instance. */
static int set_name(struct settings *s, const char *value)
{
	const char *p;

	for (p = value; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			return -EINVAL;
	return value[0] == '.' ? -EINVAL : value_text(s->name, sizeof(s->name), value);
}

static int set_source(struct settings *s, const char *value)
{
	static const char *const words[] = { "auto", "tracefs", "bpf", NULL };

	return value_word(&s->config.origin, words, value);
}

static int set_start(struct settings *s, const char *value)
{
	return value_bool(&s->start, value);
}

static int set_events(struct settings *s, const char *value)
{
	return value_events(&s->config.events, value);
}

static int set_pid(struct settings *s, const char *value)
{
	return value_pids(&s->config, value);
}

static int set_comm(struct settings *s, const char *value)
{
	return value_comms(&s->config, value);
}

static int set_cgroup(struct settings *s, const char *value)
{
	return value_cgroups(&s->config, value);
}

static int set_flush(struct settings *s, const char *value)
{
	uint64_t ms;

	if (value_ms(&ms, value) < 0 || ms < 1 || ms > CONFIG_FLUSH_MOST)
		return -EINVAL;
	s->config.flush_ms = (uint32_t)ms;
	return 0;
}

static int set_block(struct settings *s, const char *value)
{
	uint64_t bytes;

	if (value_size(&bytes, value) < 0 || bytes < CONFIG_BLOCK_LEAST ||
	    bytes > CONFIG_BLOCK_MOST)
		return -EINVAL;
	s->config.block_bytes = (uint32_t)bytes;
	return 0;
}

static int set_ring(struct settings *s, const char *value)
{
	uint64_t bytes;

	if (value_size(&bytes, value) < 0 || bytes < 1024 || bytes >> 10 > CONFIG_RING_MOST)
		return -EINVAL;
	s->config.ring_kib = (uint32_t)(bytes >> 10);
	return 0;
}

static int set_resolution(struct settings *s, const char *value)
{
	uint64_t ns;

	if (value_number(&ns, value, 1U << 30) < 0 || (ns & (ns - 1)))
		return -EINVAL;
	s->config.resolution_ns = (uint32_t)ns;
	return 0;
}

static int set_spool(struct settings *s, const char *value)
{
	uint64_t bytes;

	if (value_size(&bytes, value) < 0 || bytes < SPOOL_LEAST || bytes > SPOOL_MOST)
		return -EINVAL;
	s->spool_bytes = bytes;
	return 0;
}

static int set_spool_file(struct settings *s, const char *value)
{
	return value_text(s->spool_file, sizeof(s->spool_file), value);
}

static int set_policy(struct settings *s, const char *value)
{
	static const char *const words[] = { "keep-oldest", "flight-recorder", NULL };

	return value_word(&s->config.policy, words, value);
}

static int set_state_dir(struct settings *s, const char *value)
{
	return value_text(s->state_dir, sizeof(s->state_dir), value);
}

static int set_keep_recording(struct settings *s, const char *value)
{
	return value_bool(&s->keep_recording, value);
}

static int set_nice(struct settings *s, const char *value)
{
	bool below = value[0] == '-';
	uint64_t n;

	if (value_number(&n, value + below, below ? 20 : 19) < 0)
		return -EINVAL;
	s->nice = below ? -(int)n : (int)n;
	return 0;
}

static const struct setting {
	const char *key;
	setter *set;
	const char *is; /* for the message */
} table[] = {
	{ "collector", set_collector, "HOST:PORT" },
	{ "name", set_name, "up to 63 letters, digits, '.', '_' and '-'" },
	{ "source", set_source, "auto, bpf or tracefs" },
	{ "start", set_start, "yes or no" },
	{ "events", set_events,
	  "all, or some of switch waking wakeup wakeup_new fork exec exit rename setprio" },
	{ "pid", set_pid, "a list of at most 64 process numbers" },
	{ "comm", set_comm, "a list of at most 32 names of up to 15 bytes" },
	{ "cgroup", set_cgroup, "a list of at most 4 paths of up to 255 bytes" },
	{ "flush", set_flush, "1 to 60000 ms" },
	{ "block", set_block, "4K to 64K" },
	{ "ring", set_ring, "1K to 256M" },
	{ "resolution", set_resolution, "0 or a power of two, in ns" },
	{ "spool", set_spool, "64K to 1G" },
	{ "spool-file", set_spool_file, "a path of up to 255 bytes" },
	{ "policy", set_policy, "keep-oldest or flight-recorder" },
	{ "state-dir", set_state_dir, "a path of up to 255 bytes" },
	{ "keep-recording", set_keep_recording, "yes or no" },
	{ "nice", set_nice, "-20 to 19" },
};

#define KEYS (sizeof(table) / sizeof(table[0]))

const char *settings_key(size_t i)
{
	return i < KEYS ? table[i].key : NULL;
}

static void default_name(struct settings *s)
{
	char host[SETTINGS_NAME_MAX] = "";

	gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = 0;
	if (!host[0] || set_name(s, host) < 0)
		snprintf(s->name, sizeof(s->name), "device");
}

void settings_init(struct settings *s)
{
	*s = (struct settings){
		.collector = "127.0.0.1:7077",
		.state_dir = "/var/lib/kiseki-agent",
		.spool_bytes = 4U << 20,
		.nice = -5,
		.config = {
			.given = CONFIG_ALL,
			.origin = ORIGIN_AUTO,
			.policy = POLICY_OLDEST,
			.codec = CODEC_SCHED,
			.events = (1U << SCHED_KINDS) - 1,
			.block_bytes = 32U << 10,
			.flush_ms = 100,
			.ring_kib = 512,
		},
	};
	default_name(s);
}

int settings_set(struct settings *s, const char *key, const char *value, struct error *e)
{
	size_t i;

	for (i = 0; i < KEYS && strcmp(table[i].key, key); i++)
		;
	if (i == KEYS)
		return error_set(e, EINVAL, "there is no key '%.40s'", key);
	if (table[i].set(s, value) < 0)
		return error_set(e, EINVAL, "%s is %s, not '%.100s'", key, table[i].is, value);
	return 0;
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

static int parse_line(struct settings *s, char *line, struct error *e)
{
	char *key = trim(line), *equals;

	if (!*key || *key == '#')
		return 0;
	equals = strchr(key, '=');
	if (!equals)
		return error_set(e, EINVAL, "the line is not 'key = value'");
	*equals = 0;
	return settings_set(s, trim(key), trim(equals + 1), e);
}

int settings_parse(struct settings *s, const char *text, size_t len, const char *file,
		   struct error *e)
{
	const char *end = text + len;
	char line[1024];
	unsigned int number;
	int r;

	for (number = 1; text < end; number++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);

		if (n >= sizeof(line) || memchr(text, 0, n))
			return error_set(e, EINVAL,
					 "cannot read %s:%u: the line is no text of up to "
					 "1023 bytes",
					 file, number);
		memcpy(line, text, n);
		line[n] = 0;
		r = parse_line(s, line, e);
		if (r < 0)
			return error_prefix(e, r, "cannot read %s:%u", file, number);
		text += n + 1;
	}
	return 0;
}

static int read_file(struct settings *s, const char *path, bool needed, struct error *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = malloc(SETTINGS_FILE_MAX + 1);
	size_t len = 0;
	ssize_t n = 1;

	if (fd < 0 && errno == ENOENT && !needed)
		return 0;
	while (fd >= 0 && text && n > 0 && len <= SETTINGS_FILE_MAX) {
		n = read(fd, text + len, SETTINGS_FILE_MAX + 1 - len);
		len += n > 0 ? (size_t)n : 0;
	}
	if (fd < 0 || n < 0 || !text)
		return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	if (len > SETTINGS_FILE_MAX)
		return error_set(e, EFBIG, "cannot read %s: it has more than %u bytes", path,
				 SETTINGS_FILE_MAX);
	return settings_parse(s, text, len, path, e);
}

int settings_load(struct settings *s, const struct args *a, struct error *e)
{
	const char *path = args_get(a, "config");
	size_t i;
	int r = read_file(s, path ? path : SETTINGS_FILE, path != NULL, e);

	for (i = 0; r >= 0 && i < KEYS; i++) {
		const char *value = args_get(a, table[i].key);

		if (!value)
			continue;
		r = settings_set(s, table[i].key, *value ? value : "yes", e);
		if (r < 0)
			error_prefix(e, r, "cannot run kiseki-agent: --%s", table[i].key);
	}
	if (r >= 0 && !s->spool_file[0])
		snprintf(s->spool_file, sizeof(s->spool_file), "/run/kiseki/%s.spool", s->name);
	return r;
}
