/* SPDX-License-Identifier: MIT */
/*
 * registry_instruct: the side of the registry (registry.h) of those who tell devices what to do.
 *
 * An instruction that waits for its result is a struct on its thread's stack, in a list that the
 * lock protects. It leaves the list by its result, by the end of the connection (then it stays
 * desired), or by the end of its time. It is written down (fleet.h) before it is sent, and when it is known
 * what came of it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/condition.h"
#include "collector/desired.h"
#include "collector/registry_inside.h"

/* What is desired of all, as a copy, while the lock is held. */
static struct desired *dup_desired(const struct registry *r, size_t *ret_n)
{
	struct desired *rows = calloc(r->n + 1, sizeof(*rows));
	size_t n = 0;
	uint32_t i;

	for (i = 0; rows && i < r->n; i++) {
		const struct registry_row *row = &r->entries[i].row;

		if (!row->has_desired && !row->config.given)
			continue;
		rows[n].device = row->device.id;
		rows[n].config = row->config;
		if (row->has_desired)
			rows[n].verb = row->desired == DEVICE_TRACING ? INSTRUCTION_START
								      : INSTRUCTION_STOP;
		n++;
	}
	*ret_n = n;
	return rows;
}

/* What is desired of one device: to be put back if it refuses. */
struct intent {
	bool has_desired;
	uint8_t desired;
	struct message_config config;
};

/* Writes down what is desired of all, after `change` was made to one. */
static int remember(struct registry *r, uint32_t slot, const struct intent *change, struct error *e)
{
	_cleanup_free_ struct desired *rows = NULL;
	struct registry_row *row;
	size_t n;
	int result;

	pthread_mutex_lock(&r->save_lock);
	pthread_mutex_lock(&r->lock);
	row = &r->entries[slot].row;
	row->has_desired = change->has_desired;
	row->desired = change->desired;
	row->config = change->config;
	rows = dup_desired(r, &n);
	pthread_mutex_unlock(&r->lock);
	if (rows)
		result = desired_write(r->dir, rows, n, e);
	else
		result = error_set(e, ENOMEM, "cannot remember the instruction: out of memory");
	pthread_mutex_unlock(&r->save_lock);
	return result;
}

static struct intent get_intent(const struct registry_row *row)
{
	return (struct intent){ row->has_desired, row->desired, row->config };
}

static void intent_apply(struct intent *i, const struct message_instruction *m)
{
	if (m->verb != INSTRUCTION_CONFIGURE) {
		i->has_desired = true;
		i->desired = m->verb == INSTRUCTION_START ? DEVICE_TRACING : DEVICE_IDLE;
	}
	if (m->verb != INSTRUCTION_STOP)
		config_apply(&i->config, &m->config);
}

static void unlink_waiter(struct registry *r, const struct registry_waiter *w)
{
	struct registry_waiter **at = &r->waiters;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
}

/* With the lock held: leaves the instruction to the ingest, and waits. False: no result in time. */
static bool wait_result(struct registry *r, struct registry_waiter *w, unsigned int timeout_ms)
{
	uint64_t until_ms = clock_mono_ms() + timeout_ms;

	w->instruction.id = ++r->instructions;
	w->next = r->waiters;
	r->waiters = w;
	if (r->wake)
		r->wake(r->wake_context);
	while (!w->done && condition_wait(&r->changed, &r->lock, until_ms))
		;
	unlink_waiter(r, w);
	return w->done;
}

/* One of the parts of an instruction: for the agent (PACES), or for a recorder beside it. */
static bool get_part(const struct message_instruction *m, uint32_t of,
		     struct message_instruction *ret)
{
	*ret = *m;
	if (of < PACES) {
		ret->verb = INSTRUCTION_CONFIGURE;
		ret->config.given &= CONFIG_PACE_BITS(of);
		return ret->config.given;
	}
	ret->config.given &= ~CONFIG_PACES_BITS;
	return m->verb != INSTRUCTION_CONFIGURE || ret->config.given;
}

/* What an instruction that has several parts comes to: the first failure, or that something waits. */
struct outcome {
	struct registry_result result;
	bool in_time;
	bool is_absent; /* a recorder that is not there will be told */
};

static void join_outcome(struct outcome *o, const struct registry_waiter *w, bool in_time)
{
	o->in_time &= in_time;
	o->is_absent |= w->is_absent;
	o->result.deferred |= w->result.deferred;
	if (w->result.code && !o->result.code)
		o->result.code = w->result.code;
	if (w->result.text[0] && (!o->result.text[0] || w->result.code))
		memcpy(o->result.text, w->result.text, sizeof(o->result.text));
}

/* With the lock held. */
static void tell(struct registry *r, const struct registry_request *q, uint64_t number,
		 uint32_t slot, struct outcome *o)
{
	struct registry_waiter w;
	bool in_time;
	uint32_t of;

	for (of = 0; of <= PACES; of++) {
		memset(&w, 0, sizeof(w));
		w.slot = slot;
		if (!get_part(&q->instruction, of, &w.instruction))
			continue;
		in_time = true;
		if (of < PACES || r->entries[slot].row.online)
			in_time = wait_result(r, &w, q->timeout_ms);
		else
			w.result.deferred = true;
		if (!in_time)
			told_put_late(&r->entries[slot].told, w.instruction.id, number);
		join_outcome(o, &w, in_time);
	}
}

