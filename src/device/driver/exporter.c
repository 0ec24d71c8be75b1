/* SPDX-License-Identifier: GPL-2.0-only */
/* exporter: see exporter.h; here are the thread and its times. */
#include "device/driver/exporter.h"

#include <linux/err.h>
#include <linux/inetdevice.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/suspend.h>
#include <net/addrconf.h>

#define TICK_MS 100U
#define QUIET_EVENTS 128U /* in a tick: less is a machine on which little happens */
#define STATUS_MS 1000U
#define STATUS_IDLE_MS 10000U
#define LINGER_MS 2000U /* for what is left when the driver is unloaded */
#define NICE -5		/* before the programs that it watches, or it loses what they do */
/* The largest frame of a lane: a block ends when it is full, so it may have one event more. */
#define FRAME_MOST                                                                                 \
	(FRAME_HEAD_MAX + BLOCK_HEADER_MAX + CONFIG_BLOCK_MOST + SCHED_EVENT_ROOM +                \
	 SCHED_FILENAME_MAX)

/* --- making it --- */

static u64 clock_ms(void)
{
	return div_u64(ktime_get_ns(), NSEC_PER_MSEC);
}

void exporter_signal(struct exporter *e, enum exporter_signal signal)
{
	set_bit(signal, &e->signals);
	wake_up(&e->wait);
}

static void wake_by_link(void *context)
{
	exporter_signal(context, SIGNAL_LINK);
}

static int take_new_address(struct notifier_block *n, unsigned long event, void *data)
{
	if (event == NETDEV_UP)
		exporter_signal(container_of(n, struct exporter, new_address), SIGNAL_NETWORK);
	return NOTIFY_DONE;
}

static int take_new_address6(struct notifier_block *n, unsigned long event, void *data)
{
	if (event == NETDEV_UP)
		exporter_signal(container_of(n, struct exporter, new_address6), SIGNAL_NETWORK);
	return NOTIFY_DONE;
}

/* The machine goes to sleep, or has woken. */
static int take_power(struct notifier_block *n, unsigned long event, void *data)
{
	struct exporter *e = container_of(n, struct exporter, power);

	mutex_lock(&e->lock);
	switch (event) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		controller_sleep(&e->controller);
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		controller_wake(&e->controller, clock_ms());
		break;
	}
	mutex_unlock(&e->lock);
	exporter_signal(e, SIGNAL_TOLD);
	return NOTIFY_DONE;
}

static int instruct(void *context, const struct message_instruction *m, char why[SESSION_WHY_LEN])
{
	struct exporter *e = context;

	if (e->is_ending) {
		snprintf(why, SESSION_WHY_LEN, "cannot do it: the driver is being unloaded");
		return -ECANCELED;
	}
	e->controller.wish.given = 0;
	e->controller.wish.config = m->config;
	e->status_ms = e->now_ms;
	return controller_instruct(&e->controller, m->verb, e->now_ms, why);
}

/* The collector takes what this says for the clock of all runs that it gets. */
static bool get_clocks(void *context, u64 *ret_device_ns, u64 *ret_realtime_ns)
{
	struct exporter *e = context;
	const struct counter *counter = e->controller.counter;
	unsigned long flags;
	u64 tick;

	if (controller_has_old_clock(&e->controller))
		return false;
	local_irq_save(flags);
	tick = counter_read(counter);
	*ret_realtime_ns = ktime_get_real_ns();
	local_irq_restore(flags);
	*ret_device_ns = counter_to_ns(counter, tick);
	return true;
}

static int work(void *context);

static u32 largest_frame(struct exporter *e)
{
	u32 size = FRAME_MOST;

	return e->controller.end_room > size ? e->controller.end_room : size;
}

static int make_buffers(struct exporter *e)
{
	struct session_hooks hooks = { .context = e,
				       .instruct = instruct,
				       .clocks = get_clocks,
				       .resume = exporter_resume,
				       .acked = exporter_acked };
	u32 in_size = session_in_size(e->controller.cpus, CONTROLLER_RUNS);
	u8 *in = kvmalloc(in_size, GFP_KERNEL);

	session_init(&e->session, &hooks, in, in_size);
	session_seed(&e->session, get_random_u32());
	e->rest_size = largest_frame(e);
	e->rest = kvmalloc(e->rest_size, GFP_KERNEL);
	e->positions = kvcalloc(e->controller.cpus + 1, sizeof(*e->positions), GFP_KERNEL);
	return in && e->rest && e->positions ? 0 : -ENOMEM;
}

