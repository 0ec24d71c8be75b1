/* SPDX-License-Identifier: MIT */
/* ctf_stream: see ctf_stream.h. All integers are little-endian and byte-aligned. */
#include "convert/ctf_stream.h"

#include <errno.h>

#include "convert/ctf_layout.h"

#define PACKET_MAX 65536U
#define HEAD_LEN (4 + 16 + 4 + 8 + 6 * 8 + 4) /* packet header and context */
#define CONTEXT_MAX (6 + SCHED_COMM_LEN + 1)
#define EVENT_MAX (13 + CONTEXT_MAX + 8 * 16 + SCHED_FILENAME_MAX + 1)
#define LOSS_EVENT_LEN (4 + 6 + 1 + 3 * 8 + 1)
#define CTF_MAGIC 0xC1FC1FC1U
#define COMPACT_BITS 27
#define ID_EXTENDED 31U

_Static_assert(CTF_LOSS_ID < ID_EXTENDED, "event ids fit the compact header");
_Static_assert(HEAD_LEN + EVENT_MAX < PACKET_MAX, "a packet holds any event");

/* The context of entries that no task caused. */
static const struct trace_item nobody;

static uint8_t *put(uint8_t *p, uint64_t v, size_t bytes)
{
	for (; bytes; bytes--, v >>= 8)
		*p++ = (uint8_t)v;
	return p;
}

static uint8_t *put_bytes(uint8_t *p, const void *data, size_t len)
{
	memcpy(p, data, len);
	return p + len;
}

void ctf_stream_done(struct ctf_stream *s)
{
	free(s->buffer);
	memset(s, 0, sizeof(*s));
}

/* Fills in the head that was left free and writes the packet out. */
static int write_packet(struct ctf_writer *w, struct ctf_stream *s, uint8_t *packet,
			struct error *e)
{
	uint8_t *p = packet;

	p = put(p, CTF_MAGIC, 4);
	p = put_bytes(p, w->uuid, CTF_UUID_LEN);
	p = put(p, 0, 4);
	p = put(p, s->cpu, 8);
	p = put(p, s->begin_ns, 8);
	p = put(p, s->end_ns, 8);
	p = put(p, (uint64_t)s->len * 8, 8);
	p = put(p, (uint64_t)s->len * 8, 8);
	p = put(p, s->sequence++, 8);
	p = put(p, s->discarded, 8);
	put(p, s->cpu, 4);
	return ctf_folder_append(w->folder, s->cpu, packet, s->len, e);
}

static int flush(struct ctf_writer *w, struct ctf_stream *s, struct error *e)
{
	int r = 0;

	if (s->len)
		r = write_packet(w, s, s->buffer, e);
	s->len = 0;
	return r;
}

static uint8_t *put_header(uint8_t *p, uint32_t id, uint64_t ns, uint64_t last_ns)
{
	if (ns - last_ns < 1U << COMPACT_BITS)
		return put(p, id | (ns & ((1U << COMPACT_BITS) - 1)) << 5, 4);
	p = put(p, ID_EXTENDED, 1);
	p = put(p, id, 4);
	return put(p, ns, 8);
}

static uint8_t *put_context(uint8_t *p, const struct ctf_writer *w, const struct trace_item *item)
{
	if (!w->has_context)
		return p;
	p = put(p, (uint32_t)item->event.pid, 4);
	if (!(w->info->dialect.features & DIALECT_NO_FLAGS)) {
		p = put(p, item->event.flags, 1);
		p = put(p, item->event.preempt_count, 1);
	}
	if (!w->info->has_comm)
		return p;
	if (item->comm_known)
		p = put_bytes(p, item->comm, strnlen(item->comm, SCHED_COMM_LEN));
	return put(p, 0, 1);
}

/* A packet with nothing in it, or with the ledger's entry. */
static int write_short(struct ctf_writer *w, struct ctf_stream *s, const struct trace_loss *loss,
		       struct error *e)
{
	uint8_t packet[HEAD_LEN + LOSS_EVENT_LEN], *p = packet + HEAD_LEN;
	int r;

	if (loss) {
		p = put_header(p, CTF_LOSS_ID, s->begin_ns, s->begin_ns);
		p = put_context(p, w, &nobody);
		p = put(p, loss->count, 8);
		p = put(p, loss->from_tick, 8);
		p = put(p, loss->to_tick, 8);
		p = put(p, loss->cause, 1);
	}
	s->len = (size_t)(p - packet);
	r = write_packet(w, s, packet, e);
	s->len = 0;
	return r;
}

static uint64_t clamp(uint64_t v, uint64_t lo, uint64_t hi)
{
	v = v < lo ? lo : v;
	return v > hi ? hi : v;
}

/* Readers count from the first packet on, so a loss cannot be in the first. A stamp beyond what
 * follows it would turn the stream back in time, so `limit` bounds it. */
static int write_loss(struct ctf_writer *w, struct ctf_stream *s, uint64_t limit, struct error *e)
{
	const struct trace_loss loss = s->loss;
	uint64_t from = clamp(loss.from_tick, s->end_ns, limit);
	uint64_t to;
	int r = flush(w, s, e);

	s->has_loss = false;
	from = clamp(from, w->start_ns, limit);
	to = clamp(loss.to_tick, from, limit);
	s->begin_ns = s->end_ns = from;
	if (r >= 0 && s->sequence == 0)
		r = write_short(w, s, NULL, e);
	if (r < 0)
		return r;
	s->end_ns = to;
	if (loss.count == LOSS_UNKNOWN) {
		s->sequence++;
		s->begin_ns = to;
	} else {
		s->discarded += loss.count;
	}
	return write_short(w, s, &loss, e);
}

