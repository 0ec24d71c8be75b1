/* SPDX-License-Identifier: MIT */
/* func_maps: see func_maps.h. */
#include "device/feed/func_maps.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/hex.h"

#define GENERATION_MARK "# generation "
#define END_MARK "# end "
#define BUILD_ID_MARK "# build-id "

/* Lines of the file, from a place on. */
struct lines {
	int fd;
	uint64_t at; /* in the file: behind the line that was given last */
	size_t from, to;
	char *line; /* terminated, without its end */
	size_t len;
	char text[FUNC_MAPS_LINE * 2];
};

/* A line that is a mapping, with the build-id that stood before it. */
struct mapping {
	struct func_meta_mapping row;
	uint8_t build_id[FUNC_MAPS_BUILD_ID];
	uint64_t hash;
};

void func_maps_init(struct func_maps *m)
{
	memset(m, 0, sizeof(*m));
}

/* --- lines --- */

static void lines_init(struct lines *l, int fd, uint64_t at)
{
	l->fd = fd;
	l->at = at;
	l->from = l->to = 0;
}

/* False: there is no more of the file. */
static bool read_more(struct lines *l)
{
	uint64_t at = l->at + (l->to - l->from);
	ssize_t n;

	memmove(l->text, l->text + l->from, l->to - l->from);
	l->to -= l->from;
	l->from = 0;
	if (l->to == sizeof(l->text) || at >= FUNC_MAPS_FILE_MAX)
		return false;
	do
		n = pread(l->fd, l->text + l->to, sizeof(l->text) - l->to, (off_t)at);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	l->to += (size_t)n;
	return true;
}

/* A line without its end is not there; one that is too long ends the file. */
static bool next_line(struct lines *l)
{
	char *end;

	while (!(end = memchr(l->text + l->from, '\n', l->to - l->from)))
		if (!read_more(l))
			return false;
	*end = 0;
	l->line = l->text + l->from;
	l->len = (size_t)(end - l->line);
	l->from += l->len + 1;
	l->at += l->len + 1;
	return true;
}

/* A number in this base, at least one digit and no more than 64 bits; NULL: there is none. */
static const char *parse_number(const char *p, unsigned base, uint64_t *ret)
{
	const char *start = p;
	uint64_t v = 0;
	int digit;

	for (; (digit = hex_digit(*p)) >= 0 && (unsigned)digit < base; p++) {
		if (v > (UINT64_MAX - (unsigned)digit) / base)
			return NULL;
		v = v * base + (unsigned)digit;
	}
	*ret = v;
	return p == start ? NULL : p;
}

static const char *parse_field(const char *p, unsigned base, char behind, uint64_t *ret)
{
	p = p ? parse_number(p, base, ret) : NULL;
	return p && *p == behind ? p + 1 : NULL;
}

/* The number behind a mark, if the line has this mark and nothing else. */
static bool is_mark(const struct lines *l, const char *mark, uint64_t *ret)
{
	size_t len = strlen(mark);
	const char *end;

	if (strncmp(l->line, mark, len))
		return false;
	end = parse_number(l->line + len, 10, ret);
	return end && end == l->line + l->len;
}

/* The kernel writes a line feed in a path as \012 and leaves everything else as it is. */
static uint32_t unescape(char *path)
{
	char *in, *out = path;

	for (in = path; *in; in++) {
		if (strncmp(in, "\\012", 4)) {
			*out++ = *in;
		} else {
			*out++ = '\n';
			in += 3;
		}
	}
	return (uint32_t)(out - path);
}

bool func_maps_parse_line(char *line, size_t len, struct func_meta_mapping *ret)
{
	struct func_meta_mapping m = { .since = 0, .until = UINT32_MAX };
	const char *p = parse_field(line, 16, '-', &m.from);
	uint64_t ignored;
	char *slash;
	bool code;

	p = parse_field(p, 16, ' ', &m.to);
	if (!p || strlen(p) < 5 || p[4] != ' ')
		return false;
	code = p[2] == 'x';
	p = parse_field(p + 5, 16, ' ', &m.offset);
	p = parse_field(p, 16, ':', &ignored);
	p = parse_field(p, 16, ' ', &ignored);
	p = p ? parse_number(p, 10, &ignored) : NULL;
	if (!p || !code || m.from >= m.to || strlen(line) != len)
		return false;
	slash = strchr(p, '/');
	if (!slash || strspn(p, " ") != (size_t)(slash - p))
		return false;
	m.path.text = slash;
	m.path.len = unescape(slash);
	*ret = m;
	return true;
}

