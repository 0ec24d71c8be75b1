/* SPDX-License-Identifier: MIT */
/*
 * What the running kernel prints in its trace file and what ftrace_line prints for the same events,
 * taken raw from the ring buffer, are the same bytes; and so is the whole file after an import.
 *
 * Needs root and tracefs, and is skipped (77) where there is none. It records in an instance of its
 * own, so other users of the tracer are not disturbed. Only the names in the task column come from
 * the text itself: the kernel looks them up while it prints, and another tracer may make it forget
 * one at any time.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "convert/ftrace_line.h"
#include "convert/import.h"
#include "convert/sink.h"

#define TRACEFS "/sys/kernel/tracing"
#define TEXT_MAX (8U << 20)
#define EVENTS_MAX 100000U
#define FIELDS_MAX 8
#define SUBBUF_MAX 65536U

struct field {
	uint32_t offset;
	uint32_t size;
};

/* Where each kind has its fields, in the order of field_names. */
struct layout {
	uint32_t id;
	struct field fields[FIELDS_MAX];
};

static const struct {
	const char *path;
	const char *names[FIELDS_MAX];
} kinds[SCHED_KINDS] = {
	[SCHED_SWITCH] = { "sched/sched_switch",
			   { "prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm",
			     "next_pid", "next_prio" } },
	[SCHED_WAKING] = { "sched/sched_waking", { "comm", "pid", "prio", "target_cpu" } },
	[SCHED_WAKEUP] = { "sched/sched_wakeup", { "comm", "pid", "prio", "target_cpu" } },
	[SCHED_WAKEUP_NEW] = { "sched/sched_wakeup_new", { "comm", "pid", "prio", "target_cpu" } },
	[SCHED_FORK] = { "sched/sched_process_fork",
			 { "parent_comm", "parent_pid", "child_comm", "child_pid" } },
	[SCHED_EXEC] = { "sched/sched_process_exec", { "filename", "pid", "old_pid" } },
	[SCHED_EXIT] = { "sched/sched_process_exit", { "comm", "pid", "prio", "group_dead" } },
	[SCHED_RENAME] = { "task/task_rename", { "pid", "oldcomm", "newcomm", "oom_score_adj" } },
	[SCHED_SETPRIO] = { "sched/sched_pi_setprio", { "comm", "pid", "oldprio", "newprio" } },
};

static char instance[128];
static struct layout layouts[SCHED_KINDS];
static struct field commit_field, data_field;
static char text[TEXT_MAX];
static size_t text_len;
static struct trace_item *events;
static size_t n_events;

static bool write_file(const char *name, const char *value)
{
	char path[512];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", instance, name);
	fd = open(path, O_WRONLY);
	if (fd >= 0) {
		n = write(fd, value, strlen(value));
		close(fd);
	}
	return n == (ssize_t)strlen(value);
}

