/* SPDX-License-Identifier: MIT */
/* func_rig: see func_rig.h. */
#undef NDEBUG /* what is asserted here is also done here */
#include "tools/func_rig.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "device/agent/spool.h"
#include "wire/block.h"
#include "wire/func_decode.h"
#include "wire/func_door.h"
#include "wire/meta.h"

/* --- the agent --- */

static const char *path_of(const struct func_rig *r, const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", r->folder, name);
	return path;
}

static void start_agent(struct func_rig *r)
{
	char socket_path[128], folder[128];
	struct spool_options so = { .memory = r->memory, .policy = POLICY_OLDEST };
	struct func_feed_options o = {
		.device = "box", .group = "", .bytes = r->o.bytes, .mode = FUNC_MODE_ON
	};
	struct error e = ERROR_INIT;

	snprintf(socket_path, sizeof(socket_path), "%s", path_of(r, "sock"));
	snprintf(folder, sizeof(folder), "%s", path_of(r, "records"));
	assert(spool_open(&r->spool, &so, &e) == 0);
	o.spool = r->spool;
	o.socket = socket_path;
	o.folder = folder;
	if (func_feed_new(&r->feed, &o, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		abort();
	}
}

static void stop_agent(struct func_rig *r)
{
	func_feed_free(r->feed);
	spool_free(r->spool);
}

void func_rig_init(struct func_rig *r, const struct func_rig_options *o)
{
	struct memory_options m = { .cpus = 2, .slots = 1 };

	memset(r, 0, sizeof(*r));
	r->o = *o;
	m.spool_bytes = o->spool_bytes;
	m.func_rows = o->rows;
	snprintf(r->folder, sizeof(r->folder), "/tmp/kiseki-feed-XXXXXX");
	assert(mkdtemp(r->folder));
	assert(memory_open(&r->memory, &m, NULL) == 0);
	r->now_ms = 1000000;
	start_agent(r);
}

void func_rig_restart(struct func_rig *r)
{
	stop_agent(r);
	start_agent(r);
}

void func_rig_done(struct func_rig *r)
{
	char command[128];
	uint32_t i;

	for (i = 0; i < FUNC_RIG_PROGRAMS; i++)
		func_rig_end(r, i);
	stop_agent(r);
	memory_free(r->memory);
	func_rig_forget(r);
	snprintf(command, sizeof(command), "rm -rf %s", r->folder);
	assert(system(command) == 0);
}

/* --- programs --- */

static int receive(int fd, int fds[2])
{
	uint8_t bytes[FUNC_DOOR_ANSWER + 1];
	union {
		struct cmsghdr head;
		uint8_t room[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct iovec part = { bytes, sizeof(bytes) };
	struct msghdr m;
	struct cmsghdr *c;

	memset(&m, 0, sizeof(m));
	m.msg_iov = &part;
	m.msg_iovlen = 1;
	m.msg_control = &control;
	m.msg_controllen = sizeof(control);
	if (recvmsg(fd, &m, MSG_DONTWAIT) != (ssize_t)FUNC_DOOR_ANSWER)
		return EPROTO;
	assert(!memcmp(bytes, FUNC_DOOR_MAGIC, 8));
	c = CMSG_FIRSTHDR(&m);
	if (c)
		memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	return (int)get_le32(bytes + FUNC_DOOR_AT_CODE);
}

int func_rig_ask(struct func_rig *r, const uint8_t *request, size_t len, int fds[2])
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), code;

	fds[0] = fds[1] = -1;
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/sock", r->folder);
	assert(fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0);
	assert(send(fd, request, len, 0) == (ssize_t)len);
	func_feed_answer(r->feed, r->now_ms);
	code = receive(fd, fds);
	close(fd);
	return code;
}

int func_rig_ask_for(struct func_rig *r, uint32_t verb, uint64_t bytes, int fds[2])
{
	uint8_t q[FUNC_DOOR_REQUEST] = { 0 };

	memcpy(q, FUNC_DOOR_MAGIC, 8);
	put_le32(q + FUNC_DOOR_AT_VERSION, FUNC_DOOR_VERSION);
	put_le32(q + FUNC_DOOR_AT_VERB, verb);
	put_le64(q + FUNC_DOOR_AT_BYTES, bytes);
	memcpy(q + FUNC_DOOR_AT_COMM, "sample", 6);
	return func_rig_ask(r, q, sizeof(q), fds);
}

struct func_file *func_rig_start(struct func_rig *r, uint32_t number,
				 const struct func_file_layout *l)
{
	static const char maps[] =
		"# kiseki maps 1\n# generation 1\n"
		"1000-2000 r-xp 00000000 fe:00 131    /usr/bin/sample\n# end 1\n";
	struct func_rig_program *p = &r->programs[number];
	struct stat st;
	int fds[2];
	void *at;

	assert(func_rig_ask_for(r, FUNC_DOOR_OPEN, 0, fds) == 0);
	assert(fstat(fds[0], &st) == 0);
	p->file = func_file_new(l);
	p->own = p->file->data;
	p->mapped = (size_t)st.st_size;
	assert(p->file->len <= p->mapped);
	at = mmap(NULL, p->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	assert(at != MAP_FAILED);
	/* Two programs of one pid differ by their start. */
	func_file_set_clock(p->file, 1000000000U, 1000 + r->now_ms + number, 5000000);
	memcpy((uint8_t *)at + 8, p->own + 8, p->file->len - 8);
	memcpy(at, p->own, 8);
	p->file->data = at;
	assert(write(fds[1], maps, sizeof(maps) - 1) == (ssize_t)sizeof(maps) - 1);
	close(fds[0]);
	close(fds[1]);
	return p->file;
}

void func_rig_end(struct func_rig *r, uint32_t number)
{
	struct func_rig_program *p = &r->programs[number];

	if (!p->file)
		return;
	munmap(p->file->data, p->mapped);
	p->file->data = p->own;
	func_file_free(p->file);
	p->file = NULL;
}

void func_rig_turn(struct func_rig *r, uint32_t ms)
{
	uint64_t end = r->now_ms + ms, next;
	struct error e = ERROR_INIT;

	for (;;) {
		next = func_feed_next(r->feed);
		if (next > end)
			break;
		r->now_ms = next > r->now_ms ? next : r->now_ms;
		func_feed_turn(r->feed, r->now_ms, &e);
		r->turns++;
	}
	r->now_ms = end;
}

/* --- what came out --- */

static struct func_rig_events *events_of(struct func_rig *r, int32_t tid)
{
	uint32_t i;

	for (i = 0; i < r->n_threads; i++)
		if (r->threads[i].tid == tid)
			return &r->threads[i];
	if (r->n_threads == FUNC_RIG_THREADS)
		return &r->threads[FUNC_RIG_THREADS - 1];
	r->threads[r->n_threads].tid = tid;
	return &r->threads[r->n_threads++];
}

void func_rig_forget(struct func_rig *r)
{
	uint32_t i;

	for (i = 0; i < r->n_threads; i++)
		free(r->threads[i].at);
	memset(r->threads, 0, sizeof(r->threads));
	r->n_threads = 0;
}

const struct func_rig_events *func_rig_get(const struct func_rig *r, int32_t tid)
{
	uint32_t i;

	for (i = 0; i < r->n_threads; i++)
		if (r->threads[i].tid == tid)
			return &r->threads[i];
	return NULL;
}

static void take_meta(struct func_rig *r, const struct block *b)
{
	struct meta_reader m;
	uint32_t row;

	meta_reader_init(&m, b->payload, b->payload_len);
	while (meta_reader_next(&m) == WIRE_OK) {
		r->runs += m.type == META_FUNC_CLOCK;
		r->processes += m.type == META_PROCESSES;
		r->mappings += m.type == META_MAPPINGS;
		if (m.type != META_THREADS)
			continue;
		row = (uint32_t)reader_varint(&m.item);
		reader_varint(&m.item);
		assert(row < sizeof(r->tids) / sizeof(r->tids[0]));
		r->tids[row] = (int32_t)reader_signed(&m.item);
	}
}

static void take_calls(struct func_rig *r, const struct block *b)
{
	static struct func_decoder d;
	struct func_rig_events *e = events_of(r, r->tids[(b->stream - STREAM_FUNC_FIRST) / 2]);
	uint32_t i;

	assert(b->codec == CODEC_FUNC && b->flags & BLOCK_KEY);
	for (i = 0; i < LOSS_CAUSES; i++) {
		e->unknown += b->lost[i] == LOSS_UNKNOWN;
		e->lost[i] += b->lost[i] == LOSS_UNKNOWN ? 0 : b->lost[i];
	}
	if (!b->events)
		return;
	e->as_written += b->payload[0] == FUNC_STAGE_HOOK;
	func_decoder_init(&d);
	assert(func_decoder_begin(&d, b->payload, b->payload_len, b->first_tick) == WIRE_OK);
	for (i = 0; i < b->events; i++) {
		if (e->n == e->room) {
			e->room = e->room ? 2 * e->room : 1024;
			e->at = realloc(e->at, e->room * sizeof(*e->at));
			assert(e->at);
		}
		assert(func_decode(&d, &e->at[e->n++]) == WIRE_OK);
	}
	assert(func_decoder_end(&d) == WIRE_OK);
}

void func_rig_collect(struct func_rig *r)
{
	struct spool_entry e;
	uint64_t frames = 0;
	struct block b;

	spool_rewind(r->spool);
	while (spool_peek(r->spool, &e)) {
		if (e.kind == FRAME_RUN_END) {
			r->ends++;
		} else {
			assert(block_decode(e.bytes, e.len, &b) == WIRE_OK);
			if (b.stream == STREAM_META)
				take_meta(r, &b);
			else
				take_calls(r, &b);
		}
		spool_sent(r->spool);
		frames++;
		assert(spool_ack(r->spool, frames) == 0);
	}
}
