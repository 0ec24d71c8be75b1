/* SPDX-License-Identifier: MIT */
/* recording: see recording.h. */
#include "collector/recording.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collector/recording_run.h"
#include "collector/recording_tasks.h"
#include "store/ksk.h"
#include "store/ksk_writer.h"
#include "wire/meta.h"

#define WINDOW (4U << 20)
#define TASKS_ROOM (64U << 10)
/* That of the scheduler, and those of programs, of which a new one begins after each pause. */
#define RUNS_MAX 65536U

struct recording {
	struct session session;
	struct session_env env;
	struct ksk_writer *writer;
	struct recording_tasks *tasks; /* NULL: of all tasks */
	uint64_t meta_sequence;	       /* of the next block of ours about the trace */
	enum recording_state state;
	struct recording_count count;
	struct recording_run *runs; /* by their numbers, from 1 */
	uint32_t n_runs, room_runs;
	uint32_t sched;			    /* the number of that of the scheduler; 0: none yet */
	uint32_t next_process, next_thread; /* in the file */
	bool wants_func;		    /* programs are traced, too */
	uint64_t puts;
	uint64_t instruction; /* the last that was sent */
	struct error e;	      /* of RECORDING_FAILED */
	size_t out_len;
	uint8_t out[RECORDING_OUT_MAX];
};

/* The first reason is the one that counts. */
__attribute__((format(printf, 3, 4))) static int fail(struct recording *r, int code,
						      const char *fmt, ...)
{
	va_list ap;

	if (r->state == RECORDING_FAILED)
		return -code;
	va_start(ap, fmt);
	vsnprintf(r->e.text, sizeof(r->e.text), fmt, ap);
	va_end(ap);
	r->state = RECORDING_FAILED;
	return -code;
}

/* --- what the session asks of its owner --- */

static void send_bytes(void *owner, const uint8_t *bytes, size_t len)
{
	struct recording *r = owner;

	if (len > sizeof(r->out) - r->out_len) {
		fail(r, ENOBUFS, "cannot record: the agent does not listen");
		return;
	}
	memcpy(r->out + r->out_len, bytes, len);
	r->out_len += len;
}

static int arrive(void *owner, const struct message_hello *m, struct error *e)
{
	struct recording *r = owner;

	(void)m;
	(void)e;
	if (r->state == RECORDING_NEW)
		r->state = RECORDING_READY;
	return 0;
}

static int add_run(struct recording *r, const struct message_id *id, struct error *e)
{
	uint32_t room = r->room_runs ? 2 * r->room_runs : 4;
	struct recording_run *grown;

	if (r->n_runs == RUNS_MAX)
		return error_set(e, EPROTO, "a recording has at most %u runs", RUNS_MAX);
	if (r->n_runs == r->room_runs) {
		grown = realloc(r->runs, room * sizeof(*grown));
		if (!grown)
			return error_set(e, ENOMEM, "cannot record: out of memory");
		r->runs = grown;
		r->room_runs = room;
	}
	r->runs[r->n_runs++] = (struct recording_run){ .id = *id };
	return 0;
}

static int find_run(void *owner, const struct message_id *run, uint32_t *ret, struct error *e)
{
	struct recording *r = owner;
	uint32_t i = r->n_runs;

	(void)e;
	while (i && memcmp(&r->runs[i - 1].id, run, sizeof(*run)) != 0) /* mostly a late one */
		i--;
	*ret = i;
	return 0;
}

static int get_run(void *owner, const struct message_id *run, uint32_t *ret, struct error *e)
{
	struct recording *r = owner;
	int rc = 0;

	find_run(r, run, ret, e);
	if (!*ret) {
		rc = add_run(r, run, e);
		*ret = r->n_runs;
	}
	return rc;
}

/* The first word of programs gives the run its place in the file: behind all that are there. */
static void take_for_func(struct recording *r, struct recording_run *run)
{
	if (run->is_func)
		return;
	run->is_func = true;
	run->shift.processes = run->shift.next_process = r->next_process;
	run->shift.threads = run->shift.next_thread = r->next_thread;
}

static void note_numbers(struct recording *r, const struct recording_run *run)
{
	if (run->shift.next_process > r->next_process)
		r->next_process = run->shift.next_process;
	if (run->shift.next_thread > r->next_thread)
		r->next_thread = run->shift.next_thread;
}

