/* SPDX-License-Identifier: MIT */
/*
 * ingest_load: many devices at once, for `bench/ingest.sh`.
 *
 *	ingest_load kiseki|bare|idle PORT CONNECTIONS MEGABYTES FILE.ksk
 *
 * kiseki: each connection is a device that says HELLO and sends the file's blocks as run after run,
 * as far ahead as its window allows, until its share is acknowledged. bare: the same bytes to
 * ingest_sink, without a word, until that has them on disk and closes. idle: HELLO, then nothing
 * until standard input ends. One thread; what it prints is for a shell to read.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ingest_script.h"
#include "wire/frame.h"
#include "wire/message.h"

#define TURN 65536U /* bytes that one connection sends before the next has its turn */
#define IN_ROOM 512U

enum mode { MODE_KISEKI, MODE_BARE, MODE_IDLE };

struct link {
	int fd;
	uint32_t number;
	bool open, done, wants_out;
	uint64_t sent, window; /* bytes; kiseki: up to which it may send */
	uint64_t acknowledged; /* frames */
	uint8_t in[IN_ROOM];
	size_t in_len;
};

static struct ingest_script script;
static struct link *links;
static uint32_t n_links, n_open, n_done;
static uint64_t share_frames, share_bytes; /* of each connection */
static enum mode mode;
static int epoll_fd;

