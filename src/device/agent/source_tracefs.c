/* SPDX-License-Identifier: MIT */
/*
 * source_tracefs: the scheduler's events from the kernel's own tracer, on any kernel since 3.10.
 *
 * It has an instance of its own, so other users of the tracer are not disturbed, with CLOCK_MONOTONIC
 * as its clock. The instance belongs to the kernel and goes on recording when the agent dies. Pages
 * are read into the agent's memory (staging.h), and a page's records become events right away; the
 * page stays until the recorder says that its events are in the spool.
 *
 * What was lost is the kernel's own count (docs/design/live.md): overwritten, not written, and,
 * against the number of records that came, read and not received. That sum only rises, and what
 * the recorder has booked of it is part of its checkpoint, so a restart counts nothing twice.
 *
 * An instance is known again by its inode number, which is in the agent's memory. It is put there
 * only when it is ours for sure: made afresh for a new run, or made anew for a run that lost its
 * first one and has told so on every CPU.
 */
#include "device/agent/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "device/agent/filter.h"
#include "device/agent/recorder.h"
#include "device/agent/staging.h"
#include "device/agent/tracefs.h"
#include "ftrace/bytes.h"
#include "ftrace/sched.h"

#define RING_KIB 1024U	/* where the configuration says nothing */
#define STATS_TRIES 3	/* to read them */
#define STATS_EVERY 64U /* drains between two looks at counts that no page speaks of */
#define RECORD_BITS 16	/* of a position */
#define WORD_INSTANCE 0 /* of the memory's words: inode of the instance */
#define PERCPU_NAME_MAX 48
#define SLOTS_LEAST 2U /* the page before the one that is read says how many records there were */

struct cpu_ring {
	int pages_fd, stats_fd;
	uint64_t next_page;
	uint64_t kept_page; /* the oldest that may still be asked for */
	uint64_t records;   /* received of this instance, staged ones included */
	uint64_t resume_at; /* position */
	bool must_replay;
	bool is_gone; /* what it held before this instance is lost and not told yet */
	uint32_t drains;
};

struct tracefs_source {
	struct device_source base;
	struct event_filter *filter;
	struct memory *memory;
	uint32_t cpus, shift;
	uint32_t ring_kib;
	bool is_stopped;
	uint64_t inode;
	char folder[TRACEFS_PATH_MAX];
	struct staging staging;
	struct sched_map map;
	struct cpu_ring *rings;
};

static struct tracefs_source *get(struct device_source *s)
{
	return (struct tracefs_source *)s;
}

static int probe(struct error *e)
{
	const char *root;
	char path[TRACEFS_PATH_MAX];
	int r = tracefs_find(&root, e);

	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s/instances", root);
	if (access(path, W_OK))
		return error_set(e, errno, "cannot write to %s: %m; run the agent as root", path);
	snprintf(path, sizeof(path), "%s/events/sched/sched_switch/format", root);
	if (access(path, R_OK))
		return error_set(e, ENOENT,
				 "this kernel has no scheduler events: it was built "
				 "without CONFIG_EVENT_TRACING");
	return 0;
}

static uint64_t inode_of(const char *folder)
{
	struct stat st;

	return stat(folder, &st) ? 0 : (uint64_t)st.st_ino;
}

/* Only our own. Where somebody reads it, it stays, and records no more. */
static void remove_instance(struct tracefs_source *s)
{
	if (!s->inode || inode_of(s->folder) != s->inode)
		return;
	if (rmdir(s->folder) < 0)
		tracefs_write(s->folder, "events/enable", "0", NULL);
}

/* Makes a new instance, silent. The kernel removes an old one that a dead agent left, and refuses to
 * remove one that another program has open; that one stays as it is. */
static int make_instance(struct tracefs_source *s, struct error *e)
{
	char text[32];
	int r;

	rmdir(s->folder);
	if (mkdir(s->folder, 0700))
		return errno == EEXIST ? error_set(e, EBUSY,
						   "cannot replace %s: another program "
						   "reads it",
						   s->folder)
				       : error_set(e, errno, "cannot make %s: %m", s->folder);
	s->inode = inode_of(s->folder);
	snprintf(text, sizeof(text), "%u", s->ring_kib);
	r = tracefs_write(s->folder, "tracing_on", "0", e);
	if (!r)
		r = tracefs_write(s->folder, "trace_clock", "mono", e);
	if (!r)
		r = tracefs_write(s->folder, "buffer_size_kb", text, e);
	return r;
}

