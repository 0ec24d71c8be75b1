/* SPDX-License-Identifier: MIT */
/*
 * kernel_names, process_maps, object_id, task_names, held_rows, perf_rings: who is who in a profile, from lists as the kernel
 * writes them; and records out of rings in order of time.
 */
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/profile/held_rows.h"
#include "device/profile/kernel_names.h"
#include "device/profile/perf_rings.h"
#include "device/profile/process_maps.h"
#include "device/profile/task_names.h"

static void write_file(const char *path, const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

/* --- the kernel's names --- */

struct sink {
	struct block_out out;
	uint8_t payload[8192];
	uint32_t len;
};

static int keep(struct block_out *o, const struct block *b, uint8_t *payload, bool must)
{
	struct sink *s = (struct sink *)o;

	(void)must;
	assert_true(s->len + b->payload_len <= sizeof(s->payload));
	memcpy(s->payload + s->len, payload, b->payload_len);
	s->len += b->payload_len;
	return 0;
}

static const char list[] = "ffff800000010000 T _stext\n"
			   "ffff800000010000 T first_function\n"
			   "ffff800000010100 t $x\n"
			   "ffff800000010200 t second\n"
			   "ffff800000010200 T __pi_second\n"
			   "ffff800000010300 T cpu_do_idle\n"
			   "ffff800000010340 T behind\n"
			   "ffff800000010400 D data\n"
			   "ffff8000a0002000 t mod_b\t[amod]\n"
			   "ffff8000a0001000 t mod_a\t[amod]\n";

static bool has(const struct sink *s, const char *name)
{
	return memmem(s->payload, s->len, name, strlen(name));
}

static void test_kernel(void **state)
{
	char path[] = "/tmp/kiseki-kallsyms-XXXXXX";
	CLEANUP(kernel_names) struct kernel_names *k = NULL;
	static struct profile_meta m;
	static struct sink s = { .out = { .put = keep } };

	(void)state;
	close(mkstemp(path));
	write_file(path, list, sizeof(list) - 1);
	assert_int_equal(kernel_names_new(&k, path, NULL), 0);
	assert_true(kernel_names_is_idle(k, 1));
	kernel_names_learn_idle(k);
	assert_true(kernel_names_is_idle(k, 0xffff800000010310));
	assert_false(kernel_names_is_idle(k, 0xffff800000010340));

	profile_meta_init(&m, &s.out);
	kernel_names_push(k, 0xffff800000010150);
	kernel_names_push(k, 0xffff800000010150);
	kernel_names_push(k, 0xffff800000010210);
	kernel_names_push(k, 0xffff8000a0001fff);
	kernel_names_push(k, 0x1234);
	kernel_names_put(k, &m);
	profile_meta_flush(&m);
	assert_true(has(&s, "first_function"));
	assert_true(has(&s, "second"));
	assert_true(has(&s, "mod_a [amod]"));
	assert_false(has(&s, "_stext"));
	assert_false(has(&s, "__pi_"));
	assert_false(has(&s, "mod_b"));
	assert_false(has(&s, "behind"));

	/* Said once; what is seen after that is said then. */
	s.len = 0;
	kernel_names_put(k, &m);
	profile_meta_flush(&m);
	assert_int_equal(s.len, 0);
	kernel_names_push(k, 0xffff800000010350);
	kernel_names_put(k, &m);
	profile_meta_flush(&m);
	assert_true(has(&s, "behind"));
	assert_false(has(&s, "second"));
	unlink(path);
}

/* What a function is called is asked for once, until modules come or go; who uses them does not matter. */
static void test_kernel_told(void **state)
{
	static const char before[] = "amod 4096 0 - Live 0xffff8000a0001000\n",
			  used[] = "amod 4096 1 other, Live 0xffff8000a0001000\n",
			  after[] = "bmod 4096 0 - Live 0xffff8000a0001000\n",
			  passing[] = "ffff800000010000 t passing\t[bpf]\n"
				      "ffff800000010200 t second\n";
	char path[] = "/tmp/kiseki-kallsyms-XXXXXX", modules[] = "/tmp/kiseki-modules-XXXXXX";
	CLEANUP(kernel_names) struct kernel_names *k = NULL;
	static struct profile_meta m;
	static struct sink s = { .out = { .put = keep } };
	uint64_t ms = 1000;

	(void)state;
	close(mkstemp(path));
	close(mkstemp(modules));
	write_file(path, list, sizeof(list) - 1);
	write_file(modules, before, sizeof(before) - 1);
	assert_int_equal(kernel_names_new(&k, path, NULL), 0);
	kernel_names_keep_told(k, modules);
	profile_meta_init(&m, &s.out);
	kernel_names_put_due(k, &m, ms);
#define SAY(address)                                                                               \
	do {                                                                                       \
		s.len = 0;                                                                         \
		kernel_names_push(k, address);                                                     \
		kernel_names_put_due(k, &m, ms += 1000000);                                        \
		profile_meta_flush(&m);                                                            \
	} while (0)
	SAY(0xffff800000010210);
	assert_true(has(&s, "second"));
	write_file(modules, used, sizeof(used) - 1);
	SAY(0xffff800000010220);
	assert_int_equal(s.len, 0);
	SAY(0xffff8000a0001010);
	assert_true(has(&s, "mod_a [amod]"));
	SAY(0xffff8000a0001020);
	assert_int_equal(s.len, 0);
	/* Nothing lies behind the last one: something else may come to lie there. */
	SAY(0xffff8000a0002010);
	assert_true(has(&s, "mod_b"));
	SAY(0xffff8000a0002020);
	assert_true(has(&s, "mod_b"));

	/* Others came: a turn later what was told is told again. */
	write_file(modules, after, sizeof(after) - 1);
	kernel_names_put_due(k, &m, ms += 1000000);
	SAY(0xffff8000a0001020);
	assert_true(has(&s, "mod_a [amod]"));
	SAY(0xffff800000010220);
	assert_true(has(&s, "second"));
	kernel_names_forget_told(k);
	SAY(0xffff800000010220);
	assert_true(has(&s, "second"));

	/* What comes and goes without modules is told each time. */
	kernel_names_forget_told(k);
	write_file(path, passing, sizeof(passing) - 1);
	SAY(0xffff800000010100);
	assert_true(has(&s, "passing [bpf]"));
	SAY(0xffff800000010100);
	assert_true(has(&s, "passing [bpf]"));
#undef SAY
	unlink(path);
	unlink(modules);
}

/* A kernel that hides its addresses is not asked a second time, even if it is a list by then. */
static void test_kernel_hidden(void **state)
{
	static const char hidden[] = "0000000000000000 T first_function\n";
	char path[] = "/tmp/kiseki-kallsyms-XXXXXX";
	CLEANUP(kernel_names) struct kernel_names *k = NULL;
	static struct profile_meta m;
	static struct sink s = { .out = { .put = keep } };

	(void)state;
	close(mkstemp(path));
	write_file(path, hidden, sizeof(hidden) - 1);
	assert_int_equal(kernel_names_new(&k, path, NULL), 0);
	kernel_names_keep_told(k, "/nowhere");
	profile_meta_init(&m, &s.out);
	kernel_names_push(k, 0xffff800000010210);
	kernel_names_put(k, &m);
	write_file(path, list, sizeof(list) - 1);
	kernel_names_push(k, 0xffff800000010210);
	kernel_names_put(k, &m);
	profile_meta_flush(&m);
	assert_int_equal(s.len, 0);
	kernel_names_forget_told(k);
	kernel_names_push(k, 0xffff800000010210);
	kernel_names_put(k, &m);
	profile_meta_flush(&m);
	assert_true(has(&s, "second"));
	unlink(path);
}

static void test_kernel_full(void **state)
{
	CLEANUP(kernel_names) struct kernel_names *k = NULL;
	uint32_t i;

	(void)state;
	assert_int_equal(kernel_names_new(&k, "/nowhere", NULL), 0);
	for (i = 1; !kernel_names_push(k, i); i++)
		assert_true(i < KERNEL_NAMES_SEEN);
	assert_true(i >= KERNEL_NAMES_SEEN / 2);
	assert_true(kernel_names_push(k, i + 5));
}

/* --- processes --- */

static void test_maps(void **state)
{
	struct sample_mapping m;
	uint64_t device, inode;

	(void)state;
	assert_true(process_maps_parse("aaaac0940000-aaaac0973000 r-xp 00001000 fd:01 4711      "
				       "                 /usr/bin/da sh",
				       &m, &device, &inode));
	assert_int_equal(m.from, 0xaaaac0940000);
	assert_int_equal(m.to, 0xaaaac0973000);
	assert_int_equal(m.offset, 0x1000);
	assert_int_equal(inode, 4711);
	assert_string_equal(m.path, "/usr/bin/da sh");
	assert_true(process_maps_parse("ffff0000-ffff1000 r-xp 00000000 00:00 0 [vdso]", &m,
				       &device, &inode));
	assert_false(process_maps_parse("ffff0000-ffff1000 rw-p 00000000 00:00 0 [heap]", &m,
					&device, &inode));
	assert_false(
		process_maps_parse("ffff0000-ffff1000 r-xp 00000000 00:00 0", &m, &device, &inode));
	assert_false(process_maps_parse("ffff1000-ffff0000 r-xp 00000000 00:00 0 /x", &m, &device,
					&inode));
	assert_false(process_maps_parse("", &m, &device, &inode));
	assert_false(process_maps_parse("x-y r-xp", &m, &device, &inode));
}

static void test_stat(void **state)
{
	struct process_stat s;

	(void)state;
	assert_true(process_stat_parse("12 (a (b) c) S 7 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 33 "
				       "0 9",
				       &s));
	assert_string_equal(s.comm, "a (b) c");
	assert_int_equal(s.parent, 7);
	assert_int_equal(s.threads, 33);
	assert_int_equal(s.state, 'S');
	assert_false(process_stat_parse("12 (x", &s));
	assert_false(process_stat_parse("", &s));
	assert_true(process_stat_get((int32_t)getpid(), &s));
	assert_int_equal(s.parent, getppid());
}

/* --- build-ids --- */

struct object {
	Elf64_Ehdr head;
	Elf64_Phdr segment[2];
	Elf64_Nhdr note;
	char name[4];
	uint8_t id[20];
};

static uint8_t read_object(const struct object *o, size_t len, uint8_t id[SAMPLE_BUILD_ID_MAX])
{
	char path[] = "/tmp/kiseki-object-XXXXXX";
	int fd = mkstemp(path);
	uint8_t got;

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, o, len), len);
	got = object_id_read(fd, id);
	close(fd);
	return got;
}

