/* SPDX-License-Identifier: MIT */
/*
 * init_report: process 1 for a moment: writes down all that it was given, and becomes busybox' init.
 *
 * A recorder that starts before init must leave nothing behind in process 1. Booted once with it and once
 * without, what this program finds must be the same to the letter: arguments, environment, open files, signals,
 * limits, the mount table, its children. Written to /init.report of the file system it starts in.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define REPORT "/init.report"
#define FILES_MAX 1024
#define LINE_MAX_BYTES 512

extern char **environ;

static void tell_words(FILE *out, const char *what, char **words)
{
	for (unsigned int i = 0; words[i]; i++)
		fprintf(out, "%s %u \"%s\"\n", what, i, words[i]);
}

/* Before the report itself is open. */
static unsigned int open_files(int files[FILES_MAX])
{
	unsigned int count = 0;

	for (int fd = 0; fd < FILES_MAX; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			files[count++] = fd;
	}
	return count;
}

static void tell_files(FILE *out, const int *files, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		struct stat s = { 0 };

		fstat(files[i], &s);
		fprintf(out, "file %d mode %o device %lx status %x flags %x\n", files[i],
			(unsigned int)s.st_mode, (unsigned long)s.st_rdev,
			(unsigned int)fcntl(files[i], F_GETFL),
			(unsigned int)fcntl(files[i], F_GETFD));
	}
}

static void tell_signals(FILE *out)
{
	sigset_t blocked, pending;

	sigprocmask(SIG_SETMASK, NULL, &blocked);
	sigpending(&pending);
	for (int number = 1; number < NSIG; number++) {
		struct sigaction action = { 0 };

		if (sigaction(number, NULL, &action))
			continue;
		fprintf(out, "signal %d %s%s%s\n", number,
			action.sa_handler == SIG_DFL   ? "default"
			: action.sa_handler == SIG_IGN ? "ignored"
						       : "handled",
			sigismember(&blocked, number) == 1 ? " blocked" : "",
			sigismember(&pending, number) == 1 ? " pending" : "");
	}
}

static void tell_limits(FILE *out)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit limit;

		if (!getrlimit((__rlimit_resource_t)i, &limit))
			fprintf(out, "limit %d %llu %llu\n", i, (unsigned long long)limit.rlim_cur,
				(unsigned long long)limit.rlim_max);
	}
}

static void tell_self(FILE *out)
{
	char name[17] = "", cwd[256] = "";
	mode_t mask = umask(0);

	umask(mask);
	prctl(PR_GET_NAME, name);
	fprintf(out, "pid %d parent %d group %d session %d\n", (int)getpid(), (int)getppid(),
		(int)getpgrp(), (int)getsid(0));
	fprintf(out, "uid %d gid %d umask %o nice %d policy %d\n", (int)getuid(), (int)getgid(),
		(unsigned int)mask, getpriority(PRIO_PROCESS, 0), sched_getscheduler(0));
	fprintf(out, "name %s folder %s\n", name, getcwd(cwd, sizeof(cwd)));
	fprintf(out, "dumpable %d death_signal_subreaper %d timer_slack %d no_new_privileges %d\n",
		prctl(PR_GET_DUMPABLE), prctl(PR_GET_CHILD_SUBREAPER, &(int){ 0 }),
		prctl(PR_GET_TIMERSLACK), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
}

/* What is in the root's folders: what was made there on the way would be found later. */
static void tell_folder(FILE *out, const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] != '.' && strcmp(path, "/proc"))
			fprintf(out, "entry %s/%s\n", path, entry->d_name);
	}
	if (folder)
		closedir(folder);
}

/* Of /proc: the mount table, and those lines of the status that are the process' own. */
static void tell_proc(FILE *out)
{
	char line[LINE_MAX_BYTES];
	FILE *file = fopen("/proc/self/mounts", "r");

	while (file && fgets(line, sizeof(line), file))
		fprintf(out, "mount %s", line);
	if (file)
		fclose(file);
	file = fopen("/proc/self/status", "r");
	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "Cap", 3) || !strncmp(line, "Seccomp", 7) ||
		    !strncmp(line, "Cpus_allowed", 12) || !strncmp(line, "Threads", 7) ||
		    !strncmp(line, "Groups", 6))
			fprintf(out, "status %s", line);
	}
	if (file)
		fclose(file);
	file = fopen("/proc/self/oom_score_adj", "r");
	if (file && fgets(line, sizeof(line), file))
		fprintf(out, "oom_score_adj %s", line);
	if (file)
		fclose(file);
}

int main(int argc, char **argv)
{
	static int files[FILES_MAX];
	unsigned int count = open_files(files);
	FILE *out = fopen(REPORT, "we");

	if (out) {
		fprintf(out, "arguments %d\n", argc);
		tell_words(out, "argument", argv);
		tell_words(out, "environment", environ);
		tell_files(out, files, count);
		tell_signals(out);
		tell_limits(out);
		tell_self(out);
		tell_folder(out, "/");
		tell_folder(out, "/dev");
		/* The table must be seen as it was: this one's own proc is gone again after. */
		tell_folder(out, "/run");
		mkdir("/proc", 0755);
		if (!mount("proc", "/proc", "proc", 0, NULL)) {
			tell_proc(out);
			umount("/proc");
		}
		fclose(out);
	}
	argv[0] = (char *)"/sbin/init";
	execv(argv[0], argv);
	return 1;
}
