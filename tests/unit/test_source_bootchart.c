/* SPDX-License-Identifier: MIT */
/*
 * source_bootchart: archives that busybox's bootchartd and bootchart2's collector have made, one as Android's init
 * makes it, and folders written by hand for what these do not have.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/boot.h"
#include "convert/bootchart_archive.h"
#include "convert/source_bootchart.h"

#define CORPUS KISEKI_TEST_DATA "/../corpus/bootchart/"
#define MS 1000000ULL

struct made {
	char folder[64];
	struct boot_source *source;
	struct boot *boot;
};

static int setup(void **state)
{
	static struct made m;

	memset(&m, 0, sizeof(m));
	strcpy(m.folder, "/tmp/kiseki-bootchart-XXXXXX");
	assert_non_null(mkdtemp(m.folder));
	*state = &m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;
	char path[128];
	size_t i;

	boot_free(m->boot);
	boot_source_free(m->source);
	for (i = 0; i < BOOTCHART_FILES; i++) {
		snprintf(path, sizeof(path), "%s/%s", m->folder, bootchart_names[i]);
		unlink(path);
	}
	rmdir(m->folder);
	return 0;
}

static void write_file(const struct made *m, const char *name, const void *data, size_t len)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", m->folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void write_text(const struct made *m, const char *name, const char *text)
{
	write_file(m, name, text, strlen(text));
}

static void open_it(struct made *m, const char *path)
{
	struct error e = ERROR_INIT;

	if (source_bootchart_open(path, &m->source, &e) < 0)
		fail_msg("%s", e.text);
}

static const struct boot *make(struct made *m, const char *path)
{
	struct error e = ERROR_INIT;

	open_it(m, path);
	assert_int_equal(boot_new(&m->boot, m->source, &e), 0);
	return m->boot;
}

/* The n-th record of that kind and key. */
static struct boot_event record(struct made *m, enum boot_kind kind, uint32_t key, size_t n)
{
	struct boot_item item;
	struct error e = ERROR_INIT;

	assert_int_equal(m->source->ops->rewind(m->source, &e), 0);
	while (m->source->ops->next(m->source, &item, &e) == 1)
		if (item.event.kind == kind && item.event.key == key && !n--)
			return item.event;
	fail_msg("no record %d of %u", kind, key);
	return item.event;
}

static size_t count(struct made *m, enum boot_kind kind)
{
	struct boot_item item;
	struct error e = ERROR_INIT;
	size_t n = 0;

	assert_int_equal(m->source->ops->rewind(m->source, &e), 0);
	while (m->source->ops->next(m->source, &item, &e) == 1)
		n += item.event.kind == kind;
	return n;
}

static bool has_mark(struct made *m, enum boot_mark_type type, const char *part)
{
	struct boot_item item;
	struct error e = ERROR_INIT;

	assert_int_equal(m->source->ops->rewind(m->source, &e), 0);
	while (m->source->ops->next(m->source, &item, &e) == 1)
		if (item.event.kind == BOOT_MARK && item.event.key == type &&
		    memmem(item.event.text, item.event.text_len, part, strlen(part)))
			return true;
	return false;
}

static bool says(const struct boot_event *ev, const char *text)
{
	return ev->text_len == strlen(text) && !memcmp(ev->text, text, ev->text_len);
}

static const struct boot_process *find(const struct boot *b, int32_t pid, size_t n)
{
	size_t i;

	for (i = 0; i < b->n_processes; i++)
		if (b->processes[i].pid == pid && !n--)
			return &b->processes[i];
	fail_msg("no process %d", pid);
	return NULL;
}

