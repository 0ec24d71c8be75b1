/* SPDX-License-Identifier: MIT */
/*
 * input: any trace that a person names, as a source.
 *
 * The path may be a file, a folder (CTF), or "-" for standard input. Files are mapped. A pipe with
 * text is read as it comes, so that it can be followed live; the other formats need to seek, so a
 * pipe with one of them is first copied to a nameless temporary file ($TMPDIR or /tmp). A compressed
 * file is first unpacked into one.
 */
#ifndef KISEKI_CONVERT_INPUT_H
#define KISEKI_CONVERT_INPUT_H

#include "base/cleanup.h"
#include "base/error.h"
#include "convert/recognise.h"
#include "trace/source.h"
#include "trace/summary.h"

struct input;

int input_open(struct input **ret, const char *path, struct error *e);

/* The same, of a clock whose ticks have no known length unless somebody says how many are a second. */
int input_open_rate(struct input **ret, const char *path, uint64_t clock_hz, struct error *e);
void input_free(struct input *in);
DEFINE_CLEANUP(input, input_free)

/* The source, to be freed before the input is. Only the first call has it. */
struct trace_source *input_take_source(struct input *in);

/* Puts the input's name before an error of its source that does not have it: "cannot read x: …".
 * Returns code. */
int input_error(const char *path, int code, struct error *e);
enum recognised input_get_format(const struct input *in);
/* Where its bytes can be opened again while the input lives: its path, or that of the copy of what came
 * down a pipe. */
const char *input_get_path(const struct input *in);
uint64_t input_get_size(const struct input *in); /* bytes; 0 for pipes and folders */

/* Looks at every byte of a file whose reader would leave out what nobody asks for: the blocks of a
 * .ksk, whatever its index says. The damage it finds is then in the summary. */
int input_verify(const struct input *in, const struct trace_source *source, struct error *e);

/* What only the format's reader knows: version, blocks, damage. After the last item of the source
 * that was taken from this input. */
int input_add_summary(const struct input *in, const struct trace_source *source,
		      struct trace_summary *s, struct error *e);

#endif
