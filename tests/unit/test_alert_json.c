/* SPDX-License-Identifier: MIT */
/*
 * alert_json: the link of an alert, which the page reads: the two times that are compared, and names from devices that could mean
 * something in an address.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "collector/alert_json.h"

#define ID "00000000000000000000000000000000"

static struct alert make(enum alert_kind kind, const char *name, const char *object)
{
	struct alert a = { .kind = (uint8_t)kind, .since_s = 6000, .told_s = 6060 };

	snprintf(a.name, sizeof(a.name), "%s", name);
	snprintf(a.object, sizeof(a.object), "%s", object);
	return a;
}

static void check_link(const struct alert *a, const char *expected)
{
	json_t *document = alert_json(a, "box");

	assert_non_null(document);
	assert_string_equal(json_string_value(json_object_get(document, "link")), expected);
	json_decref(document);
}

static void test_sides(void **state)
{
	struct alert a = make(ALERT_FUNCTION, "copy", "[kernel]");

	(void)state;
	check_link(&a, "/#fleet?tab=graph&kind=profile&devices=" ID
		       "&since=6000&until=6120&base=time&basesince=5400&baseuntil=6000"
		       "&by=function&name=copy&object=%5Bkernel%5D");
	a.until_s = 7200;
	check_link(&a, "/#fleet?tab=graph&kind=profile&devices=" ID
		       "&since=6000&until=7260&base=time&basesince=5400&baseuntil=6000"
		       "&by=function&name=copy&object=%5Bkernel%5D");
}

static void test_kinds(void **state)
{
	struct alert a = make(ALERT_STEAL, "vm one", "machine");

	(void)state;
	check_link(&a, "/#fleet?tab=graph&kind=vm&devices=" ID
		       "&since=6000&until=6120&base=time&basesince=5400&baseuntil=6000"
		       "&by=machine&name=vm%20one&object=");
	/* Of tasks there are no stacks: what they did in those minutes is the evidence. */
	a.kind = ALERT_WAIT;
	check_link(&a, "/#latency?device=" ID "&since=6000&until=6120&name=vm%20one");
	a.kind = ALERT_TASK;
	check_link(&a, "/#timeline?device=" ID "&since=6000&until=6120&name=vm%20one");
}

/* The longest texts there are, all of them three characters each in an address. */
static void test_hostile(void **state)
{
	struct alert a = make(ALERT_GUEST, "a&b=c#d?%\xc3\xa9", "");
	json_t *document;
	const char *link;

	(void)state;
	check_link(&a, "/#fleet?tab=graph&kind=vm&devices=" ID
		       "&since=6000&until=6120&base=time&basesince=5400&baseuntil=6000"
		       "&by=function&name=a%26b%3Dc%23d%3F%25%C3%A9&object=");
	memset(a.name, '&', sizeof(a.name) - 1);
	memset(a.object, '#', sizeof(a.object) - 1);
	document = alert_json(&a, "box");
	link = json_string_value(json_object_get(document, "link"));
	assert_non_null(link);
	assert_string_equal(link + strlen(link) - 3, "%23");
	assert_int_equal(strlen(strstr(link, "&object=")), 8 + 3 * (ALERT_TEXT - 1));
	json_decref(document);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sides),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