static void android(void **state)
{
	struct made *m = *state;
	struct boot_event ev;
	const struct boot_process *p;

	make(m, CORPUS "android.tgz");
	assert_string_equal(m->boot->device, "Android");
	assert_string_equal(m->boot->kernel, "4.9.112");
	assert_string_equal(m->boot->machine, "armv7l");
	assert_string_equal(m->boot->origin, "bootchart Android init 0.8");
	assert_string_equal(m->boot->release, "board/eng:9/userdebug");
	assert_string_equal(m->boot->command_line, "console=ttyS0 androidboot.hardware=board");
	assert_int_equal(m->boot->interval_ns, 200 * MS);
	assert_int_equal(m->boot->realtime_ns / 1000000000, 1700000000);
	assert_int_equal(m->boot->cpus, 1);
	assert_int_equal(m->boot->n_processes, 3);
	assert_true(find(m->boot, 2, 0)->is_kernel);
	assert_false(find(m->boot, 1, 0)->is_kernel);
	p = find(m->boot, 90, 0);
	assert_int_equal(p->from_ns, 3100 * MS);  /* it was there, */
	assert_int_equal(p->before_ns, 100 * MS); /* since 3.00 s */
	assert_false(p->is_alive);
	assert_string_equal(boot_process_name(p)->comm, "zygote");
	ev = record(m, BOOT_NAME, 90, 0);
	assert_true(says(&ev, "a name (with) s"));
	ev = record(m, BOOT_EXEC, 90, 0);
	assert_true(says(&ev, "/system/bin/a name (with) spaces"));
	ev = record(m, BOOT_TASK, 90, 0);
	assert_int_equal(ev.tick, 3100 * MS);
	assert_int_equal(ev.number[BOOT_TASK_STATE], 'D');
	assert_int_equal(ev.number[BOOT_TASK_USER], 10 * MS);
	assert_int_equal(ev.number[BOOT_TASK_SYSTEM], 20 * MS);
	assert_int_equal(ev.number[BOOT_TASK_FAULTS], 3);
	assert_int_equal(ev.number[BOOT_TASK_THREADS], 4);
	ev = record(m, BOOT_TASK, 90, 1);
	assert_int_equal(ev.tick, 3300 * MS);
	assert_int_equal(ev.number[BOOT_TASK_USER], 90 * MS);
	ev = record(m, BOOT_EXIT, 90, 0);
	assert_int_equal(ev.tick, 3500 * MS);
	assert_int_equal(ev.number[BOOT_EXIT_HOW], BOOT_BY_SAMPLE);
	ev = record(m, BOOT_CPU, 0, 1);
	assert_int_equal(ev.number[BOOT_CPU_USER], 180 * MS);
	assert_int_equal(ev.number[BOOT_CPU_IOWAIT], 60 * MS);
	ev = record(m, BOOT_DISK, 0, 1);
	assert_int_equal(ev.number[BOOT_DISK_READ_BYTES], 4896 * 512);
	assert_int_equal(ev.number[BOOT_DISK_BUSY], 160 * MS);
	assert_int_equal(ev.number[BOOT_DISK_IN_FLIGHT], 1);
	ev = record(m, BOOT_PASS, 0, 1);
	assert_int_equal(ev.number[BOOT_PASS_TASKS], 3);
	assert_int_equal(ev.number[BOOT_PASS_SWITCHES], 700);
	assert_int_equal(ev.number[BOOT_PASS_RUNNABLE], 2);
	assert_int_equal(ev.number[BOOT_PASS_FORKS], 95);
	/* What did not change is not said again: process 1 once, the partition once. */
	assert_int_equal(count(m, BOOT_TASK), 4);
	assert_int_equal(count(m, BOOT_DISK), 3);
}

/* By busybox, with the kernel's process accounting. */
static void busybox(void **state)
{
	struct made *m = *state;
	struct boot_event ev;
	const struct boot_process *p;

	make(m, CORPUS "busybox.tgz");
	assert_string_equal(m->boot->device, "board");
	assert_string_equal(m->boot->origin, "bootchart 0.8");
	assert_in_range(m->boot->interval_ns, 190 * MS, 230 * MS);
	assert_int_equal(m->boot->cpus, 2);
	assert_false(m->boot->is_cut);
	assert_true(has_mark(m, BOOT_MARK_MISSING, "known by number only"));
	p = find(m->boot, 5, 0); /* it ended, and the kernel has counted */
	assert_true(p->account.is_complete);
	assert_int_equal(p->account.user_ns + p->account.system_ns, 150 * MS);
	assert_int_equal(p->parent_pid, 4);
	ev = record(m, BOOT_EXIT, 5, 0);
	assert_int_equal(ev.number[BOOT_EXIT_CODE], 0);
	assert_true(m->boot->n_points > 3);
	assert_true(m->boot->n_disks > 0);
}

