/* SPDX-License-Identifier: MIT */
/* task_stat, machine_stat, kernel_message, target, facts: the texts of /proc and of the kernel's log, also strange ones. */
#include <fcntl.h>
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

#include "device/boot/facts.h"
#include "device/boot/kernel_message.h"
#include "device/boot/machine_stat.h"
#include "device/boot/target.h"
#include "device/boot/task_stat.h"
#include "device/boot/words.h"
#include "wire/boot_event.h"

#define REST "S 1 42 42 0 -1 4194560 300 0 7 0 12 34 0 0 20 0 3 0 123456 0 0\n"

static void reads_task_stat(void **state)
{
	static const char text[] = "42 (sh) " REST;
	struct task_stat t;

	(void)state;
	assert_true(task_stat_parse(&t, text, sizeof(text) - 1));
	assert_int_equal(t.pid, 42);
	assert_int_equal(t.parent, 1);
	assert_int_equal(t.state, 'S');
	assert_int_equal(t.user, 12);
	assert_int_equal(t.system, 34);
	assert_int_equal(t.faults, 7);
	assert_int_equal(t.threads, 3);
	assert_int_equal(t.start, 123456);
	assert_int_equal(t.comm_len, 2);
	assert_false(t.is_kernel);
}

static void takes_any_name(void **state)
{
	static const char *const names[] = {
		"a b", ") R 1 (", "(((", ")", "", "x) S 9", "new\nline"
	};
	struct task_stat t;
	char text[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(text, sizeof(text), "7 (%s) " REST, names[i]);
		assert_true(task_stat_parse(&t, text, strlen(text)));
		assert_int_equal(t.comm_len, strlen(names[i]));
		assert_memory_equal(t.comm, names[i], t.comm_len);
		assert_int_equal(t.parent, 1);
		assert_int_equal(t.start, 123456);
	}
	/* Longer than a name can be: kernel workers show more. */
	snprintf(text, sizeof(text), "7 (kworker/u8:3-events_unbound) " REST);
	assert_true(task_stat_parse(&t, text, strlen(text)));
	assert_int_equal(t.comm_len, TASK_COMM_LEN);
}

static void refuses_cut_task_stat(void **state)
{
	static const char text[] = "42 (sh) " REST;
	struct task_stat t = { .pid = 99 };
	size_t len;

	(void)state;
	for (len = 0; len < strlen("42 (sh) S 1 42 42 0 -1 4194560 300 0 7 0 12 34 0 0 20 0 3 0 ");
	     len++)
		assert_false(task_stat_parse(&t, text, len));
	assert_int_equal(t.pid, 99);
}

/* Around the nine digits that fit into 32 bits, and around 2^64. */
static void reads_numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
		bool bad;
	} all[] = {
		{ "0", 0, false },
		{ "-20 1", 20, false },
		{ "999999999\n", 999999999, false },
		{ "1000000000", 1000000000, false },
		{ "4294967296 ", 4294967296ULL, false },
		{ "0000000000000000000000007", 7, false },
		{ "18446744073709551615", UINT64_MAX, false },
		{ "18446744073709551616", 0, true },
		{ "18446744073709551620", 0, true },
		{ "99999999999999999999", 0, true },
		{ "", 0, true },
		{ "-", 0, true },
		{ "x", 0, true },
		{ "123456789x", 0, true },
		{ "12x", 0, true },
	};
	struct words w;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		words_init(&w, all[i].text, strlen(all[i].text));
		assert_int_equal(words_number(&w), all[i].value);
		assert_int_equal(w.bad, all[i].bad);
	}
	words_init(&w, "1234567890123", 10); /* not a byte behind the end */
	assert_int_equal(words_number(&w), 1234567890);
}

static void reads_times(void **state)
{
	struct task_times t;

	(void)state;
	assert_true(task_times_parse(&t, "123 456 7\n", 10));
	assert_int_equal(t.ran_ns, 123);
	assert_int_equal(t.waited_ns, 456);
	assert_int_equal(t.runs, 7);
	assert_false(task_times_parse(&t, "", 0));
	assert_false(task_times_parse(&t, "1 2\n", 4));
}

