/* SPDX-License-Identifier: MIT */
/* dwarf_form: every form of DWARF 2 to 5 takes as many bytes as the standard says, cut anywhere it is bad, and what is no form is, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symbol/dwarf_form.h"

static uint8_t text[] = "zero\0four";
static const struct dwarf_bytes strings = { text, sizeof(text) - 1 }, none = { NULL, 0 };
static const struct elf_file little = { .big = false }, big = { .big = true };

/* Bytes that a form takes of these; 0: it is bad. */
static size_t take(uint64_t form, const uint8_t *bytes, size_t len, const struct dwarf_context *x)
{
	struct dwarf_cursor c = { &little, bytes, bytes + len, false };

	dwarf_form_get(&c, form, x);
	return c.bad ? 0 : (size_t)(c.p - bytes);
}

static void test_sizes(void **state)
{
	/* The number of a form, and the bytes that it takes where addresses have 8 and offsets 4. */
	static const struct {
		uint16_t form, size;
	} forms[] = {
		{ 0x01, 8 },   { 0x03, 4 },   { 0x04, 6 },   { 0x05, 2 }, { 0x06, 4 },
		{ 0x07, 8 },   { 0x09, 3 },   { 0x0a, 3 },   { 0x0b, 1 }, { 0x0c, 1 },
		{ 0x0d, 1 },   { 0x0e, 4 },   { 0x0f, 1 },   { 0x10, 4 }, { 0x11, 1 },
		{ 0x12, 2 },   { 0x13, 4 },   { 0x14, 8 },   { 0x15, 1 }, { 0x17, 4 },
		{ 0x18, 3 },   { 0x1a, 1 },   { 0x1b, 1 },   { 0x1c, 4 }, { 0x1d, 4 },
		{ 0x1e, 16 },  { 0x1f, 4 },   { 0x20, 8 },   { 0x22, 1 }, { 0x23, 1 },
		{ 0x24, 8 },   { 0x25, 1 },   { 0x26, 2 },   { 0x27, 3 }, { 0x28, 4 },
		{ 0x29, 1 },   { 0x2a, 2 },   { 0x2b, 3 },   { 0x2c, 4 }, { 0x1f01, 1 },
		{ 0x1f02, 1 }, { 0x1f20, 4 }, { 0x1f21, 4 },
	};
	const struct dwarf_context x = { &strings, &strings, 4, 8, 5 };
	uint8_t bytes[32] = { 2, 0, 0, 0 }; /* blocks have two bytes */
	size_t i, cut, size;

	(void)state;
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size = take(forms[i].form, bytes, sizeof(bytes), &x);
		if (size != forms[i].size)
			fail_msg("form %#x takes %zu bytes, not %u", forms[i].form, size,
				 forms[i].size);
		for (cut = 0; cut < size; cut++)
			assert_int_equal(take(forms[i].form, bytes, cut, &x), 0);
	}
	assert_int_equal(take(0x19, bytes, 0, &x), 0); /* a flag that is there takes nothing */
	assert_int_equal(take(0x02, bytes, 32, &x), 0);
	assert_int_equal(take(0x1f03, bytes, 32, &x), 0);
}

/* Of version 2 a reference is as wide as an address; of later ones as an offset. */
static void test_widths(void **state)
{
	const struct dwarf_context old = { &strings, &strings, 4, 8, 2 };
	const struct dwarf_context wide = { &strings, &strings, 8, 4, 4 };
	uint8_t bytes[16] = { 0 };

	(void)state;
	assert_int_equal(take(0x10, bytes, 16, &old), 8);
	assert_int_equal(take(0x10, bytes, 16, &wide), 8);
	assert_int_equal(take(0x01, bytes, 16, &wide), 4);
	assert_int_equal(take(0x0e, bytes, 16, &wide), 8);
}

static struct dwarf_value get(uint64_t form, const uint8_t *bytes, size_t len,
			      const struct elf_file *f, const struct dwarf_bytes *apart)
{
	const struct dwarf_context x = { apart, apart, 4, 8, 5 };
	struct dwarf_cursor c = { f, bytes, bytes + len, false };

	return dwarf_form_get(&c, form, &x);
}

static void test_values(void **state)
{
	static const uint8_t at[] = { 5, 0, 0, 0 }, behind[] = { 9, 0, 0, 0 }, minus[] = { 0x7f };

	(void)state;
	assert_int_equal(get(0x05, at, 2, &little, &strings).number, 5);
	assert_int_equal(get(0x05, at, 2, &big, &strings).number, 0x500);
	assert_true(get(0x0d, minus, 1, &little, &strings).number == UINT64_MAX);
	assert_string_equal(get(0x08, (const uint8_t *)"inside", 7, &little, &strings).string,
			    "inside");
	assert_string_equal(get(0x0e, at, 4, &little, &strings).string, "four");
	assert_string_equal(get(0x1f, at, 4, &little, &strings).string, "four");
	assert_null(get(0x0e, behind, 4, &little, &strings).string);
	assert_null(get(0x0e, at, 4, &little, &none).string);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests_name("dwarf_form", tests, NULL, NULL);
}
