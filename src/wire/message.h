/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * message: the bodies of the frames that device and collector exchange
 * (docs/format/protocol.md).
 *
 * Small structs and the functions between them and bytes. Texts are borrowed from the frame.
 * Numbers are varints in a fixed order; what a later version adds stands behind them or is an item
 * of an unknown type, and is skipped. Every count and length is bounded before it is believed.
 *
 * An encoder writes into room that the caller has; MESSAGE_ROOM bytes are enough for all but a
 * WELCOME and an END, whose rows are put one by one and may not fit: then `full` is set.
 */
#ifndef KISEKI_WIRE_MESSAGE_H
#define KISEKI_WIRE_MESSAGE_H

#include "wire/loss.h"
#include "wire/sched_event.h"
#include "wire/types.h"
#include "wire/varint.h"

#define PROTOCOL_VERSION 1
#define MESSAGE_ROOM 8192U
#define MESSAGE_TEXT_MAX 255U
#define MESSAGE_RUNS_MAX 8U
/* Streams of the description and the CPUs, which are numbered from 0; and rows of one run in WELCOME
 * and END, so that is also the description and 2048 threads. */
#define MESSAGE_STREAMS_MAX 4097U
#define MESSAGE_BUILD_ID_MAX 20U
#define MESSAGE_PIECE_MAX 16384U /* bytes of an object in one frame */
#define MESSAGE_PIECE_ROOM (MESSAGE_PIECE_MAX + MESSAGE_BUILD_ID_MAX + 1U + 3U * VARINT_MAX)
#define MESSAGE_OBJECT_MAX (1ULL << 28) /* bytes of a whole one */

struct message_id {
	uint8_t bytes[16];
};

struct message_text {
	const char *at; /* not terminated */
	uint32_t len;
};

struct byte_writer {
	uint8_t *at, *start, *end;
	bool full; /* something did not fit, and nothing after it was written */
};

/* What a device may be able to do, and what it is told to use. */
enum trace_origin {
	ORIGIN_AUTO = 0,
	ORIGIN_TRACEFS = 1,
	ORIGIN_BPF = 2,
	ORIGIN_DRIVER = 3,
	ORIGINS = 4,
};

enum device_state {
	DEVICE_IDLE = 0,
	DEVICE_TRACING = 1,
	DEVICE_FAILED = 2, /* it should trace and cannot; STATUS says why */
};

/* What happens when the device's memory is full. */
enum spool_policy {
	POLICY_OLDEST = 0, /* keep what is there, count what comes */
	POLICY_FLIGHT = 1, /* drop the oldest segments, so the latest are there */
};

/* Whether programs that ask are traced. */
enum func_mode {
	FUNC_MODE_OFF = 0, /* those that are there go on without recording, new ones wait */
	FUNC_MODE_ON = 1,
	FUNC_MODE_SPLIT = 2, /* and their system calls, switches and wakings beside them */
	FUNC_MODES = 3,
};

/* Who speaks for the device. The agent has the device's place, of which there is one; the recorder of a
 * boot or of a profile comes beside it, brings its run and goes. */
enum device_role {
	ROLE_AGENT = 0,
	ROLE_RECORDER = 1,
};

/* What a device can do beside what every one can. */
enum device_ability {
	ABILITY_OBJECTS = 1, /* it sends the files that its profiles name, if it is asked */
	ABILITY_PACE = 2,    /* << enum config_pace_of: its pace is changed while it records */
};

struct message_hello {
	uint32_t version;
	struct message_id device; /* stays the same over boots */
	struct message_id boot;
	struct message_text name, agent, kernel, machine;
	uint32_t cpus;
	uint32_t origins; /* 1 << enum trace_origin: what it could use */
	uint8_t state;	  /* enum device_state */
	uint32_t n_runs;  /* of which it still holds blocks, oldest first, and the one it traces */
	struct message_id runs[MESSAGE_RUNS_MAX];
	uint8_t role;	    /* enum device_role; one that is not known is the agent's */
	uint32_t abilities; /* enum device_ability */
};

/* The first field of a message that is not as it must be. */
struct message_fault {
	const char *field;
	size_t offset; /* in the message's body */
	bool is_cut;   /* the body ends inside of it; else its value is out of bounds */
};

/* Followed by rows: for a run of HELLO, the sequence that the collector wants next of a stream.
 * What has no row, it has nothing of. */
struct message_welcome {
	uint32_t version;
	uint64_t session; /* numbers the collector's connections, for its log and the device's */
	uint64_t realtime_ns;
	uint64_t window; /* bytes that may be sent and not yet acknowledged */
	uint32_t n_rows;
	struct byte_reader rows;
};

struct message_resume {
	uint32_t run; /* index into the runs of HELLO */
	uint32_t stream;
	uint64_t next_sequence;
};

/* Followed by rows: where each stream ended. */
struct message_end {
	uint32_t n_rows;
	struct byte_reader rows;
};

struct message_stream_end {
	uint32_t stream;
	uint64_t next_sequence;
	uint64_t events; /* found and lost, as block.before would be next */
};