static void count_cpu(void *context, const struct machine_cpu *cpu)
{
	uint64_t *sums = context;

	assert_true(cpu->number < 8);
	sums[cpu->number] += cpu->times[BOOT_CPU_USER] * 1000 + cpu->times[BOOT_CPU_STEAL];
}

static void reads_machine_stat(void **state)
{
	static const char text[] = "cpu  10 1 2 3 4 5 6 7 8 9\n"
				   "cpu0 4 1 2 3 4 5 6 1 0 0\n"
				   "cpu7 6 0 0 0 0 0 0 6 0 0\n"
				   "intr 99 1 2 3\nctxt 12345\nbtime 1\nprocesses 77\n"
				   "procs_running 3\nprocs_blocked 2\nsoftirq 1 2\n";
	uint64_t sums[8] = { 0 };
	const struct machine_cpus each = { count_cpu, sums };
	struct machine_stat m;

	(void)state;
	assert_true(machine_stat_parse(&m, &each, text, sizeof(text) - 1));
	assert_int_equal(m.cpus, 2);
	assert_int_equal(m.times[BOOT_CPU_USER], 10);
	assert_int_equal(m.switches, 12345);
	assert_int_equal(m.forks, 77);
	assert_int_equal(m.running, 3);
	assert_int_equal(m.blocked, 2);
	assert_int_equal(sums[0], 4001);
	assert_int_equal(sums[7], 6006);
	assert_false(machine_stat_parse(&m, &each, "intr 1\n", 7));
	assert_false(machine_stat_parse(&m, &each, "", 0));
	/* A kernel of 2.6 has four columns. */
	assert_true(machine_stat_parse(&m, NULL, "cpu 1 2 3 4\ncpu0 1 2 3 4\nctxt 5\n", 32));
	assert_int_equal(m.cpus, 1);
	assert_int_equal(m.times[BOOT_CPU_IDLE], 4);
	assert_int_equal(m.times[BOOT_CPU_IRQ], 0);
	assert_int_equal(m.switches, 5);
}

static void reads_disks(void **state)
{
	static const char text[] = "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
				   "nonsense\n"
				   " 179       1 mmcblk0p1 21 0 23 0 25 0 27 0 0 30 31\n"
				   "   8       2 cut 1 2\n";
	struct disk_stat d;
	size_t at = 0;

	(void)state;
	assert_true(disk_stat_next(&d, text, sizeof(text) - 1, &at));
	assert_string_equal(d.name, "sda");
	assert_int_equal(d.reads, 1);
	assert_int_equal(d.read_sectors, 3);
	assert_int_equal(d.writes, 5);
	assert_int_equal(d.written_sectors, 7);
	assert_int_equal(d.in_flight, 9);
	assert_int_equal(d.busy_ms, 10);
	assert_int_equal(d.weighted_ms, 11);
	assert_true(disk_stat_next(&d, text, sizeof(text) - 1, &at));
	assert_string_equal(d.name, "mmcblk0p1");
	assert_false(disk_stat_next(&d, text, sizeof(text) - 1, &at));
}

static void reads_memory_and_pressure(void **state)
{
	static const char memory[] = "MemTotal: 1000 kB\nMemFree:  200 kB\nCached: 30 kB\n"
				     "SwapCached: 5 kB\nSReclaimable: 4 kB\nStrange\n";
	static const char pressure[] = "some avg10=0.00 avg60=0.12 avg300=0.00 total=1234\n"
				       "full avg10=0.00 avg60=0.00 avg300=0.00 total=56\n";
	struct pressure_stat p;
	struct memory_stat m;

	(void)state;
	assert_true(memory_stat_parse(&m, memory, sizeof(memory) - 1));
	assert_int_equal(m.kib[BOOT_MEMORY_TOTAL], 1000);
	assert_int_equal(m.kib[BOOT_MEMORY_FREE], 200);
	assert_int_equal(m.kib[BOOT_MEMORY_CACHED], 34);
	assert_false(memory_stat_parse(&m, "MemFree: 1 kB\n", 14));
	assert_true(pressure_stat_parse(&p, pressure, sizeof(pressure) - 1));
	assert_int_equal(p.some_ns, 1234000);
	assert_int_equal(p.full_ns, 56000);
	assert_false(pressure_stat_parse(&p, "none\n", 5));
}

