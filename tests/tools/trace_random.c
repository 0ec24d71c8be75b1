/* SPDX-License-Identifier: MIT */
/* trace_random: see trace_random.h. */
#include "tools/trace_random.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/sched_random.h"

struct cpu_items {
	struct trace_item *items;
	size_t n, at;
};

static void die(const char *what)
{
	fprintf(stderr, "trace_random: %s\n", what);
	exit(1);
}

static void *need(void *p)
{
	if (!p)
		die("out of memory");
	return p;
}

static void keep_filename(struct trace_item *i)
{
	if (i->type != ITEM_EVENT || !i->event.filename_len) {
		i->event.filename = NULL;
		return;
	}
	i->event.filename = memcpy(need(malloc(i->event.filename_len)), i->event.filename,
				   i->event.filename_len);
}

/* Up to two losses, by rising cause, as a file keeps them. */
static size_t make_losses(struct sched_random *r, const struct trace_random_options *o,
			  struct trace_item *out, uint32_t cpu)
{
	size_t n = 0;
	uint8_t cause;

	for (cause = 0; cause < LOSS_CAUSES && n < 2; cause++) {
		if (sched_random_below(r, 3))
			continue;
		memset(&out[n], 0, sizeof(out[n]));
		out[n].type = ITEM_LOSS;
		out[n].cpu = cpu;
		out[n].loss.cause = cause;
		out[n].loss.count = 1 + sched_random_below(r, 5000);
		if (!sched_random_below(r, 4) && (cause != LOSS_DAMAGE || o->damage_unknown))
			out[n].loss.count = LOSS_UNKNOWN;
		n++;
	}
	return n;
}

/* Behind the last event the end is that of the stream, which is its latest tick. */
static void place_losses(struct cpu_items *c)
{
	uint64_t last = 0, latest = 0;
	size_t i, j;

	for (i = 0; i < c->n; i++) {
		if (c->items[i].type == ITEM_EVENT) {
			last = c->items[i].event.tick;
			latest = last > latest ? last : latest;
			continue;
		}
		c->items[i].loss.from_tick = c->items[i].loss.to_tick = last;
		for (j = i; j < c->n && c->items[j].type == ITEM_LOSS; j++)
			;
		if (j == c->n)
			c->items[i].loss.to_tick = latest;
		else if (c->items[j].event.tick > last)
			c->items[i].loss.to_tick = c->items[j].event.tick;
	}
}

static void make_cpu(struct cpu_items *c, const struct trace_random_options *o, uint32_t cpu)
{
	struct sched_random *r = need(malloc(sizeof(*r)));
	uint64_t base = 0;
	uint32_t i, n = o->events;

	sched_random_init(r, o->seed * 1000 + cpu, o->style);
	n -= sched_random_below(r, n / 8 + 1);
	c->items = need(calloc(n * 3 + 8, sizeof(*c->items)));
	for (i = 0; i <= n; i++) {
		if (o->loss_every && (!sched_random_below(r, o->loss_every) || i == 0 || i == n))
			c->n += make_losses(r, o, c->items + c->n, cpu);
		if (i == n)
			break;
		c->items[c->n].cpu = cpu;
		sched_random_next(r, &c->items[c->n].event);
		/* All CPUs run at the same time, but for events that know no time. */
		if (i == 0 && o->style != SCHED_RANDOM_HOSTILE)
			base = c->items[c->n].event.tick - 1000000000;
		c->items[c->n].event.tick -= base;
		if (o->tick_grain)
			c->items[c->n].event.tick -= c->items[c->n].event.tick % o->tick_grain;
		keep_filename(&c->items[c->n]);
		c->n++;
	}
	place_losses(c);
	free(r);
}

static uint64_t due(const struct trace_item *i)
{
	return i->type == ITEM_EVENT ? i->event.tick : i->loss.from_tick;
}

static void merge(struct trace_random *t, struct cpu_items *cpus, uint32_t n_cpus)
{
	uint32_t cpu, best;

	for (;;) {
		best = UINT32_MAX;
		for (cpu = 0; cpu < n_cpus; cpu++)
			if (cpus[cpu].at < cpus[cpu].n &&
			    (best == UINT32_MAX || due(&cpus[cpu].items[cpus[cpu].at]) <
							   due(&cpus[best].items[cpus[best].at])))
				best = cpu;
		if (best == UINT32_MAX)
			return;
		t->items[t->n++] = cpus[best].items[cpus[best].at++];
	}
}

