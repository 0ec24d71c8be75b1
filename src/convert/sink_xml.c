/* SPDX-License-Identifier: MIT */
/*
 * sink_xml: the trace as XML (docs/format/xml.md, schema docs/format/trace.xsd).
 *
 * One <event/> per line with its fields as attributes under the names of fields.h; losses are
 * events of kind "lost". The line form is a promise: Trace Compass' custom parsers look for one
 * record element at a time (docs/format/tracecompass-xml-parser.xml). Written by hand and not with
 * libxml2's writer, which takes several times as long per attribute; tests validate the result
 * with libxml2.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/outfile.h"
#include "convert/escape.h"
#include "convert/fields.h"
#include "convert/sink.h"
#include "trace/word.h"

struct sink_xml {
	struct trace_sink sink;
	const struct trace_info *info;
	struct outfile *out;
	uint64_t events;
	uint64_t losses;
};

static void write_text(struct outfile *out, const char *text)
{
	outfile_write(out, text, strlen(text));
}

static void write_attribute(struct outfile *out, const char *name, const char *value, size_t len)
{
	char *start, *p;

	outfile_printf(out, " %s=\"", name);
	start = outfile_reserve(out, TRACE_STRING_MAX * ESCAPE_GROWTH + 1);
	if (len > TRACE_STRING_MAX)
		len = TRACE_STRING_MAX;
	p = escape_put(start, value, len, ESCAPE_XML);
	*p++ = '"';
	outfile_advance(out, (size_t)(p - start));
}

static void write_clock(struct outfile *out, const struct trace_clock *c)
{
	write_text(out, " <clock");
	write_attribute(out, "name", c->name, strnlen(c->name, sizeof(c->name)));
	outfile_printf(out,
		       " mult=\"%" PRIu32 "\" shift=\"%" PRIu32 "\" base_ns=\"%" PRIu64
		       "\" digits=\"%" PRIu32 "\"",
		       c->mult, c->shift, c->base_ns, c->print_digits);
	if (clock_is_ticks(c))
		write_text(out, " unit=\"ticks\"");
	if (c->has_realtime)
		outfile_printf(out,
			       " realtime_off_ns=\"%" PRId64 "\" realtime_err_ns=\"%" PRIu64 "\"",
			       c->realtime_off_ns, c->realtime_err_ns);
	write_text(out, "/>\n");
}

static void write_dialect(struct outfile *out, const struct sched_dialect *d)
{
	const char *space = "";
	uint32_t i;

	write_text(out, " <dialect recorded=\"");
	for (i = 0; i < SCHED_KINDS; i++) {
		if (!(d->kinds >> i & 1))
			continue;
		outfile_printf(out, "%s%s", space, word_kind(i));
		space = " ";
	}
	outfile_printf(out, "\" long_size=\"%u\" features=\"", d->long_size);
	space = "";
	for (i = 0; word_feature(i); i++) {
		if (!(d->features >> i & 1))
			continue;
		outfile_printf(out, "%s%s", space, word_feature(i));
		space = " ";
	}
	write_text(out, "\"/>\n");
}

static int xml_begin(struct trace_sink *s, const struct trace_info *info, struct error *e)
{
	struct sink_xml *x = (struct sink_xml *)s;

	x->info = info;
	write_text(x->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<trace version=\"1\"");
	write_attribute(x->out, "device", info->device, strlen(info->device));
	write_attribute(x->out, "kernel", info->kernel, strlen(info->kernel));
	write_attribute(x->out, "machine", info->machine, strlen(info->machine));
	write_attribute(x->out, "origin", info->origin, strlen(info->origin));
	outfile_printf(x->out, " cpus=\"%" PRIu32 "\">\n", info->cpus);
	write_clock(x->out, &info->clock);
	write_dialect(x->out, &info->dialect);
	write_text(x->out, " <events>\n");
	return outfile_check(x->out, e);
}

static char *put_field(char *p, const struct field *f)
{
	uint32_t len = field_name_length(f->id);

	*p++ = ' ';
	memcpy(p, field_name(f->id), len);
	p += len;
	*p++ = '=';
	*p++ = '"';
	if (f->type == FIELD_UNSIGNED)
		p = decimal_put_u64(p, f->number);
	else if (f->type == FIELD_SIGNED)
		p = decimal_put_i64(p, (int64_t)f->number);
	else
		p = escape_put(p, f->text, f->len, ESCAPE_XML);
	*p++ = '"';
	return p;
}

static int xml_item(struct trace_sink *s, const struct trace_item *item, struct error *e)
{
	struct sink_xml *x = (struct sink_xml *)s;
	struct field_list list;
	char *start, *p;
	uint32_t i;

	fields_of(&list, item, x->info);
	start = outfile_reserve(x->out, fields_room(item));
	memcpy(start, "  <event", 8);
	p = start + 8;
	for (i = 0; i < list.n; i++)
		p = put_field(p, &list.field[i]);
	memcpy(p, "/>\n", 3);
	outfile_advance(x->out, (size_t)(p + 3 - start));
	x->events += item->type == ITEM_EVENT;
	x->losses += item->type == ITEM_LOSS;
	return outfile_check(x->out, e);
}

static void write_task(struct outfile *out, const struct trace_task *t)
{
	outfile_printf(out, "  <task pid=\"%" PRId32 "\"", t->pid);
	if (t->tgid != -1)
		outfile_printf(out, " tgid=\"%" PRId32 "\"", t->tgid);
	write_attribute(out, "comm", t->comm, comm_length(t->comm));
	write_text(out, "/>\n");
}

static int xml_end(struct trace_sink *s, struct error *e)
{
	struct sink_xml *x = (struct sink_xml *)s;
	size_t i;

	write_text(x->out, " </events>\n <tasks>\n");
	for (i = 0; i < x->info->n_tasks; i++)
		write_task(x->out, &x->info->tasks[i]);
	outfile_printf(x->out,
		       " </tasks>\n <totals events=\"%" PRIu64 "\" losses=\"%" PRIu64
		       "\" skipped=\"%" PRIu64 "\"/>\n</trace>\n",
		       x->events, x->losses, x->info->skipped);
	return outfile_commit(x->out, e);
}

static void xml_free(struct trace_sink *s)
{
	struct sink_xml *x = (struct sink_xml *)s;

	outfile_free(x->out);
	free(x);
}

static const struct trace_sink_ops xml_ops = {
	.begin = xml_begin,
	.item = xml_item,
	.end = xml_end,
	.free = xml_free,
};

int sink_xml_new(struct trace_sink **ret, const char *path, struct error *e)
{
	struct sink_xml *x = calloc(1, sizeof(*x));
	int r;

	if (!x)
		return error_set(e, ENOMEM, "cannot write %s: out of memory", path);
	x->sink.ops = &xml_ops;
	r = outfile_open(&x->out, path, e);
	if (r < 0) {
		free(x);
		return r;
	}
	*ret = &x->sink;
	return 0;
}
