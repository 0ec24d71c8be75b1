/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* settings: see settings.h. */
#include "device/driver/core/settings.h"

#include "wire/block.h"

#define MEM_MOST CONFIG_RING_MOST

typedef bool setter(struct settings *s, const char *value);

static const char *const policies[] = {
	[POLICY_OLDEST] = "keep-oldest",
	[POLICY_FLIGHT] = "flight-recorder",
};

static bool is_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static uint32_t length(const char *text)
{
	uint32_t n = 0;

	while (text[n])
		n++;
	return n;
}

/* --- values --- */

static bool get_number(const char *text, uint32_t most, uint32_t *ret)
{
	uint64_t v = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		v = v * 10 + (uint32_t)(*text - '0');
		if (v > most)
			return false;
	}
	*ret = (uint32_t)v;
	return true;
}

/* A number, or one of K with the same letter behind it; `shift` is what a plain number counts in. */
static bool get_size(const char *text, uint32_t shift, uint32_t most, uint32_t *ret)
{
	char digits[12];
	uint32_t n = length(text), v;
	bool in_k;

	if (!n || n >= sizeof(digits))
		return false;
	memcpy(digits, text, n + 1);
	in_k = digits[n - 1] == 'K' || digits[n - 1] == 'k';
	if (in_k)
		digits[n - 1] = 0;
	if (!in_k || shift == 10)
		return get_number(digits, most, ret);
	if (!get_number(digits, most >> 10, &v))
		return false;
	*ret = v << 10;
	return true;
}

static bool get_bool(const char *text, bool *ret)
{
	bool yes = is_equal(text, "1") || is_equal(text, "y") || is_equal(text, "yes");
	bool no = is_equal(text, "0") || is_equal(text, "n") || is_equal(text, "no");

	if (yes || no)
		*ret = yes;
	return yes || no;
}

static bool get_text(const char *text, char ret[SETTINGS_TEXT_LEN])
{
	uint32_t n = length(text);

	if (n >= SETTINGS_TEXT_LEN)
		return false;
	memset(ret, 0, SETTINGS_TEXT_LEN);
	memcpy(ret, text, n);
	return true;
}

/* The next part of a list with commas between: its length, -1 if it is too long, 0 at the end. */
static int next_part(const char **text, char *part, uint32_t room)
{
	const char *p = *text;
	uint32_t n = 0;

	while (*p == ',' || *p == '\n')
		p++;
	for (; *p && *p != ',' && *p != '\n'; p++) {
		if (*p == '\\' && p[1])
			p++;
		if (n + 1 >= room)
			return -1;
		part[n++] = *p;
	}
	part[n] = 0;
	*text = p;
	return (int)n;
}

/* --- keys --- */

static bool set_collector(struct settings *s, const char *value)
{
	return get_text(value, s->collector);
}

bool settings_is_name(const char *text)
{
	const char *p;

	for (p = text; *p; p++)
		if (!(*p >= '0' && *p <= '9') && !(*p >= 'a' && *p <= 'z') &&
		    !(*p >= 'A' && *p <= 'Z') && *p != '.' && *p != '_' && *p != '-')
			return false;
	return text[0] && text[0] != '.' && p - text < (int)SETTINGS_TEXT_LEN;
}