/* Exchanges neighbours of the same tick on different CPUs, again and again. */
static void shuffle(struct trace_random *t, uint64_t seed)
{
	struct sched_random *r = need(malloc(sizeof(*r)));
	struct trace_item item;
	size_t i, round;

	sched_random_init(r, seed, SCHED_RANDOM_REAL);
	for (round = 0; round < 20; round++)
		for (i = 1; i < t->n; i++)
			if (t->items[i].cpu != t->items[i - 1].cpu &&
			    due(&t->items[i]) == due(&t->items[i - 1]) &&
			    sched_random_below(r, 2)) {
				item = t->items[i];
				t->items[i] = t->items[i - 1];
				t->items[i - 1] = item;
			}
	free(r);
}

void trace_random_init(struct trace_random *t, const struct trace_random_options *o)
{
	struct cpu_items *cpus = need(calloc(o->cpus, sizeof(*cpus)));
	size_t n = 0;
	uint32_t cpu;

	memset(t, 0, sizeof(*t));
	if (info_init(&t->info) < 0)
		die("out of memory");
	t->info.cpus = o->cpus;
	t->info.clock.mult = 53687091;
	t->info.clock.shift = 28;
	for (cpu = 0; cpu < o->cpus; cpu++) {
		make_cpu(&cpus[cpu], o, cpu);
		n += cpus[cpu].n;
	}
	t->items = need(calloc(n + 1, sizeof(*t->items)));
	merge(t, cpus, o->cpus);
	if (o->shuffled)
		shuffle(t, o->seed);
	for (cpu = 0; cpu < o->cpus; cpu++)
		free(cpus[cpu].items);
	free(cpus);
}

void trace_items_free(struct trace_item *items, size_t n)
{
	while (n--)
		if (items[n].type == ITEM_EVENT)
			free((void *)items[n].event.filename);
	free(items);
}

void trace_random_done(struct trace_random *t)
{
	trace_items_free(t->items, t->n);
	info_done(&t->info);
}

static uint8_t *read_file(const char *path, size_t *ret_len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint8_t *data;

	if (fd < 0 || fstat(fd, &st) < 0)
		die("cannot read what was written");
	*ret_len = (size_t)st.st_size;
	data = need(malloc(*ret_len + 1));
	if (read(fd, data, *ret_len) != (ssize_t)*ret_len)
		die("cannot read what was written");
	close(fd);
	return data;
}

uint8_t *trace_random_ksk(const struct trace_random *t, const struct sink_ksk_options *o,
			  size_t *ret_len)
{
	char folder[] = "/tmp/kiseki-test-XXXXXX", path[64];
	struct error e = ERROR_INIT;
	struct trace_sink *sink;
	uint8_t *data;
	size_t i;

	if (!mkdtemp(folder))
		die("cannot make a folder");
	snprintf(path, sizeof(path), "%s/t.ksk", folder);
	if (sink_ksk_new(&sink, path, o, &e) < 0 || sink->ops->begin(sink, &t->info, &e) < 0)
		die(e.text);
	for (i = 0; i < t->n; i++)
		if (sink->ops->item(sink, &t->items[i], &e) < 0)
			die(e.text);
	if (sink->ops->end(sink, &e) < 0)
		die(e.text);
	sink_free(sink);
	data = read_file(path, ret_len);
	unlink(path);
	rmdir(folder);
	return data;
}

bool trace_item_equal(const struct trace_item *a, const struct trace_item *b)
{
	if (a->type != b->type || a->cpu != b->cpu)
		return false;
	if (a->type == ITEM_EVENT)
		return sched_event_equal(&a->event, &b->event);
	return a->loss.from_tick == b->loss.from_tick && a->loss.to_tick == b->loss.to_tick &&
	       a->loss.count == b->loss.count && a->loss.cause == b->loss.cause;
}

size_t trace_items_read(struct trace_source *s, struct trace_item **ret)
{
	struct trace_item *items = NULL;
	struct error e = ERROR_INIT;
	size_t n = 0, room = 0;
	int r;

	for (;;) {
		if (n == room) {
			room = room ? room * 2 : 1024;
			items = need(realloc(items, room * sizeof(*items)));
		}
		r = s->ops->next(s, &items[n], &e);
		if (r < 0)
			die(e.text);
		if (r == 0)
			break;
		keep_filename(&items[n++]);
	}
	*ret = items;
	return n;
}
