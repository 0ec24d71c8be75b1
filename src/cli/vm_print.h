/* SPDX-License-Identifier: MIT */
/* vm_print: what the commands for virtual machines print alike. */
#ifndef KISEKI_CLI_VM_PRINT_H
#define KISEKI_CLI_VM_PRINT_H

#include "cli/vm_reading.h"

/* One line about the recording. */
void vm_print_head(const struct vm_reading *r);

/* Each virtual CPU's wall time by classes, in percent. */
void vm_print_machines(const struct vm_reading *r);

/* What the numbers do not say: guests whose programs did not tell everything, losses. */
void vm_print_rest(const struct vm_reading *r);

/* "412/0": the machine and the number of the virtual CPU in it. */
#define VM_PRINT_VCPU_LEN 32
const char *vm_print_vcpu(const struct vm_reading *r, uint32_t vcpu, char text[VM_PRINT_VCPU_LEN]);

/* "... and 12 more; --limit 0 shows all", if there are. */
void vm_print_more(size_t shown, size_t n);

#endif
