/* SPDX-License-Identifier: MIT */
/*
 * http_metrics: GET /metrics in the text format of Prometheus, version 0.0.4: for each metric its
 * HELP and TYPE, then all of its samples.
 *
 * One table says what there is of the collector, another what there is of each device; a value is
 * read from its struct by a function, so that a line of a table is all that a new metric takes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memfile.h"
#include "collector/collector.h"
#include "collector/http_connections.h"
#include "collector/http_device.h"
#include "collector/work.h"
#include "trace/word.h"

#define TYPE "text/plain; version=0.0.4; charset=utf-8"

static void head(FILE *f, const char *name, const char *type, const char *help)
{
	fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* A label's value: backslash, quote and line end are escaped; bytes that are no UTF-8 become '?'. */
static void put_label(FILE *f, const char *text)
{
	json_t *string = json_string(text);
	bool valid = string;

	json_decref(string);
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			fputc('\\', f);
		if (*text == '\n')
			fputs("\\n", f);
		else
			fputc(!valid && *text & (char)0x80 ? '?' : *text, f);
	}
}

/* --- of a device --- */

struct device_metric {
	const char *name, *type, *help;
	uint64_t (*value)(const struct registry_row *row);
	unsigned int decimals; /* the value counts in this power of ten of a unit */
};

static uint64_t is_online(const struct registry_row *r)
{
	return r->online;
}

static uint64_t is_tracing(const struct registry_row *r)
{
	return r->online && r->state == DEVICE_TRACING;
}

static uint64_t received_events(const struct registry_row *r)
{
	return r->events;
}

static uint64_t received_func_events(const struct registry_row *r)
{
	return r->func_events;
}

static uint64_t received_blocks(const struct registry_row *r)
{
	return r->blocks;
}

static uint64_t received_bytes(const struct registry_row *r)
{
	return r->bytes;
}

static uint64_t duplicates(const struct registry_row *r)
{
	return r->duplicates;
}

static uint64_t waiting(const struct registry_row *r)
{
	return r->waiting_bytes;
}

static uint64_t spool_used(const struct registry_row *r)
{
	return r->status.spool_used;
}

static uint64_t spool_size(const struct registry_row *r)
{
	return r->status.spool_size;
}

static uint64_t agent_cpu(const struct registry_row *r)
{
	return r->status.cpu_us;
}

static uint64_t agent_memory(const struct registry_row *r)
{
	return r->status.rss_kib * 1024;
}

static uint64_t agent_wakeups(const struct registry_row *r)
{
	return r->status.wakeups;
}

static uint64_t clock_error(const struct registry_row *r)
{
	return r->clock_err_ns == UINT64_MAX ? 0 : r->clock_err_ns;
}

static const struct device_metric device_metrics[] = {
	{ "kiseki_device_online", "gauge", "1 if the device is connected.", is_online, 0 },
	{ "kiseki_device_tracing", "gauge", "1 if the device is connected and traces.", is_tracing,
	  0 },
	{ "kiseki_device_received_events_total", "counter",
	  "Events received since the collector started.", received_events, 0 },
	{ "kiseki_device_received_func_events_total", "counter",
	  "Those of them that are of programs: calls, returns, and what the machine did to them.",
	  received_func_events, 0 },
	{ "kiseki_device_received_blocks_total", "counter",
	  "Blocks received since the collector started.", received_blocks, 0 },
	{ "kiseki_device_received_bytes_total", "counter",
	  "Bytes received since the collector started.", received_bytes, 0 },
	{ "kiseki_device_duplicate_blocks_total", "counter",
	  "Blocks that came again and were dropped.", duplicates, 0 },
	{ "kiseki_device_waiting_bytes", "gauge", "Bytes received and not yet durable.", waiting,
	  0 },
	{ "kiseki_device_spool_used_bytes", "gauge", "Bytes that the device keeps unacknowledged.",
	  spool_used, 0 },
	{ "kiseki_device_spool_size_bytes", "gauge", "Bytes that the device can keep.", spool_size,
	  0 },
	{ "kiseki_device_agent_cpu_seconds_total", "counter", "CPU time of the agent.", agent_cpu,
	  6 },
	{ "kiseki_device_agent_resident_bytes", "gauge", "Resident memory of the agent.",
	  agent_memory, 0 },
	{ "kiseki_device_agent_wakeups_total", "counter", "How often the agent was run.",
	  agent_wakeups, 0 },
	{ "kiseki_device_clock_error_seconds", "gauge",
	  "How well the device's clock is known; 0 if it is not.", clock_error, 9 },
};

