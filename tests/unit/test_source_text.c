/* SPDX-License-Identifier: MIT */
/*
 * source_text: the kernel's own trace files come back byte by byte, names of every kind are parsed
 * right, losses and damage are told, and nonsense is refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "convert/import.h"
#include "convert/sink.h"
#include "convert/text_lines.h"

#define EVENTS_MAX 64

static struct trace_source *source;
static struct trace_item items[EVENTS_MAX];
static char filename[4096];
static struct error error;

static int teardown(void **state)
{
	(void)state;
	source_free(source);
	source = NULL;
	return 0;
}

static int open_text(const char *text)
{
	error.text[0] = 0;
	return source_text_open(&source,
				(struct import_bytes){ (const uint8_t *)text, strlen(text) },
				&error);
}

/* All items; the number of them, or what next() failed with. */
static int read_items(void)
{
	int n = 0, r;

	while ((r = source->ops->next(source, &items[n], &error)) > 0) {
		if (items[n].event.filename)
			memcpy(filename, items[n].event.filename, items[n].event.filename_len);
		assert_true(++n < EVENTS_MAX);
	}
	assert_int_equal(source->ops->next(source, &items[EVENTS_MAX - 1], NULL), r);
	return r < 0 ? r : n;
}

static int parse(const char *text)
{
	assert_int_equal(open_text(text), 0);
	return read_items();
}

static void check_task(const struct sched_task *t, int32_t pid, int32_t prio, const char *comm)
{
	char expected[SCHED_COMM_LEN];

	sched_comm_set(expected, comm, strlen(comm));
	assert_int_equal(t->pid, pid);
	assert_int_equal(t->prio, prio);
	assert_memory_equal(t->comm, expected, SCHED_COMM_LEN);
}

static char *read_file(const char *path, size_t *ret_len)
{
	char *data = malloc(1 << 20);
	FILE *f = fopen(path, "rb");

	if (!f)
		fail_msg("cannot read %s", path);
	*ret_len = fread(data, 1, 1 << 20, f);
	assert_true(*ret_len > 0 && *ret_len < 1 << 20);
	fclose(f);
	return data;
}

static void print_again(const char *path)
{
	struct trace_sink *sink = NULL;
	struct trace_item item;

	assert_int_equal(sink_ftrace_new(&sink, path, &error), 0);
	assert_int_equal(sink->ops->begin(sink, &source->info, &error), 0);
	while (source->ops->next(source, &item, &error) > 0)
		assert_int_equal(sink->ops->item(sink, &item, &error), 0);
	assert_int_equal(sink->ops->end(sink, &error), 0);
	sink_free(sink);
}

static void check_round_trip(const char *name)
{
	_cleanup_free_ char *original = NULL, *again = NULL;
	char path[] = "/tmp/kiseki-test-XXXXXX", in[512];
	size_t len, again_len, pass;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	snprintf(in, sizeof(in), "%s/%s", KISEKI_TEST_DATA, name);
	original = read_file(in, &len);
	assert_int_equal(source_text_open(&source,
					  (struct import_bytes){ (uint8_t *)original, len },
					  &error),
			 0);
	for (pass = 0; pass < 2; pass++) {
		print_again(path);
		again = read_file(path, &again_len);
		assert_int_equal(again_len, len);
		assert_memory_equal(again, original, len);
		free(take_ptr(again));
		assert_int_equal(source->ops->rewind(source, &error), 0);
	}
	unlink(path);
	source_free(take_ptr(source));
}

static void kernel_files_come_back_byte_by_byte(void **state)
{
	(void)state;
	check_round_trip("ftrace_6.18.txt");
	check_round_trip("ftrace_6.18_tgid.txt");
	check_round_trip("ftrace_6.18_overwritten.txt");
	check_round_trip("ftrace_6.18_no_irq_info.txt");
	check_round_trip("ftrace_4.19.txt");
	check_round_trip("ftrace_3.0.txt");
}

