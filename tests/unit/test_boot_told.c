/* SPDX-License-Identifier: MIT */
/* process_event, exit_account, task_table, boot_settings, idle_watch: what the kernel tells, and what is kept of it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "device/boot/boot_program.h"
#include "device/boot/boot_settings.h"
#include "device/boot/exit_account.h"
#include "device/boot/idle_watch.h"
#include "device/boot/process_event.h"
#include "device/boot/task_table.h"

static void put32(uint8_t *m, size_t at, uint32_t v)
{
	memcpy(m + at, &v, sizeof(v));
}

static void put16(uint8_t *m, size_t at, uint16_t v)
{
	memcpy(m + at, &v, sizeof(v));
}

static void put64(uint8_t *m, size_t at, uint64_t v)
{
	memcpy(m + at, &v, sizeof(v));
}

/* A message of the connector: its event has `data` bytes. */
static size_t make_event(uint8_t *m, uint32_t what, uint32_t data)
{
	size_t len = 36 + data;

	memset(m, 0, 128);
	put32(m, 0, (uint32_t)len);
	put16(m, 32, (uint16_t)data);
	put32(m, 36, what);
	put64(m, 44, 5000000001);
	return len;
}

static void reads_process_events(void **state)
{
	struct process_event ev;
	uint8_t m[128];
	size_t at = 0, len = make_event(m, 1, 40);

	(void)state;
	put32(m, 52, 10);
	put32(m, 56, 11);
	put32(m, 60, 12);
	put32(m, 64, 12);
	assert_true(process_event_next(&ev, m, len, &at));
	assert_int_equal(ev.type, PROCESS_FORK);
	assert_int_equal(ev.parent, 11);
	assert_int_equal(ev.pid, 12);
	assert_int_equal(ev.group, 12);
	assert_int_equal(ev.ns, 5000000001);
	assert_false(process_event_next(&ev, m, len, &at));
	/* Shorter than its kind needs. */
	at = 0;
	len = make_event(m, 1, 24);
	assert_true(process_event_next(&ev, m, len, &at));
	assert_int_equal(ev.type, PROCESS_OTHER);
	at = 0;
	len = make_event(m, 0x80000000U, 40);
	put32(m, 52, 12);
	put32(m, 56, 12);
	put32(m, 60, 3 << 8);
	assert_true(process_event_next(&ev, m, len, &at));
	assert_int_equal(ev.type, PROCESS_EXIT);
	assert_int_equal(ev.code, 3 << 8);
	/* A length that lies. */
	at = 0;
	put32(m, 0, 1000);
	assert_false(process_event_next(&ev, m, len, &at));
	put32(m, 0, 3);
	assert_false(process_event_next(&ev, m, len, &at));
}

#define STATS 416U

struct account_maker {
	uint8_t m[1200];
	size_t len;
};

static size_t put_pair(uint8_t *m, uint16_t type, uint32_t pid, uint32_t group, uint16_t version)
{
	uint8_t *stats = m + 4 + 8 + 4;

	put16(m, 0, (uint16_t)(4 + 8 + 4 + STATS));
	put16(m, 2, type);
	put16(m, 4, 8);
	put16(m, 6, 1);
	put32(m, 8, pid);
	put16(m, 12, 4 + STATS);
	put16(m, 14, 3);
	put16(stats, 0, version);
	put32(stats, 4, 256);
	put64(stats, 24, 2000);
	put64(stats, 72, 1000);
	memcpy(stats + 80, "worker", 6);
	put32(stats, 132, 1);
	put64(stats, 152, 7);
	put64(stats, 200, pid);
	put64(stats, 280, 2);
	put32(stats, 368, group);
	return 4 + 8 + 4 + STATS;
}

static void make_account(struct account_maker *a, uint32_t pid, uint32_t group, bool is_last,
			 uint16_t version)
{
	memset(a, 0, sizeof(*a));
	a->len = 20 + put_pair(a->m + 20, 4, pid, group, version);
	if (is_last)
		a->len += put_pair(a->m + a->len, 5, group, group, version);
	put32(a->m, 0, (uint32_t)a->len);
	put16(a->m, 4, 0x20);
}

