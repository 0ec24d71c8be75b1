/* SPDX-License-Identifier: MIT */
/* bootchart_facts: see bootchart_facts.h. */
#include "convert/bootchart_facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "convert/bootchart_log.h"
#include "trace/pidmap.h"
#include "wire/boot_event.h"

#define FACTS_MAX 16U
#define PACCT_BYTES 64U /* of a record of version 3 */
#define PACCT_BIG_ENDIAN 0x80U
#define PACCT_TICK_NS 10000000ULL

static struct text_scan whole(const struct bootchart_archive *a, enum bootchart_file file)
{
	return (struct text_scan){ a->file[file].data, a->file[file].data + a->file[file].len };
}

static struct text_span trim(const char *text, const char *end)
{
	while (text < end && (*text == ' ' || *text == '\t'))
		text++;
	while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return (struct text_span){ text, (size_t)(end - text) };
}

/* --- the header --- */

static int add_fact(struct bootchart_facts *f, const char *name, struct text_span value)
{
	size_t len = strlen(name), i;
	char *text;

	if (!value.len || f->n_facts == FACTS_MAX)
		return 0;
	text = malloc(len + value.len + 2);
	if (!text)
		return -ENOMEM;
	memcpy(text, name, len);
	text[len] = '=';
	memcpy(text + len + 1, value.text, value.len);
	text[len + 1 + value.len] = 0;
	for (i = 0; text[i]; i++)
		if ((unsigned char)text[i] < ' ')
			text[i] = ' ';
	f->facts[f->n_facts++] = text;
	return 0;
}

/* "Boot chart for NAME (DATE)" */
static int set_title(struct trace_info *info, struct text_span v)
{
	static const char start[] = "Boot chart for ";
	struct text_scan s = { v.text, v.text + v.len };
	const char *end;

	if (!SCAN(&s, start))
		return 0;
	end = memrchr(s.at, '(', scan_left(&s));
	v = trim(s.at, end ? end : s.end);
	return v.len ? info_set(&info->device, v.text, v.len) : 0;
}

/* "Linux RELEASE VERSION… MACHINE" */
static int set_uname(struct trace_info *info, struct text_span v)
{
	const char *end = v.text + v.len, *first = memchr(v.text, ' ', v.len), *second, *last;
	int r;

	if (!first)
		return 0;
	second = memchr(first + 1, ' ', (size_t)(end - first - 1));
	last = memrchr(v.text, ' ', v.len);
	r = info_set(&info->kernel, first + 1, (size_t)((second ? second : end) - first - 1));
	if (r >= 0 && second)
		r = info_set(&info->machine, last + 1, (size_t)(end - last - 1));
	return r;
}

static int set_origin(struct trace_info *info, struct text_span version)
{
	char text[128];
	int n = snprintf(text, sizeof(text), "bootchart %.*s",
			 (int)(version.len < 64 ? version.len : 64), version.text);

	return info_set(&info->origin, text, (size_t)n);
}

static bool is(struct text_span s, const char *word)
{
	return s.len == strlen(word) && !memcmp(s.text, word, s.len);
}

static int take_value(struct bootchart_facts *f, struct trace_info *info, struct text_span name,
		      struct text_span value)
{
	static const struct {
		const char *name, *fact;
	} same[] = {
		{ "system.release", "release" },
		{ "system.cpu", "cpu" },
		{ "system.kernel.options", "command_line" },
		{ "profile.process", "profile_process" },
		{ "system.maxpid", "max_pid" },
	};
	size_t i;

	if (is(name, "title"))
		return set_title(info, value);
	if (is(name, "system.uname"))
		return set_uname(info, value);
	if (is(name, "version"))
		return set_origin(info, value);
	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (is(name, same[i].name))
			return add_fact(f, same[i].fact, value);
	return 0;
}

/* Lines "name = value". A line without goes on where the last one ended; that adds nothing here. */
static int parse_header(struct bootchart_facts *f, const struct bootchart_archive *a,
			struct trace_info *info)
{
	struct text_scan s = whole(a, BOOTCHART_HEADER);
	struct text_span line, name, value;
	const char *equals;
	int r = 0;

	while (r >= 0 && bootchart_log_line(&s, &line)) {
		equals = memchr(line.text, '=', line.len);
		if (!equals)
			continue;
		name = trim(line.text, equals);
		value = trim(equals + 1, line.text + line.len);
		r = take_value(f, info, name, value);
	}
	return r;
}

/* --- what is known of pids --- */

static int add_known(struct bootchart_facts *f, int32_t pid, struct bootchart_known **ret)
{
	*ret = pidmap_add(f->known, pid);
	return *ret ? 0 : -ENOMEM;
}

