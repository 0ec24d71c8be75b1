/* SPDX-License-Identifier: MIT */
/*
 * object_reader: a process that reads files of code for a program that meets other people's.
 *
 * A collector reads files that devices send, and a person's program those that lie beside a trace from somewhere. They do so
 * elsewhere: before it has keys and threads the program forks a process that waits; for each question that one forks
 * another, which goes into a sandbox (sandbox/sandbox.h) where it can read the folders of objects and nothing else, finds the
 * object, and writes a table of its names, or of its lines, into memory that the program gave it. The program checks the table
 * as any other, and that it is the one that was asked for. A crash is the problem of that object alone. Texts of a kernel's
 * names are read the same way; there is nothing to be opened then.
 *
 * One is read at a time: tables are kept, so it is rare. While a reader is there, every object_open() and kallsyms_open()
 * of the program uses it.
 */
#ifndef KISEKI_SYMBOL_OBJECT_READER_H
#define KISEKI_SYMBOL_OBJECT_READER_H

#include "base/error.h"
#include "symbol/object.h"

#define OBJECT_READER_FOLDERS 64U
#define OBJECT_READER_FOLDERS_LEN 32768U /* of their names, together */
#define OBJECT_PATH_MAX 4096U
#define OBJECT_PROBLEM_MAX 512U
#define OBJECT_TABLES_MAX 2U

/* What is wanted of an object, or of a text of the kernel's names. */
enum object_part {
	OBJECT_NAMES,
	OBJECT_LINES,
	OBJECT_IDENTITY, /* of the file itself, wherever it is: no table */
	OBJECT_KERNEL,	 /* two tables, the kernel's and its modules' */
};

/* What goes to the process. All texts end. */
struct object_question {
	enum object_part part;
	char sysroot[OBJECT_PATH_MAX];		 /* "": none */
	char folders[OBJECT_READER_FOLDERS_LEN]; /* one behind the other */
	size_t n_folders;
	char path[OBJECT_PATH_MAX];
	uint8_t id[ELF_BUILD_ID_MAX];
	size_t id_len;
};

/* What comes back, which nobody believes. */
struct object_answer {
	int code;
	uint8_t is_found, has_table;	  /* no bool: these may be any byte */
	struct elf_build_id id;		  /* of OBJECT_IDENTITY */
	char problem[OBJECT_PROBLEM_MAX]; /* "": none */
};

/* Where paths lead that a trace names, and no sysroot is before them. */
enum object_reader_reach {
	OBJECT_READER_FOLDERS_ONLY, /* nowhere but to the folders, and to /usr */
	OBJECT_READER_THIS_MACHINE, /* to this machine's files: a path, and what lies beside it */
};

/* Early: it has all that the program has by then. Does nothing if it is there. */
int object_reader_start(enum object_reader_reach reach, struct error *e);
void object_reader_stop(void);
bool object_reader_is_there(void);
enum object_reader_reach object_reader_get_reach(void);

/* 0: there is an answer, and where it has a table *ret_table is its descriptor, the caller's; *ret_table is -1 else. A reader that
 * crashed has answered with its problem. -ENAMETOOLONG: too many folders, or their names are too long. */
int object_reader_ask(enum object_part part, const struct search *s, const struct object_wanted *w,
		      struct object_answer *ret, int *ret_table);

/* The same of a kernel's names: the tables of the kernel and of its modules, both or none. */
int object_reader_ask_kernel(const char *text, size_t len, struct object_answer *ret,
			     int ret_tables[OBJECT_TABLES_MAX]);

#endif
