/* SPDX-License-Identifier: MIT */
/* http_follow: see http_follow.h. */
#include "collector/http_follow.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "collector/event_text.h"
#include "collector/http_device.h"
#include "collector/http_range.h"
#include "convert/item_json.h"
#include "trace/run_source.h"

#define ITEMS_AT_ONCE 20000U	    /* decoded before the client is looked after */
#define BYTES_AT_ONCE (128U * 1024) /* of a message */
#define ITEM_ROOM (64U * 1024)	    /* fields_room() is below it for every item */

struct http_follow {
	struct http *http;
	char device[ID_TEXT_LEN]; /* its id */
	uint32_t rate;
	uint32_t run;	/* 0: none yet */
	uint32_t known; /* the highest number of a run that had events at the first look */
	bool looked;
	struct trace_source *source;
	struct event_names *names; /* of those who run, of the source */
	uint64_t budget;	   /* items that may be passed on, in thousandths */
	uint64_t filled_ms;
	uint64_t left_out;
	char item[ITEM_ROOM];
};

int http_follow_new(struct http_follow **ret, struct http *h, const struct message_id *device,
		    uint32_t rate, struct error *e)
{
	struct http_follow *f = calloc(1, sizeof(*f));

	if (!f)
		return error_set(e, ENOMEM, "cannot follow: out of memory");
	f->http = h;
	http_id_format(device, f->device);
	f->rate = rate;
	f->budget = (uint64_t)rate * 1000;
	f->filled_ms = clock_mono_ms();
	*ret = f;
	return 0;
}

void http_follow_free(struct http_follow *f)
{
	if (!f)
		return;
	source_free(f->source);
	event_names_free(f->names);
	free(f);
}

struct latest {
	struct registry_row row;
	struct store_run run; /* the number is 0: there is none */
	uint32_t highest;
};

/* One that has something of the scheduler: calls are no items, and a description alone may become either. */
static int take_latest(void *context, const struct store_run *r)
{
	struct latest *l = context;

	if (!r->cpus || !r->blocks)
		return 0;
	if (r->number > l->highest)
		l->highest = r->number;
	if (http_range_is_later(&l->row, r, &l->run))
		l->run = *r;
	return 0;
}

/* A run that began after the first look is followed from its start. Of any other only what comes from
 * now on is new: also when the device goes back to one that it has sent before. */
static uint64_t first_tick(const struct http_follow *f, const struct store_run *run)
{
	if (run->number > f->known)
		return 0;
	return run->last_tick ? run->last_tick + 1 : 0;
}

/* Opens the device's latest run if that is another than before. */
static int open_latest(struct http_follow *f, FILE *out, struct error *e)
{
	struct store_range range = { 0, UINT64_MAX };
	struct store *store = f->http->options.store;
	struct trace_source *source = NULL;
	struct latest l = { .highest = 0 };
	int r = http_device_find(f->http, f->device, &l.row, e);

	if (r >= 0)
		r = store_runs(store, &l.row.device.id, take_latest, &l, e);
	if (r < 0)
		return r;
	if (!f->looked)
		f->known = l.highest;
	f->looked = true;
	if (!l.run.number || l.run.number == f->run)
		return 0;
	range.from_tick = first_tick(f, &l.run);
	f->known = l.highest; /* and not told from its start a second time */
	r = source_run_open(&source, store, l.run.number, &range, e);
	if (r < 0)
		return r;
	source_free(f->source);
	event_names_free(f->names);
	f->source = source;
	f->names = event_names_new(&source->info);
	if (!f->names)
		return error_set(e, ENOMEM, "cannot follow: out of memory");
	source->info.has_comm = true;
	f->run = l.run.number;
	fprintf(out, "event: run\ndata: {\"run\":%" PRIu32 "}\n\n", f->run);
	return 1;
}

static void fill_budget(struct http_follow *f)
{
	uint64_t now = clock_mono_ms(), most = (uint64_t)f->rate * 1000;

	f->budget += (now - f->filled_ms) * f->rate;
	f->filled_ms = now;
	if (f->budget > most)
		f->budget = most;
}

/* 1: passed on; 0: left out. */
static int put_item(struct http_follow *f, struct trace_item *item, FILE *out, bool first)
{
	char *end;

	event_names_note(f->names, item);
	memcpy(item->comm, event_names_get(f->names, item), SCHED_COMM_LEN);
	item->comm_known = item->comm[0]; /* an empty one cannot be told from none */
	if (f->budget < 1000 || fields_room(item) > sizeof(f->item)) {
		f->left_out++;
		return 0;
	}
	f->budget -= 1000;
	end = item_put_json(f->item, item, &f->source->info);
	fputs(first ? "event: events\ndata: " : "data: ", out);
	fwrite(f->item, 1, (size_t)(end - f->item), out);
	fputc('\n', out);
	return 1;
}

/* Items of the run until its present end. 1: this was only a part. */
static int put_items(struct http_follow *f, FILE *out, struct error *e)
{
	long start = ftell(out);
	struct trace_item item;
	uint32_t n = 0, put = 0;
	int more = 1;

	while (n < ITEMS_AT_ONCE && ftell(out) - start < (long)BYTES_AT_ONCE) {
		more = f->source->ops->next(f->source, &item, e);
		if (more == 0)
			more = source_run_follow(f->source, e) > 0 ? 2 : 0;
		if (more <= 0)
			break;
		n++; /* also for a look that found nothing: the loop must end */
		if (more == 1)
			put += (uint32_t)put_item(f, &item, out, !put);
	}
	if (put)
		fputc('\n', out);
	return more > 0 ? 1 : more;
}

static void put_left_out(struct http_follow *f, FILE *out)
{
	if (f->left_out)
		fprintf(out, "event: left_out\ndata: {\"items\":%" PRIu64 "}\n\n", f->left_out);
	f->left_out = 0;
}

int http_follow_next(struct http_follow *f, FILE *out, struct error *e)
{
	int r = 0;

	fill_budget(f);
	if (f->source)
		r = put_items(f, out, e);
	if (r == 0)
		r = open_latest(f, out, e);
	if (r <= 0)
		put_left_out(f, out);
	return r;
}
