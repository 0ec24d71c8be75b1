/* SPDX-License-Identifier: MIT */
/* graph_control: see graph_control.h. */
#include "device/graph/graph_control.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

#define NAMES_TEXT_MAX (1U << 20) /* a filter of somebody else's that we put back */
#define CPUS_MAX 1024U
#define END_PAUSES 1000U /* ten seconds */

/* --- files --- */

static int open_file(const char *folder, const char *name, int flags, struct error *e)
{
	char path[TRACEFS_PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC | flags);
	return fd < 0 ? error_set(e, errno, "cannot open %s: %m", path) : fd;
}

/* The kernel takes one word of a list with each write. What it says of a module behind a function's name it
 * does not want to hear. */
static int write_words(const char *folder, const char *name, int flags, const char *words,
		       struct error *e)
{
	static const char between[] = ",\n";
	_cleanup_close_ int fd = open_file(folder, name, flags, e);
	char line[256];
	size_t len;

	if (fd < 0)
		return fd;
	for (; *words; words += len) {
		words += strspn(words, between);
		len = strcspn(words, between);
		if (!len)
			break;
		if (len > sizeof(line) - 2)
			return error_set(e, ENAMETOOLONG,
					 "cannot write to %s: \"%.40s…\" is too long", name, words);
		snprintf(line, sizeof(line), "%.*s\n", (int)strcspn(words, " ,\n"), words);
		if (write(fd, line, strlen(line)) < 0)
			return error_set(e, errno, "cannot write \"%.*s\" to %s: %m%s", (int)len,
					 words, name,
					 errno == EINVAL ? "; this kernel does not trace such a "
							   "function"
							 : "");
	}
	return 0;
}

/* The whole text, which may be long; NULL: it cannot be read. */
static char *read_text(const char *folder, const char *name, struct error *e)
{
	char *text = malloc(NAMES_TEXT_MAX);
	char *fitting;
	int n;

	if (!text) {
		error_set(e, ENOMEM, "cannot read %s: out of memory", name);
		return NULL;
	}
	n = tracefs_read(folder, name, text, NAMES_TEXT_MAX, e);
	if (n < 0) {
		free(text);
		return NULL;
	}
	fitting = realloc(text, (size_t)n + 1);
	return fitting ? fitting : text;
}

/* "[local] global" is local; "7 (expanded: 1408)" is 1408: the kernel writes more than it reads. */
static void cut_value(char *text)
{
	char *from = strchr(text, '['), *end;

	if (!from)
		from = strstr(text, "expanded: ");
	if (from && *from == 'e')
		from += strlen("expanded: ");
	else if (from)
		from++;
	else
		from = text;
	memmove(text, from, strlen(from) + 1);
	end = text + strcspn(text, "])\n");
	*end = 0;
}

/* --- saving and putting back --- */

static int save(struct graph_control *c, const char *folder, const char *name,
		enum graph_restore how, char *text)
{
	struct graph_saved *s = &c->saved[c->n_saved];

	if (c->n_saved == GRAPH_SAVED_MAX) {
		free(text);
		return -E2BIG;
	}
	s->folder = folder;
	snprintf(s->name, sizeof(s->name), "%s", name);
	s->how = how;
	s->text = text;
	c->n_saved++;
	return 0;
}

static int set_value(struct graph_control *c, const char *folder, const char *name,
		     const char *value, struct error *e)
{
	char *old = read_text(folder, name, e);
	int r;

	if (!old)
		return -EIO;
	cut_value(old);
	if (!strcmp(old, value)) {
		free(old);
		return 0;
	}
	r = save(c, folder, name, GRAPH_RESTORE_VALUE, old);
	return r < 0 ? error_set(e, -r, "cannot set %s", name)
		     : tracefs_write(folder, name, value, e);
}

static int set_number(struct graph_control *c, const char *folder, const char *name, uint32_t value,
		      struct error *e)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	return set_value(c, folder, name, text, e);
}

static int set_list(struct graph_control *c, const char *folder, const char *name,
		    const char *words, struct error *e)
{
	char *old = read_text(folder, name, e);
	int r;

	if (!old)
		return -EIO;
	r = save(c, folder, name, GRAPH_RESTORE_LIST, old);
	return r < 0 ? error_set(e, -r, "cannot set %s", name)
		     : write_words(folder, name, O_TRUNC, words, e);
}

static int add_trigger(struct graph_control *c, const char *function, const char *action,
		       struct error *e)
{
	char text[256];
	char *copy;
	int r;

