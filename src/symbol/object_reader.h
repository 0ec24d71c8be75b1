/* SPDX-License-Identifier: MIT */
/*
 * object_reader: a process that reads files of code for a program that others reach.
 *
 * A collector reads files that devices send. It does so elsewhere: before it has keys and threads it forks a
 * process that waits; for each object that one forks another, which goes into a sandbox
 * (sandbox/sandbox.h) where it can read the folders of objects and nothing else, finds the object, and writes
 * its table into memory that the program gave it. The program checks the table as any other, and that it
 * is the one that was asked for. A crash is the problem of that object alone.
 *
 * One object is read at a time: tables are kept, so it is rare. While a reader is there, every object_open() of
 * the program uses it. Lines of source are then not known: exports in pprof's format that a collector makes have names alone.
 */
#ifndef KISEKI_SYMBOL_OBJECT_READER_H
#define KISEKI_SYMBOL_OBJECT_READER_H

#include "base/error.h"
#include "symbol/object.h"

#define OBJECT_READER_FOLDERS 2U
#define OBJECT_PATH_MAX 4096U
#define OBJECT_PROBLEM_MAX 512U

/* What goes to the process. All texts end. */
struct object_question {
	char sysroot[OBJECT_PATH_MAX]; /* "": none */
	char folders[OBJECT_READER_FOLDERS][OBJECT_PATH_MAX];
	char path[OBJECT_PATH_MAX];
	uint8_t id[ELF_BUILD_ID_MAX];
	size_t id_len;
};

/* What comes back, which nobody believes. */
struct object_answer {
	int code;
	bool is_found, has_table;
	char problem[OBJECT_PROBLEM_MAX]; /* "": none */
};

/* Early: it has all that the program has by then. -ENOSYS: not here. */
int object_reader_start(struct error *e);
void object_reader_stop(void);
bool object_reader_is_there(void);

/* 0: there is an answer, and where it has a table *ret_table is its descriptor, the caller's; *ret_table is -1 else. A reader that
 * crashed has answered with its problem. */
int object_reader_ask(const struct search *s, const struct object_wanted *w,
		      struct object_answer *ret, int *ret_table);

#endif
