/* SPDX-License-Identifier: MIT */
/* ksk_file: see ksk_file.h. */
#include "store/ksk_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "store/ksk.h"
#include "wire/varint.h"

#define STREAMS_MAX (1U << 20)
#define SEGMENTS_MAX (1U << 24)
#define DAMAGE_MAX (1U << 16) /* beyond this, damage is still skipped but no longer listed */
#define PIPE_MAX (1ULL << 32) /* a piped file is held in memory */

/* Room for one more in an array; its elements move. */
static int grow(void *array_pointer, size_t n, size_t *room, size_t size, size_t most)
{
	void **array = array_pointer, *grown;
	size_t wanted = *room ? *room * 2 : 16;

	if (n < *room)
		return 0;
	if (n >= most)
		return -E2BIG;
	grown = realloc(*array, wanted * size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*room = wanted;
	return 0;
}

static void note_damage(struct ksk_file *f, uint64_t offset, uint64_t len, const char *what)
{
	size_t at;

	for (at = f->n_damage; at && f->damage[at - 1].offset >= offset; at--)
		if (f->damage[at - 1].offset == offset)
			return;
	if (grow(&f->damage, f->n_damage, &f->room_damage, sizeof(*f->damage), DAMAGE_MAX) < 0)
		return;
	memmove(f->damage + at + 1, f->damage + at, (f->n_damage - at) * sizeof(*f->damage));
	f->damage[at] = (struct ksk_damage){ .offset = offset, .len = len, .what = what };
	f->n_damage++;
}

/* The next offset at which a whole and sound block lies, or the end. */
static uint64_t resync(const struct ksk_file *f, uint64_t offset)
{
	const uint8_t *p;
	struct block b;

	while (offset < f->end) {
		p = memchr(f->data + offset, BLOCK_MAGIC0, (size_t)(f->end - offset));
		if (!p)
			return f->end;
		offset = (uint64_t)(p - f->data);
		if (block_decode(p, (size_t)(f->end - offset), &b) == WIRE_OK)
			return offset;
		offset++;
	}
	return f->end;
}

/* Reads the block at *offset and moves behind it. 1: sound (or a stranger's, if stream is not
 * UINT32_MAX: those are not checked); 0: not, and *offset is at the next sound block. */
static int read_block(struct ksk_file *f, uint32_t stream, uint64_t *offset, struct block *b)
{
	const uint8_t *p = f->data + *offset;
	size_t left = (size_t)(f->end - *offset);
	enum wire_status status = block_peek(p, left, b);
	uint64_t next;

	if (status == WIRE_OK && (stream == UINT32_MAX || b->stream == stream))
		status = block_decode(p, left, b);
	if (status == WIRE_OK) {
		*offset += b->len;
		return 1;
	}
	next = resync(f, *offset + 1);
	note_damage(f, *offset, next - *offset,
		    next == f->end && status == WIRE_MORE
			    ? "the file is cut within a block"
			    : "not a block, or its checksum is wrong");
	*offset = next;
	if (next == f->end && status == WIRE_MORE && b->len) {
		b->payload = NULL;
		return 1;
	}
	return 0;
}

int ksk_file_next(struct ksk_file *f, uint32_t stream, uint64_t *offset, struct block *ret)
{
	if (*offset < KSK_HEAD_LEN)
		*offset = KSK_HEAD_LEN;
	while (*offset < f->end)
		if (read_block(f, stream, offset, ret) && ret->stream == stream)
			return 1;
	return 0;
}

static struct ksk_stream *get_stream(const struct ksk_file *f, uint32_t stream, size_t *ret_at)
{
	size_t lo = 0, hi = f->n_streams, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (f->streams[mid].stream < stream)
			lo = mid + 1;
		else
			hi = mid;
	}
	*ret_at = lo;
	return lo < f->n_streams && f->streams[lo].stream == stream ? &f->streams[lo] : NULL;
}

const struct ksk_stream *ksk_file_stream(const struct ksk_file *f, uint32_t stream)
{
	size_t at;

	return get_stream(f, stream, &at);
}

/* Even a stream without a single key block is one: its events are lost, and that must be told. */
static int add_stream(struct ksk_file *f, uint32_t stream)
{
	struct ksk_stream *s;
	size_t at;
	int r;

	if (get_stream(f, stream, &at))
		return 0;
	r = grow(&f->streams, f->n_streams, &f->room_streams, sizeof(*f->streams), STREAMS_MAX);
	if (r < 0)
		return r;
	s = f->streams + at;
	memmove(s + 1, s, (f->n_streams - at) * sizeof(*s));
	*s = (struct ksk_stream){ .stream = stream };
	f->n_streams++;
	return 0;
}

static int add_segment(struct ksk_file *f, uint32_t stream, uint64_t offset, uint64_t tick)
{
	struct ksk_stream *s;
	size_t at;
	int r;

	r = add_stream(f, stream);
	if (r < 0)
		return r;
	s = get_stream(f, stream, &at);
	r = grow(&s->segments, s->n, &s->room, sizeof(*s->segments), SEGMENTS_MAX);
	if (r < 0)
		return r;
	s->segments[s->n].offset = offset;
	s->segments[s->n].first_tick = tick;
	s->n++;
	return 0;
}

static void forget_segments(struct ksk_file *f)
{
	size_t i;

	for (i = 0; i < f->n_streams; i++)
		free(f->streams[i].segments);
	f->n_streams = 0;
}

