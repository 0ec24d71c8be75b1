/* SPDX-License-Identifier: MIT */
/*
 * switch_witness: a tracing instance of the test's own, in which the kernel writes every switch as
 * text. It tells how often a thread was switched in, and none of our decoders has a part in it.
 */
#ifndef KISEKI_TESTS_SWITCH_WITNESS_H
#define KISEKI_TESTS_SWITCH_WITNESS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct switch_witness {
	char folder[PATH_MAX];
};

/*
 * Linux 6.18 was seen to leave out some switches: of threads of process 1, and of idle tasks. The
 * next line of the thread then says that it leaves a CPU, and no line said that it came there.
 */
struct switches {
	uint32_t in;
	uint32_t unwritten; /* times that it must have been switched in, and no line says so */
};

void witness_open(struct switch_witness *w);
void witness_close(struct switch_witness *w);

/* A thread that was joined can be switched out and in until its last step: waits for that one. */
void witness_await_exit(const struct switch_witness *w, int32_t tid);

/* All of a thread that slept when the witness was opened; else all after its first switch. */
struct switches witness_count(const struct switch_witness *w, int32_t tid, bool slept);

#endif
