/* SPDX-License-Identifier: MIT */
/*
 * text_body: see text_body.h.
 *
 * A task's name may hold blanks, '=' and even the words that follow it. A body is therefore parsed
 * from its keywords: the name is what lies before the keyword, and if the rest of the body, to its
 * very end, does not fit, the next occurrence of the keyword is tried. A name has 15 bytes, which
 * is too few for it to contain all the rest of a body, so what fits is right.
 *
 * A body that does not fit is tried in two other forms: as the option `fields` prints it, where each
 * number is "0x78 (120)", and loosely, since kernels of vendors add fields and have longer names.
 */
#include "convert/text_body.h"

static const struct {
	const char *name;
	size_t len;
} kind_names[SCHED_KINDS] = {
#define NAME(s)                                                                                    \
	{                                                                                          \
		s, sizeof(s) - 1                                                                   \
	}
	[SCHED_SWITCH] = NAME("sched_switch"),	    [SCHED_WAKING] = NAME("sched_waking"),
	[SCHED_WAKEUP] = NAME("sched_wakeup"),	    [SCHED_WAKEUP_NEW] = NAME("sched_wakeup_new"),
	[SCHED_FORK] = NAME("sched_process_fork"),  [SCHED_EXEC] = NAME("sched_process_exec"),
	[SCHED_EXIT] = NAME("sched_process_exit"),  [SCHED_RENAME] = NAME("task_rename"),
	[SCHED_SETPRIO] = NAME("sched_pi_setprio"),
#undef NAME
};

int text_body_kind(const struct text_span *name)
{
	int i;

	for (i = 0; i < SCHED_KINDS; i++)
		if (name->len == kind_names[i].len &&
		    !memcmp(name->text, kind_names[i].name, name->len))
			return i;
	return -1;
}

static void set_comm(struct sched_task *task, const struct text_span *comm)
{
	sched_comm_set(task->comm, comm->text, comm->len);
}

/* A word of state letters: up to the next blank. */
static bool scan_state(struct text_scan *s, struct text_span *ret)
{
	ret->text = s->at;
	while (s->at < s->end && *s->at != ' ')
		s->at++;
	ret->len = (size_t)(s->at - ret->text);
	return ret->len > 0;
}

static bool parse_next(struct text_body *b, struct text_scan rest)
{
	struct sched_task *next = &b->event.other;
	struct text_span comm;
	struct text_scan s;
	uint32_t i;

	for (i = 0; s = rest, scan_comm(&s, " next_pid=", i, &comm); i++) {
		if (scan_i32(&s, &next->pid) && SCAN(&s, " next_prio=") &&
		    scan_i32(&s, &next->prio) && scan_end(&s)) {
			set_comm(next, &comm);
			return true;
		}
	}
	return false;
}

/* trace-cmd report -R leaves the arrow out (and prints the state as a number). */
static bool scan_arrow(struct text_scan *s)
{
	return SCAN(s, " ==> next_comm=") || SCAN(s, " next_comm=");
}

static bool parse_switch(struct text_body *b, struct text_scan rest)
{
	struct sched_task *prev = &b->event.task;
	struct text_span comm;
	struct text_scan s;
	uint32_t i;

	if (!SCAN(&rest, "prev_comm="))
		return false;
	for (i = 0; s = rest, scan_comm(&s, " prev_pid=", i, &comm); i++) {
		if (scan_i32(&s, &prev->pid) && SCAN(&s, " prev_prio=") &&
		    scan_i32(&s, &prev->prio) && SCAN(&s, " prev_state=") &&
		    scan_state(&s, &b->state) && scan_arrow(&s) && parse_next(b, s)) {
			set_comm(prev, &comm);
			return true;
		}
	}
	return false;
}

/* "name:pid [prio]" of trace-cmd, its name being the nth candidate. *ret_more says whether there is
 * such a candidate at all, so that there may be a further one. */
static bool scan_short_task(struct text_scan *s, uint32_t nth, struct sched_task *task,
			    bool *ret_more)
{
	struct text_span comm;

	*ret_more = scan_comm(s, ":", nth, &comm);
	if (!*ret_more || !scan_i32(s, &task->pid) || !SCAN(s, " [") || !scan_i32(s, &task->prio) ||
	    !SCAN(s, "]"))
		return false;
	set_comm(task, &comm);
	return true;
}

static bool parse_short_next(struct text_body *b, struct text_scan rest)
{
	struct text_scan s;
	bool more = true;
	uint32_t i;

	for (i = 0; s = rest, more; i++)
		if (scan_short_task(&s, i, &b->event.other, &more) && scan_end(&s))
			return true;
	return false;
}

static bool parse_short_switch(struct text_body *b, struct text_scan rest)
{
	struct text_scan s;
	bool more = true;
	uint32_t i;

	b->traits |= TEXT_TRACE_CMD;
	for (i = 0; s = rest, more; i++)
		if (scan_short_task(&s, i, &b->event.task, &more) && SCAN(&s, " ") &&
		    scan_state(&s, &b->state) && SCAN(&s, " ==> ") && parse_short_next(b, s))
			return true;
	return false;
}

