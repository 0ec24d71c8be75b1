/* SPDX-License-Identifier: MIT */
/* func_stream: see func_stream.h. */
#include "trace/func_stream.h"

void func_stream_push(struct func_stream *s, const struct func_event *ev)
{
	s->at = 0;
	s->n = (uint8_t)loss_tally_take(&s->tally, s->last_tick, ev->tick, s->losses);
	s->event = *ev;
	s->has_event = true;
	s->last_tick = ev->tick;
}

void func_stream_end(struct func_stream *s)
{
	s->at = 0;
	s->n = (uint8_t)loss_tally_take(&s->tally, s->last_tick, s->last_tick, s->losses);
}
