/* SPDX-License-Identifier: MIT */
/*
 * graph_line: see graph_line.h.
 *
 * Columns end in '|', but for the CPU, which ends in ')'. What stands before a '|' is the time, a
 * task, the flags of the latency format, or the duration, which is the last of them; a piece that is
 * none of these is already the call, because arguments and comments may hold a '|', too. The call is
 * indented by two blanks for each level.
 */
#include "convert/graph_line.h"

#include "convert/text_columns.h"
#include "ftrace/graph.h"
#include "wire/sched_event.h"

#define FLAGS_LEAST 4U /* characters of the latency format's flags */
#define FLAGS_MOST 6U

static struct text_span trimmed(const char *at, const char *end)
{
	while (at < end && *at == ' ')
		at++;
	while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return (struct text_span){ at, (size_t)(end - at) };
}

static struct text_scan scan_of(struct text_span t)
{
	return (struct text_scan){ t.text, t.text + t.len };
}

static bool starts_with(struct text_span t, const char *word)
{
	struct text_scan s = scan_of(t);

	return scan_word(&s, word, strlen(word));
}

static const char *find(const char *at, const char *end, const char *word)
{
	return at && at < end ? memmem(at, (size_t)(end - at), word, strlen(word)) : NULL;
}

/* Digits behind a point as nanoseconds of a unit; false beyond nine of them. */
static bool scan_part(struct text_scan *s, uint64_t unit_ns, uint64_t *ret, uint32_t *ret_digits)
{
	*ret_digits = 0;
	for (; scan_is_digit(s) && *ret_digits < 9; s->at++, ++*ret_digits) {
		unit_ns /= 10;
		*ret += unit_ns * (uint64_t)(*s->at - '0');
	}
	return *ret_digits && !scan_is_digit(s);
}

/* "12.345678" and nothing else. */
static bool parse_time(struct text_span t, struct graph_line *l)
{
	struct text_scan s = scan_of(t);
	uint64_t whole, ns = 0;

	if (!scan_u64(&s, &whole) || whole > UINT64_MAX / 2000000000ULL || !SCAN(&s, ".") ||
	    !scan_part(&s, 1000000000, &ns, &l->time_digits) || scan_left(&s))
		return false;
	l->has_time = true;
	l->time_ns = whole * 1000000000ULL + ns;
	return true;
}

/* "+ 10.500 us", "$ 1234567 us". */
static bool parse_duration(struct text_span t, uint64_t *ret_ns)
{
	struct text_scan s = scan_of(t);
	uint64_t whole, ns = 0;
	uint32_t digits;

	if (scan_left(&s) && strchr("+!#*@$", *s.at)) {
		s.at++;
		scan_spaces(&s, NULL);
	}
	if (!scan_u64(&s, &whole) || whole > UINT64_MAX / 2000)
		return false;
	if (SCAN(&s, ".") && !scan_part(&s, 1000, &ns, &digits))
		return false;
	if (!scan_spaces(&s, NULL) || !SCAN(&s, "us") || scan_left(&s))
		return false;
	*ret_ns = whole * 1000 + ns;
	return true;
}

/* "bash-1234"; a name may hold a '-' itself, the pid does not. */
static bool parse_task(struct text_span t, struct text_span *ret_comm, int32_t *ret_pid)
{
	const char *dash = t.len ? memrchr(t.text, '-', t.len) : NULL;
	struct text_scan s;
	uint32_t pid;

	if (!dash || dash - t.text > SCHED_COMM_LEN)
		return false;
	s = (struct text_scan){ dash + 1, t.text + t.len };
	if (!scan_u32(&s, &pid) || scan_left(&s) || pid > INT32_MAX)
		return false;
	*ret_comm = (struct text_span){ t.text, (size_t)(dash - t.text) };
	*ret_pid = (int32_t)pid;
	return true;
}

static bool is_flags(struct text_span t)
{
	size_t i;

	for (i = 0; i < t.len; i++)
		if (!strchr(".0123456789abcdefDXnNpbBlLhsHZz#", t.text[i]))
			return false;
	return t.len >= FLAGS_LEAST && t.len <= FLAGS_MOST;
}

