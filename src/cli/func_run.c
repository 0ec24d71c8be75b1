/* SPDX-License-Identifier: MIT */
/*
 * func run: a program with the recording library in it, and then the report of what it and its children
 * called.
 *
 * The library is told everything by the environment (docs/func.md) and writes one file for each process into a
 * folder; this program only waits. What the program prints comes first, its exit status is ours, and
 * so are the signals that would end us: the program gets them. With --agent it asks the agent of this machine for its
 * record instead; then there is nothing here to report.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/func_library.h"
#include "cli/func_reading.h"
#include "cli/func_rules.h"
#include "cli/func_summary.h"
#include "cli/kiseki.h"
#include "cli/record_command.h"
#include "cli/signals.h"
#include "command/say.h"
#include "convert/func_input.h"
#include "wire/func_door.h"

#define PATH_MAX_LEN 4096U
#define TURN_MS 1000

/* Options that the library takes as they are, and those that are names of functions. */
static const struct {
	const char *option;
	const char *variable;
	bool names;
} variables[] = {
	{ "size", "SIZE", false },	    { "policy", "POLICY", false },
	{ "threads", "THREADS", false },    { "depth", "DEPTH", false },
	{ "min-time", "MIN", false },	    { "events", "LIMIT", false },
	{ "sample-at", "SAMPLE_AT", true }, { "sample", "SAMPLE", false },
	{ "only", "ONLY", true },	    { "not", "NOT", true },
	{ "tree", "TREE", true },	    { "notree", "NOTREE", true },
	{ "start", "START", true },	    { "stop", "STOP", true },
};
#define N_VARIABLES (sizeof(variables) / sizeof(variables[0]))

struct run {
	const struct args *args;
	char folder[PATH_MAX_LEN];
	char agent[PATH_MAX_LEN]; /* socket, if one is asked */
	bool made;		  /* the folder is ours and goes away */
	struct record_command command;
	int signals;
	char trace[PATH_MAX_LEN + 16];		   /* file of --sched and of --split */
	const char *words[ARGS_OPERANDS_MAX + 16]; /* of both */
};

/* --- before --- */

static int make_folder(struct run *r, struct error *e)
{
	const char *given = args_get(r->args, "output"), *tmp = getenv("TMPDIR");

	if (given) {
		if (mkdir(given, 0777) < 0 && errno != EEXIST)
			return error_set(e, errno, "cannot make %s: %s", given, strerror(errno));
		if (!realpath(given, r->folder))
			return error_set(e, errno, "cannot use %s: %s", given, strerror(errno));
		return 0;
	}
	snprintf(r->folder, sizeof(r->folder), "%.1000s/kiseki-func-XXXXXX",
		 tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(r->folder))
		return error_set(e, errno, "cannot make a folder in %s: %s",
				 tmp && *tmp ? tmp : "/tmp", strerror(errno));
	r->made = true;
	return 0;
}

/* The file that a shell would run for this word. */
static void find_program(const char *word, char path[PATH_MAX_LEN])
{
	const char *list = strchr(word, '/') ? NULL : getenv("PATH");
	size_t len;

	for (; list; list = list[len] ? list + len + 1 : NULL) {
		len = strcspn(list, ":");
		snprintf(path, PATH_MAX_LEN, "%.*s/%s", (int)len, len ? list : ".", word);
		if (!access(path, X_OK))
			return;
	}
	snprintf(path, PATH_MAX_LEN, "%s", word);
}

static int set_names(const struct run *r, const char *name, const char *list, struct error *e)
{
	struct symbols_options o = { .mangled = args_has(r->args, "mangled") };
	struct symbols *symbols = NULL;
	_cleanup_free_ char *rules = NULL;
	char program[PATH_MAX_LEN];
	int rc = symbols_new(&o, &symbols, e);

	if (rc < 0)
		return rc;
	find_program(r->args->operands[0], program);
	rc = func_rules_resolve(list, program, symbols, &rules, e);
	symbols_free(symbols);
	if (rc >= 0)
		setenv(name, rules, 1);
	return rc;
}

