/* SPDX-License-Identifier: MIT */
/* record_agent: see record_agent.h. */
#include "cli/record_agent.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/agent_path.h"
#include "cli/signals.h"

#define END_MS 5000 /* that the agent has to end */
#define LOOK_MS 10
#define FUNC_MEM "512M" /* an eighth of it is the most for one program, which uses what it needs */

void record_agent_init(struct record_agent *a)
{
	memset(a, 0, sizeof(*a));
	a->fd = a->words_fd = -1;
}

/* The agent's side. Nothing of what it keeps outlives the recording, and what the machine's own
 * agent is told does not reach it. The terminal's Ctrl-C is for us alone. */
static void run_agent(const struct record_agent *a, const char *path, int fd, int words)
{
	char collector[24], name[40], state[96], spool[96];

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signals_restore();
	if (dup2(words, STDERR_FILENO) < 0 || fcntl(fd, F_SETFD, 0) < 0)
		_exit(127);
	snprintf(collector, sizeof(collector), "fd:%d", fd);
	snprintf(name, sizeof(name), "record-%ld", (long)getpid());
	snprintf(state, sizeof(state), "%s/state", a->folder);
	snprintf(spool, sizeof(spool), "%s/spool", a->folder);
	execl(path, "kiseki-agent", "--config", "/dev/null", "--collector", collector, "--name",
	      name, "--state-dir", state, "--spool-file", spool, "--func-socket",
	      a->socket[0] ? a->socket : "none", "--func-mem", FUNC_MEM, (char *)NULL);
	fprintf(stderr, "cannot run %s: %s\n", path, strerror(errno));
	_exit(127);
}

/* In memory where there is such a place. */
static int make_folder(struct record_agent *a, struct error *e)
{
	static const char *const places[] = { "/run", "/dev/shm", "/tmp" };
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(a->folder, sizeof(a->folder), "%s/kiseki-record-XXXXXX", places[i]);
		if (mkdtemp(a->folder))
			return 0;
	}
	a->folder[0] = 0;
	return error_set(e, errno, "cannot record: no folder for the agent: %s", strerror(errno));
}

int record_agent_open(struct record_agent *a, bool takes_programs, struct error *e)
{
	int r = make_folder(a, e);

	if (r >= 0 && takes_programs)
		snprintf(a->socket, sizeof(a->socket), "%s/func.sock", a->folder);
	return r;
}

int record_agent_start(struct record_agent *a, struct error *e)
{
	_cleanup_close_ int theirs = -1, words = -1;
	char path[AGENT_PATH_MAX];
	int pair[2], r;

	r = agent_path_find(path, e);
	if (r < 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set(e, errno, "cannot record: %s", strerror(errno));
	a->fd = pair[0];
	theirs = pair[1];
	if (pipe2(pair, O_CLOEXEC) < 0)
		return error_set(e, errno, "cannot record: %s", strerror(errno));
	a->words_fd = pair[0];
	words = pair[1];
	fcntl(a->fd, F_SETFL, O_NONBLOCK);
	fcntl(a->words_fd, F_SETFL, O_NONBLOCK);
	a->pid = fork();
	if (a->pid < 0) {
		a->pid = 0;
		return error_set(e, errno, "cannot record: %s", strerror(errno));
	}
	if (!a->pid)
		run_agent(a, path, theirs, words);
	return 0;
}

/* Keeps the end of it. */
void record_agent_listen(struct record_agent *a)
{
	char bytes[512];
	ssize_t n;

	while (a->words_fd >= 0 && (n = read(a->words_fd, bytes, sizeof(bytes))) > 0) {
		size_t len = (size_t)n, most = sizeof(a->words) - 1;

		if (a->n_words + len > most) {
			size_t drop = a->n_words + len - most;

			memmove(a->words, a->words + drop, a->n_words - drop);
			a->n_words -= drop;
		}
		memcpy(a->words + a->n_words, bytes, len);
		a->n_words += len;
		a->words[a->n_words] = 0;
	}
}

const char *record_agent_last_line(struct record_agent *a)
{
	char *end, *line;

	record_agent_listen(a);
	if (!a->n_words)
		return "it did not say why";
	end = a->words + a->n_words;
	while (end > a->words && end[-1] == '\n')
		*--end = 0;
	line = strrchr(a->words, '\n');
	line = line ? line + 1 : a->words;
	return strncmp(line, "kiseki-agent: ", 14) ? line : line + 14;
}

void record_agent_check(struct record_agent *a)
{
	if (a->pid && waitpid(a->pid, &a->status, WNOHANG) == a->pid)
		a->pid = 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st;
	(void)type;
	(void)f;
	return remove(path);
}

static void wait_for_end(struct record_agent *a)
{
	const struct timespec look = { .tv_nsec = LOOK_MS * 1000000L };
	int ms;

	for (ms = 0; a->pid && ms < END_MS; ms += LOOK_MS) {
		record_agent_listen(a); /* it must not wait for us */
		record_agent_check(a);
		if (a->pid)
			nanosleep(&look, NULL);
	}
}

void record_agent_stop(struct record_agent *a)
{
	if (a->pid && !a->asked)
		kill(a->pid, SIGTERM);
	a->asked = true;
}

void record_agent_done(struct record_agent *a)
{
	if (a->fd >= 0)
		close(a->fd);
	a->asked = false; /* the connection is gone: it need not wait for anything */
	record_agent_stop(a);
	wait_for_end(a);
	if (a->pid) {
		kill(a->pid, SIGKILL);
		waitpid(a->pid, &a->status, 0);
	}
	if (a->words_fd >= 0)
		close(a->words_fd);
	if (a->folder[0])
		nftw(a->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	record_agent_init(a);
}
