/* SPDX-License-Identifier: MIT */
/*
 * maps: see maps.h.
 *
 * A mapping that stays from one generation to the next is one mapping: the lines of a generation are
 * compared with those that are open, both in order of addresses, as a merge. What is open and not
 * named again ends there. Memory is therefore that of the changes, not of the text.
 */
#include "trace/maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"

#define STAYED UINT32_MAX

static const char id_behind[] = "\tbuild-id=";
static const char id_before[] = "# build-id ";
static const char head[] = "# kiseki maps ";
static const char generation_mark[] = "# generation ";
static const char end_mark[] = "# end ";

void maps_done(struct maps *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		free(m->mappings[i].path);
	free(m->mappings);
	memset(m, 0, sizeof(*m));
}

/* A number in this base at *at, at least one digit and no more than 64 bits. */
static bool parse_number(const char *line, size_t len, size_t *at, unsigned base, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i = *at;
	int digit;

	for (; i < len; i++) {
		digit = hex_digit(line[i]);
		if (digit < 0 || (unsigned)digit >= base)
			break;
		if (v > (UINT64_MAX - (unsigned)digit) / base)
			return false;
		v = v * base + (unsigned)digit;
	}
	if (i == *at)
		return false;
	*at = i;
	*ret = v;
	return true;
}

static bool parse_char(const char *line, size_t len, size_t *at, char c)
{
	if (*at >= len || line[*at] != c)
		return false;
	++*at;
	return true;
}

/* "from-to perms offset major:minor inode"; *ret_code: it can be executed. */
static bool parse_fields(const char *line, size_t len, size_t *at, struct func_mapping *ret,
			 bool *ret_code)
{
	uint64_t ignored;

	if (!parse_number(line, len, at, 16, &ret->from) || !parse_char(line, len, at, '-') ||
	    !parse_number(line, len, at, 16, &ret->to) || !parse_char(line, len, at, ' '))
		return false;
	if (len - *at < 5 || line[*at + 4] != ' ')
		return false;
	*ret_code = line[*at + 2] == 'x';
	*at += 5;
	return parse_number(line, len, at, 16, &ret->offset) && parse_char(line, len, at, ' ') &&
	       parse_number(line, len, at, 16, &ignored) && parse_char(line, len, at, ':') &&
	       parse_number(line, len, at, 16, &ignored) && parse_char(line, len, at, ' ') &&
	       parse_number(line, len, at, 10, &ignored) && ret->from < ret->to;
}

static bool parse_build_id(const char *hex, size_t digits, struct func_mapping *ret)
{
	size_t i;

	if (digits == 0 || digits % 2 || digits / 2 > FUNC_BUILD_ID_MAX)
		return false;
	for (i = 0; i < digits; i++)
		if (hex_digit(hex[i]) < 0)
			return false;
	for (i = 0; i < digits / 2; i++)
		ret->build_id[i] =
			(uint8_t)(hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]));
	ret->build_id_len = (uint8_t)(digits / 2);
	return true;
}

/* A path may hold tabs, so only the last one can be ours, and only if hexadecimal digits are all that
 * follows. Returns the length of what stands before it. */
static size_t cut_build_id(const char *rest, size_t len, struct func_mapping *ret)
{
	const size_t mark = sizeof(id_behind) - 1;
	const char *tab = memrchr(rest, '\t', len);
	size_t before = tab ? (size_t)(tab - rest) : len;

	if (len - before < mark || memcmp(tab, id_behind, mark) != 0 ||
	    !parse_build_id(tab + mark, len - before - mark, ret))
		return len;
	return before;
}

/* The kernel writes a line feed in a path as \012 and leaves everything else as it is. */
static char *dup_path(const char *path, size_t len)
{
	char *out = malloc(len + 1);
	size_t i, n = 0;

	if (!out)
		return NULL;
	for (i = 0; i < len; i++) {
		if (len - i >= 4 && memcmp(path + i, "\\012", 4) == 0) {
			out[n++] = '\n';
			i += 3;
		} else {
			out[n++] = path[i];
		}
	}
	out[n] = 0;
	return out;
}

/* One line of executable code, without its end: 1 it is one, 0 it is none (not executable, empty), -EBADMSG: no such
 * line. since and until are 0; ret->path is the caller's. -ENOMEM. */
static int parse_line(const char *line, size_t len, struct func_mapping *ret)
{
	struct func_mapping m = { 0 };
	bool code = false;
	size_t at = 0;

	if (len == 0)
		return 0;
	if (memchr(line, 0, len) || !parse_fields(line, len, &at, &m, &code))
		return -EBADMSG;
	if (at < len && line[at] != ' ' && line[at] != '\t')
		return -EBADMSG;
	if (!code)
		return 0;
	len = at + cut_build_id(line + at, len - at, &m);
	while (at < len && line[at] == ' ')
		at++;
	if (len - at >= MAPS_PATH_MAX)
		return -EBADMSG;
	m.path = dup_path(line + at, len - at);
	if (!m.path)
		return -ENOMEM;
	*ret = m;
	return 1;
}

