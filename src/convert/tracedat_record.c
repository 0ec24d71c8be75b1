/* SPDX-License-Identifier: MIT */
/* tracedat_record: see tracedat_record.h. */
#include "convert/tracedat_record.h"

#include <stdarg.h>
#include <stdio.h>

#include "ftrace/sched.h"

#define COMMON_SIZE 8U /* type, flags, preempt count, pid */

enum type {
	TYPE_COMM, /* char[16], or a __data_loc where the dialect says so */
	TYPE_COMM_FIXED,
	TYPE_FILENAME,
	TYPE_PID,
	TYPE_INT,
	TYPE_LONG,
	TYPE_SHORT,
	TYPE_BOOL,
};

enum value {
	TASK_COMM,
	TASK_PID,
	TASK_PRIO,
	OTHER_COMM,
	OTHER_PID,
	OTHER_PRIO,
	STATE,
	VALUE,
	EXTRA,
	FILENAME,
};

struct rule {
	const char *name;
	enum type type;
	enum value value;
	uint32_t needs;	  /* features without which the field is absent; any of them will do */
	uint32_t forbids; /* features with which it is */
};

#define WAKEUP_RULES                                                                               \
	{                                                                                          \
		{ "comm", TYPE_COMM_FIXED, TASK_COMM }, { "pid", TYPE_PID, TASK_PID },             \
			{ "prio", TYPE_INT, TASK_PRIO },                                           \
			{ "success", TYPE_INT, EXTRA, DIALECT_SUCCESS | DIALECT_SUCCESS_SILENT },  \
			{ "target_cpu", TYPE_INT, VALUE },                                         \
	}

static const struct rule rules[SCHED_KINDS][TRACEDAT_RECORD_FIELDS] = {
	[SCHED_SWITCH] = {
		{ "prev_comm", TYPE_COMM_FIXED, TASK_COMM },
		{ "prev_pid", TYPE_PID, TASK_PID },
		{ "prev_prio", TYPE_INT, TASK_PRIO },
		{ "prev_state", TYPE_LONG, STATE },
		{ "next_comm", TYPE_COMM_FIXED, OTHER_COMM },
		{ "next_pid", TYPE_PID, OTHER_PID },
		{ "next_prio", TYPE_INT, OTHER_PRIO },
	},
	[SCHED_WAKING] = WAKEUP_RULES,
	[SCHED_WAKEUP] = WAKEUP_RULES,
	[SCHED_WAKEUP_NEW] = WAKEUP_RULES,
	[SCHED_FORK] = {
		{ "parent_comm", TYPE_COMM, TASK_COMM },
		{ "parent_pid", TYPE_PID, TASK_PID },
		{ "child_comm", TYPE_COMM, OTHER_COMM },
		{ "child_pid", TYPE_PID, OTHER_PID },
	},
	[SCHED_EXEC] = {
		{ "filename", TYPE_FILENAME, FILENAME },
		{ "pid", TYPE_PID, TASK_PID },
		{ "old_pid", TYPE_PID, VALUE },
	},
	[SCHED_EXIT] = {
		{ "comm", TYPE_COMM_FIXED, TASK_COMM },
		{ "pid", TYPE_PID, TASK_PID },
		{ "prio", TYPE_INT, TASK_PRIO },
		{ "group_dead", TYPE_BOOL, EXTRA, DIALECT_GROUP_DEAD },
	},
	[SCHED_RENAME] = {
		{ "pid", TYPE_PID, TASK_PID, 0, DIALECT_RENAME_NO_PID },
		{ "oldcomm", TYPE_COMM_FIXED, TASK_COMM },
		{ "newcomm", TYPE_COMM_FIXED, OTHER_COMM },
		{ "oom_score_adj", TYPE_SHORT, VALUE },
	},
	[SCHED_SETPRIO] = {
		{ "comm", TYPE_COMM, TASK_COMM },
		{ "pid", TYPE_PID, TASK_PID },
		{ "oldprio", TYPE_INT, TASK_PRIO },
		{ "newprio", TYPE_INT, OTHER_PRIO },
	},
};

static bool is_loc(const struct sched_dialect *d, enum type t)
{
	return t == TYPE_FILENAME || (t == TYPE_COMM && !(d->features & DIALECT_FIXED_COMM));
}

static uint16_t type_size(const struct sched_dialect *d, enum type t)
{
	switch (t) {
	case TYPE_COMM:
		return is_loc(d, t) ? 4 : SCHED_COMM_LEN;
	case TYPE_COMM_FIXED:
		return SCHED_COMM_LEN;
	case TYPE_LONG:
		return d->long_size == 4 ? 4 : 8;
	case TYPE_SHORT:
		return 2;
	case TYPE_BOOL:
		return 1;
	default:
		return 4;
	}
}