/* Which kind of run it is, the first stream of one of them says. */
static int check_kind(struct recording *r, uint32_t number, uint32_t stream, struct error *e)
{
	struct recording_run *run = &r->runs[number - 1];
	uint32_t thread;

	if (stream == STREAM_META)
		return 0;
	if (stream_is_boot(stream))
		return error_set(e, EPROTO, "a recording holds no boot chart");
	if (stream_is_sample(stream))
		return error_set(e, EPROTO, "a recording holds no profile");
	if (!stream_is_func(stream)) {
		if (!r->sched)
			r->sched = number;
		if (r->sched != number || run->is_func)
			return error_set(e, EPROTO,
					 "a recording has one run of the scheduler, and this is "
					 "another");
		return 0;
	}
	if (r->sched == number)
		return error_set(e, EPROTO, "calls in the run of the scheduler");
	take_for_func(r, run);
	if (recording_run_place(run, stream) == UINT32_MAX)
		return error_set(e, EPROTO, "a recording has at most %u threads",
				 STREAM_FUNC_THREADS);
	thread = stream_func_thread(recording_run_place(run, stream));
	if (thread >= run->shift.next_thread)
		run->shift.next_thread = thread + 1;
	note_numbers(r, run);
	return 0;
}

/* Where a stream of a run is, if the file can have it. */
static int find_stream(struct recording *r, uint32_t number, uint32_t stream,
		       struct recording_stream **ret, struct error *e)
{
	int rc = check_kind(r, number, stream, e);

	if (rc < 0)
		return rc;
	rc = recording_run_get(&r->runs[number - 1], stream, ret);
	if (rc == -EPROTO)
		return error_set(e, EPROTO, "there is no stream %u", stream);
	return rc < 0 ? error_set(e, ENOMEM, "cannot record: out of memory") : 0;
}

static size_t next_sequences(void *owner, uint32_t run, struct message_resume *rows, size_t n)
{
	(void)owner;
	(void)run;
	(void)rows;
	(void)n;
	return 0;
}

/* Is the block the next of its stream, or at least no lie? Those of a gap are lost by the spool. */
static int check_block(struct recording *r, struct recording_stream *s, const struct block *b,
		       struct error *e)
{
	uint64_t told = block_told(b);

	if (b->sequence < s->next_sequence)
		return 1;
	if (!(b->flags & BLOCK_KEY))
		return b->sequence == s->next_sequence && s->anchored
			       ? 0
			       : error_set(e, EPROTO, "block %llu of stream %u does not follow",
					   (unsigned long long)b->sequence, b->stream);
	if (b->before < told || b->before - told < s->end)
		return error_set(e, EPROTO, "stream %u has fewer events than it had", b->stream);
	if (s->anchored)
		r->count.lost[LOSS_SPOOL] += b->before - told - s->end;
	return 0;
}

static void account_block(struct recording *r, struct recording_stream *s, const struct block *b)
{
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++) {
		if (b->lost[i] == LOSS_UNKNOWN)
			r->count.lost_unknown = true;
		else
			r->count.lost[i] += b->lost[i];
	}
	s->end = b->flags & BLOCK_KEY ? b->before + b->events : s->end + block_told(b) + b->events;
	s->until = ksk_until(s->until, b);
	s->anchored = true;
	s->next_sequence = b->sequence + 1;
}

static int write_block(struct recording *r, const struct block *b, const uint8_t *bytes,
		       struct error *e)
{
	r->count.events += b->events;
	if (stream_is_func(b->stream))
		r->count.func_events += b->events;
	r->count.bytes += b->len;
	r->count.blocks++;
	return ksk_writer_put(r->writer, b, bytes, b->len, e);
}

/* A block about the trace, with our own number: not all that the device sends are written. The
 * payload has BLOCK_HEADER_MAX bytes of room before it. */
static int write_meta(struct recording *r, uint8_t *payload, size_t len, struct error *e)
{
	struct block b = { .codec = CODEC_META,
			   .flags = BLOCK_KEY,
			   .stream = STREAM_META,
			   .sequence = r->meta_sequence++,
			   .payload = payload,
			   .payload_len = (uint32_t)len };
	uint8_t *start = block_encode(&b, payload, &b.len);

	return write_block(r, &b, start, e);
}