	snprintf(text, sizeof(text), "%s:%s", function, action);
	r = write_words(c->folder, "set_ftrace_filter", O_APPEND, text, e);
	if (r < 0)
		return r;
	copy = strdup(text);
	r = copy ? save(c, c->folder, "set_ftrace_filter", GRAPH_RESTORE_TRIGGER, copy) : -ENOMEM;
	return r < 0 ? error_set(e, -r, "cannot set a trigger on %s", function) : 0;
}

/* Lines that are names; what the kernel says of an empty list is none. */
static void keep_names(char *text)
{
	char *to = text, *line, *next;

	for (line = text; *line; line = next) {
		next = line + strcspn(line, "\n");
		next += *next == '\n';
		if (*line == '#' || !strncmp(line, "no pid", 6))
			continue;
		memmove(to, line, (size_t)(next - line));
		to += next - line;
	}
	*to = 0;
}

static int restore(struct graph_saved *s, struct error *e)
{
	char text[260];

	switch (s->how) {
	case GRAPH_RESTORE_VALUE:
		return tracefs_write(s->folder, s->name, s->text, e);
	case GRAPH_RESTORE_LIST:
		keep_names(s->text);
		return write_words(s->folder, s->name, O_TRUNC, s->text, e);
	case GRAPH_RESTORE_TRIGGER:
		snprintf(text, sizeof(text), "!%s", s->text);
		return write_words(s->folder, s->name, O_APPEND, text, e);
	}
	return 0;
}

/* The top one's rings were empty when it was taken. */
static void empty_rings(const struct graph_control *c)
{
	int fd = c->is_top ? open_file(c->folder, "trace", O_TRUNC, NULL) : -1;

	if (fd >= 0)
		close(fd);
}

/* In the reverse order: first the tracer, so that nothing of it is recorded, last whether the kernel
 * records. */
static int restore_all(struct graph_control *c, struct error *e)
{
	struct error first = ERROR_INIT, ignored = ERROR_INIT;
	int r = 0, failed;

	while (c->n_saved) {
		c->n_saved--;
		if (!c->n_saved)
			empty_rings(c);
		failed = restore(&c->saved[c->n_saved], r ? &ignored : &first);
		r = r ? r : failed;
		free(c->saved[c->n_saved].text);
	}
	if (c->is_own && rmdir(c->folder) < 0 && !r)
		r = error_set(&first, errno, "cannot remove %s: %m", c->folder);
	c->is_own = false;
	if (r < 0 && e)
		*e = first;
	return r;
}

/* --- the process that puts everything back if this one cannot --- */

/* The tracer cannot be changed while its rings are open: a process that dies closes the pipe first, the
 * rings later, and is nobody's parent any more at the end. */
static void wait_for_end(pid_t parent)
{
	static const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	uint32_t i;

	for (i = 0; i < END_PAUSES && getppid() == parent; i++)
		nanosleep(&pause, NULL);
}

static void guard(struct graph_control *c, pid_t parent, int fd)
{
	sigset_t all;
	char word;
	ssize_t n;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "kiseki-guard");
	do
		n = read(fd, &word, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		_exit(0);
	tracefs_write(c->folder, "tracing_on", "0", NULL);
	wait_for_end(parent);
	_exit(restore_all(c, NULL) < 0);
}

static int start_guard(struct graph_control *c, struct error *e)
{
	pid_t parent = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set(e, errno, "cannot make a pipe: %m");
	c->guard = fork();
	if (c->guard == 0) {
		close(ends[1]);
		guard(c, parent, ends[0]);
	}
	close(ends[0]);
	c->guard_fd = ends[1];
	if (c->guard < 0) {
		close(take_fd(&c->guard_fd));
		return error_set(e, errno, "cannot start a process: %m");
	}
	return 0;
}

static void end_guard(struct graph_control *c)
{
	ssize_t n;

	if (c->guard_fd < 0)
		return;
	n = write(c->guard_fd, "k", 1);
	(void)n; /* without the word it puts back what is put back already */
	close(take_fd(&c->guard_fd));
	while (waitpid(c->guard, NULL, 0) < 0 && errno == EINTR)
		;
}

/* --- opening --- */

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word), n;

	for (; *text; text += n) {
		text += strspn(text, " \n");
		n = strcspn(text, " \n");
		if (n == len && !strncmp(text, word, n))
			return true;
	}
	return false;
}

