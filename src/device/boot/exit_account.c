/* SPDX-License-Identifier: MIT */
/*
 * exit_account: see exit_account.h. Places in the struct are those of <linux/taskstats.h>, which are the same on
 * all machines; they are written out, because the header of the machine that builds need not be as new as
 * the kernel that runs.
 */
#include "device/boot/exit_account.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/cleanup.h"
#include "device/boot/kernel_abi.h"

#define ATTRIBUTE 4U /* bytes of an attribute's head */
#define HEAD (16U + 4U)
#define FAMILY_NAME "TASKSTATS"

/* Numbers of <linux/taskstats.h> and <linux/genetlink.h>, likewise. */
enum {
	COMMAND_GET = 1,
	ATTRIBUTE_REGISTER = 3,
	TYPE_PID = 1,
	TYPE_STATS = 3,
	TYPE_ONE = 4,	/* a task's number and account */
	TYPE_GROUP = 5, /* those of a process whose last thread has ended */
	STRANGE_VERSION = 15,
};

enum {
	AT_CODE = 4,
	AT_WAITED = 24,
	AT_DISK = 40,
	AT_SWAP = 56,
	AT_RAN = 72,
	AT_COMM = 80,
	AT_PARENT = 132,
	AT_USER = 152,
	AT_SYSTEM = 160,
	AT_FAULTS = 176,
	AT_RSS = 200,
	AT_READ = 248,
	AT_WRITTEN = 256,
	AT_YIELDED = 272,
	AT_PREEMPTED = 280,
	AT_GROUP = 368,
	LEAST = AT_FAULTS + 8, /* what every kernel of this century has */
};

