/* SPDX-License-Identifier: GPL-2.0-only */
/* controller: see controller.h. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "device/driver/controller.h"

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/random.h>
#include <linux/security.h>
#include <linux/slab.h>

#include "wire/frame.h"

#define END_ROW_MAX 24U /* bytes of a row of END, at most */

int controller_init(struct controller *c, struct compressor *compressor, struct counter *counter,
		    const struct settings *settings)
{
	u32 i;

	c->compressor = compressor;
	c->counter = counter;
	c->settings = *settings;
	c->cpus = min_t(u32, nr_cpu_ids, MESSAGE_STREAMS_MAX - 1);
	c->end_room = FRAME_HEAD_MAX + VARINT_MAX + (c->cpus + 1) * END_ROW_MAX;
	description_init(&c->description);
	compressor_set_profile(compressor, settings->profile);
	for (i = 0; i < CONTROLLER_RUNS; i++) {
		c->runs[i].end = kvmalloc(c->end_room, GFP_KERNEL);
		if (!c->runs[i].end)
			return -ENOMEM;
	}
	return 0;
}

void controller_done(struct controller *c)
{
	u32 i;

	for (i = 0; i < CONTROLLER_RUNS; i++)
		kvfree(c->runs[i].end);
}

static bool is_tracing(const struct controller *c)
{
	return compressor_is_running(c->compressor);
}

enum device_state controller_state(const struct controller *c)
{
	if (is_tracing(c))
		return DEVICE_TRACING;
	return c->is_wanted ? DEVICE_FAILED : DEVICE_IDLE;
}

/* --- runs --- */

const struct run *controller_get_run(const struct controller *c, u32 number)
{
	u32 i;

	for (i = 0; i < c->n_runs; i++)
		if (c->runs[i].number == number)
			return &c->runs[i];
	return NULL;
}

void controller_forget(struct controller *c, u32 number, u64 now_ms)
{
	u8 *end;
	u32 i;

	for (i = 0; i < c->n_runs && c->runs[i].number != number; i++)
		;
	if (i == c->n_runs)
		return;
	end = c->runs[i].end;
	for (; i + 1 < CONTROLLER_RUNS; i++)
		c->runs[i] = c->runs[i + 1];
	memset(&c->runs[i], 0, sizeof(c->runs[i]));
	c->runs[i].end = end;
	c->n_runs--;
	if (c->is_busy)
		c->retry_ms = now_ms;
}

struct block_ring *controller_get_ring(struct controller *c, u32 stream)
{
	struct lane *lane;

	if (stream == STREAM_META)
		return &c->description.ring;
	lane = stream <= c->cpus ? compressor_get_lane(c->compressor, stream - 1) : NULL;
	return lane ? &lane->ring : NULL;
}

/* The frame that ends a run. It stays until it is acknowledged, so it is made once. */
static void put_end(struct controller *c, struct run *run)
{
	struct message_stream_end row = { .stream = STREAM_META };
	struct message_end m = { .n_rows = 1 };
	u8 head[FRAME_HEAD_MAX];
	struct byte_writer w;
	struct lane *lane;
	u32 cpu, len;

	for (cpu = 0; cpu < c->cpus; cpu++)
		m.n_rows += compressor_get_lane(c->compressor, cpu) != NULL;
	writer_init(&w, run->end + FRAME_HEAD_MAX, c->end_room - FRAME_HEAD_MAX);
	end_encode(&w, &m);
	row.next_sequence = c->description.sequence;
	end_put(&w, &row);
	for (cpu = 0; cpu < c->cpus; cpu++) {
		lane = compressor_get_lane(c->compressor, cpu);
		if (!lane)
			continue;
		lane_get_end(lane, &row);
		end_put(&w, &row);
	}
	len = (u32)writer_len(&w);
	run->end_len = frame_encode_head(head, FRAME_RUN_END, len);
	memmove(run->end + run->end_len, w.start, len);
	memcpy(run->end, head, run->end_len);
	run->end_len += len;
	run->is_over = true;
}

/* --- starting and stopping --- */

