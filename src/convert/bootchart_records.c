/* SPDX-License-Identifier: MIT */
/* bootchart_records: see bootchart_records.h. */
#include "convert/bootchart_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/pidmap.h"

#define TIME_NS BOOTCHART_TIME_NS
#define SECTOR 512U
#define MS_NS 1000000U
#define COMM_MAX 15U
#define KTHREADD 2	  /* pid of who starts kernel threads */
#define LEVEL_NOT_TOLD 6U /* of a kernel message: what most are */

struct process {
	int32_t pid;
	bool is_alive;
	bool is_told; /* its arguments were */
	bool has_last;
	uint64_t last; /* block in which it is told of last */
	uint64_t seen; /* block, + 1 */
	uint64_t start;
	struct text_span name;
	uint64_t number[BOOT_NUMBERS_MAX]; /* of BOOT_TASK, as last told */
	uint64_t disk_ns;
};

struct bootchart_disk {
	struct text_span name;
	uint64_t number[7];
};

static int grow(void *list, size_t *room, size_t n, size_t size)
{
	size_t more = *room ? *room * 2 : 64;
	void **at = list, *p;

	if (n < *room)
		return 0;
	p = realloc(*at, more * size);
	if (!p)
		return -ENOMEM;
	*at = p;
	*room = more;
	return 0;
}

static int put(struct bootchart_records *r, struct boot_event ev)
{
	if (grow(&r->list, &r->room, r->n, sizeof(*r->list)) < 0)
		return -ENOMEM;
	if (ev.text_len > BOOT_TEXT_MAX)
		ev.text_len = BOOT_TEXT_MAX;
	r->list[r->n++] = ev;
	return 0;
}

static uint64_t scaled(uint64_t v, uint64_t by)
{
	return v > UINT64_MAX / by ? UINT64_MAX : v * by;
}

/* The tick of a block. Several logs are written one after the other, each with its own time. */
static uint64_t tick_of(struct bootchart_records *r, const struct bootchart_block *b)
{
	uint64_t tick = b->time * TIME_NS;

	if (tick > r->tick)
		r->tick = tick;
	return r->tick;
}

int bootchart_records_init(struct bootchart_records *r, struct bootchart_facts *facts)
{
	memset(r, 0, sizeof(*r));
	r->facts = facts;
	r->processes = pidmap_new(sizeof(struct process));
	r->cpus = calloc(BOOTCHART_CPUS_MAX, sizeof(*r->cpus));
	r->disks = calloc(BOOTCHART_DISKS_MAX, sizeof(*r->disks));
	return r->processes && r->cpus && r->disks ? 0 : -ENOMEM;
}

void bootchart_records_done(struct bootchart_records *r)
{
	free(r->list);
	pidmap_free(r->processes);
	free(r->alive);
	free(r->cpus);
	free(r->disks);
	memset(r, 0, sizeof(*r));
}

int bootchart_records_mark(struct bootchart_records *r, enum boot_mark_type type, uint64_t tick,
			   struct text_span text)
{
	struct boot_event ev = { .kind = BOOT_MARK, .key = (uint32_t)type, .text = text.text };

	ev.tick = tick > r->tick ? tick : r->tick;
	ev.text_len = text.len > BOOT_TEXT_MAX ? BOOT_TEXT_MAX : (uint32_t)text.len;
	ev.number[BOOT_MARK_TICK] = tick;
	if (type == BOOT_MARK_KERNEL)
		ev.number[BOOT_MARK_LEVEL] = LEVEL_NOT_TOLD;
	return put(r, ev);
}

/* --- the machine --- */

static int put_cpu(struct bootchart_records *r, struct text_scan *s, uint64_t tick)
{
	struct boot_event ev = { .tick = tick, .kind = BOOT_CPU };
	uint64_t n[8] = { 0 };
	size_t i;

	if (!scan_u32(s, &ev.key) || ev.key >= BOOTCHART_CPUS_MAX)
		return 0;
	if (bootchart_log_numbers(s, n, 8) < 4) {
		r->bad++;
		return 0;
	}
	if (ev.key < r->n_cpus && !memcmp(r->cpus[ev.key], n, sizeof(n)))
		return 0;
	if (ev.key >= r->n_cpus)
		r->n_cpus = ev.key + 1;
	memcpy(r->cpus[ev.key], n, sizeof(n));
	for (i = 0; i < 8; i++)
		ev.number[i] = scaled(n[i], TIME_NS);
	return put(r, ev);
}