static int write_copy(struct recording *r, const struct block *b, struct error *e)
{
	_cleanup_free_ uint8_t *copy = malloc(BLOCK_HEADER_MAX + (size_t)b->payload_len);

	if (!copy)
		return error_set(e, ENOMEM, "cannot record: out of memory");
	memcpy(copy + BLOCK_HEADER_MAX, b->payload, b->payload_len);
	return write_meta(r, copy + BLOCK_HEADER_MAX, b->payload_len, e);
}

/* What a run of programs says about itself: its numbers become those of the file, and what the
 * scheduler's run says is not said again. */
static int write_func_meta(struct recording *r, struct recording_run *run, const struct block *b,
			   struct error *e)
{
	_cleanup_free_ uint8_t *copy =
		malloc(BLOCK_HEADER_MAX + FUNC_META_SHIFT_ROOM(b->payload_len));
	ssize_t len;

	if (!copy)
		return error_set(e, ENOMEM, "cannot record: out of memory");
	take_for_func(r, run);
	len = func_meta_shift_encode(&run->shift, b->payload, b->payload_len,
				     copy + BLOCK_HEADER_MAX);
	if (len < 0 || len > (ssize_t)BLOCK_PAYLOAD_MAX)
		return error_set(e, EPROTO,
				 "cannot record: the description of programs is not understood");
	note_numbers(r, run);
	return write_meta(r, copy + BLOCK_HEADER_MAX, (size_t)len, e);
}

/* A block of a thread that has another number in the file. */
static int write_moved(struct recording *r, const struct block *b, uint32_t stream, struct error *e)
{
	_cleanup_free_ uint8_t *copy = malloc(BLOCK_HEADER_MAX + (size_t)b->payload_len);
	struct block moved = *b;
	uint8_t *start;

	if (!copy)
		return error_set(e, ENOMEM, "cannot record: out of memory");
	memcpy(copy + BLOCK_HEADER_MAX, b->payload, b->payload_len);
	moved.stream = stream;
	moved.payload = copy + BLOCK_HEADER_MAX;
	start = block_encode(&moved, copy + BLOCK_HEADER_MAX, &moved.len);
	return write_block(r, &moved, start, e);
}

/* Writes a block of the device, unless it waits for the end. */
static int pass_block(struct recording *r, struct recording_run *run, const struct block *b,
		      const uint8_t *bytes, struct error *e)
{
	uint32_t stream = recording_run_place(run, b->stream);
	bool meta = b->codec == CODEC_META && b->stream == STREAM_META;
	int rc = 0;

	if (meta && func_meta_shift_wants(b->payload, b->payload_len))
		return write_func_meta(r, run, b, e);
	if (r->tasks)
		rc = recording_tasks_push(r->tasks, b);
	if (rc < 0)
		return error_set(e, -rc, "cannot record: out of memory");
	if (rc || (meta && run->is_func))
		return 0;
	if (meta)
		return write_copy(r, b, e);
	return stream == b->stream ? write_block(r, b, bytes, e) : write_moved(r, b, stream, e);
}

static int put_block(void *owner, uint32_t run, const struct block *b, const uint8_t *bytes,
		     struct error *e)
{
	struct recording *r = owner;
	struct error why = ERROR_INIT;
	struct recording_stream *s;
	int rc;

	rc = find_stream(r, run, b->stream, &s, e);
	if (rc == 0)
		rc = check_block(r, s, b, e);
	if (rc == 0 && r->runs[run - 1].ended)
		rc = error_set(e, EPROTO, "stream %u: the run has ended", b->stream);
	if (rc)
		return rc;
	rc = pass_block(r, &r->runs[run - 1], b, bytes, &why);
	if (rc == -EPROTO)
		return error_set(e, EPROTO, "%s", why.text);
	if (rc < 0) {
		fail(r, EIO, "%s", why.text);
		return error_set(e, EIO, "%s", why.text);
	}
	account_block(r, s, b);
	r->puts++;
	return 0;
}

/* What the device dropped behind the last block that came: a block of ours says so, without which
 * the file would not. */
