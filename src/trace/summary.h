/* SPDX-License-Identifier: MIT */
/*
 * summary: what is in a trace, counted: per CPU, per kind of event, and the ledger of losses.
 *
 * summary_add_item() takes the items of any source. The reader of a format that has blocks and can
 * tell damage (.ksk) adds these with summary_get_stream() and summary_add_damage() when all items
 * have been read.
 */
#ifndef KISEKI_TRACE_SUMMARY_H
#define KISEKI_TRACE_SUMMARY_H

#include "trace/source.h"

#define SUMMARY_DAMAGE_MAX 1000U /* places that are listed; more are only counted */
#define SUMMARY_WHAT_LEN 120

struct summary_stream {
	uint32_t cpu;
	bool used;	 /* it has events, losses or blocks */
	uint64_t blocks; /* these three are known for .ksk only */
	uint64_t segments;
	uint64_t bytes;
	uint64_t events;
	uint64_t first_tick; /* of its events, if it has any */
	uint64_t last_tick;
	uint64_t losses[LOSS_CAUSES];	 /* entries of the ledger, by cause */
	uint64_t lost[LOSS_CAUSES];	 /* the events they count */
	uint64_t uncounted[LOSS_CAUSES]; /* entries whose count is not known */
};

/* Bytes of the file that could not be read. */
struct summary_damage {
	uint64_t offset;
	uint64_t bytes;
	char what[SUMMARY_WHAT_LEN]; /* one line */
};

struct trace_summary {
	uint32_t version; /* of the .ksk format; 0: another format */
	uint8_t codec;	  /* of the .ksk's streams: enum block_codec */
	uint64_t events;
	uint64_t kinds[SCHED_KINDS];
	uint64_t first_ns; /* of all events, if there are any */
	uint64_t last_ns;
	struct summary_stream *streams; /* by CPU, without gaps in the numbers */
	uint32_t n_streams;
	struct summary_damage *damage; /* in order of offset as the reader found it */
	size_t n_damage;
	size_t room_damage;
	uint64_t damaged_places; /* all of them, listed or not */
	uint64_t damaged_bytes;
};

void summary_init(struct trace_summary *s);
void summary_done(struct trace_summary *s);

int summary_add_item(struct trace_summary *s, const struct trace_clock *clock,
		     const struct trace_item *item, struct error *e);

/* The stream of this CPU, made if it is new. -ERANGE beyond TRACE_CPUS_MAX, -ENOMEM. */
int summary_get_stream(struct trace_summary *s, uint32_t cpu, struct summary_stream **ret);

int summary_add_damage(struct trace_summary *s, uint64_t offset, uint64_t bytes, const char *what);

/* The ledger over all streams for one cause; any of the results may be NULL. */
void summary_lost(const struct trace_summary *s, enum loss_cause cause, uint64_t *ret_losses,
		  uint64_t *ret_lost, uint64_t *ret_uncounted);

/* Is any of the file damaged or missing? */
bool summary_is_damaged(const struct trace_summary *s);

#endif
