/* SPDX-License-Identifier: MIT */
/*
 * when: see when.h.
 *
 * A cursor over the text; every form must be used up to its last character. Days are counted by
 * arithmetic, not by the C library, so that years beyond 2038 work where time_t has 32 bits; the
 * library is asked only for what it alone knows, the local offset.
 *
 * Where clocks are set back an hour happens twice, and the first is meant; where they are set
 * forward a time does not exist, and is read with the offset before the change: 02:30 is then what
 * the clocks call 03:30. A day of a length is always 24 hours.
 */
#include "base/when.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)
#define SECONDS_MAX (UINT64_MAX / NS_PER_S)
#define DAY_S 86400
#define NS_DIGITS_LEAST 16 /* a plain number of so many digits is nanoseconds */

#define FORMS "write now, -5m, 10:02:30, 2026-11-15 10:02:30, 2026-11-15T10:02:30Z or @1763200000.5"
#define LENGTHS "write 90s, 250ms, 1h30m, 2d or plain seconds"

struct civil {
	int year, month, day;	  /* month and day from 1 */
	int hour, minute, second; /* of the day */
	uint32_t ns;
};

/* --- the calendar --- */

/* Days since 1970-01-01, by Gregorian rules. Years start in March here, so that the leap day is
 * their last: then the days before a month are a line of slope 153/5. */
static int64_t days_of(int year, int month, int day)
{
	int64_t y = year - (month <= 2);
	int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
	int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* For days from the year 0 on: those that are asked for are from 1969 on. */
static void set_day(struct civil *c, int64_t days)
{
	int64_t d = days + 719468, era = d / 146097, of_era = d - era * 146097;
	int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * of_year + 2) / 153;

	c->day = (int)(of_year - (153 * month + 2) / 5 + 1);
	c->month = (int)(month < 10 ? month + 3 : month - 9);
	c->year = (int)(year + era * 400 + (c->month <= 2));
}

static int days_in_month(int year, int month)
{
	return (int)(days_of(month == 12 ? year + 1 : year, month == 12 ? 1 : month + 1, 1) -
		     days_of(year, month, 1));
}

static int64_t seconds_of(const struct civil *c)
{
	return days_of(c->year, c->month, c->day) * DAY_S + c->hour * 3600 + c->minute * 60 +
	       c->second;
}

static int to_ns(int64_t seconds, uint32_t ns, uint64_t *ret)
{
	if (seconds < 0 || (uint64_t)seconds >= SECONDS_MAX)
		return -ERANGE;
	*ret = (uint64_t)seconds * NS_PER_S + ns;
	return 0;
}

/* --- local time --- */

static bool is_same_time(const struct tm *t, const struct civil *c)
{
	return t->tm_year == c->year - 1900 && t->tm_mon == c->month - 1 && t->tm_mday == c->day &&
	       t->tm_hour == c->hour && t->tm_min == c->minute && t->tm_sec == c->second;
}

/* mktime() takes the kind of time that it is told, and normalises; so it is asked for both, and
 * for its own guess where a zone changed its offset without either. */
static int local_to_ns(const struct civil *c, uint64_t *ret)
{
	int64_t first = INT64_MAX,
		last = -1; /* none at all: it is refused as what is before 1970 */
	int kind;

	for (kind = -1; kind <= 1; kind++) {
		struct tm t = { .tm_year = c->year - 1900,
				.tm_mon = c->month - 1,
				.tm_mday = c->day,
				.tm_hour = c->hour,
				.tm_min = c->minute,
				.tm_sec = c->second,
				.tm_isdst = kind };
		time_t s = mktime(&t);

		if (s == (time_t)-1) /* before 1970, or after the end of time_t */
			continue;
		if (is_same_time(&t, c) && (int64_t)s < first)
			first = s;
		if ((int64_t)s > last)
			last = s;
	}
	return to_ns(first != INT64_MAX ? first : last, c->ns, ret);
}

/* Today at that time; if it is yet to come, yesterday. */
static int time_of_day_to_ns(struct civil *c, uint64_t now_ns, uint64_t *ret)
{
	time_t now = (time_t)(now_ns / NS_PER_S);
	struct tm t;
	int64_t today;
	int r;

	if ((uint64_t)now != now_ns / NS_PER_S || !localtime_r(&now, &t))
		return -ERANGE;
	today = days_of(t.tm_year + 1900, t.tm_mon + 1, t.tm_mday);
	set_day(c, today);
	r = local_to_ns(c, ret);
	if (r < 0 || *ret <= now_ns)
		return r;
	set_day(c, today - 1);
	return local_to_ns(c, ret);
}

/* --- pieces of text; each moves the cursor behind what it took, or leaves it --- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool take_char(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

/* Exactly `n` digits that are at most `most`. */
static bool take_digits(const char **p, int n, int most, int *ret)
{
	int v = 0, i;

	for (i = 0; i < n; i++) {
		if (!is_digit((*p)[i]))
			return false;
		v = v * 10 + ((*p)[i] - '0');
	}
	if (is_digit((*p)[n]) || v > most)
		return false;
	*p += n;
	*ret = v;
	return true;
}

