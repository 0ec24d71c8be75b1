/* SPDX-License-Identifier: MIT */
/* filter_parse: see filter_parse.h. */
#include "trace/filter_parse.h"

#include <errno.h>
#include <string.h>

#include "trace/word.h"

#define WORD_SHOWN 40 /* of a wrong word, in the message */
#define TIME_MAX 64   /* bytes of a time behind a pid */

static int shown(size_t len)
{
	return len < WORD_SHOWN ? (int)len : WORD_SHOWN;
}

/* A list without members, or with an empty one, is a slip of the hand and not a wish. */
static size_t word_length(const char *text)
{
	return strcspn(text, ",");
}

/* Digits only, up to max. Returns what follows, or NULL. */
static const char *parse_number(const char *s, const char *end, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;
	const char *p;

	for (p = s; p < end && *p >= '0' && *p <= '9'; p++) {
		unsigned int digit = (unsigned int)(*p - '0');

		if (v > (max - digit) / 10)
			return NULL;
		v = v * 10 + digit;
	}
	*ret = v;
	return p == s ? NULL : p;
}

static int parse_cpu_range(struct trace_filter *f, const char *s, size_t len, struct error *e)
{
	uint64_t first, last, cpu;
	const char *end = s + len;
	const char *p = parse_number(s, end, TRACE_CPUS_MAX - 1, &first);

	last = p ? first : 0;
	if (p && p < end && *p == '-')
		p = parse_number(p + 1, end, TRACE_CPUS_MAX - 1, &last);
	if (p != end || last < first)
		return error_set(e, EINVAL, "\"%.*s\" is not a CPU or a range of CPUs (0-%u)",
				 shown(len), s, TRACE_CPUS_MAX - 1);
	for (cpu = first; cpu <= last; cpu++)
		f->cpus[cpu / 64] |= 1ULL << (cpu % 64);
	f->cpus_given = true;
	return 0;
}

static int parse_pid(struct trace_filter *f, const char *s, size_t len, struct error *e)
{
	const char *end = s + len;
	struct filter_time at = { 0 };
	char time[TIME_MAX] = "";
	uint64_t pid;
	const char *p = parse_number(s, end, INT32_MAX, &pid);
	int r;

	if (p && p < end && *p == '@' && (size_t)(end - p) < sizeof(time)) {
		memcpy(time, p + 1, (size_t)(end - p) - 1);
		p = end;
	}
	if (p != end)
		return error_set(e, EINVAL, "\"%.*s\" is not a pid, nor a pid@time", shown(len), s);
	r = time[0] || s[len - 1] == '@' ? filter_parse_time(&at, time, e) : 0;
	if (r < 0)
		return r;
	r = at.given ? filter_add_life(f, (int32_t)pid, &at) : filter_add_pid(f, (int32_t)pid);
	if (r < 0)
		return error_set(e, r, "cannot filter: more than %u pids, or %u pids at a time",
				 FILTER_PIDS_MAX, FILTER_LIVES_MAX);
	return 0;
}

static int parse_kind(struct trace_filter *f, const char *s, size_t len, struct error *e)
{
	int kind = word_parse_kind(s, len);

	if (kind < 0)
		return error_set(e, EINVAL,
				 "\"%.*s\" is not an event; there are switch, waking, wakeup, "
				 "wakeup_new, fork, exec, exit, rename, setprio",
				 shown(len), s);
	f->kinds |= 1U << kind;
	return 0;
}

static int parse_list(struct trace_filter *f, const char *text,
		      int (*parse)(struct trace_filter *f, const char *s, size_t len,
				   struct error *e),
		      struct error *e)
{
	size_t len;
	int r;

	for (;; text += len + 1) {
		len = word_length(text);
		r = parse(f, text, len, e);
		if (r < 0 || !text[len])
			return r;
	}
}

int filter_parse_cpus(struct trace_filter *f, const char *text, struct error *e)
{
	return parse_list(f, text, parse_cpu_range, e);
}

int filter_parse_pids(struct trace_filter *f, const char *text, struct error *e)
{
	return parse_list(f, text, parse_pid, e);
}

int filter_parse_kinds(struct trace_filter *f, const char *text, struct error *e)
{
	return parse_list(f, text, parse_kind, e);
}

/* Up to a comma that no backslash is before. The backslash stays: fnmatch takes "\," as a comma. */
static size_t pattern_length(const char *s)
{
	size_t n = 0;

	while (s[n] && s[n] != ',')
		n += s[n] == '\\' && s[n + 1] ? 2 : 1;
	return n;
}

int filter_parse_comms(struct trace_filter *f, const char *text, struct error *e)
{
	size_t len;
	int r;

	for (;; text += len + 1) {
		len = pattern_length(text);
		if (!len)
			return error_set(e, EINVAL, "an empty task name matches nothing");
		r = filter_add_comm(f, text, len);
		if (r < 0)
			return error_set(e, r,
					 "cannot filter: more than %u task names, or one longer "
					 "than %u bytes",
					 FILTER_COMMS_MAX, FILTER_COMM_LEN - 1);
		if (!text[len])
			return 0;
	}
}

/* Nanoseconds of one unit; 0 if it is none. No unit is seconds. */
static uint64_t unit_ns(const char *s)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "", 1000000000 }, { "s", 1000000000 }, { "ms", 1000000 },
		{ "us", 1000 },	    { "ns", 1 },
	};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(s, units[i].name))
			return units[i].ns;
	return 0;
}

int filter_parse_time(struct filter_time *ret, const char *text, struct error *e)
{
	const char *s = text + (*text == '+');
	const char *end = s + strlen(s);
	const char *p, *fraction = NULL;
	uint64_t whole, unit, digit_ns;
	uint64_t ns;

	p = parse_number(s, end, UINT64_MAX, &whole);
	if (p && *p == '.') {
		fraction = p + 1;
		p = fraction + strspn(fraction, "0123456789");
	}
	unit = p ? unit_ns(p) : 0;
	if (!unit || fraction == p)
		return error_set(e, EINVAL,
				 "\"%.*s\" is not a time; write 12.5, 12.5s, 200ms, 7us or 9ns, "
				 "with + from the trace's begin",
				 WORD_SHOWN, text);
	if (whole > UINT64_MAX / unit)
		return error_set(e, EINVAL, "the time \"%.*s\" is too large", WORD_SHOWN, text);
	ns = whole * unit;
	for (digit_ns = unit / 10; fraction && fraction < p; fraction++, digit_ns /= 10) {
		uint64_t add = digit_ns * (uint64_t)(*fraction - '0');

		if (!digit_ns && *fraction != '0')
			return error_set(e, EINVAL, "the time \"%.*s\" is finer than a nanosecond",
					 WORD_SHOWN, text);
		if (ns > UINT64_MAX - add)
			return error_set(e, EINVAL, "the time \"%.*s\" is too large", WORD_SHOWN,
					 text);
		ns += add;
	}
	ret->given = true;
	ret->relative = s != text;
	ret->ns = ns;
	return 0;
}