static void reads_accounts(void **state)
{
	struct account_maker m;
	struct exit_account a;
	size_t at = 0;

	(void)state;
	make_account(&m, 40, 40, false, 13);
	assert_true(exit_account_next(&a, m.m, m.len, &at));
	assert_int_equal(a.pid, 40);
	assert_int_equal(a.group, 40);
	assert_int_equal(a.parent, 1);
	assert_int_equal(a.code, 256);
	assert_int_equal(a.number[BOOT_ACCOUNT_USER], 7000);
	assert_int_equal(a.number[BOOT_ACCOUNT_RAN], 1000);
	assert_int_equal(a.number[BOOT_ACCOUNT_WAITED], 2000);
	assert_int_equal(a.number[BOOT_ACCOUNT_RSS], 40);
	assert_int_equal(a.number[BOOT_ACCOUNT_PREEMPTED], 2);
	assert_memory_equal(a.comm, "worker", 7);
	assert_false(a.is_last);
	assert_false(exit_account_next(&a, m.m, m.len, &at));
	/* The version that moved fields is not read, but told. */
	at = 0;
	make_account(&m, 40, 40, false, 15);
	assert_true(exit_account_next(&a, m.m, m.len, &at));
	assert_int_equal(a.strange, 15);
	/* Cut off anywhere, it is none, and nothing is read beyond its end. */
	for (m.len--; m.len > 0; m.len--) {
		at = 0;
		assert_false(exit_account_next(&a, m.m, m.len, &at));
	}
}

static bool take(struct exit_sums *s, struct exit_account *a, uint32_t pid, uint32_t group,
		 bool is_last)
{
	struct account_maker m;
	size_t at = 0;

	make_account(&m, pid, group, is_last, 13);
	assert_true(exit_account_next(a, m.m, m.len, &at));
	return exit_sums_take(s, a);
}

static void sums_threads(void **state)
{
	static struct exit_sums s;
	struct exit_account a;
	uint32_t i;

	(void)state;
	assert_true(take(&s, &a, 50, 50, false));
	assert_int_equal(a.number[BOOT_ACCOUNT_RAN], 1000);
	assert_false(take(&s, &a, 61, 60, false));
	assert_false(take(&s, &a, 62, 60, false));
	assert_true(take(&s, &a, 60, 60, true));
	assert_int_equal(a.pid, 60);
	assert_int_equal(a.number[BOOT_ACCOUNT_RAN], 3000);
	assert_int_equal(a.number[BOOT_ACCOUNT_RSS], 62);
	assert_true(take(&s, &a, 60, 60, false)); /* the row is free again */
	assert_int_equal(a.number[BOOT_ACCOUNT_RAN], 1000);
	for (i = 0; i < EXIT_GROUPS; i++)
		assert_false(take(&s, &a, 1000 + i, 100 + i, false));
	assert_false(take(&s, &a, 2001, 2000, false));
	assert_true(take(&s, &a, 2002, 2000, true)); /* what could not be kept is missing */
	assert_int_equal(a.pid, 2000);
	assert_int_equal(a.number[BOOT_ACCOUNT_RAN], 1000);
}

static void keeps_tasks(void **state)
{
	CLEANUP(task_table) struct task_table *t = NULL;
	struct task *task;
	uint32_t i, at, n;

	(void)state;
	assert_true(task_table_new(&t, 1, NULL) < 0);
	assert_int_equal(task_table_new(&t, 100, NULL), 0);
	for (i = 1; i <= 100; i++)
		assert_non_null(task_table_add(t, i * 128));
	assert_null(task_table_add(t, 5));
	assert_null(task_table_find(t, 5));
	for (i = 1; i <= 100; i += 2)
		task_table_drop(t, task_table_find(t, i * 128));
	assert_int_equal(t->n, 50);
	for (i = 1; i <= 100; i++)
		assert_int_equal(task_table_find(t, i * 128) != NULL, i % 2 == 0);
	assert_non_null(task_table_add(t, 7));
	assert_int_equal(task_table_find(t, 7)->pid, 7);
	for (n = 0, at = 0; (task = task_table_next(t, &at)); n++)
		task_table_drop(t, task);
	assert_int_equal(n, 51);
	assert_int_equal(t->n, 0);
}

