/* SPDX-License-Identifier: MIT */
/* symfile: see symfile.h. */
#include "symbol/symfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mapping.h"
#include "wire/crc32c.h"

struct symfile {
	struct symfile_head head;
	const uint8_t *bytes;
	struct mapping *file; /* NULL: somebody else's memory */
	const uint8_t *segments, *symbols;
	const char *names;
	struct edges edges;
};

DEFINE_CLEANUP(symfile, symfile_close)

void symfile_close(struct symfile *f)
{
	if (!f)
		return;
	mapping_close(f->file);
	free(f);
}

const struct symfile_head *symfile_get_head(const struct symfile *f)
{
	return &f->head;
}

static int check_head(const uint8_t *p, uint64_t size, struct error *e)
{
	if (size < SYMFILE_HEAD_LEN || memcmp(p, SYMFILE_MAGIC, 8) != 0)
		return error_set(e, EBADMSG, "is no table of symbols");
	if (p[8] != SYMFILE_VERSION)
		return error_set(e, EPROTONOSUPPORT, "is of version %u, not %u", p[8],
				 SYMFILE_VERSION);
	if (get_le32(p + 12) != crc32c_add(crc32c_add(0, p, 12), p + 16, SYMFILE_HEAD_LEN - 16))
		return error_set(e, EBADMSG, "is damaged: the checksum of its head is wrong");
	if (get_le64(p + 16) != size)
		return error_set(e, EBADMSG, "is cut or longer than it should be");
	return 0;
}

static void decode_head(struct symfile *f)
{
	const uint8_t *p = f->bytes;
	struct symfile_head *h = &f->head;

	h->kind = (enum symfile_kind)p[9];
	h->flags = p[10];
	f->edges.shift = p[11];
	h->size = get_le64(p + 16);
	f->edges.base = get_le64(p + 24);
	f->edges.n_pages = get_le32(p + 32);
	f->edges.n = get_le32(p + 36);
	h->n_symbols = get_le32(p + 40);
	h->n_segments = get_le32(p + 44);
	h->names_len = get_le64(p + 48);
	h->machine = (uint16_t)(p[56] | p[57] << 8);
	h->id_len = p[58];
	h->body_crc = get_le32(p + 60);
	memcpy(h->id, p + 64, SYMFILE_ID_MAX);
}

/* Where the parts lie follows from the counts of the head, which are of 32 bits: no sum can wrap. The
 * last byte of the names ends the last of them, and with it any that begins among them. */
static int place_parts(struct symfile *f, struct error *e)
{
	const struct symfile_head *h = &f->head;
	struct edges *x = &f->edges;
	const bool far = h->flags & SYMFILE_FAR;
	uint64_t segments = SYMFILE_HEAD_LEN;
	uint64_t symbols = segments + (uint64_t)h->n_segments * SYMFILE_SEGMENT_LEN;
	uint64_t edge = symbols + (uint64_t)h->n_symbols * SYMFILE_SYMBOL_LEN;
	uint64_t places = edge + (uint64_t)x->n * EDGE_LEN;
	uint64_t pages = places + (far ? (uint64_t)x->n * EDGE_PLACE_LEN : 0);
	uint64_t names = pages + ((uint64_t)x->n_pages + 1) * EDGES_PAGE_LEN;

	if (h->kind < SYMFILE_OBJECT || h->kind > SYMFILE_LINES || x->shift > EDGES_SHIFT_MAX ||
	    h->id_len == 0 || h->id_len > SYMFILE_ID_MAX || h->n_segments > ELF_SEGMENTS_MAX ||
	    h->size > SYMFILE_BYTES_MAX || names > h->size || h->names_len != h->size - names ||
	    h->names_len == 0 || f->bytes[h->size - 1] != 0)
		return error_set(e, EBADMSG, "is damaged: its parts do not fit together");
	f->segments = f->bytes + segments;
	f->symbols = f->bytes + symbols;
	x->edge = f->bytes + edge;
	x->places = far ? f->bytes + places : NULL;
	x->pages = f->bytes + pages;
	f->names = (const char *)f->bytes + names;
	return 0;
}

