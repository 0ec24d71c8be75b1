/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* boot_model: see boot_model.h. */
#include "wire/boot_model.h"

const uint8_t boot_model_fields[BOOT_KINDS] = {
	[BOOT_PASS] = 0,      [BOOT_START] = 7, [BOOT_NAME] = 12,      [BOOT_EXEC] = 12,
	[BOOT_TASK] = 12,     [BOOT_WAIT] = 19, [BOOT_EXIT] = 19,      [BOOT_ACCOUNT] = 21,
	[BOOT_CPU] = 33,      [BOOT_DISK] = 41, [BOOT_DISK_NAME] = 48, [BOOT_MEMORY] = 48,
	[BOOT_PRESSURE] = 57, [BOOT_MARK] = 59,
};

const uint8_t boot_model_states[BOOT_STATE_LETTERS] = { 'R', 'S', 'D', 'Z', 'T', 't', 'I', 'X',
							'P', 'W', 'K', 'N', 'x', '?', 0 };

/* Where the rows of a kind start, and by which bits of the key they are told apart. */
static const struct {
	uint8_t first, mask;
} rows[BOOT_KINDS] = {
	[BOOT_PASS] = { 0, 0 },	   [BOOT_START] = { 1, 0 },  [BOOT_EXIT] = { 2, 0 },
	[BOOT_ACCOUNT] = { 3, 0 }, [BOOT_MEMORY] = { 4, 0 }, [BOOT_PRESSURE] = { 5, 3 },
	[BOOT_MARK] = { 9, 7 },	   [BOOT_DISK] = { 17, 31 }, [BOOT_CPU] = { 49, 31 },
};

static void init_size(struct boot_size *s)
{
	nibble_model_init(&s->high);
	BIT_MODELS_INIT(s->low);
}

void boot_model_init(struct boot_model *m)
{
	memset(m, 0, sizeof(*m));
	m->kind[0] = m->kind[1] = BOOT_KINDS;
	boot_texts_init(&m->texts);
	NIBBLE_MODELS_INIT(m->kinds);
	NIBBLE_MODELS_INIT(m->keys);
	NIBBLE_MODELS_INIT(m->times);
	NIBBLE_MODELS_INIT(m->text);
	NIBBLE_MODELS_INIT(m->state);
	init_size(&m->plain[0]);
	MODELS_REPEAT(m->plain);
	NIBBLE_MODELS_INIT(m->field[0].step);
	init_size(&m->field[0].size);
	MODELS_REPEAT(m->field);
}

uint32_t boot_model_state(uint64_t letter)
{
	uint32_t i;

	for (i = 0; i < BOOT_STATE_LETTERS; i++)
		if (boot_model_states[i] == letter)
			break;
	return i;
}

static struct boot_row *row_of(struct boot_model *m, uint32_t kind, uint32_t key)
{
	return &m->row[rows[kind].first + (key & rows[kind].mask)];
}

struct boot_task *boot_model_task(struct boot_model *m, uint32_t key)
{
	struct boot_task *t = &m->task[key & (BOOT_TASKS - 1)];

	if (t->key != key) {
		memset(t, 0, sizeof(*t));
		t->key = key;
	}
	return t;
}

/* Processes lie in the table in the order of their pids, but for the turn at its end: whoever is not
 * behind `after` was met before that. */
uint32_t boot_model_nth(const struct boot_model *m, uint32_t after, uint32_t n)
{
	uint32_t i, key;

	for (i = 1; i <= BOOT_TASKS; i++) {
		key = m->alive[(after + i) & (BOOT_TASKS - 1)];
		if (key > after && !n--)
			return key;
	}
	return 0;
}

uint32_t boot_model_rank(const struct boot_model *m, uint32_t after, uint32_t key)
{
	uint32_t i, n = 0, found;

	if (key <= after || m->alive[key & (BOOT_TASKS - 1)] != key)
		return BOOT_KEY_SAME;
	for (i = 1; i <= BOOT_TASKS && n < BOOT_KEY_SAME; i++) {
		found = m->alive[(after + i) & (BOOT_TASKS - 1)];
		if (found == key)
			return n;
		n += found > after;
	}
	return BOOT_KEY_SAME;
}

static void expect_task(const struct boot_task *t, struct boot_expected *ret)
{
	ret->number[BOOT_TASK_STATE] = t->state;
	memcpy(&ret->number[BOOT_TASK_USER], t->time, sizeof(t->time));
	ret->number[BOOT_TASK_FAULTS] = t->faults;
	ret->number[BOOT_TASK_THREADS] = t->threads;
	ret->moved = t->moved;
}

/* What was used in all is at least what was seen last. */
static void expect_account(const struct boot_task *t, const struct boot_row *row,
			   struct boot_expected *ret)
{
	memset(ret->number, 0, sizeof(ret->number));
	memcpy(&ret->number[BOOT_ACCOUNT_USER], t->time, sizeof(t->time));
	ret->number[BOOT_ACCOUNT_FAULTS] = t->faults;
	ret->number[BOOT_ACCOUNT_RSS] = row->number[BOOT_ACCOUNT_RSS];
}

