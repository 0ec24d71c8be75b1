/* SPDX-License-Identifier: MIT */
/*
 * sample_spaces: see sample_spaces.h.
 *
 * Three sorted tables. The rows of a process's life cut its time into spells: from a start, an exec or an end to the
 * next of them. A mapping belongs to the spell that its tick is in, and is hidden by a later one of the same spell
 * that lies over it; so a search begins at the last mapping that was made until then and goes back. A spell that
 * begins with a start has, below its own mappings, what the parent had at that moment.
 *
 * Whoever asks for an address once asks for it a thousand times. So an answer comes with the ticks for which it
 * holds, and the search itself need not be fast.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"
#include "trace/sample_spaces_parts.h"

int sample_spaces_new(struct sample_spaces **ret)
{
	struct sample_spaces *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	hashtable_init(&s->texts, SPACES_TEXTS_MAX);
	*ret = s;
	return 0;
}

void sample_spaces_free(struct sample_spaces *s)
{
	if (!s)
		return;
	sample_spaces_free_texts(&s->texts);
	free(s->mappings);
	free(s->lives);
	free(s->names);
	free(s->kernel);
	free(s);
}

/* --- texts --- */

void sample_spaces_free_texts(struct hashtable *texts)
{
	size_t at = 0;
	void *text;

	while ((text = hashtable_next(texts, &at)))
		free(text);
	hashtable_done(texts);
}

struct text_key {
	const char *text;
	size_t len;
};

static bool is_text(const void *entry, const void *key)
{
	const struct text_key *k = key;

	return !strncmp(entry, k->text, k->len) && !((const char *)entry)[k->len];
}

int sample_spaces_keep_text(struct sample_spaces *s, const char *text, size_t len, const char **ret)
{
	struct text_key key = { text, len };
	uint64_t hash = 0;
	char *kept;
	size_t i;
	int r;

	for (i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3ULL;
	hash = hashtable_hash_number(hash);
	kept = hashtable_get(&s->texts, hash, is_text, &key);
	if (!kept) {
		kept = strndup(text, len);
		if (!kept)
			return -ENOMEM;
		r = hashtable_add(&s->texts, hash, kept);
		if (r < 0) {
			free(kept);
			return r;
		}
		s->text_bytes += len + 1;
	}
	*ret = kept;
	return 0;
}

/* The one copy of a text. What would move a terminal's cursor is none of its parts. */
static int keep_text(struct sample_spaces *s, const char *text, uint32_t len, const char **ret)
{
	char clean[SAMPLE_PATH_MAX + 1];
	uint32_t i;

	if (len > SAMPLE_PATH_MAX)
		return -EBADMSG;
	for (i = 0; i < len; i++)
		clean[i] = (uint8_t)text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i];
	return sample_spaces_keep_text(s, clean, len, ret);
}

/* --- rows --- */

int sample_spaces_add_mapping(struct sample_spaces *s, const struct sample_mapping *m)
{
	struct mapping *to;
	const char *path;
	int r;

	if (m->to <= m->from || m->build_id_len > SAMPLE_BUILD_ID_MAX)
		return -EBADMSG;
	r = keep_text(s, m->path, m->path_len, &path);
	if (r >= 0)
		r = array_grow(&s->mappings, s->n_mappings, &s->room_mappings, sizeof(*s->mappings),
			       SAMPLE_MAPPINGS_MAX);
	if (r < 0)
		return r;
	to = &s->mappings[s->n_mappings];
	*to = (struct mapping){ .row = *m, .order = s->next_order++ };
	s->n_mappings++;
	to->row.path = path;
	return 0;
}

int sample_spaces_add_life(struct sample_spaces *s, const struct sample_life_row *l)
{
	struct life *to;
	const char *comm;
	int r;

	if (l->what > SAMPLE_LIFE_END)
		return -EBADMSG;
	/* A new thread changes nothing of its process. */
	if (l->what == SAMPLE_LIFE_START && l->parent == l->pid)
		return 0;
	r = keep_text(s, l->comm, l->comm_len, &comm);
	if (r >= 0)
		r = array_grow(&s->lives, s->n_lives, &s->room_lives, sizeof(*s->lives),
			       SAMPLE_LIVES_MAX);
	if (r < 0)
		return r;
	to = &s->lives[s->n_lives];
	*to = (struct life){ .row = *l, .order = s->next_order++ };
	s->n_lives++;
	to->row.comm = comm;
	s->is_torn = s->is_torn || l->tick < s->forgotten;
	if (l->tick > s->latest)
		s->latest = l->tick;
	return 0;
}

int sample_spaces_add_kernel(struct sample_spaces *s, const struct sample_kernel_name *k)
{
	const char *name;
	int r;

	if (k->to <= k->from)
		return -EBADMSG;
	r = keep_text(s, k->name, k->name_len, &name);
	if (r >= 0)
		r = array_grow(&s->names, s->n_names, &s->room_names, sizeof(*s->names),
			       SAMPLE_KERNEL_NAMES_MAX);
	if (r < 0)
		return r;
	s->names[s->n_names] = (struct kernel_name){ .row = *k, .order = s->next_order++ };
	s->names[s->n_names++].row.name = name;
	return 0;
}

