/* SPDX-License-Identifier: MIT */
/* A connection whose request does not come is shut down; one that waits for the server is not. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/http_connections.h"

#define LONG_MS 20000 /* far longer than it takes; the test ends earlier unless it fails */

static void shuts_late_ones(void **state)
{
	struct http_connection *late, *served, *gone;
	struct http_connections *c = NULL;
	struct error e = ERROR_INIT;
	int a[2], b[2], d[2];
	struct pollfd p = { .events = POLLIN };
	char byte;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, a), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, b), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, d), 0);
	assert_int_equal(http_connections_new(&c, 50, &e), 0);
	assert_int_equal(http_connections_count(c), 0);
	served = http_connections_push(c, b[0]);
	http_connection_set_waiting(c, served, 0);
	gone = http_connections_push(c, d[0]);
	late = http_connections_push(c, a[0]);
	assert_int_equal(http_connections_count(c), 3);
	http_connections_pop(c, gone);

	p.fd = a[1];
	assert_int_equal(poll(&p, 1, LONG_MS), 1);
	assert_int_equal(read(a[1], &byte, 1), 0);
	/* The others were there as long, and still work. */
	assert_int_equal(write(b[0], "x", 1), 1);
	assert_int_equal(read(b[1], &byte, 1), 1);
	assert_int_equal(write(d[0], "x", 1), 1);
	assert_int_equal(read(d[1], &byte, 1), 1);
	/* Answered, the connection must bring its next request in time. */
	http_connection_set_waiting(c, served, 1);
	p.fd = b[1];
	assert_int_equal(poll(&p, 1, LONG_MS), 1);
	assert_int_equal(read(b[1], &byte, 1), 0);

	http_connections_pop(c, late);
	http_connections_pop(c, served);
	http_connections_pop(c, NULL);
	assert_int_equal(http_connections_count(c), 0);
	http_connections_free(c);
	http_connections_free(NULL);
	close(a[0]), close(a[1]), close(b[0]), close(b[1]), close(d[0]), close(d[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shuts_late_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