int exporter_init(struct exporter *e, struct compressor *compressor, struct counter *counter,
		  const struct settings *settings)
{
	int r;

	mutex_init(&e->lock);
	init_waitqueue_head(&e->wait);
	link_init(&e->link, wake_by_link, e);
	identity_init(&e->identity, settings);
	r = controller_init(&e->controller, compressor, counter, settings);
	if (r < 0)
		return r;
	r = make_buffers(e);
	if (r < 0)
		return r;
	r = exporter_set_collector(e, settings->collector);
	if (r < 0)
		return r;
	e->thread = kthread_create(work, e, "kiseki");
	if (IS_ERR(e->thread)) {
		r = PTR_ERR(e->thread);
		e->thread = NULL;
		return r;
	}
	get_task_struct(e->thread);
	e->controller.device = e->identity.name;
	e->controller.agent = e->thread->pid;
	e->new_address.notifier_call = take_new_address;
	e->new_address6.notifier_call = take_new_address6;
	e->power.notifier_call = take_power;
	return 0;
}

void exporter_done(struct exporter *e)
{
	exporter_stop(e);
	if (e->handed)
		link_put_handed(e->handed);
	kvfree(e->session.in);
	kvfree(e->rest);
	kvfree(e->positions);
	controller_done(&e->controller);
}

void exporter_start(struct exporter *e, bool trace)
{
	char why[SESSION_WHY_LEN];

	mutex_lock(&e->lock);
	e->now_ms = clock_ms();
	if (trace)
		controller_instruct(&e->controller, INSTRUCTION_START, e->now_ms, why);
	mutex_unlock(&e->lock);
	register_inetaddr_notifier(&e->new_address);
	if (IS_ENABLED(CONFIG_IPV6))
		register_inet6addr_notifier(&e->new_address6);
	register_pm_notifier(&e->power);
	e->is_started = true;
	wake_up_process(e->thread);
}

void exporter_stop(struct exporter *e)
{
	if (!e->thread)
		return;
	if (e->is_started) {
		unregister_pm_notifier(&e->power);
		unregister_inetaddr_notifier(&e->new_address);
		if (IS_ENABLED(CONFIG_IPV6))
			unregister_inet6addr_notifier(&e->new_address6);
	}
	kthread_stop(e->thread);
	put_task_struct(e->thread);
	e->thread = NULL;
}

/* --- how it is --- */

u64 exporter_memory(const struct exporter *e)
{
	return compressor_memory(e->controller.compressor) + sizeof(*e) + e->session.in_size +
	       e->rest_size + CONTROLLER_RUNS * e->controller.end_room +
	       (e->controller.cpus + 1) * sizeof(*e->positions);
}

void exporter_get_status(struct exporter *e, struct message_status *ret)
{
	struct compressor_profile profile;

	memset(ret, 0, sizeof(*ret));
	controller_get_status(&e->controller, ret);
	compressor_get_profile(e->controller.compressor, &profile);
	ret->cpu_us = div_u64(profile.probe_ns + e->counts.thread_ns, NSEC_PER_USEC);
	ret->fixed_kib = ret->rss_kib = exporter_memory(e) / 1024;
	ret->wakeups = e->counts.wakeups;
}

/* --- the thread --- */

static void turn_status(struct exporter *e)
{
	bool is_tracing = controller_state(&e->controller) == DEVICE_TRACING;
	struct message_status m;

	if (e->now_ms < e->status_ms || e->session.phase != SESSION_WELCOME)
		return;
	exporter_get_status(e, &m);
	if (session_put_status(&e->session, &m))
		e->status_ms = e->now_ms + (is_tracing ? STATUS_MS - TICK_MS / 2 : STATUS_IDLE_MS);
}

/* Blocks that wait are ended only if they can be sent. */
static bool has_ticks(const struct exporter *e)
{
	return controller_state(&e->controller) == DEVICE_TRACING &&
	       e->session.phase == SESSION_WELCOME;
}

/* Each wakeup of this thread makes events itself. On a machine that is idle these are all there are:
 * then it wakes half as often, and takes along what has waited for half of the time, for else that
 * would wait for the next tick. So a block waits at most 2.5 times flush_ms; while something happens
 * at most 1.75 times and until the next tick, and that only if there is little in it. */