/* 1: this folder's tracers have function_graph among them. */
static int has_tracer(const char *folder, struct error *e)
{
	char text[TRACEFS_TEXT_MAX];
	int r = tracefs_read(folder, "available_tracers", text, sizeof(text), e);

	return r < 0 ? r : has_word(text, "function_graph");
}

static int check_kernel(const struct graph_control *c, struct error *e)
{
	int r = has_tracer(c->root, e);

	if (r < 0)
		return r;
	if (!r)
		return error_set(e, EOPNOTSUPP,
				 "this kernel cannot trace functions: it was built without "
				 "CONFIG_FUNCTION_GRAPH_TRACER");
	return 0;
}

static bool has_entries(const char *folder)
{
	struct tracefs_stats stats;
	char text[TRACEFS_TEXT_MAX], name[64];
	uint32_t cpu;

	for (cpu = 0; cpu < CPUS_MAX; cpu++) {
		snprintf(name, sizeof(name), "per_cpu/cpu%u/stats", cpu);
		if (tracefs_read(folder, name, text, sizeof(text), NULL) < 0)
			continue;
		if (tracefs_parse_stats(&stats, text) == 0 && stats.entries)
			return true;
	}
	return false;
}

/* Before 6.11 there is one function_graph, and somebody may have it. */
static int take_top(struct graph_control *c, struct error *e)
{
	char text[TRACEFS_TEXT_MAX];
	int r;

	snprintf(c->folder, sizeof(c->folder), "%s", c->root);
	r = tracefs_read(c->root, "current_tracer", text, sizeof(text), e);
	if (r < 0)
		return r;
	text[strcspn(text, "\n")] = 0;
	if (strcmp(text, "nop"))
		return error_set(e, EBUSY,
				 "cannot record: somebody uses the tracer (%s), of which this "
				 "kernel has one; end it with echo nop > %s/current_tracer",
				 text, c->root);
	r = tracefs_read(c->root, "set_event", text, sizeof(text), NULL);
	if (r > 0 || r == -EFBIG)
		return error_set(e, EBUSY,
				 "cannot record: somebody records events, and this kernel has one "
				 "place for both; end it with echo > %s/set_event",
				 c->root);
	if (has_entries(c->root))
		return error_set(e, EBUSY,
				 "cannot record: somebody's trace is in the kernel's rings; drop "
				 "it with echo > %s/trace",
				 c->root);
	c->is_top = true;
	return 0;
}

static int make_folder(struct graph_control *c, struct error *e)
{
	int r;

	tracefs_sweep(c->root, "kiseki-func-");
	snprintf(c->folder, sizeof(c->folder), "%s/instances/kiseki-func-%d", c->root,
		 (int)getpid());
	if (mkdir(c->folder, 0700) < 0)
		return error_set(e, errno, "cannot make %s: %m", c->folder);
	c->is_own = true;
	/* To try it instead of asking would change the size of the top one's rings. */
	r = has_tracer(c->folder, NULL);
	if (r > 0)
		return 0;
	if (rmdir(c->folder) < 0)
		return error_set(e, errno, "cannot remove %s: %m", c->folder);
	c->is_own = false;
	return take_top(c, e);
}

/* "0,2-3" as the kernel wants it: words of 32 bits in hexadecimal digits, the highest first. */
static int format_cpus(const char *list, char *out, size_t room, struct error *e)
{
	uint32_t words[CPUS_MAX / 32] = { 0 };
	unsigned long from, to;
	uint32_t top = 0, i;
	size_t at = 0;
	char *end;

	for (; *list; list = end + (*end == ',')) {
		from = to = strtoul(list, &end, 10);
		if (end != list && *end == '-') {
			list = end + 1;
			to = strtoul(list, &end, 10);
		}
		if (end == list || (*end && *end != ',') || to >= CPUS_MAX || from > to)
			return error_set(e, EINVAL, "cannot use CPUs \"%s\": as 0,2-3", list);
		for (; from <= to; from++)
			words[from / 32] |= 1U << from % 32;
		top = to / 32 > top ? (uint32_t)(to / 32) : top;
	}
	for (i = top + 1; i-- > 0;)
		at += (size_t)snprintf(out + at, room - at, i == top ? "%x" : ",%08x", words[i]);
	return 0;
}

