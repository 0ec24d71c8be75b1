/* SPDX-License-Identifier: MIT */
/* http_turn: see http_turn.h. */
#include "collector/http_turn.h"

#include <errno.h>
#include <time.h>

#define LOOK_MS 2U

int http_turn_take(struct http_request *q, struct error *e)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
	uint32_t waited_ms;

	for (waited_ms = 0; waited_ms < HTTP_TURN_WAIT_MS; waited_ms += LOOK_MS) {
		if (atomic_fetch_add(&q->http->turns, 1) < HTTP_TURNS_MAX)
			return 0;
		atomic_fetch_sub(&q->http->turns, 1);
		if (http_request_is_over(q))
			return error_set(e, ECANCELED, "the client has gone");
		nanosleep(&pause, NULL);
	}
	return error_set(e, EBUSY, "%u others are being answered: try again", HTTP_TURNS_MAX);
}

void http_turn_put(struct http_request *q)
{
	atomic_fetch_sub(&q->http->turns, 1);
}
