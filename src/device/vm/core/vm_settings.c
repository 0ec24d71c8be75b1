/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* vm_settings: see vm_settings.h. */
#include "device/vm/core/vm_settings.h"

struct key {
	const char *name;
	uint32_t len;
	uint32_t offset;
	uint32_t least, most;
	bool is_power; /* of two */
};

#define KEY(field, ...)                                                                            \
	{                                                                                          \
#field, sizeof(#field) - 1, offsetof(struct vm_settings, field), __VA_ARGS__       \
	}

static const struct key keys[] = {
	KEY(period_ns, VM_PERIOD_LEAST_NS, VM_PERIOD_MOST_NS, false),
	KEY(jitter, 0, VM_JITTER_MOST, false),
	KEY(exits, 0, 1, false),
	KEY(switches, 0, 1, false),
	KEY(buffer_kib, VM_BUFFER_LEAST_KIB, VM_BUFFER_MOST_KIB, true),
	KEY(cycles, 0, VM_CYCLES_MOST, false),
};

#define KEYS ((uint32_t)(sizeof(keys) / sizeof(keys[0])))

void vm_settings_init(struct vm_settings *s)
{
	s->period_ns = 1000000;
	s->jitter = VM_JITTER_MOST;
	s->exits = 1;
	s->switches = 1;
	s->buffer_kib = 512;
	s->cycles = 0;
}

static bool get_number(const char *text, uint32_t len, const struct key *k, uint32_t *ret)
{
	uint64_t v = 0;
	uint32_t i;

	for (i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		v = v * 10 + (uint32_t)(text[i] - '0');
		if (v > k->most)
			return false;
	}
	*ret = (uint32_t)v;
	return len && v >= k->least && !(k->is_power && (v & (v - 1)));
}

/* One key=value; *seen has a bit for each key that was there. */
static bool set(struct vm_settings *s, const char *word, uint32_t len, uint32_t *seen)
{
	uint32_t i, value;

	for (i = 0; i < KEYS; i++) {
		const struct key *k = &keys[i];

		if (len <= k->len || word[k->len] != '=' || memcmp(word, k->name, k->len))
			continue;
		if (*seen & 1U << i || !get_number(word + k->len + 1, len - k->len - 1, k, &value))
			return false;
		*seen |= 1U << i;
		memcpy((uint8_t *)s + k->offset, &value, sizeof(value));
		return true;
	}
	return false;
}

/* The next word of a line whose words are separated by one blank each. */
static uint32_t next_word(const char *text, uint32_t len)
{
	uint32_t n = 0;

	while (n < len && text[n] != ' ')
		n++;
	return n;
}

static bool is_word(const char *text, uint32_t len, const char *word, uint32_t word_len)
{
	return len == word_len && !memcmp(text, word, len);
}

enum vm_order vm_settings_parse(struct vm_settings *ret, const char *text, uint32_t len)
{
	struct vm_settings s;
	uint32_t n, seen = 0;

	if (len && text[len - 1] == '\n')
		len--;
	if (len >= VM_SETTINGS_MAX)
		return VM_ORDER_NONE;
	if (is_word(text, len, "stop", 4))
		return VM_ORDER_STOP;
	n = next_word(text, len);
	if (!is_word(text, n, "start", 5))
		return VM_ORDER_NONE;
	vm_settings_init(&s);
	while (n < len) {
		text += n + 1;
		len -= n + 1;
		n = next_word(text, len);
		if (!set(&s, text, n, &seen))
			return VM_ORDER_NONE;
	}
	if (s.cycles && s.cycles < VM_CYCLES_LEAST)
		return VM_ORDER_NONE;
	*ret = s;
	return VM_ORDER_START;
}

static uint32_t put_number(char *to, uint32_t v)
{
	char digits[10];
	uint32_t n = 0, i;

	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	for (i = 0; i < n; i++)
		to[i] = digits[n - 1 - i];
	return n;
}

uint32_t vm_settings_format(const struct vm_settings *s, char ret[VM_SETTINGS_MAX])
{
	uint32_t at = 5, i, value;

	memcpy(ret, "start", at);
	for (i = 0; i < KEYS; i++) {
		ret[at++] = ' ';
		memcpy(ret + at, keys[i].name, keys[i].len);
		at += keys[i].len;
		ret[at++] = '=';
		memcpy(&value, (const uint8_t *)s + keys[i].offset, sizeof(value));
		at += put_number(ret + at, value);
	}
	ret[at] = 0;
	return at;
}
