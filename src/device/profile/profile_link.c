/* SPDX-License-Identifier: MIT */
/*
 * profile_link: see profile_link.h.
 *
 * A description must not take the room that is kept for the end, or a machine that starts many programs while there is no
 * connection would leave a run that cannot end.
 */
#include "device/profile/profile_link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "command/say.h"
#include "device/agent/memory.h"
#include "device/agent/run_meta.h"
#include "device/agent/side_link.h"
#include "device/agent/spool.h"
#include "device/profile/told_objects.h"
#include "wire/sample_lane.h"

#define KEEP_META (96U << 10) /* bytes that only the description at the end may use */
#define ENTRY_MAX (BLOCK_HEADER_MAX + SAMPLE_LANE_ROOM)
#define PATIENCE_MS 30000U /* without a byte that goes */
#define TURN_MS 1000
#define OBJECTS_MS 60000U /* the longest that a recording which is over stays for files */
#define OBJECTS_TURN_MS 100

/* Where a stream is. */
struct place {
	uint64_t next_sequence, count;
};

struct profile_link {
	struct memory *memory;
	struct spool *spool;
	struct side_link *link;
	struct told_objects *told; /* NULL: none */
	uint32_t run, cpus;
	uint64_t bytes; /* of blocks */
	bool is_ending;
	struct profile_link_pace pace;
	char name[256];
	struct place meta;
	struct place *streams; /* of each CPU */
};

static int open_spool(struct profile_link *l, uint64_t bytes, struct error *e)
{
	struct memory_options m = { .cpus = 1, .spool_bytes = (uint32_t)bytes };
	struct spool_options o = { .policy = POLICY_OLDEST,
				   .has_beside = true,
				   .samplers = l->cpus,
				   .keep_meta = KEEP_META };
	struct spool_run run = { .kind = SPOOL_BESIDE };
	int r = memory_open(&l->memory, &m, e);

	o.memory = l->memory;
	if (r >= 0)
		r = spool_open(&l->spool, &o, e);
	if (r >= 0)
		r = run_meta_draw(&run.id, e);
	if (r >= 0)
		r = spool_start_run(l->spool, &run, e);
	if (r < 0)
		return r;
	l->run = run.number;
	spool_set_described(l->spool, SPOOL_BESIDE);
	return 0;
}

/* By the name the agent's identity is found, which has no domain in it. */
static void set_name(struct profile_link *l, const char *name)
{
	snprintf(l->name, sizeof(l->name), "%s", name);
	if (l->name[0])
		return;
	gethostname(l->name, sizeof(l->name) - 1);
	l->name[strcspn(l->name, ".")] = 0;
}

static void take_want(void *context, const struct message_want *m)
{
	struct profile_link *l = context;

	told_objects_want(l->told, m, clock_mono_ms());
}

static uint32_t put_piece(void *context, uint8_t *body, uint64_t now_ms)
{
	struct profile_link *l = context;

	return told_objects_put(l->told, body, now_ms);
}

static uint64_t next_piece(void *context)
{
	struct profile_link *l = context;

	return told_objects_next(l->told);
}

/* Nothing but its pace: it is started and ended where it runs. */
static int take_order(void *context, const struct message_instruction *m, struct error *e)
{
	struct profile_link *l = context;

	if (m->verb != INSTRUCTION_CONFIGURE || config_get_pace(&m->config) != l->pace.of)
		return error_set(
			e, EOPNOTSUPP,
			"cannot follow: a recorder beside the agent changes its pace alone");
	if (l->is_ending)
		return error_set(e, ECANCELED, "cannot do it: the recording ends");
	return l->pace.set(l->pace.context, &m->config, e);
}

int profile_link_new(struct profile_link **ret, const struct profile_link_options *o,
		     struct error *e)
{
	CLEANUP(profile_link) struct profile_link *l = calloc(1, sizeof(*l));
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct side_link_options s = { .collector = o->collector,
				       .state_dir = o->state_dir,
				       .entry_max = ENTRY_MAX,
				       .who = "the recorder of a profile",
				       .bye = "the profile is recorded" };
	int r;

	if (cpus < 1 || cpus > (long)STREAM_SAMPLE_CPUS)
		return error_set(e, EINVAL, "cannot record: this machine has %ld CPUs", cpus);
	if (l) {
		l->cpus = (uint32_t)cpus;
		l->streams = calloc(l->cpus, sizeof(*l->streams));
	}
	if (!l || !l->streams)
		return error_set(e, ENOMEM, "cannot make a connection: out of memory");
	if (o->objects_rate) {
		l->told = told_objects_new(o->objects_rate);
		if (!l->told)
			return error_set(e, ENOMEM, "cannot make a connection: out of memory");
		s.objects = (struct side_link_objects){ l, take_want, put_piece, next_piece,
							o->objects_anywhere };
	}
	l->pace = o->pace;
	if (o->pace.set)
		s.orders = (struct side_link_orders){ l, take_order, ABILITY_PACE << o->pace.of };
	set_name(l, o->name);
	r = open_spool(l, o->spool_bytes, e);
	s.spool = l->spool;
	s.name = l->name;
	if (r >= 0)
		r = side_link_new(&l->link, &s, e);
	if (r < 0)
		return r;
	*ret = take_ptr(l);
	return 0;
}

void profile_link_free(struct profile_link *l)
{
	if (!l)
		return;
	side_link_free(l->link);
	spool_free(l->spool);
	memory_free(l->memory);
	told_objects_free(l->told);
	free(l->streams);
	free(l);
}

struct told_objects *profile_link_get_told(struct profile_link *l)
{
	return l->told;
}