static size_t read_file(const char *path, char *buf, size_t room)
{
	size_t len = 0;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_NONBLOCK);

	if (fd < 0)
		return 0;
	while (len < room - 1 && (n = read(fd, buf + len, room - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	buf[len] = 0;
	return len;
}

/* "field:type name; offset:8; size:4;" or "field:char name[16]; …" */
static bool find_field(const char *format, const char *name, struct field *ret)
{
	const char *p = format, *end;
	size_t len = strlen(name);

	while ((p = strstr(p, "field:"))) {
		end = strchr(p, ';');
		if (!end)
			return false;
		while (end[-1] == ']')
			while (*--end != '[')
				;
		if (end[-1 - (int)len] == ' ' && !memcmp(end - len, name, len)) {
			p = strstr(end, "offset:");
			return p && sscanf(p, "offset:%u; size:%u;", &ret->offset, &ret->size) == 2;
		}
		p = end;
	}
	return false;
}

static bool read_layouts(void)
{
	char path[512], format[8192];
	int k, i;

	snprintf(path, sizeof(path), "%s/events/header_page", TRACEFS);
	if (!read_file(path, format, sizeof(format)) ||
	    !find_field(format, "commit", &commit_field) ||
	    !find_field(format, "data", &data_field))
		return false;
	for (k = 0; k < SCHED_KINDS; k++) {
		snprintf(path, sizeof(path), "%s/events/%s/format", TRACEFS, kinds[k].path);
		if (!read_file(path, format, sizeof(format)) ||
		    sscanf(strstr(format, "ID:"), "ID: %u", &layouts[k].id) != 1)
			return false;
		for (i = 0; i < FIELDS_MAX && kinds[k].names[i]; i++)
			find_field(format, kinds[k].names[i], &layouts[k].fields[i]);
	}
	return true;
}

static int64_t get_int(const uint8_t *record, const struct field *f)
{
	int64_t v8;
	int32_t v4;
	int16_t v2;

	switch (f->size) {
	case 8:
		memcpy(&v8, record + f->offset, 8);
		return v8;
	case 4:
		memcpy(&v4, record + f->offset, 4);
		return v4;
	case 2:
		memcpy(&v2, record + f->offset, 2);
		return v2;
	case 1:
		return record[f->offset];
	default:
		return 0;
	}
}

/* char[16], or a __data_loc: 16 bits of offset, 16 bits of length. */
static const char *get_string(const uint8_t *record, const struct field *f)
{
	if (f->size == 4)
		return (const char *)record + (get_int(record, f) & 0xffff);
	return (const char *)record + f->offset;
}

static void get_task(struct sched_task *t, const uint8_t *record, const struct field *f)
{
	const char *comm = get_string(record, &f[0]);

	sched_comm_set(t->comm, comm, strnlen(comm, SCHED_COMM_LEN));
	t->pid = (int32_t)get_int(record, &f[1]);
	t->prio = (int32_t)get_int(record, &f[2]);
}

static void get_fields(struct sched_event *e, const uint8_t *record)
{
	const struct field *f = layouts[e->kind].fields;

	switch (e->kind) {
	case SCHED_SWITCH:
		get_task(&e->task, record, f);
		e->state = (uint64_t)get_int(record, &f[3]);
		get_task(&e->other, record, f + 4);
		break;
	case SCHED_FORK:
		get_task(&e->task, record, (struct field[]){ f[0], f[1], { 0, 0 } });
		get_task(&e->other, record, (struct field[]){ f[2], f[3], { 0, 0 } });
		break;
	case SCHED_EXEC:
		e->filename = strdup(get_string(record, &f[0]));
		e->filename_len = (uint16_t)strlen(e->filename);
		e->task.pid = (int32_t)get_int(record, &f[1]);
		e->value = (int32_t)get_int(record, &f[2]);
		break;
	case SCHED_RENAME:
		get_task(&e->task, record, (struct field[]){ f[1], f[0], { 0, 0 } });
		get_task(&e->other, record, (struct field[]){ f[2], { 0, 0 }, { 0, 0 } });
		e->value = (int32_t)get_int(record, &f[3]);
		break;
	case SCHED_SETPRIO:
		get_task(&e->task, record, f);
		e->other.prio = (int32_t)get_int(record, &f[3]);
		break;
	default: /* wakeups and exit */
		get_task(&e->task, record, f);
		if (e->kind == SCHED_EXIT)
			e->extra = (uint8_t)get_int(record, &f[3]);
		else
			e->value = (int32_t)get_int(record, &f[3]);
	}
}

/* common_type u16, common_flags u8, common_preempt_count u8, common_pid i32 */
static void add_event(const uint8_t *record, uint32_t cpu, uint64_t ns)
{
	struct trace_item *item = &events[n_events];
	uint16_t id;
	int k;

	memcpy(&id, record, 2);
	for (k = 0; k < SCHED_KINDS && layouts[k].id != id; k++)
		;
	assert_true(k < SCHED_KINDS);
	assert_true(++n_events < EVENTS_MAX);
	memset(item, 0, sizeof(*item));
	item->cpu = cpu;
	item->event.kind = (uint8_t)k;
	item->event.tick = ns;
	item->event.flags = record[2];
	item->event.preempt_count = record[3];
	memcpy(&item->event.pid, record + 4, 4);
	get_fields(&item->event, record);
}

static void parse_page(const uint8_t *page, uint32_t cpu)
{
	const uint8_t *p = page + data_field.offset, *end;
	uint32_t head, type, extra;
	uint64_t ns, delta;

	memcpy(&ns, page, 8);
	end = p + (get_int(page, &commit_field) & 0xfffff);
	while (p + 4 <= end) {
		memcpy(&head, p, 4);
		extra = 0;
		if (p + 8 <= end)
			memcpy(&extra, p + 4, 4);
		type = head & 31;
		delta = head >> 5;
		p += 4;
		if (type == 29) { /* padding */
			p += extra;
		} else if (type >= 30) { /* 27 + 32 bits of time, added or absolute */
			delta += (uint64_t)extra << 27;
			ns = type == 30 ? ns + delta : (ns & ~((1ULL << 59) - 1)) | delta;
			p += 4;
		} else {
			ns += delta;
			add_event(p + (type ? 0 : 4), cpu, ns);
			p += type ? type * 4 : extra;
		}
	}
}

static void read_raw(uint32_t cpus)
{
	static uint8_t page[SUBBUF_MAX];
	char path[512], size[32];
	size_t len = (size_t)sysconf(_SC_PAGESIZE);
	uint32_t cpu;
	int fd;

	snprintf(path, sizeof(path), "%s/buffer_subbuf_size_kb", instance);
	if (read_file(path, size, sizeof(size)) && atoi(size) > 0)
		len = (size_t)atoi(size) * 1024;
	assert_true(len <= sizeof(page));
	for (cpu = 0; cpu < cpus; cpu++) {
		snprintf(path, sizeof(path), "%s/per_cpu/cpu%u/trace_pipe_raw", instance, cpu);
		fd = open(path, O_RDONLY | O_NONBLOCK);
		assert_true(fd >= 0);
		memset(page, 0, sizeof(page));
		while (read(fd, page, len) > 0)
			parse_page(page, cpu);
		close(fd);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct trace_item *x = a, *y = b;

	if (x->event.tick != y->event.tick)
		return x->event.tick < y->event.tick ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x < y ? -1 : 1;
}

static void workload(void)
{
	int status;

	status = system("for i in 1 2 3; do ls / >/dev/null; (sleep 0.01 & wait); done");
	assert_int_equal(status, 0);
}

static void record(bool tgid)
{
	char path[512];
	int k;

	assert_true(write_file("options/record-tgid", tgid ? "1" : "0"));
	for (k = 0; k < SCHED_KINDS; k++) {
		snprintf(path, sizeof(path), "events/%s/enable", kinds[k].path);
		assert_true(write_file(path, "1"));
	}
	assert_true(write_file("tracing_on", "1"));
	workload();
	assert_true(write_file("tracing_on", "0"));
	snprintf(path, sizeof(path), "%s/trace", instance);
	text_len = read_file(path, text, sizeof(text));
	assert_true(text_len > 1000);
	for (k = 0; k < SCHED_KINDS; k++) {
		snprintf(path, sizeof(path), "events/%s/enable", kinds[k].path);
		assert_true(write_file(path, "0"));
	}
}

/* A busy machine may fill the ring, and a big one the test's room, before the workload is done;
 * then there is nothing to compare. */
static void skip_if_overrun(void)
{
	unsigned long entries = 0, written = 0;
	const char *p = strstr(text, "entries-written: ");

	assert_non_null(p);
	assert_int_equal(sscanf(p, "entries-written: %lu/%lu", &entries, &written), 2);
	if (entries == written && entries < EVENTS_MAX && text_len < sizeof(text) - 1)
		return;
	puts("skipped: the machine is too busy");
	skip();
}

/* The line of text that starts at p equals the raw event's; returns the next line. */
static const char *check_line(struct ftrace_line *line, const char *p, const struct trace_item *raw)
{
	char buf[FTRACE_LINE_MAX + 1];
	size_t len = ftrace_line_format(line, raw, buf);

	buf[len] = 0;
	if (strncmp(p, buf, len) != 0)
		fail_msg("the kernel printed\n%.*sand not\n%s", (int)(strchr(p, '\n') + 1 - p), p,
			 buf);
	return p + len;
}

static void check_against_raw(void)
{
	static struct ftrace_line line;
	struct trace_source *source = NULL;
	struct error e = ERROR_INIT;
	struct trace_info ns_info;
	struct trace_item item;
	const char *p = text;
	size_t i;

	assert_int_equal(source_text_open(&source,
					  (struct import_bytes){ (uint8_t *)text, text_len }, &e),
			 0);
	read_raw(source->info.cpus);
	qsort(events, n_events, sizeof(*events), by_time);
	while (*p == '#')
		p = strchr(p, '\n') + 1;
	for (i = 0; i < n_events; i++) {
		assert_int_equal(source->ops->next(source, &item, &e), 1);
		ns_info = source->info; /* borrowed: with the names as of this line */
		clock_init(&ns_info.clock);
		if (!i)
			ftrace_line_init(&line, &ns_info);
		line.info = &ns_info;
		p = check_line(&line, p, &events[i]);
		free((void *)(uintptr_t)events[i].event.filename);
	}
	assert_int_equal(*p, 0);
	source_free(source);
}

static void check_round_trip(void)
{
	char path[] = "/tmp/kiseki-live-XXXXXX";
	static char again[TEXT_MAX];
	struct trace_source *source = NULL;
	struct trace_sink *sink = NULL;
	struct error e = ERROR_INIT;
	struct trace_item item;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(source_text_open(&source,
					  (struct import_bytes){ (uint8_t *)text, text_len }, &e),
			 0);
	assert_int_equal(sink_ftrace_new(&sink, path, &e), 0);
	assert_int_equal(sink->ops->begin(sink, &source->info, &e), 0);
	while (source->ops->next(source, &item, &e) > 0)
		assert_int_equal(sink->ops->item(sink, &item, &e), 0);
	assert_int_equal(sink->ops->end(sink, &e), 0);
	assert_int_equal(read_file(path, again, sizeof(again)), text_len);
	assert_memory_equal(again, text, text_len);
	unlink(path);
	sink_free(sink);
	source_free(source);
}

static int make_instance(void **state)
{
	(void)state;
	snprintf(instance, sizeof(instance), TRACEFS "/instances/kiseki-test-%d", (int)getpid());
	n_events = 0;
	return mkdir(instance, 0700);
}

static int remove_instance(void **state)
{
	(void)state;
	return rmdir(instance);
}

static void plain_lines_are_the_kernels(void **state)
{
	(void)state;
	record(false);
	skip_if_overrun();
	check_round_trip();
	check_against_raw();
}

static void lines_with_tgid_are_the_kernels(void **state)
{
	(void)state;
	record(true);
	skip_if_overrun();
	check_round_trip();
	check_against_raw();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(plain_lines_are_the_kernels, make_instance,
						remove_instance),
		cmocka_unit_test_setup_teardown(lines_with_tgid_are_the_kernels, make_instance,
						remove_instance),
	};
	int r;

	if (geteuid() != 0 || access(TRACEFS "/instances", W_OK) < 0 || !read_layouts()) {
		puts("skipped: needs root and tracefs with the sched events at " TRACEFS);
		return 77;
	}
	events = calloc(EVENTS_MAX, sizeof(*events));
	if (!events)
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	free(events);
	return r;
}
