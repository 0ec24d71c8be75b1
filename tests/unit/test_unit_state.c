/* SPDX-License-Identifier: MIT */
/* What systemd is asked and what it answers; and the same over a socket that behaves as systemd's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/boot/unit_state.h"

/* Little-endian; a text of a variant. The fields need not be looked at. */
static size_t answer(uint8_t *to, uint8_t type, const char *state)
{
	static const uint8_t head[] = { 'l', 2, 1, 1, 0, 0, 0,	 0, 9, 0, 0, 0,
					5,   0, 0, 0, 5, 1, 'u', 0, 1, 0, 0, 0 };
	size_t len = strlen(state), body = 8 + len + 1;

	memcpy(to, head, sizeof(head));
	to[1] = type;
	to[4] = (uint8_t)body;
	memcpy(to + sizeof(head), "\1s\0\0", 4);
	memset(to + sizeof(head) + 4, 0, 4);
	to[sizeof(head) + 4] = (uint8_t)len;
	memcpy(to + sizeof(head) + 8, state, len + 1);
	return sizeof(head) + body;
}

/* Of a unit, or of a folder: longer than there is room for anywhere. */
static const char *long_name(void)
{
	static char name[UNIT_STATE_ROOM];

	memset(name, 'u', sizeof(name) - 1);
	return name;
}

/* As D-Bus' specification has it: every part is looked at. */
static void test_request(void **state)
{
	uint8_t m[512];
	size_t len;

	(void)state;
	len = unit_state_put(m, sizeof(m), "a-1.target");
	assert_int_equal(len % 4, 0);
	assert_memory_equal(m, "l\1\0\1", 4);
	assert_memory_equal(m + 8, "\1\0\0\0", 4);
	assert_memory_equal(m + 16, "\1\1o\0", 4);
	assert_int_equal(m[20], strlen("/org/freedesktop/systemd1/unit/a_2d1_2etarget"));
	assert_string_equal((char *)m + 24, "/org/freedesktop/systemd1/unit/a_2d1_2etarget");
	assert_memory_equal(m + 72, "\2\1s\0\37\0\0\0org.freedesktop.DBus.Properties\0", 40);
	assert_memory_equal(m + 112, "\3\1s\0\3\0\0\0Get\0\0\0\0\0", 16);
	assert_memory_equal(m + 128, "\10\1g\0\2ss\0", 8);
	assert_int_equal(m[12], 136 - 16);
	assert_memory_equal(m + 136, "\35\0\0\0org.freedesktop.systemd1.Unit\0\0\0", 36);
	assert_memory_equal(m + 172, "\13\0\0\0ActiveState\0", 16);
	assert_int_equal(len, 188);
	assert_int_equal(m[4], 188 - 136);
	unit_state_put(m, sizeof(m), "7@x");
	assert_string_equal((char *)m + 24, "/org/freedesktop/systemd1/unit/_37_40x");
	unit_state_put(m, sizeof(m), "Az~B[");
	assert_string_equal((char *)m + 24, "/org/freedesktop/systemd1/unit/Az_7eB_5b");
	for (len = 0; len < 188; len++)
		assert_int_equal(unit_state_put(m, len, "a-1.target"), 0);
	assert_int_equal(unit_state_put(m, sizeof(m), long_name()), 0);
	assert_int_equal(unit_state_put(m, sizeof(m), ""), 0);
}

static void test_answers(void **state)
{
	uint8_t m[256];
	size_t len = answer(m, 2, "active"), n, i;

	(void)state;
	assert_int_equal(unit_state_parse(m, len, &n), UNIT_ANSWER_YES);
	assert_int_equal(n, len);
	for (i = 0; i < len; i++) {
		assert_int_equal(unit_state_parse(m, i, &n), UNIT_ANSWER_MORE);
		assert_int_equal(n, 0);
	}
	assert_int_equal(unit_state_parse(m, answer(m, 2, "activating"), &n), UNIT_ANSWER_NO);
	assert_int_equal(unit_state_parse(m, answer(m, 2, "inactive"), &n), UNIT_ANSWER_NO);
	assert_int_equal(unit_state_parse(m, answer(m, 3, "active"), &n), UNIT_ANSWER_NO);
	assert_int_equal(unit_state_parse(m, answer(m, 4, "active"), &n), UNIT_ANSWER_OTHER);
	len = answer(m, 4, "active");
	m[6] = 1; /* 64 KB, which need not be there to be passed over */
	assert_int_equal(unit_state_parse(m, len, &n), UNIT_ANSWER_OTHER);
	assert_int_equal(n, 65536 + len);
	m[7] = 8; /* more than any message has */
	assert_int_equal(unit_state_parse(m, len, &n), UNIT_ANSWER_BAD);
	len = answer(m, 2, "active");
	m[6] = 1;
	assert_int_equal(unit_state_parse(m, len, &n), UNIT_ANSWER_BAD);
	m[0] = 'x';
	assert_int_equal(unit_state_parse(m, len, &n), UNIT_ANSWER_BAD);
}

