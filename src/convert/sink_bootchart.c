/* SPDX-License-Identifier: MIT */
/*
 * sink_bootchart: see sink_bootchart.h, and docs/format/bootchart.md for what becomes of what.
 *
 * Records say what has changed, blocks of a log have everything. So the machine is kept as it was last told of, and
 * written out when the next look at it begins. Logs grow in nameless files, because tar wants their lengths first.
 *
 * A process that lived between two looks has no block to stand in. It is put into the next one, as a zombie with the
 * times that the kernel has counted for it, since otherwise nobody would ever know of it.
 */
#include "convert/sink_bootchart.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "convert/bootchart_archive.h"
#include "convert/bootchart_log.h"
#include "convert/bootchart_tar.h"
#include "trace/pidmap.h"

#define CPUS_MAX 4096U
#define DISKS_MAX 1024U
#define SECTOR 512U
#define MS_NS 1000000U
#define SECOND_NS INT64_C(1000000000)
#define DISK_MAJOR 259U /* of block devices without one of their own */
#define FACTS_MAX 32U

struct process {
	int32_t pid;
	bool is_there;	/* it has not ended, */
	bool is_listed; /* and is in a block */
	bool is_kernel;
	int32_t parent;
	uint64_t start; /* in hundredths of a second */
	uint64_t user_ns, system_ns;
	uint64_t faults, threads;
	char state;
	char comm[SCHED_COMM_LEN];
	char *args; /* words, each ended by a NUL */
	uint32_t args_len;
};

struct disk {
	bool is_there;
	char name[32];
	uint64_t number[BOOT_NUMBERS_MAX];
};

struct sink {
	struct boot_source *source;
	FILE *logs[BOOTCHART_FILES];
	struct pidmap *processes;
	int32_t *list; /* pids that go into the next block */
	size_t n_list, room_list;
	uint64_t (*cpus)[8];
	size_t n_cpus;
	struct disk *disks;
	size_t n_disks;
	uint64_t memory[9], pass[7];
	bool has_memory, has_pass;
	uint64_t tick; /* of the look at hand */
	bool has_tick;
	char *facts[FACTS_MAX];
	size_t n_facts;
	uint64_t lost;
	int32_t max_pid;
};

static uint64_t time_of(const struct sink *s, uint64_t tick)
{
	return clock_ns(&s->source->info.clock, tick) / BOOTCHART_TIME_NS;
}

static uint64_t hundredths(uint64_t ns)
{
	return ns / BOOTCHART_TIME_NS;
}

/* --- blocks --- */

static void write_stat(struct sink *s, uint64_t time)
{
	FILE *f = s->logs[BOOTCHART_STAT];
	uint64_t sum[8] = { 0 };
	const struct trace_clock *c = &s->source->info.clock;
	size_t i, k;

	for (i = 0; i < s->n_cpus; i++)
		for (k = 0; k < 8; k++)
			sum[k] += s->cpus[i][k];
	fprintf(f, "%" PRIu64 "\ncpu ", time);
	for (k = 0; k < 8; k++)
		fprintf(f, " %" PRIu64, hundredths(sum[k]));
	fputs(" 0 0\n", f);
	for (i = 0; i < s->n_cpus; i++) {
		fprintf(f, "cpu%zu", i);
		for (k = 0; k < 8; k++)
			fprintf(f, " %" PRIu64, hundredths(s->cpus[i][k]));
		fputs(" 0 0\n", f);
	}
	fprintf(f, "ctxt %" PRIu64 "\n", s->pass[BOOT_PASS_SWITCHES]);
	if (c->has_realtime && c->realtime_off_ns > 0)
		fprintf(f, "btime %" PRId64 "\n", c->realtime_off_ns / SECOND_NS);
	fprintf(f,
		"processes %" PRIu64 "\nprocs_running %" PRIu64 "\nprocs_blocked %" PRIu64 "\n\n",
		s->pass[BOOT_PASS_FORKS], s->pass[BOOT_PASS_RUNNABLE], s->pass[BOOT_PASS_BLOCKED]);
}

