/* SPDX-License-Identifier: MIT */
/* alert_watch: see alert_watch.h. */
#include "alert/alert_watch.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alert/alert_build.h"
#include "base/hex.h"

#define WORTH 0.002		      /* a thing that never had this share has no series */
#define STALE_MINUTES 180U	      /* without a trace of it, and it is forgotten */
#define GAP_MINUTES 5U		      /* of silence end a suspicion */
#define SILENT_S (11 * FACT_MINUTE_S) /* since the last minute began: ten without one end alerts */
#define GROWN 0.1   /* by this part a function's share of the machine must have grown */
#define JOB 0.1	    /* of the machine: so much of a process that usually is not there is news */
#define TELLING 50U /* samples of a process that say something of its functions */
#define GONE 0.1    /* of what it usually has, or less: it is not there any more */

static const struct alert_limits fresh_limits = {
	.once = 6, .twice = 4, .least_part = 0.1, .least_amount = 0.003
};

/* Seconds that are waited are no shares. Tasks come and go with what people do: an hour of them must be known. */
static const struct alert_limits wait_limits = {
	.once = 10, .twice = 6, .least_part = 1, .least_amount = 0.002, .least_past = ALERT_PAST
};

/* A task's or a process's growth that nobody would look at: of one CPU, however many there are; and of a task what is over soon. */
#define WORTH_OF_CPU 0.05
#define TASK_LASTS 5U /* minutes */

struct entry {
	uint8_t kind;
	char *scope, *name, *object;
	struct alert_series series; /* of its share of the machine */
	/* Of a function: beside the rest of its process, which does not change with the load. Of a process: the minutes that had enough
	 * samples for that. */
	struct alert_series part;
	uint64_t seen_s;
	struct alert_thing thing;     /* of this minute; its texts are the set's */
	struct alert_verdict verdict; /* of a function: about its part */
	double usual;		      /* share of the machine */
	bool has_grown;		      /* there, too */
	bool is_said;		      /* of a task: since it was out */
	bool is_telling; /* of a process, and of a function that of its own: it has enough samples */
	struct alert *alert; /* while it goes on */
};

struct device {
	struct message_id id;
	/* By the kind of facts, those by cycles as FACT_PROFILE; 0: none came. */
	uint64_t last_s[FACT_KINDS];
	struct hashtable entries;
	struct alert_builds builds;
};

struct alert_watch {
	struct alert_watch_options o;
	struct hashtable devices;
	struct alert_watch_counters counters;
};

/* --- what is remembered --- */

static void free_entry(struct alert_watch *w, struct entry *n)
{
	if (!n)
		return;
	w->counters.series--;
	w->counters.open -= n->alert != NULL;
	free(n->scope);
	free(n->name);
	free(n->object);
	free(n->alert);
	free(n);
}

static void free_device(struct alert_watch *w, struct device *d)
{
	struct entry *n;
	size_t at = 0;

	while ((n = hashtable_next(&d->entries, &at)))
		free_entry(w, n);
	hashtable_done(&d->entries);
	alert_builds_done(&d->builds);
	free(d);
}

int alert_watch_new(struct alert_watch **ret, const struct alert_watch_options *o)
{
	struct alert_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->o = *o;
	if (w->o.limits.once == 0)
		w->o.limits = alert_limits_default;
	hashtable_init(&w->devices, ALERT_DEVICES_MAX);
	*ret = w;
	return 0;
}

void alert_watch_free(struct alert_watch *w)
{
	size_t at = 0;
	struct device *d;

	if (!w)
		return;
	while ((d = hashtable_next(&w->devices, &at)))
		free_device(w, d);
	hashtable_done(&w->devices);
	free(w);
}

static bool is_device(const void *entry, const void *key)
{
	return !memcmp(&((const struct device *)entry)->id, key, sizeof(struct message_id));
}

static struct device *find_device(struct alert_watch *w, const struct message_id *id)
{
	uint64_t hash = hashtable_hash_id(id->bytes);
	struct device *d = hashtable_get(&w->devices, hash, is_device, id);

	if (d)
		return d;
	d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->id = *id;
	hashtable_init(&d->entries, ALERT_SERIES_MAX);
	if (hashtable_add(&w->devices, hash, d) < 0) {
		free(d);
		return NULL;
	}
	w->counters.devices++;
	return d;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	while (*text)
		hash = hashtable_hash_number(hash ^ (uint8_t)*text++);
	return hashtable_hash_number(hash + 1);
}

