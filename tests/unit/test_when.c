/* SPDX-License-Identifier: MIT */
/* when: every form, zones with and without changes of the clock, and what is no time at all. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/when.h"

#define S UINT64_C(1000000000)
#define NOW (1763200000 * S + 123456789) /* 2025-11-15T09:46:40.123456789Z */

/* Rules in the text of TZ, so that the test needs no database of zones. */
#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"
#define NEW_YORK "EST5EDT,M3.2.0,M11.1.0"
#define KOLKATA "IST-5:30"

static void set_zone(const char *tz)
{
	setenv("TZ", tz, 1);
	tzset();
}

static void gives_at(const char *text, uint64_t now_ns, uint64_t want)
{
	struct error e = ERROR_INIT;
	uint64_t got = 0;

	if (when_parse(text, now_ns, &got, &e) < 0)
		fail_msg("%s: %s", text, e.text);
	if (got != want)
		fail_msg("%s: %" PRIu64 ", not %" PRIu64, text, got, want);
}

static void gives(const char *text, uint64_t want)
{
	gives_at(text, NOW, want);
}

static void refuses_at(const char *text, uint64_t now_ns, const char *why)
{
	struct error e = ERROR_INIT;
	uint64_t got = 42;

	if (when_parse(text, now_ns, &got, &e) != -EINVAL)
		fail_msg("\"%s\" is taken as %" PRIu64, text, got);
	assert_int_equal(got, 42);
	if (!strstr(e.text, why))
		fail_msg("\"%s\": %s, not %s", text, e.text, why);
}

static void refuses(const char *text)
{
	refuses_at(text, NOW, "cannot ");
}

static void length_is(const char *text, uint64_t want)
{
	struct error e = ERROR_INIT;
	uint64_t got = 0;

	if (when_parse_length(text, &got, &e) < 0)
		fail_msg("%s: %s", text, e.text);
	if (got != want)
		fail_msg("%s: %" PRIu64 ", not %" PRIu64, text, got, want);
}

static void no_length(const char *text)
{
	struct error e = ERROR_INIT;
	uint64_t got = 42;

	if (when_parse_length(text, &got, &e) != -EINVAL)
		fail_msg("\"%s\" is taken as %" PRIu64, text, got);
	assert_int_equal(got, 42);
	assert_non_null(strstr(e.text, "cannot "));
}

static void test_before_now(void **state)
{
	(void)state;
	set_zone("UTC0");
	gives("now", NOW);
	gives("-5m", NOW - 300 * S);
	gives("-90s", NOW - 90 * S);
	gives("-90", NOW - 90 * S);
	gives("-1h30m", NOW - 5400 * S);
	gives("-2d", NOW - 172800 * S);
	gives("-0.5s", NOW - S / 2);
	gives("-250ms", NOW - S / 4);
	gives("-0", NOW);
	gives_at("-10s", 10 * S, 0);
	refuses("-");
	refuses("--5m");
	refuses("- 5m");
	refuses("-5m ago");
	refuses("-100000w"); /* before 1970 */
	refuses("+5m");
	refuses("5m");
}

static void test_absolute(void **state)
{
	(void)state;
	set_zone("UTC0");
	gives("@1763200000", 1763200000 * S);
	gives("@1763200000.5", 1763200000 * S + S / 2);
	gives("@0", 0);
	gives("@0.000000001", 1);
	gives("@5.123456789", 5 * S + 123456789);
	gives("1763200000000000000", 1763200000 * S);
	gives("1763200000123456789", 1763200000 * S + 123456789);
	gives("0000000000000001", 1);
	gives("18446744073709551615", UINT64_MAX);
	gives("@18446744072.999999999", UINT64_C(18446744072999999999));
	refuses("@18446744073");
	refuses("@18446744073709551616");
	refuses("18446744073709551616");
	refuses("99999999999999999999999");
	refuses("1763200000");	    /* seconds want their @ */
	refuses("176320000000000"); /* fifteen digits */
	refuses("@");
	refuses("@.5");
	refuses("@5.");
	refuses("@-5");
	refuses("@5.1234567890");
	refuses("@ 5");
	refuses("@5s");
	refuses("1763200000000000000ns");
}