static void a_switch_has_all_its_fields(void **state)
{
	(void)state;
	assert_int_equal(
		parse("            make-42      [003] DNh21   797.027594: sched_switch: "
		      "prev_comm=bash "
		      "prev_pid=41 prev_prio=120 prev_state=D|P+ ==> next_comm=x next_pid=7 "
		      "next_prio=-1\n"),
		1);
	assert_int_equal(items[0].type, ITEM_EVENT);
	assert_int_equal(items[0].cpu, 3);
	assert_int_equal(items[0].event.kind, SCHED_SWITCH);
	assert_int_equal(items[0].event.tick, 797027594);
	assert_int_equal(items[0].event.pid, 42);
	assert_int_equal(items[0].event.flags, 0x81 | 0x24 | 0x08);
	assert_int_equal(items[0].event.preempt_count, 0x12);
	assert_int_equal(items[0].event.state, 0x142);
	check_task(&items[0].event.task, 41, 120, "bash");
	check_task(&items[0].event.other, 7, -1, "x");
	assert_int_equal(clock_event_ns(&source->info.clock, &items[0].event), 797027594000);
	assert_int_equal(source->info.cpus, 4);
	assert_int_equal(source->info.clock.print_digits, 6);
	assert_string_equal(info_get_task(&source->info, 42)->comm, "make");
	assert_null(info_get_task(&source->info, 41));
}

#define HEAD "            make-42      [000] .....   797.000001: "

static void names_may_hold_anything(void **state)
{
	(void)state;
	assert_int_equal(
		parse(HEAD
		      "sched_switch: prev_comm=a prev_pid=1 x prev_pid=5 prev_prio=1 "
		      "prev_state=S ==> next_comm= next_pid=9 next_pid=6 next_prio=2\n" HEAD
		      "sched_waking: comm=a pid=1 prio=2 pid=7 prio=3 target_cpu=001\n" HEAD
		      "sched_process_exit: comm=a pid=1 prio=2 pid=8 prio=3 group_dead=true\n" HEAD
		      "sched_process_fork: comm=a pid=1 child pid=9 child_comm= child_pid=3 "
		      "child_pid=10\n" HEAD
		      "task_rename: pid=11 oldcomm=a newcomm=b newcomm=] => oom_score_adj=-5\n" HEAD
		      "sched_process_exec: filename=/a pid=1 old_pid=2 b pid=12 old_pid=13\n" HEAD
		      "sched_pi_setprio: comm=a pid=1 oldpri pid=14 oldprio=1 newprio=2\n"
		      " x-9 [00] y: a:-15      [001] .....   797.000001: sched_waking: "
		      "comm= pid=16 prio=1 target_cpu=000\n"),
		8);
	check_task(&items[0].event.task, 5, 1, "a prev_pid=1 x");
	check_task(&items[0].event.other, 6, 2, " next_pid=9");
	check_task(&items[1].event.task, 7, 3, "a pid=1 prio=2");
	check_task(&items[2].event.task, 8, 3, "a pid=1 prio=2");
	assert_int_equal(items[2].event.extra, 1);
	check_task(&items[3].event.task, 9, 0, "a pid=1 child");
	check_task(&items[3].event.other, 10, 0, " child_pid=3");
	check_task(&items[4].event.task, 11, 0, "a");
	check_task(&items[4].event.other, 0, 0, "b newcomm=] =>");
	assert_int_equal(items[4].event.value, -5);
	assert_int_equal(items[5].event.filename_len, 20);
	assert_memory_equal(filename, "/a pid=1 old_pid=2 b", 20);
	check_task(&items[6].event.task, 14, 1, "a pid=1 oldpri");
	check_task(&items[7].event.task, 16, 1, "");
	assert_int_equal(items[7].event.pid, 15);
	assert_int_equal(items[7].cpu, 1);
}