/* The socket that was named, or the usual one; a relative name is meant from here. An agent that is not
 * there is better said before the program has run. */
static int set_agent(struct run *r, struct error *e)
{
	const char *given = args_get(r->args, "agent");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	char here[PATH_MAX_LEN] = "";
	int fd, rc;

	if (*given && *given != '/' && !getcwd(here, sizeof(here)))
		return error_set(e, errno, "cannot find %s: %s", given, strerror(errno));
	rc = snprintf(r->agent, sizeof(r->agent), "%s%s%s", here, *here ? "/" : "",
		      *given ? given : FUNC_DOOR_PATH);
	if (rc >= (int)sizeof(to.sun_path))
		return error_set(e, ENAMETOOLONG,
				 "cannot ask the agent at %s: the name is too long", r->agent);
	strcpy(to.sun_path, r->agent);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	rc = fd < 0 || (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 && errno != EAGAIN);
	if (rc)
		rc = error_set(e, errno, "cannot ask the agent at %s: %s", r->agent,
			       strerror(errno));
	if (fd >= 0)
		close(fd);
	setenv("KISEKI_FUNC_AGENT", r->agent, 1);
	return rc;
}

static int set_environment(struct run *r, struct error *e)
{
	const char *value, *loaded = getenv("LD_PRELOAD");
	char library[FUNC_LIBRARY_MAX], name[64], list[2 * FUNC_LIBRARY_MAX];
	size_t i;
	int rc = func_library_find(library, e);

	unsetenv("KISEKI_FUNC_AGENT");
	if (rc >= 0 && args_has(r->args, "agent"))
		rc = set_agent(r, e);
	for (i = 0; rc >= 0 && i < N_VARIABLES; i++) {
		value = args_get(r->args, variables[i].option);
		snprintf(name, sizeof(name), "KISEKI_FUNC_%s", variables[i].variable);
		if (value && variables[i].names)
			rc = set_names(r, name, value, e);
		else if (value)
			setenv(name, value, 1);
	}
	if (rc < 0)
		return rc;
	setenv("KISEKI_FUNC_FOLDER", r->folder, 1); /* empty with an agent: as none */
	snprintf(list, sizeof(list), "%s%s%.4000s", library, loaded && *loaded ? ":" : "",
		 loaded ? loaded : "");
	setenv("LD_PRELOAD", list, 1);
	return 0;
}

static const char **put_words(const char **to, const char *const *from, size_t n)
{
	memcpy(to, from, n * sizeof(*to));
	return to + n;
}

/* This program, by the path that it was called by if that is one: beside it lies its agent, while the file
 * behind a symbolic link can lie elsewhere. */
static bool find_self(char self[PATH_MAX_LEN])
{
	const char *called = program_invocation_name;
	ssize_t len = (ssize_t)strlen(called);

	if (strchr(called, '/') && len < PATH_MAX_LEN && !access(called, X_OK))
		memcpy(self, called, (size_t)len);
	else
		len = readlink("/proc/self/exe", self, PATH_MAX_LEN - 1);
	if (len > 0)
		self[len] = 0;
	return len > 0;
}

/* With --sched the program is a child of `kiseki record`, which traces the scheduler while it runs, and whose exit
 * status is the program's. With --split so it is, too, but then its agent takes the calls themselves, with the
 * kernel's side of their threads, and of the scheduler only who ended. */
static const char *const *choose_command(struct run *r, char self[PATH_MAX_LEN])
{
	const char *const sched[] = { "--events", "switch,waking,wakeup_new,exit" };
	const char *const split[] = { "--func", "split", "--events", "exit" };
	const char *const record[] = { self, "record", "--only", "-q", "-o", r->trace };
	bool is_split = args_has(r->args, "split");
	const char **word = r->words;

	if ((!is_split && !args_has(r->args, "sched")) || !find_self(self))
		return r->args->operands;
	snprintf(r->trace, sizeof(r->trace), "%.4000s/%s", r->folder,
		 is_split ? FUNC_INPUT_CALLS : FUNC_READING_SCHED);
	word = put_words(word, record, sizeof(record) / sizeof(*record));
	word = is_split ? put_words(word, split, sizeof(split) / sizeof(*split))
			: put_words(word, sched, sizeof(sched) / sizeof(*sched));
	*word++ = "--";
	put_words(word, r->args->operands, r->args->n_operands);
	return r->words;
}

