/* SPDX-License-Identifier: MIT */
/*
 * settings: see settings.h. What to trace is read by command/config_args.h, as for the instructions of
 * a collector: a number means the same wherever it is written.
 */
#include "device/agent/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/config_args.h"
#include "command/setting.h"
#include "command/value.h"
#include "wire/block.h"
#include "wire/func_door.h"

#define SPOOL_LEAST (64U << 10)
#define SPOOL_MOST (1ULL << 30)
#define FUNC_LEAST (1U << 20)
#define FUNC_MOST (1ULL << 34)

static int set_config(void *to, const struct setting *s, const char *value, struct error *e)
{
	return config_option_parse(&((struct settings *)to)->config, s->key, value, e);
}

/* It becomes part of file names and of the kernel's instance. */
static int set_name(void *to, const struct setting *s, const char *value, struct error *e)
{
	const char *p;

	for (p = value; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			return -EINVAL;
	return value[0] == '.' ? -EINVAL : setting_text(to, s, value, e);
}

/* Nothing, or "none": there is no socket. */
static int set_socket(void *to, const struct setting *s, const char *value, struct error *e)
{
	struct settings *all = to;

	if (value[0] == '/')
		return setting_text(to, s, value, e);
	if (value[0] && strcmp(value, "none"))
		return -EINVAL;
	memset(all->func_socket, 0, sizeof(all->func_socket));
	return 0;
}

static int set_nice(void *to, const struct setting *s, const char *value, struct error *e)
{
	bool below = value[0] == '-';
	uint64_t n;

	(void)s;
	(void)e;
	if (value_number(&n, value + below, below ? 20 : 19) < 0)
		return -EINVAL;
	((struct settings *)to)->nice = below ? -(int)n : (int)n;
	return 0;
}

/* Who says how fast says that the collector may have them, wherever it is. */
static int set_objects_rate(void *to, const struct setting *s, const char *value, struct error *e)
{
	struct settings *all = to;

	(void)s;
	(void)e;
	if (value_size(&all->objects_rate, value, 1) < 0)
		return -EINVAL;
	all->objects_anywhere = true;
	return 0;
}

#define RING_SHARE 16U /* of all memory, for the rings of all CPUs */
#define RING_LEAST (64U << 10)
#define RING_MOST (256U << 20) /* as in docs/format/protocol.md, 2.4 */
#define FUNC_SOCKET_ROOM 108U  /* as the address of a local socket has */
#define PLACE(field) offsetof(struct settings, field)
#define TEXT(field) PLACE(field), 1, sizeof(((struct settings *)0)->field)

static const struct setting table[] = {
	{ "collector", setting_text, "HOST:PORT", TEXT(collector) },
	{ "name", set_name, "up to 63 letters, digits, '.', '_' and '-'", TEXT(name) },
	{ "source", set_config, NULL, 0, 0, 0 },
	{ "start", setting_bool, "yes or no", PLACE(start), 0, 0 },
	{ "events", set_config, NULL, 0, 0, 0 },
	{ "pid", set_config, NULL, 0, 0, 0 },
	{ "comm", set_config, NULL, 0, 0, 0 },
	{ "cgroup", set_config, NULL, 0, 0, 0 },
	{ "flush", set_config, NULL, 0, 0, 0 },
	{ "block", set_config, NULL, 0, 0, 0 },
	{ "ring", set_config, NULL, 0, 0, 0 },
	{ "ring-most", setting_size, "64K to 256M", PLACE(ring_most), RING_LEAST, RING_MOST },
	{ "resolution", set_config, NULL, 0, 0, 0 },
	{ "codec", set_config, NULL, 0, 0, 0 },
	{ "func", set_config, NULL, 0, 0, 0 },
	{ "func-socket", set_socket, "none, or a path from / on, of up to 107 bytes",
	  PLACE(func_socket), 1, FUNC_SOCKET_ROOM },
	{ "func-group", setting_text, "a group's name, or *", TEXT(func_group) },
	{ "func-folder", setting_text, "a path of up to 255 bytes", TEXT(func_folder) },
	{ "func-mem", setting_size, "1M to 16G", PLACE(func_bytes), FUNC_LEAST, FUNC_MOST },
	{ "objects-rate", set_objects_rate, "bytes in a second, or 0", 0, 0, 0 },
	{ "spool", setting_size, "64K to 1G", PLACE(spool_bytes), SPOOL_LEAST, SPOOL_MOST },
	{ "spool-file", setting_text, "a path of up to 255 bytes", TEXT(spool_file) },
	{ "policy", set_config, NULL, 0, 0, 0 },
	{ "state-dir", setting_text, "a path of up to 255 bytes", TEXT(state_dir) },
	{ "keep-recording", setting_bool, "yes or no", PLACE(keep_recording), 0, 0 },
	{ "nice", set_nice, "-20 to 19", 0, 0, 0 },
	{ 0 },
};

static struct setting_list list_of(struct settings *s)
{
	return (struct setting_list){ table, s, SETTINGS_FILE };
}

const char *settings_key(size_t i)
{
	return table[i].key;
}

static void default_name(struct settings *s)
{
	char host[SETTINGS_NAME_MAX] = "";

	gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = 0;
	if (settings_set(s, "name", host, NULL) < 0)
		snprintf(s->name, sizeof(s->name), "device");
}

void settings_init(struct settings *s)
{
	*s = (struct settings){
		.collector = "127.0.0.1:7077",
		.state_dir = "/var/lib/kiseki-agent",
		.func_socket = FUNC_DOOR_PATH,
		.func_bytes = 32U << 20,
		.objects_rate = 1U << 20,
		.spool_bytes = 4U << 20,
		.nice = -5,
		.config = {
			.given = CONFIG_ALL,
			.origin = ORIGIN_AUTO,
			.policy = POLICY_OLDEST,
			.codec = CODEC_SCHED,
			.func = FUNC_MODE_ON,
			.events = (1U << SCHED_KINDS) - 1,
			.block_bytes = 32U << 10,
			.flush_ms = 100,
			.ring_kib = 512,
		},
	};
	default_name(s);
}

uint32_t settings_ring_most_kib(const struct settings *s, uint64_t memory, uint32_t cpus)
{
	uint64_t share = memory / RING_SHARE / (cpus ? cpus : 1) / 1024;

	if (s->ring_most)
		return (uint32_t)(s->ring_most / 1024);
	if (share > RING_MOST / 1024)
		share = RING_MOST / 1024;
	return share > s->config.ring_kib ? (uint32_t)share : s->config.ring_kib;
}

int settings_set(struct settings *s, const char *key, const char *value, struct error *e)
{
	const struct setting_list l = list_of(s);

	return setting_set(&l, key, value, e);
}

int settings_parse(struct settings *s, const char *text, size_t len, const char *file,
		   struct error *e)
{
	const struct setting_list l = list_of(s);

	return setting_parse(&l, text, len, file, e);
}

/* Beside the spool: what outlives the agent is in one place. */
static int set_folder(struct settings *s, struct error *e)
{
	const char *slash = strrchr(s->spool_file, '/');
	int len = slash ? (int)(slash - s->spool_file) + 1 : 0;
	int n = snprintf(s->func_folder, sizeof(s->func_folder), "%.*sfunc-%s", len, s->spool_file,
			 s->name);

	return n < (int)sizeof(s->func_folder)
		       ? 0
		       : error_set(e, EINVAL, "cannot use spool-file: the path is too long");
}

int settings_load(struct settings *s, const struct args *a, struct error *e)
{
	const struct setting_list l = list_of(s);
	int r = setting_load(&l, a, e);

	if (r >= 0 && !s->spool_file[0])
		snprintf(s->spool_file, sizeof(s->spool_file), "/run/kiseki/%s.spool", s->name);
	if (r >= 0 && !s->func_folder[0])
		r = set_folder(s, e);
	return r;
}