static uint64_t hash_thing(const struct alert_thing *t)
{
	return hash_text(hash_text(hash_text(t->kind, t->scope), t->name), t->object);
}

static bool is_entry(const void *entry, const void *key)
{
	const struct entry *n = entry;
	const struct alert_thing *t = key;

	return n->kind == t->kind && !strcmp(n->name, t->name) && !strcmp(n->scope, t->scope) &&
	       !strcmp(n->object, t->object);
}

static struct entry *new_entry(struct alert_watch *w, const struct alert_thing *t)
{
	struct entry *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	w->counters.series++;
	n->kind = t->kind;
	n->scope = strdup(t->scope);
	n->name = strdup(t->name);
	n->object = strdup(t->object);
	if (n->scope && n->name && n->object)
		return n;
	free_entry(w, n);
	return NULL;
}

static struct entry *find_process(const struct device *d, const char *name)
{
	const struct alert_thing like = {
		.kind = ALERT_PROCESS, .scope = "", .name = name, .object = ""
	};

	return hashtable_get(&d->entries, hash_thing(&like), is_entry, &like);
}

/* A function that a process never had before has been nothing for as long as the process was watched; of a process that is new
 * itself nothing is known. */
static void assume_past(const struct device *d, struct entry *n)
{
	const struct entry *process = n->kind == ALERT_FUNCTION ? find_process(d, n->scope) : NULL;

	if (!process)
		return;
	n->series.n = process->series.n;
	n->series.at = process->series.at;
	n->part.n = process->part.n;
	n->part.at = process->part.at;
}

/* NULL in *ret: it is not worth a series. */
static int find_entry(struct alert_watch *w, struct device *d, const struct alert_thing *t,
		      struct entry **ret)
{
	uint64_t hash = hash_thing(t);
	int r;

	*ret = hashtable_get(&d->entries, hash, is_entry, t);
	/* A short wait is worth it, too: without it nobody would know that a long one is news. */
	if (*ret || (t->value < WORTH && t->kind != ALERT_WAIT) ||
	    w->counters.series >= ALERT_SERIES_MAX)
		return 0;
	*ret = new_entry(w, t);
	if (!*ret)
		return -ENOMEM;
	r = hashtable_add(&d->entries, hash, *ret);
	if (r < 0) {
		free_entry(w, *ret);
		*ret = NULL;
		return r;
	}
	assume_past(d, *ret);
	return 0;
}

/* --- a minute --- */

struct minute {
	struct alert_watch *w;
	struct device *d;
	const struct fact_set *set;
	bool is_past;
};

static void describe(const struct minute *m, const struct entry *n, struct alert *a)
{
	const struct alert_thing *t = &n->thing;
	const struct alert_build *b =
		alert_builds_fresh(&m->d->builds, n->object, m->set->key.start_s);

	*a = (struct alert){ .device = m->d->id,
			     .kind = n->kind,
			     .told_s = m->set->key.start_s,
			     .since_s = m->set->key.start_s,
			     .usual = n->usual,
			     .value = t->value,
			     .peak = t->value,
			     .distance = n->verdict.distance };
	snprintf(a->scope, sizeof(a->scope), "%s", n->scope);
	snprintf(a->name, sizeof(a->name), "%s", n->name);
	snprintf(a->object, sizeof(a->object), "%s", n->object);
	snprintf(a->cause, sizeof(a->cause), "%s", t->cause ? t->cause : "");
	if (b)
		hex_format(b->id, b->len, a->build);
}

/* Usual at this time of the day? Asked only if it would be out. */
static void ask_hour(const struct minute *m, struct entry *n, const struct alert_limits *limits,
		     struct alert_point *p)
{
	struct alert like;

	if (!m->w->o.same_hour || m->is_past || m->set->key.kind == FACT_CYCLES ||
	    n->series.state == ALERT_OUT || !alert_series_peek(&n->series, p, limits))
		return;
	describe(m, n, &like);
	p->has_hour = m->w->o.same_hour(m->w->o.context, &like, m->set->key.start_s, &p->hour) >=
		      ALERT_SAME_HOURS;
}

/* What it takes for each second of the rest of its process: twice as slow, it is twice as much, whereas its part of the process grows
 * the less the larger it is. The rest has a sample more than it has, so it is never nothing. */
