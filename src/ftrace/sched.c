/* SPDX-License-Identifier: MIT */
/*
 * sched: see sched.h.
 *
 * kinds[] is the whole knowledge of names: which event a kind is, and which of its fields goes
 * where. Optional fields are those that some kernel between 3.0 and today lacks. Records are found
 * by their ID through a small open-addressed hash, because IDs are dynamic and up to 16 bits wide.
 *
 * Switches and wakeups are nine events of ten. Where their fields have the sizes that every kernel
 * so far gave them, and the byte order is this machine's, they are "plain" and decoded by straight
 * loads; anything else goes field by field through the table. Both ways give the same events.
 */
#include "ftrace/sched.h"

#include <errno.h>

#include "ftrace/bytes.h"

/* Where a field's value belongs in struct sched_event. */
enum slot {
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

struct field_rule {
	const char *name;
	enum slot slot;
	bool optional;
};

struct kind_rule {
	const char *system, *name;
	struct field_rule fields[SCHED_MAP_FIELDS + 1];
};

#define WAKEUP_FIELDS                                                                              \
	{                                                                                          \
		{ "comm", TASK_COMM }, { "pid", TASK_PID }, { "prio", TASK_PRIO },                 \
			{ "target_cpu", VALUE }, { "success", EXTRA, true },                       \
	}

static const struct kind_rule kinds[SCHED_KINDS] = {
	[SCHED_SWITCH] = { "sched",
			   "sched_switch",
			   { { "prev_comm", TASK_COMM },
			     { "prev_pid", TASK_PID },
			     { "prev_prio", TASK_PRIO },
			     { "prev_state", STATE },
			     { "next_comm", OTHER_COMM },
			     { "next_pid", OTHER_PID },
			     { "next_prio", OTHER_PRIO } } },
	[SCHED_WAKING] = { "sched", "sched_waking", WAKEUP_FIELDS },
	[SCHED_WAKEUP] = { "sched", "sched_wakeup", WAKEUP_FIELDS },
	[SCHED_WAKEUP_NEW] = { "sched", "sched_wakeup_new", WAKEUP_FIELDS },
	[SCHED_FORK] = { "sched",
			 "sched_process_fork",
			 { { "parent_comm", TASK_COMM },
			   { "parent_pid", TASK_PID },
			   { "child_comm", OTHER_COMM },
			   { "child_pid", OTHER_PID } } },
	[SCHED_EXEC] = { "sched",
			 "sched_process_exec",
			 { { "filename", FILENAME }, { "pid", TASK_PID }, { "old_pid", VALUE } } },
	[SCHED_EXIT] = { "sched",
			 "sched_process_exit",
			 { { "comm", TASK_COMM },
			   { "pid", TASK_PID },
			   { "prio", TASK_PRIO },
			   { "group_dead", EXTRA, true } } },
	[SCHED_RENAME] = { "task",
			   "task_rename",
			   { { "pid", TASK_PID, true },
			     { "oldcomm", TASK_COMM },
			     { "newcomm", OTHER_COMM },
			     { "oom_score_adj", VALUE } } },
	[SCHED_SETPRIO] = { "sched",
			    "sched_pi_setprio",
			    { { "comm", TASK_COMM },
			      { "pid", TASK_PID },
			      { "oldprio", TASK_PRIO },
			      { "newprio", OTHER_PRIO } } },
};

void sched_map_init(struct sched_map *m, bool big_endian)
{
	memset(m, 0, sizeof(*m));
	m->big_endian = big_endian;
}

int sched_map_get_kind(const char *system, struct format_text name)
{
	int k;

	for (k = 0; k < SCHED_KINDS && name.len; k++)
		if (!strcmp(kinds[k].system, system) && strlen(kinds[k].name) == name.len &&
		    !memcmp(kinds[k].name, name.at, name.len))
			return k;
	return -1;
}

const char *sched_map_get_name(enum sched_kind kind)
{
	return kinds[kind].name;
}

const char *sched_map_get_system(enum sched_kind kind)
{
	return kinds[kind].system;
}

static bool is_text(enum slot slot)
{
	return slot == TASK_COMM || slot == OTHER_COMM || slot == FILENAME;
}

/* Takes a field's place into the layout; false if it cannot hold what is looked for in it. */
static bool resolve(const struct format_field *f, bool text, struct sched_ref *ret,
		    uint32_t *min_len)
{
	bool loc = f->form == FORMAT_DATA_LOC || f->form == FORMAT_REL_LOC;

	if (text ? f->form == FORMAT_INT : f->form != FORMAT_INT)
		return false;
	if (f->form == FORMAT_ARRAY ? f->size == 0
				    : f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8)
		return false;
	if (loc && f->size != 4)
		return false;
	ret->offset = f->offset;
	ret->size = f->size > UINT8_MAX ? UINT8_MAX : (uint8_t)f->size;
	ret->form = (uint8_t)f->form;
	if ((uint32_t)f->offset + ret->size > *min_len)
		*min_len = (uint32_t)f->offset + ret->size;
	return true;
}

/* The fields that every event has. */
static bool resolve_common(struct sched_map *m, const struct format *f, struct sched_layout *l)
{
	const struct format_field *type = format_get_field(f, "common_type");
	const struct format_field *flags = format_get_field(f, "common_flags");
	const struct format_field *count = format_get_field(f, "common_preempt_count");
	const struct format_field *pid = format_get_field(f, "common_pid");

	if (!type || !resolve(type, false, &m->type, &l->min_len) || m->type.size != 2)
		return false;
	if (!pid || !resolve(pid, false, &l->pid, &l->min_len))
		return false;
	if (flags && !resolve(flags, false, &l->flags, &l->min_len))
		return false;
	return !count || resolve(count, false, &l->preempt_count, &l->min_len);
}

/* Rebuilt whole, so that a kind that comes again with another ID leaves nothing behind. Of two kinds
 * that claim one ID, which no kernel does, the last one gets it. */
static void hash_ids(struct sched_map *m)
{
	uint32_t at, id;
	int kind;

	memset(m->slots, 0, sizeof(m->slots));
	for (kind = 0; kind < SCHED_KINDS; kind++) {
		if (!(m->kinds & 1U << kind))
			continue;
		id = m->layouts[kind].id;
		for (at = id % SCHED_MAP_SLOTS; m->slots[at].id && m->slots[at].id != id + 1;
		     at = (at + 1) % SCHED_MAP_SLOTS)
			;
		m->slots[at].id = id + 1;
		m->slots[at].kind = (uint8_t)kind;
	}
}

static uint64_t load(const uint8_t *record, struct sched_ref f, bool big)
{
	const uint8_t *p = record + f.offset;

	switch (f.size) {
	case 4:
		return bytes_get32(p, big);
	case 8:
		return bytes_get64(p, big);
	case 2:
		return bytes_get16(p, big);
	case 1:
		return *p;
	default:
		return 0;
	}
}

/* Narrow integers (oom_score_adj is a short) keep their sign. */
static int32_t load_int(const uint8_t *record, struct sched_ref f, bool big)
{
	uint64_t v = load(record, f, big);

	if (f.size == 2)
		return (int16_t)v;
	return (int32_t)(uint32_t)v;
}

/* The bytes of a text, in place or behind the fixed part; *ret_len is 0 if they lie outside. */
static const char *text_at(const uint8_t *record, size_t len, struct sched_ref f, bool big,
			   size_t *ret_len)
{
	uint32_t loc, at, n;

	*ret_len = f.size;
	if (f.form == FORMAT_ARRAY)
		return (const char *)record + f.offset;
	loc = bytes_get32(record + f.offset, big);
	n = loc >> 16;
	at = loc & 0xffff;
	if (f.form == FORMAT_REL_LOC)
		at += f.offset + 4U;
	*ret_len = at <= len && n <= len - at ? n : 0;
	return (const char *)record + at * (*ret_len > 0);
}

/* sched_comm_set() for the sixteen bytes that nearly every name has, two words at a time. */
static void load_comm(char comm[SCHED_COMM_LEN], const char *from)
{
	const uint64_t ones = 0x0101010101010101ULL;
	uint64_t word[2], zero;
	int i;

	memcpy(word, from, sizeof(word));
	for (i = 0; i < 2; i++) {
		/* The lowest set bit marks the first NUL; bits above it may be wrong. */
		zero = (word[i] - ones) & ~word[i] & (ones << 7);
		if (!zero)
			continue;
		word[i] &= ((zero & -zero) - 1) >> 7;
		if (i == 0)
			word[1] = 0;
		break;
	}
	memcpy(comm, word, sizeof(word));
}

static uint32_t word_at(const uint8_t *record, struct sched_ref f)
{
	uint32_t v;

	memcpy(&v, record + f.offset, sizeof(v));
	return v;
}

/* May decode_plain() read it? Of texts, only those in place have as many bytes as a name. */
static bool is_plain(const struct sched_map *m, int kind, const struct sched_layout *l)
{
	const struct field_rule *rule = kinds[kind].fields;
	uint8_t size;
	int i;

	if (kind > SCHED_WAKEUP_NEW || m->big_endian || BYTES_HOST_BIG || l->pid.size != 4 ||
	    l->flags.size != 1 || l->preempt_count.size != 1)
		return false;
	for (i = 0; i < SCHED_MAP_FIELDS && rule[i].name; i++) {
		size = l->field[i].size;
		if (is_text(rule[i].slot) ? size != SCHED_COMM_LEN
					  : size != 4 && !(size == 8 && rule[i].slot == STATE) &&
						    !(size == 0 && rule[i].slot == EXTRA))
			return false;
	}
	return true;
}

int sched_map_add(struct sched_map *m, const char *system, const char *text, size_t len,
		  struct error *e)
{
	const struct field_rule *rule;
	const struct format_field *field;
	struct sched_layout l = { .min_len = 0 };
	struct format f;
	int kind, i, r;

