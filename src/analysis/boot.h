/* SPDX-License-Identifier: MIT */
/*
 * boot: one boot of one machine, as charts, reports and comparisons see it.
 *
 * It is built from the records of a boot chart (trace/boot_source.h), and, where there is a trace of the
 * scheduler of the same time, made exact with it (boot_exact.h). Everything is in nanoseconds of the
 * device's CLOCK_MONOTONIC, so 0 is about when the kernel started. After boot_finish() nothing changes any
 * more: processes are in tree order, children behind their parent by start; the spans of a process lie side by
 * side without gap or overlap from its start to its end.
 *
 * What a span says is never more than is known. From samples: the state that was seen holds from the middle
 * between the pass before and this one to the middle between this and the next; how much of it was spent on a CPU
 * comes from the counters, which miss nothing. A process that lived between two passes has one span, with
 * the CPU time that the kernel's account of it has; without an account its state is BOOT_UNKNOWN. From the
 * scheduler's events: each span is exact, `share` of a running one is 1000.
 *
 * Whose child a process is does not change when its parent ends and another adopts it: the tree is that of
 * who started whom. A process that was there before the chart starts with it.
 */
#ifndef KISEKI_ANALYSIS_BOOT_H
#define KISEKI_ANALYSIS_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "trace/boot_source.h"

#define BOOT_PROCESSES_MAX (1U << 20)
#define BOOT_SPANS_MAX (1U << 26)  /* of all processes together */
#define BOOT_POINTS_MAX (1U << 24) /* of one series */
#define BOOT_MARKS_MAX (1U << 18)
#define BOOT_REALTIMES_MAX 4096U /* the clock was set so often; what comes then is not kept */
#define BOOT_NONE UINT32_MAX	 /* no process */
#define BOOT_INTERRUPT (UINT32_MAX - 1) /* no process either: an interrupt ended the wait */

/* What a process did. The words are in boot_state_words. */
enum boot_state {
	BOOT_RUNNING =
		0, /* on a CPU; from samples also runnable: `share` says how much of it ran */
	BOOT_RUNNABLE = 1,  /* wanted a CPU and had none: exact only */
	BOOT_DISK_WAIT = 2, /* uninterruptible */
	BOOT_SLEEPING = 3,
	BOOT_STOPPED = 4, /* or traced */
	BOOT_ZOMBIE = 5,  /* it ended, and its parent has not asked for it */
	BOOT_UNKNOWN = 6, /* nobody looked, or events were lost */
	BOOT_STATES = 7,
};
extern const char *const boot_state_words[BOOT_STATES];

struct boot_span {
	uint64_t from_ns, to_ns;
	uint8_t state;	/* enum boot_state */
	uint16_t share; /* CPU time of the span in thousandths of its length */
	uint32_t
		whom; /* exact: process that ended the wait by waking it, or BOOT_INTERRUPT; BOOT_NONE: not known */
	uint32_t where; /* kernel function it waited in: index into `texts`, 0: not known */
};

/* A name that a process had, from then on. */
struct boot_name {
	uint64_t from_ns;
	char comm[SCHED_COMM_LEN + 1];
	char *args; /* words with a space between; "" not known, or none */
};

struct boot_account {
	uint64_t user_ns, system_ns; /* or 0 and all of it in `user_ns` if not told apart */
	uint64_t waited_ns;	     /* for a CPU */
	uint64_t disk_ns, swap_ns;   /* as far as the kernel counts it */
	uint64_t read_bytes, written_bytes;
	uint64_t rss_kib, faults;
	bool is_complete; /* the kernel's own at its end; else from the last sample */
};

struct boot_process {
	int32_t pid, parent_pid;
	uint32_t parent; /* index; BOOT_NONE: a root of the tree */
	uint32_t depth;	 /* in the tree */
	uint64_t from_ns, to_ns;
	uint64_t from_error_ns, to_error_ns; /* may be off by so much; 0: exact */
	uint64_t before_ns;		     /* of one that was there: it started so long before */
	bool is_kernel, is_self;	     /* a kernel thread; the recorder */
	bool is_alive;			     /* at the end of the chart */
	bool was_there;			     /* before the chart began */
	int32_t exit_code;		     /* as wait() has it; -1: not known */
	struct boot_name *names;	     /* at least one */
	size_t n_names;
	struct boot_span *spans;
	size_t n_spans;
	uint64_t state_ns
		[BOOT_STATES]; /* sums of the spans; the share of each counts as running, the
					   rest as its state, that of a running one as runnable */
	uint64_t cpu_ns; /* in the chart, by the counters: of all threads, so it may be more than
			    the shares, which never are more than the time */
	struct boot_account account;
	uint32_t threads; /* most at a time, 0: not known */
};

