/* SPDX-License-Identifier: MIT */
/* formats, recognise: names, endings and first bytes; what a format drops. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "convert/formats.h"
#include "convert/func_export.h"
#include "convert/recognise.h"

static void test_endings(void **state)
{
	static const struct {
		const char *path;
		const char *format; /* NULL: none */
	} cases[] = {
		{ "a.ksk", "ksk" },
		{ "a.txt", "ftrace" },
		{ "a.ftrace", "ftrace" },
		{ "dir.x/a.json", "json" },
		{ "a.chrome.json", "chrome" },
		{ "a.trace.json", "chrome" },
		{ "a.ndjson", "ndjson" },
		{ "a.jsonl", "ndjson" },
		{ "a.xml", "xml" },
		{ "a.ctf", "ctf" },
		{ "a/", "ctf" },
		{ "a.dat", "trace.dat" },
		{ "a.pftrace", "perfetto" },
		{ "a.perfetto-trace", "perfetto" },
		{ "a.csv", "csv" },
		{ "a", NULL },
		{ "-", NULL },
		{ ".ksk", NULL },
		{ "a.json.gz", NULL },
		{ "/", NULL },
		{ "", NULL },
	};
	const struct format *f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		f = formats_from_path(cases[i].path);
		if (!cases[i].format)
			assert_null(f);
		else
			assert_string_equal(f->name, cases[i].format);
	}
	for (i = 0; (f = formats_get(i)); i++) {
		assert_ptr_equal(formats_find(f->name), f);
		/* A format that lacks something says so. */
		if (f->lacks || f->kinds != (1U << SCHED_KINDS) - 1)
			assert_non_null(f->cannot_hold);
	}
	assert_int_equal(i, 10);
	assert_null(formats_find("zip"));
	assert_null(formats_of_codec("zip"));
}

static void test_drops(void **state)
{
	struct trace_item item = { .type = ITEM_EVENT };
	struct trace_info info;
	const struct format *bsf = formats_of_codec("bsf"), *text = formats_find("ftrace");

	(void)state;
	memset(&info, 0, sizeof(info));
	clock_init(&info.clock);
	item.event.kind = SCHED_SWITCH;
	item.event.tick = 5000;
	assert_false(format_drops(bsf, &info, &item));
	item.event.tick = 5001; /* not whole microseconds */
	assert_true(format_drops(bsf, &info, &item));
	assert_true(format_drops(text, &info, &item));
	assert_false(format_drops(formats_find("json"), &info, &item));
	item.event.tick = 5000;
	item.event.flags = 1;
	assert_true(format_drops(bsf, &info, &item));
	assert_false(format_drops(text, &info, &item));
	item.event.flags = 0;
	item.event.preempt_count = 2;
	assert_true(format_drops(formats_find("perfetto"), &info, &item));
	item.event.kind = SCHED_FORK;
	assert_true(format_drops(bsf, &info, &item));
	assert_false(format_drops(formats_of_codec("sched"), &info, &item));
}

static enum recognised what(const char *bytes, size_t len)
{
	return recognise_bytes((const uint8_t *)bytes, len);
}

/* A bootchart by what is in it, packed or not; any other archive is one that is compressed. */
static void test_bootchart(void **state)
{
	static const char *const names[] = { "busybox.tgz",  "bootchart2.tgz", "android.tgz",
					     "long-gnu.tgz", "small.tar",      "cut.tgz" };
	struct error e = ERROR_INIT;
	char path[256], bytes[RECOGNISE_BYTES];
	size_t i, n;
	FILE *f;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), KISEKI_TEST_DATA "/../corpus/bootchart/%s", names[i]);
		f = fopen(path, "r");
		assert_non_null(f);
		n = fread(bytes, 1, sizeof(bytes), f);
		fclose(f);
		assert_int_equal(recognise_bytes((uint8_t *)bytes, n), RECOGNISED_BOOTCHART);
		bytes[20] ^= 1; /* the sum of a tar no longer fits, nor do gzip's codes */
		assert_int_not_equal(recognise_bytes((uint8_t *)bytes, n), RECOGNISED_BOOTCHART);
	}
	assert_int_equal(recognise_bytes((const uint8_t *)"\x1f\x8b\x08\0\0", 5), RECOGNISED_GZIP);
	assert_true(recognise_refuse(RECOGNISED_BOOTCHART, "x.tgz", &e) < 0);
	assert_non_null(strstr(e.text, "see kiseki boot"));
}

static void test_recognise(void **state)
{
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(what("KISEKI\r\n\1", 9), RECOGNISED_KSK);
	assert_int_equal(what("KISEKI\n", 7), RECOGNISED_TEXT); /* line ends were converted */
	assert_int_equal(what("\x17\x08\x44tracing6", 11), RECOGNISED_TRACEDAT);
	assert_int_equal(what("\x17\x08\x44tracin", 9), RECOGNISED_NOTHING);
	assert_int_equal(what("# tracer: nop\n", 14), RECOGNISED_TEXT);
	assert_int_equal(what(" <!DOCTYPE HTML>\n<html>", 23), RECOGNISED_HTML);
	assert_int_equal(what("\xef\xbb\xbf<html>", 9), RECOGNISED_HTML);
	assert_int_equal(what("<htm", 4), RECOGNISED_TEXT);
	assert_int_equal(what("\0\0\0\0", 4), RECOGNISED_NOTHING);
	assert_int_equal(what("\n\0", 2), RECOGNISED_NOTHING);
	assert_int_equal(what("", 0), RECOGNISED_NOTHING);
	assert_int_equal(what("\xfd"
			      "7zXZ\0",
			      6),
			 RECOGNISED_XZ);
	assert_true(recognise_refuse(RECOGNISED_XZ, "x.xz", &e) < 0);
	assert_string_equal(e.text,
			    "cannot read x.xz: it is compressed twice; unpack it with unxz first");
	assert_int_equal(recognise_folder("/nowhere"), RECOGNISED_NOTHING);
	assert_true(recognise_refuse(RECOGNISED_KSK, "x.ksk", &e) < 0);
	assert_string_equal(e.text, "cannot read x.ksk: the format is not expected here");
}