int bootchart_records_stat(struct bootchart_records *r, const struct bootchart_block *b)
{
	uint64_t tick = tick_of(r, b);
	struct text_scan body = b->body, s;
	struct text_span line;
	int res = 0;

	while (res >= 0 && bootchart_log_line(&body, &line)) {
		s = (struct text_scan){ line.text, line.text + line.len };
		if (SCAN(&s, "cpu"))
			res = scan_is_digit(&s) ? put_cpu(r, &s, tick) : 0;
		else if (SCAN(&s, "ctxt "))
			bootchart_log_numbers(&s, &r->switches, 1);
		else if (SCAN(&s, "processes "))
			bootchart_log_numbers(&s, &r->forks, 1);
		else if (SCAN(&s, "procs_running "))
			bootchart_log_numbers(&s, &r->runnable, 1);
		else if (SCAN(&s, "procs_blocked "))
			bootchart_log_numbers(&s, &r->blocked, 1);
	}
	return res;
}

static bool is_same(struct text_span a, struct text_span b)
{
	return a.len == b.len && !memcmp(a.text, b.text, a.len);
}

/* The number of the disk, and whether it is new; BOOTCHART_DISKS_MAX: there are too many. */
static uint32_t find_disk(struct bootchart_records *r, struct text_span name, bool *ret_new)
{
	uint32_t i;

	for (i = 0; i < r->n_disks; i++)
		if (is_same(r->disks[i].name, name))
			break;
	*ret_new = i == r->n_disks;
	if (*ret_new && i < BOOTCHART_DISKS_MAX) {
		r->disks[i].name = name;
		r->n_disks++;
	}
	return i;
}

/* major minor name reads merged sectors ms writes merged sectors ms in_flight ms weighted_ms */
static int put_disk(struct bootchart_records *r, struct text_span line, uint64_t tick)
{
	struct text_scan s = { line.text, line.text + line.len };
	struct boot_event ev = { .tick = tick, .kind = BOOT_DISK };
	struct text_span name;
	uint64_t n[11];
	bool is_new;
	int res = 0;

	if (bootchart_log_numbers(&s, n, 2) != 2 || !scan_spaces(&s, NULL)) {
		r->bad++;
		return 0;
	}
	name.text = s.at;
	while (s.at < s.end && *s.at != ' ')
		s.at++;
	name.len = (size_t)(s.at - name.text);
	/* Partitions once had four numbers only; they are part of their disk. */
	if (bootchart_log_numbers(&s, n, 11) != 11)
		return 0;
	ev.key = find_disk(r, name, &is_new);
	if (ev.key == BOOTCHART_DISKS_MAX)
		return 0;
	ev.number[BOOT_DISK_READS] = n[0];
	ev.number[BOOT_DISK_READ_BYTES] = scaled(n[2], SECTOR);
	ev.number[BOOT_DISK_WRITES] = n[4];
	ev.number[BOOT_DISK_WRITTEN_BYTES] = scaled(n[6], SECTOR);
	ev.number[BOOT_DISK_BUSY] = scaled(n[9], MS_NS);
	ev.number[BOOT_DISK_IN_FLIGHT] = n[8];
	ev.number[BOOT_DISK_WEIGHTED] = scaled(n[10], MS_NS);
	if (is_new)
		res = put(r, (struct boot_event){ .tick = tick,
						  .kind = BOOT_DISK_NAME,
						  .key = ev.key,
						  .text = name.text,
						  .text_len = (uint32_t)name.len });
	else if (!memcmp(r->disks[ev.key].number, ev.number, sizeof(r->disks[0].number)))
		return 0;
	memcpy(r->disks[ev.key].number, ev.number, sizeof(r->disks[0].number));
	return res < 0 ? res : put(r, ev);
}

int bootchart_records_disks(struct bootchart_records *r, const struct bootchart_block *b)
{
	uint64_t tick = tick_of(r, b);
	struct text_scan body = b->body;
	struct text_span line;
	int res = 0;

	while (res >= 0 && bootchart_log_line(&body, &line))
		res = put_disk(r, line, tick);
	return res;
}