static int set_filters(struct graph_control *c, struct error *e)
{
	const struct graph_settings *s = c->settings;
	char mask[CPUS_MAX / 32 * 9 + 1];
	int r = set_list(c, c->root, "set_graph_function", s->functions ? s->functions : "", e);

	if (r == 0)
		r = set_list(c, c->root, "set_graph_notrace",
			     s->not_functions ? s->not_functions : "", e);
	if (r == 0)
		r = set_number(c, c->root, "max_graph_depth", s->depth, e);
	if (r == 0)
		r = set_number(c, c->root, "tracing_thresh", s->min_us, e);
	if (r == 0)
		r = set_list(c, c->folder, "set_ftrace_pid", s->pids ? s->pids : "", e);
	if (r == 0 && s->cpus) {
		r = format_cpus(s->cpus, mask, sizeof(mask), e);
		if (r == 0)
			r = set_value(c, c->folder, "tracing_cpumask", mask, e);
	}
	return r;
}

/* An option that the kernel does not have and that is asked to be as it always is, is. */
static int set_option(struct graph_control *c, const char *name, bool on, struct error *e)
{
	char path[TRACEFS_PATH_MAX + 64], option[64];

	snprintf(option, sizeof(option), "options/%s", name);
	snprintf(path, sizeof(path), "%s/%s", c->folder, option);
	if (access(path, F_OK) < 0) {
		if (on)
			return 0;
		return error_set(e, EOPNOTSUPP, "this kernel has no option %s", name);
	}
	return set_value(c, c->folder, option, on ? "1" : "0", e);
}

static int set_options(struct graph_control *c, struct error *e)
{
	const struct graph_settings *s = c->settings;
	int r = set_option(c, "funcgraph-irqs", s->irqs, e);

	if (r == 0)
		r = set_option(c, "sleep-time", s->sleep_time, e);
	if (r == 0)
		r = set_option(c, "graph-time", s->graph_time, e);
	if (r == 0 && !s->all)
		r = set_value(c, c->folder, "options/function-fork", s->fork ? "1" : "0", e);
	if (r == 0)
		r = set_value(c, c->folder, "trace_clock", s->clock, e);
	if (r == 0)
		r = set_number(c, c->folder, "buffer_size_kb", s->buffer_kib, e);
	if (r == 0 && s->sched)
		r = set_value(c, c->folder, "events/sched/sched_switch/enable", "1", e);
	if (r == 0 && s->sched)
		r = set_value(c, c->folder, "events/sched/sched_waking/enable", "1", e);
	return r;
}

int graph_control_open(struct graph_control *c, const struct graph_settings *s, struct error *e)
{
	int r;

	memset(c, 0, sizeof(*c));
	c->settings = s;
	c->guard_fd = -1;
	r = tracefs_find(&c->root, e);
	if (r == 0)
		r = check_kernel(c, e);
	if (r == 0)
		r = make_folder(c, e);
	if (r == 0)
		r = set_value(c, c->folder, "tracing_on", "0", e);
	if (r == 0)
		r = set_filters(c, e);
	if (r == 0)
		r = set_options(c, e);
	if (r == 0 && s->start)
		r = add_trigger(c, s->start, "traceon", e);
	if (r == 0 && s->stop)
		r = add_trigger(c, s->stop, "traceoff", e);
	if (r == 0)
		r = set_value(c, c->folder, "current_tracer", "function_graph", e);
	return r == 0 ? start_guard(c, e) : r;
}

int graph_control_start(struct graph_control *c, pid_t command, struct error *e)
{
	char text[16];
	int r = 0;

	snprintf(text, sizeof(text), "%d", (int)command);
	if (command && !c->settings->all)
		r = write_words(c->folder, "set_ftrace_pid", O_APPEND, text, e);
	/* Who reads all tasks' rings would read of itself for ever. Kernels before 5.7 cannot. */
	if (r == 0 && c->settings->all && c->is_own) {
		snprintf(text, sizeof(text), "%d", (int)getpid());
		tracefs_write(c->folder, "set_ftrace_notrace_pid", text, NULL);
	}
	if (r == 0 && !c->settings->start)
		r = tracefs_write(c->folder, "tracing_on", "1", e);
	return r;
}

int graph_control_stop(struct graph_control *c, struct error *e)
{
	return tracefs_write(c->folder, "tracing_on", "0", e);
}

bool graph_control_is_on(const struct graph_control *c)
{
	char text[16];

	return tracefs_read(c->folder, "tracing_on", text, sizeof(text), NULL) > 0 &&
	       text[0] == '1';
}

int graph_control_close(struct graph_control *c, struct error *e)
{
	int r = restore_all(c, e);

	end_guard(c);
	return r;
}
