/* SPDX-License-Identifier: MIT */
/* welcome: what a collector answers to a hello, with its rows, as tests of agent and driver play one. */
#ifndef KISEKI_TOOLS_WELCOME_H
#define KISEKI_TOOLS_WELCOME_H

#include "wire/message.h"

static inline void write_welcome(struct byte_writer *w, uint32_t version, uint64_t window,
				 const struct message_resume *rows, uint32_t n)
{
	struct message_welcome m = {
		.version = version, .session = 9, .window = window, .n_rows = n
	};
	uint32_t i;

	welcome_encode(w, &m);
	for (i = 0; i < n; i++)
		welcome_put(w, &rows[i]);
}

#endif
