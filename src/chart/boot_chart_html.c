/* SPDX-License-Identifier: MIT */
/*
 * boot_chart_html: a boot as one page that needs nothing else: no network, no other file.
 *
 * The page, its style and its script are files in page/, embedded at build time. The page has places,
 * @NAME@, that are filled here. Its policy names the script and the style by their hashes, so nothing else in
 * the file could run, whatever a process calls itself; and the data (boot_chart_data.c) is JSON without a single '<'.
 */
#include <errno.h>
#include <string.h>

#include "chart/boot_chart.h"
#include "chart/boot_page.h"
#include "chart/boot_text.h"

struct page {
	FILE *f;
	const struct boot *b;
	const struct boot_chart_options *o;
};

/* --- page --- */

static int put_data(const struct page *p, struct error *e)
{
	return boot_chart_data(p->f, p->b, p->o, e);
}

static int put_policy(const struct page *p, struct error *e)
{
	(void)e;
	fprintf(p->f,
		"default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; "
		"base-uri 'none'; form-action 'none'",
		boot_page_script_sha256, boot_page_style_sha256);
	return 0;
}

static int put_title(const struct page *p, struct error *e)
{
	(void)e;
	fputs("Boot of ", p->f);
	boot_text_put_xml(p->f, *p->b->device ? p->b->device : "a machine");
	return 0;
}

static int put_style(const struct page *p, struct error *e)
{
	(void)e;
	fwrite(boot_page_style, 1, boot_page_style_len, p->f);
	return 0;
}

static int put_script(const struct page *p, struct error *e)
{
	(void)e;
	fwrite(boot_page_script, 1, boot_page_script_len, p->f);
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

int boot_chart_html(FILE *f, const struct boot *b, const struct boot_chart_options *o,
		    struct error *e)
{
	const char *text = (const char *)boot_page_frame, *end = text + boot_page_frame_len;
	struct page page = { f, b, o };
	int r = 0;

	while (r >= 0 && text < end) {
		const char *at = memchr(text, '@', (size_t)(end - text));
		const struct place *place;

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
	if (r >= 0 && ferror(f))
		r = error_set(e, EIO, "cannot write the chart: %s", strerror(errno ? errno : EIO));
	return r;
}
