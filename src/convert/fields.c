/* SPDX-License-Identifier: MIT */
/* fields: see fields.h. */
#include "convert/fields.h"

#include <string.h>

#include "base/decimal.h"
#include "convert/escape.h"
#include "trace/word.h"

struct name {
	const char *text;
	uint32_t len;
};
#define NAME(text)                                                                                 \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

static const struct name names[FIELDS] = {
	[FIELD_KIND] = NAME("kind"),
	[FIELD_NS] = NAME("ns"),
	[FIELD_TICK] = NAME("tick"),
	[FIELD_TICK_OFF_NS] = NAME("tick_off_ns"),
	[FIELD_CPU] = NAME("cpu"),
	[FIELD_COMMON_PID] = NAME("common_pid"),
	[FIELD_COMMON_FLAGS] = NAME("common_flags"),
	[FIELD_COMMON_PREEMPT_COUNT] = NAME("common_preempt_count"),
	[FIELD_PREV_COMM] = NAME("prev_comm"),
	[FIELD_PREV_PID] = NAME("prev_pid"),
	[FIELD_PREV_PRIO] = NAME("prev_prio"),
	[FIELD_PREV_STATE] = NAME("prev_state"),
	[FIELD_PREV_STATE_TEXT] = NAME("prev_state_text"),
	[FIELD_NEXT_COMM] = NAME("next_comm"),
	[FIELD_NEXT_PID] = NAME("next_pid"),
	[FIELD_NEXT_PRIO] = NAME("next_prio"),
	[FIELD_COMM] = NAME("comm"),
	[FIELD_PID] = NAME("pid"),
	[FIELD_PRIO] = NAME("prio"),
	[FIELD_TARGET_CPU] = NAME("target_cpu"),
	[FIELD_SUCCESS] = NAME("success"),
	[FIELD_PARENT_COMM] = NAME("parent_comm"),
	[FIELD_PARENT_PID] = NAME("parent_pid"),
	[FIELD_CHILD_COMM] = NAME("child_comm"),
	[FIELD_CHILD_PID] = NAME("child_pid"),
	[FIELD_FILENAME] = NAME("filename"),
	[FIELD_OLD_PID] = NAME("old_pid"),
	[FIELD_GROUP_DEAD] = NAME("group_dead"),
	[FIELD_OLDCOMM] = NAME("oldcomm"),
	[FIELD_NEWCOMM] = NAME("newcomm"),
	[FIELD_OOM_SCORE_ADJ] = NAME("oom_score_adj"),
	[FIELD_OLDPRIO] = NAME("oldprio"),
	[FIELD_NEWPRIO] = NAME("newprio"),
	[FIELD_FROM_NS] = NAME("from_ns"),
	[FIELD_FROM_TICK] = NAME("from_tick"),
	[FIELD_TO_NS] = NAME("to_ns"),
	[FIELD_TO_TICK] = NAME("to_tick"),
	[FIELD_COUNT] = NAME("count"),
	[FIELD_CAUSE] = NAME("cause"),
	[FIELD_COMMON_COMM] = NAME("common_comm"),
};

const char *field_name(enum field_id id)
{
	return names[id].text;
}

uint32_t field_name_length(enum field_id id)
{
	return names[id].len;
}

uint32_t comm_length(const char comm[SCHED_COMM_LEN])
{
	return (uint32_t)strnlen(comm, SCHED_COMM_LEN);
}

uint32_t fields_room(const struct trace_item *item)
{
	uint32_t names_len = 4 * SCHED_COMM_LEN + STATE_TEXT_MAX;

	if (item->type == ITEM_EVENT)
		names_len += item->event.filename_len;
	return names_len * ESCAPE_GROWTH + FIELDS * (32 + 8 + DECIMAL_MAX);
}

static void add_unsigned(struct field_list *l, enum field_id id, uint64_t v)
{
	struct field *f = &l->field[l->n++];

	f->id = id;
	f->type = FIELD_UNSIGNED;
	f->number = v;
}

static void add_signed(struct field_list *l, enum field_id id, int32_t v)
{
	struct field *f = &l->field[l->n++];

	f->id = id;
	f->type = FIELD_SIGNED;
	f->number = (uint64_t)(int64_t)v;
}

static void add_text(struct field_list *l, enum field_id id, const char *text, uint32_t len)
{
	struct field *f = &l->field[l->n++];

	f->id = id;
	f->type = FIELD_NAME;
	f->text = text;
	f->len = len;
}

static void add_word(struct field_list *l, enum field_id id, const char *word)
{
	add_text(l, id, word, (uint32_t)strlen(word));
	l->field[l->n - 1].type = FIELD_WORD;
}

/* comm, pid, prio have consecutive numbers wherever they occur together. */
static void add_task(struct field_list *l, enum field_id comm_id, const struct sched_task *t,
		     bool with_prio)
{
	add_text(l, comm_id, t->comm, comm_length(t->comm));
	add_signed(l, comm_id + 1, t->pid);
	if (with_prio)
		add_signed(l, comm_id + 2, t->prio);
}

