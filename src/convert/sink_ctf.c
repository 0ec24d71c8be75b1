/* SPDX-License-Identifier: MIT */
/*
 * sink_ctf: a folder with a CTF 1.8 trace, as the LTTng kernel tracer would have written it.
 *
 * One stream file per CPU (ctf_stream.c) and the metadata text (ctf_metadata.c) in a folder that
 * appears when it is complete (ctf_folder.c). Tasks that the trace knows by name are written as a
 * state dump beside the first event, and those it learned later beside the last, so that readers
 * name tasks that never ran. Events of one CPU must not go back in time: CTF cannot say that, and
 * readers would stop there, so it is an error.
 */
#include <errno.h>
#include <stdio.h>

#include "convert/ctf_stream.h"
#include "convert/sink.h"

struct sink_ctf {
	struct trace_sink base;
	struct ctf_writer writer;
	struct ctf_stream *streams;
	uint32_t n_streams;
	bool started;
	bool dumped;
	uint64_t last_ns;
	uint32_t last_cpu;
	struct trace_task *tasks; /* as they were at the first event */
	size_t n_tasks;
};

static struct sink_ctf *self(struct trace_sink *s)
{
	return (struct sink_ctf *)s;
}

static void sink_ctf_free(struct trace_sink *base)
{
	struct sink_ctf *s = self(base);
	uint32_t i;

	for (i = 0; i < s->n_streams; i++)
		ctf_stream_done(&s->streams[i]);
	free(s->streams);
	free(s->tasks);
	ctf_folder_free(s->writer.folder);
	free(s);
}

static uint64_t hash(uint64_t h, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (; len; len--)
		h = (h ^ *p++) * 0x100000001b3ULL;
	return h;
}

/* The same trace gives the same identity, so that exports can be compared byte by byte. */
static void make_uuid(uint8_t uuid[CTF_UUID_LEN], const struct trace_info *info, uint64_t start_ns)
{
	uint64_t h = 0xcbf29ce484222325ULL;
	int i;

	h = hash(h, info->device, strlen(info->device) + 1);
	h = hash(h, info->kernel, strlen(info->kernel) + 1);
	for (i = 0; i < CTF_UUID_LEN; i++) {
		uint8_t byte = (uint8_t)(start_ns >> i % 8 * 8);

		h = hash(h, &byte, 1);
		uuid[i] = (uint8_t)(h >> 32);
	}
	uuid[6] = (uuid[6] & 0x0f) | 0x80; /* version 8: made in a way of one's own */
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
}

static int sink_ctf_begin(struct trace_sink *base, const struct trace_info *info, struct error *e)
{
	struct sink_ctf *s = self(base);

	(void)e;
	s->writer.info = info;
	s->writer.has_context = ctf_metadata_has_context(&info->dialect);
	return 0;
}

/* info->cpus is a promise that damaged inputs may break, so streams are made as CPUs appear. */
static int get_stream(struct sink_ctf *s, uint32_t cpu, struct ctf_stream **ret, struct error *e)
{
	struct ctf_stream *grown;

	if (cpu >= TRACE_CPUS_MAX)
		return error_set(e, EINVAL, "cannot write CTF: impossible CPU %u", cpu);
	if (cpu >= s->n_streams) {
		grown = realloc(s->streams, (cpu + 1) * sizeof(*grown));
		if (!grown)
			return error_set(e, ENOMEM, "cannot write CTF: out of memory");
		memset(grown + s->n_streams, 0, (cpu + 1 - s->n_streams) * sizeof(*grown));
		s->streams = grown;
		for (; s->n_streams <= cpu; s->n_streams++)
			grown[s->n_streams].cpu = s->n_streams;
	}
	*ret = &s->streams[cpu];
	return 0;
}

/* Called with the stream of the very next event, the only one sure not to begin earlier. */
static int dump_tasks(struct sink_ctf *s, struct ctf_stream *st, uint64_t ns, struct error *e)
{
	const struct trace_info *info = s->writer.info;
	size_t i;
	int r = 0;

	s->dumped = true;
	if (!info->n_tasks)
		return 0;
	s->tasks = malloc(info->n_tasks * sizeof(*s->tasks));
	if (!s->tasks)
		return error_set(e, ENOMEM, "cannot write CTF: out of memory");
	memcpy(s->tasks, info->tasks, info->n_tasks * sizeof(*s->tasks));
	s->n_tasks = info->n_tasks;
	for (i = 0; r >= 0 && i < s->n_tasks; i++)
		r = ctf_stream_task(&s->writer, st, ns, &s->tasks[i], e);
	return r;
}