struct server {
	char root[64];
	int fd, peer;
};

static void open_server(struct server *s)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	strcpy(s->root, "/tmp/unit_state.XXXXXX");
	assert_non_null(mkdtemp(s->root));
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/run", s->root);
	assert_int_equal(mkdir(a.sun_path, 0700), 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/run/systemd", s->root);
	assert_int_equal(mkdir(a.sun_path, 0700), 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s" UNIT_STATE_SOCKET, s->root);
	s->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(s->fd, 4), 0);
}

static void close_server(struct server *s)
{
	char path[128];

	close(s->fd);
	snprintf(path, sizeof(path), "%s" UNIT_STATE_SOCKET, s->root);
	unlink(path);
	snprintf(path, sizeof(path), "%s/run/systemd", s->root);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/run", s->root);
	rmdir(path);
	rmdir(s->root);
}

static void say(struct server *s, const void *bytes, size_t len)
{
	assert_int_equal(send(s->peer, bytes, len, 0), len);
}

/* A message of systemd's own, longer than there is room for. */
static void say_much(struct server *s)
{
	static uint8_t zeros[5000];
	uint8_t m[256];
	size_t len = answer(m, 4, "signal");

	m[4] = (uint8_t)(m[4] + (sizeof(zeros) & 0xff));
	m[5] = (uint8_t)(m[5] + (sizeof(zeros) >> 8));
	say(s, m, len);
	say(s, zeros, sizeof(zeros));
}

static void welcome(struct server *s, struct unit_state *u, uint64_t *now)
{
	uint8_t m[1024];

	*now += UNIT_STATE_NS;
	assert_false(unit_state_check(u, s->root, "a.target", *now));
	s->peer = accept(s->fd, NULL, NULL);
	assert_int_equal(recv(s->peer, m, sizeof(m), 0), 26); /* nothing but who it is */
	assert_memory_equal(m, "\0AUTH EXTERNAL 30\r\nBEGIN\r\n", 26);
	*now += UNIT_STATE_NS;
	assert_false(unit_state_check(u, s->root, "a.target", *now)); /* no word yet */
	say(s, "OK 1234\r", 8);
	assert_false(unit_state_check(u, s->root, "a.target", *now));
	assert_int_equal(recv(s->peer, m, sizeof(m), MSG_DONTWAIT), -1);
	say(s, "\n", 1);
	assert_false(unit_state_check(u, s->root, "a.target", *now));
	assert_true(recv(s->peer, m, sizeof(m), MSG_DONTWAIT) > 16);
	assert_memory_equal(m, "l\1", 2);
}

/* The way of a boot: no socket yet, a unit that is not known, one that starts, one that is there; byte by byte, and systemd
 * speaks of other things in between. */
static void test_socket(void **state)
{
	struct unit_state u;
	struct server s;
	uint8_t m[1024];
	uint64_t now = 1;
	size_t len, i;

	(void)state;
	unit_state_init(&u);
	assert_false(unit_state_check(&u, "/nowhere", "a.target", now));
	open_server(&s);
	welcome(&s, &u, &now);
	len = answer(m, 3, "error");
	say(&s, m, len);
	assert_false(unit_state_check(&u, s.root, "a.target", now));
	assert_int_equal(recv(s.peer, m, sizeof(m), MSG_DONTWAIT), -1); /* not at once */
	assert_false(unit_state_check(&u, s.root, "a.target", now += UNIT_STATE_NS));
	assert_true(recv(s.peer, m, sizeof(m), MSG_DONTWAIT) > 16); /* it is asked again */
	say_much(&s);
	len = answer(m, 4, "signal");
	len += answer(m + len, 2, "activating");
	for (i = 0; i < len; i++) {
		say(&s, m + i, 1);
		assert_false(unit_state_check(&u, s.root, "a.target", now));
	}
	assert_false(unit_state_check(&u, s.root, "a.target", now += UNIT_STATE_NS));
	assert_true(recv(s.peer, m, sizeof(m), MSG_DONTWAIT) > 16);
	close(s.peer); /* systemd starts again */
	assert_false(unit_state_check(&u, s.root, "a.target", now));
	welcome(&s, &u, &now);
	say_much(&s);
	len = answer(m, 2, "active");
	say(&s, m, len);
	assert_true(unit_state_check(&u, s.root, "a.target", now));
	close(s.peer);
	unit_state_close(&u);
	close_server(&s);
}

