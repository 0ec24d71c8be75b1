/* SPDX-License-Identifier: MIT */
/* boot_recorder_pass: what the kernel has told, what is looked at, and whether it is time to stop. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "device/boot/boot_recorder_state.h"
#include "device/boot/facts.h"

#define REST 3U /* times what was worked */
#define LOST_EVENTS "process events: the kernel dropped some"

/* --- what was told --- */

typedef void take_bytes(struct boot_recorder *r, const uint8_t *bytes, size_t len);

/* Some of what a socket has; fewer than TOLD_AT_ONCE: it has nothing more. *is_whole becomes false if the kernel had to
 * drop messages. */
static int receive(int fd, struct mmsghdr *messages, struct iovec *parts, bool *is_whole)
{
	int i, n;

	memset(messages, 0, TOLD_AT_ONCE * sizeof(*messages));
	for (i = 0; i < TOLD_AT_ONCE; i++) {
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	for (;;) {
		n = recvmmsg(fd, messages, TOLD_AT_ONCE, MSG_DONTWAIT, NULL);
		if (n >= 0 || errno != ENOBUFS)
			return n < 0 ? 0 : n;
		*is_whole = false;
	}
}

static void share(struct iovec *parts, char *room, size_t each)
{
	size_t i;

	for (i = 0; i < TOLD_AT_ONCE; i++)
		parts[i] = (struct iovec){ room + i * each, each };
}

static void take_event(struct boot_recorder *r, const uint8_t *bytes, size_t len)
{
	struct process_event ev;
	size_t at = 0;

	while (process_event_next(&ev, bytes, len, &at))
		sampler_take_event(r->sampler, &ev);
}

static void take_account(struct boot_recorder *r, const uint8_t *bytes, size_t len)
{
	struct exit_account a;
	size_t at = 0;

	while (exit_account_next(&a, bytes, len, &at)) {
		if (!a.strange) {
			sampler_take_account(r->sampler, &a, r->now_ns);
			continue;
		}
		if (!r->no_accounts.text[0]) {
			error_set(&r->no_accounts, EBADMSG,
				  "exit accounts: version %u of the kernel's struct is not known",
				  a.strange);
			record_sink_mark(r->sink, r->now_ns, BOOT_MARK_MISSING,
					 r->no_accounts.text);
		}
	}
}

/* The loss is told where it is. How much it was can only be known when /proc/stat was read again: tell_missed(). */
static void tell_lost_events(struct boot_recorder *r)
{
	r->sink->lose(r->sink, LOSS_RING, LOSS_UNKNOWN);
	r->has_lost_events = true;
	sampler_rescan(r->sampler);
}

/* The kernel counts all forks, those of threads too, and was asked after the events were taken: so what it counts more
 * than was told since it was asked before is a bound, not the number. It is asked less often than events are taken: that
 * its count is the same says nothing. */
static void tell_missed(struct boot_recorder *r)
{
	uint64_t counted = sampler_get_machine(r->sampler)->forks;
	uint64_t told = sampler_get_forks(r->sampler);
	uint64_t forks = counted - r->forks_before, seen = told - r->forks_told;
	char text[160];

	if (!forks)
		return;
	if (r->has_lost_events && r->forks_before) {
		snprintf(text, sizeof(text), LOST_EVENTS "; at most %llu starts",
			 (unsigned long long)(forks > seen ? forks - seen : 0));
		record_sink_mark(r->sink, r->now_ns, BOOT_MARK_MISSING, text);
		r->has_lost_events = false;
	}
	r->forks_before = counted;
	r->forks_told = told;
}

static void take_events(struct boot_recorder *r, int fd, take_bytes *take)
{
	struct mmsghdr messages[TOLD_AT_ONCE];
	struct iovec parts[TOLD_AT_ONCE];
	bool is_whole = true;
	int i, n;

	share(parts, r->events_told, TOLD_EVENT);
	for (n = fd < 0 ? 0 : TOLD_AT_ONCE; n == TOLD_AT_ONCE;) {
		n = receive(fd, messages, parts, &is_whole);
		for (i = 0; take && i < n; i++)
			take(r, parts[i].iov_base, messages[i].msg_len);
	}
	if (take && !is_whole)
		tell_lost_events(r);
}

/* The account of a process comes when it ends, so its start was told before that, by the other socket: what is there by
 * then is taken first. Else nobody would know whose account it is. */
static void take_accounts(struct boot_recorder *r)
{
	struct mmsghdr messages[TOLD_AT_ONCE];
	struct iovec parts[TOLD_AT_ONCE];
	bool is_whole = true;
	int i, n;

	share(parts, r->accounts_told, TOLD_ACCOUNT);
	for (n = TOLD_AT_ONCE; n == TOLD_AT_ONCE;) {
		n = r->accounts < 0 ? 0 : receive(r->accounts, messages, parts, &is_whole);
		if (n)
			r->now_ns = clock_mono_ns(); /* not before the starts that are told now */
		take_events(r, r->events, take_event);
		for (i = 0; i < n; i++)
			take_account(r, parts[i].iov_base, messages[i].msg_len);
	}
	if (is_whole)
		return;
	r->sink->lose(r->sink, LOSS_RING, LOSS_UNKNOWN);
	record_sink_mark(r->sink, r->now_ns, BOOT_MARK_MISSING,
			 "exit accounts: the kernel dropped some");
}

void boot_recorder_take_told(struct boot_recorder *r, bool is_woken)
{
	/* Else there is none: each has woken us at once. */
	if (is_woken || !r->wakes)
		take_events(r, r->execs, NULL);
	take_accounts(r);
}

/* --- marks --- */

void boot_recorder_say_missing(struct boot_recorder *r)
{
	const struct error *const all[] = { &r->no_events, &r->no_accounts, &r->no_log };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i]->text[0])
			record_sink_mark(r->sink, r->now_ns, BOOT_MARK_MISSING, all[i]->text);
	machine_rows_say_missing(r->rows, r->now_ns);
}

