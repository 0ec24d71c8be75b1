/* SPDX-License-Identifier: MIT */
/*
 * error: why something failed, in words a person can act on.
 *
 * Functions return 0 or a negative errno; the text goes into a caller-owned struct that is filled
 * where the cause is known, because only there are the offset and the object still at hand. The
 * text has the form "cannot <verb> <object>: <reason>" or "<object>: <reason> at offset N", is one
 * line, and is printed once, by the program and not by the library. A NULL struct error is fine.
 */
#ifndef KISEKI_BASE_ERROR_H
#define KISEKI_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct error {
	char text[512];
};

#define ERROR_INIT                                                                                 \
	{                                                                                          \
		.text = ""                                                                         \
	}

/* Both store the text and return -code, so that `return error_set(e, EINVAL, …)` reads well.
 * Control characters that came with outside names are replaced, so a message stays one line. */
__attribute__((format(printf, 3, 4))) int error_set(struct error *e, int code, const char *fmt,
						    ...);

/* Puts "<prefix>: " before what is there already: the chain of causes, outermost first. */
__attribute__((format(printf, 3, 4))) int error_prefix(struct error *e, int code, const char *fmt,
						       ...);

#ifdef __cplusplus
}
#endif
#endif