static void write_disks(struct sink *s, uint64_t time)
{
	FILE *f = s->logs[BOOTCHART_DISKSTATS];
	size_t i;

	fprintf(f, "%" PRIu64 "\n", time);
	for (i = 0; i < s->n_disks; i++) {
		const uint64_t *n = s->disks[i].number;

		if (!s->disks[i].is_there)
			continue;
		fprintf(f,
			"%4u %7zu %s %" PRIu64 " 0 %" PRIu64 " 0 %" PRIu64 " 0 %" PRIu64
			" 0 %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			DISK_MAJOR, i, s->disks[i].name, n[BOOT_DISK_READS],
			n[BOOT_DISK_READ_BYTES] / SECTOR, n[BOOT_DISK_WRITES],
			n[BOOT_DISK_WRITTEN_BYTES] / SECTOR, n[BOOT_DISK_IN_FLIGHT],
			n[BOOT_DISK_BUSY] / MS_NS, n[BOOT_DISK_WEIGHTED] / MS_NS);
	}
	fputc('\n', f);
}

static void write_memory(struct sink *s, uint64_t time)
{
	static const char *const names[9] = {
		[BOOT_MEMORY_TOTAL] = "MemTotal",
		[BOOT_MEMORY_FREE] = "MemFree",
		[BOOT_MEMORY_AVAILABLE] = "MemAvailable",
		[BOOT_MEMORY_BUFFERS] = "Buffers",
		[BOOT_MEMORY_CACHED] = "Cached",
		[BOOT_MEMORY_SHARED] = "Shmem",
		[BOOT_MEMORY_DIRTY] = "Dirty",
		[BOOT_MEMORY_SWAP_TOTAL] = "SwapTotal",
		[BOOT_MEMORY_SWAP_FREE] = "SwapFree",
	};
	FILE *f = s->logs[BOOTCHART_MEMINFO];
	size_t i;

	if (!s->has_memory)
		return;
	fprintf(f, "%" PRIu64 "\n", time);
	for (i = 0; i < 9; i++)
		fprintf(f, "%s: %" PRIu64 " kB\n", names[i], s->memory[i]);
	fputc('\n', f);
}

/* What the readers of bootcharts know. */
static char letter_of(char state)
{
	switch (state) {
	case 'R':
	case 'D':
	case 'Z':
	case 'T':
		return state;
	case 't':
		return 'T';
	case 'K':
		return 'D';
	case 'X':
	case 'x':
		return 'Z';
	default:
		return 'S';
	}
}

/* A row of /proc/PID/stat: what is not known is 0. */
static void write_process(struct sink *s, const struct process *p, char state)
{
	fprintf(s->logs[BOOTCHART_PS],
		"%" PRId32 " (%.16s) %c %" PRId32 " %" PRId32 " 0 0 -1 %u 0 0 %" PRIu64
		" 0 %" PRIu64 " %" PRIu64 " 0 0 20 0 %" PRIu64 " 0 %" PRIu64 " %u %u\n",
		p->pid, p->comm, state, p->parent, p->is_kernel ? 0 : p->pid,
		p->is_kernel ? 0x200000U : 0x400000U, p->faults, hundredths(p->user_ns),
		hundredths(p->system_ns), p->threads ? p->threads : 1, p->start,
		p->is_kernel ? 0 : 4096U, p->is_kernel ? 0 : 1U);
}

static void write_args(struct sink *s, const struct process *p)
{
	FILE *f = s->logs[BOOTCHART_CMDLINE];

	if (!p->args_len)
		return;
	fprintf(f, "%" PRId32 "\n:%.*s\n:", p->pid, (int)strnlen(p->args, p->args_len), p->args);
	fwrite(p->args, 1, p->args_len, f);
	if (p->args[p->args_len - 1])
		fputc(0, f);
	fputs("\n\n", f);
}

