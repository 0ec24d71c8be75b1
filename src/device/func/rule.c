/* SPDX-License-Identifier: MIT */
/* rule: see rule.h. Nothing here uses the locale or allocates: it runs inside of hooks. */
#include "device/func/rule.h"

static bool is_like(const char *pattern, const char *text)
{
	const char *star = NULL, *again = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			again = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static const char *hex(const char *s, const char *end, uint64_t *ret)
{
	uint64_t v = 0;
	const char *start;

	if (end - s < 3 || s[0] != '0' || s[1] != 'x')
		return NULL;
	s += 2;
	for (start = s; s < end && s - start < 16; s++) {
		if (*s >= '0' && *s <= '9')
			v = v << 4 | (uint64_t)(*s - '0');
		else if ((*s | 0x20) >= 'a' && (*s | 0x20) <= 'f')
			v = v << 4 | (uint64_t)((*s | 0x20) - 'a' + 10);
		else
			break;
	}
	*ret = v;
	return s > start ? s : NULL;
}

/* Where "+0x" starts last, since names of objects have such signs, too. */
static const char *find_offset(const char *s, const char *end)
{
	for (; end - s >= 3; end--)
		if (end[-3] == '+' && end[-2] == '0' && end[-1] == 'x')
			return end - 3;
	return NULL;
}

static bool parse_offsets(struct rule *rule, const char *s, const char *end)
{
	s = hex(s, end, &rule->from);
	if (!s)
		return false;
	rule->to = rule->from + 1;
	if (s < end && *s == '-')
		s = hex(s + 1, end, &rule->to);
	return s == end && rule->to > rule->from;
}

/* entry: and exit: choose one of two bits that stand side by side. */
static const char *parse_side(const char *s, const char *end, uint16_t *bit)
{
	uint16_t entry = *bit & (RULE_START_ENTRY | RULE_STOP_ENTRY);

	if (entry == *bit || !entry)
		return s;
	if (end - s > 5 && !memcmp(s, "exit:", 5)) {
		*bit &= (uint16_t)~entry;
		return s + 5;
	}
	*bit = entry;
	return end - s > 6 && !memcmp(s, "entry:", 6) ? s + 6 : s;
}

static bool parse_part(struct rules *r, const char *s, const char *end, uint16_t bit)
{
	struct rule *rule = &r->rule[r->n];
	const char *plus;
	size_t len;

	if (r->n == RULES_MAX)
		return false;
	s = parse_side(s, end, &bit);
	plus = find_offset(s, end);
	rule->bit = bit;
	rule->from = 0;
	rule->to = UINT64_MAX;
	if (plus && !parse_offsets(rule, plus + 1, end))
		return false;
	len = (size_t)((plus ? plus : end) - s);
	if (!len || len >= RULE_TEXT_MAX - r->text_len)
		return false;
	rule->object = r->text + r->text_len;
	memcpy(r->text + r->text_len, s, len);
	r->text_len += (uint32_t)len + 1; /* the text was zeros */
	r->bits |= bit;
	r->n++;
	return true;
}

bool rules_parse(struct rules *r, const char *list, uint16_t bit)
{
	const char *end;

	for (;; list = end + 1) {
		for (end = list; *end && *end != ','; end++)
			;
		if (!parse_part(r, list, end, bit))
			return false;
		if (!*end)
			return true;
	}
}

uint16_t rules_find(const struct rules *r, const char *path, uint64_t offset)
{
	const char *name = path, *s;
	uint16_t bits = 0;
	uint32_t i;

	for (s = path; *s; s++)
		if (*s == '/')
			name = s + 1;
	for (i = 0; i < r->n; i++) {
		const struct rule *rule = &r->rule[i];

		for (s = rule->object; *s && *s != '/'; s++)
			;
		if (offset >= rule->from && offset < rule->to &&
		    is_like(rule->object, *s ? path : name))
			bits |= rule->bit;
	}
	return bits;
}
