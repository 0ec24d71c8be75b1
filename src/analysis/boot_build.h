/* SPDX-License-Identifier: MIT */
/*
 * boot_build: what a boot is made from, record by record. Private to boot_build.c, which reads the source, and to
 * the files that make one part of the boot each:
 *
 *	boot_life    START, EXIT, TASK, …: a life for each process that there was
 *	boot_series  CPU, DISK, MEMORY, …: the rows of the machine
 *	boot_marks   MARK and losses: marks, facts, gaps
 *	boot_names   the names of a life
 *	boot_spans   the spans of a life
 *	boot_order   the tree
 *
 * All times are nanoseconds of the run's clock already. Nothing is thrown away before all is read, because a
 * record may be told late.
 */
#ifndef KISEKI_ANALYSIS_BOOT_BUILD_H
#define KISEKI_ANALYSIS_BOOT_BUILD_H

#include "analysis/boot.h"
#include "trace/pidmap.h"

#define BOOT_PASSES_MAX (1U << 24)
#define BOOT_TEXTS_MAX (1U << 12) /* names of kernel functions; more have none */
#define BOOT_WORDS_MAX (1U << 22) /* names and arguments of all processes */
#define BOOT_GAPS_MAX (1U << 16)
#define BOOT_DISKS_MAX 4096U
#define BOOT_RESAID_MAX 1024U /* losses of which it is found out who ended in them */

/* What was seen of a process. Until the next one nothing has changed. */
struct boot_sample {
	uint64_t ns;
	uint64_t cpu_ns; /* that it has used up to here */
	uint32_t where;
	uint8_t state;
};

/* A name or arguments that were told. */
struct boot_word {
	uint64_t ns;
	uint64_t passes; /* that had been told of before */
	size_t order;
	bool is_args;
	bool is_first; /* it had it when it was found: not from then on, but from its start */
	char *text;
	size_t len;
};

struct boot_life {
	int32_t pid, parent_pid;
	uint32_t previous; /* life of the same pid, or BOOT_NONE */
	uint64_t start_ns, start_error_ns;
	uint64_t told_ns; /* the record that told of its start */
	uint8_t start_how;
	bool is_guess; /* nobody told of its start */
	bool is_kernel, is_self;
	bool is_over;	/* it has ended: */
	bool by_event;	/* told by the kernel */
	bool is_zombie; /* it was seen after its end */
	bool is_reaped; /* and then no more: */
	bool is_said;	/* since the last loss */
	uint64_t exit_ns, exit_error_ns, reaped_ns, reaped_error_ns;
	int32_t exit_code;
	/* As last told. */
	uint8_t state;
	uint32_t where;
	uint64_t times_ns, ran_ns;	     /* user and system; by the scheduler */
	uint64_t threads_ran_ns;	     /* of its other threads */
	uint32_t threads_state[BOOT_STATES]; /* how many of them are in it */
	uint32_t n_threads, most_threads;
	uint64_t user_ns, system_ns, waited_ns, faults;
	bool has_account;
	uint64_t account_ns; /* CPU time by the account */
	struct boot_account account;
	struct boot_sample *samples;
	size_t n_samples, room_samples;
	struct boot_word *words;
	size_t n_words, room_words;
};

/* Who has a pid now. */
struct boot_holder {
	int32_t pid;
	bool is_thread;
	uint32_t life; /* + 1; 0: nobody */
	/* Of a thread. */
	uint8_t state;
	uint64_t ran_ns;
};

struct boot_blind {
	uint64_t from_ns, to_ns; /* nothing was recorded */
};

/* The row of a CPU or a disk as last told. */
struct boot_counter {
	uint32_t key;
	uint64_t number[BOOT_NUMBERS_MAX];
	uint64_t told_ns;
};

/* What a counter of pressure grew by. */
struct boot_burst {
	uint64_t ns, some_ns, full_ns;
	uint32_t resource;
};

struct boot_series {
	struct boot_counter *cpus;
	size_t n_cpus, room_cpus;
	struct boot_counter *disks; /* beside those of the boot */
	size_t n_disks, room_disks, room_boot_disks;
	uint64_t pressure[BOOT_RESOURCES][2];
	bool has_pressure[BOOT_RESOURCES];
	struct boot_burst *bursts;
	size_t n_bursts, room_bursts;
	uint64_t *looks; /* when disks, memory and pressure were looked at, as far as is known */
	size_t n_looks, room_looks;
	struct boot_point point; /* that is being filled */
	uint64_t last_ns;	 /* of the point before it */
	uint64_t told_ns[BOOT_KINDS];
	bool has[BOOT_KINDS]; /* what it has */
	bool is_open;
	size_t room_points;
	size_t *room_disk_points;
};

struct boot_build {
	struct boot *boot;
	const struct trace_clock *clock;
	uint64_t first_ns, last_ns; /* of all records */
	uint64_t *passes;
	size_t n_passes, room_passes;
	struct boot_life *lives;
	size_t n_lives, room_lives;
	struct pidmap *holders;
	size_t n_samples, n_words, n_spans; /* of all lives */
	bool is_resaid;			    /* after a loss, everything is being said again: */
	size_t n_resaid;		    /* how often that was so */
	size_t resaid_passes;		    /* passes that there were when it began */
	uint64_t resaid_from_ns, resaid_to_ns;
	struct boot_series series;
	size_t room_marks, room_gaps, room_texts, room_realtimes;
	struct boot_blind *blinds;
	size_t n_blinds, room_blinds;
	bool has_stop, has_clock, has_events, has_ring_loss;
	/* For the spans of one life. */
	struct boot_cell *cells;
	size_t n_cells, room_cells;
	size_t cells_least;	/* the first that CPU time may be put into */
	uint64_t cells_from_ns; /* where the first one begins */
};

/* Makes room for one more. -ENOMEM, or -E2BIG beyond the most. */
int boot_build_grow(void *list, size_t *room, size_t n, size_t size, size_t most);
uint64_t boot_build_ns(const struct boot_build *b, uint64_t tick);

/* The last pass before this time, or 0. */
uint64_t boot_build_pass_before(const struct boot_build *b, uint64_t ns);

/* The number of a text in the boot's table; 0 if it is empty, or there are too many. */
int boot_build_text(struct boot_build *b, const char *text, size_t len, uint32_t *ret);

int boot_life_put(struct boot_build *b, const struct boot_event *ev, uint64_t ns);
void boot_life_loss(struct boot_build *b, uint64_t from_ns, uint64_t to_ns);
void boot_life_pass(struct boot_build *b);
void boot_life_done(struct boot_life *l);

/* What the life was: all of the process but names and spans. */
void boot_life_finish(const struct boot_build *b, const struct boot_life *l,
		      struct boot_process *p);

int boot_series_put(struct boot_build *b, const struct boot_event *ev, uint64_t ns);
int boot_series_finish(struct boot_build *b);
void boot_series_done(struct boot_series *s);

/* The device's real time, from then on. */
int boot_marks_put_realtime(struct boot_build *b, uint64_t from_ns, int64_t off_ns);
int boot_marks_put(struct boot_build *b, const struct boot_event *ev);
int boot_marks_loss(struct boot_build *b, const struct trace_loss *loss);
int boot_marks_finish(struct boot_build *b);

/* The names that were told; a process that was forked has its parent's before: to be filled in when it is
 * known who that is. */
int boot_names_finish(const struct boot_life *l, struct boot_process *p);
int boot_names_inherit(struct boot *b);

int boot_spans_finish(struct boot_build *b, const struct boot_life *l, struct boot_process *p);

#endif
