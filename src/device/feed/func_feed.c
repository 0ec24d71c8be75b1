/* SPDX-License-Identifier: MIT */
/* func_feed: see func_feed.h; here are the table of programs, the door and the switch. */
#include "device/feed/func_feed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "device/agent/memory.h"
#include "device/feed/func_feed_state.h"
#include "wire/varint.h"

#define RECORD_PART 8U /* of all memory, that one record may have, */
#define LEFT_PART 8U   /* and of what is left */
#define RECORD_STEP (64U << 10)
#define BLOCK_LEAST (32U << 10) /* a spool that takes no such block is too small */
#define LAST_ROUNDS 64		/* of turns when it ends */
#define MODE_FILE "mode"

/* --- programs --- */

static struct func_feed_program *free_place(struct func_feed *f)
{
	uint32_t i;

	for (i = 0; i < FUNC_FEED_PROGRAMS; i++)
		if (!f->programs[i].is_used)
			return &f->programs[i];
	return NULL;
}

static uint32_t count_programs(const struct func_feed *f)
{
	uint32_t i, n = 0;

	for (i = 0; i < FUNC_FEED_PROGRAMS; i++)
		n += f->programs[i].is_used;
	return n;
}

/* It is ready but for its record. */
static void begin_program(struct func_feed *f, struct func_feed_program *p)
{
	p->is_used = true;
	p->order = ++f->orders;
	p->active_ms = p->asked_ms = f->now_ms;
	p->on = f->mode != FUNC_MODE_OFF;
	f->next_ms = f->now_ms; /* it is looked at at once */
}

void func_feed_drop(struct func_feed *f, struct func_feed_program *p)
{
	func_feed_forget_threads(f, p);
	func_traced_remove(&p->traced);
	memset(p, 0, sizeof(*p));
}

/* The one that the process opened last. */
static struct func_feed_program *find_program(struct func_feed *f, int32_t pid)
{
	struct func_feed_program *p, *found = NULL;

	for (p = f->programs; p < f->programs + FUNC_FEED_PROGRAMS; p++)
		if (p->is_used && p->traced.pid == pid && (!found || p->order > found->order))
			found = p;
	return found;
}

/* --- the door --- */

/* A process that asks again has executed another program, unless it still has its record. */
static void look_at_others(struct func_feed *f, int32_t pid)
{
	struct func_feed_program *p;

	for (p = f->programs; p < f->programs + FUNC_FEED_PROGRAMS; p++)
		if (p->is_used && p->traced.pid == pid && !func_traced_is_mapped(&p->traced))
			p->is_replaced = true;
}

static int check_clock(struct func_feed *f, const struct func_door_ask *a, struct error *e)
{
	if (a->clock > FUNC_CLOCK_MONOTONIC || a->shift > 31)
		return error_set(e, EINVAL, "its clock is not known here");
	/* The run of a clock that nobody has any more makes way. */
	if (!count_programs(f) && !func_pairs_is_same(&f->pairs, a->clock, a->shift)) {
		if (func_feed_stop_run(f, e) < 0)
			return -EBUSY;
		func_os_close(take_ptr(f->os));
		f->has_clock = false;
	}
	if (f->has_clock && !func_pairs_is_same(&f->pairs, a->clock, a->shift))
		return error_set(e, EINVAL,
				 "its clock is not that of the programs that are traced");
	f->pairs.clock = a->clock;
	f->pairs.shift = a->shift;
	f->has_clock = true;
	return 0;
}

/* As much as it asks for, but less when there is not much left: others may come. */
static int choose_size(const struct func_feed *f, uint64_t wanted, uint64_t *ret, struct error *e)
{
	uint64_t used = 0, left, most = f->o.bytes / RECORD_PART;
	uint32_t i;

	for (i = 0; i < FUNC_FEED_PROGRAMS; i++)
		used += f->programs[i].is_used ? f->programs[i].traced.bytes : 0;
	left = used < f->o.bytes ? f->o.bytes - used : 0;
	most = most < left / LEFT_PART ? most : left / LEFT_PART;
	most = most > FUNC_TRACED_LEAST ? most : FUNC_TRACED_LEAST;
	most = wanted && wanted < most ? wanted : most;
	most = most / RECORD_STEP * RECORD_STEP;
	if (most < FUNC_TRACED_LEAST || most > left)
		return error_set(e, ENOSPC, "no memory is left for its record (func-mem)");
	*ret = most;
	return 0;
}

static int open_record(struct func_feed *f, const struct func_door_ask *a,
		       struct func_door_reply *ret, struct error *e)
{
	struct func_feed_program *p = free_place(f);
	struct func_traced_owner owner = { .pid = a->pid };
	int r;