/* As many digits as there are: 0, -EINVAL if there are none, -ERANGE. */
static int take_number(const char **p, uint64_t *ret)
{
	uint64_t v = 0;

	if (!is_digit(**p))
		return -EINVAL;
	for (; is_digit(**p); (*p)++) {
		uint64_t digit = (uint64_t)(**p - '0');

		if (v > (UINT64_MAX - digit) / 10)
			return -ERANGE;
		v = v * 10 + digit;
	}
	*ret = v;
	return 0;
}

/* A point and one to nine digits, or nothing at all. */
static bool take_fraction(const char **p, uint32_t *ret_ns)
{
	uint32_t v = 0, n = 0;

	*ret_ns = 0;
	if (!take_char(p, '.'))
		return true;
	for (; is_digit(**p); (*p)++, n++) {
		if (n == 9)
			return false;
		v = v * 10 + (uint32_t)(**p - '0');
	}
	if (!n)
		return false;
	for (; n < 9; n++)
		v *= 10;
	*ret_ns = v;
	return true;
}

/* 10:02, 10:02:30, 10:02:30.25 */
static bool take_time(const char **p, struct civil *c)
{
	if (!take_digits(p, 2, 23, &c->hour) || !take_char(p, ':') ||
	    !take_digits(p, 2, 59, &c->minute))
		return false;
	c->second = 0;
	c->ns = 0;
	if (!take_char(p, ':'))
		return true;
	return take_digits(p, 2, 59, &c->second) && take_fraction(p, &c->ns);
}

static bool take_date(const char **p, struct civil *c)
{
	return take_digits(p, 4, 9999, &c->year) && take_char(p, '-') &&
	       take_digits(p, 2, 12, &c->month) && take_char(p, '-') &&
	       take_digits(p, 2, 31, &c->day) && c->month && c->day &&
	       c->day <= days_in_month(c->year, c->month);
}

/* Z, +01, +0100, +01:00. */
static bool take_zone(const char **p, int *ret_offset_s)
{
	bool west = **p == '-';
	int hours, minutes = 0, both;

	*ret_offset_s = 0;
	if (take_char(p, 'Z'))
		return true;
	if (!take_char(p, '+') && !take_char(p, '-'))
		return false;
	if (take_digits(p, 4, 2359, &both)) {
		hours = both / 100;
		minutes = both % 100;
		if (minutes > 59)
			return false;
	} else if (!take_digits(p, 2, 23, &hours) ||
		   (take_char(p, ':') && !take_digits(p, 2, 59, &minutes))) {
		return false;
	}
	*ret_offset_s = (hours * 60 + minutes) * (west ? -60 : 60);
	return true;
}

/* --- lengths --- */

static const struct unit {
	const char *name;
	uint64_t ns;
} units[] = {
	/* Longest first: the order that the parts of a length must have. */
	{ "w", 7 * DAY_S *NS_PER_S },
	{ "d", DAY_S *NS_PER_S },
	{ "h", 3600 * NS_PER_S },
	{ "m", 60 * NS_PER_S },
	{ "min", 60 * NS_PER_S },
	{ "s", NS_PER_S },
	{ "ms", 1000000 },
	{ "us", 1000 },
	{ "ns", 1 },
};

#define N_UNITS (sizeof(units) / sizeof(units[0]))

static const struct unit *take_unit(const char **p)
{
	size_t len = strspn(*p, "abcdefghijklmnopqrstuvwxyz"), i;

	for (i = 0; i < N_UNITS; i++) {
		if (strlen(units[i].name) == len && !memcmp(*p, units[i].name, len)) {
			*p += len;
			return &units[i];
		}
	}
	return NULL;
}

/* What a fraction of a unit is in ns; what is finer is cut off. */
static uint64_t part_of(uint64_t unit_ns, uint32_t billionths)
{
	if (unit_ns >= NS_PER_S)
		return unit_ns / NS_PER_S * billionths;
	return unit_ns * billionths / NS_PER_S;
}

static int add_part(uint64_t *sum, uint64_t number, uint32_t billionths, uint64_t unit_ns)
{
	uint64_t part = part_of(unit_ns, billionths);

	if (number > (UINT64_MAX - part) / unit_ns || number * unit_ns + part > UINT64_MAX - *sum)
		return -ERANGE;
	*sum += number * unit_ns + part;
	return 0;
}

