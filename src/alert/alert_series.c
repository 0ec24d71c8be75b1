/* SPDX-License-Identifier: MIT */
/* alert_series: see alert_series.h. */
#include "alert/alert_series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAD_TO_SIGMA 1.4826 /* of a normal distribution */
#define FLOOR_PART 0.02	    /* nothing is steadier than this part of itself */
#define FADES 0.9995F	    /* a minute: half of it in a day */
#define ABOVE_PEAK 1.1	    /* to be news */

const struct alert_limits alert_limits_default = {
	.once = 8, .twice = 5, .least_part = 0.2, .least_amount = 0.005
};

static int by_value(const void *pa, const void *pb)
{
	float a = *(const float *)pa, b = *(const float *)pb;

	return (a > b) - (a < b);
}

static double median(float *list, unsigned int n)
{
	qsort(list, n, sizeof(*list), by_value);
	return n % 2 ? (double)list[n / 2] : ((double)list[n / 2 - 1] + (double)list[n / 2]) / 2;
}

static void find_usual(const struct alert_series *s, double *ret_usual, double *ret_spread)
{
	float list[ALERT_PAST];
	unsigned int i;

	memcpy(list, s->past, sizeof(list));
	*ret_usual = median(list, s->n);
	for (i = 0; i < s->n; i++)
		list[i] = fabsf(s->past[i] - (float)*ret_usual);
	*ret_spread = MAD_TO_SIGMA * median(list, s->n);
}

static void judge(const struct alert_series *s, const struct alert_point *p, double needed,
		  const struct alert_limits *limits, struct alert_verdict *ret)
{
	double strays, above, least;

	find_usual(s, &ret->usual, &strays);
	/* What strayed so far has counting noise in it; less than that of this minute it cannot be. */
	strays = strays > p->noise ? strays : p->noise;
	least = FLOOR_PART * ret->usual;
	ret->spread = sqrt(strays * strays + least * least);
	above = p->value - ret->usual;
	ret->distance = ret->spread > 0 ? above / ret->spread : above > 0 ? INFINITY : 0;
	ret->is_out = ret->distance >= needed && above >= limits->least_part * ret->usual &&
		      above >= limits->least_amount && p->value >= ABOVE_PEAK * (double)s->peak;
	if (ret->is_out && p->has_hour)
		ret->is_out = p->value - p->hour >= limits->least_part * p->hour &&
			      p->value - p->hour >= needed * ret->spread;
}

static bool knows_enough(const struct alert_series *s, const struct alert_limits *limits)
{
	return s->n >= (limits->least_past ? limits->least_past : ALERT_LEAST);
}

static void push(struct alert_series *s, double value)
{
	s->past[s->at] = (float)value;
	s->peak = s->peak > (float)value ? s->peak : (float)value;
	s->at = (uint8_t)((s->at + 1) % ALERT_PAST);
	if (s->n < ALERT_PAST)
		s->n++;
}

/* What it has been since it was out is what it is. */
static void settle(struct alert_series *s)
{
	unsigned int i, n = s->out < ALERT_STAYS ? s->out : ALERT_STAYS;

	s->n = s->at = 0;
	for (i = 0; i < n; i++)
		push(s, (double)s->level[i]);
	s->state = ALERT_QUIET;
	s->out = s->calm = 0;
}

/* What was out is no news when it comes again. */
static void remember_peak(struct alert_series *s)
{
	unsigned int i;

	for (i = 0; i < s->out && i < ALERT_STAYS; i++)
		s->peak = s->level[i] > s->peak ? s->level[i] : s->peak;
}

static void take_out(struct alert_series *s, double value, bool is_out)
{
	if (s->out < ALERT_STAYS)
		s->level[s->out] = (float)value;
	s->out++;
	s->calm = is_out ? 0 : (uint8_t)(s->calm + 1);
	if (s->calm >= ALERT_CALM) {
		remember_peak(s);
		s->state = ALERT_QUIET;
		s->out = s->calm = 0;
	} else if (s->out >= ALERT_STAYS) {
		settle(s);
	}
}

void alert_series_put(struct alert_series *s, const struct alert_point *p,
		      const struct alert_limits *limits, struct alert_verdict *ret)
{
	double needed = s->state == ALERT_QUIET ? limits->once : limits->twice;
	bool is_strange = false;

	memset(ret, 0, sizeof(*ret));
	s->peak *= FADES;
	ret->before = (enum alert_state)s->state;
	if (knows_enough(s, limits)) {
		judge(s, p, needed, limits, ret);
		is_strange = ret->distance >= limits->twice;
	}
	if (s->state == ALERT_OUT) {
		take_out(s, p->value, ret->is_out);
	} else if (ret->is_out) {
		if (s->state == ALERT_QUIET)
			s->out = 0;
		s->state = ALERT_OUT;
		take_out(s, p->value, true);
	} else if (is_strange && s->state == ALERT_QUIET) {
		s->state = ALERT_SUSPECT;
		s->level[0] = (float)p->value;
		s->out = 1;
	} else {
		/* One minute alone was nothing; it counts as any other. */
		if (s->state == ALERT_SUSPECT)
			push(s, (double)s->level[0]);
		s->state = ALERT_QUIET;
		s->out = 0;
		push(s, p->value);
	}
	ret->now = (enum alert_state)s->state;
	ret->has_settled = ret->before == ALERT_OUT && ret->now == ALERT_QUIET && ret->is_out;
}

bool alert_series_peek(const struct alert_series *s, const struct alert_point *p,
		       const struct alert_limits *limits)
{
	struct alert_verdict v = { .is_out = false };

	if (knows_enough(s, limits))
		judge(s, p, s->state == ALERT_QUIET ? limits->once : limits->twice, limits, &v);
	return v.is_out;
}

void alert_series_skip(struct alert_series *s)
{
	if (s->state == ALERT_SUSPECT)
		s->state = ALERT_QUIET;
}

void alert_series_end(struct alert_series *s)
{
	s->state = ALERT_QUIET;
	s->out = s->calm = 0;
}

void alert_series_restart(struct alert_series *s)
{
	memset(s, 0, sizeof(*s));
}