/* How long the kernel's pages are, and how they are laid out. */
static int learn_pages(struct tracefs_source *s, struct error *e)
{
	uint32_t slot = memory_get_head(s->memory)->name.slot_bytes;
	struct staging *g = &s->staging;
	int r = tracefs_get_pages(s->folder, &g->layout, &g->bytes, e);

	if (r < 0)
		return r;
	g->memory = s->memory;
	g->slots = memory_get_head(s->memory)->name.slots;
	if (g->bytes > slot || g->bytes < g->layout.data_offset || g->slots < SLOTS_LEAST)
		return error_set(e, EMSGSIZE,
				 "cannot read %s: its pages have %u bytes, the agent's "
				 "memory is made for %u slots of %u",
				 s->folder, g->bytes, g->slots, slot);
	return 0;
}

/* Kernels lack one event or the other; only a kernel with none of them is of no use. */
static int learn_events(struct tracefs_source *s, uint32_t wanted, struct error *e)
{
	char text[TRACEFS_TEXT_MAX], name[96];
	struct utsname u;
	int kind, n;

	sched_map_init(&s->map, BYTES_HOST_BIG);
	for (kind = 0; kind < SCHED_KINDS; kind++) {
		if (!(wanted & 1U << kind))
			continue;
		snprintf(name, sizeof(name), "events/%s/%s/format", sched_map_get_system(kind),
			 sched_map_get_name(kind));
		n = tracefs_read(s->folder, name, text, sizeof(text), e);
		if (n == -ENOENT)
			continue;
		if (n >= 0)
			n = sched_map_add(&s->map, sched_map_get_system(kind), text, (size_t)n, e);
		if (n < 0)
			return n;
	}
	if (!s->map.kinds)
		return error_set(e, ENOENT,
				 "cannot trace: this kernel has none of the events that "
				 "are asked for");
	memset(&u, 0, sizeof(u));
	uname(&u);
	sched_map_get_dialect(&s->map, u.release, s->staging.layout.long_size, &s->base.dialect);
	return 0;
}

static int enable_events(struct tracefs_source *s, struct error *e)
{
	char name[96];
	int kind, r = 0;

	for (kind = 0; kind < SCHED_KINDS && !r; kind++) {
		if (!(s->map.kinds & 1U << kind))
			continue;
		snprintf(name, sizeof(name), "events/%s/%s/enable", sched_map_get_system(kind),
			 sched_map_get_name(kind));
		r = tracefs_write(s->folder, name, "1", e);
	}
	return r;
}