/* It has been in a block, and will be in no other. */
static void forget(struct sink *s, struct process *p)
{
	write_args(s, p);
	free(p->args);
	p->args = NULL;
	p->args_len = 0;
}

/* Everything that was there when the machine was looked at. */
static void write_block(struct sink *s)
{
	uint64_t time = time_of(s, s->tick);
	struct process *p;
	size_t i, n = 0;

	write_stat(s, time);
	write_disks(s, time);
	write_memory(s, time);
	fprintf(s->logs[BOOTCHART_PS], "%" PRIu64 "\n", time);
	for (i = 0; i < s->n_list; i++) {
		p = pidmap_get(s->processes, s->list[i]);
		if (p->start > time) { /* told of before the next look begins */
			s->list[n++] = p->pid;
			continue;
		}
		if (p->is_there || !p->is_listed)
			write_process(s, p, p->is_there ? letter_of(p->state) : 'Z');
		p->is_listed = true;
		if (p->is_there)
			s->list[n++] = p->pid;
		else
			forget(s, p);
	}
	s->n_list = n;
	fputc('\n', s->logs[BOOTCHART_PS]);
	s->has_pass = false;
}

/* --- records --- */

/* Names go into lines of words: no ends of line in them, no two blanks in a row, and no word but the last with
 * the parenthesis that ends a name. */
static void set_comm(char comm[SCHED_COMM_LEN], const char *text, size_t len)
{
	size_t i;

	sched_comm_set(comm, text, len);
	for (i = 0; i < SCHED_COMM_LEN && comm[i]; i++)
		if ((unsigned char)comm[i] < ' ' || comm[i] == 127 ||
		    (comm[i] == ' ' && (!i || comm[i - 1] == ' ')) ||
		    (comm[i] == ')' && i + 1 < SCHED_COMM_LEN && comm[i + 1] == ' '))
			comm[i] = '_';
}

static int add_process(struct sink *s, struct process *p)
{
	size_t room = s->room_list ? s->room_list * 2 : 256, i;
	int32_t *list;

	/* The pid of one that has ended, and waits to be put into a block, is given out again. */
	for (i = 0; i < s->n_list; i++)
		if (s->list[i] == p->pid)
			return 0;
	if (s->n_list == s->room_list) {
		list = realloc(s->list, room * sizeof(*list));
		if (!list)
			return -ENOMEM;
		s->list = list;
		s->room_list = room;
	}
	s->list[s->n_list++] = p->pid;
	return 0;
}

static int take_start(struct sink *s, const struct boot_event *ev)
{
	struct process *p;
	uint64_t start;

	if (ev->number[BOOT_START_GROUP] != ev->key)
		return 0; /* a thread: the format has processes only */
	p = pidmap_add(s->processes, (int32_t)ev->key);
	if (!p)
		return -ENOMEM;
	start = time_of(s, ev->number[BOOT_START_TICK]);
	if (p->is_there && p->start == start)
		return 0; /* told again */
	free(p->args);
	memset(p, 0, sizeof(*p));
	p->pid = (int32_t)ev->key;
	p->is_there = true;
	p->parent = (int32_t)ev->number[BOOT_START_PARENT];
	p->is_kernel = ev->number[BOOT_START_FLAGS] & BOOT_START_KERNEL;
	p->start = start;
	p->state = 'S';
	set_comm(p->comm, "?", 1);
	s->max_pid = p->pid > s->max_pid ? p->pid : s->max_pid;
	if (p->parent > 0)
		fprintf(s->logs[BOOTCHART_PATERNITY], "%" PRId32 " %" PRId32 "\n", p->pid,
			p->parent);
	return add_process(s, p);
}

