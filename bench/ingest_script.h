/* SPDX-License-Identifier: MIT */
/*
 * ingest_script: what a connection of the ingest benchmark sends: the blocks of a .ksk file as the
 * frames of a run, over and over, each time as another run.
 */
#ifndef KISEKI_BENCH_INGEST_SCRIPT_H
#define KISEKI_BENCH_INGEST_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define INGEST_RUN_BYTES 18U /* of a RUN frame */

struct ingest_script {
	uint8_t *bytes; /* BLOCK frames and an END; RUN goes before them */
	size_t len, room;
	size_t *ends; /* where each frame ends */
	size_t n, n_room;
	uint64_t events;
};

int ingest_script_open(struct ingest_script *s, const char *path, struct error *e);
void ingest_script_close(struct ingest_script *s);

/* Bytes of one pass, its RUN included; and up to the end of that many frames of all passes. */
uint64_t ingest_script_pass(const struct ingest_script *s);
uint64_t ingest_script_until(const struct ingest_script *s, uint64_t frames);

#endif
