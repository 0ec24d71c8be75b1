/* SPDX-License-Identifier: MIT */
/*
 * boot_svg_machine: the rows of the machine, one path for each area and line.
 *
 * A path has a corner only where its height changes by a tenth of a pixel, so quiet stretches cost nothing.
 */
#include "chart/boot_svg.h"

#include <math.h>
#include <string.h>

#include "chart/boot_text.h"

#define TALL 48.0
#define MIDDLE 34.0
#define LOW 16.0
#define SPACE 8.0

/* --- where values come from --- */

/* A column of the points, and what it is measured against. */
struct column {
	const struct boot *b;
	const struct boot_disk *disk; /* NULL: of the machine */
	size_t at;
	enum { OF_CPUS, OF_TIME, PER_SECOND, OF_MEMORY, PLAIN } measure;
};

static uint64_t member(const void *row, size_t at)
{
	uint64_t v;

	memcpy(&v, (const char *)row + at, sizeof(v));
	return v;
}

static const void *row_of(const struct column *c, size_t i)
{
	return c->disk ? (const void *)&c->disk->points[i] : (const void *)&c->b->points[i];
}

static uint64_t column_ns(const void *data, size_t i)
{
	const struct column *c = data;

	return c->disk ? c->disk->points[i].ns : c->b->points[i].ns;
}

static double whole(const struct column *c, size_t i)
{
	const struct boot_point *p = c->disk ? NULL : &c->b->points[i];

	switch (c->measure) {
	case OF_CPUS:
		return (double)(p->user_ns + p->system_ns + p->iowait_ns + p->idle_ns + p->irq_ns +
				p->steal_ns);
	case OF_TIME:
		return (double)(column_ns(c, i) - column_ns(c, i - 1));
	case PER_SECOND:
		return (double)(column_ns(c, i) - column_ns(c, i - 1)) / 1e9;
	case OF_MEMORY:
		return (double)(p->memory_used_kib + p->memory_cached_kib + p->memory_free_kib);
	default:
		return 1;
	}
}

static double column_value(const void *data, size_t i)
{
	const struct column *c = data;
	double all = whole(c, i), value = (double)member(row_of(c, i), c->at);

	return all > 0 ? value / all : 0;
}

static void fill(struct boot_svg *s, const struct column *c, double *out)
{
	struct boot_series series = { c, c->disk ? c->disk->n_points : c->b->n_points, column_ns,
				      column_value };

	boot_layout_series(&s->scale, &series, out, s->pixels[3]);
}

static double largest(const double *values, uint32_t n)
{
	double most = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		if (values[i] > most)
			most = values[i];
	return most;
}

/* --- how they are drawn --- */

struct frame {
	double y, height, scale; /* scale: the value that is as high as the frame */
};

static double height_of(const struct frame *f, double value)
{
	double part = value / f->scale;

	part = part < 0 ? 0 : part > 1 ? 1 : part;
	return round((f->y + f->height * (1 - part)) * 10) / 10;
}

/* The edge of values from pixel `from` up to `to`, or back. */
static void put_edge(struct boot_svg *s, const struct frame *f, const double *values,
		     const uint32_t range[2], bool back)
{
	uint32_t n = range[1] - range[0], i;
	double last = NAN, y;

	for (i = 0; i < n; i++) {
		uint32_t x = back ? range[1] - 1 - i : range[0] + i;

		y = height_of(f, values ? values[x] : 0);
		if (y == last)
			continue;
		if (i)
			fprintf(s->f, "H%u", SVG_PLOT + x + (back ? 1 : 0));
		fprintf(s->f, "V%g", y);
		last = y;
	}
	fprintf(s->f, "H%u", SVG_PLOT + (back ? range[0] : range[1]));
}

/* The next stretch of pixels that have a value. */
static bool next_range(const double *values, uint32_t n, uint32_t range[2])
{
	uint32_t i = range[1];

	while (i < n && isnan(values[i]))
		i++;
	range[0] = i;
	while (i < n && !isnan(values[i]))
		i++;
	range[1] = i;
	return range[0] < range[1];
}

static void put_area(struct boot_svg *s, const struct frame *f, enum boot_sign sign,
		     const double *lower, const double *upper)
{
	uint32_t range[2] = { 0, 0 };

	if (!lower && largest(upper, s->width) <= 0)
		return;
	boot_svg_see(s, sign);
	fprintf(s->f, "<path class=\"%s\" d=\"", boot_signs[sign].key);
	while (next_range(upper, s->width, range)) {
		fprintf(s->f, "M%u %g", SVG_PLOT + range[0], f->y + f->height);
		put_edge(s, f, upper, range, false);
		put_edge(s, f, lower, range, true);
		fputc('z', s->f);
	}
	fputs("\"/>\n", s->f);
}

