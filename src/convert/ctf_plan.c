/* SPDX-License-Identifier: MIT */
/* ctf_plan: see ctf_plan.h. */
#include "convert/ctf_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { DUMP_TID, DUMP_PID, DUMP_VPID, DUMP_NAME, DUMP_FIELDS };

static const struct ctf_field dump_fields[DUMP_FIELDS + 1] = {
	[DUMP_TID] = { "tid", CTF_TASK_PID },
	[DUMP_PID] = { "pid", CTF_TASK_PID },
	[DUMP_VPID] = { "vpid", CTF_TASK_PID },
	[DUMP_NAME] = { "name", CTF_TASK_COMM },
};

enum { ENTRY_COUNT, ENTRY_FROM, ENTRY_TO, ENTRY_CAUSE, ENTRY_FIELDS };

static const struct ctf_field loss_fields[ENTRY_FIELDS + 1] = {
	[ENTRY_COUNT] = { "count", CTF_VALUE },
	[ENTRY_FROM] = { "from", CTF_VALUE },
	[ENTRY_TO] = { "to", CTF_VALUE },
	[ENTRY_CAUSE] = { "cause", CTF_VALUE },
};

void ctf_plans_done(struct ctf_plans *p)
{
	free(p->table);
	memset(p, 0, sizeof(*p));
}

static bool is_int(const bt_field_class *fc)
{
	bt_field_class_type t = bt_field_class_get_type(fc);

	return bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER) ||
	       bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);
}

