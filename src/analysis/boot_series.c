/* SPDX-License-Identifier: MIT */
/*
 * boot_series: the rows of the machine: CPUs, memory, pressure, disks.
 *
 * The records of one pass make a point. They need not have one tick (a bootchart's archive has several files), so a
 * point is complete when something that it has already is told of another time. Counters are absolute; a point has what
 * they grew by. What is not told has not changed: of a disk that did nothing there are no records, so the time up to
 * the look before its next one gets a point of its own, in which it did nothing. Disks and pressure are looked at less
 * often than CPUs; how often is seen in the whole boot, so they wait until it is complete. Pressure is spread over the
 * points since the look before.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/boot_build.h"
#include "base/saturate.h"

static uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0; /* a CPU that was off starts again */
}

/* --- points --- */

static int close_point(struct boot_build *b)
{
	struct boot_series *s = &b->series;
	struct boot_point *p = &s->point;
	struct boot *boot = b->boot;
	int r;

	if (!s->is_open)
		return 0;
	if (!boot->n_points || p->ns > boot->points[boot->n_points - 1].ns) {
		r = boot_build_grow(&boot->points, &s->room_points, boot->n_points,
				    sizeof(*boot->points), BOOT_POINTS_MAX);
		if (r < 0)
			return r;
		boot->points[boot->n_points++] = *p;
	}
	s->last_ns = p->ns;
	s->is_open = false;
	memset(s->has, 0, sizeof(s->has));
	p->user_ns = p->system_ns = p->iowait_ns = p->idle_ns = p->irq_ns = p->steal_ns = 0;
	return 0;
}

/* The time of a point is that of its rows of CPUs, if it has any. */
static int open_point(struct boot_build *b, uint8_t kind, uint64_t ns)
{
	struct boot_series *s = &b->series;
	int r;

	if (s->is_open && s->has[kind] && s->told_ns[kind] != ns) {
		r = close_point(b);
		if (r < 0)
			return r;
	}
	if (!s->is_open || kind == BOOT_CPU || (!s->has[BOOT_CPU] && kind == BOOT_PASS))
		s->point.ns = ns;
	s->is_open = true;
	s->has[kind] = true;
	s->told_ns[kind] = ns;
	return 0;
}

static int get_counter(struct boot_counter **list, size_t *n, size_t *room, uint32_t key,
		       struct boot_counter **ret)
{
	size_t i = key < *n && (*list)[key].key == key ? key : 0; /* most are in order */
	int r;

	for (; i < *n; i++) {
		if ((*list)[i].key == key) {
			*ret = &(*list)[i];
			return 0;
		}
	}
	r = boot_build_grow(list, room, *n, sizeof(**list), BOOT_DISKS_MAX);
	if (r < 0)
		return r;
	*ret = &(*list)[(*n)++];
	(*ret)->key = key;
	(*ret)->told_ns = UINT64_MAX;
	return 0;
}

static int put_cpu(struct boot_build *b, const struct boot_event *ev, uint64_t ns)
{
	struct boot_series *s = &b->series;
	struct boot_point *p = &s->point;
	const uint64_t *n = ev->number;
	struct boot_counter *c;
	uint64_t *o;
	int r = get_counter(&s->cpus, &s->n_cpus, &s->room_cpus, ev->key, &c);

	if (r < 0)
		return r == -E2BIG ? 0 : r;
	o = c->number;
	if (c->told_ns != UINT64_MAX) {
		p->user_ns += grown(n[BOOT_CPU_USER], o[BOOT_CPU_USER]) +
			      grown(n[BOOT_CPU_NICE], o[BOOT_CPU_NICE]);
		p->system_ns += grown(n[BOOT_CPU_SYSTEM], o[BOOT_CPU_SYSTEM]);
		p->idle_ns += grown(n[BOOT_CPU_IDLE], o[BOOT_CPU_IDLE]);
		p->iowait_ns += grown(n[BOOT_CPU_IOWAIT], o[BOOT_CPU_IOWAIT]);
		p->irq_ns += grown(n[BOOT_CPU_IRQ], o[BOOT_CPU_IRQ]) +
			     grown(n[BOOT_CPU_SOFTIRQ], o[BOOT_CPU_SOFTIRQ]);
		p->steal_ns += grown(n[BOOT_CPU_STEAL], o[BOOT_CPU_STEAL]);
	}
	memcpy(c->number, n, sizeof(c->number));
	c->told_ns = ns;
	return 0;
}

