/* SPDX-License-Identifier: MIT */
/* A connection whose request does not come is shut down; one that waits for the server is not. Who makes room when all
 * places are taken. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/http_connections.h"

#define LONG_MS 20000 /* far longer than it takes; the test ends earlier unless it fails */

static const struct http_connections_limits roomy = {
	.late_ms = 50,
	.patience_ms = 50,
	.most = 256,
	.strangers = 256,
};

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
	assert_int_equal(http_connections_new(&c, &roomy, &e), 0);
	assert_int_equal(http_connections_count(c), 0);
	served = http_connections_push(c, NULL, b[0]);
	http_connection_set_waiting(c, served, 0);
	gone = http_connections_push(c, NULL, d[0]);
	late = http_connections_push(c, NULL, a[0]);
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

/* --- who makes room --- */

#define MOST 8

/* A door, and those who came through it. */
struct crowd {
	struct http_connections *connections;
	struct http_connection *of[64];
	int fds[64][2];
	size_t n;
};

static struct sockaddr_storage address(const char *text)
{
	struct sockaddr_storage a = { .ss_family = strchr(text, ':') ? AF_INET6 : AF_INET };

	assert_int_equal(inet_pton(a.ss_family, text,
				   a.ss_family == AF_INET6
					   ? (void *)&((struct sockaddr_in6 *)&a)->sin6_addr
					   : (void *)&((struct sockaddr_in *)&a)->sin_addr),
			 1);
	return a;
}

static bool may_come(struct crowd *w, const char *from)
{
	struct sockaddr_storage a = address(from);

	return http_connections_admit(w->connections, (struct sockaddr *)&a);
}

/* Its number. */
static size_t come(struct crowd *w, const char *from)
{
	struct sockaddr_storage a = address(from);
	size_t i = w->n++;

	assert_true(i < 64);
	assert_true(http_connections_admit(w->connections, (struct sockaddr *)&a));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, w->fds[i]), 0);
	w->of[i] = http_connections_push(w->connections, (struct sockaddr *)&a, w->fds[i][0]);
	assert_non_null(w->of[i]);
	usleep(2000); /* ages are in ms */
	return i;
}

