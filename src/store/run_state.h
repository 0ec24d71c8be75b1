/* SPDX-License-Identifier: MIT */
/*
 * run_state: what is known of a run at one point of the log: which block comes next of each stream,
 * how many events are stored, and how many are lost, by cause.
 *
 * It follows from the records of the run, one after the other, and from nothing else: the ingest,
 * the readers' view, recovery and `check` all come to it by the same functions. All numbers count
 * from the run's start, also when the log's first files are gone.
 *
 * What the ledger gets (docs/format/store.md, section 6): the losses that headers tell; where
 * blocks are missing, the difference that the next KEY block's `before` or END shows, as lost by
 * the spool. Blocks behind a gap and before the next KEY block are kept, but nothing can decode
 * them: their events are not counted as stored and are part of that difference.
 *
 * When it was lost: from the last tick before what is missing to the first behind it. At the end of a run that is the
 * last tick of any stream with the same clock.
 */
#ifndef KISEKI_STORE_RUN_STATE_H
#define KISEKI_STORE_RUN_STATE_H

#include "store/store.h"

/* Streams of a run: all CPUs, and a thousand threads with calls; as many as fit into a record. */
#define RUN_STATE_STREAMS_MAX 6144U
/* Bytes that an encoded state has at most. */
#define RUN_STATE_ROOM(n_streams) (64U + (size_t)(n_streams)*160U)

/* Whether a stream of this number is of a CPU, of a boot, of a profile, of a thread, or the description. */
static inline bool run_state_is_stream(uint64_t stream)
{
	return stream < MESSAGE_STREAMS_MAX || stream == STREAM_BOOT ||
	       (stream <= UINT32_MAX &&
		(stream_is_func((uint32_t)stream) || stream_is_sample((uint32_t)stream)));
}

struct stream_state {
	uint32_t stream;
	bool started; /* a block has come */
	bool doubt;   /* damage may have been blocks of it: the next one, or END, tells */
	bool gap;     /* blocks are missing; nothing decodes until the next KEY block */
	uint64_t next_sequence;
	uint64_t seen;	  /* events stored or in the ledger, as block.before counts them */
	uint64_t pending; /* events in blocks behind the gap */
	uint64_t until;	  /* the last tick that a header told */
	uint64_t since;	  /* ... before the gap, if there is one */
	uint64_t blocks, events, bytes;
	uint64_t lost[LOSS_CAUSES];
	uint8_t unknown; /* a bit for each cause: more was lost, and nobody counted it */
};

/* Over all streams. */
struct run_totals {
	uint64_t blocks, events, bytes;
	uint64_t lost[LOSS_CAUSES];
	uint8_t unknown;
	uint32_t gaps; /* streams with a gap whose size is not yet known */
	uint32_t streams;
};

struct run_state {
	bool ended;  /* END came */
	bool closed; /* it can never come */
	bool doubt;  /* a stream has one, or nobody knows which could */
	bool hit;    /* it had a doubt at some time: so may streams that begin late */
	bool has_tick;
	bool has_guests; /* a profile that looked for virtual machines, as its description says */
	uint64_t first_ns, last_ns;	/* of arrival */
	uint64_t first_tick, last_tick; /* of events, if has_tick */
	bool has_clock;
	struct store_clock clock;
	uint8_t unknown;	      /* of the run as a whole */
	struct stream_state *streams; /* by rising number */
	size_t n, room;
	struct run_totals totals;
};

void run_state_init(struct run_state *s);
void run_state_done(struct run_state *s);
int run_state_dup(struct run_state *to, const struct run_state *from); /* 0 or -ENOMEM */

const struct stream_state *run_state_stream(const struct run_state *s, uint32_t stream);

/* Rows of the ledger as they become known; row->run is not set. */
struct run_losses {
	void (*add)(void *context, const struct store_loss *row);
	void *context;
};

/*
 * STORE_TAKEN: the block may be taken. STORE_DUPLICATE, or -EPROTO: it contradicts what is there.
 * run_state_take() then changes the state and cannot fail unless memory does (-ENOMEM, nothing
 * changed). losses may be NULL.
 */
int run_state_check(const struct run_state *s, const struct block *b, struct error *e);
int run_state_take(struct run_state *s, const struct block *b, uint64_t now_ns,
		   const struct run_losses *losses);

int run_state_check_end(const struct run_state *s, const struct message_end *m, struct error *e);
int run_state_end(struct run_state *s, const struct message_end *m, uint64_t now_ns,
		  const struct run_losses *losses);
void run_state_close(struct run_state *s, const struct run_losses *losses);

/* Part of the log is damaged where the run had not ended: what came there is not known, until its
 * streams go on or END says what they had. */
void run_state_damage(struct run_state *s);

/* Is the new clock's relation better than what is known? A clock is taken to drift by 50 ppm, so
 * that an old exact one loses against a later one. */
bool run_state_is_better_clock(const struct run_state *s, const struct store_clock *c);
void run_state_set_clock(struct run_state *s, const struct store_clock *c);

/* The rows of what is lost that no record of its own tells: gaps not yet counted. */
void run_state_list_open(const struct run_state *s, const struct run_losses *losses);
/* The sums, as rows: for what came before the first file that is left. */
void run_state_list_sums(const struct run_state *s, const struct run_losses *losses);

size_t run_state_encode(const struct run_state *s, uint8_t *out); /* RUN_STATE_ROOM(s->n) */
int run_state_decode(struct run_state *ret, const uint8_t *in, size_t len); /* -EBADMSG, -ENOMEM */

#endif