int bootchart_records_memory(struct bootchart_records *r, const struct bootchart_block *b)
{
	static const struct {
		const char *name;
		uint8_t number;
	} rows[] = {
		{ "MemTotal:", BOOT_MEMORY_TOTAL },	    { "MemFree:", BOOT_MEMORY_FREE },
		{ "MemAvailable:", BOOT_MEMORY_AVAILABLE }, { "Buffers:", BOOT_MEMORY_BUFFERS },
		{ "Cached:", BOOT_MEMORY_CACHED },	    { "SReclaimable:", BOOT_MEMORY_CACHED },
		{ "Shmem:", BOOT_MEMORY_SHARED },	    { "Dirty:", BOOT_MEMORY_DIRTY },
		{ "SwapTotal:", BOOT_MEMORY_SWAP_TOTAL },   { "SwapFree:", BOOT_MEMORY_SWAP_FREE },
	};
	struct boot_event ev = { .tick = tick_of(r, b), .kind = BOOT_MEMORY };
	struct text_scan body = b->body, s;
	struct text_span line;
	uint64_t n;
	size_t i;

	while (bootchart_log_line(&body, &line))
		for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			s = (struct text_scan){ line.text, line.text + line.len };
			if (scan_word(&s, rows[i].name, strlen(rows[i].name)) &&
			    bootchart_log_numbers(&s, &n, 1))
				ev.number[rows[i].number] += n; /* what can be reclaimed, too */
		}
	if (r->has_memory && !memcmp(r->memory, ev.number, sizeof(r->memory)))
		return 0;
	memcpy(r->memory, ev.number, sizeof(r->memory));
	r->has_memory = true;
	return put(r, ev);
}

/* --- processes --- */

int bootchart_records_set_last(struct bootchart_records *r, int32_t pid, uint64_t block)
{
	struct process *p = pidmap_add(r->processes, pid);

	if (!p)
		return -ENOMEM;
	p->has_last = true;
	p->last = block;
	return 0;
}

static struct boot_event event_of(const struct process *p, enum boot_kind kind, uint64_t tick)
{
	return (struct boot_event){ .tick = tick, .kind = (uint8_t)kind, .key = (uint32_t)p->pid };
}

static int put_text(struct bootchart_records *r, struct process *p, enum boot_kind kind,
		    struct text_span text)
{
	struct boot_event ev = event_of(p, kind, r->tick);

	ev.text = text.text;
	ev.text_len = text.len > BOOT_TEXT_MAX ? BOOT_TEXT_MAX : (uint32_t)text.len;
	return put(r, ev);
}

/* What it is called. Android's init has the program's path there instead. */
static int put_name(struct bootchart_records *r, struct process *p, struct text_span name)
{
	const char *slash = memrchr(name.text, '/', name.len);
	struct text_span comm = name;
	bool is_path = name.len && name.text[0] == '/' && slash;
	int res;

	if (p->name.text && is_same(p->name, name))
		return 0;
	p->name = name;
	if (is_path) {
		comm.text = slash + 1;
		comm.len = (size_t)(name.text + name.len - comm.text);
	}
	if (comm.len > COMM_MAX)
		comm.len = COMM_MAX;
	res = put_text(r, p, BOOT_NAME, comm);
	if (res >= 0 && (is_path || name.len > COMM_MAX) && !p->is_told)
		res = put_text(r, p, BOOT_EXEC, name);
	return res;
}

static int put_args(struct bootchart_records *r, struct process *p)
{
	struct bootchart_known *k = bootchart_facts_get(r->facts, p->pid);

	if (!k)
		return 0;
	k->is_seen = true;
	if (!k->args.len && !k->program.len)
		return 0;
	p->is_told = true;
	return put_text(r, p, BOOT_EXEC, k->args.len ? k->args : k->program);
}

/* taskstats.log does not say so; but kernel threads are the children of one. */
static bool is_kernel(const struct bootchart_records *r, const struct bootchart_process *row)
{
	static const struct text_span name = { "kthreadd", 8 };
	const struct process *parent = pidmap_get(r->processes, KTHREADD);

	return row->is_kernel || (row->pid == KTHREADD && is_same(row->name, name)) ||
	       (row->parent == KTHREADD && parent && parent->name.text &&
		is_same(parent->name, name));
}

