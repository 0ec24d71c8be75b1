/* SPDX-License-Identifier: MIT */
/*
 * boot_svg_marks: the axis, the lines and columns through all rows, and the row of marks.
 *
 * Kernel messages are many: those of one pixel are one tick, in the colour of the worst and with the text of
 * all as far as there is room. A phase has its name beside it in the first lane where it does not cover another.
 */
#include <inttypes.h>
#include <string.h>

#include "chart/boot_svg.h"
#include "chart/boot_text.h"

#define LANES 4U
#define LANE_PX 13U
#define PHASE_COLUMNS 28U
#define TOLD_MAX 20U /* messages named in one title */
#define TICK_PX 90U

static enum boot_sign sign_of(const struct boot_mark *m)
{
	switch (m->type) {
	case BOOT_MARK_KERNEL:
		return m->level <= 3 ? SIGN_FAILURE : m->level == 4 ? SIGN_WARNING : SIGN_MESSAGE;
	case BOOT_MARK_PHASE:
		return SIGN_PHASE;
	case BOOT_MARK_TARGET:
		return SIGN_TARGET;
	case BOOT_MARK_STOP:
		return SIGN_STOP;
	case BOOT_MARK_CLOCK:
		return SIGN_CLOCK;
	case BOOT_MARK_MISSING:
		return SIGN_MISSING;
	default:
		return SIGNS;
	}
}

static bool is_in_sight(const struct boot_svg *s, uint64_t ns)
{
	return ns >= s->scale.from_ns && ns <= s->scale.to_ns;
}

static uint32_t pixel(const struct boot_svg *s, uint64_t ns)
{
	double x = boot_scale_x(&s->scale, ns);

	return x >= s->width ? s->width - 1 : (uint32_t)x;
}

static const char *relative(char text[BOOT_HEADING_TIME_LEN], const struct boot_svg *s, uint64_t ns)
{
	return boot_heading_time(text, (int64_t)(ns - s->layout->base_ns), 1000000);
}

/* --- axis, lines, gaps --- */

static uint64_t first_tick(const struct boot_svg *s, uint64_t step)
{
	uint64_t rest = (s->scale.from_ns - s->layout->base_ns) % step;

	return rest ? s->scale.from_ns + step - rest : s->scale.from_ns;
}

void boot_svg_put_axis(struct boot_svg *s)
{
	uint64_t step = boot_scale_step(&s->scale, TICK_PX), ns;
	char text[BOOT_HEADING_TIME_LEN];

	fputs("<g class=\"axis\">\n", s->f);
	for (ns = first_tick(s, step); ns <= s->scale.to_ns; ns += step)
		fprintf(s->f, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%s</text>\n",
			SVG_PLOT + boot_scale_x(&s->scale, ns), s->y + 11,
			boot_heading_time(text, (int64_t)(ns - s->layout->base_ns), step));
	fprintf(s->f, "<text class=\"about\" x=\"%u\" y=\"%g\">%s</text></g>\n", SVG_MARGIN,
		s->y + 11,
		s->layout->base_ns ? "since the recording began" : "since the kernel started");
	s->y += 18;
}

static void put_ticks(struct boot_svg *s, double from_y, double to_y)
{
	uint64_t step = boot_scale_step(&s->scale, TICK_PX), ns;

	fputs("<path class=\"grid\" d=\"", s->f);
	for (ns = first_tick(s, step); ns <= s->scale.to_ns; ns += step)
		fprintf(s->f, "M%.1f %gV%g", SVG_PLOT + boot_scale_x(&s->scale, ns), from_y, to_y);
	fputs("\"/>\n", s->f);
}