static void test_objects(void **state)
{
	struct object o = { .head = { .e_phoff = offsetof(struct object, segment),
				      .e_phnum = 2,
				      .e_phentsize = sizeof(Elf64_Phdr) },
			    .note = { 4, 20, NT_GNU_BUILD_ID },
			    .name = "GNU" };
	uint8_t id[SAMPLE_BUILD_ID_MAX];
	size_t len;

	(void)state;
	memcpy(o.head.e_ident, ELFMAG, SELFMAG);
	o.head.e_ident[EI_CLASS] = ELFCLASS64;
	o.head.e_ident[EI_DATA] =
		__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB;
	o.segment[1] = (Elf64_Phdr){ .p_type = PT_NOTE,
				     .p_offset = offsetof(struct object, note),
				     .p_filesz = sizeof(o) - offsetof(struct object, note) };
	memset(o.id, 0xab, sizeof(o.id));
	assert_int_equal(read_object(&o, sizeof(o), id), 20);
	assert_int_equal(id[19], 0xab);
	for (len = 0; len < sizeof(o); len++)
		assert_int_equal(read_object(&o, len, id), 0);
	o.note.n_descsz = 21;
	assert_int_equal(read_object(&o, sizeof(o), id), 0);
	o.note.n_descsz = UINT32_MAX;
	assert_int_equal(read_object(&o, sizeof(o), id), 0);
	o.note.n_descsz = 20;
	o.head.e_phoff = UINT64_MAX - 8;
	assert_int_equal(read_object(&o, sizeof(o), id), 0);
}

