/* SPDX-License-Identifier: MIT */
/*
 * doctor: that it runs, that its JSON is JSON, that it leaves nothing behind in the kernel, and that
 * its comparison counts what was really there: at least the switches that it caused itself, and not
 * more than the kernel counted.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/agent/doctor.h"
#include "device/agent/source.h"

static bool has_leftover(const char *folder)
{
	char mine[32];
	bool found = false;
	struct dirent *d;
	DIR *dir = opendir(folder);

	snprintf(mine, sizeof(mine), "-%d", (int)getpid());
	while (dir && (d = readdir(dir)))
		found |= !strncmp(d->d_name, "kiseki-doctor", 13) && strstr(d->d_name, mine);
	if (dir)
		closedir(dir);
	return found;
}

/* What doctor_run() prints, put into a file; its answer. */
static int run_into(const char *path, bool json)
{
	int out = dup(1), r;

	fflush(stdout);
	assert_non_null(freopen(path, "w", stdout));
	r = doctor_run(json);
	fflush(stdout);
	dup2(out, 1);
	close(out);
	return r;
}

/* Each judgement on a source has both counts and the margin in its words, and is what they say. */
static const char check_json[] =
	"import json, sys\n"
	"d = json.load(open(sys.argv[1]))\n"
	"texts = [(f['verdict'], f['text']) for f in d['findings'] if f['name'] == 'compare']\n"
	"for source in 'tracefs', 'bpf':\n"
	"    row = d[source + '_switches']\n"
	"    assert (row is not None) == d['sources'][source]\n"
	"    if row is None: continue\n"
	"    apart = abs(row['seen'] - d['kernel_switches'])\n"
	"    assert row['within'] == (apart <= row['margin']), row\n"
	"    said = 'in a second the kernel counted %d switches, %s saw %d: %s %d' % (\n"
	"        d['kernel_switches'], source, row['seen'],\n"
	"        'within' if row['within'] else 'not within', row['margin'])\n"
	"    assert ('ok' if row['within'] else 'note', said) in texts, (said, texts)\n";

static void prints_json_and_text(void **state)
{
	char path[] = "/tmp/kiseki-doctor-XXXXXX", command[2048], line[512];
	bool has_counter = false;
	int fd = mkstemp(path), r;
	FILE *f;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	r = run_into(path, true);
	assert_true(r == 0 || r == 1);
	snprintf(command, sizeof(command), "python3 -c \"%s\" %s", check_json, path);
	assert_int_equal(system(command), 0);
	assert_int_equal(run_into(path, false), r);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		has_counter |= strstr(line, "counter") != NULL;
	fclose(f);
	unlink(path);
	assert_true(has_counter);
	assert_false(has_leftover("/sys/kernel/tracing/instances"));
	assert_false(has_leftover("/sys/fs/bpf/kiseki"));
}

static void compares_what_was_there(void **state)
{
	static struct doctor_compare c;
#ifdef HAVE_BPF
	bool bpf = source_bpf.probe(NULL) == 0;
#else
	bool bpf = false;
#endif
	bool tracefs = source_tracefs.probe(NULL) == 0;
	struct error e = ERROR_INIT;
	uint64_t sum_tracefs = 0, sum_bpf = 0;
	uint32_t cpu;

	(void)state;
	if (!bpf && !tracefs) {
		puts("skipped: neither BPF nor tracefs may be used");
		skip();
	}
	if (doctor_compare(&c, tracefs, bpf, &e))
		fail_msg("%s", e.text);
	for (cpu = 0; cpu < c.cpus; cpu++) {
		/* The child that slept there was switched to each time it woke. */
		if (c.cpu[cpu].online && bpf)
			assert_true(c.cpu[cpu].bpf >= 500);
		if (c.cpu[cpu].online && tracefs)
			assert_true(c.cpu[cpu].tracefs >= 500);
		assert_true(c.cpu[cpu].bpf_idle <= c.cpu[cpu].bpf);
		assert_true(c.cpu[cpu].tracefs_idle <= c.cpu[cpu].tracefs + 20);
		sum_tracefs += c.cpu[cpu].tracefs;
		sum_bpf += c.cpu[cpu].bpf;
	}
	assert_true(sum_tracefs == c.tracefs && sum_tracefs <= c.kernel);
	assert_true(sum_bpf == c.bpf && sum_bpf <= c.kernel);
}

static void differences(void **state)
{
	(void)state;
	assert_false(doctor_differ(0, 0));
	assert_false(doctor_differ(1000, 1010));
	assert_false(doctor_differ(10000, 9800));
	assert_true(doctor_differ(0, 500));
	assert_true(doctor_differ(1000, 500));
	assert_true(doctor_differ(500, 1000));
	/* The margin that is printed is the one that decides. */
	assert_int_equal(doctor_margin(1000, 900), 70);
	assert_false(doctor_differ(1000, 930));
	assert_true(doctor_differ(1000, 929));
	assert_int_equal(doctor_margin(900, 1000), 70);
	assert_true(doctor_differ(929, 1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differences),
		cmocka_unit_test(compares_what_was_there),
		cmocka_unit_test(prints_json_and_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