static bool set_name(struct settings *s, const char *value)
{
	if (*value && !settings_is_name(value))
		return false;
	return get_text(value, s->name);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool settings_parse_id(struct message_id *ret, const char *text)
{
	struct message_id id = { { 0 } };
	uint32_t n;
	int digit;

	for (n = 0; n < 32; text++) {
		if (*text == '-' && n)
			continue;
		digit = hex_digit(*text);
		if (digit < 0)
			return false;
		id.bytes[n / 2] = (uint8_t)(id.bytes[n / 2] << 4 | digit);
		n++;
	}
	if (*text)
		return false;
	*ret = id;
	return true;
}

static bool set_id(struct settings *s, const char *value)
{
	return settings_parse_id(&s->id, value);
}

static bool set_boot(struct settings *s, const char *value)
{
	return settings_parse_id(&s->boot, value);
}

static bool set_start(struct settings *s, const char *value)
{
	return get_bool(value, &s->start);
}

static bool set_mem(struct settings *s, const char *value)
{
	return get_size(value, 10, MEM_MOST, &s->mem_kib);
}

static bool set_events(struct settings *s, const char *value)
{
	uint32_t events = 0, kind;
	char part[16];
	int n;

	while ((n = next_part(&value, part, sizeof(part))) > 0) {
		if (is_equal(part, "all")) {
			events |= (1U << SCHED_KINDS) - 1;
			continue;
		}
		for (kind = 0; kind < SCHED_KINDS; kind++)
			if (is_equal(part, sched_kind_word(kind)))
				break;
		if (kind == SCHED_KINDS)
			return false;
		events |= 1U << kind;
	}
	if (n < 0 || !events)
		return false;
	s->config.events = events;
	return true;
}

static bool set_policy(struct settings *s, const char *value)
{
	uint8_t i;

	for (i = 0; i <= POLICY_FLIGHT; i++) {
		if (is_equal(value, policies[i])) {
			s->config.policy = i;
			return true;
		}
	}
	return false;
}

static bool set_codec(struct settings *s, const char *value)
{
	if (!is_equal(value, "sched") && !is_equal(value, "bsf"))
		return false;
	s->config.codec = value[0] == 's' ? CODEC_SCHED : CODEC_BSF;
	return true;
}

static bool set_flush(struct settings *s, const char *value)
{
	uint32_t ms;

	if (!get_number(value, CONFIG_FLUSH_MOST, &ms) || !ms)
		return false;
	s->config.flush_ms = ms;
	return true;
}

static bool set_block(struct settings *s, const char *value)
{
	uint32_t bytes;

	if (!get_size(value, 0, CONFIG_BLOCK_MOST, &bytes) || bytes < CONFIG_BLOCK_LEAST)
		return false;
	s->config.block_bytes = bytes;
	return true;
}

/* Lists are read twice, first to see whether they are right: they are too large for a stack. */
static bool set_pids(struct settings *s, const char *value)
{
	const char *again = value;
	uint32_t count = 0, pid = 0;
	char part[16];
	int n;

	while ((n = next_part(&value, part, sizeof(part))) > 0)
		if (count++ == CONFIG_PIDS_MAX || !get_number(part, INT32_MAX, &pid))
			return false;
	if (n < 0)
		return false;
	memset(s->config.pids, 0, sizeof(s->config.pids));
	for (s->config.n_pids = 0; next_part(&again, part, sizeof(part)) > 0;) {
		get_number(part, INT32_MAX, &pid);
		s->config.pids[s->config.n_pids++] = (int32_t)pid;
	}
	return true;
}

static bool set_comms(struct settings *s, const char *value)
{
	const char *again = value;
	char part[SCHED_COMM_LEN + 1]; /* a name that is cut by a '*' has all bytes */
	uint32_t count = 0;
	int n;

	while ((n = next_part(&value, part, sizeof(part))) > 0)
		if (count++ == CONFIG_COMMS_MAX)
			return false;
	if (n < 0)
		return false;
	memset(s->config.comms, 0, sizeof(s->config.comms));
	for (s->config.n_comms = 0; (n = next_part(&again, part, sizeof(part))) > 0;)
		memcpy(s->config.comms[s->config.n_comms++], part, (size_t)n);
	return true;
}

static bool set_cgroups(struct settings *s, const char *value)
{
	const char *again = value;
	char part[CONFIG_CGROUP_LEN];
	uint32_t count = 0;
	int n;

	while ((n = next_part(&value, part, sizeof(part))) > 0)
		if (count++ == CONFIG_CGROUPS_MAX)
			return false;
	if (n < 0)
		return false;
	memset(s->config.cgroups, 0, sizeof(s->config.cgroups));
	for (s->config.n_cgroups = 0; (n = next_part(&again, part, sizeof(part))) > 0;)
		memcpy(s->config.cgroups[s->config.n_cgroups++], part, (size_t)n);
	return true;
}

static bool set_profile(struct settings *s, const char *value)
{
	return get_bool(value, &s->profile);
}

static const struct {
	const char *key;
	setter *set;
	const char *is; /* for the message */
	uint8_t field;	/* of config; 0: none */
} table[SETTINGS] = {
	[SETTING_COLLECTOR] = { "collector", set_collector, "ADDRESS:PORT", 0 },
	[SETTING_NAME] = { "name", set_name, "up to 63 letters, digits, '.', '_' and '-'", 0 },
	[SETTING_ID] = { "id", set_id, "32 hexadecimal digits", 0 },
	[SETTING_BOOT] = { "boot", set_boot, "32 hexadecimal digits", 0 },
	[SETTING_START] = { "start", set_start, "0 or 1", 0 },
	[SETTING_MEM] = { "mem", set_mem, "a number of KiB up to 262144", 0 },
	[SETTING_EVENTS] = { "events", set_events, "all, or a list of kinds as switch,waking",
			     CONFIG_EVENTS },
	[SETTING_POLICY] = { "policy", set_policy, "keep-oldest or flight-recorder",
			     CONFIG_POLICY },
	[SETTING_CODEC] = { "codec", set_codec, "sched or bsf", CONFIG_CODEC },
	[SETTING_FLUSH] = { "flush_ms", set_flush, "1 to 60000", CONFIG_FLUSH },
	[SETTING_BLOCK] = { "block", set_block, "4096 to 65536", CONFIG_BLOCK_BYTES },
	[SETTING_PIDS] = { "pids", set_pids, "a list of at most 64 numbers", CONFIG_PIDS },
	[SETTING_COMMS] = { "comms", set_comms, "a list of at most 32 names of up to 16 bytes",
			    CONFIG_COMMS },
	[SETTING_CGROUPS] = { "cgroups", set_cgroups, "a list of at most 4 paths",
			      CONFIG_CGROUP_PATHS },
	[SETTING_PROFILE] = { "profile", set_profile, "0 or 1", 0 },
};

void settings_init(struct settings *s)
{
	memset(s, 0, sizeof(*s));
	s->mem_kib = SETTINGS_MEM_KIB;
	s->config.codec = CODEC_SCHED;
	s->config.given = CONFIG_ALL;
	s->config.origin = ORIGIN_DRIVER;
	s->config.policy = POLICY_OLDEST;
	s->config.events = (1U << SCHED_KINDS) - 1;
	s->config.block_bytes = CONFIG_BLOCK_LEAST;
	s->config.flush_ms = SETTINGS_FLUSH_MS;
}

const char *settings_key(uint32_t key)
{
	return key < SETTINGS ? table[key].key : NULL;
}

/* Adds what fits; of what others wrote, plain characters only: it goes to a log. */
static void add(char why[SETTINGS_WHY_LEN], const char *text)
{
	uint32_t at = length(why);

	for (; *text && at + 1 < SETTINGS_WHY_LEN; text++)
		why[at++] = *text < ' ' || *text > '~' ? '?' : *text;
	why[at] = 0;
}

bool settings_set(struct settings *s, const char *key, const char *value,
		  char why[SETTINGS_WHY_LEN])
{
	uint32_t i;

	for (i = 0; i < SETTINGS && !is_equal(table[i].key, key); i++)
		;
	why[0] = 0;
	if (i == SETTINGS) {
		add(why, "there is no setting '");
		add(why, key);
		add(why, "'");
		return false;
	}
	if (!table[i].set(s, value)) {
		add(why, table[i].key);
		add(why, " is ");
		add(why, table[i].is);
		add(why, ", not '");
		add(why, value);
		add(why, "'");
		return false;
	}
	if (table[i].field)
		s->config.given |= 1U << table[i].field;
	else
		s->given |= 1U << i;
	return true;
}

/* --- lines --- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The end of the word at p; what is there becomes a NUL if it is a blank. */
static char *cut_word(char *p)
{
	while (*p && !is_blank(*p))
		p += *p == '\\' && p[1] ? 2 : 1;
	if (*p)
		*p++ = 0;
	return p;
}

static bool is_for_load_only(const char *key)
{
	uint32_t i;

	for (i = 0; i < SETTING_EVENTS; i++)
		if (is_equal(table[i].key, key))
			return true;
	return false;
}

bool settings_parse(struct settings *s, char *line, char why[SETTINGS_WHY_LEN])
{
	char *word, *value;

	for (;;) {
		while (is_blank(*line))
			line++;
		if (!*line)
			return true;
		word = line;
		line = cut_word(line);
		for (value = word; *value && *value != '='; value++)
			;
		if (*value)
			*value++ = 0;
		if (is_for_load_only(word)) {
			why[0] = 0;
			add(why, word);
			add(why, " can be set only when the driver is loaded");
			return false;
		}
		if (!settings_set(s, word, value, why))
			return false;
	}
}

struct line {
	char *out;
	uint32_t len, room;
};

static void put(struct line *l, char c)
{
	if (l->len + 1 < l->room)
		l->out[l->len++] = c;
}

static void put_text(struct line *l, const char *text)
{
	while (*text)
		put(l, *text++);
}

static void put_escaped(struct line *l, const char *text, uint32_t most)
{
	uint32_t i;

	for (i = 0; i < most && text[i]; i++) {
		if (is_blank(text[i]) || text[i] == ',' || text[i] == '\\')
			put(l, '\\');
		put(l, text[i]);
	}
}

static void put_number(struct line *l, uint32_t v)
{
	char digits[10];
	uint32_t n = sizeof(digits);

	do {
		digits[--n] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	for (; n < sizeof(digits); n++)
		put(l, digits[n]);
}

static void put_events(struct line *l, uint32_t events)
{
	uint32_t kind;
	bool more = false;

	if ((events & ((1U << SCHED_KINDS) - 1)) == (1U << SCHED_KINDS) - 1) {
		put_text(l, "all");
		return;
	}
	for (kind = 0; kind < SCHED_KINDS; kind++) {
		if (!(events & 1U << kind))
			continue;
		if (more)
			put(l, ',');
		put_text(l, sched_kind_word(kind));
		more = true;
	}
}

static void put_filters(struct line *l, const struct message_config *c)
{
	uint32_t i;

	put_text(l, " pids=");
	for (i = 0; i < c->n_pids; i++) {
		if (i)
			put(l, ',');
		put_number(l, (uint32_t)c->pids[i]);
	}
	put_text(l, " comms=");
	for (i = 0; i < c->n_comms; i++) {
		if (i)
			put(l, ',');
		put_escaped(l, c->comms[i], SCHED_COMM_LEN);
	}
	put_text(l, " cgroups=");
	for (i = 0; i < c->n_cgroups; i++) {
		if (i)
			put(l, ',');
		put_escaped(l, c->cgroups[i], CONFIG_CGROUP_LEN);
	}
}

uint32_t settings_format(const struct settings *s, char *out, uint32_t room)
{
	struct line l = { out, 0, room };

	put_text(&l, "events=");
	put_events(&l, s->config.events);
	put_text(&l, " policy=");
	put_text(&l, policies[s->config.policy == POLICY_FLIGHT]);
	put_text(&l, " codec=");
	put_text(&l, s->config.codec == CODEC_BSF ? "bsf" : "sched");
	put_text(&l, " flush_ms=");
	put_number(&l, s->config.flush_ms);
	put_text(&l, " block=");
	put_number(&l, s->config.block_bytes);
	put_filters(&l, &s->config);
	put_text(&l, s->profile ? " profile=1\n" : " profile=0\n");
	if (room)
		out[l.len] = 0;
	return l.len;
}

void settings_apply(struct settings *to, const struct settings *from)
{
	config_apply(&to->config, &from->config);
	to->given |= from->given;
	if (from->given & 1U << SETTING_PROFILE)
		to->profile = from->profile;
}

/* What is not used of an array is always zero. */
bool settings_is_same(const struct settings *a, const struct settings *b)
{
	const struct message_config *x = &a->config, *y = &b->config;

	return x->codec == y->codec && x->policy == y->policy && x->events == y->events &&
	       x->block_bytes == y->block_bytes && x->flush_ms == y->flush_ms &&
	       x->n_pids == y->n_pids && x->n_comms == y->n_comms && x->n_cgroups == y->n_cgroups &&
	       !memcmp(x->pids, y->pids, sizeof(x->pids)) &&
	       !memcmp(x->comms, y->comms, sizeof(x->comms)) &&
	       !memcmp(x->cgroups, y->cgroups, sizeof(x->cgroups));
}