static void turn_tick(struct exporter *e)
{
	u64 flush_ms = e->controller.settings.config.flush_ms;
	u64 age_ns = flush_ms * NSEC_PER_MSEC, few_age_ns = age_ns + age_ns / 4 * 3;
	u64 length = min_t(u64, flush_ms, TICK_MS), before = e->tick_events;

	if (!has_ticks(e) || e->now_ms < e->tick_ms)
		return;
	e->tick_events = compressor_events(e->controller.compressor);
	if (e->tick_events - before < QUIET_EVENTS) {
		if (length == flush_ms)
			age_ns = few_age_ns = age_ns / 2;
		length *= 2;
	}
	compressor_flush(e->controller.compressor, age_ns, few_age_ns);
	/* On the same grid, also after a turn out of it. */
	e->tick_ms = (div64_u64(e->now_ms, length) + 1) * length;
}

/* The rest is sent, and the collector's word that it has it awaited, if there is one. */
static bool is_over(struct exporter *e)
{
	if (!kthread_should_stop())
		return false;
	if (!e->is_ending) {
		e->is_ending = true;
		e->end_ms = e->now_ms + LINGER_MS;
		controller_end(&e->controller);
		exporter_turn_send(e);
	}
	return e->now_ms >= e->end_ms || e->session.phase != SESSION_WELCOME ||
	       !e->controller.n_runs;
}

static bool turn(struct exporter *e)
{
	unsigned long signals = xchg(&e->signals, 0);

	e->now_ms = clock_ms();
	e->counts.wakeups++;
	e->counts.thread_ns = link_own_runtime();
	identity_refresh(&e->identity);
	if (signals & BIT(SIGNAL_NETWORK) && e->lacks_network) {
		e->lacks_network = false;
		retry_init(&e->session.retry, get_random_u32());
	}
	if (signals & BIT(SIGNAL_TOLD))
		e->status_ms = e->now_ms;
	exporter_turn_link(e);
	controller_turn(&e->controller, e->now_ms);
	turn_tick(e);
	turn_status(e);
	exporter_turn_send(e);
	return !is_over(e);
}

/* Who polls the files is told, without the lock. */
static void tell(struct exporter *e)
{
	enum device_state state = controller_state(&e->controller);
	bool of_state = state != e->told_state;
	bool of_link = e->session.phase != e->told_phase || e->is_connecting != e->told_connecting;

	e->told_state = state;
	e->told_phase = e->session.phase;
	e->told_connecting = e->is_connecting;
	mutex_unlock(&e->lock);
	if (e->notify && (of_state || of_link))
		e->notify(e->notify_context, of_state, of_link);
	mutex_lock(&e->lock);
}

static u64 next_ms(const struct exporter *e)
{
	u64 next = min(exporter_next_link(e), controller_next(&e->controller));

	if (has_ticks(e))
		next = min(next, e->tick_ms); /* STATUS goes with it */
	else if (e->session.phase == SESSION_WELCOME)
		next = min(next, e->status_ms);
	if (e->is_ending)
		next = min(next, e->end_ms);
	return next;
}

static long time_to_wait(const struct exporter *e)
{
	u64 next = next_ms(e);

	if (next == U64_MAX)
		return MAX_SCHEDULE_TIMEOUT;
	if (next <= e->now_ms)
		return 1;
	return (long)msecs_to_jiffies((u32)min_t(u64, next - e->now_ms, 3600 * MSEC_PER_SEC));
}

static int work(void *context)
{
	struct exporter *e = context;
	long wait;

	set_user_nice(current, NICE);
	mutex_lock(&e->lock);
	while (turn(e)) {
		tell(e);
		wait = time_to_wait(e);
		mutex_unlock(&e->lock);
		/* With a backlog there is nothing to wait for, and a kernel that does not
		 * preempt asks nobody else. */
		cond_resched();
		wait_event_idle_timeout(e->wait,
					READ_ONCE(e->signals) ||
						(kthread_should_stop() && !e->is_ending),
					wait);
		mutex_lock(&e->lock);
	}
	if (!link_is_closed(&e->link)) {
		session_bye(&e->session, BYE_DONE, "the driver is unloaded");
		exporter_turn_send(e);
		exporter_drop(e, "");
	}
	mutex_unlock(&e->lock);
	return 0;
}