static void put_gaps(struct boot_svg *s, double from_y, double to_y)
{
	uint32_t px[2];
	size_t i;

	for (i = 0; i < s->b->n_gaps; i++) {
		const struct boot_gap *g = &s->b->gaps[i];

		if (!boot_scale_pixels(&s->scale, g->from_ns, g->to_ns, px))
			continue;
		boot_svg_see(s, SIGN_GAP);
		fprintf(s->f,
			"<rect class=\"gap\" x=\"%u\" y=\"%g\" width=\"%u\" height=\"%g\"><title>",
			SVG_PLOT + px[0], from_y, px[1] - px[0], to_y - from_y);
		boot_text_put_xml(s->f, g->why);
		fputs("</title></rect>\n", s->f);
	}
}

void boot_svg_put_grid(struct boot_svg *s, double from_y, double to_y)
{
	char text[BOOT_HEADING_TIME_LEN];
	size_t i;

	put_ticks(s, from_y, to_y);
	put_gaps(s, from_y, to_y);
	for (i = 0; i < s->b->n_marks; i++) {
		const struct boot_mark *m = &s->b->marks[i];
		enum boot_sign sign = sign_of(m);

		if (sign < SIGN_TARGET || sign >= SIGNS || !is_in_sight(s, m->ns))
			continue;
		boot_svg_see(s, sign);
		fprintf(s->f, "<path class=\"%s\" d=\"M%.1f %gV%g\"><title>", boot_signs[sign].key,
			SVG_PLOT + boot_scale_x(&s->scale, m->ns), from_y, to_y);
		boot_text_put_xml(s->f, m->text);
		fprintf(s->f, " (%s)</title></path>\n", relative(text, s, m->ns));
	}
}

/* --- the row of marks --- */

/* Kernel messages of one pixel. */
static size_t put_messages(struct boot_svg *s, size_t i)
{
	const struct boot_mark *m = &s->b->marks[i];
	uint32_t x = pixel(s, m->ns), n = 0;
	enum boot_sign worst = SIGN_MESSAGE;
	size_t k;

	for (k = i; k < s->b->n_marks && pixel(s, s->b->marks[k].ns) == x; k++)
		if (s->b->marks[k].type == BOOT_MARK_KERNEL && sign_of(&s->b->marks[k]) > worst)
			worst = sign_of(&s->b->marks[k]);
	boot_svg_see(s, worst);
	fprintf(s->f, "<path class=\"%s\" d=\"M%u.5 %gv9\"><title>", boot_signs[worst].key,
		SVG_PLOT + x, s->y + 2);
	for (; i < k; i++) {
		if (s->b->marks[i].type != BOOT_MARK_KERNEL)
			continue;
		if (n++ == TOLD_MAX)
			fputs("\n\xe2\x80\xa6", s->f);
		if (n > TOLD_MAX)
			continue;
		if (n > 1)
			fputc('\n', s->f);
		boot_text_put_xml(s->f, s->b->marks[i].text);
	}
	fputs("</title></path>\n", s->f);
	return k;
}

static bool put_kernel(struct boot_svg *s)
{
	bool any = false;
	size_t i = 0;

	while (i < s->b->n_marks) {
		if (s->b->marks[i].type != BOOT_MARK_KERNEL || !is_in_sight(s, s->b->marks[i].ns)) {
			i++;
			continue;
		}
		if (!any)
			fprintf(s->f,
				"<g class=\"marks\" data-row=\"kernel\"><text class=\"name\" "
				"x=\"%u\" y=\"%g\">Kernel messages</text>\n",
				SVG_MARGIN, s->y + 11);
		any = true;
		i = put_messages(s, i);
	}
	if (any)
		fputs("</g>\n", s->f);
	return any;
}

/* The first lane that is free at x, else none. */
static uint32_t choose_lane(double ends[LANES], double x, double width)
{
	uint32_t lane;

	for (lane = 0; lane < LANES; lane++)
		if (ends[lane] <= x) {
			ends[lane] = x + width;
			return lane;
		}
	return LANES;
}

