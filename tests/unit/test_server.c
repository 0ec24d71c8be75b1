/* SPDX-License-Identifier: MIT */
/* server: one that has no memory for a connection takes it when it has, and those behind it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <netinet/in.h>

#include "collector/server.h"
#include "fuzz/starve.h"
#include "stored.h"

#define WAIT_S 30 /* for what takes a tenth of a second */
#define TRIES 50

static char dir[64];
static atomic_uint refusals;

static void note(void *context, const char *line)
{
	(void)context;
	if (!strcmp(line, "cannot take connections: not enough memory"))
		refusals++;
}

static struct server *start(struct store *store, struct registry *registry)
{
	struct server_options o = { .store = store,
				    .registry = registry,
				    .connections_max = 10,
				    .device_bytes_max = 1 << 20,
				    .batch_bytes = 1 << 20,
				    .commit_ms = 10,
				    .hello_timeout_ms = 200,
				    .idle_timeout_ms = 10000,
				    .ping_ms = 10000,
				    .log = note };
	struct sockaddr_in *in = (struct sockaddr_in *)&o.address;
	struct error e = ERROR_INIT;
	struct server *s;

	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (server_start(&s, &o, &e) < 0)
		fail_msg("%s", e.text);
	return s;
}

/* Whoever says nothing is told so, once he was taken. */
static void call(uint16_t port)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
					.sin_port = htons(port) };
	const struct timeval patience = { .tv_sec = WAIT_S };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint8_t bytes[64];

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
	assert_true(recv(fd, bytes, sizeof(bytes), 0) > 0);
	close(fd);
}

static void test_no_memory(void **state)
{
	struct error e = ERROR_INIT;
	struct registry *registry;
	struct server *server;
	struct store *store;
	int i;

	(void)state;
	stored_folder(dir);
	store = stored_open(dir, NULL);
	assert_int_equal(registry_open(&registry, dir, NULL, &e), 0);
	server = start(store, registry);
	/* Other threads of the server may be faster, and have no memory instead. */
	for (i = 0; i < TRIES && !refusals; i++) {
		starve_begin(0);
		call(server_port(server));
		starve_end();
	}
	assert_int_equal(refusals, 1);
	call(server_port(server));
	server_stop(server);
	registry_free(registry);
	store_free(store);
	stored_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_no_memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