static int read_length(const char *p, uint64_t *ret)
{
	uint64_t sum = 0, last_ns = UINT64_MAX, number;
	const struct unit *u;
	uint32_t billionths;
	int r;

	do {
		r = take_number(&p, &number);
		if (r < 0)
			return r;
		if (!take_fraction(&p, &billionths))
			return -EINVAL;
		if (!*p && last_ns == UINT64_MAX) { /* plain seconds */
			last_ns = NS_PER_S;
		} else {
			u = take_unit(&p);
			if (!u || u->ns >= last_ns)
				return -EINVAL;
			last_ns = u->ns;
		}
		r = add_part(&sum, number, billionths, last_ns);
		if (r < 0)
			return r;
	} while (*p);
	*ret = sum;
	return 0;
}

/* --- the forms --- */

static int read_before_now(const char *p, uint64_t now_ns, uint64_t *ret)
{
	uint64_t length;
	int r = read_length(p, &length);

	if (r < 0)
		return r;
	if (length > now_ns)
		return -ERANGE;
	*ret = now_ns - length;
	return 0;
}

static int read_since_1970(const char *p, uint64_t *ret)
{
	uint64_t seconds;
	uint32_t ns;
	int r = take_number(&p, &seconds);

	if (r < 0)
		return r;
	if (!take_fraction(&p, &ns) || *p)
		return -EINVAL;
	if (seconds >= SECONDS_MAX)
		return -ERANGE;
	return to_ns((int64_t)seconds, ns, ret);
}

static int read_nanoseconds(const char *p, uint64_t *ret)
{
	uint64_t v;
	int r = take_number(&p, &v);

	if (r == 0)
		*ret = v;
	return r;
}

static int read_date(const char *p, uint64_t *ret)
{
	struct civil c = { 0 };
	int offset_s;

	if (!take_date(&p, &c))
		return -EINVAL;
	if (!*p)
		return local_to_ns(&c, ret);
	if ((!take_char(&p, 'T') && !take_char(&p, ' ')) || !take_time(&p, &c))
		return -EINVAL;
	if (!*p)
		return local_to_ns(&c, ret);
	if (!take_zone(&p, &offset_s) || *p)
		return -EINVAL;
	return to_ns(seconds_of(&c) - offset_s, c.ns, ret);
}

static int read_time(const char *p, uint64_t now_ns, uint64_t *ret)
{
	struct civil c = { 0 };

	if (!take_time(&p, &c) || *p)
		return -EINVAL;
	return time_of_day_to_ns(&c, now_ns, ret);
}

static int read_any(const char *text, uint64_t now_ns, uint64_t *ret)
{
	size_t digits = strspn(text, "0123456789");

	if (!strcmp(text, "now")) {
		*ret = now_ns;
		return 0;
	}
	if (text[0] == '-')
		return read_before_now(text + 1, now_ns, ret);
	if (text[0] == '@')
		return read_since_1970(text + 1, ret);
	if (digits >= NS_DIGITS_LEAST && !text[digits])
		return read_nanoseconds(text, ret);
	if (strchr(text, '-'))
		return read_date(text, ret);
	return read_time(text, now_ns, ret);
}

int when_parse(const char *text, uint64_t now_ns, uint64_t *ret_ns, struct error *e)
{
	uint64_t ns = 0;
	int r = read_any(text, now_ns, &ns);

	if (r == -ERANGE)
		return error_set(e, EINVAL, "cannot use time \"%.64s\": not from 1970 to 2554",
				 text);
	if (r < 0)
		return error_set(e, EINVAL, "cannot understand time \"%.64s\": " FORMS, text);
	*ret_ns = ns;
	return 0;
}

int when_parse_length(const char *text, uint64_t *ret_ns, struct error *e)
{
	uint64_t ns = 0;
	int r = read_length(text, &ns);

	if (r == -ERANGE)
		return error_set(e, EINVAL, "cannot use length \"%.64s\": over 500 years", text);
	if (r < 0)
		return error_set(e, EINVAL, "cannot understand length \"%.64s\": " LENGTHS, text);
	*ret_ns = ns;
	return 0;
}

const char *when_format(uint64_t ns, char out[WHEN_MAX])
{
	int64_t seconds = (int64_t)(ns / NS_PER_S);
	uint32_t rest = (uint32_t)(ns % NS_PER_S);
	int of_day = (int)(seconds % DAY_S), n;
	struct civil c;

	set_day(&c, seconds / DAY_S);
	n = snprintf(out, WHEN_MAX, "%04d-%02d-%02dT%02d:%02d:%02d", c.year, c.month, c.day,
		     of_day / 3600, of_day / 60 % 60, of_day % 60);
	if (rest % 1000)
		n += snprintf(out + n, WHEN_MAX - (size_t)n, ".%09u", (unsigned int)rest);
	else if (rest % 1000000)
		n += snprintf(out + n, WHEN_MAX - (size_t)n, ".%06u", (unsigned int)(rest / 1000));
	else if (rest)
		n += snprintf(out + n, WHEN_MAX - (size_t)n, ".%03u",
			      (unsigned int)(rest / 1000000));
	snprintf(out + n, WHEN_MAX - (size_t)n, "Z");
	return out;
}
