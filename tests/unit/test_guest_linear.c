/* SPDX-License-Identifier: MIT */
/* guest_linear: physical addresses by the headers of a file as /proc/kcore is one, and none by others. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/guest/guest_linear.h"

static void write_core(const char *path, const Elf64_Phdr *segments, uint16_t n, size_t cut)
{
	Elf64_Ehdr head = { .e_phoff = sizeof(head),
			    .e_phentsize = sizeof(*segments),
			    .e_phnum = n };
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	fwrite(&head, sizeof(head), 1, f);
	fwrite(segments, sizeof(*segments), n, f);
	fclose(f);
	if (cut)
		assert_int_equal(truncate(path, (off_t)cut), 0);
}

static void test_core(void **state)
{
	const Elf64_Phdr segments[] = {
		{ .p_type = PT_NOTE },
		/* What modules lie in, two pieces of memory, and one that cannot be. */
		{ .p_type = PT_LOAD, .p_vaddr = 0xffff800000000000, .p_memsz = 1U << 30 },
		{ .p_type = PT_LOAD,
		  .p_vaddr = 0xffff000000000000,
		  .p_paddr = 0x40000000,
		  .p_memsz = 0x1000000 },
		{ .p_type = PT_LOAD,
		  .p_vaddr = 0xffff000080000000,
		  .p_paddr = 0xc0000000,
		  .p_memsz = 0x1000 },
		{ .p_type = PT_LOAD,
		  .p_vaddr = 0xfffffffffffff000,
		  .p_paddr = 1,
		  .p_memsz = UINT64_MAX },
	};
	char path[] = "/tmp/guest_linear_XXXXXX";
	struct guest_linear l;
	uint64_t got;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_core(path, segments, 5, 0);
	guest_linear_load(&l, path);
	assert_int_equal(l.n, 2);
	assert_true(guest_linear_get(&l, 0xffff000000003000, &got));
	assert_true(got == 0x40003000);
	assert_true(guest_linear_get(&l, 0xffff000080000fff, &got));
	assert_true(got == 0xc0000fff);
	assert_false(guest_linear_get(&l, 0xffff000080001000, &got));
	assert_false(guest_linear_get(&l, 0xffff800000000000, &got));
	assert_false(guest_linear_get(&l, 0, &got));
	write_core(path, segments, 5, sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr) + 5);
	guest_linear_load(&l, path);
	assert_int_equal(l.n, 1);
	write_core(path, segments, 5, 20);
	guest_linear_load(&l, path);
	assert_int_equal(l.n, 0);
	unlink(path);
	guest_linear_load(&l, path);
	assert_int_equal(l.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_core),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
