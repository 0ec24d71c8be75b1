/* SPDX-License-Identifier: MIT */
/* live: see live.h. */
#include "cli/live.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/device_json.h"
#include "cli/sse.h"

#define AGAIN_FIRST_MS 250U
#define AGAIN_MOST_MS 8000U
#define SILENCE_MS 35000U /* a collector says something every ten seconds */

struct follower {
	const struct live *live;
	struct sse sse;
	struct live_item *item;
	uint64_t heard_ms; /* when the last bytes came, or it was asked for them */
	bool is_heard;	   /* something came on this connection */
	bool is_away;	   /* the caller was told that it is lost */
	bool is_over;	   /* a callback wants no more */
};

static int take_item(struct follower *f, const char *line, size_t len, struct error *e)
{
	const struct live_ops *ops = f->live->ops;
	json_error_t why;
	json_t *o;
	int r;

	if (ops->line) {
		r = ops->line(f->live->context, line, len, e);
		if (r)
			return r;
	}
	if (!ops->item)
		return 0;
	o = json_loadb(line, len, 0, &why);
	if (!o)
		return error_set(e, EBADMSG, "cannot read a live event: %s", why.text);
	r = live_item_parse(f->item, o, e);
	json_decref(o);
	if (r == 0)
		return ops->item(f->live->context, f->item, e);
	return r < 0 ? r : 0;
}

static int take_items(struct follower *f, const char *data, struct error *e)
{
	const char *end;
	int r = 0;

	for (; r == 0 && *data; data = *end ? end + 1 : end) {
		end = strchrnul(data, '\n');
		if (end > data)
			r = take_item(f, data, (size_t)(end - data), e);
	}
	return r;
}

static int take_object(struct follower *f, const char *name, const char *data, struct error *e)
{
	const struct live_ops *ops = f->live->ops;
	void *context = f->live->context;
	json_t *o = json_loads(data, 0, NULL);
	int r = 0;

	if (!o)
		return error_set(e, EBADMSG, "cannot read a live %s: it is not JSON", name);
	if (!strcmp(name, "state") && ops->state)
		r = ops->state(context, o, e);
	else if (!strcmp(name, "run") && ops->run)
		r = ops->run(context, device_json_count(o, "run"), e);
	else if (!strcmp(name, "left_out") && ops->left_out)
		r = ops->left_out(context, device_json_count(o, "items"), e);
	json_decref(o);
	return r;
}

static int handle(void *context, const char *name, const char *data, size_t len, struct error *e)
{
	struct follower *f = context;

	(void)len;
	if (!strcmp(name, "events"))
		return take_items(f, data, e);
	if (!strcmp(name, "state") || !strcmp(name, "run") || !strcmp(name, "left_out"))
		return take_object(f, name, data, e);
	return 0; /* of a later version */
}

static int take(void *context, const char *bytes, size_t len, struct error *e)
{
	struct follower *f = context;
	int r;

	f->heard_ms = clock_mono_ms();
	f->is_heard = true;
	if (f->is_away)
		f->live->lost(f->live->context, NULL);
	f->is_away = false;
	r = sse_push(&f->sse, bytes, len, e);
	f->is_over = r != 0;
	return r;
}

static int turn(void *context, struct error *e)
{
	struct follower *f = context;
	int r = f->live->ops->turn ? f->live->ops->turn(f->live->context, e) : 0;

	f->is_over = r != 0;
	if (!r && clock_mono_ms() - f->heard_ms > SILENCE_MS)
		r = error_set(e, ETIMEDOUT, "cannot follow on: the collector is silent");
	return r;
}

/* One connection. Never 0. */
static int follow_once(struct follower *f, struct client *c, const struct url *u, struct error *e)
{
	struct client_watch w = { .context = f,
				  .take = take,
				  .turn = turn,
				  .n_fds = f->live->n_fds,
				  .turn_ms = f->live->turn_ms };
	int r;

	memcpy(w.fds, f->live->fds, sizeof(w.fds));
	f->heard_ms = clock_mono_ms();
	f->is_heard = false;
	sse_init(&f->sse, handle, f);
	r = client_stream(c, u, &w, e);
	sse_done(&f->sse);
	return r ? r
		 : error_set(e, ECONNRESET, "cannot follow on: %s closed the connection",
			     client_server(c));
}

/* 0 after this time, or what a turn returned. */
static int wait_again(struct follower *f, uint64_t ms, struct error *e)
{
	const struct live *l = f->live;
	uint64_t now = clock_mono_ms(), end = now + ms;
	struct pollfd fds[CLIENT_FDS_MAX];
	unsigned int i;
	int r = 0;

	for (i = 0; i < l->n_fds; i++)
		fds[i] = (struct pollfd){ .fd = l->fds[i], .events = POLLIN };
	for (; r == 0 && now < end; now = clock_mono_ms()) {
		ms = end - now;
		poll(fds, l->n_fds, (int)(ms < (uint64_t)l->turn_ms ? ms : (uint64_t)l->turn_ms));
		f->heard_ms = now;
		r = turn(f, e);
	}
	return r;
}

/* Could it be another time? What a collector refuses with words of its own it will refuse again,
 * except when it is about to end or has too much to do. */
static bool may_come_back(int r)
{
	return r == -ECONNRESET || r == -ECONNREFUSED || r == -ETIMEDOUT || r == -EHOSTUNREACH ||
	       r == -EBUSY;
}

int live_follow(struct client *c, const char *device, const struct live *l, struct error *e)
{
	_cleanup_free_ struct live_item *item = malloc(sizeof(*item));
	struct follower f = { .live = l, .item = item };
	uint64_t wait_ms = AGAIN_FIRST_MS;
	bool began = false;
	char rate[24];
	struct url u;
	int r = 0;

	if (!item)
		return error_set(e, ENOMEM, "cannot follow: out of memory");
	snprintf(rate, sizeof(rate), "%" PRIu64, l->rate);
	url_init(&u, "/api/v1/devices");
	url_push(&u, device);
	url_push(&u, "live");
	url_push_param(&u, "rate", l->rate ? rate : NULL);
	while (r == 0) {
		r = follow_once(&f, c, &u, e);
		began |= f.is_heard;
		if (f.is_over || !began || !l->lost || !may_come_back(r))
			return r;
		if (!f.is_away)
			l->lost(l->context, e->text);
		f.is_away = true;
		wait_ms = f.is_heard ? AGAIN_FIRST_MS : 2 * wait_ms;
		wait_ms = wait_ms < AGAIN_MOST_MS ? wait_ms : AGAIN_MOST_MS;
		r = wait_again(&f, wait_ms, e);
	}
	return r;
}
