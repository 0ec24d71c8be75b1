/* SPDX-License-Identifier: MIT */
/* perf_record: see perf_record.h. */
#include "device/profile/perf_record.h"

#include <errno.h>
#include <string.h>

#define TRAILER 24U /* bytes behind all but samples: pid, tid, time, CPU, nothing */
#define BUILD_ID_AT 4U

/* A place in a record that never leaves it. */
struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

static const uint8_t *take(struct cursor *c, size_t len)
{
	const uint8_t *p = c->at;

	if ((size_t)(c->end - c->at) < len) {
		c->bad = true;
		c->at = c->end;
		return NULL;
	}
	c->at += len;
	return p;
}

static uint64_t take64(struct cursor *c)
{
	const uint8_t *p = take(c, 8);
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t take32(struct cursor *c)
{
	const uint8_t *p = take(c, 4);
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return v;
}

static uint16_t half_at(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t type_of(const uint8_t *bytes)
{
	uint32_t v;

	memcpy(&v, bytes, sizeof(v));
	return v;
}

uint32_t perf_record_length(const uint8_t *head, uint32_t left)
{
	uint32_t len = left < PERF_RECORD_HEAD ? 0 : half_at(head + 6);

	return len < PERF_RECORD_HEAD || len > left || len % 8 ? 0 : len;
}

uint32_t perf_record_time_at(const uint8_t *head, uint32_t len)
{
	if (len < PERF_RECORD_HEAD + TRAILER)
		return 0;
	return type_of(head) == PERF_SAMPLE ? PERF_RECORD_HEAD + 16 : len - 16;
}

/* --- samples --- */

static uint8_t mode_of(uint16_t misc)
{
	switch (misc & PERF_MISC_MODE) {
	case PERF_MISC_USER:
		return SAMPLE_USER;
	case PERF_MISC_GUEST_KERNEL:
		return SAMPLE_GUEST_KERNEL;
	case PERF_MISC_GUEST_USER:
		return SAMPLE_GUEST_USER;
	default:
		return SAMPLE_KERNEL;
	}
}

static void push(struct perf_record *r, bool is_kernel, uint64_t address)
{
	uint32_t n = (uint32_t)r->n_kernel + r->n_user;

	/* The kernel's come first; if they do not, they are not in their place. */
	if (n == SAMPLE_CHAIN_MAX || (is_kernel && r->n_user))
		return;
	r->chain[n] = address;
	if (is_kernel)
		r->n_kernel++;
	else
		r->n_user++;
}

static void parse_chain(struct perf_record *r, struct cursor *c)
{
	uint64_t n = take64(c), address, i, whose = 0;

	if (n > (uint64_t)(c->end - c->at) / 8) {
		c->bad = true;
		return;
	}
	for (i = 0; i < n; i++) {
		address = take64(c);
		if (address >= PERF_CONTEXT_FIRST)
			whose = address;
		else if (whose == PERF_CONTEXT_KERNEL_MARK || whose == PERF_CONTEXT_USER_MARK)
			push(r, whose == PERF_CONTEXT_KERNEL_MARK, address);
	}
}

/* A program's address space can have no memory to walk, and a chain may not be wanted: the place itself is known. */
static void parse_sample(struct perf_record *r, struct cursor *c, bool has_chain)
{
	r->ip = take64(c);
	r->pid = (int32_t)take32(c);
	r->tid = (int32_t)take32(c);
	r->time = take64(c);
	r->cpu = take32(c);
	take32(c);
	r->period = take64(c);
	r->mode = mode_of(r->misc);
	if (has_chain)
		parse_chain(r, c);
	if (r->mode == SAMPLE_USER && !r->n_user && !r->n_kernel)
		push(r, false, r->ip);
	else if (r->mode == SAMPLE_KERNEL && !r->n_kernel && !r->n_user)
		push(r, true, r->ip);
}

/* --- the others --- */

static void parse_build_id(struct perf_record *r, const uint8_t *p)
{
	r->map.build_id_len = p[0] <= SAMPLE_BUILD_ID_MAX ? p[0] : 0;
	memcpy(r->map.build_id, p + BUILD_ID_AT, r->map.build_id_len);
}

static void parse_map(struct perf_record *r, struct cursor *c)
{
	const uint8_t *id, *path;
	uint64_t length, major;

	r->map.pid = r->pid = (int32_t)take32(c);
	r->tid = (int32_t)take32(c);
	r->map.from = take64(c);
	length = take64(c);
	r->map.offset = take64(c);
	id = take(c, 24);
	take(c, 8); /* protection, flags */
	path = c->at;
	if (!id || length > UINT64_MAX - r->map.from) {
		c->bad = true;
		return;
	}
	r->map.to = r->map.from + length;
	r->map.path = (const char *)path;
	r->map.path_len = (uint32_t)strnlen((const char *)path, (size_t)(c->end - path));
	if (r->misc & PERF_MISC_BUILD_ID) {
		parse_build_id(r, id);
		return;
	}
	memcpy(&r->inode, id + 8, sizeof(r->inode));
	major = type_of(id);
	r->device = major << 32 | type_of(id + 4);
}

static void parse_comm(struct perf_record *r, struct cursor *c)
{
	const char *text;

	r->pid = (int32_t)take32(c);
	r->tid = (int32_t)take32(c);
	text = (const char *)c->at;
	sched_comm_set(r->comm, text, strnlen(text, (size_t)(c->end - c->at)));
}

static void parse_task(struct perf_record *r, struct cursor *c)
{
	r->pid = (int32_t)take32(c);
	r->parent = (int32_t)take32(c);
	r->tid = (int32_t)take32(c);
	r->parent_tid = (int32_t)take32(c);
}

static bool parse_other(struct perf_record *r, struct cursor *c)
{
	switch (r->type) {
	case PERF_MMAP2:
		parse_map(r, c);
		return true;
	case PERF_COMM:
		parse_comm(r, c);
		return true;
	case PERF_FORK:
	case PERF_EXIT:
		parse_task(r, c);
		return true;
	case PERF_LOST:
		take64(c);
		r->count = take64(c);
		return true;
	case PERF_LOST_SAMPLES:
		r->count = take64(c);
		return true;
	case PERF_SWITCH_WIDE:
		r->other = (int32_t)take32(c);
		r->other_tid = (int32_t)take32(c);
		return true;
	case PERF_SWITCH:
	case PERF_THROTTLE:
	case PERF_UNTHROTTLE:
		return true;
	default:
		return false;
	}
}

/* A FORK has the new task's numbers in itself, and behind it who made it. */
static void parse_trailer(struct perf_record *r, const uint8_t *at)
{
	struct cursor c = { at, at + TRAILER, false };
	bool has_own = r->type == PERF_MMAP2 || r->type == PERF_COMM || r->type == PERF_FORK ||
		       r->type == PERF_EXIT;
	int32_t pid = (int32_t)take32(&c), tid = (int32_t)take32(&c);

	if (!has_own) {
		r->pid = pid;
		r->tid = tid;
	}
	r->time = take64(&c);
	r->cpu = take32(&c);
}

/* All but the chain, which is long, and of which the counts say what is there. */
static void clear(struct perf_record *r)
{
	memset(r, 0, offsetof(struct perf_record, chain));
}

int perf_record_parse(struct perf_record *r, const uint8_t *bytes, uint32_t len, bool has_chain)
{
	struct cursor c = { bytes + PERF_RECORD_HEAD, bytes + len, false };
	uint32_t type;

	clear(r);
	if (len < PERF_RECORD_HEAD + TRAILER)
		return -EBADMSG;
	type = type_of(bytes);
	r->misc = half_at(bytes + 4);
	if (type > PERF_SWITCH_WIDE)
		return 0;
	r->type = (uint16_t)type;
	if (type == PERF_SAMPLE) {
		parse_sample(r, &c, has_chain);
		return c.bad ? -EBADMSG : 1;
	}
	c.end -= TRAILER;
	if (!parse_other(r, &c))
		return 0;
	parse_trailer(r, c.end);
	return c.bad ? -EBADMSG : 1;
}