static int open_cpu_file(const struct tracefs_source *s, uint32_t cpu, const char *name,
			 struct error *e)
{
	char path[TRACEFS_PATH_MAX + PERCPU_NAME_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%u/%s", s->folder, cpu, name);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? error_set(e, errno, "cannot open %s: %m", path) : fd;
}

/* Numbers of possible CPUs may have gaps: such a CPU has no files and never an event. One that is
 * offline has them, and is empty until it comes. */
static int open_rings(struct tracefs_source *s, struct error *e)
{
	uint32_t cpu;

	for (cpu = 0; cpu < s->cpus; cpu++) {
		struct cpu_ring *c = &s->rings[cpu];

		c->pages_fd = open_cpu_file(s, cpu, "trace_pipe_raw", e);
		c->stats_fd = c->pages_fd < 0 ? -1 : open_cpu_file(s, cpu, "stats", e);
		if (c->pages_fd < 0 && c->pages_fd != -ENOENT)
			return c->pages_fd;
		if (c->pages_fd >= 0 && c->stats_fd < 0)
			return c->stats_fd;
		if (c->pages_fd < 0)
			c->is_gone = false;
		else
			s->base.fixed_bytes += (uint64_t)s->ring_kib << 10;
	}
	return 0;
}

static void free_source(struct device_source *base, bool keep);

/* Finds the run's instance, or makes one. */
static int open_instance(struct tracefs_source *s, const struct source_options *o, struct error *e)
{
	uint64_t *words = memory_get_head(s->memory)->words, inode;
	const char *root;
	uint32_t cpu;
	int r = tracefs_find(&root, e);

	if (r < 0)
		return r;
	if (snprintf(s->folder, sizeof(s->folder), "%s/instances/%s", root, o->instance) >=
	    (int)sizeof(s->folder))
		return error_set(e, ENAMETOOLONG,
				 "cannot make a tracing instance: its name is too "
				 "long");
	inode = inode_of(s->folder);
	if (o->resume && inode && inode == words[WORD_INSTANCE]) {
		s->inode = inode;
		return 0;
	}
	words[WORD_INSTANCE] = 0;
	for (cpu = 0; cpu < s->cpus; cpu++)
		s->rings[cpu].is_gone = o->resume;
	r = make_instance(s, e);
	if (!r && !o->resume)
		r = memory_clear_slots(s->memory, e);
	return r;
}

static int open_source(struct device_source **ret, const struct source_options *o, struct error *e)
{
	uint32_t events = o->config->given & 1U << CONFIG_EVENTS ? o->config->events : UINT32_MAX;
	struct tracefs_source *s = calloc(1, sizeof(*s));
	uint32_t cpu;
	int r = -ENOMEM;

	if (s)
		s->rings = calloc(o->cpus, sizeof(*s->rings));
	if (!s || !s->rings) {
		free(s);
		return error_set(e, ENOMEM, "cannot open tracefs: %m");
	}
	s->base.ops = &source_tracefs;
	s->filter = o->filter;
	s->memory = o->memory;
	s->cpus = o->cpus;
	s->shift = o->resolution_shift;
	s->ring_kib = o->config->given & 1U << CONFIG_RING ? o->config->ring_kib : RING_KIB;
	for (cpu = 0; cpu < s->cpus; cpu++)
		s->rings[cpu].pages_fd = s->rings[cpu].stats_fd = -1;
	r = open_instance(s, o, e);
	if (!r)
		r = learn_pages(s, e);
	if (!r)
		r = learn_events(s, events, e);
	if (!r)
		r = enable_events(s, e);
	if (!r)
		r = open_rings(s, e);
	if (r < 0) {
		free_source(&s->base, o->resume);
		return r;
	}
	if (!o->resume)
		memory_get_head(s->memory)->words[WORD_INSTANCE] = s->inode;
	s->base.fixed_bytes += (uint64_t)s->cpus * s->staging.slots * s->staging.bytes;
	*ret = &s->base;
	return 0;
}

/* The pages that are staged from there on are given by the first drain. */
static int resume(struct device_source *base, uint32_t cpu, uint64_t position, struct error *e)
{
	struct tracefs_source *s = get(base);
	struct cpu_ring *c = &s->rings[cpu];
	uint64_t page = position >> RECORD_BITS;

	(void)e;
	c->resume_at = position;
	c->kept_page = page;
	c->must_replay = true;
	while (staging_get(&s->staging, cpu, page))
		page++;
	c->next_page = page;
	c->records = page ? staging_total(&s->staging, cpu, page - 1) : 0;
	return 0;
}

static int start(struct device_source *base, struct error *e)
{
	get(base)->is_stopped = false;
	return tracefs_write(get(base)->folder, "tracing_on", "1", e);
}

static int stop(struct device_source *base, struct error *e)
{
	get(base)->is_stopped = true;
	return tracefs_write(get(base)->folder, "tracing_on", "0", e);
}

/* 0, -EBADMSG of a kernel that does not count so, or why it does not say. */
static int read_stats(const struct cpu_ring *c, struct tracefs_stats *ret)
{
	char text[1024];
	int tries = STATS_TRIES;
	ssize_t n;

	do
		n = pread(c->stats_fd, text, sizeof(text) - 1, 0);
	while (n < 0 && --tries);
	if (n < 0)
		return -errno;
	text[n] = 0;
	return tracefs_parse_stats(ret, text);
}

struct ring_losses {
	uint64_t known; /* booked so far */
	uint64_t more;	/* that the kernel counts beyond them */
	uint64_t read;	/* all that was read of this instance and not received, booked or not */
};

/* 0, or a negative errno as of read_stats(). */
static int count_losses(struct tracefs_source *s, uint32_t cpu, const struct recorder *r,
			struct ring_losses *ret)
{
	const struct cpu_ring *c = &s->rings[cpu];
	struct ring_losses l = { .known = recorder_ring_total(r, cpu) };
	struct tracefs_stats stats;
	int failed = read_stats(c, &stats);
	uint64_t read;