static int read_rows(struct ksk_file *f, const struct block *b)
{
	struct byte_reader r;
	uint64_t offset = 0, tick = 0, stream;
	int ret;

	reader_init(&r, b->payload, b->payload_len);
	while (reader_left(&r)) {
		offset += reader_varint(&r);
		stream = reader_varint(&r);
		tick += (uint64_t)reader_signed(&r);
		if (r.bad || offset < KSK_HEAD_LEN || offset >= f->end || stream > UINT32_MAX)
			return -EBADMSG;
		ret = add_segment(f, (uint32_t)stream, offset, tick);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Believes the index if it is whole; else it was none. */
static int read_index(struct ksk_file *f)
{
	const uint8_t *trailer = f->data + f->len - KSK_TRAILER_LEN;
	uint64_t at, offset;
	struct block b;
	int r = 0;

	if (f->len < KSK_HEAD_LEN + KSK_TRAILER_LEN || memcmp(trailer + 8, KSK_TRAILER_MAGIC, 8))
		return -ENODATA;
	offset = get_le64(trailer);
	if (offset < KSK_HEAD_LEN || offset > f->len - KSK_TRAILER_LEN)
		return -ENODATA;
	f->end = (size_t)offset;
	for (at = offset; at < f->len - KSK_TRAILER_LEN && r == 0; at += b.len) {
		if (block_decode(f->data + at, (size_t)(f->len - KSK_TRAILER_LEN - at), &b) ||
		    b.codec != CODEC_INDEX)
			r = -ENODATA;
		else
			r = read_rows(f, &b);
	}
	if (r < 0)
		forget_segments(f);
	f->indexed = r == 0;
	return r;
}

static int scan(struct ksk_file *f)
{
	uint64_t offset = KSK_HEAD_LEN, at;
	struct block b;
	int r = 0;

	while (offset < f->end && r == 0) {
		at = offset;
		if (!read_block(f, UINT32_MAX, &offset, &b))
			continue;
		if (b.codec == CODEC_INDEX) {
			f->end = (size_t)at; /* an index whose trailer is gone */
			break;
		}
		r = b.flags & BLOCK_KEY ? add_segment(f, b.stream, at, b.first_tick)
					: add_stream(f, b.stream);
	}
	return r;
}

int ksk_file_verify(struct ksk_file *f, struct error *e)
{
	int r;

	forget_segments(f);
	r = scan(f);
	return r < 0 ? error_set(e, r, "cannot list the segments: %s", strerror(-r)) : 0;
}

static int load(struct ksk_file *f, struct error *e)
{
	if (f->len < KSK_HEAD_LEN || memcmp(f->data, KSK_MAGIC, 8))
		return error_set(e, EBADMSG, "not a .ksk file: no magic at offset 0");
	if (f->data[8] != KSK_VERSION)
		return error_set(e, EBADMSG, "a .ksk file of version %u, this reads version %u",
				 f->data[8], KSK_VERSION);
	f->end = f->len;
	if (read_index(f) == 0)
		return 0;
	f->end = f->len;
	note_damage(f, f->len, 0, "the file has no index: it was cut or not finished");
	return ksk_file_verify(f, e);
}

int ksk_file_open_memory(struct ksk_file **ret, const uint8_t *data, size_t len, struct error *e)
{
	CLEANUP(ksk_file) struct ksk_file *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return error_set(e, ENOMEM, "out of memory");
	f->data = data;
	f->len = len;
	r = load(f, e);
	if (r < 0)
		return r;
	*ret = take_ptr(f);
	return 0;
}

static int read_pipe(int fd, uint8_t **ret, size_t *ret_len)
{
	_cleanup_free_ uint8_t *data = NULL;
	size_t len = 0, room = 0;
	uint8_t *grown;
	ssize_t n;

	for (;;) {
		if (len == room) {
			room = room ? room * 2 : 1U << 20;
			if (room > PIPE_MAX)
				return -EFBIG;
			grown = realloc(data, room);
			if (!grown)
				return -ENOMEM;
			data = grown;
		}
		n = read(fd, data + len, room - len);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
		len += n > 0 ? (size_t)n : 0;
	}
	*ret = take_ptr(data);
	*ret_len = len;
	return 0;
}

static int acquire(struct ksk_file *f, int fd)
{
	struct stat st;
	void *map;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode)) {
		r = read_pipe(fd, &f->owned, &f->len);
		f->data = f->owned;
		return r;
	}
	if ((uint64_t)st.st_size > SIZE_MAX)
		return -EFBIG;
	f->len = (size_t)st.st_size;
	if (!f->len)
		return 0;
	map = mmap(NULL, f->len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	f->data = map;
	f->mapped = true;
	return 0;
}

int ksk_file_open(struct ksk_file **ret, const char *path, struct error *e)
{
	CLEANUP(ksk_file) struct ksk_file *f = calloc(1, sizeof(*f));
	_cleanup_close_ int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : dup(0);
	int r;

	if (!f)
		return error_set(e, ENOMEM, "cannot read %s: out of memory", path);
	if (fd < 0)
		return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	r = acquire(f, fd);
	if (r < 0)
		return error_set(e, r, "cannot read %s: %s", path, strerror(-r));
	r = load(f, e);
	if (r < 0)
		return error_prefix(e, r, "cannot read %s", path);
	*ret = take_ptr(f);
	return 0;
}

void ksk_file_free(struct ksk_file *f)
{
	if (!f)
		return;
	forget_segments(f);
	if (f->mapped)
		munmap((void *)f->data, f->len);
	free(f->owned);
	free(f->streams);
	free(f->damage);
	free(f);
}