static void reads_settings(void **state)
{
	static const char line[] =
		"console=ttyAMA0 kiseki_boot.interval=50ms quiet "
		"kiseki_boot.until=unit:a.target \"kiseki_boot.driver_args=a=1 b=2\" "
		"kiseki_boot.threads other.interval=1ms\n";
	struct boot_settings s;
	struct error e = ERROR_INIT;

	(void)state;
	boot_settings_init(&s);
	assert_int_equal(boot_settings_parse_kernel(&s, line, sizeof(line) - 1, &e), 0);
	boot_settings_finish(&s);
	assert_int_equal(s.interval_ns, 50 * CLOCK_NS_PER_MS);
	assert_int_equal(s.until.type, TARGET_UNIT);
	assert_string_equal(s.driver_args, "a=1 b=2");
	assert_true(s.threads);
	assert_int_equal(s.idle_ns, 0); /* it waits for its target */
	assert_string_equal(s.out, BOOT_SETTINGS_OUT);
	/* What is wrong is told, and the rest still counts. */
	assert_true(boot_settings_parse_kernel(&s, "kiseki_boot.interval=0 kiseki_boot.idle=1.5s",
					       44, &e) < 0);
	assert_non_null(strstr(e.text, "interval"));
	assert_int_equal(s.idle_ns, 1500 * CLOCK_NS_PER_MS);
	assert_true(boot_settings_set(&s, "until", "nothing", &e) < 0);
	assert_true(boot_settings_set(&s, "init", "sbin/init", &e) < 0);
	/* 307445735 minutes are 26 s more than 2^64 ns. */
	assert_true(boot_settings_set(&s, "time", "307445735m", &e) < 0);
	assert_true(boot_settings_set(&s, "time", "42949672949m", &e) < 0);
	assert_true(boot_settings_set(&s, "time", "99999999999999999999s", &e) < 0);
	assert_int_equal(boot_settings_set(&s, "time", "no", &e), 0);
	assert_int_equal(s.time_ns, 0);
}

static void refuses_values(void **state)
{
	static const char *const wrong[][2] = {
		{ "idle", "s" },	 { "idle", "1.1234567s" },  { "idle", "1441m" },
		{ "interval", "999us" }, { "interval", "10001ms" }, { "until", "" },
		{ "name", "a b" },	 { "name", ".a" },	    { "name", "" },
		{ "kmsg", "some" },	 { "exact", "yes" },	    { "nice", "20" },
		{ "nice", "-21" },	 { "threads", "1" },	    { "driver", "kiseki.ko" },
		{ "nothing", "1" },
	};
	struct boot_settings s, before;
	char line[600];
	size_t i;

	(void)state;
	boot_settings_init(&s);
	before = s;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (boot_settings_set(&s, wrong[i][0], wrong[i][1], NULL) != -EINVAL)
			fail_msg("%s takes \"%s\"", wrong[i][0], wrong[i][1]);
	memset(line, 'x', sizeof(line)); /* a word that is longer than any path */
	memcpy(line, "kiseki_boot.out=/", 17);
	assert_int_equal(boot_settings_parse_kernel(&s, line, sizeof(line), NULL), -EINVAL);
	assert_memory_equal(&s, &before, sizeof(s));
}

static void takes_values(void **state)
{
	struct boot_settings s;

	(void)state;
	boot_settings_init(&s);
	assert_int_equal(boot_settings_set(&s, "idle", "off", NULL), 0);
	assert_int_equal(s.idle_ns, 0);
	assert_int_equal(boot_settings_set(&s, "idle", "0.123456s", NULL), 0);
	assert_int_equal(s.idle_ns, 123456000);
	assert_int_equal(boot_settings_set(&s, "name", "a-1_b.c", NULL), 0);
	assert_string_equal(s.name, "a-1_b.c");
	assert_int_equal(boot_settings_set(&s, "nice", "5", NULL), 0);
	assert_int_equal(s.nice, 5);
	assert_int_equal(boot_settings_set(&s, "nice", "-20", NULL), 0);
	assert_int_equal(s.nice, -20);
	assert_int_equal(boot_settings_set(&s, "kmsg", "off", NULL), 0);
	assert_int_equal(s.log, BOOT_LOG_OFF);
	assert_int_equal(boot_settings_set(&s, "exact", "bpf", NULL), 0);
	assert_int_equal(s.exact, BOOT_EXACT_BPF);
}

/* What depends on other settings, where nothing was said of it. */
static void finishes(void **state)
{
	struct boot_settings s;

	(void)state;
	boot_settings_init(&s);
	boot_settings_finish(&s); /* it waits for nothing but quiet, and writes a file */
	assert_true(s.idle_ns > 0);
	assert_string_equal(s.out, BOOT_SETTINGS_OUT);
	assert_int_equal(s.spool_bytes, 384U << 10);
	boot_settings_init(&s);
	boot_settings_set(&s, "until", "port:22", NULL);
	boot_settings_set(&s, "idle", "3s", NULL);
	boot_settings_set(&s, "collector", "h:1", NULL);
	boot_settings_set(&s, "exact", "auto", NULL);
	boot_settings_finish(&s); /* for both, and sends it */
	assert_int_equal(s.idle_ns, 3 * CLOCK_NS_PER_S);
	assert_string_equal(s.out, "");
	assert_int_equal(s.spool_bytes, 4U << 20);
	boot_settings_init(&s);
	boot_settings_set(&s, "out", "/x", NULL);
	boot_settings_set(&s, "spool", "1M", NULL);
	boot_settings_finish(&s);
	assert_string_equal(s.out, "/x");
	assert_int_equal(s.spool_bytes, 1U << 20);
}