static void test_dates(void **state)
{
	(void)state;
	set_zone("UTC0");
	gives("1970-01-01", 0);
	gives("2000-02-29", 951782400 * S);
	gives("2025-11-15", 1763164800 * S);
	gives("2025-11-15 09:46:40", 1763200000 * S);
	gives("2025-11-15T09:46:40", 1763200000 * S);
	gives("2025-11-15T09:46", 1763199960 * S);
	gives("2025-11-15T09:46:40Z", 1763200000 * S);
	gives("2025-11-15T10:46:40.5+01:00", 1763200000 * S + S / 2);
	gives("2025-11-15T10:46:40+0100", 1763200000 * S);
	gives("2025-11-15T10:46:40+01", 1763200000 * S);
	gives("2025-11-15T04:16:40-05:30", 1763200000 * S);
	gives("2025-11-15T10:46+01:00", 1763199960 * S);
	gives("1970-01-01T00:00:00-01:00", 3600 * S);
	gives("2554-07-21T23:34:32.999999999Z", UINT64_C(18446744072999999999));
	refuses("2554-07-21T23:34:33Z");
	refuses("9999-12-31T23:59:59Z");
	refuses("1969-12-31T23:59:59Z");
	refuses("1970-01-01T00:00:00+00:01");
	refuses("1900-01-01");
	/* The C library's own word for what it cannot tell is the second before 1970. */
	refuses_at("1969-12-31 23:59:59", NOW, "not from 1970");
	/* The first months of the year 0 are of the year before it, where years begin in March. */
	refuses_at("0000-02-29T00:00Z", NOW, "not from 1970");
	refuses_at("0000-02-30T00:00Z", NOW, "cannot understand");
	refuses("2025-02-29");
	refuses("1900-02-29T00:00:00Z");
	refuses("2025-11-31");
	refuses("2025-00-10");
	refuses("2025-13-10");
	refuses("2025-11-00");
	refuses("2025-11-15T");
	refuses("2025-11-15 ");
	refuses("2025-11-15Z");
	refuses("2025-11-15T10");
	refuses("2025-11-15T24:00:00");
	refuses("2025-11-15T23:60:00");
	refuses("2025-11-15T23:59:60");
	refuses("2025-11-15T10:02:30.");
	refuses("2025-11-15T10:02.5");
	refuses("2025-11-15T10:02:30+");
	refuses("2025-11-15T10:02:30+1");
	refuses("2025-11-15T10:02:30+24:00");
	refuses("2025-11-15T10:02:30+01:60");
	refuses("2025-11-15T10:02:30+0160");
	refuses("2025-11-15T10:02:30+01:");
	refuses("2025-11-15T10:02:30Zulu");
	refuses("2025-11-15  10:02:30");
	refuses("25-11-15");
	refuses("02025-11-15");
	refuses("2025-1-5");
	refuses("2025/11-15");
	refuses("11-15");
}

static void test_time_of_day(void **state)
{
	(void)state;
	set_zone("UTC0");
	gives("09:46:40", 1763200000 * S);
	gives("09:46:40.123456789", NOW);
	gives("09:46:40.12345679", NOW + 1 - 86400 * S); /* 1 ns ahead: yesterday's */
	gives("00:00", 1763164800 * S);
	gives("09:46:41", 1763200001 * S - 86400 * S);
	gives("23:59:59", 1763164799 * S);
	refuses("9:46");
	refuses("09:4");
	refuses("09:46:4");
	refuses("24:00");
	refuses("09:60");
	refuses("09:46:60");
	refuses("09:46:40Z");
	refuses("09:46pm");
	refuses("09.46");
	refuses("09:46:40,5");
	/* Neither today nor yesterday is of 1970 where it still is the evening of 1969. */
	set_zone(NEW_YORK);
	gives_at("19:00", 1, 0);
	refuses_at("18:59", 1, "not from 1970");
}

static void test_zones(void **state)
{
	(void)state;
	set_zone(KOLKATA);
	gives("15:16:40", 1763200000 * S);
	gives("2025-11-15 15:16:40", 1763200000 * S);
	gives("2025-11-15T09:46:40Z", 1763200000 * S);
	gives("1970-01-01 05:30:00", 0);
	refuses("1970-01-01 05:29:59");
	set_zone(NEW_YORK);
	gives("2025-11-15", 1763182800 * S);
	gives("04:46:40", 1763200000 * S);
	gives("04:46:41", 1763200001 * S - 86400 * S);
	gives("2025-07-01 12:00:00", 1751385600 * S);
	gives("2025-07-01T12:00:00-04:00", 1751385600 * S);
}

/* In Berlin 2025-03-30 had no 02:00 to 03:00, 2025-10-26 had it twice. */
static void test_clock_changes(void **state)
{
	const uint64_t spring = 1743296400 * S; /* 01:00 UTC: 02:00 becomes 03:00 */
	const uint64_t autumn = 1761440400 * S; /* 01:00 UTC: 03:00 becomes 02:00 */

	(void)state;
	set_zone(BERLIN);
	gives("2025-03-30 01:59:59", spring - S);
	gives("2025-03-30 02:00:00", spring);
	gives("2025-03-30 02:30:00", spring + 1800 * S);
	gives("2025-03-30 03:00:00", spring);
	gives("2025-03-30 03:30:00", spring + 1800 * S);
	gives("2025-10-26 01:59:59", autumn - 3601 * S);
	gives("2025-10-26 02:00:00", autumn - 3600 * S);
	gives("2025-10-26 02:59:59", autumn - S);
	gives("2025-10-26 03:00:00", autumn + 3600 * S);
	gives("2025-10-26T02:30:00+01:00", autumn + 1800 * S);
	/* Yesterday is the day before, though it had 23 or 25 hours; a day of a length has 24. */
	gives_at("23:00", spring + 7200 * S, spring - 3 * 3600 * S);
	gives_at("-1d", autumn + 7200 * S, autumn + 7200 * S - 86400 * S);
	gives_at("04:00", autumn + 7199 * S, autumn + 7200 * S - 25 * 3600 * S);
	/* Half an hour, and half a minute, that are not there: 2025-10-05 is a first Sunday. */
	set_zone("LHST-10:30LHDT-11,M10.1.0,M4.1.0");
	gives("2025-10-05 02:15:00", 1759592700 * S);
	set_zone("AAA0BBB-0:00:30,M10.1.0,M4.1.0");
	gives("2025-10-05 02:00:15", 1759629615 * S);
	gives("2025-10-05 02:00:45", 1759629615 * S);
}