static void weigh(const struct alert_thing *t, struct alert_point *ret)
{
	double own = t->of_scope < 1 ? t->of_scope : 1, all, rest;

	*ret = (struct alert_point){ .value = 0 };
	if (!t->samples || own <= 0)
		return;
	all = (double)t->samples / own;
	rest = 1 - own + 1 / all;
	ret->value = own / rest;
	ret->noise = ret->value * sqrt(1 / (double)t->samples + 1 / (all * rest));
}

/* A function that takes more beside the others of its process, and more of the machine, has got slower; one that takes more with all
 * the others has more to do. */
static void judge_function(struct entry *n, const struct alert_thing *t,
			   const struct alert_limits *limits)
{
	struct alert_point p;
	double above = t->value - n->usual;

	n->verdict = (struct alert_verdict){ .before = (enum alert_state)n->part.state,
					     .now = (enum alert_state)n->part.state };
	n->has_grown = false;
	if (!n->is_telling)
		return;
	weigh(t, &p);
	alert_series_put(&n->part, &p, limits, &n->verdict);
	n->has_grown = above >= GROWN * n->usual && above >= limits->least_amount;
}

/* How much more is worth a word. */
static void set_least(const struct minute *m, const struct entry *n, struct alert_limits *limits)
{
	const double minute_ns = 1e9 * FACT_MINUTE_S;
	double covered_ns = (double)m->set->covered_ns, least;

	if (n->kind != ALERT_PROCESS && n->kind != ALERT_TASK)
		return;
	least = covered_ns > minute_ns ? WORTH_OF_CPU * minute_ns / covered_ns : WORTH_OF_CPU;
	/* What comes and goes, as jobs do, is no less usual for that. */
	if (n->usual < WORTH / 2 && least < JOB)
		least = JOB;
	limits->least_amount = least > limits->least_amount ? least : limits->least_amount;
	if (n->kind == ALERT_TASK)
		limits->least_past = ALERT_PAST;
}

static void judge(const struct minute *m, struct entry *n, const struct alert_thing *t)
{
	struct alert_limits limits = n->kind == ALERT_WAIT ? wait_limits : m->w->o.limits;
	struct alert_point p = { .value = t->value, .noise = t->noise };

	set_least(m, n, &limits);
	if (n->kind == ALERT_FUNCTION &&
	    alert_builds_fresh(&m->d->builds, n->object, m->set->key.start_s))
		limits = fresh_limits;
	n->thing = *t;
	n->seen_s = m->set->key.start_s;
	ask_hour(m, n, &limits, &p);
	alert_series_put(&n->series, &p, &limits, &n->verdict);
	n->usual = n->verdict.usual;
	if (n->kind == ALERT_FUNCTION)
		judge_function(n, t, &limits);
}

/* Whether its samples tell how its functions lie to each other; minutes that do are counted, for functions that it never had before. */
static void weigh_process(struct entry *n, const struct alert_thing *t)
{
	const struct alert_point p = { .value = 0 };
	struct alert_verdict ignored;

	n->is_telling = t->samples >= TELLING;
	if (n->is_telling)
		alert_series_put(&n->part, &p, &alert_limits_default, &ignored);
}

/* What is not there this minute had nothing of it. */
static void judge_absent(const struct minute *m, struct entry *n)
{
	static const struct alert_thing nothing = { .of_scope = 0 };

	if (n->kind != ALERT_WAIT)
		judge(m, n, &nothing);
}

static bool is_kind_of(uint8_t kind, uint8_t facts)
{
	if (fact_kind_is_profile(facts))
		return kind == ALERT_PROCESS || kind == ALERT_FUNCTION;
	if (facts == FACT_VM)
		return kind == ALERT_STEAL || kind == ALERT_VMM || kind == ALERT_GUEST;
	return kind == ALERT_TASK || kind == ALERT_WAIT;
}

/* --- what is said --- */

static int tell(const struct minute *m, struct entry *n, const char *cause)
{
	n->alert = malloc(sizeof(*n->alert));
	if (!n->alert)
		return -ENOMEM;
	describe(m, n, n->alert);
	if (cause)
		snprintf(n->alert->cause, sizeof(n->alert->cause), "%s", cause);
	if (n->kind == ALERT_TASK)
		n->alert->since_s -= (uint64_t)(n->series.out - 1) * FACT_MINUTE_S;
	else if (n->verdict.before == ALERT_SUSPECT)
		n->alert->since_s -= FACT_MINUTE_S;
	n->alert->number = ++m->w->counters.told;
	m->w->counters.open++;
	if (m->w->o.tell)
		m->w->o.tell(m->w->o.context, n->alert);
	return 0;
}

