/* SPDX-License-Identifier: MIT */
/* vm_reader: records become events, and bytes that are none are refused, wherever they are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/vm/vm_reader.h"
#include "wire/sample_meta.h"

#define ROOM 2048U
#define CPUS 2U

static struct vm_reader_exit exits[CPUS];

struct story {
	uint8_t data[ROOM];
	size_t len;
	size_t chunk; /* where the last one begins */
};

static void put(struct story *s, const void *data, size_t len)
{
	assert_true(len <= ROOM - s->len);
	memcpy(s->data + s->len, data, len);
	s->len += len;
}

static void open_chunk(struct story *s, uint32_t cpu, uint64_t lost)
{
	struct vm_chunk c = { .magic = VM_RECORD_MAGIC,
			      .version = VM_RECORD_VERSION,
			      .exits = SAMPLE_EXITS_ARM64,
			      .cpu = cpu,
			      .lost = lost };

	s->chunk = s->len;
	put(s, &c, sizeof(c));
}

static void close_chunk(struct story *s)
{
	uint32_t len = (uint32_t)(s->len - s->chunk - sizeof(struct vm_chunk));

	memcpy(s->data + s->chunk + offsetof(struct vm_chunk, length), &len, sizeof(len));
}

static struct vm_record base_of(uint8_t kind, uint64_t tick, size_t size)
{
	return (struct vm_record){
		.tick = tick, .size = (uint16_t)size, .kind = kind, .task = { 7, 5, 1, "CPU 1/KVM" }
	};
}

static void put_sample(struct story *s, uint64_t tick, uint16_t n_kernel, uint16_t n_user)
{
	struct vm_record_sample r = { .guest_pc = 0x1000,
				      .guest_table = 0x2000,
				      .guest_context = 3 };
	size_t size = offsetof(struct vm_record_sample, chain) + 8U * (n_kernel + n_user);
	uint32_t i;

	r.base = base_of(SAMPLE_TAKEN, tick, size);
	r.base.mode = SAMPLE_GUEST_USER;
	r.base.number = 2;
	r.base.lost = 4;
	r.period_ns = 1000;
	r.guest = SAMPLE_GUEST_PC | SAMPLE_GUEST_TABLE | SAMPLE_GUEST_CONTEXT;
	r.n_kernel = n_kernel;
	r.n_user = n_user;
	for (i = 0; i < VM_RECORD_CHAIN; i++)
		r.chain[i] = 100 + i;
	put(s, &r, size);
}

static void put_value(struct story *s, uint8_t kind, uint64_t tick)
{
	struct vm_record_value r = { .base = base_of(kind, tick, sizeof(r)),
				     .value = 257,
				     .detail = 9 };

	put(s, &r, sizeof(r));
}

static void put_exit(struct story *s, uint64_t tick, uint32_t guest)
{
	struct vm_record_exit r = { .base = base_of(SAMPLE_EXIT, tick, sizeof(r)),
				    .value = 257,
				    .detail = 9,
				    .guest_pc = 0x1000,
				    .guest_table = 0x2000,
				    .guest_task = 0x3000,
				    .guest = guest };

	r.base.mode = SAMPLE_GUEST_KERNEL;
	put(s, &r, sizeof(r));
}

static void put_two(struct story *s, uint8_t kind, uint64_t tick)
{
	struct vm_record_two r = { .base = base_of(kind, tick, sizeof(r)),
				   .next = { 0, 0, SAMPLE_NO_VCPU, "swapper/1" } };

	r.base.number = 2;
	put(s, &r, sizeof(r));
}

static void put_entry(struct story *s, uint64_t tick)
{
	struct vm_record r = base_of(SAMPLE_ENTRY, tick, sizeof(r));

	put(s, &r, sizeof(r));
}

/* Two CPUs, one of each kind. */
static void tell(struct story *s)
{
	memset(s, 0, sizeof(*s));
	open_chunk(s, 1, 11);
	put_entry(s, 50);
	put_sample(s, 60, 3, 1);
	put_exit(s, 61, SAMPLE_GUEST_PC | SAMPLE_GUEST_TABLE | SAMPLE_GUEST_TASK);
	put_two(s, SAMPLE_SWITCH, 61);
	close_chunk(s);
	open_chunk(s, 0, 0);
	put_two(s, SAMPLE_WAKE, 20);
	put_value(s, SAMPLE_OUTSIDE, 21);
	put_value(s, SAMPLE_POLL, 22);
	put_sample(s, 23, VM_RECORD_CHAIN, 0);
	close_chunk(s);
}

static enum wire_status read_all(const uint8_t *data, size_t len, uint32_t *ret_n)
{
	enum wire_status status;
	struct sample_event e;
	struct vm_reader r;
	uint32_t lost;

	memset(exits, 0, sizeof(exits));
	vm_reader_init(&r, exits, CPUS);
	vm_reader_feed(&r, data, len);
	*ret_n = 0;
	while ((status = vm_reader_next(&r, &e, &lost)) == WIRE_OK)
		++*ret_n;
	return status;
}