void boot_model_expect(struct boot_model *m, const struct boot_event *ev, struct boot_expected *ret)
{
	const struct boot_row *row;

	if (ev->kind == BOOT_TASK) {
		expect_task(boot_model_task(m, ev->key), ret);
		return;
	}
	row = row_of(m, ev->kind, ev->key);
	memcpy(ret->number, row->number, sizeof(ret->number));
	ret->moved = row->moved;
	if (ev->kind == BOOT_ACCOUNT)
		expect_account(boot_model_task(m, ev->key), row, ret);
	if (ev->kind == BOOT_START)
		ret->number[BOOT_START_GROUP] = ev->key;
	if (ev->kind == BOOT_START && !row->apart)
		ret->number[BOOT_START_TICK] = ev->tick;
	if (ev->kind == BOOT_MARK && !row->apart)
		ret->number[BOOT_MARK_TICK] = ev->tick;
}

static void learn_task(struct boot_task *t, const struct boot_event *ev, uint32_t moved)
{
	t->state = (uint8_t)boot_model_state(ev->number[BOOT_TASK_STATE]);
	memcpy(t->time, &ev->number[BOOT_TASK_USER], sizeof(t->time));
	t->faults = (uint32_t)ev->number[BOOT_TASK_FAULTS];
	t->threads = (uint32_t)ev->number[BOOT_TASK_THREADS];
	t->moved = (uint8_t)moved;
}

/* A new process has its parent's name until it says otherwise. */
static void learn_start(struct boot_model *m, const struct boot_event *ev)
{
	uint32_t parent = (uint32_t)ev->number[BOOT_START_PARENT];
	uint16_t name = 0;
	struct boot_task *t;

	if (m->task[parent & (BOOT_TASKS - 1)].key == parent)
		name = m->task[parent & (BOOT_TASKS - 1)].name;
	t = boot_model_task(m, ev->key);
	memset(t, 0, sizeof(*t));
	t->key = ev->key;
	t->name = name;
}

static void learn_row(struct boot_model *m, const struct boot_event *ev, uint32_t moved)
{
	struct boot_row *row = row_of(m, ev->kind, ev->key);

	memcpy(row->number, ev->number, boot_shapes[ev->kind].numbers * sizeof(ev->number[0]));
	row->moved = (uint16_t)moved;
	if (ev->kind == BOOT_START)
		row->apart = ev->number[BOOT_START_TICK] != ev->tick;
	if (ev->kind == BOOT_MARK)
		row->apart = ev->number[BOOT_MARK_TICK] != ev->tick;
}

void boot_model_learn(struct boot_model *m, const struct boot_event *ev, uint32_t moved)
{
	if (ev->kind == BOOT_TASK)
		learn_task(boot_model_task(m, ev->key), ev, moved);
	else if (boot_shapes[ev->kind].numbers)
		learn_row(m, ev, moved);
	if (ev->kind == BOOT_START)
		learn_start(m, ev);
	if (boot_kind_is_task(ev->kind))
		boot_model_task(m, ev->key);
	if (ev->kind >= BOOT_START && ev->kind < BOOT_EXIT)
		m->alive[ev->key & (BOOT_TASKS - 1)] = ev->key;
	if (ev->kind == BOOT_EXIT && m->alive[ev->key & (BOOT_TASKS - 1)] == ev->key)
		m->alive[ev->key & (BOOT_TASKS - 1)] = 0;
	m->last_key[ev->kind] = ev->key;
	if (ev->kind == BOOT_PASS) {
		m->interval = ev->tick - m->pass;
		m->pass = ev->tick;
		m->last_key[BOOT_TASK] = m->last_key[BOOT_WAIT] = 0;
	}
	m->tick = ev->tick;
	m->key = ev->key;
	m->kind[1] = m->kind[0];
	m->kind[0] = ev->kind;
}

void boot_model_learn_text(struct boot_model *m, const struct boot_event *ev, uint32_t number)
{
	uint16_t said = number == BOOT_TEXT_NONE ? 0 : (uint16_t)(number + 1);
	struct boot_task *t;

	if (ev->kind == BOOT_NAME)
		boot_model_task(m, ev->key)->name = said;
	if (ev->kind != BOOT_WAIT)
		return;
	t = boot_model_task(m, ev->key);
	if (t->place[0] == said)
		return;
	t->place[1] = t->place[0];
	t->place[0] = said;
}

const struct boot_short *boot_model_said(const struct boot_model *m, const struct boot_event *ev,
					 uint32_t back, uint32_t *ret_number)
{
	const struct boot_task *t = &m->task[ev->key & (BOOT_TASKS - 1)];
	uint32_t said = 0;

	if (t->key != ev->key)
		return NULL;
	if (ev->kind == BOOT_WAIT)
		said = t->place[back];
	else if (ev->kind == BOOT_NAME && !back)
		said = t->name;
	if (!said)
		return NULL;
	*ret_number = said - 1;
	return boot_texts_get(&m->texts, boot_kind_shelf(ev->kind), said - 1);
}

uint64_t boot_divide(uint64_t n, uint64_t d, uint64_t *ret_rest)
{
	uint32_t shift = n < d ? 0 : boot_bit_length(n) - boot_bit_length(d) + 1;
	uint64_t q = 0;

	while (shift--) {
		q <<= 1;
		if (n >= d << shift) {
			n -= d << shift;
			q |= 1;
		}
	}
	*ret_rest = n;
	return q;
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
	uint64_t rest;

	while (b) {
		boot_divide(a, b, &rest);
		a = b;
		b = rest;
	}
	return a;
}

void boot_unit_learn(struct boot_unit *u, uint64_t difference)
{
	if (u->next != 1)
		u->next = greatest_divisor(difference, u->next);
	if (u->now != 1)
		u->now = greatest_divisor(difference, u->now);
	if (++u->age < BOOT_UNIT_LIFE)
		return;
	u->now = u->next;
	u->next = 0;
	u->age = 0;
}
