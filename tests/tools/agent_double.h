/* SPDX-License-Identifier: MIT */
/* agent_double: what tests may change about the stand-ins; see agent_double.c. */
#ifndef KISEKI_TESTS_AGENT_DOUBLE_H
#define KISEKI_TESTS_AGENT_DOUBLE_H

#include <stdint.h>

extern uint32_t agent_double_kinds; /* 1 << kind: what the filter lets pass */
extern uint32_t agent_double_items; /* how many items a walk over the tasks gives */

#endif
