/* SPDX-License-Identifier: MIT */
/* vm_guest_link: see vm_guest_link.h. */
#include "device/vm/vm_guest_link.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/vm/vm_guest_identity.h"
#include "device/vm/vm_guest_rows.h"

#define READS 32U /* in a turn */

enum state {
	STATE_NEW = 0, /* it has not said who it is */
	STATE_SYNC,    /* it tells the time */
	STATE_TALKS,
};

struct vm_guest_link {
	struct vm_guest_link_options o;
	char path[VM_GUEST_PATH], name[GUEST_TEXT_MAX + 1];
	enum state state;
	struct vm_guest_machine *machine;
	struct vm_guest_clock clock;
	uint64_t opened_ns, heard_ns, filled_ns;
	uint64_t ping, pong, ping_ns;  /* numbers; when the last was sent */
	uint64_t names_ping, names_ns; /* the last one before names were asked for, and when */
	uint32_t room;		       /* bytes that it may send now */
	bool is_silent, is_ending;
	uint32_t in_len, out_len;
	uint8_t in[2 * GUEST_FRAME_MAX], out[2 * GUEST_FRAME_MAX];
};

int vm_guest_link_new(struct vm_guest_link **ret, const struct vm_guest_link_options *o)
{
	struct vm_guest_link *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->o = *o;
	if (o->path)
		snprintf(l->path, sizeof(l->path), "%s", o->path);
	l->opened_ns = l->filled_ns = l->heard_ns = clock_mono_ns();
	l->room = VM_GUEST_BURST;
	*ret = l;
	return 0;
}

void vm_guest_link_free(struct vm_guest_link *l)
{
	if (!l)
		return;
	if (l->machine)
		l->machine->is_linked = false;
	close(l->o.fd);
	free(l);
}

int vm_guest_link_fd(const struct vm_guest_link *l)
{
	return l->o.fd;
}

const char *vm_guest_link_path(const struct vm_guest_link *l)
{
	return l->path;
}

struct vm_guest_machine *vm_guest_link_machine(const struct vm_guest_link *l)
{
	return l->machine;
}

bool vm_guest_link_wants(const struct vm_guest_link *l)
{
	return l->room >= GUEST_FRAME_MAX;
}

/* --- notes --- */

/* Whose it is nobody knows: machine 0. */
static void note(struct vm_guest_link *l, enum guest_link what, uint64_t tick, const char *text)
{
	struct vm_guest_machine *m = l->machine ? l->machine : l->o.get_machine(l->o.context, 0);
	struct guest_link_row row = { .tick = tick,
				      .what = (uint8_t)what,
				      .note = text,
				      .note_len = (uint32_t)strlen(text) };

	if (!m || m->notes >= VM_GUEST_LINKS_MOST)
		return;
	m->notes++;
	row.error_ns = l->clock.is_set ? vm_guest_clock_error(&l->clock, tick) : 0;
	vm_guest_rows_put_link(l->o.meta, m->vm, &row);
}

static void refuse(struct vm_guest_link *l, uint64_t now_ns, const struct error *e)
{
	char text[GUEST_LINK_NOTE_MAX + 1];

	if (l->machine) {
		l->machine->refusals++;
		snprintf(text, sizeof(text), "%.200s", e->text);
	} else {
		snprintf(text, sizeof(text), "%s: %.150s", l->o.peer.text, e->text);
	}
	note(l, GUEST_LINK_REFUSED, now_ns, text);
}

/* --- sending --- */

static uint8_t *out_of(struct vm_guest_link *l)
{
	return sizeof(l->out) - l->out_len >= GUEST_FRAME_MAX ? l->out + l->out_len : NULL;
}

static void put_out(struct vm_guest_link *l, const uint8_t *end)
{
	l->out_len = (uint32_t)(end - l->out);
}

static void send_out(struct vm_guest_link *l)
{
	ssize_t n = l->out_len ? send(l->o.fd, l->out, l->out_len, MSG_NOSIGNAL) : 0;

	if (n < 0 && errno == ENOTSOCK)
		n = write(l->o.fd, l->out, l->out_len);
	if (n <= 0)
		return; /* if it is gone, reading tells */
	l->out_len -= (uint32_t)n;
	memmove(l->out, l->out + n, l->out_len);
}