	/* What is wrong with an event that nobody asks for is nobody's business. */
	r = format_parse(&f, text, len, e);
	kind = sched_map_get_kind(system, f.name);
	if (kind < 0)
		return 0;
	if (r < 0)
		return r;
	if (!resolve_common(m, &f, &l))
		return error_set(e, EBADMSG, "format of %s: its common fields are unusable",
				 kinds[kind].name);
	for (i = 0; i < SCHED_MAP_FIELDS && kinds[kind].fields[i].name; i++) {
		rule = &kinds[kind].fields[i];
		field = format_get_field(&f, rule->name);
		if (!field && rule->optional)
			continue;
		if (!field || !resolve(field, is_text(rule->slot), &l.field[i], &l.min_len))
			return error_set(e, EBADMSG, "format of %s: field %s is %s",
					 kinds[kind].name, rule->name,
					 field ? "unusable" : "missing");
	}
	l.id = f.id;
	l.is_plain = is_plain(m, kind, &l);
	m->layouts[kind] = l;
	m->kinds |= 1U << kind;
	hash_ids(m);
	sched_map_learn(m, (enum sched_kind)kind, &f);
	return 1;
}

/* The indices are those of the kinds' fields in kinds[]. */
static void decode_plain(const struct sched_layout *l, const uint8_t *record,
			 struct sched_event *ret)
{
	const struct sched_ref *f = l->field;

