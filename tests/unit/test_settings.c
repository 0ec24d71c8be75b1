/* SPDX-License-Identifier: MIT */
/*
 * What the agent is told at its start: each key, wrong values, file and line in messages; and that
 * the file in packaging/ documents every key with its default.
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "command/config_args.h"
#include "command/setting.h"
#include "device/agent/program.h"
#include "device/agent/settings.h"

static int parse(struct settings *s, const char *text, struct error *e)
{
	settings_init(s);
	return settings_parse(s, text, strlen(text), "a.conf", e);
}

static void reads_every_key(void **state)
{
	static const char text[] = "# a remark\n"
				   "\n"
				   "collector=10.0.0.1:99\n"
				   "  name =  board-7  \n"
				   "source = bpf\r\n"
				   "start = yes\n"
				   "events = switch, wakeup,exit\n"
				   "pid = 1,22, 333\n"
				   "comm = sshd,kworker*\n"
				   "cgroup = system.slice, /user.slice\n"
				   "flush = 2s\n"
				   "block = 8K\n"
				   "ring = 2M\n"
				   "resolution = 64\n"
				   "spool = 1M\n"
				   "spool-file = /var/spool/x = y\n"
				   "policy = flight-recorder\n"
				   "state-dir = /tmp/s\n"
				   "keep-recording = yes\n"
				   "nice = -5";
	struct error e = ERROR_INIT;
	struct settings s;

	(void)state;
	assert_int_equal(parse(&s, text, &e), 0);
	assert_string_equal(s.collector, "10.0.0.1:99");
	assert_string_equal(s.name, "board-7");
	assert_int_equal(s.config.origin, ORIGIN_BPF);
	assert_true(s.start && s.keep_recording);
	assert_int_equal(s.config.events,
			 1U << SCHED_SWITCH | 1U << SCHED_WAKEUP | 1U << SCHED_EXIT);
	assert_int_equal(s.config.n_pids, 3);
	assert_int_equal(s.config.pids[2], 333);
	assert_int_equal(s.config.n_comms, 2);
	assert_string_equal(s.config.comms[1], "kworker*");
	assert_int_equal(s.config.n_cgroups, 2);
	assert_string_equal(s.config.cgroups[1], "/user.slice");
	assert_int_equal(s.config.flush_ms, 2000);
	assert_int_equal(s.config.block_bytes, 8192);
	assert_int_equal(s.config.ring_kib, 2048);
	assert_int_equal(s.config.resolution_ns, 64);
	assert_int_equal(s.spool_bytes, 1U << 20);
	assert_string_equal(s.spool_file, "/var/spool/x = y");
	assert_int_equal(s.config.policy, POLICY_FLIGHT);
	assert_string_equal(s.state_dir, "/tmp/s");
	assert_int_equal(s.nice, -5);
}

/* A share of the memory, unless the device says something else; never less than it takes by itself. */
static void bounds_what_a_collector_may_ask(void **state)
{
	struct error e = ERROR_INIT;
	struct settings s;

	(void)state;
	settings_init(&s);
	assert_int_equal(settings_ring_most_kib(&s, 512ULL << 20, 4), 8 << 10);
	assert_int_equal(settings_ring_most_kib(&s, 16ULL << 20, 4), 512);
	assert_int_equal(settings_ring_most_kib(&s, 1ULL << 40, 2), 256 << 10);
	assert_int_equal(settings_ring_most_kib(&s, 0, 0), 512);
	assert_int_equal(parse(&s, "ring = 8M", &e), 0);
	assert_int_equal(settings_ring_most_kib(&s, 64ULL << 20, 4), 8 << 10);
	assert_int_equal(parse(&s, "ring-most = 64K", &e), 0);
	assert_int_equal(settings_ring_most_kib(&s, 512ULL << 20, 4), 64);
	assert_int_equal(parse(&s, "ring-most = 63K", &e), -EINVAL);
	assert_int_equal(parse(&s, "ring-most = 257M", &e), -EINVAL);
}