static bool is_present(const struct sched_dialect *d, const struct rule *r)
{
	return (!r->needs || (d->features & r->needs)) && !(d->features & r->forbids);
}

/* The fields in order, each aligned as a C compiler would. */
static void lay_out(struct tracedat_layout *l, const struct sched_dialect *d,
		    const struct rule *table)
{
	uint16_t at = COMMON_SIZE, size, align;
	uint8_t i;

	for (i = 0; i < TRACEDAT_RECORD_FIELDS && table[i].name; i++) {
		if (!is_present(d, &table[i]))
			continue;
		size = type_size(d, table[i].type);
		align = size == SCHED_COMM_LEN ? 1 : size;
		at = (uint16_t)((at + align - 1) & ~(align - 1));
		l->field[l->n_fields].rule = i;
		l->field[l->n_fields].offset = at;
		l->field[l->n_fields++].size = size;
		at = (uint16_t)(at + size);
	}
	l->size = at;
}

void tracedat_records_init(struct tracedat_records *r, const struct sched_dialect *d)
{
	int k;

	memset(r, 0, sizeof(*r));
	r->dialect = *d;
	for (k = 0; k < SCHED_KINDS; k++)
		lay_out(&r->layouts[k], d, rules[k]);
}

struct text {
	char *at;
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *fmt, ...)
{
	size_t room = TRACEDAT_FORMAT_MAX - t->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->at + t->len, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->len += (size_t)n < room ? (size_t)n : room - 1;
}

static void add_field(struct text *t, const struct sched_dialect *d, const struct rule *r,
		      uint16_t offset, uint16_t size)
{
	static const char *const names[] = {
		[TYPE_PID] = "pid_t",	[TYPE_INT] = "int",   [TYPE_LONG] = "long",
		[TYPE_SHORT] = "short", [TYPE_BOOL] = "bool",
	};
	bool is_signed = false;

	if (is_loc(d, r->type)) {
		add(t, "\tfield:__data_loc char[] %s;", r->name);
	} else if (size == SCHED_COMM_LEN) {
		add(t, "\tfield:char %s[%d];", r->name, SCHED_COMM_LEN);
	} else {
		add(t, "\tfield:%s %s;", names[r->type], r->name);
		is_signed = r->type != TYPE_BOOL;
	}
	add(t, "\toffset:%u;\tsize:%u;\tsigned:%d;\n", offset, size, is_signed);
}

static void add_switch_print(struct text *t, const struct sched_dialect *d)
{
	const char *comma = "";
	int bit;

	add(t,
	    "\"prev_comm=%%s prev_pid=%%d prev_prio=%%d prev_state=%%s%s ==> next_comm=%%s "
	    "next_pid=%%d next_prio=%%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, ",
	    d->state_preempt ? "%s" : "");
	if (d->state_mask == UINT64_MAX)
		add(t, "REC->prev_state ? __print_flags(REC->prev_state, \"|\", ");
	else
		add(t,
		    "(REC->prev_state & 0x%llx) ? __print_flags(REC->prev_state & 0x%llx, \"|\", ",
		    (unsigned long long)d->state_mask, (unsigned long long)d->state_mask);
	for (bit = 0; bit < DIALECT_STATE_BITS; bit++)
		if (d->state_letters[bit] > ' ' && d->state_letters[bit] < 0x7f &&
		    d->state_letters[bit] != '"' && d->state_letters[bit] != '\\') {
			add(t, "%s{ 0x%x, \"%c\" }", comma, 1U << bit, d->state_letters[bit]);
			comma = ", ";
		}
	add(t, ") : \"R\", ");
	if (d->state_preempt)
		add(t, "REC->prev_state & 0x%llx ? \"+\" : \"\", ",
		    (unsigned long long)d->state_preempt);
	add(t, "REC->next_comm, REC->next_pid, REC->next_prio");
}

/* How a print fmt gets at a name. */
static void add_name(struct text *t, const struct sched_dialect *d, const char *field)
{
	if (is_loc(d, TYPE_COMM))
		add(t, "__get_str(%s)", field);
	else
		add(t, "REC->%s", field);
}

