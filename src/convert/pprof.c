/* SPDX-License-Identifier: MIT */
/* pprof: see pprof.h. */
#include "convert/pprof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SCRATCH 128U

struct text {
	uint32_t number;
	bool is_mapping; /* it is the name of an object that has been written */
	char text[];
};

int pprof_init(struct pprof *p, struct outfile *out)
{
	uint64_t empty;

	memset(p, 0, sizeof(*p));
	p->out = out;
	hashtable_init(&p->strings, PPROF_STRINGS_MAX);
	/* 15 + 16: the largest window, in the frame of gzip. */
	if (deflateInit2(&p->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return -ENOMEM;
	if (pprof_intern(p, "", &empty) < 0) {
		pprof_done(p);
		return -ENOMEM;
	}
	return 0;
}

void pprof_done(struct pprof *p)
{
	size_t at = 0;
	void *text;

	while ((text = hashtable_next(&p->strings, &at)))
		free(text);
	hashtable_done(&p->strings);
	deflateEnd(&p->z);
}

static int deflate_some(struct pprof *p, const void *bytes, size_t len, int flush)
{
	uint8_t packed[4096];
	int r;

	p->z.next_in = (Bytef *)(uintptr_t)bytes;
	p->z.avail_in = (uInt)len;
	do {
		p->z.next_out = packed;
		p->z.avail_out = sizeof(packed);
		r = deflate(&p->z, flush);
		if (r == Z_STREAM_ERROR)
			return -EINVAL;
		outfile_write(p->out, packed, sizeof(packed) - p->z.avail_out);
	} while (!p->z.avail_out);
	return 0;
}

int pprof_put(struct pprof *p, const struct proto *m)
{
	return m->full ? -EOVERFLOW : deflate_some(p, m->data, m->len, Z_NO_FLUSH);
}

int pprof_put_text(struct pprof *p, uint32_t field, const char *text)
{
	uint8_t head[SCRATCH];
	struct proto m = { .data = head, .room = sizeof(head) };
	size_t len = strlen(text);
	uint64_t rest = len;
	int r;

	m.data[m.len++] = (uint8_t)(field << 3 | 2);
	for (; rest >= 0x80; rest >>= 7)
		m.data[m.len++] = (uint8_t)(rest | 0x80);
	m.data[m.len++] = (uint8_t)rest;
	r = pprof_put(p, &m);
	return r < 0 ? r : deflate_some(p, text, len, Z_NO_FLUSH);
}

int pprof_put_type(struct pprof *p, uint32_t field, uint64_t type, uint64_t unit)
{
	uint8_t bytes[SCRATCH];
	struct proto m = { .data = bytes, .room = sizeof(bytes) };
	size_t mark = proto_begin(&m, field, 1);

	proto_uint(&m, 1, type);
	proto_uint(&m, 2, unit);
	proto_end(&m, mark, 1);
	return pprof_put(p, &m);
}

/* --- strings --- */

static bool is_text(const void *entry, const void *key)
{
	return !strcmp(((const struct text *)entry)->text, key);
}

static int find_text(struct pprof *p, const char *text, struct text **ret)
{
	size_t len = strlen(text);
	uint64_t hash = len;
	struct text *t;
	const char *c;
	int r;

	for (c = text; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 0x100000001b3ULL;
	hash = hashtable_hash_number(hash);
	*ret = t = hashtable_get(&p->strings, hash, is_text, text);
	if (t)
		return 0;
	*ret = t = malloc(sizeof(*t) + len + 1);
	if (!t)
		return -ENOMEM;
	memcpy(t->text, text, len + 1);
	t->number = p->n_strings;
	t->is_mapping = false;
	r = hashtable_add(&p->strings, hash, t);
	if (r < 0) {
		free(t);
		return r;
	}
	p->n_strings++;
	return pprof_put_text(p, PPROF_STRING, text);
}

int pprof_intern(struct pprof *p, const char *text, uint64_t *ret)
{
	struct text *t;
	int r = find_text(p, text, &t);

	if (r >= 0)
		*ret = t->number;
	return r;
}

int pprof_intern_all(struct pprof *p, const struct pprof_word *words, size_t n)
{
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < n; i++)
		r = pprof_intern(p, words[i].text, words[i].to);
	return r;
}

/* --- what formats have in common --- */

void pprof_add_label(struct proto *m, uint64_t key, uint64_t text, int64_t number)
{
	size_t mark = proto_begin(m, 3, 1);

	proto_uint(m, 1, key);
	if (text)
		proto_uint(m, 2, text);
	else
		proto_int(m, 3, number);
	proto_end(m, mark, 1);
}

int pprof_put_plain(struct pprof *p, uint64_t id, const struct function *f)
{
	uint8_t bytes[SCRATCH];
	struct proto m = { .data = bytes, .room = sizeof(bytes) };
	struct text *object;
	uint64_t name, mapping;
	size_t mark, line;
	int r = pprof_intern(p, f->name, &name);

	if (r >= 0)
		r = find_text(p, f->object, &object);
	if (r < 0)
		return r;
	mapping = (uint64_t)object->number + 1;
	if (!object->is_mapping) {
		mark = proto_begin(&m, PPROF_MAPPING, 1);
		proto_uint(&m, 1, mapping);
		proto_uint(&m, 5, object->number);
		proto_uint(&m, 7, 1);
		proto_end(&m, mark, 1);
		object->is_mapping = true;
	}
	mark = proto_begin(&m, PPROF_LOCATION, 1);
	proto_uint(&m, 1, id);
	proto_uint(&m, 2, mapping);
	line = proto_begin(&m, 4, 1);
	proto_uint(&m, 1, id);
	proto_end(&m, line, 1);
	proto_end(&m, mark, 1);
	mark = proto_begin(&m, PPROF_FUNCTION, 1);
	proto_uint(&m, 1, id);
	proto_uint(&m, 2, name);
	proto_uint(&m, 3, name);
	proto_end(&m, mark, 1);
	return pprof_put(p, &m);
}

int pprof_finish(struct pprof *p)
{
	return deflate_some(p, "", 0, Z_FINISH);
}
