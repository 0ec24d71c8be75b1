/* SPDX-License-Identifier: MIT */
/*
 * boot_chart_svg: a boot as an SVG without script, for papers, tickets and viewers that know nothing else.
 *
 * Its height and its legend are known when all is drawn, so that goes to memory first: heading, legend and rows
 * are groups that are moved to their places. Colours are classes with one rule each; the background is white, for
 * it is printed.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memfile.h"
#include "chart/boot_svg.h"
#include "chart/boot_text.h"

#define SECOND_PX 60.0
#define WIDTH_LEAST 200U
#define WIDTH_SMALL 900U
#define WIDTH_LARGE 4000U
#define LEGEND_COLUMN 440U
#define LEGEND_ROW 17U

/* --- head --- */

static void put_rules(FILE *f)
{
	uint32_t i;

	fputs("<style>\n"
	      "text{font:11px \"DejaVu Sans\",system-ui,Helvetica,Arial,sans-serif;fill:#263238}\n"
	      ".title{font-size:18px;font-weight:600}.fact{fill:#455a64}.tag{fill:#78909c}"
	      ".note{fill:#b3261e}\n"
	      ".name,.comm{font-weight:600}.about,.pid{fill:#78909c}.args{fill:#607d8b}"
	      ".mark{font-size:10px}.glyph{font-size:12px}\n"
	      ".box{fill:#fafbfc;stroke:#e3e8ec}.grid{stroke:#e3e8ec;fill:none}\n",
	      f);
	for (i = 0; i < SIGNS; i++) {
		const struct boot_sign_look *l = &boot_signs[i];

		switch (l->shape) {
		case SHAPE_HATCH:
			fprintf(f, ".%s{fill:url(#hatch-%s)}\n", l->key, l->key);
			break;
		case SHAPE_LINE:
		case SHAPE_WHISKER:
		case SHAPE_TICK:
		case SHAPE_FRAME:
			fprintf(f, ".%s{fill:none;stroke:%s}\n", l->key, l->colour);
			break;
		case SHAPE_DASH:
			fprintf(f, ".%s{fill:none;stroke:%s;stroke-dasharray:4 3}\n", l->key,
				l->colour);
			break;
		default:
			fprintf(f, ".%s{fill:%s}\n", l->key, l->colour);
		}
	}
	for (i = 0; i < BOOT_SIGN_LEVELS; i++)
		fprintf(f, ".r%u{fill:#%06x}", i, boot_sign_running(i));
	fputs("\n.fork{stroke-width:.7;stroke-dasharray:1 2}.path,.inferred{stroke-width:1.6}"
	      ".target{stroke-width:1.5}.folded{stroke-width:2}.ghost{stroke-dasharray:2 2}\n"
	      ".flag-target{fill:#2e7d32;font-weight:600}.flag-stop{fill:#37474f}"
	      ".flag-clock{fill:#8e24aa}.flag-missing{fill:#c62828}\n"
	      ".kernel .comm{fill:#4a6f94;font-style:italic}.self .comm{fill:#00796b}\n"
	      "</style>\n",
	      f);
}

static void put_hatches(FILE *f)
{
	uint32_t i;

	fputs("<defs>\n", f);
	for (i = 0; i < SIGNS; i++) {
		const struct boot_sign_look *l = &boot_signs[i];

		if (l->shape != SHAPE_HATCH)
			continue;
		fprintf(f,
			"<pattern id=\"hatch-%s\" width=\"5\" height=\"5\" "
			"patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(%s)\">"
			"<rect width=\"5\" height=\"5\" fill=\"%s\" fill-opacity=\".22\"/>"
			"<rect width=\"2\" height=\"5\" fill=\"%s\" fill-opacity=\".8\"/>"
			"</pattern>\n",
			l->key, i == SIGN_UNKNOWN ? "-45" : "45", l->colour, l->colour);
	}
	fputs("</defs>\n", f);
}

/* --- heading --- */

static double put_fact(FILE *f, const struct boot_fact *fact, double y, uint32_t columns)
{
	fprintf(f, "<text class=\"fact\" x=\"%u\" y=\"%g\"><tspan class=\"tag\">%s </tspan>",
		SVG_MARGIN, y, fact->label);
	boot_text_put_cut(f, fact->text, columns);
	fputs("</text>\n", f);
	return y + 15;
}