static int parse_paternity(struct bootchart_facts *f, const struct bootchart_archive *a)
{
	struct text_scan s = whole(a, BOOTCHART_PATERNITY), l;
	struct bootchart_known *k;
	struct text_span line;
	int32_t pid, parent;

	while (bootchart_log_line(&s, &line)) {
		l = (struct text_scan){ line.text, line.text + line.len };
		if (!scan_i32(&l, &pid) || !SCAN(&l, " ") || !scan_i32(&l, &parent) || pid <= 0 ||
		    parent < 0)
			continue;
		if (add_known(f, pid, &k) < 0)
			return -ENOMEM;
		k->parent = parent;
	}
	return 0;
}

/* Behind the colon that lines of cmdline2.log start with. */
static struct text_span behind_colon(struct text_span line)
{
	if (line.len && line.text[0] == ':') {
		line.text++;
		line.len--;
	}
	return line;
}

/* Three lines each: the pid, ":" and the program's path, ":" and the arguments. */
static int parse_cmdline(struct bootchart_facts *f, const struct bootchart_archive *a)
{
	struct text_scan s = whole(a, BOOTCHART_CMDLINE), l;
	struct text_span line, program, args;
	struct bootchart_known *k;
	int32_t pid;

	while (bootchart_log_line(&s, &line)) {
		l = (struct text_scan){ line.text, line.text + line.len };
		if (!scan_i32(&l, &pid) || pid <= 0 || l.at != l.end)
			continue;
		if (!bootchart_log_line(&s, &program) || !bootchart_log_line(&s, &args))
			return 0;
		if (add_known(f, pid, &k) < 0)
			return -ENOMEM;
		k->program = behind_colon(program);
		k->args = behind_colon(args);
	}
	return 0;
}

static uint32_t get_u32(const uint8_t *p, bool is_big)
{
	uint32_t a = p[0], b = p[1], c = p[2], d = p[3];

	return is_big ? a << 24 | b << 16 | c << 8 | d : d << 24 | c << 16 | b << 8 | a;
}

/* A number of 13 bits, shifted left three times as often as the other three bits say. */
static uint64_t get_small(const uint8_t *p, bool is_big)
{
	uint32_t v = is_big ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];

	return (uint64_t)(v & 0x1fff) << (v >> 13) * 3;
}

static int parse_pacct(struct bootchart_facts *f, const struct bootchart_archive *a)
{
	const uint8_t *p = (const uint8_t *)a->file[BOOTCHART_PACCT].data;
	size_t left = a->file[BOOTCHART_PACCT].len;
	struct bootchart_known *k;
	int32_t pid;
	bool is_big;

	for (; left >= PACCT_BYTES; left -= PACCT_BYTES, p += PACCT_BYTES) {
		is_big = p[1] & PACCT_BIG_ENDIAN;
		if ((p[1] & ~PACCT_BIG_ENDIAN) != 3)
			return 0; /* versions before have no pid */
		pid = (int32_t)get_u32(p + 16, is_big);
		if (pid <= 0)
			continue;
		if (add_known(f, pid, &k) < 0)
			return -ENOMEM;
		k->has_account = true;
		k->exit_code = get_u32(p + 4, is_big);
		/* Its parent is that of its end, who may have adopted it: samples know better. */
		k->user_ns = get_small(p + 32, is_big) * PACCT_TICK_NS;
		k->system_ns = get_small(p + 34, is_big) * PACCT_TICK_NS;
		k->faults = get_small(p + 44, is_big);
	}
	return 0;
}

int bootchart_facts_init(struct bootchart_facts *f, const struct bootchart_archive *a,
			 struct trace_info *info, struct error *e)
{
	int r;

	memset(f, 0, sizeof(*f));
	f->known = pidmap_new(sizeof(struct bootchart_known));
	f->facts = calloc(FACTS_MAX, sizeof(*f->facts));
	r = f->known && f->facts ? info_set(&info->origin, "bootchart", 9) : -ENOMEM;
	if (r >= 0 && a->file[BOOTCHART_HEADER].data)
		r = parse_header(f, a, info);
	if (r >= 0 && a->file[BOOTCHART_PATERNITY].data)
		r = parse_paternity(f, a);
	if (r >= 0 && a->file[BOOTCHART_CMDLINE].data)
		r = parse_cmdline(f, a);
	if (r >= 0 && a->file[BOOTCHART_PACCT].data)
		r = parse_pacct(f, a);
	if (r < 0) {
		bootchart_facts_done(f);
		return error_set(e, r, "cannot read the bootchart: %s", strerror(-r));
	}
	return 0;
}

struct bootchart_known *bootchart_facts_get(const struct bootchart_facts *f, int32_t pid)
{
	return pidmap_get(f->known, pid);
}

void bootchart_facts_done(struct bootchart_facts *f)
{
	size_t i;

	pidmap_free(f->known);
	for (i = 0; f->facts && i < f->n_facts; i++)
		free(f->facts[i]);
	free(f->facts);
	memset(f, 0, sizeof(*f));
}
