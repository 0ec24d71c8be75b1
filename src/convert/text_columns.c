/* SPDX-License-Identifier: MIT */
/*
 * text_columns: see text_columns.h.
 *
 * A line of the kernel is
 *
 *	%16s-%-7d (%7d) [%03d] flags %5lu.%06lu: name: body
 *
 * where the (tgid) may be missing or, in 4.13 to 4.19, stand after the CPU, the flags may be
 * missing, and the pid is padded to 5 or 7. The name of the task may hold any character, but it is
 * never longer than 15 bytes, so the '-' before the pid stands at byte 16; only where it does not
 * (leading blanks were trimmed, another tool wrote it) is it looked for, and taken where everything
 * after it fits. A name is too short to hold all that, so the first fit is the right one.
 *
 * The option latency-format, which latency tracers set, has other columns, with µs since the trace's
 * start, or ticks; with verbose it has µs of the clock, in hex, too:
 *
 *	%8.8s-%-7d %3d flags %4luus+: name: body
 *	%16s %7d %3d flags preempt-count number [µs] %lu.%03lums (+%lu.%03lums): name: body
 */
#include "convert/text_columns.h"

#include "wire/sched_event.h"

#define LATENCY_COMM 8U /* a longer name is cut to this */
#define FLAGS_MAX 8U	/* the real-time patches had up to eight columns */

static bool scan_tgid(struct text_scan *s, int32_t *ret)
{
	*ret = TEXT_NO_TGID_COLUMN;
	if (!SCAN(s, "("))
		return true;
	scan_spaces(s, NULL);
	if (s->at < s->end && *s->at == '-') {
		*ret = -1;
		while (s->at < s->end && *s->at == '-')
			s->at++;
	} else if (!scan_i32(s, ret)) { /* a number without a sign, so not below 0 */
		return false;
	}
	return SCAN(s, ")") && scan_spaces(s, NULL);
}

static bool is_flag(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '#';
}

/* "seconds.part:" or "counter:", leaving the cursor behind the colon. */
static bool scan_stamp(struct text_scan *s, struct text_columns *c)
{
	const char *start = s->at;

	if (!scan_u64(s, &c->whole))
		return false;
	c->whole_digits = (uint32_t)(s->at - start);
	c->part_digits = 0;
	c->part = 0;
	if (SCAN(s, ".")) {
		start = s->at;
		if (!scan_u32(s, &c->part) || s->at - start > 9)
			return false;
		c->part_digits = (uint32_t)(s->at - start);
	}
	return SCAN(s, ":");
}

/* The flags are a word of letters, digits and points; so is a stamp, but for its colon. */
static bool scan_flags_and_stamp(struct text_scan *s, struct text_columns *c)
{
	const char *before = s->at;
	struct text_scan word;
	uint32_t gap;

	c->flags.len = 0;
	if (!scan_spaces(s, &gap))
		return false;
	word = *s;
	if (scan_stamp(s, c)) {
		c->stamp_room = gap + c->whole_digits;
		return true;
	}
	*s = word;
	while (s->at < s->end && is_flag(*s->at))
		s->at++;
	c->flags.text = word.at;
	c->flags.len = (size_t)(s->at - word.at);
	before = s->at;
	if (c->flags.len < 4 || c->flags.len > FLAGS_MAX || !scan_spaces(s, NULL) ||
	    !scan_stamp(s, c))
		return false;
	c->stamp_room = (uint32_t)(s->at - before);
	return true;
}

static void split_name(struct text_scan *s, struct text_columns *c)
{
	const char *colon;

	scan_spaces(s, NULL);
	colon = scan_left(s) ? memchr(s->at, ':', scan_left(s)) : NULL;
	c->name.text = s->at;
	c->name.len = (size_t)((colon ? colon : s->end) - s->at);
	s->at = colon ? colon + 1 : s->end;
	c->body_gap = 0;
	scan_spaces(s, &c->body_gap);
	c->body.text = s->at;
	c->body.len = scan_left(s);
}

/* Everything from the '-' before the pid. */
static bool parse_after_comm(struct text_scan s, struct text_columns *c)
{
	const char *start;
	int32_t late_tgid;

	if (!SCAN(&s, "-"))
		return false;
	start = s.at;
	if (!scan_i32(&s, &c->pid) || !scan_spaces(&s, NULL))
		return false;
	c->pid_room = (uint32_t)(s.at - start) - 1;
	if (!scan_tgid(&s, &c->tgid) || !SCAN(&s, "[") || !scan_u32(&s, &c->cpu) || !SCAN(&s, "]"))
		return false;
	if (scan_left(&s) > 1 && s.at[1] == '(') {
		s.at++;
		if (c->tgid != TEXT_NO_TGID_COLUMN || !scan_tgid(&s, &late_tgid))
			return false;
		c->tgid = late_tgid;
		s.at--; /* the blank that the next column begins with */
	}
	if (!scan_flags_and_stamp(&s, c))
		return false;
	split_name(&s, c);
	return true;
}

