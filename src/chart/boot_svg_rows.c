/* SPDX-License-Identifier: MIT */
/*
 * boot_svg_rows: the rows of the processes.
 *
 * Each is a group with its pid, a title that browsers show on hover, its name at the left and one path for
 * each colour it has. Lines of descent are one path for all, drawn below the bars; the critical path is drawn
 * above them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chart/boot_svg.h"
#include "chart/boot_text.h"

#define INDENT 9U
#define INDENT_MOST 12U
#define WHISKER_PX 2.0 /* an error that is smaller cannot be seen */
#define STEP_NS 1000000U

static double row_y(const struct boot_svg *s, size_t row)
{
	return s->y + (double)row * SVG_ROW;
}

/* How high a state is within its row, and from where: what gets a process on is a full bar. */
static void bar_of(uint8_t state, double *ret_from, double *ret_height)
{
	bool thin = state == BOOT_SLEEPING || state == BOOT_ZOMBIE;

	*ret_height = thin ? 4 : SVG_BAR;
	*ret_from = (SVG_ROW - *ret_height) / 2;
}

/* --- the bar --- */

/* One colour of a bar: a state, of running one level of it. */
struct colour {
	uint8_t state, level;
};

static void put_colour(struct boot_svg *s, const struct boot_stretch *runs, size_t n,
		       struct colour c, double y)
{
	double from, height;
	bool any = false;
	size_t i;

	bar_of(c.state, &from, &height);
	for (i = 0; i < n; i++) {
		uint32_t width = runs[i].to_px - runs[i].from_px;

		if (runs[i].state != c.state || runs[i].level != c.level)
			continue;
		if (!any && c.state == BOOT_RUNNING)
			fprintf(s->f, "<path class=\"r%u\" d=\"", c.level);
		else if (!any)
			fprintf(s->f, "<path class=\"%s\" d=\"", boot_signs[c.state].key);
		any = true;
		fprintf(s->f, "M%u %gh%uv%gh-%uz", SVG_PLOT + runs[i].from_px, y + from, width,
			height, width);
	}
	if (any) {
		boot_svg_see(s, (enum boot_sign)c.state);
		fputs("\"/>", s->f);
	}
}

static void put_runs(struct boot_svg *s, const struct boot_stretch *runs, size_t n, double y)
{
	struct colour c = { 0, 0 };

	for (c.state = 0; c.state < BOOT_STATES; c.state++)
		for (c.level = 0; c.level < (c.state == BOOT_RUNNING ? BOOT_SIGN_LEVELS : 1);
		     c.level++)
			put_colour(s, runs, n, c, y);
}

static void put_whisker(struct boot_svg *s, uint64_t at_ns, uint64_t error_ns, double y)
{
	double length = (double)(s->scale.to_ns - s->scale.from_ns);
	double half = (double)error_ns / length * s->width;
	double x = boot_scale_x(&s->scale, at_ns), a = x - half, b = x + half;

	if (half < WHISKER_PX || x < 0 || x > s->width)
		return;
	a = a < 0 ? 0 : a;
	b = b > s->width ? s->width : b;
	boot_svg_see(s, SIGN_ERROR);
	fprintf(s->f, "<path class=\"error\" d=\"M%.1f %gv5m0 -2.5H%.1fm0 -2.5v5\"/>", SVG_PLOT + a,
		y + SVG_ROW / 2.0 - 2.5, SVG_PLOT + b);
}

static void put_glyph(struct boot_svg *s, enum boot_sign sign, double x, double y)
{
	boot_svg_see(s, sign);
	fprintf(s->f, "<text class=\"%s glyph\" x=\"%.1f\" y=\"%g\">%s</text>",
		boot_signs[sign].key, x, y + 12.5, boot_signs[sign].glyph);
}

static void put_ends(struct boot_svg *s, const struct boot_process *p, double y)
{
	uint32_t px[2];

	if (!boot_scale_pixels(&s->scale, p->from_ns, p->to_ns, px))
		return;
	if (p->was_there && p->from_ns >= s->scale.from_ns)
		put_glyph(s, SIGN_BEFORE, SVG_PLOT + px[0] - 9.0, y);
	else
		put_whisker(s, p->from_ns, p->from_error_ns, y);
	if (p->is_alive && p->to_ns <= s->scale.to_ns)
		put_glyph(s, SIGN_ALIVE, SVG_PLOT + px[1] + 1.0, y);
	else if (!p->is_alive && p->exit_code > 0 && p->to_ns <= s->scale.to_ns)
		put_glyph(s, SIGN_FAILED, SVG_PLOT + px[1] + 1.0, y);
	if (!p->is_alive)
		put_whisker(s, p->to_ns, p->to_error_ns, y);
}

/* --- names --- */

