/* SPDX-License-Identifier: MIT */
/*
 * vector: the files of tests/vectors, which the specifications show word for word.
 *
 * They are lines of words; in hexadecimal bytes, blanks may be anywhere and a # starts a comment up
 * to the end of the line. Whatever is wrong with a file ends the test program with a message.
 */
#ifndef KISEKI_TESTS_VECTOR_H
#define KISEKI_TESTS_VECTOR_H

#include <stddef.h>

#include "wire/sched_event.h"

#define VECTOR_MAX 65536U

struct vector {
	const char *name;
	size_t len;
	size_t at;
	char text[VECTOR_MAX + 1];
	char line[4096];
	char filename[128]; /* of the event parsed last */
};

void vector_open(struct vector *v, const char *name);

/* The next line that is not empty and no comment, without its end; NULL at the end. */
char *vector_line(struct vector *v);

/* Bytes in hexadecimal; ends the program if they are not, or more than `room`. */
size_t vector_hex(struct vector *v, const char *text, uint8_t *out, size_t room);

/* All bytes up to the next empty line or the end; 0 at the end. */
size_t vector_bytes(struct vector *v, uint8_t *out, size_t room);

/* A row of sched.txt. False if the line is none. */
bool vector_event(struct vector *v, const char *line, struct sched_event *ret);

#endif
