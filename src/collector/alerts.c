/* SPDX-License-Identifier: MIT */
/* alerts: see alerts.h. */
#include "collector/alerts.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/json_whole.h"
#include "base/clock.h"
#include "collector/alert_json.h"
#include "collector/webhook.h"

#define LEARN_MINUTES (ALERT_PAST + 10U)
#define DAYS 7U
#define AHEAD_S 300U /* so much may the clock of a device be ahead */
#define HOUR_VALUES 16U

struct alerts {
	struct alerts_options o;
	struct alert_watch *watch; /* of the thread that puts */
	struct webhook *webhook;
	pthread_mutex_t lock; /* of all below */
	struct alert *kept;   /* a ring */
	size_t first, n;
	struct alert_watch_counters counters;
};

/* --- what is told --- */

/* Its last state takes the place of the one before. */
static void keep(struct alerts *a, const struct alert *alert)
{
	size_t i;

	pthread_mutex_lock(&a->lock);
	for (i = 0; i < a->n; i++)
		if (a->kept[(a->first + i) % ALERTS_KEPT].number == alert->number)
			break;
	if (i == a->n && a->n == ALERTS_KEPT) {
		a->first = (a->first + 1) % ALERTS_KEPT;
		i--;
	} else if (i == a->n) {
		a->n++;
	}
	a->kept[(a->first + i) % ALERTS_KEPT] = *alert;
	pthread_mutex_unlock(&a->lock);
}

struct wanted {
	const struct message_id *id;
	char name[STORE_NAME_MAX];
};

static int take_name(void *context, const struct store_device *d)
{
	struct wanted *w = context;

	if (memcmp(&d->id, w->id, sizeof(d->id)))
		return 0;
	snprintf(w->name, sizeof(w->name), "%s", d->name);
	return 1;
}

static void tell(void *context, const struct alert *alert)
{
	struct alerts *a = context;
	struct wanted w = { .id = &alert->device };
	struct error e = ERROR_INIT;
	char text[1024], line[1200];
	char *post;

	keep(a, alert);
	store_devices(a->o.store, take_name, &w, &e);
	snprintf(line, sizeof(line), "alert on %s: %s", w.name[0] ? w.name : "a device",
		 alert_format(alert, text, sizeof(text)));
	if (a->o.log)
		a->o.log(a->o.log_context, line);
	if (!a->webhook)
		return;
	post = json_whole_text(alert_json(alert, w.name), JSON_COMPACT);
	if (post)
		webhook_post(a->webhook, post);
}

/* --- the same hour of earlier days --- */