static void test_events(void **state)
{
	struct sample_event e;
	struct vm_reader r;
	struct story s;
	uint32_t lost, n;

	(void)state;
	tell(&s);
	memset(exits, 0, sizeof(exits));
	vm_reader_init(&r, exits, CPUS);
	vm_reader_feed(&r, s.data, s.len);
	assert_int_equal(vm_reader_next(&r, &e, &lost), WIRE_OK);
	assert_int_equal(r.cpu, 1);
	assert_int_equal(r.lost, 11);
	assert_int_equal(r.exits, SAMPLE_EXITS_ARM64);
	assert_int_equal(e.kind, SAMPLE_ENTRY);
	assert_int_equal(e.tick, 50);
	assert_int_equal(e.task.tid, 7);
	assert_int_equal(e.task.pid, 5);
	assert_int_equal(e.task.vcpu, 1);
	assert_string_equal(e.task.comm, "CPU 1/KVM");
	assert_int_equal(lost, 0);
	assert_int_equal(vm_reader_next(&r, &e, &lost), WIRE_OK);
	assert_int_equal(lost, 4);
	assert_int_equal(e.weight, 2000);
	assert_int_equal(e.mode, SAMPLE_GUEST_USER);
	assert_int_equal(e.n_kernel, 3);
	assert_int_equal(e.n_user, 1);
	assert_int_equal(e.chain[3], 103);
	assert_int_equal(e.guest_context, 3);
	assert_int_equal(vm_reader_next(&r, &e, &lost), WIRE_OK);
	assert_int_equal(e.value, 257);
	assert_int_equal(e.detail, 9);
	assert_int_equal(e.mode, SAMPLE_GUEST_KERNEL);
	assert_int_equal(e.guest, SAMPLE_GUEST_PC | SAMPLE_GUEST_TABLE | SAMPLE_GUEST_TASK);
	assert_int_equal(e.guest_pc, 0x1000);
	assert_int_equal(e.guest_table, 0x2000);
	assert_int_equal(e.guest_task, 0x3000);
	assert_int_equal(vm_reader_next(&r, &e, &lost), WIRE_OK);
	assert_int_equal(e.kind, SAMPLE_SWITCH);
	assert_int_equal(e.value, 2);
	assert_int_equal(e.next.vcpu, SAMPLE_NO_VCPU);
	assert_string_equal(e.next.comm, "swapper/1");
	assert_int_equal(vm_reader_next(&r, &e, &lost), WIRE_OK);
	assert_int_equal(r.cpu, 0);
	assert_int_equal(read_all(s.data, s.len, &n), WIRE_MORE);
	assert_int_equal(n, 8);
}

static void put_left(struct story *s, uint8_t kind, uint64_t tick)
{
	struct vm_record r = base_of(kind | VM_RECORD_LEFT, tick, sizeof(r));

	r.lost = 3;
	put(s, &r, sizeof(r));
}

/* The exit of a sample that has no record: it is told before the record that says so, also if that came with a later
 * read, behind another CPU's; and once. */
static void test_left(void **state)
{
	struct sample_event e;
	struct vm_reader r;
	struct story s;
	uint32_t lost;

	(void)state;
	memset(exits, 0, sizeof(exits));
	vm_reader_init(&r, exits, CPUS);
	memset(&s, 0, sizeof(s));
	open_chunk(&s, 1, 0);
	put_sample(&s, 60, 1, 1);
	close_chunk(&s);
	open_chunk(&s, 0, 0);
	put_entry(&s, 20);
	close_chunk(&s);
	vm_reader_feed(&r, s.data, s.len);
	assert_int_equal(vm_reader_next(&r, &e, &lost), WIRE_OK);
	assert_int_equal(vm_reader_next(&r, &e, &lost), WIRE_OK);
	assert_int_equal(vm_reader_next(&r, &e, &lost), WIRE_MORE);

	memset(&s, 0, sizeof(s));
	open_chunk(&s, 1, 0);
	put_left(&s, SAMPLE_ENTRY, 62);
	put_entry(&s, 63);
	close_chunk(&s);
	vm_reader_feed(&r, s.data, s.len);
	assert_int_equal(vm_reader_next(&r, &e, &lost), WIRE_OK);
	assert_int_equal(r.cpu, 1);
	assert_int_equal(e.kind, SAMPLE_EXIT);
	assert_int_equal(e.tick, 60);
	assert_int_equal(e.task.tid, 7);
	assert_int_equal(e.value, 0);
	assert_int_equal(e.detail, 0);
	assert_int_equal(e.mode, SAMPLE_GUEST_USER);
	assert_int_equal(e.guest, SAMPLE_GUEST_PC | SAMPLE_GUEST_TABLE | SAMPLE_GUEST_CONTEXT);
	assert_int_equal(e.guest_pc, 0x1000);
	assert_int_equal(e.guest_table, 0x2000);
	assert_int_equal(e.guest_context, 3);
	assert_int_equal(e.n_kernel + e.n_user, 0);
	assert_int_equal(lost, 0);
	assert_int_equal(vm_reader_next(&r, &e, &lost), WIRE_OK);
	assert_int_equal(e.kind, SAMPLE_ENTRY);
	assert_int_equal(e.tick, 62);
	assert_int_equal(lost, 3);
	assert_int_equal(vm_reader_next(&r, &e, &lost), WIRE_OK);
	assert_int_equal(e.tick, 63);
	assert_int_equal(vm_reader_next(&r, &e, &lost), WIRE_MORE);

	/* No sample of this CPU is waiting for one any more. */
	memset(&s, 0, sizeof(s));
	open_chunk(&s, 1, 0);
	put_left(&s, SAMPLE_ENTRY, 64);
	close_chunk(&s);
	vm_reader_feed(&r, s.data, s.len);
	assert_int_equal(vm_reader_next(&r, &e, &lost), WIRE_CORRUPT);

	/* Nor is one that was taken outside of guests. */
	memset(&s, 0, sizeof(s));
	open_chunk(&s, 1, 0);
	put_sample(&s, 65, 1, 1);
	s.data[sizeof(struct vm_chunk) + offsetof(struct vm_record, mode)] = SAMPLE_USER;
	put_left(&s, SAMPLE_ENTRY, 66);
	close_chunk(&s);
	vm_reader_feed(&r, s.data, s.len);
	assert_int_equal(vm_reader_next(&r, &e, &lost), WIRE_OK);
	assert_int_equal(vm_reader_next(&r, &e, &lost), WIRE_CORRUPT);
}

