/* SPDX-License-Identifier: MIT */
/*
 * ingest_sink: the least that a collector could do, to compare ours with: bytes of many connections
 * into one file, synced every COMMIT_MS, no protocol, no checks, no index, no acknowledgements. When
 * all connections have shut their sides and the file is synced, it closes them.
 *
 *	ingest_sink CONNECTIONS COMMIT_MS FILE      prints its port, then what it took
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static uint8_t buffer[65536];
static int file = -1, epoll_fd = -1;
static unsigned commit_ms;
static atomic_bool dirty, stopping;

static void die(const char *what)
{
	fprintf(stderr, "ingest_sink: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *sync_now_and_then(void *context)
{
	struct timespec pause = { .tv_nsec = (long)commit_ms * 1000000 };

	(void)context;
	while (!atomic_load(&stopping)) {
		nanosleep(&pause, NULL);
		if (atomic_exchange(&dirty, false) && fdatasync(file) < 0)
			die("sync");
	}
	return NULL;
}

static int listen_somewhere(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 1024) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		die("listen");
	printf("%u\n", ntohs(a.sin_port));
	fflush(stdout);
	return fd;
}

/* False: the peer has sent all. */
static bool take(int fd)
{
	ssize_t n = recv(fd, buffer, sizeof(buffer), 0);

	if (n < 0)
		die("receive");
	if (n == 0)
		return false;
	if (write(file, buffer, (size_t)n) != n)
		die("write");
	atomic_store(&dirty, true);
	return true;
}

static void run(unsigned left)
{
	struct epoll_event events[256];
	int n, i;

	while (left) {
		n = epoll_wait(epoll_fd, events, 256, -1);
		for (i = 0; i < n; i++) {
			if (take(events[i].data.fd))
				continue;
			epoll_ctl(epoll_fd, EPOLL_CTL_DEL, events[i].data.fd, NULL);
			left--;
		}
	}
}

int main(int argc, char **argv)
{
	unsigned connections, i;
	struct rlimit limit;
	pthread_t thread;
	int listener;

	if (argc != 4)
		return 2;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	connections = (unsigned)atoi(argv[1]);
	commit_ms = (unsigned)atoi(argv[2]);
	file = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (file < 0 || epoll_fd < 0 || pthread_create(&thread, NULL, sync_now_and_then, NULL))
		die("start");
	listener = listen_somewhere();
	for (i = 0; i < connections; i++) {
		struct epoll_event ev = { .events = EPOLLIN };

		ev.data.fd = accept(listener, NULL, NULL);
		if (ev.data.fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, ev.data.fd, &ev) < 0)
			die("accept");
	}
	run(connections);
	atomic_store(&stopping, true);
	pthread_join(thread, NULL);
	if (fdatasync(file) < 0)
		die("sync");
	return 0; /* which closes all */
}
