/* SPDX-License-Identifier: MIT */
/*
 * drain: empties the record of one thread while it is written, as docs/format/func-buffer.md, section 8,
 * has it, and prints its calls.
 *
 *	drain FOLDER PID
 *
 * It ends at SIGTERM, when all that is left was printed.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire/func_buffer.h"
#include "wire/func_hook_decode.h"

static volatile sig_atomic_t ending;
static struct func_hook_decoder decoder;
static uint64_t next_sequence;

static void on_term(int number)
{
	(void)number;
	ending = 1;
}

static uint32_t load(const void *p)
{
	uint8_t bytes[4];
	uint32_t v = __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE);

	memcpy(bytes, &v, 4);
	return get_le32(bytes);
}

static void store(void *p, uint32_t v)
{
	uint8_t bytes[4];
	uint32_t raw;

	put_le32(bytes, v);
	memcpy(&raw, bytes, 4);
	__atomic_store_n((uint32_t *)p, raw, __ATOMIC_RELEASE);
}

static uint8_t *map_record(const char *folder, const char *pid)
{
	char path[1024];
	struct dirent *entry;
	struct stat st;
	const char *dot;
	uint8_t *at = MAP_FAILED;
	DIR *d = opendir(folder);
	int fd;

	while (d && (entry = readdir(d))) {
		dot = strrchr(entry->d_name, '.');
		if (!dot || strcmp(dot + 1, pid) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		fd = open(path, O_RDWR);
		if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0)
			at = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				  0);
		close(fd);
		if (at != MAP_FAILED && memcmp(at, FUNC_BUFFER_MAGIC, 8) != 0) {
			munmap(at, (size_t)st.st_size);
			at = MAP_FAILED;
		}
	}
	if (d)
		closedir(d);
	return at == MAP_FAILED ? NULL : at;
}

static void print_chunk(const uint8_t *head)
{
	struct byte_reader r;
	struct func_event ev;

	reader_init(&r, head + FUNC_CHUNK_HEAD, load(head + FUNC_CHUNK_AT_USED));
	if (load(head + FUNC_CHUNK_AT_FLAGS) & FUNC_CHUNK_KEY &&
	    func_hook_decode_begin(&decoder, &r, get_le64(head + FUNC_CHUNK_AT_TICK)) != WIRE_OK)
		exit(2);
	while (reader_left(&r)) {
		if (func_hook_decode(&decoder, &r, &ev) != WIRE_OK)
			exit(3);
		if (ev.kind != FUNC_OS)
			printf("%c %llx\n", ev.kind == FUNC_ENTER ? 'E' : 'X',
			       (unsigned long long)ev.value);
	}
}

/* Whether there was one to take. */
static int drain_next(uint8_t *record, int last)
{
	uint8_t *head = record + get_le64(record + FUNC_BUFFER_AT_CHUNKS_AT);
	uint32_t i, n = load(record + FUNC_BUFFER_AT_CHUNKS), state;

	for (i = 0; i < n; i++, head += load(record + FUNC_BUFFER_AT_CHUNK_BYTES)) {
		state = load(head + FUNC_CHUNK_AT_STATE);
		if (state != FUNC_CHUNK_FULL && !(last && state == FUNC_CHUNK_WRITING))
			continue;
		if (get_le64(head + FUNC_CHUNK_AT_SEQUENCE) != next_sequence)
			continue;
		print_chunk(head);
		next_sequence++;
		store(head + FUNC_CHUNK_AT_STATE, FUNC_CHUNK_FREE);
		store(record + FUNC_BUFFER_AT_FREED, load(record + FUNC_BUFFER_AT_FREED) + 1);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	uint8_t *record = NULL;
	int stop;

	signal(SIGTERM, on_term);
	while (argc == 3 && !record && !ending) {
		record = map_record(argv[1], argv[2]);
		usleep(1000);
	}
	if (!record)
		return 1;
	store(record + FUNC_BUFFER_AT_DRAINED, (uint32_t)getpid());
	do {
		stop = ending;
		while (drain_next(record, 0))
			;
		usleep(2000);
	} while (!stop);
	while (drain_next(record, 1))
		;
	return 0;
}