/* What is often handed in and not read is named as what it is. The first bytes are those of the programs
 * that write such files: kiseki convert, perf 6.1, Chrome, speedscope. */
static void test_named(void **state)
{
	static const struct {
		const char *bytes;
		enum recognised what;
	} cases[] = {
		{ "{\"kind\":\"trace\",\"format\":\"kiseki\",\"version\":1,", RECOGNISED_OWN_JSON },
		{ "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<trace version=\"1\" device=\"\">",
		  RECOGNISED_OWN_XML },
		{ "kind,ns,tick,tick_off_ns,cpu,common_pid\n", RECOGNISED_OWN_CSV },
		{ "{\"displayTimeUnit\":\"ns\",\n\"traceEvents\":[\n", RECOGNISED_CHROME },
		{ "[{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":2}]", RECOGNISED_CHROME },
		{ "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"}",
		  RECOGNISED_SPEEDSCOPE },
		{ "{\"a\": 1}", RECOGNISED_JSON },
		{ "[\n  1\n]\n", RECOGNISED_TEXT },
		{ "# ========\nswapper     0 [000]  1234.567890: sched:sched_switch: prev_comm=a\n",
		  RECOGNISED_PERF_SCRIPT },
		{ "my prog  12/34 [001]    77.000001:     250000 cpu-clock:  ffff f+0x1\n",
		  RECOGNISED_PERF_SCRIPT },
		{ "         my prog-12    [001] d..2.    77.000001: sched_switch: x\n",
		  RECOGNISED_TEXT },
		{ "          <idle>-0     (-----) [001] d..2.    77.000001: x: y\n",
		  RECOGNISED_TEXT },
		{ "TRACE:\n# tracer: nop\n", RECOGNISED_TEXT },
		{ "capturing trace... done\nTRACE:\nx\x9c\xed", RECOGNISED_ATRACE },
	};
	static const char perfetto[] = "\x0a\x05\x32\x03\x01\x02\x03\x0a\x7f\x0a\x01",
			  no_perfetto[] = "\x0a\x05\x33\x03\x01\x02\x03\x0a\x7f\x0a\x01";
	struct error e = ERROR_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (what(cases[i].bytes, strlen(cases[i].bytes)) != cases[i].what)
			fail_msg("\"%s\" is %s", cases[i].bytes,
				 recognise_name(what(cases[i].bytes, strlen(cases[i].bytes))));
	assert_int_equal(what(perfetto, sizeof(perfetto) - 1), RECOGNISED_PERFETTO);
	assert_int_equal(what(no_perfetto, sizeof(no_perfetto) - 1), RECOGNISED_NOTHING);
	assert_true(recognise_refuse(RECOGNISED_OWN_JSON, "x.json", &e) < 0);
	assert_string_equal(e.text,
			    "cannot read x.json: Kiseki's JSON is written and not read; convert "
			    "the recording that it was made of");
}

static enum recognised what_folder(const char *file)
{
	char folder[] = "/tmp/kiseki-test-XXXXXX", path[64];
	enum recognised r;
	int fd;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/%s", folder, file);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	r = recognise_folder(folder);
	unlink(path);
	rmdir(folder);
	return r;
}

static void test_folders(void **state)
{
	char path[8192];

	(void)state;
	assert_int_equal(what_folder("metadata"), RECOGNISED_CTF);
	assert_int_equal(what_folder("proc_ps.log"), RECOGNISED_BOOTCHART);
	assert_int_equal(what_folder("taskstats.log"), RECOGNISED_BOOTCHART);
	assert_int_equal(what_folder("other"), RECOGNISED_NOTHING);
	memset(path, '/', sizeof(path) - 1); /* the root by many names, the last too long */
	path[sizeof(path) - 1] = 0;
	assert_int_equal(recognise_folder(path), RECOGNISED_NOTHING);
}

/* What speedscope takes for a format of its own list by the end of a file's name, whatever is in it
 * (its src/import/index.ts); our files of Chrome's trace events are not among them. */
static void test_name_for_speedscope(void **state)
{
	static const char *const taken[] = {
		".speedscope.json", ".chrome.json", ".stackprof.json",
		".v8log.json",	    ".heapprofile", "-recording.json"
	};
	const struct func_format *calls = func_export_find("chrome");
	const char *name = formats_find("chrome")->endings[0];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		assert_string_not_equal(name, taken[i]);
		assert_true(strncmp(calls->endings, taken[i], strlen(taken[i])) != 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name_for_speedscope),
		cmocka_unit_test(test_endings),
		cmocka_unit_test(test_drops),
		cmocka_unit_test(test_recognise),
		cmocka_unit_test(test_folders),
		cmocka_unit_test(test_bootchart),
		cmocka_unit_test(test_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