static int put_heading(struct boot_svg *s, struct error *e)
{
	CLEANUP(boot_heading) struct boot_heading *h = NULL;
	int r = boot_heading_new(&h, s->b, s->layout->base_ns, e);
	uint32_t columns = (uint32_t)((SVG_LABEL + s->width) / SVG_COLUMN_PX) - 20;
	size_t i;

	if (r < 0)
		return r;
	fputs("<g class=\"heading\">\n", s->f);
	fprintf(s->f, "<text class=\"title\" x=\"%u\" y=\"%g\">", SVG_MARGIN, s->y + 18);
	boot_text_put_cut(s->f, h->title, 80);
	if (s->diff)
		fputs(s->is_second ? " (second)" : " (first)", s->f);
	fputs("</text>\n", s->f);
	s->y += 38;
	for (i = 0; i < h->n_facts; i++)
		s->y = put_fact(s->f, &h->facts[i], s->y, columns);
	for (i = 0; i < h->n_notes; i++) {
		fprintf(s->f, "<text class=\"note\" x=\"%u\" y=\"%g\">", SVG_MARGIN, s->y);
		boot_text_put_cut(s->f, h->notes[i], columns);
		fputs("</text>\n", s->f);
		s->y += 15;
	}
	fputs("</g>\n", s->f);
	return 0;
}

/* --- legend --- */

static void put_swatch(FILE *f, const struct boot_sign_look *l, double x, double y)
{
	uint32_t i;

	switch (l->shape) {
	case SHAPE_RAMP:
		for (i = 0; i < BOOT_SIGN_LEVELS; i++)
			fprintf(f,
				"<rect class=\"r%u\" x=\"%g\" y=\"%g\" width=\"3\" height=\"10\"/>",
				i, x + 3.0 * i, y);
		break;
	case SHAPE_THIN:
		fprintf(f, "<rect class=\"%s\" x=\"%g\" y=\"%g\" width=\"48\" height=\"4\"/>",
			l->key, x, y + 3);
		break;
	case SHAPE_LINE:
	case SHAPE_DASH:
		fprintf(f, "<path class=\"%s\" d=\"M%g %gh48\"/>", l->key, x, y + 5);
		break;
	case SHAPE_TICK:
		fprintf(f, "<path class=\"%s\" d=\"M%g %gv10\"/>", l->key, x + 24, y);
		break;
	case SHAPE_WHISKER:
		fprintf(f, "<path class=\"%s\" d=\"M%g %gv5m0 -2.5h24m0 -2.5v5\"/>", l->key, x + 12,
			y + 2.5);
		break;
	case SHAPE_GLYPH:
		fprintf(f, "<text class=\"%s\" x=\"%g\" y=\"%g\" text-anchor=\"middle\">%s</text>",
			l->key, x + 24, y + 9, l->glyph);
		break;
	default:
		fprintf(f, "<rect class=\"%s\" x=\"%g\" y=\"%g\" width=\"48\" height=\"10\"/>",
			l->key, x, y);
	}
}

static double put_legend(struct boot_svg *s, double y)
{
	uint32_t columns = (SVG_LABEL + s->width) / LEGEND_COLUMN, n = 0, i;
	const char *group = "";

	columns = columns ? columns : 1;
	fputs("<g class=\"legend\">\n", s->f);
	for (i = 0; i < SIGNS; i++) {
		const struct boot_sign_look *l = &boot_signs[i];
		double x;

		if (!s->seen[i])
			continue;
		if (strcmp(group, l->group) != 0) {
			y += n ? LEGEND_ROW + 4 : 0;
			n = 0;
			group = l->group;
		} else if (n == columns) {
			y += LEGEND_ROW;
			n = 0;
		}
		x = SVG_MARGIN + (double)n++ * LEGEND_COLUMN;
		fprintf(s->f, "<g data-sign=\"%s\">", l->key);
		put_swatch(s->f, l, x, y);
		fprintf(s->f, "<text x=\"%g\" y=\"%g\">", x + 56, y + 9);
		fprintf(s->f, "%s</text></g>\n", l->text);
	}
	fputs("</g>\n", s->f);
	return y + LEGEND_ROW + 10;
}