/* The machine between two passes: what happened up to `ns` since the point before. */
struct boot_point {
	uint64_t ns;
	uint64_t user_ns, system_ns, iowait_ns, idle_ns, irq_ns, steal_ns; /* of all CPUs */
	uint32_t runnable, blocked;
	uint64_t memory_used_kib, memory_cached_kib, memory_free_kib, swap_used_kib;
	uint64_t some_ns[BOOT_RESOURCES], full_ns[BOOT_RESOURCES]; /* pressure */
};

struct boot_disk_point {
	uint64_t ns;
	uint64_t read_bytes, written_bytes, busy_ns; /* since the point before */
};

struct boot_disk {
	char *name;
	bool is_part; /* of another one in the list: not counted in sums */
	struct boot_disk_point *points;
	size_t n_points;
};

struct boot_mark {
	uint64_t ns;
	uint8_t type; /* enum boot_mark_type */
	uint8_t level;
	uint32_t process; /* or BOOT_NONE */
	char *text;
};

/* A stretch of which something is not known. */
struct boot_gap {
	uint64_t from_ns, to_ns;
	char *why;
};

/* What the device took for the real time, from then on. */
struct boot_realtime {
	uint64_t from_ns;
	int64_t off_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
};

struct boot {
	char *device, *kernel, *machine, *origin; /* never NULL */
	char *command_line, *release;		  /* "" not known */
	uint32_t cpus;
	uint64_t from_ns, to_ns; /* of the chart */
	uint64_t interval_ns;	 /* of the samples, 0: none */
	uint64_t target_ns;	 /* when what was waited for came; 0: it did not */
	char *target;		 /* what that was, "" nothing */
	int64_t realtime_ns; /* CLOCK_REALTIME at ns 0, as known best: by the collector, else by the
				    device at the end; 0: not known */
	bool is_measured;    /* it is the collector's */
	struct boot_realtime *realtimes; /* the device's own, by time */
	size_t n_realtimes;
	bool is_exact;	       /* spans come from the scheduler's events */
	bool tells_interrupts; /* exact: `whom` is never one that was only interrupted */
	bool is_cut;	       /* it ends because power or link did */
	bool has_events;       /* starts and ends were told by the kernel: no process is missing */
	struct boot_process *processes; /* in tree order */
	size_t n_processes;
	struct boot_point *points;
	size_t n_points;
	struct boot_disk *disks;
	size_t n_disks;
	struct boot_mark *marks; /* by time */
	size_t n_marks;
	struct boot_gap *gaps; /* by time */
	size_t n_gaps;
	char **texts; /* names of kernel functions; 0 is "" */
	size_t n_texts;
	uint32_t *by_pid; /* processes by pid and start, for boot_find(): boot_order.h */
	size_t n_by_pid;
};

/* Reads all of the source. */
int boot_new(struct boot **ret, struct boot_source *s, struct error *e);
void boot_free(struct boot *b);
DEFINE_CLEANUP(boot, boot_free)

/* The name that it had last, and its arguments. */
const struct boot_name *boot_process_name(const struct boot_process *p);

/* The process with this pid that lived at that time, else BOOT_NONE. */
uint32_t boot_find(const struct boot *b, int32_t pid, uint64_t ns);

/* CPU time of a process in the chart: its spans' shares. */
uint64_t boot_process_ran(const struct boot_process *p);

/* The same of all its threads together: by the counters, where there are any. */
uint64_t boot_process_cpu(const struct boot_process *p);

/* CPU time of a span. */
static inline uint64_t boot_span_ran(const struct boot_span *s)
{
	uint64_t length = s->to_ns - s->from_ns;

	return length / 1000 * s->share + length % 1000 * s->share / 1000;
}

/* Makes state_ns that of the spans. */
void boot_process_sum(struct boot_process *p);

/* The state of a letter of /proc/PID/stat. */
enum boot_state boot_state_parse(uint64_t letter);

#endif