static void put_memory(struct boot_point *p, const uint64_t *n)
{
	uint64_t cached = n[BOOT_MEMORY_BUFFERS] + n[BOOT_MEMORY_CACHED];
	uint64_t rest = n[BOOT_MEMORY_FREE] + cached;

	p->memory_free_kib = n[BOOT_MEMORY_FREE];
	p->memory_cached_kib = cached;
	p->memory_used_kib = grown(n[BOOT_MEMORY_TOTAL], rest);
	p->swap_used_kib = grown(n[BOOT_MEMORY_SWAP_TOTAL], n[BOOT_MEMORY_SWAP_FREE]);
}

static int put_pressure(struct boot_series *s, const struct boot_event *ev, uint64_t ns)
{
	uint64_t *before;
	int r;

	if (ev->key >= BOOT_RESOURCES)
		return 0;
	before = s->pressure[ev->key];
	if (s->has_pressure[ev->key]) {
		r = boot_build_grow(&s->bursts, &s->room_bursts, s->n_bursts, sizeof(*s->bursts),
				    BOOT_POINTS_MAX);
		if (r < 0)
			return r;
		s->bursts[s->n_bursts++] = (struct boot_burst){
			.ns = ns,
			.some_ns = grown(ev->number[BOOT_PRESSURE_SOME], before[0]),
			.full_ns = grown(ev->number[BOOT_PRESSURE_FULL], before[1]),
			.resource = ev->key,
		};
	}
	before[0] = ev->number[BOOT_PRESSURE_SOME];
	before[1] = ev->number[BOOT_PRESSURE_FULL];
	s->has_pressure[ev->key] = true;
	return 0;
}

static void put_levels(struct boot_point *p, const uint64_t *n)
{
	p->runnable =
		n[BOOT_PASS_RUNNABLE] > UINT32_MAX ? UINT32_MAX : (uint32_t)n[BOOT_PASS_RUNNABLE];
	p->blocked =
		n[BOOT_PASS_BLOCKED] > UINT32_MAX ? UINT32_MAX : (uint32_t)n[BOOT_PASS_BLOCKED];
}

/* --- disks --- */

/* The disk of the boot with this key; both lists are side by side. */
static int get_disk(struct boot_build *b, uint32_t key, struct boot_counter **ret_counter,
		    struct boot_disk **ret)
{
	struct boot_series *s = &b->series;
	struct boot *boot = b->boot;
	size_t before = s->n_disks, at;
	int r = get_counter(&s->disks, &s->n_disks, &s->room_disks, key, ret_counter);

	if (r < 0)
		return r;
	if (s->n_disks > before) {
		size_t room = s->room_boot_disks;

		r = boot_build_grow(&boot->disks, &s->room_boot_disks, boot->n_disks,
				    sizeof(*boot->disks), BOOT_DISKS_MAX);
		if (r >= 0)
			r = boot_build_grow(&s->room_disk_points, &room, boot->n_disks,
					    sizeof(*s->room_disk_points), BOOT_DISKS_MAX);
		if (r < 0)
			return r;
		memset(&boot->disks[boot->n_disks++], 0, sizeof(*boot->disks));
	}
	at = (size_t)(*ret_counter - s->disks);
	*ret = &boot->disks[at];
	return 0;
}

static int push_disk_point(struct boot_build *b, struct boot_disk *d,
			   const struct boot_disk_point *p)
{
	size_t *room = &b->series.room_disk_points[d - b->boot->disks];
	int r;

	if (d->n_points && d->points[d->n_points - 1].ns >= p->ns) {
		d->points[d->n_points - 1].read_bytes += p->read_bytes;
		d->points[d->n_points - 1].written_bytes += p->written_bytes;
		d->points[d->n_points - 1].busy_ns += p->busy_ns;
		return 0;
	}
	r = boot_build_grow(&d->points, room, d->n_points, sizeof(*d->points), BOOT_POINTS_MAX);
	if (r < 0)
		return r;
	d->points[d->n_points++] = *p;
	return 0;
}

