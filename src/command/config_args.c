/* SPDX-License-Identifier: MIT */
/*
 * config_args: see config_args.h.
 *
 * One function per kind of value. Each works on a copy of the configuration, which replaces the
 * caller's when all of it was understood.
 */
#include "command/config_args.h"

#include <errno.h>
#include <string.h>

#include "base/when.h"
#include "command/pace_value.h"
#include "command/value.h"
#include "wire/block.h"

#define NS_PER_MS 1000000U
#define RESOLUTION_MOST (1U << 30)
#define SHOWN 40 /* of a wrong word, in the message */

static const char *const options[] = {
	[CONFIG_ORIGIN] = "source",
	[CONFIG_EVENTS] = "events",
	[CONFIG_BLOCK_BYTES] = "block",
	[CONFIG_FLUSH] = "flush",
	[CONFIG_RING] = "ring",
	[CONFIG_RESOLUTION] = "resolution",
	[CONFIG_POLICY] = "policy",
	[CONFIG_PIDS] = "pid",
	[CONFIG_COMMS] = "comm",
	[CONFIG_CGROUP_PATHS] = "cgroup",
	[CONFIG_CODEC] = "codec",
	[CONFIG_FUNC] = "func",
	[CONFIG_PACE] = "profile",
	"profile-rate",
	"profile-budget",
	"profile-duty",
	"vm",
	"vm-rate",
	"vm-budget",
	"vm-duty",
};
_Static_assert(sizeof(options) / sizeof(options[0]) == CONFIG_FIELDS, "each field has an option");

static const char *const origins[ORIGINS] = {
	[ORIGIN_AUTO] = "auto",
	[ORIGIN_TRACEFS] = "tracefs",
	[ORIGIN_BPF] = "bpf",
	[ORIGIN_DRIVER] = "driver",
};

static const char *const policies[] = {
	[POLICY_OLDEST] = "keep-oldest",
	[POLICY_FLIGHT] = "flight-recorder",
};

static const char *const codecs[] = {
	[CODEC_SCHED] = "sched",
	[CODEC_BSF] = "bsf",
};

static const char *const func_modes[FUNC_MODES] = {
	[FUNC_MODE_OFF] = "off",
	[FUNC_MODE_ON] = "on",
	[FUNC_MODE_SPLIT] = "split",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ALL_KINDS ((1U << SCHED_KINDS) - 1)

const char *config_option_name(uint32_t field)
{
	return field < COUNT(options) ? options[field] : NULL;
}

const char *config_origin_word(uint32_t origin)
{
	return origin < ORIGINS ? origins[origin] : NULL;
}

const char *config_event_word(uint32_t kind)
{
	return sched_kind_word(kind);
}

const char *config_policy_word(uint32_t policy)
{
	return policy < COUNT(policies) ? policies[policy] : NULL;
}

const char *config_codec_word(uint32_t codec)
{
	return codec < COUNT(codecs) ? codecs[codec] : NULL;
}

const char *config_func_word(uint32_t mode)
{
	return mode < FUNC_MODES ? func_modes[mode] : NULL;
}

/* --- one word --- */

static int find_word(const char *const words[], size_t n, const char *text)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (words[i] && !strcmp(words[i], text))
			return (int)i;
	return -1;
}

static int parse_origin(struct message_config *c, const char *text, struct error *e)
{
	int i = find_word(origins, ORIGINS, text);

	if (i < 0)
		return error_set(e, EINVAL, "there is no source \"%.*s\"; there are %s", SHOWN,
				 text, CONFIG_SOURCE_WORDS);
	c->origin = (uint8_t)i;
	return 0;
}

static int parse_policy(struct message_config *c, const char *text, struct error *e)
{
	static const char *const short_words[] = { "oldest", "flight" };
	int i = find_word(policies, COUNT(policies), text);

	if (i < 0)
		i = find_word(short_words, COUNT(short_words), text);
	if (i < 0)
		return error_set(e, EINVAL, "there is no policy \"%.*s\"; there are %s", SHOWN,
				 text, CONFIG_POLICY_WORDS);
	c->policy = (uint8_t)i;
	return 0;
}

static int parse_codec(struct message_config *c, const char *text, struct error *e)
{
	int i = find_word(codecs, COUNT(codecs), text);

	if (i < 0)
		return error_set(e, EINVAL, "there is no codec \"%.*s\"; there are %s", SHOWN, text,
				 CONFIG_CODEC_WORDS);
	c->codec = (uint8_t)i;
	return 0;
}

static int parse_func(struct message_config *c, const char *text, struct error *e)
{
	int i = find_word(func_modes, FUNC_MODES, text);

	if (i < 0)
		return error_set(e, EINVAL, "programs cannot be \"%.*s\"; there are %s", SHOWN,
				 text, CONFIG_FUNC_WORDS);
	c->func = (uint8_t)i;
	return 0;
}

