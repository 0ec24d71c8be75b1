/* SPDX-License-Identifier: MIT */
/* live: see live.h. */
#include "cli/live.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/device_json.h"
#include "cli/sse.h"

struct follower {
	const struct live *live;
	struct sse sse;
	struct live_item *item;
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

	return sse_push(&f->sse, bytes, len, e);
}

static int turn(void *context, struct error *e)
{
	struct follower *f = context;

	return f->live->ops->turn(f->live->context, e);
}

int live_follow(struct client *c, const char *device, const struct live *l, struct error *e)
{
	_cleanup_free_ struct live_item *item = malloc(sizeof(*item));
	struct follower f = { .live = l, .item = item };
	struct client_watch w = { .context = &f,
				  .take = take,
				  .turn = l->ops->turn ? turn : NULL,
				  .n_fds = l->n_fds,
				  .turn_ms = l->turn_ms };
	char rate[24];
	struct url u;
	int r;

	if (!item)
		return error_set(e, ENOMEM, "cannot follow: out of memory");
	memcpy(w.fds, l->fds, sizeof(w.fds));
	snprintf(rate, sizeof(rate), "%" PRIu64, l->rate);
	url_init(&u, "/api/v1/devices");
	url_push(&u, device);
	url_push(&u, "live");
	url_push_param(&u, "rate", l->rate ? rate : NULL);
	sse_init(&f.sse, handle, &f);
	r = client_stream(c, &u, &w, e);
	sse_done(&f.sse);
	return r ? r
		 : error_set(e, ECONNRESET, "cannot follow on: %s closed the connection",
			     client_server(c));
}