/* Every cut but those between chunks. */
static void test_cuts(void **state)
{
	struct story s;
	size_t len;
	uint32_t n;

	(void)state;
	tell(&s);
	for (len = 0; len < s.len; len++)
		assert_int_equal(read_all(s.data, len, &n),
				 !len || len == s.chunk ? WIRE_MORE : WIRE_CORRUPT);
}

static void refuse(size_t at, uint64_t value, size_t size)
{
	struct story s;
	uint32_t n;

	tell(&s);
	/* Its lowest bytes, in this machine's order. */
	memcpy(s.data + at,
	       (const uint8_t *)&value +
		       (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(value) - size : 0),
	       size);
	assert_int_equal(read_all(s.data, s.len, &n), WIRE_CORRUPT);
}

static void test_wrong_fields(void **state)
{
	const size_t entry = sizeof(struct vm_chunk), sample = entry + sizeof(struct vm_record);
	const size_t exit = sample + offsetof(struct vm_record_sample, chain) + 4 * 8;

	(void)state;
	refuse(offsetof(struct vm_chunk, magic), 1, 4);
	refuse(offsetof(struct vm_chunk, version), VM_RECORD_VERSION + 1, 2);
	refuse(offsetof(struct vm_chunk, exits), 4, 2);
	refuse(offsetof(struct vm_chunk, cpu), CPUS, 4);
	refuse(offsetof(struct vm_chunk, length), 0, 4);
	refuse(offsetof(struct vm_chunk, length), UINT32_MAX, 4);
	refuse(entry + offsetof(struct vm_record, kind), SAMPLE_KINDS, 1);
	refuse(entry + offsetof(struct vm_record, kind), SAMPLE_EXIT, 1);
	refuse(entry + offsetof(struct vm_record, kind), SAMPLE_ENTRY | VM_RECORD_LEFT, 1);
	refuse(entry + offsetof(struct vm_record, size), 0, 2);
	refuse(entry + offsetof(struct vm_record, size), 56, 2);
	refuse(entry + offsetof(struct vm_record, tick), 61, 8); /* later than the next one */
	refuse(entry + offsetof(struct vm_record, task) + offsetof(struct vm_record_task, tid),
	       UINT32_MAX, 4);
	refuse(entry + offsetof(struct vm_record, task) + offsetof(struct vm_record_task, vcpu),
	       UINT32_MAX - 1, 4);
	refuse(sample + offsetof(struct vm_record, mode), SAMPLE_MODES, 1);
	refuse(sample + offsetof(struct vm_record, number), 0, 4);
	refuse(sample + offsetof(struct vm_record_sample, guest), 32, 4);
	refuse(sample + offsetof(struct vm_record_sample, n_kernel), 4, 2);
	refuse(sample + offsetof(struct vm_record_sample, n_user), UINT16_MAX, 2);
	refuse(sample + offsetof(struct vm_record_sample, period_ns), 1ULL << 32, 8);
	refuse(exit + offsetof(struct vm_record, mode), SAMPLE_MODES, 1);
	refuse(exit + offsetof(struct vm_record, size), sizeof(struct vm_record_value), 2);
	refuse(exit + offsetof(struct vm_record_exit, guest), SAMPLE_GUEST_REASON, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_wrong_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
