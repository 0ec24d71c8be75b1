/* SPDX-License-Identifier: MIT */
/* recording_run: see recording_run.h. */
#include "collector/recording_run.h"

#include <errno.h>
#include <stdlib.h>

#include "store/run_state.h"

#define ROOM_FIRST 64U

void recording_run_done(struct recording_run *r)
{
	free(r->streams[0]);
	free(r->streams[1]);
	memset(r, 0, sizeof(*r));
}

int recording_run_get(struct recording_run *r, uint32_t stream, struct recording_stream **ret)
{
	bool func = stream_is_func(stream);
	size_t at = func ? stream - STREAM_FUNC_FIRST : stream, room = r->room[func];
	size_t most = func ? RUN_STATE_STREAMS_MAX : MESSAGE_STREAMS_MAX;
	struct recording_stream *grown;

	if (at >= most)
		return -EPROTO;
	while (room <= at)
		room = room ? 2 * room : ROOM_FIRST;
	if (room > r->room[func]) {
		grown = realloc(r->streams[func], room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		memset(grown + r->room[func], 0, (room - r->room[func]) * sizeof(*grown));
		r->streams[func] = grown;
		r->room[func] = room;
	}
	*ret = &r->streams[func][at];
	return 0;
}

uint32_t recording_run_place(const struct recording_run *r, uint32_t stream)
{
	if (!stream_is_func(stream))
		return stream;
	stream += STREAM_FUNC(r->shift.threads) - STREAM_FUNC_FIRST;
	return stream_is_func(stream) ? stream : UINT32_MAX;
}