/* --- settling --- */

static int mapping_order(const void *a, const void *b)
{
	const struct mapping *x = a, *y = b;

	if (x->row.pid != y->row.pid)
		return x->row.pid < y->row.pid ? -1 : 1;
	if (x->row.tick != y->row.tick)
		return x->row.tick < y->row.tick ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int life_order(const void *a, const void *b)
{
	const struct life *x = a, *y = b;

	if (x->row.pid != y->row.pid)
		return x->row.pid < y->row.pid ? -1 : 1;
	if (x->row.tick != y->row.tick)
		return x->row.tick < y->row.tick ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int kernel_order(const void *a, const void *b)
{
	const struct kernel_name *x = a, *y = b;

	if (x->row.from != y->row.from)
		return x->row.from < y->row.from ? -1 : 1;
	if (x->row.to != y->row.to)
		return x->row.to < y->row.to ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Rows up to `done` are in order; those behind come between them. */
static void sort_tail(void *rows, size_t done, size_t n, size_t size,
		      int (*compare)(const void *, const void *))
{
	uint8_t *base = rows, *behind;
	size_t left = n - done;

	if (!left)
		return;
	behind = malloc(left * size);
	if (!behind) {
		qsort(base, n, size, compare);
		return;
	}
	qsort(base + done * size, left, size, compare);
	memcpy(behind, base + done * size, left * size);
	while (left) {
		n--;
		if (done && compare(base + (done - 1) * size, behind + (left - 1) * size) > 0)
			memcpy(base + n * size, base + --done * size, size);
		else
			memcpy(base + n * size, behind + --left * size, size);
	}
	free(behind);
}

static bool is_same_life(const struct sample_life_row *a, const struct sample_life_row *b)
{
	return a->pid == b->pid && a->tick == b->tick && a->what == b->what;
}

size_t sample_spaces_first_mapping(const struct sample_spaces *s, int32_t pid, uint64_t tick)
{
	size_t low = 0, high = s->n_mappings, mid;
	const struct sample_mapping *m;

	while (low < high) {
		mid = low + (high - low) / 2;
		m = &s->mappings[mid].row;
		if (m->pid < pid || (m->pid == pid && m->tick < tick))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool has_mapping_before(const struct sample_spaces *s, int32_t pid, uint64_t tick)
{
	size_t i = sample_spaces_first_mapping(s, pid, 0);

	return i < s->n_mappings && s->mappings[i].row.pid == pid && s->mappings[i].row.tick < tick;
}

/* A start is another life of its number if anything was told of it before. */
static void number_lives(struct sample_spaces *s)
{
	struct life *l, *before;
	size_t i, n = 0;

	for (i = 0; i < s->n_lives; i++) {
		before = n ? &s->lives[n - 1] : NULL;
		if (before && is_same_life(&before->row, &s->lives[i].row))
			continue;
		l = &s->lives[n++];
		*l = s->lives[i];
		if (l->is_base)
			continue; /* what it follows is forgotten */
		if (before && before->row.pid != l->row.pid)
			before = NULL;
		l->number = before ? before->number : 0;
		if (l->row.what == SAMPLE_LIFE_START &&
		    (before || has_mapping_before(s, l->row.pid, l->row.tick)))
			l->number++;
	}
	s->n_lives = n;
}

/* Of those said twice the first stays. They are kept as they were said: what lies over what may change with the next one. */
static void unite_names(struct sample_spaces *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->n_names; i++)
		if (!n || s->names[n - 1].row.from != s->names[i].row.from ||
		    s->names[n - 1].row.to != s->names[i].row.to)
			s->names[n++] = s->names[i];
	s->n_names = s->sorted_names = n;
}

static int settle_kernel(struct sample_spaces *s)
{
	struct sample_kernel_name *to;
	size_t i, n = 0;

	if (s->sorted_names == s->n_names)
		return 0;
	sort_tail(s->names, s->sorted_names, s->n_names, sizeof(*s->names), kernel_order);
	unite_names(s);
	to = realloc(s->kernel, s->n_names * sizeof(*to));
	if (!to)
		return -ENOMEM;
	for (i = 0; i < s->n_names; i++) {
		const struct sample_kernel_name *name = &s->names[i].row;

		/* Inside of another: the first one stays. */
		if (n && name->from < to[n - 1].to && name->to <= to[n - 1].to)
			continue;
		if (n && name->from == to[n - 1].from)
			n--;
		else if (n && to[n - 1].to > name->from)
			to[n - 1].to = name->from;
		to[n++] = *name;
	}
	s->kernel = to;
	s->n_kernel = n;
	return 0;
}

int sample_spaces_settle(struct sample_spaces *s)
{
	sort_tail(s->mappings, s->sorted_mappings, s->n_mappings, sizeof(*s->mappings),
		  mapping_order);
	sort_tail(s->lives, s->sorted_lives, s->n_lives, sizeof(*s->lives), life_order);
	s->sorted_mappings = s->n_mappings;
	number_lives(s);
	s->sorted_lives = s->n_lives;
	return settle_kernel(s);
}

/* --- answers --- */

/* The spell of a process that a tick is in: the row that begins it (NULL: none, it was there before), and the ticks
 * from there to the next row. */
static const struct life *find_spell(const struct sample_spaces *s, int32_t pid, uint64_t tick,
				     struct sample_span *ret)
{
	size_t low = 0, high = s->n_lives, mid;
	const struct life *l;

	while (low < high) {
		mid = low + (high - low) / 2;
		l = &s->lives[mid];
		if (l->row.pid < pid || (l->row.pid == pid && l->row.tick <= tick))
			low = mid + 1;
		else
			high = mid;
	}
	l = low && s->lives[low - 1].row.pid == pid ? &s->lives[low - 1] : NULL;
	ret->since = l ? l->row.tick : 0;
	ret->until = low < s->n_lives && s->lives[low].row.pid == pid ? s->lives[low].row.tick
								      : UINT64_MAX;
	return l;
}

static bool holds(const struct sample_mapping *m, uint64_t address)
{
	return m->from <= address && address < m->to;
}

/* Among the mappings of one spell, which *span is; it becomes the time of the answer. */
static const struct sample_mapping *find_own(const struct sample_spaces *s,
					     const struct sample_life_row *at, uint64_t address,
					     struct sample_span *span)
{
	size_t first = sample_spaces_first_mapping(s, at->pid, span->since);
	size_t next = sample_spaces_first_mapping(s, at->pid, at->tick + 1), i;
	const struct sample_mapping *m;

	if (at->tick == UINT64_MAX)
		next = s->n_mappings;
	for (i = next; i < s->n_mappings; i++) {
		m = &s->mappings[i].row;
		if (m->pid != at->pid || m->tick >= span->until)
			break;
		if (holds(m, address)) {
			span->until = m->tick;
			break;
		}
	}
	for (i = next; i > first; i--) {
		m = &s->mappings[i - 1].row;
		if (m->pid == at->pid && holds(m, address)) {
			span->since = m->tick;
			return m;
		}
	}
	return NULL;
}

const struct sample_mapping *sample_spaces_find(const struct sample_spaces *s, int32_t pid,
						uint64_t tick, uint64_t address,
						struct sample_span *ret)
{
	struct sample_life_row at = { .pid = pid, .tick = tick };
	const struct sample_mapping *m;
	struct sample_span inherited;
	const struct life *l = find_spell(s, pid, tick, ret);
	uint32_t i;

	m = l && l->row.what == SAMPLE_LIFE_END ? NULL : find_own(s, &at, address, ret);
	for (i = 0; !m && l && l->row.what == SAMPLE_LIFE_START && i < SPACES_PARENTS_MAX; i++) {
		/* As the parent was just before: what it mapped at the same tick may be later. */
		at.pid = l->row.parent;
		at.tick = l->row.tick;
		l = find_spell(s, at.pid, at.tick, &inherited);
		if (l && l->row.what == SAMPLE_LIFE_END)
			break;
		m = find_own(s, &at, address, &inherited);
	}
	return m;
}

const struct sample_mapping *sample_spaces_get(const struct sample_spaces *s, int32_t pid,
					       uint64_t tick, uint64_t address)
{
	struct sample_span span;

	return sample_spaces_find(s, pid, tick, address, &span);
}

const struct sample_kernel_name *sample_spaces_get_kernel(const struct sample_spaces *s,
							  uint64_t address)
{
	size_t low = 0, high = s->n_kernel, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (s->kernel[mid].from <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low && address < s->kernel[low - 1].to ? &s->kernel[low - 1] : NULL;
}

uint32_t sample_spaces_life_span(const struct sample_spaces *s, int32_t pid, uint64_t tick,
				 struct sample_span *span)
{
	struct sample_span spell;
	const struct life *l = find_spell(s, pid, tick, &spell);

	sample_span_cut(span, spell.since, spell.until);
	return l ? l->number : 0;
}

uint32_t sample_spaces_life(const struct sample_spaces *s, int32_t pid, uint64_t tick)
{
	struct sample_span span = SAMPLE_SPAN_ALL;

	return sample_spaces_life_span(s, pid, tick, &span);
}

const char *sample_spaces_comm(const struct sample_spaces *s, int32_t pid, uint64_t tick)
{
	struct sample_span span;
	const struct life *l = find_spell(s, pid, tick, &span);

	return l && *l->row.comm ? l->row.comm : NULL;
}

const char *sample_spaces_last_comm(const struct sample_spaces *s, int32_t pid, uint64_t tick)
{
	uint32_t number = sample_spaces_life(s, pid, tick);
	size_t low = 0, high = s->n_lives, mid;
	const char *found = NULL;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (s->lives[mid].row.pid < pid)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < s->n_lives && s->lives[low].row.pid == pid; low++)
		if (s->lives[low].number == number && *s->lives[low].row.comm)
			found = s->lives[low].row.comm;
	return found;
}
