/* SPDX-License-Identifier: MIT */
/* profile_out: see profile_out.h. */
#include "device/profile/profile_out.h"

#include <errno.h>
#include <stdio.h>

#include "command/value.h"

static int put(struct block_out *out, const struct block *b, uint8_t *payload, bool must)
{
	struct profile_out *o = (struct profile_out *)out;
	int into_file = -ENOSPC, into_link = -ENOSPC;

	if (o->o.path)
		into_file = o->file.out.put(&o->file.out, b, payload, must);
	if (o->link)
		into_link = profile_link_put(o->link, b, payload, must);
	if (into_file < 0 && into_link < 0)
		return o->link ? into_link : into_file;
	if (o->link)
		profile_link_count(o->link, b);
	out->bytes = o->o.path ? o->file.out.bytes : profile_link_bytes(o->link);
	return 0;
}

int profile_out_load(struct profile_out_options *o, const struct args *a, const char *path,
		     struct error *e)
{
	const char *collector = args_get(a, "collector"), *spool = args_get(a, "spool");
	const char *rate = args_get(a, "objects-rate");
	struct profile_link_options *l = &o->link;

	o->path = args_get(a, "output");
	if (!o->path && !collector)
		o->path = path;
	l->collector = collector;
	l->name = args_get(a, "name") ? args_get(a, "name") : "";
	l->state_dir = args_get(a, "state-dir") ? args_get(a, "state-dir") : PROFILE_LINK_STATE_DIR;
	l->spool_bytes = PROFILE_LINK_SPOOL;
	if (!collector && (spool || rate || args_has(a, "state-dir")))
		return error_set(e, EINVAL, "cannot use --%s without --collector",
				 spool	? "spool"
				 : rate ? "objects-rate"
					: "state-dir");
	l->objects_rate = PROFILE_LINK_OBJECTS_RATE;
	l->objects_anywhere = rate != NULL;
	if (rate && value_size(&l->objects_rate, rate, 1024) < 0)
		return error_set(e, EINVAL, "cannot use --objects-rate %s: bytes in a second, or 0",
				 rate);
	if (spool &&
	    (value_size(&l->spool_bytes, spool, 1024) < 0 ||
	     l->spool_bytes < PROFILE_LINK_SPOOL_LEAST || l->spool_bytes > PROFILE_LINK_SPOOL_MOST))
		return error_set(e, EINVAL, "cannot use --spool %s: 512K to 1G is possible", spool);
	return 0;
}

int profile_out_open(struct profile_out *o, const struct profile_out_options *options,
		     struct error *e)
{
	int r = 0;

	o->o = *options;
	o->out = (struct block_out){ .put = put,
				     .cause = options->link.collector ? LOSS_SPOOL : LOSS_STORE };
	if (options->link.collector)
		r = profile_link_new(&o->link, &options->link, e);
	if (r >= 0 && options->path)
		r = profile_file_open(&o->file, options->path, e);
	return r;
}

struct pollfd profile_out_get_poll(struct profile_out *o)
{
	struct pollfd none = { .fd = -1 };

	return o->link ? profile_link_get_poll(o->link) : none;
}

struct told_objects *profile_out_get_told(struct profile_out *o)
{
	return o->link ? profile_link_get_told(o->link) : NULL;
}

void profile_out_turn(struct profile_out *o)
{
	if (o->link)
		profile_link_turn(o->link);
}

bool profile_out_is_over(const struct profile_out *o)
{
	return !o->link && profile_file_check(&o->file, NULL) < 0;
}

void profile_out_begin_end(struct profile_out *o)
{
	if (o->link)
		profile_link_begin_end(o->link);
}

static int finish_file(struct profile_out *o, struct error *e)
{
	int r = profile_file_check(&o->file, e);

	/* What could be written is a whole file, also where the rest could not. */
	return r < 0 ? (profile_file_finish(&o->file, NULL), r) : profile_file_finish(&o->file, e);
}

int profile_out_finish(struct profile_out *o, struct profile_child *signals, struct error *e)
{
	struct error later = ERROR_INIT;
	int r = o->o.path ? finish_file(o, e) : 0, sent = 0;

	if (o->link)
		sent = profile_link_end(o->link, r < 0 ? &later : e);
	if (o->link && sent == 0)
		sent = profile_link_drain(o->link, signals, r < 0 ? &later : e);
	return r < 0 ? r : sent;
}

void profile_out_close(struct profile_out *o)
{
	profile_link_free(o->link);
	o->link = NULL;
	profile_file_close(&o->file);
}

uint64_t profile_out_bytes(const struct profile_out *o)
{
	return o->o.path ? o->file.len : o->out.bytes;
}

const char *profile_out_format_place(const struct profile_out *o, char *text, size_t room)
{
	snprintf(text, room, "%s%s%s%s%s", o->o.path ? "in " : "", o->o.path ? o->o.path : "",
		 o->o.path && o->link ? " and " : "", o->link ? "at " : "",
		 o->link ? o->o.link.collector : "");
	return text;
}