/* --- names of threads --- */

static void test_tasks(void **state)
{
	static struct task_names t;
	uint32_t i;

	(void)state;
	assert_null(task_names_get(&t, 0));
	assert_null(task_names_get(&t, 5));
	memcpy(task_names_put(&t, 5, 4)->comm, "five", 5);
	assert_string_equal(task_names_get(&t, 5)->comm, "five");
	assert_int_equal(task_names_put(&t, 5, 5)->pid, 5);
	/* All in the same row: whoever is asked for stays. */
	for (i = 1; i < 3 * TASK_NAMES_WAYS; i++) {
		task_names_put(&t, (int32_t)(5 + i * TASK_NAMES_ROWS), 1);
		assert_non_null(task_names_get(&t, 5));
	}
	assert_null(task_names_get(&t, 5 + (int32_t)TASK_NAMES_ROWS));
	assert_string_equal(task_names_get(&t, 5)->comm, "five");
}

/* --- rows that wait --- */

static void test_held(void **state)
{
	static struct held_rows h;
	static struct profile_meta m;
	static struct sink s = { .out = { .put = keep } };
	struct sample_mapping row = { .pid = 7, .from = 0x1000, .to = 0x2000 };
	char path[64];
	uint16_t slot, other, n;

	(void)state;
	held_rows_init(&h);
	profile_meta_init(&m, &s.out);
	slot = held_rows_take(&h);
	other = held_rows_take(&h);
	row.path = path;
	for (n = 0;; n++) {
		row.path_len = (uint32_t)snprintf(path, sizeof(path), "/lib/file-%u.so", n);
		if (!held_rows_push(&h, slot, &row))
			break;
	}
	assert_true(n > 50 && n < HELD_ROWS_BYTES / 16);
	row.path_len = (uint32_t)snprintf(path, sizeof(path), "/lib/other.so");
	assert_true(held_rows_push(&h, other, &row));
	held_rows_pop(&h, slot, &m);
	held_rows_pop(&h, other, NULL);
	profile_meta_flush(&m);
	assert_true(has(&s, "/lib/file-0.so"));
	snprintf(path, sizeof(path), "/lib/file-%u.so", n - 1U);
	assert_true(has(&s, path));
	assert_false(has(&s, "other"));

	for (n = 0; held_rows_take(&h) != HELD_ROWS_NONE; n++)
		assert_true(n < HELD_ROWS_SLOTS);
	assert_int_equal(n, HELD_ROWS_SLOTS);
	held_rows_pop(&h, 17, NULL);
	assert_int_equal(held_rows_take(&h), 17);
	assert_int_equal(held_rows_take(&h), HELD_ROWS_NONE);
}

