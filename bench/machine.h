/* SPDX-License-Identifier: MIT */
/*
 * machine: on what, when and with which libraries the figures were taken.
 */
#ifndef KISEKI_BENCH_MACHINE_H
#define KISEKI_BENCH_MACHINE_H

#include "result.h"

void machine_describe(struct bench_result *b, int argc, char **argv);

#endif