static void trace_cmd_report_is_read(void **state)
{
	(void)state;
	assert_int_equal(
		parse("cpus=8\n"
		      "   rs:main Q:Reg-238   [003] 162534.217607000: sched_switch:         "
		      "a:1 [2] x:161 [120] R ==> rs:main Q:Reg:238 [-1]\n"
		      "          <idle>-0     [001]   797.000001234: sched_wakeup:         "
		      "a b:9 [120] success=1 CPU:005\n"
		      "CPU:2 [9 EVENTS DROPPED]\n"
		      "          <idle>-0     [001]   797.000001235: sched_switch:         "
		      "swapper/1:0 [120] W ==> a:1 [120]\n"
		      "CPU:3 [EVENTS DROPPED]\n"),
		5);
	check_task(&items[0].event.task, 161, 120, "a:1 [2] x");
	check_task(&items[0].event.other, 238, -1, "rs:main Q:Reg");
	assert_int_equal(items[0].event.tick, 162534217607000);
	check_task(&items[1].event.task, 9, 120, "a b");
	assert_int_equal(items[1].event.value, 5);
	assert_int_equal(items[1].event.extra, 1);
	assert_int_equal(items[2].type, ITEM_LOSS);
	assert_int_equal(items[2].loss.count, 9);
	assert_int_equal(items[3].event.state, 0x80);
	assert_true(items[4].loss.count == LOSS_UNKNOWN);
	assert_int_equal(source->info.cpus, 8);
	assert_int_equal(source->info.clock.print_digits, 9);
	assert_true(source->info.dialect.features & DIALECT_NO_FLAGS);
	assert_string_equal(source->info.origin, "trace-cmd report text");
}

static void raw_trace_cmd_report_is_read(void **state)
{
	(void)state;
	assert_int_equal(parse("            bash-14914 [001]   797.027593: sched_switch:          "
			       "prev_comm=bash prev_pid=1 prev_prio=2 prev_state=1024 next_comm=b "
			       "next_pid=3 "
			       "next_prio=4\n"
			       "            bash-14914 [001]   797.027593: sched_process_fork:   "
			       "parent_comm=bash parent_pid=5 child_comm=c child_pid=6\n"),
			 2);
	assert_int_equal(items[0].event.state, 1024);
	check_task(&items[1].event.task, 5, 0, "bash");
	check_task(&items[1].event.other, 6, 0, "c");
}

static void dialects_are_recognised(void **state)
{
	const struct sched_dialect *d;

	(void)state;
	assert_int_equal(parse("            make-42    (   40) [000] d..1   797.000001: "
			       "sched_wakeup: comm=a pid=1 prio=2 success=1 target_cpu=000\n"
			       "           <...>-43    (-----) [000] d..10   797.000002: "
			       "sched_switch: prev_comm=a prev_pid=1 prev_prio=2 prev_state=x ==> "
			       "next_comm=b next_pid=3 next_prio=4\n"),
			 2);
	d = &source->info.dialect;
	assert_int_equal(d->flag_columns, 4);
	assert_int_equal(d->pid_width, 5);
	assert_true(d->features & DIALECT_TGID);
	assert_true(d->features & DIALECT_SUCCESS);
	assert_false(d->features & (DIALECT_GROUP_DEAD | DIALECT_NO_FLAGS));
	assert_int_equal(items[1].event.preempt_count, 0x10);
	assert_int_equal(items[1].event.state, 64);
	assert_int_equal(info_get_task(&source->info, 42)->tgid, 40);
	assert_null(info_get_task(&source->info, 43));
	assert_int_equal(d->kinds, 1 << SCHED_SWITCH | 1 << SCHED_WAKEUP);
	teardown(NULL);

	/* 4.13 to 4.19 had the tgid behind the CPU. */
	assert_int_equal(parse("            make-42    [000] (   40) d..1   797.000001: "
			       "sched_waking: comm=a pid=1 prio=2 target_cpu=000\n"),
			 1);
	assert_int_equal(info_get_task(&source->info, 42)->tgid, 40);
	assert_int_equal(items[0].event.preempt_count, 1);
	teardown(NULL);

	assert_int_equal(parse("            make-42      [000] .L...          7: "
			       "sched_process_exit: comm=a pid=1 prio=2\n"),
			 1);
	d = &source->info.dialect;
	assert_int_equal(d->flag_columns, 5);
	assert_int_equal(items[0].event.flags, 0x22);
	assert_true(d->features & DIALECT_LAZY_RESCHED);
	assert_false(d->features & DIALECT_GROUP_DEAD);
	assert_int_equal(source->info.clock.print_digits, 0);
	assert_int_equal(items[0].event.tick, 7);
}