static void end_alert(struct alert_watch *w, struct entry *n, enum alert_end end, uint64_t until_s)
{
	n->alert->until_s = until_s;
	n->alert->end = (uint8_t)end;
	if (w->o.tell)
		w->o.tell(w->o.context, n->alert);
	free(take_ptr(n->alert));
	w->counters.open--;
}

static void go_on(const struct minute *m, struct entry *n)
{
	struct alert *a = n->alert;

	a->value = n->thing.value;
	a->peak = a->value > a->peak ? a->value : a->peak;
	if (n->verdict.now != ALERT_OUT)
		end_alert(m->w, n, n->verdict.has_settled ? ALERT_USUAL : ALERT_IN_LINE,
			  m->set->key.start_s);
}

/* Functions of the same object that are gone took as much: they have other names now, or names at last. */
static bool is_renamed(const struct device *d, const struct entry *n)
{
	const struct entry *other;
	size_t at = 0;
	double gone = 0;

	if (n->usual > GONE * n->thing.value)
		return false;
	while ((other = hashtable_next(&d->entries, &at)))
		if (other->kind == ALERT_FUNCTION && other->thing.value <= GONE * other->usual &&
		    !strcmp(other->scope, n->scope) && !strcmp(other->object, n->object))
			gone += other->usual - other->thing.value;
	return gone >= n->thing.value / 2;
}

/* A task is told when it has lasted, once. */
static bool is_lasting(struct entry *n)
{
	bool is_now = !n->is_said && n->series.out >= TASK_LASTS && n->verdict.is_out;

	n->is_said = n->is_said || is_now;
	return is_now;
}

static bool is_news(const struct device *d, struct entry *n)
{
	n->is_said = n->is_said && n->verdict.now == ALERT_OUT;
	if (n->alert || n->verdict.now != ALERT_OUT)
		return false;
	if (n->kind == ALERT_TASK)
		return is_lasting(n);
	if (n->kind != ALERT_FUNCTION)
		return n->verdict.before != ALERT_OUT;
	if (!n->has_grown || !is_renamed(d, n))
		return n->has_grown;
	alert_series_restart(&n->series);
	alert_series_restart(&n->part);
	return false;
}

/* The function of a process that grew most. */
static const struct entry *find_culprit(const struct device *d, const char *process)
{
	const struct entry *n, *best = NULL;
	size_t at = 0;

	while ((n = hashtable_next(&d->entries, &at)))
		if (n->kind == ALERT_FUNCTION && !strcmp(n->scope, process) &&
		    (!best || n->thing.value - n->usual > best->thing.value - best->usual))
			best = n;
	return best;
}

static bool is_explained(const struct device *d, const char *process)
{
	const struct entry *n;
	size_t at = 0;

	while ((n = hashtable_next(&d->entries, &at)))
		if (n->kind == ALERT_FUNCTION && n->alert && !strcmp(n->scope, process))
			return true;
	return false;
}

static int tell_process(const struct minute *m, struct entry *n)
{
	const struct entry *by;

	if (is_explained(m->d, n->name))
		return 0;
	by = find_culprit(m->d, n->name);
	return tell(m, n, by ? by->name : NULL);
}

/* Functions first: they may be why their process is out. */
static int tell_all(const struct minute *m)
{
	struct entry *n;
	size_t at = 0;
	int r = 0;

	while (r >= 0 && (n = hashtable_next(&m->d->entries, &at))) {
		if (!is_kind_of(n->kind, m->set->key.kind))
			continue;
		if (n->alert)
			go_on(m, n);
		if (n->kind != ALERT_PROCESS && is_news(m->d, n))
			r = tell(m, n, NULL);
	}
	for (at = 0; r >= 0 && (n = hashtable_next(&m->d->entries, &at));)
		if (n->kind == ALERT_PROCESS && fact_kind_is_profile(m->set->key.kind) &&
		    is_news(m->d, n))
			r = tell_process(m, n);
	return r;
}

static void forget(const struct minute *m)
{
	uint64_t now_s = m->set->key.start_s;
	struct entry *n;
	size_t at = 0;
	struct alert_thing like;

	while ((n = hashtable_next(&m->d->entries, &at))) {
		if (!is_kind_of(n->kind, m->set->key.kind) || n->alert ||
		    (n->kind != ALERT_WAIT && n->series.peak >= WORTH / 2))
			continue;
		like = (struct alert_thing){
			.kind = n->kind, .scope = n->scope, .name = n->name, .object = n->object
		};
		if (now_s - n->seen_s < (uint64_t)STALE_MINUTES * FACT_MINUTE_S)
			continue;
		hashtable_remove(&m->d->entries, hash_thing(&like), n);
		free_entry(m->w, n);
		at = 0;
	}
}