static void add_print(struct text *t, const struct sched_dialect *d, enum sched_kind kind)
{
	switch (kind) {
	case SCHED_SWITCH:
		add_switch_print(t, d);
		break;
	case SCHED_FORK:
		add(t, "\"comm=%%s pid=%%d child_comm=%%s child_pid=%%d\", ");
		add_name(t, d, "parent_comm");
		add(t, ", REC->parent_pid, ");
		add_name(t, d, "child_comm");
		add(t, ", REC->child_pid");
		break;
	case SCHED_EXEC:
		add(t, "\"filename=%%s pid=%%d old_pid=%%d\", __get_str(filename), REC->pid, "
		       "REC->old_pid");
		break;
	case SCHED_EXIT:
		if (d->features & DIALECT_GROUP_DEAD)
			add(t, "\"comm=%%s pid=%%d prio=%%d group_dead=%%s\", REC->comm, REC->pid, "
			       "REC->prio, REC->group_dead ? \"true\" : \"false\"");
		else
			add(t, "\"comm=%%s pid=%%d prio=%%d\", REC->comm, REC->pid, REC->prio");
		break;
	case SCHED_RENAME:
		if (d->features & DIALECT_RENAME_NO_PID)
			add(t, "\"oldcomm=%%s newcomm=%%s oom_score_adj=%%hd\", ");
		else
			add(t,
			    "\"pid=%%d oldcomm=%%s newcomm=%%s oom_score_adj=%%hd\", REC->pid, ");
		add(t, "REC->oldcomm, REC->newcomm, REC->oom_score_adj");
		break;
	case SCHED_SETPRIO:
		add(t, "\"comm=%%s pid=%%d oldprio=%%d newprio=%%d\", ");
		add_name(t, d, "comm");
		add(t, ", REC->pid, REC->oldprio, REC->newprio");
		break;
	default:
		if (d->features & DIALECT_SUCCESS)
			add(t, "\"comm=%%s pid=%%d prio=%%d success=%%d target_cpu=%%03d\", "
			       "REC->comm, REC->pid, REC->prio, REC->success, REC->target_cpu");
		else
			add(t, "\"comm=%%s pid=%%d prio=%%d target_cpu=%%03d\", REC->comm, "
			       "REC->pid, REC->prio, REC->target_cpu");
	}
}

size_t tracedat_records_format(const struct tracedat_records *r, enum sched_kind kind,
			       char text[TRACEDAT_FORMAT_MAX])
{
	const struct tracedat_layout *l = &r->layouts[kind];
	struct text t = { text, 0 };
	uint8_t i;

	add(&t,
	    "name: %s\nID: %u\nformat:\n"
	    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n",
	    sched_map_get_name(kind), TRACEDAT_RECORD_ID + kind);
	for (i = 0; i < l->n_fields; i++)
		add_field(&t, &r->dialect, &rules[kind][l->field[i].rule], l->field[i].offset,
			  l->field[i].size);
	add(&t, "\nprint fmt: ");
	add_print(&t, &r->dialect, kind);
	add(&t, "\n");
	return t.len;
}

static void put(uint8_t *p, uint64_t v, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t number(const struct sched_event *e, enum value v)
{
	switch (v) {
	case TASK_PID:
		return (uint64_t)(int64_t)e->task.pid;
	case TASK_PRIO:
		return (uint64_t)(int64_t)e->task.prio;
	case OTHER_PID:
		return (uint64_t)(int64_t)e->other.pid;
	case OTHER_PRIO:
		return (uint64_t)(int64_t)e->other.prio;
	case STATE:
		return e->state;
	case VALUE:
		return (uint64_t)(int64_t)e->value;
	case EXTRA:
		return e->extra;
	default:
		return 0;
	}
}

static const char *string(const struct sched_event *e, enum value v, size_t *ret_len)
{
	const char *comm = v == OTHER_COMM ? e->other.comm : e->task.comm;

	if (v == FILENAME) {
		*ret_len =
			e->filename_len < SCHED_FILENAME_MAX ? e->filename_len : SCHED_FILENAME_MAX;
		return e->filename;
	}
	*ret_len = strnlen(comm, SCHED_COMM_LEN);
	return comm;
}

size_t tracedat_records_encode(const struct tracedat_records *r, const struct sched_event *e,
			       uint8_t out[TRACEDAT_RECORD_MAX])
{
	const struct tracedat_layout *l = &r->layouts[e->kind];
	size_t len = l->size, n;
	const struct rule *rule;
	const char *text;
	uint8_t i, *p;

	memset(out, 0, l->size);
	put(out, TRACEDAT_RECORD_ID + e->kind, 2);
	out[2] = e->flags;
	out[3] = e->preempt_count;
	put(out + 4, (uint32_t)e->pid, 4);
	for (i = 0; i < l->n_fields; i++) {
		rule = &rules[e->kind][l->field[i].rule];
		p = out + l->field[i].offset;
		if (rule->type > TYPE_FILENAME) {
			put(p, number(e, rule->value), l->field[i].size);
			continue;
		}
		text = string(e, rule->value, &n);
		if (is_loc(&r->dialect, rule->type)) {
			put(p, (n + 1) << 16 | len, 4);
			p = out + len;
			len += n + 1;
			p[n] = 0;
		}
		if (n)
			memcpy(p, text, n);
	}
	return len;
}
