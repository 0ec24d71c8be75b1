/* SPDX-License-Identifier: MIT */
/*
 * fact_vm: a minute of virtual machines, made of the items of a source that others may read, too (fact_build.h).
 */
#ifndef KISEKI_FACTS_FACT_VM_H
#define KISEKI_FACTS_FACT_VM_H

#include "facts/fact_build.h"
#include "trace/sample_source.h"

struct fact_vm;

/* What it is given must outlive it; `e` is kept until the end. */
int fact_vm_new(struct fact_vm **ret, const struct fact_build *b, struct sample_source *source,
		const struct fact_window *window, struct error *e);
void fact_vm_free(struct fact_vm *v);
DEFINE_CLEANUP(fact_vm, fact_vm_free)

int fact_vm_put(struct fact_vm *v, const struct sample_item *item);

/* All was put: into an empty set. -ENODATA: there is nothing. */
int fact_vm_give(struct fact_vm *v, struct fact_set *set);

#endif
