/* SPDX-License-Identifier: MIT */
/*
 * sink_csv: a table for spreadsheets and data frames (docs/format/csv.md).
 *
 * RFC 4180 with '\n' line ends: a header row, then one row per event and per loss (kind "lost"),
 * always with all columns of fields.h; what a kind does not have is empty. Names are always quoted,
 * numbers never, so that a task called "12" stays text.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/decimal.h"
#include "base/outfile.h"
#include "convert/escape.h"
#include "convert/fields.h"
#include "convert/sink.h"

struct sink_csv {
	struct trace_sink sink;
	const struct trace_info *info;
	struct outfile *out;
};

static int csv_begin(struct trace_sink *s, const struct trace_info *info, struct error *e)
{
	struct sink_csv *c = (struct sink_csv *)s;
	uint32_t i;

	(void)e;
	c->info = info;
	for (i = 0; i < FIELDS; i++) {
		if (i)
			outfile_write(c->out, ",", 1);
		outfile_write(c->out, field_name(i), field_name_length(i));
	}
	outfile_write(c->out, "\n", 1);
	return 0;
}

static char *put_value(char *p, const struct field *f)
{
	switch (f->type) {
	case FIELD_UNSIGNED:
		return decimal_put_u64(p, f->number);
	case FIELD_SIGNED:
		return decimal_put_i64(p, (int64_t)f->number);
	case FIELD_WORD:
		return escape_put(p, f->text, f->len, ESCAPE_CSV);
	case FIELD_NAME:
		break;
	}
	*p++ = '"';
	p = escape_put(p, f->text, f->len, ESCAPE_CSV);
	*p++ = '"';
	return p;
}

static int csv_item(struct trace_sink *s, const struct trace_item *item, struct error *e)
{
	struct sink_csv *c = (struct sink_csv *)s;
	struct field_list list;
	uint32_t i, column = 0;
	char *start, *p;

	fields_of(&list, item, c->info);
	start = outfile_reserve(c->out, fields_room(item));
	p = start;
	for (i = 0; i < list.n; i++) {
		for (; column < list.field[i].id; column++)
			*p++ = ',';
		p = put_value(p, &list.field[i]);
	}
	for (; column < FIELDS - 1; column++)
		*p++ = ',';
	*p++ = '\n';
	outfile_advance(c->out, (size_t)(p - start));
	return outfile_check(c->out, e);
}

static int csv_end(struct trace_sink *s, struct error *e)
{
	struct sink_csv *c = (struct sink_csv *)s;

	return outfile_commit(c->out, e);
}

static void csv_free(struct trace_sink *s)
{
	struct sink_csv *c = (struct sink_csv *)s;

	outfile_free(c->out);
	free(c);
}

static const struct trace_sink_ops csv_ops = {
	.begin = csv_begin,
	.item = csv_item,
	.end = csv_end,
	.free = csv_free,
};

int sink_csv_new(struct trace_sink **ret, const char *path, struct error *e)
{
	struct sink_csv *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return error_set(e, ENOMEM, "cannot write %s: out of memory", path);
	c->sink.ops = &csv_ops;
	r = outfile_open(&c->out, path, e);
	if (r < 0) {
		free(c);
		return r;
	}
	*ret = &c->sink;
	return 0;
}
