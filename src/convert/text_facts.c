/* SPDX-License-Identifier: MIT */
/*
 * text_facts: see text_facts.h.
 *
 * Text does not say which kernel printed it, so the dialect is that of a kernel which prints so:
 * widths and columns decide first, then state letters that only one numbering has, then fields
 * that came or went (success=, group_dead=). Where nothing decides, the choice does not show in the
 * text either: printed again, the events look the same.
 *
 * What text cannot tell: state bits without a letter; the softirq bit inside an NMI; a bit 0x02
 * ("irqs unknown") under another letter; wakeups' success where it is not printed; nanoseconds where
 * six decimals are printed.
 */
#include "convert/text_facts.h"

#include <string.h>

static void add_letter(struct text_facts *f, char c)
{
	f->letters[(unsigned char)c >> 6 & 1] |= 1ULL << ((unsigned char)c & 63);
}

static bool has_letter(const struct text_facts *f, char c)
{
	return f->letters[(unsigned char)c >> 6 & 1] >> ((unsigned char)c & 63) & 1;
}

static void add_flags(struct text_facts *f, const struct text_columns *c)
{
	const struct text_span *flags = &c->flags;

	if (c->has_numbers) {
		f->flags_5 = true;
		return;
	}
	if (!flags->len) {
		f->no_flags = true;
		return;
	}
	f->flags_4 |= flags->len == 4;
	f->flags_5 |= flags->len == 5;
	f->flags_odd |= flags->len > 5;
	f->irqs_unknown |= flags->text[0] == 'X';
	f->lazy |= strchr("lLbB", flags->text[1]) != NULL;
}

/* The column before the stamp ends at ']' or with the flags; the stamp is "%5lu" behind it. */
static void add_stamp(struct text_facts *f, const struct text_columns *c)
{
	uint32_t room = c->whole_digits > 5 ? c->whole_digits : 5;

	if (c->part_digits > f->part_digits)
		f->part_digits = c->part_digits;
	if (!c->flags.len && c->part_digits && !c->has_numbers)
		f->one_blank |= c->stamp_room == room + 1;
}

void text_facts_add_line(struct text_facts *f, const struct text_columns *c)
{
	if (c->cpu >= f->cpus && c->cpu < TRACE_CPUS_MAX)
		f->cpus = c->cpu + 1;
	f->any_line = true;
	f->tgid |= c->tgid != TEXT_NO_TGID_COLUMN;
	f->narrow_pid |= c->pid_room < 7;
	f->wide_pid |= c->pid_room == 7 && c->pid < 1000000;
}

void text_facts_add_body(struct text_facts *f, const struct text_columns *c,
			 const struct text_body *b)
{
	size_t i;

	if (!f->any_event)
		f->first_cpu = c->cpu;
	f->any_event = true;
	f->kinds |= 1U << b->event.kind;
	f->traits |= b->traits;
	f->padded |= c->body_gap > 1;
	add_flags(f, c);
	add_stamp(f, c);
	for (i = 0; i < b->state.len; i++)
		add_letter(f, b->state.text[i]);
}

/* A release that prints as the lines do. */
static const char *likely_release(const struct text_facts *f, bool four_flags, bool narrow)
{
	bool old_letters = has_letter(f, 'x') || has_letter(f, 'K') || has_letter(f, 'N') ||
			   (has_letter(f, 'W') && !(f->traits & TEXT_TRACE_CMD));

	if (f->traits & TEXT_HAS_SUCCESS)
		return "4.4";
	if (old_letters)
		return "4.9";
	if (four_flags && narrow)
		return "5.4";
	if (four_flags)
		return "5.10";
	if (f->traits & TEXT_NO_GROUP_DEAD)
		return "6.12";
	return "6.18";
}

static void set_feature(struct sched_dialect *d, uint32_t feature, bool on)
{
	d->features = on ? d->features | feature : d->features & ~feature;
}

static void apply_dialect(const struct text_facts *f, struct sched_dialect *d)
{
	bool trace_cmd = f->padded || (f->traits & TEXT_TRACE_CMD);
	bool has_flags = f->flags_4 || f->flags_5;
	bool narrow = f->narrow_pid && !f->wide_pid && !trace_cmd;
	bool oldest = !has_flags && !f->flags_odd && f->one_blank && !trace_cmd;
	/* Two digits of preempt count make four columns look like five, never the reverse. */
	bool four = f->flags_4 || (!has_flags && narrow);

	dialect_from_release(d, likely_release(f, four, narrow));
	d->kinds = f->kinds;
	d->flag_columns = oldest ? 0 : four ? 4 : 5;
	d->pid_width = narrow ? 5 : 7;
	set_feature(d, DIALECT_TGID, f->tgid);
	set_feature(d, DIALECT_NO_FLAGS, !has_flags);
	set_feature(d, DIALECT_SUCCESS, f->traits & TEXT_HAS_SUCCESS);
	set_feature(d, DIALECT_SUCCESS_SILENT, false);
	set_feature(d, DIALECT_RENAME_NO_PID, f->traits & TEXT_NO_RENAME_PID);
	if (f->traits & (TEXT_HAS_GROUP_DEAD | TEXT_NO_GROUP_DEAD))
		set_feature(d, DIALECT_GROUP_DEAD, f->traits & TEXT_HAS_GROUP_DEAD);
	if (f->lazy || f->irqs_unknown)
		set_feature(d, DIALECT_LAZY_RESCHED, f->lazy);
}

