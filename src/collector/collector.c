/* SPDX-License-Identifier: MIT */
/*
 * collector: see collector.h. Opens the store, then what writes and what reads it; and closes them
 * the other way round, so that nobody uses what is gone.
 *
 * Signals belong to the program: all threads that are started here have them blocked.
 */
#include "collector/collector.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sigmask.h"
#include "collector/desired.h"
#include "collector/endpoint.h"
#include "collector/fleet.h"
#include "collector/http_symbols.h"
#include "collector/objects.h"
#include "collector/server.h"
#include "collector/soundness.h"
#include "collector/summaries.h"
#include "collector/work.h"
#include "keys/keys.h"
#include "store/clickhouse/clickhouse_url.h"

#define PORT_DEVICES 7077
#define CONNECTIONS_MAX 10000U
#define DEVICE_BYTES_MAX (4U << 20)
#define BATCH_BYTES (64U << 20)
#define HELLO_TIMEOUT_MS 10000U
#define IDLE_TIMEOUT_MS 60000U
#define PING_MS 10000U
#define SPARE_FILES 512U /* beside the connections: log files, HTTP, those that are turned away */

struct collector {
	struct store *store;
	struct registry *registry;
	struct server *server;
	struct summaries *summaries;
	struct work *work;
	struct http *http;
	struct objects *objects;   /* NULL: devices are asked for none */
	char tables[PATH_MAX];	   /* of symbols */
	char folder[PATH_MAX];	   /* of objects */
	char keys[PATH_MAX];	   /* the folder, if there are any */
	struct http_symbols names; /* for workers */
};

static void log_nothing(void *context, const char *line)
{
	(void)context;
	(void)line;
}

static const char *place_of(const struct collector_options *o)
{
	return o->place && *o->place ? o->place : o->data;
}

static void set_server_options(struct server_options *s, const struct collector_options *o)
{
	s->connections_max = o->connections_max ? o->connections_max : CONNECTIONS_MAX;
	s->device_bytes_max = o->device_bytes_max ? o->device_bytes_max : DEVICE_BYTES_MAX;
	s->batch_bytes = o->store.batch_bytes ? o->store.batch_bytes : BATCH_BYTES;
	s->commit_ms = o->commit_ms ? o->commit_ms : store_commit_ms(place_of(o));
	s->hello_timeout_ms = o->hello_timeout_ms ? o->hello_timeout_ms : HELLO_TIMEOUT_MS;
	s->idle_timeout_ms = o->idle_timeout_ms ? o->idle_timeout_ms : IDLE_TIMEOUT_MS;
	s->ping_ms = o->ping_ms ? o->ping_ms : PING_MS;
	s->plain_loopback = o->plain_loopback;
	s->log = o->log ? o->log : log_nothing;
	s->log_context = o->log_context;
}

/* The folder and those above it. */
static int make_folder(const char *dir, struct error *e)
{
	char path[PATH_MAX];
	char *p;

	if (snprintf(path, sizeof(path), "%s", dir) >= (int)sizeof(path))
		return error_set(e, ENAMETOOLONG, "cannot make %s: too long a name", dir);
	for (p = path + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = 0;
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return error_set(e, errno, "cannot make %s: %s", path, strerror(errno));
	}
	if (mkdir(path, 0750) < 0 && errno != EEXIST)
		return error_set(e, errno, "cannot make %s: %s", path, strerror(errno));
	return 0;
}

/* One that was there before may have been made by hand, or by an earlier version. */
static void look_who_may_read(const struct collector_options *o)
{
	char line[PATH_MAX + 160];
	struct stat st;

	if (!o->log || stat(o->data, &st) < 0 || !(st.st_mode & (S_IRWXO)))
		return;
	snprintf(
		line, sizeof(line),
		"warning: every user of this machine may look into %s: `chmod o=` makes it private",
		o->data);
	o->log(o->log_context, line);
}

/* As many open files as there may be connections, as far as the system lets us. Where it does not, there are
 * fewer connections: without a file left, the collector could not even store what it has. */
