/* SPDX-License-Identifier: MIT */
/* unit_state: see unit_state.h. */
#include "device/boot/unit_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"

/* "30" is the user's number, "0", in hexadecimal. */
#define HELLO "\0AUTH EXTERNAL 30\r\nBEGIN\r\n"
#define WELCOME "OK "
#define HEAD 16U /* of a message, before its fields */
#define OBJECT "/org/freedesktop/systemd1/unit/"
#define ACTIVE "active"
#define MESSAGE_MAX (128U << 20) /* as D-Bus has it */
#define READS_MAX 32		 /* of one look: systemd tells of whatever it does, unasked */

enum message_type {
	MESSAGE_CALL = 1,
	MESSAGE_RETURN = 2,
	MESSAGE_ERROR = 3,
};

enum field {
	FIELD_PATH = 1,
	FIELD_INTERFACE = 2,
	FIELD_MEMBER = 3,
	FIELD_SIGNATURE = 8,
};

/* --- writing --- */

struct writer {
	uint8_t *at;
	size_t len, room;
	bool full;
};

static void put_byte(struct writer *w, uint8_t byte)
{
	w->full = w->full || w->len >= w->room;
	if (!w->full)
		w->at[w->len++] = byte;
}

static void put_bytes(struct writer *w, const char *bytes, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		put_byte(w, (uint8_t)bytes[i]);
}

static void align(struct writer *w, size_t to)
{
	while (w->len % to && !w->full)
		put_byte(w, 0);
}

static void put_word(struct writer *w, size_t v)
{
	uint32_t i;

	for (i = 0; i < 4; i++)
		put_byte(w, (uint8_t)(v >> 8 * i));
}

static void put_text(struct writer *w, const char *text)
{
	align(w, 4);
	put_word(w, strlen(text));
	put_bytes(w, text, strlen(text) + 1);
}

static void put_field(struct writer *w, enum field field, const char *text)
{
	const char type = field == FIELD_PATH ? 'o' : field == FIELD_SIGNATURE ? 'g' : 's';

	align(w, 8);
	put_byte(w, (uint8_t)field);
	put_byte(w, 1);
	put_byte(w, (uint8_t)type);
	put_byte(w, 0);
	if (field != FIELD_SIGNATURE) {
		put_text(w, text);
		return;
	}
	put_byte(w, (uint8_t)strlen(text));
	put_bytes(w, text, strlen(text) + 1);
}

static bool is_plain(char c, bool is_first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9' && !is_first);
}

/* The unit's name as a part of a path: what is neither letter nor digit becomes '_' and its number. */
static bool format_path(char *to, size_t room, const char *unit)
{
	size_t len = (size_t)snprintf(to, room, OBJECT);
	const char *c;

	for (c = unit; *c && len + 4 < room; c++)
		if (is_plain(*c, c == unit))
			to[len++] = *c;
		else
			len += (size_t)snprintf(to + len, room - len, "_%02x", (unsigned char)*c);
	to[len] = 0;
	return !*c && c != unit;
}

size_t unit_state_put(uint8_t *to, size_t room, const char *unit)
{
	struct writer w = { .at = to, .room = room };
	char path[UNIT_STATE_ROOM / 2];
	size_t fields, body;

	if (!format_path(path, sizeof(path), unit))
		return 0;
	put_bytes(&w, "l\1\0\1\0\0\0\0\1\0\0\0\0\0\0\0", HEAD); /* lengths follow */
	put_field(&w, FIELD_PATH, path);
	put_field(&w, FIELD_INTERFACE, "org.freedesktop.DBus.Properties");
	put_field(&w, FIELD_MEMBER, "Get");
	put_field(&w, FIELD_SIGNATURE, "ss");
	fields = w.len - HEAD;
	align(&w, 8);
	body = w.len;
	put_text(&w, "org.freedesktop.systemd1.Unit");
	put_text(&w, "ActiveState");
	if (w.full)
		return 0;
	body = w.len - body;
	room = w.len;
	w.len = 4;
	put_word(&w, body);
	w.len = HEAD - 4;
	put_word(&w, fields);
	return room;
}

/* --- reading --- */