/* What makes no sense without files of our own. */
static int check_agent(const struct run *r, struct error *e)
{
	static const char *const ours[] = { "output", "sched", "split", NULL };
	size_t i;

	if (args_has(r->args, "sched") && args_has(r->args, "split"))
		return error_set(e, EINVAL,
				 "cannot run kiseki func run: --split and --sched exclude each "
				 "other; see kiseki func run --help");
	for (i = 0; args_has(r->args, "agent") && ours[i]; i++)
		if (args_has(r->args, ours[i]))
			return error_set(e, EINVAL,
					 "cannot run kiseki func run: --%s and --agent exclude "
					 "each other; see kiseki func run --help",
					 ours[i]);
	return 0;
}

/* --- while it runs --- */

/* Ctrl-C reaches the program by itself: it is in our group. Others are passed on. */
static void take_signals(struct run *r)
{
	int s;

	while ((s = signals_next(r->signals)))
		if (signals_is_end(s) && s != SIGINT)
			record_command_signal(&r->command, s);
}

static int run_command(struct run *r, struct error *e)
{
	struct pollfd p = { .events = POLLIN };
	char self[PATH_MAX_LEN];
	const char *const *argv = choose_command(r, self);
	int rc;

	r->signals = p.fd = signals_open(e);
	if (r->signals < 0)
		return r->signals;
	rc = record_command_new(&r->command, argv, false, e);
	unsetenv("LD_PRELOAD"); /* not for what this program itself may start */
	if (rc < 0)
		return rc;
	record_command_go(&r->command);
	while (record_command_check(&r->command), r->command.pid) {
		poll(&p, 1, TURN_MS);
		take_signals(r);
	}
	return 0;
}

/* --- after --- */

static bool has_files(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *entry;
	bool any = false;

	while (d && !any && (entry = readdir(d)))
		any = entry->d_name[0] != '.' && strcmp(entry->d_name, FUNC_READING_SCHED) != 0;
	if (d)
		closedir(d);
	return any;
}

static void print_report(struct run *r)
{
	CLEANUP_FUNC_READING struct func_reading in = { 0 };
	struct error e = ERROR_INIT;

	bool is_split = args_has(r->args, "split");
	int rc;

	if (is_split && access(r->trace, R_OK))
		return; /* and kiseki record has said why */
	rc = is_split || has_files(r->folder)
		     ? func_reading_open(&in, r->args, is_split ? r->trace : r->folder, &e)
		     : -ENODATA;
	if (rc == -ENODATA) {
		say_note("no calls were recorded: the program has none of -finstrument-functions, "
			 "or it is static");
		return;
	}
	if (rc < 0) {
		func_reading_failure(&in, &e);
		return;
	}
	if (r->made)
		in.path = r->args->operands[0];
	func_summary_print(&in, r->args);
	if (!r->made)
		say_note("the records are in %s", args_get(r->args, "output"));
}

static void remove_folder(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *entry;
	char path[PATH_MAX_LEN + 300];

	while (d && (entry = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2)
			unlink(path);
	}
	if (d)
		closedir(d);
	rmdir(folder);
}

static int run(const struct args *a)
{
	static struct run r; /* its words are many */
	struct error e = ERROR_INIT;
	int rc, status;

	r.args = a;
	r.signals = -1;
	record_command_init(&r.command);
	if (func_summary_check(a, &e) < 0)
		return say_usage(&e);
	rc = check_agent(&r, &e);
	if (rc < 0)
		return say_usage(&e);
	if (!args_has(a, "agent"))
		rc = make_folder(&r, &e);
	if (rc >= 0)
		rc = set_environment(&r, &e);
	if (rc >= 0)
		rc = run_command(&r, &e);
	signals_close(r.signals);
	if (rc >= 0 && args_has(a, "agent"))
		say_note("the calls went to the agent at %s", r.agent);
	else if (rc >= 0)
		print_report(&r);
	status = rc < 0 ? say_failure(&e) : r.command.status;
	record_command_done(&r.command);
	if (r.made)
		remove_folder(r.folder);
	return status;
}

