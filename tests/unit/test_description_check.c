/* SPDX-License-Identifier: MIT */
/* description_check: what is whole is taken; what is not is named, with its offset. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trace/description_check.h"
#include "wire/meta.h"

#define ROOM 64U
#define BEFORE 3U /* bytes of the device's name, which stands before each item */

struct item {
	uint8_t type;
	uint8_t len;
	const char *bytes;
	const char *word; /* NULL: it is whole */
};

static const struct item items[] = {
	{ META_CPUS, 1, "\x02", NULL },
	{ META_CPUS, 0, "", "number of CPUs" },
	{ META_CPUS, 3, "\xff\xff\x7f", "number of CPUs" }, /* as no machine has */
	{ META_CLOCK, 12, "\x01\x00\x00\x09\x04mono\x01\x00\x00", NULL },
	{ META_CLOCK, 11, "\x01\x00\x00\x09\x04mono\x01\x00", "clock" },     /* no error */
	{ META_CLOCK, 12, "\x00\x00\x00\x09\x04mono\x01\x00\x00", "clock" }, /* it stands still */
	{ META_CLOCK, 12, "\x01\x40\x00\x09\x04mono\x01\x00\x00", "clock" }, /* shifted by 64 */
	{ META_DIALECT, 1, "\x00", "dialect" },
	{ META_TASKS, 1, "\xf1", "tasks" },
	{ META_ORDER, 2, "\x01\x00", "order of events" },
	{ META_SKIPPED, 1, "\x80", "skipped events" },
	{ META_AGENT, 5, "\xff\xff\xff\xff\x7f", "agent" },
	{ META_SAMPLING, 1, "\x00", "sampling" },
	{ META_MAPPED, 1, "\x01", "mapped files" },
	{ META_LIFE, 1, "\x01", "lives of processes" },
	{ META_KERNEL_NAMES, 1, "\x01", "functions of the kernel" },
	{ META_PACE, 1, "\x80", "pace" },
	{ META_GUEST, 1, "\x80", "guest" },
	{ 99, 3, "abc", NULL }, /* of a later version */
};

static size_t write_item(uint8_t *out, const struct item *i)
{
	memcpy(out, "\x01\x01x", BEFORE);
	out[BEFORE] = i->type;
	out[BEFORE + 1] = i->len;
	memcpy(out + BEFORE + 2, i->bytes, i->len);
	return BEFORE + 2 + i->len;
}

static void test_items(void **state)
{
	char wanted[128];
	uint8_t in[ROOM];
	size_t i, len;

	(void)state;
	for (i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
		struct error e = ERROR_INIT;
		int r;

		len = write_item(in, &items[i]);
		r = description_check(in, len, &e);
		if (!items[i].word) {
			if (r)
				fail_msg("item %u, which is whole: %s", items[i].type, e.text);
			continue;
		}
		assert_int_equal(r, -EPROTO);
		snprintf(wanted, sizeof(wanted),
			 "item %u (%s) at offset 3 of the description is not understood",
			 items[i].type, items[i].word);
		assert_string_equal(e.text, wanted);
	}
}

/* Wherever it is cut off but between items. */
static void test_cut(void **state)
{
	uint8_t in[ROOM];
	size_t len = write_item(in, &items[3]), n;

	(void)state;
	for (n = 0; n <= len; n++) {
		struct error e = ERROR_INIT;
		int r = description_check(in, n, &e);

		if (n == 0 || n == BEFORE || n == len) {
			assert_int_equal(r, 0);
			continue;
		}
		assert_int_equal(r, -EPROTO);
		assert_string_equal(
			e.text, n < BEFORE
					? "the item at offset 0 of the description is cut short"
					: "the item at offset 3 of the description is cut short");
	}
}

/* Where readers did not refuse the bytes, the reason is what they answered. */
static void test_explain(void **state)
{
	struct error e = ERROR_INIT;
	uint8_t in[ROOM];

	(void)state;
	assert_int_equal(description_explain(in, write_item(in, &items[3]), -ENOMEM, &e), -ENOMEM);
	assert_string_equal(e.text, strerror(ENOMEM));
	assert_int_equal(description_explain(in, write_item(in, &items[1]), -EBADMSG, &e),
			 -EBADMSG);
	assert_string_equal(
		e.text, "item 5 (number of CPUs) at offset 3 of the description is not understood");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_items),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_explain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
