/* SPDX-License-Identifier: MIT */
/*
 * measure_convert: see measure.h.
 *
 * Every command runs on the same core and reads a file that is in memory already. Ours are given
 * what their opponent reads and what we store: the .ksk file beside trace-cmd's own trace.dat, a
 * CTF folder that we exported beside babeltrace2 on the same folder.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure.h"
#include "process.h"

#define CONVERT_RUNS 3

struct paths {
	char ksk[4096];
	char ctf[4096];
	char text[4096];
};

/* One of our conversions; `versus` is the key of the row that it is compared with. */
struct step {
	const char *key;
	const char *name;
	const char *versus;
	const char *in;
	const char *out;
	const char *format;
};

static int add_row(const struct measure *m, const struct step *s, char *const argv[],
		   struct error *e)
{
	struct process_cost cost;
	struct convert_result *row;
	int r = process_best(argv, "/dev/null", CONVERT_RUNS, &cost);

	if (r < 0)
		return error_set(e, -r, "cannot run %s for %s: %s", argv[0], m->result->path,
				 r == -ECHILD ? "it failed" : strerror(-r));
	row = convert_result_add(m->result, s->key, s->name);
	row->versus = s->versus;
	row->cpu_ns = cost.cpu_ns;
	row->wall_ns = cost.wall_ns;
	return 0;
}

static int add_convert(const struct measure *m, const struct step *s, struct error *e)
{
	char *argv[] = { (char *)(uintptr_t)m->kiseki, (char *)"convert",
			 (char *)(uintptr_t)s->in,     (char *)"-o",
			 (char *)(uintptr_t)s->out,    (char *)"--format",
			 (char *)(uintptr_t)s->format, NULL };

	return add_row(m, s, argv, e);
}

/* A reader of somebody else's, if it is installed. */
static int add_reader(const struct measure *m, const struct step *s, char *const argv[],
		      struct error *e)
{
	return process_exists(argv[0]) ? add_row(m, s, argv, e) : 0;
}

static int beside_trace_cmd(const struct measure *m, const struct paths *p, struct error *e)
{
	char *argv[] = { (char *)"trace-cmd", (char *)"report", m->result->path, NULL };
	const struct step report = { "trace-cmd-report", "trace-cmd report x.dat" };
	const struct step steps[] = {
		{ "ksk-to-text", "kiseki convert x.ksk, text to /dev/null", "trace-cmd-report",
		  p->ksk, "-", "ftrace" },
		{ "ksk-to-text-file", "kiseki convert x.ksk, text to a file", "trace-cmd-report",
		  p->ksk, p->text, "ftrace" },
		{ "dat-to-text", "kiseki convert x.dat, text to /dev/null", "trace-cmd-report",
		  m->result->path, "-", "ftrace" },
	};
	int r = add_reader(m, &report, argv, e);
	size_t i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]) && r == 0; i++)
		r = add_convert(m, &steps[i], e);
	return r;
}

static int beside_babeltrace(const struct measure *m, const struct paths *p, struct error *e)
{
	char *argv[] = { (char *)"babeltrace2", (char *)(uintptr_t)p->ctf, NULL };
	const struct step make = { "ksk-to-ctf", "kiseki convert x.ksk, CTF", NULL, p->ksk, p->ctf,
				   "ctf" };
	const struct step reader = { "babeltrace2", "babeltrace2 ctf/" };
	const struct step steps[] = {
		{ "ctf-to-text", "kiseki convert ctf/, text to /dev/null", "babeltrace2", p->ctf,
		  "-", "ftrace" },
		{ "ksk-to-text-beside-ctf", "kiseki convert x.ksk, text to /dev/null",
		  "babeltrace2", p->ksk, "-", "ftrace" },
	};
	int r = add_convert(m, &make, e);
	size_t i;

	if (r == 0)
		r = add_reader(m, &reader, argv, e);
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]) && r == 0; i++)
		r = add_convert(m, &steps[i], e);
	return r;
}

int measure_convert(const struct measure *m, struct error *e)
{
	struct paths p;
	const struct step make = { "dat-to-ksk", "kiseki convert x.dat, .ksk",
				   NULL,	 m->result->path,
				   p.ksk,	 "ksk" };
	struct stat st;
	int r;

	if (!m->kiseki)
		return 0;
	snprintf(p.ksk, sizeof(p.ksk), "%s/trace.ksk", m->scratch);
	snprintf(p.ctf, sizeof(p.ctf), "%s/ctf", m->scratch);
	snprintf(p.text, sizeof(p.text), "%s/convert.txt", m->scratch);
	r = add_convert(m, &make, e);
	if (r == 0 && stat(p.ksk, &st) == 0)
		m->result->ksk_bytes = (uint64_t)st.st_size;
	if (r == 0)
		r = beside_trace_cmd(m, &p, e);
	if (r == 0)
		r = beside_babeltrace(m, &p, e);
	unlink(p.ksk);
	unlink(p.text);
	return r; /* the CTF folder goes with the scratch folder */
}