static void raise_limit(struct server_options *s)
{
	rlim_t want = (rlim_t)s->connections_max + SPARE_FILES, spare;
	struct rlimit limit;
	char line[160];

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= want)
		return;
	limit.rlim_cur = limit.rlim_max < want ? limit.rlim_max : want;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= want)
		return;
	spare = limit.rlim_cur / 2 < SPARE_FILES ? limit.rlim_cur / 2 : SPARE_FILES;
	s->connections_max = (uint32_t)(limit.rlim_cur - spare);
	snprintf(line, sizeof(line),
		 "at most %u devices at once: no more than %llu files may be open (ulimit -n)",
		 s->connections_max, (unsigned long long)limit.rlim_cur);
	s->log(s->log_context, line);
}

static bool has_secure_http(const struct collector *c, const struct collector_options *o)
{
	return c->keys[0] && !o->plain_http;
}

/* Where the names of functions come from, for those who answer and for those who work minutes out. */
static void set_names(struct collector *c, const struct collector_options *o,
		      struct http_options *h)
{
	h->symbols = o->symbols && *o->symbols ? o->symbols : NULL;
	h->tables = c->tables[0] ? c->tables : NULL;
	h->tables_bytes = o->symbols_bytes;
	h->objects = c->objects ? c->folder : NULL;
}

/* A text that may be "". */
static const char *text_of(const char *text)
{
	return text && *text ? text : NULL;
}

static int start_http(struct collector *c, const struct collector_options *o, struct error *e)
{
	struct http_options h = {
		.listen = o->http,
		.insecure = o->insecure || has_secure_http(c, o),
		.keys = has_secure_http(c, o) ? c->keys : NULL,
		.login_idle_s = o->login_idle_s,
		.login_s = o->login_s,
		.certificate = text_of(o->http_certificate),
		.key = text_of(o->http_key),
		.store = c->store,
		.registry = c->registry,
		.summaries = c->summaries,
		.work = c->work,
		.collector = c,
		.log = o->log,
		.log_context = o->log_context,
	};

	set_names(c, o, &h);
	return http_start(&c->http, &h, e);
}

static int start_work(struct collector *c, const struct collector_options *o, struct error *e)
{
	struct http_options names = { .listen = NULL };
	/* Facts lie where all collectors of a server find them, or in the folder. */
	bool is_shared = o->place && clickhouse_url_is(o->place);
	struct work_options w = {
		.place = is_shared ? o->place : o->data,
		.is_shared = is_shared,
		.store = c->store,
		.has_workers = o->workers != 0,
		.threads = o->workers == COLLECTOR_WORKERS_EACH ? 0 : o->workers,
		.webhook = o->alert_webhook && *o->alert_webhook ? o->alert_webhook : NULL,
		.log = o->log,
		.log_context = o->log_context,
	};

	set_names(c, o, &names);
	http_symbols_init(&c->names, &names);
	w.symbols = c->names.options;
	return work_start(&c->work, &w, e);
}

/* Where names come from beside the folder that a user gives. */
static int start_objects(struct collector *c, const struct collector_options *o, struct error *e)
{
	struct objects_options x = { .folder = c->folder,
				     .bytes_max = o->objects_bytes,
				     .symbols = o->symbols && *o->symbols ? o->symbols : NULL,
				     .tables = c->tables,
				     .tables_bytes = o->symbols_bytes,
				     .log = o->log,
				     .log_context = o->log_context };
	int tables = snprintf(c->tables, sizeof(c->tables), "%s/symbols", o->data);
	int folder = snprintf(c->folder, sizeof(c->folder), "%s/objects", o->data);

	if (tables >= (int)sizeof(c->tables) || folder >= (int)sizeof(c->folder))
		return error_set(e, ENAMETOOLONG, "cannot use %s: too long a name", o->data);
	return o->objects_bytes ? objects_start(&c->objects, &x, e) : 0;
}

static int note_device(void *context, const struct store_device *d)
{
	(void)d;
	*(bool *)context = true;
	return 0;
}

/* What a collector makes by itself at its first start: if there are devices, it was there. */
static const struct part {
	const char *name, *what;
	off_t least; /* bytes; less of a database is none to SQLite, which makes a new one of it */
} parts[] = {
	{ "facts.sqlite", "minutes and hours are worked out from the blocks that are left", 512 },
	{ "fleet.db", "who told devices what, and their groups, are not known any more", 512 },
	{ "desired", "devices do what they do until they are told anew", 0 },
};
#define PARTS (sizeof(parts) / sizeof(*parts))

