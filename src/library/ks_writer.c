/* SPDX-License-Identifier: MIT */
/* ks_writer: <kiseki/writer.h> by the sink of .ksk files (convert/sink_ksk.h). */
#include <errno.h>
#include <kiseki/writer.h>
#include <stdlib.h>
#include <string.h>

#include "convert/sink_ksk.h"
#include "library/ks_error.h"
#include "library/ks_item.h"
#include "library/ks_trace.h"

#define CLOCK_SHIFT_MAX 63U

struct ks_writer {
	struct trace_info info;
	struct trace_sink *sink;
};

static int set_text(char **field, const char *text)
{
	return text ? info_set(field, text, strlen(text)) : 0;
}

static int info_of(struct trace_info *i, const struct ks_description *d, struct error *e)
{
	if (!d->cpus || d->cpus > TRACE_CPUS_MAX || !d->clock_mult ||
	    d->clock_shift > CLOCK_SHIFT_MAX)
		return error_set(e, EINVAL,
				 "a description without CPUs, or with a clock that is none");
	if (set_text(&i->device, d->device) < 0 || set_text(&i->kernel, d->kernel) < 0 ||
	    set_text(&i->machine, d->machine) < 0 || set_text(&i->origin, d->origin) < 0)
		return error_set(e, ENOMEM, "out of memory");
	i->cpus = d->cpus;
	i->clock.mult = d->clock_mult;
	i->clock.shift = d->clock_shift;
	i->clock.base_ns = d->clock_base_ns;
	i->clock.has_realtime = d->has_realtime;
	i->clock.realtime_off_ns = d->realtime_off_ns;
	dialect_from_release(&i->dialect, i->kernel);
	return 0;
}

/* The info is complete. Takes the writer, also when it fails. */
static int begin(struct ks_writer **ret, struct ks_writer *w, const char *path, struct error *e)
{
	int r = sink_ksk_new(&w->sink, path, NULL, e);

	if (r == 0)
		r = w->sink->ops->begin(w->sink, &w->info, e);
	if (r < 0)
		ks_writer_close(w);
	else
		*ret = w;
	return r;
}

int ks_writer_open(struct ks_writer **ret, const char *path, const struct ks_description *d,
		   struct ks_error *e)
{
	struct ks_writer *w = calloc(1, sizeof(*w));
	struct error why = ERROR_INIT;
	int r;

	if (!w || info_init(&w->info) < 0) {
		free(w);
		return ks_error_fill(e, &why, error_set(&why, ENOMEM, "out of memory"));
	}
	r = info_of(&w->info, d, &why);
	if (r < 0)
		ks_writer_close(w);
	else
		r = begin(ret, w, path, &why);
	return ks_error_fill(e, &why, r);
}

int ks_writer_open_like(struct ks_writer **ret, const char *path, const struct ks_trace *t,
			struct ks_error *e)
{
	struct ks_writer *w = calloc(1, sizeof(*w));
	struct error why = ERROR_INIT;

	if (!w || info_dup(&w->info, ks_trace_info(t)) < 0) {
		free(w);
		return ks_error_fill(e, &why, error_set(&why, ENOMEM, "out of memory"));
	}
	return ks_error_fill(e, &why, begin(ret, w, path, &why));
}

int ks_writer_add_name(struct ks_writer *w, const struct ks_name *name, struct ks_error *e)
{
	struct error why = ERROR_INIT;
	char comm[SCHED_COMM_LEN];
	int r;

	sched_comm_set(comm, name->comm, strnlen(name->comm, sizeof(name->comm)));
	r = info_add_task(&w->info, name->pid, name->tgid, comm);
	if (r < 0)
		error_set(&why, r, "cannot keep a name: %s", strerror(-r));
	return ks_error_fill(e, &why, r);
}

int ks_writer_put(struct ks_writer *w, const struct ks_item *item, struct ks_error *e)
{
	struct trace_item to = { .type = ITEM_EVENT, .cpu = item->cpu };
	struct error why = ERROR_INIT;

	if (item->type == KS_ITEM_LOSS && item->loss.cause < LOSS_CAUSES) {
		to.type = ITEM_LOSS;
		to.loss.from_tick = item->loss.from_tick;
		to.loss.to_tick = item->loss.to_tick;
		to.loss.count = item->loss.count;
		to.loss.cause = (uint8_t)item->loss.cause;
	} else if (item->type != KS_ITEM_EVENT || !ks_event_to(&to.event, &item->event)) {
		return ks_error_fill(e, &why,
				     error_set(&why, EINVAL, "neither an event nor a loss"));
	}
	return ks_error_fill(e, &why, w->sink->ops->item(w->sink, &to, &why));
}

int ks_writer_commit(struct ks_writer *w, struct ks_error *e)
{
	struct error why = ERROR_INIT;

	return ks_error_fill(e, &why, w->sink->ops->end(w->sink, &why));
}

void ks_writer_close(struct ks_writer *w)
{
	if (!w)
		return;
	sink_free(w->sink);
	info_done(&w->info);
	free(w);
}