static int put_disk(struct boot_build *b, const struct boot_event *ev, uint64_t ns)
{
	struct boot_disk_point p = { .ns = ns };
	const uint64_t *n = ev->number;
	struct boot_counter *c;
	struct boot_disk *d;
	int r = get_disk(b, ev->key, &c, &d);

	if (r < 0)
		return r == -E2BIG ? 0 : r;
	if (c->told_ns != UINT64_MAX) {
		p.read_bytes = grown(n[BOOT_DISK_READ_BYTES], c->number[BOOT_DISK_READ_BYTES]);
		p.written_bytes =
			grown(n[BOOT_DISK_WRITTEN_BYTES], c->number[BOOT_DISK_WRITTEN_BYTES]);
		p.busy_ns = grown(n[BOOT_DISK_BUSY], c->number[BOOT_DISK_BUSY]);
	}
	r = push_disk_point(b, d, &p);
	memcpy(c->number, n, sizeof(c->number));
	c->told_ns = ns;
	return r;
}

static int put_disk_name(struct boot_build *b, const struct boot_event *ev)
{
	struct boot_counter *c;
	struct boot_disk *d;
	char *name;
	int r = get_disk(b, ev->key, &c, &d);

	if (r < 0)
		return r == -E2BIG ? 0 : r;
	name = strndup(ev->text ? ev->text : "", ev->text ? ev->text_len : 0);
	if (!name)
		return -ENOMEM;
	free(d->name);
	d->name = name;
	return 0;
}

/* sda1 of sda, mmcblk0p2 of mmcblk0: the whole's name, `p` behind a digit, a number. */
static bool is_part_of(const char *name, const char *whole)
{
	size_t len = strlen(whole);

	if (!len || strncmp(name, whole, len) != 0 || !name[len])
		return false;
	name += len;
	if (isdigit((unsigned char)whole[len - 1]) && *name++ != 'p')
		return false;
	return *name && strspn(name, "0123456789") == strlen(name);
}

/* Made of other disks: what it reads, they read. */
static bool is_stacked(const char *name)
{
	return !strncmp(name, "dm-", 3) || !strncmp(name, "loop", 4) || is_part_of(name, "md") ||
	       !strncmp(name, "md", 2) || !strncmp(name, "bcache", 6);
}

static void find_parts(struct boot *boot)
{
	bool is_real = false;
	size_t i, k;

	for (i = 0; i < boot->n_disks; i++)
		is_real = is_real || !is_stacked(boot->disks[i].name);
	for (i = 0; i < boot->n_disks; i++) {
		boot->disks[i].is_part = is_real && is_stacked(boot->disks[i].name);
		for (k = 0; k < boot->n_disks; k++)
			if (is_part_of(boot->disks[i].name, boot->disks[k].name))
				boot->disks[i].is_part = true;
	}
}

/* --- looks --- */

static int put_look(struct boot_series *s, uint64_t ns)
{
	int r;

	if (s->n_looks && s->looks[s->n_looks - 1] >= ns)
		return 0;
	r = boot_build_grow(&s->looks, &s->room_looks, s->n_looks, sizeof(*s->looks),
			    BOOT_POINTS_MAX);
	if (r >= 0)
		s->looks[s->n_looks++] = ns;
	return r;
}

