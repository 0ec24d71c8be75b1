/* SPDX-License-Identifier: MIT */
/*
 * alert_minutes: facts of made-up devices, minute by minute, for tests of what is told about them. Numbers
 * are random as samples are, and the same in every run.
 */
#ifndef KISEKI_TESTS_UNIT_ALERT_MINUTES_H
#define KISEKI_TESTS_UNIT_ALERT_MINUTES_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alert/alert_watch.h"
#include "analysis/profile_walk.h"

#define FUNCTIONS 24
#define PROCESSES 2
#define START_S 1700000040U /* a whole minute */
#define PERIOD_NS 5000000ULL
#define COVERED_NS (120ULL * 1000000000)
#define TOLD_MAX 64

/* --- numbers that are the same in every run --- */

static uint64_t seed = 1;

static inline double random_part(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(seed >> 11) / 9007199254740992.0;
}

static inline double random_normal(void)
{
	double a = random_part(), b = random_part();

	return sqrt(-2 * log(a > 0 ? a : 1e-300)) * cos(6.283185307179586 * b);
}

/* What counting gives where `mean` is expected. */
static inline uint64_t random_count(double mean)
{
	double n = mean + sqrt(mean) * random_normal();

	return n > 0 ? (uint64_t)(n + 0.5) : 0;
}

/* --- a device --- */

struct device {
	struct message_id id;
	uint64_t minute_s;
	double load[PROCESSES];
	double slower[PROCESSES][FUNCTIONS]; /* 1: as ever */
	double burst;			     /* of a function that is not there else: its share */
	double job;			     /* of a process that comes and goes: its share */
	uint8_t build;
	const char *called; /* how its functions are called, before their number */
};

static inline void device_init(struct device *d, uint8_t number)
{
	int p, f;

	memset(d, 0, sizeof(*d));
	memset(d->id.bytes, number, sizeof(d->id.bytes));
	d->minute_s = START_S;
	d->called = "work";
	for (p = 0; p < PROCESSES; p++) {
		d->load[p] = 1;
		for (f = 0; f < FUNCTIONS; f++)
			d->slower[p][f] = 1;
	}
}

/* Of the machine: the first takes 8 %, the last next to nothing. */
static inline double share(int f)
{
	return 0.08 / (1 + 0.6 * f);
}

static inline uint32_t node(struct fact_set *s, uint32_t parent, const char *name,
			    const char *object)
{
	uint32_t key, ret;

	assert_int_equal(functions_find_label(&s->functions, name, object, &key), 0);
	assert_int_equal(profile_tree_find(s->tree, parent, key, &ret), 0);
	return ret;
}

static inline void add(struct fact_set *s, uint32_t at, uint64_t samples)
{
	const uint64_t values[FACT_VALUES] = { samples, samples * PERIOD_NS };

	profile_tree_add(s->tree, at, values);
}

static inline void add_process(struct fact_set *s, const struct device *d, int p, double load)
{
	char name[32];
	uint32_t process, at;
	int f;

	snprintf(name, sizeof(name), "server%d", p);
	process = node(s, 0, name, "process");
	for (f = 0; f < FUNCTIONS; f++) {
		snprintf(name, sizeof(name), "%s%d", d->called, f);
		at = node(s, process, name,
			  f == 5 ? "process" : "server"); /* a file may be called so */
		add(s, at,
		    random_count(share(f) * load * d->slower[p][f] * (double)COVERED_NS /
				 (double)PERIOD_NS));
	}
	if (d->burst > 0 && p == 0)
		add(s, node(s, process, "gc_mark", "server"),
		    random_count(d->burst * (double)COVERED_NS / (double)PERIOD_NS));
}

static inline void minute_init(struct fact_set *s, const struct device *d, uint8_t kind)
{
	struct fact_key key = { .device = d->id,
				.run = d->id,
				.kind = kind,
				.length_s = FACT_MINUTE_S,
				.start_s = d->minute_s };

	assert_int_equal(fact_set_init(s, &key), 0);
	s->covered_ns = COVERED_NS;
}

static inline void add_job(struct fact_set *s, double samples)
{
	uint32_t process = node(s, 0, "backup", "process");

	add(s, node(s, process, "pack", "backup"), random_count(samples * 0.6));
	add(s, node(s, process, "read", "backup"), random_count(samples * 0.4));
}

/* One more minute of it; load has noise of its own, that all functions of a process share. */
static inline void device_minute(struct alert_watch *w, struct device *d)
{
	struct fact_object like = { .name = "server", .build_id_len = 4 }, *o;
	struct fact_set s;
	int p;

	minute_init(&s, d, FACT_PROFILE);
	for (p = 0; p < PROCESSES; p++)
		add_process(&s, d, p, d->load[p] * (1 + 0.06 * random_normal()));
	if (d->job > 0)
		add_job(&s, d->job * (double)COVERED_NS / (double)PERIOD_NS);
	memset(like.build_id, 1 + d->build, like.build_id_len);
	assert_int_equal(fact_set_find_object(&s, &like, &o), 0);
	o->samples = 100;
	assert_int_equal(alert_watch_put(w, &s, false), 0);
	fact_set_done(&s);
	d->minute_s += FACT_MINUTE_S;
}

static inline void minutes(struct alert_watch *w, struct device *d, int n)
{
	while (n--)
		device_minute(w, d);
}

/* --- what is told --- */

struct told {
	struct alert list[TOLD_MAX];
	int n;
};

static inline void take(void *context, const struct alert *a)
{
	struct told *t = context;
	char text[512];

	assert_true(strlen(alert_format(a, text, sizeof(text))) > 20);
	if (t->n < TOLD_MAX)
		t->list[t->n] = *a;
	t->n++;
}

static inline struct alert_watch *open_watch(struct told *t)
{
	struct alert_watch_options o = { .tell = take, .context = t };
	struct alert_watch *w = NULL;

	memset(t, 0, sizeof(*t));
	assert_int_equal(alert_watch_new(&w, &o), 0);
	return w;
}

/* Exactly one, of this function, no later than the second minute. */
static inline void check_one(const struct told *t, uint64_t since_s, const char *scope,
			     const char *name)
{
	if (t->n != 1)
		fail_msg("%d alerts for %s, first %s %s", t->n, name, t->list[0].scope,
			 t->list[0].name);
	assert_string_equal(t->list[0].name, name);
	assert_string_equal(t->list[0].scope, scope);
	assert_in_range(t->list[0].told_s, since_s, since_s + FACT_MINUTE_S);
	assert_int_equal(t->list[0].until_s, 0);
}

#endif
