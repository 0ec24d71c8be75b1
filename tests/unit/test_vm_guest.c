/* SPDX-License-Identifier: MIT */
/* vm_guest: a guest's clock on the host's, which machine speaks, its kernel's addresses, and its rows in a recording. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/profile/object_id.h"
#include "device/vm/vm_guest_clock.h"
#include "device/vm/vm_guest_identity.h"
#include "device/vm/vm_guest_names.h"
#include "device/vm/vm_guest_objects.h"
#include "device/vm/vm_guest_rows.h"
#include "fuzz/starve.h"
#include "wire/sample_meta_decode.h"

#define S 1000000000ULL

/* --- clock --- */

static void test_clock(void **state)
{
	struct vm_guest_clock c = { 0 };

	(void)state;
	assert_true(vm_guest_clock_error(&c, 5) == UINT64_MAX);
	/* Asked at 100 s, answered 2 ms later: the guest's 10 s are 100.001 s. */
	vm_guest_clock_put(&c, 100 * S, 100 * S + 2000000, 10 * S);
	assert_true(vm_guest_clock_get(&c, 10 * S, 101 * S) == 100 * S + 1000000);
	assert_true(vm_guest_clock_get(&c, 9 * S, 101 * S) == 99 * S + 1000000);
	assert_true(vm_guest_clock_error(&c, 100 * S + 1000000) == 1000000);
	/* A slow answer changes nothing, a faster one does. */
	vm_guest_clock_put(&c, 101 * S, 101 * S + 500000000, 10 * S);
	assert_true(vm_guest_clock_get(&c, 10 * S, 102 * S) == 100 * S + 1000000);
	vm_guest_clock_put(&c, 102 * S, 102 * S + 20000, 12 * S);
	assert_true(vm_guest_clock_get(&c, 12 * S, 103 * S) == 102 * S + 10000);
	/* An error grows by 0.5 ms a second, so a machine that was stopped for a while is right again. */
	assert_true(vm_guest_clock_error(&c, 112 * S + 10000) == 10000 + 5000000);
	vm_guest_clock_put(&c, 112 * S, 112 * S + 6000000, 13 * S);
	assert_true(vm_guest_clock_get(&c, 13 * S, 113 * S) == 112 * S + 3000000);
}

static void test_clock_lies(void **state)
{
	struct vm_guest_clock c = { 0 };

	(void)state;
	vm_guest_clock_put(&c, 100 * S, 100 * S, 10 * S);
	assert_true(vm_guest_clock_get(&c, UINT64_MAX, 101 * S) == 101 * S);
	assert_true(vm_guest_clock_get(&c, 0, 101 * S) == 90 * S);
	c = (struct vm_guest_clock){ 0 };
	vm_guest_clock_put(&c, 100 * S, 100 * S, UINT64_MAX);
	assert_true(vm_guest_clock_get(&c, 0, 101 * S) == 1);
}

/* --- identity --- */

static bool has_cid(const char *line, uint32_t cid)
{
	return vm_guest_identity_has_cid(line, strlen(line), cid);
}

static void test_cid(void **state)
{
	static const char two[] = "--cid\0"
				  "7";

	(void)state;
	assert_true(has_cid("vhost-vsock-pci,id=v,guest-cid=7", 7));
	assert_true(has_cid("vhost-vsock-pci,guest-cid=7,id=v", 7));
	assert_true(has_cid("--vsock cid=7,socket=/x", 7));
	assert_true(has_cid("{\"driver\":\"vhost-vsock-pci\",\"guest-cid\": 7}", 7));
	assert_true(vm_guest_identity_has_cid(two, sizeof(two) - 1, 7));
	assert_false(has_cid("guest-cid=77", 7));
	assert_false(has_cid("guest-cid=17", 7));
	assert_false(has_cid("acid=7", 7));
	assert_false(has_cid("cid7", 7));
	assert_false(has_cid("guest-cid=", 7));
	assert_false(has_cid("", 7));
}

static const uint8_t uuid[GUEST_UUID_LEN] = { 0x8a, 0x2b, 0x7c, 0x1e, 0x5d, 0x44, 0x4f, 0x1b,
					      0x9a, 0x63, 0x0c, 0x55, 0xd2, 0xe7, 0xf9, 0x10 };

