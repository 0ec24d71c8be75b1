/* SPDX-License-Identifier: MIT */
/*
 * boot_settings: see boot_settings.h.
 *
 * A recording ends by itself. Where nothing says when, it is after five seconds in which the machine was idle,
 * and after two minutes at most; where a target is given, when that has come, and after two minutes at most.
 */
#include "device/boot/boot_settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "command/setting.h"
#include "command/value.h"
#include "device/boot/task_table.h"

#define INTERVAL_LEAST 1000000ULL
#define INTERVAL_MOST (10 * CLOCK_NS_PER_S)
#define TIME_MOST (86400 * CLOCK_NS_PER_S)
#define SPOOL_LEAST (64U << 10)
#define SPOOL_MOST (1ULL << 28)
#define BUFFER_MOST (16U << 20)

/* 20ms, 1.5s, 2m; a number alone is seconds. */
static int parse_time(uint64_t *ret, const char *text)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { "us", 1000 },
		      { "ms", CLOCK_NS_PER_MS },
		      { "s", CLOCK_NS_PER_S },
		      { "m", 60 * CLOCK_NS_PER_S },
		      { "", CLOCK_NS_PER_S } };
	uint64_t whole = 0, part = 0, scale = 1;
	const char *p = text;
	size_t i;

	for (; isdigit((unsigned char)*p) && whole < UINT32_MAX; p++)
		whole = whole * 10 + (uint64_t)(*p - '0');
	if (p == text)
		return -EINVAL;
	if (*p == '.')
		for (p++; isdigit((unsigned char)*p) && scale < 1000000; p++, scale *= 10)
			part = part * 10 + (uint64_t)(*p - '0');
	for (i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(p, units[i].unit)) {
			if (whole >= UINT64_MAX / units[i].ns)
				return -EINVAL;
			*ret = whole * units[i].ns + part * units[i].ns / scale;
			return 0;
		}
	return -EINVAL;
}

static int set_time(void *to, const struct setting *s, const char *value, struct error *e)
{
	struct boot_settings *all = to;
	uint64_t ns = 0;

	(void)e;
	if (strcmp(value, "no") && strcmp(value, "off") && parse_time(&ns, value) < 0)
		return -EINVAL;
	if (ns < s->least || ns > s->most)
		return -EINVAL;
	memcpy((char *)to + s->at, &ns, sizeof(ns));
	all->has_idle |= !strcmp(s->key, "idle");
	all->has_time |= !strcmp(s->key, "time");
	return 0;
}

static int set_until(void *to, const struct setting *s, const char *value, struct error *e)
{
	struct boot_settings *all = to;
	struct target t;

	if (target_parse(&t, value) < 0 || t.type == TARGET_NONE)
		return -EINVAL;
	all->until = t;
	return setting_text(to, s, value, e);
}