static bool scan_success(struct text_body *b, struct text_scan *s)
{
	uint32_t success;

	if (!SCAN(s, "success="))
		return true;
	b->traits |= TEXT_HAS_SUCCESS;
	if (!scan_u32(s, &success) || success > UINT8_MAX)
		return false;
	b->event.extra = (uint8_t)success;
	return SCAN(s, " ");
}

static bool parse_short_wake(struct text_body *b, struct text_scan rest)
{
	struct text_scan s;
	bool more = true;
	uint32_t i;

	for (i = 0; s = rest, more; i++) {
		b->traits = TEXT_TRACE_CMD;
		if (scan_short_task(&s, i, &b->event.task, &more) && SCAN(&s, " ") &&
		    scan_success(b, &s) && SCAN(&s, "CPU:") && scan_i32(&s, &b->event.value) &&
		    scan_end(&s))
			return true;
	}
	return false;
}

static bool parse_wake(struct text_body *b, struct text_scan rest)
{
	struct sched_task *task = &b->event.task;
	struct text_span comm;
	struct text_scan s;
	uint32_t i;

	if (!SCAN(&rest, "comm="))
		return false;
	for (i = 0; s = rest, scan_comm(&s, " pid=", i, &comm); i++) {
		if (scan_i32(&s, &task->pid) && SCAN(&s, " prio=") && scan_i32(&s, &task->prio) &&
		    SCAN(&s, " ") && scan_success(b, &s) && SCAN(&s, "target_cpu=") &&
		    scan_i32(&s, &b->event.value) && scan_end(&s)) {
			set_comm(task, &comm);
			return true;
		}
	}
	return false;
}

static bool parse_child(struct text_body *b, struct text_scan rest)
{
	struct text_span comm;
	struct text_scan s;
	uint32_t i;

	for (i = 0; s = rest, scan_comm(&s, " child_pid=", i, &comm); i++) {
		if (scan_i32(&s, &b->event.other.pid) && scan_end(&s)) {
			set_comm(&b->event.other, &comm);
			return true;
		}
	}
	return false;
}

static bool parse_fork(struct text_body *b, struct text_scan rest)
{
	const char *pid_word = " pid=";
	struct text_span comm;
	struct text_scan s;
	uint32_t i;

	if (SCAN(&rest, "parent_comm=")) /* the field's name, as trace-cmd report -R has it */
		pid_word = " parent_pid=";
	else if (!SCAN(&rest, "comm="))
		return false;
	for (i = 0; s = rest, scan_comm(&s, pid_word, i, &comm); i++) {
		if (scan_i32(&s, &b->event.task.pid) && SCAN(&s, " child_comm=") &&
		    parse_child(b, s)) {
			set_comm(&b->event.task, &comm);
			return true;
		}
	}
	return false;
}

/* A path has no short limit, so it is parsed from the body's end, where only numbers stand. */
static bool parse_exec(struct text_body *b, struct text_scan rest)
{
	const char *start, *at;
	struct text_scan s;

	if (!SCAN(&rest, "filename="))
		return false;
	start = rest.at;
	for (at = rest.end; at >= start; at--) {
		s = (struct text_scan){ at, rest.end };
		if (!SCAN(&s, " pid="))
			continue;
		if (!scan_i32(&s, &b->event.task.pid) || !SCAN(&s, " old_pid=") ||
		    !scan_i32(&s, &b->event.value) || scan_left(&s) ||
		    at - start > (ptrdiff_t)SCHED_FILENAME_MAX)
			return false;
		b->event.filename = at == start ? NULL : start;
		b->event.filename_len = (uint16_t)(at - start);
		return true;
	}
	return false;
}

static bool scan_group_dead(struct text_body *b, struct text_scan *s)
{
	if (!scan_left(s)) {
		b->traits |= TEXT_NO_GROUP_DEAD;
		return true;
	}
	b->traits |= TEXT_HAS_GROUP_DEAD;
	if (!SCAN(s, " group_dead="))
		return false;
	b->event.extra = SCAN(s, "true") || SCAN(s, "1");
	return (b->event.extra || SCAN(s, "false") || SCAN(s, "0")) && scan_end(s);
}

static bool parse_exit(struct text_body *b, struct text_scan rest)
{
	struct sched_task *task = &b->event.task;
	struct text_span comm;
	struct text_scan s;
	uint32_t i;

	if (!SCAN(&rest, "comm="))
		return false;
	for (i = 0; s = rest, scan_comm(&s, " pid=", i, &comm); i++) {
		b->traits = 0;
		if (scan_i32(&s, &task->pid) && SCAN(&s, " prio=") && scan_i32(&s, &task->prio) &&
		    scan_group_dead(b, &s)) {
			set_comm(task, &comm);
			return true;
		}
	}
	return false;
}

static bool parse_new_name(struct text_body *b, struct text_scan rest)
{
	struct text_span comm;
	struct text_scan s;
	uint32_t i;

	for (i = 0; s = rest, scan_comm(&s, " oom_score_adj=", i, &comm); i++) {
		if (scan_i32(&s, &b->event.value) && scan_end(&s)) {
			set_comm(&b->event.other, &comm);
			return true;
		}
	}
	return false;
}

