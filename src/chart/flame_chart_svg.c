/* SPDX-License-Identifier: MIT */
/*
 * flame_chart_svg: a flame graph as a picture without a script: the root is at the bottom, and every box has its figures as
 * a title, which browsers show beside the pointer.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "chart/boot_text.h"
#include "chart/flame_chart.h"

#define WIDTH 1200.0
#define LEVEL 17
#define HEAD 44
#define LETTER 6.2 /* width of one, about */
#define LEAST_TEXT 4
#define LEAST 0.1

struct picture {
	FILE *f;
	const struct flame_chart *c;
	uint32_t depth; /* of the deepest box */
	double *lefts;	/* by level: where the next box below that one begins */
	uint64_t all, before;
};

static uint32_t hash(const char *text)
{
	uint32_t h = 2166136261U;

	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * 16777619U;
	return h;
}

/* No function, but what holds some: a process, a virtual machine (analysis/vm_tree.h). */
static bool is_group(const char *object)
{
	static const char *const groups[] = { "", "process", "thread", "host", "machine", "vcpu" };
	size_t i;

	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (!strcmp(object, groups[i]))
			return true;
	return false;
}

/* The colours are those of flame/flame.js. */
static void put_colour(const struct picture *p, const struct function *f, double change)
{
	double depth = change < 0 ? -change / 0.05 : change / 0.05;
	const char *what = strcmp(f->object, "class") ? f->object : f->name;
	uint32_t hue = *what == '[' ? 8 + hash(what) % 30 : 50 + hash(what) % 200;

	if (p->c->is_diff)
		fprintf(p->f, "hsl(%d 75%% %.0f%%)", change > 0 ? 4 : 212,
			92 - 34 * (depth > 1 ? 1 : depth));
	else if (is_group(f->object))
		fputs("#c9d3da", p->f);
	else
		fprintf(p->f, "hsl(%" PRIu32 " 62%% %" PRIu32 "%%)", hue, 66 + hash(f->name) % 12);
}

static void put_title(const struct picture *p, const struct function *f, uint64_t value,
		      uint64_t before)
{
	fputs("<title>", p->f);
	boot_text_put_xml(p->f, f->name);
	if (*f->object && strcmp(f->object, f->name) != 0) {
		fputs(" (", p->f);
		boot_text_put_xml(p->f, f->object);
		fputc(')', p->f);
	}
	fprintf(p->f, ": %" PRIu64 " %s, %.2f%%", value, p->c->unit,
		p->all ? 100.0 * (double)value / (double)p->all : 0);
	if (p->c->is_diff)
		fprintf(p->f, ", before %.2f%%",
			p->before ? 100.0 * (double)before / (double)p->before : 0);
	fputs("</title>", p->f);
}

static void put_box(const struct picture *p, uint32_t node)
{
	const struct profile_node *n = profile_tree_get(p->c->tree, node);
	const struct function *f = functions_get(p->c->functions, n->key);
	const uint64_t *total = profile_tree_total(p->c->tree, node);
	uint64_t value = total[p->c->value], before = p->c->is_diff ? total[p->c->before] : 0;
	double width = WIDTH * (double)value / (double)p->all, x = p->lefts[n->depth - 1];
	double y = HEAD + LEVEL * (double)(p->depth - n->depth);
	double change = (double)value / (double)p->all -
			(p->before ? (double)before / (double)p->before : 0);

	p->lefts[n->depth - 1] = x + width;
	p->lefts[n->depth] = x;
	if (width < LEAST)
		return; /* a picture cannot be zoomed into without end */
	fprintf(p->f, "<g><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" fill=\"", x, y,
		width, LEVEL - 1);
	put_colour(p, f, change);
	fputs("\"/>", p->f);
	put_title(p, f, value, before);
	if (width > LEAST_TEXT * LETTER) {
		fprintf(p->f, "<text x=\"%.2f\" y=\"%.0f\">", x + 2, y + 12);
		boot_text_put_cut(p->f, f->name, (size_t)(width / LETTER));
		fputs("</text>", p->f);
	}
	fputs("</g>\n", p->f);
}

int flame_chart_svg(FILE *f, const struct flame_chart *c, struct error *e)
{
	struct picture p = { .f = f, .c = c, .all = profile_tree_total(c->tree, 0)[c->value] };
	_cleanup_free_ double *lefts = NULL;
	uint32_t node;
	int height;

	if (c->is_diff)
		p.before = profile_tree_total(c->tree, 0)[c->before];
	for (node = flame_chart_next(c, 0); node != PROFILE_NODE_NONE;
	     node = flame_chart_next(c, node))
		if (profile_tree_get(c->tree, node)->depth > p.depth)
			p.depth = profile_tree_get(c->tree, node)->depth;
	p.lefts = lefts = calloc(p.depth + 2, sizeof(*lefts));
	if (!lefts)
		return error_set(e, ENOMEM, "cannot draw: out of memory");
	height = HEAD + LEVEL * (int)p.depth + 8;
	fprintf(f,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg "
		"xmlns=\"http://www.w3.org/2000/svg\" "
		"width=\"%.0f\" height=\"%d\" viewBox=\"0 0 %.0f %d\" font-family=\"sans-serif\" "
		"font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
		"<text x=\"6\" y=\"18\" font-size=\"15\">",
		WIDTH, height, WIDTH, height);
	boot_text_put_xml(f, c->title);
	fputs("</text>\n<text x=\"6\" y=\"34\" fill=\"#6b7b87\">", f);
	boot_text_put_xml(f, c->subtitle);
	fputs("</text>\n", f);
	for (node = flame_chart_next(c, 0); node != PROFILE_NODE_NONE;
	     node = flame_chart_next(c, node))
		put_box(&p, node);
	fputs("</svg>\n", f);
	return 0;
}