	if (!p)
		return error_set(e, EBUSY, "as many programs as the agent takes are traced: %u",
				 FUNC_FEED_PROGRAMS);
	look_at_others(f, a->pid);
	r = check_clock(f, a, e);
	if (r >= 0)
		r = choose_size(f, a->bytes, &ret->size, e);
	if (r < 0)
		return r;
	memcpy(owner.comm, a->comm, sizeof(owner.comm));
	memset(p, 0, sizeof(*p));
	r = func_traced_open(&p->traced, f->folder, &owner, ret->size, e);
	if (r < 0)
		return r;
	begin_program(f, p);
	func_feed_watch(f, a->pid);
	/* Descriptions of their own: what a process sets on one of its own is no concern of ours. */
	f->given[0] = func_traced_beside(&p->traced, "", O_RDWR);
	f->given[1] = func_traced_beside(&p->traced, FUNC_TRACED_MAPS, O_WRONLY | O_APPEND);
	ret->n_fds = 2;
	snprintf(ret->text, sizeof(ret->text), "%s", p->traced.name);
	if (f->given[0] >= 0 && f->given[1] >= 0)
		return 0;
	func_feed_drop(f, p);
	return error_set(e, EMFILE, "its record cannot be opened");
}

static int open_maps(struct func_feed *f, const struct func_door_ask *a,
		     struct func_door_reply *ret, struct error *e)
{
	struct func_feed_program *p = find_program(f, a->pid);

	f->given[0] =
		p ? func_traced_beside(&p->traced, FUNC_TRACED_MAPS, O_WRONLY | O_APPEND) : -ENOENT;
	if (f->given[0] < 0)
		return error_set(e, ENOENT, "this process has no record");
	ret->n_fds = 1;
	return 0;
}

static void close_given(struct func_feed *f)
{
	uint32_t i;

	for (i = 0; i < FUNC_DOOR_FDS; i++) {
		cleanup_closep(&f->given[i]);
		f->given[i] = -1;
	}
}

static int on_ask(void *context, const struct func_door_ask *a, struct func_door_reply *ret,
		  struct error *e)
{
	struct func_feed *f = context;
	int r;

	if (f->is_ending)
		return error_set(e, EBUSY, "the agent ends");
	r = a->verb == FUNC_DOOR_OPEN ? open_record(f, a, ret, e) : open_maps(f, a, ret, e);
	if (r < 0) {
		close_given(f);
		return r;
	}
	ret->on = f->mode != FUNC_MODE_OFF;
	memcpy(ret->fds, f->given, sizeof(ret->fds));
	return 0;
}

static void on_sent(void *context, const struct func_door_ask *a, bool was_sent)
{
	struct func_feed *f = context;
	struct func_feed_program *p = find_program(f, a->pid);

	close_given(f);
	if (!was_sent && a->verb == FUNC_DOOR_OPEN && p)
		func_feed_drop(f, p);
}

int func_feed_fd(const struct func_feed *f)
{
	return func_door_fd(f->door);
}

void func_feed_answer(struct func_feed *f, uint64_t now_ms)
{
	f->now_ms = now_ms;
	func_door_turn(f->door);
}

/* --- what an earlier agent left --- */

/* Files beside a record that is not there any more. */
static void remove_stray(struct func_feed *f, const char *name)
{
	static const char *const suffixes[] = { FUNC_TRACED_MAPS, FUNC_TRACED_TOLD };
	char record[NAME_MAX + 1];
	size_t i, len = strlen(name), end;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		end = strlen(suffixes[i]);
		if (len <= end || strcmp(name + len - end, suffixes[i]) || len > NAME_MAX)
			continue;
		memcpy(record, name, len - end);
		record[len - end] = 0;
		if (faccessat(f->folder, record, F_OK, 0) < 0)
			unlinkat(f->folder, name, 0);
	}
}

static void take_up(struct func_feed *f)
{
	DIR *d = fdopendir(dup(f->folder));
	struct func_feed_program *p;
	const struct dirent *entry;

	while (d && (entry = readdir(d))) {
		p = free_place(f);
		if (!p)
			break;
		memset(p, 0, sizeof(*p));
		if (func_traced_take(&p->traced, f->folder, entry->d_name, NULL) < 0) {
			remove_stray(f, entry->d_name);
			continue;
		}
		begin_program(f, p);
		p->is_adopted = true;
	}
	if (d)
		closedir(d);
}