static void die(const char *what)
{
	fprintf(stderr, "ingest_load: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void watch(struct link *l, int operation, bool out)
{
	struct epoll_event ev = { .events = EPOLLIN | (out ? EPOLLOUT : 0U), .data.ptr = l };

	if (operation == EPOLL_CTL_MOD && out == l->wants_out)
		return;
	l->wants_out = out;
	if (epoll_ctl(epoll_fd, operation, l->fd, &ev) < 0)
		die("epoll");
}

static void set_id(struct message_id *id, uint32_t a, uint32_t b)
{
	memset(id, 0xab, sizeof(*id));
	put_le32(id->bytes, a);
	put_le32(id->bytes + 4, b);
}

static void say_hello(struct link *l)
{
	struct message_hello m = { .version = 1, .cpus = 4, .name = { "load", 4 } };
	uint8_t bytes[FRAME_HEAD_MAX + 256], body[256], name[32];
	struct byte_writer w;
	uint32_t head;

	m.name.at = (const char *)name;
	m.name.len = (uint32_t)sprintf((char *)name, "load-%u", l->number);
	set_id(&m.device, l->number, (uint32_t)getpid());
	writer_init(&w, body, sizeof(body));
	hello_encode(&w, &m);
	head = frame_encode_head(bytes, FRAME_HELLO, (uint32_t)writer_len(&w));
	memcpy(bytes + head, body, writer_len(&w));
	if (send(l->fd, bytes, head + writer_len(&w), MSG_NOSIGNAL) < 0)
		die("send");
}

static void connect_link(struct link *l, uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };
	int one = 1;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	l->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (l->fd < 0 || connect(l->fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		die("connect");
	setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	fcntl(l->fd, F_SETFL, O_NONBLOCK);
	if (mode != MODE_BARE)
		say_hello(l);
	watch(l, EPOLL_CTL_ADD, mode == MODE_BARE);
}

/* The bytes at a place of what this connection sends, and how many lie there together. */
static const uint8_t *get_bytes(const struct link *l, uint64_t at, size_t *ret_len)
{
	static uint8_t run[INGEST_RUN_BYTES];
	uint64_t pass = at / ingest_script_pass(&script), in = at % ingest_script_pass(&script);
	struct message_id id;

	if (in >= INGEST_RUN_BYTES) {
		*ret_len = script.len - (size_t)(in - INGEST_RUN_BYTES);
		return script.bytes + (in - INGEST_RUN_BYTES);
	}
	set_id(&id, l->number, (uint32_t)pass);
	put_le32(id.bytes + 8, (uint32_t)getpid());
	frame_encode_head(run, FRAME_RUN, sizeof(id));
	memcpy(run + 2, &id, sizeof(id));
	*ret_len = (size_t)(INGEST_RUN_BYTES - in);
	return run + in;
}

static void finish(struct link *l)
{
	if (!l->done)
		n_done++;
	l->done = true;
	epoll_ctl(epoll_fd, EPOLL_CTL_DEL, l->fd, NULL);
	close(l->fd);
}

static void send_some(struct link *l)
{
	uint64_t may = share_bytes, turn = 0;
	const uint8_t *bytes;
	ssize_t n = 0;
	size_t len;

	if (mode == MODE_KISEKI) {
		may = ingest_script_until(&script, l->acknowledged) + l->window;
		may = may < share_bytes ? may : share_bytes;
	}
	while (l->sent < may && turn < TURN && n >= 0) {
		bytes = get_bytes(l, l->sent, &len);
		len = len < may - l->sent ? len : (size_t)(may - l->sent);
		n = send(l->fd, bytes, len, MSG_NOSIGNAL);
		if (n > 0) {
			l->sent += (uint64_t)n;
			turn += (uint64_t)n;
		}
	}
	if (n < 0 && errno != EAGAIN)
		die("send");
	if (mode == MODE_BARE && l->sent == share_bytes)
		shutdown(l->fd, SHUT_WR);
	watch(l, EPOLL_CTL_MOD, l->sent < may);
}

static void take_frame(struct link *l, const struct frame *f)
{
	struct message_welcome welcome;
	struct message_bye bye;

	if (f->type == FRAME_ACK) {
		ack_decode(&l->acknowledged, f->body, f->body_len);
	} else if (f->type == FRAME_WELCOME) {
		welcome_decode(&welcome, f->body, f->body_len);
		l->window = welcome.window;
		n_open += !l->open;
		l->open = true;
	} else if (f->type == FRAME_BYE) {
		bye_decode(&bye, f->body, f->body_len);
		fprintf(stderr, "ingest_load: BYE %u: %.*s\n", bye.code, (int)bye.text.len,
			bye.text.at);
		exit(1);
	}
}

static void receive(struct link *l)
{
	ssize_t n = recv(l->fd, l->in + l->in_len, IN_ROOM - l->in_len, 0);
	size_t at = 0;
	struct frame f;

	if (n == 0 && mode == MODE_BARE && l->sent == share_bytes) {
		finish(l); /* the sink has it all on disk */
		return;
	}
	if (n <= 0 && errno != EAGAIN)
		die("the connection ended");
	l->in_len += n > 0 ? (size_t)n : 0;
	for (; frame_decode(l->in + at, l->in_len - at, &f) == WIRE_OK; at += f.len)
		take_frame(l, &f);
	l->in_len -= at;
	memmove(l->in, l->in + at, l->in_len);
	if (mode == MODE_KISEKI && l->acknowledged == share_frames)
		finish(l);
	else if (mode == MODE_KISEKI)
		send_some(l);
}

static void turn(void)
{
	struct epoll_event events[256];
	int n = epoll_wait(epoll_fd, events, 256, 1000), i;

	for (i = 0; i < n; i++) {
		struct link *l = events[i].data.ptr;

		if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
			receive(l);
		if (!l->done && events[i].events & EPOLLOUT)
			send_some(l);
	}
}

static void set_share(uint64_t bytes)
{
	uint64_t passes = bytes / n_links / ingest_script_pass(&script) + 1;

	share_frames = passes * script.n;
	share_bytes = passes * ingest_script_pass(&script);
}

static void idle(void)
{
	while (n_open < n_links)
		turn();
	printf("open\n");
	fflush(stdout);
	while (getchar() != EOF)
		;
}

static void load(void)
{
	double start = now_s(), seconds;
	uint64_t passes = share_bytes / ingest_script_pass(&script);

	while (n_done < n_links)
		turn();
	seconds = now_s() - start;
	printf("bytes %" PRIu64 "\nevents %" PRIu64 "\nblocks %" PRIu64 "\nseconds %.3f\n",
	       share_bytes * n_links, script.events * passes * n_links,
	       (uint64_t)(script.n - 1) * passes * n_links, seconds);
}

int main(int argc, char **argv)
{
	struct error e = ERROR_INIT;
	struct rlimit limit;
	uint32_t i;

	if (argc != 6 || ingest_script_open(&script, argv[5], &e) < 0) {
		fprintf(stderr, "ingest_load: %s\n", argc == 6 ? e.text : "see the source");
		return 2;
	}
	mode = !strcmp(argv[1], "bare")	  ? MODE_BARE
	       : !strcmp(argv[1], "idle") ? MODE_IDLE
					  : MODE_KISEKI;
	n_links = (uint32_t)atoi(argv[3]);
	set_share((uint64_t)atoi(argv[4]) * 1000000);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	links = calloc(n_links, sizeof(*links));
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!links || epoll_fd < 0)
		die("start");
	for (i = 0; i < n_links; i++) {
		links[i].number = i + 1;
		connect_link(&links[i], (uint16_t)atoi(argv[2]));
	}
	if (mode == MODE_IDLE)
		idle();
	else
		load();
	ingest_script_close(&script);
	free(links);
	return 0;
}