/* "}" and what stands behind it: a name, then perhaps what it returned. */
static void parse_exit(struct text_scan s, struct graph_line *l)
{
	static const char *const ends[] = { " */", " ret=", " = ", " <-" };
	const char *name = find(s.at, s.end, "/* "), *end, *found;
	size_t i;

	l->kind = GRAPH_LINE_EXIT;
	if (!name)
		return;
	name += 3;
	end = s.end;
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		found = find(name, end, ends[i]);
		end = found ? found : end;
	}
	l->name = trimmed(name, end);
}

/* "func+0x10/0x20 <ffffffff81000000>" is func; "func [module]" stays. */
static struct text_span plain_name(const char *at, const char *end)
{
	const char *cut = find(at, end, "+0x"), *module = find(at, end, " [");

	if (!cut)
		cut = find(at, end, " <");
	/* With an offset the module comes behind it, and the name alone has to do. */
	if (cut && (!module || cut < module))
		end = cut;
	return trimmed(at, end);
}

static void parse_call(struct text_scan s, struct graph_line *l)
{
	const char *paren = memchr(s.at, '(', scan_left(&s)), *close, *comment;
	struct text_span rest;

	l->kind = GRAPH_LINE_OTHER;
	if (!paren || paren == s.at)
		return;
	comment = find(paren, s.end, " /*");
	rest = trimmed(paren, comment ? comment : s.end);
	close = memrchr(rest.text, ')', rest.len);
	if (!close)
		return;
	l->name = plain_name(s.at, paren);
	if (!l->name.len)
		return;
	if (rest.text[rest.len - 1] == '{')
		l->kind = GRAPH_LINE_ENTER;
	else if (rest.text[rest.len - 1] == ';')
		l->kind = GRAPH_LINE_LEAF;
}

static void parse_body(struct text_scan s, struct graph_line *l)
{
	struct text_span all;
	uint32_t blanks = 0;

	scan_spaces(&s, &blanks);
	all = trimmed(s.at, s.end);
	s.end = all.text + all.len;
	l->depth = blanks / 2;
	if (!all.len || starts_with(all, "(Overruns") || starts_with(all, "==========>") ||
	    starts_with(all, "<==========") || starts_with(all, "------")) {
		l->kind = GRAPH_LINE_BLANK;
	} else if (*all.text == '}') {
		parse_exit(s, l);
	} else if (starts_with(all, "/*")) {
		l->kind = GRAPH_LINE_COMMENT;
		l->text = all;
	} else {
		parse_call(s, l);
	}
	if (l->depth >= GRAPH_DEPTH_MAX)
		l->kind = GRAPH_LINE_OTHER;
}

/* What a column is, and by how many blanks it is followed. */
enum column {
	COLUMN_NONE,
	COLUMN_WIDE,   /* two; another column may follow */
	COLUMN_NARROW, /* one; another may follow */
	COLUMN_LAST,   /* two */
};

static enum column take_column(struct text_span t, bool *has_rel_time, struct graph_line *l)
{
	uint64_t ns;

	if (!l->has_time && !l->has_cpu && !l->has_pid && parse_time(t, l))
		return COLUMN_WIDE;
	if (parse_duration(t, &ns)) {
		if (*has_rel_time) {
			*has_rel_time = false;
			l->has_time = true;
			l->time_ns = ns;
			return COLUMN_WIDE;
		}
		l->has_duration = true;
		l->duration_ns = ns;
		return COLUMN_LAST;
	}
	if (!t.len || starts_with(t, "==========>") || starts_with(t, "<=========="))
		return COLUMN_LAST;
	if (!l->has_pid && parse_task(t, &l->comm, &l->pid)) {
		l->has_pid = true;
		return COLUMN_NARROW;
	}
	return is_flags(t) ? COLUMN_NARROW : COLUMN_NONE;
}

static void skip_blanks(struct text_scan *s, uint32_t most)
{
	for (; most && scan_left(s) && *s->at == ' '; most--)
		s->at++;
}

