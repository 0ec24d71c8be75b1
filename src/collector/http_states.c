/* SPDX-License-Identifier: MIT */
/* http_states: see http_states.h. */
#include "collector/http_states.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/json_whole.h"
#include "base/condition.h"
#include "collector/http_device.h"

#define OLD_MS 500U

struct http_states {
	struct http *http;
	pthread_mutex_t lock;
	pthread_cond_t wake, made;
	pthread_t maker;
	bool stop, wanted;
	uint64_t made_ms; /* 0: never */
	struct http_state *list;
	size_t n;
	struct error error; /* of the last time; its text is empty if it went well */
};

/* --- sums --- */

static uint64_t sum(uint64_t h, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (; len; len--)
		h = (h ^ *p++) * 0x100000001b3ULL;
	return h;
}

uint64_t http_state_sum_important(const struct registry_row *row)
{
	uint64_t parts[] = { row->online, row->state,	 row->desired,
			     row->run,	  row->func_run, row->session };

	return sum(1, parts, sizeof(parts));
}

uint64_t http_state_sum_text(const char *text)
{
	return sum(1, text, strlen(text));
}

/* --- the list --- */

static void free_list(struct http_state *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		free(list[i].text);
	free(list);
}

static int by_id(const void *a, const void *b)
{
	const struct http_state *x = a, *y = b;

	return memcmp(&x->id, &y->id, sizeof(x->id));
}

/* Devices of which there is no memory for a text are left out this time. */
static int make_list(struct http_states *s, struct http_state **ret, size_t *ret_n, struct error *e)
{
	_cleanup_free_ struct registry_row *rows = NULL;
	struct http_state *list, *at;
	size_t n = 0, i;
	int r = http_device_list(s->http, &rows, &n, e);

	if (r < 0)
		return r;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return error_set(e, ENOMEM, "cannot list the devices: out of memory");
	for (i = 0, at = list; i < n; i++) {
		at->text = json_whole_text(http_device_json(&rows[i]), JSON_COMPACT);
		if (!at->text)
			continue;
		at->id = rows[i].device.id;
		at->important = http_state_sum_important(&rows[i]);
		at->all = http_state_sum_text(at->text);
		at++;
	}
	*ret_n = (size_t)(at - list);
	*ret = list;
	qsort(list, *ret_n, sizeof(*list), by_id);
	return 0;
}

/* Runs without the lock; other threads read the previous list meanwhile. */
static void make(struct http_states *s)
{
	struct http_state *list = NULL, *old;
	struct error e = ERROR_INIT;
	size_t n = 0, old_n;

	pthread_mutex_unlock(&s->lock);
	if (make_list(s, &list, &n, &e) >= 0)
		e.text[0] = 0;
	pthread_mutex_lock(&s->lock);
	old = s->list;
	old_n = s->n;
	s->list = list;
	s->n = n;
	s->error = e;
	s->made_ms = clock_mono_ms();
	free_list(old, old_n);
}

static void *make_lists(void *context)
{
	struct http_states *s = context;

	pthread_setname_np(pthread_self(), "kiseki-states");
	pthread_mutex_lock(&s->lock);
	while (!s->stop) {
		if (!s->wanted) {
			pthread_cond_wait(&s->wake, &s->lock);
			continue;
		}
		make(s);
		s->wanted = false;
		pthread_cond_broadcast(&s->made);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* --- those who ask --- */

/* Under the lock. */
static void freshen(struct http_states *s)
{
	if (s->made_ms && clock_mono_ms() - s->made_ms < OLD_MS)
		return;
	s->wanted = true;
	pthread_cond_signal(&s->wake);
	while (s->wanted && !s->stop)
		pthread_cond_wait(&s->made, &s->lock);
}

static size_t find_behind(const struct http_states *s, const struct message_id *after)
{
	size_t lo = 0, hi = after ? s->n : 0, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (memcmp(&s->list[mid].id, after, sizeof(*after)) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int http_states_each(struct http_states *s, const struct message_id *after,
		     bool (*take)(void *context, const struct http_state *state), void *context,
		     struct error *e)
{
	size_t i;
	int r = 0;

	pthread_mutex_lock(&s->lock);
	freshen(s);
	if (s->error.text[0])
		r = error_set(e, EIO, "%s", s->error.text);
	for (i = r < 0 ? s->n : find_behind(s, after); i < s->n; i++)
		if (!take(context, &s->list[i]))
			break;
	pthread_mutex_unlock(&s->lock);
	return r;
}

/* --- start and stop --- */

int http_states_new(struct http_states **ret, struct http *h, struct error *e)
{
	struct http_states *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return error_set(e, ENOMEM, "cannot serve HTTP: out of memory");
	s->http = h;
	pthread_mutex_init(&s->lock, NULL);
	condition_init(&s->wake);
	condition_init(&s->made);
	r = pthread_create(&s->maker, NULL, make_lists, s);
	if (r) {
		pthread_cond_destroy(&s->made);
		pthread_cond_destroy(&s->wake);
		pthread_mutex_destroy(&s->lock);
		free(s);
		return error_set(e, r, "cannot serve HTTP: no thread for states of devices");
	}
	*ret = s;
	return 0;
}

void http_states_free(struct http_states *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_signal(&s->wake);
	pthread_cond_broadcast(&s->made);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->maker, NULL);
	free_list(s->list, s->n);
	pthread_cond_destroy(&s->made);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