static void put_label(struct boot_svg *s, const struct boot_row *row, double y)
{
	const struct boot_process *p = &s->b->processes[row->process];
	const struct boot_name *name = boot_process_name(p);
	uint32_t depth = row->depth < INDENT_MOST ? row->depth : INDENT_MOST;
	double x = SVG_MARGIN + depth * INDENT;
	size_t columns = (size_t)((SVG_PLOT - 16 - x) / SVG_COLUMN_PX);
	size_t used;

	if (p->is_kernel)
		boot_svg_see(s, SIGN_KERNEL);
	if (p->is_self)
		boot_svg_see(s, SIGN_SELF);
	fprintf(s->f, "<text class=\"label%s%s\" x=\"%g\" y=\"%g\">", p->is_kernel ? " kernel" : "",
		p->is_self ? " self" : "", x, y + 12.5);
	if (p->is_self)
		fprintf(s->f, "%s ", boot_signs[SIGN_SELF].glyph);
	fputs("<tspan class=\"comm\">", s->f);
	if (p->is_kernel)
		fputc('[', s->f);
	used = 1 + boot_text_put_cut(s->f, name->comm, columns);
	if (p->is_kernel)
		fputc(']', s->f);
	used += (size_t)fprintf(s->f, "</tspan><tspan class=\"pid\"> %" PRId32, p->pid) - 26;
	if (row->folded)
		used += (size_t)fprintf(s->f, " +%" PRIu32, row->folded);
	fputs("</tspan>", s->f);
	if (*name->args && used + 4 < columns) {
		fputs("<tspan class=\"args\"> ", s->f);
		boot_text_put_cut(s->f, name->args, columns - used - 2);
		fputs("</tspan>", s->f);
	}
	fputs("</text>", s->f);
}

static void put_exit(FILE *f, int32_t code)
{
	if (code < 0)
		return;
	if (code & 0x7f)
		fprintf(f, ", killed by signal %d", code & 0x7f);
	else
		fprintf(f, ", exit code %d", code >> 8 & 0xff);
}

static void put_title(struct boot_svg *s, const struct boot_process *p)
{
	char from[BOOT_HEADING_TIME_LEN], to[BOOT_HEADING_TIME_LEN], sum[BOOT_HEADING_TIME_LEN];
	uint64_t base = s->layout->base_ns;
	const struct boot_name *name = boot_process_name(p);
	int i;

	fputs("<title>", s->f);
	boot_text_put_xml(s->f, name->comm);
	fprintf(s->f, ", pid %" PRId32 ", child of %" PRId32 "\n", p->pid, p->parent_pid);
	if (*name->args) {
		boot_text_put_xml(s->f, name->args);
		fputc('\n', s->f);
	}
	fprintf(s->f, "%s%s to %s%s", p->was_there ? "before " : "",
		boot_heading_time(from, (int64_t)(p->from_ns - base), STEP_NS),
		boot_heading_time(to, (int64_t)(p->to_ns - base), STEP_NS),
		p->is_alive ? " and on" : "");
	put_exit(s->f, p->is_alive ? -1 : p->exit_code);
	for (i = 0; i < BOOT_STATES; i++)
		if (p->state_ns[i])
			fprintf(s->f, "\n%s %s", boot_state_words[i],
				boot_heading_time(sum, (int64_t)p->state_ns[i], STEP_NS));
	fputs("</title>", s->f);
}

/* --- two boots --- */

static void put_delta(struct boot_svg *s, const struct boot_process *p,
		      const struct boot_pair *pair, double y)
{
	enum boot_sign sign = pair->start_ns > 0 ? SIGN_LATER : SIGN_EARLIER;
	uint64_t size = pair->start_ns < 0 ? -(uint64_t)pair->start_ns : (uint64_t)pair->start_ns;
	uint64_t other = pair->start_ns > 0 ? p->from_ns - size : p->from_ns + size;
	const struct boot_process *first = &s->diff->a->processes[pair->a];
	uint64_t off = s->b->from_ns - s->diff->a->from_ns;
	uint32_t px[2];

	if (boot_scale_pixels(&s->scale, first->from_ns + off, first->to_ns + off, px)) {
		boot_svg_see(s, SIGN_GHOST);
		fprintf(s->f,
			"<rect class=\"ghost\" x=\"%u.5\" y=\"%g\" width=\"%u\" height=\"%u\"/>",
			SVG_PLOT + px[0], y + 1.5, px[1] - px[0], SVG_ROW - 3);
	}
	if (size < (s->scale.to_ns - s->scale.from_ns) / s->width * 2)
		return;
	if (!boot_scale_pixels(&s->scale, pair->start_ns > 0 ? other : p->from_ns,
			       pair->start_ns > 0 ? p->from_ns : other, px))
		return;
	boot_svg_see(s, sign);
	fprintf(s->f, "<rect class=\"%s\" x=\"%u\" y=\"%g\" width=\"%u\" height=\"3\"/>",
		boot_signs[sign].key, SVG_PLOT + px[0], y + SVG_ROW - 3, px[1] - px[0]);
}

