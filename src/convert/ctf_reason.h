/* SPDX-License-Identifier: MIT */
/*
 * ctf_reason: libbabeltrace2's words for what is wrong with a trace, fit for a person.
 *
 * The library's error causes often stop at "cannot create trace"; which line of the metadata or
 * which packet is only in its log. So the log of the reading process goes into an anonymous file,
 * and the first line of it is the reason. Addresses of the library's objects are cut out of it.
 */
#ifndef KISEKI_CONVERT_CTF_REASON_H
#define KISEKI_CONVERT_CTF_REASON_H

#include <stdbool.h>
#include <stddef.h>

/* Cuts "some-addr=0x1234, " out of a text, in place. */
void ctf_reason_tidy(char *text);

/* The message of the first line in the log; false if there is none. */
bool ctf_reason_from_log(int fd, char *ret, size_t size);

#endif
