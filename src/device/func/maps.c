/* SPDX-License-Identifier: MIT */
/*
 * maps: see maps.h. A table's text is the lines as they are written, each with its build-id before
 * it; ranges point into it, at their paths, which a NUL ends instead of a newline.
 */
#include "device/func/maps.h"

#include "device/func/build_id.h"
#include "device/func/sys.h"

/* One line of /proc/self/maps. */
struct line {
	uint64_t from, to, offset;
	bool executable;
	const char *path; /* NULL: none */
};

static const char *parse_hex(const char *s, uint64_t *ret)
{
	uint64_t v = 0;

	for (;; s++) {
		if (*s >= '0' && *s <= '9')
			v = v << 4 | (uint64_t)(*s - '0');
		else if (*s >= 'a' && *s <= 'f')
			v = v << 4 | (uint64_t)(*s - 'a' + 10);
		else
			break;
	}
	*ret = v;
	return s;
}

static bool parse_line(const char *s, struct line *ret)
{
	s = parse_hex(s, &ret->from);
	if (*s++ != '-')
		return false;
	s = parse_hex(s, &ret->to);
	if (*s++ != ' ' || strlen(s) < 5)
		return false;
	ret->executable = s[2] == 'x';
	parse_hex(s + 5, &ret->offset);
	ret->path = strchr(s, '/');
	return true;
}

static void put_text(struct maps_table *t, const char *s, size_t len)
{
	memcpy(t->text + t->text_len, s, len);
	t->text_len += (uint32_t)len;
}

static void put_build_id(struct maps_table *t, uint64_t head, uint64_t end)
{
	static const char digits[] = "0123456789abcdef";
	uint8_t id[MAPS_BUILD_ID_MAX];
	uint32_t i, len = build_id_get(head, end, id);

	if (!len)
		return;
	put_text(t, "# build-id ", 11);
	for (i = 0; i < len; i++) {
		put_text(t, &digits[id[i] >> 4], 1);
		put_text(t, &digits[id[i] & 15], 1);
	}
	put_text(t, "\n", 1);
}

/* `head`: where the object's own header is mapped, 0 if nobody knows. */
static void push_range(struct maps_table *t, const char *text, const struct line *l, uint64_t head)
{
	struct maps_range *r = &t->range[t->n];
	size_t len = strlen(text);

	if (t->n == MAPS_RANGES_MAX || len + 64 >= MAPS_TEXT_MAX - t->text_len)
		return;
	if (head)
		put_build_id(t, head, l->to);
	r->from = l->from;
	r->to = l->to;
	r->offset = l->offset;
	r->path = t->text_len + (uint32_t)(l->path - text);
	put_text(t, text, len + 1);
	t->n++;
}

/* An object's lines follow one another, the first one has its header. Paths are compared by hash. */
static void take_line(struct maps_table *t, const char *text, uint64_t *head, uint64_t *head_path)
{
	uint64_t path = 14695981039346656037ULL;
	const char *s;
	struct line l;

	if (!parse_line(text, &l) || !l.path)
		return;
	for (s = l.path; *s; s++)
		path = (path ^ (uint8_t)*s) * 1099511628211ULL;
	if (l.offset == 0) {
		*head = l.from;
		*head_path = path;
	}
	if (l.executable)
		push_range(t, text, &l, *head_path == path ? *head : 0);
}

/* Lines come in pieces. */
struct lines {
	struct maps_table *table;
	size_t len; /* of the line so far */
	uint64_t head, head_path;
};

static void take_byte(struct maps *m, struct lines *l, char c)
{
	if (c != '\n') {
		if (l->len < sizeof(m->line) - 1)
			m->line[l->len++] = c;
		return;
	}
	m->line[l->len] = '\0';
	l->len = 0;
	take_line(l->table, m->line, &l->head, &l->head_path);
}

static bool read_lines(struct maps *m, struct maps_table *t, int fd)
{
	struct lines l = { .table = t };
	ssize_t n, i;

	while ((n = sys_read(fd, m->block, sizeof(m->block))) > 0)
		for (i = 0; i < n; i++)
			take_byte(m, &l, m->block[i]);
	return n == 0;
}

static bool has_range(const struct maps_table *t, const struct maps_table *of, uint32_t i)
{
	const struct maps_range *r = &of->range[i];
	uint32_t n;

	for (n = 0; n < t->n; n++)
		if (t->range[n].from == r->from && t->range[n].to == r->to &&
		    t->range[n].offset == r->offset)
			return !strcmp(t->text + t->range[n].path, of->text + r->path);
	return false;
}

enum maps_change maps_parse(struct maps *m)
{
	struct maps_table *old = &m->table[m->now], *t = &m->table[!m->now];
	bool had = old->n != 0;
	uint32_t i;
	int fd = sys_open("/proc/self/maps", O_RDONLY, 0);

	if (fd < 0)
		return MAPS_UNKNOWN;
	t->n = 0;
	t->text_len = 0;
	if (!read_lines(m, t, fd) || !t->n) {
		sys_close(fd);
		return MAPS_UNKNOWN;
	}
	sys_close(fd);
	m->now = !m->now;
	if (had && t->text_len == old->text_len && !memcmp(t->text, old->text, t->text_len))
		return MAPS_SAME;
	for (i = 0; i < old->n; i++)
		if (!has_range(t, old, i))
			return MAPS_GONE;
	return MAPS_MORE;
}

const struct maps_range *maps_find(const struct maps *m, uint64_t address)
{
	const struct maps_table *t = &m->table[m->now];
	uint32_t low = 0, high = t->n, at;

	while (low < high) {
		at = (low + high) / 2;
		if (t->range[at].to <= address)
			low = at + 1;
		else
			high = at;
	}
	return low < t->n && t->range[low].from <= address ? &t->range[low] : NULL;
}

/* "# generation 12\n" and the like. */
static size_t format_mark(char *out, const char *word, uint32_t number)
{
	char digits[10];
	size_t n = 0, len = strlen(word);

	memcpy(out, word, len);
	do
		digits[n++] = (char)('0' + number % 10);
	while (number /= 10);
	while (n)
		out[len++] = digits[--n];
	out[len++] = '\n';
	return len;
}

/* The text has NULs where lines end. */
static bool write_table(struct maps *m, int fd)
{
	const struct maps_table *t = &m->table[m->now];
	uint32_t at, i, n;

	for (at = 0; at < t->text_len; at += n) {
		n = t->text_len - at;
		if (n > sizeof(m->block))
			n = sizeof(m->block);
		for (i = 0; i < n; i++)
			m->block[i] = t->text[at + i] ? t->text[at + i] : '\n';
		if (!sys_write(fd, m->block, n))
			return false;
	}
	return true;
}

bool maps_write(struct maps *m, int fd, uint32_t generation)
{
	static const char first[] = "# kiseki maps 1\n";
	char mark[48];
	size_t len;
	bool ok;

	if (m->written + m->table[m->now].text_len + sizeof(mark) * 3 > MAPS_FILE_MAX)
		return false;
	ok = lseek(fd, 0, SEEK_END) >= 0;
	ok = ok && (generation > 1 || sys_write(fd, first, sizeof(first) - 1));
	len = format_mark(mark, "# generation ", generation);
	ok = ok && sys_write(fd, mark, len) && write_table(m, fd);
	len = format_mark(mark, "# end ", generation);
	ok = ok && sys_write(fd, mark, len);
	m->written += m->table[m->now].text_len + sizeof(mark) * 2;
	return ok;
}
