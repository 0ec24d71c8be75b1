/* SPDX-License-Identifier: MIT */
/* fact_flat: see fact_flat.h. */
#include "facts/fact_flat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FLAT_VERSION 1
#define FLAT_NONE UINT32_MAX

/* --- from a tree --- */

/* What one node is in: by list the row, or FLAT_NONE. */
struct flat_node {
	uint32_t rows[FACTS_BYS];
};

struct flattener {
	const struct fact_set *s;
	const struct fact_numbers *numbers;
	struct fact_flat *f;
	uint32_t *open[FACTS_BYS]; /* by row: how often it is on the path */
	struct flat_node *path;	   /* by depth */
};

/* The label of a node above the class of a virtual machine's time, and below. */
static enum facts_by by_of_machine(const char *object, bool is_below_class)
{
	static const char *const above[] = { "host", "vcpu", "thread" };
	static const char *const below[] = { "mode", "object", "exit", "culprit", "note" };
	size_t i;

	if (is_below_class) {
		for (i = 0; i < sizeof(below) / sizeof(*below); i++)
			if (!strcmp(object, below[i]))
				return FACTS_BYS;
		return FACTS_BY_FUNCTION;
	}
	for (i = 0; i < sizeof(above) / sizeof(*above); i++)
		if (!strcmp(object, above[i]))
			return FACTS_BYS;
	if (!strcmp(object, "process"))
		return FACTS_BY_PROCESS;
	if (!strcmp(object, "machine"))
		return FACTS_BY_MACHINE;
	return strcmp(object, "class") ? FACTS_BY_FUNCTION : FACTS_BY_CLASS;
}

/* FACTS_BYS: it is in no list. */
static enum facts_by by_of(const struct flattener *l, const struct profile_node *n)
{
	const char *object = functions_get(&l->s->functions, n->key)->object;
	uint32_t depth;

	if (fact_kind_is_profile(l->s->key.kind))
		return n->depth == 1 && !strcmp(object, "process") ? FACTS_BY_PROCESS
								   : FACTS_BY_FUNCTION;
	for (depth = 1; depth < n->depth; depth++)
		if (l->path[depth].rows[FACTS_BY_CLASS] != FLAT_NONE)
			return by_of_machine(object, true);
	return by_of_machine(object, false);
}

static int compare_rows(const void *a, const void *b)
{
	const struct fact_flat_row *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* Rows of all numbers that may be needed, each once. */
static int make_rows(struct flattener *l, enum facts_by by)
{
	const uint32_t *numbers =
		by == FACTS_BY_OBJECT ? l->numbers->objects : l->numbers->functions;
	size_t n = l->s->functions.n, i, kept = 0;
	struct fact_flat_row *rows = calloc(n + 1, sizeof(*rows));

	l->f->rows[by] = rows;
	l->open[by] = calloc(n + 1, sizeof(*l->open[by]));
	if (!rows || !l->open[by])
		return -ENOMEM;
	for (i = 0; i < n; i++)
		rows[i].number = numbers[i];
	qsort(rows, n, sizeof(*rows), compare_rows);
	for (i = 0; i < n; i++)
		if (!kept || rows[kept - 1].number != rows[i].number)
			rows[kept++].number = rows[i].number;
	l->f->n[by] = kept;
	return 0;
}

static uint32_t row_of(const struct flattener *l, enum facts_by by, uint32_t number)
{
	struct fact_flat_row key = { .number = number };
	const struct fact_flat_row *row =
		bsearch(&key, l->f->rows[by], l->f->n[by], sizeof(*row), compare_rows);

	return (uint32_t)(row - l->f->rows[by]);
}

static void add(uint64_t *to, const uint64_t *values)
{
	size_t i;

	for (i = 0; i < FACT_VALUES; i++)
		to[i] += values[i];
}

static void enter(struct flattener *l, uint32_t node, enum facts_by by, uint32_t number)
{
	const struct profile_node *n = profile_tree_get(l->s->tree, node);
	const uint64_t *total = profile_tree_total(l->s->tree, node);
	bool is_code = by == FACTS_BY_FUNCTION || by == FACTS_BY_OBJECT;
	uint32_t at = row_of(l, by, number);
	struct fact_flat_row *row = &l->f->rows[by][at];

	l->path[n->depth].rows[by] = at;
	if (is_code)
		add(row->self, profile_tree_self(l->s->tree, node));
	if (l->open[by][at]++)
		return;
	add(row->total, total);
	if (!is_code)
		add(row->self, total);
}

static void leave(struct flattener *l, uint32_t depth)
{
	uint32_t by, at;

	for (by = 0; by < FACTS_BYS; by++) {
		at = l->path[depth].rows[by];
		if (at != FLAT_NONE)
			l->open[by][at]--;
	}
}

static void walk(struct flattener *l)
{
	const struct profile_node *n;
	uint32_t node = profile_tree_next(l->s->tree, 0, false), depth = 0;
	enum facts_by by;

	for (; node != PROFILE_NODE_NONE; node = profile_tree_next(l->s->tree, node, false)) {
		n = profile_tree_get(l->s->tree, node);
		for (; depth >= n->depth; depth--)
			leave(l, depth);
		depth = n->depth;
		memset(&l->path[depth], 0xff, sizeof(l->path[depth]));
		by = by_of(l, n);
		if (by == FACTS_BYS)
			continue;
		enter(l, node, by, l->numbers->functions[n->key]);
		if (by == FACTS_BY_FUNCTION)
			enter(l, node, FACTS_BY_OBJECT, l->numbers->objects[n->key]);
	}
}

static void drop_empty(struct fact_flat *f, enum facts_by by)
{
	const struct fact_flat_row *row;
	size_t i, kept = 0;

	for (i = 0; i < f->n[by]; i++) {
		row = &f->rows[by][i];
		if (row->total[0] || row->total[1])
			f->rows[by][kept++] = *row;
	}
	f->n[by] = kept;
}

int fact_flat_init(struct fact_flat *f, const struct fact_set *s, const struct fact_numbers *n)
{
	struct flattener l = { .s = s, .numbers = n, .f = f };
	uint32_t by;
	int r = 0;

	memset(f, 0, sizeof(*f));
	if (!s->tree)
		return 0;
	l.path = calloc((size_t)profile_tree_depth(s->tree) + 1, sizeof(*l.path));
	if (!l.path)
		r = -ENOMEM;
	for (by = 0; r >= 0 && by < FACTS_BYS; by++)
		r = make_rows(&l, by);
	if (r >= 0)
		walk(&l);
	for (by = 0; by < FACTS_BYS; by++) {
		if (r >= 0)
			drop_empty(f, by);
		free(l.open[by]);
	}
	free(l.path);
	if (r < 0)
		fact_flat_done(f);
	return r;
}

void fact_flat_done(struct fact_flat *f)
{
	uint32_t by;

	for (by = 0; by < FACTS_BYS; by++)
		free(f->rows[by]);
	memset(f, 0, sizeof(*f));
}

/* --- bytes --- */

/* What a sample mostly weighs: then its time is told by its count. */
static uint64_t period_of(const struct fact_flat_row *rows, size_t n)
{
	uint64_t samples = 0, ns = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		samples += rows[i].self[0];
		ns += rows[i].self[1];
	}
	return samples ? ns / samples : 0;
}

