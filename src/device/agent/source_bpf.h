/* SPDX-License-Identifier: MIT */
/*
 * source_bpf: what its programs have counted on a CPU, without reading any of it. For `doctor`,
 * which compares sources; the source itself is in source.h.
 */
#ifndef KISEKI_DEVICE_AGENT_SOURCE_BPF_H
#define KISEKI_DEVICE_AGENT_SOURCE_BPF_H

#include <stdint.h>

struct device_source;

struct bpf_counts {
	uint64_t bytes;	      /* put into the ring, headers included */
	uint64_t dropped;     /* found no room there */
	uint64_t passed_over; /* by the filter */
};

#define BPF_SWITCH_BYTES 56U /* of a switch in the ring */

void source_bpf_get_counts(const struct device_source *s, uint32_t cpu, struct bpf_counts *ret);

#endif