static void put_difference(struct boot_svg *s, const struct boot_row *row, double y)
{
	const struct boot_pair *pair;

	if (!s->diff || s->pair_of[row->process] == BOOT_NONE)
		return;
	pair = &s->diff->pairs[s->pair_of[row->process]];
	if (pair->a == BOOT_NONE)
		put_glyph(s, SIGN_NEW, SVG_PLOT - 14.0, y);
	else if (pair->b == BOOT_NONE)
		put_glyph(s, SIGN_GONE, SVG_PLOT - 14.0, y);
	else if (s->is_second)
		put_delta(s, &s->b->processes[row->process], pair, y);
}

/* --- lines --- */

static void put_forks(struct boot_svg *s)
{
	bool any = false;
	size_t i;

	for (i = 0; i < s->layout->n_rows; i++) {
		const struct boot_row *row = &s->layout->rows[i];
		const struct boot_process *p = &s->b->processes[row->process];
		double x = boot_scale_x(&s->scale, p->from_ns);

		if (row->parent == BOOT_NONE || p->was_there || x < 0 || x > s->width)
			continue;
		if (!any)
			fputs("<path class=\"fork\" d=\"", s->f);
		any = true;
		fprintf(s->f, "M%.1f %gV%g", SVG_PLOT + x, row_y(s, row->parent) + SVG_ROW / 2.0,
			row_y(s, i) + SVG_ROW / 2.0);
	}
	if (any) {
		boot_svg_see(s, SIGN_FORK);
		fputs("\"/>\n", s->f);
	}
}

/* Those that are folded into a row. */
static void put_folded(struct boot_svg *s)
{
	uint32_t i, row, px[2];

	for (i = 0; i < s->b->n_processes; i++) {
		const struct boot_process *p = &s->b->processes[i];

		row = s->layout->row_of[i];
		if (row == BOOT_NONE || s->layout->rows[row].process == i ||
		    !boot_scale_pixels(&s->scale, p->from_ns, p->to_ns, px))
			continue;
		boot_svg_see(s, SIGN_FOLDED);
		fprintf(s->f, "<path class=\"folded\" d=\"M%u %gh%u\">", SVG_PLOT + px[0],
			row_y(s, row) + SVG_ROW - 1.5, px[1] - px[0]);
		put_title(s, p);
		fputs("</path>\n", s->f);
	}
}

static void put_step(struct boot_svg *s, const struct boot_step *step, double *last_y)
{
	uint32_t row = s->layout->row_of[step->process], px[2];
	enum boot_sign sign = step->is_inferred ? SIGN_INFERRED : SIGN_PATH;
	double y;

	if (row == BOOT_NONE || !boot_scale_pixels(&s->scale, step->from_ns, step->to_ns, px))
		return;
	y = row_y(s, row);
	boot_svg_see(s, sign);
	fprintf(s->f, "<path class=\"%s\" d=\"M%u.5 %gv%gh%uv-%gz", boot_signs[sign].key,
		SVG_PLOT + px[0], y + 1.5, SVG_ROW - 3.0, px[1] - px[0], SVG_ROW - 3.0);
	if (*last_y >= 0 && *last_y != y)
		fprintf(s->f, "M%u.5 %gV%g", SVG_PLOT + px[0], *last_y + SVG_ROW / 2.0,
			y + SVG_ROW / 2.0);
	fputs("\"/>\n", s->f);
	*last_y = y;
}

static int put_path(struct boot_svg *s, struct error *e)
{
	CLEANUP(boot_path) struct boot_path *path = NULL;
	uint64_t ns = s->o->path_ns	? s->o->path_ns
		      : s->b->target_ns ? s->b->target_ns
					: s->b->to_ns;
	double last_y = -1;
	size_t i;
	int r;

	if (!s->o->path || !s->b->n_processes)
		return 0;
	r = boot_path_new(&path, s->b, s->o->path_of - 1, ns);
	if (r == -ENODATA || r == -ENOENT)
		return 0;
	if (r < 0)
		return error_set(e, -r, "cannot find the critical path: %s", strerror(-r));
	fputs("<g class=\"steps\">\n", s->f);
	for (i = 0; i < path->n_steps; i++)
		put_step(s, &path->steps[i], &last_y);
	fputs("</g>\n", s->f);
	return 0;
}

/* --- all --- */

static void put_row(struct boot_svg *s, size_t i)
{
	const struct boot_row *row = &s->layout->rows[i];
	const struct boot_process *p = &s->b->processes[row->process];
	double y = row_y(s, i);

	fprintf(s->f, "<g class=\"process\" data-pid=\"%" PRId32 "\">", p->pid);
	put_title(s, p);
	put_label(s, row, y);
	put_difference(s, row, y);
	put_runs(s, s->runs, boot_layout_runs(&s->scale, p, s->runs), y);
	put_ends(s, p, y);
	fputs("</g>\n", s->f);
}

int boot_svg_put_processes(struct boot_svg *s, struct error *e)
{
	size_t i;
	int r;

	put_forks(s);
	for (i = 0; i < s->layout->n_rows && !ferror(s->f); i++)
		put_row(s, i);
	put_folded(s);
	r = put_path(s, e);
	s->y += (double)s->layout->n_rows * SVG_ROW;
	return r;
}