static int compare_lengths(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

/* How far apart they mostly are. Makes lengths of the times. */
static uint64_t take_interval(struct boot_series *s)
{
	size_t i, n = s->n_looks;

	if (n < 2)
		return 0;
	for (i = 0; i + 1 < n; i++)
		s->looks[i] = s->looks[i + 1] - s->looks[i];
	qsort(s->looks, n - 1, sizeof(*s->looks), compare_lengths);
	return s->looks[(n - 1) / 2];
}

/* A disk of which nothing was told for longer than from look to look did nothing before the last one. */
static int add_quiet(struct boot_disk *d, uint64_t interval_ns)
{
	struct boot_disk_point *list;
	size_t i, n = 0;

	if (!interval_ns || !d->n_points)
		return 0;
	list = calloc(d->n_points, 2 * sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (i = 0; i < d->n_points; i++) {
		if (n && d->points[i].ns - list[n - 1].ns > interval_ns + interval_ns / 2)
			list[n++].ns = d->points[i].ns - interval_ns;
		list[n++] = d->points[i];
	}
	free(d->points);
	d->points = list;
	d->n_points = n;
	return 0;
}

/* What pressure grew by since the look before, to the points since then by their lengths. */
static void spread_burst(struct boot *boot, const struct boot_burst *burst, uint64_t interval_ns)
{
	uint64_t from = burst->ns > interval_ns ? burst->ns - interval_ns : 0, length, whole = 0;
	size_t low = 0, high = boot->n_points, i;
	struct boot_point *p = boot->points;

	while (low < high) { /* the first behind `from` */
		i = low + (high - low) / 2;
		if (p[i].ns <= from)
			low = i + 1;
		else
			high = i;
	}
	for (i = low; i < boot->n_points && p[i].ns <= burst->ns; i++)
		whole += i ? p[i].ns - (p[i - 1].ns > from ? p[i - 1].ns : from) : 0;
	for (i = low; whole && i < boot->n_points && p[i].ns <= burst->ns; i++) {
		length = i ? p[i].ns - (p[i - 1].ns > from ? p[i - 1].ns : from) : 0;
		p[i].some_ns[burst->resource] +=
			saturate_u64((double)burst->some_ns * (double)length / (double)whole);
		p[i].full_ns[burst->resource] +=
			saturate_u64((double)burst->full_ns * (double)length / (double)whole);
	}
}

static int finish_looks(struct boot_build *b)
{
	uint64_t interval = take_interval(&b->series);
	size_t i;
	int r = 0;

	if (!interval)
		interval = b->boot->interval_ns;
	for (i = 0; i < b->boot->n_disks && r >= 0; i++)
		r = add_quiet(&b->boot->disks[i], interval);
	for (i = 0; i < b->series.n_bursts; i++)
		spread_burst(b->boot, &b->series.bursts[i], interval);
	return r;
}

/* --- all --- */

int boot_series_put(struct boot_build *b, const struct boot_event *ev, uint64_t ns)
{
	bool is_look =
		ev->kind == BOOT_DISK || ev->kind == BOOT_MEMORY || ev->kind == BOOT_PRESSURE;
	int r = is_look ? put_look(&b->series, ns) : 0;

	if (r < 0)
		return r;
	if (ev->kind == BOOT_DISK_NAME)
		return put_disk_name(b, ev);
	if (ev->kind == BOOT_DISK)
		return put_disk(b, ev, ns);
	r = open_point(b, ev->kind, ns);
	if (r < 0)
		return r;
	switch (ev->kind) {
	case BOOT_CPU:
		return put_cpu(b, ev, ns);
	case BOOT_MEMORY:
		put_memory(&b->series.point, ev->number);
		return 0;
	case BOOT_PRESSURE:
		return put_pressure(&b->series, ev, ns);
	default:
		put_levels(&b->series.point, ev->number);
		return 0;
	}
}

int boot_series_finish(struct boot_build *b)
{
	struct boot *boot = b->boot;
	int r = close_point(b);
	size_t i;

	if (b->series.n_cpus)
		boot->cpus = (uint32_t)b->series.n_cpus;
	if (!boot->cpus)
		boot->cpus = 1;
	for (i = 0; i < boot->n_disks && r >= 0; i++) {
		if (!boot->disks[i].name)
			boot->disks[i].name = strdup("?");
		if (!boot->disks[i].name)
			return -ENOMEM;
	}
	if (r >= 0)
		find_parts(boot);
	return r < 0 ? r : finish_looks(b);
}

void boot_series_done(struct boot_series *s)
{
	free(s->cpus);
	free(s->disks);
	free(s->bursts);
	free(s->looks);
	free(s->room_disk_points);
}
