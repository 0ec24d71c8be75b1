/* SPDX-License-Identifier: MIT */
/*
 * boot_chart_data: what the page's script draws: one boot or two, with their headings, what every sign means, which
 * processes belong together, and the path that was asked for. page/types.d.ts has its types.
 *
 * It stands in a page (boot_chart_html.c) or comes from a collector to a page that has the script already.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analysis/boot_diff.h"
#include "analysis/boot_path.h"
#include "chart/boot_chart.h"
#include "chart/boot_heading.h"
#include "chart/boot_json.h"
#include "chart/boot_layout.h"
#include "chart/boot_sign.h"
#include "chart/boot_text.h"

struct page {
	FILE *f;
	const struct boot *b;
	const struct boot_chart_options *o;
};

static void put_signs(FILE *f)
{
	uint32_t i;

	fputs(",\"signs\":[", f);
	for (i = 0; i < SIGNS; i++) {
		const struct boot_sign_look *l = &boot_signs[i];

		fprintf(f,
			"%s{\"key\":\"%s\",\"group\":\"%s\",\"shape\":\"%s\",\"colour\":\"%s\","
			"\"glyph\":\"%s\",\"text\":\"%s\"}",
			i ? ",\n" : "", l->key, l->group, boot_sign_shapes[l->shape], l->colour,
			l->glyph, l->text);
	}
	fputs("],\n\"ramp\":[", f);
	for (i = 0; i < BOOT_SIGN_LEVELS; i++)
		fprintf(f, "%s\"#%06x\"", i ? "," : "", boot_sign_running(i));
	fputc(']', f);
}

static int put_heading(FILE *f, const struct boot *b, uint64_t base_ns, struct error *e)
{
	CLEANUP(boot_heading) struct boot_heading *h = NULL;
	int r = boot_heading_new(&h, b, base_ns, e);
	size_t i;

	if (r < 0)
		return r;
	fputs("{\"title\":", f);
	boot_text_put_json(f, h->title);
	fputs(",\"facts\":[", f);
	for (i = 0; i < h->n_facts; i++) {
		fprintf(f, "%s[\"%s\",", i ? "," : "", h->facts[i].label);
		boot_text_put_json(f, h->facts[i].text);
		fputc(']', f);
	}
	fputs("],\"notes\":[", f);
	for (i = 0; i < h->n_notes; i++) {
		fputs(i ? "," : "", f);
		boot_text_put_json(f, h->notes[i]);
	}
	fputs("]}", f);
	return 0;
}

/* A boot with what the options make of it; the rows themselves the page lays out. */
static int put_boot(const struct page *p, const struct boot *b, struct error *e)
{
	CLEANUP(boot_layout) struct boot_layout *l = NULL;
	struct boot_chart_options o = *p->o;
	int r;

	if (b != p->b) {
		o.from_ns = o.from_ns > p->b->from_ns ? o.from_ns - p->b->from_ns + b->from_ns : 0;
		o.to_ns = o.to_ns > p->b->from_ns ? o.to_ns - p->b->from_ns + b->from_ns : 0;
	}
	r = boot_layout_new(&l, b, &o, e);
	if (r < 0)
		return r;
	fprintf(p->f,
		"{\"base_ns\":%" PRIu64 ",\"from_ns\":%" PRIu64 ",\"to_ns\":%" PRIu64
		",\"heading\":",
		l->base_ns, l->from_ns, l->to_ns);
	r = put_heading(p->f, b, l->base_ns, e);
	if (r < 0)
		return r;
	fputs(",\"boot\":", p->f);
	r = boot_json_write(p->f, b, e);
	fputc('}', p->f);
	return r;
}

static int64_t index_or_none(uint32_t process)
{
	return process == BOOT_NONE ? -1 : (int64_t)process;
}

static int put_pairs(const struct page *p, struct error *e)
{
	CLEANUP(boot_diff) struct boot_diff *d = NULL;
	int r = boot_diff_new(&d, p->b, p->o->other);
	size_t i;

	if (r < 0)
		return error_set(e, -r, "cannot compare the boots: %s", strerror(-r));
	fprintf(p->f,
		",\n\"pairs\":{\"target_ns\":%" PRId64 ",\"n_new\":%zu,\"n_gone\":%zu,\"list\":[",
		d->target_ns, d->n_new, d->n_gone);
	for (i = 0; i < d->n_pairs; i++) {
		const struct boot_pair *q = &d->pairs[i];

		fprintf(p->f,
			"%s[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
			",%" PRId64 "]",
			i ? ",\n" : "\n", index_or_none(q->a), index_or_none(q->b), q->start_ns,
			q->end_ns, q->length_ns, q->cpu_ns, q->disk_ns);
	}
	fputs("]}", p->f);
	return 0;
}

static int put_path(const struct page *p, struct error *e)
{
	CLEANUP(boot_path) struct boot_path *path = NULL;
	uint64_t ns = p->o->path_ns	? p->o->path_ns
		      : p->b->target_ns ? p->b->target_ns
					: p->b->to_ns;
	size_t i;
	int r;

	if (!p->b->n_processes)
		return 0;
	r = boot_path_new(&path, p->b, p->o->path_of - 1, ns);
	if (r == -ENODATA || r == -ENOENT)
		return 0;
	if (r < 0)
		return error_set(e, -r, "cannot find the critical path: %s", strerror(-r));
	fprintf(p->f, ",\n\"path\":{\"to_ns\":%" PRIu64 ",\"steps\":[", path->to_ns);
	for (i = 0; i < path->n_steps; i++) {
		const struct boot_step *s = &path->steps[i];

		fprintf(p->f, "%s[%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%d]", i ? ",\n" : "\n",
			s->process, s->from_ns, s->to_ns, s->is_inferred);
	}
	fputs("]}", p->f);
	return 0;
}

static int put_all(const struct page *p, struct error *e)
{
	int r;

	fprintf(p->f, "{\"version\":1,\"options\":{\"min_ns\":%" PRIu64 ",\"kernel\":%s}",
		p->o->min_ns, p->o->kernel ? "true" : "false");
	put_signs(p->f);
	fputs(",\n\"boots\":[", p->f);
	r = put_boot(p, p->b, e);
	if (r >= 0 && p->o->other) {
		fputs(",\n", p->f);
		r = put_boot(p, p->o->other, e);
	}
	fputc(']', p->f);
	if (r >= 0 && p->o->other)
		r = put_pairs(p, e);
	if (r >= 0 && p->o->path)
		r = put_path(p, e);
	fputc('}', p->f);
	return r;
}

int boot_chart_data(FILE *f, const struct boot *b, const struct boot_chart_options *o,
		    struct error *e)
{
	const struct page page = { f, b, o };
	int r = put_all(&page, e);

	if (r >= 0 && ferror(f))
		r = error_set(e, EIO, "cannot write the chart: %s", strerror(errno ? errno : EIO));
	return r;
}
