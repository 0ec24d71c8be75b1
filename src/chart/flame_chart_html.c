/* SPDX-License-Identifier: MIT */
/*
 * flame_chart_html: a flame graph as one page that needs nothing else.
 *
 * The page, its style and its script are files in flame/, embedded at build time. The page has places, @NAME@, that are
 * filled here. Its policy names the script and the style by their hashes, so nothing else in the file could run, whatever
 * a function calls itself; and the data is JSON without a single '<'. Its rows are in the order of the tree: level, name
 * and object (numbers of texts), own part, and of a comparison the own part before.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "chart/boot_text.h"
#include "chart/flame_chart.h"
#include "chart/flame_page.h"

/* Which texts the data has: names are many, and come again. */
struct texts {
	uint32_t *numbers; /* of a function: its name's number + 1, 0: none yet */
	uint32_t n;
};

struct page {
	FILE *f;
	const struct flame_chart *c;
};

static void put_texts(const struct page *p, struct texts *t)
{
	const struct flame_chart *c = p->c;
	const struct function *f;
	uint32_t node, key;

	fputs(",\"texts\":[", p->f);
	for (node = flame_chart_next(c, 0); node != PROFILE_NODE_NONE;
	     node = flame_chart_next(c, node)) {
		key = profile_tree_get(c->tree, node)->key;
		if (t->numbers[key])
			continue;
		f = functions_get(c->functions, key);
		fputs(t->n ? ",\n" : "\n", p->f);
		boot_text_put_json(p->f, f->name);
		fputc(',', p->f);
		boot_text_put_json(p->f, f->object);
		t->numbers[key] = t->n + 1;
		t->n += 2;
	}
	fputs("],\n\"nodes\":[", p->f);
}

/* What is left out below a node counts as its own: the widths stay those of the profile. */
static uint64_t own_part(const struct flame_chart *c, uint32_t node, size_t value)
{
	uint64_t own = profile_tree_total(c->tree, node)[value];
	uint32_t child = flame_chart_next(c, node);

	if (child == PROFILE_NODE_NONE || profile_tree_get(c->tree, child)->parent != node)
		return own;
	for (child = profile_tree_get(c->tree, node)->child; child != PROFILE_NODE_NONE;
	     child = profile_tree_get(c->tree, child)->next) {
		uint64_t width = profile_tree_total(c->tree, child)[c->value];
		uint64_t all = profile_tree_total(c->tree, 0)[c->value];

		if (width && (double)width >= (double)all * FLAME_CHART_LEAST)
			own -= profile_tree_total(c->tree, child)[value];
	}
	return own;
}

static void put_nodes(const struct page *p, const struct texts *t)
{
	const struct flame_chart *c = p->c;
	const struct profile_node *n;
	uint32_t node, name;
	bool any = false;

	for (node = flame_chart_next(c, 0); node != PROFILE_NODE_NONE;
	     node = flame_chart_next(c, node)) {
		n = profile_tree_get(c->tree, node);
		name = t->numbers[n->key] - 1;
		fprintf(p->f, "%s[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64, any ? ",\n" : "\n",
			n->depth, name, name + 1, own_part(c, node, c->value));
		if (c->is_diff)
			fprintf(p->f, ",%" PRIu64, own_part(c, node, c->before));
		fputc(']', p->f);
		any = true;
	}
	fputs("]}", p->f);
}

static int put_data(const struct page *p, struct error *e)
{
	_cleanup_free_ uint32_t *numbers = calloc(p->c->functions->n + 1, sizeof(*numbers));
	struct texts t = { .numbers = numbers };

	if (!numbers)
		return error_set(e, ENOMEM, "cannot draw: out of memory");
	fputs("{\"title\":", p->f);
	boot_text_put_json(p->f, p->c->title);
	fputs(",\"about\":", p->f);
	boot_text_put_json(p->f, p->c->subtitle);
	fprintf(p->f, ",\"unit\":\"%s\",\"diff\":%s", p->c->unit,
		p->c->is_diff ? "true" : "false");
	put_texts(p, &t);
	put_nodes(p, &t);
	return 0;
}

static int put_policy(const struct page *p, struct error *e)
{
	(void)e;
	fprintf(p->f,
		"default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; "
		"base-uri 'none'; form-action 'none'",
		flame_page_script_sha256, flame_page_style_sha256);
	return 0;
}

static int put_title(const struct page *p, struct error *e)
{
	(void)e;
	fputs("Profile: ", p->f);
	boot_text_put_xml(p->f, p->c->title);
	return 0;
}

static int put_style(const struct page *p, struct error *e)
{
	(void)e;
	fwrite(flame_page_style, 1, flame_page_style_len, p->f);
	return 0;
}

static int put_script(const struct page *p, struct error *e)
{
	(void)e;
	fwrite(flame_page_script, 1, flame_page_script_len, p->f);
	return 0;
}

static const struct place {
	const char *name;
	int (*put)(const struct page *p, struct error *e);
} places[] = {
	{ "@POLICY@", put_policy }, { "@TITLE@", put_title },	{ "@STYLE@", put_style },
	{ "@DATA@", put_data },	    { "@SCRIPT@", put_script },
};

/* The place that starts here, or NULL. */
static const struct place *find_place(const char *at, size_t left)
{
	size_t i, n;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		n = strlen(places[i].name);
		if (n <= left && !memcmp(at, places[i].name, n))
			return &places[i];
	}
	return NULL;
}

int flame_chart_html(FILE *f, const struct flame_chart *c, struct error *e)
{
	const char *text = (const char *)flame_page_frame, *end = text + flame_page_frame_len;
	struct page page = { f, c };
	const struct place *place;
	const char *at;
	int r = 0;

	while (r >= 0 && text < end) {
		at = memchr(text, '@', (size_t)(end - text));
		fwrite(text, 1, (size_t)((at ? at : end) - text), f);
		if (!at)
			break;
		place = find_place(at, (size_t)(end - at));
		text = at + (place ? strlen(place->name) : 1);
		if (place)
			r = place->put(&page, e);
		else
			fputc('@', f);
	}
	return r;
}
