/* SPDX-License-Identifier: MIT */
/* bootchart_log: see bootchart_log.h. */
#include "convert/bootchart_log.h"

#define PF_KTHREAD 0x00200000U

bool bootchart_log_line(struct text_scan *s, struct text_span *ret)
{
	const char *end;

	if (s->at == s->end)
		return false;
	end = memchr(s->at, '\n', scan_left(s));
	ret->text = s->at;
	ret->len = (size_t)((end ? end : s->end) - s->at);
	s->at = end ? end + 1 : s->end;
	if (ret->len && ret->text[ret->len - 1] == '\r')
		ret->len--;
	return true;
}

static bool parse_time(struct text_span line, uint64_t *ret)
{
	struct text_scan s = { line.text, line.text + line.len };

	scan_spaces(&s, NULL);
	if (!scan_u64(&s, ret) || *ret > BOOTCHART_TIME_MAX)
		return false;
	scan_spaces(&s, NULL);
	return s.at == s.end;
}

bool bootchart_log_next(struct text_scan *log, struct bootchart_block *ret, uint64_t *bad)
{
	struct text_span line;
	bool is_found = false;

	while (!is_found) {
		if (!bootchart_log_line(log, &line))
			return false;
		is_found = line.len && parse_time(line, &ret->time);
		*bad += line.len && !is_found;
	}
	ret->body.at = ret->body.end = log->at;
	ret->is_whole = false;
	while (bootchart_log_line(log, &line)) {
		ret->is_whole = !line.len;
		if (!line.len)
			return true;
		ret->body.end = log->at;
	}
	return true;
}

size_t bootchart_log_numbers(struct text_scan *s, uint64_t *ret, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		bool negative;

		scan_spaces(s, NULL);
		negative = s->at < s->end && *s->at == '-';
		s->at += negative;
		if (!scan_u64(s, &ret[i]))
			break;
		if (negative)
			ret[i] = 0 - ret[i];
	}
	return i;
}

/* What follows the state in /proc/PID/stat. */
enum { PARENT, GROUP, SESSION, TTY, TTY_GROUP, FLAGS, MINOR, CHILD_MINOR, MAJOR, CHILD_MAJOR };
enum {
	USER = 10,
	SYSTEM,
	CHILD_USER,
	CHILD_SYSTEM,
	PRIORITY,
	NICE,
	THREADS,
	ALARM,
	START,
	MEMORY,
	FIELDS
};

bool bootchart_log_parse_stat(struct text_span line, struct bootchart_process *ret)
{
	struct text_scan s = { line.text, line.text + line.len };
	const char *close = memrchr(line.text, ')', line.len);
	uint64_t n[FIELDS];

	memset(ret, 0, sizeof(*ret));
	scan_spaces(&s, NULL);
	if (!scan_i32(&s, &ret->pid) || ret->pid <= 0 || !SCAN(&s, " (") || !close)
		return false;
	ret->name.text = s.at;
	ret->name.len = (size_t)(close - s.at);
	s.at = close + 1;
	if (!SCAN(&s, " ") || s.at == s.end)
		return false;
	ret->state = *s.at++;
	if (bootchart_log_numbers(&s, n, FIELDS) != FIELDS || n[PARENT] > INT32_MAX)
		return false;
	ret->parent = (int32_t)n[PARENT];
	/* Kernels before 2.6.27 had no flag for it; but none of its threads has memory. */
	ret->is_kernel = (n[FLAGS] & PF_KTHREAD) ||
			 (!n[MEMORY] && ret->pid != 1 && ret->state != 'Z' && ret->state != 'X');
	ret->user = n[USER];
	ret->system = n[SYSTEM];
	ret->start = n[START];
	ret->faults = n[MAJOR];
	ret->threads = n[THREADS];
	/* Before 2.6 it was a field without meaning. */
	if (ret->threads > INT32_MAX)
		ret->threads = 0;
	return ret->start <= BOOTCHART_TIME_MAX && ret->user <= BOOTCHART_TIME_MAX &&
	       ret->system <= BOOTCHART_TIME_MAX;
}

/* The three numbers at the end of the line; what is before them stays. */
static bool parse_tail(struct text_span *line, uint64_t ret[3])
{
	int i;

	for (i = 2; i >= 0; i--) {
		const char *space = memrchr(line->text, ' ', line->len);
		struct text_scan s;

		if (!space)
			return false;
		s = (struct text_scan){ space + 1, line->text + line->len };
		if (!scan_u64(&s, &ret[i]) || s.at != s.end)
			return false;
		line->len = (size_t)(space - line->text);
	}
	return true;
}

bool bootchart_log_parse_taskstats(struct text_span line, struct bootchart_process *ret)
{
	struct text_scan s;
	uint64_t n[3];

	memset(ret, 0, sizeof(*ret));
	if (!parse_tail(&line, n))
		return false;
	s = (struct text_scan){ line.text, line.text + line.len };
	if (!scan_i32(&s, &ret->pid) || ret->pid <= 0 || !SCAN(&s, " ") ||
	    !scan_i32(&s, &ret->parent) || ret->parent < 0 || !SCAN(&s, " "))
		return false;
	ret->name.text = s.at;
	ret->name.len = scan_left(&s);
	/* The first collectors wrote it in parentheses. */
	if (ret->name.len >= 2 && s.at[0] == '(' && s.end[-1] == ')') {
		ret->name.text++;
		ret->name.len -= 2;
	}
	ret->ran_ns = n[0];
	ret->disk_ns = n[1];
	ret->swap_ns = n[2];
	return true;
}