static int put_rest(struct recording *r, struct recording_stream *s,
		    const struct message_stream_end *row, uint32_t stream, struct error *e)
{
	uint8_t room[BLOCK_HEADER_MAX], *start;
	struct block b = { .codec = stream_is_func(stream) ? CODEC_FUNC : CODEC_SCHED,
			   .flags = BLOCK_KEY | BLOCK_LOST,
			   .stream = stream,
			   .sequence = row->next_sequence,
			   .first_tick = s->until,
			   .before = row->events,
			   .payload = room + sizeof(room) };

	if (row->events == s->end)
		return 0;
	b.lost[LOSS_SPOOL] = row->events - s->end;
	start = block_encode(&b, room + sizeof(room), &b.len);
	account_block(r, s, &b);
	return write_block(r, &b, start, e);
}

/* The recording ends with the scheduler's run; of programs, what is under way is still waited for. */
static void take_end(struct recording *r, uint32_t number)
{
	struct recording_run *run = &r->runs[number - 1];
	bool open = r->wants_func;
	uint32_t i;

	run->ended = true;
	if (!run->is_func && !r->sched)
		r->sched = number;
	for (i = 0; i < r->n_runs; i++)
		open = open || (r->runs[i].is_func && !r->runs[i].ended);
	if (r->state != RECORDING_FAILED && r->sched && r->runs[r->sched - 1].ended)
		r->state = open ? RECORDING_LAST : RECORDING_ENDED;
}

static int put_end(void *owner, uint32_t run, const struct message_end *m, struct error *e)
{
	struct recording *r = owner;
	struct message_end rows = *m;
	struct message_stream_end row;
	struct recording_stream *s;
	int rc;

	if (r->runs[run - 1].ended)
		return 1;
	while (end_next(&rows, &row)) {
		rc = find_stream(r, run, row.stream, &s, e);
		if (rc < 0)
			return rc;
		if (row.next_sequence < s->next_sequence || row.events < s->end)
			return error_set(e, EPROTO, "stream %u ends before its last block",
					 row.stream);
		if (put_rest(r, s, &row, recording_run_place(&r->runs[run - 1], row.stream), e) < 0)
			return -EIO;
	}
	r->puts++;
	take_end(r, run);
	return 0;
}

static uint64_t get_puts(void *owner)
{
	return ((struct recording *)owner)->puts;
}

static uint64_t get_commits(void *owner)
{
	(void)owner;
	return 0; /* all that was put is acknowledged together */
}

static void take_clock(void *owner, uint32_t run, const struct session_clock *c)
{
	(void)owner;
	(void)run;
	(void)c;
}

static void take_status(void *owner, const struct message_status *m)
{
	struct recording *r = owner;

	r->count.passed_over = m->passed_over;
	r->count.origin = m->origin;
	if (m->state == DEVICE_FAILED && r->state == RECORDING_ON)
		fail(r, EIO, "cannot go on: %.*s", (int)m->text.len, m->text.at);
}

static void take_result(void *owner, const struct message_result *m)
{
	struct recording *r = owner;

	if (m->id != r->instruction)
		return;
	if (m->code) {
		fail(r, EIO, "%.*s", (int)m->text.len, m->text.at);
		if (!m->text.len)
			snprintf(r->e.text, sizeof(r->e.text), "cannot trace: %s",
				 strerror((int)m->code));
	} else if (r->state == RECORDING_STARTING) {
		r->state = RECORDING_ON;
	}
}

/* What a session tells of itself is why it ended, unless we wanted that. */
static void take_log(void *owner, const char *text)
{
	struct recording *r = owner;

	if (r->state == RECORDING_LAST)
		r->state = RECORDING_ENDED;
	if (r->state != RECORDING_ENDED)
		fail(r, EPROTO, "cannot record: the agent and its collector parted: %s", text);
}

static const struct session_ops ops = {
	.send = send_bytes,
	.arrive = arrive,
	.find = find_run,
	.run = get_run,
	.next_sequences = next_sequences,
	.put = put_block,
	.end = put_end,
	.puts = get_puts,
	.commits = get_commits,
	.clock = take_clock,
	.status = take_status,
	.result = take_result,
	.log = take_log,
};

/* --- the interface --- */

