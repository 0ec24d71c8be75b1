/* SPDX-License-Identifier: MIT */
/*
 * sched_dialect: what formats give away about their kernel. Features are facts where a format shows
 * them; the rest follows from the release, or where the trace names none, from the age that the
 * features suggest.
 */
#include "ftrace/sched.h"

void sched_map_learn(struct sched_map *m, enum sched_kind kind, const struct format *f)
{
	if (kind == SCHED_SWITCH)
		m->has_states = !format_get_states(f, &m->states);
	if (kind >= SCHED_WAKING && kind <= SCHED_WAKEUP_NEW && format_get_field(f, "success"))
		m->features |=
			format_prints(f, "success=") ? DIALECT_SUCCESS : DIALECT_SUCCESS_SILENT;
	if (kind == SCHED_EXIT && format_get_field(f, "group_dead"))
		m->features |= DIALECT_GROUP_DEAD;
	if (kind == SCHED_RENAME && !format_get_field(f, "pid"))
		m->features |= DIALECT_RENAME_NO_PID;
	if ((kind == SCHED_FORK && format_get_field(f, "parent_comm")->form == FORMAT_ARRAY) ||
	    (kind == SCHED_SETPRIO && format_get_field(f, "comm")->form == FORMAT_ARRAY))
		m->features |= DIALECT_FIXED_COMM;
}

/* A release that has the features the formats show, for traces that do not name theirs. */
static const char *guess_release(const struct sched_map *m)
{
	const uint32_t success = DIALECT_SUCCESS | DIALECT_SUCCESS_SILENT;

	if (m->has_states && m->states.preempt != 0x100)
		return "4.1";
	if (m->features & success)
		return "5.4";
	if (m->features & DIALECT_FIXED_COMM)
		return "6.1";
	return "";
}

void sched_map_get_dialect(const struct sched_map *m, const char *release, unsigned int long_size,
			   struct sched_dialect *ret)
{
	uint32_t known = 0;

	dialect_from_release(ret, *release ? release : guess_release(m));
	ret->long_size = (uint8_t)long_size;
	ret->kinds = m->kinds;
	if (m->kinds & (1U << SCHED_WAKING | 1U << SCHED_WAKEUP | 1U << SCHED_WAKEUP_NEW))
		known |= DIALECT_SUCCESS | DIALECT_SUCCESS_SILENT;
	if (m->kinds & 1U << SCHED_EXIT)
		known |= DIALECT_GROUP_DEAD;
	if (m->kinds & 1U << SCHED_RENAME)
		known |= DIALECT_RENAME_NO_PID;
	if (m->kinds & (1U << SCHED_FORK | 1U << SCHED_SETPRIO))
		known |= DIALECT_FIXED_COMM;
	ret->features = (ret->features & ~known) | (m->features & known);
	if (m->big_endian)
		ret->features |= DIALECT_BIG_ENDIAN;
	if (m->has_states) {
		ret->state_mask = m->states.mask;
		ret->state_preempt = m->states.preempt;
		memcpy(ret->state_letters, m->states.letters, sizeof(ret->state_letters));
	}
}