/* It becomes part of what a collector shows, and of file names there. */
static int set_name(void *to, const struct setting *s, const char *value, struct error *e)
{
	const char *p;

	for (p = value; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			return -EINVAL;
	return value[0] == '.' ? -EINVAL : setting_text(to, s, value, e);
}

static int set_path(void *to, const struct setting *s, const char *value, struct error *e)
{
	return value[0] == '/' ? setting_text(to, s, value, e) : -EINVAL;
}

static int set_word(void *to, const struct setting *s, const char *value, const char *const words[])
{
	uint32_t i;

	for (i = 0; words[i]; i++)
		if (!strcmp(words[i], value)) {
			memcpy((char *)to + s->at, &i, sizeof(i));
			return 0;
		}
	return -EINVAL;
}

static int set_log(void *to, const struct setting *s, const char *value, struct error *e)
{
	static const char *const words[] = { "auto", "all", "new", "off", NULL };

	(void)e;
	return set_word(to, s, value, words);
}

static int set_exact(void *to, const struct setting *s, const char *value, struct error *e)
{
	static const char *const words[] = { "no", "auto", "tracefs", "bpf", NULL };

	(void)e;
	return set_word(to, s, value, words);
}

static int set_nice(void *to, const struct setting *s, const char *value, struct error *e)
{
	bool below = value[0] == '-';
	uint64_t n;

	(void)s;
	(void)e;
	if (value_number(&n, value + below, below ? 20 : 19) < 0)
		return -EINVAL;
	((struct boot_settings *)to)->nice = below ? -(int)n : (int)n;
	return 0;
}

#define PLACE(field) offsetof(struct boot_settings, field)
#define TEXT(field) PLACE(field), 1, sizeof(((struct boot_settings *)0)->field)

static const struct setting table[] = {
	{ "interval", set_time, "1ms to 10s", PLACE(interval_ns), INTERVAL_LEAST, INTERVAL_MOST },
	{ "until", set_until, "unit:NAME, process:NAME, file:/PATH or port:N", TEXT(until_text) },
	{ "linger", set_time, "a time, of at most a day", PLACE(linger_ns), 0, TIME_MOST },
	{ "idle", set_time, "a time, of at most a day, or no", PLACE(idle_ns), 0, TIME_MOST },
	{ "time", set_time, "a time, of at most a day, or no", PLACE(time_ns), 0, TIME_MOST },
	{ "out", setting_text, "a path of up to 255 bytes", TEXT(out) },
	{ "keep-old", setting_bool, "yes or no", PLACE(keep_old), 0, 0 },
	{ "collector", setting_text, "HOST:PORT", TEXT(collector) },
	{ "name", set_name, "up to 63 letters, digits, '.', '_' and '-'", TEXT(name) },
	{ "state-dir", set_path, "a path from / on, of up to 255 bytes", TEXT(state_dir) },
	{ "init", set_path, "a path from / on, of up to 255 bytes", TEXT(init) },
	{ "exact", set_exact, "no, auto, tracefs or bpf", PLACE(exact), 0, 0 },
	{ "driver", set_path, "a path from / on, of up to 255 bytes", TEXT(driver) },
	{ "driver-args", setting_text, "up to 255 bytes", TEXT(driver_args) },
	{ "threads", setting_bool, "yes or no", PLACE(threads), 0, 0 },
	{ "events", setting_bool, "yes or no", PLACE(events), 0, 0 },
	{ "accounts", setting_bool, "yes or no", PLACE(accounts), 0, 0 },
	{ "delays", setting_bool, "yes or no", PLACE(delays), 0, 0 },
	{ "kmsg", set_log, "auto, all, new or off", PLACE(log), 0, 0 },
	{ "kmsg-level", setting_count, "0 to 7", PLACE(log_level), 0, 7 },
	{ "spool", setting_size, "64K to 256M", PLACE(spool_bytes), SPOOL_LEAST, SPOOL_MOST },
	{ "buffer", setting_size, "2K to 16M", PLACE(buffer_bytes), 2048, BUFFER_MOST },
	{ "processes", setting_count, "16 to 32768", PLACE(processes), TASK_TABLE_LEAST,
	  TASK_TABLE_MOST },
	{ "files", setting_count, "0 to 32768", PLACE(files), 0, TASK_TABLE_MOST },
	{ "realtime", setting_bool, "yes or no", PLACE(realtime), 0, 0 },
	{ "nice", set_nice, "-20 to 19", 0, 0, 0 },
	{ 0 },
};

static struct setting_list list_of(struct boot_settings *s)
{
	return (struct setting_list){ table, s, BOOT_SETTINGS_FILE };
}

const char *boot_settings_key(size_t i)
{
	return table[i].key;
}

void boot_settings_init(struct boot_settings *s)
{
	*s = (struct boot_settings){
		.interval_ns = 20 * CLOCK_NS_PER_MS,
		.idle_ns = 5 * CLOCK_NS_PER_S,
		.time_ns = 120 * CLOCK_NS_PER_S,
		.state_dir = "/var/lib/kiseki-agent",
		.buffer_bytes = 1U << 20,
		.processes = 1024,
		.files = 384,
		.log_level = 6,
		.events = true,
		.accounts = true,
		.delays = true,
		.realtime = true,
		.nice = -10,
	};
}

int boot_settings_set(struct boot_settings *s, const char *key, const char *value, struct error *e)
{
	const struct setting_list l = list_of(s);

	return setting_set(&l, key, value, e);
}

int boot_settings_parse(struct boot_settings *s, const char *text, size_t len, const char *file,
			struct error *e)
{
	const struct setting_list l = list_of(s);

	return setting_parse(&l, text, len, file, e);
}

/* A word of the command line ends with a blank that is not between quotes. */
static size_t word_len(const char *at, size_t left)
{
	bool quoted = false;
	size_t n;

	for (n = 0; n < left; n++) {
		if (at[n] == '"')
			quoted = !quoted;
		else if (!quoted && isspace((unsigned char)at[n]))
			break;
	}
	return n;
}

/* "kiseki_boot.driver_args=…", whole in quotes or its value in them. */
static int take_word(struct boot_settings *s, const char *at, size_t len, struct error *e)
{
	static const char prefix[] = BOOT_SETTINGS_PREFIX;
	char word[BOOT_PATH_MAX + 64], *value, *p, *to;
	size_t n = 0, i;

	for (i = 0; i < len && n + 1 < sizeof(word); i++)
		if (at[i] != '"')
			word[n++] = at[i];
	word[n] = 0;
	if (strncmp(word, prefix, sizeof(prefix) - 1))
		return 0;
	to = word + sizeof(prefix) - 1;
	value = strchr(to, '=');
	if (value)
		*value++ = 0;
	for (p = to; *p; p++)
		*p = *p == '_' ? '-' : *p;
	return boot_settings_set(s, to, value ? value : "yes", e);
}

int boot_settings_parse_kernel(struct boot_settings *s, const char *line, size_t len,
			       struct error *e)
{
	size_t at = 0, n;
	int r, first = 0;

	while (at < len) {
		n = word_len(line + at, len - at);
		r = take_word(s, line + at, n, first ? NULL : e);
		first = first ? first : r;
		at += n + 1;
	}
	return first;
}

int boot_settings_load(struct boot_settings *s, const struct args *a, const char *kernel,
		       struct error *e)
{
	const struct setting_list l = list_of(s);
	int r = setting_load(&l, a, e);

	if (r >= 0)
		r = boot_settings_parse_kernel(s, kernel, strlen(kernel), e);
	return r < 0 ? r : setting_load_options(&l, a, e);
}

void boot_settings_finish(struct boot_settings *s)
{
	if (s->until.type != TARGET_NONE && !s->has_idle)
		s->idle_ns = 0;
	if (!s->out[0] && !s->collector[0])
		snprintf(s->out, sizeof(s->out), "%s", BOOT_SETTINGS_OUT);
	if (!s->spool_bytes)
		s->spool_bytes = s->exact != BOOT_EXACT_OFF ? 4U << 20 : 384U << 10;
}
