/* SPDX-License-Identifier: MIT */
/* timeline_grid: see timeline_grid.h. */
#include "collector/timeline_grid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"
#include "trace/pidmap.h"

/* A pid: what pidmap keeps. */
struct number {
	int32_t pid;
	uint32_t first, last; /* lanes + 1 */
};

/* A pid under one name. */
struct lane {
	int32_t pid;
	char comm[SCHED_COMM_LEN];
	uint64_t ns;
	uint32_t next;	      /* of the same pid, lane + 1; 0: none */
	uint32_t first, last; /* entries + 1 */
};

struct entry {
	uint64_t ns;
	uint32_t piece;
	uint32_t next; /* entry + 1; 0: none */
};

struct timeline_grid {
	struct timeline *t;
	uint64_t to_ns;
	uint32_t cpu;
	uint64_t at_ns; /* the CPU's time is known up to here */
	struct pidmap *numbers;
	struct lane *lanes;
	size_t n_lanes, room_lanes;
	struct entry *entries;
	size_t n_entries, room_entries;
};

int timeline_grid_new(struct timeline_grid **ret, struct timeline *t)
{
	CLEANUP(timeline_grid) struct timeline_grid *g = calloc(1, sizeof(*g));

	if (!g || !(g->numbers = pidmap_new(sizeof(struct number))))
		return -ENOMEM;
	g->t = t;
	g->to_ns = t->from_ns + t->n * t->piece_ns;
	*ret = take_ptr(g);
	return 0;
}

void timeline_grid_free(struct timeline_grid *g)
{
	if (!g)
		return;
	pidmap_free(g->numbers);
	free(g->lanes);
	free(g->entries);
	free(g);
}

static struct bucket_counts *get_cell(struct timeline_grid *g, uint32_t piece)
{
	return &g->t->cells[(size_t)g->cpu * g->t->n + piece];
}

static uint32_t piece_of(const struct timeline_grid *g, uint64_t ns)
{
	return (uint32_t)((ns - g->t->from_ns) / g->t->piece_ns);
}

static int add_entry(struct timeline_grid *g, struct lane *lane, uint32_t piece)
{
	size_t room = g->room_entries ? g->room_entries * 2 : 4096;
	struct entry *entries;

	if (g->n_entries == g->room_entries) {
		if (room > TIMELINE_ENTRIES_MAX)
			return -E2BIG;
		entries = realloc(g->entries, room * sizeof(*entries));
		if (!entries)
			return -ENOMEM;
		g->entries = entries;
		g->room_entries = room;
	}
	g->entries[g->n_entries++] = (struct entry){ .piece = piece };
	if (lane->last)
		g->entries[lane->last - 1].next = (uint32_t)g->n_entries;
	else
		lane->first = (uint32_t)g->n_entries;
	lane->last = (uint32_t)g->n_entries;
	return 0;
}

/* The lane of a pid and a name. 0, -ENOMEM, -E2BIG. */
static int get_lane(struct timeline_grid *g, const struct bucket_task *k, struct lane **ret)
{
	struct number *number = pidmap_add(g->numbers, k->pid);
	uint32_t i;
	int r;

	if (!number)
		return -ENOMEM;
	for (i = number->first; i; i = g->lanes[i - 1].next)
		if (!memcmp(g->lanes[i - 1].comm, k->comm, SCHED_COMM_LEN))
			break;
	if (!i) {
		r = array_grow(&g->lanes, g->n_lanes, &g->room_lanes, sizeof(*g->lanes),
			       TIMELINE_ENTRIES_MAX);
		if (r < 0)
			return r;
		g->lanes[g->n_lanes] = (struct lane){ .pid = k->pid };
		memcpy(g->lanes[g->n_lanes++].comm, k->comm, SCHED_COMM_LEN);
		i = (uint32_t)g->n_lanes;
		if (number->last)
			g->lanes[number->last - 1].next = i;
		else
			number->first = i;
		number->last = i;
	}
	*ret = &g->lanes[i - 1];
	return 0;
}

