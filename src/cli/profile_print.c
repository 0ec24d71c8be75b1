/* SPDX-License-Identifier: MIT */
/* profile_print: see profile_print.h. */
#include "cli/profile_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/table.h"
#include "command/say.h"

#define NAME_SHOWN 2048U /* bytes of a name; C++ has longer ones, screens have not */

static const char *cycles(uint64_t n, char text[UNITS_LEN])
{
	static const char *const units[] = { "", " k", " M", " G", " T" };
	double value = (double)n;
	size_t i = 0;

	for (; value >= 1000 && i + 1 < sizeof(units) / sizeof(units[0]); i++)
		value /= 1000;
	snprintf(text, UNITS_LEN, i ? "%.2f%s" : "%.0f%s", value, units[i]);
	return text;
}

const char *profile_print_amount(const struct sample_source *s, enum profile_value value,
				 uint64_t amount, char text[UNITS_LEN])
{
	if (value == PROFILE_WEIGHT && s->sampling.method == SAMPLE_CYCLES)
		return cycles(amount, text);
	if (value == PROFILE_WEIGHT)
		return units_duration(amount, text);
	snprintf(text, UNITS_LEN, "%" PRIu64, amount);
	return text;
}

const char *profile_print_share(uint64_t part, uint64_t whole, char text[UNITS_LEN])
{
	if (!whole)
		return "-";
	snprintf(text, UNITS_LEN, "%.2f", 100.0 * (double)part / (double)whole);
	return text;
}

void profile_print_head(const char *path, const struct sample_source *s,
			const struct profile_totals *t)
{
	char a[3][UNITS_LEN];

	printf("%s: %" PRIu64 " sample%s", path, t->values[PROFILE_SAMPLES],
	       t->values[PROFILE_SAMPLES] == 1 ? "" : "s");
	if (t->values[PROFILE_WEIGHT])
		printf(", %s%s",
		       profile_print_amount(s, PROFILE_WEIGHT, t->values[PROFILE_WEIGHT], a[0]),
		       s->sampling.method == SAMPLE_CYCLES ? " cycles" : " of CPU time");
	printf(", in %s on %" PRIu64 " CPU%s", units_duration(t->to_ns - t->from_ns, a[1]), t->cpus,
	       t->cpus == 1 ? "" : "s");
	if (s->sampling.period)
		printf("; one every %s%s",
		       profile_print_amount(s, PROFILE_WEIGHT, s->sampling.period, a[2]),
		       s->sampling.method == SAMPLE_CYCLES ? " cycles" : "");
	if (t->most_period > t->least_period || t->least_period > s->sampling.period)
		printf(", at times every %s",
		       profile_print_amount(s, PROFILE_WEIGHT, t->most_period, a[2]));
	putchar('\n');
}

static void print_uncovered(const struct profile_totals *t)
{
	char a[3][UNITS_LEN];

	printf("uncovered: %s%% of %s", units_percent(t->uncovered_ns, t->span_ns, a[0]),
	       units_duration(t->span_ns, a[1]));
	if (t->planned_ns)
		printf("; planned pauses %s", units_duration(t->planned_ns, a[2]));
	putchar('\n');
}

void profile_print_rest(const struct sample_source *s, const struct profile_totals *t)
{
	char text[UNITS_LEN];

	if (!t->idle[PROFILE_SAMPLES] && !t->left_out && !t->losses && !s->is_cut && !t->has_pace)
		return;
	putchar('\n');
	if (t->idle[PROFILE_SAMPLES])
		printf("%" PRIu64 " sample%s of idle CPUs, %s, beside these\n",
		       t->idle[PROFILE_SAMPLES], t->idle[PROFILE_SAMPLES] == 1 ? "" : "s",
		       profile_print_amount(s, PROFILE_WEIGHT, t->idle[PROFILE_WEIGHT], text));
	if (t->left_out)
		printf("%" PRIu64 " sample%s not selected\n", t->left_out,
		       t->left_out == 1 ? "" : "s");
	if (t->losses)
		printf("%s%" PRIu64 "%s records lost%s at %" PRIu64 " place%s\n",
		       say_style(stdout, STYLE_BAD), t->lost, t->lost_unknown ? " and more" : "",
		       say_style(stdout, STYLE_PLAIN), t->losses, t->losses == 1 ? "" : "s");
	if (t->has_pace || t->uncovered_ns)
		print_uncovered(t);
	if (s->is_cut)
		puts("its end is missing: it was cut off, or is still being recorded");
}

static void print_clean(const char *text)
{
	char clean[NAME_SHOWN];

	snprintf(clean, sizeof(clean), "%s", text);
	table_clean(clean);
	fputs(clean, stdout);
}

void profile_print_name(const char *name, const char *object)
{
	print_clean(name);
	if (*object && strcmp(name, object) != 0) {
		fputs(say_style(stdout, STYLE_DIM), stdout);
		fputs("  [", stdout);
		print_clean(*object == '[' ? object + 1 : object);
		fputs(*object == '[' ? "" : "]", stdout);
		fputs(say_style(stdout, STYLE_PLAIN), stdout);
	}
	putchar('\n');
}
