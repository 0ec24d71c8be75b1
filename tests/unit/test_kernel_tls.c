/* SPDX-License-Identifier: MIT */
/*
 * TLS by the kernel, between two sockets of loopback that have each other's keys. Where the kernel has
 * none, that is what must be said; the boards have it (tests/boards/driver_tls.py).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/agent/kernel_tls.h"

static void make_pair(int ret[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(a);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_true(door >= 0);
	assert_int_equal(bind(door, (const struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(door, 1), 0);
	assert_int_equal(getsockname(door, (struct sockaddr *)&a, &len), 0);
	ret[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(ret[0], (const struct sockaddr *)&a, sizeof(a)), 0);
	ret[1] = accept(door, NULL, NULL);
	assert_true(ret[1] >= 0);
	close(door);
}

static void close_pair(const int pair[2])
{
	close(pair[0]);
	close(pair[1]);
}

static bool has_tls(void)
{
	struct error e = ERROR_INIT;
	int pair[2], r;

	make_pair(pair);
	r = kernel_tls_open(pair[0], &e);
	close_pair(pair);
	if (r == 0)
		return true;
	assert_int_equal(r, -ENOENT);
	assert_non_null(strstr(e.text, "CONFIG_TLS"));
	return false;
}

static int set_way(int fd, enum kernel_tls_cipher cipher, bool is_sending, uint8_t way)
{
	struct kernel_tls_key k = { .cipher = cipher, .is_sending = is_sending };
	struct error e = ERROR_INIT;

	memset(k.key, 0x40 + way, sizeof(k.key));
	memset(k.iv, 0x60 + way, sizeof(k.iv));
	return kernel_tls_set(fd, &k, &e);
}

static void check_cipher(enum kernel_tls_cipher cipher)
{
	struct error e = ERROR_INIT;
	char got[6] = { 0 };
	int pair[2], i;

	make_pair(pair);
	for (i = 0; i < 2; i++) {
		assert_int_equal(kernel_tls_open(pair[i], &e), 0);
		assert_int_equal(kernel_tls_open(pair[i], &e), 0); /* it was already */
		assert_int_equal(set_way(pair[i], cipher, true, (uint8_t)i), 0);
		assert_int_equal(set_way(pair[i], cipher, false, (uint8_t)!i), 0);
	}
	for (i = 0; i < 2; i++) {
		assert_int_equal(write(pair[i], "hello", 5), 5);
		assert_int_equal(recv(pair[!i], got, 5, MSG_WAITALL), 5);
		assert_string_equal(got, "hello");
	}
	close_pair(pair);
}

static void both_ciphers(void **state)
{
	(void)state;
	if (!has_tls())
		skip();
	check_cipher(KERNEL_TLS_AES_128_GCM);
	check_cipher(KERNEL_TLS_CHACHA20_POLY1305);
}

/* What is no connection is refused, with a reason that is not another's. */
static void no_connection(void **state)
{
	struct error e = ERROR_INIT;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), pair[2];

	(void)state;
	assert_true(kernel_tls_open(fd, &e) < 0);
	assert_non_null(strstr(e.text, "driver's connection"));
	close(fd);
	assert_int_equal(kernel_tls_open(-1, &e), -EBADF);
	make_pair(pair); /* keys, and nobody asked for TLS */
	assert_true(set_way(pair[0], KERNEL_TLS_AES_128_GCM, true, 0) < 0);
	assert_true(set_way(pair[0], KERNEL_TLS_CHACHA20_POLY1305, true, 0) < 0);
	close_pair(pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ciphers),
		cmocka_unit_test(no_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