/* Remembered before it is sent: a device that is just coming back is told what is remembered, and
 * what was sent to its old connection never arrives. */
static int instruct(struct registry *r, const struct registry_request *q, uint64_t number,
		    struct registry_result *ret, struct error *e)
{
	struct outcome o = { .in_time = true };
	struct intent before = { 0 }, after;
	uint32_t slot;
	int result;

	pthread_mutex_lock(&r->lock);
	slot = *registry_find_place(r, &q->device);
	if (slot != REGISTRY_NEVER)
		before = get_intent(&r->entries[slot].row);
	pthread_mutex_unlock(&r->lock);
	if (slot == REGISTRY_NEVER)
		return error_set(e, ENOENT, "cannot instruct the device: it is not known");
	after = before;
	intent_apply(&after, &q->instruction);
	result = remember(r, slot, &after, e);
	if (result < 0)
		return result;
	pthread_mutex_lock(&r->lock);
	tell(r, q, number, slot, &o);
	pthread_mutex_unlock(&r->lock);
	if (o.result.code) /* what a device refused is not asked of it again */
		result = remember(r, slot, &before, e);
	if (!o.in_time)
		return error_set(e, ETIMEDOUT,
				 "cannot instruct the device: it did not answer within %u ms",
				 q->timeout_ms);
	if (o.result.deferred)
		snprintf(o.result.text, sizeof(o.result.text),
			 "the device is away; it is told when it comes");
	else if (o.is_absent && !o.result.code)
		snprintf(o.result.text, sizeof(o.result.text),
			 "nobody records there now; it is told when somebody does");
	*ret = o.result;
	return result;
}

/* --- what is written down --- */

static enum fleet_outcome outcome_of(int code, const struct registry_result *result)
{
	if (code == -ETIMEDOUT)
		return FLEET_TIMED_OUT;
	if (code < 0 || result->code)
		return FLEET_FAILED;
	return result->deferred ? FLEET_DEFERRED : FLEET_DONE;
}

/* What came of it; one that waits is settled when the device answers, which it may have done by now. */
static int write_outcome(struct registry *r, const struct registry_request *q, uint64_t number,
			 const struct fleet_result *result, uint64_t arrivals)
{
	bool waits = result->outcome == FLEET_DEFERRED || result->outcome == FLEET_TIMED_OUT;
	int code = fleet_settle(r->fleet, number, result, NULL);
	struct told *told;
	uint32_t slot;
	bool over;

	if (!waits || code < 0)
		return code;
	pthread_mutex_lock(&r->lock);
	slot = *registry_find_place(r, &q->device);
	told = &r->entries[slot].told;
	over = told_wait(told, arrivals);
	told->waits = true;
	pthread_mutex_unlock(&r->lock);
	registry_settle(r, slot, over);
	return code;
}

static uint64_t count_arrivals(struct registry *r, const struct message_id *device)
{
	uint64_t n = 0;
	uint32_t slot;

	pthread_mutex_lock(&r->lock);
	slot = *registry_find_place(r, device);
	if (slot != REGISTRY_NEVER)
		n = r->entries[slot].told.arrivals;
	pthread_mutex_unlock(&r->lock);
	return n;
}

int registry_instruct(struct registry *r, const struct registry_request *q,
		      struct registry_result *ret, struct error *e)
{
	struct fleet_row row = { .device = q->device,
				 .at_ns = clock_real_ns(),
				 .verb = q->instruction.verb,
				 .config = q->instruction.config };
	struct registry_result answer = { .code = 0 };
	uint64_t number = 0, arrivals = count_arrivals(r, &q->device);
	int result;

	snprintf(row.from, sizeof(row.from), "%s", q->from ? q->from : "");
	snprintf(row.client, sizeof(row.client), "%s", q->client ? q->client : "");
	result = fleet_push(r->fleet, &row, &number, e);
	if (result < 0)
		return result;
	result = instruct(r, q, number, &answer, e);
	row.result.outcome = outcome_of(result, &answer);
	row.result.code = result < 0 ? (uint32_t)-result : answer.code;
	snprintf(row.result.text, sizeof(row.result.text), "%.255s",
		 result < 0 && e ? e->text : answer.text);
	/* Of a start and a stop that wait, a device is only told the last. */
	if (row.verb != INSTRUCTION_CONFIGURE && row.result.outcome != FLEET_FAILED)
		fleet_replace(r->fleet, &q->device, number, NULL);
	write_outcome(r, q, number, &row.result, arrivals);
	if (result >= 0)
		*ret = answer;
	return result;
}

int registry_set_group(struct registry *r, const struct message_id *device, const char *group,
		       struct error *e)
{
	uint32_t slot;
	int result;

	pthread_mutex_lock(&r->lock);
	slot = *registry_find_place(r, device);
	pthread_mutex_unlock(&r->lock);
	if (slot == REGISTRY_NEVER)
		return error_set(e, ENOENT, "cannot put the device into a group: it is not known");
	result = fleet_set_group(r->fleet, device, group, e);
	if (result < 0)
		return result;
	pthread_mutex_lock(&r->lock);
	snprintf(r->entries[slot].row.group, sizeof(r->entries[slot].row.group), "%s", group);
	pthread_mutex_unlock(&r->lock);
	return 0;
}

struct fleet *registry_get_fleet(const struct registry *r)
{
	return r->fleet;
}