	ret->pid = (int32_t)word_at(record, l->pid);
	ret->flags = record[l->flags.offset];
	ret->preempt_count = record[l->preempt_count.offset];
	load_comm(ret->task.comm, (const char *)record + f[0].offset);
	ret->task.pid = (int32_t)word_at(record, f[1]);
	ret->task.prio = (int32_t)word_at(record, f[2]);
	if (ret->kind != SCHED_SWITCH) {
		ret->value = (int32_t)word_at(record, f[3]);
		ret->extra = f[4].size ? (uint8_t)word_at(record, f[4]) : 0;
		return;
	}
	ret->state =
		f[3].size == 8 ? bytes_get64(record + f[3].offset, false) : word_at(record, f[3]);
	load_comm(ret->other.comm, (const char *)record + f[4].offset);
	ret->other.pid = (int32_t)word_at(record, f[5]);
	ret->other.prio = (int32_t)word_at(record, f[6]);
}

static int load_text(const struct sched_map *m, const uint8_t *record, size_t len,
		     struct sched_ref f, char comm[SCHED_COMM_LEN])
{
	size_t n;
	const char *at = text_at(record, len, f, m->big_endian, &n);

	if (!n)
		return -EBADMSG;
	if (n == SCHED_COMM_LEN && f.form == FORMAT_ARRAY && !BYTES_HOST_BIG)
		load_comm(comm, at);
	else
		sched_comm_set(comm, at, n);
	return 0;
}

static int load_filename(const struct sched_map *m, const uint8_t *record, size_t len,
			 struct sched_ref f, struct sched_event *ret)
{
	size_t n;
	const char *at = text_at(record, len, f, m->big_endian, &n);