/* What is known while the text is read. `open` are indexes of those that stayed up to the previous
 * generation, in order of addresses; `fresh` the lines of this one. */
struct reading {
	struct maps maps;
	size_t room;
	size_t *open;
	size_t n_open;
	struct func_mapping *fresh;
	size_t n_fresh, fresh_room;
	struct func_mapping id; /* a build-id that waits for its line */
	uint32_t generation;	/* of the lines that come */
	bool marked;		/* the text has its head, so generations have ends */
	bool inside;		/* of a generation */
	bool numbered;		/* there was a generation's mark */
	bool complete;		/* there was a whole generation */
};

static void drop_fresh(struct reading *r)
{
	size_t i;

	for (i = 0; i < r->n_fresh; i++)
		free(r->fresh[i].path);
	r->n_fresh = 0;
	r->id.build_id_len = 0;
}

static void reading_done(struct reading *r)
{
	drop_fresh(r);
	free(r->fresh);
	free(r->open);
	maps_done(&r->maps);
}

static int compare_address(const struct func_mapping *a, const struct func_mapping *b)
{
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

static int compare_fresh(const void *a, const void *b)
{
	return compare_address(a, b);
}

static int compare_mapping(const void *left, const void *right)
{
	const struct func_mapping *a = left, *b = right;

	if (a->since != b->since)
		return (a->since > b->since) - (a->since < b->since);
	return compare_address(a, b);
}

static bool same_mapping(const struct func_mapping *a, const struct func_mapping *b)
{
	return compare_address(a, b) == 0 && a->offset == b->offset &&
	       a->build_id_len == b->build_id_len &&
	       memcmp(a->build_id, b->build_id, a->build_id_len) == 0 &&
	       strcmp(a->path, b->path) == 0;
}

/* Makes room for one more of `size` bytes each. */
static int reserve(void **items, size_t n, size_t *room, size_t size)
{
	size_t wanted = *room ? *room * 2 : 64;
	void *moved;

	if (n < *room)
		return 0;
	if (n >= FUNC_MAPPINGS_MAX)
		return -E2BIG;
	moved = realloc(*items, wanted * size);
	if (!moved)
		return -ENOMEM;
	*items = moved;
	*room = wanted;
	return 0;
}

/* Takes the path of *m, which is of this generation for the first time. */
static int push_mapping(struct reading *r, struct func_mapping *m)
{
	int err = reserve((void **)&r->maps.mappings, r->maps.n, &r->room, sizeof(*m));

	if (err < 0)
		return err;
	m->since = r->generation;
	m->until = STAYED;
	r->maps.mappings[r->maps.n++] = *m;
	m->path = NULL;
	return 0;
}

/* What is open ends with this generation. */
static void close_open(struct reading *r, size_t from, uint32_t generation)
{
	for (; from < r->n_open; from++)
		r->maps.mappings[r->open[from]].until = generation;
}

/* Goes through the lines and what is open at once; `open` gets what is open from here on. */
static int merge_fresh(struct reading *r, size_t *open, size_t *ret_n)
{
	size_t i, was = 0, n = 0;
	int err = 0;

	for (i = 0; i < r->n_fresh && err == 0; i++) {
		struct func_mapping *f = &r->fresh[i];

		while (was < r->n_open && compare_address(&r->maps.mappings[r->open[was]], f) < 0)
			r->maps.mappings[r->open[was++]].until = r->generation;
		if (was < r->n_open && same_mapping(&r->maps.mappings[r->open[was]], f)) {
			open[n++] = r->open[was++];
			continue;
		}
		open[n++] = r->maps.n;
		err = push_mapping(r, f);
	}
	close_open(r, was, r->generation);
	*ret_n = n;
	return err;
}

/* The lines of a generation are complete: what stayed, what ended, what is new. A generation that is
 * not there leaves nothing open, since anything may have happened in it. */
static int end_generation(struct reading *r)
{
	size_t *open = calloc(r->n_fresh + 1, sizeof(*open));
	size_t n = 0;
	int err;

	if (!open)
		return -ENOMEM;
	if (r->n_fresh)
		qsort(r->fresh, r->n_fresh, sizeof(*r->fresh), compare_fresh);
	if (r->complete && r->generation != r->maps.newest_generation + 1) {
		close_open(r, 0, r->maps.newest_generation + 1);
		r->n_open = 0;
	}
	err = merge_fresh(r, open, &n);
	drop_fresh(r);
	free(r->open);
	r->open = open;
	r->n_open = err == 0 ? n : 0;
	r->maps.newest_generation = r->generation;
	r->complete = true;
	r->inside = false;
	return err;
}

/* "# generation N". Numbers only grow; what does not is damage. */
static int begin_generation(struct reading *r, uint64_t number)
{
	int err = 0;

	if (r->inside && r->marked) {
		r->maps.bad_lines++;
		drop_fresh(r);
	} else if (r->inside || r->n_fresh) {
		err = end_generation(r);
	}
	r->inside = number < STAYED - 1 && (!r->complete || number > r->maps.newest_generation);
	r->numbered = true;
	if (r->inside)
		r->generation = (uint32_t)number;
	else
		r->maps.bad_lines++;
	return err;
}

/* "# end N": only of the generation that is being read. */
static int read_end(struct reading *r, uint64_t number)
{
	if (r->inside && number == r->generation)
		return end_generation(r);
	r->maps.bad_lines++;
	return 0;
}

/* The number behind a mark, if the line has this mark and nothing else. */
static bool has_mark(const char *line, size_t len, const char *mark, uint64_t *ret)
{
	size_t at = strlen(mark);

	return len > at && memcmp(line, mark, at) == 0 && parse_number(line, len, &at, 10, ret) &&
	       at == len;
}

static int read_mark(struct reading *r, const char *line, size_t len)
{
	const size_t id = sizeof(id_before) - 1;
	uint64_t number;

	if (has_mark(line, len, generation_mark, &number))
		return begin_generation(r, number);
	if (r->marked && has_mark(line, len, end_mark, &number))
		return read_end(r, number);
	if (!r->numbered && !r->n_fresh && has_mark(line, len, head, &number)) {
		r->marked = true;
		return number == 1 ? 0 : -EPROTONOSUPPORT;
	}
	if (len > id && memcmp(line, id_before, id) == 0 &&
	    !parse_build_id(line + id, len - id, &r->id))
		r->maps.bad_lines++;
	return 0;
}

/* Takes the path. */
static int push_fresh(struct reading *r, struct func_mapping *m)
{
	int err = reserve((void **)&r->fresh, r->n_fresh, &r->fresh_room, sizeof(*m));

	if (err < 0) {
		free(m->path);
		return err;
	}
	if (!m->build_id_len && r->id.build_id_len) {
		memcpy(m->build_id, r->id.build_id, r->id.build_id_len);
		m->build_id_len = r->id.build_id_len;
	}
	r->id.build_id_len = 0;
	r->fresh[r->n_fresh++] = *m;
	return 0;
}

static int read_line(struct reading *r, const char *line, size_t len)
{
	struct func_mapping m;
	int is;

	if (len && line[0] == '#')
		return read_mark(r, line, len);
	is = parse_line(line, len, &m);
	if (is == 1 && (r->inside || !(r->marked || r->numbered)))
		return push_fresh(r, &m);
	if (is == 1)
		free(m.path);
	if (is == 1 || is == -EBADMSG)
		r->maps.bad_lines++;
	r->id.build_id_len = 0;
	return is == -ENOMEM ? is : 0;
}

/* What is over when the text is. */
static int read_finish(struct reading *r)
{
	int err = 0;

	if (r->marked && r->inside)
		r->maps.bad_lines++;
	else if (r->inside || r->n_fresh)
		err = end_generation(r);
	if (err == 0 && r->numbered)
		close_open(r, 0, r->maps.newest_generation + 1);
	return err;
}

static int read_lines(struct reading *r, const char *text, size_t len)
{
	const char *end = text + len, *stop;
	int err = 0;

	while (text < end && err == 0) {
		stop = memchr(text, '\n', (size_t)(end - text));
		if (!stop) {
			r->maps.bad_lines++;
			break;
		}
		err = read_line(r, text, (size_t)(stop - text));
		text = stop + 1;
	}
	return err == 0 ? read_finish(r) : err;
}

int maps_parse(const char *text, size_t len, struct maps *ret, struct error *e)
{
	struct reading r = { 0 };
	int err;

	if (len > MAPS_TEXT_MAX)
		return error_set(e, E2BIG, "cannot read maps: %zu bytes, more than a process has",
				 len);
	err = read_lines(&r, text, len);
	if (err == 0) {
		if (r.maps.n)
			qsort(r.maps.mappings, r.maps.n, sizeof(*r.maps.mappings), compare_mapping);
		*ret = r.maps;
		memset(&r.maps, 0, sizeof(r.maps));
	}
	reading_done(&r);
	return err == 0 ? 0
			: error_set(e, -err, "cannot read maps: %s",
				    err == -E2BIG	      ? "more mappings than a process has"
				    : err == -EPROTONOSUPPORT ? "their version is not known"
							      : strerror(-err));
}

/* Mappings of different generations lie over each other, so this is a walk; whoever names many
 * addresses names each only once. */
const struct func_mapping *maps_get(const struct func_mapping *mappings, size_t n,
				    uint32_t generation, uint64_t address)
{
	size_t i;

	for (i = 0; i < n && mappings[i].since <= generation; i++)
		if (address >= mappings[i].from && address < mappings[i].to &&
		    generation < mappings[i].until)
			return &mappings[i];
	return NULL;
}