static void test_uuid(void **state)
{
	static const char *const yes[] = { "uuid=8a2b7c1e-5d44-4f1b-9a63-0c55d2e7f910,x",
					   "8A2B7C1E-5D44-4F1B-9A63-0C55D2E7F910",
					   "8a2b7c1e5d444f1b9a630c55d2e7f910" };
	static const char *const no[] = { "8a2b7c1e-5d44-4f1b-9a63-0c55d2e7f911",
					  "8a2b7c1e-5d44-4f1b-9a63-0c55d2e7f9100",
					  "a8a2b7c1e-5d44-4f1b-9a63-0c55d2e7f910",
					  "8a2b7c1e-5d44-4f1b-9a63-0c55d2e7f91", "" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		assert_true(vm_guest_identity_has_uuid(yes[i], strlen(yes[i]), uuid));
	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_false(vm_guest_identity_has_uuid(no[i], strlen(no[i]), uuid));
}

/* A folder as /proc has it, of a process that is a VMM or none. */
static void make_process(const char *proc, int pid, const char *line, bool is_vmm)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d", proc, pid);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/%d/cmdline", proc, pid);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(line, f);
	fclose(f);
	snprintf(path, sizeof(path), "%s/%d/fd", proc, pid);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/%d/fd/5", proc, pid);
	assert_int_equal(symlink(is_vmm ? "anon_inode:kvm-vm" : "anon_inode:kvm-vcpu:0", path), 0);
}

static void remove_folder(const char *path)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", path);
	assert_int_equal(system(command), 0);
}

static void add_file(const char *proc, int pid, int fd, const char *target)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%d/fd/%d", proc, pid, fd);
	assert_int_equal(symlink(target, path), 0);
}

static const char *long_line(const char *begin, const char *end)
{
	static char line[200U << 10];
	int n = snprintf(line, sizeof(line), "%s", begin);

	memset(line + n, 'x', sizeof(line) - 1 - (size_t)n);
	snprintf(line + sizeof(line) - 1 - strlen(end), strlen(end) + 1, "%s", end);
	return line;
}