static int by_value(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

static bool has_trend(uint8_t kind, uint8_t *ret_by, uint8_t *ret_kind)
{
	*ret_by = kind == ALERT_PROCESS ? FACTS_BY_PROCESS : FACTS_BY_FUNCTION;
	*ret_kind = kind == ALERT_GUEST ? FACT_VM : FACT_PROFILE;
	return kind == ALERT_PROCESS || kind == ALERT_FUNCTION || kind == ALERT_GUEST;
}

/* Over all processes that have the function: good enough to say that it is always so at this time. */
static unsigned int same_hour(void *context, const struct alert *like, uint64_t minute_s,
			      double *ret)
{
	struct alerts *a = context;
	struct facts_query q = { .devices = &like->device, .n_devices = 1 };
	struct facts_trend t = { .name = like->name, .step_s = FACT_HOUR_S };
	CLEANUP_FACTS_POINTS struct facts_points points = { 0 };
	uint64_t hour_s = minute_s - minute_s % FACT_HOUR_S;
	struct error e = ERROR_INIT;
	double values[HOUR_VALUES];
	unsigned int n = 0;
	size_t i;

	if (!has_trend(like->kind, &t.by, &q.kind))
		return 0;
	t.object = like->kind == ALERT_PROCESS ? NULL : like->object;
	q.from_s = hour_s - (uint64_t)DAYS * 24 * FACT_HOUR_S;
	q.to_s = hour_s;
	if (facts_trend(a->o.facts, &q, &t, &points, &e) < 0)
		return 0;
	for (i = 0; i < points.n && n < HOUR_VALUES; i++)
		if ((hour_s - points.points[i].start_s) % (24UL * FACT_HOUR_S) == 0 &&
		    points.points[i].covered_ns)
			values[n++] = (double)points.points[i].self[1] /
				      (double)points.points[i].covered_ns;
	if (n)
		qsort(values, n, sizeof(*values), by_value);
	*ret = n ? values[n / 2] : 0;
	return n;
}

/* --- minutes --- */

static void publish(struct alerts *a)
{
	struct alert_watch_counters n;

	alert_watch_count(a->watch, &n);
	pthread_mutex_lock(&a->lock);
	a->counters = n;
	pthread_mutex_unlock(&a->lock);
}

/* A minute that has not come yet is of a clock that is wrong: since when it is so cannot be said. */
static void put(struct alerts *a, const struct fact_set *s, bool is_past)
{
	if (s->key.start_s > clock_real_ns() / CLOCK_NS_PER_S + AHEAD_S)
		return;
	alert_watch_put(a->watch, s, is_past);
	publish(a);
}

void alerts_put(void *alerts, const struct fact_set *s)
{
	put(alerts, s, false);
}

void alerts_expire(void *alerts, uint64_t now_s)
{
	struct alerts *a = alerts;

	alert_watch_expire(a->watch, now_s);
	publish(a);
}

static int learn_set(void *context, const struct fact_set *s)
{
	put(context, s, true);
	return 0;
}

/* Minute by minute, because a watch wants them by time. */
static int learn(struct alerts *a, struct error *e)
{
	uint64_t now_s = clock_real_ns() / CLOCK_NS_PER_S;
	struct facts_query q = { .all_devices = true, .minutes_only = true };
	uint64_t minute_s = now_s - now_s % FACT_MINUTE_S - LEARN_MINUTES * FACT_MINUTE_S;
	int r = 0;

	for (; minute_s <= now_s && r >= 0; minute_s += FACT_MINUTE_S) {
		q.from_s = minute_s;
		q.to_s = minute_s + FACT_MINUTE_S;
		for (q.kind = 0; q.kind < FACT_KINDS && r >= 0; q.kind++)
			r = facts_scan(a->o.facts, &q, learn_set, a, e);
	}
	return r;
}

int alerts_start(struct alerts **ret, const struct alerts_options *o, struct error *e)
{
	CLEANUP(alerts) struct alerts *a = calloc(1, sizeof(*a));
	struct alert_watch_options watch = { .tell = tell, .same_hour = same_hour };
	int r;

	if (!a)
		return error_set(e, ENOMEM, "cannot watch for alerts: out of memory");
	pthread_mutex_init(&a->lock, NULL);
	a->o = *o;
	a->kept = calloc(ALERTS_KEPT, sizeof(*a->kept));
	watch.context = a;
	if (!a->kept || alert_watch_new(&a->watch, &watch) < 0)
		return error_set(e, ENOMEM, "cannot watch for alerts: out of memory");
	r = o->webhook ? webhook_start(&a->webhook, o->webhook, e) : 0;
	if (r >= 0)
		r = learn(a, e);
	if (r < 0)
		return r;
	*ret = take_ptr(a);
	return 0;
}

void alerts_stop(struct alerts *a)
{
	if (!a)
		return;
	webhook_stop(a->webhook);
	alert_watch_free(a->watch);
	pthread_mutex_destroy(&a->lock);
	free(a->kept);
	free(a);
}

int alerts_dup(struct alerts *a, struct alert **ret, size_t *ret_n)
{
	struct alert *list;
	size_t i;

	pthread_mutex_lock(&a->lock);
	list = calloc(a->n + 1, sizeof(*list));
	for (i = 0; list && i < a->n; i++)
		list[i] = a->kept[(a->first + a->n - 1 - i) % ALERTS_KEPT];
	*ret_n = a->n;
	pthread_mutex_unlock(&a->lock);
	*ret = list;
	return list ? 0 : -ENOMEM;
}

void alerts_count(struct alerts *a, struct alerts_counters *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (a->webhook)
		webhook_count(a->webhook, &ret->posted, &ret->post_errors);
	pthread_mutex_lock(&a->lock);
	ret->watch = a->counters;
	pthread_mutex_unlock(&a->lock);
}
