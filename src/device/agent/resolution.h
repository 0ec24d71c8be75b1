/* SPDX-License-Identifier: MIT */
/*
 * resolution: how finely the machine's counter resolves time. Stamps are in nanoseconds, but a
 * counter of 25 MHz moves every 40: the bits below that are noise, and cost room in every block.
 */
#ifndef KISEKI_DEVICE_AGENT_RESOLUTION_H
#define KISEKI_DEVICE_AGENT_RESOLUTION_H

#include <stdint.h>

#define RESOLUTION_SAMPLES 256U

/* Ticks a second of the counter behind CLOCK_MONOTONIC; 0 if the processor does not say. */
uint64_t resolution_get_frequency(void);

/* The shift of the largest power of two of nanoseconds that is not above the counter's period: no
 * two values of the counter become one tick. */
uint32_t resolution_auto(void);

/* The same from a frequency, and from the steps between readings of a clock in a loop. */
uint32_t resolution_of_frequency(uint64_t hz);
uint32_t resolution_of_steps(uint32_t *steps, uint32_t n);

#endif