static void refuses_wrong_values(void **state)
{
	static const char *const wrong[] = { "collector =",
					     "name = a/b",
					     "name = ..",
					     "name = -\1",
					     "source = kprobe",
					     "start = 1",
					     "events =",
					     "events = sleep",
					     "events = all x",
					     "events = switch wakeup",
					     "pid = x",
					     "pid = -1",
					     "pid = 99999999999",
					     "flush = 0",
					     "flush = 60001",
					     "flush = 61s",
					     "flush = 1 s",
					     "block = 4095",
					     "block = 65K",
					     "block = 3k",
					     "ring = 0",
					     "ring = 257M",
					     "ring = 18446744073709551615G",
					     "resolution = 3",
					     "spool = 1K",
					     "spool = 2G",
					     "policy = newest",
					     "nice = 20",
					     "nice = -21",
					     "nice = --1",
					     "nice =",
					     "keep-recording = maybe",
					     "comm = a_name_of_17_byte",
					     "cgroup = a,b,c,d,e",
					     "func-socket = some",
					     "objects-rate = fast",
					     "spool-file =" };
	struct error e = ERROR_INIT;
	struct settings s;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		e.text[0] = 0;
		assert_int_equal(parse(&s, wrong[i], &e), -EINVAL);
		assert_memory_equal(e.text, "cannot read a.conf:1: ", 22);
	}
}

static void names_the_line(void **state)
{
	struct error e = ERROR_INIT;
	struct settings s;
	char text[SETTING_LINE_MAX];

	(void)state;
	assert_int_equal(parse(&s, "flush = 5\n\n# x\nflsh = 5\n", &e), -EINVAL);
	assert_string_equal(e.text, "cannot read a.conf:4: there is no setting \"flsh\"");
	assert_int_equal(parse(&s, "\nflush\n", &e), -EINVAL);
	assert_string_equal(e.text, "cannot read a.conf:2: \"flush\" is not `key = value`");
	assert_int_equal(parse(&s, "flush = 0", &e), -EINVAL);
	assert_string_equal(
		e.text,
		"cannot read a.conf:1: cannot use flush: an event cannot wait \"0\": 1ms to 60s");
	assert_int_equal(parse(&s, "nice = 20", &e), -EINVAL);
	assert_string_equal(e.text,
			    "cannot read a.conf:1: cannot use nice: it is -20 to 19, not \"20\"");
	memset(text, '#', sizeof(text));
	assert_int_equal(settings_parse(&s, text, sizeof(text), "a.conf", &e), -EINVAL);
	assert_int_equal(settings_parse(&s, "#\0\n", 3, "a.conf", &e), -EINVAL);
}

/* A path is a socket's; nothing and "none" are that there is none. */
static void reads_no_socket(void **state)
{
	struct error e = ERROR_INIT;
	struct settings s;

	(void)state;
	assert_int_equal(parse(&s, "func-socket = /run/x", &e), 0);
	assert_string_equal(s.func_socket, "/run/x");
	assert_int_equal(parse(&s, "func-socket = none", &e), 0);
	assert_string_equal(s.func_socket, "");
	assert_int_equal(parse(&s, "func-socket =", &e), 0);
	assert_string_equal(s.func_socket, "");
}

/* A rate says that objects may go anywhere, not only to where they go by themselves. */
static void reads_a_rate(void **state)
{
	struct error e = ERROR_INIT;
	struct settings s;

	(void)state;
	assert_int_equal(parse(&s, "nice = 5", &e), 0);
	assert_int_equal(s.nice, 5);
	assert_false(s.objects_anywhere);
	assert_int_equal(parse(&s, "objects-rate = 64K", &e), 0);
	assert_int_equal(s.objects_rate, 64U << 10);
	assert_true(s.objects_anywhere);
}