/* The lane it is written in; LANES: it has only its tick. */
static uint32_t put_phase(struct boot_svg *s, const struct boot_mark *m, double ends[LANES])
{
	double x = boot_scale_x(&s->scale, m->ns), width;
	size_t columns = boot_text_columns(m->text);
	char text[BOOT_HEADING_TIME_LEN];
	uint32_t lane;

	boot_svg_see(s, SIGN_PHASE);
	width = (double)(columns > PHASE_COLUMNS ? PHASE_COLUMNS : columns) * SVG_COLUMN_PX + 10;
	/* What would stick out at the right has its text left of the tick, and is not packed. */
	lane = x + width > s->width ? LANES : choose_lane(ends, x, width);
	fprintf(s->f, "<g><path class=\"phase\" d=\"M%.1f %gv%u\"/>", SVG_PLOT + x, s->y,
		LANE_PX * (lane < LANES ? lane + 1 : 1));
	if (lane < LANES) {
		fprintf(s->f, "<text class=\"mark\" x=\"%.1f\" y=\"%g\">", SVG_PLOT + x + 3,
			s->y + LANE_PX * lane + 10);
		boot_text_put_cut(s->f, m->text, PHASE_COLUMNS);
		fputs("</text>", s->f);
	}
	fputs("<title>", s->f);
	boot_text_put_xml(s->f, m->text);
	fprintf(s->f, " (%s)</title></g>\n", relative(text, s, m->ns));
	return lane;
}

static void put_phases(struct boot_svg *s)
{
	double ends[LANES] = { 0 };
	uint32_t most = 0, lane, n = 0;
	size_t i;

	for (i = 0; i < s->b->n_marks; i++) {
		const struct boot_mark *m = &s->b->marks[i];

		if (m->type != BOOT_MARK_PHASE || !is_in_sight(s, m->ns))
			continue;
		if (!n++)
			fprintf(s->f,
				"<g class=\"marks\" data-row=\"phases\"><text class=\"name\" "
				"x=\"%u\" y=\"%g\">Phases</text>\n",
				SVG_MARGIN, s->y + 11);
		lane = put_phase(s, m, ends);
		if (lane < LANES && lane > most)
			most = lane;
	}
	if (!n)
		return;
	fputs("</g>\n", s->f);
	s->y += LANE_PX * (most + 1) + 4;
}

/* The names of the lines through all rows: target, stop and the like, at their upper end. */
static void put_flags(struct boot_svg *s)
{
	double ends[LANES] = { 0 };
	uint32_t most = 0, n = 0;
	size_t i;

	for (i = 0; i < s->b->n_marks; i++) {
		const struct boot_mark *m = &s->b->marks[i];
		enum boot_sign sign = sign_of(m);
		size_t columns = boot_text_columns(m->text);
		double x = boot_scale_x(&s->scale, m->ns), width, left;
		uint32_t lane;

		if (sign < SIGN_TARGET || sign >= SIGNS || !is_in_sight(s, m->ns))
			continue;
		width = (double)(columns > 48 ? 48 : columns) * SVG_COLUMN_PX + 8;
		left = x + width > s->width ? x - width : x;
		lane = choose_lane(ends, left < 0 ? 0 : left, width);
		if (lane == LANES)
			continue;
		n++;
		most = lane > most ? lane : most;
		fprintf(s->f,
			"<text class=\"mark flag-%s\" x=\"%.1f\" y=\"%g\" text-anchor=\"%s\">",
			boot_signs[sign].key, SVG_PLOT + (left < x ? x - 3 : x + 3),
			s->y + LANE_PX * lane + 10, left < x ? "end" : "start");
		boot_text_put_cut(s->f, m->text, 48);
		fputs("</text>\n", s->f);
	}
	if (n)
		s->y += LANE_PX * (most + 1) + 2;
}

void boot_svg_put_marks(struct boot_svg *s)
{
	put_flags(s);
	put_phases(s);
	if (put_kernel(s))
		s->y += LANE_PX + 4;
}
