/* SPDX-License-Identifier: MIT */
/* say: see say.h. */
#include "say.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "link.h"

#define END_ROW_MAX 32U /* bytes */

const char *say_name(const struct device *d, char out[SAY_NAME_MAX])
{
	if (d->fleet->o.same_name)
		snprintf(out, SAY_NAME_MAX, "%.40s", d->fleet->o.name);
	else
		snprintf(out, SAY_NAME_MAX, "%.40s-%u", d->fleet->o.name, d->number);
	return out;
}

static int send_frame(struct device *d, uint32_t type, const struct byte_writer *w, uint8_t *room)
{
	uint8_t head[FRAME_HEAD_MAX];
	uint32_t len = (uint32_t)writer_len(w), n = frame_encode_head(head, type, len);

	if (w->full)
		return -ENOBUFS;
	memcpy(room + FRAME_HEAD_MAX - n, head, n);
	return link_send(d, room + FRAME_HEAD_MAX - n, n + len);
}

int say_hello(struct device *d)
{
	uint8_t room[FRAME_HEAD_MAX + MESSAGE_ROOM];
	char name[SAY_NAME_MAX];
	struct message_hello m = { .version = PROTOCOL_VERSION,
				   .cpus = d->tape->cpus,
				   .state = DEVICE_TRACING,
				   .agent = { "fleet", 5 },
				   .kernel = { "simulated", 9 },
				   .machine = { "none", 4 },
				   .n_runs = 1 };
	struct byte_writer w;

	say_name(d, name);
	m.name = (struct message_text){ name, (uint32_t)strlen(name) };
	device_get_ids(d, &m.device, &m.runs[0]);
	m.boot = m.runs[0];
	writer_init(&w, room + FRAME_HEAD_MAX, MESSAGE_ROOM);
	hello_encode(&w, &m);
	return send_frame(d, FRAME_HELLO, &w, room);
}

int say_run(struct device *d)
{
	uint8_t room[FRAME_HEAD_MAX + sizeof(struct message_id)];
	struct message_id device, run;
	struct byte_writer w;

	device_get_ids(d, &device, &run);
	writer_init(&w, room + FRAME_HEAD_MAX, sizeof(run));
	run_encode(&w, &run);
	return send_frame(d, FRAME_RUN, &w, room);
}

int say_end(struct device *d, uint32_t *ret_len)
{
	uint8_t room[FRAME_HEAD_MAX + VARINT_MAX + TAPE_STREAMS_MAX * END_ROW_MAX];
	struct message_end m = { .n_rows = d->tape->n_streams };
	struct message_stream_end row;
	struct byte_writer w;
	uint32_t i;

	writer_init(&w, room + FRAME_HEAD_MAX, sizeof(room) - FRAME_HEAD_MAX);
	end_encode(&w, &m);
	for (i = 0; i < d->tape->n_streams; i++) {
		row.stream = d->tape->streams[i].number;
		tape_get_stream(d->tape, d->end, i, &row.next_sequence, &row.events);
		end_put(&w, &row);
	}
	*ret_len = (uint32_t)writer_len(&w);
	return send_frame(d, FRAME_RUN_END, &w, room);
}

int say_status(struct device *d)
{
	uint8_t room[FRAME_HEAD_MAX + MESSAGE_ROOM];
	struct tape_count count = tape_count(d->tape, d->reached);
	struct message_status m = { .state = DEVICE_TRACING,
				    .events = count.events + count.lost,
				    .blocks = d->reached,
				    .bytes = count.bytes,
				    .spool_used = count.bytes - tape_count(d->tape, d->acked).bytes,
				    .spool_size = d->fleet->o.spool_bytes };
	struct byte_writer w;

	writer_init(&w, room + FRAME_HEAD_MAX, MESSAGE_ROOM);
	status_encode(&w, &m);
	return send_frame(d, FRAME_STATUS, &w, room);
}

int say_pong(struct device *d, const struct message_ping *ping)
{
	uint8_t room[FRAME_HEAD_MAX + MESSAGE_ROOM];
	struct message_pong m = { .id = ping->id,
				  .sent_ns = ping->sent_ns,
				  .device_ns = device_get_clock_ns(d),
				  .realtime_ns = clock_real_ns() };
	struct byte_writer w;

	writer_init(&w, room + FRAME_HEAD_MAX, MESSAGE_ROOM);
	pong_encode(&w, &m);
	return send_frame(d, FRAME_PONG, &w, room);
}

int say_refusal(struct device *d, uint64_t instruction)
{
	uint8_t room[FRAME_HEAD_MAX + MESSAGE_ROOM];
	struct message_result m = { .id = instruction,
				    .code = EOPNOTSUPP,
				    .text = { "a simulated device", 18 } };
	struct byte_writer w;

	writer_init(&w, room + FRAME_HEAD_MAX, MESSAGE_ROOM);
	result_encode(&w, &m);
	return send_frame(d, FRAME_RESULT, &w, room);
}

int say_bye(struct device *d)
{
	uint8_t room[FRAME_HEAD_MAX + MESSAGE_ROOM];
	struct message_bye m = { .code = BYE_DONE, .text = { "done", 4 } };
	struct byte_writer w;

	writer_init(&w, room + FRAME_HEAD_MAX, MESSAGE_ROOM);
	bye_encode(&w, &m);
	return send_frame(d, FRAME_BYE, &w, room);
}
