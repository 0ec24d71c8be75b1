/* SPDX-License-Identifier: MIT */
/*
 * http_live: GET /live and /devices/{device}/live: server-sent events.
 *
 *	state     a device's row, as GET /devices/{device} has it: all at first, then those that changed
 *	instructions {"changes": 3}: what GET /instructions says has changed; of all devices only
 *	run       {"run": 7}: the events that follow are of this run
 *	events    items, one JSON object per data line, as in the ndjson export
 *	left_out  {"items": 120}: so many more came than the rate allows
 *
 * The connection's thread sleeps in store_wait() and is woken by each commit, so an event is on its
 * way to the browser as soon as it is durable. A comment is sent when nothing else was for a while:
 * otherwise nobody would notice that the other side has gone.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analysis/json_whole.h"
#include "base/clock.h"
#include "base/memfile.h"
#include "collector/http_device.h"
#include "collector/http_follow.h"
#include "collector/http_states.h"

#define BEAT_MS 10000U
#define STATE_MS 1000U	   /* counters change all the time: not more often than this */
#define LOOK_MS 200U	   /* whether a device's state has changed */
#define RATE_DEFAULT 1000U /* items a second */
#define RATE_MOST 100000U
#define TEXT_MOST (32U * 1024) /* of states, at once: who reads slowly holds no more */

struct seen {
	struct message_id id;
	uint64_t all, important; /* sums of what was sent */
	uint64_t sent_ms;
};

struct live {
	struct http_body body;
	struct http *http;
	struct http_request *q;
	bool has_device;
	char name[ID_TEXT_LEN]; /* its id */
	struct http_follow *follow;
	uint64_t version; /* of the store's commits */
	uint64_t changes; /* of instructions that were told, and one */
	uint64_t look_ms, beat_ms;
	struct seen *seen; /* by id */
	size_t n_seen, room_seen;
	bool is_within; /* some devices of this look are still to come, behind this one: */
	struct message_id after;
	char *text; /* to be sent */
	size_t at, len;
};

/* --- states --- */