static void put_line(struct boot_svg *s, const struct frame *f, enum boot_sign sign,
		     const double *values)
{
	uint32_t range[2] = { 0, 0 };

	if (largest(values, s->width) <= 0)
		return;
	boot_svg_see(s, sign);
	fprintf(s->f, "<path class=\"%s\" d=\"", boot_signs[sign].key);
	while (next_range(values, s->width, range)) {
		fprintf(s->f, "M%u %g", SVG_PLOT + range[0], height_of(f, values[range[0]]));
		put_edge(s, f, values, range, false);
	}
	fputs("\"/>\n", s->f);
}

/* Puts a column on top of what is in the first scratch row; that then is the new top. */
static void put_stacked(struct boot_svg *s, const struct frame *f, enum boot_sign sign,
			const struct column *c)
{
	double *low = s->pixels[0], *high = s->pixels[1];
	bool any = false;
	uint32_t i;

	fill(s, c, high);
	for (i = 0; i < s->width; i++) {
		any = any || high[i] > 0;
		if (!isnan(high[i]))
			high[i] += isnan(low[i]) ? 0 : low[i];
	}
	if (!any)
		return;
	put_area(s, f, sign, low, high);
	memcpy(low, high, s->width * sizeof(*low));
}

static void put_frame(struct boot_svg *s, const struct frame *f, const char *name,
		      const char *about)
{
	fprintf(s->f, "<g class=\"machine\" data-row=\"");
	boot_text_put_xml(s->f, name);
	fprintf(s->f, "\"><rect class=\"box\" x=\"%u\" y=\"%g\" width=\"%u\" height=\"%g\"/>\n",
		SVG_PLOT, f->y, s->width, f->height);
	fprintf(s->f, "<text class=\"name\" x=\"%u\" y=\"%g\">", SVG_MARGIN, f->y + 12);
	boot_text_put_cut(s->f, name, 24);
	fprintf(s->f, "</text><text class=\"about\" x=\"%u\" y=\"%g\" text-anchor=\"end\">",
		SVG_PLOT - 8, f->y + 12);
	boot_text_put_xml(s->f, about);
	fputs("</text>\n", s->f);
}

static void put_scale(struct boot_svg *s, const struct frame *f, const char *most)
{
	fprintf(s->f, "<text class=\"about\" x=\"%u\" y=\"%g\">%s</text>", SVG_PLOT + s->width + 4,
		f->y + 9, most);
	if (f->height > LOW)
		fprintf(s->f, "<text class=\"about\" x=\"%u\" y=\"%g\">0</text>",
			SVG_PLOT + s->width + 4, f->y + f->height);
	fputs("</g>\n", s->f);
	s->y = f->y + f->height + SPACE;
}

static void clear(struct boot_svg *s)
{
	uint32_t i;

	for (i = 0; i < s->width; i++)
		s->pixels[0][i] = 0;
}

/* --- the rows --- */

static void put_cpu(struct boot_svg *s)
{
	static const struct {
		enum boot_sign sign;
		size_t at;
	} parts[] = {
		{ SIGN_CPU_USER, offsetof(struct boot_point, user_ns) },
		{ SIGN_CPU_SYSTEM, offsetof(struct boot_point, system_ns) },
		{ SIGN_CPU_IRQ, offsetof(struct boot_point, irq_ns) },
		{ SIGN_CPU_STEAL, offsetof(struct boot_point, steal_ns) },
		{ SIGN_CPU_IOWAIT, offsetof(struct boot_point, iowait_ns) },
	};
	struct frame f = { s->y, TALL, 1 };
	char about[32];
	size_t i;

	if (s->b->n_points < 2)
		return;
	snprintf(about, sizeof(about), "%u CPU%s", s->b->cpus, s->b->cpus == 1 ? "" : "s");
	put_frame(s, &f, "CPU", about);
	clear(s);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct column c = { s->b, NULL, parts[i].at, OF_CPUS };

		put_stacked(s, &f, parts[i].sign, &c);
	}
	put_scale(s, &f, "100 %");
}

static void format_rate(char text[32], double rate)
{
	static const char *const units[] = { "B/s", "kB/s", "MB/s", "GB/s" };
	int i = 0;

	while (rate >= 1000 && i < 3) {
		rate /= 1000;
		i++;
	}
	snprintf(text, 32, rate < 10 ? "%.1f %s" : "%.0f %s", rate, units[i]);
}