/* A task ran for so long in this piece. */
static int add_task(struct timeline_grid *g, uint32_t piece, const struct bucket_task *k)
{
	struct lane *lane;
	int r = get_lane(g, k, &lane);

	if (r < 0)
		return r;
	lane->ns += k->ns;
	if (!lane->last || g->entries[lane->last - 1].piece != piece) {
		r = add_entry(g, lane, piece);
		if (r < 0)
			return r;
	}
	g->entries[lane->last - 1].ns += k->ns;
	return 0;
}

static int fill_piece(struct timeline_grid *g, uint32_t piece, uint64_t ns, const struct holder *h)
{
	struct bucket_counts *c = get_cell(g, piece);
	struct bucket_task task = { .pid = h->pid, .ns = ns };

	if (h->type == HOLDER_UNKNOWN)
		c->unknown_ns += ns;
	if (h->type == HOLDER_IDLE)
		c->idle_ns += ns;
	if (h->type != HOLDER_TASK)
		return 0;
	c->busy_ns += ns;
	memcpy(task.comm, h->comm, SCHED_COMM_LEN);
	return add_task(g, piece, &task);
}

int timeline_grid_fill(struct timeline_grid *g, uint64_t from_ns, uint64_t to_ns,
		       const struct holder *h)
{
	uint64_t edge_ns;
	uint32_t piece;
	int r = 0;

	if (from_ns < g->t->from_ns)
		from_ns = g->t->from_ns;
	if (to_ns > g->to_ns)
		to_ns = g->to_ns;
	while (from_ns < to_ns && r == 0) {
		piece = piece_of(g, from_ns);
		edge_ns = g->t->from_ns + (piece + 1) * g->t->piece_ns;
		if (edge_ns > to_ns)
			edge_ns = to_ns;
		r = fill_piece(g, piece, edge_ns - from_ns, h);
		from_ns = edge_ns;
	}
	return r;
}

void timeline_grid_lose(struct timeline_grid *g, uint64_t ns, uint64_t lost, uint64_t uncounted)
{
	struct bucket_counts *c;

	if (ns < g->t->from_ns || ns >= g->to_ns)
		return;
	c = get_cell(g, piece_of(g, ns));
	c->lost += lost;
	c->uncounted += uncounted;
}

int timeline_grid_begin(struct timeline_grid *g, uint32_t cpu, uint64_t known_ns)
{
	static const struct holder unknown = { .type = HOLDER_UNKNOWN };

	g->cpu = cpu;
	g->at_ns = g->t->from_ns > known_ns ? g->t->from_ns : known_ns;
	return timeline_grid_fill(g, g->t->run_from_ns, known_ns, &unknown);
}

int timeline_grid_put(struct timeline_grid *g, const struct bucket *b, uint64_t width_ns)
{
	uint64_t start_ns = b->index * width_ns;
	uint32_t piece, i;
	int r = 0;

	if (start_ns > g->at_ns)
		r = timeline_grid_fill(g, g->at_ns, start_ns, &b->before);
	if (r < 0)
		return r;
	if (start_ns >= g->to_ns) {
		/* Losses count where the next event is. Where they began before the end of what is shown it is not
		 * known who ran since, and a part that lies within them says that it does. */
		if (b->before.type == HOLDER_UNKNOWN && g->to_ns > g->t->from_ns)
			timeline_grid_lose(g, g->to_ns - 1, b->counts.lost, b->counts.uncounted);
		return 1;
	}
	if (start_ns < g->at_ns)
		return 0;
	piece = piece_of(g, start_ns);
	bucket_add_counts(get_cell(g, piece), &b->counts);
	for (i = 0; i < b->n_tasks && r == 0; i++)
		r = add_task(g, piece, &b->tasks[i]);
	g->at_ns = start_ns + width_ns;
	return r;
}

/* --- the end --- */

static int by_time(const void *pa, const void *pb)
{
	const struct lane *a = *(const struct lane *const *)pa;
	const struct lane *b = *(const struct lane *const *)pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return memcmp(a->comm, b->comm, SCHED_COMM_LEN);
}

static void sum_cells(struct timeline *t)
{
	uint32_t cpu, i;

	for (cpu = 0; cpu < t->cpus; cpu++) {
		for (i = 0; i < t->n; i++) {
			const struct bucket_counts *c = &t->cells[(size_t)cpu * t->n + i];

			bucket_add_counts(&t->totals[cpu], c);
			t->other_piece_ns[i] += c->busy_ns;
		}
		bucket_add_counts(&t->total, &t->totals[cpu]);
	}
	t->other_ns = t->total.busy_ns;
}