/* --- one number --- */

/* A size in units of `plain` bytes, which is what a number without a letter counts. */
static bool parse_size(const char *text, uint32_t plain, uint32_t *ret)
{
	uint64_t bytes;

	if (value_size(&bytes, text, plain) < 0 || bytes % plain || bytes / plain > UINT32_MAX)
		return false;
	*ret = (uint32_t)(bytes / plain);
	return true;
}

/* A length of time in units of `plain` ns, which is what a plain number counts. */
static bool parse_length(const char *text, uint32_t plain, uint32_t *ret)
{
	uint64_t v;

	if (value_number(&v, text, UINT32_MAX) < 0) {
		if (when_parse_length(text, &v, NULL) < 0 || v % plain)
			return false;
		v /= plain;
	}
	*ret = (uint32_t)v;
	return v <= UINT32_MAX;
}

static int parse_block(struct message_config *c, const char *text, struct error *e)
{
	if (!parse_size(text, 1, &c->block_bytes) || c->block_bytes < CONFIG_BLOCK_LEAST ||
	    c->block_bytes > CONFIG_BLOCK_MOST)
		return error_set(e, EINVAL, "a block cannot have \"%.*s\" bytes: 4K to 64K", SHOWN,
				 text);
	return 0;
}

static int parse_ring(struct message_config *c, const char *text, struct error *e)
{
	if (!parse_size(text, 1024, &c->ring_kib) || !c->ring_kib || c->ring_kib > CONFIG_RING_MOST)
		return error_set(e, EINVAL, "a ring cannot be \"%.*s\" large: 1K to 256M", SHOWN,
				 text);
	return 0;
}

static int parse_flush(struct message_config *c, const char *text, struct error *e)
{
	if (!parse_length(text, NS_PER_MS, &c->flush_ms) || !c->flush_ms ||
	    c->flush_ms > CONFIG_FLUSH_MOST)
		return error_set(e, EINVAL, "an event cannot wait \"%.*s\": 1ms to 60s", SHOWN,
				 text);
	return 0;
}

static int parse_resolution(struct message_config *c, const char *text, struct error *e)
{
	if (!parse_length(text, 1, &c->resolution_ns) ||
	    (c->resolution_ns & (c->resolution_ns - 1)) || c->resolution_ns > RESOLUTION_MOST)
		return error_set(e, EINVAL,
				 "stamps cannot be \"%.*s\" fine: a power of two in ns, or 0",
				 SHOWN, text);
	return 0;
}

/* --- lists --- */

/* The next word of a list, without the blanks before it and the backslashes before its commas and
 * blanks. Returns what follows the word (a comma or the end), or NULL if it is longer than the
 * room. */
static const char *take_word(const char *text, char *word, size_t room)
{
	size_t n = 0;

	for (text += strspn(text, " "); *text && *text != ','; text++) {
		if (*text == '\\' && text[1] && strchr(", \\", text[1]))
			text++;
		if (n + 1 >= room)
			return NULL;
		word[n++] = *text;
	}
	word[n] = 0;
	return text;
}

static int add_event(struct message_config *c, const char *word, struct error *e)
{
	uint32_t i;

	if (!strcmp(word, "all")) {
		c->events = ALL_KINDS;
		return 0;
	}
	for (i = 0; i < SCHED_KINDS; i++) {
		if (!strcmp(word, sched_kind_word(i)) || !strcmp(word, sched_kind_event(i))) {
			c->events |= 1U << i;
			return 0;
		}
	}
	return error_set(e, EINVAL, "there is no event \"%.*s\"; there are %s", SHOWN, word,
			 CONFIG_EVENT_WORDS);
}

static int add_pid(struct message_config *c, const char *word, struct error *e)
{
	uint64_t pid;

	if (value_number(&pid, word, INT32_MAX) < 0)
		return error_set(e, EINVAL, "\"%.*s\" is not a pid", SHOWN, word);
	if (c->n_pids == CONFIG_PIDS_MAX)
		return error_set(e, EINVAL, "there are more than %u pids", CONFIG_PIDS_MAX);
	c->pids[c->n_pids++] = (int32_t)pid;
	return 0;
}

static int add_comm(struct message_config *c, const char *word, struct error *e)
{
	size_t len = strlen(word);
	const char *star = strchr(word, '*');

	if (!len || len > SCHED_COMM_LEN)
		return error_set(e, EINVAL, "a name has 1 to %d bytes, not \"%.*s\"",
				 SCHED_COMM_LEN, SHOWN, word);
	if (star && star[1])
		return error_set(e, EINVAL, "a * stands at the end of a name, not as in \"%.*s\"",
				 SHOWN, word);
	if (c->n_comms == CONFIG_COMMS_MAX)
		return error_set(e, EINVAL, "there are more than %u names", CONFIG_COMMS_MAX);
	sched_comm_set(c->comms[c->n_comms++], word, len);
	return 0;
}

