/* SPDX-License-Identifier: MIT */
/*
 * func_switch: whether programs record their calls, while they run.
 *
 * On a device that a collector knows, that is a part of its configuration. A process that records
 * alone, and its record, are switched here: the library looks at a word in the record's header at each call
 * (docs/format/func-buffer.md), which anybody may write who may write the file.
 */
#ifndef KISEKI_CLI_FUNC_SWITCH_H
#define KISEKI_CLI_FUNC_SWITCH_H

#include "cli/instruct.h"
#include "wire/message.h"

/* For all operands, whatever each of them is. The exit status. */
int func_switch_run(const struct args *a, enum func_mode mode);

#endif
