/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * dialect: see dialect.h. The history in one place, by the release that brought each change:
 *   3.9   parked tasks have a letter, killable ones K instead of W
 *   4.2   the state N (no load)
 *   4.3   success= is no longer printed (the field stays, always 1)
 *   4.8   a state bit for new tasks, without a letter: '+' moves to bit 12
 *   4.14  state bits renumbered: parked and idle reported, '+' moves to bit 8
 *   5.9   the task column widens to 7 digits
 *   5.14  wakeups lose the success field
 *   5.15  the flags column gets migrate-disable
 *   6.13  lazy rescheduling has a flag of its own
 *   6.14  task_rename loses its pid; it came back with 7.0, and in 6.18 with a stable update
 *   6.16  fork and setprio names become __data_loc; exits get group_dead
 */
#include "wire/dialect.h"

static const char letters_now[DIALECT_STATE_BITS] = { 'S', 'D', 'T', 't', 'X', 'Z', 'P', 'I' };
static const char letters_4_13[DIALECT_STATE_BITS] = { 'S', 'D', 'T', 't', 'Z', 'X',
						       'x', 'K', 'W', 'P', 'N' };
static const char letters_3_8[DIALECT_STATE_BITS] = { 'S', 'D', 'T', 't', 'Z', 'X', 'x', 'W' };

void dialect_init(struct sched_dialect *d)
{
	memset(d, 0, sizeof(*d));
	d->features = DIALECT_GROUP_DEAD | DIALECT_LAZY_RESCHED;
	d->kinds = 0;
	d->long_size = 8;
	d->flag_columns = 5;
	d->pid_width = 7;
	d->state_mask = 0xff;
	d->state_preempt = 0x100;
	memcpy(d->state_letters, letters_now, sizeof(letters_now));
}

/* "major.minor…" as major * 1000 + minor; 0 if it does not start so. */
static uint32_t release_number(const char *s)
{
	uint32_t part[2] = { 0, 0 };
	int i;

	for (i = 0; i < 2; i++) {
		if (*s < '0' || *s > '9')
			return 0;
		while (*s >= '0' && *s <= '9' && part[i] < 1000)
			part[i] = part[i] * 10 + (uint32_t)(*s++ - '0');
		if (i == 0 && *s++ != '.')
			return 0;
	}
	return part[0] * 1000 + part[1];
}

/* The task states of kernels before 4.14, whose bits grew one by one. */
static void old_states(struct sched_dialect *d, uint32_t v)
{
	unsigned int bits = v >= 4008 ? 12 : v >= 4002 ? 11 : v >= 3009 ? 10 : 9;

	memcpy(d->state_letters, v < 3009 ? letters_3_8 : letters_4_13, sizeof(letters_4_13));
	if (v < 4002)
		d->state_letters[10] = 0;
	d->state_preempt = 1ULL << bits;
	d->state_mask = d->state_preempt - 1;
}

void dialect_from_release(struct sched_dialect *d, const char *release)
{
	uint32_t v = release ? release_number(release) : 0;

	dialect_init(d);
	if (!v)
		return;
	if (v < 6016) {
		d->features &= ~(uint32_t)DIALECT_GROUP_DEAD;
		d->features |= DIALECT_FIXED_COMM;
	}
	if (v >= 6014 && v < 6018)
		d->features |= DIALECT_RENAME_NO_PID;
	if (v < 6013)
		d->features &= ~(uint32_t)DIALECT_LAZY_RESCHED;
	if (v < 5015)
		d->flag_columns = 4;
	if (v < 5009)
		d->pid_width = 5;
	if (v < 5014)
		d->features |= v < 4003 ? DIALECT_SUCCESS : DIALECT_SUCCESS_SILENT;
	if (v < 4014)
		old_states(d, v);
}