/* By bootchart2's collector: taskstats, memory, arguments, kernel messages. */
static void bootchart2(void **state)
{
	struct made *m = *state;
	struct boot_event ev;

	make(m, CORPUS "bootchart2.tgz");
	assert_string_equal(m->boot->origin, "bootchart 0.14.9");
	assert_string_equal(m->boot->device, "board");
	ev = record(m, BOOT_EXEC, 4, 0);
	assert_int_equal(ev.text_len, sizeof("/bin/sh\0./rcS"));
	assert_memory_equal(ev.text, "/bin/sh\0./rcS", ev.text_len);
	assert_string_equal(boot_process_name(find(m->boot, 4, 0))->args, "/bin/sh ./rcS");
	assert_true(has_mark(m, BOOT_MARK_KERNEL, "Run /sbin/init as init process"));
	ev = record(m, BOOT_MARK, BOOT_MARK_KERNEL, 5);
	assert_int_equal(ev.number[BOOT_MARK_TICK], 734881000);
	assert_true(has_mark(m, BOOT_MARK_MISSING, "taskstats.log"));
	assert_true(count(m, BOOT_MEMORY) > 10);
	/* A shell that counts: it runs, then it is not told of any more. */
	assert_true(find(m->boot, 5, 0)->state_ns[BOOT_RUNNING] > 50 * MS);
	assert_true(find(m->boot, 5, 0)->state_ns[BOOT_UNKNOWN] > 0);
}

static void names_and_ends_of_tar(void **state)
{
	static const char *const names[] = { "long-gnu.tgz", "long-pax.tgz", "small.tar" };
	struct made *m = *state;
	char path[256];
	size_t i;

	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), CORPUS "%s", names[i]);
		open_it(m, path);
		assert_false(m->source->is_cut);
		assert_true(count(m, BOOT_PASS) > 1);
		boot_source_free(m->source);
		m->source = NULL;
	}
	make(m, CORPUS "cut.tgz");
	assert_true(m->source->is_cut);
	assert_true(m->boot->is_cut);
	assert_true(has_mark(m, BOOT_MARK_MISSING, "ends too early"));
}

#define ROW(pid, comm, state, parent, user, start)                                                 \
#pid " (" comm ") " state " " #parent " 0 0 0 -1 4194560 0 0 0 0 " #user                   \
	     " 0 0 0 20 0 1 0 " #start " 4096 1\n"

static void a_pid_twice_and_a_cut_block(void **state)
{
	struct made *m = *state;
	const struct boot_process *p;

	write_text(m, "proc_ps.log",
		   "100\n" ROW(1, "init", "S", 0, 5, 10) ROW(
			   7, "first", "R", 1, 1,
			   90) "\n"
			       "120\n" ROW(1, "init", "S", 0, 5, 10) ROW(
				       7, "second", "R", 1, 1,
				       110) "\n"
					    "140\n" ROW(1, "init", "S", 0, 5, 10) ROW(
						    7, "second",
						    "R",
						    1, 8,
						    110) "\n"
							 "garbage\n\n"
							 "160\n1 (init) S 0 0"); /* the machine was switched off */
	make(m, m->folder);
	p = find(m->boot, 7, 0);
	assert_string_equal(boot_process_name(p)->comm, "first");
	assert_false(p->is_alive);
	p = find(m->boot, 7, 1);
	assert_string_equal(boot_process_name(p)->comm, "second");
	assert_false(p->is_kernel);
	assert_int_equal(p->from_ns, 1100 * MS);
	assert_true(p->is_alive); /* the last block was not whole */
	assert_true(has_mark(m, BOOT_MARK_MISSING, "2 lines"));
}