static int64_t int_value(const bt_field *f)
{
	if (bt_field_class_type_is(bt_field_get_class_type(f), BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		return bt_field_integer_signed_get_value(f);
	return (int64_t)bt_field_integer_unsigned_get_value(f);
}

/* Index of the member with this name and the right sort of value, -1 if there is none. */
static int find_named(const bt_field_class *payload, const char *name, enum ctf_role role,
		      const bt_field_class **ret_class)
{
	uint64_t i, n = payload ? bt_field_class_structure_get_member_count(payload) : 0;

	for (i = 0; i < n && i <= INT16_MAX; i++) {
		const bt_field_class_structure_member *m =
			bt_field_class_structure_borrow_member_by_index_const(payload, i);
		const bt_field_class *fc =
			bt_field_class_structure_member_borrow_field_class_const(m);

		if (strcmp(bt_field_class_structure_member_get_name(m), name) != 0)
			continue;
		*ret_class = fc;
		if (ctf_role_is_text(role))
			return bt_field_class_get_type(fc) == BT_FIELD_CLASS_TYPE_STRING ? (int)i
											 : -1;
		return is_int(fc) ? (int)i : -1;
	}
	return -1;
}

static int find_member(const bt_field_class *payload, const struct ctf_field *field,
		       const bt_field_class **ret_class)
{
	int at = find_named(payload, field->name, field->role, ret_class);

	return at < 0 && field->also ? find_named(payload, field->also, field->role, ret_class)
				     : at;
}

static int match_members(struct ctf_plan *p, const struct ctf_field *fields, const char *name,
			 struct error *e)
{
	const bt_field_class *payload =
		bt_event_class_borrow_payload_field_class_const(p->event_class);
	const bt_field_class *fc = NULL;
	size_t i;

	for (i = 0; fields[i].name; i++) {
		if (!ctf_role_is_read(fields[i].role)) {
			p->members[i] = -1;
			continue;
		}
		p->members[i] = (int16_t)find_member(payload, &fields[i], &fc);
		if (fields[i].role == CTF_EXTRA)
			p->has_extra = p->members[i] >= 0;
		else if (p->members[i] < 0)
			return error_set(e, EBADMSG, "%s has no usable field %s", name,
					 fields[i].name);
		if (fields[i].role == CTF_STATE)
			p->long_is_32 = bt_field_class_integer_get_field_value_range(fc) <= 32;
	}
	return 0;
}

/* A class whose fields are not understood costs its events, and not the trace. */
static void make_plan(struct ctf_plan *p, const bt_event_class *event_class,
		      char unread[CTF_UNREAD_MAX])
{
	const char *name = bt_event_class_get_name(event_class);
	int kind = name ? ctf_layout_find(name) : -1;
	const struct ctf_field *fields = loss_fields;
	const bt_field_class *fc;
	struct error why = ERROR_INIT;

	memset(p, 0, sizeof(*p));
	p->event_class = event_class;
	p->cpu_member =
		(int16_t)find_named(bt_event_class_borrow_payload_field_class_const(event_class),
				    "perf_cpu", CTF_VALUE, &fc);
	if (kind >= 0) {
		p->use = CTF_EVENT;
		p->kind = (enum sched_kind)kind;
		fields = ctf_layouts[kind].fields;
	} else if (name && !strcmp(name, "lttng_statedump_process_state")) {
		p->use = CTF_STATEDUMP;
		fields = dump_fields;
	} else if (name && !strcmp(name, "kiseki_loss")) {
		p->use = CTF_LOSS;
	}
	if (p->use == CTF_SKIP || match_members(p, fields, name, &why) >= 0)
		return;
	p->use = p->use == CTF_EVENT ? CTF_UNREAD : CTF_SKIP;
	if (!unread[0])
		snprintf(unread, CTF_UNREAD_MAX, "%s", why.text);
}

static struct ctf_plan *slot(const struct ctf_plans *p, const bt_event_class *event_class)
{
	size_t at = ((uintptr_t)event_class >> 4) * 0x9e3779b1U;

	while (p->table[at & (p->room - 1)].event_class &&
	       p->table[at & (p->room - 1)].event_class != event_class)
		at++;
	return &p->table[at & (p->room - 1)];
}

static int grow(struct ctf_plans *p, struct error *e)
{
	struct ctf_plans bigger = { .n = p->n, .room = p->room ? p->room * 2 : 256 };
	size_t i;

	if (bigger.room > CTF_CLASSES_MAX)
		return error_set(e, EBADMSG, "the CTF trace has too many event classes");
	bigger.table = calloc(bigger.room, sizeof(*bigger.table));
	if (!bigger.table)
		return error_set(e, ENOMEM, "cannot read CTF trace: out of memory");
	for (i = 0; i < p->room; i++)
		if (p->table[i].event_class)
			*slot(&bigger, p->table[i].event_class) = p->table[i];
	free(p->table);
	p->table = bigger.table;
	p->room = bigger.room;
	return 0;
}

int ctf_plans_get(struct ctf_plans *p, const bt_event_class *event_class,
		  const struct ctf_plan **ret, struct error *e)
{
	struct ctf_plan *at = p->room ? slot(p, event_class) : NULL;
	struct ctf_plan made;
	int r = 0;

	if (!at || !at->event_class) {
		make_plan(&made, event_class, p->unread);
		if (p->n >= p->room / 2)
			r = grow(p, e);
		if (r < 0)
			return r;
		at = slot(p, event_class);
		*at = made;
		p->n++;
	}
	*ret = at;
	return 0;
}

bool ctf_plan_cpu(const struct ctf_plan *p, const bt_event *event, int64_t *ret)
{
	if (p->cpu_member < 0)
		return false;
	*ret = int_value(bt_field_structure_borrow_member_field_by_index_const(
		bt_event_borrow_payload_field_const(event), (uint64_t)p->cpu_member));
	return true;
}

static void decode_filename(const bt_field *f, struct sched_event *ret)
{
	uint64_t len = bt_field_string_get_length(f);

	ret->filename = bt_field_string_get_value(f);
	ret->filename_len = (uint16_t)(len < SCHED_FILENAME_MAX ? len : SCHED_FILENAME_MAX);
}

void ctf_plan_decode(const struct ctf_plan *p, const bt_event *event, uint32_t prio_offset,
		     struct sched_event *ret)
{
	const struct ctf_field *fields = ctf_layouts[p->kind].fields;
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	size_t i;

	ret->kind = (uint8_t)p->kind;
	for (i = 0; fields[i].name; i++) {
		const bt_field *f;

		if (p->members[i] < 0)
			continue;
		f = bt_field_structure_borrow_member_field_by_index_const(payload,
									  (uint64_t)p->members[i]);
		switch (fields[i].role) {
		case CTF_TASK_COMM:
		case CTF_OTHER_COMM:
			sched_comm_set(ctf_role_comm(ret, fields[i].role),
				       bt_field_string_get_value(f), bt_field_string_get_length(f));
			break;
		case CTF_FILENAME:
			decode_filename(f, ret);
			break;
		case CTF_STATE:
			ret->state = (uint64_t)int_value(f);
			if (p->long_is_32)
				ret->state &= UINT32_MAX;
			break;
		case CTF_EXTRA:
			ret->extra = (uint8_t)int_value(f);
			break;
		case CTF_TASK_PRIO:
		case CTF_OTHER_PRIO:
			*ctf_role_int(ret, fields[i].role) =
				(int32_t)((uint32_t)int_value(f) + prio_offset);
			break;
		default:
			*ctf_role_int(ret, fields[i].role) = (int32_t)int_value(f);
		}
	}
}

void ctf_plan_decode_task(const struct ctf_plan *p, const bt_event *event, struct trace_task *ret)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	const bt_field *f[DUMP_FIELDS];
	size_t i;

	for (i = 0; i < DUMP_FIELDS; i++)
		f[i] = bt_field_structure_borrow_member_field_by_index_const(
			payload, (uint64_t)p->members[i]);
	ret->pid = (int32_t)int_value(f[DUMP_TID]);
	/* Our own export says with vpid -1 that it does not know the process. */
	ret->tgid = int_value(f[DUMP_VPID]) == -1 ? -1 : (int32_t)int_value(f[DUMP_PID]);
	sched_comm_set(ret->comm, bt_field_string_get_value(f[DUMP_NAME]),
		       bt_field_string_get_length(f[DUMP_NAME]));
}

void ctf_plan_decode_loss(const struct ctf_plan *p, const bt_event *event, struct trace_loss *ret)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	int64_t v[ENTRY_FIELDS];
	size_t i;

	for (i = 0; i < ENTRY_FIELDS; i++)
		v[i] = int_value(bt_field_structure_borrow_member_field_by_index_const(
			payload, (uint64_t)p->members[i]));
	ret->count = (uint64_t)v[ENTRY_COUNT];
	ret->from_tick = (uint64_t)v[ENTRY_FROM];
	ret->to_tick = (uint64_t)v[ENTRY_TO];
	ret->cause = v[ENTRY_CAUSE] >= 0 && v[ENTRY_CAUSE] < LOSS_CAUSES ? (uint8_t)v[ENTRY_CAUSE]
									 : LOSS_DAMAGE;
}

bool ctf_field_int(const bt_field *structure, const char *name, int64_t *ret)
{
	const bt_field *f =
		structure ? bt_field_structure_borrow_member_field_by_name_const(structure, name)
			  : NULL;

	if (!f || !is_int(bt_field_borrow_class_const(f)))
		return false;
	*ret = int_value(f);
	return true;
}
