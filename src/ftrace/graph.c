/* SPDX-License-Identifier: MIT */
/*
 * graph: see graph.h. A map is compiled once from the formats; decoding a record is a comparison of
 * at most four IDs, a bounds check and a handful of loads.
 */
#include "ftrace/graph.h"

#include <errno.h>
#include <string.h>

#include "ftrace/bytes.h"
#include "ftrace/format.h"

static const char *const names[GRAPH_KINDS] = {
	[GRAPH_ENTRY] = "funcgraph_entry",
	[GRAPH_EXIT] = "funcgraph_exit",
	[GRAPH_RETADDR_ENTRY] = "fgraph_retaddr_entry",
	[GRAPH_FUNCTION] = "function",
};

void graph_map_init(struct graph_map *m, bool big_endian)
{
	memset(m, 0, sizeof(*m));
	m->big_endian = big_endian;
}

const char *graph_map_get_name(enum graph_kind kind)
{
	return names[kind];
}

bool graph_map_has_calls(const struct graph_map *m)
{
	return m->layouts[GRAPH_EXIT].id || m->layouts[GRAPH_FUNCTION].id;
}

/* False: the field is there and cannot be read as an integer. */
static bool resolve(const struct format *f, const char *name, struct graph_ref *ret,
		    uint32_t *min_len)
{
	const struct format_field *field = format_get_field(f, name);

	if (!field)
		return true;
	if (field->form != FORMAT_INT ||
	    (field->size != 1 && field->size != 2 && field->size != 4 && field->size != 8))
		return false;
	ret->offset = field->offset;
	ret->size = (uint8_t)field->size;
	if ((uint32_t)field->offset + field->size > *min_len)
		*min_len = (uint32_t)field->offset + field->size;
	return true;
}

static int find_kind(const struct format *f)
{
	int k;

	for (k = 0; k < GRAPH_KINDS; k++)
		if (format_is_named(f, names[k]))
			return k;
	return -1;
}

int graph_map_add(struct graph_map *m, const char *text, size_t len, struct error *e)
{
	struct graph_layout l = { .min_len = 0 };
	struct format f;
	int kind, r;
	bool ok;

	/* What is wrong with an event that nobody asks for is nobody's business. */
	r = format_parse(&f, text, len, e);
	kind = f.name.len ? find_kind(&f) : -1;
	if (kind < 0)
		return 0;
	if (r < 0)
		return r;
	ok = resolve(&f, "common_type", &l.type, &l.min_len) &&
	     resolve(&f, "common_pid", &l.pid, &l.min_len) &&
	     resolve(&f, kind == GRAPH_FUNCTION ? "ip" : "func", &l.func, &l.min_len) &&
	     resolve(&f, "depth", &l.depth, &l.min_len) &&
	     resolve(&f, "calltime", &l.calltime, &l.min_len) &&
	     resolve(&f, "rettime", &l.rettime, &l.min_len);
	if (!ok || l.type.size != 2 || !l.pid.size || !l.func.size ||
	    (kind != GRAPH_FUNCTION && !l.depth.size))
		return error_set(e, EBADMSG, "format of %s: a field is missing or unusable",
				 names[kind]);
	l.id = f.id + 1;
	m->layouts[kind] = l;
	return 1;
}

static uint64_t load(const struct graph_map *m, const uint8_t *record, struct graph_ref f)
{
	const uint8_t *p = record + f.offset;

	switch (f.size) {
	case 4:
		return bytes_get32(p, m->big_endian);
	case 8:
		return bytes_get64(p, m->big_endian);
	case 2:
		return bytes_get16(p, m->big_endian);
	case 1:
		return *p;
	default:
		return 0;
	}
}

static const struct graph_layout *find_layout(const struct graph_map *m, const uint8_t *record,
					      size_t len, enum graph_kind *ret)
{
	const struct graph_layout *l;
	int k;

	for (k = 0; k < GRAPH_KINDS; k++) {
		l = &m->layouts[k];
		if (!l->id || len < (size_t)l->type.offset + 2 ||
		    load(m, record, l->type) + 1 != l->id)
			continue;
		*ret = (enum graph_kind)k;
		return l;
	}
	return NULL;
}

int graph_map_decode(const struct graph_map *m, const uint8_t *record, size_t len,
		     struct graph_event *ret)
{
	enum graph_kind kind = GRAPH_ENTRY;
	const struct graph_layout *l = find_layout(m, record, len, &kind);
	uint64_t depth;

	if (!l)
		return 0;
	if (len < l->min_len)
		return -EBADMSG;
	depth = load(m, record, l->depth);
	if (depth >= GRAPH_DEPTH_MAX)
		return -EBADMSG;
	ret->kind = kind == GRAPH_RETADDR_ENTRY ? GRAPH_ENTRY : kind;
	ret->pid = (int32_t)(uint32_t)load(m, record, l->pid);
	ret->depth = (uint32_t)depth;
	ret->func = load(m, record, l->func);
	ret->calltime = load(m, record, l->calltime);
	ret->rettime = load(m, record, l->rettime);
	return 1;
}