static int fail(struct controller *c, int r, char why[SESSION_WHY_LEN])
{
	if (r == -ENOENT)
		snprintf(why, SESSION_WHY_LEN,
			 "cannot record: a cgroup of the filter is not there");
	else if (r == -EBUSY)
		snprintf(why, SESSION_WHY_LEN,
			 "cannot record: the collector lacks parts of two earlier runs");
	else if (r == -EAGAIN)
		snprintf(why, SESSION_WHY_LEN, "cannot record: the machine is going to sleep");
	else if (r == -EPERM)
		snprintf(why, SESSION_WHY_LEN,
			 "cannot record: the kernel is locked down (confidentiality)");
	else
		snprintf(why, SESSION_WHY_LEN, "cannot record: %pe", ERR_PTR(r));
	return r;
}

static int begin_run(struct controller *c, char why[SESSION_WHY_LEN])
{
	struct description_facts facts = { .device = c->device,
					   .cpus = c->cpus,
					   .counter = c->counter,
					   .dialect = compressor_dialect(c->compressor),
					   .kinds = compressor_kinds(c->compressor),
					   .agent = c->agent,
					   .codec = c->settings.config.codec };
	struct run *run = &c->runs[c->n_runs];
	int r;

	if (c->is_asleep)
		return fail(c, -EAGAIN, why);
	if (c->n_runs == CONTROLLER_RUNS)
		return fail(c, -EBUSY, why);
	if (security_locked_down(LOCKDOWN_TRACEFS))
		return fail(c, -EPERM, why);
	if (c->settings.config.events)
		facts.kinds &= c->settings.config.events;
	get_random_bytes(run->id.bytes, sizeof(run->id.bytes));
	run->number = c->number + 1;
	run->clock = c->counter->generation;
	run->is_over = false;
	r = compressor_start(c->compressor, &c->settings.config, c->settings.config.codec,
			     run->number);
	if (r < 0)
		return fail(c, r, why);
	c->number++;
	c->n_runs++;
	c->check_ms = 0;
	/* Two firsts always have room: tasks leave it. */
	WARN_ON_ONCE(description_begin(&c->description, run->number, &facts) < 0);
	description_fill(&c->description);
	return 0;
}

static int start(struct controller *c, u64 now_ms, char why[SESSION_WHY_LEN])
{
	int r = begin_run(c, why);

	c->is_wanted = true;
	c->is_busy = r == -EBUSY;
	if (r >= 0) {
		c->failure[0] = 0;
		return 0;
	}
	if (strcmp(c->failure, why))
		pr_notice("%s\n", why); /* the same again is not worth another line */
	strscpy(c->failure, why, sizeof(c->failure));
	c->retry_ms = now_ms + CONTROLLER_RETRY_MS;
	return r;
}

static void stop(struct controller *c)
{
	if (!is_tracing(c))
		return;
	compressor_stop(c->compressor);
	description_end(&c->description);
	put_end(c, &c->runs[c->n_runs - 1]);
}

/* --- what others want --- */

/* The driver cannot do all that an agent can. */
static int check_wish(const struct controller *c, char why[SESSION_WHY_LEN])
{
	const struct message_config *w = &c->wish.config;

	if (w->given & 1U << CONFIG_ORIGIN && w->origin != ORIGIN_AUTO &&
	    w->origin != ORIGIN_DRIVER) {
		snprintf(why, SESSION_WHY_LEN, "cannot record: the driver is no other source");
		return -EOPNOTSUPP;
	}
	if (w->given & 1U << CONFIG_RING && w->ring_kib != c->settings.mem_kib) {
		snprintf(why, SESSION_WHY_LEN,
			 "cannot change the memory: it is fixed at load (mem=%u)",
			 c->settings.mem_kib);
		return -EOPNOTSUPP;
	}
	if (w->given & 1U << CONFIG_RESOLUTION && w->resolution_ns) {
		snprintf(why, SESSION_WHY_LEN,
			 "cannot round the stamps: the driver has those of the counter");
		return -EOPNOTSUPP;
	}
	if (w->given & 1U << CONFIG_FUNC && w->func != FUNC_MODE_OFF) {
		snprintf(why, SESSION_WHY_LEN,
			 "cannot trace programs: the driver records the scheduler alone");
		return -EOPNOTSUPP;
	}
	if (w->given & 1U << CONFIG_EVENTS && w->events &&
	    !(w->events & compressor_kinds(c->compressor))) {
		snprintf(why, SESSION_WHY_LEN, "cannot record: this kernel has none of the events");
		return -EOPNOTSUPP;
	}
	return 0;
}

