/* SPDX-License-Identifier: MIT */
/*
 * chart_fake: charts of boots that nobody recorded, for tests that look at pictures.
 *
 *	chart_fake OUT.html|OUT.svg|OUT.json [exact] [hostile] [cut] [kernel] [path] [pair] [more=N] [spans=N] [min=MS] [width=PX]
 */
#include <stdio.h>
#include <string.h>

#include "chart/boot_chart.h"
#include "chart/boot_json.h"
#include "tools/fake_boot.h"

static unsigned long number(const char *word)
{
	return strtoul(strchr(word, '=') + 1, NULL, 10);
}

static void take(const char *word, struct fake_boot_options *o, struct boot_chart_options *c,
		 bool *pair)
{
	o->exact |= !strcmp(word, "exact");
	o->hostile |= !strcmp(word, "hostile");
	o->cut |= !strcmp(word, "cut");
	c->kernel |= !strcmp(word, "kernel");
	c->path |= !strcmp(word, "path");
	*pair |= !strcmp(word, "pair");
	if (!strncmp(word, "more=", 5))
		o->more = (uint32_t)number(word);
	if (!strncmp(word, "spans=", 6))
		o->spans = (uint32_t)number(word);
	if (!strncmp(word, "min=", 4))
		c->min_ns = number(word) * FAKE_MS;
	if (!strncmp(word, "width=", 6))
		c->width = (uint32_t)number(word);
}

int main(int argc, char **argv)
{
	struct fake_boot_options o = { 0 }, late;
	struct boot_chart_options c = { 0 };
	struct error e = ERROR_INIT;
	struct boot *b, *other = NULL;
	bool pair = false;
	const char *end;
	FILE *f;
	int i, r;

	for (i = 2; i < argc; i++)
		take(argv[i], &o, &c, &pair);
	f = argc > 1 ? fopen(argv[1], "w") : NULL;
	end = argc > 1 ? strrchr(argv[1], '.') : NULL;
	if (!f || !end)
		return 2;
	b = fake_boot_new(&o);
	late = o;
	late.late = true;
	if (pair)
		c.other = other = fake_boot_new(&late);
	r = !strcmp(end, ".svg")    ? boot_chart_svg(f, b, &c, &e)
	    : !strcmp(end, ".json") ? boot_json_write(f, b, &e)
				    : boot_chart_html(f, b, &c, &e);
	if (r < 0)
		fprintf(stderr, "%s\n", e.text);
	boot_free(b);
	boot_free(other);
	return fclose(f) || r < 0 ? 1 : 0;
}
