/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * loss: why events are missing. The numbers are part of the wire format (docs/format/wire.md,
 * section 8).
 *
 * Every event that was generated and is not in the trace is counted under one of these; the
 * ledger is the list of such counts with their stream and interval.
 */
#ifndef KISEKI_WIRE_LOSS_H
#define KISEKI_WIRE_LOSS_H

#include "wire/types.h"

enum loss_cause {
	LOSS_RING = 0,	 /* the kernel's ring was overwritten before it was read */
	LOSS_BUFFER = 1, /* the device's block memory was full */
	LOSS_SPOOL = 2,	 /* dropped from the spool while the link was down */
	LOSS_DAMAGE = 3, /* stored or sent bytes are torn or flipped */
	LOSS_STORE = 4,	 /* the collector could not keep it */
	LOSS_CAUSES = 5,
};

/* A count that nobody knows, only that it is not zero. */
#define LOSS_UNKNOWN UINT64_MAX

#endif
