/* SPDX-License-Identifier: MIT */
/* ksk_file: see ksk_file.h. */
#include "store/ksk_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "store/ksk.h"
#include "store/ksk_scan.h"

/* A piped file is held in memory. */
#define PIPE_MAX (sizeof(size_t) > 4 ? (size_t)(1ULL << 32) : SIZE_MAX / 4)

/* Bytes checked in vain while searching, per byte of the file: honest damage needs almost none. */
#define SEARCH_RATIO 8U

/* The last chunk that starts at or before the offset. */
static size_t chunk_of(const struct ksk_file *f, uint64_t offset)
{
	size_t lo = 0, hi = f->n_chunks, mid;

	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (f->chunks[mid].offset <= offset)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

int ksk_file_next(struct ksk_file *f, uint32_t stream, uint64_t *offset, struct block *ret,
		  uint64_t *ret_at)
{
	const struct ksk_stream *s = ksk_file_stream(f, stream);
	const uint64_t *at;
	size_t chunk;
	int r;

	if (f->failure)
		return f->failure;
	if (*offset < KSK_HEAD_LEN)
		*offset = KSK_HEAD_LEN;
	if (!s || *offset >= f->end)
		return 0;
	for (;;) {
		chunk = ksk_unscanned(f, chunk_of(f, *offset));
		at = ksk_find_block(s, *offset);
		if (at && *at < f->chunks[chunk].offset)
			break;
		if (chunk == f->n_chunks)
			return 0;
		r = ksk_scan_chunk(f, chunk);
		if (r < 0)
			return r;
	}
	*ret_at = *at;
	if (block_peek(f->data + *ret_at, (size_t)(f->end - *ret_at), ret) == WIRE_OK) {
		*offset = *ret_at + ret->len;
	} else { /* only a block that the end of the file cuts is listed without being whole */
		*offset = f->end;
		ret->payload = NULL;
	}
	return 1;
}

int ksk_file_verify(struct ksk_file *f, struct error *e)
{
	size_t chunk;
	int r = 0;

	for (chunk = 0; chunk < f->n_chunks && r == 0; chunk++)
		if (ksk_unscanned(f, chunk) == chunk)
			r = ksk_scan_chunk(f, chunk);
	return r < 0 ? error_set(e, r, "cannot list the blocks: %s", strerror(-r)) : 0;
}

static int load(struct ksk_file *f, struct error *e)
{
	int r;

	if (f->len < KSK_HEAD_LEN || memcmp(f->data, KSK_MAGIC, 8))
		return error_set(e, EBADMSG, "not a .ksk file: no magic at offset 0");
	if (f->data[8] != KSK_VERSION)
		return error_set(e, EBADMSG, "a .ksk file of version %u, this reads version %u",
				 f->data[8], KSK_VERSION);
	f->end = f->len;
	f->search_left = (uint64_t)f->len * SEARCH_RATIO;
	r = ksk_index_read(f);
	if (r == 0)
		return 0;
	if (r == -ENOMEM)
		return error_set(e, ENOMEM, "out of memory");
	ksk_file_note(f, f->end, 0, "the file has no sound index: it was cut or not finished");
	if ((f->end > KSK_HEAD_LEN && ksk_add_chunk(f, KSK_HEAD_LEN) < 0) || ksk_end_chunks(f) < 0)
		return error_set(e, ENOMEM, "out of memory");
	return ksk_file_verify(f, e);
}

int ksk_file_open_memory(struct ksk_file **ret, const uint8_t *data, size_t len, struct error *e)
{
	CLEANUP(ksk_file) struct ksk_file *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return error_set(e, ENOMEM, "out of memory");
	f->reader.ops = &ksk_reader_ops;
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
			if (room >= PIPE_MAX)
				return -EFBIG;
			room = room ? room * 2 : 1U << 20;
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
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode)) {
		r = read_pipe(fd, &f->owned, &f->len);
		f->data = f->owned;
		return r;
	}
	r = mapping_open(&f->file, fd, SIZE_MAX);
	if (r < 0)
		return r;
	f->data = f->file->data;
	f->len = f->file->len;
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
	f->reader.ops = &ksk_reader_ops;
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
	ksk_forget(f);
	mapping_close(f->file);
	free(f->owned);
	free(f->streams);
	free(f->chunks);
	free(f->damage);
	free(f);
}
