/* SPDX-License-Identifier: MIT */
/* boot_build: boot_new() of boot.h; see boot_build.h for the parts. */
#include "analysis/boot_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/boot_order.h"

int boot_build_grow(void *list, size_t *room, size_t n, size_t size, size_t most)
{
	size_t more = n < 8 ? 8 : n + n / 2;
	void *old, *grown;

	if (n < *room)
		return 0;
	if (n >= most)
		return -E2BIG;
	memcpy(&old, list, sizeof(old)); /* any pointer to pointer */
	if (more > most)
		more = most;
	grown = reallocarray(old, more, size);
	if (!grown)
		return -ENOMEM;
	memset((char *)grown + n * size, 0, (more - n) * size);
	memcpy(list, &grown, sizeof(grown));
	*room = more;
	return 0;
}

uint64_t boot_build_ns(const struct boot_build *b, uint64_t tick)
{
	return clock_ns(b->clock, tick);
}

uint64_t boot_build_pass_before(const struct boot_build *b, uint64_t ns)
{
	size_t low = 0, high = b->n_passes, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (b->passes[middle] < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? b->passes[low - 1] : 0;
}

int boot_build_text(struct boot_build *b, const char *text, size_t len, uint32_t *ret)
{
	struct boot *boot = b->boot;
	size_t i;
	int r;

	for (i = 0; i < boot->n_texts; i++) {
		if (strlen(boot->texts[i]) == len && !memcmp(boot->texts[i], text, len)) {
			*ret = (uint32_t)i;
			return 0;
		}
	}
	r = boot_build_grow(&boot->texts, &b->room_texts, boot->n_texts, sizeof(*boot->texts),
			    BOOT_TEXTS_MAX);
	*ret = 0;
	if (r < 0)
		return r == -E2BIG ? 0 : r;
	boot->texts[boot->n_texts] = strndup(text, len);
	if (!boot->texts[boot->n_texts])
		return -ENOMEM;
	*ret = (uint32_t)boot->n_texts++;
	return 0;
}

static void done(struct boot_build *b)
{
	size_t i;

	for (i = 0; i < b->n_lives; i++)
		boot_life_done(&b->lives[i]);
	boot_series_done(&b->series);
	pidmap_free(b->holders);
	free(b->lives);
	free(b->passes);
	free(b->blinds);
	free(b->cells);
	boot_free(b->boot);
}

/* --- reading --- */

static int put_pass(struct boot_build *b, uint64_t ns)
{
	int r;

	if (b->n_passes && b->passes[b->n_passes - 1] >= ns) /* said again */
		return 0;
	r = boot_build_grow(&b->passes, &b->room_passes, b->n_passes, sizeof(*b->passes),
			    BOOT_PASSES_MAX);
	if (r < 0)
		return r;
	b->passes[b->n_passes++] = ns;
	boot_life_pass(b);
	return 0;
}

/* Marks may be of long before: they do not say when the chart begins. */
static void see_time(struct boot_build *b, uint64_t ns, bool is_mark)
{
	if (!is_mark && ns < b->first_ns)
		b->first_ns = ns;
	if (ns > b->last_ns)
		b->last_ns = ns;
}

static int put_event(struct boot_build *b, const struct boot_event *ev)
{
	uint64_t ns = boot_build_ns(b, ev->tick);
	int r = 0;

	see_time(b, ns, ev->kind == BOOT_MARK);
	switch (ev->kind) {
	case BOOT_PASS:
		r = put_pass(b, ns);
		return r < 0 ? r : boot_series_put(b, ev, ns);
	case BOOT_CPU:
	case BOOT_DISK:
	case BOOT_DISK_NAME:
	case BOOT_MEMORY:
	case BOOT_PRESSURE:
		return boot_series_put(b, ev, ns);
	case BOOT_MARK:
		return boot_marks_put(b, ev);
	default:
		return boot_life_put(b, ev, ns);
	}
}

static int read_all(struct boot_build *b, struct boot_source *s, struct error *e)
{
	struct boot_item item;
	int r, failed;

	while ((r = s->ops->next(s, &item, e)) > 0) {
		failed = item.type == ITEM_LOSS ? boot_marks_loss(b, &item.loss)
						: put_event(b, &item.event);
		if (failed == -E2BIG)
			return error_set(e, E2BIG,
					 "cannot chart this boot: it has more processes, names or "
					 "passes than any machine");
		if (failed < 0)
			return error_set(e, -failed, "cannot chart this boot: %s",
					 strerror(-failed));
	}
	return r;
}

/* --- making --- */

static int set_texts(struct boot *boot, const struct trace_info *info)
{
	boot->device = strdup(info->device ? info->device : "");
	boot->kernel = strdup(info->kernel ? info->kernel : "");
	boot->machine = strdup(info->machine ? info->machine : "");
	boot->origin = strdup(info->origin ? info->origin : "");
	boot->command_line = strdup("");
	boot->release = strdup("");
	boot->target = strdup("");
	return boot->device && boot->kernel && boot->machine && boot->origin &&
			       boot->command_line && boot->release && boot->target
		       ? 0
		       : -ENOMEM;
}

static int start(struct boot_build *b, struct boot_source *s)
{
	int64_t own_ns;
	uint32_t none;

	b->boot = calloc(1, sizeof(*b->boot));
	b->holders = pidmap_new(sizeof(struct boot_holder));
	if (!b->boot || !b->holders || set_texts(b->boot, &s->info) < 0)
		return -ENOMEM;
	b->clock = &s->info.clock;
	b->first_ns = UINT64_MAX;
	b->boot->cpus = s->info.cpus;
	if (s->info.clock.has_realtime)
		b->boot->realtime_ns = s->info.clock.realtime_off_ns;
	b->boot->is_measured = s->info.clock.is_measured;
	if (clock_get_own(&s->info.clock, &own_ns) && boot_marks_put_realtime(b, 0, own_ns) < 0)
		return -ENOMEM;
	return boot_build_text(b, "", 0, &none);
}

static int compare_lengths(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

/* The usual distance of two passes: some are late, and of an idle machine some are left out. */
static int find_interval(struct boot_build *b)
{
	_cleanup_free_ uint64_t *lengths = NULL;
	size_t i, n = b->n_passes;

	if (b->boot->interval_ns || n < 2)
		return 0;
	lengths = calloc(n, sizeof(*lengths));
	if (!lengths)
		return -ENOMEM;
	for (i = 1; i < n; i++)
		lengths[i - 1] = b->passes[i] - b->passes[i - 1];
	qsort(lengths, n - 1, sizeof(*lengths), compare_lengths);
	b->boot->interval_ns = lengths[(n - 1) / 2];
	return 0;
}

static int make_processes(struct boot_build *b)
{
	struct boot *boot = b->boot;
	size_t i, n_marks = boot->n_marks;
	int r = 0;

	boot->processes = calloc(b->n_lives + 1, sizeof(*boot->processes));
	if (!boot->processes)
		return -ENOMEM;
	boot->n_processes = b->n_lives;
	for (i = 0; i < b->n_lives && r >= 0; i++) {
		boot_life_finish(b, &b->lives[i], &boot->processes[i]);
		r = boot_spans_finish(b, &b->lives[i], &boot->processes[i]);
		if (r >= 0)
			r = boot_names_finish(&b->lives[i], &boot->processes[i]);
	}
	boot->n_marks = 0; /* they have pids so far, which no order moves */
	if (r >= 0)
		r = boot_order(boot);
	boot->n_marks = n_marks;
	return r < 0 ? r : boot_names_inherit(boot);
}

static int finish(struct boot_build *b, const struct boot_source *s)
{
	struct boot *boot = b->boot;
	int r;

	if (b->first_ns == UINT64_MAX) /* nothing but marks */
		b->first_ns = b->last_ns;
	boot->from_ns = b->first_ns;
	boot->to_ns = b->last_ns > b->first_ns ? b->last_ns : b->first_ns + 1;
	boot->is_cut = s->is_cut && !b->has_stop;
	boot->has_events = b->has_events && !b->has_ring_loss;
	r = find_interval(b);
	if (r >= 0)
		r = boot_series_finish(b);
	if (r >= 0)
		r = make_processes(b);
	if (r >= 0)
		r = boot_marks_finish(b);
	return r;
}

int boot_new(struct boot **ret, struct boot_source *s, struct error *e)
{
	__attribute__((cleanup(done))) struct boot_build b = { 0 };
	int r = start(&b, s);

	if (r >= 0) {
		r = read_all(&b, s, e);
		if (r < 0)
			return r;
		r = finish(&b, s);
	}
	if (r < 0)
		return error_set(e, -r, "cannot chart this boot: %s", strerror(-r));
	*ret = take_ptr(b.boot);
	return 0;
}