/* Behind another question the answer's time would be that of both. */
static void ask_time(struct vm_guest_link *l, uint64_t now_ns)
{
	if (l->out_len)
		return;
	put_out(l, guest_put_number(l->out, GUEST_PING, ++l->ping));
	l->ping_ns = now_ns;
	send_out(l);
}

/* The guest goes through all of its kernel's symbols for it, and tells of nothing else meanwhile: at the end, or
 * where many wait. */
static void ask_names(struct vm_guest_link *l, uint64_t now_ns)
{
	struct vm_guest_names *n = &l->machine->names;
	struct guest_names names;
	uint8_t *out = out_of(l);

	if (!l->is_ending && (n->n - n->asked < GUEST_NAMES_MAX ||
			      now_ns - l->names_ns < VM_GUEST_NAMES_MS * CLOCK_NS_PER_MS))
		return;
	if (!out || !vm_guest_names_pop(n, &names))
		return;
	put_out(l, guest_put_names(out, &names));
	l->names_ping = l->ping;
	l->names_ns = now_ns;
}

static void ask_object(struct vm_guest_link *l)
{
	uint8_t *out = out_of(l);
	struct guest_id id;

	if (out && l->machine->objects && vm_guest_objects_pop(l->machine->objects, &id))
		put_out(l, guest_put_fetch(out, &id));
}

/* --- taking --- */

static int32_t identify(struct vm_guest_link *l, const struct guest_hello *m, struct error *e)
{
	if (l->o.peer.way == VM_GUEST_LOCAL)
		return vm_guest_identity_by_pid(l->o.proc, l->o.peer.pid, e);
	if (l->o.peer.way == VM_GUEST_VSOCK)
		return vm_guest_identity_by_cid(l->o.proc, l->o.peer.cid, e);
	return vm_guest_identity_by_uuid(l->o.proc, m->uuid, e);
}

static int know(struct vm_guest_link *l, const struct guest_hello *m, struct error *e)
{
	struct vm_guest_machine *machine;
	int32_t vm = identify(l, m, e);

	if (vm < 0)
		return vm;
	machine = l->o.get_machine(l->o.context, vm);
	if (!machine)
		return error_set(e, E2BIG, "there are too many machines");
	if (machine->is_linked)
		return error_set(e, EBUSY, "machine %" PRId32 " talks already", vm);
	if (machine->refusals >= VM_GUEST_REFUSALS_MOST)
		return error_set(e, EPERM, "machine %" PRId32 " was refused too often", vm);
	machine->is_linked = true;
	l->machine = machine;
	return 0;
}

/* Said again before it was answered it is nothing new; later its program was started anew. */
static int take_hello(struct vm_guest_link *l, const struct frame *f, uint64_t now_ns,
		      struct error *e)
{
	struct guest_hello m;
	int r = 0;

	if (!guest_get_hello(f, &m))
		return error_set(e, EPROTO, "it says what no guest's program says");
	if (m.version != GUEST_VERSION)
		return error_set(e, EPROTO, "it is of version %u, not %u", m.version,
				 GUEST_VERSION);
	if (l->state == STATE_SYNC)
		return 0;
	if (!l->machine)
		r = know(l, &m, e);
	if (r < 0)
		return r;
	memcpy(l->name, m.name.at, m.name.len);
	l->name[m.name.len] = 0;
	l->state = STATE_SYNC;
	l->clock.is_set = false;
	l->pong = l->ping;
	vm_guest_names_rewind(&l->machine->names);
	if (l->machine->objects)
		vm_guest_objects_rewind(l->machine->objects);
	l->opened_ns = now_ns;
	return 0;
}

static void welcome(struct vm_guest_link *l, uint64_t now_ns)
{
	uint8_t *out = out_of(l);

	if (!out)
		return;
	put_out(l, guest_put_number(out, GUEST_WELCOME, GUEST_VERSION));
	l->state = STATE_TALKS;
	note(l, GUEST_LINK_TALKS, now_ns, l->name);
}