/* Times that count from the collector's start, with starts that count from the kernel's. */
static void relative_times(void **state)
{
	struct made *m = *state;
	struct boot_event ev;

	write_text(m, "proc_ps.log",
		   "0\n" ROW(1, "init", "S", 0, 5,
			     9000) "\n"
				   "20\n" ROW(1, "init", "S", 0, 5, 9000)
					   ROW(9, "late", "R", 1, 0,
					       9015) "\n"
						     "40\n" ROW(1, "init", "S", 0, 5, 9000)
							     ROW(9, "late", "R", 1, 9, 9015) "\n");
	make(m, m->folder);
	ev = record(m, BOOT_START, 9, 0);
	assert_int_equal(ev.number[BOOT_START_HOW], BOOT_BY_SAMPLE);
	assert_int_equal(ev.number[BOOT_START_TICK], 200 * MS);
	assert_true(find(m->boot, 9, 0)->from_ns <= 200 * MS);
}

static void who_started_whom(void **state)
{
	struct made *m = *state;
	static const char args[] = "8\n:/usr/bin/daemon\n:daemon\0-x\0\n\n11\n:/bin/true\n:\n\n";
	struct boot_event ev;

	write_text(m, "proc_ps.log",
		   "100\n" ROW(1, "init", "S", 0, 5, 10)
			   ROW(7, "rcS", "S", 1, 1,
			       90) "\n"
				   "120\n" ROW(1, "init", "S", 0, 5, 10) ROW(7, "rcS", "S", 1, 1,
									     90)
					   ROW(8, "daemon", "S", 1, 1,
					       110) "\n"
						    "140\n" ROW(1, "init", "S", 0, 5, 10)
							    ROW(8, "daemon", "S", 1, 1, 110) "\n");
	/* 8 was started by 9, which lived too short to be seen, and that by 7. */
	write_text(m, "paternity.log", "7 1\n9 7\n8 7\nodd\n11 8\n");
	write_file(m, "cmdline2.log", args, sizeof(args) - 1);
	make(m, m->folder);
	assert_int_equal(find(m->boot, 8, 0)->parent_pid, 7);
	assert_int_equal(find(m->boot, 8, 0)->depth, 2);
	assert_string_equal(boot_process_name(find(m->boot, 8, 0))->args, "daemon -x");
	ev = record(m, BOOT_START, 7, 0);
	assert_int_equal(ev.number[BOOT_START_HOW], BOOT_BY_PROC);
	assert_true(has_mark(m, BOOT_MARK_MISSING, "2 processes"));
}

static void what_is_none(void **state)
{
	struct made *m = *state;
	struct error e = ERROR_INIT;

	assert_int_equal(source_bootchart_open(CORPUS "garbage", &m->source, &e), -ENODATA);
	assert_non_null(strstr(e.text, "it is no archive of a bootchart"));
	assert_int_equal(source_bootchart_open(m->folder, &m->source, &e), -ENODATA);
	assert_non_null(strstr(e.text, "it is no folder of a bootchart"));
	assert_int_equal(source_bootchart_open("/does/not/exist", &m->source, &e), -ENOENT);
	assert_null(m->source);
}

/* Files of any length are read; one that cannot be is named. */
static void files_of_a_folder(void **state)
{
	struct made *m = *state;
	struct error e = ERROR_INIT;
	char path[128], text[4097];

	memset(text, '\n', sizeof(text));
	memcpy(text, "100\ncpu0 1 2 3 4 5 6 7\n", 23);
	text[4096] = 0;
	write_text(m, "proc_stat.log", text);
	open_it(m, m->folder);
	assert_int_equal(count(m, BOOT_CPU), 1);
	boot_source_free(m->source);
	m->source = NULL;
	snprintf(path, sizeof(path), "%s/taskstats.log", m->folder);
	assert_int_equal(symlink("taskstats.log", path), 0);
	assert_int_equal(source_bootchart_open(m->folder, &m->source, &e), -ELOOP);
	assert_non_null(strstr(e.text, "taskstats.log: "));
	unlink(path);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(source_bootchart_open(m->folder, &m->source, &e), -EISDIR);
	assert_int_equal(rmdir(path), 0);
	assert_null(m->source);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(android),
		T(busybox),
		T(bootchart2),
		T(names_and_ends_of_tar),
		T(a_pid_twice_and_a_cut_block),
		T(relative_times),
		T(who_started_whom),
		T(what_is_none),
		T(files_of_a_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
