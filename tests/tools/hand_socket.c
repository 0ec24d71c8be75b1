/* SPDX-License-Identifier: MIT */
/*
 * hand_socket: makes connections for the driver, for the tests on boards.
 *
 *	hand_socket plain HOST PORT FILE        connects, and writes the number of the descriptor to FILE
 *	hand_socket tls HOST PORT FILE          the same with kernel TLS on it
 *	hand_socket half HOST PORT FILE         with TLS that has a key to send, and none to receive
 *	hand_socket bare HOST PORT FILE         with TLS that has no key at all
 *	hand_socket relay PORT HOST TO_PORT     the other end of the latter: accepts one connection at
 *	                                        127.0.0.1:PORT, speaks TLS on it, and passes everything on
 *	                                        to HOST:TO_PORT in the clear
 *	hand_socket answer PORT TYPE:HEX…       another other end: accepts one connection there, sends
 *	                                        records of these types with these bytes, type 0 for bytes
 *	                                        that are no record, and waits until it is closed
 *
 * There is no handshake: both ends have the same keys from the start, as they would have them after
 * one. What the kernel does with the socket is the same.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/tls.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SOL_TLS
#define SOL_TLS 282
#endif
#ifndef TCP_ULP
#define TCP_ULP 31
#endif

static int fail(const char *what)
{
	fprintf(stderr, "hand_socket: cannot %s: %s\n", what, strerror(errno));
	return 1;
}

/* `way` distinguishes the two directions: no key is used for both. */
static int set_key(int fd, int option, unsigned char way)
{
	struct tls12_crypto_info_aes_gcm_128 k = {
		.info = { .version = TLS_1_3_VERSION, .cipher_type = TLS_CIPHER_AES_GCM_128 }
	};

	memset(k.key, 0x40 + way, sizeof(k.key));
	memset(k.salt, 0x50 + way, sizeof(k.salt));
	memset(k.iv, 0x60 + way, sizeof(k.iv));
	return setsockopt(fd, SOL_TLS, option, &k, sizeof(k));
}

static int use_tls(int fd, unsigned char sends)
{
	if (setsockopt(fd, SOL_TCP, TCP_ULP, "tls", sizeof("tls")) < 0)
		return -1;
	return set_key(fd, TLS_TX, sends) < 0 || set_key(fd, TLS_RX, !sends) < 0 ? -1 : 0;
}

static int open_port(const char *host, const char *port, int listens)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	inet_pton(AF_INET, host, &a.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!listens)
		return connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ? -1 : fd;
	return bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 1) < 0 ? -1 : fd;
}

static int carry(int from, int to)
{
	static char piece[16384];
	ssize_t n = read(from, piece, sizeof(piece)), done, w;

	for (done = 0; done < n; done += w) {
		w = write(to, piece + done, (size_t)(n - done));
		if (w <= 0)
			return -1;
	}
	return n > 0 ? 0 : -1;
}

static int relay(char **argv)
{
	int door = open_port("127.0.0.1", argv[2], 1), in, out;
	struct pollfd fds[2];

	if (door < 0)
		return fail("listen");
	puts("ready");
	fflush(stdout);
	in = accept(door, NULL, NULL);
	out = open_port(argv[3], argv[4], 0);
	if (in < 0 || out < 0)
		return fail("connect");
	if (use_tls(in, 0) < 0)
		return fail("use TLS");
	fds[0] = (struct pollfd){ .fd = in, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = out, .events = POLLIN };
	while (poll(fds, 2, -1) > 0)
		if ((fds[0].revents && carry(in, out) < 0) ||
		    (fds[1].revents && carry(out, in) < 0))
			break;
	return 0;
}

/* One record; the kernel makes it of what is sent at once. */
static int send_record(int fd, unsigned char type, const void *bytes, size_t len)
{
	char control[CMSG_SPACE(1)] = { 0 };
	struct iovec part = { (void *)bytes, len };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_TLS;
	c->cmsg_type = TLS_SET_RECORD_TYPE;
	c->cmsg_len = CMSG_LEN(1);
	*CMSG_DATA(c) = type;
	return sendmsg(fd, &m, MSG_NOSIGNAL) == (ssize_t)len ? 0 : -1;
}

/* "21:0100"; with type 0 it must be the first: keys cannot be taken away. */
static int say(int fd, const char *record, bool *is_secure)
{
	static unsigned char bytes[4096];
	const char *hex = strchr(record, ':');
	unsigned int type = (unsigned int)atoi(record), byte;
	size_t len = 0;

	while (hex && len < sizeof(bytes) && sscanf(hex + 1 + 2 * len, "%2x", &byte) == 1)
		bytes[len++] = (unsigned char)byte;
	if (!type)
		return write(fd, bytes, len) == (ssize_t)len ? 0 : -1;
	if (!*is_secure && use_tls(fd, 0) < 0)
		return -1;
	*is_secure = true;
	return send_record(fd, (unsigned char)type, bytes, len);
}

static int answer(char **argv)
{
	int door = open_port("127.0.0.1", argv[2], 1), in;
	bool is_secure = false;
	char piece[4096];
	char **record;

	if (door < 0)
		return fail("listen");
	puts("ready");
	fflush(stdout);
	in = accept(door, NULL, NULL);
	if (in < 0)
		return fail("connect");
	for (record = argv + 3; *record; record++)
		if (say(in, *record, &is_secure) < 0)
			return fail("send a record");
	while (read(in, piece, sizeof(piece)) > 0)
		;
	return 0;
}

/* As much of TLS as the word says. */
static int put_on(int fd, const char *what)
{
	if (!strcmp(what, "tls"))
		return use_tls(fd, 1);
	if (!strcmp(what, "plain"))
		return 0;
	if (setsockopt(fd, SOL_TCP, TCP_ULP, "tls", sizeof("tls")) < 0)
		return -1;
	return strcmp(what, "half") ? 0 : set_key(fd, TLS_TX, 1);
}

static int hand(char **argv)
{
	int fd = open_port(argv[2], argv[3], 0);
	FILE *f;

	if (fd < 0)
		return fail("connect");
	if (put_on(fd, argv[1]) < 0)
		return fail("use TLS");
	f = fopen(argv[4], "w");
	if (!f)
		return fail("open the driver's file");
	fprintf(f, "%d\n", fd);
	return fclose(f) ? fail("hand it over") : 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "relay"))
		return relay(argv);
	if (argc >= 4 && !strcmp(argv[1], "answer"))
		return answer(argv);
	if (argc == 5 && strstr("plain tls half bare", argv[1]))
		return hand(argv);
	return 2;
}
