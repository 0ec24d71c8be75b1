/* SPDX-License-Identifier: MIT */
/*
 * generator: a process that makes a known number of scheduler events, counted by the kernel's own
 * accounting and not by any tracer.
 *
 * It sleeps until told what to do, does it, and sleeps again. So it is asleep before and after each
 * piece of work, and was switched in exactly as often as it was switched out in between; how often
 * that was, /proc/PID/status says (voluntary_ctxt_switches and nonvoluntary_ctxt_switches). It, its
 * helper and its children stay on CPU 0.
 */
#ifndef KISEKI_TESTS_GENERATOR_H
#define KISEKI_TESTS_GENERATOR_H

#include <stdint.h>
#include <sys/types.h>

enum generator_work {
	GENERATOR_PING,	  /* n times to and fro with the helper, through pipes */
	GENERATOR_FORK,	  /* n children that end at once, each waited for */
	GENERATOR_EXEC,	  /* n children that run /bin/true */
	GENERATOR_RENAME, /* takes n other names; the last one is "gen-renamed" */
	GENERATOR_SLEEP,  /* n times until a timer ends it */
	GENERATOR_PRIO,	  /* n times a thread waits for its mutex, which inherits priorities */
};

struct generator {
	pid_t pid, helper;
	int to, from;
};

/* Both end the test program with a message if something fails. */
void generator_open(struct generator *g, const char *name);
void generator_run(struct generator *g, enum generator_work work, uint32_t n);

/* How often it was switched out so far. It must be asleep, as it is after open and run. */
uint64_t generator_get_switches(const struct generator *g);

/* It ends; returns when nothing of it is left. Once more does nothing. */
void generator_close(struct generator *g);

#endif