static int take_pong(struct vm_guest_link *l, const struct frame *f, struct error *e)
{
	struct guest_pong m;

	if (!guest_get_pong(f, &m) || m.number > l->ping)
		return error_set(e, EPROTO, "it answers what nobody asked");
	if (m.number <= l->pong)
		return 0; /* of before it was started anew */
	l->pong = m.number;
	if (m.number == l->ping)
		vm_guest_clock_put(&l->clock, l->ping_ns, clock_mono_ns(), m.ns);
	return 0;
}

static int take_rows(struct vm_guest_link *l, const struct frame *f, uint64_t now_ns,
		     struct error *e)
{
	struct vm_guest_rows rows = {
		.meta = l->o.meta,
		.vm = l->machine->vm,
		.clock = &l->clock,
		.now_ns = now_ns,
		.objects = l->machine->objects,
	};
	int r = vm_guest_rows_put(&rows, f->body, f->body_len);

	l->machine->rows += rows.taken;
	if (r < 0)
		return error_set(e, EPROTO, "it sends rows that no guest's program sends");
	if (l->machine->rows >= VM_GUEST_ROWS_MOST)
		return error_set(e, E2BIG, "it says more than a recording takes");
	return 0;
}

/* Files have a ceiling of their own. */
static int take_object(struct vm_guest_link *l, const struct frame *f, struct error *e)
{
	struct guest_object piece;

	if (!guest_get_object(f, &piece) || !l->machine->objects ||
	    !vm_guest_objects_take(l->machine->objects, &piece))
		return error_set(e, EPROTO, "it sends a file that nobody asked for");
	l->machine->bytes -= f->len < l->machine->bytes ? f->len : l->machine->bytes;
	return 0;
}

static int take_missed(struct vm_guest_link *l, const struct frame *f, uint64_t now_ns,
		       struct error *e)
{
	uint64_t ns;

	if (!guest_get_number(f, &ns))
		return error_set(e, EPROTO, "it says what no guest's program says");
	note(l, GUEST_LINK_MISSED, vm_guest_clock_get(&l->clock, ns, now_ns), l->name);
	return 0;
}

static int take_frame(struct vm_guest_link *l, const struct frame *f, uint64_t now_ns,
		      struct error *e)
{
	if (f->type == GUEST_HELLO)
		return take_hello(l, f, now_ns, e);
	if (f->type == GUEST_PONG)
		return take_pong(l, f, e);
	if (l->state != STATE_TALKS)
		return 0; /* of before it was started anew */
	if (f->type == GUEST_ROWS)
		return take_rows(l, f, now_ns, e);
	if (f->type == GUEST_OBJECT)
		return take_object(l, f, e);
	if (f->type == GUEST_MISSED)
		return take_missed(l, f, now_ns, e);
	return f->type < GUEST_WELCOME ? 0 : error_set(e, EPROTO, "it says what only a host says");
}

static int take_frames(struct vm_guest_link *l, uint64_t now_ns, struct error *e)
{
	enum wire_status status;
	struct frame f;
	uint32_t at = 0;
	int r = 0;

	/* Whoever begins otherwise is none, however long the frame would be. */
	if (l->state == STATE_NEW && l->in[0] != GUEST_HELLO)
		return error_set(e, EPROTO, "it says what no guest's program says");
	while (r == 0 && (status = guest_frame_decode(l->in + at, l->in_len - at, &f)) == WIRE_OK) {
		r = take_frame(l, &f, now_ns, e);
		at += f.len;
	}
	if (r < 0)
		return r;
	if (status != WIRE_MORE)
		return error_set(e, EPROTO, "it says what no guest's program says");
	l->in_len -= at;
	memmove(l->in, l->in + at, l->in_len);
	return 0;
}

/* --- turns --- */