/* What a line of the latency format does not have. */
static void set_plain(struct text_columns *c)
{
	c->tgid = TEXT_NO_TGID_COLUMN;
	c->pid_room = 7;
	c->stamp_room = 0;
}

static void set_us(struct text_columns *c, uint64_t us)
{
	c->whole = us / 1000000;
	c->whole_digits = 1;
	c->part = (uint32_t)(us % 1000000);
	c->part_digits = 6;
}

/* "12us+:" of a clock of nanoseconds, "12:" of another. */
static bool scan_latency_stamp(struct text_scan *s, struct text_columns *c)
{
	uint64_t number;

	if (!scan_spaces(s, NULL) || !scan_u64(s, &number))
		return false;
	if (SCAN(s, "us")) {
		set_us(c, number);
		if (s->at == s->end || !memchr(" +!#*@$", *s->at++, 7))
			return false;
	} else {
		c->whole = number;
		c->part_digits = c->part = 0;
	}
	return SCAN(s, ":");
}

static bool parse_latency(struct text_scan s, struct text_columns *c)
{
	const char *start = s.at, *dash;

	while (start < s.end && *start == ' ')
		start++;
	dash = scan_left(&s) > LATENCY_COMM ? s.at + LATENCY_COMM : s.end;
	if (dash == s.end || *dash != '-' || start > dash)
		return false;
	c->comm = (struct text_span){ start, (size_t)(dash - start) };
	if (c->comm.len == LATENCY_COMM) /* perhaps not all of it */
		c->comm = (struct text_span){ "<...>", 5 };
	s.at = dash + 1;
	if (!scan_i32(&s, &c->pid) || !scan_spaces(&s, NULL) || !scan_u32(&s, &c->cpu))
		return false;
	c->flags.text = s.at;
	while (s.at < s.end && is_flag(*s.at))
		s.at++;
	c->flags.len = (size_t)(s.at - c->flags.text);
	if (c->flags.len < 4 || c->flags.len > FLAGS_MAX || !scan_latency_stamp(&s, c))
		return false;
	set_plain(c);
	split_name(&s, c);
	return true;
}

static bool scan_hex_number(struct text_scan *s, uint64_t *ret)
{
	const char *start = s->at, *digit;

	for (*ret = 0; s->at < s->end; s->at++) {
		digit = *s->at ? memchr("0123456789abcdef", *s->at, 16) : NULL;
		if (!digit || *ret >> 60)
			break;
		*ret = *ret << 4 | (uint64_t)(digit - "0123456789abcdef");
	}
	return s->at != start;
}

/* "797.027ms" */
static bool scan_ms(struct text_scan *s, uint64_t *ret_us)
{
	const char *start;
	uint64_t ms;
	uint32_t us;

	if (!scan_u64(s, &ms) || ms > UINT64_MAX / 1000 - 1 || !SCAN(s, "."))
		return false;
	start = s->at;
	if (!scan_u32(s, &us) || s->at - start != 3 || !SCAN(s, "ms"))
		return false;
	*ret_us = ms * 1000 + us;
	return true;
}

static bool parse_verbose(struct text_scan s, struct text_columns *c)
{
	const char *start = s.at, *end = s.at + SCHED_COMM_LEN;
	uint64_t preempt, number, us, since, delay;
	uint32_t flags;

	if (scan_left(&s) <= SCHED_COMM_LEN || *end != ' ')
		return false;
	while (start < end && *start == ' ')
		start++;
	c->comm = (struct text_span){ start, (size_t)(end - start) };
	s.at = end;
	scan_spaces(&s, NULL);
	if (!scan_i32(&s, &c->pid) || !scan_spaces(&s, NULL) || !scan_u32(&s, &c->cpu) ||
	    !scan_spaces(&s, NULL) || !scan_u32(&s, &flags) || !scan_spaces(&s, NULL) ||
	    !scan_hex_number(&s, &preempt) || !scan_spaces(&s, NULL) ||
	    !scan_hex_number(&s, &number) || !SCAN(&s, " [") || !scan_hex_number(&s, &us) ||
	    !SCAN(&s, "] ") || !scan_ms(&s, &since) || !SCAN(&s, " (+") || !scan_ms(&s, &delay) ||
	    !SCAN(&s, "):") || flags > UINT8_MAX || preempt > UINT8_MAX)
		return false;
	set_plain(c);
	set_us(c, us);
	c->flags.len = 0;
	c->has_numbers = true;
	c->flag_number = (uint8_t)flags;
	c->preempt_number = (uint8_t)preempt;
	split_name(&s, c);
	return true;
}

/* Kernels of vendors may have longer names. */
static bool parse_long_name(struct text_scan s, struct text_columns *c)
{
	const char *start = s.at, *dash;

	while (start < s.end && *start == ' ')
		start++;
	c->comm.text = start;
	for (dash = start; dash < s.end && dash <= start + SCAN_LOOSE_COMM; dash++) {
		c->comm.len = (size_t)(dash - start);
		if (*dash == '-' && parse_after_comm((struct text_scan){ dash, s.end, false }, c))
			return true;
	}
	return false;
}