/* Of things of this minute: the process that a function is in was judged before it. */
static bool has_telling_process(const struct minute *m, const struct entry *n)
{
	const struct entry *process = find_process(m->d, n->scope);

	return process && process->seen_s == m->set->key.start_s && process->is_telling;
}

static int judge_things(const struct minute *m, const struct alert_view *v, bool functions)
{
	struct entry *n;
	size_t i;
	int r;

	for (i = 0; i < v->n; i++) {
		if ((v->things[i]->kind == ALERT_FUNCTION) != functions)
			continue;
		r = find_entry(m->w, m->d, v->things[i], &n);
		if (r < 0)
			return r;
		if (!n)
			continue;
		if (n->kind == ALERT_PROCESS)
			weigh_process(n, v->things[i]);
		else if (n->kind == ALERT_FUNCTION)
			n->is_telling = has_telling_process(m, n);
		judge(m, n, v->things[i]);
	}
	return 0;
}

static int judge_all(const struct minute *m, const struct alert_view *v)
{
	uint64_t now_s = m->set->key.start_s, seen_s;
	struct entry *n;
	size_t at = 0;
	int r = judge_things(m, v, false);

	if (r >= 0)
		r = judge_things(m, v, true);
	while (r >= 0 && (n = hashtable_next(&m->d->entries, &at))) {
		if (!is_kind_of(n->kind, m->set->key.kind) || n->seen_s == now_s)
			continue;
		seen_s = n->seen_s;
		n->is_telling = n->kind == ALERT_FUNCTION && has_telling_process(m, n);
		judge_absent(m, n);
		n->seen_s = seen_s;
	}
	return r;
}

/* A break in the recording. */
static void skip(struct device *d, uint8_t kind)
{
	struct entry *n;
	size_t at = 0;

	while ((n = hashtable_next(&d->entries, &at)))
		if (is_kind_of(n->kind, kind)) {
			alert_series_skip(&n->series);
			alert_series_skip(&n->part);
		}
}

int alert_watch_put(struct alert_watch *w, const struct fact_set *s, bool is_past)
{
	struct minute m = { .w = w, .set = s, .is_past = is_past };
	CLEANUP_ALERT_VIEW struct alert_view v = { 0 };
	uint64_t *last_s;
	int r;

	m.d = find_device(w, &s->key.device);
	if (!m.d)
		return -ENOMEM;
	last_s = &m.d->last_s[fact_kind_is_profile(s->key.kind) ? FACT_PROFILE : s->key.kind];
	if (s->key.start_s <= *last_s)
		return 0;
	if (*last_s && s->key.start_s - *last_s > (uint64_t)GAP_MINUTES * FACT_MINUTE_S)
		skip(m.d, s->key.kind);
	*last_s = s->key.start_s;
	w->counters.minutes++;
	r = alert_builds_put(&m.d->builds, s);
	if (r >= 0)
		r = alert_view_init(&v, s);
	if (r >= 0)
		r = judge_all(&m, &v);
	if (r >= 0 && !is_past)
		r = tell_all(&m);
	forget(&m);
	return r;
}

static void end_silent(struct alert_watch *w, struct device *d, uint8_t kind)
{
	struct entry *n;
	size_t at = 0;

	while ((n = hashtable_next(&d->entries, &at)))
		if (n->alert && is_kind_of(n->kind, kind)) {
			end_alert(w, n, ALERT_SILENT, d->last_s[kind] + FACT_MINUTE_S);
			alert_series_end(&n->series);
			alert_series_end(&n->part);
		}
}

void alert_watch_expire(struct alert_watch *w, uint64_t now_s)
{
	struct device *d;
	size_t at = 0;
	uint8_t kind;

	while (w->counters.open && (d = hashtable_next(&w->devices, &at)))
		for (kind = 0; kind < FACT_KINDS; kind++)
			if (d->last_s[kind] && d->last_s[kind] + (uint64_t)SILENT_S <= now_s)
				end_silent(w, d, kind);
}

void alert_watch_count(const struct alert_watch *w, struct alert_watch_counters *ret)
{
	*ret = w->counters;
}