int recording_open(struct recording **ret, const char *path, struct error *e)
{
	CLEANUP(recording) struct recording *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return error_set(e, ENOMEM, "cannot record: out of memory");
	r->env.ops = &ops;
	r->env.window = WINDOW;
	r->env.room = session_room_new();
	session_init(&r->session, &r->env, r, 1);
	if (!r->env.room)
		return error_set(e, ENOMEM, "cannot record: out of memory");
	rc = ksk_writer_open(&r->writer, path, e);
	if (rc < 0)
		return rc;
	*ret = take_ptr(r);
	return 0;
}

void recording_free(struct recording *r)
{
	if (!r)
		return;
	session_done(&r->session);
	session_room_free(r->env.room);
	ksk_writer_free(r->writer);
	recording_tasks_free(r->tasks);
	while (r->n_runs)
		recording_run_done(&r->runs[--r->n_runs]);
	free(r->runs);
	free(r);
}

enum recording_state recording_get_state(const struct recording *r)
{
	return r->state;
}

const struct recording_count *recording_get_count(const struct recording *r)
{
	return &r->count;
}

static void instruct(struct recording *r, enum instruction_verb verb,
		     const struct message_config *c)
{
	struct message_instruction m = { .id = ++r->instruction, .verb = (uint8_t)verb };

	if (c)
		m.config = *c;
	session_instruct(&r->session, &m);
}

void recording_start(struct recording *r, const struct message_config *c)
{
	if (r->state != RECORDING_READY)
		return;
	if (c && (c->n_pids || c->n_comms || c->n_cgroups) && recording_tasks_new(&r->tasks) < 0) {
		fail(r, ENOMEM, "cannot record: out of memory");
		return;
	}
	r->wants_func = c && c->given & 1U << CONFIG_FUNC && c->func != FUNC_MODE_OFF;
	r->state = RECORDING_STARTING;
	instruct(r, INSTRUCTION_START, c);
}

void recording_stop(struct recording *r)
{
	if (r->state != RECORDING_STARTING && r->state != RECORDING_ON)
		return;
	r->state = RECORDING_STOPPING;
	instruct(r, INSTRUCTION_STOP, NULL);
}

void recording_ping(struct recording *r, const struct session_now *now)
{
	session_ping(&r->session, now);
}

int recording_push(struct recording *r, const uint8_t *bytes, size_t len,
		   const struct session_now *now, struct error *e)
{
	if (r->state != RECORDING_FAILED)
		session_push(&r->session, bytes, len, now);
	session_durable(&r->session, r->puts);
	if (r->state == RECORDING_FAILED)
		return error_set(e, EIO, "%s", r->e.text);
	return 0;
}

void recording_leave(struct recording *r)
{
	session_end(&r->session);
}

const uint8_t *recording_get(const struct recording *r, size_t *ret_len)
{
	*ret_len = r->out_len;
	return r->out;
}

void recording_pop(struct recording *r, size_t len)
{
	r->out_len -= len;
	memmove(r->out, r->out + len, r->out_len);
}

/* The agent has a name that no other has; the trace has the machine's. */
static int put_device(struct recording *r, const char *device, struct error *e)
{
	uint8_t room[BLOCK_HEADER_MAX + 2 * VARINT_MAX + 256];
	uint8_t *payload = room + BLOCK_HEADER_MAX, *p = payload;
	size_t len = strnlen(device, 255);

	p = varint_put(p, META_DEVICE);
	p = varint_put(p, len);
	memcpy(p, device, len);
	return write_meta(r, payload, (size_t)(p + len - payload), e);
}

static int put_tasks(struct recording *r, struct error *e)
{
	_cleanup_free_ uint8_t *room = malloc(BLOCK_HEADER_MAX + TASKS_ROOM);
	uint8_t *payload = room + BLOCK_HEADER_MAX;
	ssize_t len = -ENOMEM;
	int rc = 0;

	while (room && rc >= 0 && (len = recording_tasks_encode(r->tasks, payload, TASKS_ROOM)) > 0)
		rc = write_meta(r, payload, (size_t)len, e);
	return len < 0 ? error_set(e, ENOMEM, "cannot record: out of memory") : rc;
}

int recording_commit(struct recording *r, const char *device, struct error *e)
{
	int rc = device ? put_device(r, device, e) : 0;

	if (rc >= 0 && r->tasks)
		rc = put_tasks(r, e);
	return rc < 0 ? rc : ksk_writer_commit(r->writer, e);
}