static struct process *find_process(const struct sink *s, uint32_t pid)
{
	return pid && pid <= INT32_MAX ? pidmap_get(s->processes, (int32_t)pid) : NULL;
}

static int take_args(struct process *p, const struct boot_event *ev)
{
	char *args = malloc(ev->text_len + 1);
	uint32_t i;

	if (!args)
		return -ENOMEM;
	for (i = 0; i < ev->text_len; i++)
		args[i] = ev->text[i] == '\n' ? ' ' : ev->text[i];
	free(p->args);
	p->args = args;
	p->args_len = ev->text_len;
	return 0;
}

static void take_task(struct process *p, const struct boot_event *ev)
{
	uint64_t user = ev->number[BOOT_TASK_USER], system = ev->number[BOOT_TASK_SYSTEM];

	p->state = (char)ev->number[BOOT_TASK_STATE];
	/* The scheduler counts finer; where the kernel's times are both 0 it is all there is. */
	if (!user && !system)
		user = ev->number[BOOT_TASK_RAN];
	p->user_ns = user;
	p->system_ns = system;
	p->faults = ev->number[BOOT_TASK_FAULTS];
	p->threads = ev->number[BOOT_TASK_THREADS];
}

static int take_process(struct sink *s, const struct boot_event *ev)
{
	struct process *p = find_process(s, ev->key);

	if (!p)
		return 0;
	switch (ev->kind) {
	case BOOT_NAME:
		set_comm(p->comm, ev->text, ev->text_len);
		return 0;
	case BOOT_EXEC:
		return take_args(p, ev);
	case BOOT_TASK:
		if (p->is_there)
			take_task(p, ev);
		return 0;
	case BOOT_ACCOUNT:
		p->user_ns = ev->number[BOOT_ACCOUNT_USER];
		p->system_ns = ev->number[BOOT_ACCOUNT_SYSTEM];
		return 0;
	default: /* BOOT_EXIT */
		p->is_there = false;
		return 0;
	}
}

static void take_disk(struct sink *s, const struct boot_event *ev)
{
	struct disk *d = &s->disks[ev->key];
	size_t len = ev->text_len < sizeof(d->name) - 1 ? ev->text_len : sizeof(d->name) - 1, i;

	if (ev->kind == BOOT_DISK) {
		memcpy(d->number, ev->number, sizeof(d->number));
		d->is_there = d->name[0] != 0;
	} else {
		memset(d->name, 0, sizeof(d->name));
		memcpy(d->name, ev->text, len);
		for (i = 0; i < len; i++)
			if ((unsigned char)d->name[i] <= ' ')
				d->name[i] = '_';
	}
	if (ev->key >= s->n_disks)
		s->n_disks = ev->key + 1;
}

static int take_mark(struct sink *s, const struct boot_event *ev)
{
	uint64_t ns = clock_ns(&s->source->info.clock, ev->number[BOOT_MARK_TICK]);
	uint32_t i;

	if (ev->key == BOOT_MARK_FACT && s->n_facts < FACTS_MAX) {
		s->facts[s->n_facts] = strndup(ev->text, ev->text_len);
		return s->facts[s->n_facts++] ? 0 : -ENOMEM;
	}
	if (ev->key != BOOT_MARK_KERNEL)
		return 0;
	fprintf(s->logs[BOOTCHART_DMESG], "[%5" PRIu64 ".%06" PRIu64 "] ", ns / (uint64_t)SECOND_NS,
		ns % (uint64_t)SECOND_NS / 1000);
	for (i = 0; i < ev->text_len; i++)
		fputc(ev->text[i] == '\n' ? ' ' : ev->text[i], s->logs[BOOTCHART_DMESG]);
	fputc('\n', s->logs[BOOTCHART_DMESG]);
	return 0;
}

/* What a look at the machine consists of: the next one begins with a later tick. */
static bool is_sampled(const struct boot_event *ev)
{
	return ev->kind == BOOT_PASS || ev->kind == BOOT_TASK || ev->kind == BOOT_CPU ||
	       ev->kind == BOOT_DISK || ev->kind == BOOT_MEMORY;
}