static bool is_shut(const struct crowd *w, size_t i)
{
	struct pollfd p = { .fd = w->fds[i][1], .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static size_t count_shut(const struct crowd *w)
{
	size_t n = 0, i;

	for (i = 0; i < w->n; i++)
		n += is_shut(w, i);
	return n;
}

static void begin(struct crowd *w, unsigned int reserved, unsigned int strangers)
{
	const struct http_connections_limits limits = {
		.late_ms = 600000,
		.patience_ms = 1,
		.most = MOST,
		.reserved = reserved,
		.strangers = strangers,
	};
	struct error e = ERROR_INIT;

	memset(w, 0, sizeof(*w));
	assert_int_equal(http_connections_new(&w->connections, &limits, &e), 0);
}

static void end(struct crowd *w)
{
	size_t i;

	for (i = 0; i < w->n; i++) {
		http_connections_pop(w->connections, w->of[i]);
		close(w->fds[i][0]), close(w->fds[i][1]);
	}
	http_connections_free(w->connections);
}

static void oldest_of_its_address_goes(void **state)
{
	struct crowd w;
	size_t i;

	(void)state;
	begin(&w, 0, 3);
	come(&w, "192.0.2.1");
	for (i = 1; i < 4; i++)
		come(&w, "192.0.2.9");
	assert_int_equal(count_shut(&w), 0);
	come(&w, "192.0.2.9");
	assert_true(is_shut(&w, 1));
	come(&w, "192.0.2.9");
	assert_true(is_shut(&w, 2));
	assert_int_equal(count_shut(&w), 2);
	end(&w);
}

static void networks_of_ipv6_are_one_address(void **state)
{
	struct crowd w;

	(void)state;
	begin(&w, 0, 2);
	come(&w, "2001:db8:0:1::1");
	come(&w, "2001:db8:0:2::1");
	come(&w, "2001:db8:0:1::2");
	assert_int_equal(count_shut(&w), 0);
	come(&w, "2001:db8:0:1:ffff::3");
	assert_true(is_shut(&w, 0));
	/* Written as IPv6, IPv4 is not one network. */
	come(&w, "::ffff:192.0.2.1");
	come(&w, "::ffff:192.0.2.2");
	come(&w, "::ffff:198.51.100.1");
	assert_int_equal(count_shut(&w), 1);
	/* It is the same address, however it is written. */
	come(&w, "192.0.2.1");
	assert_int_equal(count_shut(&w), 1);
	end(&w);
}

static void most_crowded_address_makes_room(void **state)
{
	struct crowd w;
	size_t i;

	(void)state;
	begin(&w, 0, MOST);
	come(&w, "192.0.2.1");
	come(&w, "192.0.2.2");
	for (i = 2; i < MOST; i++)
		come(&w, "192.0.2.9");
	assert_int_equal(count_shut(&w), 0);
	for (i = 3; i < 6; i++)
		come(&w, "192.0.2.3");
	/* Of the six of .9 the oldest went, one by one; the two who came first were alone. */
	assert_int_equal(count_shut(&w), 3);
	assert_true(is_shut(&w, 2) && is_shut(&w, 3) && is_shut(&w, 4));
	/* One with a request does not. */
	http_connection_set_waiting(w.connections, w.of[5], 0);
	http_connection_set_waiting(w.connections, w.of[6], 0);
	http_connection_set_waiting(w.connections, w.of[7], 0);
	come(&w, "192.0.2.4");
	assert_false(is_shut(&w, 5) || is_shut(&w, 6) || is_shut(&w, 7));
	assert_int_equal(count_shut(&w), 4);
	end(&w);
}

static void strangers_leave_places_to_those_who_are_known(void **state)
{
	struct crowd w;
	size_t i;

	(void)state;
	begin(&w, 3, MOST);
	http_connection_set_known(w.connections, w.of[come(&w, "192.0.2.1")]);
	http_connection_set_known(w.connections, NULL);
	/* Strangers, all in the middle of their answers. */
	for (i = 1; i < 6; i++)
		http_connection_set_waiting(w.connections, w.of[come(&w, "192.0.2.9")], 0);
	assert_false(may_come(&w, "192.0.2.9"));
	assert_false(may_come(&w, "192.0.2.8"));
	/* The address from which somebody was let in has two more. */
	come(&w, "192.0.2.1");
	http_connection_set_known(w.connections, w.of[6]);
	come(&w, "192.0.2.1");
	http_connection_set_known(w.connections, w.of[7]);
	assert_int_equal(count_shut(&w), 0);
	/* All places are taken: the known one that rests the longest goes, for one who is known, too. */
	assert_false(may_come(&w, "192.0.2.8"));
	assert_int_equal(count_shut(&w), 0);
	come(&w, "192.0.2.1");
	assert_true(is_shut(&w, 0));
	assert_int_equal(count_shut(&w), 1);
	end(&w);
}

static void places_come_back(void **state)
{
	struct crowd w;
	size_t i;

	(void)state;
	begin(&w, 0, MOST);
	for (i = 0; i < MOST; i++)
		http_connection_set_waiting(w.connections, w.of[come(&w, "192.0.2.9")], 0);
	assert_false(may_come(&w, "192.0.2.1"));
	http_connections_pop(w.connections, w.of[3]);
	w.of[3] = NULL;
	assert_true(may_come(&w, "192.0.2.1"));
	come(&w, "192.0.2.1");
	assert_int_equal(count_shut(&w), 0);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shuts_late_ones),
		cmocka_unit_test(oldest_of_its_address_goes),
		cmocka_unit_test(networks_of_ipv6_are_one_address),
		cmocka_unit_test(most_crowded_address_makes_room),
		cmocka_unit_test(strangers_leave_places_to_those_who_are_known),
		cmocka_unit_test(places_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