static void test_garbage(void **state)
{
	char text[4096];
	int i;

	(void)state;
	set_zone("UTC0");
	refuses("");
	refuses(" ");
	refuses("NOW");
	refuses("now ");
	refuses("yesterday");
	refuses("\xff\xfe");
	refuses("10:02:30\n");
	refuses(":::");
	refuses("١٢:٣٠");
	memset(text, '9', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	refuses(text);
	text[0] = '-';
	refuses(text);
	text[0] = '@';
	refuses(text);
	for (i = 1; i < 256; i++) {
		snprintf(text, sizeof(text), "10:02%c", i);
		refuses(text);
	}
}

static void test_lengths(void **state)
{
	(void)state;
	length_is("1h30m", 5400 * S);
	length_is("250ms", S / 4);
	length_is("90s", 90 * S);
	length_is("2d", 172800 * S);
	length_is("1w", 604800 * S);
	length_is("5min", 300 * S);
	length_is("1us", 1000);
	length_is("7ns", 7);
	length_is("0", 0);
	length_is("1.5", S + S / 2);
	length_is("1.5h", 5400 * S);
	length_is("0.000000001d", 86400);
	length_is("0.0005us", 0);
	length_is("1w2d3h4m5s6ms7us8ns",
		  ((((7 + 2) * UINT64_C(24) + 3) * 60 + 4) * 60 + 5) * S + 6007008);
	length_is("18446744073709551615ns", UINT64_MAX);
	length_is("18446744073.709551615", UINT64_MAX);
	no_length("18446744073.709551616");
	no_length("18446744073s709ms551us616ns");
	no_length("18446744073709551616ns");
	no_length("30501w");
	no_length("");
	no_length("s");
	no_length("-5s");
	no_length("1h30");
	no_length("30m1h");
	no_length("1m1min");
	no_length("1h1h");
	no_length("1 h");
	no_length("1h 30m");
	no_length("1.h");
	no_length(".5s");
	no_length("1.0000000001s");
	no_length("5y");
	no_length("5S");
	no_length("0x10");
	no_length("1e3");
	no_length("nan");
}

static void format_is(uint64_t ns, const char *want)
{
	char text[WHEN_MAX];
	uint64_t back = 0;

	assert_string_equal(when_format(ns, text), want);
	if (ns / S < UINT64_MAX / S) {
		assert_int_equal(when_parse(text, NOW, &back, NULL), 0);
		assert_true(back == ns);
	}
}

static void test_format(void **state)
{
	uint64_t ns;

	(void)state;
	set_zone(BERLIN);
	format_is(0, "1970-01-01T00:00:00Z");
	format_is(1, "1970-01-01T00:00:00.000000001Z");
	format_is(NOW, "2025-11-15T09:46:40.123456789Z");
	format_is(1763200000 * S + 250000000, "2025-11-15T09:46:40.250Z");
	format_is(1763200000 * S + 250001000, "2025-11-15T09:46:40.250001Z");
	format_is(951868799 * S, "2000-02-29T23:59:59Z");
	format_is(4107542399 * S, "2100-02-28T23:59:59Z");
	format_is(4107542400 * S, "2100-03-01T00:00:00Z");
	format_is(UINT64_MAX, "2554-07-21T23:34:33.709551615Z");
	/* Every day up to the end, against the C library where its time_t reaches. */
	for (ns = 0; ns / S < 18446000000; ns += 86400 * S + 1) {
		char text[WHEN_MAX], want[WHEN_MAX];
		time_t t = (time_t)(ns / S);
		uint64_t back = 0;
		struct tm tm;

		when_format(ns, text);
		assert_int_equal(when_parse(text, NOW, &back, NULL), 0);
		assert_true(back == ns);
		if (t < 0 || (uint64_t)t != ns / S || !gmtime_r(&t, &tm))
			continue;
		strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%S", &tm);
		assert_memory_equal(text, want, strlen(want));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_before_now), cmocka_unit_test(test_absolute),
		cmocka_unit_test(test_dates),	   cmocka_unit_test(test_time_of_day),
		cmocka_unit_test(test_zones),	   cmocka_unit_test(test_clock_changes),
		cmocka_unit_test(test_garbage),	   cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