/* Both lists are sorted by pid. */
static int dump_late_tasks(struct sink_ctf *s, struct ctf_stream *st, struct error *e)
{
	const struct trace_info *info = s->writer.info;
	size_t i, k = 0;
	int r = 0;

	for (i = 0; r >= 0 && i < info->n_tasks; i++) {
		const struct trace_task *t = &info->tasks[i];

		while (k < s->n_tasks && s->tasks[k].pid < t->pid)
			k++;
		if (k < s->n_tasks && s->tasks[k].pid == t->pid && s->tasks[k].tgid == t->tgid &&
		    !memcmp(s->tasks[k].comm, t->comm, SCHED_COMM_LEN))
			continue;
		r = ctf_stream_task(&s->writer, st, s->last_ns, t, e);
	}
	return r;
}

static int take_event(struct sink_ctf *s, struct ctf_stream *st, const struct trace_item *item,
		      struct error *e)
{
	uint64_t ns = clock_event_ns(&s->writer.info->clock, &item->event);
	int r = 0;

	if (!s->dumped)
		r = dump_tasks(s, st, ns, e);
	if (r >= 0)
		r = ctf_stream_event(&s->writer, st, ns, item, e);
	if (ns >= s->last_ns) {
		s->last_ns = ns;
		s->last_cpu = st->cpu;
	}
	return r;
}

static int take_loss(struct sink_ctf *s, struct ctf_stream *st, const struct trace_loss *loss,
		     struct error *e)
{
	const struct trace_clock *clock = &s->writer.info->clock;
	struct trace_loss l = *loss;

	l.from_tick = loss->from_tick ? clock_ns(clock, loss->from_tick) : 0;
	l.to_tick = loss->to_tick ? clock_ns(clock, loss->to_tick) : 0;
	return ctf_stream_loss(&s->writer, st, &l, e);
}

static void start(struct sink_ctf *s, const struct trace_item *item)
{
	const struct trace_clock *clock = &s->writer.info->clock;

	s->started = true;
	s->writer.start_ns = item->type == ITEM_EVENT ? clock_event_ns(clock, &item->event)
						      : clock_ns(clock, item->loss.to_tick);
	make_uuid(s->writer.uuid, s->writer.info, s->writer.start_ns);
}

static int sink_ctf_item(struct trace_sink *base, const struct trace_item *item, struct error *e)
{
	struct sink_ctf *s = self(base);
	struct ctf_stream *st = NULL;
	int r = get_stream(s, item->cpu, &st, e);

	if (r < 0)
		return r;
	if (!s->started)
		start(s, item);
	return item->type == ITEM_EVENT ? take_event(s, st, item, e)
					: take_loss(s, st, &item->loss, e);
}

static int write_metadata(struct sink_ctf *s, struct error *e)
{
	CLEANUP(outfile) struct outfile *f = NULL;
	_cleanup_free_ char *path = NULL;
	int r;

	if (asprintf(&path, "%s/metadata", ctf_folder_path(s->writer.folder)) < 0) {
		path = NULL;
		return error_set(e, ENOMEM, "cannot write CTF: out of memory");
	}
	r = outfile_open(&f, path, e);
	if (r < 0)
		return r;
	ctf_metadata_write(f, s->writer.info, s->writer.uuid);
	return outfile_commit(f, e);
}

/* A trace without events still gets a stream: readers refuse a folder that has none. */
static int finish_streams(struct sink_ctf *s, struct error *e)
{
	static const struct trace_task idle = { .comm = "swapper/0" };
	struct ctf_stream *st = NULL;
	uint32_t i, used = 0;
	int r;

	r = get_stream(s, s->last_cpu, &st, e);
	if (r >= 0)
		r = dump_late_tasks(s, st, e);
	for (i = 0; r >= 0 && i < s->n_streams; i++)
		used += s->streams[i].used;
	if (r >= 0 && !used)
		r = ctf_stream_task(&s->writer, st, s->last_ns, &idle, e);
	for (i = 0; r >= 0 && i < s->n_streams; i++)
		r = ctf_stream_finish(&s->writer, &s->streams[i], e);
	return r;
}

static int sink_ctf_end(struct trace_sink *base, struct error *e)
{
	struct sink_ctf *s = self(base);
	int r = finish_streams(s, e);

	if (r >= 0)
		r = write_metadata(s, e);
	return r < 0 ? r : ctf_folder_commit(s->writer.folder, e);
}

static const struct trace_sink_ops sink_ctf_ops = {
	.begin = sink_ctf_begin,
	.item = sink_ctf_item,
	.end = sink_ctf_end,
	.free = sink_ctf_free,
};

int sink_ctf_new(struct trace_sink **ret, const char *path, struct error *e)
{
	struct sink_ctf *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return error_set(e, ENOMEM, "cannot write %s: out of memory", path);
	s->base.ops = &sink_ctf_ops;
	r = ctf_folder_open(&s->writer.folder, path, e);
	if (r < 0) {
		sink_ctf_free(&s->base);
		return r;
	}
	*ret = &s->base;
	return 0;
}