static int64_t real_off(void)
{
	uint64_t before = clock_mono_ns(), real = clock_real_ns();

	return (int64_t)real - (int64_t)before - (int64_t)(clock_mono_ns() - before) / 2;
}

static void watch_clock(struct boot_recorder *r)
{
	int64_t off = real_off(), by = off - r->real_off_ns;
	struct boot_event ev = { .tick = r->now_ns, .kind = BOOT_MARK, .key = BOOT_MARK_CLOCK };
	char text[80];

	if (by > -JUMP_NS && by < JUMP_NS)
		return;
	/* A look that was interrupted is no jump: the second one tells. */
	off = real_off();
	by = off - r->real_off_ns;
	r->real_off_ns = off;
	if (by > -JUMP_NS && by < JUMP_NS)
		return;
	snprintf(text, sizeof(text), "the real time was set: %+.3f s", (double)by / 1e9);
	ev.number[BOOT_MARK_TICK] = r->now_ns;
	ev.number[BOOT_MARK_VALUE] = (uint64_t)off;
	ev.text = text;
	ev.text_len = (uint32_t)strlen(text);
	record_sink_put(r->sink, &ev);
}

static void follow_root(struct boot_recorder *r)
{
	if (!place_follow(&r->o.place))
		return;
	record_sink_mark(r->sink, r->now_ns, BOOT_MARK_PHASE, "init went to another root");
	if (r->o.title && r->o.title[0] == '@')
		memmove(r->o.title, r->o.title + 1, strlen(r->o.title));
	unit_watch_close(&r->units); /* it may have been another /run */
	unit_state_close(&r->unit);
	facts_say(r->sink, &r->o.place, r->s, r->now_ns);
}

/* --- the end --- */

static void come(struct boot_recorder *r, uint64_t tick)
{
	if (r->target_ns)
		return;
	r->target_ns = tick ? tick : 1;
	record_sink_mark(r->sink, tick, BOOT_MARK_TARGET, r->s->until_text);
}

void boot_recorder_named(void *context, const struct task *t, const char *args, size_t len,
			 uint64_t tick)
{
	struct boot_recorder *r = context;

	if (!t->has_ended && target_is_process(&r->until, t->comm, t->comm_len, args, len))
		come(r, tick);
}