/* The lists have limits, and a wrong one leaves the old. */
static void bounds_lists(void **state)
{
	struct error e = ERROR_INIT;
	char list[2000] = "";
	struct settings s;
	size_t n = 0, i;

	(void)state;
	settings_init(&s);
	for (i = 0; i < CONFIG_PIDS_MAX; i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%zu", i ? "," : "", i + 1);
	assert_int_equal(settings_set(&s, "pid", list, &e), 0);
	assert_int_equal(s.config.n_pids, CONFIG_PIDS_MAX);
	snprintf(list + n, sizeof(list) - n, ",9");
	assert_int_equal(settings_set(&s, "pid", list, &e), -EINVAL);
	assert_int_equal(s.config.pids[CONFIG_PIDS_MAX - 1], CONFIG_PIDS_MAX);
	assert_int_equal(settings_set(&s, "pid", "", &e), 0);
	assert_int_equal(s.config.n_pids, 0);
	for (i = n = 0; i < CONFIG_COMMS_MAX; i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%st%zu", i ? ", " : "", i);
	assert_int_equal(settings_set(&s, "comm", list, &e), 0);
	assert_int_equal(s.config.n_comms, CONFIG_COMMS_MAX);
	snprintf(list + n, sizeof(list) - n, ",t");
	assert_int_equal(settings_set(&s, "comm", list, &e), -EINVAL);
	assert_int_equal(s.config.given, CONFIG_ALL);
}

/* What to trace is read as `kiseki start` reads it: the same units, the same messages. */
static void reads_as_the_collector_does(void **state)
{
	static const char *const values[] = {
		"",    "0",	"1",	    "64",     "100",	     "512",    "4096",
		"8K",  "8k",	"1M",	    "1G",     "2s",	     "64ns",   "1m",
		"bpf", "auto",	"driver",   "flight", "keep-oldest", "switch", "switch, exit",
		"all", "a b,c", "a\\,b,c*", "a, b",   "/x, y",	     "../x",   "1 ,2",
	};
	struct error ours = ERROR_INIT, theirs = ERROR_INIT;
	struct message_config config;
	struct settings s;
	uint32_t field;
	size_t i;

	(void)state;
	for (field = CONFIG_ORIGIN; field <= CONFIG_CGROUP_PATHS; field++) {
		for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			const char *key = config_option_name(field);

			settings_init(&s);
			config = s.config;
			ours.text[0] = theirs.text[0] = 0;
			assert_int_equal(settings_set(&s, key, values[i], &ours),
					 config_option_parse(&config, key, values[i], &theirs));
			assert_memory_equal(&s.config, &config, sizeof(config));
			assert_string_equal(ours.text, theirs.text);
		}
	}
	assert_int_equal(settings_set(&s, "ring", "512", &ours), 0);
	assert_int_equal(s.config.ring_kib, 512);
}

/* The file that is installed: without its # it says the defaults, and all of the keys. */
static void documents_every_key(void **state)
{
	FILE *f = fopen(SOURCE_ROOT "/packaging/agent.conf", "r");
	struct error e = ERROR_INIT;
	struct settings defaults, s;
	char line[256], wanted[64];
	bool seen[64] = { false };
	size_t i;

	(void)state;
	assert_non_null(f);
	settings_init(&defaults);
	memcpy(&s, &defaults, sizeof(s)); /* with what lies between its members */
	while (fgets(line, sizeof(line), f)) {
		bool empty = strstr(line, "=\n");

		for (i = 0; settings_key(i); i++) {
			snprintf(wanted, sizeof(wanted), "#%s =", settings_key(i));
			if (strncmp(line, wanted, strlen(wanted)))
				continue;
			seen[i] = true;
			if (!empty)
				assert_int_equal(settings_parse(&s, line + 1, strlen(line + 1),
								"agent.conf", &e),
						 0);
		}
	}
	fclose(f);
	assert_memory_equal(&s, &defaults, sizeof(s));
	for (i = 0; settings_key(i); i++)
		assert_true(seen[i]);
}

static const struct cli_option *find_option(const char *name)
{
	const struct cli_option *o;

	for (o = command_agent.options; o->name; o++)
		if (!strcmp(o->name, name))
			return o;
	return NULL;
}

static void has_an_option_for_every_key(void **state)
{
	size_t i, n = 0;
	const struct cli_option *o;

	(void)state;
	for (i = 0; settings_key(i); i++)
		assert_non_null(find_option(settings_key(i)));
	for (o = command_agent.options; o->name; o++)
		n++;
	assert_int_equal(n, i + 3); /* config, version, man */
	assert_true(n <= COMMAND_OPTIONS_MAX);
}

static int load(struct settings *s, char *const argv[], int argc, struct error *e)
{
	struct args args;
	int r = args_parse(&args, &command_agent, argc, argv, e);

	settings_init(s);
	return r < 0 ? r : settings_load(s, &args, e);
}

static void puts_options_over_the_file(void **state)
{
	char path[] = "/tmp/kiseki-settings-XXXXXX", config[80];
	char *const good[] = { (char *)"kiseki-agent", config, (char *)"--flush=30",
			       (char *)"--start", (char *)"--name=n1" };
	char *const bad[] = { (char *)"kiseki-agent", config, (char *)"--ring=0" };
	struct error e = ERROR_INIT;
	struct settings s;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "flush = 20\nblock = 8K\n", 22), 22);
	close(fd);
	snprintf(config, sizeof(config), "--config=%s", path);
	assert_int_equal(load(&s, good, 5, &e), 0);
	assert_int_equal(s.config.flush_ms, 30);
	assert_int_equal(s.config.block_bytes, 8192);
	assert_true(s.start);
	assert_string_equal(s.spool_file, "/run/kiseki/n1.spool");
	assert_int_equal(load(&s, bad, 3, &e), -EINVAL);
	assert_string_equal(e.text, "cannot use ring: a ring cannot be \"0\" large: 1K to 256M");
	unlink(path);
	assert_int_equal(load(&s, good, 5, &e), -ENOENT);
	assert_non_null(strstr(e.text, path));
}