	if (!n)
		return -EBADMSG;
	n = strnlen(at, n);
	if (n > SCHED_FILENAME_MAX)
		return -EBADMSG;
	ret->filename = n ? at : NULL;
	ret->filename_len = (uint16_t)n;
	return 0;
}

static int decode_fields(const struct sched_map *m, const uint8_t *record, size_t len,
			 struct sched_event *ret)
{
	const struct field_rule *rule = kinds[ret->kind].fields;
	const struct sched_ref *f = m->layouts[ret->kind].field;
	bool big = m->big_endian;
	int i, r = 0;

	for (i = 0; i < SCHED_MAP_FIELDS && rule[i].name; i++) {
		switch (rule[i].slot) {
		case TASK_COMM:
			r |= load_text(m, record, len, f[i], ret->task.comm);
			break;
		case TASK_PID:
			ret->task.pid = f[i].size ? load_int(record, f[i], big) : ret->pid;
			break;
		case TASK_PRIO:
			ret->task.prio = load_int(record, f[i], big);
			break;
		case OTHER_COMM:
			r |= load_text(m, record, len, f[i], ret->other.comm);
			break;
		case OTHER_PID:
			ret->other.pid = load_int(record, f[i], big);
			break;
		case OTHER_PRIO:
			ret->other.prio = load_int(record, f[i], big);
			break;
		case STATE:
			ret->state = load(record, f[i], big);
			break;
		case VALUE:
			ret->value = load_int(record, f[i], big);
			break;
		case EXTRA:
			ret->extra = (uint8_t)load(record, f[i], big);
			break;
		case FILENAME:
			r |= load_filename(m, record, len, f[i], ret);
			break;
		}
	}
	return r ? -EBADMSG : 1;
}

int sched_map_decode(const struct sched_map *m, const uint8_t *record, size_t len,
		     struct sched_event *ret)
{
	const struct sched_layout *l;
	uint32_t id, at;

	if (len < (size_t)m->type.offset + 2)
		return -EBADMSG;
	id = bytes_get16(record + m->type.offset, m->big_endian);
	for (at = id % SCHED_MAP_SLOTS; m->slots[at].id != id + 1; at = (at + 1) % SCHED_MAP_SLOTS)
		if (!m->slots[at].id)
			return 0;
	l = &m->layouts[m->slots[at].kind];
	if (len < l->min_len)
		return -EBADMSG;
	memset(ret, 0, sizeof(*ret));
	ret->kind = m->slots[at].kind;
	if (l->is_plain) {
		decode_plain(l, record, ret);
		return 1;
	}
	ret->pid = load_int(record, l->pid, m->big_endian);
	ret->flags = (uint8_t)load(record, l->flags, m->big_endian);
	ret->preempt_count = (uint8_t)load(record, l->preempt_count, m->big_endian);
	return decode_fields(m, record, len, ret);
}
