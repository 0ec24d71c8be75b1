/* SPDX-License-Identifier: MIT */
/*
 * sinks: the general formats, byte for byte against tests/golden/<format>/sample. A change that is
 * meant is taken over with KISEKI_GOLDEN_UPDATE=1 and seen in the diff. Whether the golden files
 * themselves are valid, xmllint and jq say (tests/system/exports.sh), and libxml2 and jansson here.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <jansson.h>
#include <libxml/xmlschemas.h>

#include "base/cleanup.h"
#include "convert/fields.h"
#include "convert/sink.h"
#include "sample.h"
#include "trace/names.h"

typedef int (*sink_new)(struct trace_sink **ret, const char *path, struct error *e);

static char path[64];

static void run(sink_new make, struct trace_source *s, const char *to)
{
	struct trace_sink *sink = NULL;
	struct error e = ERROR_INIT;
	struct trace_item item;

	assert_int_equal(make(&sink, to, &e), 0);
	assert_int_equal(sink->ops->begin(sink, &s->info, &e), 0);
	while (s->ops->next(s, &item, &e) == 1)
		assert_int_equal(sink->ops->item(sink, &item, &e), 0);
	assert_int_equal(sink->ops->end(sink, &e), 0);
	sink_free(sink);
	source_free(s);
}

static struct trace_source *named_source_new(void)
{
	struct error e = ERROR_INIT;
	struct trace_source *s;

	assert_int_equal(names_source_new(&s, sample_source_new(), NULL, &e), 0);
	return s;
}

static char *read_all(const char *from, size_t *ret_len)
{
	FILE *f = fopen(from, "rb");
	struct stat st;
	char *text;

	if (!f)
		fail_msg("cannot read %s", from);
	assert_int_equal(fstat(fileno(f), &st), 0);
	text = calloc(1, (size_t)st.st_size + 1);
	assert_non_null(text);
	*ret_len = fread(text, 1, (size_t)st.st_size, f);
	fclose(f);
	return text;
}

static void compare(const char *golden)
{
	_cleanup_free_ char *want = NULL;
	_cleanup_free_ char *got = NULL;
	size_t want_len, got_len;

	if (getenv("KISEKI_GOLDEN_UPDATE")) {
		FILE *f = fopen(golden, "wb");

		got = read_all(path, &got_len);
		assert_non_null(f);
		assert_int_equal(fwrite(got, 1, got_len, f), got_len);
		assert_int_equal(fclose(f), 0);
		return;
	}
	want = read_all(golden, &want_len);
	got = read_all(path, &got_len);
	assert_string_equal(got, want);
	assert_int_equal(got_len, want_len);
}

static void test_json(void **state)
{
	json_t *root, *events;
	json_error_t je;

	(void)state;
	run(sink_json_new, named_source_new(), path);
	compare(SOURCE_ROOT "/tests/golden/json/sample.json");
	root = json_load_file(path, 0, &je);
	assert_non_null(root);
	events = json_object_get(root, "events");
	assert_int_equal(json_array_size(events), SAMPLE_N);
	assert_string_equal(json_string_value(
				    json_object_get(json_array_get(events, 1), "next_comm")),
			    "two words");
	assert_string_equal(json_string_value(
				    json_object_get(json_array_get(events, 8), "filename")),
			    "/bin/\\xff odd\\\\name");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(events, 9), "ns")),
			 1000000000 + 221 * 20 - 7);
	json_decref(root);
}

static void test_ndjson(void **state)
{
	_cleanup_free_ char *text = NULL;
	char *line, *rest = NULL;
	size_t len, n = 0;
	json_error_t je;
	json_t *one;

	(void)state;
	run(sink_ndjson_new, named_source_new(), path);
	compare(SOURCE_ROOT "/tests/golden/ndjson/sample.ndjson");
	text = read_all(path, &len);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), n++) {
		one = json_loads(line, 0, &je);
		assert_non_null(one);
		assert_non_null(json_object_get(one, "kind"));
		json_decref(one);
	}
	assert_int_equal(n, 1 + SAMPLE_N + 3 + 1);
}

static void test_xml(void **state)
{
	xmlSchemaParserCtxtPtr parser;
	xmlSchemaValidCtxtPtr valid;
	xmlSchemaPtr schema;
	xmlDocPtr doc;

	(void)state;
	run(sink_xml_new, named_source_new(), path);
	compare(SOURCE_ROOT "/tests/golden/xml/sample.xml");
	parser = xmlSchemaNewParserCtxt(SOURCE_ROOT "/docs/format/trace.xsd");
	schema = xmlSchemaParse(parser);
	assert_non_null(schema);
	valid = xmlSchemaNewValidCtxt(schema);
	doc = xmlReadFile(path, NULL, 0);
	assert_non_null(doc);
	assert_int_equal(xmlSchemaValidateDoc(valid, doc), 0);
	xmlFreeDoc(doc);
	xmlSchemaFreeValidCtxt(valid);
	xmlSchemaFree(schema);
	xmlSchemaFreeParserCtxt(parser);
}

static void test_csv(void **state)
{
	(void)state;
	run(sink_csv_new, named_source_new(), path);
	compare(SOURCE_ROOT "/tests/golden/csv/sample.csv");
}

/* Every track's slices are in order and apart: the viewers' one demand. */
static void check_tracks(json_t *records)
{
	struct {
		json_int_t process, thread;
		double end;
	} track[16];
	size_t tracks = 0, i, k;
	json_t *r;

	json_array_foreach(records, i, r)
	{
		double ts = json_real_value(json_object_get(r, "ts"));

		if (strcmp(json_string_value(json_object_get(r, "ph")), "X"))
			continue;
		for (k = 0; k < tracks; k++)
			if (track[k].process == json_integer_value(json_object_get(r, "pid")) &&
			    track[k].thread == json_integer_value(json_object_get(r, "tid")))
				break;
		if (k == tracks) {
			assert_true(tracks < 16);
			track[k].process = json_integer_value(json_object_get(r, "pid"));
			track[k].thread = json_integer_value(json_object_get(r, "tid"));
			track[k].end = 0;
			tracks++;
		}
		assert_true(ts > track[k].end - 0.0005);
		track[k].end = ts + json_real_value(json_object_get(r, "dur"));
	}
	assert_true(tracks >= 5);
}