static bool parse_event(struct text_scan s, struct text_columns *c)
{
	const char *start = s.at, *dash;

	while (start < s.end && *start == ' ')
		start++;
	c->comm.text = start;
	if (scan_left(&s) > SCHED_COMM_LEN && s.at[SCHED_COMM_LEN] == '-') {
		dash = s.at + SCHED_COMM_LEN;
		c->comm.len = (size_t)(dash - start);
		if (parse_after_comm((struct text_scan){ dash, s.end, false }, c))
			return true;
	}
	for (dash = start; dash < s.end && dash <= start + SCHED_COMM_LEN; dash++) {
		c->comm.len = (size_t)(dash - start);
		if (*dash == '-' && parse_after_comm((struct text_scan){ dash, s.end, false }, c))
			return true;
	}
	return parse_latency(s, c) || parse_verbose(s, c) || parse_long_name(s, c);
}

/* "CPU:1 [LOST 5 EVENTS]" and "CPU:1 [LOST EVENTS]" of the kernel, "CPU:1 [5 EVENTS DROPPED]" and
 * "CPU:1 [EVENTS DROPPED]" of trace-cmd. */
static bool parse_lost(struct text_scan s, struct text_columns *c)
{
	bool kernel;

	if (!SCAN(&s, "CPU:") || !scan_u32(&s, &c->cpu) || !SCAN(&s, " ["))
		return false;
	kernel = SCAN(&s, "LOST ");
	c->count = UINT64_MAX;
	if (scan_is_digit(&s) && (!scan_u64(&s, &c->count) || !SCAN(&s, " ")))
		return false;
	return kernel ? SCAN(&s, "EVENTS]") : SCAN(&s, "EVENTS DROPPED]");
}

/* "# latency: 0 us, #407/82418, CPU#0 | (M:PREEMPT(none) VP:0, KP:0, SP:0 HP:0 #P:2)" */
static bool parse_latency_entries(struct text_scan s, struct text_columns *c)
{
	const char *cpus;
	uint64_t us;

	if (!SCAN(&s, "# latency: ") || !scan_u64(&s, &us) || !SCAN(&s, " us, #") ||
	    !scan_u64(&s, &c->count) || !SCAN(&s, "/") || !scan_u64(&s, &c->written))
		return false;
	c->has_counts = true;
	cpus = memmem(s.at, scan_left(&s), "#P:", 3);
	s.at = cpus ? cpus + 3 : s.end;
	if (cpus && !scan_u32(&s, &c->cpus))
		return false;
	return true;
}

static bool parse_entries(struct text_scan s, struct text_columns *c)
{
	if (!SCAN(&s, "# entries-in-buffer/entries-written: "))
		return false;
	c->has_counts = scan_u64(&s, &c->count);
	if (c->has_counts && (!SCAN(&s, "/") || !scan_u64(&s, &c->written)))
		return false;
	if (!c->has_counts && !SCAN(&s, "-/-"))
		return false;
	c->cpus = 0;
	scan_spaces(&s, NULL);
	if (SCAN(&s, "#P:") && !scan_u32(&s, &c->cpus))
		return false;
	return true;
}

/* "cpus=4", "version = 6" and "CPU 3 is empty" of trace-cmd, "TRACE:" of old systrace, and the
 * " => function" lines of a stack. */
static bool is_heading(struct text_scan s)
{
	struct text_scan t = s;
	uint32_t cpu;

	if (SCAN(&t, "cpus=") || SCAN(&t, "version = ") || SCAN(&t, "TRACE:") || SCAN(&t, " => ") ||
	    SCAN(&t, "=> "))
		return true;
	return SCAN(&s, "CPU ") && scan_u32(&s, &cpu) && SCAN(&s, " is empty");
}

void text_columns_parse(struct text_columns *ret, const struct text_line *line)
{
	struct text_scan s = { line->text, line->text + line->len, false };
	struct text_scan blank = s;

	scan_spaces(&blank, NULL);
	ret->cpus = 0;
	ret->has_numbers = false;
	if (!scan_left(&blank))
		ret->kind = TEXT_BLANK;
	else if (parse_event(s, ret))
		ret->kind = TEXT_EVENT;
	else if (*s.at == '#')
		ret->kind = parse_entries(s, ret) || parse_latency_entries(s, ret) ? TEXT_ENTRIES
										   : TEXT_BLANK;
	else if (parse_lost(s, ret))
		ret->kind = TEXT_LOST;
	else if (is_heading(s))
		ret->kind = TEXT_BLANK;
	else
		ret->kind = TEXT_OTHER;
	if (ret->kind == TEXT_BLANK && SCAN(&s, "cpus=") && !scan_u32(&s, &ret->cpus))
		ret->cpus = 0;
}
