/* SPDX-License-Identifier: MIT */
/* Who a device says it is: the order of the sources, and what stays the same. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/agent/identity.h"
#include "tools/syscall_filter.h"

#define MACHINE "00112233445566778899aabbccddeeff\n"

static char folder[64], state_dir[80], machine_id[80], device_id[100];

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/kiseki-identity-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(state_dir, sizeof(state_dir), "%s/state", folder);
	snprintf(machine_id, sizeof(machine_id), "%s/machine-id", folder);
	snprintf(device_id, sizeof(device_id), "%s/device-id", state_dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(machine_id);
	unlink(device_id);
	rmdir(state_dir);
	return rmdir(folder);
}

static struct message_id device(const char *name)
{
	struct message_id id;
	struct error e = ERROR_INIT;

	assert_int_equal(identity_device(&id, name, state_dir, machine_id, &e), 0);
	return id;
}

static bool same(struct message_id a, struct message_id b)
{
	return !memcmp(a.bytes, b.bytes, sizeof(a.bytes));
}

static void comes_from_the_machine(void **state)
{
	struct message_id machine;

	(void)state;
	write_text(machine_id, MACHINE);
	assert_int_equal(identity_parse(&machine, MACHINE), 0);
	assert_true(same(device("a"), device("a")));
	assert_false(same(device("a"), device("b")));
	assert_false(same(device("a"), machine)); /* which stays here */
	assert_int_not_equal(access(device_id, F_OK), 0);
}

static void is_made_where_there_is_none(void **state)
{
	struct message_id first;

	(void)state;
	first = device("a");
	assert_int_equal(access(device_id, F_OK), 0);
	assert_true(same(device("a"), first));
	write_text(machine_id, MACHINE); /* systemd was installed later: it stays who it is */
	assert_true(same(device("a"), first));
	unlink(device_id);
	assert_false(same(device("a"), first));
	write_text(machine_id, "uninitialized\n");
	first = device("a");
	assert_true(same(device("a"), first));
}

/* A child in which the kernel has no random bytes yet: what it makes is another identity each time, and stays. */
static void make_early(int fd)
{
	const struct syscall_filter none = { syscall_filter_get("getrandom"), EAGAIN };
	struct message_id ids[3];
	struct error e = ERROR_INIT;
	size_t i;

	if (syscall_filter_set(&none, 1) < 0)
		_exit(77);
	for (i = 0; i < 3; i++) {
		if (identity_device(&ids[i], "a", state_dir, machine_id, &e) < 0)
			_exit(1);
		if (i)
			unlink(device_id);
	}
	_exit(write(fd, ids, sizeof(ids)) == (ssize_t)sizeof(ids) ? 0 : 1);
}

static void does_not_wait_for_random_bytes(void **state)
{
	static const struct message_id zero;
	struct message_id ids[3];
	int fds[2], status = -1;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		make_early(fds[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("system calls cannot be denied here\n");
		skip();
	}
	assert_int_equal(status, 0);
	assert_int_equal(read(fds[0], ids, sizeof(ids)), sizeof(ids));
	assert_true(same(ids[0], ids[1]));
	assert_false(same(ids[1], ids[2]));
	assert_false(same(ids[0], zero));
	close(fds[0]);
	close(fds[1]);
}

static void refuses_a_damaged_file(void **state)
{
	struct error e = ERROR_INIT;
	struct message_id id;

	(void)state;
	device("a");
	write_text(device_id, "0011\n");
	assert_int_equal(identity_device(&id, "a", state_dir, machine_id, &e), -EINVAL);
	assert_non_null(strstr(e.text, device_id));
}

/* Of a driver that connects by itself; another becomes who the agent is. */
static void asks_the_driver(void **state)
{
	char id[100], collector[100];
	struct message_id got = { { 7 } }, wanted;

	(void)state;
	snprintf(id, sizeof(id), "%s/id", folder);
	snprintf(collector, sizeof(collector), "%s/collector", folder);
	assert_int_equal(identity_of_driver(&got, folder), -ENOENT);
	write_text(id, "\n");
	write_text(collector, "\n");
	assert_int_equal(identity_of_driver(&got, folder), -ENOENT);
	write_text(collector, "10.0.2.2:7077\n");
	assert_int_equal(identity_of_driver(&got, folder), -EAGAIN);
	assert_int_equal(got.bytes[0], 7);
	write_text(id, MACHINE);
	assert_int_equal(identity_of_driver(&got, folder), 0);
	assert_int_equal(identity_parse(&wanted, MACHINE), 0);
	assert_true(same(got, wanted));
	unlink(id);
	unlink(collector);
}

static void reads_hex(void **state)
{
	struct message_id id;

	(void)state;
	assert_int_equal(identity_parse(&id, "00112233-4455-6677-8899-AABBCCDDEEFF"), 0);
	assert_int_equal(id.bytes[15], 0xff);
	assert_int_equal(id.bytes[10], 0xaa);
	assert_int_equal(identity_parse(&id, ""), -EINVAL);
	assert_int_equal(identity_parse(&id, "-0112233445566778899aabbccddeeff"), -EINVAL);
	assert_int_equal(identity_parse(&id, "00112233445566778899aabbccddeef"), -EINVAL);
	assert_int_equal(identity_parse(&id, "00112233445566778899aabbccddeeff0"), -EINVAL);
	assert_int_equal(identity_parse(&id, "g0112233445566778899aabbccddeeff"), -EINVAL);
}

static void counts_cpus(void **state)
{
	(void)state;
	assert_int_equal(identity_parse_cpus("0\n"), 1);
	assert_int_equal(identity_parse_cpus("0-1\n"), 2);
	assert_int_equal(identity_parse_cpus("0-3,8"), 9);
	assert_int_equal(identity_parse_cpus("0,2-4095\n"), 4096);
	assert_int_equal(identity_parse_cpus("0-4096\n"), 0);
	assert_int_equal(identity_parse_cpus(""), 0);
	assert_int_equal(identity_parse_cpus("x"), 0);
	assert_int_equal(identity_parse_cpus("0-"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(comes_from_the_machine, setup, teardown),
		cmocka_unit_test_setup_teardown(is_made_where_there_is_none, setup, teardown),
		cmocka_unit_test_setup_teardown(does_not_wait_for_random_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_a_damaged_file, setup, teardown),
		cmocka_unit_test_setup_teardown(asks_the_driver, setup, teardown),
		cmocka_unit_test(reads_hex),
		cmocka_unit_test(counts_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