static void losses_stand_between_their_events(void **state)
{
	(void)state;
	assert_int_equal(parse(HEAD "sched_waking: comm=a pid=1 prio=2 target_cpu=001\n"
				    "CPU:0 [LOST 12 EVENTS]\n"
				    "CPU:2 [LOST EVENTS]\n"
				    "            make-42      [000] .....   797.000005: "
				    "sched_waking: comm=a pid=1 prio=2 target_cpu=001\n"
				    "            make-42      [000] .....   797.000006: "
				    "sched_waking: comm=a pid=1 prio=2 targ\n"
				    "            make-42      [000] .....   797.000007: other: x\n"
				    "            make-42      [000] .....   797.000008: "
				    "sched_waking: comm=a pid=1 prio=2 target_cpu=001"),
			 6);
	assert_int_equal(items[1].type, ITEM_LOSS);
	assert_int_equal(items[1].loss.count, 12);
	assert_int_equal(items[1].loss.cause, LOSS_RING);
	assert_int_equal(items[1].loss.from_tick, 797000001);
	assert_int_equal(items[1].loss.to_tick, 797000005);
	assert_int_equal(items[2].cpu, 2);
	assert_true(items[2].loss.count == LOSS_UNKNOWN);
	assert_int_equal(items[3].type, ITEM_EVENT);
	/* An event of ours that is torn is a loss, too; so is one without its newline. */
	assert_int_equal(items[4].type, ITEM_LOSS);
	assert_int_equal(items[4].loss.cause, LOSS_DAMAGE);
	assert_int_equal(items[4].loss.count, 1);
	assert_int_equal(items[4].loss.from_tick, 797000005);
	assert_int_equal(items[4].loss.to_tick, 797000006);
	assert_int_equal(items[5].type, ITEM_LOSS);
	assert_int_equal(source->info.skipped, 1);
	assert_int_equal(source->info.cpus, 3);
}

static void html_is_taken_off(void **state)
{
	static const char script[] =
		"<!DOCTYPE html>\n<html><script class=\"trace-data\" "
		"type=\"application/text\">\n{\"json\": 1}\n  </script>\n"
		"<script class=\"trace-data\" type=\"application/text\">\n"
		"# tracer: nop\n#\n" HEAD "sched_waking: comm=a pid=1 prio=2 target_cpu=001\n"
		"  </script>\n</html>\n";
	static const char string[] =
		"<html>\n  var linuxPerfData = \"\\\n# tracer: nop\\n\\\n" HEAD
		"sched_waking: comm=\\\"a\\\\ pid=1 prio=2 target_cpu=001\\n\\\n" HEAD
		"sched_process_exec: filename=/\\'x pid=1 old_pid=1\\n\";\n"
		"</html>\n";

	(void)state;
	assert_int_equal(parse(script), 1);
	assert_string_equal(source->info.origin, "systrace page");
	teardown(NULL);
	assert_int_equal(parse(string), 2);
	check_task(&items[0].event.task, 1, 2, "\"a\\");
	assert_memory_equal(filename, "/'x", 3);
}

