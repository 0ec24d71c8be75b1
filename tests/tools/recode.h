/* SPDX-License-Identifier: MIT */
/*
 * recode: the body of any message, decoded and encoded again, for tests and fuzzing. What an encoder
 * made comes back byte for byte; of other bytes that decode, a second pass changes nothing.
 */
#ifndef KISEKI_TESTS_RECODE_H
#define KISEKI_TESTS_RECODE_H

#include "wire/frame.h"
#include "wire/message.h"

static inline enum wire_status recode_welcome(const uint8_t *in, size_t len, struct byte_writer *w)
{
	struct message_welcome m;
	struct message_resume row;

	if (welcome_decode(&m, in, len) != WIRE_OK)
		return WIRE_CORRUPT;
	welcome_encode(w, &m);
	while (welcome_next(&m, &row))
		welcome_put(w, &row);
	return m.n_rows ? WIRE_CORRUPT : WIRE_OK;
}

static inline enum wire_status recode_end(const uint8_t *in, size_t len, struct byte_writer *w)
{
	struct message_stream_end row;
	struct message_end m;

	if (end_decode(&m, in, len) != WIRE_OK)
		return WIRE_CORRUPT;
	end_encode(w, &m);
	while (end_next(&m, &row))
		end_put(w, &row);
	return m.n_rows ? WIRE_CORRUPT : WIRE_OK;
}

#define RECODE(name, type)                                                                         \
	static inline enum wire_status recode_##name(const uint8_t *in, size_t len,                \
						     struct byte_writer *w)                        \
	{                                                                                          \
		type m;                                                                            \
		enum wire_status status = name##_decode(&m, in, len);                              \
                                                                                                   \
		if (status == WIRE_OK)                                                             \
			name##_encode(w, &m);                                                      \
		return status;                                                                     \
	}

RECODE(hello, struct message_hello)
RECODE(run, struct message_id)
RECODE(instruction, struct message_instruction)
RECODE(result, struct message_result)
RECODE(status, struct message_status)
RECODE(ping, struct message_ping)
RECODE(pong, struct message_pong)
RECODE(bye, struct message_bye)
RECODE(want, struct message_want)
RECODE(piece, struct message_piece)

static inline enum wire_status recode_ack(const uint8_t *in, size_t len, struct byte_writer *w)
{
	uint64_t frames;
	enum wire_status status = ack_decode(&frames, in, len);

	if (status == WIRE_OK)
		ack_encode(w, frames);
	return status;
}

/* WIRE_MORE: no message of this file has that type. */
static inline enum wire_status recode(uint32_t type, const uint8_t *in, size_t len,
				      struct byte_writer *w)
{
	static enum wire_status (*const by_type[])(const uint8_t *, size_t,
						   struct byte_writer *) = {
		[FRAME_HELLO] = recode_hello,	[FRAME_WELCOME] = recode_welcome,
		[FRAME_RUN] = recode_run,	[FRAME_RUN_END] = recode_end,
		[FRAME_ACK] = recode_ack,	[FRAME_INSTRUCTION] = recode_instruction,
		[FRAME_RESULT] = recode_result, [FRAME_STATUS] = recode_status,
		[FRAME_PING] = recode_ping,	[FRAME_PONG] = recode_pong,
		[FRAME_BYE] = recode_bye,	[FRAME_WANT] = recode_want,
		[FRAME_PIECE] = recode_piece,
	};

	if (type >= sizeof(by_type) / sizeof(by_type[0]) || !by_type[type])
		return WIRE_MORE;
	return by_type[type](in, len, w);
}

#endif