void text_facts_apply(const struct text_facts *f, struct trace_info *info)
{
	apply_dialect(f, &info->dialect);
	clock_init(&info->clock);
	if (f->any_event && !f->part_digits) {
		info->clock.print_digits = 0;
		memcpy(info->clock.name, "counter", 8);
	} else if (f->part_digits <= 6) {
		info->clock.mult = 1000;
		info->clock.print_digits = 6;
	}
	info->cpus = f->cpus ? f->cpus : 1;
}

static uint64_t scan_hex(struct text_scan *s)
{
	uint64_t v = 0;

	for (; s->at < s->end; s->at++) {
		const char *digit = memchr("0123456789abcdef", *s->at, 16);

		if (!digit || v >> 60)
			break;
		v = v << 4 | (uint64_t)(digit - "0123456789abcdef");
	}
	return v;
}

static bool parse_letter(const char letters[DIALECT_STATE_BITS], char c, uint64_t *ret)
{
	const char *at = c ? memchr(letters, c, DIALECT_STATE_BITS) : NULL;

	if (at)
		*ret = 1ULL << (at - letters);
	return at;
}

/* trace-cmd's plugin names the lowest eight bits by a list of its own, whatever the kernel calls
 * them; newer ones ask the kernel's format, which shows when they print I or P. */
const char *text_facts_letters(const struct text_facts *f, const struct sched_dialect *d)
{
	static const char plugin[DIALECT_STATE_BITS] = "SDTtZXxW";

	if (!(f->traits & TEXT_TRACE_CMD) || has_letter(f, 'I') || has_letter(f, 'P'))
		return d->state_letters;
	return plugin;
}

bool text_state_parse(const struct sched_dialect *d, const char letters[DIALECT_STATE_BITS],
		      const struct text_span *state, uint64_t *ret)
{
	struct text_scan s = { state->text, state->text + state->len, false };
	uint64_t bits = 0, one;

	/* trace-cmd report -R has the number itself. */
	if (scan_is_digit(&s) && !(scan_left(&s) > 1 && s.at[1] == 'x'))
		return scan_u64(&s, ret) && !scan_left(&s);
	if (SCAN(&s, "R")) {
		one = 0;
	} else {
		do {
			if (SCAN(&s, "0x"))
				one = scan_hex(&s);
			else if (!scan_left(&s) || !parse_letter(letters, *s.at++, &one))
				return false;
			bits |= one;
		} while (SCAN(&s, "|"));
	}
	if (SCAN(&s, "+"))
		bits |= d->state_preempt;
	*ret = bits;
	return !scan_left(&s);
}

/* The bits behind a letter of one column; -1 for a letter that the column does not have. */
static int flag_bits(const char *letters, const uint8_t *bits, char c)
{
	const char *at = c ? strchr(letters, c) : NULL;

	return at ? bits[at - letters] : -1;
}

static int hex_digit(char c)
{
	if (c == '.')
		return 0;
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool text_flags_parse(const struct sched_dialect *d, const struct text_columns *columns,
		      struct sched_event *ret)
{
	const struct text_span *flags = &columns->flags;
	static const uint8_t irqs[] = { 0, 0x01, 0x81, 0x80, 0x02 };
	static const uint8_t resched[] = { 0, 0x04, 0x20, 0x24, 0x02, 0x06, 0x22, 0x26 };
	static const uint8_t context[] = { 0, 0x48, 0x40, 0x18, 0x08, 0x10 };
	int a, b, c, low, high;

	if (columns->has_numbers) {
		ret->flags = columns->flag_number;
		ret->preempt_count = columns->preempt_number;
		return true;
	}
	if (d->features & DIALECT_NO_FLAGS || flags->len < 4 || flags->len > 5)
		return d->features & DIALECT_NO_FLAGS;
	a = flag_bits(".dDbX", irqs, flags->text[0]);
	b = flag_bits(".npNlbLB", resched, flags->text[1]);
	c = flag_bits(".ZzHhs", context, flags->text[2]);
	low = hex_digit(flags->text[3]);
	high = flags->len == 5 ? hex_digit(flags->text[4]) : 0;
	if (a < 0 || b < 0 || c < 0 || low < 0 || high < 0)
		return false;
	ret->flags = (uint8_t)(a | b | c);
	/* Four columns print the whole count, its first digit first. */
	if (d->flag_columns == 4 && flags->len == 5)
		ret->preempt_count = (uint8_t)(low << 4 | high);
	else
		ret->preempt_count = (uint8_t)(high << 4 | low);
	return true;
}