/* " 0) ": the CPU, where its column can be. */
static void take_cpu(struct text_scan *s, struct graph_line *l)
{
	struct text_scan t = *s;
	uint32_t cpu;

	scan_spaces(&t, NULL);
	if (!scan_u32(&t, &cpu) || !SCAN(&t, ")"))
		return;
	skip_blanks(&t, 1);
	l->has_cpu = true;
	l->cpu = cpu;
	*s = t;
}

static void take_columns(struct text_scan *s, bool has_rel_time, struct graph_line *l)
{
	enum column column = COLUMN_WIDE;
	const char *bar;

	while (column != COLUMN_LAST) {
		if (!l->has_cpu)
			take_cpu(s, l);
		bar = scan_left(s) ? memchr(s->at, '|', scan_left(s)) : NULL;
		if (!bar)
			return;
		column = take_column(trimmed(s->at, bar), &has_rel_time, l);
		if (column == COLUMN_NONE)
			return;
		l->has_column = true;
		s->at = bar + 1;
		skip_blanks(s, column == COLUMN_NARROW ? 1 : 2);
	}
}

/* " 0)   bash-1234   =>   kworke-12  " */
static bool parse_switch(struct text_scan s, struct graph_line *l)
{
	const char *arrow = find(s.at, s.end, " => ");

	if (!arrow)
		return false;
	take_cpu(&s, l);
	if (!l->has_cpu || s.at > arrow ||
	    !parse_task(trimmed(s.at, arrow), &l->before_comm, &l->before_pid) ||
	    !parse_task(trimmed(arrow + 4, s.end), &l->comm, &l->pid)) {
		l->has_cpu = false;
		return false;
	}
	l->kind = GRAPH_LINE_SWITCH;
	return true;
}

/* What trace-cmd prints: columns as of any event, then the duration and the call. */
static bool parse_report(const struct text_line *line, struct graph_line *l)
{
	struct text_columns c;
	struct text_scan s;
	uint32_t i;

	if (!memmem(line->text, line->len, ": ", 2))
		return false;
	text_columns_parse(&c, line);
	if (c.kind != TEXT_EVENT || !c.part_digits || c.whole > UINT64_MAX / 2000000000ULL)
		return false;
	l->has_time = l->has_cpu = l->has_pid = true;
	l->time_ns = c.part;
	for (i = c.part_digits; i < 9; i++)
		l->time_ns *= 10;
	l->time_ns += c.whole * 1000000000ULL;
	l->time_digits = c.part_digits;
	l->cpu = c.cpu;
	l->pid = c.pid;
	l->comm = c.comm;
	s = scan_of(c.body);
	if (starts_with(c.name, "funcgraph_entry") || starts_with(c.name, "funcgraph_exit") ||
	    starts_with(c.name, "fgraph_retaddr_entry")) {
		take_columns(&s, false, l);
		parse_body(s, l);
	} else {
		l->kind = GRAPH_LINE_COMMENT;
		l->text = (struct text_span){ c.name.text,
					      (size_t)(line->text + line->len - c.name.text) };
	}
	return true;
}

static bool parse_lost(const struct text_line *line, struct graph_line *l)
{
	struct text_columns c;

	if (line->len < 5 || memcmp(line->text, "CPU:", 4))
		return false;
	text_columns_parse(&c, line);
	if (c.kind != TEXT_LOST)
		return false;
	l->kind = GRAPH_LINE_LOST;
	l->cpu = c.cpu;
	l->count = c.count;
	return true;
}

void graph_line_parse(struct graph_line *ret, const struct text_line *line, bool has_rel_time)
{
	struct text_scan s = { line->text, line->text + line->len };

	memset(ret, 0, sizeof(*ret));
	if (!line->len)
		return;
	if (*line->text == '#') {
		ret->kind = GRAPH_LINE_HEADER;
		return;
	}
	if (parse_lost(line, ret) || parse_switch(s, ret) || parse_report(line, ret))
		return;
	take_columns(&s, has_rel_time, ret);
	parse_body(s, ret);
}