static void a_line_of_the_idle_task_is_no_page(void **state)
{
	(void)state;
	assert_int_equal(parse("          <idle>-0       [000] .....   797.000001: sched_waking: "
			       "comm=a pid=1 prio=2 target_cpu=001\n"),
			 1);
	teardown(NULL);
	assert_int_equal(parse("<...>-9       [000] .....   797.000001: sched_waking: "
			       "comm=a pid=1 prio=2 target_cpu=001\n"),
			 1);
	assert_int_equal(items[0].event.pid, 9);
	assert_int_equal(source->info.n_tasks, 0);
}

static void nonsense_is_refused(void **state)
{
	char text[8192] = HEAD "x: y\n";
	int i;

	(void)state;
	for (i = 0; i < 99; i++)
		strcat(text, "what is this?\n");
	assert_int_equal(open_text(text), 0);
	teardown(NULL);
	strcat(text, "and this\n");
	assert_int_equal(open_text(text), -EBADMSG);
	assert_non_null(strstr(error.text, "line 101"));
	assert_int_equal(open_text("\x7f"
				   "ELF\n"),
			 -EBADMSG);
	assert_int_equal(open_text("            make-42      [9999] .....   797.000001: "
				   "sched_waking: comm=a pid=1 prio=2 target_cpu=001\n"),
			 0);
	assert_int_equal(read_items(), -EBADMSG);
	assert_non_null(strstr(error.text, "line 1 "));
}

static void nothing_is_an_empty_trace(void **state)
{
	(void)state;
	assert_int_equal(parse(""), 0);
	teardown(NULL);
	assert_int_equal(parse("# tracer: nop\n#\n# entries-in-buffer/entries-written: 0/0   "
			       "#P:6\n#\n\n"),
			 0);
	assert_int_equal(source->info.cpus, 6);
}

/* A pipe with this text in it, as the importer's end. */
static int pipe_with(const char *text)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
	close(ends[1]);
	return ends[0];
}

/* More than a pipe takes at once. */
static int file_with(const char *text)
{
	int fd = memfd_create("text", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void a_pipe_is_read_once(void **state)
{
	char text[40000] = "# entries-in-buffer/entries-written: -/-   #P:3\n" HEAD "x: y\n";
	size_t len = strlen(text);

	(void)state;
	memset(text + len, 'z', 20000);
	strcpy(text + len + 20000, "\n" HEAD "sched_waking: comm=a pid=1 prio=2 target_cpu=001\n");
	assert_int_equal(source_text_open_fd(&source, pipe_with(text), &error), 0);
	assert_true(source->info.cpus >= 64);
	assert_int_equal(source->info.dialect.flag_columns, 5);
	assert_int_equal(read_items(), 1);
	assert_int_equal(items[0].event.tick, 797000001);
	assert_int_equal(source->info.skipped, 1);
	assert_int_equal(source->ops->rewind(source, &error), -ESPIPE);
}

static void a_pipe_gives_items_before_its_end(void **state)
{
	static const char first[] = HEAD "sched_waking: comm=a pid=1 prio=2 target_cpu=001\n",
			  cut[] = "            make-42      [00";
	struct trace_item item;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], first, sizeof(first) - 1), sizeof(first) - 1);
	assert_int_equal(write(ends[1], cut, sizeof(cut) - 1), sizeof(cut) - 1);
	assert_int_equal(source_text_open_fd(&source, ends[0], &error), 0);
	assert_int_equal(source->ops->next(source, &item, &error), 1);
	assert_int_equal(item.event.tick, 797000001);
	assert_true(source->info.cpus >= 64);
	close(ends[1]);
	assert_int_equal(source->ops->next(source, &item, &error), 0);
}