/* Of a process with very many files not all are looked at. */
static void test_many_files(void **state)
{
	char proc[32], path[64];
	struct error e = ERROR_INIT;
	int folder, i;

	(void)state;
	snprintf(proc, sizeof(proc),
		 "%s/vm_guest_XXXXXX", /* where files are cheap, if it is there */
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	assert_non_null(mkdtemp(proc));
	make_process(proc, 10, "", false);
	snprintf(path, sizeof(path), "%s/10/fd", proc);
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(folder >= 0);
	for (i = 100; i < 100 + 65536; i++) {
		snprintf(path, sizeof(path), "%d", i);
		assert_int_equal(symlinkat("x", folder, path), 0);
	}
	close(folder);
	assert_int_equal(vm_guest_identity_by_pid(proc, 10, &e), -EPERM);
	remove_folder(proc);
}

static void test_processes(void **state)
{
	static const uint8_t none[GUEST_UUID_LEN];
	char proc[] = "/tmp/vm_guest_XXXXXX", path[64];
	struct error e = ERROR_INIT;

	(void)state;
	assert_non_null(mkdtemp(proc));
	make_process(proc, 10, "qemu -device vhost-vsock-pci,guest-cid=3", true);
	make_process(proc, 11, "qemu guest-cid=4", true);
	make_process(proc, 12, "vim notes-on-guest-cid=3", false);
	make_process(proc, 13, "qemu guest-cid=4", true);
	assert_int_equal(vm_guest_identity_by_cid(proc, 3, &e), 10);
	assert_int_equal(vm_guest_identity_by_cid(proc, 4, &e), -ENOTUNIQ);
	assert_int_equal(vm_guest_identity_by_cid(proc, 5, &e), -ENOENT);
	assert_int_equal(vm_guest_identity_by_pid(proc, 13, &e), 13);
	assert_int_equal(vm_guest_identity_by_pid(proc, 12, &e), -EPERM);
	assert_int_equal(vm_guest_identity_by_pid(proc, 99, &e), -EPERM);
	assert_int_equal(vm_guest_identity_by_pid(proc, 0, &e), -EPERM);
	make_process(proc, 14, "qemu guest-cid=5", false);
	add_file(proc, 14, 6, "anon_inode:kvm-v?"); /* as long, but another one */
	assert_int_equal(vm_guest_identity_by_cid(proc, 5, &e), -ENOENT);
	add_file(proc, 14, 7, "anon_inode:kvm-vm");
	assert_int_equal(vm_guest_identity_by_cid(proc, 5, &e), 14);
	snprintf(path, sizeof(path), "%s/15", proc); /* gone but for its folder */
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(vm_guest_identity_by_cid(proc, 5, &e), 14);
	/* What is behind the first 128 KiB of a command line is not looked at. */
	make_process(proc, 16, long_line("guest-cid=6 ", ""), true);
	make_process(proc, 17, long_line("", " guest-cid=6"), true);
	assert_int_equal(vm_guest_identity_by_cid(proc, 6, &e), 16);
	assert_int_equal(vm_guest_identity_by_cid("/nowhere", 6, &e), -ENOENT);
	make_process(proc, 18, "qemu -uuid 8a2b7c1e-5d44-4f1b-9a63-0c55d2e7f910", true);
	assert_int_equal(vm_guest_identity_by_uuid(proc, uuid, &e), 18);
	assert_int_equal(vm_guest_identity_by_uuid(proc, none, &e), -ENOENT);
	assert_non_null(strstr(e.text, "does not know its UUID"));
	starve_begin(0);
	assert_int_equal(vm_guest_identity_by_cid(proc, 3, &e), -ENOMEM);
	assert_true(starve_end());
	starve_begin(0);
	assert_int_equal(vm_guest_identity_by_uuid(proc, uuid, &e), -ENOMEM);
	assert_true(starve_end());
	remove_folder(proc);
}

/* --- names --- */

static void test_names(void **state)
{
	static struct vm_guest_names n;
	struct guest_names out;
	uint32_t i, got = 0;

	(void)state;
	for (i = 0; i < 2 * VM_GUEST_NAMES_MOST; i++) {
		vm_guest_names_push(&n, 0xffff800080000000ULL + 4 * (uint64_t)(i / 2));
	}
	while (vm_guest_names_pop(&n, &out))
		got += out.n;
	assert_int_equal(got, VM_GUEST_NAMES_MOST);
	vm_guest_names_push(&n, 0xffff900000000000ULL);
	assert_false(vm_guest_names_pop(&n, &out));
	vm_guest_names_rewind(&n);
	assert_true(vm_guest_names_pop(&n, &out));
	assert_true(out.address[1] == 0xffff800080000004ULL);
}

/* --- objects --- */

/* What the guest sends for the one that it is asked for, in two pieces. */
static void send_file(struct vm_guest_objects *o, const struct guest_id *id, const uint8_t *bytes,
		      uint32_t len)
{
	struct guest_object piece = { .id = *id, .size = len, .bytes = bytes, .len = len / 2 };

	assert_true(vm_guest_objects_take(o, &piece));
	assert_false(vm_guest_objects_take(o, &piece)); /* the same again */
	piece.offset = piece.len;
	piece.bytes += piece.len;
	piece.len = len - piece.len;
	assert_true(vm_guest_objects_take(o, &piece));
	assert_false(vm_guest_objects_take(o, &piece)); /* nobody asked any more */
}

static void see(struct vm_guest_objects *o, uint64_t pid, uint64_t pc)
{
	struct sample_event ev = { .guest = SAMPLE_GUEST_PC | SAMPLE_GUEST_CONTEXT,
				   .guest_pc = pc,
				   .guest_context = pid };

	vm_guest_objects_see(o, &ev);
}

static void test_objects(void **state)
{
	struct sample_mapping own = { .pid = 7, .from = 0x1000, .to = 0x2000 };
	struct sample_mapping other = {
		.pid = 8, .from = 0x1000, .to = 0x2000, .build_id = { 1, 2, 3 }, .build_id_len = 3
	};
	struct sample_mapping parents = {
		.pid = 8, .from = 0x5000, .to = 0x6000, .build_id = { 4, 5, 6 }, .build_id_len = 3
	};
	char folder[] = "/tmp/vm_guest_XXXXXX", command[128];
	static uint8_t bytes[4U << 20];
	struct vm_guest_objects *o;
	struct guest_id id;
	size_t len;
	FILE *f;

	(void)state;
	f = fopen("/proc/self/exe", "re");
	assert_non_null(f);
	len = fread(bytes, 1, sizeof(bytes), f);
	own.build_id_len = object_id_read(fileno(f), own.build_id);
	fclose(f);
	if (!own.build_id_len)
		skip(); /* the linker here writes none */
	assert_non_null(mkdtemp(folder));
	assert_int_equal(vm_guest_objects_new(&o, folder, 42), 0);
	vm_guest_objects_map(o, &own);
	vm_guest_objects_map(o, &other);
	assert_false(vm_guest_objects_pop(o, &id));
	see(o, 9, 0x2800);
	see(o, 7, 0x2800);
	assert_false(vm_guest_objects_is_busy(o));
	/* Of two at the same place the one of this process; asked for again by the next connection. */
	see(o, 7, 0x1800);
	assert_true(vm_guest_objects_pop(o, &id));
	assert_false(vm_guest_objects_pop(o, &id));
	vm_guest_objects_rewind(o);
	assert_true(vm_guest_objects_pop(o, &id));
	assert_memory_equal(id.bytes, own.build_id, own.build_id_len);
	send_file(o, &id, bytes, (uint32_t)len);
	/* Bytes of another file are not kept. */
	see(o, 8, 0x1800);
	assert_true(vm_guest_objects_pop(o, &id));
	assert_int_equal(id.len, 3);
	send_file(o, &id, bytes, (uint32_t)len);
	assert_false(vm_guest_objects_is_busy(o));
	/* Of a thread, or of a process that was forked, nothing was told: it is what lies there in another. */
	see(o, 9, 0x5800);
	assert_false(vm_guest_objects_is_busy(o));
	vm_guest_objects_map(o, &parents);
	see(o, 9, 0x5800);
	assert_true(vm_guest_objects_pop(o, &id));
	assert_memory_equal(id.bytes, parents.build_id, parents.build_id_len);
	vm_guest_objects_free(o);
	/* What /proc calls this program is the emulator, where there is one. */
	snprintf(command, sizeof(command), "%s/own", folder);
	f = fopen(command, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	fclose(f);
	snprintf(command, sizeof(command),
		 "cd %s && [ $(find 42 -type f | wc -l) = 1 ] && cmp -s own 42/.build-id/*/*",
		 folder);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

/* --- rows --- */

/* What comes out, apart again. */
struct got {
	struct block_out out;
	uint32_t blocks, lives, tables, mappings, names;
	uint64_t tick;
	int64_t vm;
};

static void take_items(struct got *g, struct byte_reader *in)
{
	struct sample_kernel_name name;
	struct sample_table_row table;
	struct sample_mapping mapping;
	struct sample_life_row life;
	struct meta_reader r;

	meta_reader_init(&r, in->at, reader_left(in));
	while (meta_reader_next(&r) == WIRE_OK)
		while (reader_left(&r.item)) {
			if (r.type == META_LIFE && sample_meta_get_life(&r.item, &life)) {
				g->tick = life.tick;
				g->lives++;
			} else if (r.type == META_TABLES &&
				   sample_meta_get_table(&r.item, &table)) {
				g->tables++;
			} else if (r.type == META_MAPPED &&
				   sample_meta_get_mapping(&r.item, &mapping)) {
				g->mappings++;
			} else {
				assert_int_equal(r.type, META_KERNEL_NAMES);
				assert_true(sample_meta_get_kernel_name(&r.item, &name));
				g->names++;
			}
		}
}

static int put(struct block_out *o, const struct block *b, uint8_t *payload, bool must)
{
	struct got *g = (struct got *)o;
	struct meta_reader r;

	(void)must;
	assert_true(b->payload_len <= SPOOL_META_MOST);
	g->blocks++;
	meta_reader_init(&r, payload, b->payload_len);
	while (meta_reader_next(&r) == WIRE_OK) {
		assert_int_equal(r.type, META_GUEST);
		g->vm = reader_signed(&r.item);
		take_items(g, &r.item);
	}
	return 0;
}

static int rows(struct got *g, const uint8_t *body, const uint8_t *end)
{
	struct vm_guest_clock clock = { true, 100 * S, 10 * S, 5 };
	static struct profile_meta meta;
	struct vm_guest_rows r = { .meta = &meta, .vm = 400, .clock = &clock, .now_ns = 200 * S };

	*g = (struct got){ .out = { .put = put } };
	profile_meta_init(&meta, &g->out);
	return vm_guest_rows_put(&r, body, (size_t)(end - body));
}

static void test_rows(void **state)
{
	struct sample_life_row life = {
		.pid = 5, .parent = 1, .tick = 12 * S, .comm = "sh", .comm_len = 2
	};
	struct sample_table_row table = {
		.pid = 5, .tid = 6, .tick = 12 * S, .comm = "sh", .comm_len = 2
	};
	struct sample_mapping mapping = {
		.pid = 5, .tick = 12 * S, .from = 4096, .to = 8192, .path = "/a", .path_len = 2
	};
	static uint8_t body[65536];
	uint8_t *item, *p = body;
	struct got g;
	int i;

	(void)state;
	item = meta_item_begin(p, META_LIFE);
	p = meta_item_end(item, sample_meta_put_life(item, &life));
	item = meta_item_begin(p, META_MAPPED);
	p = meta_item_end(item, sample_meta_put_mapping(item, &mapping));
	p = meta_put_number(p, META_CPUS, 7); /* what no guest has to say */
	item = p = meta_item_begin(p, META_TABLES);
	for (i = 0; i < 1000; i++)
		p = sample_meta_put_table(p, &table);
	p = meta_item_end(item, p);
	assert_int_equal(rows(&g, body, p), 0);
	assert_int_equal(g.vm, 400);
	assert_int_equal(g.lives, 1);
	assert_int_equal(g.mappings, 1);
	assert_int_equal(g.tables, 1000);
	assert_true(g.blocks > 3);
	assert_true(g.tick == 102 * S);
	/* Cut anywhere, what was whole is taken, and the rest refused. */
	assert_int_equal(rows(&g, body, p - 1), -EBADMSG);
}

static void expect_refused(const void *row, enum meta_item type)
{
	uint8_t body[8192], *item = meta_item_begin(body, type), *p = item;
	struct got g;

	if (type == META_LIFE)
		p = sample_meta_put_life(item, row);
	else if (type == META_TABLES)
		p = sample_meta_put_table(item, row);
	else if (type == META_MAPPED)
		p = sample_meta_put_mapping(item, row);
	else
		p = sample_meta_put_kernel_name(item, row);
	assert_int_equal(rows(&g, body, meta_item_end(item, p)), -EBADMSG);
	assert_int_equal(g.blocks, 0);
}

static void test_rows_bad(void **state)
{
	static char text[4096];
	struct sample_life_row life = { .pid = 5, .comm = text, .comm_len = 17 };
	struct sample_table_row table = { .pid = 5, .tid = -6 };
	struct sample_mapping mapping = { .pid = 5, .to = 1, .path = text, .path_len = 2049 };
	struct sample_kernel_name name = { 1, 2, text, VM_GUEST_NAME_MAX + 1 };

	(void)state;
	expect_refused(&life, META_LIFE);
	life = (struct sample_life_row){ .pid = 0 };
	expect_refused(&life, META_LIFE);
	life = (struct sample_life_row){ .pid = 5, .what = SAMPLE_LIFE_END + 1 };
	expect_refused(&life, META_LIFE);
	expect_refused(&table, META_TABLES);
	table = (struct sample_table_row){ .comm = text, .comm_len = 17 };
	expect_refused(&table, META_TABLES);
	expect_refused(&mapping, META_MAPPED);
	mapping = (struct sample_mapping){ .pid = 5 };
	expect_refused(&mapping, META_MAPPED);
	expect_refused(&name, META_KERNEL_NAMES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock),	  cmocka_unit_test(test_clock_lies),
		cmocka_unit_test(test_cid),	  cmocka_unit_test(test_uuid),
		cmocka_unit_test(test_processes), cmocka_unit_test(test_many_files),
		cmocka_unit_test(test_names),	  cmocka_unit_test(test_objects),
		cmocka_unit_test(test_rows),	  cmocka_unit_test(test_rows_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
