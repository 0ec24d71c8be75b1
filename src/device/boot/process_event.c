/* SPDX-License-Identifier: MIT */
/*
 * process_event: see process_event.h.
 *
 * A message: struct nlmsghdr (16 bytes), struct cn_msg (20), then what happened (4), a CPU (4), a time (8) and
 * numbers by kind. All are in the machine's own order, but the socket's filter reads words as big-endian.
 */
#include "device/boot/process_event.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "device/boot/kernel_abi.h"

#define HEAD 36U /* bytes before the event */
#define AT_WHAT (HEAD + 0U)
#define AT_TIME (HEAD + 8U)
#define AT_DATA (HEAD + 16U)
#define ALL_BYTES 0xffffU

static uint32_t word_at(const uint8_t *m, size_t at)
{
	uint32_t v;

	memcpy(&v, m + at, sizeof(v));
	return v;
}

static uint16_t half_at(const uint8_t *m, size_t at)
{
	uint16_t v;

	memcpy(&v, m + at, sizeof(v));
	return v;
}

static uint64_t time_at(const uint8_t *m)
{
	uint64_t v;

	memcpy(&v, m + AT_TIME, sizeof(v));
	return v;
}

/* --- parsing --- */

static void take_fork(struct process_event *ev, const uint8_t *m)
{
	ev->type = PROCESS_FORK;
	ev->parent = word_at(m, AT_DATA + 4);
	ev->pid = word_at(m, AT_DATA + 8);
	ev->group = word_at(m, AT_DATA + 12);
}

static void take_event(struct process_event *ev, const uint8_t *m, size_t len)
{
	memset(ev, 0, sizeof(*ev));
	ev->type = PROCESS_OTHER;
	if (len < AT_DATA + 4)
		return;
	ev->ns = time_at(m);
	if (word_at(m, AT_WHAT) == ABI_PROCESS_NONE) {
		ev->code = word_at(m, AT_DATA);
		return;
	}
	if (len < AT_DATA + 8)
		return;
	ev->pid = word_at(m, AT_DATA);
	ev->group = word_at(m, AT_DATA + 4);
	switch (word_at(m, AT_WHAT)) {
	case ABI_PROCESS_FORK:
		if (len >= AT_DATA + 16)
			take_fork(ev, m);
		break;
	case ABI_PROCESS_EXEC:
		ev->type = PROCESS_EXEC;
		break;
	case ABI_PROCESS_COMM:
		if (len < AT_DATA + 8 + TASK_COMM_LEN)
			break;
		ev->type = PROCESS_NAME;
		memcpy(ev->comm, m + AT_DATA + 8, TASK_COMM_LEN);
		break;
	case ABI_PROCESS_EXIT:
		if (len < AT_DATA + 12)
			break;
		ev->type = PROCESS_EXIT;
		ev->code = word_at(m, AT_DATA + 8);
		break;
	}
}

bool process_event_next(struct process_event *ret, const uint8_t *bytes, size_t len, size_t *at)
{
	size_t left = len > *at ? len - *at : 0, size, data;
	const uint8_t *m = bytes + *at;

	if (left < ABI_MESSAGE_HEAD)
		return false;
	size = word_at(m, 0);
	if (size < ABI_MESSAGE_HEAD || size > left)
		return false;
	/* What the connector says of its own length may be less than what the message has. */
	data = size >= HEAD ? HEAD + (size_t)half_at(m, 32) : size;
	take_event(ret, m, data < size ? data : size);
	size = (size + 3) & ~(size_t)3;
	*at += size < left ? size : left;
	return true;
}

/* --- the socket --- */

/* Words are loaded as big-endian ones. A jump counts the instructions that it passes over. */
#define DO(code, k)                                                                                \
	{                                                                                          \
		(code), 0, 0, (k)                                                                  \
	}
#define LOAD(at) DO(ABI_FILTER_LOAD, (at))
#define IF_WHAT(event, yes, no)                                                                    \
	{                                                                                          \
		ABI_FILTER_IF_EQUAL, (yes), (no), htonl(event)                                     \
	}