static uint8_t *put_rows(uint8_t *p, const struct fact_flat_row *rows, size_t n)
{
	uint64_t period = period_of(rows, n), samples, ns, before = 0;
	size_t i;

	p = varint_put(p, period);
	for (i = 0; i < n; i++) {
		p = varint_put(p, rows[i].number - before);
		before = rows[i].number;
		p = varint_put(p, rows[i].self[0]);
		p = varint_put_signed(p, (int64_t)(rows[i].self[1] - rows[i].self[0] * period));
		samples = rows[i].total[0] - rows[i].self[0];
		ns = rows[i].total[1] - rows[i].self[1];
		p = varint_put(p, samples);
		p = varint_put_signed(p, (int64_t)(ns - samples * period));
	}
	return p;
}

int fact_flat_encode(const struct fact_flat *f, uint8_t **ret, size_t *ret_len)
{
	size_t most = 1, largest = 0, n, len;
	uint8_t *data, *p, *rows;
	uint32_t by;

	for (by = 0; by < FACTS_BYS; by++) {
		n = (f->n[by] * 5 + 3) * VARINT_MAX;
		most += n;
		largest = n > largest ? n : largest;
	}
	data = malloc(most + largest);
	if (!data)
		return -ENOMEM;
	rows = data + most; /* where a list is put first: its length stands before it */
	p = data;
	*p++ = FLAT_VERSION;
	for (by = 0; by < FACTS_BYS; by++) {
		len = f->n[by] ? (size_t)(put_rows(rows, f->rows[by], f->n[by]) - rows) : 0;
		p = varint_put(p, f->n[by]);
		p = varint_put(p, len);
		memcpy(p, rows, len);
		p += len;
	}
	*ret = data;
	*ret_len = (size_t)(p - data);
	return 0;
}

int fact_flat_read(struct fact_flat_reader *f, const uint8_t *data, size_t len, enum facts_by by)
{
	const uint8_t *part = NULL;
	uint64_t n = 0, bytes = 0;
	uint32_t i;

	memset(f, 0, sizeof(*f));
	if (!len || data[0] != FLAT_VERSION)
		return -EBADMSG;
	reader_init(&f->r, data + 1, len - 1);
	for (i = 0; i <= (uint32_t)by; i++) {
		n = reader_varint(&f->r);
		bytes = reader_varint(&f->r);
		part = reader_bytes(&f->r, bytes);
	}
	if (f->r.bad || n > bytes) /* a row has five bytes at the least */
		return -EBADMSG;
	reader_init(&f->r, part, (size_t)bytes);
	f->period = n ? reader_varint(&f->r) : 0;
	f->left = n;
	return 0;
}

bool fact_flat_next(struct fact_flat_reader *f, struct fact_flat_row *ret)
{
	uint64_t samples;

	if (!f->left)
		return false;
	f->left--;
	f->number += reader_varint(&f->r);
	if (f->number >= FACTS_NAMES_MAX)
		f->r.bad = true;
	ret->number = (uint32_t)f->number;
	samples = ret->self[0] = reader_varint(&f->r);
	ret->self[1] = samples * f->period + (uint64_t)reader_signed(&f->r);
	samples = reader_varint(&f->r);
	ret->total[0] = ret->self[0] + samples;
	ret->total[1] = ret->self[1] + samples * f->period + (uint64_t)reader_signed(&f->r);
	if (f->r.bad)
		f->left = 0;
	return !f->r.bad;
}