static struct place *place_of(struct profile_link *l, uint32_t stream)
{
	if (stream == STREAM_META)
		return &l->meta;
	return stream_is_sample(stream) && stream - STREAM_SAMPLE_FIRST < l->cpus
		       ? &l->streams[stream - STREAM_SAMPLE_FIRST]
		       : NULL;
}

int profile_link_put(struct profile_link *l, const struct block *b, uint8_t *payload, bool must)
{
	uint64_t all = block_told(b) + b->events;
	struct spool_entry entry = { .kind = FRAME_BLOCK,
				     .run = l->run,
				     .stream = b->stream,
				     .sequence = b->sequence,
				     .key = b->flags & BLOCK_KEY };
	int r;

	if (!place_of(l, b->stream))
		return -EINVAL;
	entry.bytes = block_encode(b, payload, &entry.len);
	entry.events = all > UINT32_MAX ? UINT32_MAX : (uint32_t)all;
	if (!(must && l->is_ending) && !spool_has_room(l->spool, entry.len))
		return -ENOSPC;
	r = spool_put(l->spool, &entry, SPOOL_BESIDE_META, NULL);
	l->bytes += r < 0 ? 0 : entry.len;
	return r;
}

void profile_link_count(struct profile_link *l, const struct block *b)
{
	struct place *p = place_of(l, b->stream);

	if (p)
		*p = (struct place){ b->sequence + 1,
				     b->stream == STREAM_META ? 0 : b->before + b->events };
}

struct pollfd profile_link_get_poll(struct profile_link *l)
{
	struct pollfd p = { .fd = side_link_fd(l->link), .events = side_link_events(l->link) };

	return p;
}

void profile_link_turn(struct profile_link *l)
{
	struct error e = ERROR_INIT;

	if (side_link_turn(l->link, clock_mono_ms(), !l->is_ending, &e) < 0 && e.text[0])
		say_note("%s", e.text);
}

void profile_link_begin_end(struct profile_link *l)
{
	l->is_ending = true;
}

int profile_link_end(struct profile_link *l, struct error *e)
{
	_cleanup_free_ uint8_t *bytes = malloc((l->cpus + 3) * (size_t)SPOOL_END_ROW);
	struct spool_entry entry = { .kind = FRAME_RUN_END, .run = l->run, .bytes = bytes };
	struct message_end m = { .n_rows = 1 };
	struct message_stream_end row = { .stream = STREAM_META };
	struct byte_writer w;
	uint32_t i;
	int r;

	if (!bytes)
		return error_set(e, ENOMEM, "cannot end the profile: out of memory");
	for (i = 0; i < l->cpus; i++)
		m.n_rows += l->streams[i].next_sequence > 0;
	writer_init(&w, bytes, (l->cpus + 3) * (size_t)SPOOL_END_ROW);
	end_encode(&w, &m);
	row.next_sequence = l->meta.next_sequence;
	end_put(&w, &row);
	for (i = 0; i < l->cpus; i++) {
		if (!l->streams[i].next_sequence)
			continue;
		row = (struct message_stream_end){ STREAM_SAMPLE(i), l->streams[i].next_sequence,
						   l->streams[i].count };
		end_put(&w, &row);
	}
	entry.len = (uint32_t)writer_len(&w);
	r = spool_put(l->spool, &entry, SPOOL_BESIDE_META, NULL);
	return r < 0 ? error_set(e, -r, "cannot end the profile: the spool is full") : 0;
}

/* The ends of the command, and of whoever looks a name up, are no reason to stop. */
static bool is_told(struct profile_child *signals)
{
	pid_t command = signals->pid;

	signals->is_over = false;
	profile_child_take(signals);
	return signals->is_over && signals->pid == command;
}

static bool wait_for_link(struct profile_link *l, struct profile_child *signals, uint64_t now_ms,
			  int wait)
{
	struct pollfd p[] = { { .fd = signals->signals, .events = POLLIN },
			      profile_link_get_poll(l) };
	uint64_t next = side_link_next(l->link);

	if (next < now_ms + (uint64_t)wait)
		wait = next > now_ms ? (int)(next - now_ms) : 1;
	return poll(p, 2, wait) > 0 && p[0].revents && is_told(signals);
}

/* The collector may be in the middle of a file, which it would have to ask the next recording for. */
static void send_objects(struct profile_link *l, struct profile_child *signals)
{
	uint64_t since = clock_mono_ms(), now = since;
	bool is_told_off = false;

	while (l->told && !is_told_off && side_link_is_welcome(l->link) &&
	       told_objects_is_busy(l->told, now) && now - since < OBJECTS_MS) {
		is_told_off = wait_for_link(l, signals, now, OBJECTS_TURN_MS);
		profile_link_turn(l);
		now = clock_mono_ms();
	}
}

int profile_link_drain(struct profile_link *l, struct profile_child *signals, struct error *e)
{
	uint64_t now = clock_mono_ms(), since = now, left = UINT64_MAX, before;
	int r = 0;

	while (profile_link_turn(l), r == 0 && spool_used(l->spool)) {
		before = left;
		left = spool_used(l->spool);
		now = clock_mono_ms();
		if (left < before)
			since = now;
		if (now - since >= PATIENCE_MS)
			r = -ETIMEDOUT;
		else if (wait_for_link(l, signals, now, TURN_MS))
			r = -EAGAIN;
	}
	if (r == 0)
		send_objects(l, signals);
	side_link_bye(l->link, clock_mono_ms());
	return r < 0 ? error_set(e, -r, "cannot send all: the collector lacks %llu bytes",
				 (unsigned long long)spool_used(l->spool))
		     : 0;
}

uint64_t profile_link_bytes(const struct profile_link *l)
{
	return l->bytes;
}