static void a_pipe_that_cannot_be_read_is_refused(void **state)
{
	static const char first[] = HEAD "x: y\n",
			  beyond[] = "            make-42      [999] .....   797.000001: "
				     "sched_waking: comm=a pid=1 prio=2 target_cpu=001\n";
	uint64_t done = 1, total = 1;
	int ends[2];
	char *text = malloc(TEXT_PEEK_MAX + 2);

	(void)state;
	assert_int_equal(source_text_open_fd(&source, open("/", O_RDONLY | O_CLOEXEC), &error),
			 -EISDIR);
	assert_string_equal(error.text, "cannot read ftrace text: Is a directory");
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], first, sizeof(first) - 1), sizeof(first) - 1);
	assert_int_equal(source_text_open_fd(&source, ends[0], &error), 0);
	assert_int_equal(write(ends[1], beyond, sizeof(beyond) - 1), sizeof(beyond) - 1);
	close(ends[1]);
	assert_int_equal(read_items(), -EBADMSG);
	assert_non_null(strstr(error.text, "CPU 999 at line 2 is beyond what the pipe began with"));
	source->ops->progress(source, &done, &total);
	assert_true(done > 0 && total == 0);
	source_free(source);
	source = NULL;
	assert_non_null(text);
	memset(text, ' ', TEXT_PEEK_MAX + 1);
	text[TEXT_PEEK_MAX + 1] = 0;
	assert_int_equal(source_text_open_fd(&source, file_with(text), &error), -EBADMSG);
	assert_non_null(strstr(error.text, "no trace line in the first"));
	free(text);
}

/* --- other layouts of one and the same ring, which the kernel printed four times --- */

#define LAYOUT SOURCE_ROOT "/tests/data/ftrace_6.18_layout_"

static void same_task(const struct sched_task *a, const struct sched_task *b)
{
	assert_int_equal(a->pid, b->pid);
	assert_int_equal(a->prio, b->prio);
	assert_memory_equal(a->comm, b->comm, SCHED_COMM_LEN);
}

static void same_event(const struct sched_event *a, const struct sched_event *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->pid, b->pid);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->preempt_count, b->preempt_count);
	assert_true(a->state == b->state);
	assert_int_equal(a->value, b->value);
	assert_int_equal(a->extra, b->extra);
	same_task(&a->task, &b->task);
	same_task(&a->other, &b->other);
	assert_int_equal(a->filename_len, b->filename_len);
	if (a->filename_len)
		assert_memory_equal(a->filename, b->filename, a->filename_len);
}

/* Without verbose, times of the latency format count from the trace's start, and both are rounded. */
static void same_tick(uint64_t got, uint64_t want, bool from_start, int64_t *first)
{
	int64_t later = (int64_t)(want - got);

	if (!from_start)
		assert_true(got == want);
	else if (*first < 0)
		*first = later;
	assert_true(!from_start || (later >= *first - 1 && later <= *first + 1 && later >= 0));
}

static void check_layout(const char *name, size_t n, bool from_start)
{
	_cleanup_free_ char *plain = NULL, *other = NULL;
	struct trace_source *truth = NULL;
	struct trace_item want, got;
	size_t len, other_len, i;
	int64_t first = -1;
	char path[512];

	plain = read_file(LAYOUT "plain.txt", &len);
	snprintf(path, sizeof(path), LAYOUT "%s.txt", name);
	other = read_file(path, &other_len);
	assert_int_equal(source_text_open(&truth, (struct import_bytes){ (uint8_t *)plain, len },
					  &error),
			 0);
	assert_int_equal(source_text_open(&source,
					  (struct import_bytes){ (uint8_t *)other, other_len },
					  &error),
			 0);
	assert_int_equal(source->info.cpus, truth->info.cpus);
	assert_int_equal(source->info.dialect.kinds, truth->info.dialect.kinds);
	assert_int_equal(source->info.clock.print_digits, 6);
	for (i = 0; i < n; i++) {
		assert_int_equal(truth->ops->next(truth, &want, &error), 1);
		assert_int_equal(source->ops->next(source, &got, &error), 1);
		assert_int_equal(got.type, want.type);
		assert_int_equal(got.cpu, want.cpu);
		if (want.type == ITEM_EVENT) {
			same_event(&got.event, &want.event);
			same_tick(got.event.tick, want.event.tick, from_start, &first);
		} else {
			assert_int_equal(got.loss.count, want.loss.count);
			assert_int_equal(got.loss.cause, want.loss.cause);
		}
	}
	assert_int_equal(truth->ops->next(truth, &want, &error), 0);
	assert_int_equal(source->ops->next(source, &got, &error), 0);
	source_free(truth);
	teardown(NULL);
}

