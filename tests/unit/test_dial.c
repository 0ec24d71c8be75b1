/* SPDX-License-Identifier: MIT */
/* The way to a connection: addresses, names, refusals, a socket that was given. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/agent/dial.h"

/* A socket of loopback that listens, or not; its port. */
static int make_port(bool listens, uint16_t *ret_port)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&a, sizeof(a)), 0);
	if (listens)
		assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	*ret_port = ntohs(a.sin_port);
	return fd;
}

/* Goes on until it is decided, as the agent's loop does. */
static int finish(struct dial *d, struct error *e)
{
	uint64_t now_ms = 1;
	int r;

	while ((r = dial_open(d, now_ms, e)) == 0) {
		struct pollfd p = { .fd = dial_fd(d), .events = dial_events(d) };

		assert_true(p.fd >= 0 && dial_next(d) > now_ms);
		if (poll(&p, 1, 20000) == 0)
			now_ms = dial_next(d);
	}
	return r;
}

static void check_connects(const char *host)
{
	CLEANUP(dial) struct dial *d = NULL;
	struct error e = ERROR_INIT;
	char address[80];
	uint16_t port;
	int server = make_port(true, &port), peer;
	char c = 0;

	snprintf(address, sizeof(address), "%s:%u", host, port);
	assert_int_equal(dial_new(&d, address, &e), 0);
	assert_false(dial_is_once(d));
	assert_int_equal(finish(d, &e), 1);
	assert_true(dial_is_open(d) && dial_next(d) == UINT64_MAX);
	peer = accept(server, NULL, NULL);
	assert_true(peer >= 0);
	assert_int_equal(write(dial_fd(d), "x", 1), 1);
	assert_int_equal(read(peer, &c, 1), 1);
	assert_int_equal(c, 'x');
	dial_close(d);
	assert_int_equal(dial_fd(d), -1);
	assert_int_equal(read(peer, &c, 1), 0);
	assert_int_equal(finish(d, &e), 1); /* as often as wanted */
	close(peer);
	close(server);
}

static void connects_to_a_number(void **state)
{
	(void)state;
	check_connects("127.0.0.1");
}

/* localhost is in /etc/hosts and has perhaps an IPv6 address first, where nobody listens. */
static void connects_to_a_name(void **state)
{
	FILE *f = fopen("/etc/hosts", "r");
	char line[256];
	bool known = false;

	(void)state;
	while (f && fgets(line, sizeof(line), f))
		known |= strstr(line, "127.0.0.1") && strstr(line, "localhost");
	if (f)
		fclose(f);
	if (!known) {
		print_message("skipped: /etc/hosts does not know localhost\n");
		skip();
	}
	check_connects("localhost");
}

static void says_why_it_cannot(void **state)
{
	CLEANUP(dial) struct dial *d = NULL, *named = NULL;
	struct error e = ERROR_INIT;
	char address[80];
	uint16_t port;
	int nobody = make_port(false, &port);

	(void)state;
	snprintf(address, sizeof(address), "127.0.0.1:%u", port);
	assert_int_equal(dial_new(&d, address, &e), 0);
	assert_int_equal(finish(d, &e), -ECONNREFUSED);
	assert_non_null(strstr(e.text, address));
	assert_int_equal(dial_fd(d), -1);
	close(nobody);
	assert_int_equal(dial_new(&named, "no_such.invalid:7077", &e), 0);
	assert_true(finish(named, &e) < 0);
	assert_non_null(strstr(e.text, "cannot look up no_such.invalid"));
}

static void gives_up_in_time(void **state)
{
	CLEANUP(dial) struct dial *d = NULL;
	struct error e = ERROR_INIT;
	int r;

	(void)state;
	assert_int_equal(dial_new(&d, "no_such.invalid:7077", &e), 0);
	assert_int_equal(dial_open(d, 1, &e), 0); /* the child is on its way */
	dial_close(d);				  /* and is ended */
	assert_int_equal(dial_fd(d), -1);
	r = dial_open(d, 1, &e);
	assert_int_equal(r, 0);
	r = dial_open(d, dial_next(d), &e);
	assert_true(r < 0);
}

static void uses_a_given_socket_once(void **state)
{
	CLEANUP(dial) struct dial *d = NULL;
	struct error e = ERROR_INIT;
	char address[16];
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	snprintf(address, sizeof(address), "fd:%d", pair[0]);
	assert_int_equal(dial_new(&d, address, &e), 0);
	assert_true(dial_is_once(d));
	assert_int_equal(dial_open(d, 1, &e), 1);
	assert_int_equal(write(pair[1], "y", 1), 1);
	assert_int_equal(read(dial_fd(d), address, 1), 1);
	dial_close(d);
	assert_int_equal(dial_open(d, 1, &e), -ENOTCONN);
	close(pair[1]);
}

static void refuses_what_is_no_address(void **state)
{
	static const char *const wrong[] = { "",    "host", ":7077",	  "host:",    "host:0",
					     "h:x", "h:1x", "h:65536",	  "::1:7077", "[]:1",
					     "fd:", "fd:x", "fd:99999999" };
	static const char *const right[] = { "h:1", "127.0.0.1:65535", "[::1]:7077", "a-b.c:80" };
	struct error e = ERROR_INIT;
	struct dial *d = NULL;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(dial_new(&d, wrong[i], &e), -EINVAL);
	assert_null(d);
	for (i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		assert_int_equal(dial_new(&d, right[i], &e), 0);
		dial_free(d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connects_to_a_number),
		cmocka_unit_test(connects_to_a_name),
		cmocka_unit_test(says_why_it_cannot),
		cmocka_unit_test(gives_up_in_time),
		cmocka_unit_test(uses_a_given_socket_once),
		cmocka_unit_test(refuses_what_is_no_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
