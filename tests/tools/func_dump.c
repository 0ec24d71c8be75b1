/* SPDX-License-Identifier: MIT */
/*
 * func_dump: the record of a process as text, for tests: made from docs/format/func-buffer.md and
 * independent of the library that reads records.
 *
 *	func_dump [-q] FILE
 *
 *	process PID comm ended policy maps streams lost_threads filtered
 *	thread STREAM TID comm
 *	E DEPTH address tick | X DEPTH address tick | O os value tick | L count | K (a segment starts)
 *	end events lost             of the thread: decoded, and told as lost
 *	pair tick ns
 *
 * With -q no events. It exits with 1 at anything that the format does not allow: bytes that do not
 * decode, a BEFORE that does not add up (except where chunks are missing, which it prints as M).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire/func_buffer.h"
#include "wire/func_hook_decode.h"

struct chunk {
	const uint8_t *head;
	uint32_t stream;
	uint64_t sequence;
};

static const uint8_t *data;
static size_t data_len;
static bool quiet;
static struct func_hook_decoder decoder;

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static void load(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	void *at = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size >= (off_t)FUNC_BUFFER_HEADER)
		at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		fail("cannot read %s: %s", path, strerror(errno));
	close(fd);
	data = at;
	data_len = (size_t)st.st_size;
	if (memcmp(data, FUNC_BUFFER_MAGIC, 8) != 0)
		fail("%s: no record", path);
}

static uint32_t header32(uint32_t at)
{
	return get_le32(data + at);
}

static int chunk_order(const void *a, const void *b)
{
	const struct chunk *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static void print_event(const struct func_event *ev, uint32_t depth)
{
	static const char kinds[] = "EXO";

	if (quiet)
		return;
	if (ev->kind == FUNC_OS)
		printf("O %u %llu %llu\n", ev->os, (unsigned long long)ev->value,
		       (unsigned long long)ev->tick);
	else
		printf("%c %u %llx %llu\n", kinds[ev->kind], depth, (unsigned long long)ev->value,
		       (unsigned long long)ev->tick);
}

/* Decodes a chunk; returns how many events it had. */
static uint64_t dump_chunk(const struct chunk *c, bool *in_segment)
{
	uint32_t used = get_le32(c->head + FUNC_CHUNK_AT_USED);
	struct byte_reader r;
	struct func_event ev;
	enum wire_status status;
	uint64_t events = 0;

	if (used > header32(FUNC_BUFFER_AT_CHUNK_BYTES) - FUNC_CHUNK_HEAD)
		fail("chunk with %u bytes used", used);
	reader_init(&r, c->head + FUNC_CHUNK_HEAD, used);
	if (get_le32(c->head + FUNC_CHUNK_AT_FLAGS) & FUNC_CHUNK_KEY) {
		if (used &&
		    func_hook_decode_begin(&decoder, &r, get_le64(c->head + FUNC_CHUNK_AT_TICK)) !=
			    WIRE_OK)
			fail("a segment's start does not decode");
		*in_segment = true;
		if (!quiet)
			printf("K %u\n", decoder.model.stack.depth);
	}
	if (!*in_segment)
		return 0;
	while (reader_left(&r)) {
		status = func_hook_decode(&decoder, &r, &ev);
		if (status != WIRE_OK)
			fail("stream %u, chunk %llu: status %d with %zu bytes left", c->stream,
			     (unsigned long long)c->sequence, status, reader_left(&r));
		print_event(&ev, decoder.model.stack.depth);
		events++;
	}
	return events;
}

static void check_before(const struct chunk *c, uint64_t sequence, uint64_t *seen, uint64_t *lost)
{
	uint64_t before = get_le64(c->head + FUNC_CHUNK_AT_BEFORE);
	uint64_t told = get_le64(c->head + FUNC_CHUNK_AT_LOST);

	if (told && !quiet)
		printf("L %llu\n", (unsigned long long)told);
	*lost += told;
	if (c->sequence == sequence && before != *seen + told)
		fail("stream %u, chunk %llu: %llu before, but %llu seen and %llu lost", c->stream,
		     (unsigned long long)c->sequence, (unsigned long long)before,
		     (unsigned long long)*seen, (unsigned long long)told);
	if (c->sequence != sequence)
		printf("M %llu\n", (unsigned long long)(before - *seen - told));
	*seen = before;
}

static const uint8_t *find_slot(uint32_t stream)
{
	const uint8_t *slots = data + get_le64(data + FUNC_BUFFER_AT_SLOTS_AT);
	uint32_t i;

	for (i = 0; i < header32(FUNC_BUFFER_AT_SLOTS); i++) {
		const uint8_t *s = slots + (size_t)i * header32(FUNC_BUFFER_AT_SLOT_BYTES);

		if (get_le32(s + FUNC_SLOT_AT_TID) && get_le32(s + FUNC_SLOT_AT_STREAM) == stream)
			return s;
	}
	return NULL;
}

static void print_thread(const uint8_t *chunk, const uint8_t *slot, uint32_t stream)
{
	uint32_t tid = 0;

	if (chunk)
		tid = get_le32(chunk + FUNC_CHUNK_AT_TID);
	else if (slot)
		tid = get_le32(slot + FUNC_SLOT_AT_TID);
	printf("thread %u %u %.16s\n", stream, tid,
	       slot ? (const char *)slot + FUNC_SLOT_AT_COMM : "-");
}