static void reads_kernel_messages(void **state)
{
	static const char record[] = "30,339,5140900,-;systemd[1]: Started A.\n SUBSYSTEM=x\n";
	static const char log[] = "<6>[    1.500000] first\nno time\n<14>[   12.000001] second\n";
	struct kernel_message m;
	const char *text;
	size_t len, at = 0;

	(void)state;
	assert_true(kernel_message_parse(&m, record, sizeof(record) - 1));
	assert_int_equal(m.level, 6);
	assert_int_equal(m.facility, 3);
	assert_int_equal(m.ns, 5140900000);
	assert_int_equal(m.len, strlen("systemd[1]: Started A."));
	assert_true(kernel_message_is_phase(&m, &text, &len));
	assert_int_equal(len, strlen("Started A."));
	assert_memory_equal(text, "Started A.", len);
	m.facility = 0;
	assert_false(kernel_message_is_phase(&m, &text, &len));
	assert_false(kernel_message_parse(&m, "6,1;x", 5));
	assert_true(kernel_message_next(&m, log, sizeof(log) - 1, &at));
	assert_int_equal(m.ns, 1500000000);
	assert_true(kernel_message_next(&m, log, sizeof(log) - 1, &at));
	assert_int_equal(m.ns, 12000001000);
	assert_int_equal(m.facility, 1);
	assert_false(kernel_message_next(&m, log, sizeof(log) - 1, &at));
}

static void knows_targets(void **state)
{
	static const char tcp[] = "  sl  local_address rem_address   st\n"
				  "   0: 0100007F:1F90 00000000:0000 01 0\n"
				  "   1: 00000000:0016 00000000:0000 0A 0\n";
	struct target t;

	(void)state;
	assert_int_equal(target_parse(&t, "unit:a.target"), 0);
	assert_int_equal(t.type, TARGET_UNIT);
	assert_int_equal(target_parse(&t, "port:22"), 0);
	assert_int_equal(t.port, 22);
	assert_int_equal(target_parse(&t, ""), 0);
	assert_int_equal(t.type, TARGET_NONE);
	assert_true(target_parse(&t, "port:0") < 0);
	assert_true(target_parse(&t, "port:65536") < 0);
	assert_true(target_parse(&t, "file:relative") < 0);
	assert_true(target_parse(&t, "unit:") < 0);
	assert_true(target_parse(&t, "login") < 0);
	assert_true(target_has_listener(tcp, sizeof(tcp) - 1, 22));
	assert_false(target_has_listener(tcp, sizeof(tcp) - 1, 8080));
	assert_int_equal(target_parse(&t, "process:getty"), 0);
	assert_true(target_is_process(&t, "getty", 5, "", 0));
	assert_true(target_is_process(&t, "other", 5, "/sbin/getty\0-x", 14));
	assert_false(target_is_process(&t, "gett", 4, "/sbin/agetty", 12));
	assert_int_equal(target_parse(&t, "process:/sbin/getty"), 0);
	assert_true(target_is_process(&t, "other", 5, "/sbin/getty", 11));
	assert_false(target_check(&t, "", -1, 0)); /* processes are looked at elsewhere */
	assert_int_equal(target_parse(&t, "file:/proc/self/stat"), 0);
	assert_true(target_check(&t, "", -1, 0));
	assert_false(target_is_process(&t, "stat", 4, "", 0));
	assert_int_equal(target_parse(&t, "file:/nowhere"), 0);
	assert_false(target_check(&t, "", -1, 0));
}