/* The mode as an instruction left it, if the agent did not end in order since. */
static void read_mode(struct func_feed *f)
{
	_cleanup_close_ int fd = openat(f->folder, MODE_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char digit;

	if (fd >= 0 && read(fd, &digit, 1) == 1 && digit >= '0' && digit < '0' + FUNC_MODES)
		f->mode = (uint8_t)(digit - '0');
}

static void write_mode(const struct func_feed *f)
{
	_cleanup_close_ int fd =
		openat(f->folder, MODE_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		       0600);
	char digit = (char)('0' + f->mode);

	if (fd < 0 || write(fd, &digit, 1) != 1)
		unlinkat(f->folder, MODE_FILE, 0);
}

/* --- making it --- */

static int open_folder(struct func_feed *f, struct error *e)
{
	if (mkdir(f->o.folder, 0700) < 0 && errno != EEXIST)
		return error_set(e, errno, "cannot make %s: %s", f->o.folder, strerror(errno));
	f->folder = open(f->o.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->folder < 0)
		return error_set(e, errno, "cannot open %s: %s", f->o.folder, strerror(errno));
	return 0;
}

static int make_parts(struct func_feed *f, struct error *e)
{
	struct func_run_options run = { .spool = f->o.spool, .device = f->o.device };
	struct func_door_options door = { .path = f->o.socket,
					  .group = f->o.group,
					  .hooks = { f, on_ask, on_sent } };
	int r = func_run_new(&f->run, &run, e);

	if (r < 0)
		return r;
	f->most_threads = memory_get_head(spool_get_memory(f->o.spool))->name.func_rows;
	if (func_run_block_most(f->run) < BLOCK_LEAST || !f->most_threads)
		return error_set(e, ENOSPC, "cannot trace programs: the spool is too small");
	f->threads = calloc(f->most_threads, sizeof(*f->threads));
	if (!f->threads)
		return error_set(e, ENOMEM, "cannot trace programs: out of memory");
	r = func_drain_new(&f->drain, f->run, e);
	/* Who has the socket has the folder. */
	if (r >= 0)
		r = func_door_open(&f->door, &door, e);
	return r < 0 ? r : open_folder(f, e);
}

int func_feed_new(struct func_feed **ret, const struct func_feed_options *o, struct error *e)
{
	CLEANUP(func_feed) struct func_feed *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return error_set(e, ENOMEM, "cannot trace programs: out of memory");
	f->o = *o;
	f->mode = o->mode;
	f->folder = f->given[0] = f->given[1] = -1;
	r = make_parts(f, e);
	if (r < 0)
		return r;
	read_mode(f);
	f->next_ms = f->os_ms = UINT64_MAX;
	take_up(f);
	/* Nobody is left whose clock its run would have. */
	if (!count_programs(f))
		func_feed_stop_run(f, NULL);
	*ret = take_ptr(f);
	return 0;
}

void func_feed_free(struct func_feed *f)
{
	uint32_t i;

	if (!f)
		return;
	func_door_close(f->door);
	for (i = 0; i < FUNC_FEED_PROGRAMS; i++)
		if (f->programs[i].is_used)
			func_traced_close(&f->programs[i].traced);
	close_given(f);
	func_os_close(f->os);
	func_drain_free(f->drain);
	func_run_free(f->run);
	cleanup_closep(&f->folder);
	free(f->threads);
	free(f);
}

/* --- on and off --- */

/* A program that switched itself is left as it is, unless all are switched. */
static void tell_mode(struct func_feed *f)
{
	uint32_t on = f->mode != FUNC_MODE_OFF && !f->is_ending;
	struct func_feed_program *p;

	for (p = f->programs; p < f->programs + FUNC_FEED_PROGRAMS; p++) {
		if (!p->is_used || !p->was_known)
			continue;
		func_traced_put(&p->traced, FUNC_BUFFER_AT_ON, on);
		p->on = on;
	}
}

void func_feed_set_mode(struct func_feed *f, uint8_t mode, uint64_t now_ms)
{
	if (mode == f->mode || mode >= FUNC_MODES)
		return;
	f->mode = mode;
	f->quiet_ms = f->next_ms = now_ms;
	write_mode(f);
	tell_mode(f);
}

uint8_t func_feed_get_mode(const struct func_feed *f)
{
	return f->mode;
}

/* --- turns --- */

/* Ends the run when nothing more comes; otherwise says when to look again. */
static void finish_turn(struct func_feed *f, bool soon)
{
	bool is_open = func_run_is_open(f->run);
	uint64_t now_ms = f->now_ms;

	if (count_programs(f)) {
		f->alone_ms = now_ms;
		f->next_ms = soon ? now_ms + FUNC_FEED_SOON_MS
				  : (now_ms / FUNC_FEED_TICK_MS + 1) * FUNC_FEED_TICK_MS;
		if (f->mode != FUNC_MODE_OFF)
			return;
		if (is_open && now_ms - f->quiet_ms >= FUNC_FEED_QUIET_MS)
			func_feed_stop_run(f, NULL);
		else if (!is_open)
			f->next_ms = now_ms + FUNC_FEED_SLOW_MS;
		return;
	}
	f->next_ms = is_open ? f->alone_ms + FUNC_FEED_LINGER_MS : UINT64_MAX;
	if (is_open && f->os && now_ms - f->alone_ms < FUNC_FEED_QUIET_MS)
		f->next_ms = soon ? now_ms + FUNC_FEED_SOON_MS : now_ms + FUNC_FEED_SLOW_MS;
	if (is_open && now_ms >= f->next_ms)
		f->next_ms =
			func_feed_stop_run(f, NULL) < 0 ? now_ms + FUNC_FEED_SLOW_MS : UINT64_MAX;
}

/* The kernel's rings are small beside what a program can make them write: they are looked at more often
 * than programs are. True: threads need their rows first. */
static bool turn_os(struct func_feed *f, struct error *e)
{
	struct error one = ERROR_INIT;
	int r = func_feed_turn_os(f, &one);

	if (one.text[0])
		*e = one;
	f->os_ms = UINT64_MAX;
	if (f->os && count_programs(f))
		f->os_ms = f->now_ms + (r > 0 ? FUNC_FEED_SOON_MS : FUNC_FEED_OS_MS);
	return r == FUNC_OS_ROWS;
}

static void turn_programs(struct func_feed *f, struct error *e)
{
	struct func_feed_program *p;
	bool soon = false, needs_rows = false;
	uint64_t now_ms = f->now_ms;
	struct error one;
	uint32_t i;
	int r = 0;

	func_drain_begin(f->drain);
	/* What would not be taken is not encoded over and over. */
	if (now_ms < f->full_ms && !spool_has_room(f->o.spool, FUNC_DRAIN_BLOCK)) {
		f->next_ms = now_ms + FUNC_FEED_TICK_MS;
		return;
	}
	for (i = 0; i < FUNC_FEED_PROGRAMS && r != -ENOSPC; i++) {
		p = &f->programs[(f->first + i) % FUNC_FEED_PROGRAMS];
		if (!p->is_used)
			continue;
		one.text[0] = 0;
		r = func_feed_turn_program(f, p, &one);
		if (r >= 0 && one.text[0])
			*e = one; /* what has no room yet is no failure */
		soon |= r > 0;
		needs_rows |= r == -ENOBUFS;
	}
	f->full_ms = r == -ENOSPC ? now_ms + FUNC_FEED_SLOW_MS : 0;
	soon &= !f->full_ms;
	f->first = (f->first + 1) % FUNC_FEED_PROGRAMS;
	if (needs_rows && func_feed_turn_run(f) == 0)
		soon = true;
	finish_turn(f, soon);
}

void func_feed_turn(struct func_feed *f, uint64_t now_ms, struct error *e)
{
	bool needs_rows;

	f->now_ms = now_ms;
	needs_rows = turn_os(f, e);
	if (needs_rows || now_ms >= f->next_ms)
		turn_programs(f, e);
	if (needs_rows)
		turn_os(f, e);
}

/* Which programs record now: these are switched on again by the next agent. */
static void note_on(struct func_feed *f)
{
	struct func_feed_program *p;

	for (p = f->programs; p < f->programs + FUNC_FEED_PROGRAMS; p++)
		if (p->is_used && p->was_known &&
		    func_traced_look(&p->traced, &f->header, NULL) > 0)
			p->was_on = get_le32(f->header.bytes + FUNC_BUFFER_AT_ON) != 0;
}

int func_feed_stop(struct func_feed *f, uint64_t now_ms, struct error *e)
{
	struct error ignored = ERROR_INIT;
	int round = 0;

	f->is_ending = true;
	f->now_ms = now_ms;
	note_on(f);
	tell_mode(f);
	do
		turn_programs(f, &ignored);
	while (f->next_ms == now_ms + FUNC_FEED_SOON_MS && ++round < LAST_ROUNDS);
	unlinkat(f->folder, MODE_FILE, 0);
	return func_feed_stop_run(f, e);
}

uint64_t func_feed_next(const struct func_feed *f)
{
	return f->next_ms < f->os_ms ? f->next_ms : f->os_ms;
}

bool func_feed_is_busy(const struct func_feed *f)
{
	return f->mode != FUNC_MODE_OFF && count_programs(f) > 0;
}

/* --- STATUS --- */

void func_feed_get_status(const struct func_feed *f, struct message_status *m)
{
	struct func_run_counts c;
	uint32_t i;

	func_run_count(f->run, &c);
	m->events += c.events;
	m->blocks += c.blocks;
	m->bytes += c.bytes;
	for (i = 0; i < LOSS_CAUSES; i++)
		m->lost[i] += c.lost[i];
}

uint64_t func_feed_get_fixed_bytes(const struct func_feed *f)
{
	return sizeof(*f) + f->most_threads * sizeof(*f->threads) + func_drain_memory() +
	       (f->os ? func_os_fixed_bytes(f->os) : 0);
}
