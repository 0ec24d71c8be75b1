/* SPDX-License-Identifier: MIT */
/*
 * screen: the whole terminal for a picture that changes, and keys without Enter.
 *
 * The terminal is given back as it was when the screen is closed, also if the program ends by
 * exit(). Ctrl-Z and Ctrl-\ are switched off meanwhile, since they would not give it back.
 */
#ifndef KISEKI_CLI_SCREEN_H
#define KISEKI_CLI_SCREEN_H

#include <stddef.h>

#include "base/error.h"

struct screen_size {
	size_t rows, columns;
};

/* Standard input and output must be terminals. */
int screen_open(struct error *e);
void screen_close(void);

struct screen_size screen_get_size(void); /* 24 x 80 if nobody knows */

/* Draws a text of whole lines over the last one; what does not fit is cut. */
void screen_draw(const char *text, struct screen_size size);

/* The key that was pressed, or 0. */
char screen_next_key(void);

#endif
