/* SPDX-License-Identifier: MIT */
/*
 * stack_series: samples of threads one by one, each with its stack, on their way into formats that hold them so. A profile's
 * threads are the ones that ran, those of virtual machines are virtual CPUs.
 */
#ifndef KISEKI_CONVERT_STACK_SERIES_H
#define KISEKI_CONVERT_STACK_SERIES_H

#include "analysis/profile_list.h"

#define STACK_THREAD_TEXT 192U

struct stack_thread {
	char title[2 * STACK_THREAD_TEXT + 4]; /* both in one */
	char process[STACK_THREAD_TEXT];
	char name[STACK_THREAD_TEXT];
	int32_t pid, tid;
	uint32_t life; /* which of those with this pid, from 0 */
	bool is_main;
};

/* What lasted, beside the samples. */
struct stack_marker {
	size_t word; /* of the series' */
	uint64_t from_ns, to_ns;
	uint32_t number; /* for who describes it */
};

struct stack_series {
	const struct profile_list *list; /* of functions */
	const struct functions *functions;
	const struct sample_source *source;
	bool is_weighted; /* samples have their weight, else each is one */
	bool is_time;	  /* the weight is in nanoseconds */
	void (*thread)(const void *data, uint32_t thread, struct stack_thread *ret);
	/* The next marker of a thread; *at starts at 0. NULL: there are none. */
	bool (*marker)(const void *data, uint32_t thread, size_t *at, struct stack_marker *ret);
	/* By whom, or why: it may be empty. */
	void (*describe)(const void *data, const struct stack_marker *m,
			 char text[STACK_THREAD_TEXT]);
	const char *const *words; /* that markers are called */
	size_t n_words;
	const void *data;
};

#endif