static bool has_dots(const char *path)
{
	const char *p;

	for (p = path; (p = strstr(p, "..")); p += 2)
		if ((p == path || p[-1] == '/') && (!p[2] || p[2] == '/'))
			return true;
	return false;
}

static int add_cgroup(struct message_config *c, const char *word, struct error *e)
{
	size_t len = strlen(word);

	while (len > 1 && word[len - 1] == '/')
		len--;
	if (!len || len >= CONFIG_CGROUP_LEN || has_dots(word))
		return error_set(e, EINVAL, "\"%.*s\" is not a path below the cgroups' root", SHOWN,
				 word);
	if (c->n_cgroups == CONFIG_CGROUPS_MAX)
		return error_set(e, EINVAL, "there are more than %u cgroups", CONFIG_CGROUPS_MAX);
	memset(c->cgroups[c->n_cgroups], 0, CONFIG_CGROUP_LEN);
	memcpy(c->cgroups[c->n_cgroups++], word, len);
	return 0;
}

static int parse_list(struct message_config *c, const char *text,
		      int (*add)(struct message_config *c, const char *word, struct error *e),
		      struct error *e)
{
	char word[CONFIG_CGROUP_LEN + 1];
	int r;

	for (;; text++) {
		const char *next = take_word(text, word, sizeof(word));

		if (!next)
			return error_set(e, EINVAL, "\"%.*s\" is too long", SHOWN, text);
		r = add(c, word, e);
		if (r < 0 || !*next)
			return r;
		text = next;
	}
}

static int parse_events(struct message_config *c, const char *text, struct error *e)
{
	c->events = 0;
	return parse_list(c, text, add_event, e);
}

static int parse_pids(struct message_config *c, const char *text, struct error *e)
{
	c->n_pids = 0;
	return *text ? parse_list(c, text, add_pid, e) : 0;
}

static int parse_comms(struct message_config *c, const char *text, struct error *e)
{
	c->n_comms = 0;
	return *text ? parse_list(c, text, add_comm, e) : 0;
}

static int parse_cgroups(struct message_config *c, const char *text, struct error *e)
{
	c->n_cgroups = 0;
	return *text ? parse_list(c, text, add_cgroup, e) : 0;
}

/* --- options --- */

static int (*const parsers[])(struct message_config *c, const char *text, struct error *e) = {
	[CONFIG_ORIGIN] = parse_origin,	    [CONFIG_EVENTS] = parse_events,
	[CONFIG_BLOCK_BYTES] = parse_block, [CONFIG_FLUSH] = parse_flush,
	[CONFIG_RING] = parse_ring,	    [CONFIG_RESOLUTION] = parse_resolution,
	[CONFIG_POLICY] = parse_policy,	    [CONFIG_PIDS] = parse_pids,
	[CONFIG_COMMS] = parse_comms,	    [CONFIG_CGROUP_PATHS] = parse_cgroups,
	[CONFIG_CODEC] = parse_codec,	    [CONFIG_FUNC] = parse_func,
};

int config_option_parse(struct message_config *c, const char *name, const char *text,
			struct error *e)
{
	struct message_config changed = *c;
	uint32_t field;
	int r;

	for (field = CONFIG_ORIGIN; field < COUNT(options); field++)
		if (!strcmp(options[field], name))
			break;
	if (field == COUNT(options))
		return error_set(e, ENOENT, "cannot use \"%.*s\": there is no such option", SHOWN,
				 name);
	if (field >= CONFIG_PACE)
		r = pace_value_parse(&changed.paces[(field - CONFIG_PACE) / CONFIG_PACE_PARTS],
				     (field - CONFIG_PACE) % CONFIG_PACE_PARTS, text, e);
	else
		r = parsers[field](&changed, text, e);
	if (r < 0)
		return error_prefix(e, r, "cannot use %s", name);
	changed.given |= 1U << field;
	*c = changed;
	return 0;
}

static int parse_fields(struct message_config *c, const struct args *a, uint32_t field,
			uint32_t end, struct error *e)
{
	struct message_config changed = *c;
	int r;

	for (; field < end; field++) {
		const char *text = args_get(a, options[field]);

		if (!text)
			continue;
		r = config_option_parse(&changed, options[field], text, e);
		if (r < 0)
			return r;
	}
	*c = changed;
	return 0;
}

int config_args_parse(struct message_config *c, const struct args *a, struct error *e)
{
	return parse_fields(c, a, CONFIG_ORIGIN, CONFIG_PACE, e);
}

int config_args_parse_paces(struct message_config *c, const struct args *a, struct error *e)
{
	return parse_fields(c, a, CONFIG_PACE, CONFIG_FIELDS, e);
}
