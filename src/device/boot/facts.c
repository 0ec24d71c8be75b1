/* SPDX-License-Identifier: MIT */
/* facts: see facts.h. */
#include "device/boot/facts.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "device/boot/words.h"

#define TEXT 2048U

size_t facts_find(const char *text, size_t len, const char *key, const char **ret)
{
	const char *at = text, *end = text + len, *stop, *p;
	size_t n = strlen(key);

	for (; at < end; at = stop + 1) {
		stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop ? stop : end;
		if ((size_t)(stop - at) <= n || memcmp(at, key, n))
			continue;
		for (p = at + n; p < stop && words_is_blank(*p);)
			p++;
		if (p == stop || (*p != ':' && *p != '='))
			continue;
		for (p++; p < stop && (words_is_blank(*p) || *p == '"');)
			p++;
		while (stop > p && (stop[-1] == '"' || words_is_blank(stop[-1])))
			stop--;
		*ret = p;
		return (size_t)(stop - p);
	}
	return 0;
}

static void say(struct record_sink *sink, uint64_t tick, const char *name, const char *value,
		size_t len)
{
	char text[BOOT_TEXT_MAX + 1];

	while (len && (value[len - 1] == '\n' || !value[len - 1]))
		len--;
	if (!len)
		return;
	snprintf(text, sizeof(text), "%s=%.*s", name, (int)len, value);
	record_sink_mark(sink, tick, BOOT_MARK_FACT, text);
}

static size_t read_text(int folder, const char *path, char text[TEXT])
{
	_cleanup_close_ int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, TEXT);

	return n > 0 ? (size_t)n : 0;
}

/* What it is called depends on the architecture. */
static void say_cpu(struct record_sink *sink, const struct place *p, uint64_t tick)
{
	static const char *const keys[] = { "model name", "Processor", "cpu model", "uarch" };
	char text[TEXT];
	size_t len = read_text(p->proc, "cpuinfo", text), i, n;
	const char *value;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		n = facts_find(text, len, keys[i], &value);
		if (n) {
			say(sink, tick, "cpu", value, n);
			return;
		}
	}
}

void facts_say(struct record_sink *sink, const struct place *p, const struct boot_settings *s,
	       uint64_t tick)
{
	char text[TEXT], room[PLACE_PATH_MAX];
	const char *value = "";
	size_t len;

	len = read_text(p->proc, "cmdline", text);
	say(sink, tick, "command_line", text, len);
	say_cpu(sink, p, tick);
	len = read_text(p->proc, "device-tree/model", text);
	say(sink, tick, "model", text, len);
	len = read_text(AT_FDCWD, place_get_path(p, "/etc/os-release", room), text);
	len = facts_find(text, len, "PRETTY_NAME", &value);
	say(sink, tick, "release", value, len);
	len = (size_t)snprintf(text, sizeof(text), "%llu", (unsigned long long)s->interval_ns);
	say(sink, tick, "interval_ns", text, len);
	say(sink, tick, "until", s->until_text, strlen(s->until_text));
	say(sink, tick, "recorder", "kiseki-boot " KISEKI_VERSION,
	    sizeof("kiseki-boot " KISEKI_VERSION) - 1);
}