/* It tells more than is taken in one look: the rest is taken in the next, and the answer behind it. */
static void test_talkative(void **state)
{
	struct unit_state u;
	struct server s;
	uint64_t now = 1;
	uint8_t m[256];
	int i;

	(void)state;
	unit_state_init(&u);
	open_server(&s);
	welcome(&s, &u, &now);
	for (i = 0; i < 20; i++) /* 100 KB; a look takes 64 */
		say_much(&s);
	say(&s, m, answer(m, 2, "active"));
	assert_false(unit_state_check(&u, s.root, "a.target", now));
	assert_true(unit_state_check(&u, s.root, "a.target", now));
	close(s.peer);
	unit_state_close(&u);
	close_server(&s);
}

static void is_left(struct unit_state *u, const struct server *s, const char *unit, uint64_t now)
{
	assert_false(unit_state_check(u, s->root, unit, now));
	assert_int_equal(u->fd, -1);
}

/* Where it cannot be asked it is left, too. */
static void test_broken(void **state)
{
	struct unit_state u;
	struct server s;
	uint64_t now = UNIT_STATE_NS;

	(void)state;
	unit_state_init(&u);
	open_server(&s);
	assert_false(unit_state_check(&u, long_name(), "a.target", now)); /* no such path can be */
	assert_int_equal(u.fd, -1);
	now += UNIT_STATE_NS;
	assert_false(unit_state_check(&u, s.root, "a.target", now));
	s.peer = accept(s.fd, NULL, NULL);
	close(s.peer); /* without having heard who it is: the connection is reset */
	is_left(&u, &s, "a.target", now);
	now += UNIT_STATE_NS;
	assert_false(unit_state_check(&u, s.root, long_name(), now));
	s.peer = accept(s.fd, NULL, NULL);
	say(&s, "OK 1\r\n", 6);
	is_left(&u, &s, long_name(),
		now + UNIT_STATE_NS); /* there is no question for such a name */
	close(s.peer);
	now += 3 * UNIT_STATE_NS;
	assert_false(unit_state_check(&u, s.root, "a.target", now));
	s.peer = accept(s.fd, NULL, NULL);
	say(&s, "OK 1\r\n", 6);
	assert_int_equal(shutdown(s.peer, SHUT_RD), 0); /* it hears nothing any more */
	is_left(&u, &s, "a.target", now + UNIT_STATE_NS);
	close(s.peer);
	close_server(&s);
}

/* What is no systemd is left, and tried again. */
static void test_stranger(void **state)
{
	struct unit_state u;
	struct server s;
	uint64_t now = UNIT_STATE_NS;

	(void)state;
	unit_state_init(&u);
	open_server(&s);
	assert_false(unit_state_check(&u, s.root, "a.target", now));
	s.peer = accept(s.fd, NULL, NULL);
	say(&s, "REJECTED\r\n", 10);
	is_left(&u, &s, "a.target", now);
	close(s.peer);
	now += UNIT_STATE_NS;
	assert_false(unit_state_check(&u, s.root, "a.target", now));
	s.peer = accept(s.fd, NULL, NULL);
	say(&s, "\n", 1); /* an empty line is no welcome */
	is_left(&u, &s, "a.target", now);
	close(s.peer);
	welcome(&s, &u, &now);
	say(&s, "neither is this a message", 25);
	assert_false(unit_state_check(&u, s.root, "a.target", now));
	assert_int_equal(u.fd, -1);
	close(s.peer);
	close_server(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request), cmocka_unit_test(test_answers),
		cmocka_unit_test(test_socket),	cmocka_unit_test(test_talkative),
		cmocka_unit_test(test_broken),	cmocka_unit_test(test_stranger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