static void put_value(FILE *f, uint64_t value, unsigned int decimals)
{
	uint64_t unit = 1;
	unsigned int i;

	for (i = 0; i < decimals; i++)
		unit *= 10;
	if (decimals)
		fprintf(f, " %" PRIu64 ".%0*" PRIu64 "\n", value / unit, (int)decimals,
			value % unit);
	else
		fprintf(f, " %" PRIu64 "\n", value);
}

static void put_device(FILE *f, const char *name, const struct registry_row *row, const char *cause)
{
	char id[ID_TEXT_LEN];

	fprintf(f, "%s{device=\"", name);
	put_label(f, row->device.name);
	fprintf(f, "\",id=\"%s\"", http_id_format(&row->device.id, id));
	if (cause)
		fprintf(f, ",cause=\"%s\"", cause);
	fputc('}', f);
}

static void put_devices(FILE *f, const struct registry_row *rows, size_t n)
{
	const char *lost = "kiseki_device_lost_events_total";
	size_t i, k;

	for (k = 0; n && k < sizeof(device_metrics) / sizeof(device_metrics[0]); k++) {
		const struct device_metric *m = &device_metrics[k];

		head(f, m->name, m->type, m->help);
		for (i = 0; i < n; i++) {
			put_device(f, m->name, &rows[i], NULL);
			put_value(f, m->value(&rows[i]), m->decimals);
		}
	}
	if (n)
		head(f, lost, "counter", "Events that the device lost, by its own count.");
	for (i = 0; i < n * LOSS_CAUSES; i++) {
		const struct registry_row *row = &rows[i / LOSS_CAUSES];

		put_device(f, lost, row, word_cause((uint32_t)(i % LOSS_CAUSES)));
		put_value(f, row->status.lost[i % LOSS_CAUSES], 0);
	}
}

/* --- of the collector --- */

static void put_one(FILE *f, const char *name, const char *help, uint64_t value)
{
	size_t len = strlen(name);
	bool counter = len > 6 && !strcmp(name + len - 6, "_total");

	head(f, name, counter ? "counter" : "gauge", help);
	fprintf(f, "%s %" PRIu64 "\n", name, value);
}

static void put_collector(FILE *f, struct collector *collector)
{
	struct collector_counters c = { 0 };
	uint32_t i;

	collector_count(collector, &c);
	put_one(f, "kiseki_connections_total", "Connections of devices.", c.connections);
	put_one(f, "kiseki_connections", "Connections of devices now.", c.connections_now);
	put_one(f, "kiseki_connections_refused_total", "Connections that were refused.", c.refused);
	put_one(f, "kiseki_frames_total", "Frames received.", c.frames);
	put_one(f, "kiseki_blocks_total", "Blocks received.", c.blocks);
	put_one(f, "kiseki_bytes_total", "Bytes received.", c.bytes);
	put_one(f, "kiseki_events_total", "Events received.", c.events);
	put_one(f, "kiseki_func_events_total", "Events received that are of programs.",
		c.func_events);
	put_one(f, "kiseki_duplicate_blocks_total", "Blocks that came again.", c.duplicates);
	put_one(f, "kiseki_commits_total", "Commits of the store.", c.commits);
	put_one(f, "kiseki_commit_errors_total", "Commits that failed.", c.commit_errors);
	put_one(f, "kiseki_waiting_bytes", "Bytes received and not yet durable.", c.waiting_bytes);
	head(f, "kiseki_commit_seconds_total", "counter", "Time spent in commits.");
	fputs("kiseki_commit_seconds_total", f);
	put_value(f, c.commit_ns, 9);
	head(f, "kiseki_lost_events_total", "counter", "Events entered in the ledger, by cause.");
	for (i = 0; i < LOSS_CAUSES; i++)
		fprintf(f, "kiseki_lost_events_total{cause=\"%s\"} %" PRIu64 "\n", word_cause(i),
			c.lost[i]);
}