/* Looks into /proc/1/net at most every TARGET_PORT_NS. */
static void finds_a_listener(void **state)
{
	static const char text[] = "   1: 00000000:0016 00000000:0000 0A 0\n";
	char folder[] = "/tmp/kiseki-proc-XXXXXX", path[64];
	uint64_t now = TARGET_PORT_NS;
	struct target t;
	FILE *f;
	int proc;

	(void)state;
	assert_non_null(mkdtemp(folder));
	proc = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(target_parse(&t, "port:22"), 0);
	assert_false(target_check(&t, "", proc, now));
	assert_int_equal(mkdirat(proc, "1", 0755) | mkdirat(proc, "1/net", 0755), 0);
	snprintf(path, sizeof(path), "%s/1/net/tcp", folder);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s%s", "  sl  local_address rem_address   st\n", "no listener at all");
	assert_int_equal(fclose(f), 0);
	assert_false(target_check(&t, "", proc, now)); /* too early */
	assert_false(target_check(&t, "", proc, now += TARGET_PORT_NS));
	snprintf(path, sizeof(path), "%s/1/net/tcp6", folder);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	assert_true(target_check(&t, "", proc, now += TARGET_PORT_NS));
	assert_int_equal(unlinkat(proc, "1/net/tcp6", 0), 0);
	snprintf(path, sizeof(path), "%s/1/net/tcp", folder);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%.*s", (int)strlen(text) - 1, text); /* a line without its end is one, too */
	assert_int_equal(fclose(f), 0);
	assert_true(target_check(&t, "", proc, now + TARGET_PORT_NS));
	assert_int_equal(unlinkat(proc, "1/net/tcp", 0), 0);
	assert_int_equal(unlinkat(proc, "1/net", AT_REMOVEDIR) | unlinkat(proc, "1", AT_REMOVEDIR),
			 0);
	close(proc);
	assert_int_equal(rmdir(folder), 0);
}

struct fact_list {
	struct record_sink sink;
	char text[1024];
};

static void put_fact(struct record_sink *s, const struct boot_event *ev)
{
	struct fact_list *l = (struct fact_list *)s;
	size_t len = strlen(l->text);

	assert_int_equal(ev->key, BOOT_MARK_FACT);
	snprintf(l->text + len, sizeof(l->text) - len, "%.*s;", (int)ev->text_len, ev->text);
}

static void write_file(int folder, const char *name, const char *text, size_t len)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	close(fd);
}

/* The first of the CPU's names that there is; a device tree's texts end with a zero. What is empty is not said. */
static void says_facts(void **state)
{
	static const char cpus[] = "processor\t: 0\ncpu model\t: MIPS 24Kc\nuarch\t: other\n";
	static const char model[] = "Board X\0";
	struct fact_list l = { .sink = { .put = put_fact } };
	char folder[] = "/tmp/kiseki-facts-XXXXXX";
	struct boot_settings s = { .interval_ns = 5 };
	struct place p = { 0 };

	(void)state;
	assert_non_null(mkdtemp(folder));
	p.proc = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	facts_say(&l.sink, &p, &s, 9); /* a machine that says nothing of itself */
	assert_null(strstr(l.text, "cpu="));
	assert_null(strstr(l.text, "model="));
	l.text[0] = 0;
	assert_int_equal(mkdirat(p.proc, "device-tree", 0700), 0);
	write_file(p.proc, "cmdline", "\n", 1);
	write_file(p.proc, "cpuinfo", cpus, sizeof(cpus) - 1);
	write_file(p.proc, "device-tree/model", model, sizeof(model));
	facts_say(&l.sink, &p, &s, 9);
	assert_memory_equal(l.text, "cpu=MIPS 24Kc;model=Board X;", 28);
	assert_non_null(strstr(l.text, ";interval_ns=5;recorder=kiseki-boot "));
	unlinkat(p.proc, "cmdline", 0);
	unlinkat(p.proc, "cpuinfo", 0);
	unlinkat(p.proc, "device-tree/model", 0);
	unlinkat(p.proc, "device-tree", AT_REMOVEDIR);
	close(p.proc);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_task_stat),
		cmocka_unit_test(takes_any_name),
		cmocka_unit_test(refuses_cut_task_stat),
		cmocka_unit_test(reads_numbers),
		cmocka_unit_test(reads_times),
		cmocka_unit_test(reads_machine_stat),
		cmocka_unit_test(reads_disks),
		cmocka_unit_test(reads_memory_and_pressure),
		cmocka_unit_test(reads_kernel_messages),
		cmocka_unit_test(knows_targets),
		cmocka_unit_test(finds_a_listener),
		cmocka_unit_test(says_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
