/* SPDX-License-Identifier: MIT */
/*
 * registry: see registry.h.
 *
 * Rows are never removed, so a row's place names its device; a table of places by a hash of the
 * device's id finds it, and one by its name (registry_names.c).
 *
 * registry_instruct.c has the side of those who tell devices what to do.
 */
#include "collector/registry.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/condition.h"
#include "base/hex.h"
#include "collector/desired.h"
#include "collector/registry_inside.h"

#define ID_TEXT 33
#define ID_DIGITS_LEAST 6U
#define NS_PER_S 1000000000U
#define CPU_LEAST_NS 500000000U /* reports closer together do not tell how much it takes */

/* --- rows --- */

static uint32_t hash_id(const struct message_id *id)
{
	uint32_t h = 2166136261U;
	size_t i;

	for (i = 0; i < sizeof(id->bytes); i++)
		h = (h ^ id->bytes[i]) * 16777619U;
	return h;
}

static bool is_same_id(const struct message_id *a, const struct message_id *b)
{
	return !memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

/* Where the device is, or would be. The table is never full. */
uint32_t *registry_find_place(struct registry *r, const struct message_id *id)
{
	uint32_t at = hash_id(id) & (r->n_places - 1);

	while (r->places[at] != REGISTRY_NEVER &&
	       !is_same_id(&r->entries[r->places[at]].row.device.id, id))
		at = (at + 1) & (r->n_places - 1);
	return &r->places[at];
}

static int grow(struct registry *r)
{
	uint32_t room = r->room ? r->room * 2 : 64, i;
	struct registry_entry *entries = realloc(r->entries, room * sizeof(*entries));
	uint32_t *places;

	if (!entries)
		return -ENOMEM;
	r->entries = entries;
	places = malloc(sizeof(*places) * room * 2);
	if (!places)
		return -ENOMEM;
	free(r->places);
	r->places = places;
	r->room = room;
	r->n_places = room * 2;
	memset(places, 0xff, sizeof(*places) * r->n_places);
	for (i = 0; i < r->n; i++)
		*registry_find_place(r, &r->entries[i].row.device.id) = i;
	return 0;
}

/* The device's entry, a new one if there is none. */
static int get_entry(struct registry *r, const struct message_id *id, uint32_t *ret)
{
	uint32_t *place;
	struct registry_entry *entry;

	if (r->n == r->room && *registry_find_place(r, id) == REGISTRY_NEVER) {
		if (r->n >= REGISTRY_DEVICES_MAX)
			return -EDQUOT;
		if (grow(r) < 0)
			return -ENOMEM;
	}
	place = registry_find_place(r, id);
	if (*place == REGISTRY_NEVER) {
		*place = r->n;
		entry = &r->entries[r->n++];
		memset(entry, 0, sizeof(*entry));
		entry->row.device.id = *id;
		entry->row.clock_err_ns = UINT64_MAX;
		entry->row.cpu_ppm = UINT64_MAX;
	}
	*ret = *place;
	return 0;
}

/* --- opening --- */

static int add_known(void *context, const struct store_device *d)
{
	struct registry *r = context;
	uint32_t slot;
	int result = get_entry(r, &d->id, &slot);

	if (result == -EDQUOT)
		return 0; /* the rest come in when they call */
	if (result < 0)
		return result;
	r->entries[slot].row.device = *d;
	return registry_names_add(r, slot) < 0 ? -ENOMEM : 0;
}

static int add_desired(void *context, const struct desired *d)
{
	struct registry *r = context;
	struct registry_row *row;
	uint32_t slot;
	int result = get_entry(r, &d->device, &slot);

	if (result < 0)
		return result == -EDQUOT ? 0 : result;
	row = &r->entries[slot].row;
	row->has_desired = d->verb != 0;
	row->desired = d->verb == INSTRUCTION_START ? DEVICE_TRACING : DEVICE_IDLE;
	row->config = d->config;
	return 0;
}

static int add_said(void *context, const struct fleet_device *d)
{
	struct registry *r = context;
	uint32_t slot;
	int result = get_entry(r, &d->id, &slot);

	if (result < 0)
		return result == -EDQUOT ? 0 : result;
	if (d->waits)
		r->entries[slot].told.waits = true;
	else
		memcpy(r->entries[slot].row.group, d->group, sizeof(d->group));
	return 0;
}

static void init_locks(struct registry *r)
{
	pthread_mutex_init(&r->lock, NULL);
	pthread_mutex_init(&r->save_lock, NULL);
	condition_init(&r->changed);
	hashtable_init(&r->names, REGISTRY_DEVICES_MAX);
}

int registry_open(struct registry **ret, const char *dir, struct store *s, struct error *e)
{
	CLEANUP(registry) struct registry *r = calloc(1, sizeof(*r));
	int result;

	if (r)
		init_locks(r);
	if (!r || !(r->dir = strdup(dir)) || grow(r) < 0)
		return error_set(e, ENOMEM, "cannot list the devices: out of memory");
	result = s ? store_devices(s, add_known, r, e) : 0;
	if (result >= 0)
		result = desired_read(dir, add_desired, r, e);
	if (result >= 0) {
		desired_make(dir);
		result = fleet_open(&r->fleet, dir, e);
	}
	if (result >= 0)
		result = fleet_devices(r->fleet, add_said, r, e);
	if (result == -ENOMEM)
		return error_set(e, ENOMEM, "cannot list the devices: out of memory");
	if (result < 0)
		return result;
	*ret = take_ptr(r);
	return 0;
}

void registry_free(struct registry *r)
{
	if (!r)
		return;
	pthread_mutex_destroy(&r->lock);
	pthread_mutex_destroy(&r->save_lock);
	pthread_cond_destroy(&r->changed);
	fleet_free(r->fleet);
	hashtable_done(&r->names);
	free(r->entries);
	free(r->places);
	free(r->dir);
	free(r);
}

/* --- names --- */

/* Text of a device as it may be shown: control characters, '/' and what is no UTF-8 become '_'. */
static void set_text(char out[STORE_NAME_MAX], const struct message_text *t)
{
	uint32_t len = t->len < STORE_NAME_MAX - 1 ? t->len : STORE_NAME_MAX - 1, i, n = 0, more;

	for (i = 0; i < len; i += more) {
		uint8_t c = (uint8_t)t->at[i];

		more = c < 0x80 ? 1 : c >> 5 == 6 ? 2 : c >> 4 == 14 ? 3 : c >> 3 == 30 ? 4 : 0;
		for (uint32_t k = 1; k < more; k++)
			if (i + k >= len || ((uint8_t)t->at[i + k] & 0xc0) != 0x80)
				more = 0;
		if (more == 0 || c < 0x20 || c == 0x7f || c == '/') {
			out[n++] = '_';
			more = 1;
			continue;
		}
		memcpy(out + n, t->at + i, more);
		n += more;
	}
	out[n] = 0;
}

static int set_name(struct registry *r, uint32_t slot, const struct message_text *t)
{
	const uint8_t *id = r->entries[slot].row.device.id.bytes;
	char said[STORE_NAME_MAX];

	set_text(said, t);
	if (!said[0])
		snprintf(said, sizeof(said), "device-%02x%02x%02x%02x", id[0], id[1], id[2], id[3]);
	return registry_names_set(r, slot, said);
}

/* --- the ingest's side --- */

/* What a device says of itself. Of one that is known, who comes beside it says nothing new. */
static int describe(struct registry *r, uint32_t slot, const struct registry_arrival *a)
{
	struct registry_row *row = &r->entries[slot].row;

	if (a->beside && row->device.name[0])
		return 0;
	if (set_name(r, slot, &a->hello->name) < 0)
		return -ENOMEM;
	set_text(row->device.kernel, &a->hello->kernel);
	set_text(row->device.machine, &a->hello->machine);
	set_text(row->device.agent, &a->hello->agent);
	row->device.cpus = a->hello->cpus;
	row->device.seen_ns = a->now_ns;
	return 0;
}

static void connect(struct registry *r, uint32_t slot, const struct registry_arrival *a)
{
	struct registry_row *row = &r->entries[slot].row;
	struct registry_waiter *w;

	snprintf(row->address, sizeof(row->address), "%s", a->address);
	row->online = true;
	row->state = a->hello->state;
	row->origins = a->hello->origins;
	row->session = a->session;
	row->connected_ns = a->now_ns;
	row->clock_err_ns = row->cpu_ppm = UINT64_MAX;
	r->entries[slot].cpu_at_ns = 0;
	for (w = r->waiters; w; w = w->next)
		if (w->slot == slot)
			w->sent = false; /* to a connection whose place this one takes */
	if (r->wake)
		r->wake(r->wake_context);
}

int registry_arrive(struct registry *r, const struct registry_arrival *a, uint32_t *ret_slot,
		    struct store_device *ret_device, struct error *e)
{
	uint32_t slot;
	int result;

	pthread_mutex_lock(&r->lock);
	result = get_entry(r, &a->hello->device, &slot);
	if (result < 0) {
		pthread_mutex_unlock(&r->lock);
		return error_set(e, EDQUOT, "the collector can take no more than %u devices",
				 REGISTRY_DEVICES_MAX);
	}
	result = describe(r, slot, a);
	if (result < 0) {
		pthread_mutex_unlock(&r->lock);
		return error_set(e, ENOMEM, "cannot name the device: out of memory");
	}
	if (!a->beside)
		connect(r, slot, a);
	*ret_slot = slot;
	*ret_device = r->entries[slot].row.device;
	pthread_mutex_unlock(&r->lock);
	return 0;
}

bool registry_leave(struct registry *r, uint32_t slot, const struct registry_parting *p,
		    struct store_device *ret_device)
{
	struct registry_row *row;
	struct registry_waiter *w;
	bool is_gone;

	pthread_mutex_lock(&r->lock);
	row = &r->entries[slot].row;
	is_gone = row->session == p->session && row->online;
	if (is_gone) {
		row->online = false;
		row->connected_ns = 0;
		row->waiting_bytes = row->events_per_s = row->bytes_per_s = 0;
		row->device.seen_ns = p->now_ns;
		*ret_device = row->device;
		for (w = r->waiters; w; w = w->next) {
			if (w->slot != slot || config_get_pace(&w->instruction.config) != PACES)
				continue; /* another's, or for a recorder beside it */
			w->done = w->result.deferred = true;
		}
		pthread_cond_broadcast(&r->changed);
	}
	pthread_mutex_unlock(&r->lock);
	return is_gone;
}

/* Of the scheduler; false: nothing. */
static bool get_desired_trace(const struct registry_row *row, struct message_instruction *ret)
{
	ret->config = row->config;
	ret->config.given &= ~(1U << CONFIG_FUNC | CONFIG_PACES_BITS);
	ret->verb = INSTRUCTION_CONFIGURE;
	if (row->has_desired && row->desired == DEVICE_TRACING)
		ret->verb = INSTRUCTION_START; /* one that does it already says 0 */
	else if (row->has_desired && row->state != DEVICE_IDLE)
		ret->verb = INSTRUCTION_STOP;
	return ret->verb != INSTRUCTION_CONFIGURE || ret->config.given;
}

/* Those of its instructions that wait are settled by what it answered, or by that there was nothing to be
 * told. If that cannot be written they are found to wait when it comes the next time. */
void registry_settle(struct registry *r, uint32_t slot, bool over)
{
	struct fleet_result result;
	struct message_id device;
	bool waits;

	pthread_mutex_lock(&r->lock);
	waits = over && r->entries[slot].told.waits;
	if (waits)
		r->entries[slot].told.waits = false;
	result = r->entries[slot].told.result;
	device = r->entries[slot].row.device.id;
	pthread_mutex_unlock(&r->lock);
	if (waits)
		fleet_settle_device(r->fleet, &device, &result, NULL);
}

uint32_t registry_get_desired(struct registry *r, uint32_t slot,
			      struct message_instruction ret[REGISTRY_DESIRED_MAX])
{
	const struct registry_row *row;
	uint32_t n = 0, i;
	bool over;

	memset(ret, 0, REGISTRY_DESIRED_MAX * sizeof(*ret));
	pthread_mutex_lock(&r->lock);
	row = &r->entries[slot].row;
	n += get_desired_trace(row, &ret[n]);
	if (row->config.given & 1U << CONFIG_FUNC) {
		ret[n].verb = INSTRUCTION_CONFIGURE;
		ret[n].config = (struct message_config){ .given = 1U << CONFIG_FUNC,
							 .func = row->config.func };
		n++;
	}
	for (i = 0; i < n; i++)
		ret[i].id = ++r->instructions;
	over = told_start(&r->entries[slot].told, ret, n);
	pthread_mutex_unlock(&r->lock);
	registry_settle(r, slot, over);
	return n;
}

bool registry_get_pace(struct registry *r, uint32_t slot, enum config_pace_of of,
		       struct message_instruction *ret)
{
	bool has;

	memset(ret, 0, sizeof(*ret));
	ret->verb = INSTRUCTION_CONFIGURE;
	pthread_mutex_lock(&r->lock);
	ret->config = r->entries[slot].row.config;
	ret->config.given &= CONFIG_PACE_BITS(of);
	has = ret->config.given;
	if (has)
		ret->id = ++r->instructions;
	pthread_mutex_unlock(&r->lock);
	return has;
}

void registry_push_absent(struct registry *r, uint32_t slot, enum config_pace_of of)
{
	struct registry_waiter *w;

	pthread_mutex_lock(&r->lock);
	for (w = r->waiters; w; w = w->next)
		if (w->sent && !w->done && w->slot == slot &&
		    config_get_pace(&w->instruction.config) == of)
			w->done = w->is_absent = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

void registry_push_traffic(struct registry *r, uint32_t slot, const struct registry_traffic *t)
{
	struct registry_row *row;

	pthread_mutex_lock(&r->lock);
	row = &r->entries[slot].row;
	row->frames += t->frames;
	row->bytes += t->bytes;
	row->blocks += t->blocks;
	row->events += t->events;
	row->func_events += t->func_events;
	row->duplicates += t->duplicates;
	row->waiting_bytes = t->waiting_bytes;
	row->run = t->run;
	row->func_run = t->func_run;
	pthread_mutex_unlock(&r->lock);
}

bool registry_is_sent(const struct registry_row *row, uint32_t run)
{
	uint32_t i, k;

	for (i = 0; run && i < row->n_senders; i++)
		for (k = 0; k < REGISTRY_SENT_MAX; k++)
			if (row->senders[i].runs[k] == run)
				return true;
	return false;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static size_t copy_runs(const struct registry_sender *s, uint32_t *to)
{
	size_t n = 0, i;

	for (i = 0; i < REGISTRY_SENT_MAX; i++)
		if (s->runs[i])
			to[n++] = s->runs[i];
	return n;
}

/* The lock is held. */
static size_t copy_sent(const struct registry *r, uint32_t *to)
{
	size_t n = 0;
	uint32_t i, k;

	for (i = 0; i < r->n; i++)
		for (k = 0; k < r->entries[i].row.n_senders; k++)
			n += copy_runs(&r->entries[i].row.senders[k], to + n);
	return n;
}

int registry_list_sent(struct registry *r, uint32_t **ret, size_t *ret_n, struct error *e)
{
	uint32_t *list = NULL, i;
	size_t room = 1, n = 0;

	if (r) {
		pthread_mutex_lock(&r->lock);
		for (i = 0; i < r->n; i++)
			room += (size_t)r->entries[i].row.n_senders * REGISTRY_SENT_MAX;
		list = malloc(room * sizeof(*list));
		n = list ? copy_sent(r, list) : 0;
		pthread_mutex_unlock(&r->lock);
		if (!list)
			return error_set(e, ENOMEM, "cannot list the runs: out of memory");
	}
	if (n)
		qsort(list, n, sizeof(*list), by_number);
	*ret = list;
	*ret_n = n;
	return 0;
}

void registry_push_sent(struct registry *r, uint32_t slot, const struct registry_sender *sender)
{
	struct registry_row *row;
	bool sends = false;
	uint32_t i, k;

	for (k = 0; k < REGISTRY_SENT_MAX; k++)
		sends |= sender->runs[k] != 0;
	pthread_mutex_lock(&r->lock);
	row = &r->entries[slot].row;
	for (i = 0; i < row->n_senders && row->senders[i].session != sender->session; i++)
		;
	if (sends && i < REGISTRY_SENDERS_MAX) {
		row->senders[i] = *sender;
		row->n_senders += i == row->n_senders;
	} else if (!sends && i < row->n_senders) {
		row->senders[i] = row->senders[--row->n_senders];
	}
	pthread_mutex_unlock(&r->lock);
}

/* How much CPU its agent took since the last status. */
static void see_cpu(struct registry_entry *entry, uint64_t cpu_us, uint64_t now_ns)
{
	uint64_t elapsed_us = (now_ns - entry->cpu_at_ns) / 1000;

	if (entry->cpu_at_ns && cpu_us >= entry->last_cpu_us) {
		if (now_ns - entry->cpu_at_ns < CPU_LEAST_NS)
			return;
		entry->row.cpu_ppm = (cpu_us - entry->last_cpu_us) * 1000000 / elapsed_us;
	}
	entry->last_cpu_us = cpu_us;
	entry->cpu_at_ns = now_ns;
}

void registry_push_status(struct registry *r, uint32_t slot, const struct message_status *m)
{
	struct registry_row *row;

	pthread_mutex_lock(&r->lock);
	row = &r->entries[slot].row;
	row->status = *m;
	row->status.text = (struct message_text){ NULL, 0 };
	row->state = m->state;
	see_cpu(&r->entries[slot], m->cpu_us, clock_mono_ns());
	snprintf(row->status_text, sizeof(row->status_text), "%.*s", (int)m->text.len,
		 m->text.len ? m->text.at : "");
	pthread_mutex_unlock(&r->lock);
}

void registry_push_clock(struct registry *r, uint32_t slot, const struct store_clock *c,
			 uint64_t round_trip_ns)
{
	struct registry_row *row;

	pthread_mutex_lock(&r->lock);
	row = &r->entries[slot].row;
	row->clock_off_ns = c->off_ns;
	row->clock_err_ns = c->err_ns;
	row->round_trip_ns = round_trip_ns;
	pthread_mutex_unlock(&r->lock);
}

bool registry_push_result(struct registry *r, uint32_t slot, const struct message_result *m)
{
	struct fleet_result result;
	struct registry_waiter *w;
	uint64_t late = 0;
	bool over = false;

	pthread_mutex_lock(&r->lock);
	for (w = r->waiters; w; w = w->next)
		if (w->sent && w->slot == slot && w->instruction.id == m->id)
			break;
	if (w) {
		w->done = true;
		w->result.code = m->code;
		snprintf(w->result.text, sizeof(w->result.text), "%.*s", (int)m->text.len,
			 m->text.len ? m->text.at : "");
		pthread_cond_broadcast(&r->changed);
	} else {
		late = told_take_late(&r->entries[slot].told, m, &result);
		over = !late && told_push(&r->entries[slot].told, m);
	}
	pthread_mutex_unlock(&r->lock);
	if (late)
		fleet_settle_late(r->fleet, late, &result, NULL);
	registry_settle(r, slot, over);
	return w != NULL;
}

void registry_set_wake(struct registry *r, void (*wake)(void *context), void *context)
{
	pthread_mutex_lock(&r->lock);
	r->wake = wake;
	r->wake_context = context;
	pthread_mutex_unlock(&r->lock);
}

bool registry_pop_instruction(struct registry *r, uint32_t *ret_slot,
			      struct message_instruction *ret)
{
	struct registry_waiter *w;

	pthread_mutex_lock(&r->lock);
	for (w = r->waiters; w && (w->sent || w->done); w = w->next)
		;
	if (w) {
		w->sent = true;
		*ret_slot = w->slot;
		*ret = w->instruction;
	}
	pthread_mutex_unlock(&r->lock);
	return w != NULL;
}

static uint64_t get_rate(uint64_t old, uint64_t count, uint64_t elapsed_ns)
{
	uint64_t now = count * 1000 / (elapsed_ns / 1000000 + 1);

	return (old + now * 2) / 3;
}

void registry_tick(struct registry *r, uint64_t mono_ns)
{
	uint64_t elapsed;
	uint32_t i;

	pthread_mutex_lock(&r->lock);
	elapsed = mono_ns - r->tick_ns;
	r->tick_ns = mono_ns;
	for (i = 0; i < r->n; i++) {
		struct registry_entry *entry = &r->entries[i];
		struct registry_row *row = &entry->row;

		if (!row->online)
			continue;
		row->events_per_s =
			get_rate(row->events_per_s, row->events - entry->last_events, elapsed);
		row->bytes_per_s =
			get_rate(row->bytes_per_s, row->bytes - entry->last_bytes, elapsed);
		entry->last_events = row->events;
		entry->last_bytes = row->bytes;
	}
	pthread_mutex_unlock(&r->lock);
}

/* --- for those who ask --- */

static int compare_names(const void *a, const void *b)
{
	const struct registry_row *x = a, *y = b;
	int r = strcmp(x->device.name, y->device.name);

	return r ? r : memcmp(x->device.id.bytes, y->device.id.bytes, sizeof(x->device.id.bytes));
}

int registry_list(struct registry *r, struct registry_row **ret, size_t *ret_n, struct error *e)
{
	struct registry_row *rows;
	uint32_t i;

	pthread_mutex_lock(&r->lock);
	rows = malloc((r->n + 1) * sizeof(*rows));
	for (i = 0; rows && i < r->n; i++)
		rows[i] = r->entries[i].row;
	pthread_mutex_unlock(&r->lock);
	if (!rows)
		return error_set(e, ENOMEM, "cannot list the devices: out of memory");
	qsort(rows, i, sizeof(*rows), compare_names);
	*ret = rows;
	*ret_n = i;
	return 0;
}

bool registry_id_match(const struct message_id *id, const char *text)
{
	char digits[ID_TEXT];
	size_t len = strlen(text);

	hex_format(id->bytes, sizeof(id->bytes), digits);
	return len >= ID_DIGITS_LEAST && len < ID_TEXT && !strncasecmp(digits, text, len);
}

/* With the lock held: the place, REGISTRY_NEVER for none, or r->n for more than one. */
static uint32_t find_by_id(const struct registry *r, const char *text)
{
	uint32_t i, found = REGISTRY_NEVER;

	for (i = 0; i < r->n; i++) {
		if (!registry_id_match(&r->entries[i].row.device.id, text))
			continue;
		if (found != REGISTRY_NEVER)
			return r->n;
		found = i;
	}
	return found;
}

int registry_find(struct registry *r, const char *name, struct registry_row *ret, struct error *e)
{
	uint32_t i;

	pthread_mutex_lock(&r->lock);
	i = registry_names_get(r, name);
	if (i == REGISTRY_NEVER)
		i = find_by_id(r, name);
	if (i < r->n)
		*ret = r->entries[i].row;
	pthread_mutex_unlock(&r->lock);
	if (i == REGISTRY_NEVER)
		return error_set(e, ENOENT,
				 "cannot find device '%s': no device has that name or id", name);
	if (i >= r->n)
		return error_set(e, ENOTUNIQ, "cannot find device '%s': several ids start so",
				 name);
	return 0;
}