static uint32_t word_at(const uint8_t *p, bool is_big)
{
	return is_big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
		      : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

/* A body that is a variant of a text. */
static bool is_active(const uint8_t *body, size_t len, bool is_big)
{
	const size_t n = sizeof(ACTIVE) - 1;

	return len >= 8 + n && body[0] == 1 && body[1] == 's' && !body[2] &&
	       word_at(body + 4, is_big) == n && !memcmp(body + 8, ACTIVE, n);
}

enum unit_answer unit_state_parse(const uint8_t *bytes, size_t len, size_t *ret_len)
{
	bool is_big, is_answer;
	uint64_t fields, body;

	*ret_len = 0;
	if (len < HEAD)
		return UNIT_ANSWER_MORE;
	is_big = bytes[0] == 'B';
	if ((!is_big && bytes[0] != 'l') || bytes[3] != 1)
		return UNIT_ANSWER_BAD;
	fields = HEAD + ((uint64_t)word_at(bytes + 12, is_big) + 7) / 8 * 8;
	body = word_at(bytes + 4, is_big);
	is_answer = bytes[1] == MESSAGE_RETURN || bytes[1] == MESSAGE_ERROR;
	if (fields + body > (is_answer ? UNIT_STATE_ROOM : MESSAGE_MAX))
		return UNIT_ANSWER_BAD;
	if (is_answer && fields + body > len)
		return UNIT_ANSWER_MORE;
	*ret_len = (size_t)(fields + body);
	if (!is_answer)
		return UNIT_ANSWER_OTHER;
	if (bytes[1] == MESSAGE_ERROR)
		return UNIT_ANSWER_NO;
	return is_active(bytes + fields, (size_t)body, is_big) ? UNIT_ANSWER_YES : UNIT_ANSWER_NO;
}

/* --- the socket --- */

void unit_state_init(struct unit_state *u)
{
	u->fd = -1;
	unit_state_close(u);
	u->look_ns = 0;
}

void unit_state_close(struct unit_state *u)
{
	cleanup_closep(&u->fd);
	u->fd = -1;
	u->is_asked = u->is_known = false;
	u->have = u->skip = 0;
}

static void open_socket(struct unit_state *u, const char *root)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || snprintf(to.sun_path, sizeof(to.sun_path), "%s" UNIT_STATE_SOCKET, root) >=
			      (int)sizeof(to.sun_path))
		return;
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) ||
	    send(fd, HELLO, sizeof(HELLO) - 1, MSG_NOSIGNAL) != (ssize_t)sizeof(HELLO) - 1)
		return;
	u->fd = take_fd(&fd);
}

/* Drops the next bytes, also of those that are still to come. */
static void drop(struct unit_state *u, size_t len)
{
	size_t here = len < u->have ? len : u->have;

	memmove(u->bytes, u->bytes + here, u->have - here);
	u->have -= here;
	u->skip += len - here;
}

/* The line with which the other side welcomes us. False: it is no such line. */
static bool take_welcome(struct unit_state *u)
{
	const uint8_t *end = memchr(u->bytes, '\n', u->have);

	if (!end)
		return u->have < sizeof(u->bytes);
	if (u->have < sizeof(WELCOME) || memcmp(u->bytes, WELCOME, sizeof(WELCOME) - 1))
		return false;
	u->is_known = true;
	drop(u, (size_t)(end - u->bytes) + 1);
	return true;
}

/* The first answer among what is there. */
static enum unit_answer find_answer(struct unit_state *u)
{
	enum unit_answer answer = UNIT_ANSWER_OTHER;
	size_t len, skipped;

	if (!u->is_known && !take_welcome(u))
		return UNIT_ANSWER_BAD;
	while (u->is_known && answer == UNIT_ANSWER_OTHER) {
		skipped = u->skip < u->have ? u->skip : u->have;
		u->skip -= skipped;
		drop(u, skipped);
		answer = unit_state_parse(u->bytes, u->have, &len);
		drop(u, len);
	}
	return answer == UNIT_ANSWER_OTHER ? UNIT_ANSWER_MORE : answer;
}

/* Takes what has come. */
static enum unit_answer take(struct unit_state *u)
{
	enum unit_answer answer = UNIT_ANSWER_MORE;
	ssize_t n;
	int i;

	for (i = 0; i < READS_MAX && answer == UNIT_ANSWER_MORE; i++) {
		n = recv(u->fd, u->bytes + u->have, sizeof(u->bytes) - u->have, 0);
		if (n <= 0)
			return n < 0 && (errno == EAGAIN || errno == EINTR) ? UNIT_ANSWER_MORE
									    : UNIT_ANSWER_BAD;
		u->have += (size_t)n;
		answer = find_answer(u);
	}
	return answer;
}

static bool ask(struct unit_state *u, const char *unit)
{
	uint8_t message[UNIT_STATE_ROOM];
	size_t len = unit_state_put(message, sizeof(message), unit);

	return len && send(u->fd, message, len, MSG_NOSIGNAL) == (ssize_t)len;
}

bool unit_state_check(struct unit_state *u, const char *root, const char *unit, uint64_t now_ns)
{
	enum unit_answer answer = u->fd >= 0 ? take(u) : UNIT_ANSWER_MORE;

	if (answer == UNIT_ANSWER_YES)
		return true;
	if (answer == UNIT_ANSWER_BAD)
		unit_state_close(u);
	if (answer == UNIT_ANSWER_NO)
		u->is_asked = false;
	if (u->is_asked || (u->fd >= 0 && !u->is_known) || now_ns < u->look_ns)
		return false;
	u->look_ns = now_ns + UNIT_STATE_NS;
	if (u->fd < 0) {
		open_socket(u, root);
		return false;
	}
	u->is_asked = ask(u, unit);
	if (!u->is_asked)
		unit_state_close(u);
	return false;
}
