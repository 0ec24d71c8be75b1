/* SPDX-License-Identifier: MIT */
/*
 * report_json: the figures for machines, see report.h. The keys are described in bench/README.md.
 */
#include <errno.h>
#include <jansson.h>

#include "report.h"

static json_t *per_event(const struct result *r, uint64_t ns)
{
	return ns == RESULT_NONE ? json_null() : json_real(result_ns(r, ns));
}

static json_t *ratio(double value)
{
	return value < 0 ? json_null() : json_real(value);
}

static json_t *rows(const struct trace_result *t)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < t->n_rows; i++) {
		const struct result *r = &t->row[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:b, s:I, s:I, s:f, s:o, s:o, s:I}",
						"key", r->key, "name", r->name, "ours",
						(int)r->ours, "events", (json_int_t)r->events,
						"bytes", (json_int_t)r->bytes, "bytes_per_event",
						result_bytes(r), "encode_ns_per_event",
						per_event(r, r->encode_ns), "decode_ns_per_event",
						per_event(r, r->decode_ns), "state_bytes",
						(json_int_t)r->state_bytes));
	}
	return list;
}

static json_t *cold(const struct trace_result *t)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < t->n_cold; i++)
		json_array_append_new(list, json_pack("{s:i, s:f, s:f}", "walked_kib",
						      (int)t->cold[i].walked_kib, "median_ns",
						      t->cold[i].median_ns, "mean_ns",
						      t->cold[i].mean_ns));
	return list;
}

static json_t *convert(const struct trace_result *t)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < t->n_convert; i++) {
		const struct convert_result *c = &t->convert[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:I, s:I, s:s?, s:o}", "key", c->key,
						"name", c->name, "cpu_ns", (json_int_t)c->cpu_ns,
						"wall_ns", (json_int_t)c->wall_ns, "versus",
						c->versus, "speed_ratio",
						ratio(convert_result_ratio(t, c))));
	}
	return list;
}

static json_t *ratios(const struct trace_result *t)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "sched_size_to_xz_9e",
			 ratio(result_size_ratio(t, "sched", "xz-9e")), "sched_file_size_to_xz_9e",
			 ratio(result_size_ratio(t, "sched-file", "xz-9e")),
			 "sched_encode_time_to_lz4_1",
			 ratio(result_encode_ratio(t, "sched", "lz4-1")),
			 "sched_encode_time_to_lz4_1_command",
			 ratio(result_encode_ratio(t, "sched", "lz4-1-command")));
}

static json_t *trace(const struct trace_result *t)
{
	json_t *o = json_pack("{s:s, s:s, s:b, s:I, s:I, s:I, s:i, s:f, s:o, s:b, s:I}", "name",
			      t->name, "path", t->path, "broken_chain", (int)t->broken, "removed",
			      (json_int_t)t->removed, "events", (json_int_t)t->events, "gaps",
			      (json_int_t)t->losses, "cpus", (int)t->cpus, "seconds",
			      (double)t->ns / 1e9, "tick_ns",
			      ratio(t->tick_ns > 0 ? t->tick_ns : -1), "pages_rewritten",
			      (int)t->rewritten, "ksk_bytes", (json_int_t)t->ksk_bytes);

	json_object_set_new(o, "codecs", rows(t));
	json_object_set_new(o, "ratios", ratios(t));
	json_object_set_new(o, "cold", cold(t));
	json_object_set_new(o, "conversions", convert(t));
	return o;
}

int report_json(const char *path, const struct bench_result *b, struct error *e)
{
	json_t *traces = json_array(), *root;
	size_t i;
	int failed;

	for (i = 0; i < b->n; i++)
		json_array_append_new(traces, trace(&b->trace[i]));
	root = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:I, s:I, s:o}", "version",
			 1, "date", b->date, "machine", b->machine, "kernel", b->kernel, "command",
			 b->command, "libraries", b->libraries, "not_measured", b->without, "core",
			 b->core, "runs", (int)b->runs, "sched_encoder_bytes",
			 (json_int_t)b->encoder_bytes, "sched_decoder_bytes",
			 (json_int_t)b->decoder_bytes, "traces", traces);
	failed = !root || json_dump_file(root, path, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) < 0;
	json_decref(root);
	return failed ? error_set(e, EIO, "cannot write %s", path) : 0;
}