int symfile_open_memory(const void *data, size_t len, struct symfile **ret, struct error *e)
{
	CLEANUP(symfile) struct symfile *f = NULL;
	int r = check_head(data, len, e);

	if (r < 0)
		return r;
	f = calloc(1, sizeof(*f));
	if (!f)
		return error_set(e, ENOMEM, "cannot be read: %s", strerror(ENOMEM));
	f->bytes = data;
	decode_head(f);
	r = place_parts(f, e);
	if (r == 0)
		*ret = take_ptr(f);
	return r;
}

int symfile_open(int fd, struct symfile **ret, struct error *e)
{
	_cleanup_close_ int taken = fd;
	CLEANUP(mapping) struct mapping *m = NULL;
	struct stat st;
	int r;

	if (fstat(taken, &st) < 0)
		return error_set(e, errno, "cannot be read: %s", strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)SYMFILE_HEAD_LEN ||
	    (uint64_t)st.st_size > SYMFILE_BYTES_MAX)
		return error_set(e, EBADMSG, "is no table of symbols");
	r = mapping_open(&m, taken, SYMFILE_BYTES_MAX);
	if (r < 0)
		return error_set(e, r, "cannot be mapped: %s", strerror(-r));
	r = symfile_open_memory(m->data, m->len, ret, e);
	if (r == 0)
		(*ret)->file = take_ptr(m);
	return r;
}

int symfile_check(const struct symfile *f)
{
	uint32_t crc =
		crc32c_add(0, f->bytes + SYMFILE_HEAD_LEN, (size_t)f->head.size - SYMFILE_HEAD_LEN);

	return crc == f->head.body_crc ? 0 : -EBADMSG;
}

/* NULL: nobody's. */
static const uint8_t *find_symbol(const struct symfile *f, uint64_t address)
{
	uint32_t owner = edges_find(&f->edges, address);

	return owner < f->head.n_symbols ? f->symbols + (size_t)owner * SYMFILE_SYMBOL_LEN : NULL;
}

bool symfile_find_line(const struct symfile *f, uint64_t address, const char **ret_file,
		       uint32_t *ret_line)
{
	const uint8_t *p = f->head.kind == SYMFILE_LINES ? find_symbol(f, address) : NULL;
	uint32_t file;

	if (!p)
		return false;
	file = get_le32(p + 8);
	*ret_line = get_le32(p + 12);
	if (file >= f->head.names_len || !f->names[file] || !*ret_line)
		return false;
	*ret_file = f->names + file;
	return true;
}

bool symfile_find(const struct symfile *f, uint64_t address, struct symfile_symbol *ret)
{
	const uint8_t *p = f->head.kind == SYMFILE_LINES ? NULL : find_symbol(f, address);
	uint32_t name, other;

	if (!p)
		return false;
	name = get_le32(p + 8);
	other = get_le32(p + 12);
	if (name >= f->head.names_len || other >= f->head.names_len)
		return false;
	*ret = (struct symfile_symbol){ .start = get_le64(p),
					.name = f->names + name,
					.other = f->names + other };
	return true;
}

int symfile_dup_segments(const struct symfile *f, struct elf_segment **ret, size_t *ret_n)
{
	struct elf_segment *s = calloc((size_t)f->head.n_segments + 1, sizeof(*s));
	uint32_t i;

	if (!s)
		return -ENOMEM;
	for (i = 0; i < f->head.n_segments; i++) {
		const uint8_t *p = f->segments + (size_t)i * SYMFILE_SEGMENT_LEN;

		s[i] = (struct elf_segment){ .type = PT_LOAD,
					     .flags = get_le32(p),
					     .offset = get_le64(p + 8),
					     .address = get_le64(p + 16),
					     .file_size = get_le64(p + 24) };
	}
	*ret = s;
	*ret_n = f->head.n_segments;
	return 0;
}
