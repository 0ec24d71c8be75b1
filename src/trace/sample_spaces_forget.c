/* SPDX-License-Identifier: MIT */
/*
 * sample_spaces: see sample_spaces.h. Here what it forgets: rows that no answer for later moments depends on.
 *
 * Of each process the spell that the moment is in stays, and what comes behind it. A process that was not executed
 * anew since it began has the mappings of its parent as they were then, and that of its own: these spells stay, too,
 * however long ago they ended. A process that has ended keeps its name for some time, since it is sampled on its way out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "trace/sample_spaces_parts.h"

struct forgetting {
	struct sample_spaces *spaces;
	const struct sample_horizon *to;
	bool *lives, *mappings; /* that stay */
};

/* The last row of the process that is not later than the tick; SIZE_MAX: there is none. */
static size_t find_life(const struct sample_spaces *s, int32_t pid, uint64_t tick)
{
	size_t low = 0, high = s->n_lives, mid;
	const struct sample_life_row *l;

	while (low < high) {
		mid = low + (high - low) / 2;
		l = &s->lives[mid].row;
		if (l->pid < pid || (l->pid == pid && l->tick <= tick))
			low = mid + 1;
		else
			high = mid;
	}
	return low && s->lives[low - 1].row.pid == pid ? low - 1 : SIZE_MAX;
}

static void keep_mappings(struct forgetting *f, int32_t pid, uint64_t from, uint64_t to)
{
	const struct sample_spaces *s = f->spaces;
	size_t i = sample_spaces_first_mapping(s, pid, from);

	for (; i < s->n_mappings; i++) {
		if (s->mappings[i].row.pid != pid || s->mappings[i].row.tick > to)
			break;
		f->mappings[i] = true;
	}
}

/* What a process has of its parents. */
static void keep_parents(struct forgetting *f, const struct sample_life_row *start)
{
	const struct sample_spaces *s = f->spaces;
	uint32_t i;
	size_t at;

	for (i = 0; start && start->what == SAMPLE_LIFE_START && i < SPACES_PARENTS_MAX; i++) {
		at = find_life(s, start->parent, start->tick);
		keep_mappings(f, start->parent, at == SIZE_MAX ? 0 : s->lives[at].row.tick,
			      start->tick);
		if (at != SIZE_MAX)
			f->lives[at] = true;
		start = at != SIZE_MAX ? &s->lives[at].row : NULL;
	}
}

/* The row that says what it was called, if its last one does not. */
static void keep_name(struct forgetting *f, size_t first, size_t at)
{
	const struct life *lives = f->spaces->lives;
	uint32_t number = lives[at].number;

	while (at > first && !*lives[at].row.comm && lives[at - 1].number == number)
		at--;
	if (*lives[at].row.comm)
		f->lives[at] = true;
}

/* The rows of one process, from first to end; returns the tick from which on its mappings stay. */
static uint64_t keep_process(struct forgetting *f, size_t first, size_t end)
{
	const struct life *lives = f->spaces->lives;
	size_t root = end, i;
	uint64_t from;

	while (root > first && lives[root - 1].row.tick > f->to->tick)
		root--;
	for (i = root; i < end; i++) {
		f->lives[i] = true;
		keep_parents(f, &lives[i].row);
	}
	if (root == first)
		return 0;
	root--;
	from = lives[root].row.tick;
	if (lives[root].row.what == SAMPLE_LIFE_END && from < f->to->end_tick)
		return from + 1;
	f->lives[root] = true;
	keep_name(f, first, root);
	keep_parents(f, &lives[root].row);
	return from;
}

static void keep_all(struct forgetting *f)
{
	const struct sample_spaces *s = f->spaces;
	size_t life = 0, at = 0, end;
	uint64_t from;
	int32_t pid;

	while (life < s->n_lives || at < s->n_mappings) {
		pid = life < s->n_lives ? s->lives[life].row.pid : INT32_MAX;
		if (at < s->n_mappings && s->mappings[at].row.pid < pid)
			pid = s->mappings[at].row.pid;
		for (end = life; end < s->n_lives && s->lives[end].row.pid == pid; end++)
			;
		from = end > life ? keep_process(f, life, end) : 0;
		for (life = end; at < s->n_mappings && s->mappings[at].row.pid == pid; at++)
			f->mappings[at] = f->mappings[at] || s->mappings[at].row.tick >= from;
	}
}