void boot_recorder_stop(struct boot_recorder *r, const char *why)
{
	struct error e = ERROR_INIT;

	if (!r->is_recording)
		return;
	r->now_ns = clock_mono_ns();
	boot_recorder_take_told(r, true);
	kernel_log_take(&r->log, r->now_ns, KERNEL_LOG_ALL);
	sampler_finish(r->sampler, r->now_ns);
	tell_missed(r);
	if (r->has_lost_events)
		record_sink_mark(r->sink, r->now_ns, BOOT_MARK_MISSING, LOST_EVENTS);
	record_sink_mark(r->sink, r->now_ns, BOOT_MARK_STOP, why);
	r->is_recording = false;
	boot_lane_flush(r->lane, r->now_ns / CLOCK_NS_PER_MS, true);
	boot_lane_describe(r->lane, r->cpus); /* if it finds no room, the first one has to do */
	if (r->exact && exact_trace_stop(r->exact, &e) < 0)
		boot_recorder_log(r, "%s", e.text);
	if (boot_lane_stop(r->lane, &e) < 0)
		boot_recorder_log(r, "%s", e.text);
	place_come_out(&r->o.place);
	boot_recorder_log(r, "stops: %s; %llu records in %llu bytes", why,
			  (unsigned long long)boot_lane_count(r->lane),
			  (unsigned long long)r->lane->bytes);
}

static uint64_t own_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec) * CLOCK_NS_PER_S +
	       ((uint64_t)u.ru_utime.tv_usec + (uint64_t)u.ru_stime.tv_usec) * 1000;
}

static void stop_if_due(struct boot_recorder *r)
{
	const struct machine_stat *m = sampler_get_machine(r->sampler);
	uint64_t tick_ns = machine_rows_tick_ns(r->rows);
	const char *root = r->o.place.is_private ? PLACE_ROOT : "";

	if (!r->target_ns && (target_check(&r->until, root, r->o.place.proc, r->now_ns) ||
			      (r->until.type == TARGET_UNIT &&
			       unit_state_check(&r->unit, root, r->until.name, r->now_ns))))
		come(r, r->now_ns);
	if (r->target_ns && r->now_ns >= r->target_ns + r->s->linger_ns)
		boot_recorder_stop(r, "the target is there");
	else if (r->s->time_ns && r->now_ns - r->start_ns >= r->s->time_ns)
		boot_recorder_stop(r, "its time is over");
	else if (r->s->idle_ns && idle_watch_take(&r->idle, m, tick_ns, own_ns(), r->now_ns) &&
		 r->idle.idle_ns >= r->s->idle_ns)
		boot_recorder_stop(r, "the machine is idle");
}

/* --- the pass --- */

/* Nobody comes before it while it works (set_priority()). So where a pass takes long, because the machine is slow or
 * has thousands of processes, it looks less often: of a CPU its passes take a quarter at most. */
static void rest(struct boot_recorder *r, uint64_t worked)
{
	uint64_t interval = r->s->interval_ns;
	uint64_t least = clock_mono_ns() + REST * worked;

	if (r->next_ns < least)
		r->next_ns += (least - r->next_ns + interval - 1) / interval * interval;
}

int boot_recorder_pass(struct boot_recorder *r, struct error *e)
{
	uint64_t before = clock_get_ns(CLOCK_THREAD_CPUTIME_ID);
	char path[PLACE_PATH_MAX];

	r->now_ns = clock_mono_ns();
	r->next_ns += r->s->interval_ns;
	if (r->next_ns <= r->now_ns) /* what was missed is not made up for */
		r->next_ns = r->now_ns + r->s->interval_ns -
			     (r->now_ns - r->start_ns) % r->s->interval_ns;
	if (r->now_ns >= r->follow_ns) {
		r->follow_ns = r->now_ns + FOLLOW_NS;
		follow_root(r);
		watch_clock(r);
	}
	if (boot_lane_wants_all(r->lane) > 0) {
		facts_say(r->sink, &r->o.place, r->s, r->now_ns);
		sampler_say_all(r->sampler, r->now_ns);
	}
	boot_recorder_take_told(r, false);
	if (sampler_pass(r->sampler, r->now_ns) < 0)
		return error_set(e, EIO, "cannot read /proc/stat any more");
	tell_missed(r);
	unit_watch_look(&r->units, place_get_path(&r->o.place, UNIT_FOLDER, path), r->sink,
			r->now_ns);
	stop_if_due(r);
	boot_lane_flush(r->lane, r->now_ns / CLOCK_NS_PER_MS, false);
	rest(r, clock_get_ns(CLOCK_THREAD_CPUTIME_ID) - before);
	return 0;
}
