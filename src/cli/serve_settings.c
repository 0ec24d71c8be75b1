/* SPDX-License-Identifier: MIT */
/* serve_settings: see serve_settings.h. */
#include "cli/serve_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/when.h"
#include "command/setting.h"

#define CONNECTIONS_MOST 1000000U
#define COMMIT_MS_MOST 10000U
#define DEVICE_MEMORY_LEAST (64U << 10)
#define DEVICE_MEMORY_MOST (1ULL << 30)
#define RETAIN_LEAST (1ULL << 20)
#define WORKERS_MOST 256U
#define LOGIN_MOST_S (30U * 86400)
#define OBJECTS_SIZE (2ULL << 30)

static void set_default_data(struct serve_settings *s)
{
	const char *home = getenv("HOME"), *data = getenv("XDG_DATA_HOME");

	if (geteuid() == 0 || ((!home || !*home) && (!data || !*data)))
		snprintf(s->data, sizeof(s->data), "/var/lib/kiseki");
	else if (data && *data)
		snprintf(s->data, sizeof(s->data), "%s/kiseki", data);
	else
		snprintf(s->data, sizeof(s->data), "%s/.local/share/kiseki", home);
}

void serve_settings_init(struct serve_settings *s)
{
	memset(s, 0, sizeof(*s));
	snprintf(s->listen, sizeof(s->listen), "127.0.0.1:7077");
	snprintf(s->http, sizeof(s->http), "127.0.0.1:8080");
	set_default_data(s);
	s->options.listen = s->listen;
	s->options.http = s->http;
	s->options.data = s->data;
	s->options.symbols = s->symbols;
	s->options.alert_webhook = s->alert_webhook;
	s->options.workers = COLLECTOR_WORKERS_EACH;
	s->options.objects_bytes = OBJECTS_SIZE;
	s->options.place = s->store;
	s->options.keys = s->keys;
	s->options.http_certificate = s->http_certificate;
	s->options.http_key = s->http_key;
}

static int set_age(void *to, const struct setting *s, const char *value, struct error *e)
{
	struct serve_settings *settings = to;
	uint64_t ns;

	(void)s;
	(void)e;
	if (when_parse_length(value, &ns, NULL) < 0 || !ns)
		return -EINVAL;
	settings->options.store.retain_ns = ns;
	return 0;
}

/* Whole seconds, into a uint64_t. */
static int set_seconds(void *to, const struct setting *s, const char *value, struct error *e)
{
	uint64_t ns;

	(void)e;
	if (when_parse_length(value, &ns, NULL) < 0 || ns / CLOCK_NS_PER_S < s->least ||
	    ns / CLOCK_NS_PER_S > s->most)
		return -EINVAL;
	*(uint64_t *)((char *)to + s->at) = ns / CLOCK_NS_PER_S;
	return 0;
}

#define PLACE(field) offsetof(struct serve_settings, field)
#define TEXT(field) "a text of 1 to 1023 bytes", PLACE(field), 1, SERVE_TEXT_MAX

static const struct setting table[] = {
	{ "listen", setting_text, TEXT(listen) },
	{ "http", setting_text, TEXT(http) },
	{ "data", setting_text, TEXT(data) },
	{ "store", setting_text, TEXT(store) },
	{ "symbols", setting_text, TEXT(symbols) },
	{ "symbols-size", setting_size, "a size from 1M on, such as 500M or 20G",
	  PLACE(options.symbols_bytes), RETAIN_LEAST, UINT64_MAX },
	{ "objects-size", setting_size, "a size, such as 500M or 20G, or 0",
	  PLACE(options.objects_bytes), 0, UINT64_MAX },
	{ "retain-size", setting_size, "a size from 1M on, such as 500M or 20G",
	  PLACE(options.store.retain_bytes), RETAIN_LEAST, UINT64_MAX },
	{ "retain-age", set_age, "a length of time, such as 36h or 30d", 0, 0, 0 },
	{ "connections", setting_count, "a number from 1 to 1000000",
	  PLACE(options.connections_max), 1, CONNECTIONS_MOST },
	{ "commit-ms", setting_count, "a number from 1 to 10000", PLACE(options.commit_ms), 1,
	  COMMIT_MS_MOST },
	{ "device-memory", setting_size, "a size from 64K to 1G", PLACE(options.device_bytes_max),
	  DEVICE_MEMORY_LEAST, DEVICE_MEMORY_MOST },
	{ "workers", setting_count, "a number from 0 to 256", PLACE(options.workers), 0,
	  WORKERS_MOST },
	{ "alert-webhook", setting_text, TEXT(alert_webhook) },
	{ "keys", setting_text, TEXT(keys) },
	{ "http-certificate", setting_text, TEXT(http_certificate) },
	{ "http-key", setting_text, TEXT(http_key) },
	{ "login-idle", set_seconds, "a length of time from 1s to 30d", PLACE(options.login_idle_s),
	  1, LOGIN_MOST_S },
	{ "login-length", set_seconds, "a length of time from 1s to 30d", PLACE(options.login_s), 1,
	  LOGIN_MOST_S },
	{ "plain-http", setting_bool, "yes or no", PLACE(options.plain_http), 0, 0 },
	{ "plain-loopback", setting_bool, "yes or no", PLACE(options.plain_loopback), 0, 0 },
	{ "insecure-listen", setting_bool, "yes or no", PLACE(options.insecure), 0, 0 },
	{ "no-sandbox", setting_bool, "yes or no", PLACE(no_sandbox), 0, 0 },
	{ 0 },
};

static struct setting_list list_of(struct serve_settings *s)
{
	return (struct setting_list){ table, s, SERVE_FILE };
}

const char *serve_settings_key(size_t i)
{
	return table[i].key;
}

int serve_settings_parse(struct serve_settings *s, const char *text, const char *file,
			 struct error *e)
{
	const struct setting_list l = list_of(s);

	return setting_parse(&l, text, strlen(text), file, e);
}

int serve_settings_load(struct serve_settings *s, const struct args *a, struct error *e)
{
	const struct setting_list l = list_of(s);

	return setting_load(&l, a, e);
}
