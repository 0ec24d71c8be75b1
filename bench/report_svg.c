/* SPDX-License-Identifier: MIT */
/*
 * report_svg: bytes by nanoseconds per event, one panel per trace, one point per codec; see
 * report.h.
 *
 * Both axes are logarithmic, because the field reaches from 40 ns to 50 µs and from 1 to 160 bytes.
 * Down and left is better; the shaded corner is the goal: 0.72 of the size of `xz -9e` in less time
 * than `lz4 -1`. All panels share the axes, so they can be compared. A name goes to the first of
 * eight places around its point where it covers nothing that is drawn already.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "report.h"

#define PANEL_W 600.0
#define PANEL_H 400.0
#define LEFT 64.0
#define RIGHT 20.0
#define TOP 52.0
#define BOTTOM 52.0
#define COLUMNS 2
#define DOT 5.0
#define CHAR_W 6.7
#define CHAR_H 12.0
#define GOAL_SIZE 0.72
#define PLACES 10

struct box {
	double x0, y0, x1, y1;
};

struct plot {
	FILE *f;
	double ns_min, ns_max, bytes_min, bytes_max;
	double x0, y0; /* corner of the panel */
	struct box taken[2 * RESULT_ROWS + 1];
	size_t n_taken;
};

static double plot_x(const struct plot *p, double ns)
{
	double part = log(ns / p->ns_min) / log(p->ns_max / p->ns_min);

	return p->x0 + LEFT + part * (PANEL_W - LEFT - RIGHT);
}

static double plot_y(const struct plot *p, double bytes)
{
	double part = log(bytes / p->bytes_min) / log(p->bytes_max / p->bytes_min);

	return p->y0 + PANEL_H - BOTTOM - part * (PANEL_H - TOP - BOTTOM);
}

static bool drawable(const struct result *r)
{
	return r->encode_ns != RESULT_NONE && r->encode_ns && r->bytes;
}

/* The range of all points of all traces, to whole steps of 1, 2 and 5. */
static void find_range(struct plot *p, const struct bench_result *b)
{
	double ns, bytes;
	size_t i, k;

	p->ns_min = p->bytes_min = INFINITY;
	p->ns_max = p->bytes_max = 0;
	for (i = 0; i < b->n; i++)
		for (k = 0; k < b->trace[i].n_rows; k++) {
			if (!drawable(&b->trace[i].row[k]))
				continue;
			ns = result_ns(&b->trace[i].row[k], b->trace[i].row[k].encode_ns);
			bytes = result_bytes(&b->trace[i].row[k]);
			p->ns_min = fmin(p->ns_min, ns);
			p->ns_max = fmax(p->ns_max, ns);
			p->bytes_min = fmin(p->bytes_min, bytes);
			p->bytes_max = fmax(p->bytes_max, bytes);
		}
	p->ns_min /= 1.6;
	p->ns_max *= 2;
	p->bytes_min /= 1.6;
	p->bytes_max *= 1.6;
}

/* The next of 1, 2, 5, 10, 20, … */
static double next_step(double v)
{
	double lead = v / pow(10, floor(log10(v) + 1e-9));

	return lead > 4.5 || lead < 1.5 ? v * 2 : v * 2.5;
}

static void put_grid_x(const struct plot *p)
{
	double v, y = p->y0 + PANEL_H - BOTTOM;

	for (v = pow(10, floor(log10(p->ns_min))); v <= p->ns_max; v = next_step(v)) {
		if (v < p->ns_min)
			continue;
		fprintf(p->f,
			"<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
			"<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s%s"
			"</text>\n",
			plot_x(p, v), p->y0 + TOP, plot_x(p, v), y, plot_x(p, v), y + 16,
			report_number(v >= 1000 ? v / 1000 : v, 0), v >= 1000 ? " µs" : "");
	}
}