static void add_switch(struct field_list *l, const struct sched_event *e,
		       const struct trace_info *info)
{
	add_task(l, FIELD_PREV_COMM, &e->task, true);
	add_unsigned(l, FIELD_PREV_STATE, e->state);
	add_text(l, FIELD_PREV_STATE_TEXT, l->state,
		 state_format(l->state, &info->dialect, e->state));
	add_task(l, FIELD_NEXT_COMM, &e->other, true);
}

static void add_wakeup(struct field_list *l, const struct sched_event *e,
		       const struct trace_info *info)
{
	add_task(l, FIELD_COMM, &e->task, true);
	add_signed(l, FIELD_TARGET_CPU, e->value);
	/* A field that the traced kernel does not have is absent, not zero. */
	if (e->extra || info->dialect.features & (DIALECT_SUCCESS | DIALECT_SUCCESS_SILENT))
		add_unsigned(l, FIELD_SUCCESS, e->extra);
}

static void add_exit(struct field_list *l, const struct sched_event *e,
		     const struct trace_info *info)
{
	add_task(l, FIELD_COMM, &e->task, true);
	if (e->extra || info->dialect.features & DIALECT_GROUP_DEAD)
		add_unsigned(l, FIELD_GROUP_DEAD, e->extra);
}

static void add_kind(struct field_list *l, const struct sched_event *e,
		     const struct trace_info *info)
{
	switch (e->kind) {
	case SCHED_SWITCH:
		add_switch(l, e, info);
		break;
	case SCHED_WAKING:
	case SCHED_WAKEUP:
	case SCHED_WAKEUP_NEW:
		add_wakeup(l, e, info);
		break;
	case SCHED_FORK:
		add_task(l, FIELD_PARENT_COMM, &e->task, false);
		add_task(l, FIELD_CHILD_COMM, &e->other, false);
		break;
	case SCHED_EXEC:
		add_signed(l, FIELD_PID, e->task.pid);
		add_text(l, FIELD_FILENAME, e->filename, e->filename_len);
		add_signed(l, FIELD_OLD_PID, e->value);
		break;
	case SCHED_EXIT:
		add_exit(l, e, info);
		break;
	case SCHED_RENAME:
		add_signed(l, FIELD_PID, e->task.pid);
		add_text(l, FIELD_OLDCOMM, e->task.comm, comm_length(e->task.comm));
		add_text(l, FIELD_NEWCOMM, e->other.comm, comm_length(e->other.comm));
		add_signed(l, FIELD_OOM_SCORE_ADJ, e->value);
		break;
	case SCHED_SETPRIO:
		add_task(l, FIELD_COMM, &e->task, false);
		add_signed(l, FIELD_OLDPRIO, e->task.prio);
		add_signed(l, FIELD_NEWPRIO, e->other.prio);
		break;
	default:
		break;
	}
}

static void add_event(struct field_list *l, const struct trace_item *item,
		      const struct trace_info *info)
{
	const struct sched_event *e = &item->event;

	add_word(l, FIELD_KIND, word_kind(e->kind));
	add_unsigned(l, FIELD_NS, clock_event_ns(&info->clock, e));
	add_unsigned(l, FIELD_TICK, e->tick);
	if (e->tick_off_ns)
		add_signed(l, FIELD_TICK_OFF_NS, e->tick_off_ns);
	add_unsigned(l, FIELD_CPU, item->cpu);
	add_signed(l, FIELD_COMMON_PID, e->pid);
	if (e->flags || e->preempt_count || !(info->dialect.features & DIALECT_NO_FLAGS)) {
		add_unsigned(l, FIELD_COMMON_FLAGS, e->flags);
		add_unsigned(l, FIELD_COMMON_PREEMPT_COUNT, e->preempt_count);
	}
	add_kind(l, e, info);
	if (info->has_comm && item->comm_known)
		add_text(l, FIELD_COMMON_COMM, item->comm, comm_length(item->comm));
}

/* A loss stands at its begin, or, where no event was before it, at its end. */
static void add_loss(struct field_list *l, const struct trace_item *item,
		     const struct trace_info *info)
{
	const struct trace_loss *loss = &item->loss;
	uint64_t at = loss->from_tick ? loss->from_tick : loss->to_tick;

	add_word(l, FIELD_KIND, "lost");
	add_unsigned(l, FIELD_NS, clock_ns(&info->clock, at));
	add_unsigned(l, FIELD_TICK, at);
	add_unsigned(l, FIELD_CPU, item->cpu);
	if (loss->from_tick) {
		add_unsigned(l, FIELD_FROM_NS, clock_ns(&info->clock, loss->from_tick));
		add_unsigned(l, FIELD_FROM_TICK, loss->from_tick);
	}
	add_unsigned(l, FIELD_TO_NS, clock_ns(&info->clock, loss->to_tick));
	add_unsigned(l, FIELD_TO_TICK, loss->to_tick);
	if (loss->count != LOSS_UNKNOWN)
		add_unsigned(l, FIELD_COUNT, loss->count);
	add_word(l, FIELD_CAUSE, word_cause(loss->cause));
}

void fields_of(struct field_list *ret, const struct trace_item *item, const struct trace_info *info)
{
	ret->n = 0;
	if (item->type == ITEM_EVENT)
		add_event(ret, item, info);
	else
		add_loss(ret, item, info);
}