int ctf_stream_loss(struct ctf_writer *w, struct ctf_stream *s, const struct trace_loss *loss,
		    struct error *e)
{
	int r = 0;

	if (loss->count == 0)
		return 0;
	if (s->has_loss)
		r = write_loss(w, s, UINT64_MAX, e);
	s->loss = *loss;
	s->has_loss = true;
	s->used = true;
	return r;
}

/* Room in the packet for one event at `ns`, after whatever has to stand before it. */
static int make_room(struct ctf_writer *w, struct ctf_stream *s, uint64_t ns, struct error *e)
{
	int r = 0;

	s->used = true;
	if (ns < s->end_ns)
		return error_set(e, EINVAL,
				 "cannot write CTF: an event of CPU %u at %llu ns comes after one "
				 "at %llu ns, and CTF streams cannot go back in time",
				 s->cpu, (unsigned long long)ns, (unsigned long long)s->end_ns);
	if (s->has_loss)
		r = write_loss(w, s, ns, e);
	if (r >= 0 && s->len > PACKET_MAX - EVENT_MAX)
		r = flush(w, s, e);
	if (r >= 0 && !s->buffer && !(s->buffer = malloc(PACKET_MAX)))
		r = error_set(e, ENOMEM, "cannot write CTF: out of memory");
	return r;
}

/* The event's header; what is returned is where its context goes. */
static uint8_t *begin_event(struct ctf_stream *s, uint64_t ns, uint32_t id)
{
	uint8_t *p;

	if (!s->len) {
		s->len = HEAD_LEN;
		s->begin_ns = s->end_ns = ns;
	}
	p = put_header(s->buffer + s->len, id, ns, s->end_ns);
	s->end_ns = ns;
	return p;
}

/* A thread's process, or the thread itself where it is not known. */
static uint32_t tgid_of(const struct trace_info *info, int32_t pid)
{
	const struct trace_task *t = info_get_task(info, pid);

	return (uint32_t)(t && t->tgid >= 0 ? t->tgid : pid);
}

static uint8_t *put_filename(uint8_t *p, const struct sched_event *ev)
{
	size_t len = ev->filename_len;

	if (len > SCHED_FILENAME_MAX)
		len = SCHED_FILENAME_MAX;
	if (len)
		len = strnlen(ev->filename, len);
	if (len)
		p = put_bytes(p, ev->filename, len);
	return put(p, 0, 1);
}

static uint8_t *put_payload(uint8_t *p, const struct trace_info *info, const struct sched_event *in)
{
	struct sched_event ev = *in;
	const struct ctf_field *field;

	for (field = ctf_layouts[ev.kind].fields; field->name; field++)
		switch (field->role) {
		case CTF_TASK_COMM:
		case CTF_OTHER_COMM:
			p = put_bytes(p, ctf_role_comm(&ev, field->role), SCHED_COMM_LEN);
			break;
		case CTF_FILENAME:
			p = put_filename(p, &ev);
			break;
		case CTF_STATE:
			p = put(p, ev.state, 8);
			break;
		case CTF_EXTRA:
			if (ctf_layout_has_extra(&info->dialect, (enum sched_kind)ev.kind))
				p = put(p, ev.extra, 1);
			break;
		case CTF_TASK_TGID:
		case CTF_OTHER_TGID:
			p = put(p, tgid_of(info, *ctf_role_int(&ev, field->role)), 4);
			break;
		case CTF_TASK_PRIO:
		case CTF_OTHER_PRIO:
			p = put(p, (uint32_t)*ctf_role_int(&ev, field->role) - CTF_PRIO_OFFSET, 4);
			break;
		default:
			p = put(p, (uint32_t)*ctf_role_int(&ev, field->role), 4);
		}
	return p;
}

int ctf_stream_event(struct ctf_writer *w, struct ctf_stream *s, uint64_t ns,
		     const struct trace_item *item, struct error *e)
{
	const struct sched_event *ev = &item->event;
	uint8_t *p;
	int r;

	if (ev->kind >= SCHED_KINDS)
		return error_set(e, EINVAL, "cannot write CTF: unknown kind of event %u", ev->kind);
	r = make_room(w, s, ns, e);
	if (r < 0)
		return r;
	p = put_context(begin_event(s, ns, ev->kind), w, item);
	p = put_payload(p, w->info, ev);
	s->len = (size_t)(p - s->buffer);
	return 0;
}

/* Thread kind, mode, status and namespace are LTTng's "unknown" values: 0. */
int ctf_stream_task(struct ctf_writer *w, struct ctf_stream *s, uint64_t ns,
		    const struct trace_task *task, struct error *e)
{
	uint32_t tgid = (uint32_t)(task->tgid >= 0 ? task->tgid : task->pid);
	uint8_t *p;
	int r, i;

	r = make_room(w, s, ns, e);
	if (r < 0)
		return r;
	p = put_context(begin_event(s, ns, CTF_STATEDUMP_ID), w, &nobody);
	p = put(p, (uint32_t)task->pid, 4);
	p = put(p, (uint32_t)task->pid, 4);
	p = put(p, tgid, 4);
	p = put(p, task->tgid >= 0 ? tgid : UINT32_MAX, 4);
	p = put(p, 0, 8);
	p = put_bytes(p, task->comm, SCHED_COMM_LEN);
	for (i = 0; i < 6; i++)
		p = put(p, 0, 4);
	s->len = (size_t)(p - s->buffer);
	return 0;
}

int ctf_stream_finish(struct ctf_writer *w, struct ctf_stream *s, struct error *e)
{
	int r = s->has_loss ? write_loss(w, s, UINT64_MAX, e) : 0;

	return r < 0 ? r : flush(w, s, e);
}