static bool parse_rename(struct text_body *b, struct text_scan rest)
{
	struct text_span comm;
	struct text_scan s;
	uint32_t i;

	if (!SCAN(&rest, "pid="))
		b->traits |= TEXT_NO_RENAME_PID; /* the caller knows who ran */
	else if (!scan_i32(&rest, &b->event.task.pid) || !SCAN(&rest, " "))
		return false;
	if (!SCAN(&rest, "oldcomm="))
		return false;
	for (i = 0; s = rest, scan_comm(&s, " newcomm=", i, &comm); i++) {
		if (parse_new_name(b, s)) {
			set_comm(&b->event.task, &comm);
			return true;
		}
	}
	return false;
}

static bool parse_setprio(struct text_body *b, struct text_scan rest)
{
	struct text_span comm;
	struct text_scan s;
	uint32_t i;

	if (!SCAN(&rest, "comm="))
		return false;
	for (i = 0; s = rest, scan_comm(&s, " pid=", i, &comm); i++) {
		if (scan_i32(&s, &b->event.task.pid) && SCAN(&s, " oldprio=") &&
		    scan_i32(&s, &b->event.task.prio) && SCAN(&s, " newprio=") &&
		    scan_i32(&s, &b->event.other.prio) && scan_end(&s)) {
			set_comm(&b->event.task, &comm);
			return true;
		}
	}
	return false;
}

/* A short form that only looks like the long one leaves nothing behind in *b. */
static bool parse_either(struct text_body *b, struct text_scan s,
			 bool (*full)(struct text_body *, struct text_scan),
			 bool (*brief)(struct text_body *, struct text_scan))
{
	struct text_body empty = *b;

	if (full(b, s))
		return true;
	*b = empty;
	return brief(b, s);
}

static bool parse_kind(struct text_body *ret, int kind, int32_t who, struct text_scan s)
{
	memset(ret, 0, sizeof(*ret));
	ret->event.kind = (uint8_t)kind;
	ret->event.pid = who;
	switch ((enum sched_kind)kind) {
	case SCHED_SWITCH:
		return parse_either(ret, s, parse_switch, parse_short_switch);
	case SCHED_WAKING:
	case SCHED_WAKEUP:
	case SCHED_WAKEUP_NEW:
		return parse_either(ret, s, parse_wake, parse_short_wake);
	case SCHED_FORK:
		return parse_fork(ret, s);
	case SCHED_EXEC:
		return parse_exec(ret, s);
	case SCHED_EXIT:
		return parse_exit(ret, s);
	case SCHED_RENAME:
		if (!parse_rename(ret, s))
			return false;
		if (ret->traits & TEXT_NO_RENAME_PID)
			ret->event.task.pid = who;
		return true;
	case SCHED_SETPRIO:
		return parse_setprio(ret, s);
	case SCHED_KINDS:
		break;
	}
	return false;
}

/* "=0x78 (120)", and "=(1)" of a byte: the cursor goes behind it, *ret is what is in brackets. */
static bool scan_twofold(struct text_scan *s, struct text_span *ret)
{
	struct text_scan t = *s;
	char last;

	if (!SCAN(&t, "="))
		return false;
	if (SCAN(&t, "0x")) {
		while (t.at < t.end && memchr("0123456789abcdef", *t.at, 16))
			t.at++;
		if (!SCAN(&t, " "))
			return false;
	}
	if (!SCAN(&t, "("))
		return false;
	ret->text = t.at;
	while (t.at < t.end && (*t.at == '-' || scan_is_digit(&t)))
		t.at++;
	ret->len = (size_t)(t.at - ret->text);
	last = ret->len ? ret->text[ret->len - 1] : '-';
	if (last == '-' || !SCAN(&t, ")"))
		return false;
	*s = t;
	return true;
}

/* The body as others print it, in c->scratch; false if it has no number of the option `fields`. */
static bool take_twofold(const struct text_columns *c, struct text_scan s, struct text_scan *ret)
{
	struct text_span number;
	char *p = c->scratch;
	bool any = false;

	if (!p || scan_left(&s) > TEXT_SCRATCH)
		return false;
	while (s.at < s.end) {
		if (*s.at == '=' && scan_twofold(&s, &number)) {
			any = true;
			*p++ = '=';
			memcpy(p, number.text, number.len);
			p += number.len;
		} else {
			*p++ = *s.at++;
		}
	}
	*ret = (struct text_scan){ .at = c->scratch, .end = p };
	return any;
}

bool text_body_parse(struct text_body *ret, int kind, const struct text_columns *c)
{
	struct text_scan s = { .at = c->body.text, .end = c->body.text + c->body.len };

	if (parse_kind(ret, kind, c->pid, s))
		return true;
	if (take_twofold(c, s, &s) && parse_kind(ret, kind, c->pid, s))
		return true;
	s.loose = true;
	return parse_kind(ret, kind, c->pid, s);
}