static void take_sampled(struct sink *s, const struct boot_event *ev)
{
	if (s->has_pass && ev->tick > s->tick)
		write_block(s);
	if (!s->has_pass || ev->tick > s->tick)
		s->tick = ev->tick;
}

static int take(struct sink *s, const struct boot_event *ev)
{
	if (is_sampled(ev))
		take_sampled(s, ev);
	switch (ev->kind) {
	case BOOT_PASS:
		memcpy(s->pass, ev->number, sizeof(s->pass));
		s->has_pass = true;
		s->tick = ev->tick;
		return 0;
	case BOOT_START:
		return take_start(s, ev);
	case BOOT_NAME:
	case BOOT_EXEC:
	case BOOT_TASK:
	case BOOT_EXIT:
	case BOOT_ACCOUNT:
		return take_process(s, ev);
	case BOOT_CPU:
		if (ev->key < CPUS_MAX)
			memcpy(s->cpus[ev->key], ev->number, sizeof(s->cpus[0]));
		if (ev->key < CPUS_MAX && ev->key >= s->n_cpus)
			s->n_cpus = ev->key + 1;
		return 0;
	case BOOT_DISK:
	case BOOT_DISK_NAME:
		if (ev->key < DISKS_MAX)
			take_disk(s, ev);
		return 0;
	case BOOT_MEMORY:
		memcpy(s->memory, ev->number, sizeof(s->memory));
		s->has_memory = true;
		return 0;
	case BOOT_MARK:
		return take_mark(s, ev);
	default:
		return 0;
	}
}

/* --- the whole --- */

static const char *fact(const struct sink *s, const char *name)
{
	size_t len = strlen(name), i;

	for (i = s->n_facts; i-- > 0;)
		if (!strncmp(s->facts[i], name, len) && s->facts[i][len] == '=')
			return s->facts[i] + len + 1;
	return NULL;
}

static void write_value(const struct sink *s, const char *name, const char *value)
{
	FILE *f = s->logs[BOOTCHART_HEADER];

	if (!value || !value[0])
		return;
	fprintf(f, "%s = ", name);
	for (; *value; value++)
		fputc(*value == '\n' ? ' ' : *value, f);
	fputc('\n', f);
}

static void write_header(const struct sink *s)
{
	const struct trace_info *info = &s->source->info;
	FILE *f = s->logs[BOOTCHART_HEADER];
	time_t now =
		info->clock.has_realtime ? (time_t)(info->clock.realtime_off_ns / SECOND_NS) : 0;
	uint32_t cpus = s->n_cpus ? (uint32_t)s->n_cpus : 1;
	char text[64] = "";
	struct tm tm;

	if (gmtime_r(&now, &tm))
		strftime(text, sizeof(text), "%a %b %e %H:%M:%S UTC %Y", &tm);
	fprintf(f, "version = kiseki " KISEKI_VERSION "\n");
	fprintf(f, "title = Boot chart for %s (%s)\n", info->device[0] ? info->device : "device",
		text);
	fprintf(f, "system.uname = Linux %s %s\n", info->kernel, info->machine);
	write_value(s, "system.release", fact(s, "release"));
	fprintf(f, "system.cpu = %s (%" PRIu32 ")\n", fact(s, "cpu") ? fact(s, "cpu") : "CPU",
		cpus);
	fprintf(f, "system.cpu.num = %" PRIu32 "\n", cpus);
	write_value(s, "system.kernel.options", fact(s, "command_line"));
	write_value(s, "profile.process", fact(s, "profile_process"));
	fprintf(f, "system.maxpid = %" PRId32 "\n", s->max_pid);
	if (s->lost)
		fprintf(f, "kiseki.lost = %" PRIu64 "\n", s->lost);
}