	*ret = l;
	if (failed < 0)
		return failed;
	read = tracefs_widen(c->records, stats.read);
	l.read = read > c->records ? read - c->records : 0;
	l.more = tracefs_widen(l.known,
			       stats.overrun + stats.commit_overrun + stats.dropped + l.read);
	l.more = l.more > l.known ? l.more - l.known : 0;
	*ret = l;
	return 0;
}

static void book(struct recorder *r, uint32_t cpu, const struct ring_losses *l, uint64_t count)
{
	if (count)
		recorder_lose(r, cpu, LOSS_RING, count, l->known + count);
}

/* Books what the kernel counted as lost since the last look. `missed` is the number in a page's
 * header: so many lie before that page, the rest behind it. Some kernels count nothing else; some
 * say only that events are missing (LOSS_UNKNOWN). Without an answer at the end, any number may be
 * missing. */
static void book_losses(struct tracefs_source *s, uint32_t cpu, struct recorder *r, uint64_t missed)
{
	struct cpu_ring *c = &s->rings[cpu];
	struct ring_losses l;
	int failed = count_losses(s, cpu, r, &l);

	if (failed < 0 && failed != -EBADMSG && s->is_stopped && !missed)
		missed = LOSS_UNKNOWN;
	/* A new instance knows nothing of pages that are from the one before it. */
	if (c->is_gone || failed < 0) {
		if (missed)
			recorder_lose(r, cpu, LOSS_RING, missed,
				      missed == LOSS_UNKNOWN ? l.known : l.known + missed);
		return;
	}
	book(r, cpu, &l, missed && missed < l.more ? missed : l.more);
}

/* Events that the last agent took out of the ring and never staged come right behind its staged
 * pages. Events that the ring lost since then come behind what the ring still holds. */
static void book_unreceived(struct tracefs_source *s, uint32_t cpu, struct recorder *r)
{
	struct ring_losses l;

	if (count_losses(s, cpu, r, &l) == 0)
		book(r, cpu, &l, l.read < l.more ? l.read : l.more);
}

static void give_record(struct tracefs_source *s, uint32_t cpu, struct recorder *r,
			const struct page_record *record, uint64_t position)
{
	struct sched_event ev;
	int found = sched_map_decode(&s->map, record->data, record->len, &ev);

	if (found < 0) {
		s->base.not_understood++;
		recorder_lose(r, cpu, LOSS_DAMAGE, 1, recorder_ring_total(r, cpu));
	} else if (found) {
		ev.tick = record->stamp >> s->shift;
		if (filter_passes(s->filter, &ev)) {
			recorder_take(r, cpu, &ev, position);
			return;
		}
		s->base.passed_over++;
	}
	recorder_pass(r, cpu, position);
}

/* Off, and which part of the instance says so; 0: all is on. */
static int find_off(const struct tracefs_source *s, char *name, size_t room, struct error *e)
{
	char text[16];
	int kind, n;

	for (kind = -1; kind < SCHED_KINDS; kind++) {
		if (kind >= 0 && !(s->map.kinds & 1U << kind))
			continue;
		if (kind < 0)
			snprintf(name, room, "tracing_on");
		else
			snprintf(name, room, "events/%s/%s/enable", sched_map_get_system(kind),
				 sched_map_get_name(kind));
		n = tracefs_read(s->folder, name, text, sizeof(text), e);
		if (n < 0)
			return n;
		if (text[0] != '1')
			return 1;
	}
	return 0;
}

/* The records of a staged page but the first `skip`. A record that cannot be followed ends it; what
 * the kernel counted behind it is then missing from our count, and booked as lost by that. */
static void give_page(struct tracefs_source *s, uint32_t cpu, struct recorder *r, uint64_t number,
		      uint32_t skip)
{
	const uint8_t *bytes = staging_get(&s->staging, cpu, number);
	struct page_record record;
	struct page p;
	uint64_t position = number << RECORD_BITS;
	uint32_t n = 0;
	int more;

	more = page_open(&p, &s->staging.layout, bytes, s->staging.bytes, NULL);
	if (!more && p.missed && !skip)
		book_losses(s, cpu, r, p.missed);
	if (!more)
		more = page_next(&p, &record, NULL);
	for (; more > 0; more = page_next(&p, &record, NULL))
		if (n++ >= skip)
			give_record(s, cpu, r, &record, position + n);
	if (more < 0) {
		s->base.not_understood++;
		book_losses(s, cpu, r, LOSS_UNKNOWN);
	}
	recorder_pass(r, cpu, position + (1U << RECORD_BITS));
}

/* When every CPU has told its loss, the new instance is the run's. */
static void tell_gone(struct tracefs_source *s, uint32_t cpu, struct recorder *r)
{
	uint32_t i;

	recorder_flush(r, cpu);
	recorder_lose(r, cpu, LOSS_RING, LOSS_UNKNOWN, 0);
	staging_forget(&s->staging, cpu);
	s->rings[cpu].records = 0;
	s->rings[cpu].is_gone = false;
	for (i = 0; i < s->cpus; i++)
		if (s->rings[i].is_gone)
			return;
	memory_get_head(s->memory)->words[WORD_INSTANCE] = s->inode;
}

/* What the last agent had read and not yet put into blocks. */
static void replay(struct tracefs_source *s, uint32_t cpu, struct recorder *r)
{
	struct cpu_ring *c = &s->rings[cpu];
	uint64_t page = c->resume_at >> RECORD_BITS;
	uint32_t skip = (uint32_t)(c->resume_at & ((1U << RECORD_BITS) - 1));

	c->must_replay = false;
	for (; page < c->next_page; page++, skip = 0)
		give_page(s, cpu, r, page, skip);
	if (c->is_gone)
		tell_gone(s, cpu, r);
	else if (c->pages_fd >= 0)
		book_unreceived(s, cpu, r);
}

static int drain(struct device_source *base, uint32_t cpu, struct recorder *r, struct error *e)
{
	struct tracefs_source *s = get(base);
	struct cpu_ring *c = &s->rings[cpu];
	uint32_t pages = 0, all = (s->ring_kib << 10) / s->staging.bytes;
	int n = 0;

	if (c->must_replay)
		replay(s, cpu, r);
	/* As much as the ring can hold; what comes meanwhile is the next round's. */
	for (; c->pages_fd >= 0 && pages <= all; pages++) {
		if (c->next_page - c->kept_page >= s->staging.slots)
			recorder_flush(r, cpu);
		n = staging_read(&s->staging, c->pages_fd, cpu, c->next_page, c->records);
		if (n == -ENODEV)
			n = 0; /* a CPU that was never online has no ring, and no events */
		if (n <= 0)
			break;
		c->records +=
			staging_count(&s->staging, staging_get(&s->staging, cpu, c->next_page));
		give_page(s, cpu, r, c->next_page++, 0);
	}
	if (n < 0)
		return error_set(e, -n, "cannot read CPU %u of %s: %m", cpu, s->folder);
	if (c->pages_fd >= 0 && (s->is_stopped || ++c->drains % STATS_EVERY == 0))
		book_losses(s, cpu, r, 0);
	return pages > all / 2;
}

/* Another program that traces may switch off all there is, as an agent of the same name does at its end. What was
 * recorded until then comes first, so that the loss lies between that and what comes next. */
static int check(struct device_source *base, struct recorder *r, struct error *e)
{
	struct tracefs_source *s = get(base);
	char name[96];
	uint32_t cpu;
	int res = s->is_stopped ? 0 : find_off(s, name, sizeof(name), e);

	if (res <= 0)
		return res;
	for (cpu = 0; cpu < s->cpus; cpu++) {
		res = drain(base, cpu, r, e);
		if (res < 0)
			return res;
	}
	for (cpu = 0; cpu < s->cpus; cpu++)
		if (s->rings[cpu].pages_fd >= 0)
			recorder_lose(r, cpu, LOSS_RING, LOSS_UNKNOWN, recorder_ring_total(r, cpu));
	res = enable_events(s, e);
	if (res >= 0)
		res = start(base, e);
	if (res < 0)
		return res;
	error_set(&s->base.mended, EAGAIN, "somebody switched %s/%s off; records again", s->folder,
		  name);
	return 1;
}

static void release(struct device_source *base, uint32_t cpu, uint64_t position)
{
	get(base)->rings[cpu].kept_page = position >> RECORD_BITS;
}

static int wake_fd(struct device_source *base)
{
	(void)base;
	return -1;
}

static void free_source(struct device_source *base, bool keep)
{
	struct tracefs_source *s = get(base);
	uint32_t cpu;

	if (!s)
		return;
	for (cpu = 0; cpu < s->cpus; cpu++) {
		cleanup_closep(&s->rings[cpu].pages_fd);
		cleanup_closep(&s->rings[cpu].stats_fd);
	}
	if (!keep && *s->folder) {
		memory_get_head(s->memory)->words[WORD_INSTANCE] = 0;
		remove_instance(s);
	}
	free(s->rings);
	free(s);
}

const struct device_source_ops source_tracefs = {
	.name = "tracefs",
	.probe = probe,
	.open = open_source,
	.resume = resume,
	.start = start,
	.stop = stop,
	.check = check,
	.drain = drain,
	.release = release,
	.wake_fd = wake_fd,
	.free = free_source,
};
