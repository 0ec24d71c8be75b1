/* SPDX-License-Identifier: MIT */
/*
 * fleet: what all simulated devices share: what they were told on the command line, their tapes, the
 * collectors, and one loop of one thread. device.h is one of them.
 */
#ifndef KISEKI_BENCH_FLEET_FLEET_H
#define KISEKI_BENCH_FLEET_FLEET_H

#include <sys/socket.h>

#include "collector/wheel.h"
#include "tally.h"
#include "tape.h"

#define FLEET_DEVICES_MAX 1000000U
#define FLEET_TARGETS_MAX 256U
#define FLEET_TAPES_MAX 256U
#define FLEET_HELD_MAX 32768U /* of a frame that is not whole */
#define FLEET_READ_MAX 65536U
#define FLEET_GATHER 16384U /* a record of TLS */

struct device;

struct fleet_options {
	uint32_t devices;
	double seconds; /* of recording that each device plays; 0: until a signal */
	double ramp_s;	/* in which they come */
	double rate;	/* events a second of a device; 0: as recorded, < 0: as fast as it goes */
	double cuts_s;	/* mean time between two cuts of a device; 0: none */
	uint64_t spool_bytes; /* a device that was away gives up what is beyond; 0: nothing */
	double patience_s;    /* without any acknowledgement */
	bool failover;	      /* after a cut, to the next collector: they have one store */
	uint64_t seed;
	const char *name; /* of devices, with their numbers behind it, */
	bool same_name;	  /* or without */
	const char *keys; /* folder with the state folders of enrolled devices, 0 and on, or NULL */
	const char *runs; /* file for the account of each device, or NULL */
	bool describe;	  /* the tapes, and nothing else */
	bool identities;  /* of the devices, and nothing else */
};

struct fleet {
	struct fleet_options o;
	struct sockaddr_storage targets[FLEET_TARGETS_MAX];
	uint32_t n_targets;
	struct tape tapes[FLEET_TAPES_MAX];
	uint32_t n_tapes;
	struct device *devices;
	struct wheel wheel;
	int epoll_fd;
	uint64_t started_ms, started_real_ns; /* started_real_ns tells runs of two fleets apart */
	uint64_t now_ms;		      /* as the loop last looked */
	struct tally tally;
	uint8_t in[FLEET_HELD_MAX + FLEET_READ_MAX];
	uint8_t out[TAPE_FRAME_MAX];
	uint8_t gathered[FLEET_GATHER]; /* of the device whose turn it is */
	uint32_t gathered_len;
};

/* When a device's turn is. The collector's wheel counts steps of 100 ms; here its unit is 1/25 ms. */
void fleet_wake(struct fleet *f, struct device *d, uint64_t at_ms);

#endif
