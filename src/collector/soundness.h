/* SPDX-License-Identifier: MIT */
/*
 * soundness: what a collector says at its start of files that a disk has damaged and that it cannot make again: who told devices what, and who may
 * come in. It starts nonetheless if SQLite can read them, for a row that does not fit its checksum is not believed.
 */
#ifndef KISEKI_COLLECTOR_SOUNDNESS_H
#define KISEKI_COLLECTOR_SOUNDNESS_H

#include "collector/collector.h"

#define SOUNDNESS_FILES 3U

struct soundness {
	struct error found[SOUNDNESS_FILES]; /* an empty text: nothing is wrong with that one */
};

/* Before the files are opened. `keys`: their folder, or "". */
void soundness_look(struct soundness *s, const char *data, const char *keys);

/* When all has started: of a file that could not be opened the error tells. */
void soundness_tell(const struct soundness *s, const struct collector_options *o);

#endif
