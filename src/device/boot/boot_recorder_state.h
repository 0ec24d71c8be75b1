/* SPDX-License-Identifier: MIT */
/*
 * boot_recorder_state: what the parts of the recorder share: boot_recorder.c makes it and is the loop,
 * boot_recorder_pass.c what is done in a pass, boot_recorder_out.c where blocks go.
 */
#ifndef KISEKI_DEVICE_BOOT_BOOT_RECORDER_STATE_H
#define KISEKI_DEVICE_BOOT_BOOT_RECORDER_STATE_H

#include "device/agent/memory.h"
#include "device/agent/side_link.h"
#include "device/boot/boot_file.h"
#include "device/boot/boot_lane.h"
#include "device/boot/boot_recorder.h"
#include "device/boot/exact_trace.h"
#include "device/boot/idle_watch.h"
#include "device/boot/kernel_log.h"
#include "device/boot/sampler.h"
#include "device/boot/unit_state.h"
#include "device/boot/unit_watch.h"

#define TOLD_AT_ONCE 16	       /* messages of a socket that one call takes */
#define TOLD_EVENT 256U	       /* bytes of one about a process */
#define TOLD_ACCOUNT 2048U     /* and of an account: of a process, twice */
#define WAKES_BURST 1000U      /* execs that wake the recorder, at once, */
#define WAKES_PER_S 250U       /* and in the long run */
#define FOLLOW_NS 100000000ULL /* between two looks at init's root, and at the real time */
#define JUMP_NS 1000000	       /* of the real time, that is worth a mark */

struct boot_recorder {
	struct boot_recorder_options o;
	const struct boot_settings *s;
	struct record_sink *sink; /* that of the lane */
	struct memory *memory;
	struct spool *spool;
	struct boot_lane *lane;
	struct machine_rows *rows;
	struct sampler *sampler;
	struct exact_trace *exact;
	struct boot_file *file;
	struct side_link *link;
	struct kernel_log log;
	struct unit_watch units;
	struct unit_state unit; /* that it waits for */
	struct idle_watch idle;
	struct target until;
	int events, execs, accounts; /* sockets, -1: none */
	int signals, stop;
	int asked; /* somebody waits for the end; -1: nobody */
	struct error no_events, no_accounts, no_log, no_exact, no_link;
	char device[64];
	uint32_t cpus;
	uint64_t now_ns, next_ns, start_ns, follow_ns;
	uint64_t target_ns;    /* when it came; 0: not yet */
	uint64_t forks_before; /* of /proc/stat when it was last read */
	uint64_t forks_told;   /* by events until then */
	bool has_lost_events;  /* since then */
	int64_t real_off_ns;
	uint64_t wakes, wakes_ns; /* execs that may still wake it, and since when that holds */
	uint64_t link_ms, tell_ms;
	bool is_recording, is_over;
	bool has_switched; /* the kernel's counting of delays on */
	bool is_full;	   /* the file's file system */
	bool file_done;
	bool was_told; /* to end, by a signal */
	char events_told[TOLD_AT_ONCE * TOLD_EVENT] __attribute__((aligned(8)));
	char accounts_told[TOLD_AT_ONCE * TOLD_ACCOUNT] __attribute__((aligned(8)));
};

__attribute__((format(printf, 2, 3))) void boot_recorder_log(const struct boot_recorder *r,
							     const char *fmt, ...);

/* --- boot_recorder_pass.c --- */

/* is_woken: by an exec. */
void boot_recorder_take_told(struct boot_recorder *r, bool is_woken);
int boot_recorder_pass(struct boot_recorder *r, struct error *e);
void boot_recorder_say_missing(struct boot_recorder *r);

/* For sampler_options.named. */
void boot_recorder_named(void *context, const struct task *t, const char *args, size_t len,
			 uint64_t tick);

/* Recording ends here, and why. */
void boot_recorder_stop(struct boot_recorder *r, const char *why);

/* --- boot_recorder_out.c --- */

/* File and collector, as far as they go now; is_over is set when all is done. */
void boot_recorder_put_out(struct boot_recorder *r);
void boot_recorder_finish_file(struct boot_recorder *r);

#endif