static uint16_t half_at(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t word_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t long_at(const uint8_t *p, size_t len, size_t at)
{
	uint64_t v = 0;

	if (at + sizeof(v) <= len)
		memcpy(&v, p + at, sizeof(v));
	return v;
}

/* --- parsing --- */

struct attribute {
	uint32_t type;
	const uint8_t *body;
	size_t len;
};

static bool next_attribute(struct attribute *ret, const uint8_t **at, const uint8_t *end)
{
	size_t left = (size_t)(end - *at), len, step;

	if (left < ATTRIBUTE)
		return false;
	len = half_at(*at);
	if (len < ATTRIBUTE || len > left)
		return false;
	ret->type = half_at(*at + 2) & ABI_ATTRIBUTE_TYPE;
	ret->body = *at + ATTRIBUTE;
	ret->len = len - ATTRIBUTE;
	step = (len + 3) & ~(size_t)3;
	*at += step < left ? step : left;
	return true;
}

static bool take_stats(struct exit_account *a, const uint8_t *p, size_t len)
{
	static const uint16_t places[] = { AT_USER, AT_SYSTEM, AT_RAN,	   AT_WAITED,
					   AT_DISK, AT_SWAP,   AT_READ,	   AT_WRITTEN,
					   AT_RSS,  AT_FAULTS, AT_YIELDED, AT_PREEMPTED };
	uint32_t i;

	if (len < LEAST || half_at(p) == STRANGE_VERSION) {
		a->strange = len < 2 ? UINT32_MAX : half_at(p);
		return true;
	}
	for (i = 0; i < sizeof(places) / sizeof(*places); i++)
		a->number[i] = long_at(p, len, places[i]);
	a->number[BOOT_ACCOUNT_USER] *= 1000;
	a->number[BOOT_ACCOUNT_SYSTEM] *= 1000;
	a->code = word_at(p + AT_CODE);
	a->parent = word_at(p + AT_PARENT);
	memcpy(a->comm, p + AT_COMM, TASK_COMM_LEN);
	a->comm_len = (uint8_t)strnlen(a->comm, TASK_COMM_LEN);
	a->group = len >= AT_GROUP + 4 ? word_at(p + AT_GROUP) : 0;
	return true;
}

/* A number and an account, in either of the two. */
static bool take_pair(struct exit_account *a, const struct attribute *pair)
{
	const uint8_t *at = pair->body, *end = at + pair->len;
	struct attribute inner;
	bool any = false;

	while (next_attribute(&inner, &at, end)) {
		if (inner.type == TYPE_PID && inner.len >= 4)
			a->pid = word_at(inner.body);
		else if (inner.type == TYPE_STATS)
			any = take_stats(a, inner.body, inner.len);
	}
	return any && a->pid;
}

static bool take_message(struct exit_account *a, const uint8_t *m, size_t len)
{
	const uint8_t *at = m + HEAD, *end = m + len;
	struct attribute pair;
	bool any = false;

	memset(a, 0, sizeof(*a));
	if (len < HEAD || half_at(m + 4) < ABI_MESSAGE_FIRST)
		return false;
	while (next_attribute(&pair, &at, end)) {
		if (pair.type == TYPE_ONE)
			any = take_pair(a, &pair);
		else if (pair.type == TYPE_GROUP)
			a->is_last = true;
	}
	return any;
}

bool exit_account_next(struct exit_account *ret, const uint8_t *bytes, size_t len, size_t *at)
{
	size_t left, size, step;
	bool any = false;

	while (!any) {
		left = len > *at ? len - *at : 0;
		if (left < ABI_MESSAGE_HEAD)
			return false;
		size = word_at(bytes + *at);
		if (size < ABI_MESSAGE_HEAD || size > left)
			return false;
		any = take_message(ret, bytes + *at, size);
		step = (size + 3) & ~(size_t)3;
		*at += step < left ? step : left;
	}
	return true;
}

/* --- sums of threads --- */

static void add(uint64_t *to, const uint64_t *from)
{
	uint32_t i;

	for (i = 0; i <= BOOT_ACCOUNT_PREEMPTED; i++) {
		if (i != BOOT_ACCOUNT_RSS)
			to[i] += from[i];
		else if (from[i] > to[i])
			to[i] = from[i]; /* they share it */
	}
}

bool exit_sums_take(struct exit_sums *s, struct exit_account *a)
{
	uint32_t group = a->group ? a->group : a->pid, i, found = EXIT_GROUPS;

	for (i = 0; i < EXIT_GROUPS && s->rows[i].group != group; i++)
		if (!s->rows[i].group)
			found = i;
	if (i == EXIT_GROUPS && group == a->pid)
		return true; /* its only thread, or the others live on: then it comes again */
	if (i == EXIT_GROUPS) {
		if (found == EXIT_GROUPS && !a->is_last)
			return false;
		i = found;
	}
	if (i < EXIT_GROUPS) {
		if (s->rows[i].group != group)
			memset(&s->rows[i], 0, sizeof(s->rows[i]));
		s->rows[i].group = group;
		add(s->rows[i].number, a->number);
		memcpy(a->number, s->rows[i].number, sizeof(a->number));
		if (a->is_last)
			s->rows[i].group = 0;
	}
	a->pid = group;
	return a->is_last;
}

/* --- the socket --- */

static void put_half(uint8_t *p, size_t v)
{
	uint16_t half = (uint16_t)v;

	memcpy(p, &half, sizeof(half));
}

struct request {
	uint16_t family;
	uint8_t command;
	uint16_t type; /* of the one attribute, which is a text */
	const char *text;
};

static int send_request(int fd, const struct request *r)
{
	uint8_t m[256] = { 0 };
	size_t text = strlen(r->text) + 1;
	uint32_t len = (uint32_t)(HEAD + ATTRIBUTE + text);

	if (len > sizeof(m))
		return -E2BIG;
	memcpy(m, &len, sizeof(len));
	put_half(m + 4, r->family);
	put_half(m + 6, ABI_FLAG_REQUEST | ABI_FLAG_ACK);
	m[16] = r->command;
	m[17] = 1; /* of its family's version */
	put_half(m + HEAD, ATTRIBUTE + text);
	put_half(m + HEAD + 2, r->type);
	memcpy(m + HEAD + ATTRIBUTE, r->text, text);
	return send(fd, m, len, 0) == (ssize_t)len ? 0 : -errno;
}

/* What came for a request: 1 with *ret_id if it has a family's number; else the acknowledgement's errno.
 * The kernel answers before send() returns. */
static int take_answer(int fd, uint16_t *ret_id)
{
	uint8_t m[4096];
	const uint8_t *at;
	struct attribute a;
	ssize_t n;

	n = recv(fd, m, sizeof(m), 0);
	if (n < (ssize_t)HEAD)
		return n < 0 ? -errno : -EBADMSG;
	if (half_at(m + 4) == ABI_MESSAGE_ERROR)
		return (int)word_at(m + 16);
	at = m + HEAD;
	while (next_attribute(&a, &at, m + n))
		if (a.type == ABI_GENERIC_FAMILY_ID && a.len >= 2) {
			*ret_id = half_at(a.body);
			return 1;
		}
	return -EBADMSG;
}

static int find_family(int fd, uint16_t *ret)
{
	const struct request r = { ABI_GENERIC_CONTROL, ABI_GENERIC_GET_FAMILY,
				   ABI_GENERIC_FAMILY_NAME, FAMILY_NAME };
	uint16_t ignored;
	int e = send_request(fd, &r);

	if (!e)
		e = take_answer(fd, ret);
	if (e <= 0)
		return e ? e : -ENOENT;
	take_answer(fd, &ignored);
	return 0;
}

int exit_account_ask(int fd, const char *cpus, struct error *e)
{
	struct request r = { 0, COMMAND_GET, ATTRIBUTE_REGISTER, cpus };
	int failed = find_family(fd, &r.family);

	if (failed < 0)
		return error_set(e, -failed,
				 "no exit accounts: the kernel lacks CONFIG_TASKSTATS (%s)",
				 strerror(-failed));
	failed = send_request(fd, &r);
	if (!failed)
		failed = take_answer(fd, &r.family);
	if (failed < 0)
		return error_set(e, -failed, "no exit accounts: the kernel refuses them (%s)",
				 strerror(-failed));
	return 0;
}

int exit_account_open(uint32_t buffer, const char *cpus, struct error *e)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, ABI_NETLINK_GENERIC);
	struct abi_netlink_address address = { .family = AF_NETLINK };
	struct timeval patience = { .tv_sec = 1 };
	int size = (int)buffer, r;

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)))
		return error_set(e, errno, "no exit accounts: %s", strerror(errno));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	r = exit_account_ask(fd, cpus, e);
	return r < 0 ? r : take_fd(&fd);
}