#define TO_X DO(ABI_FILTER_TO_X, 0)

/* Acknowledgements and execs; of forks, names and ends those of processes, or all. */
static int set_filter(int fd, enum process_event_choice choice)
{
	uint32_t verdict = choice == PROCESS_EVENTS_EXEC ? 0 : ALL_BYTES;
	struct abi_filter code[] = {
		LOAD(AT_WHAT),
		IF_WHAT(ABI_PROCESS_NONE, 15, 0), /* to the taking */
		IF_WHAT(ABI_PROCESS_EXEC, 14, 0),
		IF_WHAT(ABI_PROCESS_COMM, 6, 0), /* to the first two words */
		IF_WHAT(ABI_PROCESS_FORK, 1, 0),
		IF_WHAT(ABI_PROCESS_EXIT, 4, 10), /* likewise, else to the refusal */
		LOAD(AT_DATA + 8),
		TO_X,
		LOAD(AT_DATA + 12),
		DO(ABI_FILTER_JUMP, 3),
		LOAD(AT_DATA),
		TO_X,
		LOAD(AT_DATA + 4),
		{ ABI_FILTER_IF_EQUAL_X, 1, 0, 0 }, /* its own group: a process */
		DO(ABI_FILTER_RETURN, choice == PROCESS_EVENTS_OF_ALL ? ALL_BYTES : 0),
		DO(ABI_FILTER_RETURN, verdict),
		DO(ABI_FILTER_RETURN, 0),
		DO(ABI_FILTER_RETURN, ALL_BYTES),
	};
	struct abi_filter_program program = { sizeof(code) / sizeof(*code), code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static void put_word(uint8_t *m, size_t at, uint32_t v)
{
	memcpy(m + at, &v, sizeof(v));
}

static int send_request(int fd)
{
	uint8_t m[HEAD + 4] = { 0 };
	uint16_t type = ABI_MESSAGE_DONE, len = 4;

	put_word(m, 0, sizeof(m));
	memcpy(m + 4, &type, sizeof(type));
	put_word(m, 16, ABI_CONNECTOR_PROCESSES);
	put_word(m, 20, ABI_CONNECTOR_PROCESSES);
	memcpy(m + 32, &len, sizeof(len));
	put_word(m, HEAD, ABI_CONNECTOR_LISTEN);
	return send(fd, m, sizeof(m), 0) == (ssize_t)sizeof(m) ? 0 : -errno;
}

/* The kernel answers before send() returns. Where it does not, it has refused without a word: so it does in
 * name spaces. */
static int take_answer(int fd)
{
	uint8_t bytes[4096];
	struct process_event ev;
	ssize_t n;
	size_t at;

	while ((n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		for (at = 0; process_event_next(&ev, bytes, (size_t)n, &at);)
			if (ev.type == PROCESS_OTHER && !ev.pid)
				return -(int)ev.code;
	return -EPERM;
}

int process_event_ask(int fd, struct error *e)
{
	int r = send_request(fd);

	if (r < 0)
		return error_set(e, -r,
				 "no process events: the kernel lacks CONFIG_PROC_EVENTS (%s)",
				 strerror(-r));
	r = take_answer(fd);
	if (r < 0)
		return error_set(e, -r,
				 "no process events: the kernel refuses them here (%s), as it does "
				 "in a name space of processes",
				 strerror(-r));
	return 0;
}

int process_event_open(uint32_t buffer, enum process_event_choice choice, struct error *e)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
					ABI_NETLINK_CONNECTOR);
	struct abi_netlink_address address = { .family = AF_NETLINK,
					       .groups = ABI_CONNECTOR_PROCESSES };
	int size = (int)buffer, r;

	if (fd < 0)
		return error_set(e, errno,
				 "no process events: the kernel lacks CONFIG_PROC_EVENTS (%s)",
				 strerror(errno));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (set_filter(fd, choice) || bind(fd, (struct sockaddr *)&address, sizeof(address)))
		return error_set(e, errno, "no process events: %s", strerror(errno));
	r = process_event_ask(fd, e);
	return r < 0 ? r : take_fd(&fd);
}