static void parse_build_id(const struct lines *l, struct mapping *m)
{
	const char *hex = l->line + sizeof(BUILD_ID_MARK) - 1;
	size_t i, n = strlen(hex) / 2;

	m->row.build_id_len = 0;
	if (strlen(hex) % 2 || n > FUNC_MAPS_BUILD_ID)
		return;
	for (i = 0; i < n; i++) {
		int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return;
		m->build_id[i] = (uint8_t)(high << 4 | low);
	}
	m->row.build_id_len = (uint32_t)n;
}

/* FNV-1a: who makes two lines of its own map alike deceives itself alone. */
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (; len; len--)
		hash = (hash ^ *p++) * 0x100000001b3ULL;
	return hash;
}

/* The next mapping of a generation; false: it is over. */
static bool next_mapping(struct lines *l, struct mapping *m)
{
	uint32_t id_len = 0;
	uint64_t number;

	while (next_line(l)) {
		if (is_mark(l, END_MARK, &number) || is_mark(l, GENERATION_MARK, &number))
			return false;
		if (!strncmp(l->line, BUILD_ID_MARK, sizeof(BUILD_ID_MARK) - 1)) {
			parse_build_id(l, m);
			id_len = m->row.build_id_len;
			continue;
		}
		m->hash = hash_bytes(0xcbf29ce484222325ULL, l->line, l->len);
		if (!func_maps_parse_line(l->line, l->len, &m->row)) {
			id_len = 0;
			continue;
		}
		m->row.build_id = m->build_id;
		m->row.build_id_len = id_len;
		m->hash = hash_bytes(m->hash, m->build_id, id_len);
		return true;
	}
	return false;
}

/* --- generations --- */

static const struct func_maps_known *find(const struct func_maps_known *known, uint32_t n,
					  uint64_t hash)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (known[i].hash == hash)
			return &known[i];
	return NULL;
}

/* What this generation has and the one before it had not. `now` gets all that is there. */
static int put_new(const struct func_maps *m, struct lines *l, const struct func_maps_sink *sink,
		   struct func_maps *now)
{
	bool follows = m->generation && now->generation == m->generation + 1;
	const struct func_maps_known *old;
	struct mapping one;
	int r;

	while (next_mapping(l, &one)) {
		old = follows && now->n < FUNC_MAPS_KNOWN ? find(m->known, m->n, one.hash) : NULL;
		one.row.since = old ? old->since : now->generation;
		r = old ? 0 : sink->put(sink->context, &one.row);
		if (r < 0)
			return r;
		if (now->n < FUNC_MAPS_KNOWN)
			now->known[now->n++] = (struct func_maps_known){ one.hash, one.row.since };
	}
	return 0;
}

/* What the generation before had and this one has not. If one is missing between, anything may have
 * happened in it. */
static int put_ended(const struct func_maps *m, struct lines *l, const struct func_maps_sink *sink,
		     const struct func_maps *now)
{
	bool follows = now->generation == m->generation + 1;
	const struct func_maps_known *old;
	struct mapping one;
	int r;

	while (next_mapping(l, &one)) {
		if (follows && find(now->known, now->n, one.hash))
			continue;
		old = find(m->known, m->n, one.hash);
		one.row.since = old ? old->since : m->generation;
		one.row.until = m->generation + 1;
		r = sink->put(sink->context, &one.row);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The next generation that is complete and newer; its lines start at now->last_at. */
static bool find_generation(const struct func_maps *m, struct lines *l, struct func_maps *now)
{
	uint64_t number, inside = 0;

	while (next_line(l)) {
		if (is_mark(l, GENERATION_MARK, &number)) {
			inside = number > m->generation && number < UINT32_MAX - 1 ? number : 0;
			now->last_at = l->at;
		} else if (inside && is_mark(l, END_MARK, &number) && number == inside) {
			now->generation = (uint32_t)inside;
			now->read_to = l->at;
			return true;
		}
	}
	return false;
}

int func_maps_turn(struct func_maps *m, int fd, const struct func_maps_sink *sink)
{
	struct func_maps now;
	struct lines l;
	int r = 0;

	for (;;) {
		func_maps_init(&now);
		lines_init(&l, fd, m->read_to);
		if (!find_generation(m, &l, &now))
			return 0;
		lines_init(&l, fd, now.last_at);
		r = put_new(m, &l, sink, &now);
		lines_init(&l, fd, m->last_at);
		if (r >= 0 && m->generation)
			r = put_ended(m, &l, sink, &now);
		if (r < 0)
			return r;
		*m = now;
	}
}
