/* SPDX-License-Identifier: MIT */
/* formats: see formats.h. */
#include "convert/formats.h"

#include <errno.h>
#include <string.h>

#include "convert/reclock.h"
#include "convert/sink_ksk.h"
#include "convert/ticks.h"
#include "trace/names.h"

#define ALL_KINDS ((1U << SCHED_KINDS) - 1)

static const struct format formats[] = {
	{
		.name = "ksk",
		.endings = { ".ksk" },
		.summary = "Kiseki's own file: everything, in the fewest bytes",
		.kinds = ALL_KINDS,
		.pipe = true,
	},
	{
		.name = "ftrace",
		.endings = { ".txt", ".ftrace" },
		.summary = "the text of the kernel's trace file",
		.cannot_hold = "ftrace text has stamps in microseconds",
		.lacks = LACKS_NS,
		.kinds = ALL_KINDS,
		.pipe = true,
		.text = true,
		.names_runner = true,
		.sink_new = sink_ftrace_new,
	},
	{
		.name = "json",
		.endings = { ".json" },
		.summary = "one JSON document",
		.kinds = ALL_KINDS,
		.pipe = true,
		.text = true,
		.names_runner = true,
		.sink_new = sink_json_new,
	},
	{
		.name = "ndjson",
		.endings = { ".ndjson", ".jsonl" },
		.summary = "JSON, one object per line",
		.kinds = ALL_KINDS,
		.pipe = true,
		.text = true,
		.names_runner = true,
		.sink_new = sink_ndjson_new,
	},
	{
		.name = "xml",
		.endings = { ".xml" },
		.summary = "XML with a schema",
		.kinds = ALL_KINDS,
		.pipe = true,
		.text = true,
		.names_runner = true,
		.sink_new = sink_xml_new,
	},
	{
		.name = "ctf",
		.endings = { ".ctf" },
		.summary = "a folder with a CTF 1.8 trace, as LTTng makes it",
		.shows_ns = true,
		.kinds = ALL_KINDS,
		.names_runner = true,
		.sink_new = sink_ctf_new,
	},
	{
		.name = "trace.dat",
		.endings = { ".dat" },
		.summary = "trace-cmd's file, version 6",
		.kinds = ALL_KINDS,
		.sink_new = sink_tracedat_new,
	},
	{
		.name = "perfetto",
		.endings = { ".pftrace", ".perfetto-trace" },
		.summary = "Perfetto's protobuf",
		.cannot_hold = "Perfetto traces have no preempt counts",
		.lacks = LACKS_PREEMPT,
		.shows_ns = true,
		.kinds = ALL_KINDS,
		.pipe = true,
		.sink_new = sink_perfetto_new,
	},
	{
		.name = "chrome",
		.endings = { ".trace.json",
			     ".chrome.json" }, /* speedscope takes the second for a CPU profile */
		.summary = "JSON for Chrome's trace viewer",
		.cannot_hold =
			"Chrome's JSON is a drawing of who ran when, not a list of events; it "
			"cannot be read back",
		.lacks = LACKS_FLAGS | LACKS_PREEMPT | LACKS_PID,
		.shows_ns = true,
		.kinds = 1U << SCHED_SWITCH | 1U << SCHED_WAKING | 1U << SCHED_WAKEUP |
			 1U << SCHED_WAKEUP_NEW,
		.pipe = true,
		.text = true,
		.sink_new = sink_chrome_new,
	},
	{
		.name = "csv",
		.endings = { ".csv" },
		.summary = "a table, one line per event",
		.shows_ns = true,
		.kinds = ALL_KINDS,
		.pipe = true,
		.text = true,
		.names_runner = true,
		.sink_new = sink_csv_new,
	},
};

static const struct format codec_bsf = {
	.name = "bsf",
	.cannot_hold = "the bsf codec has switches and wakeups only, in microseconds, without "
		       "flags and preempt counts",
	.lacks = LACKS_FLAGS | LACKS_PREEMPT | LACKS_NS | LACKS_PID,
	.shows_ns = true,
	.kinds = 1U << SCHED_SWITCH | 1U << SCHED_WAKEUP,
};

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

const struct format *formats_get(size_t i)
{
	return i < N_FORMATS ? &formats[i] : NULL;
}

const struct format *formats_find(const char *name)
{
	size_t i;

	for (i = 0; i < N_FORMATS; i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

const struct format *formats_from_path(const char *path)
{
	const struct format *best = NULL;
	size_t len = strlen(path), best_len = 0, i, k, n;

	if (len > 1 && path[len - 1] == '/')
		return formats_find("ctf");
	for (i = 0; i < N_FORMATS; i++) {
		for (k = 0; k < FORMAT_ENDINGS && formats[i].endings[k]; k++) {
			n = strlen(formats[i].endings[k]);
			if (n > best_len && len > n &&
			    !strcmp(path + len - n, formats[i].endings[k])) {
				best = &formats[i];
				best_len = n;
			}
		}
	}
	return best;
}

const struct format *formats_of_codec(const char *codec)
{
	if (!strcmp(codec, "sched"))
		return &formats[0];
	return strcmp(codec, "bsf") ? NULL : &codec_bsf;
}

static bool is_bsf(const struct format_options *o)
{
	return o && o->codec && !strcmp(o->codec, "bsf");
}

int format_open(const struct format *f, struct trace_sink **ret, const char *path,
		const struct format_options *o, struct error *e)
{
	struct sink_ksk_options ksk = { .codec = CODEC_SCHED };

	if (!strcmp(path, "-") && !f->pipe)
		return error_set(e, ESPIPE, "cannot write %s to a pipe: the format needs a file",
				 f->name);
	if (f->sink_new)
		return f->sink_new(ret, path, e);
	if (is_bsf(o))
		ksk.codec = CODEC_BSF;
	ksk.calls = o ? o->calls : NULL;
	return sink_ksk_new(ret, path, &ksk, e);
}

static int find_ticks(struct trace_source **source, struct error *e)
{
	struct trace_source *told = NULL;
	struct trace_clock clock;
	int r = ticks_find(*source, &clock, e);

	if (r == -ESPIPE)
		return 0; /* a pipe cannot be read twice: its nanoseconds stay what they are */
	if (r > 0)
		r = reclock_source_new(&told, *source, &clock, e);
	if (told)
		*source = told;
	return r;
}

int format_prepare(const struct format *f, struct trace_source **source,
		   const struct format_options *o, struct error *e)
{
	bool is_ksk = !strcmp(f->name, "ksk");
	bool is_time = !clock_is_ticks(&(*source)->info.clock);
	struct trace_source *named = NULL;
	int r = is_ksk && is_time ? find_ticks(source, e) : 0;

	if (r < 0 || !(f->names_runner || (is_ksk && is_bsf(o))))
		return r;
	r = names_source_new(&named, *source, o ? o->stop : NULL, e);
	if (r >= 0)
		*source = named;
	return r;
}

bool format_drops(const struct format *f, const struct trace_info *info,
		  const struct trace_item *item)
{
	const struct sched_event *ev = &item->event;

	if (item->type == ITEM_LOSS)
		return f->lacks & LACKS_LOSSES;
	if (!(f->kinds >> ev->kind & 1))
		return true;
	if ((f->lacks & LACKS_FLAGS && ev->flags) ||
	    (f->lacks & LACKS_PREEMPT && ev->preempt_count))
		return true;
	if (f->lacks & LACKS_PID && ev->kind != SCHED_SWITCH)
		return true;
	return f->lacks & LACKS_NS && clock_event_ns(&info->clock, ev) % 1000;
}