static const struct cli_option options[] = {
	{ 'o', "output", "DIR", "keep the records in this folder", NULL },
	{ 0, "agent", "[=SOCKET]", "leave the records to the agent of this machine", NULL },
	{ 0, "only", "LIST", "record only these functions: 'parse_*,main'", NULL },
	{ 0, "not", "LIST", "do not record these", NULL },
	{ 0, "tree", "LIST", "record only these and what they call", NULL },
	{ 0, "notree", "LIST", "record neither these nor what they call", NULL },
	{ 0, "start", "LIST", "begin at the entry: or exit: of these", NULL },
	{ 0, "stop", "LIST", "end at the entry: or exit: of these", NULL },
	{ 'd', "depth", "N", "record only this many levels", NULL },
	{ 0, "min-time", "TIME", "record only calls of at least this: 10us", NULL },
	{ 0, "events", "N", "record at most this many calls and returns", NULL },
	{ 0, "sample", "N", "record one of N of the calls of --sample-at", NULL },
	{ 0, "sample-at", "LIST", "these functions, with what they call", NULL },
	{ 0, "size", "BYTES", "memory of a process for its record (64M; --agent: 4M)", NULL },
	{ 0, "policy", "WORD", "when it is full: oldest (default), flight, or wait for the agent",
	  "oldest flight wait" },
	{ 0, "threads", "N", "threads of a process at a time (256)", NULL },
	{ 0, "split", NULL, "split local time into user, kernel, … (needs root)", NULL },
	{ 0, "sched", NULL, "the same by the scheduler alone: user and kernel are one", NULL },
	{ 's', "sort", "KEY", "local (default) total calls avg max name",
	  "local total calls avg max name" },
	{ 'n', "limit", "N", "show this many functions (20); 0 shows all", NULL },
	{ 'f', "function", "PATTERN", "show only functions with such names", NULL },
	{ 'l', "lines", NULL, "show where functions are in the source", NULL },
	{ 0, "json", NULL, "print JSON (docs/reports.md)", NULL },
	{ 0, "symbols", "DIR[:DIR]", "also look here for objects and build-ids", NULL },
	{ 0, "mangled", NULL, "leave C++ names as they are", NULL },
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "Where does it spend its time?", "kiseki func run -- ./program --its-option" },
	{ "Only the parser, and keep the record:",
	  "kiseki func run --tree 'parse_*' -o record -- ./program" },
	{ "Is it slow, or does it wait? And for what?", "kiseki func run --split -- ./program" },
	{ "To the collector, by way of the agent of this machine:",
	  "kiseki func run --agent -- ./program" },
	{ NULL, NULL },
};

const struct command command_func_run = {
	.name = "run",
	.summary = "run a program, record its calls, and report",
	.usage = "[OPTION...] -- COMMAND...",
	.description =
		"The program, and libraries of interest, are compiled with -finstrument-functions; "
		"nothing else is changed. It runs with libkiseki-func.so preloaded (that of "
		"KISEKI_LIBFUNC, or beside this program, or installed), which records its calls "
		"and those of its children. Then comes the report, as of kiseki func report. The "
		"exit status is the program's.\n\n"
		"Functions are given by name; a name may have * and ?. NAME@FILE is one of a "
		"library, libdraw.so* means all of one.\n\n"
		"With --split, as root, local time is split into user, kernel (system calls), "
		"preempted and blocked: a private kiseki-agent takes the calls, with the system "
		"calls, switches and wakings of their threads, into one .ksk file.\n\n"
		"With --agent the program asks kiseki-agent for its record (at " FUNC_DOOR_PATH
		", if no other socket is named), which passes it on to the collector. There is no "
		"report then, and options that shape one mean nothing: kiseki runs lists what has "
		"arrived. Without an agent the program is not run.",
	.options = options,
	.examples = examples,
	.parent = &command_func,
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = ARGS_OPERANDS_MAX,
	.run = run,
};
