/* SPDX-License-Identifier: MIT */
/*
 * func_perfetto: the calls as track events of Perfetto: a track for each thread, below that of its process,
 * with a slice for each call.
 *
 * Packets: first one that clears the state of the sequence, then the tracks, then for each call the begin and
 * the end of a slice. A function's name is sent once, when it is first called, and then meant by its number.
 * The numbers of the fields are in docs/format/perfetto.md and in tests/data/perfetto_subset.proto. Stamps
 * are the trace's own nanoseconds, on the clock that Perfetto takes for boot time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "convert/func_export.h"
#include "convert/proto.h"
#include "trace/comm.h"

#define SEQUENCE_ID 1U
#define PACKET_ROOM 512U
#define NAME_MAX_LEN 4096U /* longer names are cut */

enum { /* Trace, TracePacket */
       TRACE_PACKET = 1,
       PACKET_TIMESTAMP = 8,
       PACKET_SEQUENCE_ID = 10,
       PACKET_TRACK_EVENT = 11,
       PACKET_INTERNED_DATA = 12,
       PACKET_SEQUENCE_FLAGS = 13,
       PACKET_TRACK_DESCRIPTOR = 60,
};

enum { SEQUENCE_CLEARED = 1, SEQUENCE_NEEDS_STATE = 2 };
enum { EVENT_TYPE = 9, EVENT_NAME_IID = 10, EVENT_TRACK = 11 };
enum { SLICE_BEGIN = 1, SLICE_END = 2 };

struct perfetto {
	const struct call_walk *w;
	struct outfile *out;
	uint8_t *known; /* functions whose name was sent, a byte each */
	size_t n_known;
	uint8_t bytes[PACKET_ROOM + NAME_MAX_LEN];
};

static struct proto begin_packet(struct perfetto *p, size_t *ret_mark)
{
	struct proto m = { .data = p->bytes, .room = sizeof(p->bytes) };

	*ret_mark = proto_begin(&m, TRACE_PACKET, 3);
	return m;
}

static int end_packet(struct perfetto *p, struct proto *m, size_t mark)
{
	proto_uint(m, PACKET_SEQUENCE_ID, SEQUENCE_ID);
	proto_end(m, mark, 3);
	if (m->full)
		return -EOVERFLOW;
	outfile_write(p->out, m->data, m->len);
	return outfile_error(p->out);
}

/* Tracks: processes have even numbers from 2 on, threads odd ones. */
static uint64_t process_track(uint32_t process)
{
	return 2 * (uint64_t)process + 2;
}

static uint64_t thread_track(uint32_t thread)
{
	return 2 * (uint64_t)thread + 1;
}

static int put_process(struct perfetto *p, uint32_t number)
{
	const struct func_process *process = &p->w->source->processes[number];
	size_t packet, track, inner;
	struct proto m = begin_packet(p, &packet);

	track = proto_begin(&m, PACKET_TRACK_DESCRIPTOR, 2);
	proto_uint(&m, 1, process_track(number));
	inner = proto_begin(&m, 3, 2);
	proto_int(&m, 1, process->pid);
	proto_bytes(&m, 6, process->command, strnlen(process->command, NAME_MAX_LEN));
	proto_end(&m, inner, 2);
	proto_end(&m, track, 2);
	return end_packet(p, &m, packet);
}

static int put_thread(struct perfetto *p, uint32_t number)
{
	const struct func_thread *t = &p->w->source->threads[number];
	size_t packet, track, inner;
	struct proto m = begin_packet(p, &packet);

	track = proto_begin(&m, PACKET_TRACK_DESCRIPTOR, 2);
	proto_uint(&m, 1, thread_track(number));
	proto_uint(&m, 5, process_track(t->process));
	inner = proto_begin(&m, 4, 1);
	proto_int(&m, 1, p->w->source->processes[t->process].pid);
	proto_int(&m, 2, t->tid);
	proto_bytes(&m, 5, t->comm, strnlen(t->comm, SCHED_COMM_LEN));
	proto_end(&m, inner, 1);
	proto_end(&m, track, 2);
	return end_packet(p, &m, packet);
}

static int put_tracks(struct perfetto *p)
{
	size_t packet;
	struct proto m = begin_packet(p, &packet);
	uint32_t i;
	int r;

	proto_uint(&m, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
	r = end_packet(p, &m, packet);
	for (i = 0; r >= 0 && i < p->w->source->n_processes; i++)
		r = put_process(p, i);
	for (i = 0; r >= 0 && i < p->w->source->n_threads; i++)
		if (call_select_has(p->w->select, p->w->source, i))
			r = put_thread(p, i);
	return r;
}

/* Is this the first call of the function? Then its name goes with it. */
static int see_function(struct perfetto *p, uint32_t function, bool *ret_new)
{
	uint8_t *grown;
	size_t n;

	if (function >= p->n_known) {
		n = 2 * ((size_t)function + 1);
		grown = realloc(p->known, n);
		if (!grown)
			return -ENOMEM;
		memset(grown + p->n_known, 0, n - p->n_known);
		p->known = grown;
		p->n_known = n;
	}
	*ret_new = !p->known[function];
	p->known[function] = 1;
	return 0;
}

static void put_name(struct perfetto *p, struct proto *m, uint32_t function)
{
	const char *name = call_names_get(p->w->names, function)->name;
	size_t data = proto_begin(m, PACKET_INTERNED_DATA, 2), entry = proto_begin(m, 2, 2);

	proto_uint(m, 1, (uint64_t)function + 1);
	proto_bytes(m, 2, name, strnlen(name, NAME_MAX_LEN));
	proto_end(m, entry, 2);
	proto_end(m, data, 2);
}

static int put_event(struct perfetto *p, const struct call_at *at, uint64_t type)
{
	size_t packet, event;
	struct proto m = begin_packet(p, &packet);
	bool fresh = false;
	int r = type == SLICE_BEGIN ? see_function(p, at->call->function, &fresh) : 0;

	if (r < 0)
		return r;
	proto_uint(&m, PACKET_TIMESTAMP, at->ns);
	proto_uint(&m, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
	if (fresh)
		put_name(p, &m, at->call->function);
	event = proto_begin(&m, PACKET_TRACK_EVENT, 1);
	proto_uint(&m, EVENT_TYPE, type);
	if (type == SLICE_BEGIN)
		proto_uint(&m, EVENT_NAME_IID, (uint64_t)at->call->function + 1);
	proto_uint(&m, EVENT_TRACK, thread_track(at->thread));
	proto_end(&m, event, 1);
	return end_packet(p, &m, packet);
}

static int begin(void *data, const struct call_at *at)
{
	return put_event(data, at, SLICE_BEGIN);
}

static int end(void *data, const struct call_at *at)
{
	return put_event(data, at, SLICE_END);
}

static const struct call_listener listener = { .begin = begin, .end = end };

int func_perfetto_write(const struct call_walk *w, struct outfile *out, struct error *e)
{
	_cleanup_free_ struct perfetto *p = calloc(1, sizeof(*p));
	struct call_walk mine = *w;
	struct call_totals totals;
	int r;

	if (!p)
		return error_set(e, ENOMEM, "cannot write the trace: out of memory");
	p->w = w;
	p->out = out;
	mine.listener = &listener;
	mine.data = p;
	r = put_tracks(p);
	if (r < 0)
		error_set(e, -r, "cannot write the trace: %s", strerror(-r));
	else
		r = call_walk_run(&mine, &totals, e);
	free(p->known);
	return r < 0 ? r : outfile_check(out, e);
}
