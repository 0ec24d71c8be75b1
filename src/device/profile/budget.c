/* SPDX-License-Identifier: MIT */
/* budget: see budget.h. */
#include "device/profile/budget.h"

#define MILLION 1000000ULL
#define AIM_PERCENT 85U	  /* of the limit, which a new period is to use */
#define QUIET_PERCENT 60U /* of the limit: below, there is room for more */
#define QUIET_WINDOWS 2U
#define STEP_UP 4U   /* a period grows to so many times itself at most, */
#define STEP_DOWN 2U /* and shrinks to such a part of itself */

void budget_init(struct budget *b, uint32_t ppm, uint64_t period_ns)
{
	*b = (struct budget){ .ppm = ppm, .asked_ns = period_ns, .period_ns = period_ns };
}

void budget_begin(struct budget *b, uint64_t now_ns, uint64_t used_ns)
{
	b->since_ns = now_ns;
	b->since_used_ns = used_ns;
}

/* The period at which as much would be used as is aimed at, if all of it were for samples. */
static uint64_t fit(const struct budget *b, uint64_t used_ppm)
{
	uint64_t aim = (uint64_t)b->ppm * AIM_PERCENT / 100, most, least = b->asked_ns;
	uint64_t period = b->period_ns * used_ppm / (aim ? aim : 1);

	most = b->period_ns * STEP_UP;
	if (most > BUDGET_PERIOD_MOST_NS)
		most = BUDGET_PERIOD_MOST_NS;
	if (most < b->asked_ns)
		most = b->asked_ns;
	if (least < b->period_ns / STEP_DOWN)
		least = b->period_ns / STEP_DOWN;
	return period < least ? least : period > most ? most : period;
}

bool budget_turn(struct budget *b, uint64_t now_ns, uint64_t used_ns)
{
	uint64_t span = now_ns - b->since_ns, used_ppm, before = b->period_ns;

	if (!b->ppm || span < BUDGET_WINDOW_NS)
		return false;
	used_ppm = (used_ns - b->since_used_ns) / (span / MILLION);
	budget_begin(b, now_ns, used_ns);
	if (used_ppm > b->ppm) {
		b->quiet = 0;
		b->period_ns = fit(b, used_ppm);
	} else if (used_ppm * 100 >= (uint64_t)b->ppm * QUIET_PERCENT) {
		b->quiet = 0;
	} else if (++b->quiet >= QUIET_WINDOWS) {
		b->quiet = 0;
		b->period_ns = fit(b, used_ppm);
	}
	return b->period_ns != before;
}