/* --- a boot --- */

static int find_pairs(struct boot_svg *s, struct error *e)
{
	size_t i;

	free(s->pair_of);
	s->pair_of = malloc((s->b->n_processes + 1) * sizeof(*s->pair_of));
	if (!s->pair_of)
		return error_set(e, ENOMEM, "cannot draw the chart: out of memory");
	for (i = 0; i < s->b->n_processes; i++)
		s->pair_of[i] = BOOT_NONE;
	for (i = 0; s->diff && i < s->diff->n_pairs; i++) {
		uint32_t mine = s->is_second ? s->diff->pairs[i].b : s->diff->pairs[i].a;

		if (mine != BOOT_NONE)
			s->pair_of[mine] = (uint32_t)i;
	}
	return 0;
}

static int lay_out(struct boot_svg *s, const struct boot *b, struct error *e)
{
	struct boot_chart_options o = *s->o;
	int r;

	/* The times of the options are of the first boot. */
	if (s->is_second) {
		uint64_t first = s->diff->a->from_ns;

		o.from_ns = o.from_ns > first ? o.from_ns - first + b->from_ns : 0;
		o.to_ns = o.to_ns > first ? o.to_ns - first + b->from_ns : 0;
	}
	s->b = b;
	boot_layout_free(take_ptr(s->layout));
	r = boot_layout_new(&s->layout, b, &o, e);
	return r < 0 ? r : find_pairs(s, e);
}

/* How wide a second is, the same for both. */
static uint64_t length_of(const struct boot *b, const struct boot_chart_options *o)
{
	uint64_t length = b->to_ns - b->from_ns, other;

	if (o->to_ns > o->from_ns && o->to_ns < b->to_ns)
		length = o->to_ns - (o->from_ns > b->from_ns ? o->from_ns : b->from_ns);
	else if (o->from_ns > b->from_ns && o->from_ns < b->to_ns)
		length = b->to_ns - o->from_ns;
	other = o->other ? o->other->to_ns - o->other->from_ns : 0;
	if (o->other && !o->to_ns && other > length)
		length = other;
	return length ? length : 1;
}

static void set_width(struct boot_svg *s, const struct boot *b)
{
	double wish = (double)length_of(b, s->o) / 1e9 * SECOND_PX;
	uint32_t around = SVG_PLOT + SVG_RIGHT + SVG_MARGIN;

	if (s->o->width)
		s->width = s->o->width > around + WIDTH_LEAST ? s->o->width - around : WIDTH_LEAST;
	else
		s->width = wish < WIDTH_SMALL	? WIDTH_SMALL
			   : wish > WIDTH_LARGE ? WIDTH_LARGE
						: (uint32_t)wish;
	if (s->width > BOOT_LAYOUT_WIDTH_MAX)
		s->width = BOOT_LAYOUT_WIDTH_MAX;
}

static int put_rows(struct boot_svg *s, struct error *e)
{
	uint64_t length = length_of(s->diff ? s->diff->a : s->b, s->o);
	char *text = NULL;
	size_t len = 0;
	double from_y;
	FILE *f = s->f, *rows;
	int r;

	s->scale = (struct boot_scale){ s->layout->from_ns, s->layout->from_ns + length, s->width };
	boot_svg_put_axis(s);
	from_y = s->y;
	/* The grid is below the rows and as high as they are. */
	rows = memfile_open(&text, &len);
	if (!rows)
		return error_set(e, errno, "cannot draw the chart: %s", strerror(errno));
	s->f = rows;
	boot_svg_put_machine(s);
	boot_svg_put_marks(s);
	s->y += 6;
	r = boot_svg_put_processes(s, e);
	s->f = f;
	if (fclose(rows) && r >= 0)
		r = error_set(e, ENOMEM, "cannot draw the chart: out of memory");
	if (r >= 0) {
		boot_svg_put_grid(s, from_y, s->y + 4);
		fwrite(text, 1, len, f);
		s->y += 6;
		boot_svg_put_axis(s);
	}
	free(text);
	return r;
}

