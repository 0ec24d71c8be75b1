/* SPDX-License-Identifier: MIT */
/*
 * settings: see settings.h. A variable of ours that is not known is refused like a wrong value: a
 * misspelled filter would otherwise record everything.
 */
#include "device/func/settings.h"

#include <unistd.h>

#include "wire/func_buffer.h"
#include "wire/func_hook.h"

#define KIB 1024ULL
#define CHUNK_MIN 12288U
#define BYTES_MIN (256 * KIB)
#define BYTES_MAX (1ULL << 40)
#define BYTES_ALONE (65536 * KIB)
#define BYTES_DRAINED (4096 * KIB)
#define CHUNK_ALONE (16 * KIB)
#define CHUNK_DRAINED (32 * KIB)

_Static_assert(CHUNK_MIN >= FUNC_CHUNK_HEAD + FUNC_HOOK_BEGIN_ROOM + 2 * FUNC_HOOK_ROOM,
	       "a chunk has room for the start of a segment");

/* A number with one of the suffixes, which each have a factor; "" is 1 if it is among them. */
struct suffix {
	char name[3];
	uint32_t factor;
};

static const struct suffix bytes_suffixes[] = {
	{ "", 1 }, { "K", 1U << 10 }, { "M", 1U << 20 }, { "G", 1U << 30 }
};
static const struct suffix count_suffixes[] = { { "", 1 } };
static const struct suffix time_suffixes[] = {
	{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }
};

static bool parse_number(const char *text, const struct suffix *suffixes, size_t n, uint64_t *ret)
{
	uint64_t v = 0;
	const char *s = text;
	size_t i;

	for (; *s >= '0' && *s <= '9'; s++) {
		if (v > UINT64_MAX / 100)
			return false;
		v = v * 10 + (uint64_t)(*s - '0');
	}
	for (i = 0; s > text && i < n; i++) {
		if (strcmp(s, suffixes[i].name) != 0)
			continue;
		*ret = v * suffixes[i].factor;
		return v <= UINT64_MAX / suffixes[i].factor;
	}
	return false;
}

static bool parse_count(const char *text, uint64_t least, uint64_t most, uint64_t *ret)
{
	return parse_number(text, count_suffixes, 1, ret) && *ret >= least && *ret <= most;
}

static bool parse_size(const char *text, uint64_t least, uint64_t most, uint64_t *ret)
{
	return parse_number(text, bytes_suffixes, 4, ret) && *ret >= least && *ret <= most;
}

static bool set_folder(struct settings *s, const char *v)
{
	size_t len = strlen(v);

	if (!len || len >= sizeof(s->folder))
		return false;
	memcpy(s->folder, v, len + 1);
	return true;
}

static bool set_agent(struct settings *s, const char *v)
{
	if (!strcmp(v, "0") || !strcmp(v, "1"))
		v = *v == '1' ? FUNC_DOOR_PATH : "";
	else if (*v != '/' || strlen(v) >= sizeof(s->agent)) /* processes go elsewhere */
		return false;
	memcpy(s->agent, v, strlen(v) + 1);
	return true;
}

static bool set_bytes(struct settings *s, const char *v)
{
	return parse_size(v, BYTES_MIN, BYTES_MAX, &s->bytes);
}

static bool set_chunk(struct settings *s, const char *v)
{
	return parse_size(v, CHUNK_MIN, FUNC_BUFFER_CHUNK_MAX, &s->chunk_bytes) &&
	       s->chunk_bytes % 4096 == 0;
}

static bool set_threads(struct settings *s, const char *v)
{
	return parse_count(v, 1, FUNC_BUFFER_SLOTS_MAX, &s->threads);
}

static bool set_policy(struct settings *s, const char *v)
{
	static const char *const names[] = {
		[FUNC_KEEP_OLDEST] = "oldest", [FUNC_FLIGHT] = "flight", [FUNC_WAIT] = "wait"
	};

	for (s->policy = 0; s->policy < 3; s->policy++)
		if (!strcmp(v, names[s->policy]))
			return true;
	return false;
}

static bool set_wait(struct settings *s, const char *v)
{
	return parse_count(v, 0, 86400, &s->wait_s);
}

static bool set_on(struct settings *s, const char *v)
{
	return parse_count(v, 0, 1, &s->on);
}

static bool set_depth(struct settings *s, const char *v)
{
	return parse_count(v, 1, UINT32_MAX, &s->depth);
}

static bool set_min(struct settings *s, const char *v)
{
	return parse_number(v, time_suffixes, 4, &s->min_ns);
}