static int configure(struct controller *c, u8 verb, u64 now_ms, char why[SESSION_WHY_LEN])
{
	bool changed;
	int r = check_wish(c, why);

	if (r < 0)
		return r;
	c->changed = c->settings;
	settings_apply(&c->changed, &c->wish);
	changed = !settings_is_same(&c->changed, &c->settings);
	/* Before anything is touched: the run that is traced should not end for a refusal. */
	if (changed && is_tracing(c) && c->n_runs == CONTROLLER_RUNS)
		return fail(c, -EBUSY, why);
	c->settings = c->changed;
	compressor_set_profile(c->compressor, c->settings.profile);
	if (is_tracing(c) && !changed)
		return 0;
	if (verb == INSTRUCTION_CONFIGURE && !c->is_wanted)
		return 0;
	stop(c);
	return start(c, now_ms, why);
}

int controller_instruct(struct controller *c, u8 verb, u64 now_ms, char why[SESSION_WHY_LEN])
{
	switch (verb) {
	case INSTRUCTION_STOP:
		c->is_wanted = false;
		c->failure[0] = 0;
		stop(c);
		return 0;
	case INSTRUCTION_START:
	case INSTRUCTION_CONFIGURE:
		return configure(c, verb, now_ms, why);
	default:
		snprintf(why, SESSION_WHY_LEN, "cannot do it: instruction %u is not known here",
			 verb);
		return -EOPNOTSUPP;
	}
}

/* The sums so far are of the old one. */
static void choose_counter(struct controller *c)
{
	compressor_keep_profile(c->compressor);
	counter_init(c->counter);
}

/* A run has one clock, so another clock is another run. */
static void check_counter(struct controller *c, u64 now_ms)
{
	const char *was = c->counter->name;

	if (now_ms < c->check_ms)
		return;
	c->check_ms = now_ms + CONTROLLER_CHECK_MS;
	if (counter_is_right(c->counter))
		return;
	stop(c);
	choose_counter(c);
	pr_notice("the clock '%s' goes wrong: goes on with '%s', in a new run\n", was,
		  c->counter->name);
	c->retry_ms = now_ms;
}

void controller_turn(struct controller *c, u64 now_ms)
{
	char why[SESSION_WHY_LEN];

	if (is_tracing(c))
		check_counter(c, now_ms);
	if (is_tracing(c))
		description_fill(&c->description);
	else if (c->is_wanted && now_ms >= c->retry_ms)
		start(c, now_ms, why);
}

void controller_sleep(struct controller *c)
{
	c->is_asleep = true;
	stop(c);
	if (c->is_wanted)
		fail(c, -EAGAIN, c->failure);
}

void controller_wake(struct controller *c, u64 now_ms)
{
	c->is_asleep = false;
	choose_counter(c);
	c->retry_ms = now_ms;
}

bool controller_has_old_clock(const struct controller *c)
{
	u32 i;

	for (i = 0; i < c->n_runs; i++)
		if (c->runs[i].clock != c->counter->generation)
			return true;
	return false;
}

void controller_end(struct controller *c)
{
	c->is_wanted = false;
	stop(c);
}

u64 controller_next(const struct controller *c)
{
	if (is_tracing(c))
		return c->counter->raw ? c->check_ms + CONTROLLER_CHECK_MOST_MS : U64_MAX;
	return c->is_wanted ? c->retry_ms : U64_MAX;
}

/* --- how it is --- */

void controller_get_status(struct controller *c, struct message_status *ret)
{
	struct lane_counts counts;
	struct lane *lane;
	u32 cpu, i;

	ret->state = (u8)controller_state(c);
	ret->origin = ret->state == DEVICE_TRACING ? ORIGIN_DRIVER : ORIGIN_AUTO;
	ret->blocks = c->description.blocks;
	ret->bytes = c->description.bytes;
	ret->spool_used = block_ring_used(&c->description.ring);
	ret->spool_size = c->description.ring.size;
	for (cpu = 0; cpu < c->cpus; cpu++) {
		lane = compressor_get_lane(c->compressor, cpu);
		if (!lane)
			continue;
		lane_get_counts(lane, &counts);
		ret->events += counts.events;
		ret->passed_over += counts.passed_over;
		for (i = 0; i < LOSS_CAUSES; i++)
			ret->lost[i] += counts.lost[i];
		ret->blocks += counts.blocks;
		ret->bytes += counts.bytes;
		ret->spool_used += block_ring_used(&lane->ring);
		ret->spool_size += lane->ring.size;
	}
	if (ret->state == DEVICE_FAILED) {
		ret->text.at = c->failure;
		ret->text.len = (u32)strlen(c->failure);
	}
}
