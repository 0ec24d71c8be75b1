/* SPDX-License-Identifier: MIT */
/* guest_teller: see guest_teller.h. */
#include "device/guest/guest_teller.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/boot/task_stat.h"
#include "device/guest/guest_tables.h"
#include "device/profile/kernel_names.h"
#include "device/profile/process_maps.h"

#define KALLSYMS "/proc/kallsyms"
#define TABLES_ROOM 4096U
#define LATER_MS 50U   /* after a program started its libraries are looked at, then again */
#define LATER_TIMES 3U /* each after ten times as long */
#define TURN_MS 1000

/* A process that is looked at again. */
struct later {
	int32_t pid; /* 0: the place is free */
	uint32_t times;
	uint64_t ns; /* since when it has its program */
	uint64_t due_ms;
};

struct guest_teller {
	struct block_out out; /* first: rows go through it to the channel */
	struct guest_channel *channel;
	struct guest_tables *tables;
	struct profile_meta meta;
	struct object_ids ids;
	struct kernel_names *names;
	struct later later[GUEST_LATER];
	uint8_t *row; /* behind the last one of tables */
	uint8_t frame[TABLES_ROOM];
};

static uint8_t *first_row(struct guest_teller *t)
{
	return meta_item_begin(t->frame + GUEST_HEAD_LEN, META_TABLES);
}

static void send_rows(struct guest_teller *t, uint8_t *body, uint8_t *end)
{
	uint8_t *frame = body - GUEST_HEAD_LEN;

	guest_frame_begin(frame, GUEST_ROWS);
	guest_frame_end(body, end);
	guest_channel_send(t->channel, frame, (size_t)(end - frame));
}

static void send_tables(struct guest_teller *t)
{
	uint8_t *first = first_row(t);

	if (t->row != first)
		send_rows(t, t->frame + GUEST_HEAD_LEN, meta_item_end(first, t->row));
	t->row = first_row(t);
}

/* A payload of rows has room before it, where the head of the frame goes. */
static int put_rows(struct block_out *o, const struct block *b, uint8_t *payload, bool must)
{
	struct guest_teller *t = (struct guest_teller *)o;

	(void)must;
	send_rows(t, payload, payload + b->payload_len);
	return t->channel->failed;
}

int guest_teller_new(struct guest_teller **ret, struct guest_channel *c,
		     struct guest_tables *tables, struct error *e)
{
	CLEANUP(guest_teller) struct guest_teller *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return error_set(e, ENOMEM, "cannot tell the host: out of memory");
	t->out.put = put_rows;
	t->channel = c;
	t->tables = tables;
	t->row = first_row(t);
	profile_meta_init(&t->meta, &t->out);
	r = kernel_names_new(&t->names, KALLSYMS, e);
	if (r < 0)
		return r;
	*ret = take_ptr(t);
	return 0;
}

void guest_teller_free(struct guest_teller *t)
{
	if (!t)
		return;
	kernel_names_free(t->names);
	free(t);
}

struct object_ids *guest_teller_ids(struct guest_teller *t)
{
	return &t->ids;
}

/* --- rows --- */

static void put_table(struct guest_teller *t, const struct guest_event *ev, bool is_end)
{
	struct sample_table_row row = { .pid = ev->pid,
					.tid = ev->tid,
					.tick = ev->ns,
					.is_end = is_end,
					.table = ev->table,
					.task = ev->task,
					.comm = ev->comm };

	if ((size_t)(t->row - t->frame) + SAMPLE_META_ROW_ROOM + SCHED_COMM_LEN > TABLES_ROOM)
		send_tables(t);
	row.comm_len = is_end ? 0 : (uint32_t)strnlen(ev->comm, sizeof(ev->comm));
	t->row = sample_meta_put_table(t->row, &row);
}

static void put_life(struct guest_teller *t, const struct guest_event *ev, enum sample_life what)
{
	struct sample_life_row row = { .pid = ev->pid,
				       .parent = ev->parent,
				       .tick = ev->ns,
				       .what = (uint8_t)what,
				       .comm = ev->comm };

	if (what != SAMPLE_LIFE_END)
		row.comm_len = (uint32_t)strnlen(ev->comm, sizeof(ev->comm));
	profile_meta_put_life(&t->meta, &row);
}

/* --- all --- */

/* When it was started, rounded up: before that its number was another's. */
static uint64_t start_ns(uint64_t start_ticks)
{
	uint64_t tick_ns = CLOCK_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK), now = clock_mono_ns();
	uint64_t asleep = clock_get_ns(CLOCK_BOOTTIME) - now, ns = (start_ticks + 1) * tick_ns;

	ns = ns > asleep ? ns - asleep : 1;
	return ns < now ? ns : now;
}