static int put_start(struct bootchart_records *r, struct process *p,
		     const struct bootchart_process *row, bool has_start)
{
	const struct bootchart_known *k = bootchart_facts_get(r->facts, p->pid);
	struct boot_event ev = event_of(p, BOOT_START, r->tick);

	if (grow(&r->alive, &r->room_alive, r->n_alive, sizeof(*r->alive)) < 0)
		return -ENOMEM;
	r->alive[r->n_alive++] = p->pid;
	p->is_alive = true;
	p->start = row->start;
	p->name.text = NULL;
	p->is_told = false;
	memset(p->number, 0, sizeof(p->number));
	p->disk_ns = row->disk_ns + row->swap_ns;
	ev.number[BOOT_START_PARENT] = (uint64_t)(k && k->parent ? k->parent : row->parent);
	ev.number[BOOT_START_GROUP] = (uint64_t)p->pid;
	/* Times may count from when the collector started: then a start is no time of theirs. */
	ev.number[BOOT_START_HOW] = BOOT_BY_SAMPLE;
	ev.number[BOOT_START_TICK] = r->tick;
	if (has_start && row->start * TIME_NS <= r->tick) {
		ev.number[BOOT_START_HOW] = BOOT_BY_PROC;
		ev.number[BOOT_START_TICK] = row->start * TIME_NS;
	}
	ev.number[BOOT_START_FLAGS] = is_kernel(r, row) ? BOOT_START_KERNEL : 0;
	return put(r, ev);
}

static int put_exit(struct bootchart_records *r, struct process *p)
{
	const struct bootchart_known *k = bootchart_facts_get(r->facts, p->pid);
	struct boot_event ev = event_of(p, BOOT_EXIT, r->tick);
	int res;

	p->is_alive = false;
	ev.number[BOOT_EXIT_HOW] = BOOT_BY_SAMPLE;
	if (k && k->has_account)
		ev.number[BOOT_EXIT_CODE] = k->exit_code;
	res = put(r, ev);
	if (res < 0 || !k || !k->has_account)
		return res;
	ev = event_of(p, BOOT_ACCOUNT, r->tick);
	ev.number[BOOT_ACCOUNT_USER] = k->user_ns;
	ev.number[BOOT_ACCOUNT_SYSTEM] = k->system_ns;
	ev.number[BOOT_ACCOUNT_FAULTS] = k->faults;
	return put(r, ev);
}

static int put_task(struct bootchart_records *r, struct process *p, const uint64_t number[7])
{
	struct boot_event ev = event_of(p, BOOT_TASK, r->tick);

	if (!memcmp(p->number, number, 7 * sizeof(*number)))
		return 0;
	memcpy(p->number, number, 7 * sizeof(*number));
	memcpy(ev.number, number, 7 * sizeof(*number));
	return put(r, ev);
}

static void drop_alive(struct bootchart_records *r, int32_t pid)
{
	size_t i;

	for (i = 0; i < r->n_alive; i++)
		if (r->alive[i] == pid) {
			r->alive[i] = r->alive[--r->n_alive];
			return;
		}
}

/* A row: it is there, and called so. */
static int meet(struct bootchart_records *r, const struct bootchart_process *row, bool has_start,
		struct process **ret)
{
	struct process *p = pidmap_add(r->processes, row->pid);
	bool is_first = p && !p->seen;
	int res = p ? 0 : -ENOMEM;

	/* The pid was given out again between two looks. */
	if (res >= 0 && p->is_alive && has_start && p->start != row->start) {
		drop_alive(r, p->pid);
		res = put_exit(r, p);
	}
	if (res >= 0 && !p->is_alive) {
		res = put_start(r, p, row, has_start);
		if (res >= 0 && is_first)
			res = put_args(r, p);
	}
	if (res < 0)
		return res;
	p->seen = r->blocks + 1;
	*ret = p;
	return put_name(r, p, row->name);
}

