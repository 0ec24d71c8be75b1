/* SPDX-License-Identifier: MIT */
/* live_item: see live_item.h. */
#include "cli/live_item.h"

#include <errno.h>
#include <string.h>

#include "base/hex.h"
#include "trace/word.h"

/* What a parser of fields works on; the first that is wrong stays in `bad`. */
struct object {
	const json_t *json;
	const char *bad;
};

static int64_t get_number(struct object *o, const char *name, int64_t least, int64_t most)
{
	const json_t *v = json_object_get(o->json, name);
	int64_t n = json_integer_value(v);

	if (json_is_integer(v) && n >= least && n <= most)
		return n;
	if (!o->bad)
		o->bad = name;
	return 0;
}

static int32_t get_i32(struct object *o, const char *name)
{
	return (int32_t)get_number(o, name, INT32_MIN, INT32_MAX);
}

static bool has(const struct object *o, const char *name)
{
	return json_object_get(o->json, name) != NULL;
}

/* The bytes of a name, section 3 of the format: \\ is a backslash, \xNN a byte. */
static size_t get_name(struct object *o, const char *name, char *out, size_t room)
{
	const char *p = json_string_value(json_object_get(o->json, name));
	size_t n = 0;

	if (!p && !o->bad)
		o->bad = name;
	for (; p && *p; p++) {
		char c = *p;

		if (c == '\\' && p[1] == '\\') {
			p++;
		} else if (c == '\\' && p[1] == 'x' && hex_digit(p[2]) >= 0 &&
			   hex_digit(p[3]) >= 0) {
			c = (char)(hex_digit(p[2]) << 4 | hex_digit(p[3]));
			p += 3;
		}
		if (n == room) {
			o->bad = o->bad ? o->bad : name;
			return 0;
		}
		out[n++] = c;
	}
	return n;
}

static void get_comm(struct object *o, const char *name, char comm[SCHED_COMM_LEN])
{
	char bytes[SCHED_COMM_LEN];

	sched_comm_set(comm, bytes, get_name(o, name, bytes, sizeof(bytes)));
}

static void get_task(struct object *o, struct sched_task *t, const char *const names[3])
{
	get_comm(o, names[0], t->comm);
	t->pid = get_i32(o, names[1]);
	if (names[2])
		t->prio = get_i32(o, names[2]);
}

static void get_fields(struct object *o, struct live_item *ret)
{
	static const char *const prev[] = { "prev_comm", "prev_pid", "prev_prio" };
	static const char *const next[] = { "next_comm", "next_pid", "next_prio" };
	static const char *const own[] = { "comm", "pid", "prio" };
	static const char *const parent[] = { "parent_comm", "parent_pid", NULL };
	static const char *const child[] = { "child_comm", "child_pid", NULL };
	static const char *const old[] = { "comm", "pid", "oldprio" };
	struct sched_event *e = &ret->item.event;

	switch (e->kind) {
	case SCHED_SWITCH:
		get_task(o, &e->task, prev);
		get_task(o, &e->other, next);
		e->state = (uint64_t)get_number(o, "prev_state", INT64_MIN, INT64_MAX);
		break;
	case SCHED_FORK:
		get_task(o, &e->task, parent);
		get_task(o, &e->other, child);
		break;
	case SCHED_EXEC:
		e->task.pid = get_i32(o, "pid");
		e->value = get_i32(o, "old_pid");
		e->filename_len =
			(uint16_t)get_name(o, "filename", ret->filename, sizeof(ret->filename));
		e->filename = ret->filename;
		break;
	case SCHED_EXIT:
		get_task(o, &e->task, own);
		if (ret->has_group_dead)
			e->extra = (uint8_t)get_number(o, "group_dead", 0, UINT8_MAX);
		break;
	case SCHED_RENAME:
		e->task.pid = get_i32(o, "pid");
		get_comm(o, "oldcomm", e->task.comm);
		get_comm(o, "newcomm", e->other.comm);
		e->value = get_i32(o, "oom_score_adj");
		break;
	case SCHED_SETPRIO:
		get_task(o, &e->task, old);
		e->other.prio = get_i32(o, "newprio");
		break;
	default:
		get_task(o, &e->task, own);
		e->value = get_i32(o, "target_cpu");
		if (ret->has_success)
			e->extra = (uint8_t)get_number(o, "success", 0, UINT8_MAX);
		break;
	}
}

static void get_event(struct object *o, struct live_item *ret)
{
	struct sched_event *e = &ret->item.event;

	ret->has_flags = has(o, "common_flags");
	ret->has_group_dead = has(o, "group_dead");
	ret->has_success = has(o, "success");
	e->tick = (uint64_t)get_number(o, "ns", 0, INT64_MAX);
	e->pid = get_i32(o, "common_pid");
	ret->item.comm_known = has(o, "common_comm");
	if (ret->item.comm_known)
		get_comm(o, "common_comm", ret->item.comm);
	if (ret->has_flags) {
		e->flags = (uint8_t)get_number(o, "common_flags", 0, UINT8_MAX);
		e->preempt_count = (uint8_t)get_number(o, "common_preempt_count", 0, UINT8_MAX);
	}
	get_fields(o, ret);
}

static void get_loss(struct object *o, struct trace_loss *loss)
{
	const char *cause = json_string_value(json_object_get(o->json, "cause"));
	uint8_t i;

	loss->from_tick = has(o, "from_ns") ? (uint64_t)get_number(o, "from_ns", 0, INT64_MAX) : 0;
	loss->to_tick = (uint64_t)get_number(o, "to_ns", 0, INT64_MAX);
	loss->count =
		has(o, "count") ? (uint64_t)get_number(o, "count", 0, INT64_MAX) : LOSS_UNKNOWN;
	for (i = 0; cause && i < LOSS_CAUSES && strcmp(cause, word_cause(i)); i++)
		;
	loss->cause = i;
	if ((!cause || i == LOSS_CAUSES) && !o->bad)
		o->bad = "cause";
}

int live_item_parse(struct live_item *ret, const json_t *object, struct error *e)
{
	const char *kind = json_string_value(json_object_get(object, "kind"));
	struct object o = { .json = object };
	int number;

	memset(&ret->item, 0, sizeof(ret->item));
	if (!kind)
		return error_set(e, EBADMSG, "cannot read a live event: it has no kind");
	number = word_parse_kind(kind, strlen(kind));
	if (number < 0 && strcmp(kind, "lost"))
		return 1;
	ret->item.cpu = (uint32_t)get_number(&o, "cpu", 0, TRACE_CPUS_MAX - 1);
	if (number < 0) {
		ret->item.type = ITEM_LOSS;
		get_loss(&o, &ret->item.loss);
	} else {
		ret->item.type = ITEM_EVENT;
		ret->item.event.kind = (uint8_t)number;
		get_event(&o, ret);
	}
	if (o.bad)
		return error_set(e, EBADMSG, "cannot read a live event: its %s is wrong", o.bad);
	return 0;
}