/* A number stays where it could not be found again: behind rows that go, and where mappings before the first one made it. */
static void drop_lives(struct sample_spaces *s, const bool *stay, uint64_t tick)
{
	bool is_first, is_behind = false;
	size_t i, n = 0;

	for (i = 0; i < s->n_lives; i++) {
		is_first = !n || s->lives[n - 1].row.pid != s->lives[i].row.pid;
		if (stay[i]) {
			s->lives[n] = s->lives[i];
			if (is_behind ||
			    (is_first && s->lives[n].number && s->lives[n].row.tick <= tick))
				s->lives[n].is_base = true;
			s->lives[n].order = (uint32_t)n;
			n++;
		}
		is_behind = !stay[i] && i + 1 < s->n_lives &&
			    s->lives[i + 1].row.pid == s->lives[i].row.pid;
	}
	s->n_lives = s->sorted_lives = n;
}

static void drop_mappings(struct sample_spaces *s, const bool *stay)
{
	size_t i, n = 0;

	for (i = 0; i < s->n_mappings; i++) {
		if (!stay[i])
			continue;
		s->mappings[n] = s->mappings[i];
		s->mappings[n].order = (uint32_t)n;
		n++;
	}
	s->n_mappings = s->sorted_mappings = n;
}

/* Texts that no row has any more go. */
static int drop_texts(struct sample_spaces *s)
{
	struct hashtable old = s->texts;
	size_t i;
	int r = 0;

	hashtable_init(&s->texts, SPACES_TEXTS_MAX);
	s->text_bytes = 0;
#define KEEP(text) sample_spaces_keep_text(s, (text), strlen(text), &(text))
	for (i = 0; r >= 0 && i < s->n_mappings; i++)
		r = KEEP(s->mappings[i].row.path);
	for (i = 0; r >= 0 && i < s->n_lives; i++)
		r = KEEP(s->lives[i].row.comm);
	for (i = 0; r >= 0 && i < s->n_names; i++)
		r = KEEP(s->names[i].row.name);
	for (i = 0; r >= 0 && i < s->n_kernel; i++)
		r = KEEP(s->kernel[i].name);
#undef KEEP
	sample_spaces_free_texts(&old);
	return r;
}

static size_t count_rows(const struct sample_spaces *s)
{
	return s->n_mappings + s->n_lives + s->n_names;
}

int sample_spaces_forget(struct sample_spaces *s, const struct sample_horizon *to)
{
	_cleanup_free_ bool *lives = calloc(s->n_lives + 1, sizeof(*lives));
	_cleanup_free_ bool *mappings = calloc(s->n_mappings + 1, sizeof(*mappings));
	struct forgetting f = { .spaces = s, .to = to, .lives = lives, .mappings = mappings };
	size_t i;

	if (!lives || !mappings)
		return -ENOMEM;
	keep_all(&f);
	drop_lives(s, lives, to->tick);
	drop_mappings(s, mappings);
	for (i = 0; i < s->n_names; i++)
		s->names[i].order = (uint32_t)i;
	s->next_order = (uint32_t)count_rows(s);
	s->forgotten = to->tick > s->forgotten ? to->tick : s->forgotten;
	return s->texts.n > 2 * count_rows(s) ? drop_texts(s) : 0;
}

bool sample_spaces_is_torn(const struct sample_spaces *s)
{
	return s->is_torn;
}

uint64_t sample_spaces_latest(const struct sample_spaces *s)
{
	return s->latest;
}

size_t sample_spaces_rows(const struct sample_spaces *s)
{
	return count_rows(s);
}

size_t sample_spaces_bytes(const struct sample_spaces *s)
{
	return s->room_mappings * sizeof(*s->mappings) + s->room_lives * sizeof(*s->lives) +
	       s->room_names * sizeof(*s->names) + s->n_kernel * sizeof(*s->kernel) +
	       s->texts.room * sizeof(*s->texts.slots) + s->text_bytes;
}
