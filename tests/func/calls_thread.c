/* SPDX-License-Identifier: MIT */
/* calls_thread: threads, many at a time or one after another, and objects that come and go. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef NO_PLUGINS
#include <dlfcn.h>
#endif

#include "func/calls.h"

#define THREADS_MAX 1024

static pthread_barrier_t together;

static void *work(void *argument)
{
	calls_walk((unsigned)(uintptr_t)argument, 3000);
	return NULL;
}

static void *work_together(void *argument)
{
	pthread_barrier_wait(&together);
	calls_walk((unsigned)(uintptr_t)argument, 3000);
	pthread_barrier_wait(&together);
	return NULL;
}

static int start(pthread_t *threads, int n, void *(*function)(void *))
{
	pthread_attr_t small;
	int i;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 << 10);
	for (i = 0; i < n; i++)
		if (pthread_create(&threads[i], &small, function, (void *)(uintptr_t)i))
			return 1;
	return 0;
}

/* All at the same time. */
static int case_threads(int n)
{
	static pthread_t threads[THREADS_MAX];
	int i;

	pthread_barrier_init(&together, NULL, (unsigned)n);
	if (start(threads, n, work_together))
		return 1;
	calls_walk(77, 1000);
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* One after another, so that few slots do for many. */
static int case_churn(int n)
{
	pthread_t thread;
	int i;

	for (i = 0; i < n; i++) {
		if (start(&thread, 1, work) || pthread_join(thread, NULL))
			return 1;
	}
	return 0;
}

/* A process with threads has a child, which has threads, too. */
static int case_thread_fork(int n)
{
	static pthread_t threads[THREADS_MAX];
	int i, status = 0;
	pid_t pid;

	if (start(threads, n, work))
		return 1;
	pid = fork();
	if (pid == 0)
		exit(case_threads(n));
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	waitpid(pid, &status, 0);
	return status != 0;
}

static void *endless(void *argument)
{
	for (;;) {
		calls_twice(1);
		pthread_testcancel();
	}
	return argument;
}

/* Threads that end wherever they are. */
static int case_cancel(int n)
{
	static pthread_t threads[THREADS_MAX];
	int i;

	if (start(threads, n, endless))
		return 1;
	usleep(2000);
	for (i = 0; i < n; i++)
		pthread_cancel(threads[i]);
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

#ifdef NO_PLUGINS /* in a static program */
static int case_plugins(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return NO_SUCH_CASE;
}
#else
/* Opens, calls, closes: each object is likely to lie where the one before it did. */
static int case_plugins(int argc, char **argv)
{
	int (*run)(int);
	void *plugin;
	int i;

	for (i = 2; i < argc; i++) {
		plugin = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		if (!plugin) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		*(void **)&run = dlsym(plugin, "plugin_run");
		printf("%s %lx\n", argv[i], (unsigned long)(uintptr_t)run);
		fflush(stdout);
		if (!run || run(3) < 0)
			return 1;
		calls_twice(i);
		dlclose(plugin);
	}
	return 0;
}
#endif

QUIET int case_thread(const char *name, int argc, char **argv)
{
	int n = number_at(argc, argv, 2, 8);

	if (n > THREADS_MAX)
		return 1;
	if (!strcmp(name, "threads"))
		return case_threads(n);
	if (!strcmp(name, "churn"))
		return case_churn(n);
	if (!strcmp(name, "thread_fork"))
		return case_thread_fork(n);
	if (!strcmp(name, "cancel"))
		return case_cancel(n);
	if (!strcmp(name, "plugins"))
		return case_plugins(argc, argv);
	return NO_SUCH_CASE;
}
