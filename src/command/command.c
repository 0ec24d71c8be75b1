/* SPDX-License-Identifier: MIT */
/* command: see command.h; here is what looks things up in the table. */
#include "command/command.h"

#include <stdio.h>
#include <string.h>

const struct cli_option command_help_option = { 'h', "help", NULL, "show this help", NULL };

static size_t append_name(const struct command *c, char blank, char buffer[64])
{
	size_t n = c->parent ? append_name(c->parent, blank, buffer) : 0;

	if (n && n < 63)
		buffer[n++] = blank;
	n += (size_t)snprintf(buffer + n, 64 - n, "%s", c->name);
	return n < 64 ? n : 63;
}

const char *command_full_name(const struct command *c, char blank, char buffer[64])
{
	buffer[0] = 0;
	append_name(c, blank, buffer);
	return buffer;
}

const struct command *command_find(const struct command *parent, const char *name)
{
	size_t i;

	for (i = 0; parent->children && parent->children[i]; i++)
		if (!strcmp(parent->children[i]->name, name))
			return parent->children[i];
	return NULL;
}

/* --- near misses --- */

#define NEAR_MAX 24 /* longer words are not compared */

static size_t least(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Letters to insert, delete or change to make one word of the other. */
static size_t distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), row[NEAR_MAX + 1], i, k, diagonal, old;

	if (n > NEAR_MAX || m > NEAR_MAX)
		return NEAR_MAX;
	for (k = 0; k <= m; k++)
		row[k] = k;
	for (i = 1; i <= n; i++) {
		diagonal = row[0];
		row[0] = i;
		for (k = 1; k <= m; k++) {
			old = row[k];
			row[k] = least(row[k] + 1, row[k - 1] + 1,
				       diagonal + (a[i - 1] != b[k - 1]));
			diagonal = old;
		}
	}
	return row[m];
}

/* The start of a word is as good as a slip of the finger. */
static size_t slips(const char *name, const char *meant)
{
	size_t len = strlen(name);

	return len >= 2 && !strncmp(name, meant, len) ? 1 : distance(name, meant);
}

static const char *nearer(const char *name, const char *candidate, const char *best)
{
	size_t d = slips(name, candidate);

	if (d > 2 || d >= strlen(candidate))
		return best;
	return !best || d < slips(name, best) ? candidate : best;
}

const char *command_nearest(const struct command *parent, const char *name)
{
	const char *best = NULL;
	size_t i;

	for (i = 0; parent->children && parent->children[i]; i++)
		best = nearer(name, parent->children[i]->name, best);
	return best;
}

const char *command_nearest_option(const struct command *c, const char *name)
{
	const char *best = nearer(name, command_help_option.name, NULL);
	size_t i;

	for (i = 0; c->options && c->options[i].name; i++)
		best = nearer(name, c->options[i].name, best);
	return best;
}