/* --- rings --- */

#define RING 4096U

static uint8_t *ring_of(struct perf_rings *r, uint32_t i)
{
	return r->list[i].data;
}

/* A sample of `len` bytes at a place that only rises. */
static void put_record(struct perf_rings *r, uint32_t i, uint64_t time, uint16_t len)
{
	volatile uint64_t *head = (volatile uint64_t *)(r->list[i].map + PERF_PAGE_HEAD);
	uint8_t bytes[256] = { PERF_SAMPLE };
	uint64_t at = *head;
	uint32_t n;

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, &(uint32_t){ PERF_SAMPLE }, 4);
	memcpy(bytes + 6, &len, 2);
	memcpy(bytes + 24, &time, 8);
	for (n = 0; n < len; n++)
		ring_of(r, i)[(at + n) % RING] = bytes[n];
	*head = at + len;
}

static void test_rings(void **state)
{
	struct perf_rings *r = NULL;
	struct perf_piece piece;
	uint64_t last = 0, time;
	uint32_t round, n = 0, i;

	(void)state;
	assert_int_equal(perf_rings_new(&r, 2, NULL), 0);
	perf_rings_set_size(r, RING);
	for (i = 0; i < 2; i++) {
		char path[] = "/tmp/kiseki-ring-XXXXXX";
		int fd = mkstemp(path);

		unlink(path);
		assert_int_equal(ftruncate(fd, sysconf(_SC_PAGESIZE) + RING), 0);
		assert_int_equal(perf_rings_add(r, fd, i), 0);
		close(fd);
	}
	/* Many laps; records go across the end; what is too late waits. */
	for (round = 0; round < 300; round++) {
		for (i = 0; i < 8; i++)
			put_record(r, i & 1, round * 1000 + i * 10,
				   (uint16_t)(40 + 8 * (round % 9)));
		perf_rings_begin(r, round * 1000 + 55);
		for (; perf_rings_next(r, &piece); n++) {
			assert_non_null(piece.bytes);
			memcpy(&time, piece.bytes + 24, 8);
			assert_true(time >= last);
			assert_true(time <= round * 1000 + 55);
			last = time;
		}
		perf_rings_end(r);
	}
	assert_int_equal(n, 300 * 8 - 2);

	/* A length that cannot be: all is passed over, and it goes on behind it. */
	put_record(r, 0, 400000, 40);
	ring_of(r, 0)[(r->list[0].at + 40 + 6) % RING] = 3;
	put_record(r, 0, 400001, 3);
	perf_rings_begin(r, UINT64_MAX);
	for (n = 0; perf_rings_next(r, &piece); n++)
		assert_true(n < 4);
	perf_rings_end(r);
	assert_null(piece.bytes);
	put_record(r, 0, 400002, 40);
	perf_rings_begin(r, UINT64_MAX);
	assert_true(perf_rings_next(r, &piece));
	assert_non_null(piece.bytes);
	perf_rings_end(r);
	perf_rings_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel),	      cmocka_unit_test(test_kernel_told),
		cmocka_unit_test(test_kernel_hidden), cmocka_unit_test(test_kernel_full),
		cmocka_unit_test(test_maps),	      cmocka_unit_test(test_stat),
		cmocka_unit_test(test_objects),	      cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_held),	      cmocka_unit_test(test_rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