/* Where the device is among those that were seen, or would be. */
static size_t find_seen(const struct live *l, const struct message_id *id)
{
	size_t lo = 0, hi = l->n_seen, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (memcmp(&l->seen[mid].id, id, sizeof(*id)) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct seen *get_seen(struct live *l, const struct message_id *id)
{
	size_t at = find_seen(l, id), room = l->room_seen ? 2 * l->room_seen : 16;
	struct seen *grown;

	if (at < l->n_seen && !memcmp(&l->seen[at].id, id, sizeof(*id)))
		return &l->seen[at];
	if (l->n_seen == l->room_seen) {
		grown = realloc(l->seen, room * sizeof(*grown));
		if (!grown)
			return NULL;
		l->seen = grown;
		l->room_seen = room;
	}
	memmove(&l->seen[at + 1], &l->seen[at], (l->n_seen - at) * sizeof(*l->seen));
	l->seen[at] = (struct seen){ .id = *id };
	l->n_seen++;
	return &l->seen[at];
}

static void put_state(struct live *l, const struct http_state *state, FILE *out)
{
	struct seen *s = get_seen(l, &state->id);
	uint64_t now = clock_mono_ms();

	if (!s || (s->important == state->important && now - s->sent_ms < STATE_MS))
		return;
	if (state->all != s->all || s->important != state->important)
		fprintf(out, "event: state\ndata: %s\n\n", state->text);
	s->all = state->all;
	s->important = state->important;
	s->sent_ms = now;
}

struct taking {
	struct live *live;
	FILE *out;
};

static bool take_state(void *context, const struct http_state *state)
{
	struct taking *t = context;

	t->live->is_within = ftell(t->out) >= (long)TEXT_MOST;
	if (t->live->is_within)
		return false;
	put_state(t->live, state, t->out);
	t->live->after = state->id;
	return true;
}

/* Those that changed, by their ids; a part of them, if they are many (is_within). */
static int put_all_states(struct live *l, FILE *out, struct error *e)
{
	const struct message_id after = l->after;
	struct taking t = { .live = l, .out = out };
	bool was_within = l->is_within;

	l->is_within = false;
	return http_states_each(l->http->states, was_within ? &after : NULL, take_state, &t, e);
}

static int put_states(struct live *l, FILE *out, struct error *e)
{
	struct http_state state = { 0 };
	struct registry_row row;
	int r;

	if (!l->has_device)
		return put_all_states(l, out, e);
	r = http_device_find(l->http, l->name, &row, e);
	if (r < 0)
		return r;
	state.text = json_whole_text(http_device_json(&row), JSON_COMPACT);
	if (!state.text)
		return 0;
	state.id = row.device.id;
	state.important = http_state_sum_important(&row);
	state.all = http_state_sum_text(state.text);
	put_state(l, &state, out);
	free(state.text);
	return 0;
}

/* Once at first, too: who lost the stream does not know what happened meanwhile. */
static void put_changes(struct live *l, FILE *out)
{
	struct registry *registry = l->http->options.registry;
	uint64_t changes = registry ? fleet_get_changes(registry_get_fleet(registry)) : 0;

	if (!registry || l->changes == changes + 1)
		return;
	l->changes = changes + 1;
	fprintf(out, "event: instructions\ndata: {\"changes\": %" PRIu64 "}\n\n", changes);
}

/* --- the stream --- */

static int write_messages(struct live *l, FILE *out, struct error *e)
{
	uint64_t now = clock_mono_ms();
	int r = 0, more = 0;

	if (l->is_within || now >= l->look_ms) {
		if (!l->is_within)
			l->look_ms = now + (l->has_device ? LOOK_MS : STATE_MS);
		r = put_states(l, out, e);
	}
	if (r >= 0 && !l->has_device)
		put_changes(l, out);
	if (r >= 0 && l->follow)
		more = http_follow_next(l->follow, out, e);
	if (r < 0 || more < 0)
		return r < 0 ? r : more;
	if (ftell(out) > 0)
		l->beat_ms = now + BEAT_MS;
	if (now >= l->beat_ms) {
		l->beat_ms = now + BEAT_MS;
		fputs(": still here\n\n", out);
	}
	return more;
}

/* Makes the next text. 1: there may be more at once. */
static int make_text(struct live *l)
{
	struct error e = ERROR_INIT;
	FILE *out;
	int r;

	free(take_ptr(l->text));
	l->at = l->len = 0;
	out = memfile_open(&l->text, &l->len);
	if (!out)
		return -ENOMEM;
	r = write_messages(l, out, &e);
	if (fclose(out))
		return -ENOMEM;
	if (r < 0)
		http_log(l->http, "http: a live view broke off: %s", e.text);
	return r;
}

static ssize_t live_read(struct http_body *b, char *out, size_t room)
{
	struct live *l = (struct live *)b;
	size_t n;
	int r;

	while (l->at == l->len) {
		if (http_request_is_over(l->q))
			return 0;
		r = make_text(l);
		if (r < 0)
			return r;
		if (!r && !l->len)
			store_wait(l->http->options.store, &l->version, HTTP_STOP_MS);
	}
	n = l->len - l->at < room ? l->len - l->at : room;
	memcpy(out, l->text + l->at, n);
	l->at += n;
	return (ssize_t)n;
}

static void live_free(struct http_body *b)
{
	struct live *l = (struct live *)b;

	atomic_fetch_sub(&l->http->live, 1);
	http_follow_free(l->follow);
	free(l->seen);
	free(l->text);
	free(l);
}

static const struct http_body_ops live_ops = {
	.read = live_read,
	.free = live_free,
};

static int new_live(struct http_request *q, struct live **ret, struct error *e)
{
	struct live *l;

	if (atomic_fetch_add(&q->http->live, 1) >= HTTP_LIVE_MAX) {
		atomic_fetch_sub(&q->http->live, 1);
		return error_set(e, EBUSY, "%u clients follow already; try again later",
				 HTTP_LIVE_MAX);
	}
	l = calloc(1, sizeof(*l));
	if (!l) {
		atomic_fetch_sub(&q->http->live, 1);
		return error_set(e, ENOMEM, "cannot follow: out of memory");
	}
	l->body.ops = &live_ops;
	l->http = q->http;
	l->q = q;
	l->beat_ms = clock_mono_ms() + BEAT_MS;
	*ret = l;
	return 0;
}

int http_live(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct live *l = NULL;
	int r = new_live(q, &l, e);

	if (r < 0)
		return r;
	reply->type = "text/event-stream";
	reply->body = &l->body;
	return 0;
}

int http_device_live(struct http_request *q, struct http_reply *reply, struct error *e)
{
	uint64_t rate = RATE_DEFAULT;
	struct registry_row row;
	struct live *l = NULL;
	int r = http_device_find(q->http, q->captured[0], &row, e);

	if (r >= 0)
		r = http_target_get_count(&q->target, "rate", (struct http_bounds){ 0, RATE_MOST },
					  &rate, e);
	if (r >= 0)
		r = new_live(q, &l, e);
	if (r < 0)
		return r;
	l->has_device = true;
	http_id_format(&row.device.id, l->name);
	if (rate)
		r = http_follow_new(&l->follow, q->http, &row.device.id, (uint32_t)rate, e);
	if (r < 0) {
		live_free(&l->body);
		return r;
	}
	reply->type = "text/event-stream";
	reply->body = &l->body;
	return 0;
}