static void test_layouts(void **state)
{
	(void)state;
	check_layout("latency", 53, true); /* 52 lines, and what the header says was overwritten */
	check_layout("verbose", 53, false);
	check_layout("fields", 53, false);
}

/* A latency tracer on a clock that counts no time, and on a kernel with four columns of flags. */
static void test_latency_forms(void **state)
{
#define BODY "sched_waking: comm=a pid=7 prio=120 target_cpu=001\n"
	(void)state;
	assert_int_equal(parse("    bash-3994    1d..1    0us!: " BODY
			       "   sleep-12      0d.h2   17us : " BODY),
			 2);
	assert_int_equal(items[1].event.tick, 17);
	assert_int_equal(items[1].event.pid, 12);
	assert_int_equal(items[1].event.preempt_count, 2);
	assert_int_equal(source->info.dialect.flag_columns, 4);
	teardown(NULL);
	assert_int_equal(parse("    bash-3994    1d..1.  123456: " BODY), 1);
	assert_true(clock_is_ticks(&source->info.clock));
	assert_int_equal(items[0].event.tick, 123456);
	teardown(NULL);
	assert_int_equal(parse("longname-5       1d..1.    5us : " BODY),
			 1); /* cut: not its name */
	assert_null(info_get_task(&source->info, 5));
#undef BODY
}

/* Kernels of vendors add fields, and have longer names. */
static void test_vendors(void **state)
{
	static const char text[] =
		"ndroid.systemui.longer-1234  [001] d..3   23.5: sched_wakeup: comm=Binder_1 "
		"pid=77 "
		"prio=120 success=1 target_cpu=001 state=W\n"
		"          <idle>-0     [000] d..3   23.6: sched_switch: prev_comm=swapper/0 "
		"prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=com.android.launcher "
		"next_pid=1234 next_prio=120 util=12 group=3\n"
		"          <idle>-0     [000] d..3   23.7: sched_wakeup: comm=a pid=7 prio=120 "
		"success=1 target_cpu=000 but this is no field\n";

	(void)state;
	assert_int_equal(parse(text), 3);
	check_task(&items[0].event.task, 77, 120, "Binder_1");
	assert_int_equal(items[0].event.pid, 1234);
	assert_int_equal(items[0].event.value, 1);
	check_task(&items[1].event.other, 1234, 120, "com.android.laun");
	assert_int_equal(items[2].type, ITEM_LOSS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_teardown(f, teardown)
		TEST(test_layouts),
		TEST(test_latency_forms),
		TEST(test_vendors),
		TEST(kernel_files_come_back_byte_by_byte),
		TEST(a_switch_has_all_its_fields),
		TEST(names_may_hold_anything),
		TEST(trace_cmd_report_is_read),
		TEST(raw_trace_cmd_report_is_read),
		TEST(dialects_are_recognised),
		TEST(losses_stand_between_their_events),
		TEST(html_is_taken_off),
		TEST(a_line_of_the_idle_task_is_no_page),
		TEST(nonsense_is_refused),
		TEST(nothing_is_an_empty_trace),
		TEST(a_pipe_is_read_once),
		TEST(a_pipe_gives_items_before_its_end),
		TEST(a_pipe_that_cannot_be_read_is_refused),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