enum config_field {
	CONFIG_ORIGIN = 1,
	CONFIG_EVENTS = 2,
	CONFIG_BLOCK_BYTES = 3,
	CONFIG_FLUSH = 4,
	CONFIG_RING = 5,
	CONFIG_RESOLUTION = 6,
	CONFIG_POLICY = 7,
	CONFIG_PIDS = 8,
	CONFIG_COMMS = 9,
	CONFIG_CGROUP_PATHS = 10,
	CONFIG_CODEC = 11,
	CONFIG_FUNC = 12,
	CONFIG_PACE = 13, /* from here on, CONFIG_PACE_PARTS of each enum config_pace_of */
	CONFIG_FIELDS = 21,
};

#define CONFIG_ALL ((1U << CONFIG_PACE) - 2) /* every field is given that an agent has */

/* Recorders that go on without end, and are told how beside the agent. */
enum config_pace_of {
	PACE_OF_PROFILE = 0,
	PACE_OF_VM = 1,
	PACES = 2,
};

enum config_pace_part {
	PACE_MODE = 0,
	PACE_RATE = 1,
	PACE_BUDGET = 2,
	PACE_DUTY = 3,
	CONFIG_PACE_PARTS = 4,
};
#define CONFIG_PACE_FIELD(of, part) (CONFIG_PACE + (of)*CONFIG_PACE_PARTS + (part))
/* All parts of one, as bits of `given`. */
#define CONFIG_PACE_BITS(of) (((1U << CONFIG_PACE_PARTS) - 1) << CONFIG_PACE_FIELD(of, 0))
#define CONFIG_PACES_BITS (CONFIG_PACE_BITS(PACE_OF_PROFILE) | CONFIG_PACE_BITS(PACE_OF_VM))

#define CONFIG_RATE_MOST 100000U /* samples of a CPU in a second */
#define CONFIG_BUDGET_LEAST 100U /* ppm of one CPU */
#define CONFIG_BUDGET_MOST 1000000U
#define CONFIG_DUTY_LEAST_MS 1000U
#define CONFIG_DUTY_MOST_MS 86400000U

struct config_pace {
	uint32_t is_on;		  /* 0: it is there and pauses */
	uint32_t rate_hz;	  /* the most; a budget lowers it */
	uint32_t budget_ppm;	  /* of one CPU; 0: none */
	uint32_t on_ms, every_ms; /* 0, 0: without pauses */
};

#define CONFIG_PIDS_MAX 64U
#define CONFIG_COMMS_MAX 32U
#define CONFIG_CGROUPS_MAX 4U
#define CONFIG_CGROUP_LEN 256U
#define CONFIG_BLOCK_LEAST 4096U
#define CONFIG_BLOCK_MOST 65536U
#define CONFIG_FLUSH_MOST 60000U
#define CONFIG_RING_MOST (1U << 18) /* KiB of each CPU */

/* What to trace. `given` says which fields are meant; a device keeps what it has of the others. A
 * filter that is given and empty means everything. */
struct message_config {
	uint32_t given;		/* 1 << enum config_field */
	uint8_t origin;		/* enum trace_origin */
	uint8_t policy;		/* enum spool_policy */
	uint8_t codec;		/* enum block_codec: CODEC_SCHED or CODEC_BSF */
	uint8_t func;		/* enum func_mode; no part of what a run of events is */
	uint32_t events;	/* 1 << enum sched_kind */
	uint32_t block_bytes;	/* payload at which a block ends */
	uint32_t flush_ms;	/* the longest that an event waits in a block */
	uint32_t ring_kib;	/* kernel memory of each CPU */
	uint32_t resolution_ns; /* of the stamps, a power of two; 0: as the machine's counter */
	struct config_pace paces[PACES];
	uint32_t n_pids, n_comms, n_cgroups;
	int32_t pids[CONFIG_PIDS_MAX];
	char comms[CONFIG_COMMS_MAX][SCHED_COMM_LEN]; /* padded with NULs; a last '*' is any rest */
	char cgroups[CONFIG_CGROUPS_MAX][CONFIG_CGROUP_LEN]; /* paths below the root, terminated */
};

enum instruction_verb {
	INSTRUCTION_START = 1, /* configure, then trace */
	INSTRUCTION_STOP = 2,
	INSTRUCTION_CONFIGURE = 3, /* a device that traces begins a new run */
};

struct message_instruction {
	uint64_t id; /* 1, 2, … by the collector, for RESULT */
	uint8_t verb;
	struct message_config config;
};

struct message_result {
	uint64_t id;
	uint32_t code; /* 0, or an errno of Linux */
	struct message_text text;
};

/* All counts since the agent's start but for the run's own. */
struct message_status {
	uint8_t state;	      /* enum device_state */
	uint8_t origin;	      /* enum trace_origin: what it uses */
	uint64_t events;      /* of this run, in blocks and lost */
	uint64_t passed_over; /* of this run, by the filter */
	uint64_t lost[LOSS_CAUSES];
	uint64_t blocks, bytes; /* made */
	uint64_t spool_used, spool_size;
	uint64_t cpu_us;	  /* user and system */
	uint64_t rss_kib;	  /* memory that is resident, the fixed buffers included */
	uint64_t fixed_kib;	  /* the fixed buffers */
	uint64_t wakeups;	  /* how often the agent was run */
	struct message_text text; /* why it failed, or empty */
};