static void put_server(FILE *f, struct http *h)
{
	struct store_damages d;
	uint64_t used = 0, left = 0;
	unsigned int i;

	store_get_damage(h->options.store, &d);
	store_space(h->options.store, &used, &left);
	put_one(f, "kiseki_store_used_bytes", "Bytes of the store's log.", used);
	put_one(f, "kiseki_store_free_bytes", "Bytes free on the store's disk.", left);
	put_one(f, "kiseki_store_damaged_runs", "Runs of which the disk lost something.", d.runs);
	put_one(f, "kiseki_store_damaged_events",
		"Events that the disk lost, as far as that is known.", d.events);
	put_one(f, "kiseki_store_damaged_places",
		"Damaged places found when the collector started.", d.places + d.files);
	put_one(f, "kiseki_http_connections", "Connections to the HTTP API now.",
		http_connections_count(h->connections));
	put_one(f, "kiseki_http_exports", "Exports under way.", atomic_load(&h->exports));
	put_one(f, "kiseki_http_live_clients", "Clients that follow live.", atomic_load(&h->live));
	head(f, "kiseki_http_replies_total", "counter", "Answers of the HTTP API, by status.");
	for (i = 2; i < 6; i++)
		fprintf(f, "kiseki_http_replies_total{status=\"%uxx\"} %llu\n", i,
			atomic_load(&h->replies[i]));
}

static void put_seconds(FILE *f, const char *name, const char *help, double value)
{
	head(f, name, "gauge", help);
	fprintf(f, "%s %.6f\n", name, value);
}

static void put_work(FILE *f, const struct http_options *o)
{
	struct alerts *alerts = work_alerts(o->work);
	struct fact_workers_counters w;
	struct alerts_counters a = { 0 };

	if (!work_workers(o->work))
		return;
	fact_workers_count(work_workers(o->work), &w);
	if (alerts)
		alerts_count(alerts, &a);
	put_one(f, "kiseki_facts_total", "Sets of facts worked out.", w.minutes);
	put_one(f, "kiseki_facts_errors_total", "Times that facts could not be worked out.",
		w.errors);
	put_one(f, "kiseki_facts_waiting", "Minutes that are not worked out yet.", w.waiting);
	put_one(f, "kiseki_facts_behind_seconds", "Age of the oldest of them that could be.",
		w.behind_s);
	put_seconds(f, "kiseki_facts_minute_seconds",
		    "What a minute of one host takes to work out.", w.pace.t2_s);
	put_one(f, "kiseki_alerts_total", "Alerts that were told.", a.watch.told);
	put_one(f, "kiseki_alerts_open", "Alerts that go on.", a.watch.open);
	put_one(f, "kiseki_alert_posts_total", "Alerts that the webhook took.", a.posted);
	put_one(f, "kiseki_alert_post_errors_total", "Alerts that it did not take.", a.post_errors);
}

int http_metrics(struct http_request *q, struct http_reply *reply, struct error *e)
{
	static const char *const choices[] = { "yes", "no", NULL };
	_cleanup_free_ struct registry_row *rows = NULL;
	char *text = NULL;
	size_t n = 0, len = 0, without = 0;
	FILE *f;
	int r = http_target_get_word(&q->target, "devices", choices, &without, e);

	/* Each has some 2 KB, which Prometheus would fetch of thousands every few seconds. */
	if (r >= 0 && !without)
		r = http_device_list(q->http, &rows, &n, e);
	if (r < 0)
		return r;
	f = memfile_open(&text, &len);
	if (!f)
		return error_set(e, ENOMEM, "cannot answer: out of memory");
	head(f, "kiseki_build_info", "gauge", "1; the version is its label.");
	fprintf(f, "kiseki_build_info{version=\"%s\"} 1\n", KISEKI_VERSION);
	if (q->http->options.collector)
		put_collector(f, q->http->options.collector);
	put_work(f, &q->http->options);
	put_server(f, q->http);
	put_devices(f, rows, n);
	if (fclose(f)) {
		free(text);
		return error_set(e, ENOMEM, "cannot answer: out of memory");
	}
	return http_reply_text(reply, TYPE, text, len, e);
}