static void put_disk(struct boot_svg *s, const struct boot_disk *d)
{
	struct column read = { s->b, d, offsetof(struct boot_disk_point, read_bytes), PER_SECOND };
	struct column written = { s->b, d, offsetof(struct boot_disk_point, written_bytes),
				  PER_SECOND };
	struct column busy = { s->b, d, offsetof(struct boot_disk_point, busy_ns), OF_TIME };
	struct frame f = { s->y, MIDDLE, 1 }, percent = f;
	char most[32], about[64];
	double top = 0;
	uint32_t i;

	fill(s, &read, s->pixels[0]);
	fill(s, &written, s->pixels[1]);
	for (i = 0; i < s->width; i++)
		if (s->pixels[0][i] + s->pixels[1][i] > top)
			top = s->pixels[0][i] + s->pixels[1][i];
	f.scale = top > 0 ? top : 1;
	format_rate(most, top);
	snprintf(about, sizeof(about), "up to %s", most);
	put_frame(s, &f, d->name, about);
	clear(s);
	put_stacked(s, &f, SIGN_DISK_READ, &read);
	put_stacked(s, &f, SIGN_DISK_WRITE, &written);
	fill(s, &busy, s->pixels[1]);
	put_line(s, &percent, SIGN_DISK_BUSY, s->pixels[1]);
	put_scale(s, &f, "100 %");
}

static uint64_t memory_total(const struct boot *b)
{
	uint64_t most = 0, all;
	size_t i;

	for (i = 0; i < b->n_points; i++) {
		all = b->points[i].memory_used_kib + b->points[i].memory_cached_kib +
		      b->points[i].memory_free_kib;
		if (all > most)
			most = all;
	}
	return most;
}

static void put_memory(struct boot_svg *s)
{
	static const struct {
		enum boot_sign sign;
		size_t at;
	} parts[] = {
		{ SIGN_MEMORY_USED, offsetof(struct boot_point, memory_used_kib) },
		{ SIGN_MEMORY_CACHED, offsetof(struct boot_point, memory_cached_kib) },
		{ SIGN_MEMORY_FREE, offsetof(struct boot_point, memory_free_kib) },
	};
	struct column swap = { s->b, NULL, offsetof(struct boot_point, swap_used_kib), PLAIN };
	struct frame f = { s->y, MIDDLE, 1 }, own;
	uint64_t total = memory_total(s->b);
	char about[32];
	size_t i;

	if (!total)
		return;
	snprintf(about, sizeof(about), "%.0f MiB", (double)total / 1024);
	put_frame(s, &f, "Memory", about);
	clear(s);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct column c = { s->b, NULL, parts[i].at, OF_MEMORY };

		put_stacked(s, &f, parts[i].sign, &c);
	}
	fill(s, &swap, s->pixels[1]);
	own = f;
	own.scale = largest(s->pixels[1], s->width) * 1.2;
	put_line(s, &own, SIGN_SWAP, s->pixels[1]);
	put_scale(s, &f, "100 %");
}

static void put_pressure(struct boot_svg *s, enum boot_resource resource)
{
	static const char *const names[] = { "Pressure: CPU", "Pressure: disk", "Pressure: memory",
					     "Pressure: interrupts" };
	struct column some = { s->b, NULL,
			       offsetof(struct boot_point, some_ns) + resource * sizeof(uint64_t),
			       OF_TIME };
	struct column full = { s->b, NULL,
			       offsetof(struct boot_point, full_ns) + resource * sizeof(uint64_t),
			       OF_TIME };
	struct frame f = { s->y, LOW, 1 };

	fill(s, &some, s->pixels[0]);
	fill(s, &full, s->pixels[1]);
	if (largest(s->pixels[0], s->width) <= 0 && largest(s->pixels[1], s->width) <= 0)
		return;
	put_frame(s, &f, names[resource], "");
	put_area(s, &f, SIGN_SOME, NULL, s->pixels[0]);
	put_area(s, &f, SIGN_FULL, NULL, s->pixels[1]);
	put_scale(s, &f, "100 %");
}

void boot_svg_put_machine(struct boot_svg *s)
{
	size_t i;
	int k;

	put_cpu(s);
	for (i = 0; i < s->b->n_disks; i++)
		if (!s->b->disks[i].is_part && s->b->disks[i].n_points > 1)
			put_disk(s, &s->b->disks[i]);
	put_memory(s);
	for (k = 0; k < BOOT_RESOURCES; k++)
		put_pressure(s, (enum boot_resource)k);
}