/* Traced programs' records are beside the spool, wherever that is. */
static void puts_records_beside_the_spool(void **state)
{
	char spool[sizeof(((struct settings *)0)->spool_file) + 20] = "--spool-file=/";
	char *const beside[] = { (char *)"kiseki-agent", (char *)"--config=/dev/null",
				 (char *)"--name=n1", (char *)"--spool-file=/var/x/s" };
	char *const here[] = { (char *)"kiseki-agent", (char *)"--config=/dev/null",
			       (char *)"--name=n1", (char *)"--spool-file=s" };
	char *const told[] = { (char *)"kiseki-agent", (char *)"--config=/dev/null",
			       (char *)"--spool-file=s", (char *)"--func-folder=/f" };
	char *const far[] = { (char *)"kiseki-agent", (char *)"--config=/dev/null",
			      (char *)"--name=n1", spool };
	size_t at = strlen(spool), end = at + sizeof(((struct settings *)0)->spool_file) - 4;
	struct error e = ERROR_INIT;
	struct settings s;

	(void)state;
	assert_int_equal(load(&s, beside, 4, &e), 0);
	assert_string_equal(s.func_folder, "/var/x/func-n1");
	assert_int_equal(load(&s, here, 4, &e), 0);
	assert_string_equal(s.func_folder, "func-n1");
	assert_int_equal(load(&s, told, 4, &e), 0);
	assert_string_equal(s.func_folder, "/f");
	memset(spool + at, 'x', end - at); /* has room, but its folder has none for more */
	spool[end] = '/';
	spool[end + 1] = 's';
	spool[end + 2] = 0;
	assert_int_equal(load(&s, far, 4, &e), -EINVAL);
	assert_string_equal(e.text, "cannot use spool-file: the path is too long");
}

/* The machine's name, up to its first point; one that cannot be a device's is not used. */
static void is_called_as_the_machine(void **state)
{
	static const struct {
		const char *host, *name;
	} all[] = { { "board-7", "board-7" },
		    { "board.example.org", "board" },
		    { "a board", "device" },
		    { ".example", "device" },
		    { "", "device" } };
	struct settings s;
	size_t i;

	(void)state;
	if (unshare(CLONE_NEWUTS) && unshare(CLONE_NEWUSER | CLONE_NEWUTS))
		skip(); /* machines that let nobody have a name of their own */
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_int_equal(sethostname(all[i].host, strlen(all[i].host)), 0);
		settings_init(&s);
		assert_string_equal(s.name, all[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_key),
		cmocka_unit_test(bounds_what_a_collector_may_ask),
		cmocka_unit_test(refuses_wrong_values),
		cmocka_unit_test(names_the_line),
		cmocka_unit_test(reads_no_socket),
		cmocka_unit_test(reads_a_rate),
		cmocka_unit_test(bounds_lists),
		cmocka_unit_test(reads_as_the_collector_does),
		cmocka_unit_test(documents_every_key),
		cmocka_unit_test(has_an_option_for_every_key),
		cmocka_unit_test(puts_options_over_the_file),
		cmocka_unit_test(puts_records_beside_the_spool),
		cmocka_unit_test(is_called_as_the_machine), /* the last: it leaves the name space */
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
