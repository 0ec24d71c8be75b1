/* SPDX-License-Identifier: MIT */
/*
 * agent_ledger: a collector in a few lines, to hold the agent's blocks against what really happened.
 *
 * Takes blocks as they come from a spool, drops those that came again, decodes the others, and adds
 * up per stream: found, told as lost, missing. Its own arithmetic follows docs/format/wire.md, 3.6. An
 * event of a test carries its number on its CPU in `value`; the ledger then also checks that it
 * stands exactly where the counts say.
 */
#ifndef KISEKI_TESTS_AGENT_LEDGER_H
#define KISEKI_TESTS_AGENT_LEDGER_H

#include "wire/block.h"
#include "wire/message.h"
#include "wire/sched_decode.h"

#define LEDGER_STREAMS 65U

struct ledger_stream {
	uint64_t next_sequence;
	uint64_t seen; /* events found and known to be lost */
	uint64_t found;
	uint64_t lost[LOSS_CAUSES]; /* told */
	uint64_t missing;	    /* not told: what key blocks say beyond the rest */
	uint32_t unknown;	    /* how often */
	uint64_t blocks, keys, empty;
	uint64_t payload_since_key;
	uint64_t until;
	bool broken;
	bool has_gap;
	struct sched_decoder decoder;
};

struct ledger {
	bool is_numbered;     /* do events carry their number? */
	const char *wrong;    /* the first rule that was broken, NULL if none was */
	uint64_t wrong_at[3]; /* stream, sequence, number */
	bool has_ended;
	struct ledger_stream *streams;			/* LEDGER_STREAMS */
	void (*on_event)(const struct sched_event *ev); /* each that was found; may be NULL */
};

int ledger_init(struct ledger *l, bool is_numbered);
void ledger_done(struct ledger *l);

void ledger_take_block(struct ledger *l, const uint8_t *bytes, uint32_t len);
void ledger_take_end(struct ledger *l, const uint8_t *bytes, uint32_t len);

uint64_t ledger_lost(const struct ledger_stream *s); /* told, of any cause */

#endif
