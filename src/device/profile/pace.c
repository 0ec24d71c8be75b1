/* SPDX-License-Identifier: MIT */
/* pace: see pace.h. */
#include "device/profile/pace.h"

#include <errno.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "command/pace_value.h"

/* --- options --- */

static int load_budget(struct pace_options *o, const char *text, struct error *e)
{
	if (text && (pace_value_budget(&o->budget_ppm, text) < 0 || !o->budget_ppm))
		return error_set(e, EINVAL, "cannot use --budget %s: 0.01 to 100 percent of a CPU",
				 text);
	return 0;
}

static int load_duty(struct pace_options *o, const char *text, struct error *e)
{
	uint32_t on_ms, every_ms;

	if (!text)
		return 0;
	if (pace_value_duty(&on_ms, &every_ms, text) < 0)
		return error_set(e, EINVAL,
				 "cannot use --duty %s: it is as 10s/60s, the first part a second "
				 "at least, the second longer and at most a day",
				 text);
	o->on_ns = on_ms * CLOCK_NS_PER_MS;
	o->every_ns = every_ms * CLOCK_NS_PER_MS;
	return 0;
}

int pace_options_load(struct pace_options *o, const struct args *a, struct error *e)
{
	int r = load_budget(o, args_get(a, "budget"), e);

	return r < 0 ? r : load_duty(o, args_get(a, "duty"), e);
}

/* --- the pace --- */

void pace_init(struct pace *p, const struct pace_options *o, uint64_t period_ns)
{
	memset(p, 0, sizeof(*p));
	budget_init(&p->budget, o->budget_ppm, period_ns);
	p->duty.on_ns = o->on_ns;
	p->duty.every_ns = o->every_ns;
}

static void restart_duty(struct pace *p, uint64_t now_ns)
{
	uint64_t random = now_ns;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = now_ns;
	duty_init(&p->duty, p->duty.on_ns, p->duty.every_ns, random, now_ns);
}

void pace_apply(struct pace *p, const struct message_config *c, enum config_pace_of of,
		uint64_t least_ns)
{
	const struct config_pace *s = &c->paces[of];
	uint64_t asked_ns = p->budget.asked_ns;
	uint32_t ppm = p->budget.ppm;

	if (c->given & 1U << CONFIG_PACE_FIELD(of, PACE_MODE))
		p->is_off = !s->is_on;
	if (c->given & 1U << CONFIG_PACE_FIELD(of, PACE_RATE))
		asked_ns = CLOCK_NS_PER_S / s->rate_hz;
	if (c->given & 1U << CONFIG_PACE_FIELD(of, PACE_BUDGET))
		ppm = s->budget_ppm;
	if (asked_ns != p->budget.asked_ns || ppm != p->budget.ppm)
		budget_init(&p->budget, ppm, asked_ns < least_ns ? least_ns : asked_ns);
	if (c->given & 1U << CONFIG_PACE_FIELD(of, PACE_DUTY)) {
		p->duty.on_ns = s->on_ms * CLOCK_NS_PER_MS;
		p->duty.every_ns = s->every_ms * CLOCK_NS_PER_MS;
		restart_duty(p, clock_mono_ns());
	}
	p->is_changed = true;
}

void pace_start(struct pace *p, uint64_t now_ns, uint64_t used_ns)
{
	restart_duty(p, now_ns);
	budget_begin(&p->budget, now_ns, used_ns);
	p->is_paused = !duty_is_on(&p->duty, now_ns);
}

/* Only time in which it samples counts, or a pause would let it sample more often. */
bool pace_turn(struct pace *p, uint64_t now_ns, uint64_t used_ns)
{
	bool is_paused = p->is_off || !duty_is_on(&p->duty, now_ns), was_paused = p->is_paused;
	bool is_changed = p->is_changed;

	p->is_paused = is_paused;
	p->is_changed = false;
	if (was_paused || is_paused || is_changed) {
		budget_begin(&p->budget, now_ns, used_ns);
		return was_paused != is_paused || is_changed;
	}
	return budget_turn(&p->budget, now_ns, used_ns);
}

uint64_t pace_used_ns(void)
{
	struct timespec t = { .tv_sec = 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * CLOCK_NS_PER_S + (uint64_t)t.tv_nsec;
}

static void put_row(struct pace *p, struct profile_meta *m, const struct sample_pace_row *row)
{
	p->rows[p->n_rows++ % PACE_ROWS] = *row;
	p->put_tick = row->tick;
	profile_meta_put_pace(m, row);
}

void pace_put(struct pace *p, struct profile_meta *m, uint64_t tick)
{
	struct sample_pace_row row = { .tick = tick, .what = SAMPLE_PACE_PAUSES };

	if (!p->is_paused) {
		row.what = SAMPLE_PACE_GOES;
		row.period = p->is_cycles ? p->cycles : p->budget.period_ns;
	}
	put_row(p, m, &row);
}

void pace_put_due(struct pace *p, struct profile_meta *m, uint64_t tick)
{
	if (tick - p->put_tick >= PACE_ALIVE_MS * CLOCK_NS_PER_MS)
		pace_put(p, m, tick);
}

void pace_put_end(struct pace *p, struct profile_meta *m, uint64_t tick, bool is_complete)
{
	struct sample_pace_row row = { .tick = tick,
				       .what = is_complete ? SAMPLE_PACE_COMPLETE
							   : SAMPLE_PACE_STOPPED };

	put_row(p, m, &row);
}

void pace_repeat(const struct pace *p, struct profile_meta *m)
{
	uint64_t i = p->n_rows > PACE_ROWS ? p->n_rows - PACE_ROWS : 0;

	for (; i < p->n_rows; i++)
		profile_meta_put_pace(m, &p->rows[i % PACE_ROWS]);
}

int pace_wait_ms(const struct pace *p, uint64_t now_ns, int ms)
{
	uint64_t next = duty_next_ns(&p->duty, now_ns), left;
	int most = p->is_paused ? (int)PACE_WAIT_PAUSED_MS : ms;

	if (next == UINT64_MAX)
		return most;
	left = next > now_ns ? (next - now_ns) / CLOCK_NS_PER_MS + 1 : 1;
	return left < (uint64_t)most ? (int)left : most;
}