static bool read_stat(int32_t pid, int32_t tid, struct task_stat *ret)
{
	char path[48], text[TASK_STAT_MOST];
	_cleanup_close_ int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	return n > 0 && task_stat_parse(ret, text, (size_t)n);
}

static void tell_thread(struct guest_teller *t, int32_t pid, int32_t tid)
{
	struct guest_event ev = { .type = GUEST_EVENT_FORK, .pid = pid, .tid = tid };
	struct task_stat s;

	if (!read_stat(pid, tid, &s))
		return;
	ev.parent = (int32_t)s.parent;
	ev.ns = start_ns(s.start);
	memcpy(ev.comm, s.comm, sizeof(ev.comm));
	put_table(t, &ev, false);
	if (pid != tid)
		return;
	put_life(t, &ev, SAMPLE_LIFE_START);
	if (!s.is_kernel)
		process_maps_put(&t->meta, &t->ids, pid, ev.ns);
}

static uint32_t tell_process(struct guest_teller *t, int32_t pid)
{
	char path[32];
	DIR *folder;
	const struct dirent *d;
	uint32_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	folder = opendir(path);
	while (folder && n < GUEST_TASKS_MAX && (d = readdir(folder)))
		if (atoi(d->d_name) > 0) {
			tell_thread(t, pid, (int32_t)atoi(d->d_name));
			n++;
		}
	if (folder)
		closedir(folder);
	return n;
}

static void tell_table(void *context, const struct guest_event *ev)
{
	put_table(context, ev, false);
}

void guest_teller_tell_all(struct guest_teller *t)
{
	DIR *folder = opendir("/proc");
	const struct dirent *d;
	uint32_t n = 0;

	while (folder && n < GUEST_TASKS_MAX && !t->channel->failed && (d = readdir(folder)))
		if (atoi(d->d_name) > 0)
			n += tell_process(t, (int32_t)atoi(d->d_name));
	if (folder)
		closedir(folder);
	if (t->tables)
		guest_tables_list(t->tables, tell_table, t);
}

/* --- what happens --- */

static void look_later(struct guest_teller *t, int32_t pid, uint64_t ns)
{
	struct later *l = &t->later[(uint32_t)pid % GUEST_LATER];

	*l = (struct later){ .pid = pid, .ns = ns, .due_ms = clock_mono_ms() + LATER_MS };
}

void guest_teller_tell(struct guest_teller *t, const struct guest_event *ev)
{
	bool is_process = ev->pid == ev->tid;

	switch (ev->type) {
	case GUEST_EVENT_FORK:
		put_table(t, ev, false);
		if (is_process)
			put_life(t, ev, SAMPLE_LIFE_START);
		break;
	case GUEST_EVENT_EXEC:
		put_table(t, ev, false);
		put_life(t, ev, SAMPLE_LIFE_EXEC);
		process_maps_put(&t->meta, &t->ids, ev->pid, ev->ns);
		look_later(t, ev->pid, ev->ns);
		break;
	case GUEST_EVENT_NAME:
		put_table(t, ev, false);
		break;
	case GUEST_EVENT_EXIT:
		put_table(t, ev, true);
		if (ev->is_last)
			put_life(t, ev, SAMPLE_LIFE_END);
		break;
	}
}

void guest_teller_push_names(struct guest_teller *t, const struct guest_names *n)
{
	uint32_t i;

	for (i = 0; i < n->n; i++)
		if (kernel_names_push(t->names, n->address[i]))
			kernel_names_put(t->names, &t->meta);
}

void guest_teller_tell_names(struct guest_teller *t)
{
	kernel_names_put(t->names, &t->meta);
	profile_meta_flush(&t->meta);
}

/* Of a program that runs on, what it mapped a little later holds from its start on: there was nothing else. */
static int look_again(struct guest_teller *t, struct later *l, uint64_t now_ms)
{
	uint32_t wait_ms = LATER_MS, i;

	if (now_ms < l->due_ms)
		return (int)(l->due_ms - now_ms);
	process_maps_put(&t->meta, &t->ids, l->pid, l->ns);
	for (i = 0; i <= l->times; i++)
		wait_ms *= 10;
	l->due_ms = now_ms + wait_ms;
	if (++l->times == LATER_TIMES)
		l->pid = 0;
	return TURN_MS;
}

int guest_teller_turn(struct guest_teller *t)
{
	uint64_t now_ms = clock_mono_ms();
	int wait_ms = TURN_MS, due;
	uint32_t i;

	for (i = 0; i < GUEST_LATER; i++) {
		due = t->later[i].pid ? look_again(t, &t->later[i], now_ms) : TURN_MS;
		wait_ms = due < wait_ms ? due : wait_ms;
	}
	send_tables(t);
	profile_meta_flush(&t->meta);
	return wait_ms;
}