/* Those that are not there, as bits. */
static uint32_t find_missing(const struct collector *c, const struct collector_options *o)
{
	char path[PATH_MAX];
	struct error e = ERROR_INIT;
	struct stat st;
	bool has_devices = false;
	uint32_t missing = 0, i;

	if (clickhouse_url_is(place_of(o)) ||
	    store_devices(c->store, note_device, &has_devices, &e) < 0 || !has_devices)
		return 0;
	for (i = 0; i < PARTS; i++) {
		snprintf(path, sizeof(path), "%s/%s", o->data, parts[i].name);
		if (stat(path, &st) < 0 || st.st_size < parts[i].least)
			missing |= 1U << i;
	}
	return missing;
}

/* When the others have begun anew; of one that could not be opened the error tells. */
static void tell_missing(const struct collector_options *o, uint32_t missing)
{
	char line[PATH_MAX + 128];
	uint32_t i;

	for (i = 0; i < PARTS && o->log; i++)
		if (missing >> i & 1) {
			snprintf(line, sizeof(line), "%s/%s is missing: %s", o->data, parts[i].name,
				 parts[i].what);
			o->log(o->log_context, line);
		}
}

static void wake_server(void *context)
{
	server_wake(context);
}

/* A file that is damaged, and that nothing depends on but wishes, keeps nobody's data out. */
static void set_aside(const struct collector_options *o, const char *name, const struct error *why)
{
	static const char *const endings[] = { "-wal", "-shm" };
	char from[PATH_MAX], to[PATH_MAX], line[sizeof(why->text) + 160];
	size_t i;

	if (snprintf(from, sizeof(from), "%s/%s", o->data, name) >= (int)sizeof(from) ||
	    snprintf(to, sizeof(to), "%s/%s.damaged", o->data, name) >= (int)sizeof(to) ||
	    rename(from, to) < 0)
		return; /* then whoever reads it says why he cannot */
	for (i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (snprintf(from, sizeof(from), "%s/%s%s", o->data, name, endings[i]) <
		    (int)sizeof(from))
			unlink(from);
	snprintf(line, sizeof(line),
		 "%s; it goes on without, and the file is kept as %s.damaged: look what devices "
		 "are to do, and tell them anew",
		 why->text, name);
	o->log(o->log_context, line);
}

static int pass(void *context, const struct desired *d)
{
	(void)context;
	(void)d;
	return 0;
}

static int pass_group(void *context, const struct fleet_device *d)
{
	(void)context;
	(void)d;
	return 0;
}

static void look_at_wishes(const struct collector_options *o)
{
	struct error why = ERROR_INIT;
	struct fleet *fleet = NULL;
	int r;

	if (desired_read(o->data, pass, NULL, &why) == -EBADMSG)
		set_aside(o, "desired", &why);
	r = fleet_open(&fleet, o->data, &why);
	if (r == 0)
		r = fleet_devices(fleet, pass_group, NULL, &why);
	fleet_free(fleet);
	if (r == -EBADMSG)
		set_aside(o, "fleet.db", &why);
}

static int start_parts(struct collector *c, const struct collector_options *o,
		       struct server_options *s, struct error *e)
{
	struct store_options store = o->store;
	struct soundness sound;
	uint32_t missing = 0;
	int r = make_folder(o->data, e);

	if (r == 0)
		look_who_may_read(o);

	store.batch_bytes = s->batch_bytes;
	store.say = o->log;
	store.say_context = o->log_context;
	if (r == 0)
		r = store_open(&c->store, place_of(o), &store, e);
	if (r == 0) {
		missing = find_missing(c, o);
		soundness_look(&sound, o->data, c->keys);
	}
	if (r == 0) {
		look_at_wishes(o);
		r = registry_open(&c->registry, o->data, c->store, e);
	}
	if (r < 0)
		return r;
	r = start_objects(c, o, e);
	if (r < 0)
		return r;
	s->store = c->store;
	s->registry = c->registry;
	s->objects = c->objects;
	raise_limit(s);
	r = server_start(&c->server, s, e);
	if (r == 0 && c->objects)
		objects_set_wake(c->objects, wake_server, c->server);
	if (r == 0)
		r = summaries_open(&c->summaries, o->data, c->store, e);
	if (r == 0)
		r = start_work(c, o, e);
	if (r == 0)
		r = start_http(c, o, e);
	if (r == 0) {
		tell_missing(o, missing);
		soundness_tell(&sound, o);
	}
	return r;
}

/* Those that are named must be there. */
static int find_keys(struct collector *c, const struct collector_options *o, struct error *e)
{
	bool is_named = o->keys && *o->keys;
	int n = is_named ? snprintf(c->keys, sizeof(c->keys), "%s", o->keys)
			 : snprintf(c->keys, sizeof(c->keys), "%s/keys", o->data);

	if (n >= (int)sizeof(c->keys))
		return error_set(e, ENAMETOOLONG, "cannot use %s: too long a name", c->keys);
	if (keys_exist(c->keys))
		return 0;
	if (is_named)
		return error_set(e, ENOENT,
				 "cannot find keys in %s: make them with `kiseki keys init`",
				 c->keys);
	c->keys[0] = 0;
	return 0;
}

/* A certificate of one's own needs a key, and the folder of keys, which says who may ask. */
static int check_certificate(const struct collector *c, const struct collector_options *o,
			     struct error *e)
{
	if (!text_of(o->http_certificate) != !text_of(o->http_key))
		return error_set(e, EINVAL,
				 "cannot serve HTTPS: http-certificate and http-key "
				 "belong together");
	if (text_of(o->http_certificate) && !has_secure_http(c, o))
		return error_set(e, EINVAL,
				 "cannot use http-certificate without keys, which say who may ask: "
				 "make them with `kiseki keys init`");
	return 0;
}

int collector_start(struct collector **ret, const struct collector_options *o, struct error *e)
{
	CLEANUP(collector) struct collector *c = calloc(1, sizeof(*c));
	struct server_options s = { 0 };
	sigset_t before;
	int r;

	if (!c)
		return error_set(e, ENOMEM, "cannot start the collector: out of memory");
	r = find_keys(c, o, e);
	if (r == 0)
		r = check_certificate(c, o, e);
	if (r < 0)
		return r;
	/* What http_start() will refuse is refused before a folder is made. */
	r = endpoint_parse_listen(o->http, 0, o->insecure || has_secure_http(c, o), &s.address, e);
	if (r == 0)
		r = endpoint_parse_listen(o->listen, PORT_DEVICES, o->insecure || c->keys[0],
					  &s.address, e);
	if (r < 0)
		return r;
	s.keys = c->keys[0] ? c->keys : NULL;
	set_server_options(&s, o);
	sigmask_leave(&before);
	r = start_parts(c, o, &s, e);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r < 0)
		return r;
	*ret = take_ptr(c);
	return 0;
}

