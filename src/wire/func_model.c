/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* func_model: see func_model.h. Here is what happens seldom: starting anew, and giving slots. */
#include "wire/func_model.h"

const uint8_t func_model_steps[FUNC_SURE_MAX + 1] = {
	0, 1, 2, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
	6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
};

const struct func_time_class func_time_classes[FUNC_TIME_WIDE] = {
	{ 0, 0 }, { 1, 0 }, { 2, 0 },  { 3, 0 },  { 4, 0 },  { 5, 0 },	{ 6, 0 },
	{ 7, 0 }, { 8, 0 }, { 12, 0 }, { 16, 0 }, { 24, 0 }, { 32, 1 }, { 64, 2 },
};

/* A guess is mostly right, and the surer the more: the contexts start with that. How sure is in their lower eight bits. */
static void init_first(struct func_model *m)
{
	uint32_t i, step;

	for (i = 0; i < 256; i++) {
		step = i >> 7 & 1 ? i >> 3 & 7 : i & 7;
		m->first[i].v = (uint16_t)((8192 - (4096U >> step)) << 3);
	}
	models_repeat(m->first, sizeof(m->first), 256 * sizeof(m->first[0]));
}

void func_model_init(struct func_model *m)
{
	m->tick = 0;
	m->last_new = 0;
	m->history = 0;
	m->path = 0;
	m->os_history = 0;
	m->last = 0;
	m->turn = 0;
	func_stack_init(&m->stack);
	memset(m->value, 0, sizeof(m->value));
	memset(m->type, 0, sizeof(m->type));
	memset(m->by_path, 0, sizeof(m->by_path));
	memset(m->by_history, 0, sizeof(m->by_history));
	memset(m->by_last, 0, sizeof(m->by_last));
	init_first(m);
	BIT_MODELS_INIT(m->second);
	BIT_MODELS_INIT(m->number);
	BIT_MODELS_INIT(m->low_of);
	bit_model_init(&m->frame_known);
	nibble_model_init(&m->other);
	nibble_model_init(&m->tree.high);
	NIBBLE_MODELS_INIT(m->tree.middle);
	NIBBLE_MODELS_INIT(m->tree.low);
	nibble_model_init(&m->address_low);
	nibble_model_init(&m->time);
	NIBBLE_MODELS_INIT(m->more);
	NIBBLE_MODELS_INIT(m->time_of);
	NIBBLE_MODELS_INIT(m->more_of);
}

static uint32_t first_way(uint32_t type, uint64_t value)
{
	uint32_t folded = (uint32_t)value ^ (uint32_t)(value >> 32) ^ type << 24;

	return func_mark(folded) >> (32 - FUNC_SLOT_BITS) & ~(FUNC_WAYS - 1);
}

uint32_t func_model_find(const struct func_model *m, uint32_t type, uint64_t value)
{
	uint32_t i, slot = first_way(type, value);

	for (i = 0; i < FUNC_WAYS; i++, slot++)
		if (m->value[slot] == value && m->type[slot] == type)
			return slot;
	return 0;
}

uint32_t func_model_add(struct func_model *m, uint32_t type, uint64_t value)
{
	uint32_t i, first = first_way(type, value), slot;

	for (i = 0; i < FUNC_WAYS; i++)
		if (m->type[first + i] == FUNC_TYPE_NONE && first + i != FUNC_SLOT_EXIT)
			break;
	slot = first + (i < FUNC_WAYS ? i : m->turn++ % FUNC_WAYS);
	if (slot == FUNC_SLOT_EXIT)
		slot++;
	m->value[slot] = value;
	m->type[slot] = (uint8_t)type;
	return slot;
}
