/* SPDX-License-Identifier: MIT */
/*
 * pace: when a recorder samples, and how often: what was asked for, as a budget and a duty allow it; and the rows that
 * say so in the recording (docs/format/wire.md, section 7.21).
 *
 *	if (pace_turn(&p, now, used))        something changes
 *		… do as p.is_paused and p.budget.period_ns say
 *		pace_put(&p, &meta, tick)    and tell from which tick on
 *
 * Its last rows are kept: when some may not have arrived, they are said again.
 */
#ifndef KISEKI_DEVICE_PROFILE_PACE_H
#define KISEKI_DEVICE_PROFILE_PACE_H

#include "command/args.h"
#include "device/profile/budget.h"
#include "device/profile/duty.h"
#include "device/profile/profile_meta.h"
#include "wire/message.h"

#define PACE_ROWS 64U		  /* that are kept */
#define PACE_ALIVE_MS 10000U	  /* between two rows while nothing changes */
#define PACE_WAIT_PAUSED_MS 1000U /* a turn, at most, while there is nothing to read */

struct pace_options {
	uint32_t budget_ppm;	  /* 0: none */
	uint64_t on_ns, every_ns; /* 0, 0: without pauses */
};

struct pace {
	struct budget budget;
	struct duty duty;
	bool is_paused, is_cycles;
	bool is_off;	   /* somebody said that it should pause */
	bool is_changed;   /* so the next turn has something to do */
	uint64_t cycles;   /* the period in these, if it is; 0: not known */
	uint64_t put_tick; /* of the last row; its clock is of ns */
	uint64_t n_rows;   /* ever */
	struct sample_pace_row rows[PACE_ROWS];
};

/* --budget and --duty; the command's table has PACE_OPTIONS. */
int pace_options_load(struct pace_options *o, const struct args *a, struct error *e);

void pace_init(struct pace *p, const struct pace_options *o, uint64_t period_ns);

/* What somebody far away says of it while it goes on (wire/message.h): what is given of `c`; it holds from the next turn on. Periods are
 * no shorter than `least_ns`. */
void pace_apply(struct pace *p, const struct message_config *c, enum config_pace_of of,
		uint64_t least_ns);

/* It begins; `used_ns` is the CPU time up to now. */
void pace_start(struct pace *p, uint64_t now_ns, uint64_t used_ns);

/* True: is_paused or the period is another one. */
bool pace_turn(struct pace *p, uint64_t now_ns, uint64_t used_ns);

/* CPU time of this program up to now. */
uint64_t pace_used_ns(void);

/* What holds from this tick on. */
void pace_put(struct pace *p, struct profile_meta *m, uint64_t tick);

/* The same where nothing has changed for long enough: it is alive. */
void pace_put_due(struct pace *p, struct profile_meta *m, uint64_t tick);

/* It ends here. */
void pace_put_end(struct pace *p, struct profile_meta *m, uint64_t tick, bool is_complete);

/* Says the latest rows again. */
void pace_repeat(const struct pace *p, struct profile_meta *m);

/* How long a turn may wait, of which `ms` are usual. */
int pace_wait_ms(const struct pace *p, uint64_t now_ns, int ms);

#endif
