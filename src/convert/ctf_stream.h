/* SPDX-License-Identifier: MIT */
/*
 * ctf_stream: the packets of one CPU's stream file of our CTF export.
 *
 * A packet is collected in memory and written when it is full, so memory is one packet per CPU
 * whatever the trace's length. ctf_metadata.c describes the bytes.
 *
 * A loss becomes a packet of its own, without other events. Readers compute "discarded N events between a and b"
 * from the growth of events_discarded, from the end of the packet before to the end of the packet
 * that has grown; a packet that lasts from the last event before the loss to the first one
 * after it gives the very interval. Where the count is unknown a sequence number is left out, which
 * readers report as discarded packets.
 */
#ifndef KISEKI_CONVERT_CTF_STREAM_H
#define KISEKI_CONVERT_CTF_STREAM_H

#include "base/error.h"
#include "convert/ctf_folder.h"
#include "convert/ctf_metadata.h"
#include "trace/source.h"

struct ctf_stream {
	uint32_t cpu;
	bool used;		/* has packets or will have */
	uint8_t *buffer;	/* NULL until the first event */
	size_t len;		/* of the packet so far; 0: none begun */
	uint64_t begin_ns;	/* of the packet */
	uint64_t end_ns;	/* of the last thing written, event or loss */
	uint64_t sequence;	/* of the next packet */
	uint64_t discarded;	/* so far */
	bool has_loss;		/* waits for the first event after it */
	struct trace_loss loss; /* in nanoseconds, not ticks */
};

/* What all streams of an export share. */
struct ctf_writer {
	struct ctf_folder *folder;
	const struct trace_info *info;
	uint8_t uuid[CTF_UUID_LEN];
	uint64_t start_ns; /* nothing is stamped earlier */
	bool has_context;
};

void ctf_stream_done(struct ctf_stream *s);

int ctf_stream_event(struct ctf_writer *w, struct ctf_stream *s, uint64_t ns,
		     const struct trace_item *item, struct error *e);

/* One lttng_statedump_process_state event. */
int ctf_stream_task(struct ctf_writer *w, struct ctf_stream *s, uint64_t ns,
		    const struct trace_task *task, struct error *e);

/* Remembers a loss (stamps in ns); it is written before whatever follows. */
int ctf_stream_loss(struct ctf_writer *w, struct ctf_stream *s, const struct trace_loss *loss,
		    struct error *e);

/* Writes what is pending. */
int ctf_stream_finish(struct ctf_writer *w, struct ctf_stream *s, struct error *e);

#endif