/* Whether all of the pid's time is in one lane. */
static bool is_alone(const struct timeline_grid *g, const struct lane *lane)
{
	const struct number *number = pidmap_get(g->numbers, lane->pid);

	return number->first == number->last || g->lanes[number->last - 1].ns == 0;
}

/* Fills in what the run's table knows of a pid, if its entry has this name. Time without a name may
 * belong to any task that had the pid. */
static void name_task(struct timeline_task *task, const struct timeline_grid *g,
		      const struct lane *lane, const struct trace_info *info)
{
	const struct trace_task *known = info_get_task(info, lane->pid), *leader;

	task->pid = lane->pid;
	task->tgid = -1;
	memcpy(task->comm, lane->comm, SCHED_COMM_LEN);
	if (!known || (lane->comm[0] ? memcmp(lane->comm, known->comm, SCHED_COMM_LEN) != 0
				     : !is_alone(g, lane)))
		return;
	task->tgid = known->tgid;
	memcpy(task->comm, known->comm, SCHED_COMM_LEN);
	leader = info_get_task(info, known->tgid);
	if (leader && leader->tgid == leader->pid)
		memcpy(task->process, leader->comm, SCHED_COMM_LEN);
}

/* Takes the task out of the others. */
static int list_task(struct timeline_grid *g, const struct lane *lane,
		     const struct trace_info *info)
{
	struct timeline *t = g->t;
	struct timeline_task *task = &t->tasks[t->n_tasks];
	uint32_t i;

	task->piece_ns = calloc(t->n, sizeof(*task->piece_ns));
	if (!task->piece_ns)
		return -ENOMEM;
	t->n_tasks++;
	name_task(task, g, lane, info);
	task->ns = lane->ns;
	t->other_ns -= lane->ns;
	for (i = lane->first; i; i = g->entries[i - 1].next) {
		const struct entry *entry = &g->entries[i - 1];

		task->piece_ns[entry->piece] += entry->ns;
		t->other_piece_ns[entry->piece] -= entry->ns;
	}
	return 0;
}

/* Time under no name is that of the pid's only name, where it has one. */
static void join_unnamed(struct timeline_grid *g)
{
	const struct number *number;
	struct lane *a, *b;
	size_t i;

	for (i = 0; i < pidmap_count(g->numbers); i++) {
		number = pidmap_at(g->numbers, i);
		a = &g->lanes[number->first - 1];
		if (!a->next || g->lanes[a->next - 1].next)
			continue;
		b = &g->lanes[a->next - 1];
		if (a->comm[0] && b->comm[0])
			continue;
		if (!a->comm[0])
			memcpy(a->comm, b->comm, SCHED_COMM_LEN);
		g->entries[a->last - 1].next = b->first;
		a->ns += b->ns;
		b->ns = 0;
	}
}

int timeline_grid_finish(struct timeline_grid *g, uint32_t tasks_max, const struct trace_info *info)
{
	struct timeline *t = g->t;
	_cleanup_free_ struct lane **lanes = calloc(g->n_lanes + 1, sizeof(*lanes));
	size_t n = 0, i;
	int r = 0;

	if (tasks_max > TIMELINE_TASKS_MAX)
		tasks_max = TIMELINE_TASKS_MAX;
	t->tasks = calloc(tasks_max + 1, sizeof(*t->tasks));
	t->other_piece_ns = calloc(t->n, sizeof(*t->other_piece_ns));
	if (!lanes || !t->tasks || !t->other_piece_ns)
		return -ENOMEM;
	sum_cells(t);
	join_unnamed(g);
	for (i = 0; i < g->n_lanes; i++)
		if (g->lanes[i].ns)
			lanes[n++] = &g->lanes[i];
	qsort(lanes, n, sizeof(*lanes), by_time);
	t->tasks_in_all = n;
	for (i = 0; i < n && i < tasks_max && r == 0; i++)
		r = list_task(g, lanes[i], info);
	return r;
}