static int put_boot(struct boot_svg *s, const struct boot *b, struct error *e)
{
	int r = lay_out(s, b, e);

	if (r < 0)
		return r;
	fprintf(s->f, "<g class=\"boot\">\n");
	if (s->diff) {
		r = put_heading(s, e);
		s->y += 6;
	}
	if (r >= 0)
		r = put_rows(s, e);
	fputs("</g>\n", s->f);
	s->y += 12;
	return r;
}

/* --- all --- */

static int start(struct boot_svg *s, const struct boot *b, struct error *e)
{
	size_t i;

	set_width(s, b);
	s->runs = calloc(s->width, sizeof(*s->runs));
	for (i = 0; i < SVG_SCRATCH; i++)
		s->pixels[i] = calloc(s->width, sizeof(*s->pixels[i]));
	if (!s->runs || !s->pixels[0] || !s->pixels[1] || !s->pixels[2] || !s->pixels[3])
		return error_set(e, ENOMEM, "cannot draw the chart: out of memory");
	return 0;
}

static void finish(struct boot_svg *s)
{
	size_t i;

	boot_layout_free(s->layout);
	free(s->pair_of);
	free(s->runs);
	for (i = 0; i < SVG_SCRATCH; i++)
		free(s->pixels[i]);
}

/* The top, when all below it is known: `body` is moved to below it. */
static int put_document(struct boot_svg *s, FILE *f, const char *body, struct error *e)
{
	uint32_t width = SVG_PLOT + s->width + SVG_RIGHT + SVG_MARGIN;
	double height = s->y;
	char *text = NULL;
	size_t len = 0;
	FILE *top = memfile_open(&text, &len);
	int r = 0;

	if (!top)
		return error_set(e, errno, "cannot draw the chart: %s", strerror(errno));
	s->f = top;
	s->y = SVG_MARGIN;
	if (!s->diff)
		r = put_heading(s, e);
	s->y = put_legend(s, s->y + 6);
	if (fclose(top) && r >= 0)
		r = error_set(e, ENOMEM, "cannot draw the chart: out of memory");
	fprintf(f,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg "
		"xmlns=\"http://www.w3.org/2000/svg\" "
		"width=\"%u\" height=\"%.0f\" viewBox=\"0 0 %u %.0f\">\n<title>",
		width, ceil(height + s->y), width, ceil(height + s->y));
	boot_text_put_xml(f, *s->b->device ? s->b->device : "boot");
	fputs("</title>\n", f);
	put_rules(f);
	put_hatches(f);
	fputs("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", f);
	fwrite(text, 1, len, f);
	fprintf(f, "<g class=\"chart\" transform=\"translate(0 %g)\">\n%s</g>\n</svg>\n", s->y,
		body);
	free(text);
	return r;
}

int boot_chart_svg(FILE *f, const struct boot *b, const struct boot_chart_options *o,
		   struct error *e)
{
	CLEANUP(boot_diff) struct boot_diff *diff = NULL;
	_cleanup_free_ char *body = NULL;
	struct boot_svg s = { .o = o };
	size_t len = 0;
	int r = o->other ? boot_diff_new(&diff, b, o->other) : 0;

	if (r < 0)
		return error_set(e, -r, "cannot compare the boots: %s", strerror(-r));
	s.diff = diff;
	r = start(&s, b, e);
	s.f = r < 0 ? NULL : memfile_open(&body, &len);
	if (r >= 0 && !s.f)
		r = error_set(e, errno, "cannot draw the chart: %s", strerror(errno));
	if (r >= 0) {
		FILE *memory = s.f;

		r = put_boot(&s, b, e);
		s.is_second = true;
		if (r >= 0 && o->other)
			r = put_boot(&s, o->other, e);
		s.is_second = false;
		if (fclose(memory) && r >= 0)
			r = error_set(e, ENOMEM, "cannot draw the chart: out of memory");
	}
	if (r >= 0)
		r = put_document(&s, f, body, e);
	finish(&s);
	if (r >= 0 && ferror(f))
		r = error_set(e, EIO, "cannot write the chart: %s", strerror(errno ? errno : EIO));
	return r;
}