static int put_row(struct bootchart_records *r, const struct bootchart_process *row)
{
	uint64_t number[7] = { 0 };
	struct process *p;
	int res = meet(r, row, true, &p);

	number[BOOT_TASK_STATE] = (uint8_t)row->state;
	number[BOOT_TASK_USER] = row->user * TIME_NS;
	number[BOOT_TASK_SYSTEM] = row->system * TIME_NS;
	number[BOOT_TASK_FAULTS] = row->faults;
	number[BOOT_TASK_THREADS] = row->threads;
	return res < 0 ? res : put_task(r, p, number);
}

static int put_pass(struct bootchart_records *r, const struct bootchart_block *b)
{
	struct boot_event ev = { .tick = tick_of(r, b), .kind = BOOT_PASS };
	struct text_scan body = b->body;
	struct text_span line;
	uint64_t n = 0;

	while (bootchart_log_line(&body, &line))
		n++;
	ev.number[BOOT_PASS_TASKS] = n;
	ev.number[BOOT_PASS_LOOKED] = n;
	ev.number[BOOT_PASS_SWITCHES] = r->switches;
	ev.number[BOOT_PASS_RUNNABLE] = r->runnable;
	ev.number[BOOT_PASS_BLOCKED] = r->blocked;
	ev.number[BOOT_PASS_FORKS] = r->forks;
	return put(r, ev);
}

/* Those that the block does not have are gone. */
static int put_gone(struct bootchart_records *r)
{
	struct process *p;
	size_t i = 0;
	int res = 0;

	while (i < r->n_alive && res >= 0) {
		p = pidmap_get(r->processes, r->alive[i]);
		if (p->seen == r->blocks + 1) {
			i++;
			continue;
		}
		res = put_exit(r, p);
		r->alive[i] = r->alive[--r->n_alive];
	}
	return res;
}

int bootchart_records_processes(struct bootchart_records *r, const struct bootchart_block *b)
{
	struct text_scan body = b->body;
	struct bootchart_process row;
	struct text_span line;
	int res = put_pass(r, b);

	while (res >= 0 && bootchart_log_line(&body, &line)) {
		if (bootchart_log_parse_stat(line, &row))
			res = put_row(r, &row);
		else
			r->bad++;
	}
	if (res >= 0 && b->is_whole)
		res = put_gone(r);
	r->blocks++;
	return res;
}

/* --- taskstats --- */

static int put_stats(struct bootchart_records *r, const struct bootchart_process *row)
{
	uint64_t number[7] = { 0 }, waited;
	struct process *p;
	bool was_told;
	int res = meet(r, row, false, &p);

	if (res < 0)
		return res;
	waited = row->disk_ns + row->swap_ns;
	was_told = p->number[BOOT_TASK_STATE] != 0;
	/* There is no state; its times say what it did since the block before. */
	number[BOOT_TASK_STATE] = 'S';
	if (was_told && waited > p->disk_ns)
		number[BOOT_TASK_STATE] = 'D';
	if (row->ran_ns > (was_told ? p->number[BOOT_TASK_RAN] : 0))
		number[BOOT_TASK_STATE] = 'R';
	p->disk_ns = waited;
	number[BOOT_TASK_USER] = number[BOOT_TASK_RAN] = row->ran_ns;
	return put_task(r, p, number);
}

/* Those whose times have not changed sleep, until nothing is told of them any more. */
static int put_silent(struct bootchart_records *r)
{
	uint64_t number[7];
	struct process *p;
	size_t i = 0;
	int res = 0;

	while (i < r->n_alive && res >= 0) {
		p = pidmap_get(r->processes, r->alive[i]);
		if (p->seen == r->blocks + 1) {
			i++;
			continue;
		}
		memcpy(number, p->number, sizeof(number));
		number[BOOT_TASK_STATE] = r->blocks <= p->last ? 'S' : '?';
		res = put_task(r, p, number);
		if (r->blocks <= p->last)
			i++;
		else
			r->alive[i] = r->alive[--r->n_alive];
	}
	return res;
}

int bootchart_records_taskstats(struct bootchart_records *r, const struct bootchart_block *b)
{
	struct text_scan body = b->body;
	struct bootchart_process row;
	struct text_span line;
	int res = put_pass(r, b);

	while (res >= 0 && bootchart_log_line(&body, &line)) {
		if (bootchart_log_parse_taskstats(line, &row))
			res = put_stats(r, &row);
		else
			r->bad++;
	}
	if (res >= 0)
		res = put_silent(r);
	r->blocks++;
	return res;
}