static bool set_limit(struct settings *s, const char *v)
{
	return parse_count(v, 1, UINT32_MAX, &s->limit);
}

static bool set_sample(struct settings *s, const char *v)
{
	return parse_count(v, 1, UINT32_MAX, &s->sample);
}

static bool set_sample_depth(struct settings *s, const char *v)
{
	return parse_count(v, 1, UINT32_MAX, &s->sample_depth);
}

/* Either a function for the value, or the bits of a list of functions. */
struct variable {
	const char *name;
	bool (*set)(struct settings *s, const char *value);
	uint16_t rule;
	bool choosy;
};

static const struct variable variables[] = {
	{ "FOLDER", set_folder, 0, false },
	{ "AGENT", set_agent, 0, false },
	{ "SIZE", set_bytes, 0, false },
	{ "CHUNK", set_chunk, 0, false },
	{ "THREADS", set_threads, 0, false },
	{ "POLICY", set_policy, 0, false },
	{ "WAIT", set_wait, 0, false },
	{ "ON", set_on, 0, false },
	{ "DEPTH", set_depth, 0, true },
	{ "MIN", set_min, 0, true },
	{ "LIMIT", set_limit, 0, true },
	{ "SAMPLE", set_sample, 0, true },
	{ "SAMPLE_DEPTH", set_sample_depth, 0, true },
	{ "SAMPLE_AT", NULL, RULE_SAMPLE, true },
	{ "ONLY", NULL, RULE_ONLY, true },
	{ "NOT", NULL, RULE_NOT, true },
	{ "TREE", NULL, RULE_TREE, true },
	{ "NOTREE", NULL, RULE_NOTREE, true },
	{ "START", NULL, RULE_START, true },
	{ "STOP", NULL, RULE_STOP, true },
};

static bool set_variable(struct settings *s, const char *line)
{
	const char *value = strchr(line, '=');
	const struct variable *v = NULL;
	size_t i, len = value ? (size_t)(value - line) : 0;

	for (i = 0; len && i < sizeof(variables) / sizeof(*variables); i++)
		if (strlen(variables[i].name) == len && !memcmp(variables[i].name, line, len))
			v = &variables[i];
	if (!v)
		return false;
	value++;
	if (!*value) /* as if it were not there */
		return true;
	s->choosy |= v->choosy;
	return v->set ? v->set(s, value) : rules_parse(&s->rules, value, v->rule);
}

static void add_text(struct settings *s, const char *line)
{
	size_t at = strlen(s->text), len = strlen(line);

	if (len + 1 >= sizeof(s->text) - at)
		len = sizeof(s->text) - at - 1;
	memcpy(s->text + at, line, len);
	if (at + len + 1 < sizeof(s->text))
		s->text[at + len] = '\n';
}

/* Children may go elsewhere. */
static bool make_absolute(struct settings *s)
{
	char name[SETTINGS_FOLDER_MAX];
	size_t len, add = strlen(s->folder);

	if (s->folder[0] == '/')
		return true;
	memcpy(name, s->folder, add + 1);
	if (!getcwd(s->folder, sizeof(s->folder)))
		return false;
	len = strlen(s->folder);
	if (add && len + 1 + add >= sizeof(s->folder))
		return false;
	if (add) {
		s->folder[len] = '/';
		memcpy(s->folder + len + 1, name, add + 1);
	}
	return true;
}

/* What depends on more than one of them. */
static const char *complete(struct settings *s)
{
	bool drained = s->agent[0] != '\0';

	if (!s->bytes)
		s->bytes = drained ? BYTES_DRAINED : BYTES_ALONE;
	if (!s->chunk_bytes)
		s->chunk_bytes = drained ? CHUNK_DRAINED : CHUNK_ALONE;
	if (drained && s->policy == FUNC_FLIGHT)
		return SETTINGS_PREFIX "POLICY=flight with " SETTINGS_PREFIX "AGENT";
	return drained || make_absolute(s) ? NULL : SETTINGS_PREFIX "FOLDER";
}

const char *settings_parse(struct settings *s, char *const *environment)
{
	const size_t prefix = sizeof(SETTINGS_PREFIX) - 1;

	memset(s, 0, sizeof(*s));
	s->threads = 256;
	s->wait_s = 10;
	s->on = 1;
	s->sample = 1;
	for (; environment && *environment; environment++) {
		if (strncmp(*environment, SETTINGS_PREFIX, prefix) != 0)
			continue;
		if (!set_variable(s, *environment + prefix))
			return *environment;
		add_text(s, *environment);
	}
	return complete(s);
}
