/* SPDX-License-Identifier: MIT */
/*
 * sampler: looks at the processes, a few times a second, and takes what the kernel tells of them.
 *
 * How few are looked at in a pass, and why that is enough, is in docs/design/boot.md. What the kernel tells
 * (process_event.h, exit_account.h) goes in by the functions at the end; without it, a scan of /proc finds who
 * has come and gone.
 *
 * The end of a process is said one pass after it was told: if it is then still in /proc, nobody has asked for
 * it yet, and it is a zombie from its end until it is gone.
 */
#ifndef KISEKI_DEVICE_BOOT_SAMPLER_H
#define KISEKI_DEVICE_BOOT_SAMPLER_H

#include "device/boot/exit_account.h"
#include "device/boot/machine_rows.h"
#include "device/boot/process_event.h"
#include "device/boot/record_sink.h"
#include "device/boot/task_table.h"

#define SAMPLER_WAIT_MOST 10U  /* passes between two looks at a process that does not run, */
#define SAMPLER_WAIT_NEVER 50U /* and at a kernel thread that has not run since it is known */

struct sampler_options {
	struct record_sink *sink;
	struct machine_rows *rows;
	int proc;
	uint32_t processes; /* rows of the table */
	uint32_t files;	    /* that may stay open */
	bool with_threads;
	bool has_events;   /* the kernel tells of starts and ends */
	bool has_accounts; /* and what they used, which includes the name */
	bool wants_names;  /* at once: somebody waits for one */
	bool is_first; /* init waits for us: there is nobody else yet but the kernel's threads */
	uint64_t interval_ns;
	uint64_t rows_ns; /* between two looks at what is of the machine as a whole */
	/* A process has a new name or new arguments; may be NULL. */
	void (*named)(void *context, const struct task *t, const char *args, size_t len,
		      uint64_t tick);
	/* Called now and then during a pass: somebody may not live until its end. May be NULL. */
	void (*between)(void *context);
	void *context;
};

struct sampler;

int sampler_new(struct sampler **ret, const struct sampler_options *o, struct error *e);
void sampler_free(struct sampler *s);
DEFINE_CLEANUP(sampler, sampler_free)

/* Looks at everything that is due. 0, or -EIO if not even /proc/stat can be read any more. */
int sampler_pass(struct sampler *s, uint64_t now_ns);

/* Everything that is known is said again: a segment has begun. */
void sampler_say_all(struct sampler *s, uint64_t now_ns);

/* Events may be missing: the next pass goes through /proc. */
void sampler_rescan(struct sampler *s);

/* The ends that wait for the next pass are said now. */
void sampler_finish(struct sampler *s, uint64_t now_ns);

void sampler_take_event(struct sampler *s, const struct process_event *ev);
void sampler_take_account(struct sampler *s, struct exit_account *a, uint64_t now_ns);

/* Did nobody else want a CPU a moment ago? Then what can wait costs nobody anything. */
bool sampler_is_calm(const struct sampler *s);

/* Of the last look at /proc/stat. */
const struct machine_stat *sampler_get_machine(const struct sampler *s);
uint64_t sampler_get_forks(const struct sampler *s); /* that events have told, since the start */
const struct task_table *sampler_get_tasks(const struct sampler *s);

#endif
