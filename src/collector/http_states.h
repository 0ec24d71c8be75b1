/* SPDX-License-Identifier: MIT */
/*
 * http_states: the state of every device as text, made once for all who follow (http_live.c).
 *
 * A thread of its own makes the list when somebody asks and the last one is old: with many devices it takes megabytes for a
 * moment, and the memory of a thread that has held so much once is large for as long as its client stays.
 */
#ifndef KISEKI_COLLECTOR_HTTP_STATES_H
#define KISEKI_COLLECTOR_HTTP_STATES_H

#include "collector/http_request.h"

struct http_states;

struct http_state {
	struct message_id id;
	uint64_t all;	    /* a sum of all that is said */
	uint64_t important; /* of what somebody who looks at the device wants to see at once */
	char *text;	    /* JSON in one line */
};

/* What somebody who looks at a device wants to see at once, as a number. */
uint64_t http_state_sum_important(const struct registry_row *row);
uint64_t http_state_sum_text(const char *text);

int http_states_new(struct http_states **ret, struct http *h, struct error *e);
void http_states_free(struct http_states *s);

/*
 * Calls `take` for each device behind `after` (NULL: for all), by rising ids, until it returns false. What it is given lasts until
 * it returns; it must be quick.
 */
int http_states_each(struct http_states *s, const struct message_id *after,
		     bool (*take)(void *context, const struct http_state *state), void *context,
		     struct error *e);

#endif
