/* SPDX-License-Identifier: MIT */
/* func_record: see func_record.h. */
#include "trace/func_record.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "store/array.h"
#include "wire/varint.h"

#define SLOT_BYTES_MAX (1U << 24)

/* All of `len` bytes at `at`, which the file has; -ENODATA if it has not. */
static int read_at(const struct func_record *r, int fd, uint64_t at, uint8_t *out, size_t len)
{
	ssize_t n;

	if (at > r->len || len > r->len - at)
		return -ENODATA;
	if (r->data) {
		memcpy(out, r->data + at, len);
		return 0;
	}
	while (len) {
		n = pread(fd, out, len, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENODATA; /* it was cut since */
		out += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* As many of `n` things of this size as the file has room for, from `at` on. */
static uint32_t how_many(const struct func_record *r, uint64_t at, uint32_t n, uint32_t size)
{
	uint64_t room = at < r->len ? (r->len - at + size - 1) / size : 0;

	return room < n ? (uint32_t)room : n;
}

static int parse_layout(struct func_record *r, const uint8_t *h, struct error *e)
{
	uint32_t header = get_le32(h + FUNC_BUFFER_AT_HEADER_BYTES);
	uint32_t slots = get_le32(h + FUNC_BUFFER_AT_SLOTS);
	uint32_t chunks = get_le32(h + FUNC_BUFFER_AT_CHUNKS);

	r->slot_bytes = get_le32(h + FUNC_BUFFER_AT_SLOT_BYTES);
	r->chunk_bytes = get_le32(h + FUNC_BUFFER_AT_CHUNK_BYTES);
	r->slots_at = get_le64(h + FUNC_BUFFER_AT_SLOTS_AT);
	r->chunks_at = get_le64(h + FUNC_BUFFER_AT_CHUNKS_AT);
	if (header < FUNC_BUFFER_HEADER || slots > FUNC_BUFFER_SLOTS_MAX ||
	    chunks > FUNC_BUFFER_CHUNKS_MAX || r->slot_bytes < FUNC_SLOT_HEAD ||
	    r->slot_bytes > SLOT_BYTES_MAX || r->chunk_bytes <= FUNC_CHUNK_HEAD ||
	    r->chunk_bytes > FUNC_BUFFER_CHUNK_MAX || r->slots_at < header ||
	    r->chunks_at < r->slots_at ||
	    r->chunks_at - r->slots_at < (uint64_t)slots * r->slot_bytes)
		return error_set(e, EBADMSG, "its header does not say where its parts are");
	r->slots_made = how_many(r, r->slots_at, slots, r->slot_bytes);
	r->chunks_made = how_many(r, r->chunks_at, chunks, r->chunk_bytes);
	r->cut = r->chunks_made < chunks ||
		 (chunks && r->len - r->chunks_at < (uint64_t)chunks * r->chunk_bytes);
	return 0;
}

/* Pairs go around; those that were never written are zero, one that was being written may be
 * anything: func_clock keeps what fits together. */
static void parse_syncs(struct func_record *r, const uint8_t *h)
{
	uint32_t i, made = get_le32(h + FUNC_BUFFER_AT_SYNC_NEXT);
	const uint8_t *p = h + FUNC_BUFFER_AT_SYNC;

	r->syncs[r->n_syncs].tick = r->start_tick;
	r->syncs[r->n_syncs++].mono_ns = r->start_mono_ns;
	for (i = 0; i < FUNC_BUFFER_SYNCS && i < made; i++, p += 16) {
		struct func_sync sync = { .tick = get_le64(p), .mono_ns = get_le64(p + 8) };

		if (sync.tick && sync.mono_ns)
			r->syncs[r->n_syncs++] = sync;
	}
}

static int parse_header(struct func_record *r, const uint8_t *h, struct error *e)
{
	if (memcmp(h + FUNC_BUFFER_AT_MAGIC, FUNC_BUFFER_MAGIC, 8))
		return error_set(e, EBADMSG, "not a function record: no magic at offset 0");
	if (get_le32(h + FUNC_BUFFER_AT_VERSION) != FUNC_BUFFER_VERSION)
		return error_set(e, EBADMSG,
				 "a function record of version %u, this reads version %u",
				 get_le32(h + FUNC_BUFFER_AT_VERSION), FUNC_BUFFER_VERSION);
	r->pid = (int32_t)get_le32(h + FUNC_BUFFER_AT_PID);
	r->parent = (int32_t)get_le32(h + FUNC_BUFFER_AT_PARENT);
	r->start_tick = get_le64(h + FUNC_BUFFER_AT_START_TICK);
	r->start_mono_ns = get_le64(h + FUNC_BUFFER_AT_START_MONOTONIC);
	r->start_real_ns = get_le64(h + FUNC_BUFFER_AT_START_REALTIME);
	r->tick_hz = get_le64(h + FUNC_BUFFER_AT_TICK_HZ);
	r->shift = get_le32(h + FUNC_BUFFER_AT_TICK_SHIFT);
	r->clock = get_le32(h + FUNC_BUFFER_AT_CLOCK);
	r->drained = get_le32(h + FUNC_BUFFER_AT_DRAINED);
	r->policy = get_le32(h + FUNC_BUFFER_AT_POLICY);
	r->ended = get_le32(h + FUNC_BUFFER_AT_ENDED) != 0;
	r->streams = get_le32(h + FUNC_BUFFER_AT_STREAMS);
	r->lost_threads = get_le64(h + FUNC_BUFFER_AT_LOST_THREADS);
	r->filtered = get_le64(h + FUNC_BUFFER_AT_FILTERED);
	memcpy(r->comm, h + FUNC_BUFFER_AT_COMM, SCHED_COMM_LEN);
	memcpy(r->exe, h + FUNC_BUFFER_AT_EXE, FUNC_BUFFER_EXE_LEN);
	parse_syncs(r, h);
	return parse_layout(r, h, e);
}

static int read_slots(struct func_record *r, int fd)
{
	struct func_record_slot s;
	uint8_t h[FUNC_SLOT_HEAD];
	uint32_t i;
	int ret = 0;

	for (i = 0; i < r->slots_made && ret == 0; i++) {
		ret = read_at(r, fd, r->slots_at + (uint64_t)i * r->slot_bytes, h, sizeof(h));
		if (ret < 0)
			return ret == -ENODATA ? 0 : ret; /* the file ends within it */
		memset(&s, 0, sizeof(s));
		s.tid = (int32_t)get_le32(h + FUNC_SLOT_AT_TID);
		if (!s.tid)
			continue;
		s.stream = get_le32(h + FUNC_SLOT_AT_STREAM);
		s.lost = get_le64(h + FUNC_SLOT_AT_LOST);
		s.events = get_le64(h + FUNC_SLOT_AT_EVENTS);
		sched_comm_set(s.comm, (const char *)h + FUNC_SLOT_AT_COMM, SCHED_COMM_LEN);
		ret = array_grow(&r->slots, r->n_slots, &r->room_slots, sizeof(s),
				 FUNC_BUFFER_SLOTS_MAX);
		if (ret == 0)
			r->slots[r->n_slots++] = s;
	}
	return ret;
}

static void parse_chunk(const struct func_record *r, uint32_t number, const uint8_t *h,
			struct func_record_chunk *ret)
{
	uint64_t at = r->chunks_at + (uint64_t)number * r->chunk_bytes + FUNC_CHUNK_HEAD;
	uint32_t room = r->chunk_bytes - FUNC_CHUNK_HEAD;

	memset(ret, 0, sizeof(*ret));
	ret->number = number;
	ret->stream = get_le32(h + FUNC_CHUNK_AT_STREAM);
	ret->tid = (int32_t)get_le32(h + FUNC_CHUNK_AT_TID);
	ret->flags = get_le32(h + FUNC_CHUNK_AT_FLAGS);
	ret->sequence = get_le64(h + FUNC_CHUNK_AT_SEQUENCE);
	ret->tick = get_le64(h + FUNC_CHUNK_AT_TICK);
	ret->before = get_le64(h + FUNC_CHUNK_AT_BEFORE);
	ret->lost = get_le64(h + FUNC_CHUNK_AT_LOST);
	ret->used = get_le32(h + FUNC_CHUNK_AT_USED);
	if (ret->used > room) {
		ret->used = 0;
		ret->torn = true;
	}
	if (ret->used > r->len - at) {
		ret->used = (uint32_t)(r->len - at);
		ret->torn = true;
	}
}

static int read_chunks(struct func_record *r, int fd)
{
	uint8_t h[FUNC_CHUNK_HEAD];
	uint32_t i, state;
	int ret = 0;

	for (i = 0; i < r->chunks_made && ret == 0; i++) {
		ret = read_at(r, fd, r->chunks_at + (uint64_t)i * r->chunk_bytes, h, sizeof(h));
		if (ret < 0)
			return ret == -ENODATA ? 0 : ret;
		state = get_le32(h + FUNC_CHUNK_AT_STATE);
		if (state != FUNC_CHUNK_WRITING && state != FUNC_CHUNK_FULL)
			continue;
		ret = array_grow(&r->chunks, r->n_chunks, &r->room_chunks, sizeof(*r->chunks),
				 FUNC_BUFFER_CHUNKS_MAX);
		if (ret == 0)
			parse_chunk(r, i, h, &r->chunks[r->n_chunks++]);
	}
	return ret;
}

static int slot_order(const void *a, const void *b)
{
	const struct func_record_slot *x = a, *y = b;

	return x->stream < y->stream ? -1 : x->stream > y->stream;
}

static int chunk_order(const void *a, const void *b)
{
	const struct func_record_chunk *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static int load(struct func_record *r, int fd, struct error *e)
{
	uint8_t header[FUNC_BUFFER_HEADER];
	int ret = read_at(r, fd, 0, header, sizeof(header));

	if (ret == -ENODATA && r->len >= 8 && read_at(r, fd, 0, header, 8) == 0 &&
	    !memcmp(header, FUNC_BUFFER_MAGIC, 8))
		return error_set(e, EBADMSG, "a function record that ends within its header");
	if (ret == -ENODATA)
		return error_set(e, EBADMSG, "not a function record: no magic at offset 0");
	if (ret < 0)
		return error_set(e, ret, "%s", strerror(-ret));
	ret = parse_header(r, header, e);
	if (ret < 0)
		return ret;
	ret = read_slots(r, fd);
	if (ret == 0)
		ret = read_chunks(r, fd);
	if (ret < 0)
		return error_set(e, ret, "%s", strerror(-ret));
	if (r->n_slots)
		qsort(r->slots, r->n_slots, sizeof(*r->slots), slot_order);
	if (r->n_chunks)
		qsort(r->chunks, r->n_chunks, sizeof(*r->chunks), chunk_order);
	return 0;
}

int func_record_open_memory(struct func_record **ret, const uint8_t *data, size_t len,
			    struct error *e)
{
	CLEANUP(func_record) struct func_record *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return error_set(e, ENOMEM, "out of memory");
	r->data = data;
	r->len = len;
	rc = load(r, -1, e);
	if (rc < 0)
		return rc;
	*ret = take_ptr(r);
	return 0;
}

int func_record_open(struct func_record **ret, const char *path, struct error *e)
{
	CLEANUP(func_record) struct func_record *r = calloc(1, sizeof(*r));
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int rc;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(e, EBADMSG, "cannot read %s: not a file", path);
	if (!r || !(r->path = strdup(path)))
		return error_set(e, ENOMEM, "cannot read %s: out of memory", path);
	r->len = (uint64_t)st.st_size;
	rc = load(r, fd, e);
	if (rc < 0)
		return error_prefix(e, rc, "cannot read %s", path);
	*ret = take_ptr(r);
	return 0;
}

void func_record_free(struct func_record *r)
{
	if (!r)
		return;
	free(r->path);
	free(r->slots);
	free(r->chunks);
	free(r);
}

int func_record_read(const struct func_record *r, const struct func_record_chunk *c, uint8_t *out)
{
	uint64_t at = r->chunks_at + (uint64_t)c->number * r->chunk_bytes;
	_cleanup_close_ int fd = r->path ? open(r->path, O_RDONLY | O_CLOEXEC) : -1;
	uint8_t h[FUNC_CHUNK_HEAD];
	int ret;

	if (r->path && fd < 0)
		return -errno;
	ret = read_at(r, fd, at + FUNC_CHUNK_HEAD, out, c->used);
	/* Looked at behind the bytes: if it is still that chunk, they were its bytes. */
	if (ret == 0)
		ret = read_at(r, fd, at, h, sizeof(h));
	if (ret < 0)
		return ret == -ENODATA ? -ESTALE : ret;
	if (get_le32(h + FUNC_CHUNK_AT_STATE) == FUNC_CHUNK_FREE ||
	    get_le32(h + FUNC_CHUNK_AT_STREAM) != c->stream ||
	    get_le64(h + FUNC_CHUNK_AT_SEQUENCE) != c->sequence)
		return -ESTALE;
	return (int)c->used;
}

const struct func_record_slot *func_record_get_slot(const struct func_record *r, uint32_t stream)
{
	size_t lo = 0, hi = r->n_slots, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (r->slots[mid].stream < stream)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < r->n_slots && r->slots[lo].stream == stream ? &r->slots[lo] : NULL;
}
