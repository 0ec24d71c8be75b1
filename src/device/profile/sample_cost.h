/* SPDX-License-Identifier: MIT */
/*
 * sample_cost: what the kernel needs to take one sample, which is in no process's account.
 *
 * A loop is timed with and without being sampled very often; the fastest rounds are compared, so that whatever else ran
 * meanwhile does not count. It is the cost of a short call chain: deeper ones take longer.
 */
#ifndef KISEKI_DEVICE_PROFILE_SAMPLE_COST_H
#define KISEKI_DEVICE_PROFILE_SAMPLE_COST_H

#include "device/profile/perf_abi.h"

/* ns for samples by the clock with the fields of this event; 0: it cannot be told. Takes about 20 ms. */
uint64_t sample_cost_measure(const struct perf_attr *attr);

#endif