/* Stamps that run backwards, and a switch chain that does not fit together. */
static void test_chrome_backwards(void **state)
{
	static struct trace_item items[400];
	uint32_t i, pid = 1;
	json_error_t je;
	json_t *root;

	(void)state;
	memset(items, 0, sizeof(items));
	for (i = 0; i < 400; i++) {
		struct sched_event *e = &items[i].event;

		items[i].cpu = i % 3 == 0;
		e->tick = 1000000 + (i * 7919) % 5003;
		e->kind = i % 4 == 3 ? SCHED_WAKING : SCHED_SWITCH;
		e->pid = (int32_t)pid;
		e->task.pid = (int32_t)(i % 7 ? pid : 4);
		pid = (i * 31) % 6;
		e->other.pid = e->kind == SCHED_SWITCH ? (int32_t)pid : 0;
		e->state = i % 5;
		if (i % 50 == 49) {
			items[i].type = ITEM_LOSS;
			items[i].loss = (struct trace_loss){ e->tick, e->tick + 3000, 1, 0 };
		}
	}
	run(sink_chrome_new, array_source_new(items, 400), path);
	root = json_load_file(path, 0, &je);
	assert_non_null(root);
	check_tracks(json_object_get(root, "traceEvents"));
	json_decref(root);
}

static void test_chrome(void **state)
{
	json_error_t je;
	json_t *root;

	(void)state;
	run(sink_chrome_new, sample_source_new(), path);
	compare(SOURCE_ROOT "/tests/golden/chrome/sample.json");
	root = json_load_file(path, 0, &je);
	assert_non_null(root);
	check_tracks(json_object_get(root, "traceEvents"));
	json_decref(root);
}

/* Every field is in every description of the formats. */
static void test_documents(void **state)
{
	static const struct {
		const char *file, *before, *after;
	} documents[] = {
		{ SOURCE_ROOT "/docs/format/json.md", "`", "`" },
		{ SOURCE_ROOT "/docs/format/csv.md", "`", "`" },
		{ SOURCE_ROOT "/docs/format/trace.xsd", "name=\"", "\"" },
		{ SOURCE_ROOT "/docs/format/trace.schema.json", "\"", "\": {" },
	};
	char name[64];
	size_t i, len;
	int id;

	(void)state;
	for (i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
		_cleanup_free_ char *text = read_all(documents[i].file, &len);

		for (id = 0; id < FIELDS; id++) {
			snprintf(name, sizeof(name), "%s%s%s", documents[i].before, field_name(id),
				 documents[i].after);
			if (!strstr(text, name))
				fail_msg("%s does not describe %s", documents[i].file, name);
		}
	}
}

/* An empty trace is still a valid document. */
static void test_empty(void **state)
{
	static const sink_new json_like[] = { sink_json_new, sink_chrome_new };
	json_error_t je;
	json_t *root;
	xmlDocPtr doc;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		run(json_like[i], array_source_new(NULL, 0), path);
		root = json_load_file(path, 0, &je);
		assert_non_null(root);
		json_decref(root);
	}
	run(sink_xml_new, array_source_new(NULL, 0), path);
	doc = xmlReadFile(path, NULL, 0);
	assert_non_null(doc);
	xmlFreeDoc(doc);
}

static void test_full_disk(void **state)
{
	static const sink_new all[] = { sink_json_new, sink_ndjson_new, sink_xml_new, sink_csv_new,
					sink_chrome_new };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct trace_source *s = sample_source_new();
		struct error e = ERROR_INIT;
		struct trace_sink *sink;
		int n, r = 0;

		assert_int_equal(all[i](&sink, "/dev/full", &e), 0);
		assert_int_equal(sink->ops->begin(sink, &s->info, &e), 0);
		for (n = 0; n < 20000 && !r; n++)
			r = sink->ops->item(sink, &sample_items[8], &e);
		assert_int_equal(r, -ENOSPC);
		assert_non_null(strstr(e.text, "/dev/full"));
		sink_free(sink);
		source_free(s);
	}
}

static int set_up(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "/tmp/kiseki-sinks-%d", (int)getpid());
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	xmlCleanupParser();
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),	  cmocka_unit_test(test_ndjson),
		cmocka_unit_test(test_xml),	  cmocka_unit_test(test_csv),
		cmocka_unit_test(test_chrome),	  cmocka_unit_test(test_chrome_backwards),
		cmocka_unit_test(test_empty),	  cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_documents),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