static void dump_thread(const struct chunk *chunks, size_t n, uint32_t stream)
{
	const uint8_t *slot = find_slot(stream);
	uint64_t seen = 0, lost = 0, events = 0, got, sequence = 0;
	bool in_segment = false;
	size_t i;

	if (!n && !slot)
		return;
	print_thread(n ? chunks[0].head : NULL, slot, stream);
	for (i = 0; i < n; i++) {
		if (chunks[i].sequence != sequence)
			in_segment = false;
		check_before(&chunks[i], sequence, &seen, &lost);
		got = dump_chunk(&chunks[i], &in_segment);
		seen += got;
		events += got;
		sequence = chunks[i].sequence + 1;
	}
	if (slot && get_le64(slot + FUNC_SLOT_AT_LOST)) {
		lost += get_le64(slot + FUNC_SLOT_AT_LOST);
		if (!quiet)
			printf("L %llu\n", (unsigned long long)get_le64(slot + FUNC_SLOT_AT_LOST));
	}
	if (slot && get_le64(slot + FUNC_SLOT_AT_EVENTS) != seen)
		printf("slot counts %llu\n",
		       (unsigned long long)(get_le64(slot + FUNC_SLOT_AT_EVENTS) - seen));
	printf("end %llu %llu\n", (unsigned long long)events, (unsigned long long)lost);
}

static void dump_header(void)
{
	uint64_t filtered = get_le64(data + FUNC_BUFFER_AT_FILTERED);
	const uint8_t *slots = data + get_le64(data + FUNC_BUFFER_AT_SLOTS_AT);
	uint32_t i, n = header32(FUNC_BUFFER_AT_SYNC_NEXT);

	for (i = 0; i < header32(FUNC_BUFFER_AT_SLOTS); i++) {
		const uint8_t *s = slots + (size_t)i * header32(FUNC_BUFFER_AT_SLOT_BYTES);

		filtered += get_le64(s + FUNC_SLOT_AT_FILTERED);
	}
	printf("process %u %.16s %u %u %u %u %llu %llu\n", header32(FUNC_BUFFER_AT_PID),
	       (const char *)data + FUNC_BUFFER_AT_COMM, header32(FUNC_BUFFER_AT_ENDED),
	       header32(FUNC_BUFFER_AT_POLICY), header32(FUNC_BUFFER_AT_MAPS),
	       header32(FUNC_BUFFER_AT_STREAMS),
	       (unsigned long long)get_le64(data + FUNC_BUFFER_AT_LOST_THREADS),
	       (unsigned long long)filtered);
	for (i = 0; i < n && i < FUNC_BUFFER_SYNCS; i++) {
		const uint8_t *p = data + FUNC_BUFFER_AT_SYNC + (size_t)i * 16;

		printf("pair %llu %llu\n", (unsigned long long)get_le64(p),
		       (unsigned long long)get_le64(p + 8));
	}
}

static struct chunk *read_chunks(size_t *ret_n)
{
	uint64_t at = get_le64(data + FUNC_BUFFER_AT_CHUNKS_AT);
	uint32_t i, count = header32(FUNC_BUFFER_AT_CHUNKS), state;
	uint32_t bytes = header32(FUNC_BUFFER_AT_CHUNK_BYTES);
	struct chunk *chunks = calloc(count + 1, sizeof(*chunks));
	uint64_t rest = data_len - at - (uint64_t)count * bytes;
	size_t n = 0;

	/* An agent's file is as long as it is; the process's own has no rest. */
	if (!chunks || rest > (header32(FUNC_BUFFER_AT_DRAINED) ? data_len : 0))
		fail("%u chunks of %u bytes do not fill the file", count, bytes);
	for (i = 0; i < count; i++) {
		const uint8_t *head = data + at + (size_t)i * bytes;

		state = get_le32(head + FUNC_CHUNK_AT_STATE);
		if (state != FUNC_CHUNK_WRITING && state != FUNC_CHUNK_FULL)
			continue;
		chunks[n].head = head;
		chunks[n].stream = get_le32(head + FUNC_CHUNK_AT_STREAM);
		chunks[n++].sequence = get_le64(head + FUNC_CHUNK_AT_SEQUENCE);
	}
	qsort(chunks, n, sizeof(*chunks), chunk_order);
	*ret_n = n;
	return chunks;
}

int main(int argc, char **argv)
{
	struct chunk *chunks;
	size_t i, n, first = 0;
	uint32_t stream;

	quiet = argc == 3 && !strcmp(argv[1], "-q");
	if (argc != 2 + quiet)
		fail("usage: func_dump [-q] FILE");
	load(argv[1 + quiet]);
	dump_header();
	chunks = read_chunks(&n);
	for (stream = 0; stream < header32(FUNC_BUFFER_AT_STREAMS); stream++) {
		for (i = first; i < n && chunks[i].stream == stream; i++)
			;
		dump_thread(chunks + first, i - first, stream);
		first = i;
	}
	if (first != n)
		fail("chunks of streams that there are not");
	free(chunks);
	return 0;
}