static int load(struct boot_settings *s, char *const *argv, int argc, const char *kernel,
		struct error *e)
{
	struct args a;

	assert_int_equal(args_parse(&a, &command_boot_recorder, argc, argv, e), 0);
	boot_settings_init(s);
	return boot_settings_load(s, &a, kernel, e);
}

/* The kernel's command line over the file, and the options over both. */
static void reads_in_order(void **state)
{
	static const char kernel[] =
		"kiseki_boot.until=unit:a.target kiseki_boot.interval=50ms kiseki_boot.name=k";
	char *const given[] = { (char *)"kiseki-boot", (char *)"--config=/dev/null",
				(char *)"--until=port:22", (char *)"--threads",
				(char *)"--name=o" };
	char *const missing[] = { (char *)"kiseki-boot", (char *)"--config=/nowhere/boot.conf" };
	struct error e = ERROR_INIT;
	struct boot_settings s;

	(void)state;
	assert_int_equal(load(&s, given, 2, kernel, &e), 0);
	assert_int_equal(s.until.type, TARGET_UNIT);
	assert_int_equal(s.interval_ns, 50 * CLOCK_NS_PER_MS);
	assert_string_equal(s.name, "k");
	assert_false(s.threads);
	assert_int_equal(load(&s, given, 5, kernel, &e), 0);
	assert_int_equal(s.until.type, TARGET_PORT);
	assert_int_equal(s.interval_ns, 50 * CLOCK_NS_PER_MS);
	assert_string_equal(s.name, "o");
	assert_true(s.threads);
	assert_int_equal(load(&s, missing, 2, kernel, &e), -ENOENT);
	assert_int_equal(load(&s, given, 2, "kiseki_boot.interval=0", &e), -EINVAL);
	assert_non_null(strstr(e.text, "interval"));
}

/* The file that is installed has every key, as a remark, and reads as the defaults. */
static void has_every_key(void **state)
{
	static char text[16384];
	struct boot_settings s, defaults;
	FILE *f = fopen(SOURCE_ROOT "/packaging/boot.conf", "r");
	char key[64], *p;
	size_t i, len;

	(void)state;
	assert_non_null(f);
	len = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	boot_settings_init(&s);
	boot_settings_init(&defaults);
	for (i = 0; boot_settings_key(i); i++) {
		snprintf(key, sizeof(key), "\n#%s =", boot_settings_key(i));
		p = strstr(text, key);
		assert_non_null(p); /* else the file lacks this key */
		if (p[strlen(key)] == ' ')
			p[1] = ' '; /* it has a default: let it count */
	}
	assert_int_equal(boot_settings_parse(&s, text, len, "boot.conf", NULL), 0);
	s.has_idle = s.has_time = false;
	assert_memory_equal(&s, &defaults, sizeof(s));
}

static void knows_idle(void **state)
{
	struct idle_watch w = { 0 };
	struct machine_stat m = { .forks = 10 };
	uint64_t now = CLOCK_NS_PER_S, i;

	(void)state;
	assert_false(idle_watch_take(&w, &m, 10000000, 0, now));
	for (i = 1; i <= 3; i++) {
		m.times[BOOT_CPU_IDLE] += 97;
		m.times[BOOT_CPU_SYSTEM] += 3;
		now += CLOCK_NS_PER_S;
		assert_false(idle_watch_take(&w, &m, 10000000, 0, now - 1));
		assert_true(idle_watch_take(&w, &m, 10000000, 0, now));
		assert_int_equal(w.idle_ns, i * CLOCK_NS_PER_S);
	}
	m.times[BOOT_CPU_IDLE] += 90;
	m.times[BOOT_CPU_SYSTEM] += 10;
	now += CLOCK_NS_PER_S;
	assert_true(idle_watch_take(&w, &m, 10000000, 60000000, now)); /* most of it our own */
	assert_int_equal(w.idle_ns, 4 * CLOCK_NS_PER_S);
	m.times[BOOT_CPU_IDLE] += 90;
	m.times[BOOT_CPU_SYSTEM] += 10;
	now += CLOCK_NS_PER_S;
	assert_true(idle_watch_take(&w, &m, 10000000, 60000000, now));
	assert_int_equal(w.idle_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_process_events),
		cmocka_unit_test(reads_accounts),
		cmocka_unit_test(sums_threads),
		cmocka_unit_test(keeps_tasks),
		cmocka_unit_test(reads_settings),
		cmocka_unit_test(knows_idle),
		cmocka_unit_test(has_every_key),
		cmocka_unit_test(reads_in_order),
		cmocka_unit_test(refuses_values),
		cmocka_unit_test(takes_values),
		cmocka_unit_test(finishes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