struct message_ping {
	uint64_t id;
	uint64_t sent_ns; /* by the sender's clock; comes back as it is */
};

struct message_pong {
	uint64_t id;
	uint64_t sent_ns;
	uint64_t device_ns;   /* the clock of the device's trace, now */
	uint64_t realtime_ns; /* and its CLOCK_REALTIME */
};

enum bye_code {
	BYE_DONE = 0,	  /* the program ends */
	BYE_PROTOCOL = 1, /* the other side broke the rules */
	BYE_VERSION = 2,
	BYE_DUPLICATE = 3, /* another connection has this device's place, or has taken it */
	BYE_LIMIT = 4,	   /* too many devices, too much memory */
	BYE_REFUSED = 5,   /* keys, names */
};

struct message_bye {
	uint32_t code;
	struct message_text text;
};

struct message_build_id {
	uint8_t len; /* 1 to MESSAGE_BUILD_ID_MAX */
	uint8_t bytes[MESSAGE_BUILD_ID_MAX];
};

/* A piece of the object's file, from this place on. */
struct message_want {
	struct message_build_id id;
	uint64_t offset;
};

struct message_piece {
	struct message_build_id id;
	uint64_t size; /* of the whole file; 0: it is not to be had, and nothing follows */
	uint64_t offset;
	const uint8_t *bytes; /* borrowed */
	uint32_t len;	      /* 1 to MESSAGE_PIECE_MAX */
};

static inline void writer_init(struct byte_writer *w, uint8_t *out, size_t room)
{
	w->at = w->start = out;
	w->end = out + room;
	w->full = false;
}

static inline size_t writer_len(const struct byte_writer *w)
{
	return (size_t)(w->at - w->start);
}

void hello_encode(struct byte_writer *w, const struct message_hello *m);
enum wire_status hello_decode(struct message_hello *ret, const uint8_t *in, size_t len);
/* Which field of one that could not be decoded; false: none. */
bool hello_find_fault(const uint8_t *in, size_t len, struct message_fault *ret);

/* The rows must be as many as n_rows says. */
void welcome_encode(struct byte_writer *w, const struct message_welcome *m);
void welcome_put(struct byte_writer *w, const struct message_resume *row);
enum wire_status welcome_decode(struct message_welcome *ret, const uint8_t *in, size_t len);
bool welcome_next(struct message_welcome *m, struct message_resume *ret);

void run_encode(struct byte_writer *w, const struct message_id *run);
enum wire_status run_decode(struct message_id *ret, const uint8_t *in, size_t len);

void end_encode(struct byte_writer *w, const struct message_end *m);
void end_put(struct byte_writer *w, const struct message_stream_end *row);
enum wire_status end_decode(struct message_end *ret, const uint8_t *in, size_t len);
bool end_next(struct message_end *m, struct message_stream_end *ret);

/* How many BLOCK and END frames of this connection are durable, from its start on. */
void ack_encode(struct byte_writer *w, uint64_t frames);
enum wire_status ack_decode(uint64_t *ret, const uint8_t *in, size_t len);

void config_encode(struct byte_writer *w, const struct message_config *c);
enum wire_status config_decode(struct message_config *ret, struct byte_reader *r);
/* Whose pace alone it gives; PACES: it gives nothing, or other things. */
uint32_t config_get_pace(const struct message_config *c);
/* Takes what `from` gives. */
void config_apply(struct message_config *to, const struct message_config *from);

void instruction_encode(struct byte_writer *w, const struct message_instruction *m);
enum wire_status instruction_decode(struct message_instruction *ret, const uint8_t *in, size_t len);

void result_encode(struct byte_writer *w, const struct message_result *m);
enum wire_status result_decode(struct message_result *ret, const uint8_t *in, size_t len);

void status_encode(struct byte_writer *w, const struct message_status *m);
enum wire_status status_decode(struct message_status *ret, const uint8_t *in, size_t len);

void ping_encode(struct byte_writer *w, const struct message_ping *m);
enum wire_status ping_decode(struct message_ping *ret, const uint8_t *in, size_t len);

void pong_encode(struct byte_writer *w, const struct message_pong *m);
enum wire_status pong_decode(struct message_pong *ret, const uint8_t *in, size_t len);

void want_encode(struct byte_writer *w, const struct message_want *m);
enum wire_status want_decode(struct message_want *ret, const uint8_t *in, size_t len);

/* MESSAGE_PIECE_ROOM bytes are enough. */
void piece_encode(struct byte_writer *w, const struct message_piece *m);
enum wire_status piece_decode(struct message_piece *ret, const uint8_t *in, size_t len);

void bye_encode(struct byte_writer *w, const struct message_bye *m);
enum wire_status bye_decode(struct message_bye *ret, const uint8_t *in, size_t len);

#endif
