/* SPDX-License-Identifier: MIT */
/* The build-id out of an object's own header in memory, in the layouts that linkers make. */
#include "device/func/build_id.h"

#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define BASE 0x10000U /* where the object was linked to */
#define NOTES 0x400U
#define BYTES 0x1000U

static union {
	ElfW(Ehdr) elf;
	uint8_t bytes[BYTES];
} image;
static uint32_t n_headers;

static ElfW(Phdr) * add(uint32_t type, uint64_t offset, uint64_t address, uint64_t size)
{
	ElfW(Phdr) *p = (ElfW(Phdr) *)(void *)(image.bytes + sizeof(image.elf)) + n_headers++;

	p->p_type = type;
	p->p_offset = (ElfW(Off))offset;
	p->p_vaddr = (ElfW(Addr))address;
	p->p_filesz = p->p_memsz = (ElfW(Word))size;
	image.elf.e_phnum = (ElfW(Half))n_headers;
	return p;
}

static void add_note(uint8_t *at, uint32_t type, const char *name, const char *data)
{
	ElfW(Nhdr) note = { .n_namesz = 4, .n_descsz = (ElfW(Word))strlen(data), .n_type = type };

	memcpy(at, &note, sizeof(note));
	memcpy(at + sizeof(note), name, 4);
	memcpy(at + sizeof(note) + 4, data, strlen(data));
}

static void begin(void)
{
	memset(&image, 0, sizeof(image));
	memcpy(image.elf.e_ident, ELFMAG, SELFMAG);
	image.elf.e_phoff = sizeof(image.elf);
	image.elf.e_phentsize = sizeof(ElfW(Phdr));
	n_headers = 0;
	add_note(image.bytes + NOTES, NT_GNU_ABI_TAG, "GNU", "0000111122223333");
	add_note(image.bytes + NOTES + 32, NT_GNU_BUILD_ID, "GNU", "an id of 20 bytes ..");
}

static uint32_t get(uint8_t id[MAPS_BUILD_ID_MAX])
{
	uint64_t head = (uintptr_t)&image;

	return build_id_get(head, head + sizeof(image), id);
}

static void expect_found(void)
{
	uint8_t id[MAPS_BUILD_ID_MAX];

	assert_int_equal(get(id), 20);
	assert_memory_equal(id, "an id of 20 bytes ..", 20);
}

static void test_plain(void **state)
{
	(void)state;
	begin();
	add(PT_NOTE, NOTES, BASE + NOTES, 68);
	add(PT_LOAD, 0, BASE, BYTES);
	expect_found();
}

/* As of a static program of ARM whose zeros want a large alignment. */
static void test_zeros(void **state)
{
	(void)state;
	begin();
	add(PT_LOAD, 0, BASE, BYTES);
	add(PT_LOAD, 0, BASE + 0x70000, 0)->p_memsz = 0x1000;
	add(PT_NOTE, NOTES, BASE + NOTES, 68);
	expect_found();
}

static void test_none(void **state)
{
	uint8_t id[MAPS_BUILD_ID_MAX];

	(void)state;
	begin();
	add(PT_LOAD, 0, BASE, BYTES);
	assert_int_equal(get(id), 0);
	add(PT_NOTE, NOTES, BASE + NOTES, 32); /* without the second */
	assert_int_equal(get(id), 0);
	add(PT_NOTE, NOTES, BASE + BYTES, 68); /* beyond what is mapped */
	assert_int_equal(get(id), 0);
	image.bytes[0] = 0;
	add(PT_NOTE, NOTES, BASE + NOTES, 68);
	assert_int_equal(get(id), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_zeros),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