static void put_grid_y(const struct plot *p)
{
	double v, x = p->x0 + LEFT;

	for (v = pow(10, floor(log10(p->bytes_min))); v <= p->bytes_max; v = next_step(v)) {
		if (v < p->bytes_min)
			continue;
		fprintf(p->f,
			"<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
			"<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" "
			"text-anchor=\"end\">%s</text>\n",
			x, plot_y(p, v), p->x0 + PANEL_W - RIGHT, plot_y(p, v), x - 6,
			plot_y(p, v) + 4, report_number(v, v < 1 ? 1 : 0));
	}
}

/* The corner that is better than both opponents. */
static void put_goal(const struct plot *p, const struct trace_result *t)
{
	const struct result *xz = result_find(t, "xz-9e"), *lz4 = result_find(t, "lz4-1");
	double x, y;

	if (!xz || !lz4 || !drawable(lz4))
		return;
	x = plot_x(p, result_ns(lz4, lz4->encode_ns));
	y = plot_y(p, GOAL_SIZE * result_bytes(xz));
	fprintf(p->f,
		"<rect class=\"goal\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>"
		"<text class=\"tick\" x=\"%.1f\" y=\"%.1f\">goal</text>\n",
		p->x0 + LEFT, y, x - p->x0 - LEFT, p->y0 + PANEL_H - BOTTOM - y, p->x0 + LEFT + 6,
		p->y0 + PANEL_H - BOTTOM - 6);
}

/* The ring has a size but no time of ours: a line. */
static void put_ring(struct plot *p, const struct trace_result *t)
{
	const struct result *ring = result_find(t, "ring");
	double x = p->x0 + PANEL_W - RIGHT, y;

	if (!ring)
		return;
	y = plot_y(p, result_bytes(ring));
	fprintf(p->f,
		"<line class=\"ring\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
		"<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s: %s</text>\n",
		p->x0 + LEFT, y, x, y, x - 4, y - 4, ring->name,
		report_number(result_bytes(ring), 2));
	p->taken[p->n_taken++] = (struct box){ x - 110, y - CHAR_H - 4, x, y };
}

static bool is_free(const struct plot *p, struct box b)
{
	size_t i;

	if (b.x0 < p->x0 + LEFT || b.x1 > p->x0 + PANEL_W || b.y0 < p->y0 + TOP - 8 ||
	    b.y1 > p->y0 + PANEL_H - BOTTOM)
		return false;
	for (i = 0; i < p->n_taken; i++)
		if (b.x0 < p->taken[i].x1 && p->taken[i].x0 < b.x1 && b.y0 < p->taken[i].y1 &&
		    p->taken[i].y0 < b.y1)
			return false;
	return true;
}

/* Where a text of this width goes beside the point. */
static struct box find_place(const struct plot *p, double x, double y, double width)
{
	static const double places[PLACES][2] = {
		/* left edge in widths, middle in heights; the gap to the dot is added */
		{ 0, 0 },    { -1, 0 },	   { 0, -0.9 },	  { 0, 0.9 },  { -1, -0.9 },
		{ -1, 0.9 }, { -0.5, -1 }, { -0.5, 1.1 }, { 0, -1.8 }, { 0, 1.8 },
	};
	struct box b;
	size_t i;

	for (i = 0; i < PLACES; i++) {
		double gap = places[i][0] < -0.9 ? -DOT - 3 : places[i][0] < 0 ? 0 : DOT + 3;

		b.x0 = x + places[i][0] * width + gap;
		b.x1 = b.x0 + width;
		b.y0 = y + places[i][1] * (CHAR_H + 2) - CHAR_H / 2;
		b.y1 = b.y0 + CHAR_H;
		if (is_free(p, b))
			break;
	}
	return b;
}

static void put_points(struct plot *p, const struct trace_result *t)
{
	size_t i;

	for (i = 0; i < t->n_rows; i++) {
		const struct result *r = &t->row[i];
		double x, y;

		if (!drawable(r))
			continue;
		x = plot_x(p, result_ns(r, r->encode_ns));
		y = plot_y(p, result_bytes(r));
		p->taken[p->n_taken++] = (struct box){ x - DOT, y - DOT, x + DOT, y + DOT };
		fprintf(p->f, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n",
			r->ours ? "ours" : "theirs", x, y, DOT);
	}
}