void collector_stop(struct collector *c)
{
	if (!c)
		return;
	http_stop(c->http);
	if (c->objects)
		objects_set_wake(c->objects, NULL, NULL);
	server_stop(c->server);
	work_stop(c->work);
	objects_stop(c->objects);
	summaries_free(c->summaries);
	registry_free(c->registry);
	store_free(c->store);
	free(c);
}

struct store *collector_store(struct collector *c)
{
	return c->store;
}

struct registry *collector_registry(struct collector *c)
{
	return c->registry;
}

uint16_t collector_port(const struct collector *c)
{
	return server_port(c->server);
}

uint16_t collector_http_port(const struct collector *c)
{
	return http_port(c->http);
}

bool collector_http_is_secure(const struct collector *c)
{
	return http_is_secure(c->http);
}

void collector_count(struct collector *c, struct collector_counters *ret)
{
	struct server_counters n;

	server_count(c->server, &n);
	*ret = (struct collector_counters){
		.connections = n.connections,
		.connections_now = n.connections_now,
		.refused = n.refused,
		.frames = n.frames,
		.blocks = n.blocks,
		.bytes = n.bytes,
		.events = n.events,
		.func_events = n.func_events,
		.duplicates = n.duplicates,
		.commits = n.commits,
		.commit_ns = n.commit_ns,
		.commit_errors = n.commit_errors,
		.waiting_bytes = store_waiting(c->store),
	};
	memcpy(ret->lost, n.lost, sizeof(ret->lost));
}