static int read_all(struct sink *s, struct error *e)
{
	struct boot_item item;
	size_t i;
	int r;

	while ((r = s->source->ops->next(s->source, &item, e)) == 1) {
		if (item.type == ITEM_LOSS) {
			s->lost += item.loss.count == LOSS_UNKNOWN ? 1 : item.loss.count;
			continue;
		}
		r = take(s, &item.event);
		if (r < 0)
			return error_set(e, r, "cannot write the bootchart: %s", strerror(-r));
	}
	if (r < 0)
		return r;
	if (s->has_pass)
		write_block(s);
	for (i = 0; i < s->n_list; i++)
		forget(s, pidmap_get(s->processes, s->list[i]));
	write_header(s);
	return 0;
}

/* Those that the readers want are there even if they are empty. */
static bool is_wanted(const struct sink *s, unsigned int file)
{
	if (file == BOOTCHART_TASKSTATS || file == BOOTCHART_PACCT)
		return false;
	if (file == BOOTCHART_HEADER || file == BOOTCHART_STAT || file == BOOTCHART_PS ||
	    file == BOOTCHART_DISKSTATS)
		return true;
	return ftello(s->logs[file]) > 0;
}

static int write_all(const struct sink *s, FILE *f)
{
	const struct trace_clock *c = &s->source->info.clock;
	uint64_t when = c->has_realtime && c->realtime_off_ns > 0
				? (uint64_t)(c->realtime_off_ns / SECOND_NS)
				: 0;
	CLEANUP(bootchart_tar) struct bootchart_tar *t = bootchart_tar_new(f, when);
	unsigned int i;
	int r = t ? 0 : -ENOMEM;

	for (i = 0; i < BOOTCHART_FILES && r >= 0; i++) {
		if (!is_wanted(s, i))
			continue;
		if (ferror(s->logs[i]))
			return -EIO;
		r = bootchart_tar_put(t, bootchart_names[i], s->logs[i]);
	}
	if (r >= 0)
		r = bootchart_tar_finish(t);
	return r >= 0 && fflush(f) ? -errno : r;
}

static void sink_free(struct sink *s)
{
	struct process *p;
	size_t i;

	for (i = 0; i < BOOTCHART_FILES; i++)
		if (s->logs[i])
			fclose(s->logs[i]);
	for (i = 0; s->processes && i < pidmap_count(s->processes); i++) {
		p = pidmap_at(s->processes, i);
		free(p->args);
	}
	for (i = 0; i < s->n_facts; i++)
		free(s->facts[i]);
	pidmap_free(s->processes);
	free(s->list);
	free(s->cpus);
	free(s->disks);
	free(s);
}
DEFINE_CLEANUP(sink, sink_free)

static int sink_init(struct sink *s, struct boot_source *source)
{
	unsigned int i;

	s->source = source;
	s->processes = pidmap_new(sizeof(struct process));
	s->cpus = calloc(CPUS_MAX, sizeof(*s->cpus));
	s->disks = calloc(DISKS_MAX, sizeof(*s->disks));
	for (i = 0; i < BOOTCHART_FILES; i++) {
		s->logs[i] = tmpfile();
		if (!s->logs[i])
			return -errno;
	}
	return s->processes && s->cpus && s->disks ? 0 : -ENOMEM;
}

int sink_bootchart_write(FILE *f, struct boot_source *source, struct error *e)
{
	CLEANUP(sink) struct sink *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return error_set(e, ENOMEM, "cannot write the bootchart: %s", strerror(ENOMEM));
	r = sink_init(s, source);
	if (r < 0)
		return error_set(e, r, "cannot write the bootchart: %s", strerror(-r));
	r = read_all(s, e);
	if (r < 0)
		return r;
	r = write_all(s, f);
	return r < 0 ? error_set(e, r, "cannot write the bootchart: %s", strerror(-r)) : 0;
}
