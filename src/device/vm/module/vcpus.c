/* SPDX-License-Identifier: GPL-2.0-only */
/* vcpus: see vcpus.h. A place is one word, so that it needs no lock: it is right, or it is another thread's. */
#include "device/vm/module/vcpus.h"

#include <linux/vmalloc.h>

#include "wire/sample_event.h"

int vcpus_init(struct vcpus *v)
{
	v->ops = NULL;
	v->sets = vzalloc(sizeof(*v->sets) * VCPUS_SETS);
	return v->sets ? 0 : -ENOMEM;
}

void vcpus_done(struct vcpus *v)
{
	vfree(v->sets);
	v->sets = NULL;
}

void vcpus_keep(struct vcpus *v, u64 word)
{
	u64 *set = v->sets[(u32)(word >> 32) % VCPUS_SETS];
	u32 i;

	for (i = 0; i < VCPUS_WAYS; i++) {
		u64 was = READ_ONCE(set[i]);

		if (was == word)
			return;
		if (!was || was >> 32 == word >> 32)
			break;
	}
	/* The first place is the one that goes: any would do. */
	WRITE_ONCE(set[i % VCPUS_WAYS], word);
}

s32 vcpus_remember(const struct vcpus *v, struct task_struct *t)
{
	const u64 *set = v->sets[(u32)t->pid % VCPUS_SETS];
	u32 i;

	for (i = 0; i < VCPUS_WAYS; i++) {
		u64 word = READ_ONCE(set[i]);

		if (word >> 32 == (u32)t->pid)
			return (s32)(u32)word - 1; /* of no thread: -1 */
	}
	return SAMPLE_NO_VCPU;
}

void vcpus_forget(struct vcpus *v, struct task_struct *t)
{
	u64 *set = v->sets[(u32)t->pid % VCPUS_SETS];
	u32 i;

	for (i = 0; i < VCPUS_WAYS; i++)
		if (READ_ONCE(set[i]) >> 32 == (u32)t->pid)
			WRITE_ONCE(set[i], 0);
}

void vcpus_unlearn(struct vcpus *v)
{
	u32 set, i;

	WRITE_ONCE(v->ops, NULL);
	for (set = 0; set < VCPUS_SETS; set++)
		for (i = 0; i < VCPUS_WAYS; i++)
			WRITE_ONCE(v->sets[set][i], 0);
}