static void put_labels(struct plot *p, const struct trace_result *t)
{
	size_t i;

	for (i = 0; i < t->n_rows; i++) {
		const struct result *r = &t->row[i];
		char label[96];
		struct box b;

		if (!drawable(r))
			continue;
		snprintf(label, sizeof(label), "%s: %s", r->name,
			 report_number(result_bytes(r), 2));
		b = find_place(p, plot_x(p, result_ns(r, r->encode_ns)), plot_y(p, result_bytes(r)),
			       CHAR_W * (double)strlen(label));
		p->taken[p->n_taken++] = b;
		fprintf(p->f, "<text class=\"label %s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
			r->ours ? "ours-text" : "", b.x0, b.y1 - 2, label);
	}
}

/* Names come from file names. */
static void put_escaped(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (strchr("<>&\"", *text))
			fprintf(f, "&#%d;", *text);
		else
			fputc(*text, f);
	}
}

static void put_panel(struct plot *p, const struct trace_result *t)
{
	fprintf(p->f, "<text class=\"title\" x=\"%.1f\" y=\"%.1f\">", p->x0 + LEFT, p->y0 + 32);
	put_escaped(p->f, t->name);
	fprintf(p->f, " <tspan class=\"tick\">%llu events</tspan></text>\n",
		(unsigned long long)t->events);
	put_goal(p, t);
	put_grid_x(p);
	put_grid_y(p);
	fprintf(p->f,
		"<text class=\"axis\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">encode, ns per "
		"event</text><text class=\"axis\" transform=\"translate(%.1f %.1f) rotate(-90)\" "
		"text-anchor=\"middle\">bytes per event</text>\n",
		p->x0 + (PANEL_W + LEFT) / 2, p->y0 + PANEL_H - 14, p->x0 + 20,
		p->y0 + PANEL_H / 2);
	p->n_taken = 0;
	put_ring(p, t);
	put_points(p, t);
	put_labels(p, t);
}

static void put_style(FILE *f)
{
	fprintf(f, "<style>text{font-family:Helvetica,Arial,sans-serif;fill:#222}"
		   ".title{font-size:16px;font-weight:bold}.axis{font-size:12px}"
		   ".tick{font-size:11px;fill:#666;font-weight:normal}.label{font-size:12px}"
		   ".ours-text{fill:#0b57a4;font-weight:bold}"
		   ".grid{stroke:#ddd;stroke-width:1}.goal{fill:#dff0d8}"
		   ".ring{stroke:#999;stroke-width:1;stroke-dasharray:4 3}"
		   ".ours{fill:#0b57a4}.theirs{fill:#999}</style>\n");
}

int report_svg(const char *path, const struct bench_result *b, struct error *e)
{
	size_t rows = (b->n + COLUMNS - 1) / COLUMNS, i;
	double width = PANEL_W * (b->n < COLUMNS ? 1 : COLUMNS), height = PANEL_H * (double)rows;
	struct plot p = { .f = fopen(path, "w") };

	if (!p.f)
		return error_set(e, errno, "cannot write %s: %s", path, strerror(errno));
	fprintf(p.f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		"viewBox=\"0 0 %.0f %.0f\">\n<rect width=\"100%%\" height=\"100%%\" "
		"fill=\"#fff\"/>\n",
		width, height, width, height);
	put_style(p.f);
	find_range(&p, b);
	for (i = 0; i < b->n; i++) {
		p.x0 = PANEL_W * (double)(i % COLUMNS);
		p.y0 = PANEL_H * (double)(i / COLUMNS);
		put_panel(&p, &b->trace[i]);
	}
	fprintf(p.f, "</svg>\n");
	if (ferror(p.f) | fclose(p.f))
		return error_set(e, EIO, "cannot write %s", path);
	return 0;
}
