/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * func_hook: see func_hook.h. Here is what happens when a guess was wrong: finding a function in the
 * dictionary, and giving it a place there.
 *
 * The dictionary is a hash table whose places are the slots: a function may lie in one of
 * FUNC_HOOK_WAYS neighbours. Empty places hold 0, which is no function that a program calls; were it
 * one, it would be found in an empty place, on both sides alike.
 */
#include "wire/func_hook.h"

static uint32_t first_way(uint64_t address)
{
	uint32_t folded = (uint32_t)address ^ (uint32_t)(address >> 32);

	return (folded * 0x9e3779b1U) >> (32 - FUNC_HOOK_SLOT_BITS) & ~(FUNC_HOOK_WAYS - 1);
}

void func_hook_model_init(struct func_hook_model *m)
{
	func_stack_init(&m->stack);
	func_hook_model_clear(m, 0);
}

void func_hook_model_clear(struct func_hook_model *m, uint64_t tick)
{
	m->tick = tick;
	m->last_new = 0;
	m->history = 0;
	m->turn = 0;
	memset(m->function, 0, sizeof(m->function));
	memset(m->guess, 0, sizeof(m->guess));
	memset(m->second, 0, sizeof(m->second));
}

uint32_t func_hook_model_find(const struct func_hook_model *m, uint64_t address)
{
	uint32_t i, slot = first_way(address);

	for (i = 0; i < FUNC_HOOK_WAYS; i++, slot++)
		if (m->function[slot] == address && slot != FUNC_HOOK_EXIT)
			return slot;
	return 0;
}

uint32_t func_hook_model_add(struct func_hook_model *m, uint64_t address)
{
	uint32_t i, first = first_way(address), slot;

	for (i = 0; i < FUNC_HOOK_WAYS; i++)
		if (!m->function[first + i] && first + i != FUNC_HOOK_EXIT)
			break;
	slot = first + (i < FUNC_HOOK_WAYS ? i : m->turn++ % FUNC_HOOK_WAYS);
	if (slot == FUNC_HOOK_EXIT)
		slot++;
	m->function[slot] = address;
	m->last_new = address;
	return slot;
}