static void fill_room(struct vm_guest_link *l, uint64_t now_ns)
{
	uint64_t more = (now_ns - l->filled_ns) / 1000 * VM_GUEST_RATE / 1000000;

	if (!more)
		return;
	l->filled_ns = now_ns;
	l->room = more < VM_GUEST_BURST - l->room ? l->room + (uint32_t)more : VM_GUEST_BURST;
}

static void hear(struct vm_guest_link *l, uint64_t now_ns)
{
	l->heard_ns = now_ns;
	if (l->is_silent && l->machine)
		note(l, GUEST_LINK_TALKS, now_ns, l->name);
	l->is_silent = false;
}

/* 1: there may be more. */
static int read_some(struct vm_guest_link *l, uint64_t now_ns, struct error *e)
{
	ssize_t n = read(l->o.fd, l->in + l->in_len, sizeof(l->in) - l->in_len);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return error_set(e, EPIPE, "the connection ended");
	hear(l, now_ns);
	l->in_len += (uint32_t)n;
	l->room -= (uint32_t)n < l->room ? (uint32_t)n : l->room;
	if (l->machine)
		l->machine->bytes += (uint64_t)n;
	if (l->machine && l->machine->bytes >= VM_GUEST_BYTES_MOST)
		return error_set(e, E2BIG, "it says more than a recording takes");
	return take_frames(l, now_ns, e) < 0 ? -EPROTO : 1;
}

/* What it should be asked, and whether it answers. */
static int keep_up(struct vm_guest_link *l, uint64_t now_ns, struct error *e)
{
	bool is_late = now_ns - l->ping_ns > VM_GUEST_PING_MS * CLOCK_NS_PER_MS;
	bool is_next = l->state == STATE_SYNC || (l->is_ending && l->machine &&
						  l->machine->names.asked == l->machine->names.n);

	if (l->state == STATE_NEW) {
		if (!l->o.is_port && now_ns - l->opened_ns > VM_GUEST_HELLO_MS * CLOCK_NS_PER_MS)
			return error_set(e, ETIMEDOUT, "it does not say who it is");
		return 0;
	}
	if (l->state == STATE_SYNC && l->clock.is_set &&
	    (l->ping >= VM_GUEST_PINGS || now_ns - l->opened_ns > CLOCK_NS_PER_S))
		welcome(l, now_ns);
	if (is_late || (is_next && l->pong == l->ping))
		ask_time(l, clock_mono_ns());
	if (l->state == STATE_TALKS) {
		ask_names(l, now_ns);
		ask_object(l);
	}
	if (!l->is_silent && now_ns - l->heard_ns > VM_GUEST_SILENT_MS * CLOCK_NS_PER_MS) {
		l->is_silent = true;
		note(l, GUEST_LINK_SILENT, l->heard_ns, l->name);
	}
	return 0;
}

int vm_guest_link_turn(struct vm_guest_link *l, uint64_t now_ns, struct error *e)
{
	uint32_t i;
	int r = 1;

	fill_room(l, now_ns);
	for (i = 0; i < READS && r > 0 && vm_guest_link_wants(l); i++)
		r = read_some(l, now_ns, e);
	if (r >= 0)
		r = keep_up(l, now_ns, e);
	send_out(l);
	if (r == -EPIPE && l->machine)
		note(l, GUEST_LINK_GONE, l->heard_ns, l->name);
	else if (r < 0 && r != -EPIPE)
		refuse(l, now_ns, e);
	return r;
}

void vm_guest_link_hurry(struct vm_guest_link *l)
{
	l->is_ending = true;
}

/* An answer to a ping comes behind those to everything before it. */
bool vm_guest_link_is_settled(const struct vm_guest_link *l)
{
	return l->state == STATE_NEW || l->is_silent ||
	       (l->state == STATE_TALKS && !l->out_len && l->pong > l->names_ping &&
		l->machine->names.asked == l->machine->names.n &&
		!(l->machine->objects && vm_guest_objects_is_busy(l->machine->objects)));
}

void vm_guest_link_finish(struct vm_guest_link *l, uint64_t now_ns)
{
	if (l->state == STATE_TALKS)
		note(l, GUEST_LINK_CLOCK, now_ns, l->name);
}
